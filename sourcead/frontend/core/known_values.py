"""Find out what is known about values while compiling, of which kind they are, and to which library functions belong."""

import builtins
import contextlib
import datetime
import difflib
import enum
import functools
import importlib.util
import logging
import math
import numbers
import operator
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import (
    AttributesCell, BoundVal, Cell, ChoiceVal, FunctionVal, Iterable, TupleVal, Value
)
from sourcead.frontend.core.compiled_from_python import in_source
from sourcead.frontend.core.errors import refused, surely, unsupported
from sourcead.frontend.core.global_parts import integer_of_table, part_of_global
from sourcead.frontend.core.journal import VALUE
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.object_keys import has_objects_as_keys
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const, Operand, Slice, Var
from sourcead.ir.records import is_record
from sourcead.ir.types import (
    INT, Array, ListT, Member, Str, StructT, TupleT, Type, Undefined, Unknown, carries_derivative, join, kind_of
)
from sourcead.language.checkpoint_policies import SavingPolicy
from sourcead.primitives import function_kinds, table
from sourcead.runtime import is_helper


def passes_derivative(operand: Operand) -> bool:
    """Tell whether a derivative may pass through an operand."""
    if isinstance(operand, tuple):
        return any(map(passes_derivative, operand))
    if isinstance(operand, Const):
        return operand.live and carries_derivative(atom_type(operand))
    return isinstance(operand, Var) and carries_derivative(operand.type)


def known(lo: Lowering, value: Value) -> tuple[bool, Any]:
    """Tell whether a value is a Python object known while compiling, and return that object."""
    match value:
        case Const(v, _, live):
            return (not live), v
        case Var():
            size = lo.build.size_dim.get(value) if lo.unrolling else None
            if isinstance(value.type, Str) and value not in lo.build.known and isinstance(text := part_of_global(lo, value), str):
                lo.build.known[value] = text
            if lo.relies_on_numbers and value.type == INT and value not in lo.build.known:
                if (number := integer_of_table(lo, value)) is not None:
                    lo.build.known[value] = number
            return (True, size) if isinstance(size, int) else (value in lo.build.known, lo.build.known.get(value))
        case TupleVal(items):
            found = [known(lo, item) for item in items]
            return all(is_known for is_known, _ in found), tuple(v for _, v in found)
        case Slice(lower, upper, step):
            is_known, bounds = known(lo, TupleVal(tuple(Const(None) if b is None else b for b in (lower, upper, step))))
            return is_known, slice(*bounds)
    return False, None


def certain(lo: Lowering, value: Value, node, *refusal: str) -> Any:
    """Return the Python object that a value is known to be while compiling; refuse a value that is not known."""
    found, obj = known(lo, value)
    if not found:
        raise unsupported(lo, node, *refusal)
    return obj


DATES = (np.datetime64, np.timedelta64)
PURE = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, *DATES, re.Pattern, re.Match)
"""Classes of objects that cannot change and carry no derivative."""

FOLDABLE = (bool, int, str, type(None), tuple, type, enum.Enum, *PURE)


LOCAL = frozenset({"now", "today", "utcnow", "fromtimestamp", "timestamp", "astimezone", "ctime"})  # what depends on the clock or place


