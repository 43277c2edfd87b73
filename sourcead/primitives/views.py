"""Which functions return a view of an argument, and which of our own return new memory."""

from __future__ import annotations

import numpy as np

VIEWS = {
    np.reshape, np.ravel, np.transpose, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis,
    np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.broadcast_arrays, np.flip,
    np.flipud, np.fliplr, np.rot90, np.diagonal, np.diag, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.asarray,
    np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.real, np.imag, np.einsum, np.meshgrid, np.linalg.diagonal,
    np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided,
    *((np.unstack,) if hasattr(np, "unstack") else ()),
}  # fmt: skip
"""Functions whose result may share memory with their first argument (`np.diag` and `np.einsum` in some uses,
`np.meshgrid` with copy=False, `np.astype` and `np.array` with copy=False are left to the caller)."""

MAKES_NEW = set()
"""Functions of ours, outside of the runtime, whose result shares no memory with an argument."""


def makes_new(*functions) -> None:
    """Enters functions that have rules and whose results are new arrays, so that these may be written in place."""
    MAKES_NEW.update(functions)
