"""A derivative raises what the program raises where a handler raises another exception, with its message and its cause."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp, value_and_grad, vjp


class ConfigError(ValueError):
    pass


STEPPERS = {"euler": np.sin, "rk4": np.cos}


def by_key(x, kind):
    try:
        step = STEPPERS[kind]
    except KeyError:
        raise ConfigError(f"unknown {kind!r}") from None
    return np.sum(step(x))


def missing(x, options):
    try:
        return np.sum(x) * options["scale"] * options["shift"]
    except KeyError as e:
        raise ConfigError(f"missing {e}") from e


def parsed(x, text):
    try:
        power = int(text)
    except ValueError as e:
        raise ConfigError(f"bad power {text}: {e}")  # noqa: B904 (its context is what is tested)
    return np.sum(x**power)


def factor(x, shift):
    try:
        root = np.linalg.cholesky(np.diag(x) + shift * np.eye(len(x)))
    except np.linalg.LinAlgError as e:
        raise ValueError(f"not positive definite for {shift}") from e
    return np.sum(np.log(np.diag(root)))


def around(x, kind):
    try:
        return by_key(x, kind)
    except ConfigError as e:
        raise RuntimeError(f"in a step: {e}") from e


def in_finally(x, options):
    try:
        scale = options["scale"]
    except KeyError as e:
        raise ConfigError("no scale") from e
    finally:
        x = x * 2
    return np.sum(x) * scale


X = np.array([1.0, 2.0])
CASES = [
    (by_key, "rk4", "heun"),
    (missing, {"scale": 2.0, "shift": 3.0}, {"scale": 2.0}),
    (parsed, "3", "three"),
    (factor, 0.5, -5.0),
    (around, "euler", "heun"),
    (in_finally, {"scale": 2.0}, {}),
]


def error_of(call):
    with pytest.raises(Exception) as caught:
        call()
    e = caught.value
    return type(e), str(e), type(e.__cause__), str(e.__cause__), e.__suppress_context__, type(e.__context__)


@pytest.mark.parametrize("f, good, bad", CASES)
@pytest.mark.parametrize("derivative", [grad, value_and_grad])
def test_what_a_handler_raises_leaves_the_derivative(f, good, bad, derivative):
    assert error_of(lambda: derivative(f)(X, bad))[:2] == error_of(lambda: f(X, bad))[:2]


@pytest.mark.parametrize("f, good, bad", [CASES[0], CASES[2], CASES[3]])
def test_in_later_calls_too_and_the_derivative_is_right_before_and_after(f, good, bad):
    gradient = grad(f)
    for _ in range(2):
        np.testing.assert_allclose(gradient(X, good), grad(f)(X, good))
        assert error_of(lambda: gradient(X, bad))[:2] == error_of(lambda: f(X, bad))[:2]
    check_grads(f, (X, good), wrt=0)


def test_the_cause_is_that_of_the_program():
    assert error_of(lambda: grad(factor)(X, -5.0)) == error_of(lambda: factor(X, -5.0))
    assert error_of(lambda: grad(parsed)(X, "three")) == error_of(lambda: parsed(X, "three"))


def test_in_every_kind_of_derivative():
    for call in (lambda: vjp(factor, X, -5.0), lambda: jvp(factor, (X, -5.0), (X, None)), lambda: hvp(factor)(X, -5.0, X)):
        with pytest.raises(ValueError, match="not positive definite for -5"):
            call()


def test_what_the_program_prints_is_printed_once(capsys):
    def spoken(x, shift):
        print("begun")
        return factor(x, shift)

    with pytest.raises(np.linalg.LinAlgError):
        grad(spoken)(X, -5.0)
    assert capsys.readouterr().out == "begun\n"
