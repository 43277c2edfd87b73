"""Lower NumPy's element-wise iteration to loops: `np.vectorize`, `np.ndenumerate` and `np.fromiter`."""

from __future__ import annotations

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins import itertools_functions
from sourcead.frontend.core import BoundVal, Cell, Iterable, Lowering, TupleVal, Value
from sourcead.frontend.values import lists
from sourcead.ir.nodes import Call, Const, Stmt, Var
from sourcead.ir.types import Scalar


def vectorized(function, dtype, *args):
    """Compute `np.vectorize(function, otypes=[dtype])(*args)`; this source is lowered in place of the call."""
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    items = [function(*each) for each in zip(*tuple(np.ravel(np.broadcast_to(a, shape)) for a in args))]
    if dtype is None:
        runtime.check_first_result(items)
        found = np.array(items)
    else:
        found = np.array(items, dtype)
    return np.reshape(found, shape)


@core.builtin(np.vectorize)
def builtin_vectorize(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.vectorize(f)` to a bound function, which is lowered when it is called."""
    given = dict(zip(("pyfunc", "otypes"), args), **kwargs)
    function, types = given.pop("pyfunc", None), given.pop("otypes", Const(None))
    if isinstance(types, Cell) and types.kind == "list":
        types = TupleVal(tuple(types.items.values()))
    found, types = core.known(lo, types)
    if function is None or given or not found or isinstance(types, (list, tuple, str)) and len(types) != 1:
        raise core.unsupported(lo, node, "`np.vectorize` with more than a function and one type", "write the loop")
    return BoundVal(Const(vectorized), (function, Const(None if types is None else np.dtype(types[0]))))


@core.kind_of_callable("vectorize", lambda fn: isinstance(fn, np.vectorize) and not core.has_rule(fn))
def call_vectorized(lo: Lowering, fn: np.vectorize, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of an `np.vectorize` object that exists before the differentiated function is called."""
    if fn.signature is not None or fn.excluded or kwargs:
        raise core.unsupported(lo, node, "`np.vectorize` with more than a function and one type", "write the loop")
    dtype = None if fn.otypes is None else np.dtype(fn.otypes[0])
    return core.call_object(lo, vectorized, [Const(fn.pyfunc), Const(dtype), *args], {}, node)


@core.builtin(np.ndenumerate)
def builtin_ndenumerate(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `np.ndenumerate(x)` to pairs of indices and elements."""
    (array,) = args
    shape = core.call_library(lo, np.shape, [array], {}, node)
    places = itertools_functions.builtin_ndindex(lo, [shape], {}, node)

    def pair(place: Value) -> Value:
        return TupleVal((place, core.subscript(lo, array, place, node)))

    if places.items is not None:
        return Iterable(items=[pair(p) for p in places.items])
    return Iterable(domain=places.domain, element=lambda k: pair(places.nth(k)), length=places.length, nth=lambda k: pair(places.nth(k)))


@core.builtin(np.fromiter)
def builtin_fromiter(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `np.fromiter(xs, dtype)`."""
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    if dtype is None or len(args) > 2 or kwargs.keys() - {"dtype"}:
        raise core.unsupported(lo, node, "`np.fromiter` with more than what is iterated over and a dtype", "make a list of it")
    return core.call_library(lo, np.array, [lists.as_list(lo, args[0], node), dtype], {}, node)


@core.builtin(runtime.check_first_result)
def builtin_check(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Emit a check that either all results are floats or none is, unless the types already show it."""
    items = lo.read(args[0])
    if getattr(atom_type(items), "item", None) != Scalar("float"):
        lo.build.add(Stmt((Var("checked"),), Call(runtime.check_first_result, (items,), effect=True)))
    return Const(None)
