"""The sets that a value depends on, in the form of the value.

    value                     its sets
    number                    a `VariableSet`
    array                     an array of dtype object, of the same shape, with a set or 0 for each element
    list, tuple               a list or tuple of the items' sets
    dict, record              a dict of those of the values, by keys or by names of fields
    any                       0 if it depends on nothing
"""

from typing import Any

import numpy as np

from sourcead.runtime import fields_of, is_record
from sourcead.sparsity.sets import VariableSet, united


def filled(value: Any, found: Any) -> Any:
    """Return the sets of a value in its own form, with arrays of zeros where `found` is 0, so that other sets can be written there."""
    if isinstance(value, float):
        return found if isinstance(found, VariableSet) else united_parts(found)
    if isinstance(value, np.ndarray):
        if isinstance(found, np.ndarray) and found.shape == value.shape:
            return found
        return np.full(value.shape, found if isinstance(found, VariableSet) else united_parts(found), object)
    if isinstance(value, dict):
        return {k: filled(v, found.get(k, 0) if isinstance(found, dict) else found) for k, v in value.items()}
    if isinstance(value, list | tuple):
        parts = found if isinstance(found, list | tuple) and len(found) == len(value) else [united_parts(found)] * len(value)
        items = [filled(v, p) for v, p in zip(value, parts)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, int | str | bytes | range | np.integer | np.bool_ | type | None):
        return 0
    if is_record(value):
        return {k: filled(v, found.get(k, 0) if isinstance(found, dict) else found) for k, v in fields_of(value).items()}
    return united_parts(found)


def united_parts(found: Any) -> Any:
    """Return the union of all sets in the sets of a value: a `VariableSet`, or 0."""
    if isinstance(found, np.ndarray):
        return united({id(s): s for s in found.reshape(-1).tolist()}.values())
    if isinstance(found, dict):
        return united(map(united_parts, found.values()))
    if isinstance(found, list | tuple):
        return united(map(united_parts, found))
    return found if isinstance(found, VariableSet) else 0


def part_of(found: Any, key: Any) -> Any:
    """Return the sets of `value[key]`, or of the field `key` of a record, from those of the value."""
    return 0 if isinstance(found, int) else found[key] if isinstance(found, np.ndarray | list | tuple | dict) else found


def is_continuous(value: Any) -> bool:
    """Return whether a value is one that has a derivative: no integer, no boolean, no text."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fcO"
    return not isinstance(value, int | str | bytes | None)


def spread(value: Any, one: Any) -> Any:
    """Return the sets of a value each of whose elements depends on the set `one`."""
    if isinstance(value, dict):
        return {k: spread(v, one) for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [spread(v, one) for v in value]
        return items if isinstance(value, list) else tuple(items)
    if not is_continuous(value):
        return 0
    if is_record(value):
        return {k: spread(v, one) for k, v in fields_of(value).items()}
    return np.full(value.shape, one, object) if isinstance(value, np.ndarray) else one
