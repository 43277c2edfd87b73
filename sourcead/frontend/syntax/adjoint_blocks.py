"""Lower `with adjoint_of(x) as d_x:`, a block of the user's code that runs in the reverse sweep on the cotangent of `x`.

The block is lowered in its place, so that it can read every value in scope, and then undone: the statements after it see none of its
effects, except for the value of `d_x`. After the block, the name `x` is bound to the result of an `AdjointBlock`, which behaves like `x`
for every other purpose.

`adjoint_of` blocks inside the block refer to the same point of the program, so their cotangents are known here too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.builtins import stop_gradient
from sourcead.frontend.control.exits import may_leave
from sourcead.frontend.core import (
    MISSING, SEEN, VALUE, WHOLE, Cell, Flag, Lowering, Slots, TupleVal, Value, next_birth, parts_of
)
from sourcead.frontend.syntax.expressions import named_object
from sourcead.ir.nodes import UNDEFINED, AdjointBlock, Block, Const, Stmt, Var
from sourcead.language.adjoint_blocks import adjoint_of

OWN = "it may change the cotangent, print, check, and assign names of its own"


class Steered(gast.Pass):
    """Represent a `with` statement, by its `items` and `body`, whose context managers are all `adjoint_of`."""

    def __init__(self, items: list, body: list[gast.AST]):
        self.items, self.body = items, body


@dataclass(eq=False)
class Site:
    """Describe the value that one `adjoint_of(x)` refers to.

    Attributes:
        slots, key: where `x` is bound.
        value: the value of `x`.
        cotangent: the variable that holds its cotangent while the block is lowered.
        leaves: the numbers and arrays in the value.
        params: the variables through which the block receives their cotangents.
    """

    slots: Slots
    key: Any
    value: Value
    cotangent: Flag
    leaves: list[Value]
    params: list[Var]


def is_steering(lo: Lowering, item) -> bool:
    """Tell whether an item of a `with` is `adjoint_of(...)`."""
    with lo.attempt(SourceADError):
        return named_object(lo, getattr(item.context_expr, "func", None)) is adjoint_of
    return False


@core.builtin(adjoint_of)
def call_without_with(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Refuse a call of `adjoint_of` that begins no `with` statement."""
    raise core.unsupported(lo, node, "`adjoint_of` begins a `with` statement", "`with adjoint_of(x) as d_x:` and a block")


@core.statement(Steered)
def lower_steered(lo: Lowering, node: Steered) -> None:
    """Lower the statements of an `adjoint_of` block."""
    if any(map(may_leave, node.body)):
        raise core.unsupported(lo, node, "an `adjoint_of` block cannot be left by `return`, `break` or `continue`")
    if lo.steering is not None:
        return lower_body(lo, node)
    sites: dict[Any, Site] = {}
    for item in [*node.items, *nested_items(lo, node.body)]:
        sites[item] = site_of(lo, item, node, list(sites.values()))
    apart = list({id(s): s for s in sites.values()}.values())
    values = [lo.read(leaf) for s in apart for leaf in s.leaves]
    results = []
    mark, birth = lo.journal.mark(), next_birth()
    with lo.using(steering=sites), lo.build.block() as stmts:
        for s in apart:
            params = iter(s.params)
            lo.set(lo.scope.names, s.cotangent, stop_gradient.mapped(lo, s.value, lambda _, p=params: lo.wrap(next(p))))
        lower_body(lo, node)
        for s in apart:
            results += [lo.read(v) for v in replacing(lo, s, lo.scope.names[s.cotangent], node)]
    changed = lo.journal.changed(mark, birth)
    refuse_writes(lo, changed, node)
    lo.scope.ended.update(key for slots, key in changed if slots is lo.scope.names)
    lo.journal.rollback(mark)
    targets = [Var(getattr(v, "name", None) or "x", atom_type(v), getattr(v, "temp", True)) for v in values]
    lo.build.maybe_number.update(t for t, v in zip(targets, values) if v in lo.build.maybe_number)
    params = tuple(p for s in apart for p in s.params)
    lo.build.add(Stmt(tuple(targets), AdjointBlock(tuple(values), params, Block(tuple(stmts), tuple(results)))))
    steered = iter(targets)
    for s in apart:
        rebind(lo, s, lambda leaf: stop_gradient.like(lo, leaf, next(steered)))


def lower_body(lo: Lowering, node: Steered) -> None:
    """Lower the body of the block, with each cotangent bound to the name that the user gives it."""
    names = lo.scope.names
    given = []
    for item in node.items:
        if item not in lo.steering:
            raise core.unsupported(lo, node, "`adjoint_of` in a function that an `adjoint_of` block calls")
        target = item.optional_vars
        if target is None:
            continue
        if not isinstance(target, gast.Name):
            instead = "give it one name, and unpack that in the block"
            raise core.unsupported(lo, node, "the cotangent is unpacked into several names", instead)
        if names.get(target.id, UNDEFINED) is not UNDEFINED:
            raise core.unsupported(lo, node, f"`{target.id}` has another value already", "give the cotangent a name of its own")
        given.append((target.id, lo.steering[item].cotangent))
        lo.set(names, target.id, names[given[-1][1]])
    core.lower_statements(lo, node.body)
    for name, cotangent in given:
        if name not in names:
            raise core.unsupported(lo, node, f"`{name}` is deleted in its block", "set it to 0 for nothing to flow")
        lo.set(names, cotangent, names[name])
        lo.set(names, name, MISSING)


