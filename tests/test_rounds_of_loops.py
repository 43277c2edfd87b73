"""How often the body of a loop is lowered until what it carries from one iteration to the next is known."""

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.frontend.control import loop_variants

X = np.array([0.5, 0.75, 0.25])


def series(c, x):
    y, k = 0.0, len(c)
    while k > 0:
        k -= 1
        y = y * x + c[k]
    return y


def listed(x):
    return series([x[0], x[1] * 2.0, 0.5], x[2])


def test_a_loop_that_reads_the_items_of_a_list_is_not_lowered_again_for_what_the_items_share(monkeypatch):
    rounds, lowered = [], loop_variants._iteration

    def counted(lo, *rest):
        rounds.append(lo.scope.source.name)
        return lowered(lo, *rest)

    monkeypatch.setattr(loop_variants, "_iteration", counted)
    x2 = X[2]
    np.testing.assert_allclose(grad(listed)(X), [1.0, 2 * x2, 2 * X[1] + 2 * 0.5 * x2], rtol=1e-12)
    assert rounds == ["series", "series"]  # again since the kind of the result changes


def one_step(x, log_rate, dt):
    return x - dt * np.exp(log_rate) * x + np.sqrt(dt) * np.tanh(x)


def of_steps(x, log_rate, dt, n):
    for _ in range(n):
        for k in range(2):
            x = one_step(x, log_rate, dt)
    return np.sum(x**2)


def of_what_changes(x, log_rate, dt, n):
    for _ in range(n):
        x = one_step(x, log_rate, dt)
        log_rate = 0.5 * log_rate
    return np.sum(x**2)


def of_what_may_be_missing(x, log_rate, dt, n):
    if n > 2:
        rate = 2.0 * log_rate
    for _ in range(n - 2):
        x = x * np.exp(rate)
    return np.sum(x**2)


def test_functions_of_what_does_not_change_are_evaluated_once():
    rates = np.linspace(-1, 1, 3)
    text = grad(of_steps, wrt=(0, 1, 2)).lower(X, rates, np.float64(0.1), 3).text
    before, loop = text.split("for ", 1)
    assert before.count("np.exp(") == before.count("np.sqrt(") == 1 and "np.exp(" not in loop.replace("np.exp(log_rate) * x", "")
    assert "np.exp(" in grad(of_what_changes).lower(X, rates, np.float64(0.1), 3).text.split("for ", 1)[1].split("#")[0]
    for f in (of_steps, of_what_changes, of_what_may_be_missing):
        for n in (0, 1, 3):
            check_grads(f, (X, rates, np.float64(0.1), n), wrt=(0, 1))


def nested_sums(x):
    return sum(sum(sum(sum(np.sin(x * i * j * k * m) for m in range(1, 3)) for k in range(1, 3)) for j in range(1, 3)) for i in range(1, 3))


def nested_whiles(x):
    y, i = x, 0
    while i < 2:
        i, j = i + 1, 0
        while j < 2:
            j, k = j + 1, 0
            while k < 2:
                k, m = k + 1, 0
                while m < 2:
                    m += 1
                    y = np.sin(y) * x
    return y


def nested_steps(x):
    w, h = np.arange(9.0).reshape(3, 3) / 10, x * np.ones(3)
    for _ in range(2):
        for _ in range(2):
            for _ in range(2):
                for _ in range(2):
                    h = np.tanh(w @ h)
    return np.sum(h)


@pytest.mark.parametrize("f", [nested_sums, nested_whiles, nested_steps], ids=lambda f: f.__name__)
def test_a_loop_inside_another_begins_with_what_the_round_before_found_out_about_it(f, monkeypatch):
    rounds, lowered = [], loop_variants._iteration

    def counted(lo, *rest):
        rounds.append(lo.depth)
        return lowered(lo, *rest)

    monkeypatch.setattr(loop_variants, "_iteration", counted)
    grad(f)(0.7)
    assert max(rounds) == 3
    assert rounds.count(3) <= 12  # 24 to 81 with nothing known about it
    check_grads(f, (0.7,))
