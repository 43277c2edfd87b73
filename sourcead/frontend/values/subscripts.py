"""Lower subscripts and what changes an object: `base[key]`, `base[key] = value` and `x += y`."""

import enum
import operator
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError
from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.core import (
    POISON, BoundVal, Cell, ChoiceVal, Flat, FunctionVal, Lowering, MethodVal, SuperVal, TupleVal, Value, reach, roots
)
from sourcead.frontend.values import array_objects, lists, numpy_brackets, objects, objects_by_place, sequences, sets
from sourcead.frontend.values.masked_arrays import refuse_others
from sourcead.frontend.values.sparse_matrices import refuse_store
from sourcead.ir.names import shown
from sourcead.ir.nodes import Atom, Call, Const, Operand, Slice, Sub
from sourcead.ir.types import (
    ANY_DTYPE, BOOL, COMPLEX, FLOAT, INT, Array, DictT, ListT, MapT, NoneType, Scalar, SetT, Str, StructT, Sym, TupleT,
    Type, Undefined, Unknown, dims_of, rank, same_dtype
)
from sourcead.primitives.result_types.infer import infer_index


@core.subscript.register("object", SuperVal, MethodVal, FunctionVal, BoundVal)
def _item_of_object(lo: Lowering, base: Value, key: Value, node) -> Value:
    found = core.call_special(lo, base, "__getitem__", [key], node)
    if found is None and core.array_of(base) is not None:
        return array_objects.item(lo, base, key, node)
    if found is None and isinstance(base, MethodVal):
        why = f"whether `{base.name}` is a method or an attribute that has items is not known before the program runs"
        instead = "call what has it in a function of its own that returns the array, for which you register a rule (`sourcead.adjoint`)"
        raise core.unsupported(lo, node, why, instead)
    if found is None:
        error = core.unsupported(lo, node, "this object has no items")
        raise core.surely(lo, error, TypeError) if isinstance(base, FunctionVal) else error
    return found


@core.subscript.register(Const)
def _item_of_constant(lo: Lowering, base: Const, key: Value, node) -> Value:
    """Lower an item of a constant, which may be data or another object."""
    if not base.live and isinstance(base.value, (tuple, list, str, dict, enum.EnumMeta)):
        found, k = core.known(lo, key)
        if found:
            try:
                return Const(base.value[k])
            except Exception:  # the program raises the same error at run time
                pass
    found = numpy_brackets.subscript_of_object(lo, base, key, node)
    if found is None and isinstance(base.value, WITHOUT_ITEMS) and not isinstance(base.value, np.generic):
        raise without_items(lo, base, node)
    return item_of_data(lo, base, key, node) if found is None else found


@core.subscript.register(Str)
def _item_of_text(lo: Lowering, base: Value, key: Value, node) -> Value:
    """Lower an item of a string, which may be known."""
    found, text = core.known(lo, base)
    return _item_of_constant(lo, Const(text), key, node) if found else item_of_data(lo, base, key, node)


@core.subscript.register(TupleVal, "list")
def _item_of_sequence(lo: Lowering, base: TupleVal | Cell, key: Value, node) -> Value:
    """Lower a subscript of a tuple or list of known length; for an unknown index, turn the whole into one IR value."""
    if (found := core.call_special(lo, base, "__getitem__", [key], node)) is not None:
        return found
    if isinstance(base, TupleVal) and base.cls is not None:
        base = TupleVal(base.items)
    if isinstance(base, Cell):
        lo.alive(base)
    items, (found, k) = base.contents, core.known(lo, key)
    if found and isinstance(key, Slice) and base.cls is None:  # and no deque
        return lo.new_list(items[k]) if isinstance(base, Cell) else TupleVal(tuple(items[k]))
    if found and isinstance(k, (int, np.integer)) and -len(items) <= k < len(items):
        return items[k]
    if found:
        raise no_item(lo, k, len(items), node)
    if items and all(map(core.is_function, items)):
        return function_by_index(lo, items, key)
    if (chosen := objects_by_place.item_at(lo, items, key, node)) is not None:
        return chosen
    return objects_by_place.or_noted(lo, items, lambda: item_of_data(lo, sequences.as_one_value(lo, base), key, node))


