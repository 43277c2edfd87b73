"""Calls of what `vmap` returned, inside a function that is lowered: the body of the function for all members.

    vmap(f, in_axes=(0, None))(xs, w)       ys = f(xs, w), by the rules of `passes/batching/`; else np.stack([f(x, w) for x in xs])

`f` is lowered in place, over variables that stand for the arguments of one member, and the block that this gives is written for all
members.  That is ordinary IR: derivatives of it, and derivatives inside `f`, need nothing more.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sourcead.ad.apply_form import applied
from sourcead.analysis.builder import atom_type, container
from sourcead.compile.nested_calls import ActiveCall, Place, constant, parameters, places, taken
from sourcead.errors import ArgumentError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import BoundVal, Lowering, Value
from sourcead.frontend.find_source import Opaque
from sourcead.ir.nodes import Atom, Block, Branch, Const, Effect, Let, Stmt, Var
from sourcead.ir.records import list_type
from sourcead.ir.types import BOOL, INT, KINDS, Array, ArrayLike, ListT, Scalar, Type, Unknown, keyed_parts, map_type
from sourcead.ir.walk import free_vars
from sourcead.language.transformations import Described, Mapped, member_of
from sourcead.passes import plan
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.entries import NOT_NUMBERS, Entry, Parts, Same, Wide, is_wide
from sourcead.passes.batching.members import Members, has_calls_with_effects


@dataclass(eq=False)
class Batch:
    """The arguments of a call that have an axis of members.

    Attributes:
        arrays: each array with such an axis: where it is in the arguments, the array with that axis in front, and its length.
    """

    arrays: list[tuple[str, Var, Any]]


def made_mapped(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Mapped:
    """Lower a call `vmap(f, in_axes, out_axes)`."""
    options = {**dict(zip(("in_axes", "out_axes"), args[1:])), **kwargs}
    options = {k: axes_in(lo, v, node) for k, v in options.items() if k in ("in_axes", "out_axes")}
    return Mapped("vmap", args[0], **options)


def axes_in(lo: Lowering, value: Value, node) -> Any:
    """Return axes that are written in a function."""
    if isinstance(value, core.Cell) and value.kind == "dict":
        return {k: axes_in(lo, v, node) for k, v in value.items.items()}
    if isinstance(value, core.TupleVal) or isinstance(value, core.Cell) and value.kind == "list":
        return tuple(axes_in(lo, item, node) for item in value.contents)
    return constant(lo, value, node)


@core.call.register(Mapped)
def lower_mapped(lo: Lowering, value: Mapped, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of what `vmap` returned; of a gradient that would become a loop, the gradient of the sum over all members if it can."""
    gradient = None if lo.in_loops else gradient_of(lo, value.function)
    if gradient is None:
        return lower_members(lo, value, args, kwargs, node)
    for lowered in (lower_members, lower_gradient_of_sum):
        found, notes, loops = None, dict(lo.member_notes), lo.nth_loop
        with lo.attempt(SourceADError) as attempt:
            found = lowered(lo, value if lowered is lower_members else (value, gradient), args, kwargs, node)
            loops = lo.nth_loop
            if found is None or len(lo.member_notes) > len(notes):
                attempt.fail()
        if not attempt.failed:
            return found
        lo.nth_loop = loops  # what is known of the loops that were lowered is not that of those in the next attempt
        lo.member_notes.clear()
        lo.member_notes.update(notes)
    return lower_members(lo, value, args, kwargs, node)


def gradient_of(lo: Lowering, fn: Value) -> Described | None:
    """Return the gradient that a function is, None if it is another function."""
    if isinstance(fn, Const) and isinstance(fn.value, Opaque) and (made := fn.value.described(())) is not None:
        fn = None if made.bound_args or made.bound_kwargs else replace(made, function=core.as_value(lo, made.function))
    if isinstance(fn, BoundVal) and not fn.args and not fn.kwargs:
        fn = fn.function
    return fn if isinstance(fn, Described) and fn.kind == "grad" and not fn.has_aux else None


