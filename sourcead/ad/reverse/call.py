"""The reverse of a call.

    program             v = f(a, b)
    forward sweep       v = f(a, b)
    reverse sweep       d_a += (df/da)^T d_v;  d_b += (df/db)^T d_v

The adjoint rule of `f` gives the two products, or a closed form those of several calls together.  A recursive function returns a
pullback beside its value:

    program             v = f(a, b)
    forward sweep       v, pullback = f_vjp(a, b)
    reverse sweep       d_a, d_b = pullback(d_v)
"""

from sourcead.ad.apply_rule import cotangents_of, promised
from sourcead.ad.closed_forms import closed_form
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import cast, unbroadcast
from sourcead.ad.recursion import derivative_of
from sourcead.ad.reverse.walk import Reverse
from sourcead.ad.rule_results import collected
from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedArgumentError
from sourcead.ir.nodes import Atom, Call, Const, Index, Operand, Stmt, Var, operand_atoms
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import UNKNOWN, DictT, TupleT, keyed_parts
from sourcead.places.spelling import spelled
from sourcead.primitives.table import record_of


def reverse_call(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `v = f(a, b)`."""
    op: Call = stmt.op
    (v,) = stmt.targets
    if isinstance(op.fn, Pair):
        return pull_back(r, op, v, cots)
    if record_of(op.fn).first_only and (v in cots.whole or set(cots.parts[v]) - {0}):
        raise UnsupportedArgumentError(
            f"the derivative of `{spelled(op.fn)}` is known of its first result only",
            at=stmt.origin,
            instead="compute the other results from the first",
        )
    d_v, wanted = cots.take(v), r.active
    if (form := closed_form(stmt, r.made)) is not None:
        contribute(r, form.argument, form.product(r.build, d_v), True, cots)
        wanted = wanted - form.covered
    for operand, d, broadcasts in cotangents_of(r.build, stmt, d_v, wanted):
        contribute(r, operand, d, broadcasts, cots)


def contribute(r: Reverse, operand: Operand, d: Operand | None, broadcasts: bool, cots: Cotangents) -> None:
    """Add what a rule returned for an operand to its cotangent."""
    if isinstance(operand, tuple) and d is not None:
        for k, item in enumerate(operand):
            part = d[k] if isinstance(d, tuple) else item_of(r, d, k, item)
            contribute(r, item, part, broadcasts, cots)
    if d is None or not isinstance(operand, Var) or operand not in r.active:
        return
    if isinstance(d, tuple):
        items = None if isinstance(operand.type, DictT) else keyed_parts(operand.type)
        if items is not None and len(items) == len(d):
            for (key, t), part in zip(items, d):
                if part is not None:
                    cots.add_part(operand, key, collected(r.build, part, t, f"d_{operand.name}"), t)
            return
        d = collected(r.build, d, operand.type, f"d_{operand.name}")
    d = unbroadcast(r.build, d, operand) if broadcasts else cast(r.build, d, operand)
    cots.add(operand, d)


def item_of(r: Reverse, d: Atom, k: int, item: Operand) -> Atom | None:
    """Return the k-th of the cotangents that a rule returned as one list, if it matters."""
    if isinstance(item, Const) or not any(a in r.active for a in operand_atoms(item)):
        return None
    part = r.build.index(d, Const(k))
    return promised(r.build, part, item.type) if isinstance(item, Var) else part


def pull_back(r: Reverse, op: Call, pair: Var, cots: Cotangents) -> None:
    """Emit `d_args = pullback(d_value)` for a call of a recursive function."""
    d_value = cots.parts.pop(pair, {}).get(0)
    if d_value is None:
        return
    args = [op.args[k] for k in op.fn.wrt]
    ds = tuple(Var(f"d_{a.name}" if isinstance(a, Var) else "d", atom_type(a), True) for a in args)
    if r.build.pullbacks is None:  # this is differentiated again
        call = Call(derivative_of(op.fn, "cotangents", r.as_function), (*op.args, d_value))
        made = r.build.emit(call, TupleT((call.fn.result, UNKNOWN)), "pair")
        call = Index(made, Const(0))
    else:
        call = Call(r.build.pullbacks[pair], (d_value,))
    if len(ds) == 1 and r.build.pullbacks is not None:
        r.build.add(Stmt(ds, call))
    else:
        whole = r.build.emit(call, TupleT(tuple(d.type for d in ds)), "cotangents")
        for k, d in enumerate(ds):
            r.build.add(Stmt((d,), Index(whole, Const(k))))
    for arg, d in zip(args, ds):
        contribute(r, arg, d, False, cots)
