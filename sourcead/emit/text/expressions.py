"""Ops without blocks, and branches that can be conditional expressions, as Python expressions."""

import ast
import inspect
import operator
from functools import singledispatchmethod

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import operand_type
from sourcead.emit.text.globals import Globals
from sourcead.emit.text.nesting import repeated_arm
from sourcead.emit.text.operand_order import ordered
from sourcead.emit.text.printing import keywords
from sourcead.ir.names import is_name
from sourcead.ir.nodes import Attr, Branch, Build, Call, Const, Index, Let, Op, Operand, Slice, Stmt, Sub, Var, View
from sourcead.ir.records import GENERATORS, takes_its_fields
from sourcead.ir.types import BOOL, Array, StructT
from sourcead.passes.cleanup.writes_through_reshape import is_flat
from sourcead.primitives.registry import is_own
from sourcead.primitives.table import record_of

BINARY = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod, "pow": ast.Pow,
    "matmul": ast.MatMult, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor, "lshift": ast.LShift, "rshift": ast.RShift,
    "concat": ast.Add,
}  # fmt: skip
_COMPARE = {
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq, "is_": ast.Is, "is_not": ast.IsNot,
    "in": ast.In,
}  # fmt: skip
_UNARY = {"neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert, "inv": ast.Invert, "not_": ast.Not}


def without_defaults(fn, args: tuple) -> tuple:
    """Return the arguments of a call of one of the package's functions, without arguments at the end that equal their defaults."""
    if not inspect.isfunction(fn) or not is_own(fn) or record_of(fn).memory != "fresh":
        return args
    defaults = fn.__defaults__ or ()
    first = fn.__code__.co_argcount - len(defaults)
    while first < len(args) <= first + len(defaults) and isinstance(last := args[-1], Const) and not last.live:
        default = defaults[len(args) - 1 - first]
        if type(last.value) is not type(default) or last.value != default:
            break
        args = args[:-1]
    return args


def operator_name(fn) -> str | None:
    """Return the name that a function has in the `operator` module, or None for other functions."""
    if getattr(fn, "__module__", None) not in ("_operator", "operator"):
        return None
    name = fn.__name__
    return name if hasattr(operator, name) else f"{name}_"


def negated(test: ast.expr) -> ast.expr:
    """Return an expression for the opposite of a condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    flips = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in flips:
        return ast.Compare(test.left, [flips[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


class Expressions:
    """Makes expressions from the names of variables and the ops that are nested in the expressions that read them."""

    def __init__(self, names: dict[Var, str], nested: dict[Var, Op], globals_: Globals):
        self.names = names
        self.nested = nested
        self.globals = globals_
        self.made: dict[Var, Stmt] = {}  # the statements that nested values come from
        self.lets_go = False

    def place(self, fn: object, *operands: Operand) -> ast.expr | None:
        """Return what a call of `setattr` or `operator.setitem` assigns to, None for other calls and names that are no words."""
        if fn is operator.setitem:
            owner, key = map(self.operand, operands)
            return ast.Subscript(owner, key, ast.Store())
        is_word = fn is setattr and isinstance(operands[1], Const) and is_name(operands[1].value)
        return ast.Attribute(self.operand(operands[0]), operands[1].value, ast.Store()) if is_word else None

    def operand(self, operand: Operand) -> ast.expr:
        match operand:
            case Const():
                return self.globals.constant(operand)
            case Var() if operand in self.nested:
                made = self.op(self.nested[operand])
                made.made = getattr(made, "made", None) or self.made.get(operand)
                return made
            case Var():
                return ast.Name(self.names.get(operand, "_"), ast.Load())
            case tuple():
                return ast.Tuple([self.operand(o) for o in operand], ast.Load())
            case Slice(lower, upper, step):
                parts = (lower, upper) if step is None else (lower, upper, step)
                return ast.Call(ast.Name("slice", ast.Load()), [self.operand(p or Const(None)) for p in parts], [])
        raise TypeError(f"not an operand: {operand!r}")

    def key(self, key: Operand) -> ast.expr:
        """Return a subscript as an expression."""
        match key:
            case tuple() if key:
                return ast.Tuple([self.key(k) for k in key], ast.Load())
            case Slice(lower, upper, step):
                return ast.Slice(*(None if p is None else self.operand(p) for p in (lower, upper, step)))
            case Const(slice() as s):
                return self.key(Slice(*(None if p is None else Const(p) for p in (s.start, s.stop, s.step))))
            case Const(tuple() as items) if items and key.text is None:
                return ast.Tuple([self.key(Const(i)) for i in items], ast.Load())
        return self.operand(key)

    def attribute(self, base: ast.expr, name: str) -> ast.expr:
        """Return the expression for an attribute of data, whose name can be any string."""
        if is_name(name):
            return ast.Attribute(base, name, ast.Load())
        return ast.Call(self.globals.constant(Const(getattr)), [base, ast.Constant(name)], [])

    @singledispatchmethod
    def op(self, op) -> ast.expr:
        """Return an op as an expression."""
        raise TypeError(f"not an expression: {op!r}")

    @op.register
    def _(self, op: Let):
        return self.operand(op.value)

    @op.register
    def _(self, op: Attr):
        return ast.Attribute(self.operand(op.base), op.name, ast.Load())

    @op.register
    def _(self, op: Index):
        if isinstance(operand_type(op.base), StructT) and isinstance(op.key, Const) and isinstance(op.key.value, str):
            return self.attribute(self.operand(op.base), op.key.value)
        return ast.Subscript(self.operand(op.base), self.key(op.key), ast.Load())

    @op.register
    def _(self, op: Build):
        items = [self.operand(i) for i in op.items]
        if op.kind == "record":
            fields = keywords(dict(zip(op.keys, items)))
            cls = self.globals.constant(Const(op.cls))
            if takes_its_fields(op.cls, op.keys):
                return ast.Call(cls, [], fields)
            return ast.Call(self.globals.constant(Const(runtime.make_record)), [cls], fields)
        if op.kind == "dict":
            return ast.Dict([self.globals.constant(Const(k)) for k in op.keys], items)
        if op.kind == "set":
            return ast.Set(items) if items else ast.Call(self.globals.constant(Const(set)), [], [])
        return (ast.List if op.kind == "list" else ast.Tuple)(items, ast.Load())

    @op.register
    def _(self, op: Branch):
        then, orelse = self.operand(op.then.results[0]), self.operand(op.orelse.results[0])
        if repeated_arm(op) is op.orelse:
            return _bool(ast.And(), self.operand(op.cond), then)
        if repeated_arm(op) is op.then:
            return _bool(ast.Or(), self.operand(op.cond), orelse)
        return ast.IfExp(self.operand(op.cond), then, orelse)

    @op.register
    def _(self, op: Call):
        fn = op.fn.value if isinstance(op.fn, Const) else op.fn
        if fn is getattr and len(op.args) == 2 and isinstance(op.args[1], Const):
            return self.attribute(self.operand(op.args[0]), op.args[1].value)
        name = operator_name(fn)
        if name is not None and not op.kwargs:
            expr = self.operator(name, ordered(op, self.nested, self.made) if self.lets_go else op.args)
            if expr is not None:
                return expr
        method = self.method(fn, op)
        if method is not None:
            return method
        args = [self.operand(a) for a in without_defaults(fn, op.args)]
        return ast.Call(self.function(op.fn), args, keywords({k: self.operand(v) for k, v in op.kwargs}))

    def function(self, fn) -> ast.expr:
        return self.operand(fn) if isinstance(fn, (Var, Const)) else self.globals.constant(Const(fn))

    def method(self, fn, op: Call) -> ast.expr | None:
        """Return a call as `x.T`, `x.copy()`, `x.astype(t)` or the like if it reads better as a method or attribute, else None."""
        if not op.args or isinstance(fn, Var):
            return None
        first = op.args[0]
        array = isinstance(first, Var) and isinstance(first.type, Array)
        if fn is np.transpose and array and len(op.args) == 1 and not op.kwargs:
            return ast.Attribute(self.operand(first), "T", ast.Load())
        name = getattr(fn, "__name__", None)
        owner = getattr(fn, "__objclass__", None) or next((c for c in GENERATORS if getattr(c, str(name), None) is fn), None)
        copies = fn is np.copy and array and len(op.args) == 1 and not op.kwargs
        if not copies and owner not in (np.ndarray, int, float, list, dict, str, tuple, *GENERATORS):
            return None
        if owner is not None and getattr(owner, name, None) is not fn:
            return None
        args = [self.operand(a) for a in op.args[1:]]
        return ast.Call(ast.Attribute(self.operand(first), name, ast.Load()), args, keywords({k: self.operand(v) for k, v in op.kwargs}))

    def operator(self, name: str, operands: tuple[Operand, ...]) -> ast.expr | None:
        """Return a call of a function of the module `operator` as an expression with that operator, or None if it has none."""
        if name == "getitem":
            return ast.Subscript(self.operand(operands[0]), self.key(operands[1]), ast.Load())
        if name == "contains":
            name, operands = "in", operands[::-1]
        values = list(map(self.operand, operands))
        match values:
            case left, right if name in BINARY:
                return ast.BinOp(left, BINARY[name](), right)
            case left, right if name in _COMPARE:
                return ast.Compare(left, [_COMPARE[name]()], [right])
            case (ast.UnaryOp(ast.Not(), inner),) if name == "not_" and not self.is_truth_of_python(operands[0]):
                return ast.Call(self.globals.constant(Const(bool)), [inner], [])  # `not not x` of NumPy's truth values is one of Python
            case (value,) if name == "not_":
                return negated(value)
            case (value,) if name in _UNARY:
                return ast.UnaryOp(_UNARY[name](), value)
            case (value,) if name == "truth":
                return ast.Call(self.globals.constant(Const(bool)), [value], [])
        return None

    def is_truth_of_python(self, negation: Operand) -> bool:
        """Tell whether what is negated, in the expression that the operand stands for, is a truth value of Python."""
        op = self.nested.get(negation)
        return isinstance(op, Call) and operand_type(op.args[0]) == BOOL

    def part(self, base: ast.expr, path: tuple[Sub | View, ...]) -> ast.expr:
        """Return an expression for the part of an array that a path leads to."""
        for step in path:
            if isinstance(step, Sub):
                base = ast.Subscript(base, self.key(step.key), ast.Load())
            elif is_flat(step):
                base = ast.Attribute(base, "flat", ast.Load())
            elif step.fn is np.transpose and not step.args and not step.kwargs:
                base = ast.Attribute(base, "T", ast.Load())
            else:
                args = [self.operand(a) for a in step.args]
                base = ast.Call(self.function(step.fn), [base, *args], keywords({k: self.operand(v) for k, v in step.kwargs}))
        return base


def is_expression(op: Op, nested: dict[Var, Op]) -> bool:
    """Return whether an op with blocks can be printed as an expression, because it is a branch whose arms can."""
    if not isinstance(op, Branch) or op.kind == "if" or len(op.then.results) != 1:
        return False
    return all(s.targets and all(t in nested for t in s.targets) for arm in (op.then, op.orelse) for s in arm.stmts)


def _bool(op: ast.boolop, left: ast.expr, right: ast.expr) -> ast.expr:
    """Return `left and right` or `left or right`, flattened where a side is an expression of the same kind."""
    values: list[ast.expr] = []
    for part in (left, right):
        values += part.values if isinstance(part, ast.BoolOp) and type(part.op) is type(op) else [part]
    return ast.BoolOp(op, values)