def pure_result(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """Return what a class of dates, times or patterns, or a method of theirs, returns for known arguments, None for other calls.

    What depends on the time zone of the place is not known, but a time with a zone is the same everywhere in another.
    """
    owner = getattr(fn, "__self__", None)
    cls = fn if isinstance(fn, type) else owner if isinstance(owner, type) else type(owner)
    (found, values), (named_found, named) = known(lo, TupleVal(tuple(args))), known(lo, TupleVal(tuple(kwargs.values())))
    if not (issubclass(cls, PURE) or getattr(fn, "__module__", None) == "re") or not found or not named_found:
        return None
    with_zone = fn.__name__ == "timestamp" or isinstance((*values, *named, None)[0], datetime.tzinfo)
    if fn.__name__ in LOCAL and not (with_zone and getattr(owner, "tzinfo", None) is not None):
        return None
    try:
        result = fn(*values, **dict(zip(kwargs, named)))
    except Exception:  # the program raises the same error at run time
        return None
    if isinstance(result, list):
        return lo.new_list(map(Const, result))
    return Const(result) if isinstance(result, (float, *FOLDABLE)) else None


FORMATTING = frozenset({format, str, repr, ascii, "".join})  # functions that make the parts of an f-string


def number_of(lo: Lowering, value: Value | tuple, found: dict | None = None) -> Any:
    """Return the number or text that a formula of known ones gives, as `0.025 * rate`, or None if a part of it is not known."""
    found = {} if found is None else found
    if isinstance(value, tuple):
        parts = tuple([number_of(lo, part, found) for part in value])
        return None if None in parts else parts
    if value not in found and len(found) < 100:
        is_known, number = known(lo, value)
        made = lo.build.made_by.get(value) if isinstance(value, Var) else None
        found[value] = number if is_known and isinstance(number, (int, float, str)) else None
        if not is_known and isinstance(made, Call) and made.fn in ARITHMETIC | FORMATTING and not made.kwargs:
            parts = number_of(lo, made.args, found)
            with contextlib.suppress(ArithmeticError, TypeError, ValueError):  # the program raises the same error at run time
                found[value] = None if parts is None else made.fn(*parts)
    return found.get(value)


ROUNDING = frozenset({int, round, math.floor, math.ceil, math.trunc})  # functions that give integers, which may be sizes


def rounded(lo: Lowering, fn: Any, values: list[Value]) -> int | None:
    """Return the integer that a known number is rounded to, or None if it is not known."""
    if fn not in ROUNDING or len(values) != 1 or not isinstance(values[0], (Var, Const)):
        return None
    number = number_of(lo, values[0])
    with contextlib.suppress(ArithmeticError, TypeError, ValueError):
        return None if number is None else fn(number)
    return None


ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul})
COMPARISONS = frozenset({operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne})


def fold(lo: Lowering, fn: Any, operands: list[Value]) -> Const | None:
    """Evaluate a call of known values while compiling, or return None if a value is not known or must not be folded."""
    if lo.catching and fn in ARITHMETIC and any(isinstance(v, Const) and v.value is None and not v.live for v in operands):
        raise surely(lo, refused(lo, "None is used as a number here"), TypeError)
    found, values = known(lo, TupleVal(tuple(operands)))
    if not found:
        return None
    foldable = (*FOLDABLE, float) if lo.static_only or fn is operator.neg or fn in COMPARISONS else FOLDABLE
    if not all(isinstance(v, foldable) for v in values):
        return None
    try:
        return Const(fn(*values))
    except Exception as error:  # the program raises the same error at run time
        if lo.catching:
            raise surely(lo, refused(lo, f"this raises {type(error).__name__}"), type(error)) from None
        return None


def data_type(lo: Lowering, value: Value) -> Type | None:
    """Return the type of a value that is one IR value, or None for any other, such as a list of known items."""
    return atom_type(lo.read(value)) if isinstance(value, Var) or isinstance(value, Cell) and value.kind == "array" else None


def factory_of(lo: Lowering, value: Value) -> Value | None:
    """Return the function that makes the missing values of a `defaultdict`; None for any other value."""
    if isinstance(value, Cell) and value.kind == "dict":
        return value.default
    return getattr(getattr(data_type(lo, value), "default", None), "value", None)


def not_called(lo: Lowering, value: Value) -> tuple[str, str | None]:
    """Return why a value cannot be called, and what to write instead."""
    if isinstance(value, Const) and isinstance(value.value, types.ModuleType):
        return f"`{value.text}` is called, which is a module", f"a function that is in it, as `{value.text}.name(...)`"
    if isinstance(value, Const) and not value.live and not isinstance(value.value, numbers.Number):
        return f"{value.value!r} is called, which is no function", "test for it with `if`" if value.value is None else None
    t = atom_type(value) if isinstance(value, Const) else data_type(lo, value)
    if t is None or kind_of(t) is None:
        return "the function that is called here is not known before the program runs", "call it by its name"
    return "numbers and arrays cannot be called", "a subscript, as in `x[i]`, or a product, as in `x * (...)`"


def similar(name: str, *objects: Any, names: Iterator[str] = ()) -> str | None:
    """Return what a user who wrote `name` may have meant: an attribute of the objects, a name, or NumPy's; None if nothing is similar."""
    found = difflib.get_close_matches(name, [*names, *(attribute for x in objects for attribute in dir(x))], 1, 0.65)
    numpys = getattr(np, name, None)
    return f"`{found[0]}`" if found else None if numpys is None else f"`np.{name}(...)`" if callable(numpys) else f"`np.{name}`"


