"""The sets of the result of a call.

    element by element     the union of the operands' sets at each element; a factor that is zero and no variable lets nothing through
    linear                 the function itself, of the sets: `np.cumsum(sets)`; of what is linear in each argument, one call for each
    reduction              the union along the axes
    of stacked matrices    the union of each matrix
    along an axis          the union along the axis, for each element on it
    with a tangent rule    the rule, of the sets
    other                  the union of all
"""

import operator
from typing import Any

import numpy as np

from sourcead.primitives.registry import Primitive
from sourcead.primitives.rule import Linear, TangentRule
from sourcead.primitives.table import record_of
from sourcead.sparsity.containers import filled, is_continuous, spread, united_parts
from sourcead.sparsity.sets import VariableSet

PRODUCTS = {operator.mul, operator.imul, np.multiply}
QUOTIENTS = {operator.truediv, operator.itruediv, np.divide, np.true_divide}
OF_MATRICES = {np.linalg.inv, np.linalg.det, np.linalg.solve, np.linalg.cholesky, np.linalg.pinv, np.linalg.eigvalsh, np.linalg.slogdet}
ALONG = {np.sort: -1, np.partition: -1, np.cumprod: None, np.maximum.accumulate: 0, np.minimum.accumulate: 0}


def dependences_of_call(fn: Any, value: Any, given: tuple[list, dict], sets: tuple[list, dict]) -> Any:
    """Return the sets of the result `value` of a call, 0 if it depends on nothing.

    Args:
        fn: the function, None if nothing is known of it.
        value: its result.
        given: its arguments and keywords.
        sets: theirs.
    """
    known = None if fn is None else record_of(fn)
    if known is not None and (known.no_derivative or known.metadata):
        return 0
    if isinstance(value, np.ndarray | np.generic | int) and not is_continuous(value):
        return 0
    if known is not None:
        try:
            found = of_known(known, value, given, sets)
        except (TypeError, ValueError, NotImplementedError, AttributeError, IndexError):  # which takes no array of objects
            found = None
        if found is not None:
            return found
    everything = united_parts((tuple(sets[0]), sets[1]))
    return spread(value, everything) if isinstance(everything, VariableSet) else 0


def of_known(known: Primitive, value: Any, given: tuple[list, dict], sets: tuple[list, dict]) -> Any:
    """Return the sets of the result of a function that the compiler knows; None if they are not known any better than all."""
    (args, kwargs), (of_args, of_kwargs) = given, sets
    if known.is_elementwise(len(args)) and any(not isinstance(s, int) for s in of_args):
        if known.function is np.where:
            return cleaned(np.where(args[0], *(filled(a, s) for a, s in zip(args[1:], of_args[1:]))), value)
        return of_elements(known, value, args, of_args)
    if isinstance(known.tangent, Linear):
        if known.tangent.together:
            taken = [a if isinstance(s, int) else filled(a, s) for a, s in zip(args, of_args)]
            named = {k: v if isinstance(of_kwargs[k], int) else filled(v, of_kwargs[k]) for k, v in kwargs.items()}
            return cleaned(known.function(*taken, **{k: v for k, v in named.items() if k != "dtype"}), value)
        if known.batched == "product" and (found := of_full_product(value, args, of_args)) is not None:
            return found
        if known.batched == "product" and hasattr(args[0], "tocsr") and isinstance(of_args[0], int) and isinstance(value, np.ndarray):
            return of_sparse_product(value, args[0].tocsr(), filled(args[1], of_args[1]))
        total: Any = 0
        for k, s in enumerate(of_args):
            if not isinstance(s, int):
                taken = [filled(a, s) if j == k else without_zeros(a, of_args[j]) for j, a in enumerate(args)]
                total = total + cleaned(known.function(*taken, **kwargs), value)
        return total
    if known.batched in ("reduction", "statistic") and not isinstance(of_args[0], int):
        over = {k: v for k, v in kwargs.items() if k in ("axis", "keepdims")} | ({"axis": args[1]} if len(args) > 1 else {})
        return cleaned(np.sum(filled(args[0], of_args[0]), **over), value)
    if known.function in OF_MATRICES:
        return of_matrices(value, args, of_args)
    if known.function in ALONG and not isinstance(of_args[0], int) and isinstance(args[0], np.ndarray):
        axis = kwargs.get("axis", args[1] if len(args) > 1 else ALONG[known.function])
        if isinstance(axis, int) and np.shape(value) == args[0].shape:
            return np.broadcast_to(np.sum(filled(args[0], of_args[0]), axis=axis, keepdims=True), args[0].shape).copy()
    if isinstance(known.tangent_rule, TangentRule) and known.tangent_rule.star is None and not any(map(is_set, of_kwargs.values())):
        return by_tangent_rule(known.tangent_rule, value, given, of_args)
    return None


