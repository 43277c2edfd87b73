"""Which memory the result of an op may share with its operands.

    fresh     nothing: the memory was made by the op (np.zeros, np.tanh, reductions, integer-array subscripts)
    shallow   a new container of the operands' elements (list(xs), xs + ys, np.split)
    shared    the result may be, contain or be part of any operand (views, elements)
    first     the same for the first operand only
    readonly  the same as shared, and the result may not be written (np.broadcast_to, np.diagonal)
    foreign   the same as shared, or memory from outside of the function (functions of which nothing is known)

Of a function that is not listed here only its module is known: NumPy's results share with nothing but their arguments.
"""

from __future__ import annotations

import builtins
import inspect

import numpy as np

from sourcead import runtime
from sourcead.ir.nodes import Attr, Call, Const, Index, Operand, Slice, Var
from sourcead.ir.type_of import type_of
from sourcead.ir.types import (
    Array, DictT, FunctionT, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type, Undefined, rank
)
from sourcead.primitives.views import MAKES_NEW

_FRESH_NUMPY = frozenset(
    """
    all allclose any append apply_along_axis apply_over_axes arange argmax argmin argpartition argsort argwhere around
    array_equal average bincount choose clip column_stack compress concatenate concat convolve copy copyto corrcoef correlate
    count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete diagflat digitize dot dstack empty empty_like
    extract eye fix flatnonzero full full_like geomspace gradient hstack identity indices inner insert interp isclose isin
    kron lexsort linspace logspace max amax mean median min amin nanargmax nanargmin nancumprod nancumsum nanmax nanmean
    nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar nonzero ones ones_like outer pad partition
    percentile piecewise polyfit polyval prod ptp quantile repeat resize roll round searchsorted select setdiff1d sinc sort
    stack std sum take take_along_axis tensordot tile trace trapezoid trapz tri tril triu tril_indices triu_indices unique
    union1d vander var vdot vstack where zeros zeros_like astype flatten tolist item iscomplexobj isrealobj ndim shape size
    cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power matrix_rank multi_dot norm pinv qr slogdet
    solve svd svdvals tensorinv tensorsolve vector_norm vecdot
    fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
    normal uniform rand randn randint random standard_normal choice permutation
    """.split()
)
_READONLY_NUMPY = frozenset("broadcast_to broadcast_arrays diag diagonal sliding_window_view as_strided".split())
_SHALLOW_NUMPY = frozenset("split array_split hsplit vsplit dsplit unstack ix_".split())
_FRESH_BUILTINS = frozenset(
    "abs bool complex divmod float hash id int isinstance issubclass len pow range repr round str type".split()
)
_SHALLOW_BUILTINS = frozenset("dict enumerate frozenset list reversed set sorted sum tuple zip".split())
_FRESH_RUNTIME = frozenset("copy zeros_like zeros_if_assigned scatter".split())
_FIRST_RUNTIME = frozenset("unbroadcast like_sequence cotangent_at".split())
_PLAIN_ATTRIBUTES = frozenset("shape ndim size dtype itemsize nbytes strides".split())


def has_memory(t: Type) -> bool:
    """Whether a value of this type may be or hold memory that can be written."""
    match t:
        case Scalar() | Str() | NoneType() | FunctionT() | Undefined():
            return False
        case TupleT(items):
            return any(map(has_memory, items))
    return True


def is_plain(t: Type) -> bool:
    """Whether a value of this type is known to be a number or an array of numbers."""
    return isinstance(t, Scalar) or (isinstance(t, Array) and (t.dtype is None or t.dtype.kind != "O"))


def operand_type(operand: Operand) -> Type:
    """The type of an operand, as far as it is known."""
    match operand:
        case Var():
            return operand.type
        case Const(value):
            return type_of(value)
        case tuple():
            return TupleT(tuple(map(operand_type, operand)))
    return NoneType()


