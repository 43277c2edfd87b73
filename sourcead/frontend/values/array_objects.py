"""Lower what NumPy does with objects of users' classes that inherit from `np.ndarray`.

Such an object is a `Cell` of its class, which holds the array that it is in the slot HELD. An operation of NumPy is lowered for that
array. Of which class its result is, NumPy itself shows: the same operation on small arrays of stand-ins for the classes involved
(`Shown`), whose `__array_wrap__` and `__array_finalize__` note who calls them. What a user's class does in these two is inlined.
"""

import functools
import itertools
import operator
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import HELD, Cell, Lowering, TupleVal, Value, array_of
from sourcead.frontend.values.masked_arrays import checked, refuse_others, with_mask
from sourcead.ir.nodes import Const, Slice
from sourcead.ir.records import find, is_array_class
from sourcead.ir.types import Array, Scalar, Type, kind_of, rank
from sourcead.primitives.table import record_of

NEVER_ASKED = frozenset({
    "__new__", "__init__", "__init_subclass__", "__module__", "__array_finalize__", "__array_wrap__", "__array_priority__",
    "__class_getitem__",
    "__doc__", "__repr__", "__str__", "__format__", "__hash__", "__reduce__", "__reduce_ex__", "__setstate__", "__dir__",
})  # fmt: skip
"""The attributes of arrays that a class may have anew without a function of NumPy seeing them, or that the stand-ins have."""


def holds_array(value: Value) -> bool:
    """Tell whether a value is an object that is an array, or a tuple or list that has one inside."""
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        return any(map(holds_array, value.contents))
    return array_of(value) is not None


def plain(lo: Lowering, value: Value) -> Value:
    """Return a value with the arrays that objects hold in place of the objects."""
    if isinstance(value, Cell) and (held := array_of(value)) is not None:
        lo.alive(value)
        return held
    return lo.map_items(value, functools.partial(plain, lo)) if holds_array(value) else value


def new(lo: Lowering, cls: type, array: Value, source: Value) -> Cell:
    """Make an object of a class that inherits from `np.ndarray`, which is seen through `source`, an array or None."""
    if not isinstance(array, Cell) and isinstance(atom_type(lo.read(array)), Scalar):
        array = core.call_library(lo, np.asarray, [array], {}, None)
    if not isinstance(array, Cell) or not isinstance(core.data_type(lo, array), Array):
        raise core.refused(lo, f"an object of class {cls.__name__} is made of what is not known to be an array here")
    made = lo.new_object(cls, {HELD: array})
    finalize = find(cls, "__array_finalize__")[1]
    if isinstance(finalize, types.FunctionType):
        core.call_object(lo, finalize, [made, source], {}, None)
    return made


