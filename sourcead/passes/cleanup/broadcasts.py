"""Removes broadcasts that the operation which reads them does by itself.

    y = mul(broadcast_to(s, x.shape), x)              y = mul(s, x)
    y = mul(broadcast_to(s, shape), 2)                y = broadcast_to(mul(s, 2), shape)     if only elementwise operations read y
    y = div(broadcast_to(s, (n, m)), v)  v: (m,)      y = broadcast_to(div(s, v), (n, m))    likewise
    d1 = d0 with all += broadcast_to(s, d0.shape)     d1 = d0 with all += s
    d1 = d0 with [i] += mul(broadcast_to(s, n), x)    d1 = d0 with [i] += mul(s, x)
    d1 = broadcast_to(s, x.shape) with all += x       d1 = add(s, x)                   (`add_to_sources`)
    y = broadcast_to(v, v.shape)                      y = v
    y = reshape(broadcast_to(1.0, n), x.shape)        y = broadcast_to(1.0, x.shape)
    y = div(ones_like(x), x)                          y = div(1.0, x)
    y = mul(expand_dims(broadcast_to(s, n), 1), x)    y = mul(s, x)

This is legal where the dims of the types, and what operations before have shown of them, prove that the result keeps its shape, and where
the dtypes prove that it keeps its dtype: a Python number does not widen the dtype of a result, the array that it is broadcast to does.
"""

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Attr, Call, Const, Function, Op, Operand, Stmt, Update, Var, fresh
from sourcead.ir.records import type_of
from sourcead.ir.sizes import Dim
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Type, dims_of, kind_of, same_dtype
from sourcead.ir.walk import calls
from sourcead.passes.cleanup.constant_folding import generated, is_literal
from sourcead.passes.equality import KnownDims, equal_types
from sourcead.passes.peephole import Facts, peephole
from sourcead.primitives.table import record_of

LINEAR = (operator.add, operator.sub, operator.mul, operator.neg)
PYTHON = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


def remove_broadcasts(function: Function) -> Function:
    """Return the function without the explicit broadcasts that its operations do anyway."""
    if not calls(function.body, *_SOURCE, np.ones_like):
        return function
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts):
        dims.learn(stmt, facts)
        return _simpler(stmt, facts, dims)

    return peephole(function, rule)


def add_to_sources(function: Function) -> Function:
    """Return the function with what is added to a broadcast added to its source."""
    if not calls(function.body, *_SOURCE):
        return function
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts):
        dims.learn(stmt, facts)
        return _onto_broadcast(stmt, stmt.op, facts, dims) if isinstance(stmt.op, Update) else None

    return peephole(function, rule)


def _simpler(stmt: Stmt, facts: Facts, known: KnownDims):
    match stmt.op:
        case Call(fn, (Var(type=Array()) as x, *_)) if fn is np.broadcast_to:
            # types that are equal in full promise the same shape at run time
            return x if equal_types(x.type, stmt.targets[0].type) else None
        case Call(fn, (x, Const(dtype)), ()) if fn is np.ndarray.astype:
            return _cast_broadcast(x, dtype, facts)
        case Call(fn, (x, shape), ()) if fn is np.reshape:
            return _reshaped_broadcast(x, shape, facts)
        case Call(fn, args, (), effect=False):
            return _into_operation(stmt, fn, args, facts, known)
        case Update(base, _, value):
            return _onto_literal(stmt, facts) or _into_update(stmt.op, base, value, facts)
    return None


def _onto_literal(stmt: Stmt, facts: Facts) -> Call | None:
    """Simplify an update of all elements of a literal that is broadcast to a sum or difference with the literal; None for others."""
    match stmt.op:
        case Update(base, (), Var() as value, "add" | "sub" as mode) if generated(stmt) and equal_types(value.type, stmt.targets[0].type):
            source = _broadcast_of(base, facts)
            if source is not None and is_literal(source) and same_promotion(_type(source), base.type, [value.type]):
                if mode == "sub":
                    return Call(operator.sub, (source, value))
                return Call(operator.sub, (value, Const(-source.value))) if source.value < 0 else Call(operator.add, (value, source))
    return None


