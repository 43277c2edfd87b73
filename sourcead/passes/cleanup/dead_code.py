"""Dead code elimination: statements, loop variants and results of branches on which no result and no effect depends.

    y = sin(x);  return x                                              return x
    r, s = loop (p = a, q = b) ...: ...; yield p1, q1;  return r       r = loop (p = a) ...: ...; yield p1;  return r

This is legal for whatever the results of the function and its effects do not reach when they are followed backward.  Results of branches
and loop variants are followed one by one, so that a variant on which only itself depends is removed, and a list that is never read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sourcead.ir.nodes import (
    AdjointBlock, Atom, Block, Branch, Call, Closure, Effect, Function, Loop, Op, Range, Stmt, Var
)
from sourcead.ir.walk import op_blocks
from sourcead.passes.peephole import with_body


def remove_dead(function: Function) -> Function:
    """Return the function without statements, loop variants and branch results that nothing depends on."""
    marks = _Marks()
    marks.survey(function.body, None)
    for result in function.body.results:
        marks.need(result)
    marks.run()
    return with_body(function, _kept(function.body, range(len(function.body.results)), marks))


def needed_variants(loop: Stmt, variables: Iterable[Var]) -> tuple[list[int], set[Var]]:
    """Return the numbers of the loop variants that `variables` of the body depend on in any iteration, and all such variables."""
    marks = _Marks()
    marks.survey(Block((loop,), ()), None)
    for v in variables:
        marks.need(v)
    marks.run()
    return [k for k in range(len(loop.targets)) if (loop, k) in marks.results], marks.seen


@dataclass(eq=False)
class _Marks:
    """Collects the live statements and the live results of statements.

    Attributes:
        parents: the statement whose block holds a statement.
        makers: the statement that binds a variable, and its place among what that statement binds: for the results of a
            branch or loop and for the params of a loop, the number of the result.
        deferred: the effects inside a nested function, which happen only if it is called.
        statements, results: the live ones.  todo, seen: variables that are live, and whose statements are still to be marked.
    """

    parents: dict[Stmt, Stmt | None] = field(default_factory=dict)
    deferred: dict[Stmt, list[Stmt]] = field(default_factory=dict)
    makers: dict[Var, tuple[Stmt, int | None]] = field(default_factory=dict)
    statements: set[Stmt] = field(default_factory=set)
    results: set[tuple[Stmt, int]] = field(default_factory=set)
    todo: list[Atom] = field(default_factory=list)
    seen: set[Var] = field(default_factory=set)

    def survey(self, block: Block, parent: Stmt | None, closure: Stmt | None = None) -> None:
        """Record which statement binds each variable, and keep the effects."""
        for stmt in block.stmts:
            self.parents[stmt] = parent
            for k, target in enumerate(stmt.targets):
                self.makers[target] = stmt, k
            if isinstance(stmt.op, Loop):
                for k, param in enumerate(stmt.op.params):
                    self.makers[param] = stmt, k
                if stmt.op.index is not None:
                    self.makers[stmt.op.index] = stmt, None
            elif isinstance(stmt.op, (Closure, AdjointBlock)):
                for param in stmt.op.params:
                    self.makers[param] = stmt, None
            for inner in op_blocks(stmt.op):
                self.survey(inner, stmt, stmt if isinstance(stmt.op, Closure) else closure)
            if self.is_effect(stmt.op):
                if closure is None:
                    self.keep(stmt)
                else:
                    self.deferred.setdefault(closure, []).append(stmt)

    def is_effect(self, op: Op) -> bool:
        """Return whether an op has an effect of its own, without those of its blocks."""
        match op:
            case Effect():
                return True
            case Call(effect=effect):
                return effect
        return False

    def need(self, atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in self.seen:
            self.seen.add(atom)
            self.todo.append(atom)

    def run(self) -> None:
        while self.todo:
            stmt, k = self.makers.get(self.todo.pop(), (None, None))
            if stmt is None:
                continue  # a parameter of the function
            self.keep(stmt)
            if k is not None:
                self.need_result(stmt, k)

    def keep(self, stmt: Stmt | None) -> None:
        """Mark a statement as live, with the statements around it and the variables that it reads outside its blocks."""
        while stmt is not None and stmt not in self.statements:
            self.statements.add(stmt)
            op = stmt.op
            match op:
                case Loop(Range(start, stop, step)):
                    for atom in (start, stop, step):
                        self.need(atom)
                case Loop(Block() as condition):
                    for atom in condition.results:
                        self.need(atom)
                case Loop(domain):
                    self.need(domain)
                case _:
                    for atom in op.atoms:
                        self.need(atom)
            if isinstance(op, Loop) and op.policy is not None:
                self.need(op.policy.number)
            if isinstance(op, Loop) and op.leave is not None:
                self.need_result(stmt, op.params.index(op.leave))
            if isinstance(op, (Closure, AdjointBlock)):
                for atom in op.body.results:
                    self.need(atom)
                for effect in self.deferred.pop(stmt, ()):
                    self.keep(effect)
            stmt = self.parents[stmt]

    def need_result(self, stmt: Stmt, k: int) -> None:
        """Mark the k-th result of a statement with blocks as live."""
        if (stmt, k) in self.results:
            return
        self.results.add((stmt, k))
        match stmt.op:
            case Branch(_, then, orelse):
                self.need(then.results[k])
                self.need(orelse.results[k])
            case Loop(_, _, params, inits, body):
                for atom in (params[k], inits[k], body.results[k]):
                    self.need(atom)


def _kept(block: Block, keep, marks: _Marks) -> Block:
    """Return the block with its live statements and those of its results whose numbers are in `keep`."""
    stmts = tuple(_trimmed(s, marks) for s in block.stmts if s in marks.statements)
    results = tuple(block.results[k] for k in keep)
    if len(results) == len(block.results) and len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts)):
        return block
    return Block(stmts, results)


def _trimmed(stmt: Stmt, marks: _Marks) -> Stmt:
    """Return a live statement without its dead results and without the dead statements in its blocks."""
    op = stmt.op
    if not op_blocks(op):
        return stmt
    if isinstance(op, (Closure, AdjointBlock)):
        body = _kept(op.body, range(len(op.body.results)), marks)
        return stmt if body is op.body else replace(stmt, op=replace(op, body=body))
    live = [k for k in range(len(stmt.targets)) if (stmt, k) in marks.results]

    def pick(items: tuple) -> tuple:
        return tuple(items[k] for k in live)

    blocks = {b: _kept(b, live if b is not getattr(op, "domain", None) else (0,), marks) for b in op_blocks(op)}
    if len(live) == len(stmt.targets) and all(new is old for old, new in blocks.items()):
        return stmt
    match op:
        case Branch(cond, then, orelse, kind):
            op = Branch(cond, blocks[then], blocks[orelse], kind if live else "if")
        case Loop(domain, _, params, inits, body):
            op = replace(op, domain=blocks.get(domain, domain), params=pick(params), inits=pick(inits), body=blocks[body])
    return replace(stmt, targets=pick(stmt.targets), op=op)