def no_item(lo: Lowering, k: Any, n: int, node) -> Exception:
    """Return the error for a subscript that no sequence of `n` items has."""
    number = isinstance(k, (int, np.integer))
    why = f"is out of range: there are {n} items" if number else "is no integer, and lists and tuples are subscripted by places"
    return core.surely(lo, core.unsupported(lo, node, f"index {shown(k)} {why}"), IndexError if number else TypeError)


def without_items(lo: Lowering, base: Value, node) -> Exception:
    """Return the error for a subscript of a number of Python, or of None."""
    return core.surely(lo, core.unsupported(lo, node, f"{core.structure_of(base)} cannot be subscripted"), TypeError)


NUMBERS = (FLOAT, INT, BOOL, COMPLEX)
WITHOUT_ITEMS = (int, float, complex, type(None), types.FunctionType)


@core.subscript.register(object)
def item_of_data(lo: Lowering, base: Value, key: Value, node) -> Value:
    """Lower a subscript of an array, or of a list or tuple that is one IR value."""
    operand = key_operand(lo, base, key)
    effects = effects_of(operand)
    of = core.data_type(lo, base)
    refuse_outside(lo, of, operand, node)
    if of in NUMBERS:
        raise without_items(lo, base, node)
    if isinstance(of, Scalar) and of.dtype != ANY_DTYPE and effects == {"place"}:
        raise core.surely(lo, core.unsupported(lo, node, f"{core.structure_of(base)} has no axes"), IndexError)
    if is_flat(base):
        effects = effects | {"copy"}
    if isinstance(base, Cell):
        t = atom_type(lo.read(base))
        if not isinstance(t, Array) and not isinstance(operand, (tuple, Slice)) and isinstance(atom_type(operand), Scalar):
            effects = {"unknown" if isinstance(t, Unknown) else "place"}  # a truth value is a place of a list, and a mask of an array
        one_item = "axis" not in effects  # of an array whose rank is unknown it may be a number, which later writes do not change
        if isinstance(t, ListT) and isinstance(operand, Slice):
            return lists.wrap_items(lo, lo.build.index(lo.read(base), operand), base)
        if effects <= VIEWS and not (one_item and isinstance(t, (Array, Unknown)) and rank(t) is None):
            cell = lo.view(base, Sub(operand))
            var = lo.read(cell)
            takes_number = one_item and isinstance(t, Array) and rank(t) == (len(operand) if isinstance(operand, tuple) else 1)
            if isinstance(var.type, (Scalar, Str, NoneType)) or takes_number:
                return var
            if isinstance(var.type, (TupleT, StructT)):
                return lo.wrap(var, shares=reach(base))
            return cell
    var = lo.build.index(lo.read(base), operand)
    return lo.wrap(var, shares=reach(base) if isinstance(base, Cell) and "copy" not in effects else ())


def refuse_outside(lo: Lowering, t: Type | None, key: Operand, node) -> None:
    """Raise the error for a subscript that an array of known size surely does not have, if the program handles it."""
    if not issubclass(IndexError, lo.catching) or not isinstance(t, Array) or t.dims is None:
        return
    keys = key if isinstance(key, tuple) else (key,)
    for axis, k in enumerate(keys):
        place = k.value if isinstance(k, Const) else None
        if not isinstance(k, Slice) and type(place) is not int:
            return
        if axis == len(t.dims) or place is not None and isinstance(n := t.dims[axis], int) and not -n <= place < n:
            raise core.surely(lo, core.unsupported(lo, node, f"the array of shape {t.dims} has no such item"), IndexError)


