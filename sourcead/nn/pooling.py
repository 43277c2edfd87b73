"""Pools of images: the greatest pixel or the mean of each window.

    y[n, c, h, v] = x at the window's first maximum        y[n, c, h, v] = mean of the window

For given places of the maxima, both are linear functions of the pixels. In each line below, one function is the transpose of the
other, which gives derivatives of all orders:

    t_y = picked(t_x, y, x)      d_x = put_back(d_y, y, x)
    t_y = avg_pool2d(t_x)        d_x = spread_mean(d_y, x)

If several pixels of a window are greatest, the first one, row by row, takes the whole cotangent, as in PyTorch. Padding is never the
greatest, and counts as zero in the mean. `images.py` says how images lie in memory.
"""

import numpy as np

from sourcead.api.extending import adjoints, linear, primitive, tangents
from sourcead.nn.images import around, batch_inside, inside, memory, without_padding
from sourcead.nn.shapes import misfit, pair


def max_pool2d(x, size, stride=None, padding=0):
    """Return the greatest pixel of each window.

    Args:
        x: floating-point images of shape (batch, channels, height, width).
        size: height and width of the window: one number, or one for each.
        stride: how far the window moves: one number, or one for each; None is the size of the window.
        padding: how many pixels are put around the images, at most half the size; they are less than any other pixel.

    Returns:
        An array of shape (batch, channels, (height + 2 padding - size) // stride + 1, and the same for the width). Pixels at the end
        that fill no window are left out.

    Raises:
        ValueError: the window is larger than the padded image, or the padding larger than half the window.

    Example:
        >>> max_pool2d(np.array([[[[1.0, 2.0, 5.0], [4.0, 3.0, 6.0]]]]), 2)
        array([[[[4.]]]])
    """
    check_window("max_pool2d", x, size, padding)
    first, *others = windows_of(batch_inside(x, padding, -np.inf), size, stride)
    channels, height, width, count = first.shape
    y = memory(count, channels, height, width, x.dtype)
    np.copyto(inside(y), first)
    for part in others:
        np.maximum(inside(y), part, out=inside(y))
    return y


def picked(values, best, x, size, stride=None, padding=0):
    """Return the elements of `values`, of the shape of the images `x`, at the places of the maxima `best = max_pool2d(x)`."""
    found = 0
    for part, hit in zip(windows_of(batch_inside(values, padding), size, stride), hits(best, x, size, stride, padding)):
        found = np.where(hit, part, found)
    return found.transpose(3, 0, 1, 2)


def put_back(d, best, x, size, stride=None, padding=0):
    """Return the cotangent of the images of `best = max_pool2d(x)`: the first maximum of each window takes the cotangent of the window."""
    d = np.ascontiguousarray(d.transpose(1, 2, 3, 0))
    d_padded = around(x, padding, d.dtype)
    overlap = stride is not None and any(step < window for step, window in zip(pair(stride), pair(size)))
    for part, hit in zip(windows_of(inside(d_padded), size, stride), hits(best, x, size, stride, padding)):
        if overlap:
            part += d * hit
        else:
            np.multiply(d, hit, out=part)
    return without_padding(d_padded, x, padding)


def hits(best, x, size, stride, padding):
    """Yield, for each place in the windows in order, the windows that have their first maximum there."""
    best = np.ascontiguousarray(best.transpose(1, 2, 3, 0))
    free, hit = np.ones(best.shape, bool), np.empty(best.shape, bool)
    for part in windows_of(batch_inside(x, padding, -np.inf), size, stride):
        np.equal(part, best, out=hit)
        hit &= free
        free ^= hit
        yield hit


def avg_pool2d(x, size, stride=None, padding=0):
    """Return the mean of each window; arguments, result and errors are those of `max_pool2d`, but padding is zero.

    Example:
        >>> avg_pool2d(np.array([[[[1.0, 2.0, 5.0], [4.0, 3.0, 6.0]]]]), 2)
        array([[[[2.5]]]])
    """
    check_window("avg_pool2d", x, size, padding)
    tall, wide = pair(size)
    y = 0.0
    for part in windows_of(batch_inside(x, padding), size, stride):
        y = y + part
    y /= tall * wide
    return y.transpose(3, 0, 1, 2)


def spread_mean(d, x, size, stride=None, padding=0):
    """Return the cotangent of the images of `avg_pool2d(x)`; it reads only the shape of `x`."""
    tall, wide = pair(size)
    share = np.ascontiguousarray(d.transpose(1, 2, 3, 0)) / (tall * wide)
    d_padded = around(x, padding, share.dtype)
    for part in windows_of(inside(d_padded), size, stride):
        part += share
    return without_padding(d_padded, x, padding)


# ---- windows ----


def check_window(layer, x, size, padding):
    """Raise an error if the images and the window do not fit together."""
    fits = x.ndim == 4
    for length, window, pad in zip(x.shape[2:], pair(size), pair(padding)):
        fits = fits and 1 <= window <= length + 2 * pad and 2 * pad <= window
    if not fits:
        raise misfit(layer, x, pair(size))


def windows_of(image, size, stride):
    """Yield, for each place in the window, row by row, a view of the pixels that all windows have there."""
    (tall, wide), (down, across) = pair(size), pair(size if stride is None else stride)
    height, width = (image.shape[1] - tall) // down, (image.shape[2] - wide) // across
    for i in range(tall):
        for j in range(wide):
            yield image[:, i : i + height * down + 1 : down, j : j + width * across + 1 : across]


# ---- types and rules ----


def pooled(x, size, stride=None, padding=0):
    """Return the shape and dtype of the result of `max_pool2d`, in which the height and width are not known."""
    return (*x.shape[:2], None, None), x.dtype


def averaged(x, size, stride=None, padding=0):
    return pooled(x, size)[0], np.result_type(x.dtype, 1.0)


primitive(max_pool2d, result=pooled)
primitive(avg_pool2d, result=averaged)
primitive(picked, result=lambda values, best, *rest, **options: best)
primitive(put_back, result=lambda d, best, x, *rest, **options: x)
primitive(spread_mean, result=lambda d, x, *rest, **options: x)

adjoints({
    max_pool2d: lambda y, x, size, d_y, stride=None, padding=0: (put_back(d_y, y, x, size, stride, padding), None),
})
tangents({
    max_pool2d: lambda y, x, size, t_x, stride=None, padding=0: picked(t_x, y, x, size, stride, padding),
})
linear({
    picked: lambda y, values, best, x, size, d_y, stride=None, padding=0: (
        put_back(d_y, best, x, size, stride, padding), None, None, None
    ),
    put_back: lambda y, d, best, x, size, d_y, stride=None, padding=0: (
        picked(d_y, best, x, size, stride, padding), None, None, None
    ),
    avg_pool2d: lambda y, x, size, d_y, stride=None, padding=0: (spread_mean(d_y, x, size, stride, padding), None),
    spread_mean: lambda y, d, x, size, d_y, stride=None, padding=0: (avg_pool2d(d_y, size, stride, padding), None, None),
})
