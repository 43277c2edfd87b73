"""What loops save by the policy that is asked for: the gradient is the same, the memory and the work are those of the policy."""

import math
import pickle
import random
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from sourcead import (
    Auto, Revolve, Segments, UnsupportedArgumentError, UnsupportedSyntaxError, checkpoint, grad, value_and_grad
)
from sourcead.language.checkpoint_policies import bytes_of
from tests.harness import all_programs, check_program, rng_for

pytestmark = pytest.mark.sampled(4)

POLICIES = ["store", "states", "recompute", Segments(1), Segments(3), Segments(100), Revolve(1), Revolve(3), Revolve(100),
            Auto("1MB")]  # fmt: skip
SHARED = Revolve(2)


# -- programs --------------------------------------------------------------------------------------------------------------


def elman(w, u, xs):
    h = np.zeros(u.shape[0])
    for x in xs:
        h = np.tanh(w @ x + u @ h)
    return np.sum(h * h)


def two_variants(w, u, xs):
    h, c = np.ones(3), np.zeros(3)
    for t in range(len(xs)):
        c = np.sin(c + w @ xs[t])
        h = h * c + np.tanh(u @ h)
    return np.sum(h * c)


def heat(w, u, xs):
    """The whole array is the state, written in place."""
    a = xs[:, 0].copy()
    for _ in range(7):
        a[1:-1] += 0.1 * (a[:-2] - 2 * a[1:-1] + a[2:]) * a[1:-1]
    return np.sum(a**2) * w[0, 0] + u[0, 0]


def swapped(w, u, xs):
    old, new = xs[:, 0].copy(), xs[:, 1].copy()
    for _ in range(6):
        new[1:-1] = old[:-2] * old[2:] + 0.5 * new[1:-1]
        old, new = new, old
    return np.sum(old * new) + w[0, 0] * u[0, 0]


def elements(w, u, xs):
    a = np.zeros(len(xs))
    a[0] = w[0, 0]
    for i in range(1, len(a)):
        a[i] = np.sin(a[i - 1]) * xs[i, 0] + a[i - 1] * u[0, 0]
    return np.sum(a)


def trajectory(w, u, xs):
    h = np.zeros((len(xs) + 1, 3))
    for t in range(len(xs)):
        h[t + 1] = np.tanh(w @ xs[t] + u @ h[t])
    return np.sum(h)


def whiles(w, u, xs):
    h, n = xs[0], 0
    while np.sum(h * h) > 0.5 and n < 30:
        h = 0.9 * np.sin(u @ h) + 0.1 * h
        n += 1
    return np.sum(h) * w[0, 0]


def breaks(w, u, xs):
    h = xs[0]
    for x in xs:
        h = np.tanh(u @ h + x)
        if np.sum(h) > 2.5:
            break
        h = h * 1.1
    else:
        h = h * w[0, 0]
    return np.sum(h)


def returns(w, u, xs):
    h = xs[0]
    for t in range(2, 40, 3):
        h = np.sin(u @ h + w[0])
        if t > 20:
            return np.sum(h) * t
    return np.sum(h)


def backward_range(w, u, xs):
    h = xs[0]
    for t in range(len(xs) - 1, 0, -2):
        h = np.tanh(u @ h + xs[t]) * t
    return np.sum(h)


def no_iteration(w, u, xs):
    h = xs[0]
    for x in xs[:0]:
        h = np.tanh(u @ h + x)
    return np.sum(h * w[0, 0])


def one_iteration(w, u, xs):
    h = xs[0]
    for x in xs[1:2]:
        h = np.tanh(u @ h + x)
    return np.sum(h * w[0, 0])


def nested(w, u, xs):
    h = [np.zeros(3) for _ in range(4)]
    for t in range(len(xs)):
        below = xs[t]
        for layer in range(4):
            h[layer] = np.tanh(w @ below + u @ h[layer])
            below = h[layer]
    return np.sum(below * below)


def nested_mixed(w, u, xs):
    s = 0.0
    for k in checkpoint(range(5), Segments(2)):
        h = xs[k]
        for x in checkpoint(xs, "states"):
            h = np.tanh(u @ h + x)
            for _ in checkpoint(range(3), Revolve(1)):
                h = np.sin(h * w[0])
        s = s + np.sum(h) * np.cos(s)
    return s


def branching(w, u, xs):
    h = xs[0]
    for k, x in enumerate(xs):
        if np.sum(h) > 0:
            h = np.tanh(u @ h + x)
        elif k % 2 == 0:
            h = h - np.cos(w @ x)
        else:
            continue
        h = h * 0.9
    return np.sum(h)


def shrinks(w, u, xs):
    c = xs[:, 0]
    while c.size > 1:
        c = c[1:] * u[0, 0] + c[:-1] * np.cos(c[1:])
    return c[0] * w[0, 0]


