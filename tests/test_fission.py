"""Products of all iterations as one: `passes/hoisting.py`, `passes/fission.py`, `passes/interchange.py`, `passes/cleared.py`."""

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from tests.fuzz import networks

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def arrays(*shapes, dtype=float):
    return [np.asarray(0.5 * rng.normal(size=s), dtype) for s in shapes]


def rows(w, u, b, xs):
    h = np.zeros(b.shape)
    for x in xs:
        h = np.tanh(w @ x + u @ h + b)
    return np.sum(h**2)


def rows_from_the_left(w, u, b, xs):
    h = np.zeros(len(b))
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ w + h @ u + b)
    return np.sum(h * h)


def batches(w, u, b, xs):
    h = np.zeros((xs.shape[1], u.shape[0]))
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
    return np.mean(h**2)


def batches_along_the_second_axis(w, u, b, xs):
    h = np.zeros((xs.shape[0], u.shape[0]))
    for t in range(xs.shape[1]):
        h = np.tanh(xs[:, t] @ w + h @ u + b)
    return np.mean(h**2)


def columns(w, u, b, xs):
    h = np.zeros((u.shape[0], xs.shape[2]))
    for x in xs:
        h = np.tanh(w @ x + u @ h + b[:, None])
    return np.sum(h**3)


def from_the_second_on(w, u, b, xs):
    h = xs[0] @ w
    for t in range(1, len(xs)):
        h = np.tanh(xs[t] @ w + u @ h + b) + xs[t - 1] @ w
    return np.sum(h * h)


def backward_in_time(w, u, b, xs):
    h = np.zeros(len(b))
    for t in range(len(xs) - 1, -1, -1):
        h = np.tanh(xs[t] @ w + h @ u + b)
    return np.sum(h * h)


def every_other(w, u, b, xs):
    h = np.zeros(len(b))
    for x in xs[::2]:
        h = np.tanh(x @ w + h @ u + b)
    return np.sum(h * h)


def states_in_an_array(w, u, b, xs):
    hs = np.zeros((len(xs) + 1, len(b)))
    for t in range(len(xs)):
        hs[t + 1] = np.tanh(xs[t] @ w + hs[t] @ u + b)
    return np.sum(hs**2)


def states_in_a_longer_array(w, u, b, xs):
    hs = np.empty((len(xs) + 4, len(b)))
    hs[0] = b
    for t in range(len(xs)):
        hs[t + 1] = np.tanh(xs[t] @ w + hs[t] @ u + b)
    return np.sum(hs[: len(xs) + 1] ** 2)


def results_in_a_longer_array(w, u, b, xs):
    ys = np.empty((2 * len(xs), len(b)))
    h = np.zeros(len(b))
    for t in range(len(xs)):
        ys[t] = np.tanh(xs[t] @ w + h @ u + b)
        h = ys[t]
    return np.sum(ys[: len(xs)] ** 2)


def leaves_early(w, u, b, xs):
    h = np.zeros(len(b))
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
        if np.sum(h) > 0.3:
            break
    return np.sum(h * h)


def counted_while_it_runs(w, u, b, xs):
    h, t = np.zeros(len(b)), 0
    while t < len(xs):
        h = np.tanh(xs[t] @ w + h @ u + b)
        t += 1
    return np.sum(h * h)


def weights_read_elsewhere(w, u, b, xs):
    h = np.zeros(len(b))
    for x in xs:
        h = np.tanh(x @ w + h @ u + b) * np.sum(u)
    return np.sum(h * h) + np.sum(u @ w.T)


def the_same_factor_twice(w, u, b, xs):
    h = np.zeros(len(b))
    for x in xs:
        z = x @ w + b
        h = np.tanh(z + h @ u) + np.cos(h @ u.T) * z
    return np.sum(h * h)


def in_a_branch(w, u, b, xs):
    h = np.zeros(len(b))
    for t, x in enumerate(xs):
        if t % 2 == 0:
            h = np.tanh(x @ w + h @ u + b)
        else:
            h = h * 0.9
    return np.sum(h * h)


def several_times_over(w, u, b, xs):
    h = np.zeros(len(b))
    for _ in range(2):
        for x in xs:
            h = np.tanh(x @ w + h @ u + b)
    return np.sum(h * h)


def rows_that_are_written(w, u, b, xs):
    zs = xs * 2.0
    h = np.zeros(len(b))
    for t in range(len(xs)):
        h = np.tanh(zs[t] @ w + h @ u + b)
        zs[t] = 0.5 * zs[t]
    return np.sum(h * h) + np.sum(zs**2)


