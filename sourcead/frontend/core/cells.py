"""Define the values that a name can have while a function is lowered.

An *atom* (`Var` or `Const`) is a value that cannot change. A `Cell` is an object that can: an array, a list, a dict. Names of the same
object are bound to the same cell, so that a write is seen under all of them.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead.frontend.core.journal import FALSE, KIND, MISSING, POISON, VALUE, Flag, Meta, Slots
from sourcead.ir.dict_classes import DictClass
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Policy, Range, Slice, Sub, Var, View
from sourcead.ir.types import Array, Scalar, Str


class Flat(View):
    """The step to `array.flat`, all elements in C order, which NumPy copies where a part of them is read."""


@dataclass(eq=False)
class Cell:
    """Represent a mutable object.

    Its kind is 'array', 'list', 'dict' or 'object'. An 'array' is one value of the IR, in the slot VALUE: an array, a value of
    unknown type, or a list or dict whose items are not known one by one. The slots of a 'list' or 'dict' are its items, by position
    or key, those of an 'object' its attributes.

    Attributes:
        slots, name: its state, and its name in the generated code and in messages.
        base, step: the cell that a view looks into, and the part of it that it shows; None if it is the same object.
        block: the statements of the block of the text in which a view is made; it has no value outside of it.
        shares: the cells that may be the same memory (a symmetric relation).
        holds: the cells that were put into a list that is one IR value.
        held_by: the lists that the cell was put into.
        rows_of: the arrays whose rows or other parts this list is assumed to hold unchanged.
        doubled: whether the same object may be twice in a list: 0 if not, 1 an array alone, 2 any object.
        viewers: the cells that were read from a list that is one IR value.
        depth: the number of branches and loops of unknown outcome around the place where the cell was made.
        frozen: the reason why it cannot be written, if there is one.
        cls: the class of an object.
        default: the function that makes a missing value of a `defaultdict`.
        given: (the condition of a branch, the number of its arm) if that arm alone made this list, and the name is unassigned otherwise.
        stands_for: the list of known length that this cell represents as one value.
        stood_for: the cells that represent this list of known length as one value.
        needs: the arguments that must be in C order for this cell to be a view.
        apart: the cells that share no memory with this one if some arguments are in C order.
        first: the first version of an array that is not a view.
        mark: the length of the journal when it was made.
    """

    slots: Slots
    name: str = "t"
    base: Cell | None = None
    step: Sub | View | None = None
    block: list | None = None
    shares: set[Cell] = field(default_factory=set)
    holds: set[Cell] = field(default_factory=set)
    held_by: set[Cell] = field(default_factory=set)
    rows_of: set[Cell] = field(default_factory=set)
    doubled: int = 0
    viewers: list[Cell] = field(default_factory=list)
    depth: int = 0
    frozen: str | None = None
    cls: type | None = None
    default: Value | None = None
    added: DictClass | None = None
    given: tuple[Atom, int] | None = None
    stands_for: Cell | None = None
    stood_for: list[Cell] = field(default_factory=list)
    needs: frozenset[Var] = frozenset()
    apart: dict[Cell, frozenset[Var]] = field(default_factory=dict)
    first: Atom | None = None
    mark: int = 0

    def __post_init__(self):
        self.slots.cell = self
        self.first = self.slots.get(VALUE)

    @property
    def kind(self) -> str:
        return self.slots.get(KIND, "array")

    @property
    def poison(self) -> str | None:
        """Return why the memory of this cell must not be read any more, or None if it may be read."""
        return self.slots.get(POISON) or self.root().slots.get(POISON)

    @property
    def items(self) -> dict[Any, Value]:
        """Return the items of a list, dict or object whose items are known one by one."""
        return {k: v for k, v in self.slots.items() if not isinstance(k, Meta)}

    @property
    def contents(self) -> list[Value]:
        """Return the items in order, without their keys."""
        return list(self.items.values())

    @property
    def keys(self) -> abc.Iterable:
        """Return the positions, keys or names of the items; those of an object have no order."""
        return self.items if self.kind == "object" else list(self.items)

    def __repr__(self) -> str:
        return f"<{self.name} of class {self.cls.__name__}>" if self.cls else f"<{self.name}>"

    def root(self) -> Cell:
        """Follow the bases of a view to the last one, and return it; return a cell without a base itself."""
        cell = self
        while cell.base is not None:
            cell = cell.base
        return cell

    def steps(self) -> int:
        """Count the steps from the last base of a view to the view; there are none to a cell without a base."""
        return 0 if self.base is None else self.base.steps() + (self.step is not None)


HELD = "(array)"  # the key of the array that an object of a class derived from `np.ndarray` is, which no attribute has
ITEMS = "(items)"  # the key of the list, dict or tuple that an object of a class derived from one is
STAND_INS: dict[type, type] = {}  # the classes whose methods stand for those of `list`, `dict` and `tuple` in classes derived from them


class AttributesCell(Cell):
    """Represent `obj.__dict__`, whose items are the attributes of the object."""

    kind = "dict"

    @property
    def items(self) -> dict[Any, Value]:
        return {k: v for k, v in super().items.items() if k not in (HELD, ITEMS)}

    def __init__(self, owner: Cell):
        super().__init__(owner.slots, owner.name, depth=owner.depth, frozen=owner.frozen, mark=owner.mark)
        self.slots.cell = owner


@dataclass(frozen=True, eq=False)
class TupleVal:
    """Represent a tuple whose length is known.

    `origin` is the variable that it was unpacked from, if there is one; `cls` is its class, if it is a named tuple.
    """

    items: tuple[Value, ...]
    origin: Var | None = None
    cls: type | None = None

    @property
    def contents(self) -> list[Value]:
        """Return the items in order."""
        return list(self.items)

    @property
    def keys(self) -> abc.Iterable:
        """Return the positions of the items, or their names in a named tuple."""
        return range(len(self.items)) if self.cls is None else self.cls._fields


@dataclass(frozen=True, eq=False)
class OptionalVal:
    """Represent a tuple, or None where `missing` is true: `best = None`, and later `best = (distance, i)`."""

    missing: Atom
    held: TupleVal


@dataclass(frozen=True, eq=False)
class FunctionVal:
    """Represent a Python function that is inlined: its source, the scope it was defined in, the values of its defaults, its attributes."""

    source: Any
    scope: Any
    defaults: dict[str, Value]
    attributes: Slots = field(default_factory=Slots)


@dataclass(frozen=True, eq=False)
class MethodVal:
    """Represent `value.name` before it is called."""

    value: Value
    name: str


@dataclass(frozen=True, eq=False)
class BoundVal:
    """Represent a function with its first arguments: `obj.method`, `partial(f, x, k=y)`."""

    function: Value
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ChoiceVal:
    """Represent one of several functions: `options[which]`, else `otherwise`, or a KeyError if `otherwise` is None."""

    which: Atom
    options: dict[Any, Any]
    otherwise: Any = None


@dataclass(frozen=True, eq=False)
class Escaped:
    """What a function that may raise what its caller handles gives: the number of its exit, its result, its errors, and its exits."""

    code: Value
    result: Value
    errors: dict[int, Value]
    reached: set[int]


@dataclass(frozen=True, eq=False)
class SuperVal:
    """Represent `super()`: an object whose attributes are looked up in the classes after `cls`."""

    cls: type
    value: Value


USED, TAKEN, ENDED, LEFT, BUSY = map(Flag, ("used", "taken", "ended", "left", "busy"))  # the slots of an iterator


@dataclass(frozen=True, eq=False)
class LocalData:
    """Stand for data in the body of a class inside the function being lowered, as an attribute of the Python class."""

    value: Value


@dataclass(frozen=True, eq=False)
class Iterable:
    """Describe what a loop runs over.

    Attributes:
        items: the elements, if they are known one by one; the sequence may read each of them when it is taken.
        domain: returns the range that the index runs over.
        element: returns the element for an index.
        length: returns the number of elements.
        nth: returns an element by its position, counted from 0.
        count: the number of elements, if it is known.
        index_name: the name of the index, if the user may give it one.
        reverse, value: return the iterable in the opposite order; the whole iterable as an operand (`a[range(n), labels]`).
        drive: for a generator, applies a function to each element (`control/generators.py`).
        begin: for what reads its elements only when they are asked for, returns the iterable of the elements as they are then.
        sources: what `begin` iterates over, which may change until then.
        endless: whether it has no last element, or may have none.
        walk: the items of one list or dict when the loop began (`values/walks.py`).
        once: whether it is an iterator, which can be used only once.
        suspended: for a generator, what is left of it (`control/generators.py`).
        state: whether an iterator was used (USED), how many elements `next` took from it (TAKEN), and whether all were taken (ENDED);
            for a generator, those that were left when they were first counted (LEFT); whether a loop takes them now (BUSY).
        policy: what a loop over it saves (`checkpoint`).
        like_set, cls: whether it is the view of a dict's keys or items, which is like a set; its class, such as `zip`, if that is known.
    """

    items: Sequence[Value] | None = None
    domain: Callable[[], Range] | None = None
    element: Callable[[Atom], Value] | None = None
    length: Callable[[], Atom] | None = None
    nth: Callable[[Atom], Value] | None = None
    count: int | None = None
    index_name: str | None = None
    reverse: Callable[[], Iterable] | None = None
    value: Callable[[], Atom] | None = None
    drive: Callable | None = None
    begin: Callable[[], Iterable] | None = None
    sources: Sequence[Value] = ()
    endless: bool = False
    walk: Any = None
    once: bool = False
    suspended: Any = None
    state: Slots = field(default_factory=lambda: Slots({USED: FALSE, TAKEN: Const(0), ENDED: FALSE, BUSY: FALSE}))
    policy: Policy | None = None
    like_set: bool = False
    cls: type | None = None

    @classmethod
    def numbered(cls, length: Callable[[], Atom], nth: Callable[[Atom], Value], **more: Any) -> Iterable:
        """Make an iterable whose elements are read by index."""
        return cls(domain=lambda: Range(Const(0), length(), Const(1)), element=nth, length=length, nth=nth, **more)


Value = Var | Const | Cell | TupleVal | OptionalVal | Slice | FunctionVal | MethodVal | BoundVal | ChoiceVal | SuperVal | Iterable


class Held(gast.AST):
    """Embed a value in the syntax tree as a node."""

    _fields = ()

    def __init__(self, value: Value):
        self.value = value


def leaves(value: Value, around: tuple[Cell, ...] = ()) -> Iterator[Value]:
    """Iterate over the atoms and cells inside a value; a cell inside itself is not entered again (`around` are those entered)."""
    match value:
        case TupleVal(items):
            for item in items:
                yield from leaves(item, around)
        case OptionalVal(_, held):
            yield from leaves(held, around)
        case Cell():
            yield value
            if value.kind != "array" and value not in around:
                for item in value.items.values():  # most of a large table are numbers
                    yield from (item,) if isinstance(item, (Var, Const)) else leaves(item, (*around, value))
        case BoundVal(_, args, kwargs):
            for item in (*args, *kwargs.values()):
                yield from leaves(item, around)
        case _:
            yield value


def array_of(value: Value) -> Cell | None:
    """Return the array that an object of a class derived from `np.ndarray` is, or None for any other value."""
    return value.slots.get(HELD) if isinstance(value, Cell) and value.kind == "object" else None


def parts_of(value: Value) -> dict[Any, Value] | None:
    """Return the items of a tuple, list, dict or object by their positions, keys or names, or None for any other value."""
    if isinstance(value, TupleVal):
        return dict(zip(value.keys, value.items))
    return value.items if isinstance(value, Cell) and value.kind != "array" else None


def roots(value: Value) -> set[Cell]:
    """Find every cell whose memory the value may share: the cells that it views, and those that may be the same as these.

    Sharing is not transitive: `c = a if p else b` may be `a` and may be `b`, which are not the same.  A value read from a
    list may be any value that was put into it.
    """
    found: set[Cell] = set()
    for leaf in cells_of(value):
        todo = [leaf]
        while todo:
            cell = todo.pop().root()
            if cell not in found:
                found.add(cell)
                found.update(c.root() for c in cell.shares)
                todo += cell.holds if leaf.base is not None else ()
    return found


def reach(value: Value) -> set[Cell]:
    """Find every cell whose memory a value read from a list may share: the list itself, and the values put into it."""
    found: set[Cell] = set()
    held: set[Cell] = set()  # the cells that were looked into
    todo = list(roots(value))
    while todo:
        cell = todo.pop()
        if cell not in found:
            found.add(cell)
            new = cell.holds - held
            held |= new
            inside = {leaf.root() for h in new for leaf in cells_of(h)}
            todo += {cell for root in inside for cell in (root, *(c.root() for c in root.shares))} - found
    return found


def cells_of(value: Value) -> list[Cell]:
    """Return the cells inside a value."""
    return [] if value is MISSING or isinstance(value, Var) else [leaf for leaf in leaves(value) if isinstance(leaf, Cell)]


def unreadable(name: str, why: str) -> Cell:
    """Make a cell for a name that must be assigned before it is read."""
    return Cell(Slots({VALUE: UNDEFINED, POISON: why}), name)


def structure_of(value: Value) -> str:
    """Describe the structure of a value for messages."""
    match value:
        case TupleVal(items, cls=None):
            return f"a tuple of {len(items)}"
        case Cell(cls=cls) | TupleVal(cls=cls) if cls is not None:
            return f"an object of class {cls.__name__}"
        case Cell() if value.kind == "list":
            return f"a list of {len(value.items)}"
        case Cell() if value.kind == "dict":
            return f"a dict with the keys {', '.join(map(repr, value.items))}" if value.items else "an empty dict"
        case Cell(slots=slots):
            return structure_of(slots.get(VALUE))
        case Var(type=t):
            return {Scalar: "a number", Array: "an array", Str: "a string"}.get(type(t), "something else")
        case Const(value=number, live=False):
            return repr(number) if isinstance(number, (int, float, str, type(None))) else "something else"
    return "a function" if isinstance(value, (FunctionVal, BoundVal)) else "something else"


def is_text(atom: Atom) -> bool:
    """Tell whether an atom is a string or truth value known while compiling."""
    return isinstance(atom, Const) and not atom.live and isinstance(atom.value, (str, bool))
