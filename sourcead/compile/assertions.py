"""The assertions by which a saved module checks on entry that its arguments are of the kinds and sizes that its text relies on.

    assert type(x) is np.ndarray and x.dtype == np.float64, f"made for other types than x: {type(x).__name__} of {np.asarray(x).dtype}"
    assert x.ndim == 2 and x.shape[1] >= 2, f"made for other shapes than x: {x.shape}"

A text that copies an argument before it writes to it also relies on it that no other argument shares its memory.

The assertions are trees, as all generated text is: the names, attributes and keys of data come from outside, and must not become code.
"""

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sourcead.emit.text.globals import is_literal
from sourcead.emit.text.printing import to_text
from sourcead.ir.names import as_name, is_name, numbered
from sourcead.ir.types import ANY_DTYPE, Array, DictT, ListT, Scalar, StructT, TupleT, Type, keyed_parts

OBJECTS = {
    "np": np, "len": len, "all": all, "zip": zip, "getattr": getattr, "type": type, "isinstance": isinstance, "int": int, "bool": bool,
    "float": float, "complex": complex, "list": list, "tuple": tuple, "dict": dict,
}  # fmt: skip
"""What the conditions use, by its names in the templates below."""

LENGTHS, KINDS, SHAPES = "lengths", "types", "shapes"  # in the order in which they are checked, since each reads what the ones before know


class Check(NamedTuple):
    """A condition on an argument or a part of one, as expressions."""

    about: str  # LENGTHS, KINDS or SHAPES
    place: ast.expr  # the array, number, list or other part
    found: ast.expr  # its length, kind or shape
    condition: ast.expr  # what the text relies on


class Written(ast.NodeTransformer):
    """Writes expressions by templates, in which some names stand for other expressions."""

    def __init__(self, names: dict[str, str]):
        self.names: dict[str, ast.expr] = {word: ast.Name(name, ast.Load()) for word, name in names.items()}
        self.parts: dict[str, ast.expr] = {}

    def __call__(self, template: str, **parts: Any) -> ast.expr:
        """Return the expression of a template with expressions, or literals, in place of some of its names."""
        self.parts = self.names | {name: part if isinstance(part, ast.expr) else literal(part) for name, part in parts.items()}
        return self.visit(ast.parse(template, mode="eval").body)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.parts.get(node.id, node)


def literal(value: Any) -> ast.expr:
    """Return the expression for a number, text or tuple of them."""
    return ast.Tuple([literal(v) for v in value], ast.Load()) if isinstance(value, tuple) else ast.Constant(value)


def checked(text: str, built: Any, types: dict[str, Type], directions: dict[str, str], namespace: dict) -> tuple[str, dict[str, Any]]:
    """Return a text whose function asserts on entry that its arguments are what it relies on, and its globals.

    Args:
        text: the text.
        built: what it was generated with (`compile/pipeline.py`): the function's name, and the parameters that share no memory.
        types: the types of the function's arguments that the text relies on.
        directions: {parameter that is a tangent: its primal parameter, whose shape it must have}.
        namespace: the globals of the text.
    """
    (node,) = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == built.plain.name)
    taken = {n.arg if isinstance(n, ast.arg) else n.id for n in ast.walk(node) if isinstance(n, ast.arg) or is_stored(n)}
    names = {
        word: next(n for n in numbered(word) if n not in taken and namespace.get(n, value) is value) for word, value in OBJECTS.items()
    }
    made: dict[str, list[Check]] = {LENGTHS: [], KINDS: [], SHAPES: []}
    held = []
    written = Written(names)
    a = node.args
    for arg in filter(None, [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]):
        primal = directions.get(arg.arg, arg.arg)
        if primal in types:
            place, given = ast.Name(primal, ast.Load()), ast.Name(arg.arg, ast.Load())
            for check in checks(types[primal], place, given, written):
                made[check.about].append(check)
            held += [(arg.arg, *holder) for holder in holders(types[primal], given, written)] if primal == arg.arg else []
    asserts = [asserted([check]) for check in made[LENGTHS]] + [asserted(made[about]) for about in (KINDS, SHAPES) if made[about]]
    asserts += [printed(conjunction(alone), ast.Constant(ALONE))] if (alone := apart(held, built, written)) else []
    lines = text.split("\n")  # as `ast` counts them
    start = node.body[0]
    documented = isinstance(start, ast.Expr) and isinstance(start.value, ast.Constant) and isinstance(start.value.value, str)
    at = start.end_lineno if documented else start.lineno - 1
    lines[at:at] = asserts
    return "\n".join(lines).rstrip("\n") + "\n", {names[word]: value for word, value in OBJECTS.items()} | namespace


