"""The algebra of cotangents, dispatched by the type of the primal value.

    zero            the cotangent of a value that nothing has contributed to
    plus            the sum of two contributions
    get_at          the part of a cotangent that belongs to a part of the value
    add_at          a cotangent with a contribution to one part
    clear_at        what stands in a cotangent for a part that was overwritten: nothing flows to it
    append_to, pop_from     the cotangents of a list that became longer or shorter

The cotangent of a value has the type of the value, with two exceptions: that of a dict with keys known only at run time lacks the
keys that nothing has contributed to, and that of a tuple may be a list.
"""

import operator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type, container
from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Build, Const, Index, Operand, Pop, Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.records import list_type
from sourcead.ir.types import (
    BOOL, INT, Array, DictT, FunctionT, Known, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type, Unknown,
    keyed_parts
)
from sourcead.primitives.result_types.infer import infer_index

NOT_DATA = (Known, FunctionT, NoneType, Str, Unknown)  # types of fields that carry no derivative
CONTAINERS = (TupleT, ListT, DictT, StructT, Unknown)


def zeros(build: Builder, x: Atom) -> Atom:
    """Emit and return a zero cotangent of a value."""
    t, name = atom_type(x), f"d_{x.name}" if isinstance(x, Var) else "d"
    match t:
        case Scalar(kind):
            return Const(0j) if kind == "complex" else Const(0.0)
        case MapT():
            return build.emit(Build("dict", (), ()), t, name)
        case Array(dtype) if dtype is not None and dtype.kind in "fc" and x not in build.unassigned:
            return build.call(np.zeros_like, x, name=name)
    return build.call(runtime.zeros_if_assigned if x in build.unassigned else runtime.zeros_like, x, type=t, name=name)


def plus(t: Type, build: Builder, d1: Atom, d2: Atom, name: str) -> Atom:
    """Return the sum of two cotangents of a value of type `t`."""
    match t:
        case Scalar():
            return build.call(operator.add, d1, d2, name=name)
        case Array():
            return build.emit(Update(d1, (), d2, "add"), atom_type(d1), name)
        case TupleT() if isinstance(found := atom_type(d1), ListT):
            t = found
    return build.call(runtime.add, d1, d2, type=t, name=name)


# ---- containers whose keys are known ----


def assembled(build: Builder, x: Var, parts: dict[object, Atom]) -> Atom:
    """Return the cotangent of a container as one value, from those of some of its items."""
    keys = tuple(k for k, _ in keyed_parts(x.type) or ())
    atoms = tuple(parts[k] if k in parts else zero_item(build, x, k) for k in keys)
    return build.emit(container(x.type, atoms), name=f"d_{x.name}")


def zero_item(build: Builder, x: Var, key: object) -> Atom:
    """Return a zero cotangent of the item of a container at a constant key."""
    t = dict(keyed_parts(x.type) or ()).get(key)
    if isinstance(t, NOT_DATA if isinstance(x.type, StructT) else (FunctionT, NoneType, Str)):
        return Const(None)
    if isinstance(x.type, StructT) and isinstance(t, ListT) and t.items == ():
        return build.emit(Build("list", ()), t, "items")
    return zeros(build, build.index(x, Const(key)))


def changeable(build: Builder, d: Atom) -> Atom:
    """Return the cotangent of a tuple as a list, whose items can be replaced one by one."""
    t = atom_type(d)
    return build.call(list, d, type=ListT(list_type(t.items).item), name="d") if isinstance(t, TupleT) else d


# ---- one part of a cotangent ----


@dataclass(frozen=True)
class Place:
    """A part of a value that is read: `part = x[key]`.

    `distinct`: whether the subscript surely names no element twice.
    """

    x: Var
    key: Operand
    part: Var
    distinct: bool