def rows_written_ahead(w, u, b, xs):
    zs = xs * 2.0
    h = np.zeros(len(b))
    for t in range(len(xs) - 1):
        h = np.tanh(zs[t] @ w + h @ u + b)
        zs[t + 1] += zs[t]
    return np.sum(h * h)


def weights_that_change(w, u, b, xs):
    h = np.zeros(len(b))
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
        w = w * 0.9
    return np.sum(h * h)


def outputs_kept(w, u, b, xs):
    h, ys = np.zeros(len(b)), []
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
        ys.append(h @ w.T)
    return np.sum(np.stack(ys) ** 2)


VECTORS = [
    rows, rows_from_the_left, from_the_second_on, backward_in_time, every_other, states_in_an_array, states_in_a_longer_array,
    results_in_a_longer_array, leaves_early, counted_while_it_runs,
    weights_read_elsewhere, the_same_factor_twice, in_a_branch, several_times_over, rows_that_are_written, rows_written_ahead,
    weights_that_change, outputs_kept,
]  # fmt: skip
BATCHES = [batches, batches_along_the_second_axis, columns]


def same_with_everything_stored(f, args, wrt=(0, 1, 2, 3)):
    """The gradients are those that are made without any of this, and those of central differences."""
    found, expected = value_and_grad(f, wrt=wrt)(*args), value_and_grad(f, wrt=wrt, checkpoint="store")(*args)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    for a, b in zip(found[1], expected[1]):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n, d", [(1, 3), (2, 1), (9, 3), (9, 10)])
def test_vectors(f, n, d):
    args = arrays((d, d), (d, d), d, (n, d))
    same_with_everything_stored(f, args)
    if n == 9 and d == 3:
        check_grads(f, args, wrt=(0, 1, 2, 3), modes=("reverse",))


@pytest.mark.parametrize("f", BATCHES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 4), (9, 8, 10), (2, 1, 9), (1, 9, 1)])
def test_batches(f, shape):
    d = shape[1] if f is columns else shape[2]
    args = arrays((d, d), (d, d), d, shape)
    same_with_everything_stored(f, args)
    if shape == (3, 2, 4):
        check_grads(f, args, wrt=(0, 1, 2, 3), modes=("reverse",))


@pytest.mark.parametrize("f", [rows, rows_from_the_left, states_in_an_array, several_times_over], ids=lambda f: f.__name__)
@pytest.mark.parametrize("d", [3, 9])
def test_no_iteration(f, d):
    found = grad(f, wrt=(0, 1, 2))(*arrays((d, d), (d, d), d, (0, d)))
    assert [a.shape for a in found] == [(d, d), (d, d), (d,)]
    assert not any(a.any() for a in found)


def test_rectangular_and_single_precision():
    for f, shapes in ((rows, [(10, 12), (10, 10), 10, (9, 12)]), (batches, [(12, 10), (10, 10), 10, (9, 8, 12)])):
        args = arrays(*shapes, dtype=np.float32)
        found, expected = grad(f, wrt=(0, 1, 2))(*args), grad(f, wrt=(0, 1, 2), checkpoint="store")(*args)
        for a, b in zip(found, expected):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_arrays_that_do_not_lie_in_order():
    w, u, b, xs = arrays((9, 9), (9, 9), 9, (9, 8, 9))
    for given in (xs.swapaxes(0, 1), np.asfortranarray(xs), xs[::-1]):
        same_with_everything_stored(batches, (w.T, u[::-1], b, given))
    assert xs.flags["C_CONTIGUOUS"]


def test_the_text_multiplies_once():
    gradient = grad(rows, wrt=(0, 1, 2))
    gradient(*arrays((9, 9), (9, 9), 9, (12, 9)))
    assert "xs @ w.T" in gradient.source and "outer" not in gradient.source and "+=" not in gradient.source
    notes = "\n".join(gradient.lower(*arrays((9, 9), (9, 9), 9, (12, 9))).notes)
    assert "products of all iterations before the loop" in notes and "sums of products after the loop" in notes


@pytest.mark.parametrize("policy", ["store", "states", "recompute"])
def test_policies_that_are_named_leave_loops_alone(policy):
    gradient = grad(rows, wrt=(0, 1, 2), checkpoint=policy)
    gradient(*arrays((9, 9), (9, 9), 9, (12, 9)))
    assert "xs @ w.T" not in gradient.source


