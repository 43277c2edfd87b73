"""Finds elements of an array that are never written again after they were read.

    for t in range(n):                          for i in range(n):
        h[t + 1] = f(h[t])                          for j in range(i):
                                                        for k in range(j):
                                                            a[i, j] -= a[i, k] * a[j, k]

An iteration on the left reads `h[t]`, and later iterations write only elements above it; so the reverse sweep can read `h[t]`
from the finished array, and nothing has to be saved.  On the right, everything that is written after `a[i, k]` was read is in a
later row, or in column j or later, and k < j.

The proof works for subscripts that are affine in the loop indices (`affine.py`).  The writes after a read fall into classes: those
in a later iteration of the outermost loop around both, those in the same iteration of that loop and a later one of the next loop,
and so on, and those in the same iteration of all loops, further down in the text.  A read is never overwritten if, for each class,
there is an axis on which every subscript of the writes is above, or every one below, the subscript of the read.

`parts_stay` proves likewise that parts of arrays that were appended to lists keep their values while the arrays are written elsewhere:

    for t in range(n):
        hs[t + 1] = f(hs[t])
        outs.append(hs[t + 1])          a view of a row that no later iteration writes

If so, the list can be treated as holding copies of the rows at the time they were appended.
"""

from dataclasses import dataclass

