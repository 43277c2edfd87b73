"""The sizes of arrays inside a function for given arguments, found without running it.

The symbolic dims of types get numbers: those of the arguments from their shapes, the others by inferring the type of each op
again with the sizes of its operands.  A dim that differs between iterations of a loop, or that depends on the values of arrays,
gets none.
"""

import builtins
import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.analysis.builder import Builder, atom_type, operand_type
from sourcead.ir.dims import with_dims
from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Call, Function, Let, Loop, Op, Operand, Pop, Stmt, Update, Var, fresh
)
from sourcead.ir.records import fields_of
from sourcead.ir.types import INT, UNKNOWN, Array, ListT, Scalar, StructT, Sym, Type, keyed_parts
from sourcead.ir.walk import handed_on, map_op
from sourcead.primitives.result_types.operands import NOT_CONST, Arg
from sourcead.primitives.table import record_of

OF_INTEGERS = frozenset({
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, builtins.min, builtins.max,
    builtins.abs, builtins.int,
})  # fmt: skip
EXAMPLE = 1000  # integers above this are not handed to functions that are called on examples


def sizes_in(function: Function, arguments: Mapping[str, Any]) -> dict[Sym, int]:
    """Return the sizes of the symbolic dims of a function's types that follow from the arguments."""
    sizes = Sizes()
    for p in function.params:
        if p.name in arguments:
            sizes.of_value(p.type, arguments[p.name])
    for p in function.params:
        new, value = sizes.of_result(p, p.type), arguments.get(p.name)
        if isinstance(p.type, Scalar) and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            sizes.build.known[new] = int(value)
    sizes.block(function.body)
    return sizes.numbers


