"""`warnings.warn` in functions that are differentiated: the warnings name the same files and lines as the function's own."""

# ruff: noqa: B028 (the line of the warning is what is tested)

import warnings
from warnings import warn

import numpy as np
import pytest

from sourcead import ZeroGradientWarning, grad, hvp, stop_gradient, value_and_grad


def helper(x):
    warn("in the helper")
    warn("in its caller", RuntimeWarning, stacklevel=2)
    return x**2


def warned(x):
    warnings.warn("plain")
    for i in range(2):
        warnings.warn(f"loop {i}", category=RuntimeWarning)
    warnings.warn(DeprecationWarning("an instance"))
    return np.sum(helper(x))


def of_a_branch(x):
    if x[0] > 0:
        warnings.warn(f"{x[0]:.1f} is positive", UserWarning, stacklevel=1)
    return x @ x


def outside(x):
    warnings.warn("where it is called", stacklevel=2)
    return x @ x


def places(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


X = np.ones(3)


@pytest.mark.parametrize("f", [warned, of_a_branch])
@pytest.mark.parametrize("derivative", [grad, value_and_grad])
def test_a_warning_names_the_line_of_the_program(f, derivative):
    expected = places(lambda: f(X))
    assert expected and places(lambda: derivative(f)(X)) == expected


def test_a_warning_of_the_caller_names_the_line_that_calls_the_derivative():
    first, second = (places(lambda f=f: f(X)) for f in (outside, grad(outside)))
    assert len(first) == 1 and first == second


def test_a_warning_is_shown_once_for_a_place_as_in_python():
    gradient = grad(of_a_branch)
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        gradient(X)
        gradient(X)
        of_a_branch(X)
    assert len(caught) == 1


def test_a_filter_for_the_module_applies():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", module=__name__.replace(".", r"\."), message="plain")
        with pytest.raises(UserWarning, match="plain"):
            grad(warned)(X)


def test_warnings_in_second_derivatives():
    assert {message for message, *_ in places(lambda: hvp(of_a_branch)(X, X))} == {"1.0 is positive"}


def test_a_saved_gradient_warns(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad(of_a_branch).save(tmp_path / "saved.py", X)
    namespace = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    assert [message for message, *_ in places(lambda: namespace["of_a_branch_grad"](X))] == ["1.0 is positive"]


@pytest.mark.parametrize("count", [lambda w: int(np.sum(w)), lambda w: np.argmax(w), lambda w: np.sum(w > 0.0)])
def test_a_result_that_is_an_integer_is_told_when_its_text_is_generated(count):
    gradient = grad(count)
    with pytest.warns(ZeroGradientWarning, match="returns an integer, which carries no derivative: its gradient is zero"):
        assert not np.any(gradient(np.ones(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(np.ones(3))
        grad(lambda w: np.sum(w) if w[0] > 0 else 0)(np.ones(3))


LABELS = np.array([0, 2])


@pytest.mark.parametrize("f, why", [
    (lambda w: np.mean(np.argmax(w * np.eye(2, 3), axis=1) == LABELS), "depends on `w` only by what has no derivative, here `np.argmax`"),
    (lambda w: 1.0 if w[0] > 0 else 2.0, "depends on `w` only by what has no derivative, here a comparison"),
    (lambda w: np.sum(np.round(w)) * 2, "depends on `w` only by what has no derivative, here `np.round`"),
    (lambda w: (np.sum(np.floor(w)), np.sum(w)), "depends on `w` only by what has no derivative, here `np.floor`"),
    (lambda w: 3.0, "does not depend on `w`"), (lambda w: np.sum(LABELS) * 1.0, "does not depend on `w`"), (lambda w: 3, "does not depend"),
])  # fmt: skip
def test_a_gradient_that_is_zero_for_every_argument_is_told_once(f, why):
    gradient = value_and_grad(f, has_aux="floor" in why)
    with pytest.warns(ZeroGradientWarning, match=why):
        assert not np.any(gradient(np.ones(3))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(np.ones(3))


def test_a_text_for_unknown_types_is_not_told_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "def function_grad" in grad(lambda w: np.sum(np.sign(w))).source


@pytest.mark.parametrize("f", [
    lambda w: w[0] if w[0] > 5 else 0.0, lambda w: 0 * np.sum(w), lambda w: np.sum(np.round(w)) + w[1], lambda w: np.sum(w[:0]),
    lambda w: np.sum(stop_gradient(w)), lambda w: np.sum(grad(lambda v: np.sum(v))(w)), lambda w: np.sum(np.where(w > 5, w, 1.0)),
    lambda w: max(w[0], 5.0), lambda w: {"a": np.sum(w), "b": 1.0}["a"],
])  # fmt: skip
def test_a_gradient_that_is_zero_for_some_arguments_is_not_told(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(f)(np.ones(3))
        grad(lambda w, v: np.sum(np.sign(w)) + v, wrt=(0, 1))(np.ones(3), 2.0)
        grad(lambda p: np.sum(np.sign(p["w"])) + p["b"])({"w": np.ones(3), "b": 2.0})
