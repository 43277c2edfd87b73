"""Lets go of large arrays that nothing reads any more, where a function holds most at a time.

    L = np.linalg.cholesky(K)                   L = np.linalg.cholesky(K)
    inverse = inverse_lower(L)          ->      inverse = inverse_lower(L)
                                                del K, L
    d_K = inverse.T @ inverse                   d_K = inverse.T @ inverse

A name holds its array until it is bound again, also when nothing reads it any more.  It is dropped in front of the statement at which the
arrays that are held together with those that the statement makes are largest, if that saves enough of them.  Sizes are estimated by types,
since the text holds for all sizes.  Only names at the top level are dropped that are surely bound, that no text behind mentions
before it binds them again, and that no nested function reads.
"""

import ast
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from sourcead.ad.residuals.costs import TYPICAL, size
from sourcead.emit.memory.sharing import AliasGroups, call_sharing
from sourcead.emit.text.printing import Group
from sourcead.ir.nodes import Block, Build, Call, Function, Op, Pop, Stmt, Var
from sourcead.ir.types import Array, ListT
from sourcead.ir.walk import bound_vars, walk

LARGE = TYPICAL**2  # the estimated size from which on an array is worth a line: vectors are often short
SAVING = 0.13  # the share of the memory held that letting go of arrays must save
MOST_NAMES = 4
LONGEST = 300  # longer functions are left as they are
Memory = tuple[Var, bool]  # what may share memory: arrays, or the lists that hold them, which are larger


def let_go(
    function: Function, names: dict[Var, str], nested: dict[Var, Op], groups: list[Group], returned: list[ast.stmt]
) -> tuple[list[Group], float]:
    """Return the printed statements of a function with those that drop names, and the estimated size of what is held at most.

    Args:
        function: the function.
        names: the names of its variables.
        nested: the values that are printed inside other expressions.
        groups: its statements at the top level, each with what is printed for it.
        returned: what is printed for its results.
    """
    if not 2 <= len(groups) <= LONGEST or any(stmt.within for stmt, _ in groups):
        return groups, 0.0
    held = _Held(function, names, nested, groups, returned)
    amounts = held.amounts()
    enough = (1 - SAVING) * max(amounts)
    dropped = {at: names for at, amount in enumerate(amounts) if amount >= enough and (names := held.droppable(at))}
    after = {at: max(held.amounts(at, names)) for at, names in dropped.items()}
    at = min(dropped, key=after.__getitem__, default=None)
    if at is None or after[at] > enough:
        return groups, max(*amounts, held.at_return())
    stmt, nodes = groups[at]
    drop = ast.Delete([ast.Name(name, ast.Del()) for name in dropped[at]])
    return [*groups[:at], (stmt, [drop, *nodes]), *groups[at + 1 :]], max(after[at], held.at_return(at, dropped[at]))