def is_stored(node: ast.AST) -> bool:
    """Return whether a node is the name of a variable that is assigned."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def asserted(made: list[Check]) -> str:
    """Return the line that asserts conditions, with a message that says what was found at each place."""
    shown = {ast.unparse(check.place): pieces(check.found) for check in made}
    other = f"made for other {made[0].about} than "
    read = (ast.unparse(piece.value) for found in shown.values() for piece in found if isinstance(piece, ast.FormattedValue))
    if any(c in text for text in (*shown, *read) for c in "'\"{}\\#"):  # which not all f-strings may contain
        slots = ("".join("{}" if isinstance(piece, ast.FormattedValue) else piece.value for piece in found) for found in shown.values())
        places = ", ".join(f"{place.replace('{', '{{').replace('}', '}}')}: {slot}" for place, slot in zip(shown, slots))
        values = [piece.value for found in shown.values() for piece in found if isinstance(piece, ast.FormattedValue)]
        message = ast.Call(ast.Attribute(ast.Constant(f"{other}{places}"), "format", ast.Load()), values, [])
    else:
        texts = [f"{', ' if k else other}{place}: " for k, place in enumerate(shown)]
        message = ast.JoinedStr([part for text, found in zip(texts, shown.values()) for part in (ast.Constant(text), *found)])
    return printed(conjunction([check.condition for check in made]), message)


def pieces(found: ast.expr) -> list[ast.expr]:
    """Return the parts of an f-string that shows an expression."""
    return found.values if isinstance(found, ast.JoinedStr) else [ast.FormattedValue(found, -1, None)]


def printed(condition: ast.expr, message: ast.expr) -> str:
    """Return the line that asserts a condition."""
    return "    " + to_text(ast.Assert(condition, message), {}).rstrip("\n")


def conjunction(conditions: list[ast.expr]) -> ast.expr:
    """Return the expression that conditions hold; of those that compare with the same, one: `x.dtype == y.dtype == np.float64`."""
    chains: dict[Any, list[ast.Compare]] = {}
    for each in itertools.chain.from_iterable(c.values if isinstance(c, ast.BoolOp) else [c] for c in conditions):
        joins = isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Is | ast.Eq) and not isinstance(each.left, ast.Subscript)
        key = (type(each.ops[0]), ast.unparse(each.comparators[-1])) if joins else ast.unparse(each)
        chains.setdefault(key, []).append(each)
    parts = [
        ast.Compare(chain[0].left, chain[0].ops * len(chain), [*(c.left for c in chain[1:]), chain[0].comparators[-1]])
        if len(chain) > 1 and isinstance(key, tuple) else chain[0]
        for key, chain in chains.items()
    ]  # fmt: skip
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)


def selected(t: Type, place: ast.expr, key: Any, written: Written) -> ast.expr | None:
    """Return the expression for a part of a tuple, list, dict or record; None if its key cannot be written as a literal."""
    if isinstance(t, StructT):
        return ast.Attribute(place, key, ast.Load()) if is_name(key) else written("getattr(place, key)", place=place, key=key)
    return written("place[key]", place=place, key=key) if is_literal(key) else None


LENGTH = "f'{type(given).__name__} of {len(given)}'"


def number(t: Scalar, x: ast.expr, written: Written) -> ast.expr:
    """Return the condition that an expression is a number of the kind of a type."""
    if t.dtype is ANY_DTYPE or t.least is not None:
        return written("np.ndim(x) == 0", x=x)
    if t.dtype is None or t.dtype == np.dtype(t.kind):
        own = {"float": "isinstance(x, float)", "complex": "isinstance(x, complex)"}  # from which NumPy's classes are derived
        return written(own.get(t.kind, f"type(x) in ({t.kind}, {numpys(np.dtype(t.kind))})"), x=x)
    return written(f"type(x) is {numpys(t.dtype)}", x=x)


def numpys(dtype: np.dtype) -> str:
    """Return NumPy's name for the numbers of a dtype."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.type.__name__}"


