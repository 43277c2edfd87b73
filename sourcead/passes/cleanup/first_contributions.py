"""Puts what becomes a cotangent as it is into the reverse sweep, under the cotangent's name.

    s = sin(x)                      forward                           t = g(x)          forward
    t = g(x)                        forward                 ->        d_x = sin(x)      reverse
    d_x = s with [...] += v         reverse                           d_x1 = d_x with [...] += v

Legal because values are immutable here.  A value that something else reads keeps its name and place: the cotangent gets its name where it
begins.
"""

from dataclasses import replace

from sourcead.ir.nodes import Block, Call, Function, Loop, Stmt, Update, Var, fresh
from sourcead.ir.walk import count_reads, has_effect, is_cotangent, map_atoms, map_blocks, with_body


def begin_cotangents(function: Function) -> Function:
    """Return the function with the values of the forward sweep that only a cotangent begins with computed in the reverse sweep."""
    counts = count_reads(function.body)
    begun: dict[Var, Var] = {}
    body = _with_beginnings(function.body, counts, begun)
    return with_body(function, map_atoms(body, lambda a: begun.get(a, a), lambda v: begun.get(v, v))) if begun else function


def _with_beginnings(block: Block, counts: dict[Var, int], begun: dict[Var, Var]) -> Block:
    stmts = [map_blocks(stmt, lambda b: _with_beginnings(b, counts, begun)) for stmt in block.stmts]
    forward = {s.targets[0]: s for s in stmts if s.adjoint_of is None and len(s.targets) == 1 and not s.within and isinstance(s.op, Call)}
    for stmt in stmts[:]:
        for value, cotangent in _begins(stmt) if stmt.adjoint_of is not None else ():
            made = forward.get(value)
            if made is not None and counts[value] == 1 and is_cotangent(cotangent) and not has_effect(made.op):
                begun[value] = fresh(value, name=cotangent.name, temp=True)
                stmts.remove(made)
                stmts.insert(stmts.index(stmt), replace(made, adjoint_of=stmt.adjoint_of))
    changed = len(stmts) != len(block.stmts) or any(a is not b for a, b in zip(stmts, block.stmts))
    return Block(tuple(stmts), block.results) if changed else block


def _begins(stmt: Stmt):
    """Yield pairs of a value that a statement goes on with, and the variable that goes on."""
    match stmt.op:
        case Update(base):
            yield base, stmt.targets[0]
        case Loop(_, _, params, inits):
            yield from zip(inits, params)
