"""Cotangents of elements that are read, written, sorted or chosen."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast
from sourcead.runtime.structures import add, copy, zeros_like


def index_add(d, key, v):
    """`d` with `v` added at `key`, in place: each repetition of an index counts."""
    if isinstance(d, list):
        d[key] = add(d[key], v)
    elif isinstance(d, dict):
        d[key] = add(d.get(key), v)
    elif isinstance(d, tuple):
        d = d[:key] + (add(d[key], v),) + d[key + 1 :]
    elif any(isinstance(k, (list, np.ndarray)) for k in (key if isinstance(key, tuple) else (key,))):
        np.add.at(d, key, v)
    else:
        d[key] += v
    return d


def with_added(d, key, v):
    """A cotangent with `v` added to one of its parts."""
    return index_add(copy(d), key, v)


def scatter(d_y, key, x):
    """The cotangent of `x` where `d_y` is that of `x[key]`."""
    return index_add(zeros_like(x), key, d_y)


def assigned_cotangent(d_a, key, v):
    """The cotangent of `v` in `a[key] = v`: of elements written more than once only the last write counts."""
    d_v = d_a[key]
    if any(isinstance(k, (list, np.ndarray)) for k in (key if isinstance(key, tuple) else (key,))):
        writer = np.arange(d_v.size).reshape(d_v.shape)
        last = np.zeros(d_a.shape, dtype=int)
        last[key] = writer
        d_v = np.where(last[key] == writer, d_v, 0)
    return unbroadcast(d_v, v)


def cotangent_at(d, key, x):
    """The cotangent of `x` under a key of a dict's cotangent, where a missing key stands for zero."""
    found = d.get(key)
    return zeros_like(x) if found is None else found


def without(d, key):
    """The dict without one of its keys."""
    rest = dict(d)
    del rest[key]
    return rest


def only_at(d_y, d, key):
    """The cotangent of the dict `d` where `d_y` is that of `d.get(key)`."""
    return {key: d_y} if key in d else {}


def gather_cotangent(d_y, places, x):
    """The cotangent of `x` where `y = np.ravel(x)[places]`; places may repeat."""
    d_x = np.zeros(np.size(x), dtype=np.asarray(d_y).dtype)
    np.add.at(d_x, places, d_y)
    return d_x.reshape(np.shape(x))


def take_cotangent(d_y, x, indices, axis, mode="raise"):
    """The cotangent of `x` in `y = np.take(x, indices, axis)`."""
    axis = axis % x.ndim
    d_x = np.zeros(x.shape, dtype=d_y.dtype)
    if mode != "raise":
        indices = np.take(np.arange(x.shape[axis]), indices, mode=mode)
    np.add.at(d_x, (slice(None),) * axis + (indices,), d_y)
    return d_x


def take_along_cotangent(d_y, x, indices, axis=-1):
    """The cotangent of `x` in `y = np.take_along_axis(x, indices, axis)`."""
    if axis is None:
        return gather_cotangent(d_y, np.take_along_axis(np.arange(x.size), indices, 0), x)
    places = np.arange(x.size).reshape(x.shape)
    return gather_cotangent(d_y, np.take_along_axis(places, indices, axis), x)


def sort_cotangent(d_y, x, axis=-1):
    """The cotangent of `x` in `y = np.sort(x, axis)`."""
    if axis is None:
        return sort_cotangent(d_y, np.ravel(x), 0).reshape(x.shape)
    d_x = np.empty_like(d_y)
    np.put_along_axis(d_x, np.argsort(x, axis=axis, kind="stable"), d_y, axis)
    return d_x


def choose_cotangent(d_y, which, choices):
    """The cotangents of `choices` in `y = np.choose(which, choices)`."""
    return [unbroadcast(np.where(np.asarray(which) == i, d_y, 0), c) for i, c in enumerate(choices)]


def select_cotangents(d_y, conditions, choices, default):
    """The cotangents of `choices` and `default` in `y = np.select(conditions, choices, default)`."""
    left, d_choices = d_y, []
    for condition, choice in zip(conditions, choices):
        d_choices.append(unbroadcast(np.where(condition, left, 0), choice))
        left = np.where(condition, 0, left)
    return d_choices, unbroadcast(left, default)


def distinct_places(x, axis=None, equal_nan=True):
    """The first position of each distinct value of `x`, the position of each element among them, and the count of each."""
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)[1:]


def count_trimmed(x, trim="fb"):
    """The first and the last position, plus one, of the elements that `np.trim_zeros(x, trim)` keeps."""
    there = np.flatnonzero(np.asarray(x))
    if not there.size:
        return 0, 0
    return there[0] if "f" in trim.lower() else 0, there[-1] + 1 if "b" in trim.lower() else len(x)
