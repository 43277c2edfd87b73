"""Arithmetic on arguments: numbers, arrays, and lists, tuples and dicts of these."""

import copy

import numpy as np


def leaves(value):
    """Return the numbers and arrays in a value, in order."""
    if isinstance(value, dict):
        return [q for v in value.values() for q in leaves(v)]
    if isinstance(value, (list, tuple)):
        return [q for v in value for q in leaves(v)]
    return [value]


def mapped(function, *values, memo=None):
    """Return a value of the structure of the first, with the function's results for the leaves; one array has one."""
    first, memo = values[0], {} if memo is None else memo
    if isinstance(first, dict):
        return {k: mapped(function, *(v[k] for v in values), memo=memo) for k in first}
    if isinstance(first, (list, tuple)):
        return type(first)(mapped(function, *parts, memo=memo) for parts in zip(*values))
    if not isinstance(first, np.ndarray):
        return function(*values)
    if id(first) not in memo:
        memo[id(first)] = function(*values)
    return memo[id(first)]


def is_real(leaf):
    """Return whether a leaf is a number or an array of numbers with a fraction."""
    return isinstance(leaf, (float, np.floating)) or isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"


def direction(value, rng):
    """Return random numbers of the structure of a value, zero for what is no real number."""

    def one(leaf):
        if isinstance(leaf, np.ndarray):
            return rng.normal(size=leaf.shape) if is_real(leaf) else np.zeros(leaf.shape)
        return float(rng.normal()) if is_real(leaf) else 0.0

    return mapped(one, value)


def moved(value, step, along):
    """Return the value moved a step in a direction; what is no real number stays."""
    return mapped(lambda v, d: v + step * d if is_real(v) else copy.deepcopy(v), value, along)


def product(one, two):
    """Return the inner product of two values of one structure."""
    return float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in zip(leaves(one), leaves(two), strict=True)))


def same(one, two):
    """Return whether two values have the same structure, shapes and, bit for bit, the same numbers."""
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[k], two[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two))
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and one.dtype == two.dtype and np.array_equal(one, two, equal_nan=True)
    return one == two


def close(one, two, tolerance):
    """Return whether two values have the same structure and shapes, and nearly the same numbers."""
    first, second = leaves(one), leaves(two)
    if len(first) != len(second) or any(np.shape(a) != np.shape(b) for a, b in zip(first, second)):
        return False
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(first, second)]
    return all(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))) for a, b in pairs)


def shaped_like(gradient, value):
    """Return whether a gradient has the structure, shapes and types of its argument."""
    if isinstance(value, dict):
        alike = isinstance(gradient, dict) and list(gradient) == list(value)
        return alike and all(shaped_like(gradient[k], value[k]) for k in value)
    if isinstance(value, (list, tuple)):
        return type(gradient) is type(value) and len(gradient) == len(value) and all(map(shaped_like, gradient, value))
    if isinstance(value, np.ndarray):
        return isinstance(gradient, np.ndarray) and (gradient.shape, gradient.dtype) == (value.shape, value.dtype)
    return isinstance(gradient, (float, np.floating))


def resized(value, sizes):
    """Return the value with other numbers, of which no two are equal, and the axes of its arrays resized by a table."""

    def one(leaf):
        if isinstance(leaf, np.ndarray):
            made = np.resize(leaf, tuple(sizes.get(n, n) for n in leaf.shape))
            return made * (0.93 + 0.01 * np.arange(made.size).reshape(made.shape)) if is_real(leaf) else made
        return leaf * 0.93 if is_real(leaf) else leaf

    return mapped(one, value)
