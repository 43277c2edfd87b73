"""Recurrent layers: values and derivatives, against PyTorch and central differences; and networks that call themselves."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, value_and_grad
from sourcead.nn.layers import dense
from sourcead.nn.recurrent import gru, gru_cell, lstm, lstm_cell, rnn, rnn_cell
from tests.torch_twins import assert_same_as_torch, draw, torch_weighted, weighted

pytestmark = pytest.mark.sampled(3)


def recurrent_arrays(gates, steps=5, batch=3, inputs=2, units=4, seed=0):
    shapes = ((steps, batch, inputs), (inputs, gates * units), (units, gates * units), (gates * units,))
    return tuple(draw(*shape, seed=seed + k) for k, shape in enumerate(shapes))


RECURRENT = {"rnn": (1, "RNN", [0]), "lstm": (4, "LSTM", [0, 1, 3, 2]), "gru": (3, "GRU", [0, 1, 2])}


def module_of_torch(torch, name, w, u, b, bn=None):
    """PyTorch's module with our weights, gate by gate in its order."""
    gates, kind, order = RECURRENT[name]
    units = u.shape[0]
    module = getattr(torch.nn, kind)(w.shape[0], units, dtype=torch.float64)

    def rows(a):
        return torch.cat([a.t()[g * units : (g + 1) * units] for g in order])

    parts = {"weight_ih_l0": rows(w), "weight_hh_l0": rows(u), "bias_ih_l0": rows(b), "bias_hh_l0": torch.zeros_like(b)}
    if bn is not None:
        parts["bias_hh_l0"] = torch.cat([torch.zeros_like(bn), torch.zeros_like(bn), bn])
    return lambda xs: torch.func.functional_call(module, parts, (xs,))[0]


@pytest.mark.parametrize("sizes", [{}, {"batch": 1, "steps": 1}, {"inputs": 1, "units": 1}], ids=str)
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_are_those_of_pytorch(name, sizes):
    torch = pytest.importorskip("torch")
    layer = {"rnn": rnn, "lstm": lstm, "gru": gru}[name]
    arrays = recurrent_arrays(RECURRENT[name][0], **sizes)
    if name == "gru":
        arrays += (draw(arrays[2].shape[0], seed=9),)

    def ours(xs, w, u, b):
        return weighted(layer(xs, w, u, b))

    def our_gru(xs, w, u, b, bn):
        return weighted(gru(xs, w, u, b, bn))

    def theirs(xs, *parameters):
        return torch_weighted(torch, module_of_torch(torch, name, *parameters)(xs))

    assert_same_as_torch(our_gru if name == "gru" else ours, theirs, *arrays)


@pytest.mark.parametrize("name", RECURRENT)
def test_cells_make_the_steps_of_their_layers(name):
    xs, *parameters = recurrent_arrays(RECURRENT[name][0])
    if name == "gru":
        parameters.append(draw(4, seed=9))
    h = c = np.zeros((3, 4))
    for x, expected in zip(xs, {"rnn": rnn, "lstm": lstm, "gru": gru}[name](xs, *parameters)):
        if name == "lstm":
            h, c = lstm_cell(x, h, c, *parameters)
        else:
            h = {"rnn": rnn_cell, "gru": gru_cell}[name](x, h, *parameters)
        np.testing.assert_allclose(h, expected, rtol=1e-13)


@pytest.mark.parametrize("name", RECURRENT)
def test_the_last_state_alone_has_the_gradients_of_the_last_of_all(name):
    xs, *parameters = recurrent_arrays(RECURRENT[name][0])
    layer = {"rnn": rnn, "lstm": lstm, "gru": lambda *a, last=False: gru(*a, draw(4, seed=9), last=last)}[name]
    value, gradients = value_and_grad(lambda w, u, b: weighted(layer(xs, w, u, b, last=True)), wrt=(0, 1, 2))(*parameters)
    expected, others = value_and_grad(lambda w, u, b: weighted(layer(xs, w, u, b)[-1]), wrt=(0, 1, 2))(*parameters)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    for one, other in zip(gradients, others):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_in_both_modes_from_a_given_state(name):
    arrays = recurrent_arrays(RECURRENT[name][0])
    h, c, bn = draw(3, 4, seed=7), draw(3, 4, seed=8), draw(4, seed=9)
    f = {
        "rnn": lambda xs, w, u, b, h: weighted(rnn(xs, w, u, b, h)),
        "lstm": lambda xs, w, u, b, h: weighted(lstm(xs, w, u, b, h, c)[-1]),
        "gru": lambda xs, w, u, b, h: weighted(gru(xs, w, u, b, bn, h)[-1]),
    }[name]
    check_grads(f, (*arrays, h), wrt=(0, 1, 2, 3, 4))


def test_no_step_gives_no_state_and_no_gradient():
    xs, w, u, b = recurrent_arrays(4, steps=0)
    assert lstm(xs, w, u, b).shape == (0, 3, 4)
    assert not any(d.any() for d in grad(lambda w, u, b: np.sum(lstm(xs, w, u, b)), wrt=(0, 1, 2))(w, u, b))


def test_recurrent_layers_of_float32_are_float32():
    for layer, gates in ((rnn, 1), (lstm, 4)):
        arrays = [a.astype("f4") for a in recurrent_arrays(gates)]
        value, gradients = value_and_grad(lambda xs, w, u, b, f=layer: np.sum(f(xs, w, u, b) ** 2), wrt=(0, 1, 2, 3))(*arrays)
        assert {value.dtype, *(d.dtype for d in gradients)} == {np.dtype("f4")}


# Networks that call themselves


def tower(x, w, b, height):
    return x if height == 0 else tower(np.tanh(dense(x, w, b)), w, b, height - 1)


def test_layers_in_a_recursive_function_to_second_order():
    x, w, b = draw(5, 4), draw(4, 4, seed=1), draw(4, seed=2)

    def loss(x, w, b, height):
        return np.sum(tower(x, w, b, height) ** 2)

    check_grads(loss, (x, w, b, 3), wrt=(0, 1, 2))
    h, v = 1e-5, draw(4, 4, seed=3)
    product = hvp(loss, wrt="w")(x, w, b, 3, v)
    moved = [grad(loss, wrt="w")(x, w + s * h * v, b, 3) for s in (1, -1)]
    np.testing.assert_allclose(product, (moved[0] - moved[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_every_policy_gives_the_same_gradient_through_layers():
    x, w, b = draw(5, 4), draw(4, 4, seed=1), draw(4, seed=2)

    def loss(x, w, b):
        for _ in range(5):
            x = np.tanh(dense(x, w, b))
        return np.sum(x**2)

    expected = grad(loss, wrt=(0, 1, 2))(x, w, b)
    for policy in ("states", "store", "recompute"):
        for one, other in zip(grad(loss, wrt=(0, 1, 2), checkpoint=policy)(x, w, b), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
