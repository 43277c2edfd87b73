"""A derivative raises what the program raises where a handler raises another exception, with its message and its cause."""

import math
import warnings

import numpy as np
import pytest
import scipy.linalg

from sourcead import Revolve, Segments, check_grads, grad, hvp, jacobian, jvp, value_and_grad, vjp
from sourcead.errors import BackendError, SourceADError

pytestmark = pytest.mark.sampled(2)


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


# -- handlers after which the program goes on ------------------------------------------------------------------------------


def or_infinite(a):
    try:
        root = scipy.linalg.cholesky(a, lower=True)
    except np.linalg.LinAlgError:
        return np.inf
    return np.sum(np.log(np.diag(root)))


def with_jitter(a):
    jitter = 1e-6
    for _ in range(8):
        try:
            root = np.linalg.cholesky(a + jitter * np.eye(len(a)))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    else:
        raise RuntimeError("no root")
    return np.sum(root**2)


def until_it_works(a):
    shift = 1e-3
    while True:
        try:
            root = np.linalg.cholesky(a + shift * np.eye(len(a)))
        except np.linalg.LinAlgError as e:
            reason = str(e)
            shift *= 10
            if shift > 1e3:
                raise ValueError(reason) from e
            continue
        return np.sum(root)


def by_another_function(a):
    def root(x):
        return np.linalg.cholesky(x)

    try:
        found = root(a)
    except np.linalg.LinAlgError:
        found = a * 3
    return np.sum(found**2)


def inside_each_other(a):
    try:
        try:
            found = np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            found = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.sum(a**3)
    return np.sum(found**2)


def with_else_and_finally(a):
    n = 0.0
    try:
        found = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        found = a * 3
    else:
        n = np.sum(a)
    finally:
        n = n + np.sum(a**2)
    return np.sum(found**2) * n


def assigned_before_it_raises(a):
    x = y = 2.0
    try:
        x = np.sum(a)
        y = np.sum(np.linalg.cholesky(a))
    except np.linalg.LinAlgError:
        return x * y
    return x + y


def written_before_it_raises(a):
    b = a.copy()
    try:
        b[0] *= 2
        np.linalg.cholesky(b)
        b[1] *= 3
    except np.linalg.LinAlgError:
        pass
    return np.sum(b**2)


def several_calls(a):
    try:
        return 2 * np.sum(np.linalg.solve(np.linalg.cholesky(a), np.linalg.inv(a))) + 1
    except np.linalg.LinAlgError as e:
        return np.sum(a**2) + len(str(e))


def each_iteration(a):
    total = 0.0
    for k in range(4):
        try:
            total = total + np.sum(np.linalg.cholesky(a * (1 - k)))
        except np.linalg.LinAlgError:
            total = total * 2 + np.sum(a)
    return total


class Sum:
    factor = 2.0

    def loss(self, a):
        try:
            return self.factor * np.sum(np.linalg.cholesky(a))
        except np.linalg.LinAlgError:
            return np.sum(a**2)


GOOD, BAD = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[-1.0, 0.2], [0.2, -0.5]])
GO_ON = [
    with_jitter, until_it_works, by_another_function, inside_each_other, with_else_and_finally, assigned_before_it_raises,
    written_before_it_raises, several_calls, each_iteration, Sum().loss,
]  # fmt: skip


@pytest.mark.parametrize("f", GO_ON)
@pytest.mark.parametrize("a", [GOOD, BAD], ids=["nothing raised", "something raised"])
def test_the_derivative_goes_on_as_the_program_does(f, a):
    check_grads(f, (a,))
    assert value_and_grad(f)(a)[0] == pytest.approx(f(a))


@pytest.mark.parametrize("f", GO_ON)
def test_one_derivative_serves_both(f):
    gradient = grad(f)
    for a in (GOOD, BAD, BAD, GOOD):
        np.testing.assert_allclose(gradient(a), grad(f)(a))


def test_a_likelihood_that_is_infinite_where_there_is_no_root():
    value, gradient = value_and_grad(or_infinite)(BAD)
    assert value == np.inf and not gradient.any()
    np.testing.assert_allclose(value_and_grad(or_infinite)(GOOD)[0], or_infinite(GOOD))


