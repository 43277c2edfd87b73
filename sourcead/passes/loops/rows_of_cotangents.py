"""Reads and writes the rows of cotangents where they are.

    l0 = list(x)                                           loop for i in reversed(range(n)):
    loop (l = l0) for i in reversed(range(n)):                 v = x[i]
        l1, v = pop l;  ... v ...;  yield l1                   ... v ...

    d0 = empty_like(x)                                     loop (d = x) for i in reversed(range(n)):
    loop (d = d0) for i in reversed(range(n)):                 v = d[i];  ... v ...
        v = x[i];  ... v ...                                   d1 = d with [i] = w;  yield d1
        d1 = d with [i] = w;  yield d1

`index_popped_rows`: an array of cotangents is made a list of its rows for a list that the program stacks.  Its rows are read by the index
of the loop if this pops one of them in each iteration, and they are as many.

`write_over_rows`: an array of which a loop reads a row in each iteration for the last time takes what the loop writes into the same row of
another array, which is not made then.  This is legal if nothing else reads the array, which must be one that the function has made, not a
part of another, and if the shapes and dtypes of both are the same.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.array_versions import queried
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counting
from sourcead.analysis.sizes import dims_in
from sourcead.ir.nodes import Block, Call, Const, Function, Index, Loop, Pop, Range, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import Array
from sourcead.ir.walk import (
    count_reads, definitions, has, map_atoms, reads_inside, rewrite, substitute, walk, with_body
)
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.equality import equal_types
from sourcead.primitives.table import record_of

EMPTY = (np.empty, np.empty_like)


# ---- rows that are popped ----


def index_popped_rows(function: Function) -> Function:
    """Return the function with rows of arrays read by an index where they were popped off lists of the rows."""
    if not has(function.body, Pop):
        return function
    made, uses = definitions(function.body), count_reads(function.body)
    counting = Counting(made)
    users = {v.name for v in (*function.params, *made) if not v.temp}
    names: dict[Var, Var] = {}

    def change(stmt: Stmt) -> list[Stmt]:
        if not isinstance(stmt.op, Loop):
            return [stmt]
        found = {k: one for k in range(len(stmt.op.params)) if (one := _popped(stmt, k, made, uses, counting)) is not None}
        if not found:
            return [stmt]
        before, stmt = _counting_down(stmt, counting)
        reads = {pop: replace(pop, targets=pop.targets[1:], op=Index(array, stmt.op.index)) for pop, array in found.values()}
        for k, (_, array) in found.items():
            if array.temp and array.name.removeprefix("d_") not in users:
                names[array] = fresh(array, name=stmt.op.params[k].name)
        loop = stmt.op
        kept = [k for k in range(len(loop.params)) if k not in found]
        params, inits, results, targets = (
            tuple(items[k] for k in kept) for items in (loop.params, loop.inits, loop.body.results, stmt.targets)
        )
        body = Block(tuple(reads.get(s, s) for s in loop.body.stmts), results)
        return [*before, replace(stmt, targets=targets, op=replace(loop, params=params, inits=inits, body=body))]

    body = rewrite(function.body, change)
    if body is function.body:
        return function
    return remove_dead(with_body(function, map_atoms(body, lambda a: names.get(a, a), lambda v: names.get(v, v)) if names else body))


def _popped(stmt: Stmt, k: int, made: dict[Var, Stmt], uses: dict[Var, int], counting: Counting) -> tuple[Stmt, Var] | None:
    """Return the statement that pops a row of an array off the list of its rows in each iteration, and the array; None if none does."""
    loop, init, param = stmt.op, stmt.op.inits[k], stmt.op.params[k]
    listed, counted = made.get(init), counting.of(loop)
    if counted is None or counted.first != 0 or number(loop.domain.step) == 1 and uses.get(loop.index):
        return None
    match listed and listed.op:
        case Call(fn, (Var(type=Array()) as array,), ()) if fn is list and dims_in(array):
            pass
        case _:
            return None
    of = made.get(array)
    if of is None or isinstance(of.op, Call) and of.op.fn is np.full or dims_in(array)[0] != counted.rows:
        return None
    for pop in loop.body.stmts:
        match pop:
            case Stmt((rest, _), Pop(base, (), None)) if base is param:
                alone = uses.get(init) == uses.get(param) == uses.get(rest) == 1 and not uses.get(stmt.targets[k])
                return (pop, array) if alone and loop.body.results[k] is rest else None
    return None


def _counting_down(stmt: Stmt, counting: Counting) -> tuple[list[Stmt], Stmt]:
    """Return the loop with an index that counts down and has a name, behind the statements that this needs."""
    loop = stmt.op
    if number(loop.domain.step) == -1 and loop.index.name != "_":
        return [], stmt
    counted, build = counting.of(loop), Builder().at(stmt)
    index = fresh(loop.index, name="i") if loop.index.name == "_" else loop.index
    domain = loop.domain
    if number(domain.step) == 1:
        domain = Range(build.call(operator.sub, counted.write_count(build, counting), Const(1)), Const(-1), Const(-1))
    body = substitute(loop.body, {loop.index: index})
    return build.stmts, replace(stmt, op=replace(loop, domain=domain, index=index, body=body))


# ---- rows that are written ----


def write_over_rows(function: Function) -> Function:
    """Return the function with rows written where the same loop reads them for the last time."""
    if not has(function.body, Loop) or not any(isinstance(s.op, Call) and s.op.fn in EMPTY for s in walk(function.body)):
        return function
    made, uses = definitions(function.body), count_reads(function.body)
    over: dict[Var, Var] = {}
    reads: dict[Var, Var] = {}
    gone: dict[Var, Var] = {}
    names: dict[Var, Var] = {}
    for block in [function.body, *(b for s in walk(function.body) for b in s.op.blocks)]:
        for stmt in block.stmts:
            for k, param in enumerate(stmt.op.params if isinstance(stmt.op, Loop) else ()):
                array = _overwritten(stmt, k, block, made, uses)
                if array is None or array in over.values():
                    continue
                over[param], gone[stmt.op.inits[k]] = array, array
                reads.update({s.targets[0]: param for s in stmt.op.body.stmts if isinstance(s.op, Index) and s.op.base is array})
                names.update({v: fresh(v, name=array.name) for v in (param, stmt.op.body.results[k], stmt.targets[k])})
    if not over:
        return function

    def change(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt.op, Loop) and any(p in over for p in stmt.op.params):
            inits = tuple(over.get(p, init) for p, init in zip(stmt.op.params, stmt.op.inits))
            return [replace(stmt, op=replace(stmt.op, inits=inits))]
        if len(stmt.targets) == 1 and stmt.targets[0] in reads:
            return [replace(stmt, op=replace(stmt.op, base=reads[stmt.targets[0]]))]
        return [] if len(stmt.targets) == 1 and stmt.targets[0] in gone else [stmt]

    body = substitute(rewrite(function.body, change), gone)
    return with_body(function, map_atoms(body, lambda a: names.get(a, a), lambda v: names.get(v, v)))


def _overwritten(stmt: Stmt, k: int, block: Block, made: dict[Var, Stmt], uses: dict[Var, int]) -> Var | None:
    """Return the array whose rows a loop reads for the last time before it writes those of its k-th variant; None if there is none."""
    loop, init, param, result = stmt.op, stmt.op.inits[k], stmt.op.params[k], stmt.op.body.results[k]
    empty, write = made.get(init), made.get(result)
    if empty is None or empty not in block.stmts or not isinstance(empty.op, Call) or empty.op.fn not in EMPTY:
        return None
    if write not in loop.body.stmts or uses.get(param) != 1 or uses.get(result) != 1 or not isinstance(loop.domain, Range):
        return None
    match write.op:
        case Update(base, (Sub(key),), value, "set") if base is param and key is loop.index:
            pass
        case _:
            return None
    behind = block.stmts[block.stmts.index(stmt) + 1 :]
    asked = sum(queried(s.op) is init for b in behind for s in (b, *(t for inner in b.op.blocks for t in walk(inner))))
    if uses.get(init) != 1 + asked:
        return None
    before = loop.body.stmts[: loop.body.stmts.index(write)]
    for read in before:
        match read.op:
            case Index(Var() as array, key) if key is loop.index and read.targets[0] is not value and _is_own(array, block, made):
                items = {s.targets[0] for s in before if isinstance(s.op, Index) and s.op.base is array and s.op.key is loop.index}
                used = sum(v in items for s in before for v in reads_inside(s.op))
                if uses.get(array) == len(items) and used == sum(uses.get(v, 0) for v in items) and equal_types(array.type, init.type):
                    return array
    return None


def _is_own(array: Var, block: Block, made: dict[Var, Stmt]) -> bool:
    """Return whether an array is a cotangent that a statement of a block has made."""
    stmt = made.get(array)
    if stmt not in block.stmts or stmt.adjoint_of is None or not isinstance(stmt.op, Call) or isinstance(stmt.op.fn, Var):
        return False
    return isinstance(array.type, Array) and record_of(stmt.op.fn).memory in ("fresh", "operands")  # an operator makes arrays of arrays
