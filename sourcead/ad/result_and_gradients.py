"""The ends of the reverse sweep: the result, which must be one real number, and the gradients of the parameters.

    y, one real number      d_y = 1
    d_x                     in the structure, shape and dtype of the parameter x
"""

import functools
import operator
from collections.abc import Container
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.conditions import raises
from sourcead.analysis.unassigned import is_none
from sourcead.errors import NonScalarError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Call, Const, Effect, Function, Op, Stmt, Var
from sourcead.ir.spoken_types import spoken
from sourcead.ir.types import (
    ANY_DTYPE, BOOL, UNKNOWN, Array, DictT, FunctionT, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type,
    Unknown, dims_of, join, keyed_parts, kind_of, parts, rank
)
from sourcead.ir.walk import substitute

SMALL_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


def function_name(name: str) -> str:
    """Return the name that a function has in generated text."""
    return "function" if name == "<lambda>" else name


def check_scalar(value: Atom, lowered: Lowered) -> None:
    """Refuse a result that is known not to be one real number."""
    t = atom_type(value)
    found, instead = spoken(t), "return a scalar, such as np.sum(...) of it; or use `jacobian` or `vjp`, which take any result"
    if rank(t) == 0 or isinstance(t, Array) and t.dims is None or isinstance(t, MapT):
        found = None
    match t:
        case NoneType():
            instead = "end it with `return` and the number"
        case Str():
            instead = "return the number itself"
        case FunctionT():
            instead = "call it, and return the number"
    if isinstance(t, TupleT):
        instead = "return the number alone; or `(number, anything)`, with has_aux=True; or use `jacobian` or `vjp`, which take any result"
    if isinstance(t, DictT | StructT):
        instead = "return the number alone, one of the items; or use `jacobian` or `vjp`, which take any result"
    if kind_of(t) == "complex":
        found = "a complex number"
        instead = "return a real number, such as np.abs(...) ** 2 of it; or use `jvp` or `vjp`, which take any result"
    if kind_of(t) == "bool":
        found, instead = "a truth value", "return the number that is compared"
    if found and lowered.returned.file.startswith("<sourcead "):  # a derivative of a derivative
        instead = "`hessian` for the derivative of a gradient, or `jacobian`, which take any result; or make a number of it"
        raise NonScalarError(f"`{lowered.function.name}` returns {found}; a gradient is that of one real number", instead=instead)
    if found:
        raise NonScalarError(
            f"`{lowered.function.name}` returns {found}; a gradient is that of one real number",
            at=lowered.returned,
            instead=instead,
        )


NUMBER_ON_EACH_PATH = "end each path with `return` and a number"


def raising_for_none(block: Block, value: Atom, function: Function, holders: Container[Var]) -> tuple[Block, Atom]:
    """Return a block and the number that it yields, where each path on which this is None raises an error instead.

        y = if c: yield 2.0 else: yield None        ->      y = if c: yield 2.0 else: raise NonScalarError("f returns None ...")

    Args:
        block: the body of a function, or the arm of a branch that it returns from.
        value: what it returns.
        function: the function.
        holders: the variables that may be None.
    """
    for place, stmt in enumerate(block.stmts):
        if value in stmt.targets and isinstance(stmt.op, Branch):
            k = stmt.targets.index(value)
            arms, types = [], []
            for arm in (stmt.op.then, stmt.op.orelse):
                found, new = raising_for_none(arm, arm.results[k], function, holders)
                types += [] if raises(found) else [atom_type(new)]
                arms.append(replace(found, results=(*arm.results[:k], new, *arm.results[k + 1 :])))
            if arms == [stmt.op.then, stmt.op.orelse]:
                return block, value
            number = Var(value.name, functools.reduce(join, types or [UNKNOWN]), value.temp)
            made = replace(
                stmt, targets=(*stmt.targets[:k], number, *stmt.targets[k + 1 :]), op=replace(stmt.op, then=arms[0], orelse=arms[1])
            )
            return substitute(replace(block, stmts=(*block.stmts[:place], made, *block.stmts[place + 1 :])), {value: number}), number
    error = Var("error", temp=True)
    why = f"`{function.name}` returns None for these arguments; a gradient is that of one real number"
    told = Const(why), Const(None), Const(NUMBER_ON_EACH_PATH)
    raised = (Stmt((error,), Call(NonScalarError, told)), Stmt((), Effect("raise", (error,)), function.origin))
    if value in holders:
        no_number = Var(f"{value.name}_is_none", BOOL, True)
        raised = Stmt((no_number,), Call(operator.is_, (value, Const(None)))), Stmt((), Branch(no_number, Block(raised), Block(())))
    elif is_none(value):
        value = UNDEFINED
    else:
        return block, value
    return replace(block, stmts=(*block.stmts, *raised)), value


def seed(build: Builder, value: Var) -> Atom:
    """Return the cotangent of a scalar result: one, of its type."""
    if isinstance(value.type, Array) and value.type.dims == ():
        return build.call(np.ones_like, value, name="d_y")
    if dims_of(value.type) == ():
        return Const(1.0)
    return build.call(runtime.seed, value, type=value.type, name="d_y")


