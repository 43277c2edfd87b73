"""Layers, activations and losses: values and derivatives, against PyTorch and central differences."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp, value_and_grad
from sourcead.nn import activations, layers, losses
from sourcead.nn.recurrent import gru, lstm, rnn
from tests.torch_twins import assert_same_as_torch, draw, torch_weighted, weighted

ACTIVATIONS = {
    "relu": lambda F, x: F.relu(x), "leaky_relu": lambda F, x: F.leaky_relu(x), "sigmoid": lambda F, x: F.sigmoid(x),
    "tanh": lambda F, x: F.tanh(x), "softplus": lambda F, x: F.softplus(x), "gelu": lambda F, x: F.gelu(x),
    "softmax": lambda F, x: F.softmax(x, -1), "log_softmax": lambda F, x: F.log_softmax(x, -1),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(1,), (5, 3), (2, 1, 4)], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_pytorch(name, shape):
    torch = pytest.importorskip("torch")
    if name == "gelu":
        pytest.importorskip("scipy")
    function = getattr(activations, name)
    x = 3 * draw(*shape)
    x.flat[0] = 0.0  # the kink

    def ours(x):
        return weighted(function(x))

    assert_same_as_torch(ours, lambda x: torch_weighted(torch, ACTIVATIONS[name](torch.nn.functional, x)), x)


def test_gelu_by_tanh_is_that_of_pytorch():
    torch = pytest.importorskip("torch")
    gelu = torch.nn.functional.gelu
    assert_same_as_torch(
        lambda x: weighted(activations.gelu(x, approximate=True)), lambda x: torch_weighted(torch, gelu(x, approximate="tanh")), draw(7, 3)
    )


def test_softmax_along_another_axis_is_that_of_pytorch():
    torch = pytest.importorskip("torch")
    for name in ("softmax", "log_softmax"):
        ours, theirs = getattr(activations, name), getattr(torch.nn.functional, name)
        assert_same_as_torch(lambda x, f=ours: weighted(f(x, axis=0)), lambda x, f=theirs: torch_weighted(torch, f(x, 0)), draw(4, 3))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_to_second_order(name):
    if name == "gelu":
        pytest.importorskip("scipy")
    function = getattr(activations, name)
    check_grads(lambda x: weighted(function(x)), (draw(4, 3) + 0.01,), order=2)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_keep_float32_and_what_they_are_given(name):
    if name == "gelu":
        pytest.importorskip("scipy")
    function = getattr(activations, name)
    x = np.array([[-80.0, -1.0], [0.5, 80.0]], np.float32)
    before = x.copy()
    value, d_x = value_and_grad(lambda x: np.sum(function(x) ** 2))(x)
    assert function(x).dtype == value.dtype == d_x.dtype == np.float32
    assert np.all(np.isfinite(function(x))) and np.all(np.isfinite(d_x))
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "sigmoid", "softplus", "gelu"])
def test_activations_of_one_number(name):
    if name == "gelu":
        pytest.importorskip("scipy")
    function = getattr(activations, name)
    for x in (-0.7, 1.3):
        check_grads(lambda x: 3 * function(x), (x,))
        np.testing.assert_allclose(function(x), function(np.array([x]))[0], rtol=1e-15)


def test_relu_keeps_infinities_and_nan():
    np.testing.assert_array_equal(activations.relu(np.array([-np.inf, np.inf, np.nan])), [0, np.inf, np.nan])


def test_the_normal_distribution_is_the_same_without_scipy(monkeypatch):
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-9, 9, 41)
    monkeypatch.setitem(__import__("sys").modules, "scipy.special", None)
    np.testing.assert_allclose(activations.normal_distribution(x), special.ndtr(x), rtol=1e-13)
    assert activations.normal_distribution(x.astype("f4")).dtype == np.float32


# Losses


LOSSES = {
    "mse": lambda F, a, b: F.mse_loss(a, b), "mae": lambda F, a, b: F.l1_loss(a, b), "huber": lambda F, a, b: F.huber_loss(a, b),
    "binary_cross_entropy": lambda F, a, b: F.binary_cross_entropy_with_logits(a, b),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(1,), (5, 3)], ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_pytorch(name, shape):
    torch = pytest.importorskip("torch")
    other = 1 / (1 + np.exp(-draw(*shape, seed=1)))
    arrays = (2 * draw(*shape), other)
    assert_same_as_torch(getattr(losses, name), lambda a, b: LOSSES[name](torch.nn.functional, a, b), *arrays)


@pytest.mark.parametrize("batch, classes", [(1, 1), (1, 5), (7, 3)])
def test_cross_entropy_is_that_of_pytorch(batch, classes):
    torch = pytest.importorskip("torch")
    targets = np.random.default_rng(2).integers(0, classes, batch)

    def ours(logits):
        return losses.cross_entropy(logits, targets)

    assert_same_as_torch(ours, lambda z: torch.nn.functional.cross_entropy(z, torch.tensor(targets)), 5 * draw(batch, classes))


@pytest.mark.parametrize("loss", [losses.cross_entropy, losses.binary_cross_entropy], ids=lambda f: f.__name__)
def test_cross_entropies_do_not_overflow(loss):
    logits = np.array([[1000.0, -1000.0], [-1000.0, 1000.0]])
    targets = np.array([1, 1]) if loss is losses.cross_entropy else np.array([[0.0, 1.0], [0.0, 1.0]])
    value, d_logits = value_and_grad(loss)(logits, targets)
    np.testing.assert_allclose(value, 1000 if loss is losses.cross_entropy else 500)
    assert np.all(np.isfinite(d_logits))


def test_losses_to_second_order():
    a, b = draw(4, 3), draw(4, 3, seed=1)
    for loss in (losses.mse, losses.huber):
        check_grads(loss, (a, b), wrt=(0, 1), order=2)
    check_grads(losses.binary_cross_entropy, (a, 1 / (1 + np.exp(b))), wrt=(0, 1), order=2)
    check_grads(losses.cross_entropy, (a, np.array([0, 2, 1, 2])), order=2)


def test_losses_of_float32_are_float32():
    a, b = draw(4, 3).astype("f4"), np.abs(np.tanh(draw(4, 3, seed=1))).astype("f4")
    for name in LOSSES:
        value, d_a = value_and_grad(getattr(losses, name))(a, b)
        assert value.dtype == d_a.dtype == np.float32
    value, d_a = value_and_grad(losses.cross_entropy)(a, np.array([0, 2, 1, 2]))
    assert value.dtype == d_a.dtype == np.float32


# Layers


@pytest.mark.parametrize("shape", [(1, 4), (5, 4), (3, 2, 4), (4,), (0, 4)], ids=str)
def test_dense_is_that_of_pytorch(shape):
    torch = pytest.importorskip("torch")

    def ours(x, w, b):
        return weighted(layers.dense(x, w, b))

    assert_same_as_torch(ours, lambda x, w, b: torch_weighted(torch, x @ w + b), draw(*shape), draw(4, 3, seed=1), draw(3, seed=2))


@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4, 5), (2, 1, 1, 1), (1, 2, 3, 1)], ids=str)
@pytest.mark.parametrize("train", [True, False])
def test_batch_norm_is_that_of_pytorch(shape, train):
    torch = pytest.importorskip("torch")
    features = shape[1]
    mean, variance = draw(features, seed=3), draw(features, seed=4) ** 2 + 0.1
    their_mean, their_variance = torch.tensor(mean), torch.tensor(variance)

    def ours(x, scale, shift):
        return weighted(layers.batch_norm(x, scale, shift, mean, variance, train)[0])

    def theirs(x, scale, shift):
        return torch_weighted(torch, torch.nn.functional.batch_norm(x, their_mean, their_variance, scale, shift, train))

    arrays = (draw(*shape), draw(features, seed=1), draw(features, seed=2))
    assert_same_as_torch(ours, theirs, *arrays, rtol=2e-9)
    _, statistics = layers.batch_norm(*arrays, mean, variance, train)
    np.testing.assert_allclose(statistics.mean, their_mean.numpy(), rtol=1e-12)
    np.testing.assert_allclose(statistics.variance, their_variance.numpy(), rtol=1e-12)


@pytest.mark.parametrize("shape", [(5, 3), (1, 7), (2, 3, 4)], ids=str)
def test_layer_norm_is_that_of_pytorch(shape):
    torch = pytest.importorskip("torch")

    def ours(x, scale, shift):
        return weighted(layers.layer_norm(x, scale, shift))

    def theirs(x, scale, shift):
        return torch_weighted(torch, torch.nn.functional.layer_norm(x, shape[-1:], scale, shift))

    assert_same_as_torch(ours, theirs, draw(*shape), draw(shape[-1], seed=1), draw(shape[-1], seed=2))


@pytest.mark.parametrize("tokens", [[2, 0, 2, 2], [[1, 1], [0, 2]], []], ids=str)
def test_embedding_is_that_of_pytorch(tokens):
    torch = pytest.importorskip("torch")
    tokens = np.array(tokens, int)
    embedded = torch.nn.functional.embedding

    def theirs(table):
        return torch_weighted(torch, embedded(torch.tensor(tokens), table))

    assert_same_as_torch(lambda table: weighted(layers.embedding(table, tokens)), theirs, draw(3, 4))


def test_normalisation_to_second_order():
    x, scale, shift = draw(4, 3), draw(3, seed=1), draw(3, seed=2)
    check_grads(lambda x, s, t: weighted(layers.layer_norm(x, s, t)), (x, scale, shift), wrt=(0, 1, 2), order=2)
    zeros, ones = np.zeros(3), np.ones(3)
    check_grads(lambda x, s, t: weighted(layers.batch_norm(x, s, t, zeros, ones)[0]), (x, scale, shift), wrt=(0, 1, 2), order=2)


def test_running_statistics_can_be_returned_beside_the_loss():
    x = draw(6, 3)

    def loss(scale, shift, statistics):
        y, statistics = layers.batch_norm(x, scale, shift, *statistics)
        return np.sum(y**2), statistics

    statistics = layers.Statistics(np.zeros(3), np.ones(3))
    value, new = loss(np.ones(3), np.zeros(3), statistics)
    np.testing.assert_allclose(new.mean, 0.1 * x.mean(0))
    check_grads(lambda s, t: loss(s, t, statistics)[0], (np.ones(3), np.zeros(3)), wrt=(0, 1))


def test_dropout_keeps_the_mean_and_its_gradient_has_the_same_mask():
    x = np.ones((200, 50), np.float32)

    def loss(x, rng):
        return np.sum(layers.dropout(x, 0.25, rng))

    y = layers.dropout(x, 0.25, np.random.default_rng(3))
    assert y.dtype == np.float32 and set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(y.mean() - 1) < 0.02
    np.testing.assert_array_equal(grad(loss)(x, np.random.default_rng(3)), y)
    assert layers.dropout(x, 0.25) is x


def test_dropout_by_a_mask():
    mask = np.random.default_rng(0).random((4, 3)) > 0.5
    check_grads(lambda x: weighted(layers.dropout(x, 0.5, mask=mask)), (draw(4, 3),))


# What does not fit


MISFITS = {
    "dense": (lambda: layers.dense(np.ones((5, 3)), np.ones((4, 2)), np.ones(2)), (5, 3), (4, 2), (2,)),
    "dense, bias": (lambda: layers.dense(np.ones((5, 4)), np.ones((4, 2)), np.ones(1)), (5, 4), (4, 2), (1,)),
    "dropout": (lambda: layers.dropout(np.ones((5, 4)), 0.5, mask=np.ones(4, bool)), (5, 4), (4,)),
    "batch_norm": (lambda: layers.batch_norm(np.ones((5, 4)), *[np.ones(3)] * 4), (5, 4), (3,)),
    "layer_norm": (lambda: layers.layer_norm(np.ones((5, 4)), np.ones(4), np.ones(5)), (5, 4), (5,)),
    "rnn": (lambda: rnn(np.ones((5, 2, 3)), np.ones((2, 4)), np.ones((4, 4)), np.ones(4)), (5, 2, 3), (2, 4)),
    "lstm": (lambda: lstm(np.ones((5, 2, 3)), np.ones((3, 16)), np.ones((4, 12)), np.ones(16)), (3, 16), (4, 12)),
    "lstm, state": (lambda: lstm(np.ones((5, 2, 3)), np.ones((3, 16)), np.ones((4, 16)), np.ones(16), np.ones((1, 4))), (5, 2, 3), (1, 4)),
    "gru": (lambda: gru(np.ones((5, 2, 3)), np.ones((3, 12)), np.ones((4, 12)), np.ones(4), np.ones(4)), (4, 12), (4,)),
    "cross_entropy": (lambda: losses.cross_entropy(np.ones((5, 3)), np.ones(4, int)), (5, 3), (4,)),
    "mse": (lambda: losses.mse(np.ones((5, 1)), np.ones(5)), (5, 1), (5,)),
    "mae": (lambda: losses.mae(np.ones((5, 1)), np.ones(5)), (5, 1), (5,)),
    "huber": (lambda: losses.huber(np.ones((5, 1)), np.ones(5)), (5, 1), (5,)),
    "binary_cross_entropy": (lambda: losses.binary_cross_entropy(np.ones((5, 1)), np.ones(5)), (5, 1), (5,)),
}


@pytest.mark.parametrize("name", MISFITS)
def test_shapes_that_do_not_fit_are_named(name):
    call, *shapes = MISFITS[name]
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(name.partition(",")[0] + ": ") and all(str(shape) in str(error.value) for shape in shapes)


def test_the_checks_happen_in_every_derivative():
    def loss(x, w, b):
        return np.sum(layers.dense(x, w, b) ** 2)

    fitting, wrong = (np.ones((5, 3)), np.ones((3, 2)), np.ones(2)), (np.ones((5, 4)), np.ones((3, 2)), np.ones(2))
    for derivative in (grad(loss), lambda *a: jvp(loss, a, (a[0], None, None)), lambda *a: hvp(loss)(*a, a[0])):
        derivative(*fitting)
        with pytest.raises(ValueError, match=r"dense: the shapes \(5, 4\), \(3, 2\) and \(2,\) do not fit"):
            derivative(*wrong)
