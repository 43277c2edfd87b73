"""Find out which arrays are in C order in memory: of these `reshape` and `ravel` give views, of others copies.

NumPy decides this at run time, and the effect of a write through the result depends on it.  This module follows the layout from
the calls that make arrays: constructors, arithmetic on arrays in C order, and new arrays with one axis.  Arguments are
assumed to be in C order; where the meaning of the program depends on it, the generated code checks it on entry (`check_layout`).
"""

import operator
import types
from typing import Any

import gast
import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import SEEN, VALUE, WHOLE, Cell, FunctionVal, TupleVal, Value, leaves, roots
from sourcead.ir.nodes import Atom, Call, Const, Index, Let, Operand, Slice, Sub, Update, Var, View
from sourcead.ir.types import INT, Array, Scalar, Str, Sym, Type, kind_of, rank
from sourcead.primitives.table import record_of

NOWHERE: frozenset[Var] = frozenset()
REAL = ("float", "int", "bool")


def in_c_order(lo, value: Value | Operand, found: dict[Var, frozenset[Var] | None] | None = None) -> frozenset[Var] | None:
    """Return the arguments that must be in C order for the value to be in C order, or None if that is not known.

    `found` has the answers for the variables met so far: the operands of a long formula lead to the same few variables.
    """
    found = {} if found is None else found
    match value:
        case Cell() if value.kind != "array":
            return NOWHERE
        case Cell(base=None, first=first):
            if value in lo.params:
                return frozenset({first}) if isinstance(first, Var) and isinstance(first.type, Array) else None
            return None if first is None else in_c_order(lo, first, found)
        case Cell(base=base, step=step):
            return None if step is None else _part(lo, base, step, found)
        case tuple() | TupleVal():
            needs = [in_c_order(lo, v, found) for v in (value if isinstance(value, tuple) else value.items)]
            return None if None in needs else NOWHERE.union(*needs)
        case None | Slice():
            return NOWHERE
        case Var():
            if value not in found:
                found[value] = _atom(lo, value, found)
            return found[value]
        case Const():
            return _atom(lo, value, found)
    return None


def _atom(lo, atom: Atom, found) -> frozenset[Var] | None:
    t = atom_type(atom)
    if isinstance(t, Scalar) or isinstance(atom, Const) and not atom.live:
        return NOWHERE
    owner = lo.version_of.get(atom)
    if owner is not None and owner.first is not atom:
        return in_c_order(lo, owner, found)
    if any(cell.first is atom for cell in lo.params):
        return frozenset({atom}) if isinstance(t, Array) else None
    match lo.build.made_by.get(atom):
        case Update(base) | Let(base):
            return in_c_order(lo, base, found)
        case Index(base, key):
            return _part(lo, base, Sub(key), found)
        case Call(fn, args, kwargs):
            return _result(lo, fn, args, dict(kwargs), t, found)
    return None


def _result(lo, fn, args, kwargs, t, found) -> frozenset[Var] | None:
    """Return the arguments that must be in C order for the result of a call to be in C order, or None if that is not known."""
    if isinstance(fn, Var) or not asks_for_rows(args, kwargs):
        return None
    known = record_of(fn)
    if known.view == "reshape":
        return NOWHERE if fn is np.ravel else in_c_order(lo, args[0], found)
    if known.view is not None and (known.view != "maybe" or known.order is None):
        return _part(lo, args[0], View(fn, args[1:], tuple(kwargs.items())), found) if args else None
    if known.order == "C" or rank(t) == 1:
        return NOWHERE
    return in_c_order(lo, (*args, *kwargs.values()), found) if known.order == "keeps" else None


def asks_for_rows(args, kwargs) -> bool:
    """Tell whether no argument of a call, given by position or by name, asks for another order than C."""
    texts = (a for a in (*args, *kwargs.values()) if not isinstance(a, (tuple, Slice)) and isinstance(atom_type(a), Str))
    return all(isinstance(a, Const) and a.value not in ("F", "A", "K") for a in texts)


