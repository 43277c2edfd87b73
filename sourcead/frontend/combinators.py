"""Lowering of `sourcead.map` and `sourcead.reduce`.

    map(f, xs), f elementwise     f(xs)
    map(f, xs)                    np.stack([f(x) for x in xs])
    reduce(+, xs, initial)        initial + np.sum(xs, axis=0)
    reduce(op, xs, initial)       the loop
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.combinators import SUMS
from sourcead.errors import SourceADError
from sourcead.frontend import calls, expressions, iteration, sequences
from sourcead.frontend.context import Lowering
from sourcead.frontend.values import Value
from sourcead.ir.nodes import Call, Const, Let, Stmt, Var
from sourcead.ir.types import KINDS, Array, Scalar, rank
from sourcead.passes.elementwise import is_elementwise


def lower_map(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`sourcead.map(f, *xs)`."""
    fn, *arrays = args
    if not arrays or kwargs:
        raise expressions.unsupported(lo, node, "`map` takes a function and at least one array")
    if is_elementwise_body(lo, fn, arrays, node):
        return calls.call(lo, fn, arrays, {}, node)
    parts = [iteration.iterate(lo, a, node) for a in arrays]
    if len(parts) == 1:
        results = sequences.collect(lo, parts[0], lambda e: calls.call(lo, fn, [e], {}, node), node)
    else:
        zipped = iteration.zipped(lo, parts, node)
        results = sequences.collect(lo, zipped, lambda e: calls.call(lo, fn, list(e.items), {}, node), node)
    return calls.call_object(lo, np.stack, [results], {}, node)


def is_elementwise_body(lo: Lowering, fn: Value, arrays: list[Value], node) -> bool:
    """Whether `f` of the whole vectors is the vector of `f` of their numbers: then it only does arithmetic on numbers."""
    types = [atom_type(lo.read(a)) for a in arrays]
    if not all(isinstance(t, Array) and rank(t) == 1 and t.dtype is not None for t in types):
        return False
    mark = lo.journal.mark()
    try:
        with lo.build.block() as stmts:
            numbers = [Var("x", Scalar(KINDS[t.dtype.kind], t.dtype), True) for t in types]
            result = lo.read(calls.call(lo, fn, list(numbers), {}, node))
        return result in {t for s in stmts for t in s.targets} and all(map(works_on_numbers, stmts))
    except (SourceADError, KeyError):
        return False
    finally:
        lo.journal.rollback(mark)


def works_on_numbers(stmt: Stmt) -> bool:
    """Whether a statement is arithmetic on numbers alone, which NumPy does on arrays just so."""
    match stmt.op:
        case Let(value):
            operands = (value,)
        case Call(fn, args, (), False) if is_elementwise(fn):
            operands = args
        case _:
            return False
    return all(isinstance(o, (Var, Const)) and isinstance(atom_type(o), Scalar) for o in operands)


def lower_reduce(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`sourcead.reduce(op, xs, initial)`."""
    values = [*args, *(kwargs[k] for k in ("initial",) if k in kwargs)]
    if len(values) != 3:
        raise expressions.unsupported(lo, node, "`reduce` takes an operator, an array and what to begin with")
    fn, array, initial = values
    is_array = isinstance(atom_type(lo.read(array)), Array)
    if isinstance(fn, Const) and fn.value in SUMS and is_array:
        total = calls.emit_call(lo, np.sum, [array], {"axis": Const(0)}, node)
        return expressions.operate(lo, operator.add, initial, total)
    iterable = iteration.iterate(lo, array, node)
    return sequences.fold(lo, iterable, initial, lambda total, e: calls.call(lo, fn, [total, e], {}, node), node)