def _cast_broadcast(x: Operand, dtype, facts: Facts) -> Call | None:
    """Return the broadcast without a cast of its result, if it broadcasts a number of that dtype; else None."""
    match facts.op(x):
        case Call(fn, (Const() as source, _), ()) as broadcast if fn is np.broadcast_to:
            value = _promoted(_type(source))
            return broadcast if value is not None and np.result_type(value) == dtype else None
    return None


def _reshaped_broadcast(x: Operand, shape: Operand, facts: Facts) -> Call | None:
    """Return a broadcast of a number straight to the shape that its broadcast is reshaped to, or None for other operands."""
    ones, like = facts.call(x, np.ones_like), facts.op(shape)
    if ones is not None and isinstance(like, Attr) and like.name == "shape" and len(ones.args) == 1:
        return Call(np.ones_like, (like.base,)) if known_float(x) is not None and known_float(x) == known_float(like.base) else None
    source = _broadcast_of(x, facts)
    if source is None or facts.op(x).fn not in _SOURCE or dims_of(_type(source)) != ():
        return None
    if not isinstance(facts.op(shape), Attr) or facts.op(shape).name != "shape":
        return None
    return _with_arg(facts.op(x), 1 - _SOURCE[facts.op(x).fn], shape)


def known_float(x: Atom) -> np.dtype | None:
    """Return the dtype of an array of real numbers, None if it is not known."""
    dtype = x.type.dtype if isinstance(x, Var) and isinstance(x.type, Array) else None
    return dtype if isinstance(dtype, np.dtype) and dtype.kind == "f" else None


def broadcasts_operands(fn, count: int) -> bool:
    """Return whether a call with `count` positional arguments broadcasts all of them against each other."""
    if isinstance(fn, np.ufunc) and count != fn.nin:
        return False
    return record_of(fn).is_elementwise(count)


def _broadcast_of(operand: Operand, facts: Facts) -> Atom | None:
    """Return the value that an operand is a broadcast of, or None if it is not a broadcast."""
    op = facts.op(operand)
    if not isinstance(op, Call) or op.kwargs:
        return None
    if op.fn is np.expand_dims and not op.effect:
        source = _broadcast_of(op.args[0], facts)
        return source if source is not None and dims_of(_type(source)) == () else None
    if op.fn is np.ones_like and len(op.args) == 1 and kind_of(operand.type) == "float":
        return Const(1.0)
    if not (op.fn is np.broadcast_to and len(op.args) == 2 or op.fn is np.full and len(op.args) == 3):
        return None
    source = op.args[_SOURCE[op.fn]]
    return source if isinstance(source, (Var, Const)) and not (op.fn is np.full and dims_of(_type(source)) != ()) else None


_SOURCE = {np.broadcast_to: 0, np.full: 1}  # np.full(x.shape, s, x.dtype): a broadcast that has a dtype of its own


def _with_arg(call: Call, k: int, arg: Operand) -> Call:
    return replace(call, args=(*call.args[:k], arg, *call.args[k + 1 :]))


def _into_operation(stmt: Stmt, fn, args: tuple, facts: Facts, known: KnownDims):
    for i, arg in enumerate(args):
        source = _broadcast_of(arg, facts)
        if source is None:
            continue
        if not broadcasts_operands(fn, len(args)):
            return None
        others = [_type(a) for k, a in enumerate(args) if k != i]
        new = Call(fn, (*args[:i], source, *args[i + 1 :]))
        if None in others:
            continue
        if not same_promotion(_type(source), arg.type, others):
            if facts.call(arg, np.full) is None:
                continue
            return _outward(stmt, new, source, arg, others, facts)
        result = stmt.targets[0].type
        dims = dims_of(result)
        if dims and isinstance(result, Array) and broadcasts_to([_type(source), *others], dims, lambda m, n: known.same(m, n, facts)):
            return new
        if _to_shape_of(arg, [a for k, a in enumerate(args) if k != i], facts):
            return new
        if (written := _before_update(stmt, new, facts)) is not None:
            return written
        outward = _outward(stmt, new, source, arg, others, facts)
        if outward:
            return outward
    return None


def _to_shape_of(broadcast: Var, others: list[Operand], facts: Facts) -> bool:
    """Return whether a value was broadcast to the shape of the one other operand."""
    if len(others) != 1 or not isinstance(others[0], Var):
        return False
    op = facts.op(broadcast)
    shape = facts.op(op.args[1]) if isinstance(op, Call) and op.fn is np.broadcast_to else None
    return isinstance(shape, Attr) and shape.name == "shape" and shape.base is others[0]


