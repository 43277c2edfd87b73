"""Resolve names: local variables, those of enclosing functions, closure variables, globals and built-ins."""

import builtins
import collections
import copy
import functools
import reprlib
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError, UnsupportedValueError
from sourcead.frontend.core.cells import Cell, LocalData, TupleVal, Value, cells_of, roots
from sourcead.frontend.core.compiled_from_python import in_source
from sourcead.frontend.core.errors import APPENDED, refused, surely
from sourcead.frontend.core.global_parts import Part, ThisCell
from sourcead.frontend.core.journal import MISSING, Meta, Slots
from sourcead.frontend.core.known_values import is_code, is_library_module, meant
from sourcead.frontend.core.lowering import Lowering, Scope
from sourcead.frontend.core.set_at_import import is_set_at_import
from sourcead.frontend.find_source import Source, constants_of_numba
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const, Let
from sourcead.ir.records import find, is_made_of_numbers, is_record, type_of, with_own_rules
from sourcead.ir.types import ListT, Scalar, Type, parts
from sourcead.primitives.compositions import COMPOSED

KEPT = "writing to it would change it for everybody"
MADE_FROM: dict[type, Callable[[Lowering, Any], Value]] = {}  # class of objects from outside -> makes what stands for them here
BEFORE_ALL = -1  # the number of what was made before the function is called


def as_value(lo: Lowering, obj: Any, default_of: str | None = None) -> Value:
    """Convert a Python object of the program, such as a default or an argument of a partial, to a value; one object is one value."""
    if is_code(obj) or isinstance(obj, (int, float, bool, complex)):
        return Const(obj)
    if type(obj) is tuple and all(isinstance(item, (int, float, complex)) or is_code(item) for item in obj):
        return TupleVal(tuple(map(Const, obj)))
    holder = lo.holders.setdefault(id(obj), {"value": obj})
    value = live_data(lo, "bound", obj, (holder, "value"))
    if default_of is not None:
        keep(cells_of(value), f"the default of `{default_of}` is one object for all calls: {KEPT}")
    return value


def inherited(lo: Lowering, slots: Slots, key: Any) -> Any:
    """Return the value of a slot that is empty: an attribute that an object lacks is that of its class; MISSING if there is none."""
    if slots.cell is None or slots.cell.kind != "object" or isinstance(key, Meta):
        return MISSING
    base, found = find(slots.cell.cls, key)
    if base is None or hasattr(type(found), "__get__"):
        return MISSING
    if found is None:
        return Const(None)
    return Const(found) if is_code(found) else live_data(lo, key, found, (base, key))


def resolve(lo: Lowering, name: str) -> Value:
    """Resolve a name as local, enclosing, closure, global or built-in, in this order."""
    for scope in lo.scopes():
        if scope.home(name).initial is not None:
            break
        if name in scope.names:
            value = scope.names[name]
            if value is UNDEFINED:
                raise without_value(lo, name, scope)
            if lo.reads is not None:
                lo.reads.add((scope.names, name))
                lo.reads.update(root.slots for cell in cells_of(value) for root in (cell, *roots(cell)))
            return value
        if name in scope.ended:
            raise UnsupportedSyntaxError(f"`{name}` has its value in the reverse sweep, inside its `adjoint_of` block", at=lo.here)
        if name in scope.local and name not in scope.homes:
            raise without_value(lo, name, scope)
    source = scope.source
    if assigned := lo.modules.get(id(source.closure.get(name))):
        return assigned[name]
    if name in source.closure and scope.home(name).initial is None:
        return outside(lo, name, source.closure[name], "cell_contents", source)
    if name in lo.modules.get(id(source.globals), {}) or name in source.globals:
        assigned = assigned_global(lo, source.globals, name)
        return outside(lo, name, source.globals, name, source) if assigned is None else assigned
    if hasattr(builtins, name):
        lo.guards[(id(source.globals), name)] = (source.globals, name, MISSING)  # until the module gives the name another meaning
        return Const(getattr(builtins, name), text=name)
    error = refused(lo, f"the name `{name}` is not defined", meant(lo, name))
    is_sure = not name.startswith("$") and not lo.in_pairs  # a recursive function is lowered apart from what is around it
    if is_sure:
        lo.guards[(id(source.globals), name)] = (source.globals, name, MISSING)
    raise surely(lo, error, NameError) if is_sure else error


@dataclass(eq=False)
class NamesVal:
    """Represent the dict of a module's names, which `globals()` returns."""

    names: dict[str, Any]


@dataclass(frozen=True, eq=False)
class LogVal:
    """Represent a list that is there before the call and to which the function only appends (`control/outliving.py`).

    Attributes:
        list: the list, with its name in the text, or what the text reads it from.
        value: refuses any other use of it.
    """

    list: Atom
    value: Callable[[], NoReturn]


@dataclass(frozen=True, eq=False)
class DictVal:
    """Represent a dict that is there before the call and whose items the function assigns (`control/outliving.py`).

    Attributes:
        dict: the dict, with its name in the text.
        slots: the items that were assigned, and those that were read; `initial` has what they were before the call.
    """

    dict: Const
    slots: Slots