class Sizes:
    """Infers sizes along a function's statements.

    Attributes:
        numbers: the sizes found.
        varying: the dims that have more than one size.
        now: variable of the function -> a variable whose type has the sizes found.
        build: knows the values of integers.
    """

    def __init__(self):
        self.numbers: dict[Sym, int] = {}
        self.varying: set[Sym] = set()
        self.now: dict[Var, Var] = {}
        self.build = Builder()

    def known(self, t: Type) -> Type:
        return with_dims(t, self.numbers)

    # -- learning --------------------------------------------------------------------------------------------------------

    def of_dim(self, dim: int | Sym, size: int | Sym, one_of: bool = False) -> None:
        """Note that a dim has a size, or with `one_of` that it is one of several sizes that the dim may have."""
        if not isinstance(dim, Sym) or dim in self.varying or size is dim:
            return
        if isinstance(size, Sym):
            if one_of:
                self.vary(dim)
        elif self.numbers.setdefault(dim, size) != size:
            self.vary(dim)

    def vary(self, dim: Sym) -> None:
        """Note that a dim has no single known size."""
        self.varying.add(dim)
        self.numbers.pop(dim, None)

    def of_value(self, t: Type, value: Any) -> None:
        """Note the sizes of the symbolic dims of a type that follow from one of its values."""
        match t:
            case Array(_, dims) if dims is not None and np.ndim(value) == len(dims):
                for dim, size in zip(dims, np.shape(value)):
                    self.of_dim(dim, size)
            case _:
                found = fields_of(value) if isinstance(t, StructT) else value
                for key, part in keyed_parts(t) or ():
                    self.of_value(part, found[key])
                for k, v in enumerate(value) if isinstance(t, ListT) else ():
                    if t.items is None or t.items[k] is not t.item:
                        self.of_value(t.item, v)

    def of_type(self, t: Type, other: Type, one_of: bool = False) -> None:
        """Note that a value of type `t` also has the type `other`, or with `one_of` that it may have that type."""
        match t, other:
            case (Array(_, dims), Array(_, sizes)) if dims is not None and sizes is not None and len(dims) == len(sizes):
                for dim, size in zip(dims, sizes):
                    self.of_dim(dim, size, one_of)
            case ListT(item, items), ListT(other, others):
                for o in (other, *(others or ())):
                    self.of_type(item, o, True)
                for i, o in zip(items or (), others or ()):
                    self.of_type(i, o, one_of)
            case _ if type(t) is type(other):
                found = dict(keyed_parts(other) or ())
                for key, part in keyed_parts(t) or ():
                    self.of_type(part, found.get(key, part), one_of)

    def of_result(self, target: Var, *types: Type) -> Var:
        """Bind a variable to a value of one of several types; return the variable that stands for it."""
        for t in types:
            self.of_type(target.type, t, len(types) > 1)
        self.now[target] = fresh(target, type=self.known(target.type))
        return self.now[target]

    # -- statements ----------------------------------------------------------------------------------------------------

    def atom(self, atom: Atom) -> Atom:
        return self.now.get(atom, atom) if isinstance(atom, Var) else atom

    def type(self, atom: Atom) -> Type:
        return atom_type(self.atom(atom))

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt.op:
            case Branch(_, then, orelse):
                self.block(then)
                self.block(orelse)
                for target, *ends in handed_on(stmt):
                    self.of_result(target, *map(self.type, ends))
            case Loop():
                self.loop(stmt)
            case Pop(base, (), _):
                whole = self.type(base)
                for t, found in zip(stmt.targets, (whole, getattr(whole, "item", UNKNOWN))):
                    self.of_result(t, found)
            case op:
                op = map_op(op, self.atom)
                for t in stmt.targets:  # one; none of a call for its effect
                    made = self.of_result(t, self.result(op))
                    self.build.learn(made, op)
                    size = self.build.size_dim.get(made)
                    value = size if isinstance(size, int) else self.integer(op)
                    if value is not None:
                        self.build.known[made] = value

    def loop(self, stmt: Stmt) -> None:
        """Infer sizes in an iteration, and again while dims of loop variants turn out to change."""
        op: Loop = stmt.op
        before = dict(self.numbers)
        while True:
            changing = set(self.varying)
            for p, init in zip(op.params, op.inits):
                self.of_result(p, self.type(init), UNKNOWN)
            if isinstance(op.domain, Block):
                self.block(op.domain)
            self.block(op.body)
            for p, r in zip(op.params, op.body.results):
                self.of_type(p.type, self.type(r), True)
            if self.varying == changing:
                break
            self.numbers = {dim: size for dim, size in before.items() if dim not in self.varying}
        for t, init, r in zip(stmt.targets, op.inits, op.body.results):
            self.of_result(t, self.type(init), self.type(r))

    def result(self, op: Op) -> Type:
        """Return the type of an op's result, as far as its dims are needed."""
        match op:
            case Update(base):
                return atom_type(base)
            case Append(base, value, ()):
                self.of_type(atom_type(base), ListT(operand_type(value)))
                return ListT(operand_type(value))
            case Call(fn) if not isinstance(fn, Var) and record_of(fn).result is None:
                return self.build.result_type(op, small)
        return self.build.result_type(op)

    def integer(self, op: Op) -> int | None:
        """Return the integer that an op computes from integers, or None if it is unknown."""
        match op:
            case Call(builtins.len, (x,)):
                items = getattr(operand_type(x), "items", None)
                return None if items is None else len(items)
            case Let(value):
                return self.number(value)
            case Call(fn, args, ()) if op.args and any(fn is f for f in OF_INTEGERS):
                numbers = [self.number(a) for a in args]
                try:
                    return None if None in numbers else fn(*numbers)
                except (ArithmeticError, TypeError):
                    return None
        return None

    def number(self, operand: Operand) -> int | None:
        """Return the value of an integer operand, or None if it is unknown."""
        found = self.build.arg(operand)
        return found.value if isinstance(found, Arg) and type(found.value) is int else None


def small(arg: Any) -> Any:
    """Return the operand without its value if the value is a large integer."""
    large = isinstance(arg, Arg) and type(arg.value) is int and abs(arg.value) > EXAMPLE
    return replace(arg, value=NOT_CONST, type=INT) if large else arg
