"""`np.transpose(a, (1, 0, 2))` as a view in a few instructions; Numba's own version builds arrays of axes, and strings for errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing import signature
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array


@overload(np.transpose, target="cpu")  # takes precedence over Numba's own
def _transpose(a, axes=None):
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