def test_different_exceptions_lead_to_different_handlers():
    def f(a, options):
        try:
            root = np.linalg.cholesky(a)
            return np.sum(np.linalg.solve(root, np.ones(2))) * options["scale"]
        except np.linalg.LinAlgError:
            return np.sum(a)
        except KeyError:
            return np.sum(a * a)
        except (ValueError, TypeError):
            return np.sum(a) ** 2

    for a, options in ((GOOD, {"scale": 2.0}), (BAD, {"scale": 2.0}), (np.eye(3), {"scale": 2.0}), (GOOD, {}), (BAD, {})):
        check_grads(f, (a, options), wrt=0)
        assert value_and_grad(f)(a, options)[0] == pytest.approx(f(a, options))


@pytest.mark.parametrize("policy", ["store", "states", "recompute", Revolve(2), Segments(2)])
def test_checkpoint_policies(policy):
    np.testing.assert_allclose(grad(with_jitter, checkpoint=policy)(BAD), grad(with_jitter)(BAD))
    np.testing.assert_allclose(grad(each_iteration, checkpoint=policy)(BAD), grad(each_iteration)(BAD))


def test_forward_mode_pullbacks_and_auxiliary_results():
    for a in (GOOD, BAD):
        expected = grad(several_calls)(a)
        assert jvp(several_calls, (a,), (GOOD,))[1] == pytest.approx(np.sum(expected * GOOD))
        np.testing.assert_allclose(vjp(several_calls, a)[1](2.0), 2 * expected)
        (value, kept), found = value_and_grad(lambda a: (several_calls(a), a * 2), has_aux=True)(a)
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(kept, a * 2)


def test_second_derivatives_and_jacobians():
    step = np.array([[0.3, -0.1], [0.2, 0.5]])
    for f, a in ((several_calls, BAD), (by_another_function, BAD), (written_before_it_raises, BAD), (several_calls, GOOD)):
        expected = (grad(f)(a + 1e-6 * step) - grad(f)(a - 1e-6 * step)) / 2e-6
        np.testing.assert_allclose(hvp(f)(a, step), expected, rtol=1e-5, atol=1e-6)

    def solved(a):
        try:
            return np.linalg.solve(a, np.ones(2))
        except np.linalg.LinAlgError:
            return a[0] ** 2

    for mode in ("forward", "reverse"):
        found = jacobian(solved, mode=mode)(np.ones((2, 2)))
        np.testing.assert_array_equal(found, [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]])


def test_the_text_computes_the_call_once_until_it_has_raised():
    gradient = grad(by_another_function)
    gradient(GOOD)
    text = gradient.source
    assert "exception_of" not in text
    gradient(BAD)
    gradient(GOOD)
    assert gradient.source == text


def test_what_cannot_be_tried_is_refused_as_before():
    def f(x, n):
        y = x
        try:
            y /= n
        except ZeroDivisionError:
            y = x
        return y * 2

    assert grad(f)(3.0, 2) == 1.0
    with pytest.raises(SourceADError, match="handles ZeroDivisionError"):
        grad(f)(3.0, 0)


def test_methods_below_the_decorator():
    class Loss:
        @grad
        def loss(self, a):
            return Sum.loss(Sum(), a)

    for a in (GOOD, BAD):
        np.testing.assert_allclose(Loss().loss(a), grad(Sum().loss)(a))


def root_or_double(x):
    total = 0.0
    for a in x:
        try:
            total += math.sqrt(a)
        except ValueError:
            total += a * 2
    return total


def exponential_or_itself(x):
    try:
        return math.exp(x[0])
    except OverflowError:
        return x[0]


def quotient(x):
    try:
        y = x[1] / (x[0] - 1.0)
    except ZeroDivisionError:
        y = x[1]
    return y


@pytest.mark.compiled
@pytest.mark.parametrize("f, good, bad, found", [
    (root_or_double, [4.0, 0.25], [4.0, -0.25], [0.25, 2.0]),
    (exponential_or_itself, [0.0, 0.0], [1e4, 0.0], [1.0, 0.0]),
    (quotient, [2.0, 3.0], None, None),
])  # fmt: skip
def test_what_raises_nothing_under_numba_is_not_compiled_where_the_program_handles_it(f, good, bad, found):
    with pytest.raises(BackendError, match=r"the program handles what `.*` raises here, and under Numba it raises nothing"):
        grad(f, backend="numba")(good)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g = grad(f, backend="auto")
        np.testing.assert_allclose(g(good), grad(f)(good))
        if bad is not None:
            np.testing.assert_allclose(g(bad), found)