def _before_update(stmt: Stmt, new: Call, facts: Facts) -> list[Stmt] | None:
    """Simplify d[key] += broadcast(s) * x to d[key] += s * x, because the write broadcasts a value that is smaller than its part."""
    (target,) = stmt.targets
    match facts.readers.get(target):
        case [Update(Var(type=Array(dims=(_, *_)) as t), path, value, mode)] if value is target and (path or mode != "set"):
            build = Builder()
            small = build.call(new.fn, *new.args, name=target.name)
            if kind_of(t) not in ("float", "complex") or kind_of(small.type) != "float" or kind_of(target.type) != "float":
                return None
            small.temp = target.temp
            facts.replace(target, small)
            return [replace(stmt, targets=(small,), op=new)]
    return None


def _outward(stmt: Stmt, new: Call, source: Atom, arg: Var, others: list[Type], facts: Facts) -> list[Stmt] | None:
    """Simplify op(broadcast(s), c) to broadcast(op(s, c)) for a number c: s is smaller, and the broadcast may be removed later.

    Only for linear operators on floats, where Python's numbers behave as NumPy's; the quotient 1.0 / 0 would raise an error.  For a number
    s, c may also be an array of fewer axes than the result.
    """
    result, t = stmt.targets[0].type, _type(source)
    if facts.call(arg, np.ones_like) is not None:
        return None
    halved = new.fn is operator.truediv and new.args[0] is source and is_literal(new.args[1]) and new.args[1].value
    row = _row(new.fn, source, others, result)
    if new.fn not in LINEAR and not halved and row is None:
        return None
    if kind_of(result) != "float" or kind_of(t) != "float" or not isinstance(result, Array):
        return None
    if row is None and any(not isinstance(o, Scalar) or o.dtype == ANY_DTYPE for o in others):
        return None
    full = facts.call(arg, np.full) is not None  # which gives the product its dtype again
    if full and row is not None or full and not (isinstance(t, Scalar) and all(o.dtype is None for o in others)):
        return None
    if not full and getattr(t, "dtype", None) == ANY_DTYPE:
        return None
    dims = dims_of(arg.type)
    if result.dtype is None or dims is None or dims_of(result) is None or dims != result.dims:
        return None
    literal = all(map(is_literal, new.args))
    if facts.uses[arg] != 1 and not literal and not _only_feeds_operations(arg, facts):
        return None
    if not literal and not _only_feeds_operations(stmt.targets[0], facts):
        return None
    if row is not None:
        small = row
    elif isinstance(t, Array):
        small = Array(result.dtype, t.dims)
        if not t.dims:  # operators give scalars for arrays without axes
            small = Scalar("float", result.dtype)
    else:
        small = t if full else Scalar("float", None if all(o.dtype is None for o in (t, *others)) else result.dtype)
    var = Var(stmt.targets[0].name, small, temp=True)
    out, broadcast = [replace(stmt, targets=(var,), op=new)], facts.op(arg)
    if (expanded := facts.call(arg, np.expand_dims)) is not None:
        arg, broadcast = fresh(expanded.args[0]), facts.op(expanded.args[0])
        out.append(replace(stmt, targets=(arg,), op=_with_arg(broadcast, _SOURCE[broadcast.fn], var)))
        return [*out, replace(stmt, op=_with_arg(expanded, 0, arg))]
    return [*out, replace(stmt, op=_with_arg(broadcast, _SOURCE[broadcast.fn], var))]


def _row(fn, source: Atom, others: list[Type], result: Type) -> Array | None:
    """Return the type of `fn(source, c)` for a number and an array c of fewer axes than the result; None for other operands."""
    if fn not in (*LINEAR, operator.truediv) or len(others) != 1 or dims_of(_type(source)) != () or not isinstance(result, Array):
        return None
    dims = dims_of(others[0])
    fewer = isinstance(others[0], Array) and dims and result.dims and len(dims) < len(result.dims)
    return Array(result.dtype, dims) if fewer and kind_of(others[0]) == "float" else None


def _only_feeds_operations(var: Var, facts: Facts) -> bool:
    """Return whether a value is read by elementwise operations alone or gets contributions, and is read at all."""
    def suits(op: Op | None) -> bool:
        if isinstance(op, Update):
            return op.base is var and not op.path and op.mode != "set"
        return isinstance(op, Call) and record_of(op.fn).is_elementwise(len(op.args))

    readers = facts.readers.get(var, [])
    return bool(readers) and all(map(suits, readers))


