"""Choose for a module that is saved the text that holds for the most sizes of its arguments, and the line that checks them on entry.

A text depends on the lengths of lists and on the dims below 8 of its arguments, which are constants in it.  For a module, lists whose items
are alike get any length, and sizes of at least two become dims known only at run time, if the function can be compiled so.  Then each dim
is forgotten in turn; where the text stays the same, it does not rely on it:

    assert np.ndim(x) == 2 and np.shape(x)[1] >= 2, f"made for other shapes than x: {np.shape(x)}"
"""

import ast
import itertools
import math
import re
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
    for without in (of_any_length, lambda t: t):
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


def checked(text: str, name: str, types: dict[str, Type], directions: dict[str, str]) -> str:
    """Return a text whose function asserts on entry that its arguments have the shapes and lengths that it relies on.

    Args:
        text, name: the text, and the name of the function in it.
        types: the types of the function's arguments that the text relies on.
        directions: {parameter that is a tangent: its primal parameter, whose shape it must have}.
    """
    (node,) = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name)
    asserts, conditions, shown = [], [], {}
    for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
        primal = directions.get(arg.arg, arg.arg)
        for place, size, condition in conditions_on(types[primal], primal, arg.arg) if primal in types else ():
            if condition.startswith("len("):  # first and alone: what follows reads its items
                asserts.append(asserted([condition], f"{place}: {{{size}}}"))
            else:
                conditions.append(condition)
                shown[place] = f"{place}: {{{size}}}"
    if conditions:
        asserts.append(asserted(conditions, ", ".join(shown.values())))
    lines = text.splitlines()
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    at = first.end_lineno if documented else first.lineno - 1
    lines[at:at] = asserts
    return "\n".join(lines) + "\n"


def asserted(conditions: list[str], shown: str) -> str:
    """Return the line that asserts conditions, with the sizes that are `shown` in its message."""
    quote = next(q for q in ('"', "'", '"""') if q not in shown)
    return f"    assert {' and '.join(conditions)}, f{quote}made for other shapes than {shown}{quote}"


def conditions_on(t: Type, place: str, given: str) -> Iterator[tuple[str, str, str]]:
    """Yield the expression of each array, number and sequence in an argument, that of its size, and what the text relies on.

    Args:
        t: the type of the argument.
        place: the expression for it.
        given: the expression for its tangent, if the conditions are those on the tangent, else `place`.
    """
    size, tangent = f"np.shape({given})", given != place
    match t:
        case Scalar() | Array() if tangent:
            yield given, size, f"{size} == np.shape({place})"
        case Scalar():
            yield place, size, f"np.ndim({place}) == 0"
        case Array(_, tuple(dims)) if all(isinstance(d, int) for d in dims):
            yield place, size, f"{size} == {dims}"
        case Array(_, tuple(dims)):
            yield place, size, f"np.ndim({place}) == {len(dims)}"
            for k, d in enumerate(dims):
                if isinstance(d, int):
                    yield place, size, f"{size}[{k}] == {d}"
                elif d.least > 0:
                    yield place, size, f"{size}[{k}] >= {d.least}"
        case ListT(item, None):
            if tangent:
                yield given, f"len({given})", f"len({given}) == len({place})"
            v, t_v = (re.sub(r"\W+", "_", text) + "_item" for text in (place, given))
            each = [(size, condition) for _, size, condition in conditions_on(item, v, t_v)]
            if each:
                over = f"for {t_v}, {v} in zip({given}, {place})" if tangent else f"for {v} in {place}"
                holds = " and ".join(condition for _, condition in each)
                yield given, f"[{each[0][0]} for {t_v} in {given}]", f"all({holds} {over})"
        case TupleT() | ListT() | DictT():
            parts = keyed_parts(t)
            yield given, f"len({given})", f"len({given}) == {len(parts)}"
            for key, part in parts:
                yield from conditions_on(part, f"{place}[{key!r}]", f"{given}[{key!r}]")
        case StructT(_, fields):
            for key, part in fields:
                yield from conditions_on(part, f"{place}.{key}", f"{given}.{key}")
