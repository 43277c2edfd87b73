"""What the reverse sweep of a loop saves, rebuilds, reads again and puts back."""

import re

import numpy as np
import pytest

from sourcead import Revolve, check_grads, grad
from sourcead.ad.residuals import write_iteration
from tests.fuzz.recurrences import judge

pytestmark = pytest.mark.sampled(3)


def stencil(u, n):
    v = u.copy()
    for _ in range(n):
        for i in range(1, v.shape[0] - 1):
            for j in range(1, v.shape[1] - 1):
                v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1])
    return np.sum(v**2)


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u)


def recurrence(w, x):
    h = np.zeros((len(x) + 1, len(w)))
    for t in range(len(x)):
        h[t + 1] = np.tanh(w @ h[t] + x[t])
    return np.sum(h[-1] ** 2)


def back_substitution(u, b):
    x = np.zeros(len(b))
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return np.sum(x**2)


def elementwise(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.sin(x[i])
    return np.sum(out**2)


def forward_substitution(lower, b):
    y = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s = s - lower[i, j] * y[j]
        y[i] = s / lower[i, i]
    return np.sum(y**2)


ROWS = np.random.default_rng(0).normal(size=(9, 9))
SAVING_NOTHING = {
    stencil: (ROWS, 3),
    heat: (ROWS[0], 4),
    recurrence: (ROWS / 3, ROWS),
    back_substitution: (ROWS + 9 * np.eye(9), ROWS[0]),
    elementwise: (ROWS[0],),
    forward_substitution: (ROWS + 9 * np.eye(9), ROWS[0]),
}


@pytest.mark.parametrize("function", SAVING_NOTHING, ids=lambda f: f.__name__)
def test_loop_that_needs_to_save_nothing_saves_nothing(function):
    args = SAVING_NOTHING[function]
    lowered = grad(function).lower(*args)
    assert ".append(" not in lowered.text
    told = [note for note in lowered.notes if note.startswith("line ")]
    assert told and all("saves nothing" in note for note in told)
    check_grads(function, args)


def product_in_place(a):
    for i in range(1, len(a)):
        a[i] *= a[i - 1]
    return np.sum(a)


def smoothing_in_place(a, n):
    for _ in range(n):
        for i in range(1, len(a) - 1):
            a[i] = a[i] * a[i - 1] * a[i + 1] + np.sin(a[i])
    return np.sum(a)


@pytest.mark.parametrize(("function", "args"), [(product_in_place, ()), (smoothing_in_place, (3,))])
def test_a_write_saves_at_most_what_it_overwrites(function, args):
    """k numbers overwritten in each of n steps: at most n * k numbers saved, not the array in each step."""
    saved = []

    class Counted(list):
        def append(self, value):
            saved.append(np.size(value) if not isinstance(value, list) else 0)
            super().append(value)

    a = np.linspace(0.5, 1.5, 10)
    gradient = grad(function)
    lowered = gradient.lower(a, *args)
    text = lowered.text.replace(" = []", " = Counted()")
    assert "Counted" in text
    namespace = {"np": np, "Counted": Counted}
    exec(text, namespace)
    result = namespace[f"{function.__name__}_grad"](a, *args)
    np.testing.assert_allclose(result, gradient(a, *args))
    writes = 9 if not args else 8 * args[0]
    assert sum(saved) <= writes
    check_grads(function, (a, *args))


def of_a_diffusivity(k, u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return np.sum(u**2)


def of_two_coefficients(c, u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c[0] * (u[2:] - u[:-2]) + c[1] * np.sin(u[1:-1])
    return np.sum(u**2)


@pytest.mark.parametrize("function, puts_back", [(of_a_diffusivity, False), (of_two_coefficients, True)])
def test_what_is_computed_of_an_array_is_saved_if_that_is_no_more(function, puts_back):
    k = np.array([0.1, -0.2]) if function is of_two_coefficients else np.float64(0.1)
    text = grad(function).lower(k, ROWS, 3).text
    forward, reverse = text.split("# reverse")
    assert bool(re.search(r"^ +u\[.*\] = ", reverse, re.M)) == puts_back and ".append(" in forward
    check_grads(function, (k, ROWS, 3), wrt=(0, 1))


def time_warping(x, y):
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 10.0)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + np.sin(r[i - 1, j]) + r[i, j - 1] * r[i - 1, j - 1] * 0.01
    return r[n, m]


def with_borders(x, g):
    n = len(x)
    v = np.zeros((n + 1, n + 1))
    v[:, 0] = g * np.arange(n + 1)
    v[0, :] = np.sin(g * np.arange(n + 1))
    i = 1
    while i <= n:
        for j in range(1, n + 1):
            v[i, j] = v[i - 1, j - 1] * x[i - 1] + v[i - 1, j] * 0.5 + np.cos(v[i, j - 1])
        i += 1
    return v[-1, -1] + v[0, 2]


def of_the_start(x, g):
    n = len(x)
    v = np.zeros((n + 1, n + 1)) + g
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            v[i, j] = v[i - 1, j] * x[j - 1] + np.sin(v[i, j - 1])
    return v[n, n]


def written_before_it_is_read(x, g):
    n = len(x)
    v = np.zeros((n + 2, n + 2))
    for i in range(n):
        for j in range(n):
            v[i, j] = np.sin(v[i + 1, j]) * x[j] + v[i, j + 1] + g
    return v[0, 0] + v[n - 1, n - 1]


@pytest.mark.parametrize("f, clears", [(time_warping, 0), (with_borders, 0), (of_the_start, 1), (written_before_it_is_read, 1)])
def test_elements_of_which_the_loops_are_done_are_not_cleared(f, clears):
    args = 0.3 * np.cos(np.arange(5.0)), np.sin(np.arange(4.0)) if f is time_warping else 0.3
    text = grad(f, wrt=(0, 1)).lower(*args).text
    assert len(re.findall(r"d_[rv]\[i, j\] = 0.0", text)) == clears
    check_grads(f, args, wrt=(0, 1))


def branch_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            s = s + np.exp(x[i]) * s + x[i]
        else:
            s = np.sin(s) - x[i]
    return s


def nested(x, n):
    total = 0.0
    for i in range(n):
        s = x[i]
        for j in range(i):
            s = np.sin(s) * x[j]
        total = total + s * s
    return total


def array_written_in_one_arm(x):
    a = x.copy()
    for i in range(1, len(a)):
        if i % 2:
            a[i] = a[i] * np.sin(a[i - 1])
        a[0] = a[0] * 0.5 + a[i] ** 2
    return np.sum(a**2)


def read_before_an_inner_loop_writes(c):
    """The value read before the inner loop is needed where the inner loop's writes are not yet undone."""
    for _ in range(2):
        w = c[:2]
        q = w**2
        for i in range(len(w)):
            w[i] += 0.3 * np.tanh(q[i])
    return np.sum(c)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (branch_in_a_loop, (np.array([0.3, -0.2, 0.7, -1.1, 0.4]),)),
        (nested, (np.linspace(0.2, 0.9, 6), 6)),
        (array_written_in_one_arm, (np.linspace(0.2, 1.9, 7),)),
        (read_before_an_inner_loop_writes, (np.array([0.357, 0.491, -1.127]),)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_gradient_of_loops_with_branches_writes_and_loops_inside(function, args):
    check_grads(function, args)


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 120, 20))
def test_random_recurrences(start, tmp_path):
    outcomes = [judge(seed, tmp_path) for seed in range(start, start + 20)]
    assert not [o for o in outcomes if o.startswith("wrong")]
    assert outcomes.count("right") > 10


def chosen_part(b):
    for row in b:
        np.add.at(row, [0], row[:1] if np.sum(row) < 0.7 else 0.3)
    return b.sum()


def test_zeros_in_an_arm_are_measured_by_other_arrays():
    """The row is put back, not kept: the reverse of an arm asks another array for its shape."""
    b = np.array([[0.95, 1.497], [0.473, -1.124]])
    np.testing.assert_array_equal(grad(chosen_part)(b), [[1, 1], [2, 1]])
    b = np.random.default_rng(0).normal(size=(9, 12))
    expected = np.ones((9, 12))
    expected[np.sum(b, axis=1) < 0.7, 0] = 2
    np.testing.assert_array_equal(grad(chosen_part)(b), expected)


def cholesky(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a * a)


def lu(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a * a)


def shortest_way(x, y):
    d = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[-1, -1]


def from_the_end(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 2, i, -1):
            a[i, j] = a[i, j] + a[i, j + 1] * a[i, n - 1]
    return np.sum(a)


def two_in_a_row(a):
    for i in range(1, len(a)):
        for j in range(0, 4, 2):
            a[i, j] = a[i - 1, j] * a[i - 1, j + 1]
            a[i, j + 1] = a[i, j] * a[i, j]
    return np.sum(a)


READ_AGAIN = {
    cholesky: (ROWS @ ROWS.T + 9 * np.eye(9),),
    lu: (ROWS + 9 * np.eye(9),),
    shortest_way: (ROWS[0], ROWS[1]),
    two_in_a_row: (ROWS,),
}


@pytest.mark.parametrize("function", READ_AGAIN, ids=lambda f: f.__name__)
def test_what_no_later_iteration_of_any_loop_overwrites_is_read_again(function):
    lowered = grad(function).lower(*READ_AGAIN[function])
    assert ".append(" not in lowered.text
    check_grads(function, READ_AGAIN[function])


def overwritten_by_the_next_of_the_inner_loop(a):
    for i in range(1, len(a)):
        for j in range(1, len(a) - 1):
            a[i, j] = a[i, j + 1] * a[i - 1, j]
    return np.sum(a)


def overwritten_by_the_next_of_the_outer_loop(a):
    for i in range(len(a) - 1):
        for j in range(i, len(a)):
            a[i + 1, j] = a[i, j] * a[i + 1, j]
            a[i, j] = 1.0 - a[i, j] * a[i, j]
    return np.sum(a)


def overwritten_further_down(a):
    for i in range(1, len(a)):
        for j in range(i):
            a[i, j] = a[i, j] * a[i - 1, j]
        for k in range(i):
            a[i - 1, k] = np.sin(a[i, k])
    return np.sum(a)


def overwritten_in_steps(a):
    for i in range(0, len(a) - 2, 2):
        a[i + 2] = a[i] * a[i + 1]
        a[i + 1] = np.sin(a[i])
    return np.sum(a)


def counted_from_the_end(a):
    for i in range(len(a)):
        for j in range(1, i):
            a[i, j] = a[i, j - 2] * a[i, j]
    return np.sum(a)


def overwritten_in_a_while(a):
    k = 0
    while k < 3:
        for i in range(1, len(a)):
            a[i] = a[i - 1] * a[i]
        k += 1
    return np.sum(a)


OVERWRITTEN = (
    overwritten_by_the_next_of_the_inner_loop, overwritten_by_the_next_of_the_outer_loop, overwritten_further_down,
    overwritten_in_steps, counted_from_the_end, overwritten_in_a_while, from_the_end,
)  # fmt: skip


@pytest.mark.parametrize("function", OVERWRITTEN, ids=lambda f: f.__name__)
def test_what_is_overwritten_later_is_not_read_again(function):
    check_grads(function, (0.5 + np.abs(ROWS) / 4,))


def test_a_version_from_before_the_loop_is_not_read_from_the_finished_array():
    def shifted(w, xs):
        zs = xs * 1.0
        for t in range(1, len(xs)):
            x = xs[t - 1]
            zs[t] = 0.5 * (x @ w)
        return np.sum(zs**3)

    def of_a_copy(w, xs):
        for t in range(1, len(xs)):
            old = xs.copy()
            xs[t] = np.sin(w[0]) * old[t]
            xs[t - 1] = xs[t - 1] * old[t] * old[t - 1]
        return np.sum(xs**2)

    def of_elements(w, xs):
        old = xs.copy()
        for i in range(1, len(xs)):
            for j in range(3):
                xs[i, j] = w[0, j] * old[i - 1, j] ** 2 + old[i, j]
        return np.sum(xs**2)

    rng = np.random.default_rng(0)
    for program in (shifted, of_a_copy, of_elements):
        args = rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
        check_grads(program, args, wrt=(0, 1))


def test_a_value_written_in_a_branch_or_a_loop_is_not_read_back_where_it_may_not_be_written():
    def in_a_branch(w, xs):
        hs = np.zeros((len(xs) + 1, 3))
        c = np.ones(3)
        for t in range(len(xs)):
            c = 0.5 * c + w * (xs[t] + c)
            if t == 0:
                hs[t] = c
            hs[t + 1] += c * w
        return np.sum(hs**2)

    def in_an_inner_loop(w, xs):
        hs = np.ones((len(xs), 3))
        c = np.ones(3)
        for t in range(len(xs)):
            c = np.sin(c * xs[t])
            for _ in range(t % 2):
                hs[t] = c
            hs[t] *= w * c
        return np.sum(hs**2)

    rng = np.random.default_rng(0)
    for program in (in_a_branch, in_an_inner_loop):
        check_grads(program, (rng.normal(size=3), rng.normal(size=(5, 3))), wrt=(0, 1))


def updates_in_branches(x):
    a = x.copy()
    s = 0.0
    for t in range(3):
        s += np.sum(np.sin(a))
        a[t] = a[t] * a[t + 1]
        if a[t] > 0:
            a[t + 1] = np.exp(a[t]) * s
        else:
            a *= 2.0
        s += np.sum(a**2)
    return s


def test_version_of_an_array_that_is_not_there_when_it_is_read_is_saved(monkeypatch):
    writer, wrong = write_iteration.IterationWriter, []
    make_available = writer.make_available

    def refusing(self, v, shape_only):
        if self.plan.restored(v) and not shape_only:
            wrong.append(v)
            raise write_iteration.WrongVersion(v)
        return make_available(self, v, shape_only)

    monkeypatch.setattr(writer, "make_available", refusing)
    check_grads(updates_in_branches, (np.array([0.3, -0.2, 0.5, 0.7]),))
    assert len(wrong) > 1


class Region:
    powers = np.array([0, 1, 2, 3, -1])


def test_an_exponent_may_be_an_array_of_a_class():
    def energy(x):
        return np.sum((7.1 - x) ** Region.powers * (x - 1.2) ** Region.powers)

    numeric = (energy(3.0 + 1e-5) - energy(3.0 - 1e-5)) / 2e-5
    assert grad(energy)(3.0) == pytest.approx(numeric, rel=1e-7)


def those_that_still_move(x):
    going = np.abs(x) > 0.1
    x = x.copy()
    while np.any(going):
        y = x[going] * 0.6
        x[going] = y
        going[going] = np.abs(y) > 0.1
    return np.sum(x**2)


def places_of_places(x):
    p, total = np.array([1, 2, 3, 0]), 0.0
    for k in range(3):
        total = total + np.sum(x[p] * np.arange(4.0) * (k + 1))
        p[p] = p[::-1].copy()
    return total * total


def fewer_in_each_round(x):
    mask, total = x > 0, 0.0
    for k in range(3):
        y = x[mask] ** 2
        total = total + np.sum(y) * k
        mask[mask] = y > 0.2
        x = x * 0.9
    return total


@pytest.mark.parametrize("f", [those_that_still_move, places_of_places, fewer_in_each_round])
@pytest.mark.parametrize("policy", ["auto", "store", "states", "recompute", Revolve(2)])
def test_an_array_that_names_its_own_parts_is_saved_whole(f, policy):
    x = np.array([0.3, -0.7, 0.05, 1.0])
    check_grads(f, (x,))
    np.testing.assert_allclose(grad(f, checkpoint=policy)(x), grad(f)(x))
