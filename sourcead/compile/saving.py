"""Choose for a module that is saved the text that holds for the most sizes of its arguments, which it checks on entry (`assertions.py`).

A text depends on the lengths of lists and on the dims below 8 of its arguments, which are constants in it.  For a module, lists whose items
are alike get any length, and sizes of at least two become dims known only at run time, if the function can be compiled so.  Then each dim
is forgotten in turn; where the text stays the same, it does not rely on it.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

from sourcead.backends.engines import NUMPY
from sourcead.compile.pipeline import Built, build
from sourcead.errors import SourceADError
from sourcead.ir.records import list_type
from sourcead.ir.types import Array, ListT, Sym, Type, map_type

MOST_DIMS = 24  # the most dims that are forgotten one by one
Dim = int | Sym


def for_more_sizes(built: Built) -> tuple[Built, dict[str, Type]]:
    """Return what is generated for as many sizes of the arguments as possible, and the types that its text relies on."""
    if built.request is None:
        return built, {}
    built = build(replace(built.request, engine=NUMPY, multiplies=False)) if built.request.multiplies else built
    types = {name: t for name, t in built.request.types.items() if name not in built.request.statics}
    for without in (lambda t: t,) if built.written or built.compared else (of_any_length, lambda t: t):  # what shares memory has a name
        free = {name: with_dims(without(t), lambda dim: Sym(2) if isinstance(dim, int) and dim > 1 else dim) for name, t in types.items()}
        found = generated(built, free)
        if found is not None:
            built, types = found, free
            break
    dims: list[Dim] = []
    for t in types.values():
        with_dims(t, lambda dim: dims.append(dim) or dim)
    for k in range(len(dims) if len(dims) <= MOST_DIMS else 0):
        for least in (0, 1, 2):
            fewer = forgotten(types, k, least)
            again = generated(built, fewer) if fewer != types else None
            if again is not None and again.plain.text == built.plain.text:
                types = fewer
                break
    return built, types


def generated(built: Built, types: dict[str, Type]) -> Built | None:
    """Return what is generated for other types of the arguments, None if the function cannot be compiled for them."""
    try:
        return build(replace(built.request, types={**built.request.types, **types}, engine=NUMPY))
    except SourceADError:
        return None


def with_dims(t: Type, f: Callable[[Dim], Dim]) -> Type:
    """Return a type with `f(dim)` in place of each dim."""
    match t:
        case Array(_, tuple(dims)):
            return replace(t, dims=tuple(map(f, dims)))
        case ListT(_, tuple(items)):
            return list_type(tuple(with_dims(part, f) for part in items)) if items else t
    return map_type(t, lambda part: with_dims(part, f))


def of_any_length(t: Type) -> Type:
    """Return the type without the lengths of the lists in it whose items are alike."""
    t = map_type(t, of_any_length)
    if isinstance(t, ListT) and t.items:
        large = Sym(2)
        kinds = [with_dims(part, lambda dim: dim if isinstance(dim, int) and dim < 2 else large) for part in t.items]
        if kinds.count(kinds[0]) == len(kinds):
            return replace(list_type(t.items), items=None)
    return t


def forgotten(types: dict[str, Type], number: int, least: int) -> dict[str, Type]:
    """Return the types, in which nothing is known of one dim but its least size."""
    places = itertools.count()

    def fewer(dim: Dim) -> Dim:
        known = math.inf if isinstance(dim, int) else dim.least
        return Sym(least) if next(places) == number and known > least and dim != 0 else dim

    return {name: with_dims(t, fewer) for name, t in types.items()}
