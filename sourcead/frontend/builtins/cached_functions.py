"""Lower calls of functions with a cache, such as those that `functools.lru_cache` makes.

    rate = arrhenius(t, "water")        the body of the function, where it makes no difference that it runs again
    table = constants("water")          the result as data from outside: each call of the text asks the cache for it again

The second is done where the first is refused, of a function that is given nothing but texts and numbers of the program and global objects.
What it computes is a constant for derivatives.  It must not change data of its package (`builtins/calls_as_they_are.py`), and may read
whatever it likes, as it does in Python.  Where it is given other arguments, its body may read globals that nothing is seen to change since
their module was imported (`core/set_at_import.py`).

An object that was made in the function being lowered, and that is equal to nothing but itself, has no result in any cache yet.  The first
call with it runs; later ones are as if they ran, because the object may not be written any more.
"""

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from sourcead import runtime
from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.builtins.calls_as_they_are import leaves_data_alone
from sourcead.frontend.core import Cell, Lowering, TupleVal, Value, cells_of, leaves, roots
from sourcead.frontend.core.names import BEFORE_ALL
from sourcead.frontend.find_source import behind_cache, is_by_hash, is_cached, unwrap
from sourcead.ir.names import name_of
from sourcead.ir.nodes import Block, Call, Const, Var
from sourcead.ir.types import AnyTuple, Scalar
from sourcead.ir.walk import walk


