"""Describe what a loop runs over: ranges, arrays, lists, and the results of `enumerate`, `zip` and `reversed`.

A loop of unknown length becomes a counted loop whose elements are read by index; the code generator restores its original form.
"""

import enum
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import generators
from sourcead.frontend.control.loops import ONE, ZERO
from sourcead.frontend.core import (
    BUSY, ENDED, FALSE, LEFT, TAKEN, TRUE, USED, VALUE, WHOLE, Cell, Flag, Iterable, Lowering, Meta, SuperVal, TupleVal,
    Value, cells_of, next_birth, roots
)
from sourcead.frontend.values import sequences, tables, walks
from sourcead.ir.nodes import Atom, Call, Const, Range, Var
from sourcead.ir.types import INT, Array, ListT, NoneType, Opaque, Scalar, Str, Sym, TupleT, Type, Unknown
from sourcead.ir.walk import has_effect
from sourcead.primitives.result_types.infer import infer_call


def held(lo: Lowering, value: Value, node) -> Value:
    """Return what an iterator over a value holds from when it is made: for an object with `__iter__`, what that returns."""
    found = core.call_special(lo, value, "__iter__", [], node)
    if found is None or isinstance(found, Iterable):  # which reads what it iterates over when its elements are asked for
        return value if found is None else found
    step = core.special_method(found, "__next__")
    return core.iterate(lo, found, node) if step is None else generators.steps(lo, step, found)


def later(lo: Lowering, values, make: Callable[..., Iterable], node, once: bool = True) -> Iterable:
    """Make an iterator that reads its elements only when they are asked for: `make` gets the iterables of the values as they are then."""
    if single := [v for v in values if core.is_single(lo, v)]:
        raise core.not_iterable(lo, single[0], node)
    kept = [held(lo, v, node) for v in values]
    return Iterable(begin=lambda: make(*(core.iterate(lo, v, node) for v in kept)), sources=kept, once=once)


def slots_of(values) -> set:
    """Return the slots of the objects that values consist of, or iterate over."""
    inner = [part for v in values if isinstance(v, Iterable) for part in (*v.sources, *(v.suspended.bound.values() if v.suspended else ()))]
    found = {root.slots for v in values if not isinstance(v, Iterable) for cell in cells_of(v) for root in (cell, *roots(cell))}
    return found | slots_of(inner) if inner else found


class ReadWhenTaken(Sequence):
    """The elements of an iterable, of known number, each read when it is taken: what they are read from may be written before."""

    def __init__(self, places: range, read: Callable[[int], Value]):
        self.places = places
        self.read = read

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, k):
        return ReadWhenTaken(self.places[k], self.read) if isinstance(k, slice) else self.read(self.places[k])


def listed(items: Sequence[Value]) -> Iterable:
    """Make an iterable of elements that are known one by one."""
    return Iterable(items=items, reverse=lambda: listed(items[::-1]))


@core.iterate.register(Iterable)
def _iterate_iterable(lo: Lowering, value: Iterable, node) -> Iterable:
    if value.once:
        if core.truth(lo, value.state[ENDED]):
            return listed([])
        if not is_countable(lo, value):
            raise core.unsupported(lo, node, "this iterator was walked through before", "make it anew, or make a list of it: `list(...)`")
        lo.set(value.state, USED, TRUE)
    found = elements(lo, value, node)
    return found if core.is_number(lo, value.state[TAKEN], 0) else after(lo, found, value.state[TAKEN], node)


def is_countable(lo: Lowering, it: Iterable) -> bool:
    """Tell whether it is known which elements of an iterator were taken: those that `next` and loops counted."""
    if LEFT in it.state:
        return isinstance(it.state[LEFT], Iterable) and core.truth(lo, it.state[BUSY]) is False
    return core.truth(lo, it.state[USED]) is False and core.truth(lo, it.state[BUSY]) is False


