"""Random arrays that the programs are given."""

import numpy as np


def normal(rng: np.random.Generator, dtype, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed numbers of standard deviation `scale`, in an array of this shape and dtype."""
    return (scale * rng.standard_normal(shape)).astype(dtype)
