"""Operators by the names of their methods: `x.__add__(y)`, and `float.__mul__`, which is passed on like a function."""

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import LocalData, Lowering, TupleVal, Value
from sourcead.frontend.values.sequences import as_array
from sourcead.ir.nodes import Const, Var
from sourcead.ir.records import OF_NUMPY, find
from sourcead.ir.types import Array, Scalar, Unknown, is_array, kind_of

DUNDER = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv", operator.pow: "pow",
    operator.floordiv: "floordiv", operator.mod: "mod", operator.matmul: "matmul",
    operator.and_: "and", operator.or_: "or", operator.xor: "xor", operator.lshift: "lshift", operator.rshift: "rshift",
    operator.lt: "lt", operator.le: "le", operator.gt: "gt", operator.ge: "ge", operator.eq: "eq", operator.ne: "ne",
    operator.neg: "neg", operator.pos: "pos", operator.invert: "invert",
}  # fmt: skip
REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}

OPERATORS = {f"__{word}__": (fn, False) for fn, word in DUNDER.items()} | {
    f"__r{word}__": (fn, True) for fn, word in DUNDER.items() if word not in (*REFLECTED, "neg", "pos", "invert")
}  # fmt: skip
"""The methods that are operators, and whether they take their operands in the opposite order."""


def applied(lo: Lowering, name: str, operands: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """Lower `x.__add__(y)` of real numbers and arrays; return None for operands of which Python asks the other one."""
    if name not in OPERATORS or kwargs:
        return None
    fn, is_reflected = OPERATORS[name]
    kinds = [kind_of(atom_type(lo.read(v))) if isinstance(v, (Var, Const)) or core.data_type(lo, v) else None for v in operands]
    is_unary = fn in (operator.neg, operator.pos, operator.invert)
    takes = kinds[0] == "float" or is_array(atom_type(lo.read(operands[0]))) or set(kinds) <= {"int", "bool"}
    if len(operands) != 2 - is_unary or not set(kinds) <= {"float", "int", "bool"} or not takes:
        return None
    return core.operate(lo, fn, *(operands[::-1] if is_reflected else operands))


def taken_by_numpy(lo: Lowering, left: Value, value: Value) -> Value | None:
    """Return the array that NumPy makes of an object to the right of an operator, or None if it is the turn of the object's class.

    NumPy makes an array of what has a length and items, and of anything else an array of one object, whose operator it calls
    for each number on the left.
    """
    is_an_array = issubclass(core.REAL_CLASSES.get(core.class_of(value), object), np.ndarray)
    if is_of_python(lo, left) or is_left_to(value) or is_an_array or core.array_of(value) is not None:
        return None
    name = core.class_of(value).__name__
    if any(core.special_method(value, asked) for asked in OF_NUMPY):
        raise core.refused(lo, f"NumPy asks class {name} what this operator does", "plain arrays")
    if isinstance(value, TupleVal) or all(core.special_method(value, asked) for asked in ("__len__", "__getitem__")):
        return as_array(lo, value)
    if not isinstance(core.data_type(lo, left), Scalar):
        raise core.refused(lo, f"NumPy makes an array of objects of class {name} here", f"`__array_ufunc__ = None` in class {name}")
    return None


def is_of_python(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is none of NumPy's, so that its operators leave those of another class their turn."""
    if core.class_of(value) is not None or isinstance(value, Const) and not value.live:
        return not isinstance(getattr(value, "value", None), np.generic)
    t = core.data_type(lo, value)
    return not isinstance(t, (Array, Scalar, Unknown)) or isinstance(t, Scalar) and t.dtype is None


def is_left_to(value: Value) -> bool:
    """Tell whether NumPy leaves an operator to the class of the right operand, as that class asks for."""
    found = [find(core.class_of(value), name) for name in ("__array_ufunc__", "__array_priority__")]
    ufunc, priority = ((base, getattr(m.value, "value", m) if isinstance(m, LocalData) else m) for base, m in found)
    return ufunc[0] is not None and ufunc[1] is None or isinstance(priority[1], (int, float)) and priority[1] > 0