def elements(lo: Lowering, it: Iterable, node) -> Iterable:
    """Return the iterable of the elements of an iterator, of which some may be taken already."""
    begin = it.state[LEFT].begin if LEFT in it.state else it.begin
    return replace(it, once=False) if begin is None else core.iterate(lo, begin(), node)


def after(lo: Lowering, source: Iterable, count: Atom, node) -> Iterable:
    """Iterate over the elements after the first `count` ones, which are read by index."""
    if source.items is not None and isinstance(count, Const):
        return listed(source.items[count.value :])
    if source.endless and source.nth is not None:
        return Iterable(nth=lambda k: source.nth(core.operate(lo, operator.add, k, count)), endless=True)
    source = by_unknown_number(lo, without_generator(lo, source, node), node)
    return Iterable.numbered(
        lambda: lo.build.call(max, lo.build.call(operator.sub, source.length(), count, type=INT), ZERO, type=INT),
        lambda k: source.nth(lo.build.call(operator.add, k, count, type=INT)),
    )


@core.iterate.register("object", SuperVal)
def _iterate_object(lo: Lowering, value: Value, node) -> Iterable:
    found = core.call_special(lo, value, "__iter__", [], node)
    if found is None and (array := core.array_of(value)) is not None:
        if sequences.of_numbers(lo, value) is array:
            return core.iterate(lo, array, node)
        return Iterable.numbered(lambda: lo.build.call(len, lo.read(array), type=INT), lambda k: core.subscript(lo, value, k, node))
    if found is not None and found is not value:
        step = core.special_method(found, "__next__")
        return core.iterate(lo, found, node) if step is None else generators.steps(lo, step, found)
    step = core.special_method(value, "__next__")
    return core.iterate.default(lo, value, node) if found is None or step is None else generators.steps(lo, step, value)


@core.iterate.register(Const)
def _iterate_constant(lo: Lowering, value: Const, node) -> Iterable:
    if isinstance(value.value, enum.EnumMeta):
        return listed([Const(member) for member in value.value])
    if value.live:
        return sequence(lo, value, node)
    if isinstance(value.value, tuple):
        return static_sequence(lo, TupleVal(tuple(map(Const, value.value))), node)
    if isinstance(value.value, (list, str, dict, range)):
        return listed([Const(v) for v in value.value])
    return core.iterate.default(lo, value, node)


@core.iterate.register(Str)
def _iterate_text(lo: Lowering, value: Value, node) -> Iterable:
    found, text = core.known(lo, value)
    if found:
        return core.iterate(lo, Const(text), node)
    return Iterable.numbered(lambda: lo.build.call(len, value, type=INT), lambda k: core.subscript(lo, value, k, node))


@core.iterate.register(TupleVal, "list")
def static_sequence(lo: Lowering, value: TupleVal | Cell, node) -> Iterable:
    """Iterate over a tuple or list of known length: as a loop in the generated code if the elements are alike, else unrolled.

    Two dicts are unrolled as well: this gives the shorter text, as names of their items stand in it anyway.
    """
    if (found := core.call_special(lo, value, "__iter__", [], node)) is not None:
        return core.iterate(lo, found, node)
    items = value.contents
    if isinstance(value, Cell):
        lo.alive(value)
    if lo.listing or lo.unrolling or isinstance(value, TupleVal) and value.cls is not None:
        return one_by_one(lo, value, items)
    whole = value.slots.get(WHOLE) if isinstance(value, Cell) else value.origin
    few = 2 if any(isinstance(item, Cell) and item.kind == "dict" for item in items) else 1
    if isinstance(whole, Var):
        is_loop = len(items) > few and tables.alike(items) and not any(map(lo.was_written, items))
    else:
        is_loop = not tables.is_short(items, node) and tables.are_constants(items)
        whole = tables.table(lo, value) if is_loop else None
    if not is_loop:
        return one_by_one(lo, value, items)
    walked = lo.wrap_whole(whole, value)
    lo.walked.append(walked)
    return sequence(lo, walked, node)


