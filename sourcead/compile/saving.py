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
from typing import Any, NamedTuple

import numpy as np

from sourcead.backends.engines import NUMPY
from sourcead.compile.pipeline import Built, build
from sourcead.emit.text.globals import is_literal
from sourcead.errors import SourceADError
from sourcead.ir.names import as_name, is_name, numbered
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


class Words(NamedTuple):
    """The names that the conditions use, other ones than those of the function's variables."""

    np: str = "np"
    len: str = "len"
    all: str = "all"
    zip: str = "zip"
    getattr: str = "getattr"


OBJECTS = Words(np, len, all, zip, getattr)


def checked(text: str, name: str, types: dict[str, Type], directions: dict[str, str], namespace: dict) -> tuple[str, dict[str, Any]]:
    """Return a text whose function asserts on entry that its arguments have the shapes and lengths that it relies on, and its globals.

    Args:
        text, name: the text, and the name of the function in it.
        types: the types of the function's arguments that the text relies on.
        directions: {parameter that is a tangent: its primal parameter, whose shape it must have}.
        namespace: the globals of the text.
    """
    (node,) = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name)
    taken = {n.arg if isinstance(n, ast.arg) else n.id for n in ast.walk(node) if isinstance(n, ast.arg) or is_stored(n)}
    words = Words(*(
        next(n for n in numbered(word) if n not in taken and namespace.get(n, value) is value) for word, value in zip(Words(), OBJECTS)
    ))  # fmt: skip
    asserts, conditions, shown = [], [], {}
    for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
        primal = directions.get(arg.arg, arg.arg)
        for place, size, condition in conditions_on(types[primal], primal, arg.arg, words) if primal in types else ():
            if condition.startswith(f"{words.len}("):  # first and alone: what follows reads its items
                asserts.append(asserted([condition], {place: size}))
            else:
                conditions.append(condition)
                shown[place] = size
    if conditions:
        asserts.append(asserted(conditions, shown))
    lines = text.split("\n")  # as `ast` counts them
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    at = first.end_lineno if documented else first.lineno - 1
    lines[at:at] = asserts
    return "\n".join(lines).rstrip("\n") + "\n", dict(zip(words, OBJECTS)) | namespace


def is_stored(node: ast.AST) -> bool:
    """Return whether a node is the name of a variable that is assigned."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def asserted(conditions: list[str], shown: dict[str, str]) -> str:
    """Return the line that asserts conditions, with a message that says the size of each place; `shown` has the expressions of both."""
    message = "made for other shapes than " + ", ".join(f"{place}: {{{size}}}" for place, size in shown.items())
    quote = next((q for q in ('"', "'", '"""') if q not in message), None)
    if quote is None or any(c in text for text in (*shown, *shown.values()) for c in "{}\\#"):  # which not all f-strings may contain
        places = ", ".join(place.replace("{", "{{").replace("}", "}}") + ": {}" for place in shown)
        text = f"{'made for other shapes than ' + places!r}.format({', '.join(shown.values())})"
    else:
        text = f"f{quote}{message}{quote}"
    return f"    assert {' and '.join(conditions)}, {text}"


def selected(t: Type, place: str, key: Any, words: Words) -> str | None:
    """Return the expression for a part of a tuple, list, dict or record; None if its key cannot be written as a literal."""
    if isinstance(t, StructT):
        return f"{place}.{key}" if is_name(key) else f"{words.getattr}({place}, {key!r})"
    return f"{place}[{key!r}]" if is_literal(key) else None


def conditions_on(t: Type, place: str, given: str, words: Words) -> Iterator[tuple[str, str, str]]:
    """Yield the expression of each array, number and sequence in an argument, that of its size, and what the text relies on.

    Args:
        t: the type of the argument.
        place: the expression for it.
        given: the expression for its tangent, if the conditions are those on the tangent, else `place`.
        words: the names that the expressions may use.
    """
    shape, rank, length = f"{words.np}.shape", f"{words.np}.ndim", words.len
    size, tangent = f"{shape}({given})", given != place
    match t:
        case Scalar() | Array() if tangent:
            yield given, size, f"{size} == {shape}({place})"
        case Scalar():
            yield place, size, f"{rank}({place}) == 0"
        case Array(_, tuple(dims)) if all(isinstance(d, int) for d in dims):
            yield place, size, f"{size} == {dims}"
        case Array(_, tuple(dims)):
            yield place, size, f"{rank}({place}) == {len(dims)}"
            for k, d in enumerate(dims):
                if isinstance(d, int):
                    yield place, size, f"{size}[{k}] == {d}"
                elif d.least > 0:
                    yield place, size, f"{size}[{k}] >= {d.least}"
        case ListT(item, None):
            if tangent:
                yield given, f"{length}({given})", f"{length}({given}) == {length}({place})"
            v, t_v = (as_name(re.sub(r"\W+", "_", text), "each") + "_item" for text in (place, given))
            each = [(size, condition) for _, size, condition in conditions_on(item, v, t_v, words)]
            if each:
                over = f"for {t_v}, {v} in {words.zip}({given}, {place})" if tangent else f"for {v} in {place}"
                holds = " and ".join(condition for _, condition in each)
                yield given, f"[{each[0][0]} for {t_v} in {given}]", f"{words.all}({holds} {over})"
        case TupleT() | ListT() | DictT() | StructT():
            parts = keyed_parts(t)
            if not isinstance(t, StructT):
                yield given, f"{length}({given})", f"{length}({given}) == {len(parts)}"
            for key, part in parts:
                inner = selected(t, place, key, words), selected(t, given, key, words)
                if None not in inner:
                    yield from conditions_on(part, *inner, words)
