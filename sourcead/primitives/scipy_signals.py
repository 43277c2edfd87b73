"""SciPy's functions of sampled signals: cosine and sine transforms, filters of `scipy.ndimage`, `interp1d`, `scipy.signal.periodogram`."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import fft, fftpack, interpolate, ndimage, signal

from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import linear
from sourcead.primitives.result_types.by_example import sized

PADDED = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant",
          "grid-mirror": "symmetric", "grid-wrap": "wrap", "grid-constant": "constant"}  # fmt: skip


def sums_of_windows(x, weights, mode, cval, before):
    """Return the sums of `weights` times what lies under them, where `before` of them along each axis stand in front of an element."""
    widths = tuple((k, n - 1 - k) for k, n in zip(before, weights.shape))
    wider = np.pad(x, widths, "constant", constant_values=cval) if PADDED[mode] == "constant" else np.pad(x, widths, PADDED[mode])
    windows = sliding_window_view(wider, weights.shape)
    return np.sum(windows * weights, axis=tuple(-1 - k for k, _ in enumerate(weights.shape)))


def transform_adjoint(transform):
    """Return the adjoint rule of a cosine or sine transform, y = x @ m along one axis, by the transforms m of the unit vectors."""
    return lambda y, x, type=2, n=None, axis=-1, norm=None, d_y=None: (
        np.moveaxis(np.moveaxis(d_y, axis, -1) @ transform(np.eye(np.shape(x)[axis]), type, n, -1, norm).T, -1, axis),
        None, None, None, None,
    )  # fmt: skip


TRANSFORMS = [getattr(module, name) for module in (fft, fftpack) for name in ("dct", "idct", "dst", "idst")]
linear({transform: transform_adjoint(transform) for transform in TRANSFORMS}, memory="fresh", examples=True, result=sized)


@composed(ndimage.correlate)
def correlate(input, weights, mode="reflect", cval=0.0):
    x, weights = np.asarray(input), np.asarray(weights)
    if np.ndim(x) == 0 or np.ndim(x) != np.ndim(weights) or mode not in PADDED:
        refuse("`scipy.ndimage.correlate` in this form")
    return sums_of_windows(x, weights, mode, cval, tuple(n // 2 for n in weights.shape))


@composed(ndimage.convolve)
def convolve(input, weights, mode="reflect", cval=0.0):
    x, weights = np.asarray(input), np.asarray(weights)
    if np.ndim(x) == 0 or np.ndim(x) != np.ndim(weights) or mode not in PADDED:
        refuse("`scipy.ndimage.convolve` in this form")
    return sums_of_windows(x, np.flip(weights), mode, cval, tuple((n - 1) // 2 for n in weights.shape))


@composed(interpolate.interp1d)
def interp1d(x, y, kind="linear"):
    x, y = np.asarray(x), np.asarray(y)
    if np.ndim(y) != 1 or kind not in ("linear", "zero", "previous", "next", "nearest"):
        refuse("`scipy.interpolate.interp1d` in this form")
    order = np.argsort(x, kind="mergesort")
    x, y = x[order], y[order]

    def interpolated(at):
        at = np.asarray(at)
        if np.any(at < x[0]) or np.any(at > x[-1]):
            raise ValueError("A value in x_new is outside of the interpolation range.")
        if kind == "linear":
            return np.interp(at, x, y)
        if kind == "next":
            return y[np.searchsorted(x, at)]
        if kind == "nearest":
            return y[np.searchsorted((x[1:] + x[:-1]) / 2, at)]
        return y[np.searchsorted(x, at, side="right") - 1]

    return interpolated


@composed(signal.periodogram)
def periodogram(x, fs=1.0, axis=-1):
    x = np.asarray(x)
    n = x.shape[axis]
    spectrum = np.fft.rfft(x - np.mean(x, axis=axis, keepdims=True), axis=axis)
    frequencies = np.fft.rfftfreq(n, 1 / fs)
    twice = np.where((frequencies == 0) | (2 * np.arange(len(frequencies)) == n), 1.0, 2.0)
    density = np.moveaxis(np.real(spectrum) ** 2 + np.imag(spectrum) ** 2, axis, -1) * twice / (fs * n)
    return frequencies, np.moveaxis(density, -1, axis)
