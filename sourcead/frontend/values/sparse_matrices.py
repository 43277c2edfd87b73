"""Lower operators and writes of sparse matrices of SciPy that meet what a derivative passes through.

Until then they are objects like others (`opaque_objects.py`); from there on they are arrays of entries (`primitives/scipy_sparse.py`).
"""

import operator

from sourcead.frontend import core
from sourcead.frontend.control import inlining
from sourcead.frontend.core import Cell, Lowering, Value
from sourcead.frontend.find_source import find_source
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import carries_derivative
from sourcead.primitives.result_types.sparse import is_sparse


def operate(lo: Lowering, fn, values: tuple[Value, ...]) -> Value | None:
    """Apply an operator to a sparse matrix of SciPy and to what a derivative passes through; return None for other operands."""
    types = [core.type_of_value(v) if isinstance(v, (Var, Const, Cell)) else None for v in values]
    if not any(map(is_sparse, types)) or all(t is not None and (is_sparse(t) or not carries_derivative(t)) for t in types):
        return None
    if fn is operator.matmul and None not in types:  # no object: the product is an array, with a rule of its own
        return None
    return core.operate(lo, fn, *(with_entries(lo, v) if is_sparse(t) else v for v, t in zip(values, types)))


def refuse_store(lo: Lowering, base: Value, value: Value, node) -> None:
    """Refuse to write into a sparse matrix of SciPy what a derivative passes through."""
    if is_sparse(core.data_type(lo, base)) and core.passes_derivative(lo.operand(value)):
        instead = "make the matrix of its entries: `csr_matrix((entries, (rows, columns)), shape=(m, n))`"
        raise core.unsupported(lo, node, "a derivative passes through what is written into a sparse matrix", instead)


def with_entries(lo: Lowering, value: Value) -> Value:
    """Return a sparse matrix of SciPy as an object with an array of its entries, through which a derivative passes."""
    from sourcead.primitives.scipy_sparse import as_sparse

    return inlining.call_source(lo, find_source(as_sparse), [value], {}, None)
