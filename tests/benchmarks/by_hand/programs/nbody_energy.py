"""The energy of bodies that attract each other."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("positions", "velocities")


def inputs(size, dtype):
    n = {"small": 5, "full": 300}[size]
    rng = np.random.default_rng(0)
    return normal(rng, dtype, n, 3), normal(rng, dtype, n, 3), (0.5 + rng.random(n)).astype(dtype), 0.1


def primal(positions, velocities, masses, softening):
    kinetic = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    apart = positions[:, None, :] - positions[None, :, :]
    distances = np.sqrt(np.sum(apart**2, axis=2) + softening**2)
    potential = -np.sum(np.triu(masses[:, None] * masses[None, :] / distances, 1))
    return kinetic + potential


def by_hand(positions, velocities, masses, softening):
    apart = positions[:, None, :] - positions[None, :, :]
    squares = np.einsum("ijk,ijk->ij", apart, apart)
    squares += softening**2
    pulls = masses[:, None] * masses / (squares * np.sqrt(squares))
    d_positions = np.sum(pulls, axis=1)[:, None] * positions - pulls @ positions
    return d_positions, masses[:, None] * velocities