def by_tangent_rule(rule: TangentRule, value: Any, given: tuple[list, dict], sets: list) -> Any:
    """Return the sets of a result from the tangent rule of its function, which is linear in the tangents.

    The factors in it are those of the values, whose order or differences may matter, and those without zeros that depend on variables.
    """
    (args, kwargs) = given
    found, _ = rule.bind([filled(a, s) for a, s in zip(args, sets)], {}, wrap=lambda default: 0)
    of = dict(zip(rule.params, found))
    if any(is_set(s) and name not in rule.tangents for name, s in of.items()):
        return None
    total: Any = 0
    for taken in ([without_zeros(a, s) for a, s in zip(args, sets)], args):
        values, options = rule.bind(taken, kwargs)
        known = dict(zip(rule.params, values))
        parts = rule.function(value, **known, **{f"t_{name}": of[name] for name in rule.tangents}, **dict(options))
        for name, part in zip(rule.tangents, (parts,) if len(rule.tangents) == 1 else parts):
            if is_set(of[name]):
                total = total + cleaned(part, value)
    return total


def is_set(found: Any) -> bool:
    """Return whether the sets of a value are not all empty."""
    return isinstance(united_parts(found), VariableSet)


def of_elements(known: Primitive, value: Any, args: list, sets: list) -> Any:
    """Return the sets of the result of a function that works element by element."""
    total: Any = 0
    for k, found in enumerate(sets[: known.operands or len(args)]):
        if isinstance(found, int):
            continue
        if not isinstance(found, VariableSet):
            found = filled(args[k], found)
        factor = known.function in PRODUCTS or known.function in QUOTIENTS and k == 1
        if factor and isinstance(sets[1 - k], int):
            found = found * args[1 - k]
        total = total + found
    return total if isinstance(total, VariableSet) and not isinstance(value, np.ndarray) else cleaned(total, value)


def without_zeros(x: Any, found: Any) -> Any:
    """Return a factor with ones where it depends on variables, so that only zeros that stay are zeros."""
    if isinstance(found, int):
        return x
    return np.where(filled(np.asarray(x), found) != 0, 1.0, x) if isinstance(x, np.ndarray) else 1.0


def of_full_product(value: Any, args: list, sets: list) -> Any:
    """Return the sets of a product of two matrices or vectors in which no zero stays, from unions of rows and columns."""
    if not all(isinstance(a, np.ndarray) and 1 <= a.ndim <= 2 for a in args[:2]) or len(args) != 2:
        return None
    if not all(np.all(without_zeros(a, s) != 0) for a, s in zip(args, sets)):
        return None
    a, b = (filled(x, s) for x, s in zip(args, sets))
    rows, columns = np.sum(a, axis=-1), np.sum(b, axis=0 if b.ndim == 1 else -2)
    if a.ndim == 2 and b.ndim == 2:
        rows = rows[:, None]
    return cleaned(np.add(rows, columns), value)


def of_sparse_product(value: np.ndarray, matrix: Any, found: np.ndarray) -> np.ndarray:
    """Return the sets of the product of a sparse matrix in rows and an array: the union at the elements of each row."""
    total = np.zeros(value.shape, object)
    for row, (first, last) in enumerate(zip(matrix.indptr, matrix.indptr[1:])):
        for k in range(first, last):
            total[row] = total[row] + found[matrix.indices[k]]
    return cleaned(total, value)


def of_matrices(value: Any, args: list, sets: list) -> Any:
    """Return the sets of the result of a function of stacked matrices: each depends on all of its matrices."""
    if not isinstance(value, np.ndarray | np.generic):
        return None
    total: Any = 0
    for a, s in zip(args, sets):
        if not isinstance(s, int):
            if np.ndim(a) < 2:
                return None
            total = total + np.sum(filled(a, s), axis=(-2, -1), keepdims=True)
    if value.ndim == total.ndim:
        return np.broadcast_to(total, value.shape).copy()
    return cleaned(np.broadcast_to(total[..., 0, 0], value.shape), value) if value.ndim == total.ndim - 2 else None


def cleaned(found: Any, value: Any) -> Any:
    """Return what a function made of sets as the sets of its result `value`: numbers in it, which carry nothing, are zeros."""
    if isinstance(value, list | tuple) or isinstance(found, list | tuple):
        items = [cleaned(f, v) for f, v in zip(found, value, strict=True)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {k: cleaned(found[k], v) for k, v in value.items()}
    if not isinstance(value, np.ndarray):
        one = found.reshape(-1)[0] if isinstance(found, np.ndarray) and found.size == 1 else found
        return one if isinstance(one, VariableSet) else 0
    if np.shape(found) != value.shape:
        found = np.broadcast_to(np.asarray(found, object), value.shape)
    return np.asarray(ONLY_SETS(found), object)


def only_set(found: Any) -> Any:
    """Return what stands at a place of an array of sets: a set, alone in an array without axes or not, or 0."""
    return found if isinstance(found, VariableSet) else only_set(found.item()) if isinstance(found, np.ndarray) and found.ndim == 0 else 0


ONLY_SETS = np.frompyfunc(only_set, 1, 1)
