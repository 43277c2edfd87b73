"""The sizes of slices: `x[i:]` for i < n has n - i elements."""

from __future__ import annotations

from sourcead.ir.affine import Affine
from sourcead.ir.sizes import (
    Dim, as_form, form_of, greater, lesser, lower_bound, not_below, operation, quotient, size_of_form
)
from sourcead.ir.sizes_of_call import not_negative


def place(at: Affine | Dim, size: Affine | Dim) -> Dim:
    """Return the place from 0 to the size of an axis that a bound of a slice names."""
    at, size = as_form(at), as_form(size)
    if not_negative(at):
        return lesser(at, size)
    if not_below(Affine(-1), at):
        return greater(size.plus(at), Affine())
    return operation(place, 0, (at, size), above=((size, 1),))


def sliced(size: Dim, lower: Dim | None, upper: Dim | None, step: int = 1) -> Dim:
    """Return the length of `x[lower:upper:step]` for an axis of a size, and a step that is positive."""
    start = Affine() if lower is None else form_of(lower)
    if lower_bound(start) < 0:  # behind the end is no part, as at the end
        start = form_of(place(start, size))
    stop = form_of(size) if upper is None else form_of(place(upper, size))
    length = form_of(greater(stop.plus(start, -1), Affine()))
    return size_of_form(length) if step == 1 else quotient(length.plus(Affine(step - 1)), Affine(step))
