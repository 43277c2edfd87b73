"""Outlining: calls that Numba may not know become functions of their own.

Element loops, arithmetic and ufuncs stay as they are.  Any other call becomes a call of an *outlined* function, which contains the options
of the original call and takes the variables that it reads:

    d_x = np.broadcast_to(d_y, x.shape)      d_x = broadcast_to(d_y, shape)

    def broadcast_to(d_y, shape):
        return np.broadcast_to(d_y, shape)

`overloads/outlined.py` compiles it if Numba can and the result has the inferred type; otherwise the interpreter runs it.

Numba differs from NumPy in three more ways, which are handled here: Python numbers are strong (float32 times 2.0 is float64), an in-place
`a[1:] += v` does not check whether `v` shares memory with `a`, and no `with np.errstate` is needed, since nothing warns.
"""

import builtins
import math
import operator
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type, operand_type
from sourcead.backends.numba.codegen.boundary import SMALL
from sourcead.backends.numba.codegen.explicit_types import MAKERS
from sourcead.backends.numba.codegen.loop_nests import PRODUCTS, loop_nest, rank_of, reduces_all_axes, small_sizes
from sourcead.backends.numba.codegen.recursion import Helper, ParallelLoop, Recursive, reachable
from sourcead.backends.numba.functions import (
    ARRAY_REDUCTIONS, ARRAY_UFUNCS, CHECKED, add_at, alike, apart, as_many, begin, chosen, disjoint, divided, nonzero,
    power, product, remainder, reserved, shifted, subtract_at, with_room
)
from sourcead.emit import Emitted, emit
from sourcead.emit.memory.sharing import AliasGroups
from sourcead.frontend.builtins.calls import SPEAKERS
from sourcead.frontend.find_source import unwrap
from sourcead.ir.names import name_of, numbered
from sourcead.ir.nodes import (
    Atom, Block, Build, Call, Const, Function, Index, Let, Loop, Op, Operand, Stmt, Update, Var, fresh
)
from sourcead.ir.types import FLOAT, INT, Array, ListT, NoneType, Scalar, Str, TupleT, Type, Unknown, kind_of, rank
from sourcead.ir.walk import count_reads, map_blocks, map_op, rewrite
from sourcead.primitives.registry import enter
from sourcead.primitives.table import record_of

enter(*CHECKED, as_many, chosen, nonzero, reserved, alike, begin, disjoint, with_room, *MAKERS, numba="native")
enter(reserved, with_room, memory="first")


@dataclass(eq=False, kw_only=True)
class Outlined(Helper):
    """An outlined function, whose body is one call taken from the text.

    Attributes:
        result: the inferred type of its result.
        compiles: whether Numba should try to compile it.
        reshapes: whether it is `np.reshape`, which Numba compiles for arrays in column order into code that raises an error.
        parameters: the names of its parameters.
        origin: the user's statement that the call is part of.
    """

    result: Type
    compiles: bool
    reshapes: bool
    parameters: tuple[str, ...]
    origin: Any


SHAPED = (np.zeros, np.ones, np.empty)  # functions that take a shape
MANY_AXES = 3  # arrays with this many axes or more are left to NumPy: loops over them take Numba seconds to compile, and run no faster
AT = {"add": add_at, "sub": subtract_at}  # in place of `np.add.at` and `np.subtract.at`


def outline_calls(function: Function) -> Function:
    """Return the function with calls outlined; must run after `assign_memory`, whose decisions it keeps."""
    groups = AliasGroups(function.body)
    groups.unite(*(p for p in function.params if isinstance(p.type, Array)))  # a caller may pass one array twice
    return without_unread_displays(replace(function, body=_Outlining(groups, count_reads(function.body)).block(function.body)))


def with_outlined(emitted: Emitted) -> str:
    """Return a text preceded by the functions that it calls."""
    recursive = reachable(emitted.namespace)
    namespaces = [*(r.namespace for r in recursive), emitted.namespace]
    outlined = [v.text for namespace in namespaces for v in namespace.values() if isinstance(v, Outlined)]
    loops = [f"{v.text}\n\n{v.driver}" for v in emitted.namespace.values() if isinstance(v, ParallelLoop)]
    return "\n\n".join([*outlined, *loops, *(r.text for r in recursive), emitted.text])


def without_unread_displays(function: Function) -> Function:
    """Return the function without the lists, tuples and iterators that nothing reads any more."""
    read = count_reads(function.body)

    def unread(s: Stmt) -> bool:
        display = isinstance(s.op, Build) and s.op.kind != "record"
        iterator = isinstance(s.op, Call) and isinstance(s.op.fn, Outlined) and isinstance(s.op.fn.result, Unknown)
        return (display or iterator) and not any(map(read.get, s.targets))

    return replace(function, body=rewrite(function.body, lambda s: () if unread(s) else (s,)))


