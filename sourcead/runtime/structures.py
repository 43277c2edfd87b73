"""Copies, zeros and sums of structures of numbers, arrays, lists, tuples, dicts and records."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast


def make_record(cls, /, **fields):
    """Return a named tuple, dataclass instance or plain object of the class `cls` with these fields."""
    if issubclass(cls, tuple):
        return cls(**fields)
    try:
        record = object.__new__(cls)
    except TypeError:  # of a class that is written in C, such as SimpleNamespace
        record = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(record, name, value)
    return record


def is_record(x):
    """Return whether `x` is a dataclass instance or an object with attributes, but not a function, class, module or member of an enum.

    Nor is one that has none and whose class makes its objects in a way of its own, such as a date of pandas.
    """
    if hasattr(type(x), "__members__"):
        return False
    if hasattr(type(x), "__dataclass_fields__"):
        return True
    attributes = own_attribute(x, "__dict__")
    if type(x).__new__ is object.__new__ and type(x).__reduce__ is object.__reduce__ and slots_of(type(x)):
        return not callable(x) or hasattr(type(x).__call__, "__code__")
    if type(x).__new__ is not object.__new__ and not attributes:
        return False
    is_code = callable(x) and not hasattr(type(x).__call__, "__code__")  # which the `__call__` of a class statement has
    return attributes is not None and not is_code and own_attribute(x, "__name__") is None


def fields_of(x):
    """Return {name: value} of the fields and attributes of a dataclass instance or object."""
    names = [*getattr(type(x), "__dataclass_fields__", ()), *slots_of(type(x))]
    return {**own_attributes(x, names), **(own_attribute(x, "__dict__") or {})}


def slots_of(cls):
    """Return the names in the `__slots__` of a class and its bases, with private names mangled as they are in its instances."""
    names = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__"):
                names.append(name)
            elif not name.endswith("__"):
                names.append(f"_{base.__name__.lstrip('_')}{name}")
    return names


def own_attributes(x, names):
    """Return {name: value} of those of the names that an object or its class has; a `__getattr__` of the class has no say in it."""
    found = {}
    for name in names:
        try:
            found[name] = object.__getattribute__(x, name)
        except AttributeError:
            pass
    return found


def own_attribute(x, name):
    """Return an attribute as `own_attributes` finds it, or None."""
    return own_attributes(x, (name,)).get(name)


def map_parts(f, x, *others):
    """Return a dict, tuple, list or record with `f(part, *parts of the others)` in place of each part, or None for any other value."""
    if isinstance(x, dict):
        return {k: f(v, *(other[k] for other in others)) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        items = [f(*parts) for parts in zip(x, *others)]
        return type(x)(*items) if hasattr(x, "_fields") else items if isinstance(x, list) else tuple(items)
    if isinstance(x, (np.ndarray, np.generic)) or not is_record(x):
        return None
    return make_record(type(x), **map_parts(f, fields_of(x), *map(fields_of, others)))


def copy(x):
    """Return a copy of a structure of arrays, lists, tuples, dicts and records that shares no memory with it."""
    if isinstance(x, np.ndarray):
        return x.copy()
    copied = map_parts(copy, x)
    if isinstance(x, dict):
        made = x.copy()  # of its own class, such as Counter
        dict.update(made, copied)
        return made
    return x if copied is None else copied


def zeros_like(x):
    """Return the zero cotangent of a structure of numbers and arrays, with None for objects that carry no derivative."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fcO" else np.zeros(x.shape)
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    if isinstance(x, complex):
        return 0j
    return 0.0 if isinstance(x, (int, float, np.number, np.bool_)) else map_parts(zeros_like, x)


def zeros_if_assigned(x):
    """Return the zero cotangent of a variable, 0.0 if it is None because it is not assigned."""
    return 0.0 if x is None else zeros_like(x)


def add(a, b):
    """Return the sum of two cotangents of the same structure, where None is zero, or of a list's tangent and a number's or an array's."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, (list, tuple)) is not isinstance(b, (list, tuple)):
        return np.add(a, b)
    if isinstance(a, dict):
        return {k: add(a.get(k), b.get(k)) for k in {**a, **b}}
    total = map_parts(add, a, b)
    return a + b if total is None else total


def like_argument(d, x):
    """Return the cotangent `d` in the structure, shapes and dtypes of `x`, with zeros where `d` has nothing."""
    if d is None or isinstance(x, (dict, list, tuple)) and not isinstance(d, (dict, list, tuple)) and np.ndim(d) == 0:  # the number 0
        return zeros_like(x)
    if isinstance(x, (np.ndarray, np.number, int, float, complex)):
        return unbroadcast(d, x)
    found = map_parts(lambda v, part: like_argument(part, v), x, {k: d.get(k) for k in x} if isinstance(x, dict) else d)
    return d if found is None else found


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


def as_event(function, terminal, direction):
    """Return a nested function of a text with the attributes that tell `scipy.integrate.solve_ivp` which events it stands for."""
    function.terminal, function.direction = terminal, direction
    return function
