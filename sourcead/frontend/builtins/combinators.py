"""Lower `sourcead.map`, `reduce` and `scan`.

    map(f, xs)                    the body of f over all elements at once, if every op has a batched form (`passes/batching.py`)
    map(f, xs)                    else np.stack([f(x) for x in xs])
    reduce(+, xs, initial)        initial + np.sum(xs, axis=0), and likewise for *, min, max, logaddexp; scan: np.cumsum etc.
    reduce(op, xs, initial)       a tree of whole-array steps, if op has a batched form and is associative on random values
    reduce(op, xs, initial)       else the loop
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import ArgumentError, SourceADError
from sourcead.frontend import core
from sourcead.frontend.builtins import in_python
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.control import branches, inlining
from sourcead.frontend.core import Lowering, TupleVal, Value, next_birth
from sourcead.frontend.find_source import find_source
from sourcead.frontend.values import iterables
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Let, Stmt, Update, Var
from sourcead.ir.types import BOOL, INT, KINDS, Array, Scalar, Sym, Type
from sourcead.ir.walk import free_vars, has_effect
from sourcead.language import combinators
from sourcead.passes.batching.blocks import Batched, Unbatchable


class Known(NamedTuple):
    """An operator that NumPy has reductions for: the functions that apply it, how to combine two values, `reduce` and `scan`."""

    functions: tuple
    join: Callable
    reduced: Callable
    scanned: Callable


KNOWN = (
    Known(combinators.SUMS, operator.add, np.sum, np.cumsum),
    Known(combinators.PRODUCTS, operator.mul, np.prod, np.cumprod),
    Known(combinators.LEAST, np.minimum, np.min, np.minimum.accumulate),
    Known(combinators.LARGEST, np.maximum, np.max, np.maximum.accumulate),
    Known((np.logaddexp,), np.logaddexp, np.logaddexp.reduce, np.logaddexp.accumulate),
)
OF_EMPTY = (operator.add, operator.mul)  # their reductions and scans take empty arrays and all dtypes
STEPS = {"reduced": combinators.reduced_by_halves, "scanned": combinators.scanned_by_doubling}


# ---- map ----


@core.builtin(combinators.map)
def lower_map(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node, check: bool = True) -> Value:
    """Lower `sourcead.map(f, *xs)`; with `check`, emit a check of equal lengths where they are not known to be equal."""
    fn, *arrays = args
    refuse_data_first(lo, "map", args, node)
    if not arrays or kwargs:
        raise core.unsupported(lo, node, "`map` takes a function and at least one array")
    if check:
        first, *others = (x for a in arrays for x in (a.items if isinstance(a, TupleVal) else (a,)))
        unsure = [x for x in others if length_of(lo, x) is None or length_of(lo, x) is not length_of(lo, first)]
        core.call_object(lo, in_python.check_one_length, [first, *unsure], {}, node)
    body = body_over_elements(lo, fn, arrays, node)
    if body is not None and (found := at_once(lo, body)) is not None:
        return found
    sources = [elements(lo, a, node) for a in arrays]
    if body is None or body.single:
        results = core.call_object(lo, list, [core.call_object(lo, map, [fn, *sources], {}, node)], {}, node)
        return core.call_object(lo, np.stack, [results], {}, node)
    columns = [core.call_object(lo, in_python.items_of_results, [Const(k), fn, *sources], {}, node) for k in range(len(body.block.results))]
    return TupleVal(tuple(core.call_object(lo, np.stack, [c], {}, node) for c in columns))


core.builtin(combinators.together)(functools.partial(lower_map, check=False))  # arrays whose lengths are known to be equal


def refuse_data_first(lo: Lowering, name: str, args: Iterable[Value], node) -> None:
    """Refuse a call whose function stands behind its data."""
    if swapped := combinators.data_first(name, *args, is_function=core.is_function):
        raise ArgumentError(swapped[0], lo.origin(node), swapped[2])


def length_of(lo: Lowering, array: Value) -> Any:
    """Return the first dim of an array, or None if it is not known."""
    t = None if isinstance(array, core.Cell) and array.kind != "array" else atom_type(lo.read(array))
    return t.dims[0] if isinstance(t, Array) and t.dims else None


def at_once(lo: Lowering, body: BodyOverElements) -> Value | None:
    """Lower the body of `f` for all elements at once, or return None if an op of it has no batched form."""
    atoms = list(body.arrays.values())
    with lo.attempt(Unbatchable):
        origin, within = lo.build.origin, lo.build.within
        size = lo.build.call(len, atoms[0], type=INT, name="n")
        first = atom_type(atoms[0]).dims[0]
        batched = Batched(lo.build, {x: of_length(lo, a, first) for x, a in body.arrays.items()}, size, first)
        batched.block(body.block)
        results = [batched.spread(r) for r in body.block.results]
        lo.build.origin, lo.build.within, lo.build.adjoint_of = origin, within, None
        wrapped = tuple(map(lo.wrap, results))
        return wrapped[0] if body.single else TupleVal(wrapped)
    return None


def of_length(lo: Lowering, array: Atom, dim) -> Atom:
    """Emit a copy of the variable of an array, with a type whose first dim is `dim`."""
    t = atom_type(array)
    if isinstance(array, Var) and t.dims[0] == dim:
        return array
    same = Var(array.name if isinstance(array, Var) else "items", replace(t, dims=(dim, *t.dims[1:])), True)
    lo.build.add(Stmt((same,), Let(array)))
    return same


@dataclass(frozen=True, eq=False)
class BodyOverElements:
    """Hold the body of a function over variables that stand for elements of arrays.

    Attributes:
        arrays: maps each variable to the array whose element it stands for.
        block: the statements and the results.
        single: whether the function returns one value rather than a tuple.
    """

    arrays: dict[Var, Atom]
    block: Block
    single: bool


def body_over_elements(lo: Lowering, fn: Value, arrays: list[Value], node) -> BodyOverElements | None:
    """Lower the body of `f`, or return None if it has side effects or an argument is not known to be an array of numbers."""
    found: dict[Var, Atom] = {}

    def element(array: Value) -> Value:
        if isinstance(array, TupleVal):
            return TupleVal(tuple(map(element, array.items)))
        t = atom_type(lo.read(array))
        if not isinstance(t, Array) or not t.dims or t.dtype is None or t.dtype.kind not in KINDS:
            raise Unbatchable
        var = Var("x", Scalar(KINDS[t.dtype.kind], t.dtype) if len(t.dims) == 1 else Array(t.dtype, t.dims[1:]), True)
        found[var] = lo.read(array)
        return lo.wrap(var)

    with lo.attempt(Unbatchable, SourceADError) as attempt:
        mark, birth = lo.journal.mark(), next_birth()
        with lo.build.block() as stmts:
            result = core.call(lo, fn, [element(a) for a in arrays], {}, node)
            single = not isinstance(result, TupleVal)
            results = tuple(lo.read(r) for r in ((result,) if single else result.items))
        changes = any(slots.birth < birth for slots, _ in lo.journal.changed(mark, birth))
        if changes or any(has_effect(s.op) or isinstance(s.op, Update) for s in stmts):
            attempt.fail()
        lo.journal.rollback(mark)
    return None if attempt.failed else BodyOverElements(found, Block(tuple(stmts), results), single)


# ---- reduce and scan ----


@lowers(combinators.reduce)
def lower_reduce(lo: Lowering, node, op: Value, xs: Value, initial: Value) -> Value:
    """Lower `sourcead.reduce(op, xs, initial)`."""
    refuse_data_first(lo, "reduce", (op, xs, initial), node)
    found = without_loop(lo, "reduced", op, xs, initial, node)
    return found if found is not None else core.call_object(lo, functools.reduce, [op, elements(lo, xs, node), initial], {}, node)


@lowers(combinators.scan)
def lower_scan(lo: Lowering, node, op: Value, xs: Value, initial: Value) -> Value:
    """Lower `sourcead.scan(op, xs, initial)`."""
    refuse_data_first(lo, "scan", (op, xs, initial), node)
    found = without_loop(lo, "scanned", op, xs, initial, node)
    if found is not None:
        return found
    if isinstance(xs, TupleVal):
        raise core.unsupported(
            lo, node, "`scan` over several arrays with this operator, which does not work on whole arrays",
            "write the loop, or the operator with NumPy functions that do",
        )  # fmt: skip
    return core.call_object(lo, in_python.scanned, [op, xs, initial], {}, node)


def elements(lo: Lowering, array: Value, node):
    """Iterate over the elements of an array, or over the tuples of elements of several arrays."""
    if isinstance(array, TupleVal):
        return iterables.zipped(lo, [core.iterate(lo, x, node) for x in array.items], node)
    return core.iterate(lo, array, node)


def without_loop(lo: Lowering, form: str, fn: Value, array: Value, initial: Value, node) -> Value | None:
    """Lower `reduce` or `scan` to a call of NumPy or to a tree of whole-array steps, or return None if neither is possible."""
    is_tuple = isinstance(array, TupleVal)
    known = next((row for row in KNOWN if isinstance(fn, Const) and any(f is fn.value for f in row.functions)), None)
    body = body_over_elements(lo, fn, [array, array], node)
    if known is None and body is not None:
        known = applied(body)
    if known is not None and not is_tuple and takes(known, atom_type(lo.read(array))):
        return joined(lo, known, getattr(known, form), initial, array, node)
    if is_tuple and not isinstance(initial, TupleVal):
        return None
    if body is None or not takes_batches(body) or not is_associative(lo, body):
        return None
    if is_tuple:
        return inlining.call_source(lo, find_source(STEPS[form]), [fn, array, initial], {}, node)
    return inlining.call_source(lo, find_source(combinators.of_one_array), [Const(STEPS[form]), fn, array, initial], {}, node)


def applied(body: BodyOverElements) -> Known | None:
    """Return the operator that a function only applies to its two arguments, if NumPy has reductions for it, else None."""
    match body:
        case BodyOverElements(arrays, Block((Stmt(targets, Call(fn, args, ())),), results), True) if results == targets:
            if len(args) == 2 and set(args) == set(arrays):
                return next((row for row in KNOWN if fn in row.functions), None)
    return None


def takes(known: Known, t: Type) -> bool:
    """Tell whether NumPy's reductions have the meaning of the operator for arrays of a type."""
    return isinstance(t, Array) and bool(t.dims) and (known.join in OF_EMPTY or t.dtype is not None and t.dtype.kind == "f")


