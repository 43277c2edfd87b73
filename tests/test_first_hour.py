"""What somebody meets in the first hour with the package: help, wrong calls, settings that are checked, and what is said about them."""

import inspect
import logging

import numpy as np
import pytest

from sourcead import check_grads, grad, hessian, hvp, jacobian, jvp, pushforward, vjp
from sourcead.errors import ArgumentError, NoSourceError, SourceADError, WrtError

W, X, Y = np.ones(3), np.ones((2, 3)), np.ones(2)


def loss(w, x, y):
    return np.sum((x @ w - y) ** 2)


def documented(w, **more):
    """Says what it does."""
    return np.sum(w) * more["scale"]


@pytest.mark.parametrize("made, first", [
    (grad(loss), "The gradient of `loss` with respect to w."),
    (grad(loss, wrt=("w", "x")), "The gradient of `loss` with respect to w, x."),
    (hvp(loss), "The product of the Hessian with a vector of `loss` with respect to w."),
    (jacobian(loss), "The Jacobian of `loss` with respect to w."),
    (hessian(loss), "The Hessian of `loss` with respect to w."),
    (pushforward(loss), "The value and tangent of `loss` with respect to w."),
])  # fmt: skip
def test_help_says_what_a_derivative_is_also_if_the_function_has_no_docstring(made, first):
    text = inspect.getdoc(made)
    assert text.splitlines()[0] == first and "`source` is the text" in text


def test_help_shows_what_the_function_says_of_itself():
    assert inspect.getdoc(grad(documented)).endswith("What `documented` says of itself:\n\nSays what it does.")


@pytest.mark.parametrize("call, words", [
    (lambda: hvp(loss)(W, X, Y), r"takes the vector last, by position, .*: loss\(\) missing a required argument: 'y'"),
    (lambda: hvp(loss)(W, X, y=Y, v=W), "takes the vector last"),
    (lambda: hessian(loss, W, X, Y), r"`hessian` takes f and wrt, and is given 4 arguments(.|\n)*hessian\(f\)\(x\)"),
    (lambda: grad(loss, W, X), r"`grad` takes f and wrt(.|\n)*grad\(f\)\(x\)"),
    (lambda: jvp(loss, W, X, Y), r"jvp\(f, \(x,\), \(t_x,\)\)"),
    (lambda: vjp(loss, (W, X, Y)), r"as one tuple(.|\n)*vjp\(f, \*args\)"),
    (lambda: check_grads(loss, W, X, Y), "takes the arguments as a tuple"),
])  # fmt: skip
def test_a_call_that_gives_arguments_in_the_wrong_place_is_told_the_right_one(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


def test_a_function_of_one_tuple_has_a_pullback():
    assert vjp(lambda p: p[0] * p[1], (2.0, 3.0))[1](1.0) == (3.0, 2.0)


def test_an_error_inside_of_an_hvp_is_not_taken_for_a_wrong_call():
    with pytest.raises(SourceADError, match="returns an array"):
        hvp(lambda w: w)(W, W)


def test_a_name_among_keywords_is_told_the_name_of_all_of_them():
    with pytest.raises(WrtError, match=r"none of that name(.|\n)*wrt='more'"):
        grad(documented, wrt="scale")(W, scale=2.0)
    assert grad(documented, wrt="more")(W, scale=2.0) == {"scale": 3.0}


def test_a_ufunc_of_scipy_is_said_to_have_no_source():
    special = pytest.importorskip("scipy.special")
    with pytest.raises(NoSourceError, match=r"`scipy.special.gammaln` is built in(.|\n)*lambda x: scipy.special.gammaln\(x\)"):
        grad(special.gammaln)(2.0)


def test_the_log_names_the_function_that_was_not_verified(caplog):
    def spoken(x):
        print("at", x)
        return x**2

    with caplog.at_level(logging.INFO, "sourcead"):
        grad(spoken)(2.0)
    assert "the derivative of `spoken` (test_first_hour.py:" in caplog.text


# -- the keys of a dict as a set -----------------------------------------------------------------------------------------


def complete(x, p):
    if missing := {"w", "b"} - p.keys():
        raise ValueError(f"missing {sorted(missing)}")
    return p["w"] * x


def common(x, p, q):
    return sum(p[k] * q[k] * x for k in sorted(p.keys() & q.keys()))


def other_keys(x, p, q):
    return x if p.keys() == q.keys() else x * len(p.keys() - ["b"]) * len(p.keys() ^ q.keys())


def grown(x, p):
    p = {**p, "y": 2.0}
    keys = p.keys()
    p["t"] = 3.0
    return x * len(keys - {"y"}) * len(p.items() - {("t", 3.0)}) if keys >= {"t"} else x


P, Q = {"w": 2.0, "b": 1.0}, {"w": 5.0, "c": 1.0}


@pytest.mark.parametrize("f, args", [
    (complete, (P,)), (common, (P, Q)), (other_keys, (P, Q)), (other_keys, (P, dict(P))), (grown, (P,)),
])  # fmt: skip
def test_keys_and_items_of_dicts_are_like_sets(f, args):
    check_grads(f, (1.5, *args), wrt=0)


def test_what_is_missing_is_raised_as_the_function_raises_it():
    with pytest.raises(ValueError, match=r"missing \['b'\]"):
        grad(complete)(1.5, Q)


class Recorded:
    def __init__(self):
        self.history, self.best, self.seen = [], {}, {"n": 0}

    def appended(self, x):
        value = np.sum(x**2)
        self.history.append(value)
        return value

    def assigned(self, x):
        value = np.sum(x**2)
        self.best["value"] = value
        return value


@pytest.mark.parametrize("f, line", [
    (Recorded().appended, "self.history.append(value)"), (Recorded().assigned, 'self.best["value"] = value'),
])  # fmt: skip
def test_the_warning_of_a_lost_change_shows_the_line_that_changes_a_container(f, line):
    with pytest.warns(UserWarning, match="changes `self") as caught:
        grad(f)(W)
    assert str(caught[0].message).splitlines()[1].strip() in line