def listed(w, u, xs):
    out = []
    h = xs[0]
    for x in xs:
        h = np.tanh(u @ h + x)
        out.append(h)
    return np.sum(np.array(out) * w[0, 0])


def history(w, u, xs):
    """The state is a list that the loop reads and appends to."""
    h = [xs[0], xs[1]]
    for k in range(2, len(xs)):
        h.append(np.tanh(u @ h[k - 1] + h[k - 2]))
    return np.sum(h[-1]) * w[0, 0]


PROGRAMS = [elman, two_variants, heat, swapped, elements, trajectory, whiles, breaks, returns, backward_range, no_iteration,
            one_iteration, nested, nested_mixed, branching, shrinks, listed, history]  # fmt: skip


def arguments():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, 3)) * 0.6, rng.normal(size=(3, 3)) * 0.6, rng.normal(size=(11, 3))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_auto(f, policy):
    args = arguments()
    before = [a.copy() for a in args]
    value, expected = value_and_grad(f, wrt=(0, 1, 2))(*args)
    got_value, got = value_and_grad(f, wrt=(0, 1, 2), checkpoint=policy)(*args)
    assert got_value == f(*args) == pytest.approx(value, rel=1e-14)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


THEMES = ("loops", "dynamics", "stencils", "written_containers", "dynamic_programming")
LOOPS = [p for level in ("basic", "python") for p in all_programs(level) if p.theme in THEMES]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("policy", ["states", Segments(3), Revolve(2)], ids=str)
@pytest.mark.parametrize("p", LOOPS[::8], ids=lambda p: f"{p.theme}.{p.name}")
def test_programs_of_the_corpus(p, policy):
    """All of it under a policy: `python -m tests.harness --checkpoint "Revolve(2)"`."""
    outcome = check_program(p, rng_for(0), checkpoint=policy)
    assert outcome.status in ("right", "refused"), outcome.detail
    if outcome.status == "refused":
        assert check_program(p, rng_for(0)).status == "refused"


# -- one loop ----------------------------------------------------------------------------------------------------------------


def power(x, n):
    y = 1.0
    for _ in checkpoint(range(n), Revolve(3)):
        y = y * np.sin(x)
    return y


def test_checkpoint_hands_the_iterable_through():
    xs = [1, 2]
    assert checkpoint(xs, "states") is xs
    assert power(0.3, 4) == pytest.approx(math.sin(0.3) ** 4)
    got = grad(power)(0.3, 40)
    assert got == pytest.approx(40 * math.sin(0.3) ** 39 * math.cos(0.3))


@pytest.mark.parametrize("wrapped", [
    lambda xs: list(checkpoint(xs, SHARED)),
    lambda xs: [x for _, x in enumerate(checkpoint(xs, SHARED))],
    lambda xs: [x for x, _ in zip(checkpoint(xs, SHARED), range(100))],
], ids=["plain", "enumerate", "zip"])  # fmt: skip
def test_primal_of_wrapped(wrapped):
    assert wrapped([1, 2]) == [1, 2]


def in_enumerate(x, xs):
    h = x
    for k, v in enumerate(checkpoint(xs, SHARED)):
        h = np.sin(h * v) + k
    return h


def in_zip(x, xs):
    h = x
    for v, k in zip(checkpoint(xs, SHARED), range(100)):
        h = np.sin(h * v) + k
    return h


def around_zip(x, xs):
    h = x
    for v, k in checkpoint(zip(xs, range(100)), SHARED):
        h = np.sin(h * v) + k
    return h


def backward(x, xs):
    h = x
    for v in reversed(checkpoint(xs, SHARED)):
        h = np.sin(h * v)
    return h


@pytest.mark.parametrize("f", [in_enumerate, in_zip, around_zip, backward], ids=lambda f: f.__name__)
def test_the_policy_passes_through_what_pairs_and_counts(f):
    made = grad(f)
    xs = np.linspace(0.1, 1, 9)
    slope = (f(0.3 + 1e-6, xs) - f(0.3 - 1e-6, xs)) / 2e-6
    assert made(0.3, xs) == pytest.approx(slope, rel=1e-5, abs=1e-8)
    assert "next_snapshot" in made.source


def with_number(x, n, k):
    for _ in checkpoint(range(n), Revolve(k)):
        x = np.sin(x)
    return x


def with_policy(x, n, policy):
    for _ in checkpoint(range(n), policy):
        x = np.sin(x)
    return x


def test_the_number_may_be_an_argument_and_so_may_the_policy():
    expected = grad(with_number)(0.5, 30, 4)
    assert expected == grad(with_policy)(0.5, 30, Revolve(4)) == grad(with_policy)(0.5, 30, "store")
    made = grad(with_policy)
    made(0.5, 30, Segments(7))
    assert "% 7" in made.source