def sum_of(members: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the sum of the results of all members; this function is lowered, not called."""
    return np.sum(members(*args, **kwargs))


def lower_gradient_of_sum(lo: Lowering, value: tuple[Mapped, Described], args: list[Value], kwargs: dict[str, Value], node) -> Value | None:
    """Lower the gradients of all members as the gradient of the sum of their results, on each of which an argument of its own depends.

    Return None if an argument that they are taken by is the same for all members.
    """
    mapped, gradient = value
    at = places(lo, gradient, gradient.wrt, args, kwargs, node)
    axes = [0 if isinstance(p, str) else None if p < mapped.own else member_of(mapped.in_axes, p - mapped.own) for p in at]
    if any(a != 0 for a in axes) or mapped.out_axes != 0:
        return None
    summed = BoundVal(Const(sum_of), (replace(mapped, function=gradient.function),), {})
    wrt = tuple(at) if isinstance(gradient.wrt, tuple) else at[0]
    return core.call(lo, Described("grad", summed, wrt), args, kwargs, node)


def lower_members(lo: Lowering, value: Mapped, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of what `vmap` returned to the body of the function for all members."""
    every: dict[Place, Value] = {**dict(enumerate(args)), **kwargs}
    names = dict(enumerate(parameters(lo, value.function, node))) if not isinstance(value.function, BoundVal) else {}
    batch, inputs, entries = Batch([]), {}, {}
    for place, given in every.items():
        axes = None if place in range(value.own) else 0
        if isinstance(place, int) and place >= value.own:
            axes = member_of(value.in_axes, place - value.own, len(args) - value.own)
        name = place if isinstance(place, str) else names.get(place, f"argument {place}")
        if not any_axis(axes) or core.is_function(given) or isinstance(given, Const) and not isinstance(atom_type(given), Array):
            if any_axis(axes) and isinstance(given, Const) and isinstance(atom_type(given), Scalar) and atom_type(given) != BOOL:
                raise not_mapped(name, "a number", lo)
            continue
        atom = lo.read(given)
        entry, t = member_entry(lo, batch, atom, axes, name)
        if is_wide(entry):
            inputs[place] = Var(name if name.isidentifier() else "x", t, True)
            entries[inputs[place]] = entry
    if not batch.arrays:
        raise ArgumentError("`vmap` is given no argument with an axis of members: in_axes is None for all", at=lo.here)
    size, dim = members(lo, batch, value.checked)
    entries = {x: of_length(lo, entry, dim) for x, entry in entries.items()}
    call = taken(lo, ActiveCall(value.function, list(inputs), args, kwargs, node, inputs))
    function = plan.run(plan.MEMBERS, call.lowered.function)
    atom = written(lo, function.body, entries, (size, dim), value.out_axes)
    return lo.unpack(atom) if isinstance(atom, Var) else lo.wrap(atom)


def any_axis(axes: Any) -> bool:
    """Return whether some axes are not None."""
    if isinstance(axes, tuple | list):
        return any(map(any_axis, axes))
    if isinstance(axes, dict):
        return any(map(any_axis, axes.values()))
    return axes is not None


def member_entry(lo: Lowering, batch: Batch, atom: Atom, axes: Any, where: str) -> tuple[Entry, Type]:
    """Return what stands for an argument of one member, and its type; add the arrays with an axis of members to `batch`."""
    t = atom_type(atom)
    found = keyed_parts(t)
    if found is not None and not isinstance(t, Array | Scalar):
        items, types = {}, []
        for key, _ in found:
            at = f"{where}.{key}" if hasattr(t, "cls") else f"{where}[{key!r}]"
            own = member_of(axes, key, len(found))
            item = lo.build.index(atom, Const(key)) if any_axis(own) or not isinstance(atom, Const) else Const(atom.value[key])
            items[key], made = member_entry(lo, batch, item, own, at)
            types.append(made)
        left = iter(types)
        t = list_type(tuple(types)) if isinstance(t, ListT) else map_type(t, lambda part: next(left))
        return Parts(t, items), t
    if not any_axis(axes) or not isinstance(t, Array | Scalar) and not isinstance(t, Unknown | ArrayLike | ListT):
        return Same(atom), t
    if not isinstance(axes, int):
        raise ArgumentError(f"in_axes for `{where}` is {axes!r}, and it is one array or number", at=lo.here)
    if isinstance(t, Scalar):
        if t.kind == "bool":
            return Same(atom), t
        raise not_mapped(where, "a number", lo)
    if not isinstance(t, Array) or t.dims is None or t.dtype is None:
        raise UnsupportedSyntaxError(f"the axes of `{where}`, which `vmap` maps over, are not known before the program runs", at=lo.here,
                                     instead="an array argument of the function, or `in_axes` None for it")
    rank = len(t.dims)
    if not -rank <= axes < rank:
        raise ArgumentError(f"in_axes for `{where}` is {axes}, and it has {rank} axes", at=lo.here)
    axis = axes % rank
    array = atom if axis == 0 else lo.build.call(np.moveaxis, atom, Const(axis), Const(0))
    dims = (t.dims[axis], *t.dims[:axis], *t.dims[axis + 1 :])
    batch.arrays.append((where, array, dims[0]))
    kind = KINDS.get(t.dtype.kind)
    if kind is None:
        raise UnsupportedSyntaxError(f"`{where}` is an array of {t.dtype}, which `vmap` does not map over", at=lo.here)
    return Wide(array), Scalar(kind, t.dtype) if rank == 1 else Array(t.dtype, dims[1:])


def not_mapped(where: str, what: str, lo: Lowering) -> ArgumentError:
    instead = f"None in `in_axes` for `{where}`, if it is the same for all members"
    return ArgumentError(f"`vmap` maps over `{where}`, which is {what} and has no axis", at=lo.here, instead=instead)


def members(lo: Lowering, batch: Batch, checked: bool) -> tuple[Atom, Any]:
    """Return the number of members, and the dim that it is; emit a check of what is not known to be equal."""
    where, first, dim = next((a for a in batch.arrays if isinstance(a[2], int)), batch.arrays[0])
    size = lo.build.call(len, first, type=INT, name="n")
    for other, array, n in batch.arrays:
        if n is dim or n == dim:
            continue
        if isinstance(n, int) and isinstance(dim, int):
            raise ArgumentError(f"`vmap` is given {dim} members in `{where}` and {n} in `{other}`", at=lo.here)
        if not checked:
            differ = lo.build.call(operator.ne, lo.build.call(len, array, type=INT, name="n"), size, type=BOOL)
            why = Const(f"vmap is given another number of members in {where} than in {other}")
            error = lo.build.call(ValueError, why, name="error")
            with lo.build.block() as stmts:
                lo.build.add(Stmt((), Effect("raise", (error,))))
            lo.build.add(Stmt((), Branch(differ, Block(tuple(stmts)), Block(()))))
    return size, dim


def of_length(lo: Lowering, entry: Entry, dim: Any) -> Entry:
    """Return an entry whose arrays have `dim` as their first dim in their types."""
    match entry:
        case Parts(t, items):
            return Parts(t, {k: of_length(lo, item, dim) for k, item in items.items()})
        case Wide(Var() as var) if var.type.dims[0] is dim or var.type.dims[0] == dim:
            return entry
        case Wide(var):
            t = atom_type(var)
            same = Var(var.name if isinstance(var, Var) else "x", replace(t, dims=(dim, *t.dims[1:])), True)
            lo.build.add(Stmt((same,), Let(var)))
            return Wide(same)
    return entry


def written(lo: Lowering, block: Block, entries: dict[Var, Entry], count: tuple[Atom, Any], axes: Any) -> Atom:
    """Emit a block for all members, whose number is `count`, an atom and a dim; return its result, with their axes as `axes` asks."""
    build, inputs = lo.build, list(free_vars(block))
    t, found = atom_type(block.results[0]), []

    def begun() -> Members:
        writer = Members(build, *count, lo.member_notes, applied)
        for v in inputs:
            writer.bind(v, entries.get(v, Same(v)))
        return writer

    def together() -> None:
        if lo.in_loops or has_calls_with_effects(block):
            raise Unbatchable
        writer = begun()
        writer.block(block)
        writer.ended(block)
        found.append(with_axes(writer, writer.entry(block.results[0]), t, axes))

    origin, within, adjoint_of = build.origin, build.within, build.adjoint_of
    try:
        if not begun().tries(together):
            build.origin, build.within, build.adjoint_of = origin, within, adjoint_of
            writer = begun()
            found.append(with_axes(writer, writer.stacked(block)[0], t, axes))
        return found[0]
    except Unbatchable:
        raise cannot_stack(lo) from None
    finally:
        build.origin, build.within, build.adjoint_of = origin, within, adjoint_of


def cannot_stack(lo: Lowering) -> UnsupportedSyntaxError:
    why = "the results of the members cannot be stacked: they are not known to be numbers, arrays, or a structure of these"
    return UnsupportedSyntaxError(why, at=lo.here, instead="return numbers, arrays, or tuples and dicts of them")


def with_axes(writer: Members, entry: Entry, t: Type, axes: Any) -> Atom:
    """Return a result with the axes of members where `out_axes` asks for them."""
    build, found = writer.build, keyed_parts(t)
    if found is not None:
        parts = {k: writer.item(entry, k) for k, _ in found}
        items = [with_axes(writer, parts[k], part, member_of(axes, k, len(found))) for k, part in found]
        types = iter(map(atom_type, items))
        new = list_type(tuple(types)) if isinstance(t, ListT) else map_type(t, lambda part: next(types))
        return build.emit(container(t, tuple(items)), new)
    if isinstance(t, NOT_NUMBERS) and isinstance(entry, Same):
        return entry.atom
    if axes is None:
        if isinstance(entry, Wide):
            raise ArgumentError("out_axes is None for a result that differs between the members", at=build.origin, instead="out_axes=0")
        return entry.atom
    if not isinstance(axes, int):
        raise ArgumentError(f"out_axes is {axes!r} for a result that is one array or number", at=build.origin, instead="out_axes=0")
    whole = writer.spread_entry(entry, t)
    if not axes:
        return whole
    rank = len(whole.type.dims or ())
    if not -rank <= axes < rank:
        raise ArgumentError(f"out_axes is {axes} for a result that has {rank} axes with that of the members", at=build.origin)
    return build.call(np.moveaxis, whole, Const(0), Const(axes % rank))
