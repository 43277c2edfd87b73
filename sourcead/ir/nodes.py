"""The intermediate representation: a few frozen dataclasses in single assignment.

A `Function` has parameters and a `Block`; a block is a list of `Stmt`s and the atoms it yields; a statement binds
`Var`s to one `Op`.  Operands are atoms: a `Var` or a `Const` (inside a subscript or a call also a `Slice` or a tuple of
operands).

**Values are immutable here.**  Writing into an array makes a new version of it: `a1 = Update(a0, ...)`.  Whether the
text writes in place is decided once, at the end, by `emit/memory.py`; no other pass has to think about memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sourcead.errors import Origin
from sourcead.ir.types import UNKNOWN, Type

_ids = itertools.count()


@dataclass(eq=False)
class Var:
    """A value. `name` is the name the text should use if it can; `temp` marks names that the user did not give.

    A variable is itself, whatever its name: naming it later (`temp = x * 2; y = temp`) changes nothing else.
    """

    name: str
    type: Type = UNKNOWN
    temp: bool = False
    id: int = field(default_factory=lambda: next(_ids))

    def __repr__(self):
        return f"{self.name}.{self.id}"


@dataclass(frozen=True, eq=False)
class Const:
    """A Python object known while compiling: a literal, a function, a dtype, a tuple of such.

    `text` is how the generated text spells it where `repr` would not do: `np.float32`, or the name of a global or
    closure variable (then `live` is true: the value is read again at each call, and only its type is relied on).
    """

    value: Any
    text: str | None = None
    live: bool = False

    def __repr__(self):
        return self.text or (getattr(self.value, "__name__", None) if callable(self.value) else None) or repr(self.value)


Atom = Var | Const


@dataclass(frozen=True, eq=False)
class Slice:
    """`lower:upper:step` inside a subscript; None where the user wrote nothing."""

    lower: Atom | None
    upper: Atom | None
    step: Atom | None

    def __repr__(self):
        step = "" if self.step is None else f":{self.step}"
        return f"{'' if self.lower is None else self.lower}:{'' if self.upper is None else self.upper}{step}"


Operand = Atom | Slice | tuple  # a tuple of operands is a tuple display: np.zeros((n, 3)), a[i, 1:]


class Op:
    """Base of all operations."""

    @cached_property
    def reads(self) -> tuple[Var, ...]:
        """The variables that it reads itself, without those read inside its blocks."""
        return tuple(a for operand in op_operands(self) for a in operand_atoms(operand) if isinstance(a, Var))


@dataclass(frozen=True, eq=False)
class Call(Op):
    """`fn(*args, **kwargs)` for a function known while compiling (`fn` a Python object) or not (`fn` a Var).

    Operators are calls of `operator.add` and kin.  A call with `effect` is done once, in order, and never removed
    (`print`).
    """

    fn: Any
    args: tuple[Operand, ...] = ()
    kwargs: tuple[tuple[str, Operand], ...] = ()
    effect: bool = False


@dataclass(frozen=True, eq=False)
class Let(Op):
    """A name for a constant or for another value: `dt = 0.01`."""

    value: Operand


@dataclass(frozen=True, eq=False)
class Attr(Op):
    """`base.name` for what an object says of itself: shape, ndim, size, dtype."""

    base: Atom
    name: str


@dataclass(frozen=True, eq=False)
class Index(Op):
    """`base[key]`; a tuple of operands is a subscript with commas. Arrays, tuples, lists, dicts."""

    base: Atom
    key: Operand


@dataclass(frozen=True, eq=False)
class View:
    """One step of an `Update`'s path that is not a subscript: `fn(array, *args, **kwargs)` returns a view of the array."""

    fn: Any
    args: tuple[Operand, ...] = ()
    kwargs: tuple[tuple[str, Operand], ...] = ()


@dataclass(frozen=True, eq=False)
class Sub:
    """One step of an `Update`'s path that is a subscript."""

    key: Operand