def shaped(t: Array, place: ast.expr, given: ast.expr, written: Written) -> Iterator[ast.expr]:
    """Yield the conditions that an array has the dims of a type, or a tangent the shape of its primal."""
    if given is not place:
        yield written("given.shape == place.shape", given=given, place=place)
    elif t.dims is not None and all(isinstance(d, int) for d in t.dims):
        yield written("x.shape == dims", x=place, dims=t.dims)
    elif t.dims is not None:
        yield written("x.ndim == rank", x=place, rank=len(t.dims))
        for k, d in enumerate(t.dims):
            if isinstance(d, int):
                yield written("x.shape[k] == d", x=place, k=k, d=d)
            elif d.least > 0:
                yield written("x.shape[k] >= d", x=place, k=k, d=d.least)


def checks(t: Type, place: ast.expr, given: ast.expr, written: Written) -> Iterator[Check]:
    """Yield what a text relies on of each array, number and sequence in an argument.

    Args:
        t: the type of the argument.
        place: the expression for it.
        given: the expression for its tangent, if the checks are those of the tangent, else that for it.
        written: writes expressions.
    """
    tangent = ast.unparse(given) != ast.unparse(place)
    match t:
        case Scalar():
            yield Check(KINDS, given, written("type(x).__name__", x=given), number(t, given, written))
        case Array():
            kind = written("f'{type(x).__name__} of {np.asarray(x).dtype}'", x=given)
            yield Check(KINDS, given, kind, written("type(x) is np.ndarray", x=given))
            if t.dtype is not None and t.dtype.names is None:
                dtype = written(numpys(t.dtype)) if t.dtype.kind in "biufc" and t.dtype.isnative else literal(t.dtype.str)
                yield Check(KINDS, given, kind, written("x.dtype == dtype", x=given, dtype=dtype))
            for condition in shaped(t, place, given if tangent else place, written):
                yield Check(SHAPES, given, written("x.shape", x=given), condition)
        case ListT(item, None):
            condition = "isinstance(given, list) and len(given) == len(place)" if tangent else "isinstance(given, list)"
            yield Check(LENGTHS, given, written(LENGTH, given=given), written(condition, given=given, place=place))
            v, t_v = (ast.Name(as_name(re.sub(r"\W+", "_", ast.unparse(e)), "each") + "_item", ast.Load()) for e in (place, given))
            inside = [*checks(item, v, t_v, written)]
            for about in (LENGTHS, KINDS, SHAPES):
                if each := [check for check in inside if check.about == about]:
                    names = {"holds": conjunction([c.condition for c in each]), "found": each[0].found, "t_v": t_v, "v": v}
                    over = "for t_v, v in zip(given, place)" if tangent else "for v in place"
                    condition = written(f"all(holds {over})", given=given, place=place, **names)
                    yield Check(about, given, written("[found for t_v in given]", given=given, **names), condition)
        case TupleT() | ListT() | DictT() | StructT():
            parts = keyed_parts(t)
            if not isinstance(t, StructT):
                kind = {TupleT: "tuple", ListT: "list", DictT: "dict"}[type(t)]
                condition = f"isinstance(given, {kind}) and len(given) == {len(parts)}"
                yield Check(LENGTHS, given, written(LENGTH, given=given), written(condition, given=given))
            for key, part in parts:
                inner = selected(t, place, key, written), selected(t, given, key, written)
                if None not in inner:
                    yield from checks(part, *inner, written)


def holders(t: Type, place: ast.expr, written: Written) -> Iterator[tuple[Type, ast.expr]]:
    """Yield the arrays, lists, dicts and objects in an argument, each with its type and the expression for it."""
    if isinstance(t, Array | ListT | DictT) or isinstance(t, StructT) and not issubclass(t.cls, tuple):
        yield t, place
    for key, part in keyed_parts(t) or ():
        if (inner := selected(t, place, key, written)) is not None:
            yield from holders(part, inner, written)


ALONE = "made for arguments that share no memory"


def apart(held: list[tuple[str, Type, ast.expr]], built: Any, written: Written) -> list[ast.expr]:
    """Return the conditions that what the user's function writes to, or compares by `is`, is in no other place of the arguments.

    Args:
        held: the arrays, lists, dicts and objects in the arguments: the parameter, the type and the expression of each.
        built: tells which parameters the function writes and compares.
        written: writes expressions.
    """
    made = []
    for (name, t, a), (other, u, b) in itertools.combinations(held, 2):
        if isinstance(t, Array) is not isinstance(u, Array):
            continue
        if name in built.written or other in built.written:
            made.append(written("not np.may_share_memory(a, b)" if isinstance(t, Array) else "a is not b", a=a, b=b))
        elif name in built.compared and other in built.compared:
            made.append(written("a is not b", a=a, b=b))
    return made
