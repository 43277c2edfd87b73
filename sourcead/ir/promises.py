"""Whether a value keeps the promise of a type."""

from collections.abc import Collection

from sourcead.ir.sizes import Sym
from sourcead.ir.types import (
    ANY_DTYPE, NUMBERS, AnyTuple, Array, DictT, FunctionT, ListT, MapT, Member, Scalar, SetT, StructT, TupleT, Type,
    Undefined, Unknown, same_dtype
)


def fits(t: Type, promise: Type, free: Collection[Sym] = ()) -> bool:
    """Return whether a value of type `t` keeps the promise; a dim of the promise in `free` stands for any size from its least size up."""
    match promise, t:
        case AnyTuple(x), AnyTuple(y):
            return fits(y, x, free)
        case Member(cls), FunctionT(value):
            return isinstance(value, cls)
        case Unknown(), _ if not isinstance(promise, AnyTuple | Member):
            return True
        case _, Undefined():
            return True
        case Scalar(k1, d1), Scalar(k2, d2) if d1 == ANY_DTYPE:
            return NUMBERS[promise.least or k1] <= NUMBERS[t.least or k2] and NUMBERS[k2] <= NUMBERS[k1]
        case Array(d1, s1), Array(d2, s2):
            if d1 is not None and not same_dtype(d1, d2):
                return False
            if s1 is None or s2 is None:
                return s1 is None
            return len(s1) == len(s2) and all(_dim_fits(n, p, free) for p, n in zip(s1, s2))
        case TupleT(x), TupleT(y):
            return len(x) == len(y) and all(fits(b, a, free) for a, b in zip(x, y))
        case ListT(x, xs), ListT(y, ys):
            if not fits(y, x, free):
                return False
            return xs is None or ys is not None and len(xs) == len(ys) and all(fits(b, a, free) for a, b in zip(xs, ys))
        case MapT(k, x, default), MapT(m, y, other) if default == other:
            return fits(m, k, free) and fits(y, x, free)
        case SetT(x, p), SetT(y, q):
            return fits(y, x, free) and (q or not p)
        case (DictT(x), DictT(y)) | (StructT(_, x), StructT(_, y)) if getattr(promise, "cls", None) is getattr(t, "cls", None):
            return [k for k, _ in x] == [k for k, _ in y] and all(fits(w, v, free) for (_, v), (_, w) in zip(x, y))
    return t == promise


def _dim_fits(n, promise, free) -> bool:
    if n is promise or n == promise:
        return True
    if promise not in free:
        return False
    return promise.least <= (n if isinstance(n, int) else n.least)