def one_by_one(lo: Lowering, value: Value, items: list[Value]) -> Iterable:
    """Iterate over the known items of a tuple, or of a list, which the loop may change."""
    return walks.walk(lo, value, list(value.items.items())) if isinstance(value, Cell) else listed(items)


@core.iterate.register(Array, ListT, TupleT, Unknown)
def sequence(lo: Lowering, value: Value, node) -> Iterable:
    """Iterate over the rows of an array, or over the items of a list or tuple that is one IR value."""
    t = atom_type(lo.read(value))
    if isinstance(t, Opaque) and (issubclass(t.cls, Mapping) or not hasattr(t.cls, "__getitem__")):
        plain = "dict" if issubclass(t.cls, Mapping) else "list"
        why = f"the items of an object of class {t.cls.__name__} cannot be taken one by one"
        raise core.unsupported(lo, node, why, f"use a {plain}, which `{plain}(...)` makes of it outside of your function")

    def length():
        known = known_length(atom_type(lo.read(value))) if lo.apart else None
        if known is not None:
            return Const(known)
        return lo.build.call(len, lo.read(value), type=INT, name="n")

    def element(index):
        return core.subscript(lo, value, index, node)

    def last():
        return lo.build.call(operator.sub, length(), ONE, type=INT)

    def from_end(k):
        return element(lo.build.call(operator.sub, last(), k, type=INT))

    def backward():
        return Iterable(domain=lambda: Range(last(), Const(-1), Const(-1)), element=element, length=length, nth=from_end)

    count = known_length(t)
    if isinstance(value, Cell) and not isinstance(t, Array):
        walks.watch(lo, value)
    return Iterable.numbered(length, element, reverse=backward, count=count)


def known_length(t: Type) -> int | None:
    """Return the number of items of a value of the given type, or None if it is not known."""
    match t:
        case Array(_, (int(n), *_)):
            return n
        case TupleT(items) | ListT(_, tuple(items)):
            return len(items)
    return None


def counted(lo: Lowering, args: list[Value], node) -> Iterable:
    """Make the iterable of `range(...)`."""
    whole = [core.call_special(lo, a, "__index__", [], node) for a in args]
    atoms = [lo.read(a if found is None else found) for a, found in zip(args, whole)]
    if any(isinstance(atom_type(a), (Str, NoneType)) for a in atoms):
        raise core.surely(lo, core.unsupported(lo, node, "`range` of what is no integer"), TypeError)
    if floats := [k for k, a in enumerate(atoms) if isinstance(t := atom_type(a), Scalar) and t.kind == "float" and t.least is None]:
        given = [gast.unparse(a).strip() for a in getattr(node, "args", [])]
        written = [f"int({text})" if k in floats else text for k, text in enumerate(given)] if len(given) == len(atoms) else ["int(n)"]
        why = "`range` of a float (an integer argument in wrt counts as a float)"
        raise core.unsupported(lo, node, why, f"`range({', '.join(written)})`, or leave it out of wrt if it is an argument in it")
    start, stop, step = {1: (ZERO, *atoms, ONE), 2: (*atoms, ONE), 3: tuple(atoms)}[len(atoms)]
    if core.is_number(lo, step, 0):
        raise core.surely(lo, core.unsupported(lo, node, "`range` whose step is 0"), ValueError)
    plain = core.is_number(lo, start, 0) and core.is_number(lo, step, 1)

    def length():
        if plain:
            return stop
        return lo.build.call(len, lo.build.call(range, start, stop, step), type=INT, name="n")

    def nth(k):
        if plain:
            return k
        offset = k if core.is_number(lo, step, 1) else lo.build.call(operator.mul, k, step, type=INT)
        return lo.build.call(operator.add, start, offset, type=INT)

    def last():
        if core.is_number(lo, step, 1) or core.is_number(lo, step, -1):
            return lo.build.call(operator.sub, stop, step, type=INT)
        return nth(lo.build.call(operator.sub, length(), ONE, type=INT))

    def from_end(k):
        return lo.build.call(operator.sub, last(), lo.build.call(operator.mul, k, step, type=INT), type=INT)

    def backward():
        def domain():
            before = lo.build.call(operator.sub, start, step, type=INT)
            return Range(last(), before, lo.build.call(operator.neg, step, type=INT))

        return Iterable(domain=domain, element=lambda i: i, length=length, nth=from_end)

    def value():
        bounds = (stop,) if plain else (start, stop) if core.is_number(lo, step, 1) else (start, stop, step)
        known = infer_call(np.arange, [lo.build.arg(b) for b in bounds])  # its dim may be that of another array
        t = known if isinstance(known, Array) and known.dims else Array(np.dtype(int), (Sym(),))
        return lo.build.emit(Call(range, bounds), t, "numbers")

    return Iterable(
        domain=lambda: Range(start, stop, step), element=lambda i: i, length=length, nth=nth, reverse=backward, index_name="i",
        value=value,
    )  # fmt: skip


