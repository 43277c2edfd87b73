"""Brings lists that grow, and copies of lists, to one form.

    items = list(x);  b = concat(a, items)                           b = a ++ [x]
    b = loop (c = list()) for i in range(len(a)): x = a[i];          a for b
            c1 = c ++ [x];  yield c1

This is legal because values are immutable; a list that is written while another version of it is read is copied when memory is assigned.
A list that is read elsewhere, too, is left as it is.  So a list that grows by an item in each iteration is not copied in each iteration,
neither by the function nor by its reverse sweep.
"""

import operator
from dataclasses import replace

from sourcead.analysis.loop_indices import counts_up
from sourcead.ir.nodes import Append, Build, Call, Function, Index, Loop, Op, Stmt, Var
from sourcead.ir.types import ListT
from sourcead.ir.walk import count_reads, definitions, rewrite, substitute
from sourcead.passes.cleanup.dead_code import remove_dead


def simplify_lists(function: Function) -> Function:
    """Return the function with one form for lists that grow by an item, and without loops that copy a list."""
    made = definitions(function.body)
    uses = count_reads(function.body)
    copies: dict[Var, Var] = {}

    def change(stmt: Stmt) -> list[Stmt]:
        match stmt.op:
            case Call(operator.concat, (Var(type=ListT(items=None)) as base, Var() as added), ()):
                items = made[added].op if added in made and uses[added] == uses[base] == 1 else None
                if isinstance(items, Build) and items.kind == "list" and len(items.items) == 1:
                    return [replace(stmt, op=Append(base, items.items[0]))]
            case Loop() as loop if (copied := _copied(loop, made)) is not None:
                copies[stmt.targets[0]] = copied
                return []
        return [stmt]

    body = rewrite(function.body, change)
    return function if body is function.body else remove_dead(replace(function, body=substitute(body, copies)))


def _copied(loop: Loop, made: dict[Var, Stmt]) -> Var | None:
    """Return the list whose items a loop appends to an empty list, one after the other, or None if it does anything else."""
    if len(loop.params) != 1 or not counts_up(loop) or len(loop.body.stmts) != 2:
        return None
    read, append = loop.body.stmts
    match _op(loop.inits[0], made), _op(loop.domain.stop, made), read.op, append.op:
        case (
            Build("list", (), residual=False), Call(fn, (Var(type=ListT()) as items,), ()), Index(base, key), Append(grows, value, (), None)
        ) if fn is len and base is items and key is loop.index:
            alike = grows is loop.params[0] and value in read.targets and loop.body.results == append.targets
            return items if alike else None
    return None


def _op(atom, made: dict[Var, Stmt]) -> Op | None:
    return made[atom].op if atom in made else None
