"""TODO"""

from __future__ import annotations

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, SliceVal, TupleVal, Value
from sourcead.frontend.values import runtime_dicts
from sourcead.ir.nodes import Const, Operand, Slice
from sourcead.ir.types import Array, ListT, Scalar, Str, Unknown, rank


def views(t, key: Operand) -> bool:
    """Whether `base[key]` is surely memory of the base: integers, slices, None and `...` alone."""
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, tuple):
            return False
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is Ellipsis):
            continue
        kind = atom_type(part)
        if not (isinstance(kind, Scalar) and kind.kind == "int" or isinstance(kind, Str)):
            return False
    return True


def may_be_number(t, key: Operand) -> bool:
    """Whether `base[key]` of an array of unknown rank may be a number, which later writes do not change."""
    return isinstance(t, (Array, Unknown)) and rank(t) is None and only_indices(key)


def takes_number(t, key: Operand) -> bool:
    """Whether `base[key]` is a number, whatever the dtype of the array."""
    return isinstance(t, Array) and only_indices(key) and rank(t) == (len(key) if isinstance(key, tuple) else 1)


def only_indices(key: Operand) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(p, Slice) or isinstance(p, Const) and (p.value is None or p.value is Ellipsis) for p in parts)


def is_gather(t, key: Operand) -> bool:
    """Whether the subscript makes a copy: some part of it is an array, a list or a mask."""
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, Slice):
            continue
        if isinstance(part, tuple):
            return True
        kind = atom_type(part)
        if isinstance(kind, (Array, ListT)) and rank(kind) != 0:
            return True
        if isinstance(kind, Scalar) and kind.kind == "bool":
            return True
    return False


def static_item(lo: Lowering, base: Value, key: Value, node) -> Value | None:
    """An item of a tuple, list or dict of known structure, by a known key."""
    if isinstance(base, Const) and not base.live and isinstance(base.value, (tuple, list, str, dict)):
        parts = (key.lower, key.upper, key.step) if isinstance(key, SliceVal) else (key,)
        found = [(True, None) if p is None else core.known(lo, p) for p in parts]
        if all(k for k, _ in found):
            values = [v for _, v in found]
            try:
                return Const(base.value[slice(*values) if isinstance(key, SliceVal) else values[0]])
            except Exception:
                return None
        return None
    if not (isinstance(base, TupleVal) or (isinstance(base, Cell) and base.kind in ("list", "dict"))):
        return None
    if isinstance(base, Cell):
        lo.alive(base)
    items = base.items if isinstance(base, TupleVal) else base.items
    if isinstance(key, SliceVal) and not isinstance(items, dict) or isinstance(key, SliceVal) and base.kind == "list":
        bounds = [(True, None) if p is None else core.known(lo, p) for p in (key.lower, key.upper, key.step)]
        if not all(k for k, _ in bounds):
            return None
        values = list(items.values()) if isinstance(items, dict) else list(items)
        part = values[slice(*(v for _, v in bounds))]
        return TupleVal(tuple(part)) if isinstance(base, TupleVal) else lo.new_list(part)
    is_known, k = core.known(lo, key)
    if not is_known:
        return None
    if isinstance(base, Cell) and base.kind == "dict":
        if k not in items and base.default is not None:
            if base.depth < lo.depth:
                runtime_dicts.open_up(lo, base, node)
                return None
            lo.changed(base)
            lo.set(base.slots, k, core.call(lo, base.default, [], {}, node))
        elif k not in items:
            raise core.unsupported(lo, node, f"the dict has no key {k!r} here")
        return base.items[k]
    n = len(items)
    if isinstance(k, (int, np.integer)) and -n <= k < n:
        return items[int(k) % n]
    raise core.unsupported(lo, node, f"index {k!r} is out of range: there are {n} items")
