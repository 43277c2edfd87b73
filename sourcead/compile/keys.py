"""Keys of arguments: calls whose arguments have equal keys use the same generated text.

The *exact* key has dtypes and shapes and is quick to compute; it finds the function for arguments like those of an earlier call.  The
*coarse* key has dtypes, ranks and small dims, which is all that a text depends on.  The *wide* key is the coarse key without the lengths of
lists whose items have one key.  Arguments that are strings, None, booleans or
callables are *static*: their values are known while compiling and are part of the keys.
"""

import enum
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.compile.structures import as_plain
from sourcead.frontend.core import is_code
from sourcead.ir.dict_classes import dict_class_of
from sourcead.ir.records import fields_inside, is_namedtuple, is_record
from sourcead.ir.types import SMALL
from sourcead.language.checkpoint_policies import SavingPolicy

NUMBERS = frozenset([float, int, complex, np.bool_, *(np.dtype(c).type for c in np.typecodes["AllInteger"] + np.typecodes["AllFloat"])])


class Same:
    """A stand-in for an object in a key, equal only to a stand-in for the same object."""

    __slots__ = ("object",)

    def __init__(self, object):
        self.object = object

    def __hash__(self):
        return id(self.object)

    def __eq__(self, other):
        return isinstance(other, Same) and self.object is other.object

    def __repr__(self):
        return f"Same({self.object!r})"


def _key_of(array_key: Callable, of_list: Callable = lambda keys: keys) -> Callable:
    """Return the function that computes the key of an argument.

    Args:
        array_key: gives the key of an array.
        of_list: gives what the key of a list holds from the keys of its items.
    """

    def structure(x: Any):
        return (type(x), *of_list([part(item) for item in x])) if isinstance(x, list) else _structure_key(x, part)

    def key(x: Any):
        t = type(x)
        if t in NUMBERS:
            return t
        if t is np.ndarray:
            return array_key(x)
        if is_static(x):
            return static_key(x)
        plain = as_plain(x)
        return structure(x) if plain is x else (t, structure(plain))

    def part(x: Any):
        """Return the key of an item of a structure, where None, booleans and strings are not static and count by their type only."""
        t = type(x)
        if t is np.ndarray:
            return array_key(x)
        if t in NUMBERS or x is None or isinstance(x, bool | str | bytes):
            return t
        return static_key(x) if is_static(x) else structure(x)

    return key


exact_key = _key_of(lambda x: (x.dtype, x.shape))


def _coarse(x: np.ndarray):
    return x.dtype, tuple([min(n, SMALL) for n in x.shape])


coarse_key = _key_of(_coarse)
wide_key = _key_of(_coarse, lambda keys: (..., keys[0]) if keys and keys.count(keys[0]) == len(keys) else keys)  # for lists of any length


def _structure_key(x: Any, key: Callable):
    t = type(x)
    if isinstance(x, tuple) and not is_namedtuple(t):
        return (t, *map(key, x))
    if isinstance(x, dict):
        return (t, dict_class_of(x), *((type(k), k, key(v)) for k, v in dict.items(x)))
    if is_record(x):  # whose strings and booleans are static
        with fields_inside(x) as fields:
            items = (fields or {}).items()
            return (t, *[(n, static_key(v) if isinstance(v, bool | str) else key(v)) for n, v in items])
    if isinstance(x, np.memmap):
        return t, x.dtype, x.shape
    return (t, x.dtype) if isinstance(x, np.generic) or hasattr(t, "tocsr") else t  # a number of NumPy, or a sparse matrix


def is_static(x: Any) -> bool:
    """Return whether the value of an argument is known while compiling."""
    return is_code(x) or isinstance(x, bool | bytes | types.EllipsisType | enum.Enum)


def static_key(x: Any):
    """Return the key of a static value; two values with the same key lead to the same text."""
    t = type(x)
    if isinstance(x, bool | str | bytes | np.dtype | SavingPolicy):
        return t, x
    if t is types.FunctionType and x.__name__ == "<lambda>":
        if not (x.__closure__ or x.__defaults__ or x.__kwdefaults__ or x.__dict__):
            return t, Same(x.__code__), Same(x.__globals__)  # a lambda made anew before each call has the same key each time
    if t is types.MethodType:
        return t, Same(x.__func__), Same(x.__self__)
    if t is types.BuiltinMethodType:
        return t, Same(x.__self__), x.__name__
    return Same(x)