def given_cotangent(build: Builder, value: Atom, inputs: list[Var]) -> tuple[Var, Atom]:
    """Return the parameter of a pullback, and the cotangent of the result that it stands for.

    Where values of low precision are differentiated, it is given the dtype of the result: users write Python numbers, whose products
    have another.
    """
    t = atom_type(value)
    dtype = getattr(t, "dtype", None)
    if not isinstance(t, (Scalar, Array)) or dtype is None or dtype == ANY_DTYPE or not any(is_low(atom_type(x)) for x in (value, *inputs)):
        given = Var("d_y", t, True)
        return given, given
    given = Var("d_y", Scalar(t.kind) if isinstance(t, Scalar) else Array(None, t.dims), True)
    if isinstance(t, Scalar):
        return given, build.call(dtype.type, given, type=t, name="d_y")
    return given, build.call(np.asarray, given, Const(dtype.type), type=t, name="d_y")


def is_low(t: Type) -> bool:
    """Return whether a value is or contains a number or an array of low precision."""
    return getattr(t, "dtype", None) in SMALL_FLOATS or any(map(is_low, parts(t)))


def parameter_gradient(build: Builder, cots: Cotangents, v: Var, written: bool) -> Atom:
    """Return the gradient of a parameter: its cotangent in the structure, shape and dtype of the parameter.

    `written` tells whether the function writes into the parameter.
    """
    d = cots.get_or_zero(v)
    t, to = atom_type(d), v.type
    if isinstance(to, TupleT) and isinstance(t, ListT) and all(has_form(t.item, part) for part in to.items):
        return build.call(tuple, d, type=to, name=f"d_{v.name}")
    if not isinstance(to, (Array, Scalar)):
        return build.call(runtime.like_argument, d, v, type=to, name=f"d_{v.name}") if written or not has_form(t, to) else d
    if dims_of(t) is None or dims_of(to) is None or len(dims_of(t)) != len(dims_of(to)):
        return build.call(runtime.unbroadcast, d, v, type=to, name=f"d_{v.name}")
    return in_dtype_of(build, unbroadcast(build, d, v), v, f"d_{v.name}")


def in_dtype_of(build: Builder, d: Atom, v: Atom, name: str) -> Atom:
    """Return a cotangent or tangent, which has the shape of a number or array, in its dtype."""
    t, to = atom_type(d), atom_type(v)
    dtype = getattr(to, "dtype", None)
    narrow = dtype is not None and dtype.kind in "fc" and dtype != np.dtype(float)
    if isinstance(to, Array) and to.dims == ():  # NumPy turns arrays without axes into numbers
        return build.call(np.asarray, d, *([Const(dtype.type)] if narrow else []), type=to, name=name)
    if isinstance(to, Array) and narrow and isinstance(t, Array) and t.dtype is None:
        return build.call(np.ndarray.astype, d, Const(dtype.type), type=to, name=name)
    made = build.made_by.get(d)
    if isinstance(to, Scalar) and (not has_form(t, to) or may_be_int(made)):
        if t == to and isinstance(made, Call) and made.fn is np.sum:  # which gives the dtype of the array
            return d
        return build.call(dtype.type if dtype in SMALL_FLOATS else float, d, type=to, name=name)
    return d


def may_be_int(made: Op | None) -> bool:
    """Return whether a cotangent is 1.0 times a number that may be an int at run time, which simplification leaves."""
    if not isinstance(made, Call) or made.fn is not operator.mul:
        return False
    if not any(isinstance(a, Const) and type(a.value) is float and a.value == 1.0 for a in made.args):
        return False
    return any(isinstance(a, Var) and atom_type(a) == Scalar("float", ANY_DTYPE) for a in made.args)


def has_form(t: Type, to: Type) -> bool:
    """Return whether a cotangent of type `t` surely has the structure, shape and dtype of an argument of type `to`."""
    match to, t:
        case Scalar(_, dtype), Scalar(_, found):
            return dtype not in SMALL_FLOATS and found not in SMALL_FLOATS  # contributions may be Python numbers
        case Array(dtype, dims), Array(found, axes):
            same = dtype is not None and found is not None and (found == dtype or dtype.kind not in "fc")
            return same and bool(dims) and axes is not None and len(axes) == len(dims)
        case ListT(item, items), ListT(found, None):
            return all(has_form(found, part) for part in (item, *(items or ())))
        case (Scalar() | Array() | Unknown()), _:
            return False
        case TupleT() | ListT() | DictT() | StructT(), _ if type(t) is type(to):
            theirs, mine = dict(keyed_parts(t) or ()), keyed_parts(to) or ()
            return len(theirs) == len(mine) and all(k in theirs and has_form(theirs[k], part) for k, part in mine)
    return not isinstance(to, (TupleT, ListT, DictT, StructT, MapT))
