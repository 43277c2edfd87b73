"""The intermediate representation: a few frozen dataclasses in single assignment.

A `Function` has parameters and a `Block`; a block is a list of `Stmt`s and the atoms that it yields; a statement binds `Var`s to
the results of one `Op`.  Operands are atoms, a `Var` or a `Const`; in a subscript or a call also a `Slice` or a tuple of operands.

**Values are immutable.**  A write makes a new version, `a1 = Update(a0, ...)`.  Only `emit/memory/`, at the end, writes in place.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from sourcead.ir.frozen import frozen
from sourcead.ir.names import shown
from sourcead.ir.types import UNKNOWN, Type
from sourcead.places.origin import Origin

_ids = itertools.count()


@dataclass(eq=False)
class Var:
    """A variable, compared by identity; the text uses `name` if it is free, and `temp` marks a name that the user did not give."""

    name: str
    type: Type = UNKNOWN
    temp: bool = False
    id: int = field(default_factory=lambda: next(_ids))

    __repr__ = lambda self: f"{self.name}.{self.id}"


@frozen(eq=False)
class Const:
    """A Python object known while compiling: a literal, a function, a dtype, or a tuple of these.

    `text` is the spelling in the generated text where it is not `repr`: `np.float32`, or the name of a global or closure variable.
    Such a variable is `live`: the text reads it at each call, and only its type is relied on.
    """

    value: Any
    text: str | None = None
    live: bool = False

    def __repr__(self):
        return self.text or (getattr(self.value, "__name__", None) if callable(self.value) else None) or shown(self.value)


Atom = Var | Const


class Part:
    """Base class of operations and of the parts of one that are not atoms: slices, ranges, the steps of a path.

    `children` are the names of the fields that hold operands, parts, paths and blocks, in the order in which they are read.
    """

    children: ClassVar[tuple[str, ...]] = ()


@frozen(eq=False)
class Slice(Part):
    """The slice `lower:upper:step` inside a subscript; a part is None if it is left out."""

    children = ("lower", "upper", "step")

    lower: Atom | None
    upper: Atom | None
    step: Atom | None

    def __repr__(self):
        step = "" if self.step is None else f":{self.step}"
        return f"{'' if self.lower is None else self.lower}:{'' if self.upper is None else self.upper}{step}"


Operand = Atom | Slice | tuple  # a tuple of operands stands for a tuple: np.zeros((n, 3)), a[i, 1:]


class Op(Part):
    """Base class of all operations; `binders` are the names of the fields that hold the variables which it binds for its blocks."""

    binders: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def reads(self) -> tuple[Var, ...]:
        """Return the variables that the op reads itself, without those that its blocks read."""
        return tuple([a for a in operand_atoms(self) if isinstance(a, Var)])

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the op."""
        return tuple([b for name in self.children if isinstance(b := getattr(self, name), Block)])


class Simple(Op):
    """Base class of the operations without blocks."""

    blocks = ()


@frozen(eq=False)
class Call(Simple):
    """`fn(*args, **kwargs)`; `fn` is a Python object, or a Var if the function is not known while compiling.

    An operator is a call of a function of the module `operator`.  A call with `effect`, such as `print`, is never moved or removed.
    `into` is the position of the argument whose memory the result takes, which nothing reads any more; only `emit/memory/` sets it.
    """

    fn: Any
    args: tuple[Operand, ...] = ()
    kwargs: tuple[tuple[str, Operand], ...] = ()
    effect: bool = False
    into: int | None = None

    @property
    def children(self) -> tuple[str, ...]:
        return ("fn", "args", "kwargs") if isinstance(self.fn, Var) else ("args", "kwargs")


@frozen(eq=False)
class Let(Simple):
    """An op that gives a name to a constant or to another value, as `dt = 0.01` does."""

    children = ("value",)

    value: Operand


@frozen(eq=False)
class Attr(Simple):
    """`base.name` for an attribute that describes an array: shape, ndim, size, dtype."""

    children = ("base",)

    base: Atom
    name: str


