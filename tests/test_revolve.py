"""The binomial schedule in generated text: forward steps, states at a time, budgets, and loops whose length is found out."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from sourcead import Revolve, Segments, UnsupportedArgumentError, adjoint, checkpoint, grad, value_and_grad
from sourcead.runtime.checkpoint_schedules import next_snapshot, positive_number, snapshots_within

pytestmark = pytest.mark.sampled(3)

CALLS = itertools.count()


@pytest.fixture(autouse=True)
def _nothing_is_called_to_verify(monkeypatch):
    """The check of a first call would add its own calls of `tick`, in whichever test comes first."""
    monkeypatch.setenv("SOURCEAD_VERIFY", "0")


def tick(x):
    """The sine, counted."""
    next(CALLS)
    return math.sin(x)


@adjoint(tick)
def _(y, x, d_y):
    return d_y * math.cos(x)


def ticking(x, n, snapshots):
    for _ in checkpoint(range(n), Revolve(snapshots)):
        x = tick(x)
    return x


def calls_of(f, *args):
    """The result, and how often `tick` is called."""
    before = next(CALLS)
    result = f(*args)
    return result, next(CALLS) - before - 1


def least_steps(n, s):
    """Forward steps that reversing n of them takes at least with s snapshots (Griewank and Walther, proposition 1)."""
    if n < 2:
        return 0
    r = next(r for r in range(n + 1) if math.comb(s + r, s) >= n)
    return r * n - math.comb(s + r, s + 1)


def test_the_closed_formula_itself():
    """It is the least over all schedules, found by trying every place of the next snapshot."""
    best = {(n, s): 0 for n in (0, 1) for s in range(1, 6)}
    for n in range(2, 30):
        for s in range(1, 6):
            best[n, s] = n * (n - 1) // 2 if s == 1 else min(m + best[n - m, s - 1] + best[m, s] for m in range(1, n))
            assert best[n, s] == least_steps(n, s)


@pytest.mark.parametrize("s", range(1, 21))
def test_the_text_takes_as_few_steps_as_possible(s):
    """Those of the formula, and the last iteration of the forward sweep."""
    gradient, expected, x = grad(ticking), 1.0, 0.5
    for n in range(201):
        found, steps = calls_of(gradient, 0.5, n, s)
        assert found == pytest.approx(expected, rel=1e-12)
        assert steps == least_steps(n, s) + min(n, 1)
        expected, x = expected * math.cos(x), math.sin(x)


def states_at_once(n, s):
    """The most states that the text keeps, the schedule followed as it does."""
    placed, listed, most, due = [], [], 0, 0
    for t in range(n):
        if t >= due:
            if n - 1 - t > s - len(placed):
                placed.append(t)
                due = next_snapshot(t, n - 1, s - len(placed))
            else:
                listed.append(t)
        most = max(most, len(placed) + len(listed))
    for t in reversed(range(n)):
        if not listed:
            start = placed.pop()
            while t - start > s - len(placed):
                placed.append(start)
                start = next_snapshot(start, t, s - len(placed))
            listed = list(range(start, t + 1))
            most = max(most, len(placed) + len(listed))
        assert listed.pop() == t
    assert not placed and not listed
    return most


@pytest.mark.parametrize("s", range(1, 21))
def test_no_more_states_than_snapshots_and_the_one_in_hand(s):
    assert max(states_at_once(n, s) for n in range(201)) == s + 1


def peak(f, *args):
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def decay(x, a, n):
    for _ in range(n):
        x = np.tanh(a * x + 0.1)
    return np.sum(x)


def stencil(x, a, n):
    u = x.copy()
    for _ in range(n):
        u[1:-1] += a * np.sin(u[:-2]) * u[2:]
    return np.sum(u)


def several(x, a, n):
    y = np.cos(x)
    for _ in range(n):
        z = np.sin(x) * a
        y = y * np.cos(z) + x * 0.1
        x = z * y + 0.5 * np.exp(-x * x)
    return np.sum(x * y)


@pytest.mark.parametrize("f", [decay, stencil, several], ids=lambda f: f.__name__)
def test_memory_grows_by_one_state_with_each_snapshot(f):
    """Measured in arrays: the first does not count, which is there anyway."""
    x = np.linspace(0, 1, 10_000)
    peaks = {s: peak(grad(f, wrt=(0, 1), checkpoint=Revolve(s)), x, 0.9, 100) / x.nbytes for s in (4, 14)}
    states = 2 if f is several else 1
    assert peaks[14] - peaks[4] == pytest.approx(10 * states, abs=1.1)


# -- a budget ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["2MB", "4MB", "20MB"])
@pytest.mark.parametrize("f", [decay, stencil, several], ids=lambda f: f.__name__)
def test_a_budget_is_kept(f, budget):
    x = np.linspace(0, 1, 10_000)  # which takes 0.08 MB
    plain, within = grad(f, wrt=(0, 1), checkpoint="store"), grad(f, wrt=(0, 1), budget=budget)
    for a, b in zip(plain(x, 0.9, 100), within(x, 0.9, 100)):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    assert peak(within, x, 0.9, 100) < float(budget[:-2]) * 1e6


def from_a_number(x, a, n):
    h = 0.0
    for _ in range(n):
        h = np.tanh(a * h + x)
    return np.sum(h)


def while_from_a_number(x, a, n):
    h, k = 0.0, 0
    while k < n:
        h = np.tanh(a * h + x)
        k += 1
    return np.sum(h)


@pytest.mark.parametrize("f", [from_a_number, while_from_a_number], ids=lambda f: f.__name__)
def test_a_state_that_begins_as_a_number_is_measured_as_the_array_that_it_becomes(f):
    x = np.linspace(0, 1, 10_000)
    made = grad(f, wrt=(0, 1), budget="4MB")
    for n in (0, 1, 100):
        for a, b in zip(grad(f, wrt=(0, 1), checkpoint="store")(x, 0.9, n), made(x, 0.9, n)):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    assert peak(made, x, 0.9, 100) < 4e6
    with pytest.raises(UnsupportedArgumentError, match="below one state of the loop, which takes 80000 bytes"):
        grad(f, budget="70kB")(x, 0.9, 100)


def ticking_within(x, n):
    for _ in checkpoint(range(n), budget="1MB"):
        x = tick(x)
    return x


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_a_budget_that_holds_all_states_computes_nothing_again(n):
    assert calls_of(grad(ticking_within), 0.5, n)[1] == n


def test_a_budget_in_a_loop():
    def f(x, n):
        for _ in checkpoint(range(n), budget="1MB"):
            x = np.sin(x)
        return np.sum(x)

    np.testing.assert_array_equal(grad(f)(np.ones(3), 5), grad(f, checkpoint="store")(np.ones(3), 5))


def test_snapshots_within():
    assert snapshots_within(1000, 2, np.zeros(10)) == 12 - 2
    assert snapshots_within(1000, 50, np.zeros(10)) == 1
    assert snapshots_within(1000, 2, np.zeros(10), np.zeros(5)) == (1000 - 160) // 120
    with pytest.raises(UnsupportedArgumentError, match="below one state"):
        snapshots_within(79, 0, np.zeros(10))


def test_a_budget_below_one_state():
    with pytest.raises(UnsupportedArgumentError, match="below one state of the loop, which takes 8000 bytes"):
        grad(decay, budget=7999)(np.ones(1000), 0.9, 3)
    grad(decay, budget=8000)(np.ones(1000), 0.9, 3)


def speaking(x, n):
    print("before")
    for _ in checkpoint(range(n), budget=7999):
        print("step")
        x = np.sin(x)
    return np.sum(x)


def test_a_budget_below_one_state_is_refused_before_the_loop_runs(capsys):
    with pytest.raises(UnsupportedArgumentError, match="below one state"):
        grad(speaking)(np.ones(1000), 3)
    assert "step" not in capsys.readouterr().out


# -- numbers that are known only at run time --------------------------------------------------------------------------------------


def in_segments(x, n, every):
    for _ in checkpoint(range(n), Segments(every)):
        print("step")
        x = np.sin(x)
    return x


def revolved(x, n, snapshots):
    for _ in checkpoint(range(n), Revolve(snapshots)):
        print("step")
        x = np.sin(x)
    return x


@pytest.mark.parametrize("number", [0, -3, 2.5])
@pytest.mark.parametrize("f", [in_segments, revolved], ids=lambda f: f.__name__)
def test_a_wrong_number_at_run_time_is_refused_before_the_loop_runs(f, number, capsys):
    with pytest.raises(UnsupportedArgumentError, match="must be a positive integer"):
        grad(f)(0.5, 4, number)
    assert not capsys.readouterr().out


def test_numbers_of_numpy_count_too():
    assert positive_number(np.int64(3)) == 3
    assert grad(revolved)(0.5, 9, np.int64(3)) == grad(revolved)(0.5, 9, 3)


# -- loops whose length is found out -------------------------------------------------------------------------------------------------

POLICIES = [Revolve(1), Revolve(2), Revolve(3), Revolve(50), Segments(2), "states", "recompute"]


def halved(x, most):
    n = 0
    while n < most and x > 1e-3:
        x = 0.9 * np.sin(x) + 0.05 * x * x
        n += 1
    return x * x


def stopped(x, most):
    y = x
    for k in range(100):
        if k >= most:
            break
        y = y * np.sin(x + k)
    return y


def written(x, most):
    u = np.array([x, 2 * x, x * x, 1.0])
    k = 0
    while k < most:
        u[k % 3] = np.sin(u[k % 3]) * u[k % 3 + 1]
        u *= 1.1
        k += 1
    return np.sum(u * u)


def written_until(x, most):
    u = np.array([x, 2 * x, x * x, 1.0])
    for k in range(50):
        if k == most:
            break
        u[1:] += np.cos(u[:-1]) * u[1:]
        u[0] *= u[3]
    return np.sum(u) * x


def left(x, most):
    h = x
    for k in range(1, 60, 2):
        h = np.tanh(h + 0.1 * k)
        if k > 2 * most:
            return h * k
    return h


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("f", [halved, stopped, written, written_until, left], ids=lambda f: f.__name__)
def test_loops_that_are_counted(f, policy):
    made, plain = value_and_grad(f, checkpoint=policy), value_and_grad(f, checkpoint="store")
    for most in (0, 1, 2, 3, 4, 5, 12, 25):
        value, found = made(0.7, most)
        expected_value, expected = plain(0.7, most)
        assert value == expected_value == f(0.7, most)
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_counted_loop_takes_the_steps_of_the_forward_sweep_and_of_the_schedule():
    """Its forward sweep saves nothing, because its length is not known."""

    def f(x, most):
        n = 0.0
        while n < most:
            x = tick(x)
            n += 1
        return x

    for n in (0, 1, 2, 3, 10, 40):
        assert calls_of(grad(f, checkpoint=Revolve(3)), 0.5, n)[1] == n + least_steps(n, 3)


def shrinking(x, a, n):
    """The dims of the state differ from one iteration to the next."""
    total = 0.0
    for _ in range(n):
        x = x[1:] * a + 0.3 * np.cos(x[:-1])
        total = total + np.sum(np.zeros_like(x) + x) * np.tanh(total)
    return total + np.sum(x * x)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_states_whose_shape_changes(policy):
    x = np.linspace(0.1, 1, 20)
    for n in (0, 1, 2, 7, 19):
        for a, b in zip(
            grad(shrinking, wrt=(0, 1), checkpoint=policy)(x, 0.8, n), grad(shrinking, wrt=(0, 1), checkpoint="store")(x, 0.8, n)
        ):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def damped(a, n):
    h = 0.5
    for _ in range(n):
        h = np.sin(a * h)
    return h


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"checkpoint": Revolve(3)}, {"budget": "200B"}, {"checkpoint": Segments(4)}], ids=str)
def test_policies_run_under_numba(options):
    pytest.importorskip("numba")
    made = grad(damped, backend="numba", **options)
    for n in (0, 1, 20):
        assert made(1.1, n) == pytest.approx(grad(damped, checkpoint="store")(1.1, n), rel=1e-13)


def starts_as_a_number(a, n):
    h = 1
    for _ in range(n):
        h = np.reshape(np.sin(np.sin(a) + h), (2, 2))
    return np.sum(h)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_state_that_starts_as_a_number(policy):
    a = np.array([[-0.24, -0.59], [-0.829, -1.047]])
    for n in (0, 1, 2, 3):
        expected = grad(starts_as_a_number, checkpoint="store")(a, n)
        np.testing.assert_allclose(grad(starts_as_a_number, checkpoint=policy)(a, n), expected, rtol=1e-13)


def unnamed(x, n):
    for _ in range(n):
        x = np.sin(x) + 0.01 * _
    return x


def test_an_index_that_is_not_named_may_be_read():
    made = grad(unnamed, checkpoint=Revolve(2))
    assert made(0.5, 20) == pytest.approx(grad(unnamed, checkpoint="store")(0.5, 20), rel=1e-13)
    assert "for i in range(n):" in made.source and "_ >=" not in made.source


def test_counters_of_the_schedule_are_changed_in_place():
    def f(x, n):
        for _ in checkpoint(range(n), policy=Revolve(3)):
            x = np.tanh(1.1 * x)
        return np.sum(x)

    assert grad(f).lower(np.ones(9), 20).text.count("free -= 1") == 2


def shots(c, sources):
    total = 0.0
    for source in sources:
        u, v = 0 * c, 0 * c
        for k in range(200):
            u, v = u + 0.1 * v, v - c * np.sin(u) + source[k % 3]
        total += np.sum(u**2)
    return total


def test_a_budget_holds_for_a_loop_inside_a_loop_too():
    c, sources = np.linspace(0.1, 0.3, 500), np.linspace(-1, 1, 12).reshape(4, 3)
    all_kept, within = grad(shots), grad(shots, budget="100kB")
    np.testing.assert_allclose(within(c, sources), all_kept(c, sources))
    assert peak(within, c, sources) < 300e3 < 1e6 < peak(all_kept, c, sources)
