"""How much a loop calculates, as an expression of the text: the number of iterations times the cost of one, in additions."""

import builtins
import operator

from sourcead.analysis.affine import number
from sourcead.backends.numba.codegen.loops.reordering import CALL, cost
from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Let, Loop, Range, Update, Var
from sourcead.ir.types import Array
from sourcead.ir.walk import definitions, walk

# The least work for which several threads pay.  To start them takes 5 to 90 µs, by layer of threads and machine.  A unit takes 0.06 ns in
# vector instructions (a stencil), else 0.25 to 0.4 ns (sums, matrix products, exponentials): this is work for 60 to 400 µs on one thread.
LEAST = 1_000_000
EACH = 4  # the cost of an element of an array of sums: its memory, and its addition in the end
UNKNOWN = 4  # the number of iterations taken for an inner loop whose bounds are not known before the outer one
WRITE, VECTOR = 2, 16  # the cost of a write of an element, and of an operation on a vector
SIGNS = {operator.add: "+", operator.sub: "-", operator.mul: "*"}


class Little(Exception):
    """Raised for a loop that is known to calculate so little that it would never run in parallel."""


def refuse_little(loop: Loop) -> None:
    """Refuse a loop that calculates little for any arguments, because the function of a parallel loop takes long to compile.

    Raises:
        Little: it does.
    """
    domain = loop.domain
    ends = [number(a) for a in (domain.start, domain.stop, domain.step)] if isinstance(domain, Range) else [None]
    if None in ends or any(isinstance(s.op, Loop) for s in walk(loop.body)):
        return
    if len(range(*ends)) * (1 + CALL * len(loop.body.statements)) < LEAST:
        raise Little


class Work:
    """Writes how much the iterations of a loop calculate.

    Args:
        loop: the loop.
        names: the names of the variables from outside of the loop, in the text to write.
    """

    def __init__(self, loop: Loop, names: dict[Var, str]):
        self.made = definitions(loop.body)
        self.names = {loop.index: "((start + stop) // 2)", **names}

    def of(self, block: Block) -> str:
        """Return the cost of the statements of a block."""
        own, inner = 1, []
        for stmt in block.stmts:
            match stmt.op:
                case Branch(_, then, orelse):
                    inner += [self.of(arm) for arm in (then, orelse) if arm.stmts]
                case Loop(domain, index, _, _, body):
                    n = self.trips(domain, index)
                    inner.append(f"{n} * ({self.of(body)})")
                case Update():
                    own += WRITE
                case op:
                    own += VECTOR if any(isinstance(t.type, Array) for t in stmt.targets) and isinstance(op, Call) else min(cost(op), CALL)
        return " + ".join([str(own), *inner])

    def trips(self, domain: object, index: Var | None) -> str:
        """Return the number of iterations of an inner loop; that of the middle one of the loops around it where it varies."""
        ends = [self.value(a) for a in (domain.start, domain.stop, domain.step)] if isinstance(domain, Range) else [None]
        if None in ends:
            return str(UNKNOWN)
        self.names[index] = f"(({ends[0]} + {ends[1]}) // 2)"
        return f"len(range({', '.join(ends)}))" if ends[0] != "0" or ends[2] != "1" else f"max({ends[1]}, 0)"

    def value(self, atom: Atom, depth: int = 6) -> str | None:
        """Return the text of an integer that bounds a loop; None if it is not known before the outer loop."""
        if isinstance(atom, Const):
            return str(atom.value) if type(atom.value) is int and not atom.live else None
        if atom in self.names:
            return self.names[atom]
        match self.made[atom].op if atom in self.made and depth else None:
            case Let(value):
                return self.value(value, depth - 1) if isinstance(value, Var | Const) else None
            case Call(operator.add | operator.sub | operator.mul as fn, (a, b), ()):
                found = self.value(a, depth - 1), self.value(b, depth - 1)
                return None if None in found else f"({found[0]} {SIGNS[fn]} {found[1]})"
            case Call(builtins.min | builtins.max as fn, args, ()) if all(isinstance(a, Var | Const) for a in args):
                found = [self.value(a, depth - 1) for a in args]
                return None if None in found else f"{fn.__name__}({', '.join(found)})"
        return None
