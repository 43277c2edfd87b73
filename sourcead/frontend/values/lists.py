"""Lower the methods of lists: of known items while compiling, of a length known only at run time to `+`, slices and `Append`.

    xs.extend(ys)      xs = xs + ys
    xs.reverse()       xs = xs[::-1]
    sorted(xs)         [xs[i] for i in order]                     order: the indices that sort `xs`

The order carries no derivative; the derivative of each sorted item goes to the item that it came from.
"""

import collections
import functools
import operator
from collections.abc import Callable

from sourcead import runtime
from sourcead.analysis.builder import atom_type, shrunk_type
from sourcead.frontend import core
from sourcead.frontend.control import branches, loops
from sourcead.frontend.core import Cell, Iterable, Lowering, MustMaterialise, TupleVal, Value, roots
from sourcead.frontend.values import implicit_calls, iterables, sequences
from sourcead.ir.nodes import Atom, Build, Call, Const, Pop, Slice, Stmt, Var
from sourcead.ir.types import BOOL, INT, UNKNOWN, Array, ListT, Scalar, Str, TupleT, join
from sourcead.primitives.result_types.subscripts import some_element

NO_MEMORY = (Scalar, Str)


def as_list(lo: Lowering, value: Value, node) -> Value:
    """Collect the items of any iterable into a list; return the value itself if it is a list."""
    if isinstance(value, Cell) and value.kind == "list" or isinstance(core.data_type(lo, value), ListT):
        lo.alive(value)
        return value
    source = core.iterate(lo, value, node)
    if source.items is not None:
        return lo.new_list(source.items)
    return sequences.collect(lo, source, lambda element: element, node)


def wrap_items(lo: Lowering, atom: Atom, *sources: Value) -> Value:
    """Wrap a new list that holds items of other lists."""
    t = atom_type(atom)
    if isinstance(t, ListT) and isinstance(t.item, NO_MEMORY):
        return lo.wrap(atom)
    made = lo.wrap(atom, shares=[r for s in sources for r in roots(s)])
    inside = [held for s in sources for held in {h for r in roots(s) for h in (r, *r.holds)}]
    if isinstance(made, Cell) and len(inside) > len(set(inside)):  # `xs + xs` has each item twice
        lo.journal.assign(made, "doubled", 2)
    return made


def joined(lo: Lowering, x: Atom, y: Atom) -> Atom:
    """Concatenate the items of `x` and `y` into one list."""
    s, t = atom_type(x), atom_type(y)
    if getattr(s, "items", None) == ():
        return y
    if getattr(t, "items", None) == ():
        return x
    if isinstance(s, TupleT) != isinstance(t, TupleT):  # a tuple whose length is decided at run time is lowered as a list
        x, y = (lo.build.call(list, v, type=UNKNOWN) if isinstance(atom_type(v), TupleT) else v for v in (x, y))
    item = functools.reduce(join, (u for v in (s, t) for u in (v.items if isinstance(v, TupleT) else [getattr(v, "item", UNKNOWN)])))
    return lo.build.emit(Call(operator.concat, (x, y)), ListT(item), getattr(x, "name", "items"))


def part(lo: Lowering, x: Atom, lower: Atom | None, upper: Atom | None, step: Atom | None = None) -> Atom:
    """Emit `x[lower:upper:step]`."""
    return lo.build.index(x, Slice(lower, upper, step), name=getattr(x, "name", None))


def replace_list(lo: Lowering, cell: Cell, change: Callable[[Atom], Atom], grows: bool = False) -> None:
    """Replace the items of a list by those of the list that `change` makes from the old one."""
    lo.resized.append((cell, frozenset()))
    before = lo.read(cell)

    def changed():
        new = change(before)
        return lo.rename(new, before.name, before.temp) if isinstance(new, Var) and isinstance(before, Var) else new

    if cell.base is not None:
        lo.write(cell.base, (cell.step,), changed(), through=True)
    else:
        lo.replace_slot(cell, changed, grows)


# -- methods ---------------------------------------------------------------------------------------------------------------