def key_operand(lo: Lowering, base: Value, key: Value) -> Operand:
    """Return the operand of a subscript; between the commas of that of an array, a tuple is an array of positions."""
    if isinstance(core.data_type(lo, base), DictT):
        found, k = core.known(lo, key)
        return Const(k) if found else lo.operand(key)
    operand = lo.operand(array_objects.plain(lo, key))
    if not isinstance(operand, tuple):
        return operand
    nested = (isinstance(p, tuple) or not isinstance(p, Slice) and isinstance(atom_type(p), TupleT) for p in operand)
    return tuple(lo.build.call(np.array, p, name="positions") if inside else p for p, inside in zip(operand, nested))


VIEWS = {"axis", "place"}
"""The effects of the parts of a key whose subscript surely shares memory with its base."""


def effects_of(key: Operand) -> set[str]:
    """Tell what the parts of a key do.

    A slice, None or `...` keeps or adds an axis, an integer or string takes one place, an array, list or mask makes a copy; the effect
    of a part of any other type is not known.
    """
    return set(map(_effect, key if isinstance(key, tuple) else (key,)))


def is_view(lo: Lowering, array: Atom, key: Operand) -> bool:
    """Tell whether a part of an array shows what is written into the array later, which a number or copy does not."""
    effects, axes = effects_of(key), rank(atom_type(array))
    if effects == {"place"} and axes is not None:
        return axes > (len(key) if isinstance(key, tuple) else 1)
    if "unknown" in effects or effects == {"place"}:
        reason = "an array is written while a part of it is changed, and it is not known whether that part is a view"
        raise AliasError(reason, at=lo.here, instead="compute the right side first: `v = ...`")
    return effects <= VIEWS


def _effect(part: Operand) -> str:
    if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
        return "axis"
    t = None if isinstance(part, tuple) else atom_type(part)
    if t is None or isinstance(t, (Array, ListT)) and rank(t) != 0 or isinstance(t, Scalar) and t.kind == "bool":
        return "copy"
    return "place" if isinstance(t, Scalar) and t.kind == "int" or isinstance(t, Str) else "unknown"


# -- functions chosen at run time ------------------------------------------------------------------------------------------
#     f = fs[i % 2];  f(x)          if i % 2 == 0: fs[0](x)  else: fs[1](x)
#     f = g if c else h;  f(x)      if which == 0: g(x)  else: h(x)
# The generated code carries the index of the chosen function; a call becomes a branch over the candidates.


def function_by_index(lo: Lowering, items: list[Value], key: Value) -> Value:
    """Lower `functions[key]` for an index that is not known while compiling."""
    which, n = lo.read(key), len(items)
    match lo.build.made_by.get(which):
        case Call(operator.mod, (_, Const(value))) if value == n:
            pass
        case _:
            inside = lo.build.index(lo.build.call(range, Const(n)), which)  # raises the same error as the subscript
            which = lo.build.call(int, inside, type=INT, name="which")
    return ChoiceVal(which, dict(enumerate(items[:-1])), items[-1])


