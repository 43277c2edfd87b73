"""Which functions work on each element of operands that are broadcast against each other."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import numpy as np

OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.and_, operator.or_, operator.xor, operator.neg,
}  # fmt: skip


def is_elementwise(fn: Any) -> bool:
    """Whether a function of arrays broadcasts its operands against each other and works on each element."""
    if isinstance(fn, np.ufunc):
        return fn.signature is None and fn.nout == 1
    return isinstance(fn, Hashable) and fn in OPERATORS
