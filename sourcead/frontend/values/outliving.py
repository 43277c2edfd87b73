"""Lower assignments to what outlives the call: numbers that a class holds, such as a counter, and attributes of a global object.

    Thing.made += 1             n1 = n0 + 1; Thing.made = n1        n0 is read when the function is called
    STATE.t = t                 before = copy(STATE); ...; STATE.t = t
    history.append(t)           history.append(t)                   nothing is read of the list

The text assigns at the same place as the function. What is read from there on is the value assigned, and what is read of a global object
before is read from a copy, which no assignment changes. Numbers, texts and None are assigned this way. Of arrays and lists, which the text
may write later, a copy is assigned, outside of branches and loops; the function may not write them afterwards. The object must have no
second name: neither an argument nor other data may be it, or hold it.
"""

import copy
import functools
import types
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Cell, LogVal, Lowering, MethodVal, Slots, TupleVal, Value, cells_of, roots
from sourcead.frontend.core.names import BEFORE_ALL
from sourcead.ir.nodes import Atom, Call, Const, Stmt
from sourcead.ir.records import find
from sourcead.ir.types import NoneType, Scalar, Str


def is_number_of_class(value: Value, name: str) -> bool:
    """Tell whether `value.name` is a number that the class `value` itself holds, and that an assignment replaces."""
    cls = value.value if isinstance(value, Const) and not value.live else None
    if not isinstance(cls, type) or core.is_library(cls) or isinstance(find(type(cls), "__setattr__")[1], types.FunctionType):
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


core.attribute.register(LogVal)(lambda lo, log, name, node: MethodVal(log, name))

core.iterate.register(LogVal)(lambda lo, log, node: log.value())


@core.method.register(LogVal)
def append(lo: Lowering, log: LogVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `history.append(number)` for a list that is global data, and of which the function reads nothing."""
    if name != "append" or len(args) != 1 or isinstance(args[0], Cell) and args[0].kind != "array":
        log.value()
    atom = lo.read(args[0])
    if not isinstance(atom_type(atom), (Scalar, Str, NoneType)) or lo.cached is not None or lo.in_pairs:
        log.value()
    lo.build.add(Stmt((), Call(list.append, (log.list, atom), effect=True)))
    return Const(None)


COPYING = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__")


def set_attribute(lo: Lowering, cell: Cell, name: str, new: Value) -> None:
    """Lower `obj.name = new` for an object that is global data."""
    owner = lo.global_objects[cell]
    cached = any(isinstance(found, functools.cached_property) for base in cell.cls.__mro__ for found in vars(base).values())
    if cached or any(find(cell.cls, each)[0] not in (None, object) for each in COPYING):
        why = f"`.{name}` of `{owner.text}` is assigned, whose class says itself how it is copied, or keeps properties"
        raise core.refused(lo, why, "an object made inside the function")
    if id(owner.value) not in lo.outliving:
        why = f"`.{name}` is assigned here, but `{owner.text}` is not a parameter of the function"
        raise core.marked(core.refused(lo, why, "an object made inside the function"), outliving=id(owner.value))
    cell.frozen, frozen = None, cell.frozen
    lo.changed(cell)
    cell.frozen = frozen  # what may be this object is refused
    if lo.depth == 0 and isinstance(new, (Cell, TupleVal)) and not any(leaf.kind == "object" for leaf in cells_of(new)):
        keep_copy(lo, cell.slots, owner, name, new)
    else:
        assign(lo, cell.slots, owner, name, new, (Scalar, Str, NoneType))


KEPT = "it was assigned to an attribute of an object that outlives the call, in which it would change too"


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
