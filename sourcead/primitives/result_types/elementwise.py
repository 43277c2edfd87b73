"""Types of functions that work element by element: dims broadcast, dtypes promote."""

import operator

import numpy as np

from sourcead.ir.sizes import form_of, lower_bound
from sourcead.ir.types import BOOL, FLOAT, UNKNOWN, Array, ListT, NoneType, Scalar, Str, TupleT, Type, Unknown, join
from sourcead.primitives.function_kinds import home
from sourcead.primitives.registry import record
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.dims import broadcast_dims
from sourcead.primitives.result_types.operands import Arg, Impossible, array_type


def elementwise(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result of an elementwise call."""
    if set(kwargs) - {"dtype", "nan", "posinf", "neginf", "decimals", "rtol", "atol", "equal_nan", "deg", "min", "max"}:
        return UNKNOWN
    count = fn.nin if isinstance(fn, np.ufunc) else record(fn).operands or 3
    operands, options = args[:count], args[count:]
    if options and (isinstance(fn, np.ufunc) or not all(isinstance(a.type, (Scalar, NoneType)) for a in options)):
        raise Impossible
    every = operands + [a for k, a in kwargs.items() if k in ("min", "max")]
    types = [a.type for a in every]
    if any(isinstance(a.type, Unknown) and not (a.known and isinstance(a.value, (np.datetime64, np.timedelta64))) for a in every):
        return UNKNOWN
    if home(fn) == "_operator" and not any(isinstance(t, Array) for t in types):
        if any(isinstance(t, (ListT, TupleT, Str)) for t in types):
            return _sequence_operator(fn, args)
    if fn in (operator.pow, pow, operator.ipow) and (python := _python_power(args)) is not None:
        return python
    arrays = [t for t in types if isinstance(t, Array)]
    unknown_rank = any(t.dims is None for t in arrays)
    if any(t.dtype is None for t in arrays):
        if (
            fn is np.where
            and args[0].type in arrays
            and all(isinstance(t, Array) and t.dtype is not None for t in types[1:])
        ):
            dtype = np.result_type(*(t.dtype for t in types[1:]))
        else:
            dtype = np.dtype(bool) if record(fn).boolean else None
        if unknown_rank:
            return Array(dtype, None)
        dims = _dims(types)
        return Array(dtype, dims) if dims or fn is np.where else UNKNOWN
    try:
        result = sample(fn, args, kwargs, rank_if_unknown=1 if unknown_rank else None)
    except Impossible:  # NumPy 2.0: the dtype of a power may depend on the exponent's value
        if fn not in (operator.pow, pow, operator.ipow) or not arrays or unknown_rank or not _dims(types):
            raise
        return Array(None, _dims(types))
    if not isinstance(result, Array):
        return result
    if unknown_rank:
        return Array(result.dtype, None)
    dims = _dims(types)
    if len(dims) != len(result.dims):
        raise Impossible
    return Array(result.dtype, dims)


def _dims(types) -> tuple:
    return broadcast_dims(*(array_type(t).dims for t in types if isinstance(t, (Array, Scalar, ListT, TupleT))))


def _python_power(args) -> Type | None:
    """Return the type of `a ** b` for Python numbers, whose kind depends on their values."""
    a, b = args[0].type, args[1].type
    if not (isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype is None and b.dtype is None):
        return None
    if len(args) > 2:
        return UNKNOWN
    if b.kind == "int" and a.kind in ("int", "bool"):
        if not args[1].known:
            number = args[1].number
            return Scalar("int") if number is not None and lower_bound(form_of(number)) >= 0 else UNKNOWN
        return Scalar("int") if args[1].value >= 0 else FLOAT
    if "complex" in (a.kind, b.kind):
        return Scalar("complex")
    return FLOAT if "float" in (a.kind, b.kind) else Scalar("int")


def _sequence_operator(fn, args) -> Type:
    """Return the type of the result of an operator on lists, tuples or strings."""
    types = [a.type for a in args]
    if fn in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        return BOOL if all(isinstance(t, (Str, Scalar)) for t in types) else UNKNOWN
    match fn, *types:
        case operator.add, TupleT(x), TupleT(y):
            return TupleT(x + y)
        case operator.add, ListT(x, xs), ListT(y, ys):
            both = xs + ys if xs is not None and ys is not None else None
            if xs == ():
                return ListT(y, both)
            return ListT(x if ys == () else join(x, y), both)
        case operator.add, Str(), Str():
            return Str()
        case operator.mul, TupleT(x), Scalar("int") if args[1].known:
            return TupleT(x * args[1].value)
        case operator.mul, ListT(x, xs), Scalar("int"):
            return ListT(x, xs * args[1].value if xs is not None and args[1].known else None)
        case operator.mul, Scalar("int"), ListT() | TupleT():
            return _sequence_operator(fn, args[::-1])
        case operator.mod, Str(), _:
            return Str()
    return UNKNOWN
