"""What a text relies on because it holds for the sizes of the arguments of the call that it is generated for.

    f = z[:, n : 2 * n];  c = f * c0       f has min(2 * n, m) - min(n, m) columns; it may have one, and be broadcast

With arguments of m = 40 and n = 10, the text relies on the columns to be more than one.  Before it is used for arguments of other sizes,
that is checked, and where it does not hold, a text that relies on nothing is generated (`compile/specialisation.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sourcead.ir.affine import Affine, variable
from sourcead.ir.sizes import ANY, Dim, Sym, form_of, lower_bound, size_of_form, with_terms


@dataclass(eq=False)
class AtCall:
    """What a text relies on because it holds for the arguments of the call that it is generated for; others get another text.

    Attributes:
        numbers: the sizes of the arguments.
        relied: the expressions over these that the text relies on to be at least a number.
    """

    numbers: Mapping[Sym, int] = field(default_factory=dict)
    relied: dict[Affine, int] = field(default_factory=dict)

    def at_least(self, form: Affine, least: int) -> bool:
        """Return whether an expression over the sizes of the arguments is at least a number for those of the call, and rely on that."""
        if self.relied.get(form, ANY) >= least:
            return True
        found = with_terms(size_of_form(form), self.numbers) if self.numbers else None
        if not isinstance(found, int) or found < least:
            return False
        self.relied[form] = least
        return True

    def same(self, a: Sym, b: Sym) -> bool:
        """Return whether two sizes are one if sizes of arguments are equal that are for those of the call, and rely on that."""
        first = {number: size for size, number in reversed(self.numbers.items())}
        names = {size: first[number] for size, number in self.numbers.items() if first[number] is not size}
        if names.keys().isdisjoint(a.inside | b.inside) or with_terms(a, names) is not with_terms(b, names):
            return False
        return all(self.equal(variable(size), variable(names[size])) for size in names.keys() & (a.inside | b.inside))

    def equal(self, a: Affine, b: Affine) -> bool:
        """Return whether two expressions are equal for the arguments of the call, and rely on that."""
        gap = a.plus(b, -1)
        return self.at_least(gap, 0) and self.at_least(gap.times(-1), 0)

    def holds(self, numbers: Mapping[Sym, int]) -> bool:
        """Return whether that on which the text relies holds for arguments of other sizes."""
        found = ((with_terms(size_of_form(form), numbers), least) for form, least in self.relied.items())
        return all(isinstance(size, int) and size >= least for size, least in found)


_NOTHING = AtCall()
_AT_CALL: ContextVar[AtCall] = ContextVar("at_call", default=_NOTHING)


@contextmanager
def for_call(numbers: Mapping[Sym, int]) -> Iterator[AtCall]:
    """Let what is generated in the `with` block rely on what holds for arguments of these sizes; yield what it relies on."""
    made = AtCall(numbers)
    token = _AT_CALL.set(made)
    try:
        yield made
    finally:
        _AT_CALL.reset(token)


def not_one(dim: Dim) -> bool:
    """Return whether a size is known not to be 1, or relied on not to be, because it is not for the arguments of the call."""
    if not isinstance(dim, Sym):
        return dim != 1
    return dim.many or bool(dim.parts) and _AT_CALL.get().at_least(form_of(dim), 2)


def equal(a: Affine, b: Affine) -> bool:
    """Return whether two sizes are known to be equal, or relied on to be, because they are for the arguments of the call."""
    return a == b or _AT_CALL.get().equal(a, b)


def same(a: Dim, b: Dim) -> bool:
    """Return whether two sizes are known to be equal, or relied on to be as those of arguments are: `x[i : i + n]`, `y[i : i + n]`."""
    return a == b or isinstance(a, Sym) and isinstance(b, Sym) and bool(a.parts and b.parts) and _AT_CALL.get().same(a, b)


def not_negative(form: Affine) -> bool:
    """Return whether an expression is known not to be negative, or relied on, if that follows from the sizes of the arguments in it."""
    if lower_bound(form) >= 0:
        return True
    at_call = _AT_CALL.get()
    sizes = Affine(form.constant, frozenset((t, k) for t, k in form.terms if at_call.numbers.keys() >= set(t.terms)))
    return bool(sizes.terms) and lower_bound(form.plus(sizes, -1)) >= 0 and at_call.at_least(sizes, 0)
