"""The recurrent network of `examples/mnist_rnn.py` in JAX, as its users write it."""

import jax
import jax.numpy as jnp
import numpy as np


def loss(wx, wh, bh, wo, bo, xs, labels):
    """The mean cross-entropy of a batch; `xs` has shape (steps, batch, pixels)."""
    h = jnp.zeros((xs.shape[1], bh.shape[0]), xs.dtype)
    for x in xs:
        h = jnp.tanh(x @ wx + h @ wh + bh)
    log_odds = jax.nn.log_softmax(h @ wo + bo)
    return -jnp.mean(log_odds[jnp.arange(len(labels)), labels])


def loss_and_gradients(*arguments):
    """NumPy arrays in, the loss and the five gradients out; in float64 if the arrays are."""
    with jax.enable_x64(arguments[0].dtype == np.float64):
        value, gradients = jax.value_and_grad(loss, argnums=(0, 1, 2, 3, 4))(*map(jnp.asarray, arguments))
        return float(value), tuple(map(np.asarray, gradients))


def epoch(data, parameters, rate, batch, steps):
    """A function that trains for one epoch with SGD, the whole step under `jax.jit`."""
    images, labels = data.x_train.reshape(len(data.x_train), steps, -1), data.y_train
    state = [jnp.asarray(p) for p in parameters]
    rng = np.random.default_rng(0)

    @jax.jit
    def step(parameters, xs, labels):
        gradients = jax.grad(loss, argnums=(0, 1, 2, 3, 4))(*parameters, jnp.swapaxes(xs, 0, 1), labels)
        return [p - rate * g for p, g in zip(parameters, gradients)]

    def run():
        nonlocal state
        order = rng.permutation(len(images))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            state = step(state, images[rows], labels[rows])
        jax.block_until_ready(state)

    return run