from sourcead.analysis.affine import Affine, Forms, Later, least, number, variable
from sourcead.analysis.array_versions import Chains
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import (
    Append, Atom, Block, Build, Call, Const, Function, Index, Let, Loop, Operand, Range, Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import Array, Scalar, Unknown, rank, same_dtype
from sourcead.ir.walk import Place, places
from sourcead.primitives.result_types.infer import Arg, infer_index
from sourcead.primitives.table import record_of


@dataclass(frozen=True)
class Position:
    """The position of a statement in a nest of loops: its number in the order of the text, and the loops around it."""

    number: int
    loops: tuple[Stmt, ...]


Interval = tuple[Affine | None, Affine | None]  # [low, high); None for an unknown bound
Write = tuple[tuple[Stmt, ...], tuple[Interval, ...] | None]  # the loops around an update, and what it writes, None if that is unknown


class Nest(Forms):
    """Decides, for a loop and the loops inside it, which reads are never overwritten."""

    def __init__(self, loop: Stmt, chains: Chains):
        super().__init__()
        self.stmt = loop
        self.chains = chains
        self.places: dict[Stmt, Position] = {}
        self.around: dict[Var, tuple[Stmt, ...]] = {}  # the loops around the definition of a variable
        self.begins: dict[Var, Position] = {}  # the position from which on a variable holds its value
        self.updates: dict[Var, list[Stmt]] = {}
        self.block_of: dict[Var, Block] = {}  # the block that defines a variable
        self.written_as: dict[Var, Stmt] = {}  # value -> the update in the same block that writes it into an array
        self._writes: dict[Var, dict[tuple, int]] = {}
        self._misses: dict[tuple, bool] = {}
        self._visit(loop, (), None)

    def _visit(self, stmt: Stmt, loops: tuple[Stmt, ...], block: Block | None) -> None:
        self.places[stmt] = Position(len(self.places), loops)
        self.definitions.update(dict.fromkeys(stmt.targets, stmt.op))
        self.around.update(dict.fromkeys(stmt.targets, loops))
        if block is not None:
            self.block_of.update(dict.fromkeys(stmt.targets, block))
        op = stmt.op
        begins = len(self.places)
        if isinstance(op, Update):
            self.updates.setdefault(self.chains.find(stmt.targets[0]), []).append(stmt)
            whole = op.mode == "set" and len(op.path) == 1 and isinstance(op.path[0], Sub) and isinstance(op.value, Var)
            if whole and block is not None and self.block_of.get(op.value) is block:  # in another block the write may not happen
                self.written_as.setdefault(op.value, stmt)
        if isinstance(op, Loop):
            loops = (*loops, stmt)
            bound = op.params if op.index is None else (op.index, *op.params)
            self.around.update(dict.fromkeys(bound, loops))
            self.begins.update(dict.fromkeys(bound, Position(begins, loops)))
            self.block_of.update(dict.fromkeys(bound, op.body))
            if op.index is not None and isinstance(op.domain, Range):
                self.count(op, len(loops))
        for part in op.blocks:
            for inner in part.stmts:
                self._visit(inner, loops, part)
        self.begins.update(dict.fromkeys(stmt.targets, Position(len(self.places), self.around[stmt.targets[0]] if stmt.targets else ())))

    # ---- reads ----

    def finished(self, read: Stmt) -> Var | None:
        """Return the finished array from which a read can be repeated at any later time, or None if it may be overwritten.

        All writes since the version that is read was defined count: after `old = a.copy()`, a read of `old[t]` reads that version,
        however often `a` has been written in between.
        """
        return self._finished(read.op.base, read.op.key, self.begins.get(read.op.base) if read in self.places else None)

    def read_back(self, value: Var) -> Index | None:
        """Return an op that reads a value back from the array that it was written into, or None if it may be overwritten there."""
        update = self.written_as.get(value)
        if update is None or not same_kind(value, update):
            return None
        place = self.places[update]
        key = update.op.path[0].key
        array = self._finished(update.op.base, key, Position(place.number + 1, place.loops))
        return None if array is None else Index(array, key)

    def _finished(self, base: Atom, key: Operand, place: Position | None) -> Var | None:
        chain = self.chains.find(base)
        if chain is None or place is None or not isinstance(atom_type(base), Array):
            return None
        carrying = [loop for loop in place.loops if chain in self.chains.carried_by(loop)]
        if not carrying:
            return None
        outermost = carrying[0]
        axes = self.intervals(key, rank(atom_type(base)))
        if axes is None:
            return None
        for write, last in self.writes(chain).items():
            if outermost in write[0] and not self.misses(write, last >= place.number, place.loops, axes, outermost):
                return None
        return outermost.targets[self.chains.carried_by(outermost)[chain]]

    # ---- writes after reads ----

    def writes(self, chain: Var) -> dict[Write, int]:
        """Return what the updates of a chain write, with the number of the last update that writes this."""
        if chain not in self._writes:
            self._writes[chain] = found = {}
            for update in self.updates.get(chain, ()):
                path, place = update.op.path, self.places[update]
                known = len(path) == 1 and isinstance(path[0], Sub)
                written = self.intervals(path[0].key, rank(update.targets[0].type)) if known else None
                found[place.loops, written] = place.number
        return self._writes[chain]

    def misses(self, write: Write, after: bool, around: tuple[Stmt, ...], read: tuple[Interval, ...], outermost: Stmt) -> bool:
        """Return whether no write that happens after a read writes an element that was read.

        Args:
            write: what is written in which loops.
            after: whether one of the updates that write it stands behind the read.
            around: the loops around the read.
            read: what is read.
            outermost: the loop in which a write may overwrite what was read.
        """
        loops, written = write
        if written is None:
            return False
        key = (write, after, around, read, outermost)
        if key not in self._misses:
            common = [loop for loop in loops if loop in around]
            levels = [loop for loop in common if common.index(loop) >= common.index(outermost)]
            self._misses[key] = all(self.apart(read, written, common[: common.index(at) + 1], at) for at in levels) and (
                not after or self.apart(read, written, common, None)
            )
        return self._misses[key]

    def apart(self, read: tuple[Interval, ...], written: tuple[Interval, ...], common: list[Stmt], at: Stmt | None) -> bool:
        """Return whether, on some axis, all written subscripts are above or all are below the read ones.

        The write happens in a later iteration of the loop `at`, the last of `common`, and in the same iteration of the loops
        around it; with `at` None, in the same iteration of all loops of `common`.
        """

        def is_shared(v: Var) -> bool:
            around = self.around.get(v, ())
            return at not in around and all(loop in common for loop in around)

        def later(form: Affine | None) -> Affine | None:
            return None if form is None else form.renamed(lambda v: v if is_shared(v) else Later(v))

        def depth(v) -> int | None:
            return None if self.depth(v) is None else 2 * self.depth(v) + isinstance(v, Later)

        def bounds(v) -> Interval:
            if not isinstance(v, Later):
                return self.range_of(v)
            low, high = map(later, self.range_of(v.var))
            if at is not None and at.op.index is v.var:
                step = number(at.op.domain.step)
                following = variable(v.var).plus(Affine(step or 0))
                return (following if step and step > 0 else low), (following if step and step < 0 else high)
            return low, high

        def never_below(above: Affine | None, below: Affine | None) -> bool:
            found = None if above is None or below is None else least(above.plus(below, -1), depth, bounds)
            return found is not None and found >= 0

        return any(
            never_below(later(w_low), r_high) or never_below(r_low, later(w_high))
            for (r_low, r_high), (w_low, w_high) in zip(read, written)
        )

    # ---- subscripts ----

    def intervals(self, key: Operand, axes: int | None) -> tuple[Interval, ...] | None:
        """Return the interval [low, high) that a subscript takes on each axis, or None for subscripts that are not intervals."""
        parts = list(key) if isinstance(key, tuple) else [key]
        if axes is None or len(parts) > axes:
            return None
        found = []
        for part in parts:
            if isinstance(part, Slice):
                low = Affine(0) if part.lower is None else self.from_zero(part.lower)
                high = None if part.upper is None else self.from_zero(part.upper)
                plain = part.step is None or number(part.step) == 1
                found.append((low, high) if plain else (None, None))
            elif isinstance(part, tuple) or isinstance(part, Const) and type(part.value) is not int:
                return None
            elif not (isinstance(atom_type(part), Scalar) and atom_type(part).kind == "int"):
                return None
            else:
                low = self.from_zero(part)
                found.append((low, None if low is None else low.plus(Affine(1))))
        return tuple(found)


def same_kind(value: Var, update: Stmt) -> bool:
    """Return whether a value written into an array can be read back unchanged, because it has its dtype and is not broadcast."""
    t, array = value.type, update.targets[0].type
    if not isinstance(array, Array) or array.dtype is None or array.dims is None:
        return False
    key = update.op.path[0].key
    parts = key if isinstance(key, tuple) else (key,)
    left = len(array.dims) - sum(not isinstance(p, Slice) for p in parts)
    if isinstance(t, Scalar):
        whole = t.kind == "float" and t.dtype is None and t.least is None and str(array.dtype) == "float64"
        return left == 0 and (same_dtype(t.dtype, array.dtype) or whole)
    if not isinstance(t, Array) or t.dtype is None or t.dtype != array.dtype or any(isinstance(p, Slice) for p in parts):
        return False
    part = infer_index(array, tuple(Arg(atom_type(p)) for p in parts))
    if not isinstance(part, Array) or part.dims is None or t.dims is None or len(part.dims) != len(t.dims):
        return False
    return all(n == m or not_one(m) for n, m in zip(part.dims, t.dims))


def parts_stay(function: Function) -> bool:
    """Return whether no part of an array that is appended to a list is overwritten afterwards."""
    chains = Chains(function.body)
    found = list(places(function.body))
    definitions = {t: place for place in found for t in place.stmt.targets}
    order = {place.stmt: k for k, place in enumerate(found)}
    updates = [(place.stmt, place.loops) for place in found if isinstance(place.stmt.op, Update)]
    nests: dict[Stmt, Nest] = {}

    def shows_written(value: object) -> bool:
        """Tell whether a value may be a view of an array that is written, or have such views as items, as `np.split(a, 2)` has."""
        match definitions[value].stmt.op if isinstance(value, Var) and value in definitions else None:
            case Let(inner):
                return is_written(inner)
            case Index():
                return is_written(definitions[value].stmt.op.base)
            case Call(fn, args):
                return bool(record_of(fn).view) and any(map(is_written, args))
        return False

    def is_written(value: object) -> bool:
        return isinstance(value, Var) and (chains.find(value) is not None or shows_written(value))

    def stays(at: Place) -> bool:
        read = at.stmt
        chain = chains.find(read.op.base)
        if chain is None:
            return not shows_written(read.op.base)
        around = next((loop for loop in at.loops if chain in chains.carried_by(loop)), None)
        if around is not None:
            nest = nests.setdefault(around, Nest(around, chains))
            if nest.finished(read) is None:
                return False
        after = order[around if around is not None else read]
        return not any(chains.find(s.targets[0]) is chain and order[s] > after and around not in loops for s, loops in updates)

    def is_kept(value: object) -> bool:
        if not isinstance(value, Var) or not isinstance(value.type, (Array, Unknown)):
            return True
        place = definitions.get(value)
        match place and place.stmt.op:
            case Let(inner):
                return is_kept(inner)
            case Index():
                return stays(place)
            case Call() | Build():
                return True
        return False

    return all(is_kept(place.stmt.op.value) for place in found if isinstance(place.stmt.op, Append))
