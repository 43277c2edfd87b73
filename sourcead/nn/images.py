"""The memory of images between layers: (channels, height, width, batch), with the batch innermost.

A layer returns an array of shape (batch, channels, height, width) that is such memory transposed. Elementwise functions keep that order;
a layer copies arrays of any other order.
"""

import numpy as np

from sourcead.nn.shapes import pair


def memory(count, channels, height, width, dtype):
    """Return new memory for images, of shape (count, channels, height, width); it is not a view, so NumPy can reuse it in `f(x) * m`."""
    step = np.dtype(dtype).itemsize * count
    strides = (np.dtype(dtype).itemsize, height * width * step, width * step, step)
    return np.ndarray((count, channels, height, width), dtype, strides=strides)


def inside(images):
    """Return a view of images in the shape (channels, height, width, batch)."""
    return images.transpose(1, 2, 3, 0)


def batch_inside(x, padding=0, fill=0, dtype=None):
    """Return images of shape (batch, channels, height, width) as (channels, height, width, batch), in C order, padded with `fill`."""
    if pair(padding) == (0, 0):
        return np.ascontiguousarray(inside(x), dtype)
    padded = around(x, padding, dtype or x.dtype, fill)
    without_padding(padded, x, padding)[...] = x
    return inside(padded)


def around(x, padding, dtype, fill=0):
    """Return memory for the images `x` and their padding, filled with one number."""
    count, channels, height, width = x.shape
    top, left = pair(padding)
    padded = memory(count, channels, height + 2 * top, width + 2 * left, dtype)
    padded.fill(fill)
    return padded


def without_padding(padded, x, padding):
    """Return the images inside padded memory, of the shape of `x`: the memory itself if there is no padding, else a view."""
    top, left = pair(padding)
    if top == left == 0:
        return padded
    return padded[:, :, top : top + x.shape[2], left : left + x.shape[3]]
