"""Rewrites loops and calls in the form that a person would have chosen.

    for i in range(len(xs)): ... xs[i] ...       ->  for x in xs: ... x ...
    for i in range(len(xs) - 1, -1, -1): ...     ->  for x in xs[::-1]: ...
    the same with `i` read elsewhere as well     ->  for i, x in enumerate(xs): ...
    range(min(len(xs), len(ys)))                 ->  for x, y in zip(xs, ys): ...
    for t in ts: a = t[0]; b = t[1]              ->  for a, b in ts: ...
    t = f(x); a = t[0]; b = t[1]                 ->  a, b = f(x), and the same of an element, xs[i]

This is legal where the sequence is not written in the loop, which holds of an immutable value, and where its elements are read by the
index of the loop alone, or by constants.  Where the user named an index and not the element, the loop stays as it is.
"""

import builtins
import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sourcead.analysis.affine import number
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import (
    Atom, Attr, Block, Build, Call, Const, Function, Index, Loop, Op, Pop, Range, Slice, Stmt, Var
)
from sourcead.ir.types import Array, ListT, TupleT
from sourcead.ir.walk import count_reads, map_blocks, rewrite, substitute, walk
from sourcead.passes.cleanup.dead_code import remove_dead


@dataclass(frozen=True, eq=False)
class Each(Loop):
    """A loop over a sequence, its domain, whose elements are tuples that the head of the loop unpacks into `targets`."""

    binders = ("targets", "params")
    targets: tuple[Var, ...] = ()


def with_idioms(function: Function) -> Function:
    """Return the function with the loops and calls above rewritten, and without the temporaries that nothing reads any more."""
    return remove_dead(replace(function, body=_unpacked(_Loops().block(function.body, {}))))


class _Loops:
    """Rewrites counted loops over sequences; `defs` maps each visible variable to the op that defines it."""

    def block(self, block: Block, defs: dict[Var, Op]) -> Block:
        defs, stmts = dict(defs), []
        for stmt in block.stmts:
            op = stmt.op
            if isinstance(op, Loop) and isinstance(op.domain, Range):
                before, op = _over_sequences(op, defs)
                stmts += [replace(stmt, targets=(v,), op=call) for v, call in before]
            stmt = map_blocks(replace(stmt, op=_with_unpacked_element(op)), lambda b: self.block(b, defs))
            stmts.append(stmt)
            if len(stmt.targets) == 1 and not stmt.op.blocks:
                defs[stmt.targets[0]] = stmt.op
        return Block(tuple(stmts), block.results)


def _over_sequences(loop: Loop, defs: dict[Var, Op]) -> tuple[list[tuple[Var, Op]], Loop]:
    """Return the loop over the sequences that it reads by its index, and the definitions that are needed before it."""
    kept = [], loop
    reading: dict[Atom, list[Stmt]] = {}
    others = count_reads(loop.body).get(loop.index, 0)
    for stmt in walk(loop.body):
        if isinstance(stmt.op, Index) and stmt.op.key is loop.index and len(stmt.targets) == 1 and _is_sequence(stmt.op.base):
            reading.setdefault(stmt.op.base, []).append(stmt)
            others -= 1
    sequences, backward = _counted(loop.domain, defs, reading)
    if not sequences or not reading or any(s not in reading or not isinstance(atom_type(s), (Array, ListT, TupleT)) for s in sequences):
        return kept
    elements = {s: _element(reading[s]) for s in sequences}
    mapping = {t.targets[0]: elements[s] for s in sequences for t in reading[s]}
    gone = {t for s in sequences for t in reading[s]}
    one = len(sequences) == 1 and len(reading) == 1
    if one and not others:
        (seq,) = sequences
        if elements[seq].temp and not loop.index.temp:
            return kept  # as the user wrote it
        x, body = elements[seq], _without(loop.body, gone, mapping)
        if not backward:
            return [], replace(loop, domain=seq, index=x, body=body)
        turned = Var(getattr(seq, "name", "items"), atom_type(seq), temp=True)
        read = Index(seq, Slice(None, None, Const(-1)))
        return [(turned, read)], replace(loop, domain=turned, index=x, body=body)
    if backward or any(s not in sequences for s in reading) and len(sequences) > 1:
        return kept
    if len(sequences) > 1 and not others:
        call, targets = Call(builtins.zip, tuple(sequences)), tuple(elements[s] for s in sequences)
    elif len(sequences) == 1 and not elements[sequences[0]].temp:
        call, targets = Call(builtins.enumerate, tuple(sequences)), (loop.index, elements[sequences[0]])
    else:
        return kept
    over, item = Var("pairs", temp=True), Var("pair", temp=True)
    body = _without(loop.body, gone, mapping)
    return [(over, call)], Each(over, item, loop.params, loop.inits, body, loop.leave, targets=targets)


def _with_unpacked_element(op: Op) -> Op:
    """Return a loop over tuples whose items alone are read, with the tuples unpacked in its head; return other ops unchanged."""
    if not isinstance(op, Loop) or isinstance(op, Each) or isinstance(op.domain, (Range, Block)) or not op.index.temp:
        return op
    parts = [s for s in op.body.stmts if isinstance(s.op, Index) and s.op.base is op.index and _is_place(s.op.key)]
    targets = _targets(op.index, parts, count_reads(op.body).get(op.index, 0), least=1)
    if targets is None:
        return op
    return Each(op.domain, op.index, op.params, op.inits, _without(op.body, set(parts), {}), op.leave, targets=targets)


