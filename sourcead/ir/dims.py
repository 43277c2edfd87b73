"""Walks over the symbolic dims in a type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sourcead.ir.types import Array, Sym, Type, map_type, parts


def syms(t: Type) -> Iterator[Sym]:
    """Yield the symbolic dims in a type."""
    if isinstance(t, Array):
        yield from (d for d in t.dims or () if isinstance(d, Sym))
    for part in parts(t):
        yield from syms(part)


def with_dims(t: Type, names: Mapping[Sym, Sym]) -> Type:
    """Return the type with each symbolic dim replaced by the one that `names` maps it to."""
    if isinstance(t, Array) and t.dims is not None:
        return replace(t, dims=tuple(names.get(d, d) for d in t.dims))
    return map_type(t, lambda part: with_dims(part, names))


def paired_dims(t: Type, other: Type) -> Iterator[tuple[Sym | int, Sym | int]]:
    """Yield the dims of a type with those that stand in the same places of another, as far as the two are alike."""
    if isinstance(t, Array) and isinstance(other, Array):
        yield from zip(t.dims or (), other.dims or ())
    elif type(t) is type(other):
        for one, another in zip(parts(t), parts(other)):
            yield from paired_dims(one, another)
