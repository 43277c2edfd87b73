"""Checks of shapes, which a layer and its generated gradient each call in one line, and sizes that stand for both axes of an image."""

import numpy as np

from sourcead.api.extending import checks

FITTING = {
    "dense": "x (..., inputs), w (inputs, outputs), b (outputs,)",
    "conv2d": "x (batch, channels, height, width), w (outputs, channels, kernel height, kernel width), b (outputs,) or None, "
    "with a kernel no larger than the padded image",
    "max_pool2d": "x (batch, channels, height, width), a window no larger than the padded image, a padding of at most half of it",
    "avg_pool2d": "x (batch, channels, height, width), a window no larger than the padded image, a padding of at most half of it",
    "batch_norm": "x (batch, features) or (batch, features, height, width), scale, shift, mean and variance (features,)",
    "layer_norm": "x (..., features), scale and shift (features,)",
    "rnn": "x (..., batch, inputs), w (inputs, units), u (units, units), b (units,), h (batch, units)",
    "lstm": "x (..., batch, inputs), w (inputs, 4 units), u (units, 4 units), b (4 units,), h and c (batch, units)",
    "gru": "x (..., batch, inputs), w (inputs, 3 units), u (units, 3 units), b (3 units,), bn (units,), h (batch, units)",
    "cross_entropy": "logits (batch, classes), targets (batch,)",
}


def misfit(layer, *arrays):
    """Return the error which says that the arrays given to a layer or a loss do not fit together.

    Args:
        layer: the name of the layer or loss.
        *arrays: its arrays, in its order; a tuple stands for an array of that shape.

    Example:
        >>> print(misfit("dense", np.ones((5, 3)), np.ones((4, 2)), np.ones(2)))
        dense: the shapes (5, 3), (4, 2) and (2,) do not fit; it takes x (..., inputs), w (inputs, outputs), b (outputs,)
    """
    *most, last = (str(a if isinstance(a, tuple) else np.shape(a)) for a in arrays)
    together = ", ".join(most) + " and " + last
    return ValueError(f"{layer}: the shapes {together} do not fit; it takes {FITTING.get(layer, 'both of one shape')}")


def check_dense(x, w, b):
    """Reject arrays that `dense` does not take."""
    if x.ndim < 1 or w.ndim != 2 or x.shape[-1] != w.shape[0] or b.shape != w.shape[1:]:
        raise misfit("dense", x, w, b)


def check_rows(logits, targets):
    """Reject logits that do not have a row for each target."""
    if logits.ndim != 2 or targets.shape != logits.shape[:1]:
        raise misfit("cross_entropy", logits, targets)


def check_same(name, a, b):
    """Reject arrays of different shapes."""
    if np.shape(a) != np.shape(b):
        raise misfit(name, a, b)


def check_features(layer, x, axis, *parameters):
    """Reject parameters that do not have one number for each feature along an axis of `x`."""
    if not -x.ndim <= axis < x.ndim or any(p.shape != (x.shape[axis],) for p in parameters):
        raise misfit(layer, x, *parameters)


def check_recurrent(layer, gates, x, w, u, b, *states):
    """Reject arrays that a recurrent layer does not take; states that are None are zeros."""
    units = u.shape[0] if u.ndim == 2 else -1
    fits = w.shape == (x.shape[-1], gates * units) and u.shape == (units, gates * units) and b.shape == (gates * units,)
    if not fits or any(h is not None and h.shape != (x.shape[-2], units) for h in states):
        raise misfit(layer, x, w, u, b, *(h for h in states if h is not None))


checks(check_dense, check_rows, check_same, check_features, check_recurrent)


def pair(size):
    """Return the sizes along height and width: `size` is one number for both, or two."""
    if isinstance(size, (tuple, list)):
        height, width = size
        return height, width
    return size, size
