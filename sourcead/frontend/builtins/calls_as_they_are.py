"""Leave calls as they are where the function cannot be read, and where nothing that it is given, or changes, takes part.

    table = read_table("steam.csv")         the same call in the text, whose result is a constant for derivatives

Such a function is given numbers and texts that stand in the program.  What it does is not seen, so it must not assign what the text
reads: the source of its own package, as far as it leads, must not assign global names, nor write into lists, dicts or objects that
global names hold.  Other packages are taken not to change this one's data, as C functions are.
"""

import contextlib
import enum
import functools
import sys
import types
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import gast

from sourcead import runtime
from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value, cells_of
from sourcead.frontend.core.set_at_import import DEPTH, may_change
from sourcead.frontend.find_source import Source, behind_cache, find_source, is_by_hash, unwrap
from sourcead.ir.names import name_of
from sourcead.ir.nodes import Call, Const
from sourcead.ir.records import is_record
from sourcead.ir.types import UNKNOWN
from sourcead.primitives.registry import is_own

PLAIN = (str, bytes, int, float, complex, PurePath, type(None), tuple)  # of what such a function may be given
SEES_CALLERS = frozenset({"inspect", "traceback", "pdb", "bdb", "gc", "sys"})  # modules whose functions may ask who calls them
FRAMES = frozenset({"_getframe", "currentframe", "getouterframes", "extract_stack", "settrace"})
MOST_FUNCTIONS = 300  # whose source is looked at


def read_or_left(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], read: Callable[[], Value]) -> Value:
    """Lower a call by `read`; where that is refused, and other ways to lower the whole have failed, leave it as it is if it may stay.

    Whether it may is asked of the error, since the answer takes long.
    """
    plain, bound_args, bound_kwargs = unwrap(fn)
    if bound_args or bound_kwargs or not is_given_none(lo, plain, [*args, *kwargs.values()]):
        return read()
    if not lo.leaves_calls or not leaves_data_alone(plain):
        try:
            return read()
        except SourceADError as error:
            if not hasattr(error, "can_be_left") and core.surely_raised(error)[0] is None:
                error.can_be_left = functools.partial(leaves_data_alone, plain)
            raise
    with lo.attempt(SourceADError, when=lambda error: core.surely_raised(error)[0] is None) as attempt:
        found = read()
    return left(lo, fn, args, kwargs) if attempt.failed else found


def is_given_none(lo: Lowering, fn: Any, given: list[Value]) -> bool:
    """Return whether a Python function is given numbers and texts of the program alone, at a place where its call could stay."""
    if lo.static_only or lo.steering is not None or lo.catching or lo.cached is not None or core.in_composition(lo):
        return False
    if not isinstance(fn, types.FunctionType) or is_own(fn):
        return False
    found, values = core.known(lo, TupleVal(tuple(given)))
    return found and all(isinstance(v, PLAIN) for v in values)


