"""Collect the core of the frontend: state, cells, journal, attempts, and the generic operations that other folders implement."""
# ruff: noqa: F401

from sourcead.frontend.core.cells import (
    BUSY, ENDED, HELD, ITEMS, LEFT, STAND_INS, TAKEN, USED, AttributesCell, BoundVal, Cell, ChoiceVal, Escaped, Flat,
    FunctionVal, Held, Iterable, LocalData, MethodVal, OptionalVal, SuperVal, TupleVal, Value, array_of, cells_of,
    is_text, leaves, parts_of, reach, roots, structure_of, unreadable
)
from sourcead.frontend.core.changes_outside import (
    changed_globals, checks_of_second_names, containers_from_outside, refuse_changed_globals
)
from sourcead.frontend.core.choices import OneOf, choice_differs, chooses_here, with_choices_apart
from sourcead.frontend.core.classes import Snapshot, may_change
from sourcead.frontend.core.classes_of_values import (
    REAL_CLASSES, class_of, classes_after, classes_of, has_attribute, has_exact_class, no_attribute, special_method
)
from sourcead.frontend.core.compiled_from_python import in_source
from sourcead.frontend.core.conditions import condition
from sourcead.frontend.core.errors import (
    APPENDED, MustBeOneValue, MustMaterialise, NeverReturns, NotStatic, TooLong, as_python_reports,
    called_without_source, frozen_error, marked, needs_items, perhaps, raises_in_statement, refused, surely,
    surely_raised, unsupported
)
from sourcead.frontend.core.global_parts import (
    NOT_A_PART, Part, at_place, number_of_class, part_of_global, refuse_unknown_class
)
from sourcead.frontend.core.journal import (
    FALSE, KIND, MISSING, POISON, SEEN, STALE, TRUE, UNSURE, VALUE, WHOLE, Flag, Meta, Slots, next_birth
)
from sourcead.frontend.core.known_values import (
    as_it_is, can_be_map, certain, data_type, factory_of, fold, has_countable_items, has_known_items, has_rule, is_code,
    is_function, is_library, is_library_module, is_module, is_number, is_sequence, known, number_of, paired_bounds,
    passes_derivative, pure_result, rounded, similar, type_of_value
)
from sourcead.frontend.core.lowering import (
    Frame, Lowering, Scope, name_reads, once_for_each_node, own_nodes, temporarily
)
from sourcead.frontend.core.names import (
    MADE_FROM, DictVal, LogVal, NamesVal, as_value, assigned_global, declare_closure, declare_globals, has_global,
    in_composition, inherited, keep, live_data, outside, read_global, refuse_log, resolve
)
from sourcead.frontend.core.object_keys import IdentityVal, has_objects_as_keys, objects_in
from sourcead.frontend.core.operations import (
    BUILTINS, OF_DEQUES, OF_OPERATOR, RAISED, atom, attribute, builtin, call, call_library, call_method, call_object,
    call_special, is_single, iterate, kind_of_callable, lower, lower_statement, lower_statements, method, not_iterable,
    operand, operate, replaced_statement, statement, store, subscript, truth
)
from sourcead.frontend.core.optional_tuples import (
    compared_with_none, is_none, pair_of, pairs_in_arms, what_python_takes, where_it_is_known
)
from sourcead.frontend.core.parts import double, parts_of_value
from sourcead.frontend.core.pointer import MOST_OBJECTS, New, Pointer
from sourcead.frontend.core.reading import same_view
from sourcead.frontend.core.sameness import same_constant, same_keys, same_thing
from sourcead.frontend.core.texts import numbers_in, told