def call_sharing(op: Call) -> str:
    """How the result of a call shares memory with its arguments."""
    fn = op.fn.value if isinstance(op.fn, Const) else op.fn
    name = getattr(fn, "__name__", "")
    module = getattr(fn, "__module__", None) or getattr(getattr(fn, "__objclass__", None), "__module__", None) or ""
    options = {k for k, _ in op.kwargs}
    if isinstance(fn, np.ufunc):
        return "shared" if "out" in options else "fresh"
    if module in ("operator", "_operator"):
        return _operator_sharing(name, op)
    if module == "math":
        return "fresh"
    if module == "builtins" and getattr(builtins, name, None) is fn:
        return "fresh" if name in _FRESH_BUILTINS else "shallow" if name in _SHALLOW_BUILTINS else "foreign"
    if fn is dict.get:
        return "shared"
    if fn in (list.copy, dict.copy):
        return "shallow"
    if inspect.isclass(fn) and issubclass(fn, np.generic):
        return "fresh"
    if module.split(".")[0] == "numpy" or isinstance(
        getattr(fn, "__self__", None), (np.random.Generator, np.random.RandomState)
    ):
        return _numpy_sharing(name, op, options)
    if runtime.is_helper(fn):
        return "fresh" if name in _FRESH_RUNTIME else "first" if name in _FIRST_RUNTIME else "shared"
    if module == "sourcead.backends.numba.overloads.helpers" and name == "with_room":
        return "first"
    return "fresh" if inspect.isfunction(fn) and fn in MAKES_NEW else "foreign"


def _operator_sharing(name: str, op: Call) -> str:
    if name in ("getitem", "itemgetter", "attrgetter"):
        return "shared"
    if name.startswith("i") and name not in ("inv", "invert", "is_", "is_not", "index", "indexOf"):
        return "foreign"
    return "fresh" if all(is_plain(operand_type(a)) for a in op.args) else "shallow"


def _numpy_sharing(name: str, op: Call, options: set[str]) -> str:
    if options & {"out", "copy"}:
        return "shared"
    if name == "ndarray" and len(op.args) <= 2 and options <= {"dtype", "order"}:  # no buffer
        return "fresh"
    if name in _READONLY_NUMPY:
        return "readonly"
    if name in _SHALLOW_NUMPY:
        return "shallow"
    if name == "array" or name in _FRESH_NUMPY or (name == "einsum" and len(op.args) > 2):
        return "fresh"
    return "shared"


def index_sharing(op: Index, result: Type) -> str:
    """How `base[key]` shares memory with `base`."""
    if not has_memory(result) or is_integer_index(op):
        return "fresh"
    if isinstance(operand_type(op.base), Array) and _key_kinds(op.key) & {"advanced", "mask"}:
        return "fresh"
    return "shared"


def is_integer_index(op: Index) -> bool:
    """Whether the subscript takes one element of an array: as many integers as there are axes."""
    axes = rank(operand_type(op.base))
    keys = op.key if isinstance(op.key, tuple) else (op.key,)
    return axes is not None and len(keys) == axes and all(_is_int(k) for k in keys)


def _is_int(key: Operand) -> bool:
    t = operand_type(key)
    return isinstance(t, Scalar) and t.kind == "int" and not isinstance(key, Slice)


def key_kind(key: Operand) -> str:
    """'basic' (a view), 'mask', 'advanced' (integer arrays: fresh memory, may repeat) or 'unknown'."""
    kinds = _key_kinds(key)
    return next(k for k in ("unknown", "advanced", "mask", "basic") if k in kinds or k == "basic")


def _key_kinds(key: Operand) -> set[str]:
    return {_item_kind(k) for k in (key if isinstance(key, tuple) else (key,))}


def _item_kind(key: Operand) -> str:
    if isinstance(key, Slice) or (isinstance(key, Const) and (key.value is None or key.value is ...)):
        return "basic"
    if isinstance(key, Const) and isinstance(key.value, slice):
        return "basic"
    match operand_type(key):
        case Scalar("int") | Str():
            return "basic"
        case Array(dtype) if dtype is not None and dtype.kind == "b":
            return "mask"
        case Array() | ListT():
            return "advanced"
        case TupleT(items):
            return "basic" if all(isinstance(t, Scalar) and t.kind == "int" for t in items) else "unknown"
    return "unknown"


def attr_sharing(op: Attr, result: Type) -> str:
    """How `base.name` shares memory with `base`."""
    return "fresh" if op.name in _PLAIN_ATTRIBUTES or not has_memory(result) else "shared"


def is_container(t: Type) -> bool:
    """Whether writing an element stores the element itself, rather than a copy of its numbers; also where unknown."""
    return not is_plain(t)


def is_known_container(t: Type) -> bool:
    return isinstance(t, (TupleT, ListT, DictT, MapT, StructT))
