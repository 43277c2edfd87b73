"""The networks of `examples/mnist_*.py` in JAX, as its users write them; losses of a list of parameters and a batch."""

import jax
import jax.numpy as jnp
from jax import lax


def cross_entropy(logits, labels):
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels])


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def convolve(x, w, b):
    return lax.conv(x, w, (1, 1), "VALID") + b[:, None, None]


def cnn(p, images, labels):
    w1, b1, w2, b2, w3, b3, w4, b4 = p
    h = pool(jax.nn.relu(convolve(images, w1, b1)))
    h = pool(jax.nn.relu(convolve(h, w2, b2)))
    h = jax.nn.relu(h.reshape(len(h), -1) @ w3 + b3)
    return cross_entropy(h @ w4 + b4, labels)


def mlp(p, images, labels):
    w1, b1, w2, b2 = p
    return cross_entropy(jax.nn.relu(images @ w1 + b1) @ w2 + b2, labels)


def autoencoder(p, images):
    we1, b1, we2, b2, wd, bd = p
    code = jax.nn.sigmoid(jax.nn.sigmoid(images @ we1 + b1) @ we2 + b2)
    return jnp.mean(jnp.sum((jax.nn.sigmoid(code @ wd + bd) - images) ** 2, axis=1))


def lstm(p, xs, labels):
    w, u, b, wo, bo = p

    def step(state, x):
        h, c = state
        i, f, o, g = jnp.split(x @ w + h @ u + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    start = jnp.zeros((xs.shape[1], u.shape[0]), xs.dtype)
    (h, _), _ = lax.scan(step, (start, start), xs)
    return cross_entropy(h @ wo + bo, labels)


def gru(p, xs, labels):
    w, u, b, bn, wo, bo = p

    def step(h, x):
        rz, zz, nz = jnp.split(x @ w + b, 3, axis=1)
        rs, zs, ns = jnp.split(h @ u, 3, axis=1)
        r, z = jax.nn.sigmoid(rz + rs), jax.nn.sigmoid(zz + zs)
        n = jnp.tanh(nz + r * (ns + bn))
        return n + z * (h - n), None

    h, _ = lax.scan(step, jnp.zeros((xs.shape[1], u.shape[0]), xs.dtype), xs)
    return cross_entropy(h @ wo + bo, labels)