def nested_items(lo: Lowering, body: list[gast.AST]) -> Iterator:
    """Iterate over the `adjoint_of` items of the blocks inside a block."""
    for statement in body:
        for n in gast.walk(statement):
            if isinstance(n, gast.With):
                yield from (item for item in n.items if is_steering(lo, item))


def walk(lo: Lowering, node: gast.AST) -> Iterator[gast.AST]:
    """Iterate over the nodes of a statement, except those in its `adjoint_of` blocks, which change nothing around them."""
    todo = [node]
    while todo:
        n = todo.pop()
        if not (isinstance(n, gast.With) and any(is_steering(lo, item) for item in n.items)):
            yield n
            todo.extend(gast.iter_child_nodes(n))


def site_of(lo: Lowering, item, node: Steered, others: list[Site]) -> Site:
    """Find the slot and the value of the argument of an `adjoint_of`."""
    call = item.context_expr
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], gast.Starred):
        raise core.unsupported(lo, node, "`adjoint_of` takes one argument")
    slots, key = place(lo, call.args[0], node)
    value = core.lower(lo, call.args[0])
    same = next((s for s in others if s.slots is slots and s.key == key), None)
    if same is not None:
        return same
    leaves = []
    stop_gradient.mapped(lo, value, leaves.append)
    if not leaves:
        reason = "this value has no cotangent: there is no number in it that may have a fraction"
        raise core.unsupported(lo, node, reason, "make it a float")
    if any(leaf is other for s in others for leaf in leaves for other in s.leaves):
        raise core.unsupported(lo, node, "one value is steered under two names", "use one of them")
    name = item.optional_vars.id if isinstance(item.optional_vars, gast.Name) else "d"
    params = [Var(name, atom_type(lo.read(leaf)), len(leaves) > 1 or item.optional_vars is None) for leaf in leaves]
    return Site(slots, key, value, Flag(name), leaves, params)


def place(lo: Lowering, target: gast.AST, node: Steered) -> tuple[Slots, Any]:
    """Return the slots and the key of a name, of an item of a list or dict, or of an attribute."""
    match target:
        case gast.Name(id=name):
            return lo.scope.names, name
        case gast.Subscript():
            base = core.lower(lo, target.value)
            found, key = core.known(lo, core.lower(lo, target.slice))
            if isinstance(base, Cell) and base.kind in ("list", "dict") and found:
                return base.slots, key % len(base.items) if base.kind == "list" and isinstance(key, int) else key
        case gast.Attribute(attr=name):
            base = core.lower(lo, target.value)
            if isinstance(base, Cell) and base.kind == "object":
                return base.slots, name
    instead = "give the value a name, and use that name afterwards"
    raise core.unsupported(lo, node, "the argument of `adjoint_of` is not a variable", instead)


def rebind(lo: Lowering, site: Site, new: Callable[[Value], Value]) -> None:
    """Bind a steered value to its new value; lists, dicts and objects keep their identity."""

    def renewed(value: Value) -> Value:
        match value:
            case TupleVal(items, _, cls):
                return TupleVal(tuple(map(renewed, items)), None, cls)
            case Cell() if value.kind != "array":
                for key, item in value.items.items():
                    replace_item(lo, value.slots, key, renewed(item))
                return value
        return new(value) if any(value is leaf for leaf in site.leaves) else value

    replace_item(lo, site.slots, site.key, renewed(site.value))


def replace_item(lo: Lowering, slots: Slots, key: Any, value: Value) -> None:
    """Bind a slot; if its list, dict or object came from one IR value, record that it differs from this value now."""
    if slots.cell is not None:
        lo.set(slots, WHOLE, MISSING)
        lo.dirty.add(slots.cell)
    lo.set(slots, key, value)


def replacing(lo: Lowering, site: Site, value: Value, node: Steered) -> Iterator[Value]:
    """Iterate over the numbers and arrays that replace the cotangents of a site, in the order of its leaves."""

    def visit(old: Value, new: Value) -> Iterator[Value]:
        parts, others = parts_of(old), parts_of(new)
        if parts is not None:
            same_keys = isinstance(old, TupleVal) or others is not None and others.keys() == parts.keys()
            if others is None or getattr(old, "kind", None) != getattr(new, "kind", None) or len(others) != len(parts) or not same_keys:
                raise different
            for (key, part), other in zip(parts.items(), others.values()):
                yield from visit(part, others.get(key, other))  # a tuple may have other names
        elif any(old is leaf for leaf in site.leaves):
            unfit = isinstance(new, Const) and not isinstance(new.value, (int, float, complex)) and not new.live
            if unfit or others is not None or not isinstance(new, (Var, Const, Cell)):
                raise different
            yield new

    different = core.unsupported(lo, node, f"`{site.cotangent}` is given another structure than the value that it is the cotangent of")
    return visit(site.value, value)


def refuse_writes(lo: Lowering, changed: dict, node: Steered) -> None:
    """Refuse a block that changes anything that the rest of the program can see."""
    for (slots, key), old in changed.items():
        if slots.cell is None:
            if old is not MISSING and old is not UNDEFINED and not isinstance(key, Flag):
                raise core.unsupported(lo, node, f"an `adjoint_of` block assigns `{key}`, which is a variable of the function", OWN)
        elif slots.cell.base is None or key is not VALUE and key is not SEEN:
            raise core.unsupported(lo, node, f"an `adjoint_of` block changes `{slots.cell.name}`, which is not its own", OWN)