def changed_outside(lo: Lowering, name: str, value: Any) -> LogVal | DictVal:
    """Return what stands for a list or dict that is there before the call, and that the function changes."""
    if type(value) in LISTS:
        return LogVal(Const(value, text=name), functools.partial(refuse_log, lo, name))
    slots = lo.modules[id(value)] = Slots()
    slots.birth, slots.initial, slots.owner = BEFORE_ALL, {}, Const(value, text=name)
    return DictVal(slots.owner, slots)


def refuse_log(lo: Lowering, name: str) -> NoReturn:
    """Refuse to do anything but append to a list that the function appends to."""
    why = f"`{name}`, a list from outside of the function, is appended to, and used in another way or given what is no number"
    raise AliasError(why, lo.here, APPENDED)


LISTS = (list, collections.deque)
DICTS = (dict, collections.Counter, collections.defaultdict, collections.OrderedDict)


def has_global(lo: Lowering, module: dict, name: str) -> bool:
    """Tell whether a module has a name, on which the text relies."""
    assigned = lo.modules.get(id(module), {}).get(name, MISSING)
    if assigned is MISSING:
        lo.guards.setdefault((id(module), name), (module, name, module.get(name, MISSING)))
    return assigned is not UNDEFINED if assigned is not MISSING else name in module


def read_global(lo: Lowering, module: dict, name: str) -> Value:
    """Return the value of a name that a module has."""
    assigned = assigned_global(lo, module, name)
    return outside(lo, name, module, name) if assigned is None else assigned


def declare_globals(lo: Lowering, source: Any, names: list[str]) -> None:
    """Lower `global a, b`: assignments go to the variables of the module, which must end as they began."""
    module = lo.modules.setdefault(id(source.globals), Slots())
    module.birth, module.initial = BEFORE_ALL, module.initial or {}
    owner = sys.modules.get(source.globals.get("__name__"))
    is_module = type(owner) is types.ModuleType and vars(owner) is source.globals
    module.owner = Const(owner, text=owner.__name__.split(".")[-1]) if is_module else Const(source.globals, text="names")
    for name in names:
        lo.scope.homes[name] = module
        if name in source.globals and name not in module.initial:
            module[name] = module.initial[name] = outside(lo, name, source.globals, name)


def declare_closure(lo: Lowering, name: str) -> bool:
    """Lower `nonlocal a` where the variable is one of a function that is not differentiated; tell whether there is one."""
    cell = next((scope.source.closure[name] for scope in lo.scopes() if name in scope.source.closure), None)
    if cell is None:
        return False
    slots = lo.modules.setdefault(id(cell), Slots())
    if slots.initial is None:
        slots.birth, slots.initial, slots.owner = BEFORE_ALL, {}, Const(cell, text=f"{name}_cell")
        slots[name] = slots.initial[name] = outside(lo, name, cell, "cell_contents")
        lo.guards[id(cell), "itself"] = ThisCell(cell), "now", cell
    lo.scope.homes[name] = slots
    return True


def assigned_global(lo: Lowering, module: dict, name: str) -> Value | None:
    """Return the value of a name of a module that functions declare as `global`, or None for any other name."""
    value = lo.modules.get(id(module), {}).get(name)
    if value is UNDEFINED:
        raise without_value(lo, name, lo.scope)
    return value


def without_value(lo: Lowering, name: str, scope: Scope) -> UnsupportedSyntaxError:
    """Return the error for reading a name of a function that has no value on this path."""
    error = UnsupportedSyntaxError(f"`{name}` is read here, but nothing was assigned to it on this path", at=lo.here)
    return surely(lo, error, UnboundLocalError if scope is lo.scope else NameError)


def outside(lo: Lowering, name: str, where, key: str, source: Source | None = None) -> Value:
    """Resolve a global or closure variable, of a function if `source` is given: code is resolved now, data is read again at each call."""
    try:
        value = where.cell_contents if key == "cell_contents" else where[key]
    except ValueError:
        raise UnsupportedSyntaxError(f"the name `{name}` has no value yet", at=lo.here) from None
    if type(value) in MADE_FROM and not lo.static_only:
        lo.guards[(id(where), key)] = (where, key, value)
        return MADE_FROM[type(value)](lo, value)
    if lo.static_only or is_code(value):
        if not (lo.static_only or isinstance(value, types.ModuleType) and is_library_module(value)):
            lo.guards[(id(where), key)] = (where, key, value)
        return Const(in_source(value), text=name)
    if source is not None and (kept := constants_of_numba(source.function, name)) is not None:
        lo.guards[(id(where), key)] = (where, key, value)
        refuse_other_constants(lo, name, value, kept, source.name)
    return live_data(lo, name, value, (where, key))


