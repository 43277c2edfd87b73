"""Copies, zeros and sums of structures of numbers, arrays, lists, tuples, dicts and records."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast


def make_record(cls, **fields):
    """Return a named tuple, dataclass instance or plain object of the class `cls` with these fields."""
    if issubclass(cls, tuple):
        return cls(**fields)
    record = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(record, name, value)
    return record


def is_record(x):
    """Return whether `x` is a dataclass instance or an object with attributes, but not a function, class or module."""
    return hasattr(x, "__dataclass_fields__") or hasattr(x, "__dict__") and not callable(x) and not hasattr(x, "__name__")


def fields_of(x):
    """Return {name: value} of the fields and attributes of a dataclass instance or object."""
    found = {name: getattr(x, name) for name in getattr(x, "__dataclass_fields__", ()) if hasattr(x, name)}
    return {**found, **getattr(x, "__dict__", {})}


def copy(x):
    """Return a copy of a structure of arrays, lists, tuples, dicts and records that shares no memory with it."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, dict):
        return type(x)((k, copy(v)) for k, v in x.items())
    if isinstance(x, tuple):
        items = [copy(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [copy(v) for v in x]
    if is_record(x) and not isinstance(x, np.generic):
        return make_record(type(x), **{k: copy(v) for k, v in fields_of(x).items()})
    return x


def zeros_like(x):
    """Return the zero cotangent of a structure of numbers and arrays, with None for objects that carry no derivative."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else np.zeros(x.shape)
    if isinstance(x, dict):
        return {k: zeros_like(v) for k, v in x.items()}
    if isinstance(x, tuple):
        items = [zeros_like(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [zeros_like(v) for v in x]
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    if isinstance(x, complex):
        return 0j
    if isinstance(x, (int, float, np.number, np.bool_)):
        return 0.0
    return make_record(type(x), **{k: zeros_like(v) for k, v in fields_of(x).items()}) if is_record(x) else None


def zeros_if_assigned(x):
    """Return the zero cotangent of a variable, 0.0 if it is None because it is not assigned."""
    return 0.0 if x is None else zeros_like(x)


def add(a, b):
    """Return the sum of two cotangents of the same structure, where None is zero."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return {k: add(a.get(k), b.get(k)) for k in {**a, **b}}
    if isinstance(a, tuple):
        items = [add(v, w) for v, w in zip(a, b)]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [add(v, w) for v, w in zip(a, b)]
    if is_record(a) and not isinstance(a, (np.ndarray, np.generic)):
        theirs = fields_of(b)
        return make_record(type(a), **{k: add(v, theirs[k]) for k, v in fields_of(a).items()})
    return a + b


def like_argument(d, x):
    """Return the cotangent `d` in the structure, shapes and dtypes of `x`, with zeros where `d` has nothing."""
    if isinstance(x, (np.ndarray, np.number, int, float, complex)):
        return zeros_like(x) if d is None else unbroadcast(d, x)
    if isinstance(x, dict):
        return {k: like_argument(d.get(k), v) for k, v in x.items()} if isinstance(d, dict) else zeros_like(x)
    if isinstance(x, (list, tuple)):
        if not isinstance(d, (list, tuple)) and np.ndim(d) == 0:  # the number 0
            return zeros_like(x)
        items = [like_argument(p, v) for p, v in zip(d, x)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if is_record(x):
        theirs = fields_of(d)
        return make_record(type(x), **{k: like_argument(theirs.get(k), v) for k, v in fields_of(x).items()})
    return d


def replaced_cotangent(d, before):
    """Return `d`, which replaces the cotangent `before` in an `adjoint_of` block, in the shape and dtype of `before`."""
    if isinstance(before, (list, tuple)):
        if not isinstance(d, (list, tuple)) or len(d) != len(before):
            raise ValueError("a cotangent is replaced by something of another structure")
        return type(before)([replaced_cotangent(new, old) for new, old in zip(d, before)])
    if np.ndim(d) and np.shape(d) != np.shape(before):
        raise ValueError(f"a cotangent of shape {np.shape(before)} is replaced by an array of shape {np.shape(d)}")
    if np.iscomplexobj(d) and not np.iscomplexobj(before):
        raise TypeError("a real cotangent is replaced by a complex value")
    if not isinstance(before, (np.ndarray, np.generic)):
        return d
    d = np.asarray(d, dtype=before.dtype)
    return (d if d.shape == before.shape else np.full(before.shape, d))[() if isinstance(before, np.generic) else ...]