@dataclass
class _Outlining:
    groups: AliasGroups
    read: dict[Var, int]
    names: set[str] = field(default_factory=set)
    made_by: dict[Var, Op] = field(default_factory=dict)
    same: dict[tuple, Outlined] = field(default_factory=dict)
    grown: set[Var] = field(default_factory=set)  # see `checked`

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = replace(stmt, within=())
            if stmt.op.blocks:
                if isinstance(stmt.op, Loop):
                    self.grown.update(stmt.op.params)
                new = map_blocks(stmt, self.block)
            else:
                new = replace(stmt, op=self.op(stmt, stmts))
                new = replace(new, targets=()) if self.reports(stmt) else new
            self.made_by.update((t, stmt.op) for t in stmt.targets)
            stmts.append(new)
        return Block(tuple(stmts), block.results)

    def op(self, stmt: Stmt, before: list[Stmt]) -> Op:
        match stmt.op:
            case Call(fn) if self.reports(stmt):
                return self.outlined(stmt, fn)
            case Call(fn) if stmt.op.effect or isinstance(fn, Var | Recursive):
                return stmt.op
            case Call(math.log, (x, base)):
                logs = [self.bound(Call(math.log, (a,)), Var("log", FLOAT), stmt, before) for a in (x, base)]
                return Call(operator.truediv, tuple(logs))
            case Call(operator.not_, (Var(type=ListT()) as x,)):
                return Call(operator.eq, (self.bound(Call(len, (x,)), Var("n", INT), stmt, before), Const(0)))
            case Call():
                return self.call(stmt, before)
            case Index(Var() as base, Const(value)) if value is ... and rank(base.type):
                return Let(base)  # Numba cannot lower `x[...]`
            case Update(Var(type=Array()) as base, _, Var() as value, "add" | "sub") if self.may_overlap(base, value):
                return replace(stmt.op, value=self.bound(Call(apart, (value, base)), value, stmt, before))
        return stmt.op

    def reports(self, stmt: Stmt) -> bool:
        """Return whether a statement only tells the user something, as `warnings.warn` does, which the interpreter does in its place."""
        told = isinstance(stmt.op, Call) and stmt.op.effect and getattr(unwrap(stmt.op.fn)[0], "__module__", None) in SPEAKERS
        return told and not any(map(self.read.get, stmt.targets))

    def may_overlap(self, base: Var, value: Var) -> bool:
        """Return whether an array that is added may share memory with the array to which it is added."""
        return rank(value.type) != 0 and self.groups.find(base) is self.groups.find(value)

    # ---- calls ----

    def call(self, stmt: Stmt, before: list[Stmt]) -> Op:
        op, result = stmt.op, stmt.targets[0].type if len(stmt.targets) == 1 else None
        fn = op.fn.value if isinstance(op.fn, Const) else op.fn
        if fn in (operator.is_, operator.is_not) and all(kind_of(atom_type(a)) == "bool" for a in op.args):
            if len({getattr(atom_type(a), "dtype", None) is None for a in op.args}) == 2:
                return Let(Const(fn is operator.is_not))  # NumPy's True is not Python's
            return replace(op, fn=operator.eq if fn is operator.is_ else operator.ne)  # Numba has no unique True
        if (instead := checked(op, self.grown)) is not None:
            if fn is operator.mul:
                self.grown.update(stmt.targets)
            return instead
        if wraps(result) and is_basic(fn):
            wide = self.bound(op, Var("wide", INT), stmt, before)
            return Call(result.dtype.type, (wide,))
        if fn in PRODUCTS and small_sizes(op, result) is not None:
            return self.outlined(stmt, fn)
        if fn is operator.matmul and all(_is_matrix(a) for a in op.args) and len({atom_type(a).dtype for a in op.args}) == 1:
            return op
        if isinstance(fn, type) and issubclass(fn, np.generic) and isinstance(result, Array) and result.dims:
            return self.outlined(replace(stmt, op=number_as_array(op, result)), np.full)
        if fn is operator.mod and isinstance(result, Str):
            return self.outlined(stmt, fn)
        if is_basic(fn) and isinstance(result, Array) and len(result.dims or ()) >= MANY_AXES:
            return self.outlined(stmt, fn)
        if isinstance(result, Array) and result.dims and self.has_numpy_loop(op, fn, result):
            return replace(op, fn=ARRAY_UFUNCS[fn])
        if isinstance(fn, Hashable) and fn in ARRAY_REDUCTIONS and reduces_all_axes(op) and rank_of(op.args[0]) in (1, 2):
            return Call(ARRAY_REDUCTIONS[fn], op.args[:1])
        if fn in (math.tanh, np.tanh) and not op.kwargs and _is_float(op.args[0]):
            return replace(op, fn=ARRAY_UFUNCS[np.tanh])  # libm takes twice as long
        if is_basic(fn) and not op.kwargs and not any(isinstance(a, tuple) for a in op.args):
            if getattr(result, "dtype", None) in SMALL:
                return replace(op, args=tuple(self.strong(a, result.dtype, stmt, before) for a in op.args))
            return op
        if any(isinstance(a, Var) and self.is_iterator(a) for a in op.args):
            return self.outlined(stmt, fn)
        if fn in SHAPED and len(op.args) == 1 and isinstance(op.args[0], Var) and isinstance(op.args[0].type, ListT):
            made = self.made_by.get(op.args[0])
            if isinstance(made, Build):
                return replace(op, args=(made.items,), kwargs=tuple((k, _dtype(v)) for k, v in op.kwargs))
        if result is None or record_of(fn).numba == "native":
            return replace(op, kwargs=tuple((k, _dtype(v)) for k, v in op.kwargs))
        return self.outlined(stmt, fn)

    def is_iterator(self, a: Var) -> bool:
        """Return whether a variable is an iterator of `itertools`, which is made anew in the function that iterates over it."""
        made = self.made_by.get(a)
        return isinstance(made, Call) and getattr(made.fn, "__module__", None) == "itertools"

    def has_numpy_loop(self, op: Call, fn: Any, result: Array) -> bool:
        """Return whether a call applies a ufunc of `ARRAY_UFUNCS` to a whole array of floats."""
        known = isinstance(fn, np.ufunc) and fn in ARRAY_UFUNCS and len(op.args) == 1 and not op.kwargs
        return known and result.dtype in (np.float32, np.float64) and getattr(atom_type(op.args[0]), "dtype", None) == result.dtype

    def strong(self, operand: Operand, dtype: np.dtype, stmt: Stmt, before: list[Stmt]) -> Operand:
        """Return a Python number converted to the dtype that NumPy gives it in arithmetic with `dtype`; other operands unchanged."""
        t = operand_type(operand)
        if not (isinstance(t, Scalar) and t.dtype is None and t.kind in ("int", "float")):
            return operand
        real = np.dtype(np.float32) if dtype.kind == "c" else dtype
        if isinstance(operand, Const) and not operand.live:
            return Const(real.type(operand.value))
        return self.bound(Call(real.type, (operand,)), Var("t", Scalar("float", real)), stmt, before)

    def bound(self, op: Op, like: Var, stmt: Stmt, before: list[Stmt]) -> Var:
        v = fresh(like, temp=True)
        before.append(Stmt((v,), op, stmt.origin, stmt.adjoint_of))
        return v

    def outlined(self, stmt: Stmt, fn: Any) -> Call:
        """Return a call of an outlined function, whose body is the statement's call with the displays among its arguments."""
        told = self.reports(stmt)
        y = Var("nothing", NoneType(), True) if told else fresh(stmt.targets[0], temp=True)
        inner: dict[Var, Var] = {}
        stmts: list[Stmt] = []

        def argument(a: Atom) -> Atom:
            if not isinstance(a, Var):
                return a
            if a not in inner:
                made = self.made_by.get(a)
                display = isinstance(made, Build) and made.kind in ("tuple", "list") and made.items and not made.residual
                if display or self.is_iterator(a):
                    made = map_op(made, argument)
                    if display and made.kind == "list" and getattr(fn, "__module__", None) == "numpy" and fn not in (np.array, np.asarray):
                        made = replace(made, kind="tuple")
                    inner[a] = Var("items", a.type, True)
                    stmts.append(Stmt((inner[a],), made))
                else:
                    params[a] = inner[a] = Var(_letter(len(params)), a.type)
            return inner[a]

        params: dict[Var, Var] = {}
        op = map_op(stmt.op, argument)
        name = _plain_name(fn)
        block = Block((*stmts, Stmt((), op)), (Const(None),)) if told else Block((*stmts, Stmt((y,), op)), (y,))
        emitted = emit(Function(name, tuple(params.values()), block))
        compiles = not told and self.compiles(fn, y.type)
        is_call = compiles and isinstance(op, Call) and isinstance(y.type, Array | Scalar) and not stmts
        body = loop_nest(op, y.type) if is_call else None  # the interpreter runs no loops over elements
        key = emitted.text, body, tuple(emitted.namespace), tuple(map(id, emitted.namespace.values())), _shape(y.type)
        if key not in self.same:
            taken = {*self.names, *emitted.namespace, *dir(builtins)}
            made = next(n for n in numbered(name) if n not in taken)
            self.names.add(made)
            emitted = emit(Function(made, tuple(params.values()), block))
            if body is not None:
                emitted = Emitted(f"def {made}({', '.join(v.name for v in params.values())}):\n{body}", {"np": np})
            self.same[key] = Outlined(
                made, emitted.text, emitted.namespace, result=y.type, compiles=compiles, reshapes=fn is np.reshape,
                parameters=tuple(v.name for v in params.values()), origin=stmt.origin or stmt.adjoint_of,
            )  # fmt: skip
        return Call(self.same[key], tuple(params), effect=told)

    def compiles(self, fn: Any, result: Type) -> bool:
        """Return whether Numba should try to compile a call."""
        return len(getattr(result, "dims", None) or ()) < MANY_AXES and record_of(fn).numba != "interpreted"


