"""`vmap`: functions of NumPy with a form for all members, parts whose lengths differ, batches without members."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special

from sourcead import jacobian, vjp, vmap
from sourcead.compile.member_loop import MemberLoop
from tests.test_vmap import assert_alike

RNG = np.random.default_rng(3)
X, M, W = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4, 4)), RNG.normal(size=(5, 2, 3))
K = np.array([0, 2, -1, 4, 9])
SPARSE = sp.csr_array(np.array([[1.0, 0, 2, 0], [0, 0, 3, 0], [0, 1, 0, -1]]))


def doubled(x):
    y = x.copy()
    y[y > 0] *= 2
    return y


def added(x):
    y = x.copy()
    y[x > 0] += np.log(x[x > 0]) * y[0]
    return y


def kept(x):
    part = x[x > 0]
    return np.sum(part**2) + np.mean(part) * len(part)


def first(x, k):
    return np.sum(x[:k] ** 2) + np.sum(x[k:]) * x[0]


def cleared(x, k):
    y = x.copy()
    y[k:] = 0.0
    y[:k] *= x[1]
    return y


def lower(x):
    m = np.zeros((3, 3))
    m[np.triu(np.ones((3, 3))) > 0] = 1.0
    return m * x[0] + np.tril(np.ones((3, 3)) * x[1], -1)


CASES = {
    "percentile": (lambda x: np.percentile(x, 30), X), "quantiles": (lambda m: np.quantile(m, [0.2, 0.5], axis=0), M),
    "median": (lambda m: np.median(m, axis=1), M), "range": (lambda x: np.ptp(x) * x, X),
    "average": (lambda x: np.average(x, weights=K + 2), X[:, [0, 1, 2, 3, 0]]),
    "trace": (lambda m: np.trace(m, 1), M), "diagonal": (lambda w: np.diagonal(w, 1), W),
    "diag": (lambda x: np.diag(x, -1) @ np.ones(5), X),
    "diag of": (lambda m: np.diag(m) * np.diag(m, 1).sum(), M), "roll": (lambda m: np.roll(m, 3) @ np.roll(m, -1, axis=1), M),
    "turned": (lambda w: np.rot90(w), W), "triangles": (lambda m: np.tril(m) @ np.triu(m, 1), M), "tile": (lambda x: np.tile(x, (2, 3)), X),
    "repeat": (lambda w: np.repeat(w, 2, axis=1), W), "pad": (lambda w: np.pad(w, ((1, 0), (2, 1))), W),
    "diff": (lambda x: np.diff(x, 2), X),
    "gradient": (lambda x: np.gradient(x), X), "take": (lambda w: np.take(w, [2, 0], axis=1), W), "kron": (lambda w: np.kron(w, w), W),
    "cross": (lambda w: np.cross(w[0], w[1]), W), "inner": (lambda w: np.inner(w[0], w[1]) + np.vdot(w, w), W),
    "tensordot": (lambda m: np.tensordot(m, m[0], axes=1), M), "split": (lambda x: np.split(x, 2)[0] * np.split(x, 2)[1], X),
    "spectrum": (lambda x: np.abs(np.fft.rfft(x)) ** 2, X), "singular values": (lambda w: np.linalg.svd(w, compute_uv=False), W),
    "pinv": (lambda w: np.linalg.pinv(w), W), "power": (lambda m: np.linalg.matrix_power(m, 3), M), "det": (lambda m: np.linalg.det(m), M),
    "sparse": (lambda x: SPARSE @ x, X), "logsumexp": (lambda m: special.logsumexp(m, axis=0), M),
    "softmax": (lambda m: special.softmax(m, axis=1), M), "select": (lambda x: np.select([x < -1, x < 0], [x * 2, x**3], x), X),
    "doubled": (doubled, X), "added": (added, X), "kept": (kept, X), "lower": (lower, X),
    "first": (first, X, K), "cleared": (cleared, X, K), "remainder": (lambda x, k: x * (k % 3) + x[0] * (k // 2), X, K),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_there_is_a_form_with_the_results_of_a_loop(name):
    f, *batch = CASES[name]
    many = vmap(f)
    assert_alike(many(*copy.deepcopy(batch)), MemberLoop(f, 0, 0)(*batch))
    assert not many.lower(*batch).notes


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_the_pullbacks_are_those_of_a_loop(name):
    f, *batch = CASES[name]
    value, pullback = vjp(vmap(f), *batch, wrt=0, verify=False)
    weights = np.cos(np.arange(value.size)).reshape(value.shape)
    found = [vjp(f, *own, wrt=0, verify=False)[1](np.asarray(w)[()]) for *own, w in zip(*batch, weights)]
    np.testing.assert_allclose(pullback(weights), np.stack(found), rtol=1e-8, atol=1e-8)


def test_a_write_at_a_slice_that_differs_inside_a_jacobian():
    found = vmap(jacobian(cleared), in_axes=(0, 0))(X, K)
    np.testing.assert_allclose(found, np.stack([jacobian(cleared)(x, k) for x, k in zip(X, K)]))


@pytest.mark.parametrize("f, shape", [(np.tanh, (0, 4)), (kept, (0,)), (lambda x: np.log(x) if x[0] > 0 else x, (0, 4))])
def test_a_batch_without_members(f, shape):
    many = vmap(f)
    assert many(X[:0]).shape == shape
    assert many(X).shape[1:] == shape[1:]
    assert many(X[:0]).shape == shape


def test_a_number_that_becomes_an_array_in_a_loop_is_not_repeated():
    def f(x, c):
        total = 0.0
        for i in range(3):
            total = total + c * i
        return total * x

    np.testing.assert_allclose(vmap(f, in_axes=(0, None))(X[:, 0], W[0]), X[:, 0][:, None, None] * W[0] * 3)
