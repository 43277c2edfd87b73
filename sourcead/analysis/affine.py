"""Integers as sums of others with constant factors: `2 * i + n - 1`, and the least that such a sum can be in a nest of loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Affine:
    """A constant plus a sum of terms: (what is multiplied, factor), no factor zero."""

    constant: int = 0
    terms: frozenset[tuple[Hashable, int]] = frozenset()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """This and `factor` times another."""
        terms = dict(self.terms)
        for v, k in other.terms:
            terms[v] = terms.get(v, 0) + factor * k
        return Affine(self.constant + factor * other.constant, frozenset((v, k) for v, k in terms.items() if k))

    def times(self, factor: int) -> Affine:
        return Affine().plus(self, factor)

    def renamed(self, f: Callable[[Hashable], Hashable]) -> Affine:
        """Each v replaced by f(v)."""
        return Affine(self.constant, frozenset((f(v), k) for v, k in self.terms))

    def factor(self, v: Hashable) -> int:
        return dict(self.terms).get(v, 0)

    def replaced(self, v: Hashable, by: Affine) -> Affine:
        """Another sum in place of v."""
        k = self.factor(v)
        return self.plus(variable(v), -k).plus(by, k)


def variable(v: Hashable) -> Affine:
    return Affine(0, frozenset({(v, 1)}))


def constant(n: int) -> Affine:
    return Affine(n)


def least(
    form: Affine, depth: Callable[[Hashable], int | None], bounds: Callable[[Hashable], tuple[Affine | None, Affine | None]]
) -> int | None:
    """A number that a sum is never below; None if none is found.

    Args:
        form: the sum.
        depth: how many loops stand around what an index counts; None if it is no index.
        bounds: the least and the greatest value of an index, as sums of indices further out.

    Indices are replaced by the end of their range at which the sum is less, those of the innermost loops first.
    """
    while form.terms:
        indices = [(depth(v), v) for v, _ in form.terms if depth(v) is not None]
        if not indices:
            return None
        _, v = max(indices, key=lambda pair: pair[0])
        low, high = bounds(v)
        end = low if form.factor(v) > 0 else high
        if end is None:
            return None
        form = form.replaced(v, end)
    return form.constant
