"""TODO"""

from __future__ import annotations

from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins import compositions
from sourcead.frontend.core import Cell, Lowering, Value
from sourcead.ir.nodes import Atom, Const, Sub, Var
from sourcead.ir.types import Str
from sourcead.primitives.registry import adjoint_rule
from sourcead.primitives.views import MAKES_NEW


def is_ufunc_at(fn: Any) -> bool:
    return isinstance(getattr(fn, "__self__", None), np.ufunc) and getattr(fn, "__name__", "") == "at"


def ufunc_at(lo: Lowering, fn: Any, args: list[Value], node) -> Value:
    """`np.add.at(a, key, v)`."""
    mode = {np.add: "add", np.subtract: "sub"}.get(fn.__self__)
    if mode is None and isinstance(args[0], Cell):
        return compositions.written_out(lo, fn, args, {}, node)
    if len(args) != 3 or not isinstance(args[0], Cell):
        raise core.unsupported(lo, node, f"`np.{fn.__self__.__name__}.at` cannot be differentiated", "write the loop")
    lo.write(args[0], (Sub(lo.operand(args[1])),), lo.operand(args[2]), mode)
    return Const(None)


MUTATES = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle}
)


EFFECTS = ("numpy.random", "numpy.testing", "random", "secrets")


MAKERS = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}


SAVES = frozenset({np.save, np.savez, np.savez_compressed, np.savetxt})


SPECIAL = {abs: "__abs__", round: "__round__", float: "__float__", int: "__int__"}  # methods of the user's classes


def write_to(lo: Lowering, out: Value, result: Atom, node) -> Value:
    """`out=`: the result is written into an array, which is the value of the call."""
    if not isinstance(out, Cell):
        raise core.unsupported(lo, node, "`out=` of something that is not an array")
    lo.write(out, (), result)
    return out


def takes_arrays(fn: Any) -> bool:
    """Whether NumPy makes arrays of the lists and tuples that this function is given, one of each."""
    module = getattr(fn, "__module__", None) or ""
    return module.startswith("numpy") and not isinstance(fn, np.ufunc) and fn not in TAKES_SEQUENCES and adjoint_rule(fn) is not None


TAKES_SEQUENCES = frozenset({
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.stack, np.concatenate, np.hstack, np.vstack, np.dstack,
    np.column_stack, np.block, np.linalg.multi_dot, np.select, np.choose, np.meshgrid, np.broadcast_arrays, np.einsum, np.ix_,
})  # fmt: skip


def passes_text(lo: Lowering, value: Value) -> bool:
    """Whether a value is, or may be, text made while the program runs."""
    return isinstance(value, Var) and isinstance(value.type, Str)


def registry_is_users(fn: Any) -> bool:
    return not core.is_library(fn) and fn not in MAKES_NEW


SURE_VIEWS = frozenset({
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.flip, np.flipud, np.fliplr, np.diagonal, np.squeeze, np.rot90,
})  # fmt: skip


FOLDED = frozenset({isinstance, len, min, max, abs, int, round, tuple, callable, issubclass, np.dtype, np.ndim})


def mutate(lo: Lowering, fn: Any, args: list[Value], kwargs, node) -> Value:
    """Library functions that write into their first argument."""
    if fn is np.copyto and len(args) == 2 and set(kwargs) <= {"where"} and isinstance(args[0], Cell):
        value = lo.operand(args[1])
        if kwargs:
            value = lo.build.call(np.where, lo.operand(kwargs["where"]), value, lo.read(args[0]))
        lo.write(args[0], (), value)
        return Const(None)
    raise core.unsupported(
        lo,
        node,
        f"`np.{fn.__name__}` writes into its argument in a way that cannot be differentiated yet",
        "assign to a subscript: `a[mask] = v`",
    )
