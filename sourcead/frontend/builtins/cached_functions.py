"""Lower calls of functions with a cache, such as those that `functools.lru_cache` makes."""

import contextlib
from collections.abc import Iterator
from typing import Any

from sourcead import runtime
from sourcead.frontend import core
from sourcead.frontend.builtins.calls_as_they_are import read_or_left
from sourcead.frontend.core import Cell, Lowering, Value, cells_of, leaves, roots
from sourcead.frontend.find_source import behind_cache, is_by_hash, is_cached, unwrap
from sourcead.ir.names import name_of
from sourcead.ir.nodes import Block, Call, Const, Var
from sourcead.ir.types import AnyTuple, Scalar
from sourcead.ir.walk import walk


@core.kind_of_callable("cached", is_cached)
def call_cached(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function with a cache, provided that it makes no difference that it runs again."""
    return read_or_left(lo, fn, args, kwargs, lambda: call_again(lo, fn, args, kwargs, node))


def call_again(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the function that is behind a cache."""
    cached, bound_args, bound_kwargs = unwrap(fn, caches=False)
    function = behind_cache(cached)
    name = name_of(function)
    args = [core.as_value(lo, v) for v in bound_args] + args
    kwargs = {**{k: core.as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}

    def refuse(why: str):
        raise core.unsupported(lo, node, f"`{name}` has a cache, and {why}", f"leave the cache of `{name}` away")

    given = [cell for value in (*args, *kwargs.values()) for cell in cells_of(value) if not is_tuple_of_numbers(lo, cell)]
    if given and is_by_hash(cached):
        refuse("an argument is an array, list, dict or object")
    first = len(lo.build.stmts)
    with lo.using(cached=name), unwritten(given, f"`{name}` has a cache, and would write to its argument only if it runs"):
        value = core.call_object(lo, function, args, kwargs, node)
    memory = {root for cell in given for root in roots(cell)}
    for op in (s.op for stmt in lo.build.stmts[first:] for s in walk(Block((stmt,), ()))):
        if isinstance(op, Call) and op.effect and (op.fn is runtime.shuffled_range or not runtime.is_helper(op.fn)):
            refuse("it draws random numbers or has effects, which happen only if it runs")
    why = f"what `{name}` returns is in its cache: writing to it would change what later calls return"
    if cached not in lo.caches:
        lo.caches[cached] = lo.new_cell(Const(None), name=name)
        core.keep([lo.caches[cached]], why)
    for leaf in leaves(value):
        if isinstance(leaf, Cell):
            if not memory.isdisjoint(roots(leaf)):
                refuse("what it returns is an argument, or a part of one, and is not if it was kept")
            leaf.frozen = why
            lo.share(leaf, [lo.caches[cached]])
        elif not isinstance(leaf, (Var, Const)):
            refuse("its result is neither data nor None")
    return value


def is_tuple_of_numbers(lo: Lowering, cell: Cell) -> bool:
    """Return whether a cell is a tuple of numbers of any length, which nobody can write into."""
    t = core.data_type(lo, cell)
    return isinstance(t, AnyTuple) and isinstance(t.item, Scalar)


@contextlib.contextmanager
def unwritten(cells: list[Cell], why: str) -> Iterator[None]:
    """Refuse writes to some objects while the body runs."""
    before = [cell.frozen for cell in cells]
    for cell in cells:
        cell.frozen = cell.frozen or why
    try:
        yield
    finally:
        for cell, frozen in zip(cells, before):
            cell.frozen = frozen
