"""Recurrent networks: our gradients are those of PyTorch, JAX and autograd, to rounding in float64."""

import numpy as np
import pytest

from sourcead import value_and_grad
from tests.benchmarks.by_hand import recurrent as by_hand

PEERS = ("torch", "jax", "autograd")


@pytest.fixture(params=PEERS)
def peer(request):
    """The name of a framework that is installed."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed: pip install '.[peers]'")
    return request.param


def gradients_of(peer, f, arguments, count):
    """The value and the gradients of `f(lib, *arguments)` with respect to the first `count` arguments."""
    if peer == "torch":
        return torch_gradients(f, arguments, count)
    if peer == "jax":
        return jax_gradients(f, arguments, count)
    return autograd_gradients(f, arguments, count)


def torch_gradients(f, arguments, count):
    import torch

    tensors = [torch.tensor(np.ascontiguousarray(a)) for a in arguments]
    for tensor in tensors[:count]:
        tensor.requires_grad_()
    value = f(torch, *tensors)
    return value.item(), [g.numpy() for g in torch.autograd.grad(value, tensors[:count])]


def jax_gradients(f, arguments, count):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        value, gradients = jax.value_and_grad(lambda *a: f(jnp, *a), argnums=tuple(range(count)))(
            *map(jnp.asarray, arguments)
        )
        return float(value), [np.asarray(g) for g in gradients]


def autograd_gradients(f, arguments, count):
    import autograd
    import autograd.numpy as anp

    def of_parameters(parameters):
        return f(anp, *parameters, *arguments[count:])

    return of_parameters(arguments[:count]), autograd.grad(of_parameters)(list(arguments[:count]))


def assert_same(ours, theirs, rtol):
    """Both are a value and a sequence of gradients."""
    np.testing.assert_allclose(ours[0], theirs[0], rtol=rtol)
    for one, other in zip(ours[1], theirs[1], strict=True):
        assert one.shape == other.shape
        assert np.max(np.abs(one - other)) <= rtol * np.max(np.abs(other))


# The network of examples/mnist_rnn.py


def rnn_in(lib, wx, wh, bh, wo, bo, xs, labels):
    h = lib.zeros((xs.shape[1], bh.shape[0]), dtype=xs.dtype)
    for t in range(xs.shape[0]):
        h = lib.tanh(xs[t] @ wx + h @ wh + bh)
    logits = h @ wo + bo
    return lib.mean(lib.log(lib.sum(lib.exp(logits), 1)) - logits[lib.arange(len(labels)), labels])


def rnn_arguments(dtype, batch=9, pixels=7, units=5):
    rng = np.random.default_rng(0)
    shapes = ((pixels, units), (units, units), (units,), (units, 10), (10,), (4, batch, pixels))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes] + [rng.integers(0, 10, batch)]


def test_the_hand_written_gradient_is_the_peers(peer):
    arguments = rnn_arguments(np.float64)
    assert_same(by_hand.rnn_loss_and_gradients(*arguments), gradients_of(peer, rnn_in, arguments, 5), 1e-9)


def test_the_network_of_the_example(peer):
    from examples import mnist_rnn

    arguments = rnn_arguments(np.float64)
    assert_same(mnist_rnn.loss(*arguments), gradients_of(peer, rnn_in, arguments, 5), 1e-9)


def test_the_network_of_the_example_in_float32(peer):
    from examples import mnist_rnn

    arguments = rnn_arguments(np.float32)
    ours = mnist_rnn.loss(*arguments)
    assert all(gradient.dtype == np.float32 for gradient in ours[1])
    assert_same(ours, gradients_of(peer, rnn_in, arguments, 5), 1e-5)


# The Elman network of the design page


def elman(w, u, b, xs, y):
    h = np.zeros(b.shape)
    for x in xs:
        h = np.tanh(w @ x + u @ h + b)
    return np.mean((h - y) ** 2)


def elman_in(lib, w, u, b, xs, y):
    h = lib.zeros(b.shape, dtype=b.dtype)
    for t in range(xs.shape[0]):
        h = lib.tanh(w @ xs[t] + u @ h + b)
    return lib.mean((h - y) ** 2)


def test_the_elman_network(peer):
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=shape) for shape in ((4, 3), (4, 4), (4,), (6, 3), (4,))]
    ours = value_and_grad(elman, wrt=("w", "u", "b"))(*arguments)
    assert_same(ours, gradients_of(peer, elman_in, arguments, 3), 1e-9)
