"""Prepare the arguments of calls of libraries: what is written, converted or refused before the call is emitted."""

import contextlib
import functools
import itertools
import math
import types
import warnings
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins import registered_functions
from sourcead.frontend.core import MISSING, Cell, Iterable, Lowering, TupleVal, Value, roots
from sourcead.frontend.values import memory_layouts, sequences, subscripts
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import Array, ListT, NoneType, Str, TupleT, is_array, kind_of, rank
from sourcead.places.spelling import spelled
from sourcead.primitives.compositions import parameters_of
from sourcead.primitives.registry import is_own
from sourcead.primitives.rule import signature_of
from sourcead.primitives.table import record_of, takes_arrays

JOINS = (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack)
OF_SEQUENCES = frozenset(getattr(math, name, None) for name in ("fsum", "prod", "dist", "sumprod"))


OBJECTS, USE_LISTS = "an array of Python objects", "lists inside each other"


def holds_objects(dtype: Value | None) -> bool:
    """Tell whether a value is known to be a dtype of Python objects, such as `object` and any class that NumPy does not know."""
    return isinstance(dtype, Const) and not dtype.live and isinstance(dtype.value, type) and np.dtype(dtype.value).kind == "O"


def keep_fractions(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Emit a check if a result takes its dtype from what may be of integers, to which the other arguments are rounded."""
    given = dict(enumerate(args)) | kwargs
    place = next((k for k in (record_of(fn).dtype_at, "dtype") if k in given), 0 if fn in (np.full_like, np.insert) else None)
    if lo.static_only or place is None or core.known(lo, holder := lo.operand(given[place]))[0]:
        return
    for value in (v for k, v in given.items() if k != place and core.passes_derivative(lo.operand(v))):
        return lo.keeps_fractions(holder, (), "the array" if place == 0 else "the dtype", lo.operand(value))


def as_numpy_takes(lo: Lowering, value: Value) -> Value:
    """Convert a range, or ranges in a list or tuple, to arrays, as NumPy does with its arguments; return any other value.

    A `deque` of at most some items, and an object with a length and items, are converted to the list of their items.
    """
    if core.class_of(value) in core.REAL_CLASSES and "held" in value.items:
        return value.items["held"]
    if isinstance(value, Cell) and value.kind == "object":
        if core.REAL_CLASSES.get(value.cls) is np.ndarray:
            raise core.refused(lo, f"a function of NumPy is given {OBJECTS}", USE_LISTS)
        return sequences.as_array(lo, value)
    items = (core.parts_of(value) or {}).values()
    if any(isinstance(item, Iterable) or isinstance(item, Cell) and item.kind == "object" for item in items):
        return lo.map_items(value, functools.partial(as_numpy_takes, lo))
    if not isinstance(value, Iterable) or value.value is None:
        return value
    whole = value.domain()
    bounds = (whole.stop,) if core.is_number(lo, whole.start, 0) else (whole.start, whole.stop)
    bounds = bounds if core.is_number(lo, whole.step, 1) else (whole.start, whole.stop, whole.step)
    return lo.wrap(lo.build.call(np.arange, *bounds))


TUPLES = frozenset("axes destination newshape pad_width reps shape shift source window_shape".split())
OF_SEVERAL_AXES = frozenset((np.flip, np.roll, np.expand_dims, np.lib.stride_tricks.sliding_window_view))  # others take no list for `axis`


def with_tuples(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Return the arguments with tuples for lists of known integers where NumPy takes either: `axes=[1, 0]`, `np.reshape(x, [2, 3])`."""

    def taken(name: str | None, value: Value) -> Value:
        is_list = isinstance(value, Cell) and value.kind == "list" or isinstance(value, TupleVal)
        is_taken = name in TUPLES or name == "axis" and fn in OF_SEVERAL_AXES
        return as_tuples(lo, value) or value if is_taken and is_list else value

    if isinstance(fn, np.ufunc):
        return args, kwargs
    names = itertools.chain(parameters_of(fn) if args else (), itertools.repeat(None))
    return [taken(name, a) for name, a in zip(names, args)], {name: taken(name, a) for name, a in kwargs.items()}


def as_tuples(lo: Lowering, value: Value) -> TupleVal | Const | None:
    """Return a list or tuple of known integers, or of such lists, as a tuple; None for others."""
    if isinstance(value, Cell | TupleVal):
        if core.class_of(value) is not None or getattr(value, "kind", "list") != "list" or (parts := core.parts_of(value)) is None:
            return None
        items = [as_tuples(lo, item) for item in parts.values()]
        return None if None in items else TupleVal(tuple(items))
    return value if isinstance(value, Const) and not value.live and type(value.value) is int else None


def without_flat(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> tuple[Any, list[Value], dict[str, Value]]:
    """Return a call with `np.ravel(a)` in place of `a.flat`: NumPy takes it so, and does not even copy it in `np.array` and `np.copy`."""
    copies = fn in (np.array, np.copy)
    if not args or not subscripts.is_flat(args[0]) or not copies and record_of(fn).memory == "fresh":
        return fn, args, kwargs
    if copies and (len(args) > 1 or not kwargs.keys() <= {"dtype", "copy"}):
        raise core.unsupported(lo, node, f"`np.{fn.__name__}` of `.flat` with these options", "use `np.ravel(a)`")
    args = [core.call_library(lo, np.ravel, [args[0].base], {}, node), *args[1:]]
    return (np.asarray, args, {k: v for k, v in kwargs.items() if k == "dtype"}) if copies else (fn, args, kwargs)


def refuse_some(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> None:
    """Refuse calls that have no derivative although their function has a rule, and those that raise an exception for sure."""
    of_numbers = fn in (float, int) or getattr(fn, "__module__", None) == "math" and fn not in OF_SEQUENCES
    if of_numbers and any(is_no_number(lo, a) for a in args):
        name, same = spelled(fn), f"`np.{fn.__name__}`, which takes arrays" if fn not in (float, int) and hasattr(np, fn.__name__) else None
        raise core.surely(lo, core.unsupported(lo, node, f"`{name}` of what is not one number", same), TypeError)
    is_text = args and isinstance(args[0], Var) and isinstance(args[0].type, Str)
    if is_text and (fn is complex or fn is float and core.numbers_in(lo, args[0]) is None):
        raise core.unsupported(lo, node, f"`{fn.__name__}` of a string: a derivative does not pass through text")
    given = {**dict(zip(parameters_of(fn) if core.is_library(fn) else (), args)), **kwargs}
    for name, value in given.items():
        if name.startswith("overwrite_") and core.truth(lo, value) is not False:
            raise core.unsupported(lo, node, f"`{fn.__name__}` with `{name}`, which destroys its argument", "leave it out")
    if fn in JOINS and args[1:] and (core.is_sequence(args[1]) or rank(core.data_type(lo, args[1]))):
        why = f"`{spelled(fn)}` takes the arrays as one list or tuple"
        raise core.surely(lo, core.unsupported(lo, node, why, f"`{spelled(fn)}((a, b))`"), TypeError)
    if fn is np.place and roots(given.get("arr", MISSING)) & roots(given.get("vals", MISSING)):
        raise core.unsupported(lo, node, "`np.place` reads values from the array while it writes into it", "copy the values first")
    if holds_objects(kwargs.get("dtype")) and fn not in (np.array, np.asarray):  # those hold numbers, which nothing else replaces
        raise core.unsupported(lo, node, OBJECTS, USE_LISTS)
    if isinstance(fn, types.FunctionType) and core.has_rule(fn) and not core.is_library(fn) and not is_own(fn):
        registered_functions.refuse_writes(lo, fn, node)
    if fn is np.sign and args and kind_of(atom_type(lo.read(args[0]))) == "complex":
        raise core.unsupported(lo, node, "`np.sign` of complex numbers cannot be differentiated yet", "write `x / np.abs(x)`")


def is_no_number(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is surely nothing that Python converts to a number: None, a container, or an array of several elements."""
    if isinstance(value, Cell) and value.kind != "array" or isinstance(value, TupleVal):
        return core.class_of(value) is None
    if not isinstance(value, (Var, Const, Cell)):
        return False
    t = atom_type(lo.read(value))
    several = isinstance(t, Array) and t.dims and (AXES_ARE_REFUSED or any(isinstance(n, int) and n != 1 for n in t.dims))
    return bool(several) or isinstance(t, (NoneType, ListT, TupleT))


def converts_one_element() -> bool:
    """Tell whether Python converts an array with axes and one element to a number, which NumPy allowed up to its version 2.3."""
    with warnings.catch_warnings(), contextlib.suppress(TypeError):
        warnings.simplefilter("ignore")
        return bool(float(np.ones(1)))
    return False


AXES_ARE_REFUSED = not converts_one_element()


def without_copy(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> tuple[Any, list[Value], dict[str, Value]]:
    """Return a call without its option `copy`; without a copy, `np.array` and `astype` may return the array itself, as `np.asarray`.

    With a copy, and where it converts to another dtype, `np.asarray` returns what `np.array` does.
    """
    if fn is np.require and len(args) < 3 and kwargs.keys() <= {"dtype"}:  # nothing is required of the memory
        fn = np.asarray
    to_dtype = fn in (np.asarray, np.asanyarray) and len(args) + len(kwargs) == 2 and kwargs.keys() <= {"dtype"}
    if to_dtype and isinstance(args[0], Cell) and args[0].kind == "array":
        return (np.array if memory_layouts.converts(lo, args[0], kwargs.get("dtype", args[-1])) else fn), args, kwargs
    if isinstance(fn, type) and issubclass(fn, np.generic) and len(args) == 1 and isinstance(args[0], Cell) and not kwargs:
        t = atom_type(lo.read(args[0])) if args[0].kind == "array" else None
        if isinstance(t, Array) and rank(t):  # an array that has the dtype of a class of numbers is what the class returns
            dtype = Const(fn)
            is_new = memory_layouts.converts(lo, args[0], dtype)
            return (np.ndarray.astype, [*args, dtype], {}) if is_new else (np.asarray, args, {"dtype": dtype})
    if fn is np.nan_to_num and len(args) == 2:
        args, kwargs = args[:1], {**kwargs, "copy": args[1]}
    if fn not in (np.array, np.asarray, np.asanyarray, np.ndarray.astype, np.nan_to_num) or "copy" not in kwargs:
        return fn, args, kwargs
    copy = kwargs["copy"]
    if not isinstance(copy, Const) or copy.live:
        raise core.unsupported(lo, node, f"`{fn.__name__}` with `copy`, if that is not known before the program runs", "leave it out")
    wanted = {"ALWAYS": True, "IF_NEEDED": None, "NEVER": False}.get(getattr(copy.value, "name", ""), copy.value)  # of `np._CopyMode`
    kwargs = {k: v for k, v in kwargs.items() if k != "copy"}
    if fn is np.nan_to_num:
        in_place = not wanted and isinstance(args[0], Cell) and is_array(core.data_type(lo, args[0]))
        return fn, args, {**kwargs, "out": args[0]} if in_place else kwargs
    base, dtype = args[0] if args else None, kwargs.get("dtype", args[1] if len(args) > 1 else None)
    is_new = wanted or not isinstance(base, Cell) or base.kind != "array" or memory_layouts.converts(lo, base, dtype)
    return (fn if fn is np.ndarray.astype else np.array) if is_new else np.asarray, args, kwargs


def without_out(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value], Value | None]:
    """Split the arguments of a call into those without `out`, and the array that the result is written into, or None."""
    name, place = place_of_out(fn)
    out = kwargs.get(name)
    if name == "output" and not isinstance(out if len(args) <= place else args[place], Cell):  # a dtype
        return args, kwargs, None
    kwargs = {k: v for k, v in kwargs.items() if k != name}
    if place is not None and len(args) > place:
        names = parameters_of(fn)[place + 1 :]
        if isinstance(fn, np.ufunc):
            return args[:place], kwargs, TupleVal(tuple(args[place:])) if fn.nout > 1 else args[place]
        args, out, kwargs = args[:place], args[place], {**dict(zip(names, args[place + 1 :])), **kwargs}
    if isinstance(out, TupleVal) and len(out.items) == 1:
        out = out.items[0]
    return args, kwargs, None if isinstance(out, Const) and out.value is None else out


def place_of_out(fn: Any) -> tuple[str, int | None]:
    """Return the name and position of the array that the result of a library's function is written into; it has no position in some."""
    if isinstance(fn, np.ufunc):
        return "out", fn.nin
    names = parameters_of(fn) if core.is_library(fn) else ()
    name = "output" if "output" in names else "out"
    return name, names.index(name) if name in names else None


def plain_arguments(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Convert arguments for a library: named tuples to tuples, and lists that carry a derivative to arrays if it takes arrays."""
    if not core.is_library(fn):
        return args, kwargs
    args = [sequences.plain(a, lo) for a in args]
    if takes_arrays(fn) and not lo.static_only:
        args = [sequences.as_array(lo, a) for a in args]
    return args, {k: sequences.plain(v, lo) for k, v in kwargs.items()}


def in_their_places(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """Move arguments that are given by name to their places if they have no default: what comes later finds them there."""
    args, kwargs = list(args), dict(kwargs)
    for p in (signature_of(fn) or ())[len(args) :]:
        if p.kind is not p.POSITIONAL_OR_KEYWORD or p.default is not p.empty or p.name not in kwargs:
            break
        args.append(kwargs.pop(p.name))
    return args, kwargs