def _into_update(op: Update, base: Atom, value: Operand, facts: Facts) -> Update | None:
    """Return an update without a broadcast of its value, which it does by itself, or None if the dtype of the sum could change."""
    source = _broadcast_of(value, facts)
    if source is None or not isinstance(base, Var) or (op.mode == "set" and not op.path):
        return None
    t = base.type
    if not isinstance(t, Array) or not t.dims or kind_of(t) not in ("float", "complex"):
        return None
    source_type = _type(source)
    if kind_of(source_type) in (None, "complex") or not same_promotion(source_type, value.type, [t]):
        return None
    return replace(op, value=source)


def _onto_broadcast(stmt: Stmt, op: Update, facts: Facts, known: KnownDims) -> Call | None:
    """Simplify d = broadcast(s, x.shape); d += x to d = s + x, or return None if the shape or dtype could change."""
    fn = {"add": operator.add, "sub": operator.sub}.get(op.mode)
    if fn is None or op.path or not generated(stmt) or not isinstance(op.value, Var) or not isinstance(op.value.type, Array):
        return None
    source, dims = _broadcast_of(op.base, facts), dims_of(_type(op.base))
    if source is None or not dims or not same_dtype(op.value.type.dtype, op.base.type.dtype):
        return None
    if not broadcasts_to([op.value.type], dims, lambda m, n: known.same(m, n, facts)):
        return None
    if not same_promotion(_type(source), op.base.type, [op.value.type]):
        return None
    return Call(fn, (source, op.value))


# -- types ------------------------------------------------------------------------------------------------------------


def _type(operand: Operand) -> Type | None:
    match operand:
        case Var():
            return operand.type
        case Const(value) if isinstance(value, (int, float, complex, bool, np.generic)):
            return type_of(value)
    return None


def same_promotion(source: Type | None, broadcast: Type, others: list[Type]) -> bool:
    """Return whether NumPy computes in the same dtype with the source as with its broadcast.

    Broadcasting makes an array of a Python number, and only that takes part in promotion (NEP 50).
    """
    if not isinstance(broadcast, Array) or broadcast.dtype is None:
        return False
    if isinstance(source, Scalar) and source.kind == "float" and same_dtype(source.dtype, ANY_DTYPE):
        # a Python or NumPy float: among operands of float64 both give float64
        return all(same_dtype(getattr(t, "dtype", None), np.dtype(float)) for t in (broadcast, *others))
    weak = _promoted(source)
    rest = list(map(_promoted, others))
    if weak is None or any(r is None for r in rest):  # not `None in rest`: NumPy says that float64 == None
        return False
    try:
        return np.result_type(weak, *rest) == np.result_type(broadcast.dtype, *rest)
    except TypeError:
        return False


def _promoted(t: Type | None):
    """Return the operand of `np.result_type` that stands for a type, a dtype or a Python number, or None if it is unknown."""
    match t:
        case Scalar(kind, None):
            return PYTHON[kind]
        case Scalar(_, dtype) | Array(dtype):
            return dtype if dtype is not None and dtype.kind in "biufc" else None
    return None


def broadcasts_to(types: list[Type], dims: tuple, equal: Callable[[Dim, Dim], bool] = operator.eq) -> bool:
    """Return whether operands of these types are known to broadcast to these dims, if they can be broadcast against each other."""
    shapes = [dims_of(t) for t in types]
    if None in shapes or max(map(len, shapes)) != len(dims):
        return False
    return all(_dim_is([s[-k] for s in shapes if len(s) >= k], dims[-k], equal) for k in range(1, len(dims) + 1))


def _dim_is(sizes: list[Dim], dim: Dim, equal: Callable[[Dim, Dim], bool]) -> bool:
    """Return whether sizes that are broadcast against each other are known to give `dim`.

    A size that is known not to be 1 is that of the result; sizes that may be 1 give it only if all are equal.
    """
    sizes = [n for n in sizes if n != 1]
    if not sizes:
        return dim == 1
    if any(equal(n, dim) and not_one(n) for n in sizes):
        return True
    return all(equal(n, dim) for n in sizes)
