"""`stop_gradient(x)`, and what it has in common with `adjoint_of`: new values for the numbers and arrays in a structure."""

from __future__ import annotations

from collections.abc import Callable

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, TupleVal, Value, roots
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import carries_derivative
from sourcead.runtime import stop_gradient


def mapped(lo: Lowering, value: Value, f: Callable[[Value], Value], rest: Callable[[Value], Value] = lambda _: Const(0.0)) -> Value:
    """A structure of the same kind with `f(leaf)` for each number and array, and `rest(leaf)` for what cannot have a cotangent."""
    if isinstance(value, Cell) and value.kind != "array":
        lo.alive(value)
    if (found := lo.map_items(value, lambda item: mapped(lo, item, f, rest), "items")) is not None:
        return found
    match value:
        case Var() | Cell():
            return f(value)
        case Const(number) if isinstance(number, (int, float, complex)):
            return f(value) if carries_derivative(atom_type(value)) else rest(value)
    return rest(value)


def like(lo: Lowering, leaf: Value, new: Var, given_to: str = "adjoint_of") -> Value:
    """The value that a new variable has in place of `leaf`: it shares the same memory, under the same restrictions."""
    value = lo.wrap(new, shares=roots(leaf), name=getattr(leaf, "name", None))
    if isinstance(value, Cell) and isinstance(leaf, Cell):
        value.frozen = leaf.frozen
        if leaf.base is not None:
            value.frozen = f"`{leaf.name}` was given to `{given_to}`, and is a part of `{leaf.root().name}`"
        elif leaf in lo.params:
            lo.params[value] = lo.params[leaf]
    return value


@core.builtin(stop_gradient)
def lower_stop_gradient(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`stop_gradient(x)`: the same object, whose numbers and arrays are constants for differentiation.

    A write to it under one name is refused to be read under the other: what flows through it would not be known.
    """
    given = [*args, *kwargs.values()]
    if len(given) != 1 or kwargs.keys() - {"x"}:
        raise core.unsupported(lo, node, "`stop_gradient` takes one argument")

    def stopped(leaf: Value) -> Value:
        atom = lo.read(leaf)
        if not carries_derivative(atom_type(atom)):
            return leaf
        new = lo.build.call(stop_gradient, atom, type=atom_type(atom))
        if atom in lo.build.maybe_number:
            lo.build.maybe_number.add(new)
        return like(lo, leaf, new, "stop_gradient")

    (value,) = given
    result = mapped(lo, value, stopped, lambda other: other)
    share_containers(lo, value, result)
    return result


def share_containers(lo: Lowering, a: Value, b: Value) -> None:
    """Notes that the lists, dicts and objects in two values of one structure are the same objects."""
    if isinstance(a, TupleVal):
        for x, y in zip(a.items, b.items):
            share_containers(lo, x, y)
    elif isinstance(a, Cell) and a.kind != "array":
        lo.share(b, {a})
        b.frozen = a.frozen
        if a in lo.params:
            lo.params[b] = lo.params[a]
        for key, item in a.items.items():
            share_containers(lo, item, b.items[key])