def meant(lo: Lowering, name: str) -> str | None:
    """Return what a user who wrote a name that nothing has may have meant or forgotten to import, or None if nothing is similar."""
    if name == "np" or name in sys.modules or importlib.util.find_spec(name):
        return f"`import {'numpy as np' if name == 'np' else name}` at the beginning of the module"
    local = [known for scope in lo.scopes() for known, value in scope.names.items() if isinstance(known, str) and value is not UNDEFINED]
    return similar(name, builtins, names=[*local, *lo.scope.source.closure, *lo.scope.source.globals])


def is_sequence(value: Value) -> bool:
    """Tell whether the value is a tuple, list or string, for which + concatenates and * repeats."""
    if isinstance(value, TupleVal) or (isinstance(value, Cell) and value.kind == "list"):
        return True
    if isinstance(value, Cell) and VALUE in value.slots:
        return isinstance(atom_type(value.slots[VALUE]), (ListT, TupleT))
    if isinstance(value, Const):
        return isinstance(value.value, (tuple, list, str))
    return isinstance(value, Var) and isinstance(value.type, (ListT, TupleT, Str))


CODE = (type, types.UnionType, types.ModuleType, str, bool, type(None), np.dtype, enum.Enum, logging.Logger, SavingPolicy, *PURE)


def is_code(value: Any) -> bool:
    """Tell whether an object is part of the program rather than of its data, such as a truth value that selects what is computed."""
    if isinstance(value, CODE) or is_module(value):
        return True
    if type(value) is tuple:
        return bool(value) and all(map(is_code, value))
    return callable(value) and not is_record(value)


def is_number(lo: Lowering, atom: Atom, number: int) -> bool:
    """Tell whether an atom is known to be this integer."""
    found, value = known(lo, atom)
    return found and type(value) is int and value == number


def is_function(value: Any) -> bool:
    """Tell whether a value is a function known while compiling, or one of several."""
    if isinstance(value, Const):
        return not value.live and callable(value.value)
    return isinstance(value, (FunctionVal, BoundVal, ChoiceVal))


def common_type(cell: Cell) -> Type | None:
    """Return the common type of all values of a dict whose keys are known, or None if there is none, or they are attributes."""
    if isinstance(cell, AttributesCell) or has_objects_as_keys(cell):
        return None
    t: Type = Undefined()
    for value in cell.items.values():
        found = type_of_value(value)
        if found is None:
            return None
        t = join(t, found)
    return None if isinstance(t, Unknown) and not isinstance(t, Member) else t


def type_of_value(value: Value, records: bool = False) -> Type | None:
    """Return the type that a value has as one atom, or None if it cannot be one.

    A list of known items can be one; with `records`, an object or a named tuple can, and such a list cannot.
    """
    match value:
        case Var() | Const():
            return None if callable(getattr(value, "value", None)) else atom_type(value)
        case Cell(slots=slots) if VALUE in slots:
            return atom_type(slots[VALUE])
        case Cell(kind="list") if not records:
            t = common_type(value)
            return None if t is None else ListT(t)
        case TupleVal() | Cell(kind="object") if records or getattr(value, "cls", None) is None:
            parts = tuple(type_of_value(item, records) for item in value.contents)
            if None in parts:
                return None
            return TupleT(parts) if value.cls is None else StructT(value.cls, tuple(zip(value.keys, parts)))
    return None


def can_be_map(cell: Cell, value: Value) -> bool:
    """Tell whether a dict of known keys can become one IR value that holds another value too."""
    common, new = common_type(cell), type_of_value(value)
    return common is not None and new is not None and not isinstance(join(common, new), Unknown)


def has_known_items(value: Value) -> bool:
    """Tell whether the items are known one by one."""
    if isinstance(value, Iterable):
        return value.items is not None
    return isinstance(value, (TupleVal, Const)) or isinstance(value, Cell) and value.kind != "array"


def has_countable_items(lo: Lowering, value: Value) -> bool:
    """Tell whether the number of items is known."""
    t = data_type(lo, value)
    return t is None or isinstance(t, Array) and bool(t.dims) and isinstance(t.dims[0], int)


# -- functions and libraries ----------------------------------------------------------------------------------------------


def has_rule(fn: Any) -> bool:
    """Tell whether a function has a derivative rule, or is known to have no derivative."""
    known = table.record_of(fn)
    return known.has_rule or known.no_derivative