def _part(lo, base, step: Sub | View, found) -> frozenset[Var] | None:
    """Return the arguments that must be in C order for a view of `base` to be in C order, or None if that is not known."""
    if isinstance(step, View) and step.fn is np.transpose and isinstance(base, Cell) and base.base is not None:
        under = base.step  # the transpose of a transpose
        if isinstance(under, View) and under.fn is np.transpose and not (step.args or step.kwargs or under.args or under.kwargs):
            return in_c_order(lo, base.base, found)
    whole = in_c_order(lo, base, found)
    t = atom_type(lo.read(base) if isinstance(base, Cell) else base)
    axes = rank(t)
    if whole is None or axes is None:
        return None
    if isinstance(step, View):
        if step.fn is np.real and kind_of(t) not in REAL:  # every other number of a complex array
            return None
        order = record_of(step.fn).order
        return whole if order == "keeps" or keeps_order_of_axes(lo, t, step) else None
    parts = step.key if isinstance(step.key, tuple) else (step.key,)
    for k, part in enumerate(parts):
        if isinstance(part, Slice):  # consecutive rows are contiguous; a further subscript of each row leaves gaps
            return whole if part.step is None and k == len(parts) - 1 else None
        if isinstance(part, tuple) or not isinstance(atom_type(part), Scalar):
            return None
    return whole


def without_memory_order(lo, fn, args, kwargs, node):
    """Drop `order="K"` or `"A"` from the arguments of a call, provided that the array is in C order; all are one on one axis."""
    place = {np.ravel: 1, np.ndarray.flatten: 1, np.reshape: 2}.get(fn, 0)
    order = args[place] if 0 < place < len(args) else kwargs.get("order")
    if place == 0 or not isinstance(order, Const) or order.value not in ("K", "A", "F"):
        return args, kwargs
    if order.value == "F" and (fn is np.reshape or rank(core.data_type(lo, args[0])) != 1):
        return args, kwargs
    needs = NOWHERE if order.value == "F" else in_c_order(lo, args[0])
    if needs is None:
        why = f"`order={order.value!r}` follows the memory of an array of which it is not known how it lies"
        raise core.unsupported(lo, node, why, "order='C' or order='F'")
    lo.layouts |= needs
    return args[:place], {k: v for k, v in kwargs.items() if k != "order"}


def copied(lo, fn, base: Cell, operands, named: dict[str, Operand]) -> Value | None:
    """Lower `reshape` or `ravel` to a copy, or return None if the result is not known to be one."""
    needs = arguments_if_copied(lo, fn, base, operands, named)
    if needs is None:
        return None
    cell = lo.wrap(lo.build.applied(fn, operands, named), shares=roots(base))
    cell.apart = dict.fromkeys(roots(base), needs)
    return cell


def arguments_if_copied(lo, fn, base: Cell, operands, named: dict[str, Operand]) -> frozenset[Var] | None:
    """Return the arguments that must be in C order for `reshape` or `ravel` to give a copy, or None if it is not known to give one.

    It does for `reshape(-1)` or `ravel` of an array in C order whose axes were brought into another order, unless these have length
    one. Of parts of arrays whose sizes are known, NumPy shows what it gives, on an array of the same sizes.
    """
    flat = fn is np.ravel or len(operands) == 2 and isinstance(operands[1], Const) and operands[1].value == -1
    if flat and base.base is not None and isinstance(base.step, View) and asks_for_rows(operands[1:], named):
        if keeps_order_of_axes(lo, atom_type(lo.read(base.base)), base.step) is False:
            return in_c_order(lo, base.base)
    steps, root = [View(fn, operands[1:], tuple(named.items()))], base
    while root.base is not None and root.step is not None:
        steps, root = [root.step, *steps], root.base
    dims = getattr(atom_type(lo.read(root)), "dims", None)
    if root.base is not None or dims is None or not all(isinstance(n, int) for n in dims) or 0 in dims:
        return None
    array = np.zeros(dims)
    for step in steps:
        part = example_of(lo, array, step)
        if part is None or step is not steps[-1] and not np.shares_memory(array, part):
            return None
        array, whole = part, array
    return None if array.size == 0 or np.shares_memory(whole, array) else in_c_order(lo, root)


