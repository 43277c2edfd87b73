"""Sizes that are known to be equal, beyond what their normal forms say, because an operation has run.

    z = x * y       x: (m,), y: (p + q,)        m is p + q from here on, if neither can be 1

An equation replaces the youngest term that stands alone in it by the others. Two sizes are equal if they have the same normal form after
all replacements: with the equation above, `x[p:]` is as long as an array of `q` elements.
"""

from __future__ import annotations

from sourcead.ir.affine import Affine, variable
from sourcead.ir.sizes import Dim, Sym, form_of, size_of_form, with_terms


class EqualSizes:
    """The equations learned so far.

    Attributes:
        names: what replaces a term; no term that is replaced occurs in it.
    """

    def __init__(self, names: dict[Sym, Dim] | None = None):
        self.names: dict[Sym, Dim] = dict(names or {})

    def learn(self, a: Dim, b: Dim) -> None:
        """Note that two sizes are equal."""
        gap = form_of(self.normal(a)).plus(form_of(self.normal(b)), -1)
        for term, factor in sorted(gap.terms, key=lambda pair: -pair[0].id):
            rest = gap.plus(variable(term), -factor)
            if abs(factor) == 1 and not any(term in t.inside for t, _ in rest.terms):
                found = size_of_form(Affine().plus(rest, -factor))
                self.names = {t: with_terms(size, {term: found}) for t, size in self.names.items()}
                self.names[term] = found
                return

    def normal(self, dim: Dim) -> Dim:
        """Return the size after all replacements."""
        return with_terms(dim, self.names) if self.names else dim

    def best(self, dim: Dim) -> Dim:
        """Return the size after all replacements, unless less is known of that."""
        found = self.normal(dim)
        return dim if isinstance(found, Sym) and (isinstance(dim, int) or found.least < dim.least) else found

    def same(self, a: Dim, b: Dim) -> bool:
        """Return whether two sizes are known to be equal."""
        return a == b or self.normal(a) == self.normal(b)
