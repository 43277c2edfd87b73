"""Convolution of images, with the derivatives of all orders.

    y[n, o, h, v] = b[o] + sum_{c, i, j} w[o, c, i, j] x[n, c, h s + i - p, v s + j - p]

Without b this is bilinear, and so are its two cotangents. Each of the three functions has the other two as its cotangents:

    y = conv2d(x, w)        d_x = conv2d_input(d_y, w, x)        d_w = conv2d_weights(x, d_y, w)

Images of shape (batch, channels, height, width) lie in memory with the batch innermost (see `images.py`), so that patches, strides and
pools move long runs of numbers. The patches of a few rows at a time are copied to one buffer and multiplied as a matrix.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sourcead import adjoint, tangent
from sourcead.api.extending import multilinear, primitive, unbroadcast
from sourcead.nn.images import around, batch_inside, inside, memory, without_padding
from sourcead.nn.shapes import misfit, pair

BUFFER_BYTES = 1 << 18  # the size of the buffer for the patches that are multiplied at once


def conv2d(x, w, b=None, stride=1, padding=0):
    """Convolve images with kernels (a cross-correlation, which the field calls convolution).

    Args:
        x: images of shape (batch, channels, height, width).
        w: kernels of shape (outputs, channels, kernel height, kernel width).
        b: a bias of shape (outputs,), or None.
        stride: how far the kernel moves from one output to the next: one number, or one for each of height and width.
        padding: how many zeros are put around the images: one number, or one for each of height and width.

    Returns:
        An array of shape (batch, outputs, (height + 2 padding - kernel height) // stride + 1, and the same for the width).

    Raises:
        ValueError: the channels differ, the kernel is larger than the padded image, or the bias does not fit.

    Example:
        >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
        >>> conv2d(x, np.ones((1, 1, 2, 2)), stride=1)[0, 0]
        array([[ 8., 12.],
               [20., 24.]])
    """
    height, width = output_size(x, w, b, stride, padding)
    dtype = np.result_type(x, w) if b is None else np.result_type(x, w, b)
    patches = patches_of(batch_inside(x, padding, dtype=dtype), w.shape, stride, height, width)
    row = width * x.shape[0]
    kernels = w.reshape(len(w), -1).astype(dtype, copy=False)
    y = memory(x.shape[0], len(w), height, width, dtype)
    flat = inside(y).reshape(len(w), height * row)
    for start, columns in column_blocks(patches):
        np.matmul(kernels, columns, out=flat[:, start * row : start * row + columns.shape[1]])
    if b is not None:
        flat += b[:, None]
    return y


def conv2d_input(d, w, x, stride=1, padding=0):
    """Return the cotangent of the images `x` of `conv2d(x, w)`; it reads only the shape and the dtype of `x`."""
    down, across = pair(stride)
    outputs, channels, tall, wide = w.shape
    d = batch_inside(d)
    rows, row = d.shape[1], d.shape[2] * d.shape[3]
    d_padded = around(x, padding, np.result_type(d, w))
    kernels = w.reshape(outputs, -1).T
    flat = d.reshape(outputs, rows * row)
    together = rows_at_once(len(kernels) * row * d_padded.itemsize, rows, 4 * BUFFER_BYTES)  # the addition needs buffers, too
    buffer = np.empty((len(kernels), together * row), d_padded.dtype)
    for start in range(0, rows, together):
        stop = min(start + together, rows)
        part = flat[:, start * row : stop * row]
        columns = np.matmul(kernels, part, out=buffer[:, : part.shape[1]])
        columns = columns.reshape(channels, tall, wide, stop - start, *d.shape[2:])
        for i in range(tall):
            hit = inside(d_padded)[:, start * down + i : (stop - 1) * down + i + 1 : down]
            for j in range(wide):
                hit[:, :, j : j + across * (d.shape[2] - 1) + 1 : across] += columns[:, i, j]
    return unbroadcast(without_padding(d_padded, x, padding), x)


def conv2d_weights(x, d, w, stride=1, padding=0):
    """Return the cotangent of the kernels `w` of `conv2d(x, w)`; it reads only the shape and the dtype of `w`."""
    dtype = np.result_type(x, d)
    d = batch_inside(d, dtype=dtype)
    patches = patches_of(batch_inside(x, padding, dtype=dtype), w.shape, stride, *d.shape[1:3])
    row = d.shape[2] * d.shape[3]
    flat = d.reshape(len(d), -1)
    d_w = np.zeros((len(d), w[0].size), dtype)
    for start, columns in column_blocks(patches):
        d_w += flat[:, start * row : start * row + columns.shape[1]] @ columns.T
    return unbroadcast(d_w.reshape(w.shape), w)


# ---- images in memory ----


def output_size(x, w, b, stride, padding):
    """Return the height and width of the result, or raise an error if the shapes do not fit."""
    sizes = []
    if x.ndim == 4 and w.ndim == 4 and x.shape[1] == w.shape[1] and (b is None or b.shape == w.shape[:1]):
        for size, kernel, step, pad in zip(x.shape[2:], w.shape[2:], pair(stride), pair(padding)):
            if 1 <= kernel <= size + 2 * pad:
                sizes.append((size + 2 * pad - kernel) // step + 1)
    if len(sizes) != 2:
        raise misfit("conv2d", x, w, *(() if b is None else (b,)))
    return sizes


def patches_of(image, w_shape, stride, height, width):
    """Return a view of shape (channels, kernel height, kernel width, height, width, batch): the pixels that each kernel element meets."""
    down, across = pair(stride)
    along = image.strides
    shape = (len(image), *w_shape[2:], height, width, image.shape[3])
    return as_strided(image, shape, (*along[:3], along[1] * down, along[2] * across, along[3]), writeable=False)


def column_blocks(patches):
    """Yield the patches of a few rows at a time as a matrix with one column per output, and the first row's number; all share a buffer."""
    channels, tall, wide, height, width, count = patches.shape
    if tall == wide == 1 and patches.flags.c_contiguous:
        yield 0, patches.reshape(channels, -1)
        return
    kernel, row = channels * tall * wide, width * count
    together = rows_at_once(kernel * row * patches.itemsize, height, BUFFER_BYTES)
    buffer = np.empty(kernel * together * row, patches.dtype)
    for start in range(0, height, together):
        rows = min(together, height - start)
        columns = buffer[: kernel * rows * row].reshape(channels, tall, wide, rows, width, count)
        columns[...] = patches[:, :, :, start : start + rows]
        yield start, columns.reshape(kernel, rows * row)


def rows_at_once(row_bytes, rows, buffer_bytes):
    """Return the number of rows that fit into the buffer, such that all parts have about the same number."""
    most = max(1, buffer_bytes // max(1, row_bytes))
    return max(1, -(-rows // max(1, -(-rows // most))))


# ---- types and rules ----


def conv2d_result(x, w, b=None, stride=1, padding=0):
    """Return the shape and dtype of the result of `conv2d`, in which the height and width are not known."""
    dtype = np.result_type(x.dtype, w.dtype, *(() if b is None else (b.dtype,)))
    return (x.shape[0], w.shape[0], None, None), dtype


primitive(conv2d, result=conv2d_result)
primitive(conv2d_input, conv2d_weights, result=lambda a, b, like, *rest, **options: like)
multilinear({
    conv2d_input: lambda y, d, w, x, d_y, stride=1, padding=0: (
        conv2d(d_y, w, None, stride, padding), conv2d_weights(d_y, d, w, stride, padding), None
    ),
    conv2d_weights: lambda y, x, d, w, d_y, stride=1, padding=0: (
        conv2d_input(d, d_y, x, stride, padding), conv2d(x, d_y, None, stride, padding), None
    ),
})


@adjoint(conv2d)
def _(y, x, w, b=None, d_y=None, stride=1, padding=0):
    d_b = None if b is None else np.sum(d_y, axis=(0, 2, 3))
    return conv2d_input(d_y, w, x, stride, padding), conv2d_weights(x, d_y, w, stride, padding), d_b


@tangent(conv2d)
def _(y, x, w, b=None, t_x=None, t_w=None, t_b=None, stride=1, padding=0):
    t_bias = None if b is None else np.broadcast_to(t_b[:, None, None], y.shape)
    return conv2d(t_x, w, None, stride, padding), conv2d(x, t_w, None, stride, padding), t_bias