def example_of(lo, array: np.ndarray, step: Sub | View) -> np.ndarray | None:
    """Return what a step into an array leads to, None if that is not known before the program runs, or raises an error there."""
    options = {} if isinstance(step, Sub) else dict(step.kwargs)
    found, given = core.known(lo, _tuples((step.key,) if isinstance(step, Sub) else (*step.args, *options.values())))
    if not found or isinstance(step, View) and step.fn in (np.real, np.imag):  # which depend on the dtype
        return None
    try:
        plain = len(given) - len(options)
        part = array[given[0]] if isinstance(step, Sub) else step.fn(array, *given[:plain], **dict(zip(options, given[plain:])))
    except (ValueError, IndexError, TypeError):
        return None
    return part if isinstance(part, np.ndarray) else None


def keeps_order_of_axes(lo, t: Type, step: View) -> bool | None:
    """Tell whether a view such as `a.T`, of an array of type `t`, keeps the order of the axes longer than one; None if not known."""
    dims = getattr(t, "dims", None)
    if dims is None or record_of(step.fn).order != "axes" or (example := example_of(lo, np.empty(range(len(dims))), step)) is None:
        return None
    order = example.shape
    maybe = [k for k in order if dims[k] != 1]
    longer = [k for k in maybe if not isinstance(dims[k], Sym) or dims[k].many]
    if maybe == sorted(maybe):
        return True
    may_be_empty = any(n.least < 1 if isinstance(n, Sym) else n == 0 for n in dims)
    return None if may_be_empty or longer == sorted(longer) else False


def _tuples(operand: Operand) -> Value:
    return TupleVal(tuple(map(_tuples, operand))) if isinstance(operand, tuple) else operand


def reshaped(lo, fn, base: Value, operands, kwargs) -> Cell | None:
    """Return the view that `reshape`, `ravel` and `.flat` give of an array in C order, or None if it is not known to be a view."""
    if not isinstance(base, Cell):
        return None
    needs = NOWHERE if keeps_shape(lo, base, operands) else in_c_order(lo, base)
    if needs is None:
        return None
    cell = lo.view(base, View(fn, operands[1:], tuple(kwargs.items())))
    cell.needs = needs
    lo.read(cell)
    return cell


def keeps_shape(lo, base: Cell, operands) -> bool:
    """Tell whether an array is reshaped to its own shape, which gives a view in any layout."""
    dims = getattr(atom_type(lo.read(base)), "dims", None)
    shape = operands[1].value if len(operands) == 2 and isinstance(operands[1], Const) else None
    return dims is not None and all(isinstance(n, int) for n in dims) and shape in (dims, list(dims))


def parts_of_unstack(lo, base: Cell, options: list[Value], named: dict[str, Value], whole: Var) -> TupleVal | None:
    """Return the views that `np.unstack` gives, None if these are not known; until the array is written, they are the items of `whole`."""
    array, axis = lo.read(base), named.get("axis", *(options or [Const(0)]))
    parts, axes = getattr(atom_type(whole), "items", None), rank(atom_type(array)) or 0
    if parts is None or axes < 2 or not isinstance(axis, Const) or not isinstance(axis.value, int):
        return None
    before = (Slice(None, None, None),) * (axis.value % axes)
    return TupleVal(tuple(_part_of(lo, base, (*before, Const(k)) if before else Const(k), whole, k) for k in range(len(parts))))


