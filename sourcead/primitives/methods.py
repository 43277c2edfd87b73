"""The NumPy functions that do the same as methods and attributes of arrays."""

import numpy as np

_SAME = """
sum prod mean var std max min argmax argmin argsort all any cumsum cumprod ravel squeeze swapaxes repeat take diagonal trace round
dot searchsorted nonzero conjugate argpartition choose
""".split()

METHODS = {name: getattr(np, name) for name in _SAME} | {
    "conj": np.conjugate,
    "copy": np.ndarray.copy,
    "astype": np.ndarray.astype,
    "flatten": np.ndarray.flatten,
    "item": np.ndarray.item,
    "tolist": np.ndarray.tolist,
    "__abs__": np.abs,
}
"""Methods whose function takes the array first and then the same arguments."""

ATTRIBUTES = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}
"""Attributes that are another array: `x.T` is `np.transpose(x)`."""

INPLACE = {"fill", "sort", "put", "resize", "itemset", "partition", "setflags", "byteswap", "setfield"}
"""Methods that write into the array."""


def _reshape(args, kwargs):
    return np.reshape, _one(args), kwargs


def _transpose(args, kwargs):
    return np.transpose, _one(args), kwargs


def _one(sizes):
    """Return several sizes or axes as one tuple; leave a single argument, a number or a tuple, as it is."""
    return tuple(sizes) if len(sizes) <= 1 else (tuple(sizes),)


def _clip(args, kwargs):
    bounds = [kwargs[name] if name in kwargs else None for name in ("min", "max")]
    return np.clip, (*args, *bounds[len(args) :]), {k: v for k, v in kwargs.items() if k not in ("min", "max")}


NORMALISERS = {"reshape": _reshape, "transpose": _transpose, "clip": _clip}
"""Methods whose arguments differ from the function's: (args without the array, kwargs) -> (function, args after the array, kwargs)."""
