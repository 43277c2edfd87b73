"""Assignments to positions that are named twice: the last one stays, whatever holds the array."""

import dataclasses

import numpy as np
import pytest

from tests.semantics import judged, program_of

X, V = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, -0.7])


@dataclasses.dataclass
class Box:
    a: np.ndarray


def of_split(x, v):
    _, a = np.split(x * 1.0, 2)
    a[[0, 0]] = v
    return np.sum(a * a)


def of_list(x, v):
    xs = [x * k for k in range(len(v) + 1)]
    xs[1][[2, 2]] = v
    return np.sum(xs[1] * x) + np.sum(xs[2] * x)


def of_list_of_lists(x, v):
    xs = [[x * k for k in range(len(v) + 1)] for _ in v]
    xs[0][1][[2, 2]] *= v
    return np.sum(xs[0][1] * x)


def of_dict(x, v):
    d = {k: x * (2 + k) for k in range(len(v))}
    d[1][[0, 0]] = v
    return np.sum(d[1] * x)


def of_dict_of_lists(x, v):
    d = {k % 2: [x * 2] for k in range(len(x))}
    d[1][0][[0, 0]] += v
    return np.sum(d[1][0] * x)


def of_object_in_a_list(x, v):
    bs = [Box(x * k) for k in range(3)]
    bs[2].a[np.array([1, 1])] = v
    return np.sum(bs[2].a * x)


def of_a_view(x, v):
    xs = [x * k for k in range(len(v) + 1)]
    xs[1][1:][[2, 2]] = v
    return np.sum(xs[1] * x)


def of_rows(x, v):
    m = np.outer(x, x)
    m[[1, 1], [0, 0]] = v
    m[0][[1, 1]] = v * 2
    return np.sum(m * x)


@pytest.mark.parametrize(
    "f",
    [of_split, of_list, of_list_of_lists, of_dict, of_dict_of_lists, of_object_in_a_list, of_a_view, of_rows],
    ids=lambda f: f.__name__,
)
def test_gradient(f):
    assert judged(f, X, V) == "right"


KEYS = {
    "ix_": "np.ix_([0], [1, 1])", "unravel_index": "np.unravel_index([0, 0], y.shape)",
    "range": "range(-2, 2)", "arange": "np.arange(-2, 2)",
    "divmod": "np.divmod(np.array([1, 1, 2]), 2)", "nonzero": "np.nonzero(y)",
    "rows": "tuple(np.array([[0, 0], [1, 1]]))", "s_": "np.s_[[0, 0], :]",
}  # fmt: skip


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_positions_by_every_function(key):
    lines = f"y = x.reshape(2, 2) * 1; y[{key}] *= 0.7; i = {key}; y[i] *= x[0]; return np.sum(y * y) + np.sum(y[i] ** 3)"
    assert judged(program_of([lines]), X) == "right"
