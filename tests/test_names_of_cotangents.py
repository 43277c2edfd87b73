"""Cotangents have names of their own, also where a value of the forward sweep is the first contribution, and stand in the reverse sweep."""

import numpy as np
import pytest

from sourcead import check_grads, grad, vjp
from sourcead.emit.memory import reuse

pytestmark = pytest.mark.sampled(2)

X = np.linspace(0.3, 1.0, 1200).reshape(30, 40)


def read_nowhere_else(x):
    return np.sum(np.sin(x) * np.cos(x) * x)


def read_in_the_forward_sweep(x):
    s = np.sin(x)
    n = np.sum(s)
    return n * n + np.sum(s * x)


def of_a_variable_of_the_users(x):
    s = np.sin(x)
    return np.sum(s * x)


def variants_of_a_loop(x):
    a, b = x, np.tanh(x)
    for _ in range(3):
        a, b = b, 0.5 * a + b * 0.3
    return np.sum(a * b)


def only_in_some_runs(x):
    s = np.sin(x)
    if np.sum(s) > 0:
        y = np.sum(s * x)
    else:
        y = np.sum(x)
    return y


FUNCTIONS = [read_nowhere_else, read_in_the_forward_sweep, of_a_variable_of_the_users, variants_of_a_loop, only_in_some_runs]


def written(line: str) -> str:
    """The name that a line binds or writes."""
    return line.split(" ")[0].split("[")[0].split(".")[0]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("readable", [False, True])
def test_the_reverse_sweep_writes_cotangents_and_the_forward_sweep_does_not(f, readable):
    text = grad(f, readable=readable).lower(X).text
    forward, _, reverse = text.rpartition("# reverse")
    assert not any(line.strip().startswith("d_") for line in forward.splitlines())
    changed = [line.strip() for line in reverse.splitlines() if any(sign in line for sign in (" += ", " -= ", " *= "))]
    assert all(written(line).startswith(("d_", "total", "product")) for line in changed), text


@pytest.mark.parametrize("smallest", [reuse.SMALLEST, 0])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_no_array_is_copied_for_that_and_none_that_is_read_again_is_written(f, smallest, monkeypatch):
    monkeypatch.setattr(reuse, "SMALLEST", smallest)
    assert "copy" not in grad(f).lower(X).text or f is variants_of_a_loop  # which goes on with what the caller may hold
    x = X.copy()
    check_grads(f, (x,))
    _, pullback = vjp(f, x)
    first, again = pullback(1.0), pullback(1.0)
    assert np.array_equal(first, again) and np.array_equal(x, X)


def test_a_value_that_becomes_a_cotangent_after_the_function_raised_is_not_computed():
    def f(x):
        s = np.sin(x)
        assert np.all(x > 0)
        return np.sum(s * x)

    check_grads(f, (X,))
    with pytest.raises(AssertionError):
        grad(f)(-X)
