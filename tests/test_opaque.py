"""`opaque` functions, which are called as they are, and solvers with a residual, `implicit`."""

import numpy as np
import pytest

from sourcead import (
    NoSourceError, UnsupportedArgumentError, UnsupportedSyntaxError, check_grads, grad, hvp, implicit, jvp, opaque
)
from tests.semantics import differences

X = np.array([1.2, 2.3, 3.4])
W, B = np.array([[0.3, -0.2], [0.1, 0.4]]), np.array([0.5, -0.3])
SEEN = []


@opaque
def note(x, label="x"):
    SEEN.append((label, float(x)))


@opaque
def weights(x):
    return {"a": np.floor(x)}["a"] if len(x) else eval("0.0")


class Model:
    @opaque
    def note(self, x):
        SEEN.append(("model", x))

    def loss(self, x):
        self.note(x)
        return x * x


def test_results_are_constants():
    def f(x):
        total = 0.0
        for i in range(3):
            total += np.sin(x[i]) * weights(x)[i]
        return total

    np.testing.assert_allclose(grad(f)(X), np.cos(X) * np.floor(X))
    assert jvp(f, (X,), (np.ones(3),))[1] == pytest.approx(np.sum(np.cos(X) * np.floor(X)))
    np.testing.assert_allclose(hvp(f)(X, np.ones(3)), -np.sin(X) * np.floor(X))


def test_what_reports_is_called_once_for_each_call():
    def f(x):
        note(x, label="mine")
        return x**3

    gradient = grad(f)
    gradient(2.0)
    SEEN.clear()
    assert gradient(2.0) == 12.0 and SEEN == [("mine", 2.0)]
    assert grad(Model().loss)(3.0) == 6.0 and SEEN[-1] == ("model", 3.0)
    assert note(1.0) is None and note.__name__ == "note"


def test_arguments_may_not_change():
    @opaque
    def sort(x):
        x.sort()

    def f(x):
        y = -x
        sort(y)
        return np.sum(y * x)

    with pytest.raises(UnsupportedArgumentError, match="`sort` changes its argument"):
        grad(f, verify=False)(X)


def test_functions_defined_inside_are_not_given_to_it():
    with pytest.raises(UnsupportedSyntaxError, match="given a function that is defined here"):
        grad(lambda x: x * weights(lambda: x))(2.0)


def test_the_function_itself_has_no_derivative():
    with pytest.raises(NoSourceError, match="called as it is"):
        grad(weights)(X)


@implicit(lambda z, w, b: z - np.tanh(w @ z + b))
def equilibrium(w, b):
    z = np.zeros(len(b))
    while np.max(np.abs(z - np.tanh(w @ z + b))) > 1e-15:
        z = np.tanh(w @ z + b)
    return z


@implicit(lambda x, a: x**3 + x - a)
def cubic(a):
    x = 1.0
    for _ in range(60):
        x -= (x**3 + x - a) / (3 * x**2 + 1)
    return x


@implicit(lambda x, a: x * x * x - a)
def roots_of_a_table(a):
    return np.cbrt(np.array(a.tolist()).reshape(a.shape))


def test_a_layer_of_equilibrium():
    def f(w, b):
        return np.sum(equilibrium(w, b) ** 2)

    d_w, d_b = grad(f, wrt=(0, 1))(W, B)
    np.testing.assert_allclose(d_w, differences(f, [W, B], 0), rtol=1e-7)
    np.testing.assert_allclose(d_b, differences(f, [W, B], 1), rtol=1e-7)
    step = np.array([1.0, 0.5])
    second = (grad(f, wrt=1)(W, B + 1e-5 * step) - grad(f, wrt=1)(W, B - 1e-5 * step)) / 2e-5
    np.testing.assert_allclose(hvp(f, wrt=1)(W, B, step), second, rtol=1e-6)


def test_numbers_and_tables():
    check_grads(lambda a: cubic(a) ** 2 + cubic(2 * a), (3.0,))
    check_grads(lambda a: np.sum(roots_of_a_table(a) * np.arange(6.0).reshape(2, 3)), (np.arange(1.0, 7.0).reshape(2, 3),))
    slope = 1 / (3 * cubic(3.0) ** 2 + 1)
    assert grad(lambda a: cubic(a))(3.0) == pytest.approx(slope, rel=1e-12)
    assert grad(grad(lambda a: cubic(a)))(3.0) == pytest.approx(-6 * cubic(3.0) * slope**3, rel=1e-10)


def test_the_text_calls_the_solver_and_solves_a_system():
    gradient = grad(lambda b: np.sum(equilibrium(W, b)))
    gradient(B)
    assert "while" not in gradient.source and "solve_system(solve, " in gradient.source


NAMES, USES, TABLE = {"a": 1.5}, [0], np.arange(3.0)


def lines_of_this_file(count):
    with open(__file__, encoding="utf-8") as file:
        return [float(len(line)) for line in file.readlines()[:count]]


def named(key):
    return sum(lines_of_this_file(2)) * 0.01 * NAMES[key]


def counting(key):
    length, uses = len(open(key).name), USES
    uses[0] += 1
    return length


def shared(key):
    return TABLE if open(key) else None


def test_a_call_that_is_given_no_data_and_changes_none_stays_as_it_is():
    check_grads(lambda x: x**2 * named("a") + sum(x * n for n in lines_of_this_file(count=3)), (0.7,))
    assert "lines_of_this_file" in grad(lambda x: x * sum(lines_of_this_file(2))).lower(0.7).text


@pytest.mark.parametrize("called", [counting, shared])
def test_a_call_that_may_change_or_return_what_others_hold_is_refused(called):
    with pytest.raises(UnsupportedSyntaxError, match="`open`"):
        grad(lambda x: np.sum(x * called(__file__)))(0.7)