@core.builtin(np.ndarray.__new__)
def builtin_new(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.ndarray.__new__(cls, shape, dtype, buffer)`: a view of the buffer, or an array that was not filled yet."""
    found, cls = core.known(lo, args[0])
    if not found or not is_array_class(cls) or len(args) > 4 or kwargs.keys() - {"shape", "dtype", "buffer"}:
        raise core.unsupported(lo, node, "`np.ndarray.__new__` with these arguments", "`np.array(...).view(cls)`")
    given = {**dict(zip(("shape", "dtype", "buffer"), args[1:])), **kwargs}
    buffer, dtype = given.pop("buffer", Const(None)), given.get("dtype", Const(float))
    if core.is_none(buffer):
        return new(lo, cls, core.call_library(lo, np.empty, [], given, node), Const(None))
    buffer = plain(lo, buffer)
    is_known, wanted = core.known(lo, dtype)
    if not is_known or getattr(core.data_type(lo, buffer), "dtype", None) != np.dtype(wanted):
        raise core.unsupported(lo, node, "`np.ndarray.__new__` on memory of another dtype", "`np.array(...).view(cls)`")
    return new(lo, cls, core.call_library(lo, np.reshape, [buffer, given["shape"]], {}, node), Const(None))


def view(lo: Lowering, array: Value, cls: Value, node) -> Value:
    """Lower `array.view(cls)`."""
    found, wanted = core.known(lo, cls)
    held = plain(lo, array)
    if not found or not (wanted is np.ndarray or is_array_class(wanted)) or not rank(core.data_type(lo, held)):
        raise core.unsupported(lo, node, "the method `view` of an array with these arguments", "`x.astype(...)`, or a copy")
    seen = core.subscript(lo, held, Slice(None, None, None), node)
    return seen if wanted is np.ndarray else new(lo, wanted, seen, array)


# -- operations ------------------------------------------------------------------------------------------------------------


def attribute(lo: Lowering, value: Cell, name: str, node) -> Value:
    """Lower an attribute that arrays have, and that is no method."""
    refuse_others(lo, name, [value])
    made = of_classes(lo, core.attribute(lo, plain(lo, value), name, node), lambda x: getattr(x, name), [value], {})
    return with_mask(lo, made, value)


@core.method.register("object")
def method(lo: Lowering, value: Cell, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method that arrays or containers have."""
    if (stand_in := next((core.STAND_INS[base] for base in value.cls.__mro__ if base in core.STAND_INS), None)) is not None:
        stands = find(stand_in, name)[1]
        if not isinstance(stands, types.FunctionType):
            raise core.unsupported(lo, node, f"the method `{name}` of an object of class {value.cls.__name__}")
        return core.call_object(lo, stands, [value, *args], kwargs, node)
    if array_of(value) is None:
        return core.method.cases[object](lo, value, name, args, kwargs, node)
    refuse_others(lo, name, [value])
    if name == "view" and len(args) + len(kwargs) == 1:
        return view(lo, value, *args, *kwargs.values(), node)
    if name == "mean" and kwargs.keys() <= {"axis", "keepdims"} and len(args) < 2 and own_wrap(value.cls) is not None:
        return mean(lo, value, args, kwargs, node)
    made = core.call_method(lo, plain(lo, value), name, [plain(lo, a) for a in args], kwargs, node)
    return of_classes(lo, made, getattr(np.ndarray, name), [value, *args], kwargs)


def mean(lo: Lowering, value: Cell, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `value.mean(...)` as NumPy computes it: the class says what the sum is, which is divided in place if it is an array."""
    held = plain(lo, value)
    if kind_of(core.data_type(lo, held)) != "float":
        raise refused(lo, [value])
    total = method(lo, value, "sum", args, kwargs, node)
    sizes = [core.call_library(lo, np.size, [v], {}, node) for v in (held, plain(lo, total))]
    quotient = core.operate(lo, operator.truediv, plain(lo, total), core.operate(lo, operator.truediv, *sizes))
    if (into := array_of(total)) is None:
        return quotient
    lo.write(into, (), lo.read(quotient))
    return total


def own_wrap(cls: type) -> types.FunctionType | None:
    """Return the `__array_wrap__` that the user wrote for a class, None if there is none."""
    wrap = find(cls, "__array_wrap__")[1]
    return wrap if isinstance(wrap, types.FunctionType) else None


def call(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of a library with arguments that are arrays with a class."""
    if not core.is_library(fn) or record_of(fn).effect:
        raise refused(lo, args)
    refuse_others(lo, fn, [*args, *kwargs.values()])
    if fn is np.mean and args and array_of(args[0]) is not None and core.special_method(args[0], "mean") is None:
        return method(lo, args[0], "mean", args[1:], kwargs, node)
    made = core.call_library(lo, fn, [plain(lo, a) for a in args], {k: plain(lo, v) for k, v in kwargs.items()}, node)
    return of_classes(lo, made, fn, args, kwargs)


def operate(lo: Lowering, fn: Any, values: list[Value]) -> Value:
    """Apply an operator that no class of the operands defines anew."""
    refuse_others(lo, fn, values)
    made = checked(lo, fn, values, core.operate(lo, fn, *(plain(lo, v) for v in values)))
    return of_classes(lo, made, fn, values, {})


def item(lo: Lowering, base: Cell, key: Value, node) -> Value:
    """Lower `base[key]`."""
    made = core.subscript(lo, plain(lo, base), plain(lo, key), node)
    refuse_others(lo, operator.getitem, [key])
    return with_mask(lo, of_classes(lo, made, operator.getitem, [base, key], {}), base)


def refused(lo: Lowering, values: list[Value]) -> Exception:
    """Return the error for an operation of which it is not known what it does with the classes of its operands."""
    classes = dict.fromkeys(v.cls.__name__ for v in values if isinstance(v, Cell) and array_of(v) is not None)
    why = f"of which class the result is of an operation on arrays of {' and '.join(classes) or 'a class of yours'} is not known here"
    return core.refused(lo, why, "plain arrays: `np.asarray(x)`")


# -- the class of a result -------------------------------------------------------------------------------------------------


class Unclear(Exception):
    """Signal that an example does not show what happens."""


@dataclass
class Shown:
    """Record what NumPy does with small arrays that stand for objects.

    Attributes:
        values: the objects, by the identity of the arrays that stand for them.
        classes: the stand-ins for the users' classes.
        finalized: (new array, what it was seen through) of each call of `__array_finalize__`.
        wrapped: (arguments, result) of each call of `__array_wrap__`.
    """

    values: dict[int, Value] = field(default_factory=dict)
    classes: dict[type, type] = field(default_factory=dict)
    finalized: list[tuple[Any, Any]] = field(default_factory=list)
    wrapped: list[tuple[tuple, Any]] = field(default_factory=list)
    arrays: list[np.ndarray] = field(default_factory=list)

    def stand_in(self, cls: type) -> type:
        """Return the class that stands for a user's class, which reports what NumPy asks of the user's."""
        if not is_array_class(cls):
            return np.ndarray if cls is np.ndarray else object
        if cls not in self.classes:
            bases = dict.fromkeys(self.stand_in(base) for base in cls.__bases__)
            bases.pop(object, None)
            before = itertools.takewhile(lambda base: base is not np.ndarray, cls.__mro__)
            names = {name for base in before for name in vars(base)} - NEVER_ASKED
            members: dict = {name: property(_anew) for name in names if name == "__getattr__" or find(np.ndarray, name)[0]}
            members["__array_priority__"] = cls.__array_priority__
            members.update(__array_finalize__=self.finalize, __array_wrap__=self.wrap)
            self.classes[cls] = type(cls.__name__, tuple(bases), members)
        return self.classes[cls]

    @property
    def finalize(self) -> Callable:
        return lambda made, source: self.finalized.append((made, source))

    @property
    def wrap(self) -> Callable:
        def wrap(array, *args):
            result = np.ndarray.__array_wrap__(array, *args)
            self.wrapped.append(((array, *args), result))
            return result

        return wrap

    def example(self, lo: Lowering, value: Value, size: int) -> Any:
        """Return a small Python object for a value."""
        match value:
            case Slice():
                return slice(*(None if v is None else self.example(lo, v, size) for v in (value.lower, value.upper, value.step)))
            case TupleVal(cls=None):
                return tuple(self.example(lo, v, size) for v in value.items)
            case Cell() if value.kind == "list":
                return [self.example(lo, v, size) for v in value.contents]
        found, known = core.known(lo, value)
        if found and not callable(known):
            return known
        if found and isinstance(known, type) and issubclass(known, (np.generic, int, float, complex, bool)):
            return known
        held = plain(lo, value) if isinstance(value, Cell) else value
        if not isinstance(held, Cell) or held.kind == "array":
            made = array_like(atom_type(lo.read(held)), size)
            if held is value:
                return made
            made = made.view(self.stand_in(value.cls))
            self.values[id(made)] = value
            self.arrays.append(made)
            return made
        raise Unclear


def _anew(array):
    """Stop an example that asks for what a user's class has anew."""
    raise Unclear


def array_like(t: Type, size: int) -> Any:
    """Return a small array or number of a type, where dims that are not known have a given size."""
    kind = kind_of(t)
    if rank(t) is None or kind not in ("float", "int", "complex", "bool") or not isinstance(t, (Array, Scalar)):
        raise Unclear
    if isinstance(t, Scalar):
        return {"float": 1.5, "int": 0, "complex": 1.5j, "bool": True}[kind]
    made = np.ones([n if isinstance(n, int) else size for n in t.dims], t.dtype)
    if kind in ("float", "complex") and made.ndim > 1:  # matrices that have an inverse
        made += np.eye(*made.shape[-2:], dtype=made.dtype)
    return np.zeros_like(made) if kind == "int" else made


SIZES = (3, 4, 2, 1)


def of_classes(lo: Lowering, made: Value, fn: Callable, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Return the result of an operation as an object of the class that it has, with `made`, the result for plain arrays, inside."""
    if isinstance(made, Const) and not made.live and not isinstance(made.value, np.ndarray):
        return made
    for size in SIZES:
        shown = Shown()
        try:
            values = [shown.example(lo, a, size) for a in args]
            named = {k: shown.example(lo, v, size) for k, v in kwargs.items()}
            shown.finalized.clear()
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = fn(*values, **named)
            return like(lo, made, result, shown)
        except Unclear:
            break
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):  # this size does not suit
            continue
    raise refused(lo, [*args, *kwargs.values()])


def like(lo: Lowering, made: Value, result: Any, shown: Shown) -> Value:
    """Return what an operation gives, `made` for plain arrays, with the classes that it has where it gave `result`."""
    by_user = shown.wrapped and any(map(own_wrap, shown.classes))
    if by_user and (not isinstance(result, tuple) or {id(given) for _, given in shown.wrapped} - set(map(id, result))):
        return wrapped_by_user(lo, made, result, shown.wrapped, shown)
    if id(result) in shown.values:
        return shown.values[id(result)]
    if by_user:
        if not isinstance(made, TupleVal):
            raise Unclear
        parts = [(v, part, [w for w in shown.wrapped if w[1] is part]) for v, part in zip(made.contents, result, strict=True)]
        return TupleVal(tuple(wrapped_by_user(lo, v, part, ws, shown) if ws else v for v, part, ws in parts), None, made.cls)
    if isinstance(result, (tuple, list)):
        if not any(isinstance(part, np.ndarray) and type(part) is not np.ndarray for part in result):
            return made
        if not isinstance(made, TupleVal) or len(made.items) != len(result):
            raise Unclear
        return TupleVal(tuple(like(lo, v, part, shown) for v, part in zip(made.items, result)), None, made.cls)
    cls = next((cls for cls, stand_in in shown.classes.items() if type(result) is stand_in), None)
    if (cls or shown.wrapped) and rank(core.data_type(lo, made)) != np.ndim(result):
        raise Unclear
    if cls is None:
        held = any(array_of(v) is made for v in shown.values.values())
        return core.subscript(lo, made, Slice(None, None, None), None) if held and rank(core.data_type(lo, made)) else made
    source = next((source for array, source in shown.finalized[::-1] if array is result), None)
    return new(lo, cls, made, source_value(source, shown))


def source_value(source: Any, shown: Shown) -> Value:
    """Return what an array was seen through, by what stands for it."""
    if source is None or id(source) in shown.values:
        return Const(None) if source is None else shown.values[id(source)]
    return core.unreadable("obj", "what NumPy gives `__array_finalize__` here is an array of its own, which is not known here")


def wrapped_by_user(lo: Lowering, made: Value, result: Any, wrapped: list, shown: Shown) -> Value:
    """Return what the `__array_wrap__` of a user's class makes of the result of an operation, or of a part of it."""
    if len(wrapped) > 1:
        raise Unclear
    (((array, computed, *rest), given),) = wrapped
    value = shown.values.get(id(array))
    wrap = own_wrap(value.cls) if isinstance(value, Cell) else None
    if given is not result or wrap is None or type(computed) is not np.ndarray or rank(core.data_type(lo, made)) != np.ndim(result):
        raise Unclear
    context = [core.unreadable("context", "what NumPy tells `__array_wrap__` of the operation is not known here")] if rest else []
    with lo.using(raising=True):  # where the class handles an exception, the result is of another class
        return core.call_object(lo, wrap, [value, made, *context, *map(Const, rest[1:])], {}, None)