def _part_of(lo, base: Cell, key: Operand, whole: Var, k: int) -> Cell:
    """Return the view `base[key]`, which is the item at `k` of the list or tuple `whole` until the array is written."""
    view = lo.view(base, Sub(key))
    lo.set(view.slots, VALUE, lo.build.index(whole, Const(k), name=f"{whole.name}_{k}"))
    lo.set(view.slots, SEEN, lo.read(base))
    return view


def are_apart(one: Value, other: Value) -> bool:
    """Tell whether two arrays surely share no memory, or are different rows of one array."""
    if not set(roots(one)) & set(roots(other)):
        return True
    keys = [v.step.key.value for v in (one, other) if isinstance(v.step, Sub) and isinstance(v.step.key, Const)]
    return one.base is other.base and len(keys) == 2 and all(type(k) is int and k >= 0 for k in keys) and keys[0] != keys[1]


SPLITS = {np.split: 0, np.array_split: 0, np.vsplit: 0, np.hsplit: 1, np.dsplit: 2}  # function -> its axis if none is given


def parts_of_split(lo, fn, base: Cell, options: list[Value], named: dict[str, Value], whole: Var) -> Cell | None:
    """Return the list `whole` that `np.split` and its like give as the views that it consists of, None if these are not known.

    Until the array is written, the parts are the items of that list.
    """
    given = {**dict(zip(("indices_or_sections", "axis"), options)), **named}
    axis = given.get("axis", Const(SPLITS[fn]))
    array, parts = lo.read(base), getattr(atom_type(whole), "items", None)
    axes = rank(atom_type(array))
    if parts is None or axes is None or not isinstance(axis, Const) or not isinstance(axis.value, int):
        return None
    along = min(axis.value % axes, 0 if fn is np.hsplit and axes == 1 else axes)
    bounds = bounds_of_split(lo, fn, array, along, given["indices_or_sections"])
    if bounds is None:
        return None
    views = []
    for k, (first, last) in enumerate(zip((None, *bounds), (*bounds, None))):
        cut = Slice(first, last, None)
        views.append(_part_of(lo, base, (*(Slice(None, None, None),) * along, cut) if along else cut, whole, k))
    cell = lo.new_list(views, whole.name)
    cell.slots[WHOLE] = whole
    return cell


def bounds_of_split(lo, fn, array: Atom, axis: int, places: Value) -> list[Atom] | None:
    """Return where `np.split` cuts an axis, None if that is not known."""
    if not isinstance(places, Const):
        cuts = [places.items[k] for k in range(len(places.items))] if core.parts_of(places) is not None else [None]
        return cuts if all(isinstance(cut, (Var, Const)) and atom_type(cut) == INT for cut in cuts) else None
    count, size = places.value, atom_type(array).dims[axis]
    if not isinstance(count, int) or count < 1:
        return None
    if isinstance(size, int):
        each, more = divmod(size, count)
        return [Const(k * each + min(k, more)) for k in range(1, count)]
    if fn is np.array_split:
        return None
    each = lo.build.call(operator.floordiv, lo.build.index(lo.build.attr(array, "shape"), Const(axis)), places)
    return [lo.build.call(operator.mul, each, Const(k)) for k in range(1, count)]


def view_of_einsum(args: list[Value]) -> tuple[Any, list[Value]]:
    """Return the function, and its arguments, that gives the view that a call of einsum gives of one array, or the call itself.

    It is a view of its diagonals, as for `"ijj->ij"`, or one with its axes in another order.
    """
    if len(args) != 2 or not core.is_text(args[0]) or not isinstance(args[1], Cell):
        return np.einsum, args
    letters, arrow, output = args[0].value.replace(" ", "").partition("->")
    if not arrow or not letters.isalpha() or len(output) != len(set(output)) or set(letters) != set(output):
        return np.einsum, args
    if len(letters) > len(output):
        return runtime.diagonals, args[::-1]
    return np.transpose, [args[1], Const(tuple(map(letters.index, output)))]


