"""Blocks that look at cotangents in the reverse sweep. Their limits are not reached here, so that the gradient is the true one."""

import numpy as np

from sourcead import adjoint_of, stop_gradient
from tests.programs import program


@program(args=lambda rng: (rng.normal(size=(3, 3)) / 2, rng.normal(size=3), rng.normal(size=(4, 3))), wrt=(0, 1))
def recurrence_with_clipped_cotangents(w, b, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(w @ h + x + b)
        with adjoint_of(h) as d_h:
            d_h = np.clip(d_h, -10, 10)
    return np.sum(h**2)


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(3, 4))), wrt=(0, 1), also=(lambda rng: (rng.normal(size=4), np.zeros((0, 4))),))
def cotangent_rescaled_where_its_norm_is_large(x, steps):
    for step in steps:
        x = x + np.sin(x * step)
        with adjoint_of(x) as d_x:
            norm = np.linalg.norm(d_x)
            assert np.isfinite(norm), "the cotangent is not finite"
            if norm > 1e6:
                d_x *= 1e6 / norm
    return np.sum(x * x)


@program(args=lambda rng: (rng.normal(size=(3, 2)), 0.3), also=(lambda rng: (rng.normal(size=(3, 2)), -5.0),))
def rows_checked_in_one_arm(xs, limit):
    total = 0.0
    for row in xs:
        y = row**2
        if row[0] > limit:
            with adjoint_of(row) as d_row, adjoint_of(y) as d_y:
                assert d_row.shape == row.shape and np.all(np.abs(d_y) < 1e3)
            y = y * row
        total += np.sum(y)
    return total


@program(args=lambda rng: ({"w": rng.normal(size=(2, 3)), "b": rng.normal(size=2)}, rng.normal(size=3)))
def parameters_checked_at_the_start(p, x):
    with adjoint_of(p) as d_p:
        for name in ("w", "b"):
            assert np.all(np.isfinite(d_p[name]))
    return np.sum(np.tanh(p["w"] @ x + p["b"]))


@program(args=lambda rng: (rng.normal(size=4) + 3,))
def array_written_in_place_around_a_block(x):
    u = np.zeros(4)
    for t in range(3):
        u[1:] = u[:-1] * u[1:] + x[1:] / (t + 1)
        with adjoint_of(u) as d_u:
            d_u[:] = np.where(np.abs(d_u) < 1e6, d_u, u)
        u[:-1] += x[:-1] * u[1:]
    return np.sum(u)


@program(args=lambda rng: (rng.normal(size=3),))
def constants_of_the_program_by_stop_gradient(x):
    scale = stop_gradient(np.array([1.0, 2.0, 3.0]))
    shift = stop_gradient({"a": 2.0, "b": scale})
    return np.sum(x**2 * scale * shift["b"]) + shift["a"]
