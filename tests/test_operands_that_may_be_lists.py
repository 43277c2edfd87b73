"""A function of NumPy whose operand may be a list at run time, which the types do not tell, is differentiated as with the array of it."""

import numpy as np
import pytest

from sourcead import adjoint, grad, jvp, tangent

pytestmark = pytest.mark.sampled(3)

X, LIST = np.array([1.0, 2.0, 3.0]), [1.0, 4.0, 9.0]


def unknown(a):
    return a


@adjoint(unknown)
def _(y, a, d_y):
    return d_y


@tangent(unknown)
def _(y, a, t_a):
    return t_a


CALLS = {
    "trapezoid": lambda a, x: np.trapezoid(a, x), "spacing of trapezoid": lambda a, x: np.trapezoid(x, a), "dot": lambda a, x: np.dot(a, x),
    "matmul": lambda a, x: np.matmul(a, x), "average": lambda a, x: np.average(a, weights=x),
    "weights of average": lambda a, x: np.average(x, weights=a), "inner": lambda a, x: np.inner(a, x),
    "cross": lambda a, x: np.sum(np.cross(a, x) * x**2), "insert": lambda a, x: np.sum(np.insert(a, 0, x[0]) ** 2),
    "accumulate": lambda a, x: np.sum(np.add.accumulate(a) * x), "clip": lambda a, x: np.sum(np.clip(a, 2, 5) * x),
    "where": lambda a, x: np.sum(np.where(a, x, 2 * x)), "plus an array": lambda a, x: np.sum((a + x) ** 2),
    "plus a number": lambda a, x: np.sum((a + x[0]) ** 2), "a number plus": lambda a, x: np.sum((x[0] + a) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [LIST, tuple(LIST)], ids=["list", "tuple"])
@pytest.mark.parametrize("wrt", ["x", "a"])
def test_an_operand_that_is_a_list_at_run_time(name, given, wrt):
    call = CALLS[name]
    expected = grad(call, wrt=wrt)(np.array(LIST), X)
    found = grad(lambda a, x: call(unknown(a), x), wrt=wrt)(given, X)
    assert type(found) is (type(given) if wrt == "a" else np.ndarray)
    np.testing.assert_allclose(found, expected)
    direction = np.array([1.0, -2.0, 0.5])
    tangent = jvp(lambda x: call(unknown(given), x), (X,), (direction,))[1]
    np.testing.assert_allclose(tangent, grad(call, wrt="x")(np.array(LIST), X) @ direction)


def test_tangents_of_a_list_and_of_a_number():
    def f(a, x):
        kept = unknown(a)
        return np.sum((kept + x[0] * kept[1]) ** 2)

    directions = np.array([0.5, 1.0, -1.0]), np.array([1.0, -2.0, 0.5])
    expected = jvp(f, (np.array(LIST), X), directions)
    np.testing.assert_allclose(jvp(f, (LIST, X), (directions[0].tolist(), directions[1])), expected)
