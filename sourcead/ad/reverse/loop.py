"""A loop and its reverse, with what passes between them.

    out = loop (p = init) for i in range(n):            hs = []
        yield q                                         out, hs = loop (p = init, hs = hs): append what is saved; yield q
                                                        d_init = loop (d_q = d_out, hs = hs) for i in reversed(range(n)):
                                                            take it off hs; rebuild the rest; the adjoint; yield d_p
"""

from __future__ import annotations

import operator
from dataclasses import replace

from sourcead.ad.residuals.loop_parts import Part, SettledLoop
from sourcead.ad.residuals.notes import Kept, LoopNote, rebuilt
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.reverse.backward_ranges import begun_range, reversed_range
from sourcead.ad.reverse.iteration import Writer
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Append, Block, Branch, Build, Call, Const, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import free_vars


def settle_loop(plan: LoopPlan) -> SettledLoop:
    """Writes a loop and its reverse as planned."""
    op = plan.op
    exits = {q: k for k, q in enumerate(op.body.results) if isinstance(q, Var)}
    saved = set(plan.saved)
    shared = {
        q: op.params[k] for q, k in exits.items() if q in saved and op.params[k] in saved and q is not op.params[k]
    }  # the value on leaving, which the reverse loop carries
    flag = plan.leaving_flag()
    listed = [v for v in plan.saved if v not in shared and v is not flag]
    lists = {v: Var(f"{v.name}s", ListT(v.type), v.temp) for v in listed}
    before = [Stmt((lists[v],), Build("list", (), residual=True), plan.stmt.origin) for v in listed]

    # forward
    count = None if isinstance(op.domain, Range) and op.leave is None else Var("n", INT, True)
    variants = {v: fresh(lists[v]) for v in listed}
    state = dict(variants)
    stmts = forward_part(plan, plan.body, state)
    params = [*op.params, *variants.values()]
    inits = [*op.inits, *lists.values()]
    yields = [*op.body.results, *(state[v] for v in listed)]
    outs = {v: fresh(lists[v]) for v in listed}
    targets = [*plan.stmt.targets, *outs.values()]
    if count is not None:
        inside, more, total = fresh(count), fresh(count), fresh(count)
        stmts.insert(0, Stmt((more,), Call(operator.add, (inside, Const(1)))))
        params.append(inside)
        inits.append(Const(0))
        yields.append(more)
        targets.append(total)
    forward = replace(
        plan.stmt, targets=tuple(targets),
        op=replace(op, params=tuple(params), inits=tuple(inits), body=Block(tuple(stmts), tuple(yields)), policy=None),
    )  # fmt: skip

    # reverse
    setup = Builder()
    setup.origin = setup.adjoint_of = plan.stmt.origin
    if count is None:
        domain = reversed_range(setup, op.domain)
        index = fresh(op.index)
    elif isinstance(op.domain, Range):
        domain = reversed_range(setup, begun_range(setup, op.domain, total))
        index = fresh(op.index)
    else:
        domain, index = Range(Const(0), total, Const(1)), Var("_", INT, True)
    writer = Writer(plan, lists={v: fresh(lists[v]) for v in listed})
    if op.index is not None:
        writer.env[op.index] = index
    carried_params, carried_inits, ends = [], [], []
    for q, p in shared.items():
        exit_ = fresh(q, name=p.name)
        writer.env[q] = exit_
        carried_params.append(exit_)
        carried_inits.append(plan.stmt.targets[exits[q]])
        ends.append(lambda w, p=p: w.value(p, plan.body))
    if flag in saved:  # true in the last iteration at most
        left = fresh(flag, name=op.leave.name, temp=op.leave.temp)
        writer.env[flag] = left
        carried_params.append(left)
        carried_inits.append(plan.stmt.targets[exits[flag]])
        ends.append(lambda w: Const(False))
    for chain, k in plan.carried.items():
        now = fresh(op.params[k])
        writer.now[chain] = now
        carried_params.append(now)
        carried_inits.append(plan.stmt.targets[k])
        ends.append(lambda w, chain=chain: w.now[chain])
    list_params = list(writer.lists.values())
    results = writer.part(plan.body)
    carried_yields = [end(writer) for end in ends]
    writer.drain(plan.body)
    raw = plan.raw
    if index not in free_vars(Block(tuple(writer.stmts), (*results, *carried_yields))):
        setup.stmts, domain = [], op.domain if count is None else Range(Const(0), total, Const(1))
    reverse_op = Loop(
        domain, index,
        (*raw.op.params, *carried_params, *list_params),
        (*raw.op.inits, *carried_inits, *outs.values()),
        Block(tuple(writer.stmts), (*results, *carried_yields, *writer.lists.values())),
    )  # fmt: skip
    carried_targets = [fresh(p) for p in carried_params]
    reverse_targets = (*raw.targets, *carried_targets, *(fresh(p) for p in list_params))
    reverse = [*setup.stmts, replace(raw, targets=reverse_targets, op=reverse_op)]
    plan.settler.notes.append(note_for_people(plan, listed, shared, writer.rebuilt))
    restored = dict(zip(plan.carried, carried_targets[len(carried_targets) - len(plan.carried) :]))
    entry = {c: op.inits[k] for c, k in plan.carried.items()}
    return SettledLoop(before, forward, reverse, restored, entry)


