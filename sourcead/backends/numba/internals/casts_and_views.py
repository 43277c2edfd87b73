"""A cast that Numba lacks, from a list of arrays in C order to a list of arrays in any order, and a transpose in a few instructions."""

from collections.abc import Callable

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing import signature
from numba.cpython import listobj
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array


@listobj.lower_cast(types.List, types.List)  # registered after Numba's own cast, so that this one is used
def list_as_list(context, builder, from_type, to_type, value):
    """Cast a list to one of a more general type, which is the same memory.

    Nothing may read the list under its old type after an array in another order was put in: the text writes into a list only where no
    other name for it is read any more (`emit/memory/`).
    """
    if not holds(to_type.dtype, from_type.dtype):
        raise NotImplementedError(f"a list of {from_type.dtype} where one of {to_type.dtype} is wanted")
    return value


def holds(general: types.Type, special: types.Type) -> bool:
    """Return whether the memory of a value of type `special` is also a valid value of type `general`."""
    match general, special:
        case types.Array(), types.Array():
            return (general.dtype, general.ndim) == (special.dtype, special.ndim) and general.layout in ("A", special.layout)
        case types.List(), types.List():
            return holds(general.dtype, special.dtype)
        case types.BaseTuple(), types.BaseTuple():
            return len(general) == len(special) and all(map(holds, general, special))
    return general == special


@overload(np.transpose, target="cpu")  # takes precedence over Numba's own
def _transpose(a, axes=None):
    """Make `np.transpose(a, (1, 0, 2))` a view; Numba's own version builds arrays of axes, and strings for errors."""
    if not (isinstance(a, types.Array) and isinstance(axes, types.BaseTuple) and len(axes) == a.ndim):
        return None
    if not all(isinstance(axis, types.IntegerLiteral) for axis in axes):
        return None
    order = tuple(axis.literal_value % a.ndim for axis in axes)
    if sorted(order) != list(range(a.ndim)):
        return None
    permuted = permutation(order)
    return lambda a, axes=None: permuted(a)


def permutation(order: tuple[int, ...]) -> Callable:
    """Return an intrinsic that gives a view of an array with its axes in another order."""

    @intrinsic
    def permuted(typing_context, a):
        result = a.copy(layout=a.layout if list(order) == sorted(order) else "A")

        def made(context, builder, sig, args):
            old, new = make_array(a)(context, builder, args[0]), make_array(result)(context, builder)
            lengths, steps = (cgutils.unpack_tuple(builder, part, a.ndim) for part in (old.shape, old.strides))
            populate_array(
                new, data=old.data, shape=[lengths[k] for k in order], strides=[steps[k] for k in order],
                itemsize=old.itemsize, meminfo=old.meminfo, parent=old.parent,
            )  # fmt: skip
            return impl_ret_borrowed(context, builder, result, new._getvalue())

        return signature(result, a), made

    return permuted
