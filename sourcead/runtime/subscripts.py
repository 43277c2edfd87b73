"""Cotangents of functions and subscripts that read, write, sort or choose elements, and positions of items in lists."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast
from sourcead.runtime.structures import add, copy, zeros_like


def index_add(d, key, v):
    """Add `v` to `d` at `key`, in place unless `d` is a tuple or number, once for each repetition of an index; return the result."""
    if isinstance(d, list):
        d[key] = add(d[key], v)
    elif isinstance(d, dict):
        d[key] = add(d.get(key), v)
    elif isinstance(d, tuple):
        items = list(d)
        items[key] = add(items[key], v)
        d = tuple(items)
    elif not isinstance(d, np.ndarray):
        d = d + np.sum(v)  # what `key` gives of a number, as `None` does, is the number itself with axes of length 1, or nothing
    elif repeats(key):
        np.add.at(d, key, v)
    else:
        d[key] += v
    return d


def repeats(key):
    """Return whether a subscript of an array may name an element more than once."""
    return any(isinstance(k, (list, tuple, range, np.ndarray)) for k in (key if isinstance(key, tuple) else (key,)))


def with_added(d, key, v):
    """Return a copy of the cotangent `d` with `v` added at `key`."""
    return index_add(copy(d), key, v)


def scatter(d_y, key, x):
    """Return the cotangent of `x`, where `d_y` is the cotangent of `x[key]`."""
    return index_add(zeros_like(x), key, d_y)


def assigned_cotangent(d_a, key, v):
    """Return the cotangent of `v` in `a[key] = v`; if an element is written more than once, only the last write counts."""
    d_v = d_a[key]
    if repeats(key):
        writer = np.arange(d_v.size).reshape(d_v.shape)
        last = np.zeros(d_a.shape, dtype=int)
        last[key] = writer
        d_v = np.where(last[key] == writer, d_v, 0)
    return unbroadcast(d_v, v)


def cotangent_at(d, key, x):
    """Return the item `key` of a dict's cotangent, or the zero cotangent of `x` if the key is missing."""
    found = d.get(key)
    return zeros_like(x) if found is None else found


def without(d, key):
    """Return a copy of a dict without one of its keys."""
    rest = dict(d)
    del rest[key]
    return rest


def only_at(d_y, d, key):
    """Return the cotangent of the dict `d`, where `d_y` is the cotangent of `d.get(key)`."""
    return {key: d_y} if key in d else {}


def gather_cotangent(d_y, places, x):
    """Return the cotangent of `x` in `y = np.ravel(x)[places]`, where places may repeat; nothing comes to an `x` without elements."""
    d_x = np.zeros(np.size(x), dtype=np.asarray(d_y).dtype)
    if d_x.size:
        np.add.at(d_x, places, d_y)
    return d_x.reshape(np.shape(x)) if isinstance(x, np.ndarray) else d_x[0]


def take_cotangent(d_y, x, indices, axis, mode="raise"):
    """Return the cotangent of `x` in `y = np.take(x, indices, axis)`."""
    axis = axis % x.ndim
    d_x = np.zeros(x.shape, dtype=d_y.dtype)
    if mode != "raise":
        indices = np.take(np.arange(x.shape[axis]), indices, mode=mode)
    np.add.at(d_x, (slice(None),) * axis + (indices,), d_y)
    return d_x


def take_along_cotangent(d_y, x, indices, axis=-1):
    """Return the cotangent of `x` in `y = np.take_along_axis(x, indices, axis)`."""
    if axis is None:
        return gather_cotangent(d_y, np.take_along_axis(np.arange(x.size), indices, 0), x)
    places = np.arange(x.size).reshape(x.shape)
    return gather_cotangent(d_y, np.take_along_axis(places, indices, axis), x)


def sort_cotangent(d_y, x, axis=-1):
    """Return the cotangent of `x` in `y = np.sort(x, axis)`."""
    if axis is None:
        return sort_cotangent(d_y, np.ravel(x), 0).reshape(x.shape)
    d_x = np.empty_like(d_y)
    np.put_along_axis(d_x, np.argsort(x, axis=axis, kind="stable"), d_y, axis)
    return d_x


def choose_cotangent(d_y, which, choices):
    """Return the cotangents of `choices` in `y = np.choose(which, choices)`."""
    return [unbroadcast(np.where(np.asarray(which) == i, d_y, 0), c) for i, c in enumerate(choices)]


def select_cotangents(d_y, conditions, choices, default):
    """Return the cotangents of `choices` and `default` in `y = np.select(conditions, choices, default)`."""
    left, d_choices = d_y, []
    for condition, choice in zip(conditions, choices):
        d_choices.append(unbroadcast(np.where(condition, left, 0), choice))
        left = np.where(condition, 0, left)
    return d_choices, unbroadcast(left, default)


def distinct_places(x, axis=None, equal_nan=True):
    """Return for `np.unique(x)` the first position of each value, each element's position among the values, and their counts."""
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)[1:]


def count_trimmed(x, trim="fb"):
    """Return the bounds of the slice of `x` that `np.trim_zeros(x, trim)` keeps."""
    there = np.flatnonzero(np.asarray(x))
    if not there.size:
        return 0, 0
    return there[0] if "f" in trim.lower() else 0, there[-1] + 1 if "b" in trim.lower() else len(x)


def sorted_order(keys, reverse=False):
    """Return the positions of the items in the order in which `sorted` puts items with these keys."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shuffled_range(n, by):
    """Return the numbers below `n` in the order that a generator, or a function, shuffles them into."""
    order = np.arange(n)
    getattr(by, "shuffle", by)(order)
    return order


def shortest(rows):
    """Return the length of the shortest row, which is the length of `zip(*rows)`."""
    return min(map(len, rows), default=0)


def best_place(keys, largest):
    """Return the position of the first of the largest keys if `largest` is true, else of the smallest."""
    return (max if largest else min)(range(len(keys)), key=keys.__getitem__)


def slice_bounds(n, lower, upper):
    """Return the positions at which the slice `[lower:upper]` of n items begins and ends."""
    start, stop, _ = slice(lower, upper).indices(n)
    return start, max(start, stop)
