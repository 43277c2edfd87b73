"""The reverse of a branch.

    program             vs = if c: B1 yielding a else: B2 yielding b
    forward sweep       vs = if c: B1 yielding a else: B2 yielding b
    reverse sweep       d_free = if c: reverse(B1, d_a = d_vs) else: reverse(B2, d_b = d_vs)

The free variables of either block whose cotangents the reverse of a block changes come out of both arms; an arm that leaves such a
cotangent alone yields what it was before, or zeros.
"""

from sourcead.ad.cotangents.algebra import changeable, zeros
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.reverse.sweep import ReverseBranch, Sweep
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Branch, Const, Stmt, Var
from sourcead.ir.types import ListT, TupleT, Unknown

Key = tuple[Var] | tuple[Var, object]  # a variable, or a variable and the key of one of its items


def reverse_branch(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `vs = if c: B1 else: B2`."""
    op: Branch = stmt.op
    d_targets = [cots.take(t) for t in stmt.targets]
    inner, sweeps = [], []
    for arm in (op.then, op.orelse):
        inner.append(cots.copy())
        with r.build.block():
            r.build.adjoint_of = stmt.origin
            for d, result in zip(d_targets, arm.results):
                if d is not None and isinstance(result, Var):
                    inner[-1].add(result, d)
            sweeps.append(r.block(arm, inner[-1]))
    r.build.origin = r.build.adjoint_of = stmt.origin
    r.build.within = stmt.within
    tails = assemble_alike(r, cots, inner)
    changed = changed_cotangents(op, cots, inner)
    if not changed and stmt not in r.adjoint_blocks:
        return
    columns = [yielded(r, key, inner, tails) for key in changed]
    targets = [Var(f"d_{key[0].name}", cotangent_type(key, column), True) for key, column in zip(changed, columns)]
    arms = []
    for side, sweep in enumerate(sweeps):
        tail = ((None, tuple(tails[side])),) if tails[side] else ()
        arms.append(Sweep(sweep.steps + tail, tuple(column[side] for column in columns)))
    r.build.add(Stmt(tuple(targets), ReverseBranch(stmt, *arms)))
    for (var, *item), target in zip(changed, targets):
        if item:
            cots.parts.setdefault(var, {})[item[0]] = target
        else:
            cots.put(var, target)


def assemble_alike(r: Reverse, cots: Cotangents, inner: list[Cotangents]) -> list[list[Stmt]]:
    """Assemble a container's cotangent in both arms if one arm has, and return the statements that do so, for each arm."""
    tails: list[list[Stmt]] = [[], []]
    for var in [v for v in cots.parts if any(v not in arm.parts for arm in inner)]:
        for arm, tail in zip(inner, tails):
            with r.build.block() as stmts:
                arm.get(var)
            tail.extend(stmts)
        del cots.parts[var]
    return tails


def changed_cotangents(op: Branch, cots: Cotangents, inner: list[Cotangents]) -> list[Key]:
    """Return the cotangents of variables outside the arms that either arm has changed."""
    local = {t for arm in (op.then, op.orelse) for s in arm.stmts for t in s.targets}
    before = cots.by_key()
    changed: dict[Key, None] = {}
    for arm in inner:
        for key, d in arm.by_key().items():
            if key[0] not in local and before.get(key) is not d:
                changed.setdefault(key)
    return list(changed)


def yielded(r: Reverse, changed: Key, inner: list[Cotangents], tails: list[list[Stmt]]) -> list[Atom]:
    """Return what each arm yields for a cotangent, and append to the tail of an arm that has none zeros, and the list of a tuple."""
    var, *item = changed
    found = [arm.by_key().get(changed) for arm in inner]
    for side, d in enumerate(found):
        if d is not None:
            continue
        with r.build.block() as stmts:
            found[side] = zeros(r.build, r.build.index(var, Const(item[0])) if item else var)
        tails[side].extend(stmts)
    if {TupleT, ListT} <= {type(atom_type(d)) for d in found}:
        for side, d in enumerate(found):
            with r.build.block() as stmts:
                found[side] = changeable(r.build, d)
            tails[side].extend(stmts)
    return found


def cotangent_type(changed: Key, column: list[Atom]):
    """Return the type of a cotangent that comes out of a branch; that of a tuple may be a list."""
    var, *item = changed
    if not item and not isinstance(var.type, (TupleT, Unknown)):
        return var.type
    return atom_type(next((d for d in column if isinstance(d, Var)), column[0]))
