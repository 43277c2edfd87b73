"""Follow numbers through rounding and texts: `round(x, 3)`, `float(f"{x:.3f}")`, `json.loads(str(x))`.

A number that is rounded to some decimals or digits is a step, also if that is done by writing and reading it: it has the derivative 0.
One that keeps all the digits of a float, as `float(str(x))` and `float(f"{x:.18f}")`, is the number itself: it has the derivative 1.

What else is read from a text becomes a value of the numbers that the text is made of, through a helper that has no derivative: it is
refused where one of them is differentiated, and is a plain number elsewhere.
"""

import operator
import re
import string
from collections.abc import Iterable
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Call, Const, Operand, Var
from sourcead.ir.types import Array, Scalar, Str, Type, carries_derivative, parts


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
    operands = tuple(operands)
    if (found := rounded_number(lo, fn, operands)) is not None:
        number, is_whole = found
        return lo.build.emit(Call(runtime.with_derivative_of, (var, number)), atom_type(var), var.name) if is_whole else var
    numbers = [v for a in operands if isinstance(a, Var) and holds_text(a.type) for v in numbers_in(lo, a) or ()]
    return lo.build.emit(Call(runtime.read_from_text, (var, *dict.fromkeys(numbers))), atom_type(var), var.name) if numbers else var


DECIMALS, DIGITS = 16, 17  # from which on a float of the size of 1, and any float, is written as it is
SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?0?\d*(?:\.(\d+))?([eEfFgG]?)")
PERCENT = re.compile(r"\s*%[-+ 0]*\d*(?:\.(\d+))?([eEfFgGrs])\s*")


def rounded_number(lo: Lowering, fn: Any, operands: tuple[Operand, ...]) -> tuple[Var, bool] | None:
    """Return the number that a call rounds, or reads from the text that it alone was written to, and whether it keeps all digits."""
    if fn in (round, np.round, np.around) and len(operands) == 2:
        number, decimals = operands
        is_known = isinstance(number, Var) and isinstance(decimals, Const) and type(decimals.value) is int
        return (number, decimals.value >= DECIMALS) if is_known else None
    written = lo.build.made_by.get(operands[0]) if fn is float and len(operands) == 1 and isinstance(operands[0], Var) else None
    if not isinstance(written, Call) or written.kwargs or not isinstance(written.args, tuple):
        return None
    of = [a for a in written.args if isinstance(a, Var)]
    texts = [a.value for a in written.args if isinstance(a, Const) and type(a.value) is str]
    if len(of) != 1 or not (isinstance(of[0].type, Scalar) and of[0].type.kind == "float") or len(of) + len(texts) != len(written.args):
        return None
    is_whole = keeps_digits(written.fn, *texts)
    return None if is_whole is None else (of[0], is_whole)


def keeps_digits(fn: Any, *texts: str) -> bool | None:
    """Return whether a function writes a float with all its digits, None if it is not known to write the float alone."""
    if fn in (str, repr, format) and not texts:
        return True
    if fn is format and len(texts) == 1:
        found = SPEC.fullmatch(texts[0])
    elif fn is operator.mod and len(texts) == 1:
        found = PERCENT.fullmatch(texts[0])
    elif fn is str.format and len(texts) == 1:
        (before, name, spec, conversion), *others = [*string.Formatter().parse(texts[0])] or [("", None, None, None)]
        if before.strip() or name not in ("", "0") or conversion not in (None, "s", "r") or any(o[0].strip() or o[1] for o in others):
            return None
        found = SPEC.fullmatch(spec or "") if not (conversion and spec) else None
    else:
        return None
    if found is None:
        return None
    precision, kind = found.groups()
    if precision is None and kind in ("", "r", "s"):
        return True
    if kind in ("r", "s"):  # a text that is cut off
        return None
    digits = 6 if precision is None else int(precision)
    return digits >= (DECIMALS if kind in ("e", "E", "f", "F") else DIGITS)
