"""Refuse functions with a rule of the user that change an argument: a call of theirs is one step, whose rule tells of its result alone."""

import functools
import types
from collections.abc import Iterator

import gast

from sourcead.errors import NoSourceError
from sourcead.frontend import core
from sourcead.frontend.core import Lowering
from sourcead.frontend.find_source import find_source

CHANGING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem appendleft popleft extendleft rotate add discard "
    "fill put itemset partition setfield".split()
)


def refuse_writes(lo: Lowering, function: types.FunctionType, node) -> None:
    """Refuse a call of a function with a rule if its source changes one of its arguments, or a part of one."""
    if (name := written_parameter(function, function.__code__)) is not None:
        what = f"`{function.__name__}` has a rule, which tells of its result alone, and changes its argument `{name}`"
        raise core.unsupported(lo, node, what, "return what it changes, from a copy")


@functools.lru_cache(maxsize=1024)
def written_parameter(function: types.FunctionType, code: types.CodeType) -> str | None:
    """Return a parameter that holds the same object throughout a function, and whose parts the function changes; None if none is seen.

    `code` is that of the function, which may be edited in place.
    """
    try:
        body = find_source(function).node
    except NoSourceError:
        return None
    arguments = body.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    bound = {n.id for n in gast.walk(body) if isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Del))}
    kept = {n.id for n in listed} - bound
    return next((name for part in written(body) if (name := base_of(part)) in kept), None)


def written(body: gast.AST) -> Iterator[gast.AST]:
    """Yield the expressions for the objects that statements of a function change."""
    for node in gast.walk(body):
        if isinstance(node, (gast.Subscript, gast.Attribute)) and isinstance(node.ctx, (gast.Store, gast.Del)):
            yield node.value
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGING:
            yield node.func.value


def base_of(node: gast.AST) -> str | None:
    """Return the name that an expression such as `a.b[0]` begins with."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None
