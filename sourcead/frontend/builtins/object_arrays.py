"""Lower arrays of Python objects, `np.empty(shape, dtype=object)`, as lists inside each other.

An item is found by its place, which must be known, and a row is what all that read it share. What NumPy does with all items at once is
refused, and so are arrays of a shape that is not known.
"""

import functools
import math

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.builtins.library_arguments import OBJECTS, USE_LISTS, holds_objects
from sourcead.frontend.builtins.stdlib_classes import class_in_python
from sourcead.frontend.core import Cell, Lowering, TupleVal, Value
from sourcead.ir.nodes import Const
from sourcead.ir.types import Scalar, Str, rank


def at_once(*args):
    """Stand for what NumPy does with all objects of an array at once."""


@class_in_python
class ObjectArray:
    """An array of Python objects, whose items or rows are in a list; its other methods are those of `AT_PLACES` and `AT_ONCE`."""

    dtype = object  # which NumPy takes for the dtype, and which is known to be equal to itself

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter(self.rows)

    def tolist(self):
        return [row.tolist() for row in self.rows] if self.ndim > 1 else list(self.rows)


core.REAL_CLASSES[ObjectArray] = np.ndarray
AT_ONCE = """bool contains copy neg abs pos invert eq ne lt le gt ge add sub mul truediv pow matmul mod floordiv and or xor
radd rsub rmul rtruediv rpow rmatmul rmod rfloordiv rand ror rxor iadd isub imul itruediv ipow imatmul imod ifloordiv"""
for _name in AT_ONCE.split():
    setattr(ObjectArray, f"__{_name}__", at_once)


@core.builtin(at_once)
def refuse_at_once(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    raise core.unsupported(lo, node, f"an operation on {OBJECTS}", USE_LISTS)


# -- making ----------------------------------------------------------------------------------------------------------------


def made(lo: Lowering, shape: tuple[int, ...], items: list[Value] | None = None) -> Cell:
    """Make an array of objects, which are None if no items are given; those of several axes are rows."""
    size = math.prod(shape)
    rows = [made(lo, shape[1:]) for _ in range(shape[0])] if len(shape) > 1 else items or [Const(None)] * size
    known = {"shape": TupleVal(tuple(map(Const, shape))), "ndim": Const(len(shape)), "size": Const(size)}
    return lo.new_object(ObjectArray, {**known, "rows": lo.new_list(rows)})


@core.builtin(np.empty)
def builtin_empty(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.empty(shape, dtype)`."""
    given = {**dict(zip(("shape", "dtype"), args)), **kwargs}
    if len(args) > 2 or given.keys() != {"shape", "dtype"} or not holds_objects(given["dtype"]):
        return core.call_library(lo, np.empty, args, kwargs, node)
    shape = core.certain(lo, given["shape"], node, f"{OBJECTS} whose shape is not known before the program runs", USE_LISTS)
    return made(lo, shape if isinstance(shape, tuple) else (shape,))


def is_one_object(value: Value) -> bool:
    """Tell whether NumPy makes one item of an object, because it is a dict or has neither items nor an array."""
    if not isinstance(value, Cell) or value.kind not in ("dict", "object") or value.cls is ObjectArray or core.array_of(value) is not None:
        return False
    return value.kind == "dict" or all(core.special_method(value, f"__{name}__") is None for name in ("len", "getitem", "array"))


def of_objects(fn, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.array([p, q])` of objects; of numbers it is a call of NumPy."""
    given = args[0] if len(args) == 1 and core.has_known_items(args[0]) else TupleVal(())
    items = given.items if isinstance(given, TupleVal) else getattr(given, "contents", ())
    found = [is_one_object(item) for item in items]
    if not any(found) or kwargs and (kwargs.keys() != {"dtype"} or not holds_objects(kwargs["dtype"])):
        return core.call_library(lo, fn, args, kwargs, node)
    if not all(found):
        raise core.unsupported(lo, node, OBJECTS, USE_LISTS)
    if isinstance(given, Cell):
        lo.sure(given)
    return made(lo, (len(items),), list(items))


for _fn in (np.array, np.asarray):
    core.builtin(_fn)(functools.partial(of_objects, _fn))


# -- items by their places -------------------------------------------------------------------------------------------------


def is_object_array(value: Value) -> bool:
    """Tell whether a value is an array of Python objects."""
    return isinstance(value, Cell) and value.cls is ObjectArray


def found_at(lo: Lowering, array: Value, key: Value, node) -> tuple[Value, Const]:
    """Return the list that has the item of an array, or its row, at a key, and the place in this list."""
    *before, last = (key.items if isinstance(key, TupleVal) else (key,)) or (Const(None),)
    for place in before:
        array = at(lo, array, place, node)
    if not is_object_array(array) or array.items["shape"].items == ():
        refuse_at_once(lo, [], {}, node)
    return array.items["rows"], known_place(lo, last, node)


def known_place(lo: Lowering, place: Value, node) -> Const:
    """Return the place of an item as a number."""
    is_known, number = core.known(lo, place)
    if is_known and type(number) is int:
        return Const(number)
    t = core.data_type(lo, place)
    if is_known or not isinstance(t, Scalar) or t.kind != "int":
        refuse_at_once(lo, [], {}, node)
    raise core.needs_items(f"an item of {OBJECTS} at a place that is not known here", lo.here, USE_LISTS)


def at(lo: Lowering, array: Value, key: Value, node) -> Value:
    """Lower `array[key]`."""
    return core.subscript(lo, *found_at(lo, array, key, node), node)


def put(lo: Lowering, array: Value, key: Value, new: Value, node) -> Value:
    """Lower `array[key] = new`; of an array without axes, NumPy puts the item there."""
    rows, place = found_at(lo, array, key, node)
    t = core.data_type(lo, new)
    may_have_no_axes = t is not None and not isinstance(t, (Scalar, Str)) and rank(t) in (None, 0)
    if may_have_no_axes or is_object_array(core.subscript(lo, rows, place, node)):
        refuse_at_once(lo, [], {}, node)
    core.store(lo, rows, place, new, node)
    return Const(None)


def item(lo: Lowering, array: Value, node) -> Value:
    """Lower `array.item()`."""
    while is_object_array(array) and len(array.items["rows"].contents) == 1:
        (array,) = array.items["rows"].contents
    return array if not is_object_array(array) else refuse_at_once(lo, [], {}, node)


AT_PLACES = {"__getitem__": at, "__setitem__": put, "item": item}


def method(name: str):
    """Return a method of arrays of objects that is lowered by the function of its name in `AT_PLACES`."""

    def of_name(self, *args):
        pass

    core.builtin(of_name)(lambda lo, args, kwargs, node: AT_PLACES[name](lo, *args, node))
    return of_name


for _name in AT_PLACES:
    setattr(ObjectArray, _name, method(_name))


@lowers(np.nditer)
def builtin_nditer(lo: Lowering, node, array: Value, **options: Value) -> Value:
    """Lower `np.nditer(a, flags=["refs_ok"])`, the objects of an array, each in an array without axes."""
    if not is_object_array(array) or options.keys() - {"flags"}:
        why = "`np.nditer` over numbers, which gives views that this does not follow"
        raise core.unsupported(lo, node, why, "`for x in a.flat`; to write, `for i in np.ndindex(a.shape)` with `a[i] = ...`")
    rows = [array]
    while all(map(is_object_array, rows)):
        rows = [item for row in rows for item in row.items["rows"].contents]
    return TupleVal(tuple(made(lo, (), [item]) for item in rows))