def enumerated(lo: Lowering, inner: Iterable, start: Value, node) -> Iterable:
    """Make the iterable of `enumerate(inner, start)`."""
    if inner.items is not None:
        first = core.certain(lo, start, node, "`enumerate` from a start that is not known here")
        return listed(ReadWhenTaken(range(len(inner.items)), lambda k: TupleVal((Const(first + k), inner.items[k]))))

    def element(k):
        number = k if core.is_number(lo, start, 0) else lo.build.call(operator.add, k, lo.read(start), type=INT)
        return TupleVal((number, inner.nth(k)))

    return Iterable.numbered(inner.length, element, index_name="i", policy=inner.policy)


def without_generator(lo: Lowering, inner: Iterable, node) -> Iterable:
    """Return the iterable if its elements can be read by index; collect the elements of a generator into a list first."""
    if inner.endless:
        raise core.unsupported(lo, node, "what never ends cannot be turned into a list", "loop over it, and leave with `break`")
    if inner.drive is None:
        return inner
    return core.iterate(lo, sequences.collect(lo, inner, lambda element: element, node), node)


def by_unknown_number(lo: Lowering, inner: Iterable, node) -> Iterable:
    """Return an iterable whose elements can be read by an index that is not known while compiling."""
    if inner.items is None:
        return inner
    items = TupleVal(tuple(inner.items))
    is_table = items.items and all(map(tables.is_constant, items.items))
    return sequence(lo, tables.table(lo, items) if is_table else sequences.as_one_value(lo, items), node)


def zipped(lo: Lowering, parts: list[Iterable], node, strict: bool = False) -> Iterable:
    """Make the iterable of `zip(...)`; with `strict`, Python raises an error after the last row if the lengths differ."""
    parts = [p if p.endless and p.nth is not None else drained(lo, p, node) for p in parts]
    if strict:
        lengths = [len(p.items) if p.items is not None else p.count for p in parts]
        if issubclass(ValueError, lo.catching) and (None in lengths or len(set(lengths)) > 1):
            why = "whether what `zip` takes is of one length decides what is computed"
            raise core.unsupported(lo, node, why, "compare the lengths first")
    known = [p.items for p in parts if not p.endless]

    def row(k: int) -> TupleVal:
        return TupleVal(tuple(p.nth(Const(k)) if p.items is None else p.items[k] for p in parts))

    def rows(count: int) -> Iterable:
        return listed(ReadWhenTaken(range(count), row))

    if known and all(items is not None for items in known):
        return rows(min(map(len, known)))
    if all(p.endless for p in parts):
        return Iterable(nth=lambda k: TupleVal(tuple(p.nth(k) for p in parts)), endless=True)
    counts = [len(p.items) if p.items is not None else p.count for p in parts if not p.endless]
    has_text = any(p.items is not None and any(map(core.is_text, p.items)) for p in parts)
    if None not in counts and (has_text or lo.unrolling):  # strings may serve as keys
        return rows(min(counts))
    if any(p.items is not None for p in parts):
        parts = [by_unknown_number(lo, p, node) for p in parts]

    def length():
        lengths = [p.length() for p in parts if not p.endless]
        if lo.apart and all(isinstance(n, Const) for n in lengths):
            return Const(min(n.value for n in lengths))
        return lengths[0] if len(lengths) == 1 else lo.build.call(min, *lengths, type=INT, name="n")

    def element(k):
        return TupleVal(tuple(p.nth(k) for p in parts))

    policy = next((p.policy for p in parts if p.policy is not None), None)
    return Iterable.numbered(length, element, policy=policy)


