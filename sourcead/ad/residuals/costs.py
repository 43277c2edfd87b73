"""Estimates of the cost of saving a value, and the choice of the values that are computed again instead."""

import operator
from collections import Counter

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Attr, Block, Build, Call, Const, Index, Let, Op, Var
from sourcead.ir.sizes import Dim, Sym, greater, lesser
from sourcead.ir.types import Array, DictT, ListT, MapT, Scalar, StructT, TupleT, Type
from sourcead.ir.walk import walk
from sourcead.primitives.table import record_of

TYPICAL = 100  # the size taken for a dim that is not known
OF_A_PART = 25  # for one that is the lesser or the greater of others, as `z[n : 2 * n]` has: the gates of an LSTM are four such parts


def size(t: Type) -> float:
    """Estimate how many numbers a value of this type holds."""
    match t:
        case Scalar():
            return 1
        case Array(_, dims):
            total = 1.0
            for n in (None, None) if dims is None else dims:
                total *= estimate(n)
            return max(total, 1.0)
        case TupleT(items):
            return 1 + sum(map(size, items))
        case DictT(items) | StructT(_, items):
            return 1 + sum(size(v) for _, v in items)
        case ListT(item) | MapT(_, item):
            return TYPICAL * size(item)
    return TYPICAL


def estimate(dim: Dim | None) -> int:
    """Return the size taken for a dim."""
    if isinstance(dim, Sym):
        return OF_A_PART if dim.made and dim.made[0] in (lesser, greater) else TYPICAL
    return TYPICAL if dim is None else dim


def is_cheap(op: Op) -> bool:
    """Return whether an op is cheap enough to compute again instead of saving its result: a subscript, view or arithmetic."""
    match op:
        case Index(base) if isinstance(atom_type(base), MapT):
            return False  # the value under the key may be another by then
        case Index() | Attr() | Let() | Build():
            return True
        case Call(operator.pow, (_, exponent)):
            return isinstance(exponent, Const) and isinstance(exponent.value, int | float) and exponent.value in (1, 2, 3, -1)
        case Call(fn, _, _, False):
            return record_of(fn).cheap
    return False


def values_with_names(block: Block) -> int:
    """Estimate how many values other than numbers have names in the text of a block, which are those read more than once.

    A name holds its value until it is bound again, also when nothing reads it any more.
    """
    reads = Counter(v for s in walk(block) for v in s.op.reads)
    reads.update(v for v in block.results if isinstance(v, Var))
    targets = (t for s in walk(block) for t in s.targets)
    return sum(reads[t] > 1 and not isinstance(t.type, Scalar) for t in targets)
