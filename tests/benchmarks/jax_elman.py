"""The Elman network of `examples/elman.py` in JAX: nested `lax.scan` under `jax.jit`; the layers are stacked."""

import jax
import jax.numpy as jnp


def loss(stacked, xs, y):
    def layer(x, parameters):
        (w, u, b), h = parameters
        h = jnp.tanh(x @ w.T + h @ u.T + b)
        return h, h

    def step(hs, x):
        _, hs = jax.lax.scan(layer, x, (stacked, hs))
        return hs, None

    count, units = stacked[2].shape
    hs, _ = jax.lax.scan(step, jnp.zeros((count, xs.shape[1], units), xs.dtype), xs)
    return jnp.mean((hs[-1] - y) ** 2)


def loss_of_layers(layers, xs, y):
    return loss(tuple(jnp.stack(parts) for parts in zip(*layers)), xs, y)


def scans(layers, xs, y):
    """A function that gives the loss and the gradients; they are ready when it returns."""
    value_and_grad = jax.jit(jax.value_and_grad(loss))
    stacked = tuple(jnp.stack(parts) for parts in zip(*layers))
    xs, y = jnp.asarray(xs), jnp.asarray(y)

    def run():
        value, gradients = jax.block_until_ready(value_and_grad(stacked, xs, y))
        return float(value), [g[k] for k in range(len(layers)) for g in gradients]

    return run
