"""The first call of a new text is compared with the user's function (`verify=`)."""

import logging

import numpy as np
import pytest

from sourcead import adjoint, errors, grad, hessian, hvp, jacobian, jvp, pushforward, tangent, value_and_grad, vjp
from sourcead.compile import comparison, gradient, verification

X = np.array([0.3, 0.7, 1.1])
COUNT = []


def counted(x):
    COUNT.append(1)
    return x * x


@adjoint(counted)
def _(y, x, d_y):
    return 2 * x * d_y


@tangent(counted)
def _(y, x, t_x):
    return 2 * x * t_x


def squares(x):
    return np.sum(counted(x))


def wrongly_ruled(x):
    return x**3


@adjoint(wrongly_ruled)
def _(y, x, d_y):
    return 2 * x**2 * d_y


@tangent(wrongly_ruled)
def _(y, x, t_x):
    return 2 * x**2 * t_x


def cubes(x):
    return np.sum(wrongly_ruled(x))


def first_and_second(transformed, *args):
    """How often `counted` runs in the first and in the second call."""
    found = []
    for _ in range(2):
        COUNT.clear()
        transformed(*args)
        found.append(len(COUNT))
    return found


def test_the_function_is_called_once_more_at_the_first_call_alone():
    for level, more in (("value", 1), (False, 0)):
        first, second = first_and_second(value_and_grad(squares, verify=level), X)
        assert (first, second) == (1 + more, 1)


def test_other_arguments_of_the_same_types_are_not_compared_again():
    df = value_and_grad(squares)
    df(np.arange(20.0))
    assert first_and_second(df, np.arange(30.0)) == [1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda level: grad(cubes, verify=level)(X),
        lambda level: value_and_grad(cubes, verify=level)(X),
        lambda level: vjp(cubes, X, verify=level),
        lambda level: jvp(cubes, (X,), (X,), verify=level),
        lambda level: pushforward(cubes, verify=level)(X, t_x=X),
        lambda level: hvp(lambda x: np.sum(np.sin(wrongly_ruled(x))), verify=level)(X, X),
        lambda level: jacobian(wrongly_ruled, verify=level)(X),
        lambda level: jacobian(wrongly_ruled, mode="reverse", verify=level)(X),
        lambda level: jacobian(lambda p: wrongly_ruled(p["a"]), verify=level)({"a": X}),
        lambda level: hessian(lambda x: np.sum(np.sin(wrongly_ruled(x))), verify=level)(X),
        lambda level: grad(lambda p: cubes(p["a"]) + p["b"], verify=level)({"a": X, "b": 2.0}),
        lambda level: grad(lambda x: (cubes(x), x), has_aux=True, verify=level)(X),
        lambda level: grad(lambda a, x: cubes(x) * a, wrt=("x", "a"), verify=level)(2.0, X.astype(np.float32)),
    ],
)
def test_a_wrong_rule_is_found_by_the_gradient_alone(call):
    call("value")
    with pytest.raises(errors.VerificationError, match="difference quotient"):
        call("gradient")


def test_the_error_holds_both_numbers_and_both_texts_and_comes_again(monkeypatch):
    monkeypatch.setattr(comparison, "value_of_text", lambda value: value, raising=False)
    original = gradient.specialised

    def broken(built, engine):
        made = original(built, engine)
        return type(made)(**{**vars(made), "function": lambda *args: (made.function(*args)[0] + 1.0, None)})

    monkeypatch.setattr(gradient, "specialised", broken)

    def f(x):
        return np.sum(x) - 0.25

    df = value_and_grad(f)
    for _ in range(2):
        with pytest.raises(errors.VerificationError) as caught:
            df(X)
    message = str(caught.value)
    assert "the value is 1.85" in message and "2.85 in the generated code" in message
    assert "return np.sum(x) - 0.25" in caught.value.source and "def f_value_and_grad(x):" in caught.value.text
    assert value_and_grad(f, verify=False)(X)[0] == pytest.approx(2.85)


def test_the_environment_sets_the_level(monkeypatch):
    for spoken, outcome in (("gradient", True), ("value", False), ("0", False), ("off", False), ("", False)):
        monkeypatch.setenv("SOURCEAD_VERIFY", spoken)
        if outcome:
            with pytest.raises(errors.VerificationError):
                grad(cubes)(X)
        else:
            grad(cubes)(X)
    monkeypatch.setenv("SOURCEAD_VERIFY", "0")
    with pytest.raises(errors.VerificationError):
        grad(cubes, verify="gradient")(X)
    assert first_and_second(value_and_grad(squares), X) == [1, 1]
    monkeypatch.setenv("SOURCEAD_VERIFY", "sometimes")
    with pytest.raises(errors.ArgumentError, match="sometimes"):
        grad(cubes)
    with pytest.raises(errors.ArgumentError, match="'all'"):
        grad(cubes, verify="all")