def joined(lo: Lowering, known: Known, fn: Any, initial: Value, array: Value, node) -> Value:
    """Combine `initial` with the reduction of the whole array; guard reductions that NumPy refuses for empty arrays."""

    def whole() -> Value:
        found = core.call_library(lo, fn, [array], {"axis": Const(0)}, node)
        if known.join in OF_EMPTY:
            return core.operate(lo, known.join, initial, found)
        return core.call_library(lo, known.join, [initial, found], {}, node)

    length = atom_type(lo.read(array)).dims[0]
    if known.join in OF_EMPTY or (length.least if isinstance(length, Sym) else length):
        return whole()
    some = lo.build.call(operator.gt, lo.build.call(len, lo.read(array), type=INT, name="n"), Const(0), type=BOOL)
    return branches.branch(lo, some, [whole, lambda: initial if fn is known.reduced else array], "ifexp")


def takes_batches(body: BodyOverElements) -> bool:
    """Tell whether every op of a body has a batched form."""
    batched = Batched(Builder(), {}, Var("n", INT, True), Sym(1))
    try:
        batched.found = {v: Var("x", batched.wider(v.type), True) for v in body.arrays}
        batched.block(body.block)
        return all(r in batched.found and batched.found[r].type is not None for r in body.block.results)
    except Unbatchable:
        return False