def checked(op: Call, grown: set[Var]) -> Call | None:
    """Return the call of a checked function that replaces an operator on integers; None if the operator may stay.

    Args:
        op: the operation.
        grown: the variables that loops carry from one iteration to the next, and products of them.
    """
    if len(op.args) != 2 or op.kwargs:
        return None
    a, b = op.args
    kinds = {kind(a), kind(b)}
    if op.fn in (operator.floordiv, operator.mod) and kinds <= {"int", "float"} and not (isinstance(b, Const) and b.value):
        return Call(divided if op.fn is operator.floordiv else remainder, op.args)
    if kinds != {"int"}:
        return None
    if op.fn is operator.pow and not (isinstance(b, Const) and 0 <= b.value <= 3):
        return Call(power, op.args)
    if op.fn is operator.lshift:
        return Call(shifted, op.args)
    if op.fn is operator.mul and (a in grown or b in grown):
        return Call(product, op.args)
    return None


def kind(operand: Operand) -> str | None:
    """Return "int" or "float" for a Python number; None for any other operand."""
    t = operand_type(operand)
    return t.kind if isinstance(t, Scalar) and t.dtype is None and t.kind in ("int", "float") else None


def wraps(result: Type | None) -> bool:
    """Return whether a result is a NumPy integer of less than 64 bits."""
    return isinstance(result, Scalar) and isinstance(result.dtype, np.dtype) and result.dtype.kind in "iu" and result.dtype.itemsize < 8


