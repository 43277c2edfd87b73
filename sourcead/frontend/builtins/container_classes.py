"""Lower what `list`, `dict` and `tuple` do in objects of users' classes that inherit from them.

Such an object holds its items in the slot ITEMS, as a list, a dict or a tuple. The classes of this file, which are in Python, have the
methods that these objects inherit: `core.STAND_INS` has them.
"""

import collections
import types
from collections.abc import Callable

from sourcead.frontend import core
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.core import ITEMS, Lowering, TupleVal, Value
from sourcead.frontend.values import sequences
from sourcead.ir.records import is_plain_class


def stands_for(*classes: type) -> Callable:
    """Let the methods of a class of this file stand for those of others in classes derived from these."""

    def add(stand_in: type) -> type:
        for member in vars(stand_in).values():
            if isinstance(member, types.FunctionType):
                stands_in_for()(member)
        core.STAND_INS.update(dict.fromkeys(classes, stand_in))
        return stand_in

    return add


def of_items(*names: str) -> list[Callable]:
    """Return methods that call those of the same names of the items."""

    def of_name(name):
        def method(self, *args, **kwargs):
            return getattr(getattr(self, ITEMS), name)(*args, **kwargs)

        return method

    return [of_name(name) for name in names]


@stands_in_for()
def plain(value):
    """Return the items of an object that holds items, and any other value itself."""
    return getattr(value, ITEMS) if hasattr(value, ITEMS) else value


@stands_for()
class Container:
    """What lists, dicts and tuples have in common."""

    def __len__(self):
        return len(getattr(self, ITEMS))

    def __iter__(self):
        return iter(getattr(self, ITEMS))

    def __contains__(self, item):
        return item in getattr(self, ITEMS)

    def __getitem__(self, key):
        return getattr(self, ITEMS)[key]

    def __eq__(self, other):
        return getattr(self, ITEMS) == plain(other)

    def __ne__(self, other):
        return getattr(self, ITEMS) != plain(other)


@stands_for(tuple)
class Sequence(Container):
    """The methods of a tuple, which lists have too."""

    count, index = of_items("count", "index")

    def __add__(self, other):
        return getattr(self, ITEMS) + plain(other)

    def __mul__(self, times):
        return getattr(self, ITEMS) * times

    def __rmul__(self, times):
        return getattr(self, ITEMS) * times


@stands_for(list)
class OfList(Sequence):
    """The methods of a list."""

    append, extend, insert, pop, remove = of_items("append", "extend", "insert", "pop", "remove")
    clear, sort, reverse, copy = of_items("clear", "sort", "reverse", "copy")

    def __init__(self, items=()):
        object.__setattr__(self, ITEMS, list(items))

    def __setitem__(self, key, item):
        getattr(self, ITEMS)[key] = item

    def __iadd__(self, others):
        getattr(self, ITEMS).extend(others)
        return self


@stands_for(dict)
class OfDict(Container):
    """The methods of a dict."""

    keys, values, items, get, pop = of_items("keys", "values", "items", "get", "pop")
    setdefault, update, clear, copy = of_items("setdefault", "update", "clear", "copy")

    def __init__(self, given=None, /, **named):
        object.__setattr__(self, ITEMS, named if given is None else {**dict(plain(given)), **named})

    def __getitem__(self, key):
        items = getattr(self, ITEMS)
        if key not in items and hasattr(type(self), "__missing__"):
            return self.__missing__(key)
        return items[key]

    def __setitem__(self, key, item):
        getattr(self, ITEMS)[key] = item


@stands_in_for(collections._count_elements)
def count_elements(counts, items):
    for item in items:
        counts[item] = counts.get(item, 0) + 1


def makes(base: type, make: Callable) -> None:
    """Lower `base.__new__(cls, *args)`, where `make(lo, args, node)` makes the items."""

    def new(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
        found, cls = core.known(lo, args[0]) if args else (False, None)
        if not found or not is_plain_class(cls, base):
            raise core.unsupported(lo, node, f"`{base.__name__}.__new__` of a class that is not known here")
        return lo.new_object(cls, {ITEMS: make(lo, args[1:], node)})

    core.builtin(base.__new__)(new)


def items_of_tuple(lo: Lowering, args: list[Value], node) -> TupleVal:
    """Return the items of a tuple that is made of the arguments."""
    return TupleVal(tuple(sequences.static_items(lo, args[0], node) if args else ()))


makes(list, lambda lo, args, node: lo.new_list([]))
makes(dict, lambda lo, args, node: lo.new_dict({}))
makes(tuple, items_of_tuple)