@dataclass
class _Held:
    """What the names of a function hold at each of its statements but the one that returns its results, which are seldom the largest.

    Attributes:
        kept: for each statement, the variables that names hold while it runs.
        made: for each statement, the estimated size of what it makes beside what names hold afterwards.
        read: for each statement, the names that it mentions other than by binding them anew.
        bound: for each statement, the names that it surely binds.
        emptied: the lists from which items are taken, each with the last statement that does so.
    """

    function: Function
    names: dict[Var, str]
    nested: dict[Var, Op]
    groups: list[Group]
    returned: list[ast.stmt]
    kept: list[dict[str, Var]] = field(default_factory=list)
    made: list[float] = field(default_factory=list)

    def __post_init__(self):
        body = self.function.body
        self.memory = AliasGroups(body)
        self.built = {stmt.targets[0]: stmt.op for stmt in body.stmts if isinstance(stmt.op, Build)}
        self.sizes: dict[Memory, float] = {}
        params = {self.memory.find(p) for p in self.function.params}
        pops = ((k, s.op.base) for k, (stmt, _) in enumerate(self.groups) for s in walk(Block((stmt,))) if isinstance(s.op, Pop))
        self.emptied = {(self.memory.find(base), True): k for k, base in pops}
        for stmt in walk(body):
            for v in stmt.targets:
                root = self.root(v)
                counts = isinstance(v.type, ListT) or isinstance(v.type, Array) and _makes_memory(stmt.op)
                if counts and root[0] not in params and v not in self.nested:
                    self.sizes[root] = max(self.sizes.get(root, 0.0), size(v.type))
        texts = [nodes for _, nodes in self.groups] + [self.returned]
        self.read = [set().union(*map(_mentioned, nodes)) for nodes in texts]
        self.captured = {n.id for f in _inside(texts, (ast.FunctionDef, ast.Lambda)) for n in ast.walk(f) if isinstance(n, ast.Name)}
        self.bound = [{n.id for node in nodes for n in _bindings(node)} for nodes in texts]
        now: dict[str, Var] = {}
        for stmt, _ in self.groups:
            inside = dict(now)
            for s in walk(Block((stmt,))):
                for v in (*bound_vars(s.op), *s.targets):
                    if v in self.names and v not in self.nested:
                        inside[self.names[v]] = v
            self.kept.append(inside)
            self.made.append(max(map(self.transient, walk(Block((stmt,)))), default=0.0))
            now = inside

    def root(self, v: Var) -> Memory:
        return self.memory.find(v), isinstance(v.type, ListT)

    def transient(self, stmt: Stmt) -> float:
        """Estimate the size of the largest array that a statement makes for its own use."""
        todo, largest = list(stmt.op.reads), 0.0
        while todo:
            v = todo.pop()
            op = self.nested.get(v)
            if op is not None:
                todo += op.reads
                if isinstance(op, Call) and isinstance(v.type, Array) and call_sharing(op) == "fresh":
                    largest = max(largest, size(v.type))
        return largest

    def amounts(self, at: int = 0, dropped: Collection[str] = ()) -> list[float]:
        """Estimate what is held at each statement, if names are dropped before one of them."""
        out, gone = [], set()
        for k, kept in enumerate(self.kept):
            gone = (gone | {*dropped} if k == at else gone) - self.bound[k]
            roots = {self.root(v) for name, v in kept.items() if name not in gone}
            out.append(sum(self.sizes.get(root, 0.0) for root in roots if self.emptied.get(root, k) >= k) + self.made[k])
        return out

    def at_return(self, at: int = 0, dropped: Collection[str] = ()) -> float:
        """Estimate what is held where the results are returned, if names are dropped before a statement."""
        gone = {*dropped} - set().union(*self.bound[at:])
        held = sum(self.sizes.get(root, 0.0) for root in {self.root(v) for name, v in self.kept[-1].items() if name not in gone})
        results = [*self.function.body.results]
        for v in results:
            results += self.built[v].items if v in self.built else ()
        return held + sum(size(v.type) for v in results if v in self.nested and isinstance(v.type, Array))

    def droppable(self, at: int) -> list[str]:
        """Return the names of large arrays that nothing reads from a statement on, those first whose memory has no other name."""
        bound = set().union(*self.bound[:at])
        found: dict[Memory, list[str]] = {}
        for name, v in self.kept[at - 1].items() if at else ():
            if name in bound:
                found.setdefault(self.root(v), []).append(name)
        dead = {root: names for root, names in found.items() if root not in self.emptied and all(self.is_dead(n, at) for n in names)}
        least = max(LARGE, max((self.sizes.get(root, 0.0) for root in dead), default=0.0) / TYPICAL)
        out: list[str] = []
        for root in sorted((r for r in dead if self.sizes.get(r, 0.0) > least / 2), key=lambda r: (len(dead[r]), -self.sizes[r])):
            out += dead[root] if len(out) + len(dead[root]) <= MOST_NAMES else []
        return out

    def is_dead(self, name: str, at: int) -> bool:
        """Return whether nothing reads what a name holds from a statement on."""
        for k in range(at, len(self.read)):
            if name in self.read[k] or name in self.captured:
                return False
            if name in self.bound[k]:
                return True
        return True


def _makes_memory(op: Op) -> bool:
    """Return whether the result of an op surely has memory of its own, or shows all of another array: other views show a part."""
    shows_all = isinstance(op, Call) and op.fn is np.reshape  # whose dims may say more than those of what was reshaped
    return shows_all or isinstance(op, Build) or isinstance(op, Call) and op.into is None and call_sharing(op) in ("fresh", "shallow")


def _bindings(node: ast.stmt) -> list[ast.Name]:
    """Return the names that a statement binds whenever it runs."""
    if not isinstance(node, ast.Assign):
        return []
    targets = [t for target in node.targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [t for t in targets if isinstance(t, ast.Name)]


def _mentioned(node: ast.stmt) -> set[str]:
    """Return the names that a statement mentions other than by binding them whenever it runs."""
    bound = set(map(id, _bindings(node)))
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in bound}


def _inside(texts: list[list[ast.stmt]], kinds: tuple[type[ast.AST], ...]) -> list[ast.AST]:
    return [n for nodes in texts for node in nodes for n in ast.walk(node) if isinstance(n, kinds)]