def is_associative(lo: Lowering, body: BodyOverElements) -> bool:
    """Test on random values of the operand types whether an operator is associative; warn with the values for which it is not."""
    params = list(body.arrays)
    free = [v for v in free_vars(body.block) if v not in body.arrays]
    rng = np.random.default_rng(0)
    sizes: dict[Any, int] = {}
    outer = [sampled(v.type, rng, sizes) for v in free]
    function = Function("op", (*params, *free), body.block)

    def op(a: tuple, b: tuple) -> tuple:
        result = evaluate(function, *a, *b, *outer)
        return (result,) if len(body.block.results) == 1 else result

    try:
        a, b, c = (tuple(sampled(v.type, rng, sizes) for v in params[: len(params) // 2]) for _ in range(3))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            same = combinators.is_same(op(op(a, b), c), op(a, op(b, c)))
    except Exception:  # the operator failed for these shapes, so nothing is known
        return False
    if not same:
        combinators.warn_of(*((x[0] if body.single else x) for x in (a, b, c)), lo.here)
    return same


def sampled(t: Type, rng: np.random.Generator, sizes: dict) -> Any:
    """Draw a random value of a type; equal dims get equal sizes."""
    match t:
        case Scalar("float", dtype):
            value = rng.uniform(0.5, 1.5)
            return value if not isinstance(dtype, np.dtype) else dtype.type(value)
        case Scalar("int", _):
            return int(rng.integers(1, 4))
        case Array(dtype, dims) if dtype is not None and dims is not None and dtype.kind in "fiu":
            shape = tuple(d if isinstance(d, int) else sizes.setdefault(d, 3) for d in dims)
            return rng.uniform(0.5, 1.5, shape).astype(dtype) if dtype.kind == "f" else rng.integers(1, 4, shape).astype(dtype)
    raise TypeError(f"no sample of {t}")
