"""Lower `stop_gradient(x)`, and map the numbers and arrays of a structure as `stop_gradient` and `adjoint_of` need it."""

from collections.abc import Callable

from sourcead.analysis.builder import atom_type
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.core import Cell, Lowering, Value, parts_of, roots
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import carries_derivative
from sourcead.runtime import stop_gradient


def mapped(lo: Lowering, value: Value, f: Callable[[Value], Value], rest: Callable[[Value], Value] = lambda _: Const(0.0)) -> Value:
    """Map a structure: apply `f` to each number and array, and `rest` to each leaf that cannot have a cotangent."""
    if (found := lo.map_items(value, lambda item: mapped(lo, item, f, rest), "items")) is not None:
        return found
    match value:
        case Var() | Cell():
            return f(value)
        case Const(number) if isinstance(number, (int, float, complex)):
            return f(value) if carries_derivative(atom_type(value)) else rest(value)
    return rest(value)


def like(lo: Lowering, leaf: Value, new: Var, given_to: str = "adjoint_of") -> Value:
    """Wrap a new variable in place of `leaf`, with the same shared memory and the same restrictions."""
    value = lo.wrap(new, shares=roots(leaf), name=getattr(leaf, "name", None))
    if isinstance(value, Cell) and isinstance(leaf, Cell):
        value.frozen = leaf.frozen
        if leaf.base is not None:
            value.frozen = f"`{leaf.name}` was given to `{given_to}`, and is a part of `{leaf.root().name}`"
        elif leaf in lo.params:
            lo.params[value] = lo.params[leaf]
    return value


@lowers(stop_gradient)
def lower_stop_gradient(lo: Lowering, node, x: Value) -> Value:
    """Lower `stop_gradient(x)` to the same object, whose numbers and arrays are constants for differentiation.

    A read under one name after a write under the other is refused, because the flow of derivatives would not be known.
    """

    def stopped(leaf: Value) -> Value:
        atom = lo.read(leaf)
        if not carries_derivative(atom_type(atom)):
            return leaf
        new = lo.build.call(stop_gradient, atom, type=atom_type(atom))
        if atom in lo.build.maybe_number:
            lo.build.maybe_number.add(new)
        return like(lo, leaf, new, "stop_gradient")

    result = mapped(lo, x, stopped, lambda other: other)
    share_containers(lo, x, result)
    return result


def share_containers(lo: Lowering, a: Value, b: Value) -> None:
    """Record that the lists, dicts and objects in two values of the same structure are the same objects."""
    parts = parts_of(a)
    if parts is not None and isinstance(a, Cell):
        lo.share(b, {a})
        b.frozen = a.frozen
        if a in lo.params:
            lo.params[b] = lo.params[a]
    for key, item in (parts or {}).items():
        share_containers(lo, item, parts_of(b)[key])