@frozen(eq=False)
class Index(Simple):
    """`base[key]` of an array, tuple, list, dict or record; a tuple of operands is a subscript with commas."""

    children = ("base", "key")

    base: Atom
    key: Operand


@frozen(eq=False)
class View(Part):
    """A step of an `Update`'s path that is a call: `fn(array, *args, **kwargs)` returns a view of the array."""

    children = ("args", "kwargs")

    fn: Any
    args: tuple[Operand, ...] = ()
    kwargs: tuple[tuple[str, Operand], ...] = ()


@frozen(eq=False)
class Sub(Part):
    """A step of an `Update`'s path that is a subscript."""

    children = ("key",)

    key: Operand


@frozen(eq=False)
class Update(Simple):
    """The array (or list, dict) `base` with the part at `path` replaced, or added to; `base` itself is unchanged.

    `path` is a tuple of `Sub` and `View` steps from `base` to the part.  Mode:
      'set'  base[path] = value, value broadcast and cast to the part
      'add'  base[path] += value; an empty path adds to the whole (`d += v`); an element that integer arrays name more than once
             gets each of its values (np.add.at), as the adjoint of a gather needs
      'sub'  base[path] -= value, likewise
    `distinct` says that integer arrays in the path name no element twice.
    """

    children = ("base", "value", "path")

    base: Atom
    path: tuple[Sub | View, ...]
    value: Operand
    mode: str = "set"
    distinct: bool = False


@frozen(eq=False)
class Build(Simple):
    """A new container of kind 'tuple', 'list' or 'set' that holds the `items`, or of kind 'dict' with the Python objects `keys`.

    `residual` marks a list that the forward sweep fills and the reverse sweep empties.
    Kind 'record' is an object of class `cls` whose fields `keys` hold the `items`; `Index(record, Const(field))` reads a field.
    """

    children = ("items",)

    kind: str
    items: tuple[Atom, ...]
    keys: tuple | None = None
    cls: type | None = None
    residual: bool = False


@frozen(eq=False)
class Append(Simple):
    """The list with one more element at its end, or at the place `at`: `base.append(value)`, `base.insert(at, value)`.

    `path` leads from `base` to the list that grows: `groups[k].append(value)`.
    """

    children = ("base", "value", "path", "at")

    base: Atom
    value: Operand
    path: tuple[Sub, ...] = ()
    at: Atom | None = None


@frozen(eq=False)
class Pop(Simple):
    """The list without its last element, and that element, as two results of `v = base.pop()`; `path` and `at` are as in `Append`."""

    children = ("base", "path", "at")

    base: Atom
    path: tuple[Sub, ...] = ()
    at: Atom | None = None


@frozen(eq=False)
class Effect(Simple):
    """A statement without results: kind 'assert' (args: condition[, message]) or 'raise' (args: the exception)."""

    children = ("args",)

    kind: str
    args: tuple[Operand, ...]


@frozen(eq=False)
class Block:
    """A sequence of statements and the atoms that it yields to the op around it."""

    stmts: tuple[Stmt, ...]
    results: tuple[Atom, ...] = ()

    @cached_property
    def statements(self) -> tuple[Stmt, ...]:
        """Return the statements, each before those of the blocks inside it."""
        return tuple([s for stmt in self.stmts for s in (stmt, *(s for b in stmt.op.blocks for s in b.statements))])

    @cached_property
    def reads(self) -> tuple[Var, ...]:
        """Return every variable that the block or a block inside it reads, as often as it is read; a block reads what it yields."""
        inside = [v for stmt in self.stmts for vs in (stmt.op.reads, *(b.reads for b in stmt.op.blocks)) for v in vs]
        return (*inside, *(r for r in self.results if isinstance(r, Var)))


@frozen(eq=False)
class Branch(Op):
    """`if cond: then else: orelse`; yields the results of the block that ran.

    `kind` is the user's syntax: 'if', 'ifexp', 'and', 'or'.  An arm that does not assign a result yields `UNDEFINED` for it.
    """

    children = ("cond", "then", "orelse")

    cond: Atom
    then: Block
    orelse: Block
    kind: str = "if"