@dataclass(frozen=True, eq=False)
class Update(Op):
    """The array (or list, dict) `base` with the part at `path` replaced, or added to; `base` itself is unchanged.

    `path` is a tuple of `Sub` and `View` steps from `base` to the part.  Mode:
      'set'  base[path] = value, value broadcast and cast to the part
      'add'  base[path] += value;  an empty path adds to the whole (`d += v`); for integer-array subscripts each
             repetition counts (np.add.at), which is what an adjoint wants
      'sub'  base[path] -= value, likewise
    `distinct`: no subscript of the path names an element twice, although it has integer arrays in it.
    """

    base: Atom
    path: tuple[Sub | View, ...]
    value: Operand
    mode: str = "set"
    distinct: bool = False


@dataclass(frozen=True, eq=False)
class Build(Op):
    """A display: kind 'tuple', 'list', 'set' or 'dict' (then `keys`, Python objects, go with `items`).

    `residual`: a list that the forward sweep fills for the reverse sweep, which empties it.
    Kind 'record': an object of class `cls` whose fields `keys` are the `items`; read as `Index(record, Const(field))`.
    """

    kind: str
    items: tuple[Atom, ...]
    keys: tuple | None = None
    cls: type | None = None
    residual: bool = False


@dataclass(frozen=True, eq=False)
class Append(Op):
    """The list with one more element at its end. Text: `base.append(value)`.

    `path` leads from `base` to the list that grows (`groups[k].append(value)`), `at` is the place of the element, from 0, if it
    is not the end (`base.insert(at, value)`).
    """

    base: Atom
    value: Operand
    path: tuple[Sub, ...] = ()
    at: Atom | None = None


@dataclass(frozen=True, eq=False)
class Pop(Op):
    """Two results: the list without its last element, and that element. Text: `v = base.pop()`; `path` and `at` as above."""

    base: Atom
    path: tuple[Sub, ...] = ()
    at: Atom | None = None


