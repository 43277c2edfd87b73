"""Lower functions of one number that `np.vectorize` and Numba's `@vectorize` apply to each element of arrays.

    y = np.vectorize(f)(a, b)
        f(a.flat[0], b.flat[0])
        y = np.reshape(np.array([f(u, v) for u, v in zip(np.ravel(a), np.ravel(b))]), shape)
"""

from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import NONE, lowers
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.core import BoundVal, Cell, Lowering, TupleVal, Value
from sourcead.frontend.find_source import is_numba_ufunc, unwrap
from sourcead.frontend.values import memory_layouts
from sourcead.ir.nodes import Call, Const, Stmt, Var
from sourcead.ir.types import Scalar, Undefined, rank


@stands_in_for()
def vectorized(function, dtype, *args):
    """Compute `np.vectorize(function, otypes=[dtype])(*args)`."""
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    items = [function(*each) for each in zip(*tuple(np.ravel(np.broadcast_to(a, shape)) for a in args))]
    if dtype is not None:
        return laid_out_like(np.reshape(np.array(items, dtype), shape), args)
    if isinstance(items[0], tuple):
        return tuple([laid_out_like(array_of_results([item[k] for item in items], shape), args) for k in range(len(items[0]))])
    return laid_out_like(array_of_results(items, shape), args)


def laid_out_like(result, args):
    """Return a result whose elements NumPy puts into the order in memory of those of the arguments."""
    return result


@lowers(laid_out_like)
def unknown_layout(lo: Lowering, node, result: Value, args: Value) -> Value:
    """Lower the call to the array, of which it is not known how it lies unless that is known of the arguments."""
    if isinstance(result, Cell) and rank(core.data_type(lo, result)) != 1 and memory_layouts.in_c_order(lo, args) != frozenset():
        result.first = None
    return result


@stands_in_for()
def array_of_results(items, shape):
    """Make the array of one of several results of a function that `np.vectorize` calls."""
    runtime.check_first_result(items)
    return np.reshape(np.array(items), shape)


@stands_in_for()
def vectorized_with_types_found(function, dtype, *args):
    """Compute `np.vectorize(function)(*args)`: NumPy calls the function once more, of the first elements, to find what it returns."""
    function(*[np.ravel(a)[0] for a in args])
    return vectorized(function, dtype, *args)


def as_numpy_calls(dtype: np.dtype | None) -> Const:
    """Return the function that computes what a vectorized function returns, with results of a type or of one that NumPy finds."""
    return Const(vectorized_with_types_found if dtype is None else vectorized)


ONE_TYPE = "`np.vectorize` with more than a function and one type"


@lowers(np.vectorize)
def builtin_vectorize(lo: Lowering, node, pyfunc: Value | None = None, otypes: Value = NONE, **others: Value) -> Value:
    """Lower `np.vectorize(f)` to a bound function, which is lowered when it is called."""
    if isinstance(otypes, Cell) and otypes.kind == "list":
        otypes = TupleVal(tuple(otypes.contents))
    found, types = core.known(lo, otypes)
    if pyfunc is None or others or not found or isinstance(types, (list, tuple, str)) and len(types) != 1:
        raise core.unsupported(lo, node, ONE_TYPE, "write the loop")
    dtype = None if types is None else np.dtype(types[0])
    return BoundVal(as_numpy_calls(dtype), (pyfunc, Const(dtype)))


@core.kind_of_callable("vectorize", lambda fn: isinstance(fn, np.vectorize) and not core.has_rule(fn))
def call_vectorized(lo: Lowering, fn: np.vectorize, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of an `np.vectorize` object that exists before the differentiated function is called."""
    if fn.signature is not None or fn.excluded or kwargs or len(fn.otypes or "d") != 1:
        raise core.unsupported(lo, node, ONE_TYPE, "write the loop")
    dtype = None if fn.otypes is None else np.dtype(fn.otypes[0])
    return core.call_object(lo, as_numpy_calls(dtype).value, [Const(fn.pyfunc), Const(dtype), *args], {}, node)


@core.kind_of_callable("numba ufunc", is_numba_ufunc)
def call_numba_ufunc(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function that Numba's `@vectorize` made; what it computes from numbers is a number of NumPy."""
    function = unwrap(fn)[0]
    within = getattr(lo.scope.source, "elementwise", False)  # whose arguments are numbers
    if kwargs:
        raise core.unsupported(lo, node, f"`{function.__name__}`, which `@vectorize` made, with named arguments", "leave them away")
    if not within and any(core.is_sequence(a) or not isinstance(atom_type(lo.read(a)), Scalar | Undefined) for a in args):
        return core.call_object(lo, vectorized, [Const(function), NONE, *args], {}, node)
    return core.call_library(lo, np.positive, [core.call_object(lo, function, args, {}, node)], {}, node)


@lowers(runtime.check_first_result)
def builtin_check(lo: Lowering, node, results: Value) -> Value:
    """Emit a check that either all results are floats or none is, unless the types already show it."""
    items = lo.read(results)
    if getattr(atom_type(items), "item", None) != Scalar("float"):
        lo.build.add(Stmt((Var("checked"),), Call(runtime.check_first_result, (items,), effect=True)))
    return Const(None)
