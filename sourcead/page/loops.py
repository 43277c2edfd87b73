"""The loops of a generated text: what each carries forward and back, and what it keeps for its reverse."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sourcead.ad.residuals.notes import amount, bytes_of, described
from sourcead.ir.dims import with_dims
from sourcead.ir.nodes import Append, Loop, Pop, Stmt, Update, Var
from sourcead.ir.types import Sym
from sourcead.ir.walk import handed_on, is_cotangent, walk
from sourcead.page.relation import Relation


@dataclass(frozen=True)
class Value:
    """A value that a loop carries or keeps: its name, its type as text, its bytes, and how often it was kept in the run."""

    name: str
    type: str
    bytes: int | None
    times: int | None = None

    @property
    def size(self) -> str:
        """Its bytes as text, as far as they are known."""
        if self.bytes is None or self.times is None:
            return "" if self.bytes is None else amount(self.bytes)
        return f"{self.times:,} × {amount(self.bytes)} = {amount(self.times * self.bytes)}"


@dataclass
class LoopFacts:
    """A loop of the forward sweep.

    Attributes:
        unit: the unit of the user's program that it comes from.
        line: its line in the generated text.
        depth: how many loops are around it.
        runs: how many iterations ran in all, None if that was not measured.
        forward, back, kept: what it carries forward, what its reverse carries back, and what it keeps.
    """

    unit: int | None
    line: int
    depth: int
    runs: int | None
    forward: list[Value]
    back: list[Value] = field(default_factory=list)
    kept: list[Value] = field(default_factory=list)


def loops_of(relation: Relation, numbers: Mapping[Sym, int], runs: Callable[[int], int | None]) -> list[LoopFacts]:
    """Return the loops of the forward sweep.

    Args:
        relation: the generated text, and what it comes from.
        numbers: the sizes of symbolic dims.
        runs: returns how often a line of the text ran.
    """
    found: list[tuple[list, LoopFacts]] = []
    for node, around in _loops(ast.parse(relation.program.text)):
        stmt = relation.statements.get(node.lineno)
        if stmt is None or not isinstance(stmt.op, Loop) or stmt.place is None:
            continue
        stores = _stores(stmt)
        variants = sorted((v for v in stmt.op.params if v not in stores), key=lambda v: (not is_cotangent(v), v.name))
        values = {v.name: value_of(v, numbers) for v in variants}
        calls = [(at.file, at.line) for at in stmt.place.chain()]
        if relation.role(stmt, node.lineno) == "forward":
            kept = [value for line in _own_lines(node) for value in kept_in(relation, line, numbers, runs)]
            units, _ = relation.related(stmt)
            first = LoopFacts(units[0] if units else None, node.lineno, around, _iterations(node, runs), list(values.values()), kept=kept)
            found.append((calls, first))
        elif stmt.adjoint_of is not None:
            for other, facts in found:
                if other == calls:
                    facts.back += [v for name, v in values.items() if name not in {b.name for b in facts.back}]
    return [facts for _, facts in found]


def kept_in(relation: Relation, line: int, numbers: Mapping[Sym, int], runs: Callable[[int], int | None]) -> list[Value]:
    """Return what a line of the text saves."""
    stmt = relation.statements.get(line)
    begins = stmt is not None and stmt is not relation.statements.get(line - 1)  # it may go on over several lines
    return [value_of(v, numbers, runs(line)) for v in relation.saved(stmt)] if begins and stmt.saves else []


def value_of(v: Var, numbers: Mapping[Sym, int], times: int | None = None) -> Value:
    """Return a variable as it is shown."""
    t = with_dims(v.type, numbers)
    return Value(v.name, described(t), bytes_of(t), times)


def _loops(node: ast.AST, depth: int = 0) -> Iterator[tuple[ast.For | ast.While, int]]:
    """Yield the loops inside a node, in order, and how many are around each."""
    for child in ast.iter_child_nodes(node):
        is_loop = isinstance(child, ast.For | ast.While)
        if is_loop:
            yield child, depth
        yield from _loops(child, depth + is_loop)


def _iterations(loop: ast.For | ast.While, runs: Callable[[int], int | None]) -> int | None:
    """Return how many iterations of a loop ran: as often as a statement of its body that is no loop, whose head runs more often."""
    plain = next((stmt for stmt in loop.body if not isinstance(stmt, ast.For | ast.While)), None)
    if plain is not None or runs(loop.lineno) is None:
        return runs(loop.lineno if plain is None else plain.lineno)
    return runs(loop.body[0].lineno) - _iterations(loop.body[0], runs)


def _own_lines(loop: ast.AST) -> Iterator[int]:
    """Yield the lines of the statements of a loop, without those of loops inside."""
    for child in ast.iter_child_nodes(loop):
        if isinstance(child, ast.stmt) and not isinstance(child, ast.For | ast.While):
            yield child.lineno
            yield from _own_lines(child)


def _stores(stmt: Stmt) -> set[Var]:
    """Return the variables of a loop that hold the lists and arrays that keep residuals."""
    inside = list(walk(stmt.op.body))
    ends = [s for s in inside if isinstance(s.op, Append | Update) and s.saves or isinstance(s.op, Pop) and s.adjoint_of is not None]
    found = {v for s in ends for v in (s.op.base, s.targets[0]) if isinstance(v, Var) and not is_cotangent(v)}
    groups = [set(group) for s in (*inside, stmt) for group in handed_on(s)]
    while True:
        more = {a for group in groups if group & found for a in group if isinstance(a, Var)}
        if more <= found:
            return found
        found |= more
