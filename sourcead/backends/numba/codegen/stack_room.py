"""The room that a nest of loops needs on a stack of numbers, which is counted before the nest where its bounds allow it.

    for i in range(n):                          room = 0
        for j in range(i + 1):                  for i in range(n):
            zs.append(z)                            room = room + len(range(i + 1))
                                                zs = reserved(zs, zs_top, room)

An array that grows while the loops run is copied, and each of its pages is asked of the system more than once, which can take longer than
the arithmetic.  The bounds of the inner loops must be sums and products of the indices of the loops around them and of numbers
from outside the nest; no loop may be left early, and both arms of a branch must push as many numbers, unless its condition compares such
numbers and it has loops that push.
"""

import builtins
import operator

from sourcead.analysis.builder import Builder
from sourcead.analysis.residual_stacks import Stack
from sourcead.ir.nodes import Atom, Attr, Block, Branch, Call, Const, Index, Let, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, UNKNOWN, Array, Scalar
from sourcead.ir.walk import definitions, map_op, walk

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.neg, min, max)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


class Unknown(Exception):
    """Raised if the numbers that a nest pushes cannot be counted before it."""


def room_for(nest: Stmt, stack: Stack) -> tuple[list[Stmt], Atom] | None:
    """Return the statements that count the numbers that a loop pushes on a stack, and the count; None if it cannot be known."""
    build = Builder()
    build.origin, build.adjoint_of = nest.origin, nest.adjoint_of
    try:
        count = _Counting(nest, stack, build).loop(nest.op, None, {})
    except Unknown:
        return None
    return build.stmts, count


class _Counting:
    """Writes a nest of loops anew that only counts.

    Attributes:
        inside: what the nest defines, with its statements; None for indices and loop variants.
    """

    def __init__(self, nest: Stmt, stack: Stack, build: Builder):
        self.stack, self.build = stack, build
        self.inside: dict[Var, Stmt | None] = dict(definitions(Block((nest,))))
        for s in walk(Block((nest,))):
            if isinstance(s.op, Loop):
                self.inside.update(dict.fromkeys((*s.op.params, s.op.index)))

    def loop(self, op: Loop, before: Atom | None, env: dict[Var, Atom]) -> Atom:
        """Write what counts the numbers that a loop pushes, and return their number with those `before`; `env`: values already written."""
        if not isinstance(op.domain, Range) or op.leave is not None:
            raise Unknown
        domain = Range(*(self.value(a, env) for a in (op.domain.start, op.domain.stop, op.domain.step)))
        direct, inner = self.pushes(op.body)
        if not inner:
            numbers = self.build.emit(Call(range, (domain.start, domain.stop, domain.step)), UNKNOWN, "iterations")
            n = self.build.emit(Call(len, (numbers,)), INT, "iterations")
            n = n if direct == 1 else self.build.emit(Call(operator.mul, (n, Const(direct))), INT, "n")
            return n if before is None else self.build.emit(Call(operator.add, (before, n)), INT, "room")
        param, index = Var("room", INT, True), fresh(op.index)
        body = self.block(op.body, param, {**env, op.index: index})
        return self.emit(Loop(domain, index, (param,), (Const(0) if before is None else before,), body))

    def block(self, block: Block, before: Atom, env: dict[Var, Atom]) -> Block:
        """Return a block that counts what a block pushes, and yields that number with those `before`."""
        direct, inner = self.pushes(block)
        with self.build.block() as stmts:
            count = self.build.emit(Call(operator.add, (before, Const(direct))), INT, "room") if direct else before
            for stmt in inner:
                match stmt.op:
                    case Branch(cond, then, orelse):
                        arms = self.value(cond, env), self.block(then, count, dict(env)), self.block(orelse, count, dict(env))
                        count = self.emit(Branch(*arms))
                    case op:
                        count = self.loop(op, count, dict(env))
        return Block(tuple(stmts), (count,))

    def emit(self, op: Loop | Branch) -> Var:
        """Emit a statement that counts, and return the number of its result."""
        after = Var("room", INT, True)
        self.build.add(Stmt((after,), op, self.build.origin, self.build.adjoint_of))
        return after

    def pushes(self, block: Block) -> tuple[int, list[Stmt]]:
        """Return how many numbers a block pushes outside of loops, and its statements with loops that push others."""
        count, loops = sum(place.block is block for place in self.stack.pushes), []
        for stmt in block.stmts:
            if isinstance(stmt.op, Loop) and any(stmt in place.loops for place in self.stack.pushes):
                loops.append(stmt)
            elif isinstance(stmt.op, Branch):
                then, orelse = (self.pushes(arm) for arm in (stmt.op.then, stmt.op.orelse))
                if then[1] or orelse[1]:
                    loops.append(stmt)
                elif then != orelse:
                    raise Unknown
                else:
                    count += then[0]
        return count, loops

    def value(self, atom: Atom, env: dict[Var, Atom]) -> Atom:
        """Return a bound of a loop in the nest that counts, after writing what it is computed from."""
        if not isinstance(atom, Var) or atom not in self.inside:
            return atom
        if atom not in env:
            stmt = self.inside[atom]
            if stmt is None or not self.is_written_again(stmt):
                raise Unknown
            op = map_op(stmt.op, lambda a: self.value(a, env))
            env[atom] = self.build.emit(op, atom.type, atom.name)
        return env[atom]

    def is_written_again(self, stmt: Stmt) -> bool:
        """Return whether a statement of the nest is arithmetic of integers, or asks for a size from outside of the nest."""

        def is_integer(v: Var) -> bool:
            return isinstance(v.type, Scalar) and v.type.kind == "int"

        match stmt.op:
            case Call(fn, _, ()) if fn in COMPARISONS or fn in ARITHMETIC and all(map(is_integer, stmt.targets)):
                return all(map(is_integer, stmt.op.reads))
            case _ if not all(map(is_integer, stmt.targets)):
                return False
            case Let():
                return True
            case Attr(base) | Call(builtins.len, (base,), ()):
                return base not in self.inside
            case Index(base):
                return not isinstance(getattr(base, "type", None), Array) and base not in self.inside
        return False
