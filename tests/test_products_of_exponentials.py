"""Sums of exponentials of sums become products of matrices, however they are written, and only where the numbers allow it."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

from sourcead import check_grads, grad, hvp, jvp, value_and_grad, vjp

pytestmark = pytest.mark.sampled(3)


def by_hand(a, axis, keepdims=False):
    top = np.max(a, axis=axis, keepdims=True)
    out = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis)


def of_library(start, moves, emissions, observed):
    alpha = start + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = logsumexp(alpha[:, None] + moves, axis=0) + emissions[:, symbol]
    return logsumexp(alpha)


def kept_axes(start, moves, emissions, observed):
    alpha = start + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = by_hand(alpha[:, None] + moves, 0, keepdims=True)[0] + emissions[:, symbol]
    return by_hand(alpha, 0)


def maximum_without_axes(s, t, e, o):
    a = s + e[:, o[0]]
    for k in range(1, len(o)):
        x = np.expand_dims(a, 1) + t
        m = x.max(axis=0)
        p = np.exp(x - m[None, :])
        a = e[:, o[k]] + (m + np.log(p.sum(axis=0)))
    return by_hand(a, -1)


def to_and_from(start, moves, emissions, observed):
    into, alpha = moves.T, start + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = by_hand(into + alpha, 1) + emissions[:, symbol]
    return logsumexp(alpha)


def emission_inside(start, moves, emissions, observed):
    alpha = start + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = by_hand(alpha[:, None] + moves + emissions[:, symbol][None, :], axis=-2)
    return logsumexp(alpha)


def list_of_states(start, moves, emissions, observed):
    alphas = [start + emissions[:, observed[0]]]
    for t in range(1, len(observed)):
        alphas.append(logsumexp(alphas[-1][:, None] + moves, axis=0) + emissions[:, observed[t]])
    return logsumexp(alphas[-1])


def array_of_states(start, moves, emissions, observed):
    alphas = np.zeros((len(observed), len(start)))
    alphas[0] = start + emissions[:, observed[0]]
    for t in range(1, len(observed)):
        alphas[t] = by_hand(alphas[t - 1][:, np.newaxis] + moves, axis=0) + emissions[:, observed[t]]
    return logsumexp(alphas[-1])


def of_batches(start, moves, emissions, observed):
    alpha = np.stack([start, start - 1]) + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = by_hand(alpha[:, :, None] + moves, 1) + emissions[:, symbol]
    return np.sum(logsumexp(alpha, axis=1)[:1])


def batches_into(start, moves, emissions, observed):
    into, alpha = moves.T, np.stack([start, start - 1]) + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = logsumexp(alpha[:, None, :] + into[None], axis=2, keepdims=True)[..., 0] + emissions[:, symbol]
    return logsumexp(alpha[0])


FORWARD = [
    of_library, kept_axes, maximum_without_axes, to_and_from, emission_inside, list_of_states, array_of_states, of_batches, batches_into
]  # fmt: skip


def model(states=9, symbols=11, steps=12, scale=1.0, dtype=np.float64):
    rng = np.random.default_rng(0)
    arrays = (rng.standard_normal(shape).astype(dtype) for shape in ((states,), (states, states), (states, symbols)))
    start, moves, emissions = arrays
    return start, (scale * moves).astype(dtype), emissions, rng.integers(0, symbols, steps)


def text(f, args, **options):
    return grad(f, wrt=(0, 1, 2), **options).lower(*args).text


def close(found, expected, rtol=1e-9):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1e-300, np.abs(b).max()))


def expected(args):
    """The gradient of the model, by the sums that no product stands for: those of a function that draws a number."""
    return grad(one_by_one, wrt=(0, 1, 2))(*args)


def one_by_one(start, moves, emissions, observed):
    alpha = start + emissions[:, observed[0]]
    for symbol in observed[1:]:
        alpha = np.stack([logsumexp(alpha + moves[:, j]) for j in range(len(start))]) + emissions[:, symbol]
    return logsumexp(alpha)


@pytest.mark.parametrize("f", FORWARD)
def test_a_step_is_a_product_however_it_is_written(f):
    args = model()
    assert "product_in_range" in text(f, args)
    close(grad(f, wrt=(0, 1, 2))(*args), expected(args))


@pytest.mark.parametrize("f", FORWARD)
@pytest.mark.parametrize("states", [1, 2, 3])
def test_few_states(f, states):
    args = model(states)
    close(grad(f, wrt=(0, 1, 2))(*args), expected(args))


@pytest.mark.parametrize("f", FORWARD)
def test_numbers_far_apart_are_summed_as_the_program_does(f):
    args = model(scale=800.0)
    gradient = grad(f, wrt=(0, 1, 2))
    close(gradient(*args), expected(args))
    assert "product_in_range" not in gradient.source
    close(gradient(*model()), expected(model()))


@pytest.mark.parametrize("f", FORWARD)
def test_moves_that_are_forbidden(f):
    args = model()
    args[1][np.tril_indices(9, -1)] = -np.inf  # from a state to itself and to later ones
    args[1][0, 5] = -np.inf
    close(grad(f, wrt=(0, 1, 2))(*args), expected(args))


def test_underflow_that_the_program_does_not_have_is_not_raised():
    start, moves, emissions, observed = model(steps=2)
    apart = 800.0 * np.arange(9)
    args = start - apart, moves + apart[:, None], emissions, observed
    with np.errstate(all="raise"):
        found = grad(maximum_without_axes, wrt=(0, 1, 2))(*args)
    close(found, expected(args))


def test_a_state_that_is_reached_only_from_one_that_is_out_of_range():
    args = model(steps=2)
    args[0][0] = -900.0
    args[1][1:, 3] = -10_000.0
    args[2][:] = 0.0
    gradient = grad(of_library, wrt=(0, 1, 2))
    close(gradient(*args), expected(args))
    assert "product_in_range" not in gradient.source


def test_single_precision():
    args = model(dtype=np.float32)
    close(grad(kept_axes, wrt=(0, 1, 2))(*args), expected(model()), 1e-4)
    args = model(dtype=np.float32, scale=300.0)
    gradient = grad(kept_axes, wrt=(0, 1, 2))
    close(gradient(*args), expected(model(scale=300.0)), 1e-3)
    assert "product_in_range" not in gradient.source


def test_no_iterations():
    args = model(steps=1)
    found = grad(list_of_states, wrt=(0, 1, 2))(*args)
    close(found, expected(args))
    assert not found[1].any()


@pytest.mark.parametrize("scale", [1.0, 800.0])
def test_all_derivatives(scale):
    args = model(scale=scale)
    value, gradients = value_and_grad(kept_axes, wrt=(0, 1, 2))(*args)
    np.testing.assert_allclose(value, one_by_one(*args))
    close(gradients, expected(args))
    value, pullback = vjp(kept_axes, *args, wrt=(0, 1, 2))
    close(pullback(2.0), [2 * g for g in expected(args)])
    close(pullback(1.0), expected(args))
    step = np.random.default_rng(1).standard_normal((9, 9))
    np.testing.assert_allclose(jvp(kept_axes, args, (None, step, None, None))[1], np.sum(step * expected(args)[1]))
    np.testing.assert_allclose(hvp(kept_axes, wrt=1)(*args, step), hvp(one_by_one, wrt=1)(*args, step), atol=1e-12)


@pytest.mark.parametrize("policy", ["store", "states", "recompute"])
def test_named_policies_keep_the_sums(policy):
    args = model()
    assert "product_in_range" not in text(kept_axes, args, checkpoint=policy)


def test_a_saved_module_holds_for_all_numbers(tmp_path):
    args = model(scale=800.0)
    gradient = grad(of_library, wrt=(0, 1, 2))
    gradient(*model())
    gradient.save(tmp_path / "saved.py", *model())
    assert "product_in_range" not in (tmp_path / "saved.py").read_text()
    namespace = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    close(namespace["of_library_grad"](*args), expected(args))


SCALE = 1.0


def of_global(start, moves, emissions, observed):
    return kept_axes(start, SCALE * moves, emissions, observed)


def test_data_of_globals_is_read_again_in_either_text(monkeypatch):
    gradient, args = grad(of_global, wrt=(0, 1, 2)), model()
    close(gradient(*args), expected(args))
    for scale in (800.0, 2.0, 1.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        start, moves, emissions = expected((args[0], scale * args[1], *args[2:]))
        close(gradient(*args), (start, scale * moves, emissions))


def test_a_function_that_draws_numbers_is_not_called_again():
    def drawing(start, moves, rng):
        alpha = start + rng.standard_normal(len(start))
        for _ in range(3):
            alpha = logsumexp(alpha[:, None] + moves, axis=0)
        return logsumexp(alpha)

    start, moves, *_ = model()
    assert "product_in_range" not in grad(drawing, wrt=(0, 1)).lower(start, moves, np.random.default_rng(0)).text


def test_weights_that_are_read_elsewhere_stay():
    def attention(query, keys):
        x = query[:, None] + keys
        weights = np.exp(x - np.max(x, axis=0, keepdims=True))
        return np.sum(weights / np.sum(weights, axis=0, keepdims=True) * keys)

    query, keys, *_ = model()
    assert "product_in_range" not in grad(attention, wrt=(0, 1)).lower(query, keys).text
    check_grads(attention, (query, keys))


def test_operands_that_share_two_axes_are_not_multiplied():
    def shared(a, b):
        return np.sum(logsumexp(a[:, :, None] + b, axis=1))

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((9, 10)), rng.standard_normal((9, 10, 11))
    assert "product_in_range" not in grad(shared, wrt=(0, 1)).lower(a, b).text
    check_grads(shared, (a, b))


def sinkhorn(cost, epsilon, steps):
    f, g = np.zeros(cost.shape[0]), np.zeros(cost.shape[1])
    for _ in range(steps):
        f = -epsilon * logsumexp((g[None, :] - cost) / epsilon, axis=1)
        g = -epsilon * logsumexp((f[:, None] - cost) / epsilon, axis=0)
    return np.sum(np.exp((f[:, None] + g - cost) / epsilon) * cost)


@pytest.mark.parametrize("epsilon", [0.3, 1e-3])
def test_the_iteration_of_sinkhorn(epsilon):
    cost = np.random.default_rng(0).random((9, 10))
    assert "product_in_range" in grad(sinkhorn).lower(cost, epsilon, 5).text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = grad(sinkhorn)(cost, epsilon, 5)
    close([found], [grad(sinkhorn, checkpoint="store")(cost, epsilon, 5)], 1e-7)
    check_grads(sinkhorn, (cost, epsilon, 5), wrt=0, rtol=1e-3)


def test_a_sum_outside_of_loops():
    def mixture(a, b):
        return np.sum(logsumexp(a[:, :, None] + b[None], axis=1) ** 2)

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((9, 10)), rng.standard_normal((10, 11))
    assert "product_in_range" in grad(mixture, wrt=(0, 1)).lower(a, b).text
    check_grads(mixture, (a, b))


def test_a_state_that_begins_as_a_number():
    def from_nothing(moves, emissions):
        alpha = 0.0
        for t in range(3):
            alpha = logsumexp(moves + alpha, axis=1) + emissions[:, t]
        return logsumexp(alpha)

    _, moves, emissions, _ = model()
    check_grads(from_nothing, (moves, emissions))


def test_a_shift_that_stands_in_another_exponential_stays():
    def compared(a, b, c):
        x = a[:, None] + b
        top = np.max(x, axis=0)
        total = np.sum(np.exp(x - top), axis=0)
        return np.sum(np.log(np.exp(c - top) / total))

    a, b, emissions, _ = model()
    args = a, b, emissions[:, 0]
    assert "product_in_range" not in grad(compared, wrt=(0, 1, 2)).lower(*args).text
    check_grads(compared, args)


def test_a_sum_of_which_more_than_the_logarithm_is_read_stays():
    def squared(a, b):
        x = a[:, None] + b
        top = np.max(x, axis=0)
        total = np.sum(np.exp(x - top), axis=0)
        return np.sum(np.log(total) + top) + np.sum(np.exp(b[0] - top) / total)

    a, b, *_ = model()
    assert "product_in_range" not in grad(squared, wrt=(0, 1)).lower(a, b).text
    check_grads(squared, (a, b))
