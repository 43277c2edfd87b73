"""The verifier checks that IR is well formed: after each stage of passes, and in tests after each pass.

A function is well formed if every variable is defined once and read only after its definition, in the same block or in one inside
it; if targets, results, parameters and initial values agree in number; if every operand is valid; if `UNDEFINED` is only an
initial value of a loop or a result of a block; and if no type loses what is in a value (`lost_types.py`).
"""

from typing import Any

from sourcead.ir.lost_types import lost
from sourcead.ir.nodes import (
    UNDEFINED, AdjointBlock, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let,
    Loop, Op, Part, Policy, Pop, Range, Slice, Stmt, Sub, Update, Var, View
)
from sourcead.ir.types import Type

DISPLAYS = ("tuple", "list", "set", "dict", "record")
MODES = ("set", "add", "sub")
EFFECTS = ("assert", "raise")
BRANCHES = ("if", "ifexp", "and", "or")
ATOMS = ("base", "cond")  # fields that hold an atom, where others may hold any operand
OPTIONAL = {Append: ("at",), Pop: ("at",), Loop: ("policy",), Policy: ("number",), Slice: ("lower", "upper", "step")}  # may be None


class IRError(AssertionError):
    """The compiler made IR that is not well formed.

    The cause is a bug of the compiler, never the user's program: please report the program that raises it.
    """


def verify(function: Function) -> None:
    """Check that the IR of a function is well formed.

    Args:
        function: the function.

    Raises:
        IRError: the IR is not well formed; the message names the statement and what is wrong with it.
    """
    check = _Verifier(function.name)
    check.bind(function.params, "the function's parameters")
    check.block(function.body, "the function's body")
    if (stmt := lost(function)) is not None:
        raise IRError(f"in {function.name}, {_describe(stmt)}: the type of its result lost what is in it")