@frozen(eq=False)
class Range(Part):
    """The iterations of a counted loop: range(start, stop, step)."""

    children = ("start", "stop", "step")

    start: Atom
    stop: Atom
    step: Atom


@frozen(eq=False)
class Policy(Part):
    """A checkpoint policy that the user gave a loop, with its number (`language/checkpoint_policies.py`)."""

    children = ("number",)

    name: str  # "auto", "store", "states", "recompute", "segments", "revolve" or "budget"
    number: Atom | None = None


@frozen(eq=False)
class Loop(Op):
    """A loop. `params` are the loop variants, `inits` their values on entry; the body yields their values for the next iteration, and
    the results of the statement are their values on leaving.

    domain `Range`: `index` is bound to the elements of the range.
    domain a `Block` (a `while`): evaluated before each iteration, over `params`, its one result is the condition; `index` is None.
    domain an atom: a sequence without a derivative, `index` bound to its elements; another is read by `sequence[i]` over a Range.

    `leave` is the loop variant that ends the loop (`break`) if it is true at the end of an iteration; it is false on entry.
    `policy` says what the loop saves for the reverse sweep; differentiation removes it.
    """

    children = ("domain", "inits", "body", "policy")
    binders = ("index", "params")

    domain: Range | Block | Atom
    index: Var | None
    params: tuple[Var, ...]
    inits: tuple[Atom, ...]
    body: Block
    leave: Var | None = None
    policy: Policy | None = None


@frozen(eq=False)
class Closure(Op):
    """A nested function, `def name(params): body`, which may read the variables around it: a pullback, or what a solver calls."""

    children = ("body",)
    binders = ("params",)

    params: tuple[Var, ...]
    body: Block
    constant: bool = False  # whether what it returns is one for derivatives


@frozen(eq=False)
class AdjointBlock(Op):
    """`with adjoint_of(x) as d_x: body`. The results are the `values`; the body runs in the reverse sweep.

    There `params` are the cotangents of the results, and the body yields those of the values.  Differentiation removes the op.
    """

    children = ("values", "body")
    binders = ("params",)

    values: tuple[Atom, ...]
    params: tuple[Var, ...]
    body: Block


@frozen(eq=False)
class Stmt:
    """`targets = op`.

    `origin` is the user's statement.  `adjoint_of`, in the reverse sweep, is the statement whose adjoint this is part of; its text
    becomes a comment.  `within` are the context managers around it (np.errstate), outermost first; `saves` marks writes of residuals.
    """

    targets: tuple[Var, ...]
    op: Op
    origin: Origin | None = None
    adjoint_of: Origin | None = None
    within: tuple[Call, ...] = ()
    saves: bool = False
    place = property(lambda self: self.origin or self.adjoint_of)


@frozen(eq=False)
class Function:
    """A function that returns the results of its body; its text may let go of arrays.  `defaults` are those of the last parameters."""

    name: str
    params: tuple[Var, ...]
    body: Block
    doc: str | None = None
    origin: Origin | None = None
    defaults: tuple[Any, ...] = ()
    lets_go: bool = False


UNDEFINED = Const(type("Undefined", (), {"__repr__": lambda self: "undefined"})(), text="undefined")


def operand_atoms(operand: Any) -> tuple[Atom, ...]:
    """Return the atoms inside an operand, or inside another part of an op that holds operands: keywords, a range, a path, a policy."""
    if isinstance(operand, Part):
        operand = tuple([getattr(operand, name) for name in operand.children])
    if isinstance(operand, tuple):
        return tuple([a for one in operand for a in ((one,) if isinstance(one, (Var, Const)) else operand_atoms(one))])
    return (operand,) if isinstance(operand, (Var, Const)) else ()


def fresh(var: Var, **changes) -> Var:
    """Return a new variable like `var`, with some fields changed."""
    return replace(var, id=next(_ids), **changes)
