"""The reverse of subscripts, of building tuples, lists, dicts and records, and of lists that grow and shrink.

    program             v = a[i]            t = build (a, b)        l1 = l0 ++ [v]              l1, v = pop l0
    forward sweep       v = a[i]            t = build (a, b)        l1 = l0 ++ [v]              l1, v = pop l0
    reverse sweep       d_a[i] += d_v       d_a += d_t[0]           d_l0, d = pop d_l1          d_l0 = d_l1 ++ [d_v]
                                            d_b += d_t[1]           d_v += d

Where all elements are read, each once, as by `v = a[:, None]` or `v = a[::-1]`, the reverse is a subscript too: `d_a += d_v[:, 0]`.
Where `i` is a constant key of a tuple, list, dict or record, the contribution is kept beside those of the other items, and the
cotangent is assembled only where it is needed as a whole.
"""

from sourcead.ad.apply_rule import set_refused
from sourcead.ad.cotangents.algebra import Place, add_at, append_to, changeable, get_at, pop_from
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.lost_types import loses
from sourcead.ir.nodes import Append, Atom, Build, Const, Index, Operand, Pop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, ListT, MapT, Scalar, Sym, TupleT, Unknown, dims_of, join, keyed_parts


def reverse_index(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `v = a[i]`."""
    op: Index = stmt.op
    (v,) = stmt.targets
    base, t = op.base, atom_type(op.base)
    d_v = cots.take(v)
    if base not in r.active:
        return
    items = keyed_parts(t)
    path = (Sub(op.key),)
    if isinstance(t, ListT) and isinstance(v.type, (Array, Scalar)):
        base, path = whole_list(r, base, path)
    if len(path) > 1:
        d_base = changeable(r.build, cots.get_or_zero(base))
        cots.put(base, r.build.emit(Update(d_base, path, d_v, "add"), atom_type(d_base), f"d_{base.name}"))
    elif items is not None and isinstance(op.key, Const):
        key = op.key.value
        if isinstance(key, int) and isinstance(t, (TupleT, ListT)):
            key %= len(items)
        if key in dict(items):  # else the program has raised an error here
            cots.add_part(base, key, d_v, dict(items)[key])
    elif isinstance(t, Scalar) or isinstance(t, Array) and t.dims == ():  # the cotangent may be a number
        cots.add(base, unbroadcast(r.build, d_v, base))
    elif (back := inverse_subscript(r, base, op.key, d_v, v)) is not None:
        whole = all(isinstance(part, Slice) and part.step is None for part in (back if isinstance(back, tuple) else (back,)))
        cots.add(base, d_v if whole else r.build.index(d_v, back, name=f"d_{base.name}"))
    else:
        d_base = changeable(r.build, cots.get_or_zero(base))
        cots.put(base, add_at(t, r.build, d_base, Place(base, op.key, v, distinct(r, op.key)), d_v))


def whole_list(r: Reverse, base: Var, path: tuple[Sub, ...]) -> tuple[Var, tuple[Sub, ...]]:
    """Return the list in which `base` is an item, or an item of an item, whose place depends on the run, and the path from there.

    So `t[i][j]` contributes to `d_t[i][j]` alone, and the cotangent of a row of a table is not made for one of its numbers.
    """
    outer = r.made[base].op if base in r.made else None
    if not isinstance(outer, Index) or outer.base not in r.active or not isinstance(outer.base.type, ListT):
        return base, path
    if isinstance(outer.key, (Slice, tuple)) or keyed_parts(outer.base.type) is not None and isinstance(outer.key, Const):
        return base, path
    return whole_list(r, outer.base, (Sub(outer.key), *path))


def inverse_subscript(r: Reverse, base: Var, key: Operand, d_v: Atom, v: Var) -> Operand | None:
    """Return the subscript that `d_v` has in `d_base = d_v[...]` if `v = base[key]` has all elements of `base`, each once; else None.

    Such a subscript adds axes, drops axes of length 1, and turns axes round.
    """
    parts, dims = key if isinstance(key, tuple) else (key,), dims_of(base.type)
    if dims is None or base in r.build.maybe_number or not all(dims_of(t) for t in (v.type, atom_type(d_v))):
        return None
    axes, back = iter(dims), []
    for part in parts:
        match part:
            case Const(value) if value is None:
                back.append(Const(0))
            case Slice(None, None, None | Const(-1)):
                back.append(part)
            case Const(int() as k) if type(k) is int and k in (0, -1) and next(axes, None) == 1:
                back.append(Const(None))
                continue
            case _:
                return None
        if isinstance(part, Slice):
            next(axes, None)
    return tuple(back) if len(back) > 1 else back[0] if back else None


def distinct(r: Reverse, key: Operand) -> bool:
    """Return whether a subscript with integer arrays surely names no element twice, because one of them is an `arange(n)`.

    The arrays have one axis, and none is longer than the `arange`, which would repeat its only number.
    """
    arrays, lengths = [], []
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is ...):
            continue
        t = Unknown() if isinstance(part, tuple) else atom_type(part)
        if isinstance(t, Array) and len(dims_of(t) or ()) == 1:
            arrays.append(part)
            lengths.append(t.dims[0])
        elif not isinstance(t, Scalar) or t.kind != "int":
            return False

    def longest(n) -> bool:
        return (n.many if isinstance(n, Sym) else n > 1) or all(m == 1 or m is n for m in lengths)

    return any(part in r.counting and longest(n) for part, n in zip(arrays, lengths))


def reverse_build(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `t = build (a, b)`."""
    op: Build = stmt.op
    (v,) = stmt.targets
    if op.kind == "set":
        raise set_refused(stmt)
    keys = op.keys if op.keys is not None else range(len(op.items))
    parts = cots.parts.pop(v, {})
    whole = cots.take(v)
    for key, item in zip(keys, op.items):
        if item not in r.active:
            continue
        if key in parts:
            cots.add(item, parts[key])
        if whole is not None and isinstance(v.type, MapT):
            cots.add(item, get_at(v.type, r.build, whole, (Sub(Const(key)),), item))
        elif whole is not None:
            number = isinstance(atom_type(item), (Array, Scalar))
            mixed = number and isinstance(v.type, ListT) and isinstance(v.type.item, Unknown)  # the cotangent may be of another kind
            d = r.build.emit(Index(whole, Const(key)), v.type.item if mixed else atom_type(item), f"d_{item.name}")
            cots.add(item, unbroadcast(r.build, d, item) if mixed else d)


def reverse_append(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `l1 = l0 ++ [v]`."""
    op: Append = stmt.op
    d_out = cots.take(stmt.targets[0])
    t = op.base.type if isinstance(op.base, Var) else atom_type(d_out)
    item = atom_type(op.value) if not isinstance(op.value, tuple) else Unknown()
    held = getattr(atom_type(d_out), "item", item)
    if not op.path and loses(held, item):  # an empty list was put beside others
        item = join(item, held)
    rest = Var(f"d_{stmt.targets[0].name}", t, True)
    d_value = Var(f"d_{op.value.name}" if isinstance(op.value, Var) else "d_item", item, True)
    pop_from(t, r.build, d_out, op, (rest, d_value))
    if isinstance(op.base, Var):
        cots.add(op.base, rest)
    if isinstance(op.value, Var):
        cots.add(op.value, d_value)


def reverse_pop(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `l1, v = pop l0`."""
    op: Pop = stmt.op
    rest, item = stmt.targets
    d_rest = cots.take_or_zero(rest)
    d_item = cots.take_or_zero(item)
    cots.add(op.base, append_to(rest.type, r.build, d_rest, d_item, op, rest))