@core.call.register(ChoiceVal)
def _call_of_choice(lo: Lowering, fn: ChoiceVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of the chosen function as a branch over all candidates."""
    options = list(fn.options.items())

    def try_from(k: int) -> Any:
        if k == len(options):
            if fn.otherwise is not None:
                return core.call(lo, fn.otherwise, args, dict(kwargs), node)
            return branches.raised_here(lo, KeyError, fn.which)
        name, function = options[k]
        same = lo.build.call(operator.eq, fn.which, Const(name), type=BOOL)
        return branches.branch(lo, same, [lambda: core.call(lo, function, args, dict(kwargs), node), lambda: try_from(k + 1)])

    result = try_from(0)
    if result is RAISED:
        raise core.unsupported(lo, node, "every function that may be called here raises")
    return result


# -- assignments that change an object -------------------------------------------------------------------------------------


@core.store.register("list")
def _store_in_list(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    found, k = core.known(lo, key)
    n = len(base.items)
    if found and not isinstance(key, Slice):
        if not isinstance(k, (int, np.integer)) or not -n <= k < n:
            raise no_item(lo, k, n, node)
        sequences.replace_item(lo, base, k % n, value)
    elif found and base.depth == lo.depth and core.has_known_items(value):
        items = base.contents
        try:
            items[k] = sequences.static_items(lo, value, None)
        except ValueError as error:
            raise core.surely(lo, core.unsupported(lo, node, f"this assignment raises ValueError: {error}"), ValueError) from None
        lo.alive(base)
        sequences.replace_items(lo, base, items)
    else:
        lo.materialise(base)
        core.store(lo, base, key, value, node, mode)


@core.store.register(Const, Scalar)
def _store_in_number(lo: Lowering, base: Value, key: Value, value: Value, node, mode: str = "set") -> None:
    raise core.surely(lo, core.unsupported(lo, node, f"{core.structure_of(base)} cannot be written into"), TypeError)


@core.store.register(ListT, Unknown)
def _store_in_runtime_list(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    refuse_store(lo, base, value, node)
    if isinstance(key, Slice) and isinstance(core.data_type(lo, base), ListT):
        return lists.assign_slice(lo, base, key, value, node)
    if not isinstance(value, (Cell, TupleVal)):
        return store_in_array(lo, base, key, value, node, mode)
    refuse_part_of_number(lo, base, node)
    lo.write(base, (Sub(lo.operand(key)),), lo.operand(value), mode)
    if isinstance(atom_type(lo.read(base)), ListT):
        lo.put(base, value)


@core.store.register(Cell)
def store_in_array(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    """Lower `a[key] = value` for an array; a mask of an array without axes says whether its one element is written."""
    refuse_part_of_number(lo, base, node)
    if is_mask_of_element(lo, base, key):

        def write_element() -> None:
            one = rank(core.data_type(lo, value)) in (0, None)
            element = value if one else core.call_library(lo, np.reshape, [value, TupleVal(())], {}, node)
            lo.write(base, (), lo.operand(element), mode)

        branches.branch(lo, lo.read(key), [write_element, lambda: None])
        return
    operand = key_operand(lo, base, key)
    refuse_outside(lo, core.data_type(lo, base), operand, node)
    if is_flat(base):
        refuse_own_elements(lo, "`.flat`", base, value)
        value = repeated(lo, base, operand, value, node)
    elif isinstance(core.data_type(lo, value), ListT | TupleT | None) and effects_of(operand) <= VIEWS:  # NumPy writes item by item
        refuse_own_elements(lo, "a part of an array", base, value)
    lo.write(base, (Sub(operand),), lo.operand(sequences.as_array(lo, value)), mode)


def repeated(lo: Lowering, base: Cell, key: Operand, value: Value, node) -> Value:
    """Return what `array.flat[key] = value` assigns: as many elements as the key takes, of the value again and again, in C order."""
    part, given = infer_index(core.data_type(lo, base), lo.build.arg(key)), core.data_type(lo, sequences.as_array(lo, value))
    if isinstance(part, Scalar) or isinstance(given, Scalar) or dims_of(given) in ((), dims_of(part) or ()):
        return value
    replaced = lo.build.index(lo.read(base), key)

    def resized() -> Value:
        return core.call_library(lo, np.resize, [value, lo.build.call(np.size, replaced)], {}, node)

    if all(n.least > 0 if isinstance(n, Sym) else n > 0 for n in dims_of(given) or (0,)):
        return resized()
    count = core.call_library(lo, np.size, [value], {}, node)  # nothing is assigned if there is nothing
    return branches.choose(lo, core.operate(lo, operator.gt, count, Const(0)), resized, lambda: replaced)


def refuse_own_elements(lo: Lowering, written: str, base: Value, value: Value) -> None:
    """Refuse what NumPy does not copy before it writes, if it may lie in the memory that is written."""
    if reach(value) & roots(base):
        reason = f"{written} is given elements of its own array, which NumPy may overwrite before it reads them"
        raise core.refused(lo, reason, "a `.copy()` of these elements")


def is_flat(base: Value) -> bool:
    """Return whether a value is `array.flat`."""
    return isinstance(base, Cell) and isinstance(base.step, Flat)


def refuse_part_of_number(lo: Lowering, base: Value, node) -> None:
    """Refuse a write to a part of a value that no cell holds."""
    if not isinstance(base, Cell):
        raise core.unsupported(lo, node, "an assignment to a part of a value that may be a number", "keep it an array on every path")


def is_mask_of_element(lo: Lowering, base: Cell, key: Value) -> bool:
    """Tell whether a key is one truth value, and its base an array without axes."""
    t, of = core.data_type(lo, base), core.data_type(lo, key)
    if isinstance(key, Const):
        of = atom_type(key)
    is_truth = isinstance(of, Scalar) and of.kind == "bool" or isinstance(of, Array) and of.dims == () and of.dtype == bool
    return is_truth and isinstance(t, Array) and t.dims == ()


def augment(lo: Lowering, old: Value, fn, value: Value, node) -> Value | None:
    """Lower `old op= value`; return the value to bind the name to, or None if the object changed in place."""
    name = objects.DUNDER.get(fn, fn.__name__)
    if not objects.declined(found := core.call_special(lo, old, f"__i{name}__", [value], node)):
        return found
    if isinstance(old, Cell) and old.kind != "array" and core.special_method(value, f"__r{name}__"):  # which comes before a list's own
        return core.operate(lo, fn, old, value)
    refuse_others(lo, f"{fn.__name__} in place" if fn is operator.pow else fn, [old, value])
    if (held := core.array_of(old)) is not None:
        if array_objects.own_wrap(old.cls) is not None or augment(lo, held, fn, array_objects.plain(lo, value), node) is not None:
            raise array_objects.refused(lo, [old])
        return None
    if isinstance(old, Cell) and (old.kind == "list" or isinstance(core.data_type(lo, old), ListT)) and fn in (operator.add, operator.mul):
        t = atom_type(value) if isinstance(value, Const) else core.data_type(lo, value)
        if isinstance(t, (Array, Unknown)) or isinstance(t, Scalar) and fn is operator.add:  # NumPy's operator comes before the list's
            return core.operate(lo, fn, old, value)
        if fn is operator.add:
            lists.extend(lo, old, value, node)
        else:
            core.store(lo, old, Slice(None, None, None), core.operate(lo, fn, old, value), node)
        return None
    if isinstance(old, Cell) and (old.kind == "dict" or isinstance(core.data_type(lo, old), MapT)) and fn is operator.or_:
        core.call_method(lo, old, "update", [value], {}, node)
        return None
    if isinstance(old, Cell) and old.kind == "array":
        t = atom_type(lo.read(old))
        if isinstance(t, Array) and lo.read(old) not in lo.build.maybe_number:
            mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
            if mode:
                lo.write(old, (), lo.operand(sequences.as_array(lo, value)), mode)
            else:
                lo.write(old, (), lo.read(core.operate(lo, fn, lo.read(old), value)))
            return None
        if isinstance(t, SetT) and sets.set_type(lo, value) is not None:
            sets.replace(lo, old, fn, value, node)
            return None
        new = core.operate(lo, fn, old, value)
        if isinstance(t, Undefined):  # an item of a container that is still empty in this round of lowering a loop
            return new
        if isinstance(t, Array) and not same_dtype(getattr(atom_type(lo.read(new)), "dtype", None), t.dtype):
            why = "the dtype of what is added differs from that of the array"
            raise core.unsupported(lo, node, why, "start from an array: `np.zeros(...)`")
        same = roots(old)
        for cell in same | {container for c in same for container in c.held_by}:
            how = f"changed by `{symbol(node.op)}=`, which changes an array in place, but a number not"
            lo.set(cell.slots, POISON, f"`{cell.name}` was {how}; its type is not known here")
        return new
    return core.operate(lo, fn, old, value)


def symbol(op) -> str:
    """Return the symbol of a Python operator for use in messages."""
    symbols = {
        "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "FloorDiv": "//", "Mod": "%",
        "BitOr": "|", "BitAnd": "&",
    }  # fmt: skip
    return symbols.get(type(op).__name__, "?")
