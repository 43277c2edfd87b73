"""`stop_gradient(x)`: the same object, a constant for differentiation."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import AliasError, grad, jvp, stop_gradient, value_and_grad

X = np.array([1.0, -2.0, 3.0])


@dataclass
class Model:
    w: np.ndarray
    scale: float


def array(x):
    return np.sum(x * stop_gradient(x))


def by_keyword(x):
    return np.sum(x * stop_gradient(x=x))


def everything(x):
    return np.sum(stop_gradient(x))


def made_here_and_written(x):
    b = stop_gradient(x * 2)
    b[0] = 5.0
    b[1:] += x[1:]
    return np.sum(b * x)


def of_a_tuple(x):
    a, b = stop_gradient((x, x * 2))
    return np.sum(a * b * x)


def of_a_list(x):
    xs = stop_gradient([x, x * 2])
    return np.sum(xs[0] * xs[1] * x)


def of_a_dict(x):
    d = {"a": x, "b": x * 2, "n": 3}
    e = stop_gradient(d)
    return np.sum(e["a"] * d["b"]) * e["n"]


def of_a_list_of_unknown_length(x):
    hs = []
    for i in range(len(x)):
        hs.append(x[i] * 2)
    ks = stop_gradient(hs)
    total = 0.0
    for i in range(len(x)):
        total += ks[i] * hs[i]
    return total


def in_a_loop(x):
    h = x
    for _ in range(2):
        h = h * stop_gradient(h) + x
    return np.sum(h)


def carried_by_a_loop(x):
    h = x
    for _ in range(3):
        h = stop_gradient(h) * 1.0
    return np.sum(h * x)


def in_one_arm(x):
    y = x * x
    if x[0] > 0:
        y = stop_gradient(y)
    return np.sum(x * y)


def of_what_has_no_derivative(x):
    return np.sum(x) * stop_gradient(3) if stop_gradient("a") == "a" and stop_gradient(None) is None else 0.0


def of_an_object(x):
    m = Model(x * 2, 2.0)
    n = stop_gradient(m)
    return np.sum(n.w * m.w) * n.scale


def shape_alone(x):
    return np.sum(x) * stop_gradient(x).shape[0]


CASES = [
    (array, X),
    (by_keyword, X),
    (everything, 0 * X),
    (made_here_and_written, np.array([5.0, 3 * -2.0, 9.0]) + np.array([0, -2.0, 3.0])),
    (of_a_tuple, 2 * X**2),
    (of_a_list, 2 * X**2),
    (of_a_dict, 6 * X),
    (of_a_list_of_unknown_length, 4 * X),
    (in_a_loop, (X + 1) * (X * X + X) + 1),  # h1 = x s(x) + x, h2 = h1 s(h1) + x
    (carried_by_a_loop, X),
    (in_one_arm, X**2),
    (of_what_has_no_derivative, np.full(3, 3.0)),
    (of_an_object, 8 * X),
    (shape_alone, np.full(3, 3.0)),
]


@pytest.mark.parametrize("f, expected", CASES, ids=[f.__name__ for f, _ in CASES])
def test_flow_is_cut(f, expected):
    value, gradient = value_and_grad(f)(X)
    assert value == pytest.approx(f(X))
    np.testing.assert_allclose(gradient, expected)
    value, tangent = jvp(f, (X,), (np.ones(3),))
    assert value == pytest.approx(f(X)) and tangent == pytest.approx(np.sum(expected))


@pytest.mark.parametrize(
    "argument, expected",
    [
        ({"w": X, "b": 2.0}, {"w": X, "b": 1.0}),
        ({"w": X.astype(np.float32), "b": 2.0}, {"w": X.astype(np.float32), "b": 1.0}),
    ],
)
def test_argument_that_is_a_structure(argument, expected):
    def f(p):
        q = stop_gradient(p)
        return np.sum(q["w"] * p["w"]) + p["b"]

    before = copy.deepcopy(argument)
    gradient = grad(f)(argument)
    np.testing.assert_allclose(gradient["w"], expected["w"])
    assert gradient["w"].dtype == expected["w"].dtype and gradient["b"] == expected["b"]
    np.testing.assert_array_equal(argument["w"], before["w"])


def writes_the_copy(x):
    a = x * 2
    b = stop_gradient(a)
    b[0] = 5.0
    return np.sum(a * x)


def writes_the_original(x):
    a = x * 2
    b = stop_gradient(a)
    a[0] = 5.0
    return np.sum(b * x)


def writes_the_argument(x):
    b = stop_gradient(x)
    b[0] = 5.0
    return np.sum(x * x)


def writes_through_a_part(x):
    a = x * 2
    v = stop_gradient(a[1:])
    v[0] = 7.0
    return np.sum(a * x)


def appends_to_the_copy(x):
    a = [x, x * 2]
    b = stop_gradient(a)
    b.append(x)
    return np.sum(a[-1] * x)


def appends_to_the_original(x):
    a = [x, x * 2]
    b = stop_gradient(a)
    a.append(x)
    return np.sum(b[-1] * x)


@pytest.mark.parametrize(
    "f", [writes_the_copy, writes_the_original, writes_the_argument, writes_through_a_part, appends_to_the_copy, appends_to_the_original]
)
def test_write_that_both_names_see_is_refused(f):
    """The result is the same object as the argument: what flows through a write to either is not decided."""
    with pytest.raises(AliasError):
        grad(f)(X.copy())


def test_text_has_nothing_of_it_and_a_loop_saves_a_value_once():
    def f(w, h):
        for _ in range(4):
            h = np.tanh(w @ h) * stop_gradient(h)
        return np.sum(h)

    text = grad(f).lower(np.eye(3), X).text
    assert "stop_gradient(" not in "".join(line for line in text.splitlines() if not line.strip().startswith("#"))
    assert text.count("append") == 1 and text.count("hs[i] = h") == 1  # tanh on a list, h in an array
