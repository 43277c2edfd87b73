"""The reverse of a loop.

    program             out = loop (p = init) for i in r: B yielding q
    forward sweep       out = loop (p = init) for i in r: B yielding q
    reverse sweep       d_init, d_free = loop (d_p = d_out, d_free = d_free) for i in reversed(r):
                            reverse(B, d_q = d_p) yielding d_p, d_free

The reverse of an iteration reads values of that iteration: `ad/residuals/` makes them available.
"""

from sourcead.ad.cotangents.algebra import changeable, zeros
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.reverse.sweep import ReverseLoop
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Const, Loop, Stmt, Var
from sourcead.ir.types import Array, TupleT, Type, dims_of
from sourcead.ir.walk import free_vars


def reverse_loop(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `out = loop (p = init) for i in r: B yielding q`."""
    op: Loop = stmt.op
    d_targets = [cots.take(t) for t in stmt.targets]
    carried = [k for k, p in enumerate(op.params) if d_targets[k] is not None or p in r.active]
    inits = [zeros(r.build, stmt.targets[k]) if d_targets[k] is None else d_targets[k] for k in carried]
    params = [Var(f"d_{op.params[k].name}", shaped_like(op.params[k].type, op.body.results[k]), True) for k in carried]
    free = [v for v in free_vars(op.body) if v in r.active and v not in op.params]
    free_inits = [changeable(r.build, cots.get_or_zero(v)) for v in free]
    for v in free:
        cots.take(v)
    free_types = [atom_type(d) if isinstance(v.type, TupleT) else v.type for v, d in zip(free, free_inits)]
    free_params = [Var(f"d_{v.name}", t, True) for v, t in zip(free, free_types)]
    inner = Cotangents(r.build, r.active)
    for v, p in zip(free, free_params):
        inner.put(v, p)
    outer_origin = r.build.adjoint_of
    with r.build.block():
        r.build.adjoint_of = None
        for k, p in zip(carried, params):
            result = op.body.results[k]
            if isinstance(result, Var):
                inner.add(result, p)

        def yields() -> tuple[Atom, ...]:
            entry = [on_entry(r, op, k, p, inner) for k, p in zip(carried, params)]
            return (*entry, *(inner.get_or_zero(v) for v in free))

        sweep = r.block(op.body, inner, yields)
    r.build.adjoint_of = outer_origin
    r.build.origin = stmt.origin
    targets = [
        Var(p.name, shaped_like(op.params[k].type, op.inits[k]), True) for k, p in zip(carried, params)
    ]  # fmt: skip
    targets += [Var(p.name, p.type, True) for p in free_params]
    r.build.add(Stmt(tuple(targets), ReverseLoop(stmt, (*params, *free_params), (*inits, *free_inits), sweep)))
    for v, target in zip(free, targets[len(carried) :]):
        cots.put(v, target)
    for k, target in zip(carried, targets):
        cots.add(op.inits[k], target)


def on_entry(r: Reverse, op: Loop, k: int, d_param: Var, inner: Cotangents) -> Atom:
    """Return the cotangent of the k-th loop variant on entry to an iteration."""
    d = inner.take(op.params[k]) if op.params[k] in r.active else None
    if d is not None:
        return d
    # nothing flows to the value on entry: zeros of its shape, which may not be that of the value on leaving
    init, param = op.inits[k], op.params[k]
    is_assigned = param not in r.build.unassigned or not isinstance(init, Const) or init.value is not None
    keeps_shape = same_shape(init if is_assigned else op.body.results[k], param)
    return zeros(r.build, d_param if keeps_shape else param)


def same_shape(value: Atom, param: Var) -> bool:
    """Return whether every value of a loop variant has the shape of one of them."""
    dims = dims_of(atom_type(value))
    return dims is not None and dims == dims_of(param.type)


def shaped_like(t: Type, value: Atom) -> Type:
    """Return the type of a cotangent of a loop variant of type `t` that belongs to one of its values, which may differ in shape."""
    found = atom_type(value)
    return Array(t.dtype, found.dims) if isinstance(t, Array) and isinstance(found, Array) else t
