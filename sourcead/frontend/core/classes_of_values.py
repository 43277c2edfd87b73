"""The classes that a value may have as far as its type tells, and what they have: attributes and special methods."""

import collections
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import STAND_INS, Cell, Flat, FunctionVal, Iterable, SuperVal, TupleVal, Value
from sourcead.frontend.core.errors import OF_OTHER_ARRAYS, refused, surely
from sourcead.frontend.core.global_parts import classes_of_number, number_of_class
from sourcead.frontend.core.journal import WHOLE
from sourcead.frontend.core.known_values import similar
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.names import in_composition
from sourcead.ir.nodes import Atom, Build, Call, Const, Index, Slice, Update, Var
from sourcead.ir.records import find
from sourcead.ir.types import ANY_DTYPE, MEMBERS, Array, DictT, ListT, MapT, NoneType, Scalar, Str, TupleT


def class_of(value: Value) -> type | None:
    """Return the class of an object or named tuple, or None for any other value."""
    match value:
        case TupleVal(cls=cls):
            return cls
        case Cell() if value.kind == "object":
            return value.cls
        case SuperVal(_, inner):
            return class_of(inner)
    return None


def classes_after(value: SuperVal) -> tuple[type, ...]:
    """Return the classes in which `super()` looks for attributes, in order."""
    mro = (class_of(value) or value.value.value).__mro__  # of an object, or of the class that a class method is given
    return mro[mro.index(value.cls) + 1 :]


REAL_CLASSES: dict[type, type] = {}  # the classes of Python that the compiler's own classes stand for

CLASSES = {Array: np.ndarray, ListT: list, TupleT: tuple, DictT: dict, MapT: dict, Str: str, NoneType: type(None)}
NUMBERS = {"float": float, "int": int, "bool": bool, "complex": complex}
ALL_NUMBERS = [*NUMBERS.values(), *(np.dtype(code).type for code in np.typecodes["All"] if np.dtype(code).kind in "biufc")]


def classes_of(lo: Lowering, value: Value) -> list[type]:
    """Return the classes that a value may have, as far as its type tells; none if it does not tell any."""
    if (cls := class_of(value)) is not None:
        return [REAL_CLASSES.get(cls, cls)]
    if isinstance(value, (TupleVal, Slice)):
        return [{TupleVal: tuple, Slice: slice}[type(value)]]
    if isinstance(value, FunctionVal):
        return [] if stands_in(value) else [types.FunctionType]
    if isinstance(value, Cell) and isinstance(value.step, Flat):
        return [np.flatiter]
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        return [value.cls or {"list": list, "dict": dict}[value.kind]]
    if isinstance(value, Iterable):
        return [types.GeneratorType] if value.suspended and not stands_in(value.suspended.fn) else [value.cls] if value.cls else []
    if not isinstance(value, (Var, Const, Cell)) or isinstance(value, Cell) and value.poison is not None:
        return []
    if isinstance(value, Const) and not value.live:
        return [type(value.value)]
    if is_part_of_range(lo, atom := lo.read(value)):
        return [int if isinstance(atom.type, Scalar) else range]
    match atom_type(atom):
        case t if isinstance(t, MEMBERS):
            return [t.cls]
        case Scalar(kind, dtype):
            return classes_of_number(lo, value, ALL_NUMBERS if dtype == ANY_DTYPE else [NUMBERS[kind] if dtype is None else dtype.type])
        case t:
            return [CLASSES[type(t)], *[collections.deque] * (lo.deques and type(t) is ListT)] if type(t) in CLASSES else []


def is_part_of_range(lo: Lowering, atom: Atom) -> bool:
    """Tell whether a value is a number or a slice of a range, which stands in the IR as an array of integers."""
    while isinstance(made := lo.build.made_by.get(atom), Index):
        atom = made.base
    return isinstance(made, Call) and made.fn is range


def stands_in(function: FunctionVal) -> bool:
    """Tell whether a function of the compiler stands for what Python makes of another class, as by `zip` or `functools.cache`."""
    return str(function.source.globals.get("__name__")).split(".")[:2] == ["sourcead", "frontend"]


def has_attribute(lo: Lowering, value: Value, name: str) -> bool | None:
    """Tell whether an object or other value has an attribute, or return None if that is not known."""
    if isinstance(value, SuperVal):
        return any(name in vars(cls) for cls in classes_after(value))
    if class_of(value) is not None:
        if isinstance(value, Cell):
            lo.alive(value)
            if name in value.items and lo.may_be_missing(value.items[name]):
                raise refused(lo, f"whether this object has an attribute `{name}` here is not known before the program runs")
        classes = {class_of(value), *classes_of(lo, value)}
        found = isinstance(value, Cell) and name in value.items or any(find(cls, name)[0] is not None for cls in classes)
        return found or (False if special_method(value, "__getattr__") is None else None)
    if isinstance(value, Const) and not value.live:
        return hasattr(value.value, name)
    if isinstance(value, FunctionVal):
        if name in value.attributes:
            return None if lo.may_be_missing(value.attributes[name]) else True
        return hasattr(types.FunctionType, name) or (False if in_composition(lo) else None)  # `functools.wraps` may have set it
    if isinstance(value, Cell) and value.kind == "dict" and value.added is not None:
        there = find(value.added.cls, name)[0] is not None or value.added.reader is dict.__getitem__ and name in value.items
        return there or (False if value.added.first else None)
    if (number := number_of_class(lo, value)) is not None:
        return hasattr(number, name)
    classes = [cls for cls in classes_of(lo, value) if not cls.__dictoffset__ or cls in lo.number_classes]
    answers = {find(cls, name)[0] is not None or (None if cls in lo.number_classes else False) for cls in classes}
    return answers.pop() if len(answers) == 1 and (True in answers or has_exact_class(lo, value)) else None


def has_exact_class(lo: Lowering, value: Value) -> bool:
    """Tell whether a value has exactly the class that its type tells: a container or text from outside may be of a derived one."""
    if class_of(value) is not None:  # the type of an object or a named tuple names its own class
        return True
    if isinstance(value, TupleVal):
        return value.origin is None
    if isinstance(value, (Slice, FunctionVal, Iterable)):
        return True
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        return value not in lo.params and WHOLE not in value.slots and not value.frozen
    if not isinstance(atom_type(atom := lo.read(value)), (ListT, DictT, MapT, TupleT, Str)):
        return True
    return isinstance(atom, Var) and isinstance(lo.build.made_by.get(atom), (Build, Call, Update))


def no_attribute(lo: Lowering, value: Value, name: str) -> Exception:
    """Return the error for an attribute that a value surely does not have."""
    kind = " or ".join(dict.fromkeys(cls.__name__ for cls in classes_of(lo, value)))
    numeric = all(issubclass(cls, np.ndarray | np.generic | float | int) for cls in classes_of(lo, value))
    other = OF_OTHER_ARRAYS.get(name, "") if numeric else ""
    instead = other.replace("ARRAY", getattr(value, "name", None) or "w") or similar(name, *classes_of(lo, value))
    return surely(lo, refused(lo, f"a value of class {kind} has no `.{name}`", instead), AttributeError)


def special_method(value: Value, name: str) -> Any:
    """Return the Python function that the class of an object defines under a special name, or None if there is none."""
    base, found = find(class_of(value) or object, name)
    found = find(STAND_INS[base], name)[1] if base in STAND_INS and isinstance(value, Cell) else found
    return found if isinstance(found, types.FunctionType) else None
