"""Reductions, shapes and contractions."""

import numpy as np

from tests.programs import program


def matrix(rng):
    return (rng.normal(size=(3, 4)),)


@program(args=matrix)
def sums(a):
    rows = np.sum(a, axis=1)
    columns = a.sum(axis=0)
    return np.sum(rows**2) + (columns**3).sum() + np.sum(a) ** 2


@program(args=matrix)
def sums_with_kept_axes(a):
    share = a / (1 + np.sum(a * a, axis=1, keepdims=True))
    other = a - a.mean(axis=0, keepdims=True)
    whole = np.sum(a, keepdims=True)
    return np.sum(share * other * whole)


@program(args=lambda rng: (rng.normal(size=(2, 3, 4)),))
def several_axes(a):
    x = np.sum(a**2, axis=(0, 2))
    y = np.mean(a, axis=(-1, -2))
    z = a.sum(axis=-1, keepdims=True) * a
    return np.sum(x**2) + np.sum(y**3) + z.sum()


@program(args=matrix)
def mean_variance_deviation(a):
    return np.mean(a) + np.var(a) + np.std(a) + np.sum(a.var(axis=0)) + np.sum(np.std(a, axis=1) ** 2) + np.var(a[0], ddof=1)


@program(args=matrix, level="python")
def extremes(a):
    return np.max(a) * np.min(a) + np.sum(a.max(axis=1) ** 2) + np.sum(np.min(a, axis=0, keepdims=True) * a) + np.ptp(a[0])


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=(2, 3)),))
def products(a):
    return np.prod(a) + np.sum(np.prod(a, axis=0) ** 2) + a.prod(axis=1).sum()


@program(args=lambda rng: (np.array([2.0, 0.0, 3.0, -1.0]),))
def product_with_a_zero(x):
    return np.prod(x) + np.prod(x[2:])


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def cumulative(x):
    a = np.cumsum(x)
    b = np.cumprod(1 + 0.1 * x)
    return np.sum(a * b) + np.cumsum(x)[2]


@program(args=lambda rng: (rng.normal(size=(3, 4)),), level="python")
def cumulative_along_axes(a):
    return np.sum(np.cumsum(a, axis=0) ** 2) + np.sum(a.cumsum(axis=1) * a)


@program(args=matrix)
def norms(a):
    return np.linalg.norm(a) + np.sum(np.linalg.norm(a, axis=1)) + np.sqrt(np.sum(a**2)) + np.linalg.norm(a[0])


@program(args=matrix)
def argmax_is_a_constant(a):
    k = np.argmax(a[0])
    return a[1, k] ** 2 + np.sum(a[np.arange(3), np.argmin(a, axis=1)])


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=(2, 3))), wrt=(0, 1))
def reshapes(x, m):
    a = x.reshape(2, 3)
    b = np.reshape(x, (3, 2))
    c = x.reshape((-1, 2))
    d = m.ravel() * x + m.flatten()
    return np.sum(a * m) + np.sum((b @ m) ** 2) + np.sum(c * b) + d.sum() * d[0]


@program(args=lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 4))), wrt=(0, 1), level="python")
def transposes(m, t):
    a = m.T @ m
    b = np.transpose(t, (2, 0, 1)) * m
    c = t.transpose(1, 0, 2)
    d = np.swapaxes(t, 0, 2)
    return np.sum(a**2) + np.sum(b * b) + np.sum(c[0] ** 2) + np.sum(d[:, 1]) + np.sum(np.moveaxis(t, -1, 0)[0] * m) + t.T[0].sum()


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def new_axes(x, y):
    a = x[:, None] * y[None, :]
    b = np.expand_dims(x, 0) + y[:, np.newaxis]
    c = np.squeeze(b[:, :1], axis=1)
    return np.sum(a * b) + np.sum(c * c)


