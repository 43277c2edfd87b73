"""Facts about Python's built-in functions, and the types of results that are Python objects; their rules are in the other families."""

import operator

import numpy as np

from sourcead import runtime
from sourcead.ir.records import list_type
from sourcead.ir.types import (
    BOOL, COMPLEX, FLOAT, INT, UNKNOWN, AnyTuple, Array, ListT, NoneType, Scalar, Str, TupleT, Type, Undefined, join
)
from sourcead.primitives.registry import enter, infers
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.elementwise import elementwise
from sourcead.primitives.result_types.operands import Arg, array_type
from sourcead.primitives.result_types.subscripts import infer_index

enter(
    abs, bool, complex, divmod, float, hash, id, int, isinstance, issubclass, len, pow, range, repr, round, str, type,
    memory="fresh",
)  # fmt: skip
enter(dict, enumerate, frozenset, list, reversed, set, sorted, sum, tuple, zip, memory="shallow")
enter(abs, bool, complex, divmod, float, int, len, max, min, pow, round, sum, pure=True)
enter(abs, len, min, max, float, int, cheap=True)
enter(abs, pow, elementwise=True)
enter(len, metadata=True)
enter(
    len, range, float, int, bool, abs, min, max, isinstance, print, tuple, enumerate, zip, reversed, list, complex, round, slice, sum,
    numba="native",
)  # fmt: skip
enter(str.format, str.format_map, numba="interpreted")
enter(
    abs, bool, complex, divmod, float, int, len, max, min, pow, round, sum, sorted, any, all, tuple, list, repr, str,
    examples=True,
)  # fmt: skip

# ---- types ----

_ALWAYS = {
    INT: (len, int, hash, ord, id, runtime.axis_size, np.ndim, np.size),
    FLOAT: (float,),
    COMPLEX: (complex,),
    BOOL: (
        bool, isinstance, issubclass, callable, hasattr, operator.not_, operator.is_, operator.is_not, operator.contains, np.isscalar,
        np.iscomplexobj, np.isrealobj, np.array_equal, np.allclose, np.may_share_memory, np.shares_memory,
    ),
    Str(): (str, repr, format, chr, bin, hex, oct, ascii, np.array2string, np.array_str, np.array_repr),
    NoneType(): (print,),
    UNKNOWN: (range, type, iter, enumerate, zip, map, reversed, filter, getattr, open, input, eval),
}  # fmt: skip
for _type, _functions in _ALWAYS.items():
    enter(*_functions, result=lambda fn, args, kwargs, t=_type: t)
enter(np.shape, result=sized)


@infers(min, max)
def _extreme(fn, args, kwargs) -> Type:
    if kwargs:
        return UNKNOWN
    if len(args) == 1:
        return _element(args[0].type)
    result: Type = Undefined()
    for a in args:
        if not isinstance(a.type, (Scalar, Str)):
            return UNKNOWN
        result = join(result, a.type)  # one of them comes back as it is: an int here, a float there
    return result


@infers(sum)
def _sum(fn, args, kwargs) -> Type:
    if kwargs or len(args) > 2:
        return UNKNOWN
    start = args[1] if len(args) == 2 else Arg(INT, 0)
    match args[0].type:
        case TupleT(items) | ListT(_, items) if items is not None:
            total = start
            for t in items:
                total = Arg(elementwise(operator.add, [total, Arg(t)], {}))
            return total.type
        case Array(_, dims) if dims is not None and len(dims) > 1:
            if isinstance(dims[0], int) and dims[0] > 0:
                return elementwise(operator.add, [start, Arg(_element(args[0].type))], {})
    return UNKNOWN  # of no elements it would be the start


def _element(t: Type) -> Type:
    return infer_index(t, Arg(INT))


@infers(tuple, list, sorted)
def _sequence(fn, args, kwargs) -> Type:
    if not args:
        return TupleT(()) if fn is tuple else ListT(UNKNOWN, ())
    if kwargs:
        return UNKNOWN
    match args[0].type:
        case TupleT(items):
            if fn is sorted:
                return ListT(list_type(items).item)
            return args[0].type if fn is tuple else list_type(items)
        case ListT(item, items):
            if fn is sorted:
                return ListT(item)
            if fn is list:
                return args[0].type
            return TupleT(items) if items is not None else AnyTuple(item)
        case Array(_, dims) if dims and fn is not tuple:
            return ListT(_element(args[0].type))
    return UNKNOWN


# ---- methods ----


@infers(np.ndarray.item)
def _item(fn, args, kwargs) -> Type:
    t = args[0].type
    dtype = t.dtype if isinstance(t, (Array, Scalar)) else None
    if dtype is None or dtype.kind not in "biufc":
        return UNKNOWN
    return {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": Scalar("complex")}[dtype.kind]


@infers(np.ndarray.tolist)
def _tolist(fn, args, kwargs) -> Type:
    t = array_type(args[0].type)
    result = _item(fn, args, kwargs)
    for _ in t.dims:
        result = ListT(result)
    return result
