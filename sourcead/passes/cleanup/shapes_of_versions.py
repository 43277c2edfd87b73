"""The shape of an array is that of every version of it.

    a1 = a0 with [i] = v;  n = a1.shape[0]        n = a0.shape[0]

so that what a loop asks of an array that it writes does not depend on the iteration.  Before the text is written, each
question goes back to the version that is current where it stands, so that no old version is kept alive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead.analysis.versions import Chains
from sourcead.ir.nodes import Atom, Attr, Block, Call, Function, Loop, Update, Var
from sourcead.ir.types import Array
from sourcead.ir.walk import bound_vars, map_op, op_blocks

ASKED = ("shape", "size", "ndim", "dtype")
ASKING = (len, np.zeros_like, np.empty_like)


def query_first_versions(function: Function) -> Function:
    """The function with questions about shape and dtype put to the first version of each array."""
    chains = Chains(function.body)
    first: dict[Var, Atom] = {}
    changed = False

    def origin(var: Atom) -> Atom:
        while var in first:
            var = first[var]
        return var

    def visit(block: Block) -> Block:
        nonlocal changed
        stmts = []
        for stmt in block.stmts:
            op = stmt.op
            match op:
                case Update(base) if isinstance(stmt.targets[0].type, Array):
                    first[stmt.targets[0]] = base
                case Loop(_, _, params, inits):
                    for k in chains.carried_by(stmt).values():
                        if isinstance(params[k].type, Array):
                            first[params[k]] = first[stmt.targets[k]] = inits[k]
                case Attr(base, name) if name in ASKED and base in first and known(origin(base)):
                    op, changed = replace(op, base=origin(base)), True
                case Call(fn, (base,), ()) if fn in ASKING and base in first and known(origin(base)):
                    op, changed = replace(op, args=(origin(base),)), True
            if op_blocks(op):
                op = map_op(op, lambda a: a, visit)
            stmts.append(stmt if op is stmt.op else replace(stmt, op=op))
        return Block(tuple(stmts), block.results)

    body = visit(function.body)
    return replace(function, body=body) if changed else function


def known(atom: Atom) -> bool:
    """Whether the first version is surely an array, and one that can be asked."""
    return isinstance(atom, Var) and isinstance(atom.type, Array)


def query_current_versions(function: Function) -> Function:
    """The function with questions about shape and dtype put to the latest version of each array."""
    chains = Chains(function.body)
    changed = False

    def visit(block: Block, current: dict[Var, Var]) -> Block:
        nonlocal changed
        stmts = []

        def latest(var: Atom) -> Atom:
            return current.get(chains.find(var), var)

        for stmt in block.stmts:
            op = stmt.op
            match op:
                case Attr(base, name) if name in ASKED and known(base) and latest(base) is not base:
                    op, changed = replace(op, base=latest(base)), True
                case Call(fn, (base,), ()) if fn in ASKING and known(base) and latest(base) is not base:
                    op, changed = replace(op, args=(latest(base),)), True
            if op_blocks(op):
                inner = {chains.find(v): v for v in bound_vars(op) if chains.find(v) is not None}
                op = map_op(op, lambda a: a, lambda b, inner=inner: visit(b, {**current, **inner}))
            for t in stmt.targets:
                if chains.find(t) is not None:
                    current[chains.find(t)] = t
            stmts.append(stmt if op is stmt.op else replace(stmt, op=op))
        return Block(tuple(stmts), block.results)

    body = visit(function.body, {chains.find(p): p for p in function.params if chains.find(p) is not None})
    return replace(function, body=body) if changed else function
