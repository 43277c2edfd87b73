"""Lower assignments to what outlives the call: numbers that a class holds, such as a counter, and attributes of a global object.

    Thing.made += 1             n1 = n0 + 1; Thing.made = n1        n0 is read when the function is called
    STATE.t = t                 before = copy(STATE); ...; STATE.t = t
    history.append(t)           history.append(t)                   nothing is read of the list
    global N; N += 1            ...; module.N = N + 1               at the end of the function, once
    count["n"] += 1             ...; count["n"] = count_n + 1       at the end of the function, once

The text assigns at the same place as the function. What is read from there on is the value assigned, and what is read of a global object
before is read from a copy, which no assignment changes. Numbers, texts and None are assigned this way. Of arrays and lists, which the text
may write later, a copy is assigned, outside of branches and loops; the function may not write them afterwards. The object must have no
second name: neither an argument nor other data may be it, or hold it.

Global and closure variables, and the items of dicts whose keys are known, are variables of the call, which get their last values at its
end. A dict whose keys are not known is only written, in order. What is put into lists and dicts is a number, or a copy of an array.
"""

import collections
import copy
import functools
import operator
import types
from typing import Any, NoReturn

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import (
    MISSING, Cell, DictVal, LogVal, Lowering, MethodVal, Slots, TupleVal, Value, cells_of, roots
)
from sourcead.frontend.core.names import BEFORE_ALL
from sourcead.ir.names import of_part
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const, Stmt
from sourcead.ir.records import find
from sourcead.ir.types import INT, UNKNOWN, NoneType, Scalar, Str, TupleT, Type, carries_derivative, parts


def is_number_of_class(value: Value, name: str) -> bool:
    """Tell whether `value.name` is a number that the class or function `value` itself holds, and that an assignment replaces."""
    cls = value.value if isinstance(value, Const) and not value.live else None
    is_own = isinstance(cls, type | types.FunctionType) and not core.is_library(cls)
    if not is_own or isinstance(find(type(cls), "__setattr__")[1], types.FunctionType):
        return False
    return isinstance(found := vars(cls).get(name), (int, float)) and not isinstance(found, bool) and find(type(cls), name)[0] is None


def set_number_of_class(lo: Lowering, value: Const, name: str, new: Value) -> None:
    """Lower `cls.name = new`."""
    cls: Any = value.value
    slots = lo.modules.setdefault(id(cls), Slots())
    slots.birth = BEFORE_ALL
    if name not in slots:
        slots[name] = core.live_data(lo, name, vars(cls)[name], (cls, name))
    assign(lo, slots, value, name, new, (Scalar,))


core.attribute.register(LogVal, DictVal)(lambda lo, changed, name, node: MethodVal(changed, name))

core.iterate.register(LogVal)(lambda lo, log, node: log.value())
core.subscript.register(LogVal)(lambda lo, log, key, node: log.value())
core.store.register(LogVal)(lambda lo, log, key, new, node, mode="set": log.value())


@core.iterate.register(DictVal)
def iterate(lo: Lowering, outside: DictVal, node) -> NoReturn:
    """Refuse to take the items of a dict that is changed."""
    raise core.refused(lo, f"the items of `{outside.dict.text}`, a dict from outside of the function, which changes it", READ_BEFORE)


