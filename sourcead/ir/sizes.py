"""Sizes as expressions: `n - 1`, `len(xs) // 2`, `m * n`, `min(k, n)`, over the sizes and integers of the program.

An expression has one normal form, a sum of terms with integer factors (`Affine`). A term is a size or integer of which nothing else is
known, or the result of an operation that does not distribute over sums: a product, a quotient, the lesser or the greater of two.

    a size of the signature         n                           a term, at least 8
    x[1:], x[:-1]                   n - 1                       a sum, at least 7
    x[i:] for i < n                 n - i                       at least 1, because i is at most n - 1
    x[::2]                          (n + 1) // 2                a quotient, which is a term
    np.split(x, 4)                  n // 4

Equal normal forms are one and the same object, as long as it is in use. So two dims that are the same object are equal at run time, and
nobody who compares dims needs to know of expressions. What is not the same object may still be equal.

Order is decided by bounds. A term has a least number, and expressions that it is not above or not below; a bound of a sum is found by
replacing its terms by theirs, the youngest first: what bounds a term is older than it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from sourcead.ir.affine import Affine, variable

_counter = itertools.count()

MOST_FACTORS = 8
MOST = 40  # the most sizes in an expression
ANY = -(1 << 62)  # the least number of an integer that may be negative
Bound = tuple[Affine, int]  # an expression, divided by a positive integer


@dataclass(frozen=True, eq=False)
class Sym:
    """A size, or another integer, that is known only at run time, and is at least `least`; compared by identity.

    Attributes:
        least: the least number that it may be; a size is never less than 0.
        varies: whether it stands for several sizes, so that the items of a list with such a dim need not agree in it.
        form: the sum that it is, None for a term.
        made: for the result of an operation, the function that computes it and its operands.
        above, below: expressions that it is not above, and not below.
        inside: itself, and all that it is computed of.
        born: the number of the youngest size or integer in it.
    """

    least: int = 0
    varies: bool = False
    form: Affine | None = None
    made: tuple = ()
    above: tuple[Bound, ...] = ()
    below: tuple[Bound, ...] = ()
    id: int = field(default_factory=lambda: next(_counter))
    inside: frozenset[Sym] = field(init=False)
    born: int = field(init=False)

    def __post_init__(self):
        parts = self.parts
        object.__setattr__(self, "inside", frozenset({self}).union(*(part.inside for part in parts)))
        object.__setattr__(self, "born", max((part.born for part in parts), default=self.id))

    @property
    def many(self) -> bool:
        """Return whether the size is known not to be 1."""
        return self.least > 1

    @property
    def terms(self) -> tuple[Sym, ...]:
        """Return the sizes and integers that it is computed of; itself if it is not computed."""
        return tuple(t for t in self.inside if not t.parts)

    @property
    def parts(self) -> tuple[Sym, ...]:
        """Return the terms of the sum, or of the operands of the operation."""
        forms = (self.form,) if self.form is not None else self.made[1:]
        return tuple(t for form in forms for t, _ in form.terms)

    @property
    def differs(self) -> bool:
        """Return whether it may have another value in another iteration or item, as that of a size of the signature has not."""
        return any(t.varies or not t.many for t in self.terms)

    def __repr__(self):
        return f"{'n' if self.many else '?'}{self.id}"


Dim = int | Sym


def form_of(dim: Dim) -> Affine:
    """Return the normal form of a size."""
    if isinstance(dim, Sym):
        return variable(dim) if dim.form is None else dim.form
    return Affine(dim)


def as_form(size: Affine | Dim) -> Affine:
    """Return the normal form of a size, which may be given as one."""
    return size if isinstance(size, Affine) else form_of(size)


_KNOWN: WeakValueDictionary[tuple, Sym] = WeakValueDictionary()


def size_of_form(form: Affine) -> Dim:
    """Return the size that a normal form stands for: a number, a term, or a sum."""
    if not form.terms:
        return form.constant
    if form.constant == 0 and len(form.terms) == 1:
        ((term, factor),) = form.terms
        if factor == 1:
            return term
    return _KNOWN.get(("+", form)) or _new(("+", form), lower_bound(form), form=form)


def _new(key: tuple, least: int, **fields) -> Sym:
    terms = [t for form in key[1:] for t, _ in form.terms]
    varies = any(t.varies for t in terms)
    if sum(len(t.inside) for t in terms) > MOST:  # nobody compares so large an expression
        return Sym(least, varies)
    return _KNOWN.setdefault(key, Sym(least, varies, **fields))


def operation(function: Callable, least: int, operands: tuple[Affine, ...], above=(), below=()) -> Sym:
    """Return the term for the result of an operation, with a least number and with what it is not above and not below."""
    key = function, *operands
    return _KNOWN.get(key) or _new(key, least, made=key, above=tuple(above), below=tuple(below))


# ---- order ----

_DEPTH = 5  # how many terms that have several bounds are replaced at most


def lower_bound(form: Affine, depth: int = _DEPTH) -> int:
    """Return a number that an expression is not below, `ANY` if none is found."""
    if not form.terms:
        return form.constant
    if not depth:
        return ANY
    term, factor = max(form.terms, key=lambda pair: pair[0].id)
    rest = form.plus(variable(term), -factor)
    bounds = term.below if factor > 0 else term.above
    if factor > 0 and term.least > ANY:
        bounds = ((Affine(term.least), 1), *bounds)
    found = ANY
    for bound, divisor in bounds:
        least = lower_bound(rest.times(divisor).plus(bound, factor), depth - (len(bounds) > 1))
        if least > ANY:
            found = max(found, -(-least // divisor))
    return found


def not_below(a: Affine, b: Affine) -> bool:
    """Return whether an expression is known to be at least another."""
    return lower_bound(a.plus(b, -1)) >= 0


# ---- operations ----


def plus(a: Dim, b: Dim, factor: int = 1) -> Dim:
    """Return a + factor * b."""
    return size_of_form(form_of(a).plus(form_of(b), factor))


def minus(a: Dim, b: Dim) -> Dim:
    return plus(a, b, -1)


def times(a: Dim, b: Dim) -> Dim:
    """Return the product of two sizes, in which sums are multiplied out."""
    total, terms, others = Affine(), _with_constant(form_of(a)), _with_constant(form_of(b))
    if len(terms) * len(others) > MOST:
        return Sym(ANY, True)
    for s, k in terms:
        for t, m in others:
            total = total.plus(_monomial((*_factors(s), *_factors(t))), k * m)
    return size_of_form(total)


def _with_constant(form: Affine) -> list[tuple[Sym | None, int]]:
    return [*form.terms, *([(None, form.constant)] if form.constant else [])]


def product(*factors: Affine) -> Dim:
    """Return the product of several expressions."""
    result: Dim = 1
    for factor in factors:
        result = times(result, size_of_form(factor))
    return result


def _factors(term: Sym | None) -> tuple[Sym, ...]:
    """Return the terms of which a term is the product."""
    if term is None:
        return ()
    return tuple(t for form in term.made[1:] for t, _ in form.terms) if term.made and term.made[0] is product else (term,)


def _monomial(factors: tuple[Sym, ...]) -> Affine:
    if len(factors) < 2:
        return variable(factors[0]) if factors else Affine(1)
    if len(factors) > MOST_FACTORS:
        return variable(Sym(ANY, True))
    factors = tuple(sorted(factors, key=lambda f: f.id))
    leasts = [f.least for f in factors]
    if min(leasts) < 0:
        return variable(operation(product, ANY, tuple(map(variable, factors))))
    whole = math.prod(leasts)
    below = [(variable(f).times(whole // f.least), 1) for f in factors if f.least and whole > f.least]
    return variable(operation(product, whole, tuple(map(variable, factors)), below=[] if 0 in leasts else below))


def quotient(a: Affine | Dim, b: Affine | Dim) -> Dim:
    """Return a // b, rounded down."""
    a, b = as_form(a), as_form(b)
    if b.terms:
        exact = _divided(a, size_of_form(b))
        if exact is not None and lower_bound(b) > 0:
            return size_of_form(exact)
        positive = lower_bound(a) >= 0 and lower_bound(b) > 0
        return operation(quotient, 0 if positive else ANY, (a, b), above=((a, 1),) if positive else ())
    by = b.constant
    if by <= 0:
        return Sym(ANY)
    whole = Affine(a.constant // by, frozenset((t, k // by) for t, k in a.terms if k % by == 0))
    rest = a.plus(whole, -by)
    if not rest.terms:
        return size_of_form(whole)
    least = lower_bound(rest)
    part = operation(
        quotient, ANY if least == ANY else least // by, (rest, b), above=((rest, by),), below=((rest.plus(Affine(by - 1), -1), by),)
    )
    return size_of_form(whole.plus(variable(part)))


def shared_out(whole: Dim, others: Dim) -> Dim:
    """Return the size that -1 stands for in a shape, given the number of elements and the product of the other sizes, which is not 0."""
    exact = _divided(form_of(whole), others)
    return quotient(whole, others) if exact is None else size_of_form(exact)


def negative_together(a: Dim, b: Dim) -> bool:
    """Return whether each of two integers is negative if the other is: one is the quotient of a positive size by the other."""
    pairs = ((a, b), (b, a)) if isinstance(a, Sym) and isinstance(b, Sym) else ()
    return any(p.made and p.made[0] is quotient and p.made[2] == form_of(q) and lower_bound(p.made[1]) > 0 for p, q in pairs)


def shaped(at: Affine | Dim, whole: Affine | Dim, others: Affine | Dim) -> Dim:
    """Return the size that an integer stands for in a shape: itself, if it is not -1."""
    at, whole, others = map(as_form, (at, whole, others))
    if lower_bound(at) >= 0:
        return size_of_form(at)
    if at == Affine(-1):
        return shared_out(size_of_form(whole), size_of_form(others))
    return operation(shaped, 0, (at, whole, others))


def _divided(a: Affine, b: Dim) -> Affine | None:
    """Return a form divided by a term, if the term is a factor of each of its terms, else None."""
    wanted = _factors(b) if isinstance(b, Sym) and b.form is None else None
    if wanted is None or a.constant:
        return None
    total = Affine()
    for term, k in a.terms:
        left = list(_factors(term))
        for factor in wanted:
            if factor not in left:
                return None
            left.remove(factor)
        total = total.plus(_monomial(tuple(left)), k)
    return total


def lesser(a: Affine | Dim, b: Affine | Dim) -> Dim:
    """Return the minimum of two sizes."""
    a, b = as_form(a), as_form(b)
    if not_below(b, a):
        return size_of_form(a)
    if not_below(a, b):
        return size_of_form(b)
    a, b = _in_order(a, b)
    return operation(lesser, min(lower_bound(a), lower_bound(b)), (a, b), above=((a, 1), (b, 1)))


def greater(a: Affine | Dim, b: Affine | Dim) -> Dim:
    """Return the maximum of two sizes."""
    a, b = as_form(a), as_form(b)
    if not_below(a, b):
        return size_of_form(a)
    if not_below(b, a):
        return size_of_form(b)
    if b == Affine():  # max(max(n - 1, 0) - 1, 0) is max(n - 2, 0)
        for term, factor in a.terms:
            inner = term.made if factor == 1 and term.made and term.made[0] is greater and Affine() in term.made else None
            if inner is not None and lower_bound(variable(term).plus(a, -1)) >= 0:
                return greater(a.replaced(term, next((f for f in inner[1:] if f != Affine()), Affine())), b)
    a, b = _in_order(a, b)
    return operation(greater, max(lower_bound(a), lower_bound(b)), (a, b), below=((a, 1), (b, 1)))


def _in_order(a: Affine, b: Affine) -> tuple[Affine, Affine]:
    """Return the operands of an operation in which their order does not matter in one order."""
    first, second = sorted((a, b), key=lambda f: (f.constant, sorted((t.id, k) for t, k in f.terms)))
    return first, second


def with_terms(dim: Dim, names: Mapping[Sym, Dim]) -> Dim:
    """Return the size with each size in it that `names` has replaced by another."""
    if not isinstance(dim, Sym):
        return dim
    if dim in names:
        return names[dim]
    if not dim.parts or names.keys().isdisjoint(dim.inside):
        return dim
    if dim.form is not None:
        return size_of_form(_with_terms(dim.form, names))
    function, *operands = dim.made
    return function(*(_with_terms(form, names) for form in operands))


def _with_terms(form: Affine, names: Mapping[Sym, Dim]) -> Affine:
    total = Affine(form.constant)
    for term, factor in form.terms:
        total = total.plus(form_of(with_terms(term, names)), factor)
    return total