@core.method.register("list")
def known_method(lo: Lowering, cell: Cell, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a method of a list of known items: apply it to these, or make the list one IR value if the result depends on the run."""
    lo.alive(cell)
    items = cell.contents
    if name in ("append", "extend", "extendleft"):
        {"append": sequences.append, "extend": extend, "extendleft": extend_left}[name](lo, cell, args[0], node)
        return Const(None)
    if name == "copy":
        return lo.like(cell, dict(enumerate(items)), cell.name)
    if name in ("index", "count", "remove") and len(args) == 1:
        known = core.known(lo, TupleVal((*items, *args)))[0] or any(core.class_of(v) is not None for v in (*items, *args))
        found = implicit_calls.places(lo, items, args[0], name != "count") if known else None
        if found is not None and name == "count":
            return Const(len(found))
        if found and name == "index":
            return Const(found[0])
        if found:
            name, args = "pop", [Const(found[0])]
        elif implicit_calls.holds_objects(cell, *args) and name != "remove":
            return (implicit_calls.place_of if name == "index" else implicit_calls.number_of)(lo, items, args[0])
    places = [core.known(lo, a) for a in args[:1]]
    if name in ("pop", "insert", "reverse", "clear", "rotate") and all(found for found, _ in places):
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        row = collections.deque(items) if name == "rotate" else items
        try:
            taken = getattr(row, name)(*(place for _, place in places), *args[1:])
        except (IndexError, TypeError) as error:
            why = f"`{name}` raises {type(error).__name__}: {error}"
            raise core.surely(lo, core.unsupported(lo, node, why), type(error)) from None
        sequences.replace_items(lo, cell, list(row))
        return Const(None) if taken is None else taken
    if name in ("sort", "index", "count", "remove", "pop", "insert"):
        lo.materialise(cell)
        return method(lo, cell, name, args, kwargs, node)
    raise core.unsupported(lo, node, f"the list method `{name}`")


def extend_left(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """Lower `xs.extendleft(value)` of a deque, each item in front of the one before."""
    added = as_list(lo, value, node)  # which may be the deque itself
    loops.for_each(lo, core.iterate(lo, added, node), lambda item: core.call_method(lo, cell, "insert", [Const(0), item], {}, node))


def extend(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """Lower `xs.extend(value)` and `xs += value`."""
    if cell.kind == "list" and not core.has_known_items(value):
        loops.for_each(lo, core.iterate(lo, value, node), lambda item: sequences.append(lo, cell, item, node))
        return sequences.took_all(lo, value)
    added = value if cell.kind == "list" else as_list(lo, value, node)
    if cell.kind == "list" or isinstance(added, Cell) and added.kind == "list" and len(added.items) <= 4:
        for item in sequences.static_items(lo, added, node):
            sequences.append(lo, cell, item, node)
        return
    y = lo.read(added)
    replace_list(lo, cell, lambda x: joined(lo, x, y), grows=True)
    if not isinstance(atom_type(y).item, NO_MEMORY):
        for held in tuple(added.holds) if isinstance(added, Cell) else ():
            lo.hold(cell.root(), held)
        lo.hold(cell.root(), added)


def insert(lo: Lowering, cell: Cell, index: Value, value: Value) -> None:
    """Lower `xs.insert(index, value)`."""
    item = lo.read(value)
    found, k = core.known(lo, index)
    if found and k == 0:
        at = Const(0)
    else:
        n = lo.build.call(len, lo.read(cell), type=INT, name="n")
        bounds = lo.build.call(runtime.slice_bounds, n, lo.read(index), Const(None), type=TupleT((INT, INT)), name="bounds")
        at = lo.build.index(bounds, Const(0), name="place")
    sequences.grow(lo, cell, item, at)
    lo.put(cell, value)


def pop(lo: Lowering, cell: Cell, index: Value | None) -> Value:
    """Lower `xs.pop(index)` and `del xs[index]`."""
    before = lo.read(cell)
    item = Var(f"{before.name}_item", some_element(before.type.item), True)
    at = None if index is None else place(lo, before, index)

    def popped(base, path):
        rest = Var(base.name, shrunk_type(atom_type(base), path, at), base.temp)
        lo.build.add(Stmt((rest, item), Pop(base, path, at)))
        return rest

    sequences.change(lo, cell, popped)
    root = cell.root()
    return lo.wrap(item, shares=roots(root))


def place(lo: Lowering, items: Atom, index: Value) -> Atom | None:
    """Return the position that an index points to, checked to be in range, or None for the last item."""
    found, k = core.known(lo, index)
    if found:
        if k == -1:
            return None
        if k >= 0:
            return Const(k)
    n = lo.build.call(len, items, type=INT, name="n")
    inside = lo.build.index(lo.build.call(range, n), lo.read(index))  # raises the same error as `pop`
    return lo.build.call(int, inside, type=INT, name="place")


def assign_slice(lo: Lowering, cell: Cell, key: Slice, value: Value, node) -> None:
    """Lower `xs[a:b] = value`, which may change the length of the list."""
    if key.step is not None:
        raise core.unsupported(lo, node, "an assignment to every so many items of a list", "write the loop")
    for item in (core.parts_of(value) or {}).values():
        lo.put(cell, item)
    y = lo.read(as_list(lo, value, node))
    if key.lower is not None and key.upper is not None:
        n = lo.build.call(len, lo.read(cell), type=INT, name="n")
        bounds = lo.build.call(runtime.slice_bounds, n, key.lower, key.upper, type=TupleT((INT, INT)), name="bounds")
        start, stop = (lo.build.index(bounds, Const(k), name=name) for k, name in enumerate(("start", "stop")))
    else:
        start, stop = key.lower, key.upper
    replace_list(lo, cell, lambda x: _around(lo, x, start, y, stop))
    lo.hold(cell.root(), value)


def delete_slice(lo: Lowering, cell: Cell, key: Slice, node) -> None:
    """Lower `del xs[a:b:c]`, which takes items with gaps between them, too, where an assignment of no items takes neighbours only."""
    found, place = core.known(lo, key)
    if not found or cell.kind != "list" or cell.depth < lo.depth:
        core.store(lo, cell, key, lo.new_list([]), node)
        return
    lo.alive(cell)
    items = cell.contents
    del items[place]
    sequences.replace_items(lo, cell, items)


def _around(lo: Lowering, x: Atom, start: Atom | None, y: Atom, stop: Atom | None) -> Atom:
    """Emit `x[:start] + y + x[stop:]`."""
    before = y if start is None else joined(lo, part(lo, x, None, start), y)
    return before if stop is None else joined(lo, before, part(lo, x, stop, None))


@core.method.register(ListT)
def method(lo: Lowering, cell: Cell, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `xs.name(...)`."""
    match name, len(args):
        case "append", 1:
            sequences.append(lo, cell, args[0], node)
        case "extend", 1:
            extend(lo, cell, args[0], node)
        case "extendleft", 1:
            extend_left(lo, cell, args[0], node)
        case "insert", 2:
            insert(lo, cell, *args)
        case "pop", 0 | 1:
            return pop(lo, cell, *args or (None,))
        case "reverse", 0:
            replace_list(lo, cell, lambda x: part(lo, x, None, None, Const(-1)))
        case "clear", 0:
            replace_list(lo, cell, lambda x: lo.build.emit(Build("list", ()), ListT(atom_type(x).item), "items"))
        case "sort", 0:
            order = order_of(lo, cell, kwargs.get("key"), kwargs.get("reverse"), node)
            new = gathered(lo, cell, order, node)
            y = lo.read(new)
            replace_list(lo, cell, lambda x: y)
        case "copy", 0:
            return wrap_items(lo, part(lo, lo.read(cell), None, None), cell)
        case ("index" | "count"), 1:
            return lo.build.call(getattr(list, name), lo.read(cell), lo.read(args[0]), type=INT, name="place" if name == "index" else "n")
        case "remove", 1:
            pop(lo, cell, lo.build.call(list.index, lo.read(cell), lo.read(args[0]), type=INT, name="place"))
        case _:
            raise core.unsupported(lo, node, f"the list method `{name}` on a list whose length is not known here")
    return Const(None)


# -- order -----------------------------------------------------------------------------------------------------------------


def keys_of(lo: Lowering, value: Value, key: Value | None, node) -> Atom:
    """Return the keys by which the items of a list or array are compared."""
    if key is None or isinstance(key, Const) and key.value is None:
        return lo.read(value)
    keys = sequences.collect(lo, core.iterate(lo, value, node), lambda e: core.call(lo, key, [e], {}, node), node)
    return lo.read(keys)


def order_of(lo: Lowering, value: Value, key: Value | None, reverse: Value | None, node) -> Value:
    """Emit the indices of the items in sorted order."""
    keys = keys_of(lo, value, key, node)
    options = {} if reverse is None else {"reverse": lo.read(reverse)}
    return lo.wrap(lo.build.call(runtime.sorted_order, keys, type=ListT(INT), name="order", **options))


def gathered(lo: Lowering, value: Value, order: Value, node) -> Value:
    """Collect `[value[i] for i in order]`."""
    return sequences.collect(lo, core.iterate(lo, order, node), lambda i: core.subscript(lo, value, i, node), node)


# -- unpacking -------------------------------------------------------------------------------------------------------------


def starred_items(lo: Lowering, value: Value, before: int, after: int, node) -> list[Value]:
    """Return the values of `a, *b, c = value` for a list or array whose length is not known."""
    whole = lo.read(value)
    n = lo.build.call(len, whole, type=INT, name="n")
    few = lo.build.call(operator.lt, n, Const(before + after), type=BOOL)
    text = Const(f"not enough values to unpack (expected at least {before + after})")
    if before + after:
        branches.branch(lo, few, [lambda: branches.raised_here(lo, ValueError, text), lambda: None])
    item = lambda k: core.subscript(lo, value, Const(k), node)  # noqa: E731
    lower, upper = Const(before) if before else None, Const(-after) if after else None
    middle = as_list(lo, core.subscript(lo, value, Slice(lower, upper, None), node), node)
    return [*map(item, range(before)), middle, *(item(k - after) for k in range(after))]


def transposed(lo: Lowering, rows: Value, node) -> Iterable | None:
    """Iterate over the columns of `zip(*rows)` if `rows` is a matrix or a list of tuples, lists or vectors; return None otherwise."""
    t = atom_type(lo.read(rows))
    row_type = t.item if isinstance(t, ListT) else None
    if not isinstance(row_type, (ListT, Array, TupleT)) and not (isinstance(t, Array) and t.dims is not None and len(t.dims) > 1):
        return None

    def length() -> Atom:
        return lo.build.call(runtime.shortest, lo.read(rows), type=INT, name="n")

    def column(k: Atom) -> Value:
        return sequences.collect(lo, core.iterate(lo, rows, node), lambda row: core.subscript(lo, row, k, node), node)

    if isinstance(row_type, TupleT):
        return iterables.listed([column(Const(k)) for k in range(len(row_type.items))])
    return Iterable.numbered(length, column)