def is_new(fn: Any, operands: tuple[Operand, ...]) -> bool:
    """Tell whether a call is an einsum that is surely no view: it has several operands, or a letter that the result does not have."""
    if fn is not np.einsum or not operands or not isinstance(operands[0], Const) or operands[0].live:
        return False
    inputs, arrow, output = operands[0].value.partition("->")
    letters = [c for c in inputs if c.isalpha()]
    return len(operands) > 2 or any(c not in output if arrow else letters.count(c) > 1 for c in letters)


LEAST_AXES = {np.atleast_1d: 1, np.atleast_2d: 2, np.atleast_3d: 3}


def gives_the_same(lo, fn, base: Value | None, options: tuple[Operand, ...] = ()) -> bool:
    """Tell whether `np.asarray(a)`, or a similar function, returns the array itself; `options` may name the dtype that it has."""
    if not isinstance(base, Cell) or not isinstance(t := atom_type(lo.read(base)), Array) or lo.static_only:
        return False
    if options and (fn not in (np.asarray, np.asanyarray) or len(options) > 1 or converts(lo, base, options[0]) is not False):
        return False
    if fn is np.real:
        return kind_of(t) in REAL
    if fn is np.ascontiguousarray:
        return rank(t) != 0 and in_c_order(lo, base) == NOWHERE
    return rank(t) is not None and rank(t) >= LEAST_AXES.get(fn, 0)


def converts(lo, base: Cell, dtype: Value | None) -> bool | None:
    """Tell whether an array has another dtype than `dtype`, where None stands for its own; None if that is not known."""
    t = atom_type(lo.read(base))
    if dtype is None or isinstance(dtype, Const) and dtype.value is None:
        return False
    if not isinstance(dtype, Const) or dtype.live or not isinstance(t, Array) or t.dtype is None:
        return None
    try:
        return np.dtype(dtype.value) != t.dtype
    except TypeError:
        return None


def is_temporary(lo, args: list[Value], node) -> bool:
    """Tell whether a view is taken of a temporary array that no name or container refers to: `np.arange(6.0).reshape(2, 3)`."""
    base = args[0]
    if not isinstance(base, Cell) or base.kind != "array":
        return False
    made = lo.build.made_by.get(base.first)
    if base.base is not None or base.held_by or base.shares or not isinstance(made, Call) or isinstance(made.fn, Var):
        return False
    if record_of(made.fn).view:
        return False
    if not lo.build.stmts or base.first not in lo.build.stmts[-1].targets or base.slots.get(VALUE) is not base.first:
        return False
    if any(has_inside(slots.get(key), base) for slots, key, *_ in lo.journal.entries[base.mark :]):
        return False
    match node:
        case gast.Attribute(value=inner):
            pass
        case gast.Call(func=func, args=given):
            inner = given[0] if given and is_function_of_module(lo, func) else getattr(func, "value", None)
        case _:
            return False
    match inner:  # the call that made it must be here, not in a function of the program, which might have kept the array
        case gast.Call(func=gast.Attribute(attr=name)):
            return name == getattr(made.fn, "__name__", None)
        case gast.BinOp():
            return getattr(made.fn, "__module__", None) == "_operator"
    return False


def has_inside(value: Value | None, cell: Cell) -> bool:
    """Tell whether an array is inside a value, or among the variables that a function inside it can read."""
    for leaf in leaves(value):
        scope = leaf.scope if isinstance(leaf, FunctionVal) else None
        while scope is not None and not any(cell in leaves(held) for held in scope.names.values()):
            scope = scope.parent
        if leaf is cell or scope is not None:
            return True
    return False


def is_function_of_module(lo, func) -> bool:
    """Tell whether the function of a call is spelled `np.reshape` rather than `a.reshape`."""
    while isinstance(func, gast.Attribute):
        func = func.value
    return isinstance(func, gast.Name) and isinstance(getattr(core.lower(lo, func), "value", None), types.ModuleType)
