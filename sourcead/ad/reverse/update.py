"""The reverse of an assignment to a part of an array or container.

    program             a1 = a0 with [i] = v
    forward sweep       a1 = a0 with [i] = v
    reverse sweep       d_v += d_a1[i];  d_a0 = d_a1 with [i] = 0       where i takes all of a0: d_v += d_a1;  d_a0 = 0

    program             a1 = a0 with [i] += v               likewise with -= and -d_a1[i]
    forward sweep       a1 = a0 with [i] += v
    reverse sweep       d_v += d_a1[i];  d_a0 = d_a1

Where `i` may name an element several times, `[i] = v` keeps the last value that was assigned, and only that one has a cotangent.
"""

import operator

from sourcead import runtime
from sourcead.ad.cotangents.algebra import clear_at, get_at
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.ir.nodes import Atom, Call, Const, Operand, Slice, Stmt, Sub, Update, Var, View, operand_atoms
from sourcead.ir.types import UNKNOWN, Array, ListT, Scalar, Str, TupleT, Type, Unknown
from sourcead.primitives.result_types.infer import infer_index


def reverse_update(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `a1 = a0 with [i] = v`, `+= v` or `-= v`."""
    op: Update = stmt.op
    d_out = cots.take(stmt.targets[0])
    if isinstance(op.value, tuple) and any(a in r.active for a in operand_atoms(op.value)):
        raise UnsupportedSyntaxError(
            "a tuple assigned into an array cannot be differentiated yet",
            at=stmt.origin,
            instead="assign an array: `np.array([...])`",
        )
    if not isinstance(op.value, tuple) and op.value in r.active:
        cots.add(op.value, cotangent_of_value(r, stmt, d_out))
    if not isinstance(op.base, Var) or op.base not in r.active:
        return
    if op.mode == "set":
        if takes_all(op):
            return
        if is_slice_of_unknown(r, op):
            holder = get_at(op.base.type, r.build, d_out, op.path[:-1], op.base)
            r.build.add(Stmt((Var("checked"),), Call(runtime.check_array, (holder,), effect=True), stmt.origin))
        cleared = clear_at(op.base.type, r.build, op.base, op.path)
        d_out = r.build.emit(Update(d_out, op.path, cleared, "set"), atom_type(d_out), f"d_{op.base.name}")
    cots.add(op.base, d_out)


def cotangent_of_value(r: Reverse, stmt: Stmt, d_out: Atom) -> Atom:
    """Return the contribution of the container's cotangent to that of the value that was assigned or added."""
    op: Update = stmt.op
    value, t = op.value, stmt.targets[0].type
    part = get_at(t, r.build, d_out, () if takes_all(op) else op.path, value)
    if op.mode == "sub":
        part = r.build.call(operator.neg, part)
    repeating = steps_that_repeat(r, t, op.path)
    if op.mode == "set" and any(repeating):
        *outer, last = op.path
        if not isinstance(last, Sub) or any(repeating[:-1]):
            raise UnsupportedSyntaxError(
                "an assignment into a view of what an integer-array subscript takes",
                at=stmt.origin,
                instead="subscript the array itself",
            )
        whole = get_at(t, r.build, d_out, tuple(outer), value)
        return r.build.call(runtime.assigned_cotangent, whole, last.key, value, type=value.type, name=f"d_{value.name}")
    into = types_along(r, t, op.path)
    is_converted = isinstance(value.type, ListT | TupleT) and bool(into) and isinstance(into[-1], Unknown)  # if it is put into an array
    return unbroadcast(r.build, part, value) if is_converted or isinstance(value.type, (Array, Scalar, Unknown)) else part


def is_slice_of_unknown(r: Reverse, op: Update) -> bool:
    """Return whether an update sets a slice of what may be an array or a list."""
    types = types_along(r, op.base.type, op.path)
    return bool(types) and isinstance(types[-1], Unknown) and isinstance(op.path[-1], Sub) and isinstance(op.path[-1].key, Slice)


def takes_all(op: Update) -> bool:
    """Return whether the path of an update leads to the whole array, as in `a[...] = v` and `a[:] = v`."""
    match op.path:
        case ():
            return True
        case (Sub(Slice(None, None, None)),):
            return isinstance(atom_type(op.base), Array)
        case (Sub(Const(value)),):
            return value is Ellipsis and isinstance(atom_type(op.base), Array)
    return False


def steps_that_repeat(r: Reverse, t: Type, path: tuple[Sub | View, ...]) -> list[bool]:
    """Return for each step of a path into a value of type `t` whether it may name an element twice."""
    return [isinstance(step, Sub) and repeats(t, step.key) for step, t in zip(path, types_along(r, t, path))]


def types_along(r: Reverse, t: Type, path: tuple[Sub | View, ...]) -> list[Type]:
    """Return for each step of a path into a value of type `t` the type of what it is a step into."""
    found = []
    for step in path:
        found.append(t)
        if isinstance(step, Sub):
            t = infer_index(t, r.build.arg(step.key))
        elif not isinstance(t, Array):
            t = UNKNOWN
    return found


def repeats(t: Type, key: Operand) -> bool:
    """Return whether a subscript may name an element twice: some part of it is neither a slice, a number nor a mask."""
    if not isinstance(t, (Array, Unknown)):
        return False
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is Ellipsis or part.value is None):
            continue
        kind = Unknown() if isinstance(part, tuple) else atom_type(part)
        is_mask = isinstance(kind, Array) and kind.dtype is not None and kind.dtype.kind == "b"
        if not isinstance(kind, (Scalar, Str)) and not is_mask:
            return True
    return False