def note_for_people(plan: LoopPlan, listed: list[Var], shared: dict[Var, Var], again: list[Var]) -> LoopNote:
    """What this loop saves."""
    values = [Kept(v.name, v.type) for v in listed if v not in plan.overwritten]
    values += [Kept(f"what is overwritten of {overwritten_array(plan, v)}", v.type) for v in listed if v in plan.overwritten]
    rest = []
    carried = sorted({p.name for p in shared.values()})
    if carried:
        rest.append(f"carries {', '.join(carried)} backward, whose value on leaving an iteration is that on entering the next")
    if plan.carried:
        rest.append(f"puts back {', '.join(plan.op.params[k].name for k in plan.carried.values())} as it was")
    head = "saves in each iteration {}" if values else "saves nothing"
    return LoopNote(plan.stmt.origin, head, tuple(values), (*rest, *rebuilt(again)))


def overwritten_array(plan: LoopPlan, old: Var) -> str:
    """The name of the array of which a saved value is what an update overwrites."""
    todo = [plan.body]
    while todo:
        part = todo.pop()
        for update, v in part.olds.items():
            if v is old:
                return update.targets[0].name
        todo += [arm for arms in part.arms.values() for arm in arms]
    return old.name


def forward_part(plan: LoopPlan, part: Part, state: dict[Var, Var]) -> list[Stmt]:
    """The statements of a part with what it saves; `state`: the current version of each list."""
    stmts: list[Stmt] = []

    def save(variables) -> None:
        for v in variables:
            if v in state and plan.definitions[v].part is part:
                new = fresh(state[v])
                stmts.append(Stmt((new,), Append(state[v], v), stmts[-1].origin if stmts else plan.stmt.origin))
                state[v] = new

    if part is plan.body:
        save(plan.op.params)
    for stmt in part.block.stmts:
        if stmt in part.old_reads:
            for s in part.old_reads[stmt]:
                stmts.append(s)
                save(s.targets)
        if stmt in part.loops:
            settled = part.loops[stmt]
            for s in (*settled.before, settled.forward):
                stmts.append(s)
                save(s.targets)
            continue
        if stmt in part.arms:
            stmt = forward_branch(plan, stmt, part.arms[stmt], state)
        stmts.append(stmt)
        save(stmt.targets)
    return stmts


def forward_branch(plan: LoopPlan, stmt: Stmt, arms: tuple[Part, Part], state: dict[Var, Var]) -> Stmt:
    """A branch whose arms may save."""
    blocks, ends = [], []
    for arm in arms:
        inner = dict(state)
        blocks.append(forward_part(plan, arm, inner))
        ends.append(inner)
    changed = [v for v in state if any(end[v] is not state[v] for end in ends)]
    outs = {v: fresh(state[v]) for v in changed}
    op = Branch(
        stmt.op.cond,
        *(
            Block(tuple(b), (*old.results, *(end[v] for v in changed)))
            for b, end, old in zip(blocks, ends, (stmt.op.then, stmt.op.orelse))
        ),
        "if" if changed else stmt.op.kind,
    )
    state.update(outs)
    return replace(stmt, targets=(*stmt.targets, *outs.values()), op=op)
