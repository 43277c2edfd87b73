"""Follow numbers through texts: `float(f"{x:.3f}")`, `json.loads(str(x))`. No derivative passes through the digits of a text.

What is read from a text becomes a value of the numbers that the text is made of, through a helper that has no derivative: it is refused
where one of them is differentiated, and is a plain number elsewhere.
"""

from collections.abc import Iterable

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Call, Operand, Var
from sourcead.ir.types import Array, Str, Type, carries_derivative, parts


def holds_text(t: Type) -> bool:
    """Return whether a value of a type is a text, or holds texts."""
    return isinstance(t, Str) or isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "US" or any(map(holds_text, parts(t)))


def numbers_in(lo: Lowering, made: Var) -> list[Var] | None:
    """Return the numbers that a text, or what holds texts, is made of; None if that is not known, as of one that a branch or loop makes."""
    op = lo.build.made_by.get(made)
    if op is None or op.blocks:
        return None
    found: list[Var] = []
    for operand in (a for a in op.reads if isinstance(a, Var)):
        inner = [operand] if carries_derivative(operand.type) else numbers_in(lo, operand) if holds_text(operand.type) else []
        if inner is None:
            return None
        found += (v for v in inner if v not in found)
    return found


def told(lo: Lowering, var: Var, operands: Iterable[Operand]) -> Var:
    """Return the result of a call as a value of the numbers of which its operands are texts; an exception may have any message."""
    fn = getattr(lo.build.made_by.get(var), "fn", None)
    if not isinstance(var, Var) or not carries_derivative(var.type) or isinstance(fn, type) and issubclass(fn, BaseException):
        return var
    numbers = [v for a in operands if isinstance(a, Var) and holds_text(a.type) for v in numbers_in(lo, a) or ()]
    return lo.build.emit(Call(runtime.read_from_text, (var, *dict.fromkeys(numbers))), atom_type(var), var.name) if numbers else var
