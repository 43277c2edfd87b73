"""Lets go of large arrays that nothing reads any more, where a function holds most at a time.

    L = np.linalg.cholesky(K)                   L = np.linalg.cholesky(K)
    inverse = inverse_lower(L)          ->      inverse = inverse_lower(L)
                                                del K, L
    d_K = inverse.T @ inverse                   d_K = inverse.T @ inverse

A name holds its array until it is bound again, also when nothing reads it any more.  It is dropped in front of the statement at which the
arrays that are held together with those that the statement makes are largest, if they are smaller by a tenth then.  Sizes are estimated by
types, since the text holds for all sizes.  Only names at the top level are dropped that are surely bound, that no text behind mentions
before it binds them again, and that no nested function reads.
"""

import ast
from dataclasses import dataclass, field

from sourcead.ad.residuals.costs import TYPICAL, size
from sourcead.emit.memory.sharing import AliasGroups, call_sharing
from sourcead.emit.text.printing import Group
from sourcead.ir.nodes import Build, Call, Function, Op, Stmt, Var
from sourcead.ir.types import Array, ListT
from sourcead.ir.walk import bound_vars, walk

LARGE = TYPICAL**2  # the estimated size from which on an array is worth a line: vectors are often short
SAVING = 0.13  # the share of the memory held that letting go of arrays must save
MOST_LINES, MOST_NAMES = 1, 4
LONGEST = 300  # longer functions are left as they are
Drops = dict[int, list[str]]  # for statements, the names that are dropped in front of each


def let_go(function: Function, names: dict[Var, str], nested: dict[Var, Op], groups: list[Group], returned: list[ast.stmt]) -> list[Group]:
    """Return the printed statements of a function with those that drop names.

    Args:
        function: the function.
        names: the names of its variables.
        nested: the values that are printed inside other expressions.
        groups: its statements at the top level, each with what is printed for it.
        returned: what is printed for its results.
    """
    if not 2 <= len(groups) <= LONGEST or any(stmt.within for stmt, _ in groups):
        return groups
    held = _Held(function, names, nested, groups, returned)
    drops: Drops = {}
    for _ in range(MOST_LINES):
        amounts = held.amounts(drops)
        enough = (1 - SAVING) * max(amounts)
        ways = [held.dropped(at, drops) for at, amount in enumerate(amounts) if amount > enough]
        best = min(ways, key=lambda way: max(held.amounts(way)), default=drops)
        if max(held.amounts(best)) > enough:
            break
        drops = best
    statements = {at: ast.Delete([ast.Name(name, ast.Del()) for name in dropped]) for at, dropped in drops.items()}
    return [(stmt, [statements[at], *nodes] if at in statements else nodes) for at, (stmt, nodes) in enumerate(groups)]


@dataclass
class _Held:
    """What the names of a function hold at each of its statements but the one that returns its results, which are seldom the largest.

    Attributes:
        kept: for each statement, the variables that names hold while it runs.
        made: for each statement, the estimated size of what it makes beside what names hold afterwards.
        read: for each statement, the names that it mentions other than by binding them anew.
        bound: for each statement, the names that it surely binds.
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
        self.sizes: dict[Var, float] = {}
        params = {self.memory.find(p) for p in self.function.params}
        for v in {v for s in walk(body) if _makes_memory(s.op) for v in s.targets if isinstance(v.type, (Array, ListT))}:
            root = self.memory.find(v)
            if root not in params and v not in self.nested:
                self.sizes[root] = max(self.sizes.get(root, 0.0), size(v.type))
        texts = [nodes for _, nodes in self.groups] + [self.returned]
        self.read = [set().union(*map(_mentioned, nodes)) for nodes in texts]
        self.captured = {n.id for f in _inside(texts, ast.FunctionDef) for n in ast.walk(f) if isinstance(n, ast.Name)}
        self.bound = [{n.id for node in nodes for n in _bindings(node)} for nodes in texts]
        now: dict[str, Var] = {}
        for stmt, _ in self.groups:
            inside = dict(now)
            for s in walk(type(body)((stmt,))):
                for v in (*bound_vars(s.op), *s.targets):
                    if v in self.names and v not in self.nested:
                        inside[self.names[v]] = v
            self.kept.append(inside)
            self.made.append(max(map(self.transient, walk(type(body)((stmt,)))), default=0.0))
            now = inside

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

    def amounts(self, drops: Drops) -> list[float]:
        """Estimate what is held at each statement, if names are dropped before some of them."""
        out, gone = [], set()
        for k, kept in enumerate(self.kept):
            gone = (gone | {*drops.get(k, ())}) - self.bound[k]
            roots = {self.memory.find(v) for name, v in kept.items() if name not in gone}
            out.append(sum(self.sizes.get(root, 0.0) for root in roots) + self.made[k])
        return out

    def dropped(self, at: int, drops: Drops) -> Drops:
        """Return what is dropped if the names of large arrays that nothing reads from a statement on are dropped there, not later."""
        drops = {k: [*names] for k, names in drops.items()}
        more = [name for name in self.droppable(at, drops) if name not in drops.get(at, ())]
        drops[at] = [*drops.get(at, ()), *more]
        still = set(more)
        for k in range(at, len(self.groups)):
            still -= self.bound[k]
            drops[k + 1] = [name for name in drops.get(k + 1, ()) if name not in still]
        return {k: names for k, names in drops.items() if names}

    def droppable(self, at: int, drops: Drops) -> list[str]:
        """Return the names of large arrays that nothing reads from a statement on, those first whose memory has no other name."""
        bound: set[str] = set()
        for k in range(min(at, len(self.groups))):
            bound = (bound - {*drops.get(k, ())}) | self.bound[k]
        held = {name: self.memory.find(v) for name, v in self.kept[at - 1].items() if name in bound} if at else {}
        found: dict[Var, list[str]] = {}
        for name, root in held.items():
            found.setdefault(root, []).append(name)
        large = {root: names for root, names in found.items() if self.sizes.get(root, 0.0) >= LARGE}
        dead = {root: names for root, names in large.items() if all(self.is_dead(name, at) for name in names)}
        out: list[str] = []
        for root in sorted(dead, key=lambda root: (len(dead[root]), -self.sizes[root])):
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
    """Return whether the result of an op surely has memory of its own: views may be larger than what they show."""
    return isinstance(op, Build) or isinstance(op, Call) and op.into is None and call_sharing(op) in ("fresh", "shallow")


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


def _inside(texts: list[list[ast.stmt]], kind: type[ast.AST]) -> list[ast.AST]:
    return [n for nodes in texts for node in nodes for n in ast.walk(node) if isinstance(n, kind)]