@program(args=lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), rng.normal(size=3)), wrt=(0, 1, 2))
def joined(a, b, v):
    x = np.concatenate([a, b], axis=0)
    y = np.concatenate((x, x * 2), axis=1)
    z = np.stack([v, a[0], b[0]])
    w = np.vstack([a, b]) * np.hstack([v[:1], v[1:]])
    return np.sum(y**2) + np.sum(z @ v) + np.sum(w * x) + np.sum(np.stack([v, v * v], axis=1) ** 2)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=4)), wrt=(0, 1, 2, 3))
def matmuls(u, a, b, v):
    return (u @ a) @ v + np.sum(a @ b) ** 2 + np.dot(a, v) @ u + np.sum(np.matmul(u, a) * v) + a.dot(b).sum()


@program(args=lambda rng: (rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4, 2)), rng.normal(size=(4, 2))), wrt=(0, 1, 2))
def batched_matmuls(a, b, c):
    return np.sum((a @ b) ** 2) + np.sum(np.tanh(a @ c)) + np.sum((a @ c[:, 0]) ** 2)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=4), rng.normal(size=(3, 4))), wrt=(0, 1, 2), level="python")
def outer_and_inner(x, y, m):
    return np.sum(np.outer(x, y) * m) + np.inner(x, x) + np.vdot(y, y) + np.trace(m @ m.T) + np.sum(np.diag(m @ m.T) ** 2)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(4, 2))), wrt=(0, 1), level="python")
def einsums(a, b):
    return np.sum(np.einsum("ij,jk->ik", a, b) ** 2) + np.einsum("ij,ij->", a, a) + np.sum(np.tensordot(a, b, axes=1))


@program(args=lambda rng: (rng.normal(size=(2, 3)),), level="python")
def rearranged(a):
    x = np.tile(a, (2, 1)) * np.repeat(a, 2, axis=0)
    y = np.flip(a, axis=1) + a[::-1] + np.roll(a, 1, axis=1)
    z = np.pad(a, ((1, 1), (0, 2)))
    return np.sum(x * x) + np.sum(y * a) + np.sum(z[1:] ** 2) + np.sum(np.broadcast_to(a[0], (4, 3)) ** 2)


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def split_and_diff(x):
    a, b, c = np.split(x, 3)
    return np.sum(a * b + c) ** 2 + np.sum(np.diff(x) ** 2) + np.sum(np.triu(np.outer(x, x))) + np.sum(np.tril(np.outer(x, x), -1))


@program(args=lambda rng: (rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3)), wrt=(0, 1), level="python")
def linear_algebra(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x**2) + np.linalg.det(a) * 0.01 + np.sum(np.linalg.inv(a) ** 2) + np.linalg.slogdet(a)[1]


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def cholesky_of_a_product(a):
    L = np.linalg.cholesky(a @ a.T + np.eye(3))
    return np.sum(np.log(np.diag(L))) + L[2, 0]


@program(args=lambda rng: (rng.normal(size=7),), level="python")
def sorted_weights(x):
    s = np.sort(x)
    k = np.argsort(x)
    return np.sum(s * np.arange(7)) + np.sum(x[k] ** 2 * np.arange(7)) + np.median(x)


@program(args=lambda rng: (rng.normal(size=(3, 2)),))
def reductions_of_empty_slices(a):
    nothing = a[3:]
    return np.sum(nothing) + np.sum(nothing**2, axis=0) @ a[0] + np.prod(nothing) * a[1, 1]


@program(args=lambda rng: (rng.normal(size=(4,)),), also=(lambda rng: (rng.normal(size=(2, 3)),), lambda rng: (rng.normal(size=(2, 1, 2)),)))
def rank_is_open(x):
    x = x - x.mean(axis=-1, keepdims=True)
    return np.sum(x**2 / (1 + np.sum(x**2, axis=-1, keepdims=True))) + np.sum(np.exp(x) * x.shape[-1])


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def methods(a):
    return a.sum() + a.mean() * a.max() + a.T.dot(a).trace() + a.reshape(-1).cumsum()[-2] + a.copy().min() + a.std() + a.astype(float).var()