def _is_element(op: Op) -> bool:
    """Tell whether an op takes an item of a list or tuple whose place depends on the run."""
    return isinstance(op, Index) and isinstance(atom_type(op.base), (ListT, TupleT)) and isinstance(op.key, Var)


def _is_place(key) -> bool:
    return isinstance(key, Const) and type(key.value) is int


def _counted(domain: Range, defs: dict[Var, Op], read: Iterable[Atom]) -> tuple[list[Atom], bool]:
    """Return the sequences, of those that are `read` if it is a number, whose length a range has, and whether it runs backward."""
    if number(domain.start) == 0 and number(domain.step) == 1:
        return _measured(domain.stop, defs, read), False
    if number(domain.stop) == -1 and number(domain.step) == -1:
        last = defs.get(domain.start) if isinstance(domain.start, Var) else None
        length: Atom | None = None if number(domain.start) is None else Const(number(domain.start) + 1)
        match last:
            case Call(operator.sub, (n, one)) if number(one) == 1:
                length = n
        found = [] if length is None else _measured(length, defs, read)
        return found if len(found) == 1 else [], True
    return [], False


def _measured(length: Atom, defs: dict[Var, Op], read: Iterable[Atom]) -> list[Atom]:
    """Return the sequences whose length, or least length, equals a value; for a number, those of the sequences that are `read`."""
    if (count := number(length)) is not None:
        return [v for v in read if _is_made_of(defs.get(v), count)]
    match defs.get(length) if isinstance(length, Var) else None:
        case Call(builtins.len, (seq,)) if _is_sequence(seq):
            return [seq]
        case Index(Var() as shape, zero) if number(zero) == 0:
            match defs.get(shape):
                case Attr(Var() as seq, "shape"):
                    return [seq]
        case Call(builtins.min, lengths) if len(lengths) > 1:
            parts = [_measured(n, defs, read) for n in lengths]
            if all(len(p) == 1 for p in parts):
                found = [p[0] for p in parts]
                return found if len(set(found)) == len(found) else []
    return []


def _is_sequence(atom) -> bool:
    """Tell whether an atom is a variable, or one outside of the function."""
    return isinstance(atom, Var) or isinstance(atom, Const) and atom.live


def _is_made_of(op: Op | None, count: int) -> bool:
    """Tell whether an op makes a list or tuple of so many items."""
    return isinstance(op, Build) and op.kind in ("list", "tuple") and len(op.items) == count


def _element(reads: list[Stmt]) -> Var:
    """Return the variable for the element, one that the user named if there is any."""
    return next((s.targets[0] for s in reads if not s.targets[0].temp), reads[0].targets[0])


def _without(block: Block, gone: set[Stmt], mapping: dict[Var, Var]) -> Block:
    """Return the block without some statements and with their targets replaced."""
    kept = rewrite(block, lambda s: [] if s in gone else [s])
    return substitute(kept, {a: b for a, b in mapping.items() if a is not b})


def _unpacked(block: Block) -> Block:
    """Return the block with calls and pops that bind several targets, where only the items of their results are read."""
    counts = count_reads(block)

    def visit(b: Block) -> Block:
        parts: dict[Var, list[Stmt]] = {}
        for stmt in b.stmts:
            if isinstance(stmt.op, Index) and _is_place(stmt.op.key):
                if isinstance(stmt.op.base, Var):
                    parts.setdefault(stmt.op.base, []).append(stmt)
        stmts, gone = [], set()
        for stmt in b.stmts:
            if stmt in gone:
                continue
            if isinstance(stmt.op, Attr) and (named := _named_sizes(stmt.targets[0], parts)):
                gone.update(p for p in parts[stmt.targets[0]] if p.targets[0] in named)
                stmts.append(replace(stmt, targets=named))
            values = len(stmt.targets) - isinstance(stmt.op, Pop)  # several where lists of residuals were joined
            if isinstance(stmt.op, Call | Pop) and values == 1 or _is_element(stmt.op):
                *rest, t = stmt.targets
                targets = _targets(t, parts.get(t, ()), counts.get(t, 0))
                if targets:
                    gone.update(parts[t])
                    stmt = replace(stmt, targets=(*rest, *targets))
            stmts.append(map_blocks(stmt, visit))
        return Block(tuple(stmts), b.results)

    return visit(block)


def _named_sizes(shape: Var, parts: dict[Var, list[Stmt]]) -> tuple[Var, ...] | None:
    """Return the targets that unpack a shape of which the user named several sizes, else None."""
    named = {p.op.key.value: p.targets[0] for p in parts.get(shape, ()) if not p.targets[0].temp}
    if len(named) < 2 or not isinstance(shape.type, TupleT) or not named.keys() <= set(range(n := len(shape.type.items))):
        return None
    return tuple(named.get(k) or Var("_", temp=True) for k in range(n))


def _targets(t: Var, parts, reads: int, least: int = 2) -> tuple[Var, ...] | None:
    """Return the targets that unpack a tuple if only its items are read, and at least so many, else None."""
    items = t.type.items if isinstance(t.type, (TupleT, ListT)) else None
    if not (t.temp and items and len(parts) >= least and len(parts) == reads):
        return None
    n = len(items)
    keys = [p.op.key.value % n for p in parts if -n <= p.op.key.value < n]
    if len(set(keys)) != len(parts):
        return None
    taken = {k: p.targets[0] for k, p in zip(keys, parts)}
    return tuple(taken.get(k) or Var("_", temp=True) for k in range(n))