def test_a_policy_of_one_loop_holds_over_that_of_the_function():
    made = grad(power, checkpoint="store")
    made(0.3, 5)
    assert "next_snapshot" in made.source


# -- what policies cost --------------------------------------------------------------------------------------------------------


def scalar(a, n):
    h = 0.5
    for _ in range(n):
        h = np.sin(a * h)
    return h


def peak(f, *args):
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_a_long_loop():
    n = 20_000
    store, revolve = grad(scalar, checkpoint="store"), grad(scalar, checkpoint=Revolve(20))
    assert store(1.1, n) == revolve(1.1, n)
    assert peak(revolve, 1.1, n) * 150 < peak(store, 1.1, n)
    assert peak(grad(scalar, checkpoint="recompute"), 1.1, 300) < 3000


def test_segments_keep_the_square_root():
    n = 10_000
    assert peak(grad(scalar, checkpoint=Segments(100)), 1.1, n) * 20 < peak(grad(scalar, checkpoint="store"), 1.1, n)


# -- effects ---------------------------------------------------------------------------------------------------------------------


def talks(x, n):
    for k in range(n):
        print("step", k)
        assert k < 100, "too far"
        x = np.sin(x)
        if x > 5:
            raise ValueError("large")
    return x


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_effects_happen_once_and_in_order(policy, capsys):
    expected = grad(talks)(0.5, 6)
    capsys.readouterr()
    assert grad(talks, checkpoint=policy)(0.5, 6) == pytest.approx(expected, rel=1e-14)
    assert capsys.readouterr().out.split() == " ".join(f"step {k}" for k in range(6)).split()
    with pytest.raises(AssertionError, match="too far"):
        grad(talks, checkpoint=policy)(0.5, 101)


def draws(x):
    for _ in range(4):
        x = x * random.random()
    return x


def test_what_is_drawn_in_the_loop_is_not_drawn_again():
    with pytest.raises(UnsupportedSyntaxError, match="must run once only"):
        grad(draws, checkpoint="states")(1.5)
    random.seed(1)
    expected = draws(1.0)
    random.seed(1)
    assert grad(draws, checkpoint="store")(1.5) == pytest.approx(expected)


def drawn_twice(x):
    return x * (random.random() + random.random())


def test_two_draws_are_two():
    random.seed(1)
    expected = drawn_twice(1.0)
    random.seed(1)
    assert grad(drawn_twice)(1.5) == pytest.approx(expected)


# -- what is said ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: grad(elman, checkpoint="everything"), lambda: grad(elman, checkpoint=3), lambda: grad(elman, checkpoint=None),
    lambda: grad(elman, budget="a lot"), lambda: grad(elman, budget="64"), lambda: grad(elman, budget=0),
    lambda: grad(elman, checkpoint="states", budget=100),
    lambda: Segments(0), lambda: Segments(2.5), lambda: Segments(True), lambda: Revolve(0), lambda: Revolve(-1),
    lambda: Revolve("8"), lambda: Auto("-1MB"), lambda: Auto(float("inf")), lambda: checkpoint(range(3), "sometimes"),
])  # fmt: skip
def test_wrong_policies_are_refused_at_once(make):
    with pytest.raises(UnsupportedArgumentError):
        make()


def wrong_inside(x, n):
    for _ in checkpoint(range(n), Segments(0)):
        x = np.sin(x)
    return x


def test_a_wrong_policy_inside_is_told_at_its_line():
    with pytest.raises(UnsupportedArgumentError, match=r"Segments\(0\): the number of iterations must be a positive integer") as error:
        grad(wrong_inside)(0.5, 3)
    assert "test_checkpoints.py" in str(error.value)


@pytest.mark.parametrize("text, number", [("200MB", 200_000_000), ("1.5 GB", 1_500_000_000), ("64KiB", 65536), (12, 12), ("7B", 7)])
def test_amounts_of_memory(text, number):
    assert bytes_of(text) == number


def test_gradients_with_policies_pickle():
    made = pickle.loads(pickle.dumps(grad(elman, checkpoint=Revolve(2))))
    np.testing.assert_array_equal(made(*arguments()), grad(elman, checkpoint=Revolve(2))(*arguments()))


def test_a_saved_module_needs_numpy_alone(tmp_path):
    made = grad(scalar, budget="1MB")
    made.save(tmp_path / "made.py", 1.1, 10)
    code = "import sys; sys.modules['sourcead'] = None; import made; print(made.scalar_grad(1.1, 10))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert float(re.sub(r"np\.float64\((.*)\)", r"\1", shown)) == made(1.1, 10)