def left(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Emit the call of such a function."""
    core.refuse_changed_globals(lo)  # which it may read
    operands, named = [lo.operand(a) for a in args], {k: lo.operand(v) for k, v in kwargs.items()}
    found = lo.wrap(lo.build.emit(Call(runtime.unseen, (Const(fn), *operands), tuple(named.items()), effect=True), UNKNOWN, "value"))
    core.keep(cells_of(found), f"`{name_of(fn)}` may return what others hold too: writing to it would change that")
    return found


def package_of(function: Any) -> str:
    return (getattr(function, "__module__", None) or "").partition(".")[0]


def package_of_module(held: Any) -> str:
    return held.__name__.partition(".")[0] if isinstance(held, types.ModuleType) and held is not sys else ""


@functools.lru_cache(maxsize=1000)
def leaves_data_alone(function: types.FunctionType) -> bool:
    """Return whether no function of its own package that it leads to is seen to change global data."""
    package, todo, seen = package_of(function), [function], set()
    if package in sys.stdlib_module_names:
        return package not in SEES_CALLERS
    while todo:
        one = todo.pop()
        if id(one) in seen or package_of(one) != package:
            continue
        seen.add(id(one))
        if isinstance(one, type):
            todo += [m for m in vars(one).values() if isinstance(getattr(m, "__func__", m), types.FunctionType)]
            continue
        one = getattr(one, "__func__", one)
        try:
            source = find_source(one)
        except SourceADError:
            return False
        named = held_in(source)
        if len(seen) > MOST_FUNCTIONS or changes_data(source.node, named):
            return False
        reads = core.name_reads(source.node)
        if any(package_of_module(named.get(name)) in SEES_CALLERS or name in FRAMES for name in reads):
            return False
        todo += [code for name in reads if isinstance(code := without_cache(named.get(name)), types.FunctionType | type)]
        modules = [named[name] for name in reads if isinstance(named.get(name), types.ModuleType)]
        attributes = {n.attr for n in gast.walk(source.node) if isinstance(n, gast.Attribute)}
        if not attributes.isdisjoint(FRAMES):
            return False
        parts = [vars(module).get(name) for module in modules for name in attributes]
        todo += [code for part in parts if isinstance(code := without_cache(part), types.FunctionType | type)]
    return True


def without_cache(held: Any) -> Any:
    """Return the function whose results a function with a cache keeps, or what else a name holds."""
    return behind_cache(held) if is_by_hash(held) else held


def held_in(source: Source) -> dict[str, Any]:
    """Return what the names that a function reads from outside of it hold, as far as they hold something."""
    held = dict(source.globals)
    for name, cell in source.closure.items():
        with contextlib.suppress(ValueError):  # nothing is in it yet
            held[name] = cell.cell_contents
    return {name: value for name, value in held.items() if name not in source.function.__code__.co_varnames}


def changes_data(node: gast.AST, named: dict[str, Any]) -> bool:
    """Return whether a function may change what a name of others holds.

    Modules, classes and functions may be read and called.  Of a list or dict, numbers and texts may be read, one by one; whatever else is
    done with data could give it another name, by which it is changed.
    """
    of = {}  # the node around each, innermost first
    for around in gast.walk(node):
        of.update((id(inside), around) for inside in gast.iter_child_nodes(around))
    for n in gast.walk(node):
        if isinstance(n, gast.Global | gast.Nonlocal):
            return True
        if isinstance(n, gast.Name) and n.id in named:
            held, use = named[n.id], of.get(id(n))
            while isinstance(held, types.ModuleType | type) and isinstance(use, gast.Attribute) and isinstance(use.ctx, gast.Load):
                held, n = getattr(held, use.attr, None), use
                use = of.get(id(n))
            stored = isinstance(use, gast.Attribute | gast.Subscript) and use.value is n and not isinstance(use.ctx, gast.Load)
            if held is sys.modules and not stored and isinstance(use, gast.Subscript) and not stores(node):
                continue  # it takes a module, as an import statement does
            if stored or not is_code_or_constant(held) and may_change(n, nodes_around(n, of), held):
                return True
    return False


def stores(node: gast.AST) -> bool:
    """Return whether a function assigns any attribute or item, of whatever."""
    setters = {"setattr", "delattr", "__setattr__", "__dict__", "vars", "update"}
    names = (getattr(n, "attr", None) or getattr(n, "id", None) for n in gast.walk(node))
    written = (n for n in gast.walk(node) if isinstance(n, gast.Attribute | gast.Subscript) and not isinstance(n.ctx, gast.Load))
    return next(written, None) is not None or not setters.isdisjoint(filter(None, names))


def nodes_around(n: gast.AST, of: dict[int, gast.AST]) -> list[gast.AST]:
    """Return the nodes around a use of a name, innermost first, of which `of` has the next for each."""
    found = []
    while len(found) < DEPTH and (n := of.get(id(n))) is not None:
        found.append(n)
    return found


def is_code_or_constant(held: Any) -> bool:
    """Return whether what a name holds has no state of its own that a function of the same package would change."""
    constant = isinstance(held, PLAIN + (types.ModuleType, type, enum.Enum)) or type(held).__module__ == "re"
    return constant or callable(held) and not is_record(held)
