"""Finds the variables that may share memory at any time; coarser than `in_place_or_copy.py`, but enough to tell what a write changes."""

from __future__ import annotations

from sourcead.analysis.builder import operand_type
from sourcead.emit.memory.sharing import attr_sharing, call_sharing, has_memory, index_sharing, is_container
from sourcead.ir.nodes import (
    Append, Attr, Block, Branch, Build, Call, Closure, Index, Let, Loop, Pop, Range, Update, Var, operand_atoms
)
from sourcead.ir.walk import bound_vars, free_vars, op_blocks, op_reads


class AliasGroups:
    """The groups of variables that may share memory: a union-find that is filled in one walk."""

    def __init__(self, block: Block):
        self._root: dict[Var, Var] = {}
        self.closures: set[Var] = set()
        self._walk(block)

    def find(self, v: Var) -> Var:
        while (up := self._root.get(v, v)) is not v:
            self._root[v] = v = self._root.get(up, up)
        return v

    def has_memory(self, v: Var) -> bool:
        """Return whether a variable may be or reach memory that can be written."""
        return has_memory(v.type) or v in self.closures

    def _unite(self, *atoms) -> None:
        variables = [a for a in atoms if isinstance(a, Var) and self.has_memory(a)]
        for v in variables[1:]:
            self._root[self.find(v)] = self.find(variables[0])

    def _walk(self, block: Block) -> None:
        for stmt in block.stmts:
            match stmt.op:
                case Call() as op:
                    if isinstance(op.fn, Var) or call_sharing(op) != "fresh":
                        self._unite(*stmt.targets, *op_reads(op))
                case Let(value):
                    self._unite(stmt.targets[0], *operand_atoms(value))
                case Index() as op:
                    if index_sharing(op, stmt.targets[0].type) != "fresh":
                        self._unite(stmt.targets[0], op.base)
                case Attr() as op:
                    if attr_sharing(op, stmt.targets[0].type) != "fresh":
                        self._unite(stmt.targets[0], op.base)
                case Update(base, _, value):
                    self._unite(
                        stmt.targets[0], base, *(operand_atoms(value) if is_container(operand_type(base)) else ())
                    )
                case Append(base, value):
                    self._unite(stmt.targets[0], base, *operand_atoms(value))
                case Pop(base):
                    self._unite(*stmt.targets, base)
                case Build(_, items):
                    self._unite(stmt.targets[0], *items)
                case Loop() as op:
                    for group in zip(op.params, op.inits, op.body.results, stmt.targets):
                        self._unite(*group)
                    if not isinstance(op.domain, (Range, Block)):
                        self._unite(op.domain, *(v for v in bound_vars(op) if v not in op.params))
                case Branch(_, then, orelse):
                    for group in zip(stmt.targets, then.results, orelse.results):
                        self._unite(*group)
                case Closure(_, body):  # calling it reads what it captures
                    self.closures.update(stmt.targets)
                    self._unite(*stmt.targets, *free_vars(body))
            for inner in op_blocks(stmt.op):
                self._walk(inner)
