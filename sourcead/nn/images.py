"""How images lie in memory between layers: with the batch innermost, as (channels, height, width, batch), and padded.

An array of shape (batch, channels, height, width) that a layer returns is such memory transposed, and what is elementwise keeps
it so; any other order is brought to it by a copy.
"""

import numpy as np

from sourcead.nn.shapes import pair

# The C library of Linux gives memory that is freed back to the system, unless larger blocks were freed before (up to 32 MB, mallopt(3)).
# Without this one, which is never touched, every batch would ask for its pages again: longer than all of its arithmetic.
np.empty(31 << 20, np.uint8)


def batch_inside(x, padding=0, fill=0, dtype=None):
    """Images of shape (batch, channels, height, width) as (channels, height, width, batch) in C order, padded with `fill`."""
    inside = x.transpose(1, 2, 3, 0)
    if pair(padding) == (0, 0):
        return np.ascontiguousarray(inside, dtype)
    padded = around(x, padding, dtype, fill)
    without_padding(padded, x, padding)[...] = x
    return padded


def around(x, padding, dtype=None, fill=0):
    """Memory for the images `x` with their padding, filled with one number."""
    (count, channels, height, width), (top, left) = x.shape, pair(padding)
    shape = (channels, height + 2 * top, width + 2 * left, count)
    return np.full(shape, fill, dtype or x.dtype) if fill else np.zeros(shape, dtype or x.dtype)


def without_padding(padded, x, padding):
    """A view of the images in padded memory, of the shape of `x`."""
    top, left = pair(padding)
    return padded[:, top : top + x.shape[2], left : left + x.shape[3]].transpose(3, 0, 1, 2)
