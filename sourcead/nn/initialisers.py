"""Starting values for parameters."""

import numpy as np


def glorot_uniform(rng: np.random.Generator, inputs: int, outputs: int, dtype: type = np.float32) -> np.ndarray:
    """Draws a weight matrix uniformly from ±sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010, equation 16).

    Args:
        rng: Where the numbers are drawn from.
        inputs: Rows of the matrix.
        outputs: Columns of the matrix.
        dtype: A floating-point type.

    Returns:
        An array of shape (inputs, outputs).

    Example:
        >>> w = glorot_uniform(np.random.default_rng(0), 2, 4)
        >>> w.shape, w.dtype, bool(np.all(abs(w) <= 1))
        ((2, 4), dtype('float32'), True)
    """
    bound = np.sqrt(6 / (inputs + outputs))
    return rng.uniform(-bound, bound, (inputs, outputs)).astype(dtype)
