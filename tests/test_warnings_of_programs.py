"""`warnings.warn` in functions that are differentiated: the warnings name the same files and lines as the function's own."""

# ruff: noqa: B028 (the line of the warning is what is tested)

import warnings
from warnings import warn

import numpy as np
import pytest

from sourcead import grad, hvp, value_and_grad


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
    with pytest.warns(UserWarning, match="returns an integer, which carries no derivative: its gradient is zero"):
        assert not np.any(gradient(np.ones(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(np.ones(3))
        grad(lambda w: np.sum(w) if w[0] > 0 else 0)(np.ones(3))