def in_groups(lo: Lowering, inner: Iterable, size: int, node) -> Iterable:
    """Make the iterable of `zip(it, it)`, of which each row takes `size` elements of one iterator."""
    inner = inner if inner.endless and inner.nth is not None else drained(lo, inner, node)

    def row(k: Atom | int) -> TupleVal:
        if inner.items is not None:
            return TupleVal(tuple(inner.items[k * size : (k + 1) * size]))
        first = core.operate(lo, operator.mul, k, Const(size))
        return TupleVal(tuple(inner.nth(lo.read(core.operate(lo, operator.add, first, Const(n)))) for n in range(size)))

    if inner.endless:
        return Iterable(nth=row, endless=True)
    if inner.items is not None:
        return listed(ReadWhenTaken(range(len(inner.items) // size), row))
    return Iterable.numbered(lambda: lo.build.call(operator.floordiv, inner.length(), Const(size), type=INT), row)


def reverse(lo: Lowering, inner: Iterable, node) -> Iterable:
    """Make the iterable of `reversed(inner)`."""
    if inner.reverse is None:
        raise core.unsupported(lo, node, "this object cannot be reversed")
    return replace(inner.reverse(), policy=inner.policy)


def drained(lo: Lowering, inner: Iterable, node) -> Iterable:
    """Return what reads the elements by index; those of a generator are taken now if nothing shows that Python takes them one by one."""
    if inner.drive is None or inner.endless:
        return without_generator(lo, inner, node)
    found, reads = at_once(lo, inner, node)
    walks.watch(lo, reads)
    return found


def at_once(lo: Lowering, inner: Iterable, node) -> tuple[Iterable, set]:
    """Take all elements of a generator now if they may be taken later; return them, and the variables and objects that it read."""
    mark, birth, first, outer = lo.journal.mark(), next_birth(), len(lo.build.stmts), lo.reads
    yielded = walks.Yielded(lo)
    with lo.using(reads=set()):
        found, reads = core.iterate(lo, sequences.collect(lo, inner, yielded.note, node), node), lo.reads | slots_of([inner])
    if outer is not None:
        outer |= reads
    for taken in {slots for slots, key in lo.journal.changed(mark, birth) if key is USED or key is TAKEN}:
        lo.set(taken, ENDED, FALSE)  # how many elements of another iterator Python has taken is not known
        lo.set(taken, USED, TRUE)
        lo.set(taken, LEFT, FALSE)
    changed = (slots for slots, key in lo.journal.changed(mark, birth) if not isinstance(key, (Flag, Meta)) or key is VALUE)
    own = None if inner.suspended is None else inner.suspended.scope.names  # the variables of a generator that was begun
    effects = any(has_effect(s.op) for s in lo.build.stmts[first:])
    if effects or any((slots.cell is None or slots.cell.base is None) and slots is not own for slots in changed):
        why = "a generator that changes what others may read is not read to its end at once"
        raise core.unsupported(lo, node, why, "loop over it alone, or make a list of it: `list(...)`")
    if yielded.changed():
        why = "a generator changes what it has yielded, and its elements are not taken one by one here"
        raise core.unsupported(lo, node, why, "yield a copy, or loop over it alone")
    return found, reads
