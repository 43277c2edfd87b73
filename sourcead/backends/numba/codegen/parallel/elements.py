"""Whether two subscripts name elements that are apart in any two different iterations of a loop.

    a[i], a[i]                          apart: the index differs by at least one step
    a[2 * i], a[2 * i + 1]              never the same
    a[4 * i + j], a[4 * i + j]          apart for j in range(4)
    a[i], a[i + 1]                      meet in neighbouring iterations
    a[idx[i]], a[idx[i]]                may meet

Both are affine in the index, with one factor for it; the rest of their difference is smaller than what one iteration adds.
"""

from sourcead.analysis.affine import Later, Subscripts, least, number, own
from sourcead.ir.affine import Affine
from sourcead.ir.nodes import Const, Loop, Operand, Range, Slice, Var
from sourcead.ir.walk import bound_vars, walk


class Elements:
    """Compares subscripts in different iterations of a loop.

    Args:
        loop: the loop, over a range with a known step.
        subscripts: the affine forms of the function's integers.
        inside: the variables that an iteration defines.
        moves: by how much each iteration moves a counter, for the counters for which that is a known number.

    Attributes:
        begins: what the index and the counters are in the first iteration.
    """

    def __init__(self, loop: Loop, subscripts: Subscripts, inside: frozenset[Var], moves: dict[Var, int]):
        self.loop, self.subscripts, self.inside = loop, subscripts, inside
        self.per_iteration = {**moves, loop.index: number(loop.domain.step) or 0}
        first = {loop.index: loop.domain.start, **dict(zip(loop.params, loop.inits))}
        self.begins = {v: subscripts.affine(first[v]) for v in self.per_iteration}
        self.ranges = {s.op.index: s.op.domain for s in walk(loop.body) if isinstance(s.op, Loop) and isinstance(s.op.domain, Range)}

    def apart(self, first: Operand, second: Operand) -> bool:
        """Return whether two subscripts of one array name no element both, in any two different iterations."""
        pairs = zip(*(key if isinstance(key, tuple) else (key,) for key in (first, second)))
        return any(self._apart_on_axis(a, b) for a, b in pairs)

    def _apart_on_axis(self, a: Operand, b: Operand) -> bool:
        if isinstance(a, Slice | tuple) or isinstance(b, Slice | tuple) or not self.per_iteration[self.loop.index]:
            return False
        x, y = self.form(a), self.form(b)
        if x is None or y is None:
            return False
        slopes = [sum(f.factor(v) * move for v, move in self.per_iteration.items()) for f in (x, y)]
        if slopes[0] != slopes[1]:
            return False
        x, y = self.in_first(x), self.in_first(y)
        if x is None or y is None:
            return False
        rest = x.plus(y.renamed(lambda v: Later(v) if v in self.inside else v), -1)
        slope = abs(slopes[0])
        if not slope:
            return any(self.at_least_one(side) for side in (rest, rest.times(-1)))
        if not rest.terms:
            return not rest.constant or bool(rest.constant % slope)
        return all(self.at_least_one(Affine(slope).plus(rest, sign)) for sign in (1, -1))

    def form(self, atom: Operand) -> Affine | None:
        """Return the affine form of a subscript that does not count from the end.

        A negative number from the program is from the end in every iteration, so the distance of two of them is the same.
        """
        if isinstance(atom, Const | Var):
            return self.subscripts.from_zero(atom) if not self.counts(atom) else self.subscripts.affine(atom)
        return None

    def counts(self, atom: Const | Var) -> bool:
        """Return whether a subscript is a counter, which is never negative, plus a number of at least zero, and nothing else."""
        form = self.subscripts.affine(atom)
        counters = [v for v, _ in form.terms] if form is not None else []
        moving = [v for v in counters if v in self.per_iteration and v is not self.loop.index]
        return bool(moving) and moving == counters and form.constant >= 0 and all(k > 0 for _, k in form.terms)

    def in_first(self, form: Affine) -> Affine | None:
        """Return a form with the index and the counters as they are in the first iteration; None if that is not known."""
        for v, _ in form.terms:
            if v in self.per_iteration:
                if self.begins[v] is None:
                    return None
                form = form.replaced(v, self.begins[v])
        return form

    def at_least_one(self, form: Affine) -> bool:
        """Return whether a form is positive for any indices of inner loops, whose ends must be the same in each iteration."""
        for v, _ in form.terms:
            if own(v) in self.inside:
                domain = self.ranges.get(own(v))
                ends = () if domain is None else tuple(map(self.subscripts.affine, (domain.start, domain.stop)))
                if not ends or None in ends or any(own(w) in self.inside for end in ends for w, _ in end.terms):
                    return False
        found = least(form, self.subscripts.depth, self.subscripts.range_of)
        return found is not None and found >= 1


def defined_inside(loop: Loop) -> frozenset[Var]:
    """Return the variables that an iteration of a loop defines, with its index and variants."""
    found = set(bound_vars(loop))
    for stmt in walk(loop.body):
        found.update(stmt.targets, bound_vars(stmt.op))
    return frozenset(v for v in found if v is not None)
