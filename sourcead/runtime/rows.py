"""An array with several axes as rows, for one product with a matrix. In generated text both are written as `np.reshape`."""

import numpy as np


def join_rows(x):
    """All rows of an array, whatever axes are before the last, as one axis."""
    return np.reshape(x, (-1, x.shape[-1]))


def split_rows(rows, x):
    """Rows along the axes that `x` has before its last."""
    return np.reshape(rows, (*x.shape[:-1], rows.shape[-1]))