PLAIN_BUILTINS = frozenset({abs, pow, round, divmod, format, repr, ascii, ord, chr, bin, hex, all, any, sorted, callable, type, hash})


def is_library(fn: Any) -> bool:
    """Tell whether a function belongs to a library: its source is not looked up, and a missing rule is an error."""
    if is_helper(fn):
        return True
    owner = getattr(fn, "__objclass__", None) or getattr(fn, "__self__", None)
    declared = getattr(fn, "__module__", None) or getattr(owner, "__module__", None) or ""
    module = function_kinds.home(fn) if hasattr(fn, "__wrapped__") else declared
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if isinstance(fn, type) and issubclass(fn, (np.generic, int, float, complex, bool, str)):
        return not isinstance(fn, enum.EnumMeta)
    if module == "builtins":
        return fn in PLAIN_BUILTINS
    return function_kinds.in_library(module) and not isinstance(fn, type)


def is_module(value: Any) -> bool:
    """Tell whether an object is a module, or the object that a package puts in its place to make or rename what is imported from it."""
    if hasattr(type(value), "__getattr__") and any(value is module for module in sys.modules.copy().values()):
        return True
    return isinstance(value, types.ModuleType)


def is_library_module(module: types.ModuleType) -> bool:
    """Tell whether a module belongs to a library."""
    return function_kinds.in_library(module.__name__)


def in_python(fn: Any) -> Any:
    """Return the Python equivalent of an object of Numba, such as `prange`, in interpreted code; of Bottleneck, NumPy's function.

    The standard library has some functions twice, in C and in Python: the one in Python can be read.
    Any other object is returned itself. Numba need not be installed: its objects are recognised by the module that defines them.
    """
    fn = in_source(fn)
    module, name = getattr(fn, "__module__", None), getattr(fn, "__name__", None)
    if module == "bottleneck.reduce" and name in OF_BOTTLENECK:
        return getattr(np, name)
    if isinstance(fn, types.BuiltinFunctionType) and module in TWICE:
        return getattr(without_c(module.lstrip("_")), fn.__name__, fn)
    if isinstance(module, str) and module.startswith("numba.") and isinstance(name, str):
        made = isinstance(getattr(fn, "__self__", None), type)  # typed.List.empty_list(float64), typed.Dict.empty(...)
        return IN_PYTHON.get((module, name, made), fn)
    return fn


TWICE = ("_heapq", "_bisect", "_statistics")


@functools.cache
def without_c(name: str) -> types.ModuleType:
    """Return a module of the standard library as it is where it finds no functions in C to take the place of its own."""

    def import_other(wanted: str, *rest):
        if wanted == f"_{name}":
            raise ImportError
        return __import__(wanted, *rest)

    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    module.__builtins__ = {**vars(builtins), "__import__": import_other}
    spec.loader.exec_module(module)
    return module


def as_it_is(function=None, *options, **named):
    """Return the decorated function itself, or, given options alone, a decorator that does."""
    return function if callable(function) else as_it_is


OF_BOTTLENECK = frozenset({"nansum", "nanmean", "nanstd", "nanvar", "nanmin", "nanmax", "nanmedian"})
IN_PYTHON = {  # the module of an object of Numba, its name, and whether it is a method of a class
    ("numba.misc.special", "prange", False): range,
    ("numba.misc.special", "literal_unroll", False): lambda container: container,
    ("numba.core.decorators", "jit", False): as_it_is,
    ("numba.core.decorators", "njit", False): as_it_is,
    ("numba.typed.typedlist", "List", False): list,
    ("numba.typed.typedlist", "empty_list", True): lambda item_type=None, allocated=0: [],
    ("numba.typed.typeddict", "Dict", False): dict,
    ("numba.typed.typeddict", "empty", True): lambda key_type=None, value_type=None, n_keys=0: {},
}


# -- what is the same while compiling ------------------------------------------------------------------------------------


def paired_bounds(a: Slice, b: Slice) -> list[tuple[Atom | None, Atom | None]] | None:
    """Pair the bounds of two slices, or return None if one has a bound that the other lacks; without steps, no lower bound means 0."""
    lower = a.lower, b.lower
    if a.step is None and b.step is None and (a.lower is None) != (b.lower is None):
        lower = tuple(Const(0) if bound is None else bound for bound in lower)
    pairs = [lower, (a.upper, b.upper), (a.step, b.step)]
    return pairs if all((x is None) == (y is None) for x, y in pairs) else None