@core.kind_of_callable("cached", is_cached)
def call_cached(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function with a cache: its body, or else what the cache has."""
    cached, bound_args, bound_kwargs = unwrap(fn, caches=False)
    args = [core.as_value(lo, v) for v in bound_args] + args
    kwargs = {**{k: core.as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
    with lo.attempt(SourceADError, when=lambda error: core.surely_raised(error)[0] is None) as attempt:
        return body_run_again(lo, cached, args, kwargs, node)
    if (found := result_kept(lo, cached, args, kwargs)) is not None:
        return found
    if lo.tables_behind_caches:
        raise attempt.error
    with lo.using(tables_behind_caches=True):
        return body_run_again(lo, cached, args, kwargs, node)


def body_run_again(lo: Lowering, cached: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the body of a function with a cache, provided that it makes no difference that it runs again."""
    function = behind_cache(cached)
    name = name_of(function)

    def refuse(why: str):
        raise core.unsupported(lo, node, f"`{name}` has a cache, and {why}", f"leave the cache of `{name}` away")

    given = [cell for value in (*args, *kwargs.values()) for cell in cells_of(value) if not is_tuple_of_numbers(lo, cell)]
    if is_by_hash(cached) and not all(is_new_key(lo, value) for value in (*args, *kwargs.values())):
        refuse("an argument is an array, list, dict or object")
    first = len(lo.build.stmts)
    with lo.using(cached=name), unwritten(given, f"`{name}` has a cache, and would write to its argument only if it runs"):
        value = core.call_object(lo, function, args, kwargs, node)
    memory = {root for cell in given for root in roots(cell)}
    for op in (s.op for stmt in lo.build.stmts[first:] for s in walk(Block((stmt,), ()))):
        if isinstance(op, Call) and op.effect and (op.fn is runtime.shuffled_range or not runtime.is_helper(op.fn)):
            refuse("it draws random numbers or has effects, which happen only if it runs")
    why = f"what `{name}` returns is in its cache: writing to it would change what later calls return"
    in_cache = standing_for(lo, cached, name, why)
    for leaf in leaves(value):
        if isinstance(leaf, Cell):
            if not memory.isdisjoint(roots(leaf)):
                refuse("what it returns is an argument, or a part of one, and is not if it was kept")
            leaf.frozen = why
            lo.share(leaf, [in_cache])
        elif not isinstance(leaf, (Var, Const)):
            refuse("its result is neither data nor None")
    if given and is_by_hash(cached):
        written = f"`{name}` has a cache: a later call would return what it returned before the write"
        for cell in given:
            lo.share(cell, [standing_for(lo, behind_cache(cached), f"what {name} was given", written)])
    return value


def standing_for(lo: Lowering, key: Any, name: str, why: str) -> Cell:
    """Return a cell that stands for what is in a cache, or what it was asked with, and that must not be written."""
    if key not in lo.caches:
        lo.caches[key] = lo.new_cell(Const(None), name=name)
        core.keep([lo.caches[key]], why)
    return lo.caches[key]


def is_new_key(lo: Lowering, value: Value) -> bool:
    """Return whether an argument decides what a function with a cache returns: a number, a text, or an object that no cache can have.

    Such an object was made here, and is equal to nothing else, or to those alone whose fields are equal.
    """
    if isinstance(value, TupleVal):
        return all(is_new_key(lo, item) for item in value.items)
    if not isinstance(value, Cell) or is_tuple_of_numbers(lo, value):
        return not cells_of(value)
    if value.kind != "object" or core.array_of(value) is not None or value.cls is None:
        return False
    if is_equal_by_fields(value.cls):
        return all(is_new_key(lo, item) for item in value.items.values())
    made_here = value.slots.birth > BEFORE_ALL and value not in lo.params and value not in lo.global_objects
    by_identity = value.cls.__hash__ is object.__hash__ and value.cls.__eq__ is object.__eq__
    return made_here and by_identity and value.root() is value and value.shares <= {*lo.caches.values()}


def is_equal_by_fields(cls: type) -> bool:
    """Return whether objects of a class are equal if all their fields are, which cannot be assigned: a frozen data class."""
    options = vars(cls).get("__dataclass_params__")
    if options is None or not (options.eq and options.frozen) or cls.__eq__.__code__.co_filename != "<string>":
        return False
    own_hash = getattr(cls.__hash__, "__code__", None)
    if own_hash is None or own_hash.co_filename != "<string>":
        return False
    return all(field.compare and field.hash is not False for field in dataclasses.fields(cls))


class KeptResult:
    """What a function with a cache returns for some arguments, of which each call of a text asks the cache again."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict[str, Any]):
        self.function, self.args, self.kwargs = function, args, kwargs

    @property
    def result(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def result_kept(lo: Lowering, cached: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """Return what a function with a cache returns, as data from outside; None where it may depend on what is being lowered."""
    if lo.static_only or lo.steering is not None or lo.cached is not None or core.in_composition(lo):
        return None
    if lo.catching and not is_by_hash(cached):  # what is kept by hash was returned once, and is not computed, so it raises nothing
        return None
    if lo.outliving or lo.modules or not leaves_data_alone(behind_cache(cached)):
        return None
    given = [object_given(lo, value) for value in (*args, *kwargs.values())]
    if any(obj is core.NOT_A_PART for obj in given):
        return None
    positional, named = tuple(given[: len(args)]), dict(zip(kwargs, given[len(args) :]))
    key = (cached, *((type(v), v if isinstance(v, PLAIN) else id(v)) for v in given), *named)
    holder = lo.holders.setdefault(key, KeptResult(cached, positional, named))
    try:
        result = holder.result
    except Exception:
        return None
    if isinstance(result, Iterator) or inspect.isawaitable(result):
        return None
    return core.outside(lo, name_of(behind_cache(cached)), holder, "result")


PLAIN = (bool, int, float, complex, str, bytes, type(None))


def object_given(lo: Lowering, value: Value) -> Any:
    """Return the object that an argument is in every run, a constant or a global one; NOT_A_PART for others."""
    found, obj = core.known(lo, value)
    if found:
        return obj
    if isinstance(value, TupleVal) and value.cls is None:
        items = tuple(object_given(lo, item) for item in value.items)
        return core.NOT_A_PART if any(item is core.NOT_A_PART for item in items) else items
    return core.part_of_global(lo, value)


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
