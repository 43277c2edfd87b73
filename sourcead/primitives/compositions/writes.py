"""Compositions of functions that write into their first argument, as assignments to subscripts."""

import numpy as np

from sourcead.primitives.compositions import composed, refuse


@composed(np.copyto, writes=True)
def copyto(dst, src, where=None):
    if where is None:
        dst[...] = np.array(src) if isinstance(src, (list, tuple)) else src
    else:
        places = np.broadcast_to(where, dst.shape)
        dst[places] = np.broadcast_to(src, dst.shape)[places]


@composed(np.put, writes=True)
def put(a, ind, v, mode="raise"):
    if mode == "clip":
        ind = np.clip(ind, 0, a.size - 1)
    elif mode == "wrap":
        ind = np.asarray(ind) % a.size
    values = np.resize(v, np.shape(ind))
    if a.ndim == 1:
        a[ind] = values
    else:
        a[np.unravel_index(np.where(np.asarray(ind) < 0, np.asarray(ind) + a.size, ind), a.shape)] = values


@composed(np.place, writes=True)
def place(arr, mask, vals):
    arr[mask] = np.resize(vals, np.count_nonzero(mask))


@composed(np.putmask, writes=True)
def putmask(a, mask, values):
    a[mask] = np.reshape(np.resize(values, a.size), a.shape)[mask]


def sized(arr, n, axis):
    """Return the shape of an array with the length of one axis replaced."""
    return arr.shape[: axis % arr.ndim] + (n,) + arr.shape[axis % arr.ndim + 1 :]


@composed(np.put_along_axis, writes=True)
def put_along_axis(arr, indices, values, axis=-1):
    if axis is None:
        refuse("`np.put_along_axis` with axis=None: write to the flat array")
    if arr.ndim == 1:
        arr[indices] = values
    elif arr.ndim == 2 and axis in (1, -1):
        arr[np.arange(arr.shape[0])[:, None], indices] = values
    elif arr.ndim == 2:
        arr[indices, np.arange(arr.shape[1])] = values
    else:
        moved = np.moveaxis(arr, axis, -1)
        rows = np.reshape(moved, (-1, moved.shape[-1]))
        places = np.reshape(np.moveaxis(np.broadcast_to(indices, sized(arr, indices.shape[axis], axis)), axis, -1), (rows.shape[0], -1))
        given = np.moveaxis(np.broadcast_to(values, sized(arr, indices.shape[axis], axis)), axis, -1)
        rows = np.array(rows)
        rows[np.arange(rows.shape[0])[:, None], places] = np.reshape(given, places.shape)
        arr[...] = np.moveaxis(np.reshape(rows, moved.shape), -1, axis)


@composed(np.fill_diagonal, writes=True)
def fill_diagonal(a, val, wrap=False):
    if wrap or a.ndim != 2:
        refuse("`np.fill_diagonal` with wrap=True, or on arrays that are not matrices")
    i = np.arange(min(a.shape))
    if np.ndim(val) == 0:
        a[i, i] = val
    else:
        a[i, i] = np.resize(val, i.shape)
