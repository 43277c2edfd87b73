"""Types of the results of scipy.special's functions over an axis; imported when the first of them is looked up."""

from __future__ import annotations

from scipy import special

from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.operands import Impossible, arrange, axes_of, const, need_dims, only
from sourcead.primitives.result_types.reductions import without_axes


@infers(special.softmax, special.log_softmax)
def _same_shape(fn, args, kwargs) -> Type:
    given = arrange("x axis", args, kwargs)
    only(given, "x axis")
    result = sample(fn, args, kwargs)
    return Array(result.dtype, need_dims(given["x"])) if isinstance(result, Array) else result


@infers(special.logsumexp)
def _logsumexp(fn, args, kwargs) -> Type:
    given = arrange("a axis b keepdims", args, kwargs)
    only(given, "a axis b keepdims")
    if "b" in given and need_dims(given["b"]) != ():
        raise Impossible
    dims = need_dims(given["a"])
    dims = without_axes(dims, axes_of(given.get("axis"), len(dims)), bool(const(given.get("keepdims"), False)))
    result = sample(fn, args, kwargs)
    if isinstance(result, Array) and len(result.dims) != len(dims):
        raise Impossible
    return Array(result.dtype, dims) if isinstance(result, Array) else result
