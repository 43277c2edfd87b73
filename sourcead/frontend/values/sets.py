"""Lower sets of values that carry no derivative, such as labels, indices and names.

    {i, 3}, set(labels)       {i, 3}, set(labels)
    seen.add(k)               seen = seen | {k}, so that a set never changes
    for k in labels           for k in list(labels)

The order of a set depends on how its items were added, so a loop over a set that was added to is refused:
`sorted(seen)`, `k in seen` and `len(seen)` do not need the order. For the same reason `pop` is refused in the run where there are several.
"""

import functools
import operator

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError
from sourcead.frontend import core
from sourcead.frontend.core import Cell, Iterable, Lowering, TupleVal, Value
from sourcead.frontend.values import lists
from sourcead.ir.nodes import Build, Call, Const
from sourcead.ir.types import BOOL, Array, DictT, ListT, MapT, Scalar, SetT, Type, Undefined, join, kind_of, rank

OPERATORS = {
    "union": operator.or_, "intersection": operator.and_, "difference": operator.sub, "symmetric_difference": operator.xor,
}  # fmt: skip
CHANGES = {
    "add": operator.or_, "update": operator.or_, "intersection_update": operator.and_, "discard": operator.sub,
    "difference_update": operator.sub, "symmetric_difference_update": operator.xor,
}  # fmt: skip
"""The operator by which a method changes a set."""
QUESTIONS = ("issubset", "issuperset", "isdisjoint")
COMPARISONS = (operator.eq, operator.ne, operator.le, operator.lt, operator.ge, operator.gt)


def set_type(lo: Lowering, value: Value) -> SetT | None:
    """Return the type of a set, or None for any other value."""
    t = core.data_type(lo, value)
    return t if isinstance(t, SetT) else None


# -- making ----------------------------------------------------------------------------------------------------------------


def of_items(lo: Lowering, items: list[Value]) -> Value:
    """Lower the set display `{a, b}`."""
    atoms = [lo.read(item) for item in items]
    if any(isinstance(atom_type(a), (ListT, DictT, MapT)) for a in atoms):
        raise core.surely(lo, core.refused(lo, "a set of lists or dicts"), TypeError)
    item = functools.reduce(join, map(atom_type, atoms), Undefined())
    return lo.wrap(lo.build.emit(Build("set", tuple(atoms)), SetT(item), "items"))


def made(lo: Lowering, value: Value, node, make=set) -> Value:
    """Lower the set of the elements of an iterable."""
    before = set_type(lo, value)
    if before is not None:
        return new_set(lo, make, value, before)
    t = core.data_type(lo, value)
    if isinstance(t, Array) and rank(t) == 1 and kind_of(t) is not None:
        item: Type = Scalar(kind_of(t), t.dtype)
    else:
        value = lists.as_list(lo, value, node)
        if make is set and isinstance(value, Cell) and value.kind == "list":
            return of_items(lo, value.contents)
        found = atom_type(lo.read(value))
        item = found.item if isinstance(found, ListT) else Undefined()
    return new_set(lo, make, value, SetT(item))


def new_set(lo: Lowering, make, value: Value, t: SetT) -> Value:
    """Emit `make(value)`; a frozenset of items that are known is known, as it cannot change."""
    atom = lo.read(value)
    var = lo.build.call(make, atom, type=t, name="items")
    if make is frozenset and (items := known_items(lo, atom)) is not None:
        lo.build.known[var] = frozenset(items)
    return lo.wrap(var)


def known_items(lo: Lowering, atom) -> tuple | None:
    """Return the items of a list or set that is as it was displayed, if all are known while compiling."""
    display = lo.build.made_by.get(atom)
    if not isinstance(display, Build) or display.kind not in ("list", "set"):
        return None
    found, items = core.known(lo, TupleVal(display.items))
    return items if found else None


for _make in (set, frozenset):
    core.builtin(_make)(lambda lo, args, kwargs, node, make=_make: made(lo, args[0] if args else TupleVal(()), node, make))


def known_members(lo: Lowering, atom) -> tuple | None:
    """Return what is in a set, in any order, if that is known while compiling; None if it is not."""
    match lo.build.made_by.get(atom):
        case Call(operator.sub, (a, b)) if None not in (held := [known_members(lo, a), known_members(lo, b)]):
            return tuple(item for item in held[0] if item not in held[1])
    return known_items(lo, atom)


def known_set(lo: Lowering, value: Value) -> tuple[bool, tuple | frozenset | None]:
    """Tell whether it is known while compiling what is in a set, and return that."""
    found, items = core.known(lo, value)
    items = items if found else known_members(lo, lo.read(value))
    return items is not None, items


# -- reading ---------------------------------------------------------------------------------------------------------------


