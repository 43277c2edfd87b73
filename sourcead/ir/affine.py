"""Sums of terms with integer factors, such as `2 * i + n - 1`: the normal form of integers and of sizes."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sourcead.ir.frozen import frozen


@frozen()
class Affine:
    """A constant plus a sum of terms, each a variable times a factor other than zero."""

    constant: int = 0
    terms: frozenset[tuple[Hashable, int]] = frozenset()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Return the sum of this form and `factor` times another."""
        terms = dict(self.terms)
        for v, k in other.terms:
            terms[v] = terms.get(v, 0) + factor * k
        return Affine(self.constant + factor * other.constant, frozenset((v, k) for v, k in terms.items() if k))

    def times(self, factor: int) -> Affine:
        """Return `factor` times this form."""
        return Affine().plus(self, factor)

    def renamed(self, f: Callable[[Hashable], Hashable]) -> Affine:
        """Return the form with each variable v replaced by f(v)."""
        return Affine(self.constant, frozenset((f(v), k) for v, k in self.terms))

    def factor(self, v: Hashable) -> int:
        """Return the factor of a variable, 0 if it does not occur."""
        return dict(self.terms).get(v, 0)

    def replaced(self, v: Hashable, by: Affine) -> Affine:
        """Return the form with a variable replaced by another form."""
        k = self.factor(v)
        return self.plus(variable(v), -k).plus(by, k)


def variable(v: Hashable) -> Affine:
    return Affine(0, frozenset({(v, 1)}))
