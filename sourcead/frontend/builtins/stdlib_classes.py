"""Lower classes of libraries like the Python classes that they are equivalent to: `deque(xs, maxlen)`, `np.broadcast`, `lru_cache`.

A deque of any length is a list, which can also grow and shrink at its beginning, and an `OrderedDict` is a dict.
"""

import collections
import ctypes
import decimal
import functools
import math
import types
from collections.abc import Callable

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import NONE, lowers
from sourcead.frontend.builtins.functions import EMPTY, builtin_dict, builtin_list
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.core import FALSE, BoundVal, Cell, Lowering, TupleVal, Value
from sourcead.frontend.values import objects
from sourcead.ir.nodes import Const
from sourcead.ir.types import Str


def class_in_python(cls: type) -> type:
    """Let a class of this file be made and used in the function being lowered, with its statements at the line of each use."""
    core.builtin(cls)(lambda lo, args, kwargs, node: objects.make(lo, cls, args, kwargs, node))
    for member in vars(cls).values():
        if isinstance(member, types.FunctionType):
            stands_in_for()(member)
    return cls


def of_list(name: str) -> Callable:
    """Return a method that calls the method of the same name of the list that an object holds."""

    def method(self, *args):
        return getattr(self.held, name)(*args)

    return method


@class_in_python
class deque:
    """A `collections.deque` of at most `maxlen` items."""

    pop, clear, count, index, remove, reverse = map(of_list, ("pop", "clear", "count", "index", "remove", "reverse"))

    def __init__(self, items, maxlen):
        held = list(items)
        self.held = held[max(len(held) - maxlen, 0):] if held else held
        self.maxlen = maxlen

    def append(self, item):
        self.held.append(item)
        if len(self.held) > self.maxlen:
            self.held.pop(0)

    def appendleft(self, item):
        self.held.insert(0, item)
        if len(self.held) > self.maxlen:
            self.held.pop()

    def extend(self, items):
        for item in list(items) if items is self else items:
            self.append(item)

    def extendleft(self, items):
        for item in list(items) if items is self else items:
            self.appendleft(item)

    def insert(self, place, item):
        if len(self.held) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self.held.insert(place, item)

    def popleft(self):
        return self.held.pop(0)

    def copy(self):
        return deque(self.held, self.maxlen)

    def __copy__(self):
        return self.copy()

    def rotate(self, n=1):
        if self.held:
            k = len(self.held) - n % len(self.held)
            self.held = self.held[k:] + self.held[:k]

    def __iadd__(self, items):
        self.extend(items)
        return self

    def __len__(self):
        return len(self.held)

    def __bool__(self):  # which `collections.deque` has on Python 3.10
        return len(self.held) > 0

    def __getitem__(self, place):
        return self.held[place]

    def __setitem__(self, place, item):
        self.held[place] = item

    def __iter__(self):
        return iter(self.held)

    def __reversed__(self):
        return reversed(self.held)

    def __contains__(self, item):
        return item in self.held


@class_in_python
class ChainMap:
    """A `collections.ChainMap`, of which keys are read and written."""

    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for each in self.maps:
            if key in each:
                return each[key]
        raise KeyError(key)

    def get(self, key, default=None):
        for each in self.maps:
            if key in each:
                return each[key]
        return default

    def __contains__(self, key):
        for each in self.maps:
            if key in each:
                return True
        return False

    def __iter__(self):
        return iter({key: None for each in reversed(self.maps) for key in each})

    def __len__(self):
        return len({key: None for each in self.maps for key in each})

    def __bool__(self):
        return any(self.maps)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def new_child(self, first=None):
        return ChainMap({} if first is None else first, *self.maps)

    def copy(self):
        return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def __copy__(self):
        return self.copy()


@class_in_python
class broadcast:
    """An `np.broadcast`, of which the attributes are read."""

    def __init__(self, *arrays):
        self.shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
        self.ndim = len(self.shape)
        self.nd = self.ndim
        self.size = 1
        for count in self.shape:
            self.size = self.size * count
        self.numiter = len(arrays)


@class_in_python
class Decimal:
    """A `decimal.Decimal` that is made of a number or of the text "1", and rounded to an integer."""

    def __init__(self, value):
        self.value = value

    def quantize(self, exp, rounding):
        value, whole = UNITS[exp.value] * self.value, math.trunc(self.value)
        rest, further = abs(value - whole), whole + (1 if value > 0 else -1)  # both without an error of rounding
        return Decimal(ROUNDED[rounding](value, whole, rest, further))

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)


