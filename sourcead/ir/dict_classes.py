"""Classes derived from `dict` whose objects give their items as attributes, too: `p.rate` for `p["rate"]`.

    class Settings(dict):
        __getattr__ = dict.__getitem__      # or `dict.get`, or a method in Python

    class Settings(dict):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.__dict__ = self
"""

import types
from dataclasses import dataclass
from typing import Any

from sourcead.runtime.structures import own_attribute

READERS = (dict.__getitem__, dict.get)


@dataclass(frozen=True)
class DictClass:
    """What a class adds to a dict.

    Attributes:
        cls: the class.
        reader: what gives an attribute that the class lacks: one of `READERS` or a method in Python; None if nothing does.
        first: whether the items are attributes of the object itself, which come before the methods of its class.
        same: whether the object is its own `__dict__`, so that each assigned attribute is an item.
        kept_twice: whether the items are kept once more as attributes, which a change of an item would not change.
    """

    cls: type
    reader: Any
    first: bool = False
    same: bool = False
    kept_twice: bool = False


def dict_class_of(value: dict) -> DictClass | None:
    """Return what the class of a dict adds to it; None if its attributes are none of its items."""
    cls = type(value)
    if cls.__module__ in ("builtins", "collections") or cls.__getattribute__ is not dict.__getattribute__:
        return None
    own = own_attribute(value, "__dict__")
    if own is value:
        return DictClass(cls, dict.__getitem__, first=True, same=True)
    if own:
        twice = own.keys() == value.keys() and all(own[name] is dict.__getitem__(value, name) for name in own)
        return DictClass(cls, dict.__getitem__, first=True, kept_twice=True) if twice else None
    reader = getattr(cls, "__getattr__", None)
    return DictClass(cls, reader) if reader in READERS or isinstance(reader, types.FunctionType) else None


def with_items(value: dict, items: dict) -> dict:
    """Return a dict with other items whose class adds to it what that of `value` does; a plain one if it adds nothing."""
    added = dict_class_of(value)
    if added is None:
        return items
    made = added.cls.__new__(added.cls)
    dict.update(made, items)
    if added.same:
        object.__setattr__(made, "__dict__", made)
    elif added.kept_twice:
        own_attribute(made, "__dict__").update(items)
    return made
