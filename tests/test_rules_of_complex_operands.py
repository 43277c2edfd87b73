"""Gradients of real arguments that meet a complex array whose shape or kind is not known: they are real."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes, made

ONE = np.array([-0.526])


def of_unknown_length(x):
    return np.stack([r * i for i, r in enumerate(x)]) + (2 + 1j) * np.eye(1)


def of_unknown_kind(x):
    return [1, (2 + 1j) * np.eye(1)][int(x[0] < 5)]


PROGRAMS = {
    "solve": lambda m, x: np.linalg.solve(m, x) * (0.3 + 1j),
    "matmul": lambda m, x: m @ x,
    "dot": lambda m, x: np.dot(m, x),
    "inner": lambda m, x: np.inner(m[0], x) - np.max(x),
    "vdot": lambda m, x: np.vdot(m[0], x) - np.max(x),
}


@pytest.mark.parametrize("matrix", [of_unknown_length, of_unknown_kind])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_gradient_of_a_real_argument_is_real(program, matrix):
    assert judged_in_all_modes(lambda x: np.sum(program(matrix(x), x).real), ONE) == "right"


def raveled_real_part(x):
    a = (x + 1j).real
    a.ravel()[0] = x[1] * 3  # `ravel` copies what has gaps
    return np.sum(a * x)


def raveled_real_part_of_reals(x):
    a = (x * 2).real
    a.ravel()[0] = x[1] * 3
    return np.sum(a * x)


@pytest.mark.parametrize("f, expected", [(raveled_real_part, "refused"), (raveled_real_part_of_reals, "right")])
def test_the_real_part_of_a_complex_array_has_gaps(f, expected):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == expected


@pytest.mark.parametrize("body", [
    "return np.sum(np.abs(v + 1j)) + np.sum(v * v)",
    "return np.sum(np.abs(v * (1j + v))) + v @ v",
    "return np.sum(np.abs(v @ (1j + v))) + v @ v",
    "w = v * (1 + 2j); r = w.real; return np.sum(np.abs(r + 0.5j)) + np.sum(np.abs(w)) + r @ r",
])  # fmt: skip
def test_a_real_array_of_unknown_dtype_has_a_real_cotangent(body):
    f = made(f"v = np.array([*x, 0.3])\n{body}", np=np)
    assert judged_in_all_modes(f, np.array([1.0, -0.4])) == "right"
