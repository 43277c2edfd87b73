"""Refusal of functions without a gradient: those that do not return one real number on every path."""

from __future__ import annotations

from sourcead.analysis.builder import atom_type
from sourcead.errors import NonScalarError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Atom, Block, Branch, Const
from sourcead.ir.types import Array, DictT, ListT, NoneType, Str, StructT, TupleT, kind_of


def function_name(name: str) -> str:
    """Return the name that a function has in messages and generated text."""
    return "function" if name == "<lambda>" else name


def check_scalar(value: Atom, lowered: Lowered) -> None:
    """Refuse a result that is known not to be one real number."""
    t = atom_type(value)
    found = None
    match t:
        case Array(_, dims) if dims:
            found = f"an array with {len(dims)} {'axis' if len(dims) == 1 else 'axes'}"
        case TupleT() | ListT() | DictT():
            found = {"TupleT": "a tuple", "ListT": "a list", "DictT": "a dict"}[type(t).__name__]
        case StructT(cls):
            found = f"an object of class {cls.__name__}"
        case NoneType():
            found = "None"
        case Str():
            found = "a string"
    if kind_of(t) in ("complex", "bool"):
        found = {"complex": "a complex number", "bool": "a truth value"}[kind_of(t)]
    if found:
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns {found}; a gradient is that of one real number",
            at=lowered.returned,
            instead="return a scalar, such as np.sum(...) of it; or use `jacobian` or `vjp`, which take any result",
        )


def check_each_path(value: Atom, block: Block, lowered: Lowered) -> None:
    """Refuse a function that returns a number on one path and None on another."""
    if may_be_none(value, (block,)):
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns None on one of its paths; a gradient is that of one real number",
            at=lowered.function.origin,
            instead="return a number on every path, or raise an error on the one that has none",
        )


def may_be_none(value: Atom, blocks: tuple[Block, ...]) -> bool:
    """Return whether a value in scope in the last of nested blocks is None on some path through the branches that yield it."""
    if isinstance(value, Const):
        return value.value is None
    for depth in range(len(blocks), 0, -1):
        for stmt in blocks[depth - 1].stmts:
            if isinstance(stmt.op, Branch) and value in stmt.targets:
                at = stmt.targets.index(value)
                arms = stmt.op.then, stmt.op.orelse
                return any(may_be_none(arm.results[at], (*blocks[:depth], arm)) for arm in arms)
    return False
