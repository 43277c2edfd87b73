"""What stands for the members' values of one variable: an array with their axis in front, one value for all, or parts of both kinds.

    x: float                     wide          x: (n)
    w = {"a": x, "b": 2.0}       parts         w["a"]: (n), w["b"]: 2.0
    k: int, the same for all     same          k
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.analysis.builder import Builder, container
from sourcead.ir.nodes import Atom, Const, Var
from sourcead.ir.sizes import Sym
from sourcead.ir.types import (
    ANY_DTYPE, Array, FunctionT, Known, ListT, NoneType, Scalar, Str, Type, Undefined, keyed_parts, map_type
)
from sourcead.passes.batching.calls import Unbatchable

PLAIN_DTYPES = {"float": np.dtype(float), "complex": np.dtype(complex), "int": np.dtype(np.int64), "bool": np.dtype(bool)}
NOT_NUMBERS = (NoneType, Str, Known, FunctionT)


@dataclass(frozen=True, eq=False)
class Wide:
    """The values of all members in one variable: arrays with a new first axis, or a container of such arrays."""

    var: Var


@dataclass(frozen=True, eq=False)
class Same:
    """One value for all members."""

    atom: Atom


@dataclass(frozen=True, eq=False)
class Parts:
    """A tuple, list, dict or record of the type `type` whose parts are entries, in the order of `keyed_parts`."""

    type: Type
    items: dict[Any, Entry]


Entry = Wide | Same | Parts


def is_wide(entry: Entry) -> bool:
    """Return whether the members' values may differ."""
    return isinstance(entry, Wide) or isinstance(entry, Parts) and any(map(is_wide, entry.items.values()))


def wide_type(t: Type, dim: Any) -> Type:
    """Return the type that values of type `t` have with a new first axis.

    Raises:
        Unbatchable: they have none.
    """
    match t:
        case Scalar(kind, dtype) if kind in PLAIN_DTYPES:
            return Array(None if dtype is ANY_DTYPE and t.least else PLAIN_DTYPES[kind] if dtype in (None, ANY_DTYPE) else dtype, (dim,))
        case Array(dtype, dims) if dims is not None:
            return Array(dtype, (dim, *dims))
        case Undefined():
            return t
        case ListT(item, None):
            return ListT(wide_type(item, dim))
    if isinstance(t, NOT_NUMBERS):
        return t
    if keyed_parts(t) is None:
        raise Unbatchable
    return map_type(t, lambda part: wide_type(part, dim))


def map_leaves(build: Builder, value: Atom, t: Type, leaf: Callable[[Atom, Type], tuple[Atom, Type]]) -> tuple[Atom, Type]:
    """Emit a container like `value`, of type `t`, with `leaf(part, type)` in place of each number and array in it; return it and its type.

    Raises:
        Unbatchable: its parts are not known one by one.
    """
    found = keyed_parts(t)
    if found is None:
        if not isinstance(t, (Scalar, Array)) and not isinstance(t, NOT_NUMBERS):
            raise Unbatchable
        return (value, t) if isinstance(t, NOT_NUMBERS) else leaf(value, t)
    made = [map_leaves(build, build.index(value, Const(key)), part, leaf) for key, part in found]
    types = iter([u for _, u in made])
    new = map_type(t, lambda part: next(types))
    if isinstance(t, ListT):
        new = ListT(made[0][1] if made else t.item, tuple(u for _, u in made))
    return build.emit(container(t, tuple(a for a, _ in made)), new), new


def terms_in(t: Type) -> set[Sym]:
    """Return the sizes that the dims in a type are computed of."""
    if isinstance(t, Array):
        return {term for n in t.dims or () if isinstance(n, Sym) for term in n.terms}
    return set().union(*(terms_in(part) for _, part in keyed_parts(t) or ()))
