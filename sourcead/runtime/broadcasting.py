"""Cotangents of values that NumPy broadcasts, casts, or converts to an array."""

import numpy as np


def unbroadcast(d, x):
    """Return `d`, the cotangent of `x` broadcast to a larger shape, summed to the shape of `x` and cast to its dtype; None of None."""
    if x is None:
        return d
    if isinstance(x, (list, tuple)):
        if isinstance(d, (list, tuple)):
            if len(d) != len(x):
                raise TypeError("two lists were joined whose kind was not known while the derivative was generated")
            return like_sequence(d, x)
        return like_sequence(unbroadcast(d, np.asarray(x, dtype=float)), x)
    shape = np.shape(x)
    if np.shape(d) != shape:
        if np.ndim(d) < len(shape) or any(n != 1 and m == 1 for n, m in zip(shape[::-1], np.shape(d)[::-1])):
            d = np.broadcast_to(d, np.broadcast_shapes(np.shape(d), shape))
        lead = np.ndim(d) - len(shape)
        axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)
        d = np.sum(d, axis=axes, keepdims=True).reshape(shape)
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = x.dtype if x.dtype.kind in "fcO" else np.dtype(float)
        if dtype.kind == "f" and np.iscomplexobj(d):
            d = np.real(d)
        d = np.asarray(d, dtype=dtype)
        return d if isinstance(x, np.ndarray) else d[()]
    return complex(d) if isinstance(x, complex) else float(np.real(d))


def unbroadcast_each(ds, xs):
    """Return the cotangents of `xs` in `ys = np.broadcast_arrays(*xs)`."""
    return tuple(unbroadcast(d, x) for d, x in zip(ds, xs))


def like_sequence(d, x):
    """Return the cotangent of the nested lists and tuples `x`, where `d` is the cotangent of `np.array(x)`."""
    if isinstance(x, (list, tuple)):
        return type(x)([like_sequence(d[i], v) for i, v in enumerate(x)])
    return unbroadcast(d, x)


def like_arrays(parts, arrays):
    """Return each part in the shape and dtype of its array, all in a list, tuple or array as `arrays` is."""
    parts = [unbroadcast(np.reshape(d, np.shape(a)), a) for d, a in zip(parts, arrays)]
    return tuple(parts) if isinstance(arrays, tuple) else np.array(parts) if isinstance(arrays, np.ndarray) else parts
