"""Sums whose value is known before anything is added up, and sparse cotangents, which are sums of known sums.

    y = sum(broadcast_to(s, shape))                          y = mul(s, size)
    y = sum(full((n, m), s, dtype), axis=1)                  y = full((n,), mul(s, m), dtype)
    y = sum(outer(u, v), axis=0)                             y = mul(sum(u), v)
    d = zeros; d1 = d with [arange(n), labels] += v
        y = sum(d1, axis=1)                                  y = full((n,), v)               one element of each row was written
        y = sum(d1, axis=1)                                  y = where(arange(m) < n, v, 0)  one of each of the first rows
        y = mul(d1, x)                                       d = zeros; y = d with [arange(n), labels] += v * x[arange(n), labels]
        y = mul(sub(d1, s), x)                               y = sub(mul(d1, x), mul(s, x))
        d2 = d1 with all += w                                d2 = w with [arange(n), labels] += v
    d = diagonal_cotangent(v, x);  y = sum(d, axis=1)    k = arange(len(v));  d = zeros with [k, k] = v;  y = sum(d, axis=1)

With them a softmax with cross-entropy has the adjoint of the textbook, `p - y`, however it is written.  This is legal in adjoints, for real
numbers, if nothing else reads the sparse cotangent and its shape is that of the other operand.  The results differ by rounding, and where
x is not finite.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, operand_type
from sourcead.analysis.sizes import dtype_option
from sourcead.ir.nodes import Atom, Attr, Call, Const, Function, Index, Op, Operand, Stmt, Sub, Update, Var, fresh
from sourcead.ir.sizes import form_of
from sourcead.ir.sizes_of_call import equal
from sourcead.ir.types import Array, Scalar, dims_of, kind_of, rank, same_dtype
from sourcead.ir.walk import calls, with_op
from sourcead.passes.cleanup.constant_folding import generated, is_const, is_literal, is_real
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.equality import KnownDims, equal_types
from sourcead.passes.peephole import Facts, peephole
from sourcead.runtime import diagonal_cotangent, zeros_like as runtime_zeros_like

MUL, SUB = operator.mul, operator.sub
ZEROS = (np.zeros, np.zeros_like, runtime_zeros_like)
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def know_sums(function: Function) -> Function:
    """Return the function without sums whose value is known, and with sparse contributions to cotangents behind those to all elements."""
    before = None
    while function is not before and calls(function.body, np.sum, *ZEROS):  # what one sum no longer reads may be spent then
        before, function = function, _know(function)
        function = function if function is before else remove_dead(function)
    return function


def _know(function: Function) -> Function:
    dims = KnownDims()

    def rule(stmt: Stmt, facts: Facts) -> list[Stmt] | Op | None:
        dims.learn(stmt, facts)
        if not generated(stmt) or stmt.within or len(stmt.targets) != 1:
            return None
        match stmt.op:
            case Call(np.sum, (Var() as x,), _):
                return _sum(stmt, x, facts, dims)
            case Call(fn, (Var() as d, Var() as x, *offset), ()) if fn is diagonal_cotangent and all(is_const(k, 0) for k in offset[:1]):
                return None if len(offset) > 1 else _diagonal(stmt, d, x, facts)
            case Call(fn, (Var() as a, Var() as b), ()) if fn is MUL:
                return _product(stmt, a, b, facts) or _product(stmt, b, a, facts)
            case Update(Var() as base, (_,), Var() as v, "add" | "sub") if _is_zero(base, facts):
                return _with_positive(stmt, v, facts)
            case Update(Var() as base, (), Var() as w, "add" | "sub" as mode):
                return _behind(stmt, base, w, mode, facts)
            case Call(operator.sub, (Var() as base, Var() as w), ()):
                return _behind(stmt, base, w, "sub", facts)
        return None

    return peephole(function, rule)


# ---- sums ----


def _sum(stmt: Stmt, x: Var, facts: Facts, dims: KnownDims) -> list[Stmt] | None:
    """Return what computes a sum whose value is known; None for others."""
    n, t = rank(x.type), stmt.targets[0].type
    options = dict(stmt.op.kwargs)
    axis, keeps = options.pop("axis", Const(None)), options.pop("keepdims", Const(False))
    if n is None or options or not isinstance(axis, Const) or not isinstance(keeps, Const) or _float(x) is None or _float(x) != _dtype(t):
        return None
    given = axis.value if isinstance(axis.value, tuple) else range(n) if axis.value is None else (axis.value,)
    if not all(type(k) is int and -n <= k < n for k in given):
        return None
    gone = sorted(k % n for k in given)
    build = Builder().at(stmt)
    match facts.op(x):
        case Call(np.outer, (Var() as u, Var() as v), ()) if n == 2 and rank(u.type) == rank(v.type) == 1 and not keeps.value:
            sums = [build.call(np.sum, f) if k in gone else f for k, f in enumerate((u, v))]
            result = build.call(MUL, *sums)
        case Update(Var() as base) if n == 2 and len(gone) == 1 and _is_zero(base, facts) and (keeps.value or len(stmt.op.kwargs) == 1):
            result = _of_rows(build, stmt, 1 - gone[0], facts, dims)
        case op:
            result = _of_equal(build, op, x, gone, keeps.value, facts)
    if not isinstance(result, Var) or not build.stmts or rank(result.type) != rank(t) or _dtype(result.type) != _dtype(t):
        return None
    return [*build.stmts[:-1], with_op(stmt, build.stmts[-1].op)]


def _of_rows(build: Builder, stmt: Stmt, axis: int, facts: Facts, dims: KnownDims) -> Atom | None:
    """Return the sums of the rows (`axis` is 0) of an array of zeros of which elements were written, or of its columns."""
    op, t, keeps = facts.op(stmt.op.args[0]), stmt.targets[0].type, len(stmt.op.kwargs) > 1
    match op.path:
        case (Sub((Var() as a, Var() as b)),):
            along, other = (a, b) if axis == 0 else (b, a)
        case _:
            return None
    row, size, v = dims_of(along.type), dims_of(op.base.type), op.value
    if kind_of(along.type) != "int" or kind_of(other.type) != "int" or len(row or ()) != 1 or not size or rank(other.type) not in (0, 1):
        return None
    counts = facts.call(along, np.arange) is not None and len(facts.op(along).args) == 1
    if op.mode == "set" and not counts or rank(operand_type(v)) == 1 and (_dtype(v.type) != _dtype(t) or not counts):
        return None
    if rank(operand_type(v)) == 0 and not _is_number(v) or rank(operand_type(v)) not in (0, 1):
        return None
    dtype = Const(_dtype(t).type, f"np.{_dtype(t).name}")
    fills = rank(operand_type(v)) == 0 or dims.same(dims_of(v.type)[0], row[0], facts)
    one_each = counts and fills and (dims.same(row[0], size[axis], facts) or equal(form_of(row[0]), form_of(size[axis])))
    if not one_each:  # some rows may have no element, or several
        if counts and _is_number(v):
            return _of_first_rows(build, stmt, along, axis, facts)
        zeros = build.call(np.zeros, build.index(build.attr(op.base, "shape"), Const(axis)), **dtype_option(_dtype(t)))
        total = build.emit(Update(zeros, (Sub(along),), v, "set" if counts else "add"), zeros.type, "total")
        total = build.call(np.expand_dims, total, Const(1 - axis)) if keeps else total
        return build.call(operator.neg, total) if op.mode == "sub" else total
    if rank(operand_type(v)) == 1:
        v = build.call(operator.neg, v) if op.mode == "sub" else v
        return build.call(np.expand_dims, v, Const(1 - axis)) if keeps else v if op.mode == "sub" else None
    if op.mode == "sub":
        v = Const(-v.value) if isinstance(v, Const) else build.call(operator.neg, v)
    shape = [facts.op(along).args[0]]
    if keeps:
        shape.insert(1 - axis, Const(1))
    return build.call(np.full, tuple(shape) if keeps else shape[0], v, dtype)


def _of_first_rows(build: Builder, stmt: Stmt, along: Var, axis: int, facts: Facts) -> Var:
    """Return the sums of the rows of zeros of which the first ones have one element that was written, all the same number."""
    op, dtype = facts.op(stmt.op.args[0]), _dtype(stmt.targets[0].type)
    v, zero, negative = op.value, Const(0.0), op.mode == "sub"
    if positive := _positive(v, facts):
        build.stmts += positive
        v, negative = positive[-1].targets[0], not negative
    if dtype != np.dtype(np.float64):  # Python's numbers alone would make an array of float64
        v, zero = build.call(dtype.type, v), build.call(dtype.type, zero)
    rows = build.call(np.arange, build.index(build.attr(op.base, "shape"), Const(axis)))
    written = build.call(operator.lt, rows, facts.op(along).args[0])
    total = build.call(np.where, written, v, zero, name="total")
    if len(stmt.op.kwargs) > 1:  # keepdims
        total = build.call(np.expand_dims, total, Const(1 - axis), name="weights")
    return build.call(operator.neg, total) if negative else total


def _diagonal(stmt: Stmt, d: Var, x: Var, facts: Facts) -> list[Stmt] | None:
    """Return the cotangent of a matrix whose diagonal was read as zeros with an element in each row, if a sum along an axis reads it."""
    target = stmt.targets[0]
    summed = any(isinstance(r, Call) and r.fn is np.sum and r.kwargs for r in facts.readers.get(target, ()))
    dtype = _float(target)
    if not summed or rank(x.type) != 2 or rank(d.type) != 1 or dtype is None or _float(x) != dtype or _float(d) != dtype:
        return None
    build, value, of = Builder().at(stmt), d, d
    match facts.op(d):
        case Call(np.broadcast_to, (number, Var() as shape), ()) if _is_number(number):
            like = facts.op(shape)
            if isinstance(like, Attr) and isinstance(like.base, Var) and rank(like.base.type) == 1:
                value, of = number, like.base
    index = build.call(np.arange, build.attr(of, "size"), name="diagonal")
    zeros = build.call(np.zeros_like, x)
    return [*build.stmts, with_op(stmt, Update(zeros, (Sub((index, index)),), value, "add", distinct=True))]


def _of_equal(build: Builder, op: Op | None, x: Var, gone: list[int], keeps: bool, facts: Facts) -> Atom | None:
    """Return the sum of an array whose elements are all one number."""
    match op:
        case Call(np.broadcast_to, (s, shape), ()) | Call(np.full, (shape, s, _), ()) if _is_number(s):
            pass
        case Call(np.ones_like, (Var() as like,), ()):
            s, shape = Const(1.0), build.attr(like, "shape")
        case _:
            return None
    if isinstance(shape, Const) and isinstance(shape.value, tuple):
        shape = tuple(map(Const, shape.value))
    elif isinstance(operand_type(shape), Scalar):
        shape = (shape,)
    known = dims_of(x.type)
    if known is None:
        return None
    of = facts.op(shape) if isinstance(shape, Var) else None
    whole = of.base if isinstance(of, Attr) and of.name == "shape" and isinstance(of.base, Var) else None

    def size(k: int) -> Operand:
        if isinstance(known[k], int):
            return Const(known[k])
        return shape[k] if isinstance(shape, tuple) else build.index(shape, Const(k))

    if not isinstance(shape, (tuple, Var)) or isinstance(shape, tuple) and len(shape) != len(known):
        return None
    count = build.attr(whole, "size") if whole is not None and len(gone) == len(known) and rank(whole.type) == len(known) else None
    for k in () if count is not None else gone:
        count = size(k) if count is None else build.call(MUL, count, size(k))
    total = _times(build, s, count)
    dtype = _float(x)
    left = [Const(1) if k in gone else size(k) for k in range(len(known)) if keeps or k not in gone]
    if not left:
        return build.call(dtype.type, total)
    return build.call(np.full, tuple(left) if len(left) > 1 else left[0], total, Const(dtype.type, f"np.{dtype.name}"))


def _times(build: Builder, s: Atom, count: Atom) -> Atom:
    if isinstance(s, Const) and isinstance(count, Const):
        return Const(s.value * count.value)
    if isinstance(s, Const) and s.value in (1, -1):
        return count if s.value == 1 else build.call(operator.neg, count)
    return build.call(MUL, s, count)


# ---- sparse cotangents ----


def _product(stmt: Stmt, a: Var, x: Var, facts: Facts) -> list[Stmt] | None:
    """Return the product of a sparse cotangent, or its difference from something smaller, with an array of its shape; None for others."""
    t = stmt.targets[0].type
    difference = facts.call(a, SUB)
    if difference and _is_spent(a, facts) and isinstance(difference.args[0], Var):
        d, s = difference.args
        if _sparse(d, facts, False) is None or not equal_types(d.type, t) or not equal_types(x.type, t) or not _fits(s, t):
            return None
        first, second = fresh(d), fresh(d)
        made = [with_op(replace(stmt, targets=(first,)), Call(MUL, (d, x))), with_op(replace(stmt, targets=(second,)), Call(MUL, (s, x)))]
        return [*made, with_op(stmt, Call(SUB, (first, second)))]
    sparse = _sparse(a, facts, False)
    if sparse is None or not equal_types(a.type, t) or not equal_types(x.type, t):
        return None
    key, build = sparse.path[0].key, Builder().at(stmt)
    part = build.index(x, key)
    value = _scaled(build, sparse.value, part, key, x, facts)
    return [*build.stmts, with_op(stmt, replace(sparse, value=value))]


def _scaled(build: Builder, v: Operand, part: Var, key: Operand, x: Var, facts: Facts) -> Atom:
    """Return `v * x[key]`, which is `c` where v is `c / x[key]`."""
    quotient = facts.call(v, operator.truediv)
    if quotient and isinstance(quotient.args[1], Var):
        divisor = facts.op(quotient.args[1])
        if isinstance(divisor, Index) and divisor.base is x and divisor.key == key:
            build.stmts.pop()
            return quotient.args[0]
    return build.call(MUL, v, part)


def _with_positive(stmt: Stmt, v: Var, facts: Facts) -> list[Stmt] | None:
    """Return `d[key] -= 1 / n` for `d[key] += -1 / n`."""
    before = _positive(v, facts)
    mode = "sub" if stmt.op.mode == "add" else "add"
    return [*before, with_op(stmt, replace(stmt.op, value=before[-1].targets[0], mode=mode))] if before else None


def _positive(v: Atom, facts: Facts) -> list[Stmt]:
    """Return the statements that compute the quotient of a negative number with another sign; none for other values."""
    quotient = facts.call(v, operator.truediv)
    if not quotient or not v.temp or not is_real(v):
        return []
    first, made = quotient.args[0], facts.definitions[v]
    if is_literal(first) and first.value < 0:
        return [with_op(replace(made, targets=(fresh(v),)), Call(operator.truediv, (Const(-first.value), quotient.args[1])))]
    before = _positive(first, facts) if facts.uses[v] == 1 else []
    new = [replace(made, targets=(fresh(v),), op=replace(quotient, args=(before[-1].targets[0], quotient.args[1])))] if before else []
    return [*before, *new]


def _behind(stmt: Stmt, base: Var, w: Var, mode: str, facts: Facts) -> list[Stmt] | None:
    """Return a contribution to all elements before a sparse one, so that the cotangent begins with it; None if nothing is gained."""
    sparse = _sparse(base, facts)
    if sparse is None or not equal_types(w.type, base.type) or not _is_spent(w, facts):
        return None
    begun, new = fresh(w, name=stmt.targets[0].name), sparse
    if sparse.mode == "set":
        new = replace(new, mode="add", distinct=True)
    if mode == "sub":
        return [with_op(replace(stmt, targets=(begun,)), Call(operator.neg, (w,))), with_op(stmt, replace(new, base=begun))]
    if w not in facts.renamed:  # a cotangent begins with it
        facts.renamed[w], facts.late = begun, True
    return [with_op(stmt, replace(new, base=w))]


def _sparse(x: Atom, facts: Facts, spent: bool = True) -> Update | None:
    """Return the update that makes a sparse cotangent, which may have to be read by nothing else, from zeros; None for other values."""
    match facts.op(x):
        case Update(Var() as zeros, (Sub((Var() | Const(), *_) as key),), value) as op if _is_zero(zeros, facts):
            if spent and not _is_spent(x, facts):
                return None
            arrays = [k for k in key if isinstance(k, Var) and isinstance(k.type, Array) and kind_of(k.type) == "int"]
            plain = all(isinstance(k, Var) and (k in arrays or isinstance(k.type, Scalar)) for k in key)
            real = _is_number(value) or isinstance(value, Var) and same_dtype(_dtype(value.type), _dtype(x.type))
            if arrays and plain and real and len(key) == rank(x.type) and generated(facts.definitions[x]):
                return op if op.mode != "set" or op.distinct or _counts(key, facts) else None
    return None


def _counts(key: tuple, facts: Facts) -> bool:
    """Return whether a key of integers names no element twice because one of them counts."""
    counts = any(isinstance(k, Var) and facts.call(k, np.arange) is not None for k in key)
    return counts and all(rank(operand_type(k)) in (0, 1) for k in key)


# ---- operands ----


def _is_zero(x: Var, facts: Facts) -> bool:
    op = facts.op(x)
    return isinstance(op, Call) and op.fn in ZEROS and not any(k == "out" for k, _ in op.kwargs) and isinstance(x.type, Array)


def _is_spent(x: Var, facts: Facts) -> bool:
    return facts.uses[x] == 1 and x.temp and facts.scopes.get(x) == facts.scope


def _is_number(s: Operand) -> bool:
    return is_literal(s) and type(s.value) is not bool or isinstance(s, Var) and isinstance(s.type, Scalar) and is_real(s)


def _fits(s: Operand, t: Array) -> bool:
    """Return whether a value is smaller than an array and is broadcast to it: a number, or an array of its dtype with axes of length 1."""
    if _is_number(s):
        return True
    dims = dims_of(s.type) if isinstance(s, Var) and isinstance(s.type, Array) else None
    return dims is not None and same_dtype(s.type.dtype, t.dtype) and len(dims) == len(t.dims) and 1 in dims and (
        all(m is n or m == n or m == 1 for m, n in zip(dims, t.dims))
    )


def _dtype(t) -> np.dtype | None:
    return t.dtype if isinstance(t, (Array, Scalar)) and isinstance(t.dtype, np.dtype) else None


def _float(x: Var) -> np.dtype | None:
    """Return the dtype of an array of floating point numbers of one of NumPy's two usual dtypes."""
    dtype = _dtype(x.type) if isinstance(x.type, Array) else None
    return dtype if any(same_dtype(dtype, f) for f in FLOATS) else None