class _Verifier:
    """Walks over a function: `visible` holds the variables that may be read now, `defined` all that were defined so far."""

    def __init__(self, name: str):
        self.name = name
        self.visible: set[Var] = set()
        self.defined: set[Var] = set()

    def require(self, condition: Any, message: str, where: str | Stmt) -> None:
        """Raise the error unless the condition holds; `where` is a statement, or what is meant in words."""
        if not condition:
            raise IRError(f"in {self.name}, {_describe(where) if isinstance(where, Stmt) else where}: {message}")

    def bind(self, variables: tuple[Var, ...], where: str | Stmt) -> None:
        self.require(isinstance(variables, tuple), "variables are bound that are not in a tuple", where)
        for var in variables:
            if not isinstance(var, Var) or not isinstance(var.type, Type) or var in self.defined:
                self.require(isinstance(var, Var), f"{var!r} is bound, but is not a Var", where)
                self.require(isinstance(var.type, Type), f"the type of {var!r} is {var.type!r}", where)
                self.require(False, f"{var!r} is defined twice", where)
            self.defined.add(var)
            self.visible.add(var)

    def block(self, block: Block, where: str | Stmt, binders: tuple[Var, ...] = ()) -> None:
        """Check a block; the variables that it defines are not visible after it."""
        self.require(isinstance(block, Block), "a Block is needed", where)
        local = list(binders)
        self.bind(binders, where)
        for stmt in block.stmts:
            self.require(isinstance(stmt, Stmt), "it holds what is not a Stmt", where)
            self.stmt(stmt)
            local.extend(stmt.targets)
        self.require(isinstance(block.results, tuple), "results are not a tuple", where)
        for result in block.results:
            self.atom(result, where, undefined=True)
        self.visible.difference_update(local)

    def stmt(self, stmt: Stmt) -> None:
        self.require(isinstance(stmt.op, Op), "what it does is not an op", stmt)
        self.part(stmt.op, stmt)
        self.op(stmt.op, len(stmt.targets), stmt)
        self.bind(stmt.targets, stmt)

    def part(self, part: Part, where: str | Stmt) -> None:
        for name in part.children:
            if (inner := getattr(part, name)) is not None or name not in OPTIONAL.get(type(part), ()):
                (self.atom if name in ATOMS else self.operand)(inner, where, undefined=name == "inits")

    def operand(self, operand: Any, where: str | Stmt, undefined: bool = False) -> None:
        match operand:
            case Var() | Const():
                self.atom(operand, where, undefined)
            case Block():
                pass  # checked with its op
            case (str(), value):  # a keyword
                self.operand(value, where)
            case tuple():
                for item in operand:
                    self.operand(item, where, undefined)
            case Part():
                self.part(operand, where)
            case _:
                self.atom(operand, where, undefined)

    def atom(self, atom: Any, where: str | Stmt, undefined: bool = False) -> None:
        if isinstance(atom, Var):
            if atom not in self.visible:
                state = "out of its scope" if atom in self.defined else "before its definition"
                self.require(False, f"{atom!r} is read {state}", where)
        elif not isinstance(atom, Const):
            self.require(False, f"{atom!r} is not an operand", where)
        elif isinstance(atom.value, type(UNDEFINED.value)):
            self.require(undefined, "an undefined value is read", where)

    def op(self, op: Op, targets: int, where: str | Stmt) -> None:
        """Check the fields of an op and the blocks inside it."""
        if (needed := _targets(op, targets)) != targets:
            self.require(False, f"{targets} targets for {needed} results", where)
        match op:
            case Call(fn, args, kwargs):
                self.require(isinstance(fn, Var) or callable(fn), "what is called is no function", where)
                self.require(isinstance(args, tuple) and isinstance(kwargs, tuple), "arguments are not tuples", where)
                self.require(all(isinstance(k, str) for k, _ in kwargs), "a keyword is not a string", where)
            case Attr(_, name):
                self.require(isinstance(name, str), "an attribute whose name is no string", where)
            case Update(_, path, _, mode):
                self.require(all(isinstance(s, (Sub, View)) for s in path), "a path of other things than subscripts and views", where)
                self.require(mode in MODES, f"mode {mode!r}", where)
            case Build(kind, items, keys):
                self.require(kind in DISPLAYS, f"kind {kind!r}", where)
                if (keys is not None) != (kind in ("dict", "record")):
                    self.require(False, f"a {kind} with keys {keys!r}", where)
                self.require(keys is None or len(keys) == len(items), "keys and items differ in number", where)
                for item in items:
                    self.atom(item, where)
            case Let() | Index() | Pop() | Append():
                pass
            case Effect(kind):
                self.require(kind in EFFECTS, f"an effect of kind {kind!r}", where)
            case Branch(_, then, orelse, kind):
                self.require(kind in BRANCHES, f"kind {kind!r}", where)
                for arm, name in ((then, "then"), (orelse, "else")):
                    self.block(arm, where)
                    self.require(len(arm.results) == targets, f"the {name} arm yields {len(arm.results)}", where)
            case Loop():
                self.loop(op, targets, where)
            case Closure(params, body):
                self.block(body, where, params)
            case AdjointBlock(values, params, body):
                self.counts(targets, where, values=values, params=params, results=body.results)
                self.block(body, where, params)
            case _:
                self.require(False, f"{op!r} is not an op that is known", where)

    def counts(self, targets: int, where: str | Stmt, **parts: tuple) -> None:
        for name, part in parts.items():
            self.require(len(part) == targets, f"{len(part)} {name} for {targets} targets", where)

    def loop(self, op: Loop, targets: int, where: str | Stmt) -> None:
        self.counts(targets, where, params=op.params, inits=op.inits, results=op.body.results)
        self.require(op.leave is None or op.leave in op.params, "the loop is left by what it does not carry", where)
        match op.domain:
            case Block() as condition:
                self.require(op.index is None, "a while loop with an index", where)
                self.require(len(condition.results) == 1, f"a condition of {len(condition.results)} results", where)
                self.bind(op.params, where)
                self.block(condition, where)
                self.block(op.body, where)
                self.visible.difference_update(op.params)
            case domain:
                if not isinstance(domain, Range):
                    self.atom(domain, where)
                self.require(op.index is not None, "a range or sequence without an index", where)
                self.block(op.body, where, (op.index, *op.params))


def _targets(op: Op, given: int) -> int:
    """Return the number of targets that an op has, or `given` if the kind of op does not decide it."""
    match op:
        case Pop():
            return 2
        case Branch() | Loop() | AdjointBlock():
            return given  # checked against each block
        case Effect():
            return 0
        case Call(effect=True):
            return min(given, 1)
    return 1


def _describe(stmt: Stmt) -> str:
    """Return a description of a statement, which may be malformed, in one line."""
    targets = ", ".join(map(repr, stmt.targets))
    origin = f" (line {stmt.origin.line})" if stmt.origin else ""
    fn = getattr(stmt.op, "fn", None)
    what = f" {getattr(fn, '__name__', fn)!s}" if fn is not None else ""
    return f"{targets} = {type(stmt.op).__name__}{what}{origin}"
