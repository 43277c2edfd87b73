"""Makes a cotangent of few rows of these rows, where each was added to zeros.

    d0 = zeros_like(t)                       t: (3,)
    d1 = d0 with [2] = w
    d2 = d1 with [1] -= v                                     d3 = array([u, neg(v), w])
    d3 = d2 with [0] += u

    d0 = zeros_like(a)                       a: (2, n)
    d1 = d0 with [0] = u;  d2 = d1 with [1] += v              d2 = stack([u, v])

    d0 = zeros_like(x);  d1 = d0 with [3] += u                d1 = d0 with [3] = u                   if not all rows are written

This is legal in adjoints, if nothing reads the versions between, each row is written once, and what is stacked has the shape and dtype of
the rows.  Results differ in the sign of zeros.  It is for the text of NumPy alone.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, operand_type
from sourcead.analysis.numbers_or_arrays import may_be_numbers
from sourcead.analysis.sizes import dims_in, known_dtype
from sourcead.ir.nodes import Atom, Block, Build, Call, Const, Function, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar, kind_of, same_dtype
from sourcead.ir.walk import calls, count_reads, map_blocks, with_body, with_stmts
from sourcead.passes.cleanup.constant_folding import generated

ZEROS = (np.zeros, np.zeros_like)
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def join_parts(function: Function) -> Function:
    """Return the function without zeros to which each row is added once."""
    if not calls(function.body, *ZEROS):
        return function
    return with_body(function, _joined(function.body, count_reads(function.body), may_be_numbers(function)))


def _joined(block: Block, uses: dict[Var, int], numbers: set[Var]) -> Block:
    stmts = [map_blocks(stmt, lambda b: _joined(b, uses, numbers)) for stmt in block.stmts]
    updates = {s.op.base: s for s in stmts if isinstance(s.op, Update) and isinstance(s.op.base, Var)}
    instead: dict[Stmt, list[Stmt]] = {}
    for stmt in stmts:
        if isinstance(stmt.op, Call) and stmt.op.fn in ZEROS and generated(stmt) and not stmt.within:
            if (rows := _rows(stmt.targets[0], updates, uses)) and (whole := _whole(stmt.targets[0], rows, numbers)) is not None:
                instead |= dict.fromkeys((stmt, *rows.values()), [])
                instead[list(rows.values())[-1]] = whole
            else:
                instead |= {row: _set(row) for row in rows.values() if row.op.mode != "set"}
    return with_stmts(block, [new for stmt in stmts for new in instead.get(stmt, [stmt])]) if instead else with_stmts(block, stmts)


def _rows(zeros: Var, updates: dict[Var, Stmt], uses: dict[Var, int]) -> dict[int | tuple, Stmt]:
    """Return the statements that follow each other and write each another row, or column, of an array of zeros."""
    found: dict[int | tuple, Stmt] = {}
    while uses.get(zeros) == 1 and (stmt := updates.get(zeros)) is not None:
        key = _place(stmt.op.path, dims_in(zeros))
        if key is None or key in found or found and type(key) is not type(next(iter(found))) or not generated(stmt) or stmt.within:
            break
        if stmt.op.value is zeros or operand_type(stmt.op.value) is None:
            break
        found[key] = stmt
        (zeros,) = stmt.targets
    return found


def _place(path: tuple, dims: tuple | None) -> int | tuple | None:
    """Return the number of the row that a path leads to, counted from the first, or that of a column in a tuple; None for other parts."""
    match path:
        case (Sub(Const(int() as row, live=False)),) if dims and (row >= 0 or isinstance(dims[0], int)):
            return int(row) if row >= 0 else row + dims[0]
        case (Sub((Slice(None, None, None), Const(int() as column, live=False))),) if dims and len(dims) == 2 and column >= 0:
            return (int(column),)
    return None


def _set(stmt: Stmt) -> list[Stmt]:
    """Return the statements that set the part to which a statement adds, or from which it subtracts."""
    build = Builder().at(stmt)
    value = build.call(operator.neg, stmt.op.value) if stmt.op.mode == "sub" else stmt.op.value
    return [*build.stmts, replace(stmt, op=replace(stmt.op, value=value, mode="set"))]


def _whole(zeros: Var, rows: dict, numbers: set[Var]) -> list[Stmt] | None:
    """Return the statements that make an array of all its rows; None if some are missing, or smaller than their place."""
    dims, dtype, last = dims_in(zeros), known_dtype(zeros), list(rows.values())[-1]
    if not dims or dtype not in FLOATS or not isinstance(dims[0], int) or len(rows) != dims[0] or len(rows) < 2 or 0 not in rows:
        return None
    values = [rows[k].op.value for k in range(dims[0])]
    if not all(_is_row(v, dims[1:], dtype) and v not in numbers for v in values):
        return None
    build = Builder().at(last)
    signed = [build.call(operator.neg, v) if rows[k].op.mode == "sub" else v for k, v in enumerate(values)]
    items = build.emit(Build("list", tuple(signed)), name="rows")
    if len(dims) > 1:
        op = Call(np.stack, (items,))
    else:
        of_rows = [getattr(v.type, "dtype", None) if isinstance(v, Var) else None for v in signed]
        python = all(isinstance(v, Const) or v.type.kind == "float" and v.type.dtype is None for v in signed)
        exact = dtype == np.float64 and (any(t == dtype for t in of_rows) or python and any(isinstance(v, Var) for v in signed))
        exact = exact or all(t == dtype for t in of_rows)
        op = Call(np.array, (items,), () if exact else (("dtype", Const(dtype.type, f"np.{dtype.name}")),))
    return [*build.stmts, replace(last, op=op)]


def _is_row(value: Atom, dims: tuple, dtype: np.dtype) -> bool:
    """Return whether a value is a number, or an array that fills a row of these dims."""
    if not dims:
        literal = isinstance(value, Const) and not value.live and type(value.value) in (int, float)
        return literal or isinstance(value, Var) and isinstance(value.type, Scalar) and kind_of(value.type) == "float"
    return isinstance(value, Var) and isinstance(value.type, Array) and value.type.dims == dims and same_dtype(value.type.dtype, dtype)
