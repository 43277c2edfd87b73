"""Finds the variables that may share memory at any time; coarser than `in_place_or_copy.py`, but enough to tell what a write changes."""

from __future__ import annotations

from sourcead.analysis.builder import operand_type
from sourcead.analysis.connected import UnionFind
from sourcead.emit.memory.sharing import attr_sharing, call_sharing, has_memory, index_sharing, is_container
from sourcead.ir.nodes import (
    Append, Attr, Block, Build, Call, Closure, Index, Let, Loop, Pop, Range, Update, Var, operand_atoms
)
from sourcead.ir.walk import bound_vars, free_vars, handed_on, walk


class AliasGroups(UnionFind):
    """The groups of variables that may share memory, found in one walk."""

    def __init__(self, block: Block):
        super().__init__()
        self.closures: set[Var] = set()
        self._walk(block)

    def has_memory(self, v: Var) -> bool:
        """Return whether a variable may be or reach memory that can be written."""
        return has_memory(v.type) or v in self.closures

    def _unite(self, *atoms) -> None:
        self.unite(*(a for a in atoms if isinstance(a, Var) and self.has_memory(a)))

    def _walk(self, block: Block) -> None:
        for stmt in walk(block):
            for group in handed_on(stmt):
                self._unite(*group)
            match stmt.op:
                case Call() as op:
                    if call_sharing(op) != "fresh":
                        self._unite(*stmt.targets, *op.reads)
                case Let() | Build() as op:
                    self._unite(stmt.targets[0], *op.reads)
                case Index() | Attr() as op:
                    sharing = index_sharing if isinstance(op, Index) else attr_sharing
                    if sharing(op, stmt.targets[0].type) != "fresh":
                        self._unite(stmt.targets[0], op.base)
                case Update(base, _, value) | Append(base, value):
                    stored = operand_atoms(value) if is_container(operand_type(base)) else ()
                    self._unite(stmt.targets[0], base, *stored)
                case Pop(base):
                    self._unite(*stmt.targets, base)
                case Loop() as op:
                    if not isinstance(op.domain, (Range, Block)):
                        self._unite(op.domain, *(v for v in bound_vars(op) if v not in op.params))
                case Closure(_, body):  # calling it reads what it captures
                    self.closures.update(stmt.targets)
                    self._unite(*stmt.targets, *free_vars(body))