def number_as_array(op: Call, result: Array) -> Call:
    """Return the call that makes an array of one element from a number, for a variable that holds first a number and later an array."""
    return Call(np.full, (Const((1,) * len(result.dims)), *op.args), (("dtype", Const(result.dtype)),))


def is_basic(fn: Any) -> bool:
    """Return whether a function works element by element on numbers and arrays, and Numba supports it."""
    if isinstance(fn, np.ufunc):
        return fn.signature is None and fn.nout == 1 and fn.nin <= 2 and fn.__name__ in dir(np)
    return getattr(fn, "__module__", None) in ("_operator", "operator") and record_of(fn).elementwise


def _is_float(operand: Operand) -> bool:
    """Return whether an operand is a 32-bit or 64-bit float."""
    t = operand_type(operand)
    return isinstance(t, Scalar) and t.kind == "float" and t.dtype in (None, np.float32, np.float64)


def _is_matrix(operand: Operand) -> bool:
    """Return whether an operand is a vector or matrix of numbers that BLAS supports."""
    t = operand_type(operand)
    return isinstance(t, Array) and rank(t) in (1, 2) and kind_of(t) in ("float", "complex") and t.dtype.itemsize > 2


def _dtype(operand: Operand) -> Operand:
    """Return an option with a NumPy dtype in place of a Python type, as Numba requires."""
    python = isinstance(operand, Const) and any(operand.value is t for t in (bool, int, float, complex))
    return Const(np.dtype(operand.value)) if python else operand


def _plain_name(fn: Any) -> str:
    name = name_of(fn, "")
    module = "np_" if str(getattr(fn, "__module__", "")).startswith("numpy") else ""
    return f"{module}{name}" if name else "call"


def _letter(k: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[k] if k < 26 else f"a{k}"


def _shape(t: Type) -> Any:
    """Return the part of a type that an outlined function depends on."""
    match t:
        case Array(dtype, dims):
            return dtype, None if dims is None else len(dims)
        case TupleT(items):
            return tuple(map(_shape, items))
        case ListT(_, items) if items is not None:
            return list, *map(_shape, items)
    return t
