"""Ratings from factors of users and items, with biases and a penalty."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("U", "V", "bu", "bv")


def inputs(size, dtype):
    users, items, factors, n = {"small": (4, 5, 2, 8), "full": (500, 400, 16, 20000)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, users, factors, scale=0.3),
        normal(rng, dtype, items, factors, scale=0.3),
        normal(rng, dtype, users, scale=0.1),
        normal(rng, dtype, items, scale=0.1),
        rng.integers(0, users, n),
        rng.integers(0, items, n),
        normal(rng, dtype, n),
        0.1,
    )


def primal(U, V, bu, bv, rows, columns, ratings, penalty):
    predicted = np.sum(U[rows] * V[columns], axis=1) + bu[rows] + bv[columns]
    return np.mean((ratings - predicted) ** 2) + penalty * (np.mean(U**2) + np.mean(V**2))


def by_hand(U, V, bu, bv, rows, columns, ratings, penalty):
    u, v = U[rows], V[columns]
    errors = np.einsum("nk,nk->n", u, v)
    errors += bu[rows]
    errors += bv[columns]
    errors -= ratings
    errors *= 2 / len(ratings)
    d_U = U * (2 * penalty / U.size)
    d_V = V * (2 * penalty / V.size)
    d_bu, d_bv = np.zeros_like(bu), np.zeros_like(bv)
    v *= errors[:, None]
    u *= errors[:, None]
    np.add.at(d_U, rows, v)
    np.add.at(d_V, columns, u)
    np.add.at(d_bu, rows, errors)
    np.add.at(d_bv, columns, errors)
    return d_U, d_V, d_bu, d_bv