def test_a_batch_that_differs_between_iterations():
    def ragged(w, xs, sizes):
        total = 0.0
        at = 0
        for n in sizes:
            z = np.tanh(xs[at : at + n] @ w)
            total += np.sum(z @ w.T)
            at += n
        return total

    args = (*arrays((9, 9), (30, 9)), [8, 3, 10])
    found, expected = grad(ragged)(*args), grad(ragged, checkpoint="store")(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    check_grads(ragged, args, modes=("reverse",))


def test_a_row_that_is_broadcast_to_the_sum():
    def broadcast(w, u, xs):
        total = 0.0
        for x in xs:
            total += np.sum(np.sin(w * np.outer(u, x)))
        return total

    for shapes in ([(9, 9), 9, (5, 9)], [(1, 9), 9, (5, 9)], [(9, 1), 1, (5, 9)]):
        args = arrays(*shapes)
        same_with_everything_stored(broadcast, args, wrt=(0, 1, 2))


def test_a_state_that_starts_as_a_row():
    def f(w, u, xs):
        h = np.zeros((1, 10))
        for x in xs:
            h = np.tanh(x @ w + h @ u)
        return np.sum(h**2)

    same_with_everything_stored(f, arrays((9, 10), (10, 10), (7, 8, 9)), wrt=(0, 1, 2))


def test_rows_in_a_list():
    def f(w, u, xs):
        h = np.zeros(len(u))
        for x in xs:
            h = np.tanh(w @ x + u @ h)
        return np.sum(h**2)

    for d in (3, 9):
        w, u, *xs = arrays((d, d), (d, d), *[d] * 12)
        check_grads(f, (w, u, xs), wrt=(0, 1, 2), modes=("reverse",))


def test_a_vector_times_each_column():
    def f(v, xs):
        s = 0.0
        for t in range(xs.shape[1]):
            s = np.sin(s) + np.tanh(v @ xs[:, t]) * np.tanh(xs[:, t] @ v)
        return s

    for d in (3, 9):
        check_grads(f, tuple(arrays(d, (d, 12))), wrt=(0, 1), modes=("reverse",))


def test_an_array_is_made_of_zeros_if_they_are_read():
    def f(x):
        y, s = np.zeros_like(x), 0.0
        for i in range(len(x)):
            y[i] = x[i] ** 2
            s += y[-1] * x[i] + y[(i * 2) % len(x)]
        return s + np.sum(y)

    for n in (3, 9):
        gradient = grad(f)
        (x,) = arrays(n)
        np.full(n, 1e9)  # what an array that is not set would hold
        check_grads(f, (x,), modes=("reverse",))
        gradient(x)
        assert "y = np.zeros_like(x)" in gradient.source


def test_results_that_a_branch_reads_before_they_are_written():
    def f(w, xs, h):
        hs = np.empty((len(xs) + 1, 3))
        hs[0], hs[2] = h, 0.5
        s = 0.0
        for t in range(len(xs)):
            z = xs[t] @ w
            if t == 0:
                s += np.sum(hs[2] * h)
            hs[t + 1] = np.tanh(z + hs[t])
        return s + np.sum(hs**2)

    check_grads(f, tuple(arrays((3, 3), (4, 3), 3)), wrt=(0, 1, 2), modes=("reverse",))


# Loops over time and layers


def stacked(layers, xs):
    hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers]
    for x in xs:
        states = []
        for (w, u, b), h in zip(layers, hs):
            x = np.tanh(x @ w + h @ u + b)
            states.append(x)
        hs = states
    return hs[-1]


def last_output(layers, xs):
    return np.sum(stacked(layers, xs) ** 2)


def vectors_through_layers(layers, xs):
    hs = [np.zeros(len(b)) for _, _, b in layers]
    for x in xs:
        states = []
        for i in range(len(layers)):
            w, u, b = layers[i]
            x = np.tanh(w @ x + u @ hs[i] + b)
            states.append(x)
        hs = states
    return np.sum(hs[-1] ** 2) + np.sum(hs[0])


def memories(layers, xs):
    hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers]
    cs = [np.ones((xs.shape[1], b.shape[0])) for _, _, b in layers]
    for x in xs:
        next_hs, next_cs = [], []
        for (w, u, b), h, c in zip(layers, hs, cs):
            z = x @ w + h @ u + b
            c = 1 / (1 + np.exp(-z)) * c + np.tanh(z)
            x = np.tanh(c)
            next_hs.append(x)
            next_cs.append(c)
        hs, cs = next_hs, next_cs
    return np.sum(hs[-1] ** 2) + np.sum(cs[0])


