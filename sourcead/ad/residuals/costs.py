"""What it costs to save a value, and which are cheap enough to be computed again."""

from __future__ import annotations

import builtins
import operator
from collections import Counter

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Attr, Block, Build, Call, Const, Index, Let, Op, Var
from sourcead.ir.types import Array, DictT, ListT, MapT, Scalar, StructT, TupleT, Type
from sourcead.ir.walk import op_reads, walk
from sourcead.runtime.shapes import join_rows

TYPICAL = 100  # the size taken for a dim that is not known

CHEAP = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_, operator.and_, operator.or_,
    operator.is_, operator.is_not, builtins.abs, builtins.len, builtins.min, builtins.max, builtins.float, builtins.int,
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.absolute, np.maximum, np.minimum, np.where,
    np.sign, np.transpose, np.reshape, np.ravel, np.expand_dims, np.squeeze, np.swapaxes, np.moveaxis, np.broadcast_to,
    np.real, np.imag, np.flip, np.conjugate, np.diagonal, join_rows,
})  # fmt: skip


def size(t: Type) -> float:
    """About how many numbers a value of this type holds."""
    match t:
        case Scalar():
            return 1
        case Array(_, dims):
            total = 1.0
            for n in (None, None) if dims is None else dims:
                total *= n if isinstance(n, int) else TYPICAL
            return max(total, 1.0)
        case TupleT(items):
            return 1 + sum(map(size, items))
        case DictT(items) | StructT(_, items):
            return 1 + sum(size(v) for _, v in items)
        case ListT(item) | MapT(_, item):
            return TYPICAL * size(item)
    return TYPICAL


def is_cheap(op: Op) -> bool:
    """Whether to compute a value again rather than keep it: subscripts, views, arithmetic."""
    match op:
        case Index(base) if isinstance(atom_type(base), MapT):
            return False  # what is under the key may be another value by then
        case Index() | Attr() | Let() | Build():
            return True
        case Call(operator.pow, (_, exponent)):
            return isinstance(exponent, Const) and exponent.value in (1, 2, 3, -1)
        case Call(fn, _, _, False):
            try:
                return fn in CHEAP
            except TypeError:
                return False
    return False



def values_with_names(block: Block) -> int:
    """About how many values beside numbers have names in the text of a block: those that are read more than once.

    A name holds its value until it is bound again, also when nothing reads it any more.
    """
    reads = Counter(v for s in walk(block) for v in op_reads(s.op))
    reads.update(v for v in block.results if isinstance(v, Var))
    targets = (t for s in walk(block) for t in s.targets)
    return sum(reads[t] > 1 and not isinstance(t.type, Scalar) for t in targets)