def add_at(t: Type, build: Builder, d: Atom, place: Place, d_part: Atom) -> Atom:
    """Return the cotangent `d` of a value of type `t` with a contribution to one part."""
    part, name = place.part, f"d_{place.x.name}"
    if isinstance(t, MapT):
        number = isinstance(t.item, Scalar)
        before = build.call(dict.get, d, place.key, *([Const(0.0)] if number else []), type=part.type, name=f"{name}_item")
        total = build.call(operator.add if number else runtime.add, before, d_part, type=part.type, name=f"{name}_item")
        return build.emit(Update(d, (Sub(place.key),), total), t, name)
    of_items = isinstance(t, (ListT, TupleT))
    if isinstance(t, Unknown):
        parts = place.key if isinstance(place.key, tuple) else (place.key,)
        types = [Unknown() if isinstance(p, tuple) else INT if isinstance(p, Slice) else atom_type(p) for p in parts]
        of_items = not any(isinstance(p, ListT) or isinstance(p, Array) and p.dims for p in types)  # only arrays have such subscripts
        constant = isinstance(place.key, Const) and isinstance(place.key.value, int)
        if of_items and (constant or any(isinstance(p, (Array, TupleT, Unknown)) for p in (part.type, *types))):  # it may be a tuple
            return build.call(runtime.with_added, d, place.key, d_part, type=t, name=name)
    if of_items and isinstance(part.type, (*CONTAINERS, MapT)):
        before = build.emit(Index(d, place.key), part.type, f"d_{part.name}")
        total = build.call(runtime.add, before, d_part, type=part.type, name=f"d_{part.name}")
        return build.emit(Update(d, (Sub(place.key),), total, "set"), t, name)
    return build.emit(Update(d, (Sub(place.key),), d_part, "add", place.distinct), atom_type(d), name)


def get_at(t: Type, build: Builder, d: Atom, path: tuple, part: Atom) -> Atom:
    """Return the part at a path of the cotangent `d` of a value of type `t`; `part` is that part of the value."""
    if isinstance(t, MapT):
        number = isinstance(t.item, Scalar)  # else `clear_at` has put None
        fn, otherwise = (dict.get, Const(0.0)) if number else (runtime.cotangent_at, part)
        return build.call(fn, d, path[0].key, otherwise, type=atom_type(part), name="d")
    for step in path:
        if isinstance(step, Sub):
            d = build.index(d, step.key, name=f"{d.name}_part" if isinstance(d, Var) else "d_part")
        else:
            d = build.applied(step.fn, (d, *step.args), dict(step.kwargs))
    return d


def clear_at(t: Type, build: Builder, x: Var, path: tuple) -> Atom:
    """Return what stands at a path of the cotangent of `x`, of type `t`, after an assignment has replaced what stood there."""
    if isinstance(t, ListT) and all(isinstance(step, Sub) for step in path):
        *_, holder, part = accumulate(path, lambda held, step: infer_index(held, build.arg(step.key)), initial=t)
        in_list = isinstance(holder, ListT) and (len(path) == 1 or not isinstance(part, Scalar))
        if in_list or isinstance(part, Unknown):
            return zeros(build, build.index(get_at(t, build, x, path[:-1], x), path[-1].key))
    return Const(None) if isinstance(t, MapT) and not isinstance(t.item, Scalar) else Const(0.0)


# ---- lists that grow and shrink ----


def pop_from(t: Type, build: Builder, d: Atom, op: Append, targets: tuple[Var, Var]) -> None:
    """Emit `rest, d_item = pop d`: the reverse of the append `op` to a list in a value of type `t`."""
    if not isinstance(t, MapT):
        return build.add(Stmt(targets, Pop(d, op.path, op.at)))
    # the cotangent of a dict lacks the key if nothing has come to the list under it
    there = build.call(dict.get, d, op.path[0].key, type=BOOL, name="there")  # an empty list counts as none
    popped = tuple(Var(v.name, v.type, True) for v in targets)
    with build.block() as missing:
        item = zeros(build, op.value)
    arms = Block((Stmt(popped, Pop(d, op.path, op.at)),), popped), Block(tuple(missing), (d, item))
    return build.add(Stmt(targets, Branch(there, *arms)))


def append_to(t: Type, build: Builder, d: Atom, d_item: Atom, op: Pop, rest: Var) -> Atom:
    """Return `d ++ [d_item]`: the reverse of the pop `op` from a list in a value of type `t`, which leaves `rest`."""
    if not isinstance(t, MapT):
        return build.emit(Append(d, d_item, op.path, op.at), atom_type(d), f"d_{op.base.name}")
    items = get_at(t, build, d, op.path[:1], build.index(rest, op.path[0].key))
    grown = build.emit(Append(items, d_item, op.path[1:], op.at), atom_type(items), "d_items")
    return build.emit(Update(d, op.path[:1], grown), t, f"d_{op.base.name}")
