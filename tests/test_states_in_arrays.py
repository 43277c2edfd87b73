"""The states of a recurrent loop lie in one array, and the rows of cotangents are read and written where they are."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp, value_and_grad, vjp

rng = np.random.default_rng(0)
UNITS, STEPS = 9, 10
W_X, W_H, W_O = (rng.standard_normal(shape) * 0.4 for shape in ((11, UNITS), (UNITS, UNITS), (UNITS, 8)))
XS = rng.standard_normal((STEPS, 11))
BATCH = rng.standard_normal((STEPS, 12, 11))


def network(w_x, w_h, w_o, xs):
    h = np.zeros(w_h.shape[0], xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + h @ w_h)
        hs.append(h)
    return np.sum((np.stack(hs) @ w_o) ** 2)


def batches(w_x, w_h, w_o, xs):
    h = np.zeros((xs.shape[1], w_h.shape[0]), xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + h @ w_h)
        hs.append(h)
    return np.mean(np.sin(np.stack(hs) @ w_o))


def two_ways(w_x, w_h, w_o, xs):
    left = states(w_x, w_h, xs)
    right = states(w_x, w_h, xs[::-1])[::-1]
    return np.sum((np.concatenate([left, right], axis=1) @ np.concatenate([w_o, w_o])) ** 2)


def states(w_x, w_h, xs):
    h = np.zeros(w_h.shape[0], xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + h @ w_h)
        hs.append(h)
    return np.stack(hs)


def last_too(w_x, w_h, w_o, xs):
    h = np.ones(w_h.shape[0], xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + h @ w_h)
        hs.append(h)
    return np.sum((np.stack(hs) @ w_o) ** 2) + np.sum(np.cos(h)) + np.sum(hs[3] ** 3)


def grows(w_x, w_h, w_o, xs):
    h = np.zeros(1, xs.dtype)  # one number, which becomes a row
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + np.sum(h) * w_h[0])
        hs.append(h)
    return np.sum((np.stack(hs) @ w_o) ** 2)


def along_another_axis(w_x, w_h, w_o, xs):
    h = np.zeros(w_h.shape[0], xs.dtype)
    hs = []
    for x in xs:
        h = np.tanh(x @ w_x + h @ w_h)
        hs.append(h)
    return np.sum((np.stack(hs, axis=1).T @ w_o) ** 2)


CASES = {
    "network": (network, XS), "batches": (batches, BATCH), "two ways": (two_ways, XS), "last too": (last_too, XS), "grows": (grows, XS),
    "another axis": (along_another_axis, XS),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_central_differences(name):
    f, xs = CASES[name]
    args = W_X, W_H, W_O, xs
    check_grads(f, args, wrt=(0, 1, 2, 3))
    expected = grad(f, wrt=(0, 1, 2, 3))(*args)
    ordered = grad(f, wrt=(0, 1, 2, 3))(*map(np.asfortranarray, args))
    single = grad(f, wrt=(0, 1, 2, 3))(*(a.astype(np.float32) for a in args))
    for d, o, s in zip(expected, ordered, single):
        np.testing.assert_allclose(o, d, rtol=1e-10, atol=1e-12)
        assert s.dtype == np.float32
        np.testing.assert_allclose(s, d, rtol=5e-3, atol=5e-4)


@pytest.mark.parametrize("policy", ["store", "states", "auto"])
def test_policies(policy):
    for f, xs in CASES.values():
        for d, e in zip(grad(f, wrt=(0, 1), checkpoint=policy)(W_X, W_H, W_O, xs), grad(f, wrt=(0, 1))(W_X, W_H, W_O, xs)):
            np.testing.assert_allclose(d, e, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_directions(name):
    f, xs = CASES[name]
    v, step = np.cos(np.arange(W_H.size)).reshape(W_H.shape), 1e-6
    slope = jvp(f, (W_X, W_H, W_O, xs), (None, v, None, None))[1]
    np.testing.assert_allclose(slope, np.sum(grad(f, wrt=1)(W_X, W_H, W_O, xs) * v))
    differences = (grad(f, wrt=1)(W_X, W_H + step * v, W_O, xs) - grad(f, wrt=1)(W_X, W_H - step * v, W_O, xs)) / (2 * step)
    np.testing.assert_allclose(hvp(f, wrt=1)(W_X, W_H, W_O, xs, v), differences, rtol=1e-5, atol=1e-6)


@pytest.mark.compiled
def test_compiled():
    for f, xs in CASES.values():
        for d, e in zip(grad(f, wrt=(0, 1), backend="numba")(W_X, W_H, W_O, xs), grad(f, wrt=(0, 1))(W_X, W_H, W_O, xs)):
            np.testing.assert_allclose(d, e, rtol=1e-9, atol=1e-11)


def test_a_network_keeps_its_states_once():
    for f, xs in (CASES["network"], CASES["batches"]):
        written = grad(f, wrt=(0, 1, 2)).lower(W_X, W_H, W_O, xs).text
        text = "\n".join(line for line in written.splitlines() if not line.strip().startswith("#"))
        assert "np.stack" not in text and "hs = []" not in text and ".pop()" not in text
        assert text.count("np.empty") == 1
    assert "np.stack" in grad(last_too, wrt=(0, 1, 2)).lower(W_X, W_H, W_O, XS).text


def test_states_that_the_caller_gets_and_changes():
    expected = states(W_X, W_H, XS)
    found, pullback = vjp(states, W_X, W_H, XS, wrt=(0, 1))
    np.testing.assert_allclose(found, expected)
    d = rng.standard_normal(found.shape)
    first = pullback(d)
    found *= 2  # what the pullback reads is not the caller's
    given = d.copy()
    for a, b in zip(first, pullback(d)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(d, given)


def test_few_and_no_steps():
    for f in (network, two_ways):
        for n in (1, 2, 8, 9):
            check_grads(f, (W_X, W_H, W_O, rng.standard_normal((n, 11))), wrt=(0, 1, 2))
        with pytest.raises(ValueError, match="at least one array"):
            grad(f, wrt=(0, 1))(W_X, W_H, W_O, XS[:0])


def test_the_value_beside_the_gradient():
    value, _ = value_and_grad(network, wrt=(0, 1))(W_X, W_H, W_O, XS)
    np.testing.assert_allclose(value, network(W_X, W_H, W_O, XS))


def test_rows_that_are_read_afterwards_are_not_written_over():
    def read_again(w_h, w_o, xs):
        h = np.zeros(UNITS)
        hs = []
        for x in xs:
            h = np.tanh(x[:UNITS] + h @ w_h)
            hs.append(h)
        s = np.stack(hs)
        return np.sum((s @ w_o) ** 2) + np.sum((s * s) @ w_o)

    check_grads(read_again, (W_H, W_O, XS), wrt=(0, 1, 2))
    assert "d_hs[i] = d_h" in grad(batches, wrt=(0, 1)).lower(W_X, W_H, W_O, BATCH).text