@dataclass(frozen=True, eq=False)
class Effect(Op):
    """A statement without results: kind 'assert' (args: condition[, message]) or 'raise' (args: the exception)."""

    kind: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Statements, then the atoms that the block yields to whoever holds it."""

    stmts: tuple[Stmt, ...]
    results: tuple[Atom, ...] = ()


@dataclass(frozen=True, eq=False)
class Branch(Op):
    """`if cond: then else: orelse`; yields the results of the block that ran.

    `kind` keeps how the user wrote it: 'if', 'ifexp', 'and', 'or'.  A result that one side leaves undefined is
    `UNDEFINED` there.
    """

    cond: Atom
    then: Block
    orelse: Block
    kind: str = "if"


@dataclass(frozen=True, eq=False)
class Range:
    """The iterations of a counted loop: range(start, stop, step)."""

    start: Atom
    stop: Atom
    step: Atom


@dataclass(frozen=True, eq=False)
class Policy:
    """What a loop saves for the reverse sweep, as the user asked: `name` with its number (`sourcead/checkpoints.py`)."""

    name: str  # "auto", "store", "states", "recompute", "segments", "revolve" or "budget"
    number: Atom | None = None

    def map(self, f) -> Policy:
        """The policy with its number replaced by `f` of it."""
        return self if self.number is None else Policy(self.name, f(self.number))


@dataclass(frozen=True, eq=False)
class Loop(Op):
    """A loop. `params` are the loop variants inside an iteration, `inits` their values on entry; the body yields their
    values for the next iteration; the results of the statement are their values on leaving.

    domain `Range`: `index` is bound to the elements of the range.
    domain a `Block` (a `while`): evaluated before each iteration, over `params`, its one result is the condition;
    `index` is then None.
    domain an atom: a sequence that is iterated over, `index` bound to its elements (used only where no adjoint is
    needed of the sequence; the frontend turns loops over arrays and lists into a Range with `sequence[i]` reads).

    `leave` is the one of `params` that, true at the end of an iteration, ends the loop (`break`); it is false on entry.
    `policy` says what its reverse may find saved; settling the reverse sweep consumes it.
    """

    domain: Range | Block | Atom
    index: Var | None
    params: tuple[Var, ...]
    inits: tuple[Atom, ...]
    body: Block
    leave: Var | None = None
    policy: Policy | None = None


@dataclass(frozen=True, eq=False)
class Closure(Op):
    """A nested function of the text: `def name(params): body`; reads values around it. Used for pullbacks."""

    params: tuple[Var, ...]
    body: Block


@dataclass(frozen=True, eq=False)
class Steer(Op):
    """The `values` themselves; in the reverse sweep `body` runs here, over the cotangents of the results (`params`).

    The body yields what these cotangents are from there on: `with adjoint_of(x) as d_x: body`.  Differentiation consumes
    it (`ad/steering.py`): no text is emitted from one.
    """

    values: tuple[Atom, ...]
    params: tuple[Var, ...]
    body: Block


@dataclass(frozen=True, eq=False)
class Stmt:
    """`targets = op`. `origin`: the user's statement. `adjoint_of`: in the reverse sweep, the statement whose adjoint
    this is part of (its text becomes the comment above). `within`: the context managers that it runs inside, outermost
    first, which do not alter values (np.errstate)."""

    targets: tuple[Var, ...]
    op: Op
    origin: Origin | None = None
    adjoint_of: Origin | None = None
    within: tuple[Call, ...] = ()


@dataclass(frozen=True, eq=False)
class Function:
    """A function: its parameters, its body, whose `results` are what it returns (one: bare; several: a tuple).

    `doc` becomes the docstring; `defaults` are literals, of the last parameters.
    """

    name: str
    params: tuple[Var, ...]
    body: Block
    doc: str | None = None
    origin: Origin | None = None
    defaults: tuple[Any, ...] = ()


class _Undefined:
    def __repr__(self):
        return "undefined"


UNDEFINED = Const(_Undefined(), text="undefined")


def operand_atoms(operand: Operand | None) -> Iterator[Atom]:
    """The atoms inside an operand."""
    match operand:
        case None:
            return
        case tuple():
            for item in operand:
                yield from operand_atoms(item)
        case Slice(lower, upper, step):
            for part in (lower, upper, step):
                if part is not None:
                    yield part
        case _:
            yield operand


def op_operands(op: Op) -> Iterator[Operand]:
    """The operands that an op reads itself, without those read inside its blocks."""
    match op:
        case Call(fn, args, kwargs):
            if isinstance(fn, Var):
                yield fn
            yield from args
            yield from (v for _, v in kwargs)
        case Attr(base) | Let(base):
            yield base
        case Pop(base, path, at):
            yield from (base, *(step.key for step in path), *((at,) if at is not None else ()))
        case Index(base, key):
            yield from (base, key)
        case Update(base, path, value):
            yield from (base, value)
            for step in path:
                yield from path_operands(step)
        case Build(_, items):
            yield from items
        case Append(base, value, path, at):
            yield from (base, value, *(step.key for step in path), *((at,) if at is not None else ()))
        case Effect(_, args) | Steer(args):
            yield from args
        case Branch(cond):
            yield cond
        case Loop(domain, _, _, inits):
            match domain:
                case Range(start, stop, step):
                    yield from (start, stop, step)
                case Block():
                    pass
                case _:
                    yield domain
            yield from inits
            if op.policy is not None and op.policy.number is not None:
                yield op.policy.number


def path_operands(step: Sub | View) -> Iterator[Operand]:
    """The operands of one step of an update's path."""
    if isinstance(step, Sub):
        yield step.key
    else:
        yield from step.args
        yield from (v for _, v in step.kwargs)


def fresh(var: Var, **changes) -> Var:
    """A new variable like this one."""
    return replace(var, id=next(_ids), **changes)
