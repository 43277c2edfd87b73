"""Walks over the symbolic dims in a type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from sourcead.ir.sizes import Dim, Sym, with_terms
from sourcead.ir.types import Array, Type, map_type, parts


def syms(t: Type) -> Iterator[Sym]:
    """Yield the symbolic dims in a type."""
    if isinstance(t, Array):
        yield from (d for d in t.dims or () if isinstance(d, Sym))
    for part in parts(t):
        yield from syms(part)


def map_dims(t: Type, f: Callable[[Dim], Dim]) -> Type:
    """Return the type with `f(dim)` in place of each dim."""
    if isinstance(t, Array) and t.dims is not None:
        return replace(t, dims=tuple(map(f, t.dims)))
    return map_type(t, lambda part: map_dims(part, f))


def with_dims(t: Type, names: Mapping[Sym, Dim]) -> Type:
    """Return the type with each symbolic dim, and each term of one, replaced by the size that `names` maps it to."""
    return map_dims(t, lambda dim: with_terms(dim, names))


def in_terms(t: Type, since: int, terms: dict[Sym, Sym]) -> Type:
    """Return a type with a term in place of each size that is computed of others of which one is born since a time.

    The same size becomes the same term: `terms` has the term for each size, and for each term itself.
    """
    for s in syms(t):
        if s.born >= since and s not in terms:
            terms[s] = Sym(max(s.least, 0), s.varies) if s.parts else s
            terms[terms[s]] = terms[s]
    return with_dims(t, terms)


def paired_dims(t: Type, other: Type) -> Iterator[tuple[Sym | int, Sym | int]]:
    """Yield the dims of a type with those that stand in the same places of another, as far as the two are alike."""
    if isinstance(t, Array) and isinstance(other, Array):
        yield from zip(t.dims or (), other.dims or ())
    elif type(t) is type(other):
        for one, another in zip(parts(t), parts(other)):
            yield from paired_dims(one, another)