def draws(x):
    return np.sum(x * np.random.rand(3))


def prints(x):
    print("called")
    return np.sum(x)


def differs_each_time(x, state):
    return np.sum(x) * next(state)


@pytest.mark.parametrize("f, why", [(draws, "draws random numbers"), (prints, "has effects: it calls `print`")])
def test_what_has_effects_is_left_out_and_said_to_be(f, why, caplog, capsys):
    with caplog.at_level(logging.INFO, "sourcead"):
        value_and_grad(f)(X)
    assert why in caplog.text and "test_verification.py" in caplog.text
    assert capsys.readouterr().out.count("called") == (f is prints)


def test_rounding_is_no_mismatch():
    def chaotic(x):
        for _ in range(400):
            x = 3.99 * x * (1 - x)
        return x

    def cancelling(x):
        return np.sum(x * 1e8) - np.sum(x[::-1]) * 1e8

    assert np.isfinite(value_and_grad(chaotic)(0.3)[0])
    value_and_grad(cancelling)(np.linspace(0.1, 1.7, 1001))


def test_nan_equals_nan():
    with np.errstate(all="ignore"):
        assert np.isnan(value_and_grad(lambda x: np.log(x))(-1.0)[0])


def test_arguments_stay_as_they_are():
    def doubling(x, d):
        x *= 2
        d["a"][0] = 7.0
        return np.sum(x) * d["a"][0]

    x, d = X.copy(), {"a": X.copy()}
    grad(doubling, verify="gradient")(x, d)
    assert np.array_equal(x, X) and np.array_equal(d["a"], X)


def test_the_users_error_is_the_users():
    def careful(x):
        if x[0] > 0:
            raise ValueError("too large")
        return x[0]

    with pytest.raises(ValueError, match="too large"):
        grad(careful)(X)
    grad(careful)(-X)


def test_what_python_runs_slowly_is_given_up(monkeypatch, caplog):
    pytest.importorskip("numba")
    monkeypatch.setattr(verification, "PATIENCE", 0.05)

    def slow(x):
        total = 0.0
        for k in range(2_000_000):
            total += x * 1e-6 * (k % 3)
        return total

    with caplog.at_level(logging.INFO, "sourcead"):
        value_and_grad(slow, backend="numba")(2.0)
    assert "takes more than 0.05 s" in caplog.text


def test_derivatives_inside_derivatives_are_covered_by_the_function():
    def f(x):
        return np.sum(grad(lambda y: np.sum(np.sin(y) * y))(x) ** 2)

    def g(x):
        return np.sum(np.sin(x) * x**2)

    assert np.all(np.isfinite(grad(f, verify="gradient")(X)))
    assert np.allclose(hessian(g)(X) @ X, hvp(g, verify="gradient")(X, X))
    assert np.all(np.isfinite(grad(lambda x: np.sum(hvp(g)(x, X)), verify="gradient")(X)))


def test_a_method_of_an_object_is_compared_on_a_copy_of_it():
    class Model:
        def __init__(self):
            self.w = X.copy()

        def loss(self, x):
            self.w *= 2.0
            return np.sum(self.w * x)

    model = Model()
    value, _ = value_and_grad(model.loss)(X)
    assert value == pytest.approx(2 * np.sum(X * X)) and np.array_equal(model.w, X)


def test_functions_that_share_a_text_are_compared_with_their_own_globals():
    def made(scale):
        def f(x):
            return np.sum(x) * scale

        return f

    values = [value_and_grad(made(scale))(X)[0] for scale in (1.0, 2.0, 3.0)]
    assert np.allclose(values, np.sum(X) * np.array([1.0, 2.0, 3.0]))


def test_threads_that_call_a_new_text_at_once_all_get_the_gradient():
    from concurrent.futures import ThreadPoolExecutor

    for k in range(5):
        df = value_and_grad(lambda x, k=k: np.sum(np.sin(x) * k))
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(df, [X] * 8))
        assert all(np.allclose(gradient, np.cos(X) * k) for _, gradient in found)