def outputs_that_skip_a_layer(layers, xs):
    hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers]
    for x in xs:
        states = []
        for (w, u, b), h in zip(layers, hs):
            h = np.tanh(x @ w + h @ u + b)
            x = x + h
            states.append(h)
        hs = states
    return np.sum(hs[-1] ** 2)


def every_output(layers, xs):
    hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers]
    total = 0.0
    for x in xs:
        states = []
        for (w, u, b), h in zip(layers, hs):
            x = np.tanh(x @ w + h @ u + b)
            states.append(x)
        hs = states
        total = total + np.sum(x**2)
    return total


def first_state_last(layers, xs):
    """Each layer takes its own state and the one that the layer above had: the loops may not be exchanged."""
    hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers]
    for x in xs:
        states = []
        for i in range(len(layers)):
            w, u, b = layers[i]
            x = np.tanh(x @ w + hs[len(layers) - 1 - i] @ u + b)
            states.append(x)
        hs = states
    return np.sum(hs[-1] ** 2)


NESTS = [last_output, vectors_through_layers, memories, outputs_that_skip_a_layer, every_output, first_state_last]


@pytest.mark.parametrize("f", NESTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("times, layers, d", [(1, 1, 9), (9, 1, 3), (9, 4, 9), (2, 3, 1), (8, 3, 2)])
def test_loops_over_time_and_layers(f, times, layers, d):
    given = [tuple(arrays((d, d), (d, d), d)) for _ in range(layers)]
    (xs,) = arrays((times, d) if f is vectors_through_layers else (times, 8, d))
    (value, found), (right, expected) = value_and_grad(f)(given, xs), value_and_grad(f, checkpoint="store")(given, xs)
    np.testing.assert_allclose(value, right, rtol=1e-12)
    for a, b in zip(found, expected):
        for m, n in zip(a, b):
            np.testing.assert_allclose(m, n, rtol=1e-9, atol=1e-12)
    if times == 8:
        check_grads(f, (given, xs), modes=("reverse",))


def test_layers_of_several_widths():
    given = [tuple(arrays((m, n), (n, n), n)) for m, n in ((9, 12), (12, 10), (10, 8))]
    (xs,) = arrays((9, 8, 9))
    found, expected = grad(last_output)(given, xs), grad(last_output, checkpoint="store")(given, xs)
    for a, b in zip(found, expected):
        for m, n in zip(a, b):
            np.testing.assert_allclose(m, n, rtol=1e-9, atol=1e-12)


def test_the_gradient_by_the_inputs_of_a_nest():
    given = [tuple(arrays((9, 9), (9, 9), 9)) for _ in range(3)]
    (xs,) = arrays((10, 8, 9))
    found, expected = grad(last_output, wrt="xs")(given, xs), grad(last_output, wrt="xs", checkpoint="store")(given, xs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_more_layers_than_states():
    def fewer(layers, xs):
        hs = [np.zeros((xs.shape[1], b.shape[0])) for _, _, b in layers[:2]]
        for x in xs:
            states = []
            for (w, u, b), h in zip(layers, hs):
                x = np.tanh(x @ w + h @ u + b)
                states.append(x)
            hs = states
        return np.sum(hs[-1] ** 2)

    given = [tuple(arrays((9, 9), (9, 9), 9)) for _ in range(4)]
    (xs,) = arrays((10, 8, 9))
    found, expected = grad(fewer)(given, xs), grad(fewer, checkpoint="store")(given, xs)
    for a, b in zip(found, expected):
        for m, n in zip(a, b):
            np.testing.assert_allclose(m, n, rtol=1e-9, atol=1e-12)


# Clearing what is not read again


def smoothed_twice(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.sin(x[i] + y[i - 1])
    z = np.zeros_like(x)
    for i in range(len(x)):
        z[i] = y[i] * y[i - 1]  # the last one for i = 0
    return np.sum(z * y)


def written_twice(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2
        y[i - 1] = y[i] * x[i - 1] + y[i - 1]
    return np.sum(y**2)


def both_neighbours(x):
    y = x * 1.0
    for i in range(1, len(x) - 1):
        y[i] = y[i - 1] * y[i + 1]
    return np.sum(y**2)


def every_part_of_three_axes(x):
    t = np.outer(x, x)[: x.size, : x.size]
    u = np.zeros((2, x.size, x.size))
    for k in range(2):
        u[:, k, :] = t[k] ** 2
        u[..., k] += t[:, k]
    return np.sum(u**2)


@pytest.mark.parametrize("f", [smoothed_twice, written_twice, both_neighbours, every_part_of_three_axes], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 9])
def test_clearing(f, n):
    check_grads(f, tuple(arrays(n)), modes=("reverse",))


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 80, 20))
def test_random_networks(start, tmp_path):
    outcomes = [networks.judge(seed, tmp_path) for seed in range(start, start + 20)]
    assert not [o for o in outcomes if o not in ("right", "split", "refused", "unjudged")]
    assert outcomes.count("right") >= 5  # products of many rows, and of small matrices, stay in the loop
    if start:  # the first networks are all of small matrices
        assert outcomes.count("split") >= 1


def test_a_loop_whose_sums_all_go_after_it():
    def f(u, xs):
        hs = np.ones((len(xs) + 2, 4, 3))
        c = np.ones((4, 3))
        for t in range(1, len(xs)):
            hs[t + 1] += np.tanh(c) @ u
        return np.sum(hs**2)

    rng = np.random.default_rng(0)
    for n in (1, 2, 5):
        check_grads(f, (rng.normal(size=(3, 3)), rng.normal(size=(n, 4, 3))), wrt=(0, 1))


def stages(w, u, z):
    for _ in range(5):
        first = np.tanh(z @ w)
        z = z + 0.1 * np.tanh((z + first @ u) @ w) @ u
    return np.sum(z**2)


@pytest.mark.parametrize("rows, after", [(2, True), (7, True), (8, False), (50, False)])
def test_a_product_after_the_loop_is_worth_its_memory(rows, after):
    """Factors with many rows are put away only where they lie in arrays anyway: their product in each iteration takes no longer."""
    args = arrays((9, 10), (10, 9), (rows, 9))
    notes = "".join(grad(stages, wrt=("w", "u")).lower(*args).notes)
    assert ("products after the loop" in notes) is after
    same_with_everything_stored(stages, args, wrt=(0, 1, 2))
    kept = arrays((9, 9), (9, 9), 9, (12, rows, 9))
    assert "products after the loop" in "".join(grad(batches, wrt=("w", "u", "b")).lower(*kept).notes)


def of_small_matrices(f, n):
    p = np.eye(len(f))
    total = 0.0
    for _ in range(n):
        p = np.tanh(f @ p @ f.T) + np.eye(len(f))
        total = total + np.sum(p**2)
    return total


def test_products_of_small_matrices_stay_in_the_loop():
    for size in (3, 6):
        f = np.random.default_rng(0).normal(size=(size, size)) / size
        assert "np.empty" not in grad(of_small_matrices).lower(f, 4).text
        check_grads(of_small_matrices, (f, 4), wrt=0)


def filtered(xs, means, moves):
    p = np.ones_like(means) / len(means)
    total = 0.0
    for t in range(len(xs)):
        if t > 0:
            p = moves @ p
        p = p * np.exp(-0.5 * (xs[t] - means) ** 2)
        total = total + np.log(np.sum(p))
        p = p / np.sum(p)
    return total


def filtered_in_turn(xs, ys, means):
    p = means
    for x, y in zip(xs, ys):
        p = p * np.sqrt(1 + (x - means) ** 2) + np.sin(x * y)
    return np.sum(p * p)


def rows_that_are_written(xs, means):
    xs, p = xs.copy(), means
    for t in range(len(xs) - 1):
        p = p * np.exp(-xs[t])
        xs[t + 1] = xs[t + 1] + 0.1 * np.sum(p)
    return np.sum(p)


@pytest.mark.parametrize(
    ("f", "shapes", "calls"), [(filtered, (6, 4, (4, 4)), 1), (filtered_in_turn, (6, 5, 4), 2), (rows_that_are_written, (6, 4), 0)]
)
def test_functions_of_rows_are_computed_for_all_rows_at_once(f, shapes, calls):
    rng = np.random.default_rng(1)
    args = tuple(rng.random(shape) + 0.5 for shape in shapes)
    wrt = tuple(range(len(args)))
    check_grads(f, args, wrt=wrt)
    written = grad(f, wrt=wrt).lower(*args).text
    before = written.partition("for ")[0]
    assert sum(before.count(name) for name in ("np.exp(", "np.sqrt(", "np.sin(")) == calls
    check_grads(f, (args[0][:1], *args[1:]), wrt=wrt)
