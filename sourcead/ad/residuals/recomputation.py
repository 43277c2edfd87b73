"""The price of computing a value again in the reverse sweep, beside the price of saving it.

Both are in numbers saved.  A number that a loop saves takes 8 bytes until the reverse sweep reads it, which are written, read and paged
in once more; we let that cost as much as 20 ns of work.  By this rate, measured on arrays of 1,000 to 10,000 elements of float64,

    an arithmetic operation or a view         nothing: it is no slower than to save its result
    a shift in a circle (`np.roll`)           2 ns an element
    exp, log                                  5 ns an element
    tanh, sin, cos, a power                   18 ns an element
    a sum                                     1 ns for an element that is summed
    a product of matrices                     0.4 ns for a product of two elements, and 1 ns for an element of the result
    the call itself from Python               0.6 µs beyond the header of the array that would be saved
    a loop over arrays in compiled text       50 ns to begin with

Numbers and small arrays are therefore saved in text that Python runs, since a call takes more than they do.  In compiled loops no call
is paid, and an exponential of what is there anyway is computed again.  A stack of one loop fits into the cache there, where it costs
no more than to write and to read it (2 ns a number), so that only the cheapest functions are computed again; that of a nest of three
loops does not.

The minimum cut (`plan.py`) weighs these prices, so a value is computed again only where all that it needs is there or is cheaper.
"""

import math
import operator
from collections.abc import Callable

import numpy as np

from sourcead.ad.residuals.costs import TYPICAL, is_cheap, size
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Call, Op
from sourcead.ir.types import Array, Scalar, Type, dims_of
from sourcead.ir.walk import has_effect
from sourcead.primitives.table import record_of

NEVER = math.inf
RATE = 20.0  # ns that a saved number is worth
CACHED = 2.0  # ns that it is worth in compiled loops, if the stack fits into the cache
CACHE = 1e5  # numbers that the cache holds
CALL = 600.0  # ns that Python takes for a call, beyond what it takes to keep the result
BEGIN = 50.0  # ns that compiled text takes to begin a loop over arrays

ELEMENTS: dict[Callable, float] = {  # ns for an element of the result
    np.exp: 5, np.log: 5, np.expm1: 8, np.log1p: 8, np.sqrt: 2, np.tanh: 18, np.sin: 18, np.cos: 18, np.arctan: 15,
    operator.pow: 18, np.power: 18, np.outer: 1, np.reciprocal: 1, np.roll: 2,
}  # fmt: skip
SUMMED: dict[Callable, float] = {np.sum: 1, np.mean: 1}  # ns for an element of the argument
MULTIPLIED, WRITTEN = 0.4, 1.0  # ns for a product of two elements in a product of matrices, and for an element of the result


class Prices:
    """The prices of computing values again.

    Attributes:
        compiled: whether the text is compiled, so that calls cost nothing.
        depth: the number of loops around the values.
    """

    def __init__(self, compiled: bool, depth: int):
        self.compiled, self.depth = compiled, depth

    def of(self, op: Op, result: Type) -> float:
        """Return the price, in numbers saved, of computing again what has this type; `NEVER` if that is not done."""
        if has_effect(op):
            return NEVER
        if is_cheap(op):
            return 0.0
        if not isinstance(op, Call) or op.effect or not isinstance(result, (Array, Scalar)):
            return NEVER
        time = elements_time(op, result)
        if time is NEVER or not is_pure(op):
            return NEVER
        if not self.compiled:
            return (CALL + time) / RATE
        time += BEGIN * any(isinstance(atom_type(a), Array) for a in op.reads)
        fits = size(result) * TYPICAL**self.depth < CACHE
        return time / (CACHED if fits else RATE)


def is_pure(op: Call) -> bool:
    """Return whether a call computes the same again from the same operands, and nothing else."""
    record = record_of(op.fn)
    return (record.pure or record.has_rule) and not (record.effect or record.buffer or record.writes)


def elements_time(op: Call, result: Type) -> float:
    """Return the time in ns that a call spends on elements, or `NEVER` for functions that are not computed again."""
    if op.fn in ELEMENTS:
        return ELEMENTS[op.fn] * size(result)
    if not op.args:  # all are given by name
        return NEVER
    if op.fn in SUMMED and isinstance(atom_type(op.args[0]), Array):
        return SUMMED[op.fn] * size(atom_type(op.args[0]))
    if op.fn in (operator.matmul, np.matmul, np.dot):
        dims = dims_of(atom_type(op.args[0]))
        if dims:
            return size(result) * (WRITTEN + MULTIPLIED * (dims[-1] if isinstance(dims[-1], int) else TYPICAL))
    return NEVER
