"""Functions whose results carry no derivative, such as integers, booleans, step functions and new constants, or that have effects."""

import builtins
import math
import operator

import numpy as np

from sourcead import runtime
from sourcead.ir.types import TupleT, Type
from sourcead.primitives.registry import enter, infers
from sourcead.primitives.result_types.by_example import SHAPE, sized

_NUMPY = """
argmax argmin nanargmax nanargmin argsort argwhere argpartition searchsorted nonzero flatnonzero count_nonzero digitize
floor ceil rint round around trunc fix sign signbit spacing floor_divide
less less_equal greater greater_equal equal not_equal isnan isinf isfinite isposinf isneginf isclose isreal iscomplex isrealobj
iscomplexobj allclose array_equal array_equiv logical_and logical_or logical_not logical_xor all any isin iterable isscalar
bitwise_and bitwise_or bitwise_xor bitwise_not invert left_shift right_shift bitwise_count gcd lcm
shape ndim size mask_indices tril_indices triu_indices diag_indices diag_indices_from
triu_indices_from tril_indices_from unravel_index ravel_multi_index
result_type promote_types can_cast common_type min_scalar_type broadcast_shapes may_share_memory shares_memory finfo iinfo dtype
isnat isfortran packbits unpackbits busday_count busday_offset is_busday busdaycalendar datetime_as_string
datetime_data mintypecode typename get_include get_printoptions getbufsize setbufsize geterr seterr geterrcall
seterrcall info show_config show_runtime test ndindex
errstate array2string array_repr array_str set_printoptions printoptions hanning hamming blackman bartlett
lexsort isdtype issubdtype einsum_path base_repr binary_repr format_float_positional format_float_scientific
""".split()
_NUMPY_TYPES = """
character bytes_ datetime64 timedelta64 object_ flexible inexact complexfloating longlong ulonglong signedinteger unsignedinteger
short ushort byte ubyte long ulong
int8 int16 int32 int64 intp intc uint8 uint16 uint32 uint64 uintp bool bool_ integer floating number generic str_
""".split()
_OPERATORS = "floordiv eq ne lt le gt ge not_ truth is_ is_not contains and_ or_ xor invert lshift rshift index"
_BUILTINS = """
len range isinstance issubclass int bool str repr format print round hash id type callable hasattr ord chr all any slice input
bytes
""".split()
_MATH = "ulp floor ceil trunc isnan isinf isfinite isclose gcd lcm factorial comb perm isqrt"

enter(*(getattr(np, name) for name in _NUMPY if hasattr(np, name)), constant=True, memory="fresh")
enter(np.ix_, constant=True, memory="shallow")
enter(
    *(getattr(np, name) for name in _NUMPY_TYPES if hasattr(np, name)),
    *(getattr(operator, name) for name in _OPERATORS.split()),
    *(getattr(builtins, name) for name in _BUILTINS),
    *(getattr(math, name) for name in _MATH.split() if hasattr(math, name)),
    runtime.sorted_order, runtime.shortest, runtime.check_first_result, runtime.best_place, runtime.slice_bounds,
    runtime.distinct_places, runtime.count_trimmed, runtime.binary_exponent, runtime.zeros_like, runtime.zeros_if_assigned,
    runtime.seed, runtime.linspace_weights, runtime.half_spectrum_weights, runtime.middle_shares, runtime.axis_size,
    runtime.split_axes, runtime.tensordot_back, runtime.interval_around,
    list.index, list.count,
    constant=True,
)  # fmt: skip
enter(
    np.linalg.matrix_rank, np.fft.fftfreq, np.fft.rfftfreq, np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort, np.ndarray.nonzero,
    np.ndarray.all, np.ndarray.any,
    constant=True, memory="fresh",
)  # fmt: skip
enter(np.shape, np.size, np.ndim, metadata=True)
enter(np.argsort, numba="interpreted")
enter(np.triu_indices, np.tril_indices, numba="interpreted")
enter(
    np.any, np.all, np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.count_nonzero, np.logical_and.reduce,
    np.logical_or.reduce,
    result=sized,
)  # fmt: skip


@infers(np.broadcast_shapes)
def _broadcast_shapes(fn, args, kwargs) -> Type:
    """Return the type of a shape, of which the length is not known if that of an argument is not."""
    shapes = [getattr(a.type, "items", None) for a in args]
    if None in shapes:
        return SHAPE
    return sized(fn, args, kwargs) if any(shapes) else TupleT(())


# ---- functions that do more than compute: they write, read files, query settings, or call a function that they are given ----

WRITE = (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis)
SAVE = (np.save, np.savez, np.savez_compressed, np.savetxt)
NAMES = """
seterr seterrcall setbufsize getbufsize geterr get_printoptions set_printoptions show_config show_runtime info test fromfile fromiter
fromregex frombuffer from_dlpack load loadtxt genfromtxt shares_memory may_share_memory apply_along_axis apply_over_axes piecewise
fromfunction frompyfunc asmatrix bmat printoptions
""".split()

enter(*WRITE, np.random.shuffle, writes=True, pure=False, examples=False)
enter(runtime.shuffled_range, constant=True, effect=True, pure=False, examples=False, memory="fresh")
enter(*SAVE, effect=True, pure=False, examples=False)
enter(*(getattr(np, name) for name in NAMES if hasattr(np, name)), pure=False, examples=False)
enter(np.require, buffer=True, examples=False, view="maybe")
enter(*(getattr(np, name) for name in ("fromstring", "nested_iters", "histogramdd") if hasattr(np, name)), examples=False)