def refuse_other_constants(lo: Lowering, name: str, value: Any, kept: list[Any], function: str) -> None:
    """Refuse data from outside a function that Numba compiled when the data was another: its machine code keeps what was there then."""
    for before in kept:
        if before is not value and not (is_made_of_numbers(value) and repr(before) == repr(value)):
            why = f"Numba keeps the value {reprlib.repr(before)} that `{name}` had when it compiled `{function}`"
            instead = f"`{name}` as a parameter, or `{function}.recompile()` after a change"
            raise refused(lo, f"{why}; now `{name}` is {reprlib.repr(value)}", instead)


def live_data(lo: Lowering, name: str, value: Any, where: tuple[Any, str]) -> Value:
    """Wrap data from outside the function, which the generated code reads again at each call; rely only on its type."""
    if isinstance(value, LocalData):
        return value.value
    if isinstance(where[0], type):
        where = find(where[0], where[1])[0] or where[0], where[1]  # the class that holds it, not one derived from it
        if (assigned := lo.modules.get(id(where[0]), {}).get(where[1])) is not None:
            return assigned
    if id(value) in lo.outliving and type(value) in (*LISTS, *DICTS) and where[0] is not lo.holders.get(id(value)):
        if lo.cached is not None:
            raise read_behind_cache(lo, name)
        lo.guards[id(where[0]), where[1]] = (*where, value)
        if id(value) not in lo.containers:
            lo.containers[id(value)] = changed_outside(lo, name, value)
        return lo.containers[id(value)]
    if type(value) in (int, float):
        if lo.relies_on_numbers and lo.cached is None:
            part = Part(*where, (), value)
            lo.guards[id(where[0]), where[1], ()] = part, "now", value
            return Const(value, text=name)
        lo.numbers_read[name] = True
    if lo.cached is not None and not (lo.tables_behind_caches and is_set_at_import(*where, value)):
        raise read_behind_cache(lo, name)
    text = name
    n = 1
    while text in lo.own_names or text in lo.live and not (lo.live[text][0] is where[0] and lo.live[text][1] == where[1]):
        n += 1
        text = f"{name}_{n}"
    at = text, id(where[0]), where[1]
    if at not in lo.live_values and (found := with_own_rules(value, name, lo.number_classes)) is not None:
        part, what, instead = found
        made = f"{instead}, made outside of your function" if instead.startswith("`") else instead
        raise UnsupportedValueError(f"`{part}` is a {what}", at=lo.here, instead=made)
    if lo.number_classes and lo.number_classes.asked:
        raise refused(lo, f"`{name}` is a number of a class of its own, and a loop or recursive function asks for the class of a number")
    lo.live[text] = where
    if at not in lo.live_values:
        const = Const(value, text=text, live=True)
        with lo.build.block() as stmts:
            table = type_of_table(lo, name, value)
            whole = table is not None or isinstance(value, (tuple, list, dict)) or is_record(value)
            read = Call(copy.copy, (const,), effect=True) if id(value) in lo.outliving else Let(const)
            wrapped = lo.unpack(lo.build.emit(read, table or atom_type(const), text, temp=True)) if whole else lo.wrap(const)
            if isinstance(wrapped, Cell) and wrapped.kind == "object":
                lo.global_objects[wrapped] = const
        keep(cells_of(wrapped), f"`{name}` is not a parameter of the function: {KEPT}")
        lo.live_values[at] = wrapped, stmts, const
    return lo.live_values[at][0]


def read_behind_cache(lo: Lowering, name: str) -> UnsupportedSyntaxError:
    """Return the error for a function with a cache that reads what may change."""
    why = f"`{lo.cached}` has a cache and reads `{name}`, which may have been another when the cached result was made"
    return refused(lo, why, f"give it `{name}` as an argument, or leave the cache away")


LARGE = 100  # the fewest numbers of a table that is one value


def type_of_table(lo: Lowering, name: str, value: Any) -> ListT | None:
    """Return the type of a large list of numbers, or of lists of numbers, as one value of any length, None for other data.

    Its items are not known one by one, which takes long for the tables of coefficients of astronomy; where a function needs them, it is
    refused, and lowered again with tables as other lists (`control/functions.py`).
    """
    if not lo.whole_tables or type(value) is not list or numbers_in(value) < LARGE:
        return None
    item = type_of(value).item
    if not is_of_numbers(item):
        return None
    lo.tables_read[name] = True
    return ListT(item)


def numbers_in(value: Any) -> int:
    """Count the numbers in nested lists."""
    return sum(map(numbers_in, value)) if type(value) is list else 1


def is_of_numbers(t: Type) -> bool:
    """Tell whether a type is of numbers, or of nested lists of numbers."""
    return all(map(is_of_numbers, parts(t))) if isinstance(t, ListT) else isinstance(t, Scalar)


def keep(cells: list[Cell], why: str) -> None:
    """Refuse writes to objects that are there before the function is called, although it may first read them in a branch or loop."""
    for cell in cells:
        cell.frozen, cell.depth, cell.slots.birth = why, 0, BEFORE_ALL


def in_composition(lo: Lowering) -> bool:
    """Return whether the function being lowered is the body of a composition, or a helper beside one: the compiler's own."""
    source = lo.scope.source
    return getattr(source, "function", None) in COMPOSED or (source.globals.get("__name__") or "").startswith("sourcead.primitives.")