@core.method.register(LogVal)
def append(lo: Lowering, log: LogVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `history.append(number)` or `.extend(list)` for a list that is global data, and of which the function reads nothing."""
    listed = len(args) == 1 and (isinstance(args[0], TupleVal) or isinstance(args[0], Cell) and args[0].kind == "list")
    if len(args) != 1 or name != "append" and not (name == "extend" and listed):
        log.value()
    change(lo, getattr(list, name), (log.list, kept(lo, args[0]) or log.value()))
    return Const(None)


def change(lo: Lowering, fn: Any, operands: tuple[Atom, ...], **made: Any) -> Atom:
    """Emit a change of a list or dict from outside of the function, at this place among all others."""
    if lo.cached is not None or lo.in_pairs:
        raise core.refused(lo, "what outlives the call is changed in a function that calls itself, or has a cache", "a loop")
    return lo.build.emit(Call(fn, operands, effect=True), **made) if made else lo.build.add(Stmt((), Call(fn, operands, effect=True)))


def kept(lo: Lowering, value: Value) -> Atom | None:
    """Return what a list or dict from outside is given: numbers, texts, None, and copies of arrays without another name.

    An array that has one may not be written from here on, since Python's list would hold what is written.
    """
    if any(leaf.kind == "object" for leaf in cells_of(value)):
        return None
    atom, cells = lo.read(value), [*cells_of(value), *roots(value)]
    if not cells:
        return atom if is_plain(atom_type(atom)) else None
    if any(cell in lo.params for cell in cells):  # the caller's memory, which the caller may write
        return None
    named = {root for visible in lo.visible() for root in (*cells_of(visible), *roots(visible))}
    if lo.depth and (named.intersection(cells) or any(cell.shares or cell.held_by for cell in cells)):
        return None
    for leaf in cells:
        lo.journal.assign(leaf, "frozen", KEPT)
    return lo.build.call(copy.deepcopy, atom, type=atom_type(atom))


def is_plain(t: Type) -> bool:
    """Tell whether a type is of numbers, texts and None, or tuples of these."""
    return isinstance(t, Scalar | Str | NoneType) or isinstance(t, TupleT) and all(map(is_plain, parts(t)))


@core.subscript.register(DictVal)
def item(lo: Lowering, outside: DictVal, key: Value, node) -> Value:
    """Lower `d[key]` for a dict that is global data and is changed: the item is read before the call, or was assigned in it."""
    found, key = core.known(lo, key)
    held = outside.dict.value
    if not found or outside.slots in lo.filled:
        raise core.refused(lo, f"an item of `{outside.dict.text}` is read here, and which one was assigned is not known", READ_BEFORE)
    if key in outside.slots:
        return outside.slots[key]
    if key not in held:
        lo.guards[id(held), key] = held, key, MISSING
        if isinstance(held, collections.Counter):
            return Const(0)
        factory = getattr(held, "default_factory", None)
        if factory in (int, float):
            store_item(lo, outside, Const(key), Const(factory()), node)
            return outside.slots[key]
        if factory is list:
            return log_in(lo, outside, operator.getitem, Const(key))
        raise core.surely(lo, core.refused(lo, f"`{outside.dict.text}` has no key {key!r} before the call"), KeyError)
    return core.outside(lo, of_part(outside.dict.text, key), held, key)


def log_in(lo: Lowering, outside: DictVal, fn: Any, *operands: Atom) -> LogVal:
    """Return the list at a key which the dict lacks before the call."""
    made = change(lo, fn, (outside.dict, *operands), type=UNKNOWN, name="log")
    return LogVal(made, lambda: core.refuse_log(lo, outside.dict.text))


@core.method.register(DictVal)
def method(lo: Lowering, outside: DictVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `d.setdefault(key, []).append(number)` and `d.get(key, number)`."""
    found, key = core.known(lo, args[0]) if args else (False, None)
    if name not in ("get", "setdefault") or not found or kwargs:
        raise core.refused(lo, f"`{outside.dict.text}.{name}(...)` of a dict from outside of the function, which is changed", READ_BEFORE)
    if key in outside.dict.value or key in outside.slots:
        return item(lo, outside, Const(key), node)
    lo.guards[id(outside.dict.value), key] = outside.dict.value, key, MISSING
    if name == "get":
        return (*args, Const(None))[1]
    if len(args) == 2 and isinstance(args[1], Cell) and args[1].kind == "list" and not args[1].items:
        return log_in(lo, outside, dict.setdefault, Const(key), lo.read(args[1]))
    store_item(lo, outside, args[0], (*args, Const(None))[1], node)
    return outside.slots[key]


@core.store.register(DictVal)
def store_item(lo: Lowering, outside: DictVal, key: Value, new: Value, node, mode: str = "set") -> None:
    """Lower `d[key] = new`: the last value of a key that is known is left in the dict at the end, others are put there at once."""
    found, word = core.known(lo, key)
    name, slots = outside.dict.text, outside.slots
    if found and slots not in lo.filled:
        if word not in slots:
            at = outside.dict.value
            if word in at:
                slots.initial[word] = slots[word] = item(lo, outside, Const(word), node)
            elif lo.depth:
                raise core.refused(lo, f"`{name}` gets the key {word!r} in a branch or loop", "give the dict this key before the call")
            else:
                lo.guards[id(at), word] = at, word, MISSING
                slots.initial[word] = MISSING
        lo.set(slots, word, new)
        return
    atom = kept(lo, new)
    if slots or atom is None:
        why = f"`{name}` gets an item here whose key, or value, is not known before the program runs"
        raise core.refused(lo, why, f"numbers alone, and nothing else with this dict; or {core.RETURN_IT}")
    lo.filled.add(slots)
    change(lo, operator.setitem, (outside.dict, lo.read(key), atom))


def count_items(lo: Lowering, outside: LogVal | DictVal) -> Atom:
    """Lower `len(d)` or `len(history)`, the number of items now."""
    if isinstance(outside, LogVal):
        return change(lo, len, (outside.list,), type=INT, name="n")
    if outside.slots:
        raise core.refused(lo, f"`len` of `{outside.dict.text}`, of which items are assigned", READ_BEFORE)
    lo.filled.add(outside.slots)
    return change(lo, len, (outside.dict,), type=INT, name="n")


def leave_in_names(lo: Lowering, at_end: bool = False) -> None:
    """Emit the assignments of the values of global and closure variables, and of items of global dicts, before other code may read them.

    That is at the end of the function, and where it calls what is not lowered, which is refused in a branch or loop, and if a value may
    carry a derivative, which would be lost there.
    """
    if lo.in_pairs or lo.depth:
        core.refuse_changed_globals(lo)
    for slots, name, error in list(core.changed_globals(lo)):
        new = slots.get(name, UNDEFINED)
        atom = None if lo.may_be_missing(new) else kept(lo, new)
        if atom is None or not at_end and carries_derivative(atom_type(atom)):
            raise error
        owner, value = slots.owner, slots.owner.value
        put = operator.setitem if isinstance(value, dict) else setattr
        key = Const("cell_contents" if isinstance(value, types.CellType) else name)
        lo.build.add(Stmt((), Call(put, (owner, key, atom), effect=True)))
        lo.left[slots, name] = new


COPYING = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__")


def set_attribute(lo: Lowering, cell: Cell, name: str, new: Value) -> None:
    """Lower `obj.name = new` for an object that is global data."""
    owner = lo.global_objects[cell]
    cached = any(isinstance(found, functools.cached_property) for base in cell.cls.__mro__ for found in vars(base).values())
    if cached or any(find(cell.cls, each)[0] not in (None, object, types.SimpleNamespace) for each in COPYING):
        why = f"`.{name}` of `{owner.text}` is assigned, whose class says itself how it is copied, or keeps properties"
        raise core.refused(lo, why, "an object made inside the function")
    if id(owner.value) not in lo.outliving:
        why = f"`.{name}` is assigned here, but `{owner.text}` is not a parameter of the function"
        raise core.marked(core.refused(lo, why, "an object made inside the function"), outliving=frozenset({id(owner.value)}))
    cell.frozen, frozen = None, cell.frozen
    lo.changed(cell)
    cell.frozen = frozen  # what may be this object is refused
    if lo.depth == 0 and isinstance(new, (Cell, TupleVal)) and not any(leaf.kind == "object" for leaf in cells_of(new)):
        keep_copy(lo, cell.slots, owner, name, new)
    else:
        assign(lo, cell.slots, owner, name, new, (Scalar, Str, NoneType))


KEPT = "what outlives the call was given it, in which it would change too"
READ_BEFORE = "read it before the call, and give it to the function as an argument"


def keep_copy(lo: Lowering, slots: Slots, owner: Const, name: str, new: Value) -> None:
    """Emit the assignment of a copy of arrays and lists, which may not be written from here on: the object would have to change too."""
    atom = lo.read(new)
    for leaf in [*cells_of(new), *roots(new)]:
        lo.journal.assign(leaf, "frozen", KEPT)
    lo.set(slots, name, new)
    kept = lo.build.call(copy.deepcopy, atom, type=atom_type(atom))
    lo.build.add(Stmt((), Call(setattr, (owner, Const(name), kept), effect=True)))


def assign(lo: Lowering, slots: Slots, owner: Const, name: str, new: Value, kinds: tuple) -> None:
    """Emit an assignment to an attribute of what outlives the call."""
    atom: Atom | None = None if isinstance(new, Cell) and new.kind != "array" else lo.read(new)
    if atom is None or not isinstance(atom_type(atom), kinds) or lo.cached is not None or lo.in_pairs:
        why = f"`.{name}` of `{owner.text or owner.value}`, which outlives the call, is assigned what is not known to be a number"
        raise core.refused(lo, why, "an object made inside the function")
    lo.set(slots, name, atom)
    lo.build.add(Stmt((), Call(setattr, (owner, Const(name), atom), effect=True)))
