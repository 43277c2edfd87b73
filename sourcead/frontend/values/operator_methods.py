"""Operators by the names of their methods: `x.__add__(y)`, and `float.__mul__`, which is passed on like a function."""

import operator

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, Value
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import is_array, kind_of

DUNDER = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv", operator.pow: "pow",
    operator.floordiv: "floordiv", operator.mod: "mod", operator.matmul: "matmul", operator.and_: "and", operator.or_: "or",
    operator.xor: "xor", operator.lt: "lt", operator.le: "le", operator.gt: "gt", operator.ge: "ge", operator.eq: "eq",
    operator.ne: "ne", operator.neg: "neg", operator.pos: "pos", operator.invert: "invert",
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
