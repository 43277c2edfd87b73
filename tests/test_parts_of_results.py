"""Of a result, the part that is read is computed: the cotangent of `W @ concatenate((h, x))` in `h`, where `x` needs none."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad, jvp

RNG = np.random.default_rng(0)
W, U, H, X = (RNG.standard_normal(shape) for shape in ((9, 21), (9, 21), 9, 12))
HS, XS = RNG.standard_normal((5, 9)), RNG.standard_normal((5, 12))


def vectors(h):
    return np.sum(np.tanh(W @ np.concatenate([h, X])) ** 2)


def the_other_order(h):
    both = np.concatenate((X, h))
    return np.sum(np.tanh(W @ both) * np.cos(U @ both))


def rows(hs):
    z = np.hstack([hs, XS])
    return np.sum(np.tanh(z @ W.T) + np.sin(z @ U.T) ** 2)


def recurrent(h):
    for k in range(4):
        h = np.tanh(W @ np.concatenate([h, X * k]))
    return np.sum(h**3)


def stepped(h):
    z = U.T @ h
    return np.sum(z[1::3] ** 2)


def stencil(u):
    for _ in range(3):
        lap = np.zeros_like(u)
        lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1]
        u = u + 0.1 * u * lap - lap / 7
    return np.sum(u**2)


def rows_and_columns(u):
    out = np.zeros((5, 9))
    out[1] = u[1] * 2
    out[2, 3:] = u[0, :6]
    out[-1, ::2] = u[3, 1::2][::-1].sum() + u[2, :5]
    return np.sum(np.sin(out * u) * out)


def begun_as_a_number(u):
    h = 0.0
    for _ in range(3):
        lap = np.zeros_like(u)
        lap[1:] = u[:-1] * 2
        h = np.tanh(0.3 * h + u) * np.sin(h) + lap + 1
        u = u * h
    return np.sum(u * h)


def weighed_by_a_global_array(u):
    return np.sum(np.flipud(u) * HS) + np.sum(np.cumsum(u[0]) * H) + np.sum((u[1:] * 2.0)[:, ::2] * HS[1:, ::2])


CASES = {
    weighed_by_a_global_array: XS[:, :9], begun_as_a_number: HS, stencil: HS,
    rows_and_columns: HS, vectors: H, the_other_order: H, rows: HS, recurrent: H, stepped: H,
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_gradients(f):
    check_grads(f, (CASES[f],))
    check_grads(f, (np.asfortranarray(CASES[f]),))
    x = CASES[f]
    assert np.vdot(grad(f)(x), x) == pytest.approx(jvp(f, (x,), (x,))[1])


@pytest.mark.parametrize("f", [vectors, the_other_order, rows, recurrent], ids=lambda f: f.__name__)
def test_no_part_of_a_product_is_dropped(f):
    gradient = grad(f)
    gradient(CASES[f])
    reverse = gradient.source.split("# reverse")[-1]
    assert "@" in reverse
    assert not re.search(r"@[^\n]*\)\[[^\n]*:", reverse) and "_item" not in reverse


def test_a_product_of_which_both_parts_are_read_is_computed_once():
    gradient = grad(lambda h, x: np.sum(np.tanh(W @ np.concatenate([h, x])) ** 2), (0, 1))
    gradient(H, X)
    assert gradient.source.count("@") == 2  # one forward, one for both cotangents
