"""Choose for a module that is saved the text that holds for the most sizes of its arguments, and the line that checks them on entry.

A text depends on the dims below 8 of its arguments, which are constants in it.  For a module, sizes of at least two become dims known only
at run time, if the function can be compiled so.  Then each dim is forgotten in turn; where the text stays the same, it does not rely on it:

    assert np.ndim(x) == 2 and np.shape(x)[1] >= 2, f"made for other shapes than x: {np.shape(x)}"
"""

import ast
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from sourcead.backends.engines import NUMPY
from sourcead.compile.pipeline import Built, build
from sourcead.errors import SourceADError
from sourcead.ir.records import list_type
from sourcead.ir.types import Array, DictT, ListT, Scalar, StructT, Sym, TupleT, Type, keyed_parts, map_type

MOST_DIMS = 24  # the most dims that are forgotten one by one
Dim = int | Sym


def for_more_sizes(built: Built) -> tuple[Built, dict[str, Type]]:
    """Return what is generated for as many sizes of the arguments as possible, and the types that its text relies on."""
    if built.request is None:
        return built, {}
    types = {name: t for name, t in built.request.types.items() if name not in built.request.statics}
    free = {name: with_dims(t, lambda dim: Sym(2) if isinstance(dim, int) and dim > 1 else dim) for name, t in types.items()}
    found = generated(built, free)
    if found is not None:
        built, types = found, free
    dims: list[Dim] = []
    for t in types.values():
        with_dims(t, lambda dim: dims.append(dim) or dim)
    for k in range(len(dims) if len(dims) <= MOST_DIMS else 0):
        for least in (0, 2):
            fewer = forgotten(types, k, least)
            again = generated(built, fewer)
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
        case ListT(_, items):
            return list_type(tuple(with_dims(part, f) for part in items)) if items else t
    return map_type(t, lambda part: with_dims(part, f))


def forgotten(types: dict[str, Type], number: int, least: int) -> dict[str, Type]:
    """Return the types, in which nothing is known of one dim but its least size."""
    places = itertools.count()

    def fewer(dim: Dim) -> Dim:
        known = math.inf if isinstance(dim, int) else dim.least
        return Sym(least) if next(places) == number and known > least and dim != 0 else dim

    return {name: with_dims(t, fewer) for name, t in types.items()}


def checked(text: str, name: str, types: dict[str, Type]) -> str:
    """Return a text whose function asserts on entry that its arguments have the shapes and lengths that it relies on."""
    (node,) = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name)
    conditions, places = [], []
    for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
        for place, condition in conditions_on(types[arg.arg], arg.arg) if arg.arg in types else ():
            conditions.append(condition)
            places.append(place)
    if not conditions:
        return text
    shown = ", ".join(f"{p}: {{len({p}) if isinstance({p}, (list, tuple, dict)) else np.shape({p})}}" for p in dict.fromkeys(places))
    message = "made for other shapes than " + shown
    lines = text.splitlines()
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    at = first.end_lineno if documented else first.lineno - 1
    lines.insert(at, f"    assert {' and '.join(conditions)}, f{quoted(message)}")
    return "\n".join(lines) + "\n"


def quoted(message: str) -> str:
    """Return a text in quotation marks that it does not contain."""
    return next(q + message + q for q in ('"', "'", '"""') if q not in message)


def conditions_on(t: Type, place: str) -> Iterator[tuple[str, str]]:
    """Yield the expression of each array, number and sequence in an argument with what the text relies on."""
    match t:
        case Scalar():
            yield place, f"np.ndim({place}) == 0"
        case Array(_, tuple(dims)):
            if all(isinstance(d, int) for d in dims):
                yield place, f"np.shape({place}) == {dims}"
                return
            yield place, f"np.ndim({place}) == {len(dims)}"
            for k, d in enumerate(dims):
                if isinstance(d, int):
                    yield place, f"np.shape({place})[{k}] == {d}"
                elif d.least > 0:
                    yield place, f"np.shape({place})[{k}] >= {d.least}"
        case TupleT() | ListT() | DictT():
            parts = keyed_parts(t)
            if parts is not None:
                yield place, f"len({place}) == {len(parts)}"
            for key, part in parts or ():
                yield from conditions_on(part, f"{place}[{key!r}]")
        case StructT(_, fields):
            for key, part in fields:
                yield from conditions_on(part, f"{place}.{key}")