UNITS = {1: 1}
ROUNDED = {
    decimal.ROUND_FLOOR: lambda value, whole, rest, further: math.floor(value),
    decimal.ROUND_CEILING: lambda value, whole, rest, further: math.ceil(value),
    decimal.ROUND_DOWN: lambda value, whole, rest, further: whole,
    decimal.ROUND_UP: lambda value, whole, rest, further: further if rest > 0 else whole,
    decimal.ROUND_HALF_UP: lambda value, whole, rest, further: further if rest >= 0.5 else whole,
    decimal.ROUND_HALF_DOWN: lambda value, whole, rest, further: further if rest > 0.5 else whole,
    decimal.ROUND_HALF_EVEN: lambda value, whole, rest, further: round(value),
}


@lowers(decimal.Decimal)
def builtin_decimal(lo: Lowering, node, value: Value) -> Value:
    """Lower `decimal.Decimal(value)`."""
    if isinstance(atom_type(lo.read(value)), Str):
        if core.known(lo, value) != (True, "1"):
            raise core.unsupported(lo, node, "`decimal.Decimal` of a text, whose digits are exact", "`float(text)`")
        value = Const(1)
    return core.call_object(lo, Decimal, [value], {}, node)


@class_in_python
class IntegerOfC:
    """An integer of `ctypes`, which keeps as many bits of a number as it has."""

    def __init__(self, low, count, value=0):
        self.held = (int(value) - low) % count + low

    def __bool__(self):
        return self.held != 0

    @property
    def value(self):
        return self.held


for _integer in {getattr(ctypes, f"c_{sign}int{size}") for sign in ("", "u") for size in (8, 16, 32, 64)}:
    _count = 2 ** (8 * ctypes.sizeof(_integer))
    _bounds = [Const(-_count // 2 if _integer(-1).value < 0 else 0), Const(_count)]
    core.builtin(_integer)(lambda lo, args, kwargs, node, of=_bounds: core.call_object(lo, IntegerOfC, [*of, *args], kwargs, node))

for _cls, _real in ((deque, collections.deque), (ChainMap, collections.ChainMap), (broadcast, np.broadcast), (Decimal, decimal.Decimal)):
    core.REAL_CLASSES[_cls] = _real
    if _cls in (ChainMap, broadcast):
        core.builtin(_real)(lambda lo, args, kwargs, node, cls=_cls: core.call_object(lo, cls, args, kwargs, node))


@lowers(collections.deque)
def builtin_deque(lo: Lowering, node, items: Value = EMPTY, maxlen: Value = NONE) -> Value:
    """Lower `collections.deque(items, maxlen)`."""
    if core.known(lo, maxlen) == (True, None):
        made = builtin_list(lo, node, items)
        made.cls, lo.deques = collections.deque, True
        return made
    return core.call_object(lo, deque, [items, maxlen], {}, node)


@lowers(collections.OrderedDict)
def builtin_ordereddict(lo: Lowering, node, given: Value = EMPTY, /, **named: Value) -> Value:
    """Lower `collections.OrderedDict(given, key=value)`."""
    made = builtin_dict(lo, node, given, **named)
    made.cls = collections.OrderedDict
    return made


@functools.cache
def named_tuple(name: str, fields: str | tuple[str, ...], rename: bool, defaults: tuple | None) -> type:
    """Return the class of a named tuple, the same one for the same arguments."""
    return collections.namedtuple(name, fields, rename=rename, defaults=defaults)


@lowers(collections.namedtuple)
def builtin_namedtuple(lo: Lowering, node, typename: Value, field_names: Value, *, rename: Value = FALSE, defaults: Value = NONE) -> Value:
    """Lower `namedtuple("Point", ["x", "y"])`."""
    if isinstance(field_names, Cell) and field_names.kind == "list":
        field_names = TupleVal(tuple(field_names.contents))
    given = TupleVal((typename, field_names, rename, defaults))
    name, fields, renames, filled = core.certain(lo, given, node, "a named tuple whose fields are not known here")
    made = named_tuple(name, fields, renames, filled)
    lo.classes[made] = False
    return Const(made)


@stands_in_for()
def remembering(function):
    """Return a function that computes each result once."""
    results = {}

    def remembered(*args):
        if args not in results:
            results[args] = function(*args)
        return results[args]

    return remembered


MOST = Const(128)  # the number of results that `lru_cache` keeps if it is not told another


@lowers(functools.lru_cache, functools.cache)
def builtin_lru_cache(lo: Lowering, node, maxsize: Value = MOST, typed: Value = FALSE) -> Value:
    """Lower `lru_cache` on a function inside the function being lowered, which remembers all results or at most 128."""
    if core.is_function(maxsize):
        return core.call_object(lo, remembering, [maxsize], {}, node)
    if core.known(lo, TupleVal((maxsize, typed))) not in ((True, (None, False)), (True, (128, False))):
        raise core.unsupported(lo, node, "`lru_cache` with these options", "leave them out")
    return BoundVal(Const(remembering))