def listed(lo: Lowering, value: Value, fn=list, options: dict[str, Value] | None = None) -> Value:
    """Lower `list(s)`, for a use that does not depend on the order, or `sorted(s, reverse=r)`."""
    given = {name: lo.read(option) for name, option in (options or {}).items()}
    return lo.wrap(lo.build.call(fn, lo.read(value), type=ListT(set_type(lo, value).item), name="items", **given))


@core.iterate.register(SetT)
def iterate(lo: Lowering, value: Value, node) -> Iterable:
    """Iterate over the items in Python's order; refuse a set whose order is not known."""
    if not set_type(lo, value).ordered:
        raise core.unsupported(lo, node, "the order of a set that was added to is not known here", "use `sorted(...)` of it")
    return core.iterate(lo, listed(lo, value), node)


def operate(lo: Lowering, fn, values: tuple[Value, ...]) -> Value | None:
    """Apply an operator to two sets, or to the view of a dict's keys and what may be a set; return None for other values."""
    if len(values) != 2 or fn not in OPERATORS.values() and fn not in COMPARISONS:
        return None
    views = [isinstance(v, Iterable) and v.like_set for v in values]
    if any(views) and (fn not in COMPARISONS or all(view or set_type(lo, v) for view, v in zip(views, values))):
        values = tuple(v if set_type(lo, v) else made(lo, v, None) for v in values)
    types = [set_type(lo, v) for v in values]
    if None in types:
        return None
    t = BOOL if fn in COMPARISONS else together(*types)
    return lo.wrap(lo.build.call(fn, *map(lo.read, values), type=t, name=None if fn in COMPARISONS else "items"))


def together(a: SetT, b: SetT) -> SetT:
    """Return the type of a set that holds items of two sets."""
    return SetT(join(a.item, b.item), a.ordered and b.ordered)


# -- methods ---------------------------------------------------------------------------------------------------------------


@core.method.register(SetT)
def method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method of a set."""
    match name, len(args):
        case _, 1 if name in CHANGES:
            other = of_items(lo, args) if name in ("add", "discard") else made(lo, args[0], node)
            replace(lo, value, CHANGES[name], other, node)
        case "remove", 1:
            return core.call_object(lo, set.remove, [value, *args], {}, node)
        case "clear", 0:
            replace(lo, value, operator.and_, of_items(lo, []), node)
        case "copy", 0:
            return made(lo, value, node)
        case "pop", 0 if (item := only_item(lo, value)) is not None:
            replace(lo, value, operator.and_, of_items(lo, []), node)
            return item
        case "pop", 0:
            alone = lo.wrap(lo.build.call(runtime.of_one_item, lo.read(value), type=set_type(lo, value), name="items"))
            replace(lo, value, operator.and_, of_items(lo, []), node, alone)
            return core.subscript(lo, listed(lo, alone), Const(0), node)
        case _, 1 if name in OPERATORS:
            return operate(lo, OPERATORS[name], (value, made(lo, args[0], node)))
        case _, 1 if name in QUESTIONS and (answer := answered(lo, value, name, args[0])) is not None:
            return answer
        case _, 1 if name in QUESTIONS:
            other = made(lo, args[0], node)
            return lo.build.call(getattr(set, name), lo.read(value), lo.read(other), type=BOOL)
        case _:
            raise core.unsupported(lo, node, f"the method `{name}` of a set")
    return Const(None)


def answered(lo: Lowering, value: Value, question: str, other: Value) -> Const | None:
    """Return what a set of a global says of a known string, or None for other values."""
    found, items = core.known(lo, other)
    known = core.part_of_global(lo, value) if found and isinstance(items, str) else None
    return Const(getattr(known, question)(items)) if isinstance(known, (set, frozenset)) else None


def only_item(lo: Lowering, value: Value) -> Value | None:
    """Return the item of a set that surely has one item alone, None for any other set."""
    made = lo.build.made_by.get(lo.read(value))
    items = made.items if isinstance(made, Build) else ()
    if items and all(isinstance(i, Const) and not i.live and core.same_constant(i, items[0]) for i in items):
        return items[0]
    return None


def replace(lo: Lowering, cell: Value, fn, other: Value, node, checked: Value | None = None) -> None:
    """Replace the set `cell` by `fn(cell, other)`; `checked` is what it was, as something else found."""
    if not isinstance(cell, Cell) or cell.base is not None or cell.frozen or cell in lo.params:
        reason = getattr(cell, "frozen", None) or "this set was made elsewhere, and others would see that it changes"
        raise AliasError(reason, at=lo.origin(node), instead="make a new set: `s = s | {k}`")
    before = lo.read(cell if checked is None else checked)
    t = together(before.type, set_type(lo, other))
    lo.replace_slot(cell, lambda: lo.build.emit(Call(fn, (before, lo.read(other))), SetT(t.item, False), before.name, before.temp))
