"""SciPy's functions of sampled signals: rules of `convolve` and `lfilter`; compositions of filters and `periodogram`.

`y = convolve(a, b)` has the elements of the full convolution in its middle, from element `s` on. With d, which is d_y with zeros around it,

    d_a = convolve(d, b backwards, "valid")        d_b = convolve(d, a backwards, "valid")

`y = lfilter(b, a, x)` is the solution of `a * y = b * x`, where `*` is the convolution from the first sample on. Therefore

    t_y = lfilter(t_b, a, x) - lfilter(t_a, a, y) + lfilter(b, a, t_x)

and with `w`, which is `lfilter([1], a, d_y)` backwards in time,

    d_b[k] = sum_n w[n] x[n - k]        d_a[k] = -sum_n w[n] y[n - k]        d_x = lfilter(b, a, d_y) backwards in time
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal

from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import adjoint, enter, multilinear, tangent
from sourcead.primitives.result_types.by_example import sized

PADDED = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant",
          "grid-mirror": "symmetric", "grid-wrap": "wrap", "grid-constant": "constant"}  # fmt: skip


def sums_of_windows(x, weights, mode, cval, before):
    """Return the sums of `weights` times what lies under them, where `before` of them along each axis stand in front of an element."""
    widths = tuple((k, n - 1 - k) for k, n in zip(before, weights.shape))
    wider = np.pad(x, widths, "constant", constant_values=cval) if PADDED[mode] == "constant" else np.pad(x, widths, PADDED[mode])
    windows = sliding_window_view(wider, weights.shape)
    return np.sum(windows * weights, axis=tuple(-1 - k for k, _ in enumerate(weights.shape)))


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


def along_axis(weights, axis, dims):
    """Return weights as an array of `dims` axes that has them along one of these."""
    return np.reshape(weights, tuple(len(weights) if k == axis else 1 for k in range(dims)))


@composed(ndimage.uniform_filter)
def uniform_filter(input, size=3, mode="reflect", cval=0.0):
    x = np.asarray(input)
    sizes = tuple(size) if np.ndim(size) else (size,) * np.ndim(x)
    if np.ndim(x) == 0 or mode not in PADDED:
        refuse("`scipy.ndimage.uniform_filter` in this form")
    for axis, n in enumerate(sizes):
        x = sums_of_windows(x, along_axis(np.full(n, 1.0 / n), axis, np.ndim(x)), mode, cval,
                            tuple(n // 2 if k == axis else 0 for k in range(np.ndim(x))))  # fmt: skip
    return x


@composed(ndimage.gaussian_filter)
def gaussian_filter(input, sigma, mode="reflect", cval=0.0, truncate=4.0):
    x = np.asarray(input)
    deviations = tuple(sigma) if np.ndim(sigma) else (sigma,) * np.ndim(x)
    if np.ndim(x) == 0 or mode not in PADDED:
        refuse("`scipy.ndimage.gaussian_filter` in this form")
    for axis, deviation in enumerate(deviations):
        radius = int(truncate * deviation + 0.5)
        weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / deviation) ** 2)
        x = sums_of_windows(x, along_axis(weights / np.sum(weights), axis, np.ndim(x)), mode, cval,
                            tuple(radius if k == axis else 0 for k in range(np.ndim(x))))  # fmt: skip
    return x


def lagged_products(w, x, count, axis):
    """Return the sums of `w[n] * x[n - k]` over all elements, for the lags `k` below `count`."""
    w, x = np.moveaxis(w, axis, -1), np.moveaxis(x, axis, -1)
    return np.array([np.sum(w[..., k:] * x[..., : max(x.shape[-1] - k, 0)]) for k in range(count)])


@adjoint(signal.lfilter)
def lfilter_adjoint(y, b, a, x, axis=-1, d_y=None):
    w = np.flip(signal.lfilter([1.0], a, np.flip(d_y, axis), axis), axis)
    d_x = np.flip(signal.lfilter(b, a, np.flip(d_y, axis), axis), axis)
    return lagged_products(w, x, len(b), axis), -lagged_products(w, y, len(a), axis), d_x, None


@tangent(signal.lfilter)
def lfilter_tangent(y, b, a, x, t_b, t_a, t_x, axis=-1):
    return signal.lfilter(t_b, a, x, axis), -signal.lfilter(t_a, a, y, axis), signal.lfilter(b, a, t_x, axis)


enter(signal.lfilter, memory="fresh", pure=True, sequences="arrays", numba="interpreted", examples=True, result=sized)


enter(signal.butter, signal.cheby1, signal.cheby2, signal.ellip, signal.bessel, signal.iirnotch, signal.iirpeak, pure=True, memory="fresh",
      numba="interpreted", examples=True)  # fmt: skip


def from_rest(b, a, x):
    """Return the filtered rows of `x` as if their first element had been there for ever, which is the state of `lfilter_zi`."""
    first = x[..., :1]
    return signal.lfilter(b, a, x - first) + first * (np.sum(b) / np.sum(a))


def extended(x, padtype, edge):
    """Return rows with `edge` elements more on both sides."""
    if padtype is None:
        return x
    before, after = np.flip(x[..., 1 : edge + 1], -1), np.flip(x[..., -edge - 1 : -1], -1)
    first, last = x[..., :1], x[..., -1:]
    if padtype == "odd":
        before, after = 2 * first - before, 2 * last - after
    if padtype == "constant":
        before, after = first + 0 * before, last + 0 * after
    return np.concatenate((before, x, after), axis=-1)


def both_ways(x, axis, padtype, edge, once):
    """Return a signal to which a filter is applied forwards and then backwards in time."""
    x = np.asarray(x)
    if np.ndim(x) == 0 or padtype not in ("odd", "even", "constant", None):
        refuse("a filter of SciPy in this form")
    edge = 0 if padtype is None else edge
    x = x if axis == -1 else np.moveaxis(x, axis, -1)
    if edge >= x.shape[-1]:
        raise ValueError("The length of the input vector x must be greater than padlen.")
    y = np.flip(once(np.flip(once(extended(x, padtype, edge)), -1)), -1)
    y = y[..., edge : y.shape[-1] - edge]
    return y if axis == -1 else np.moveaxis(y, -1, axis)


@composed(signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    edge = 3 * max(len(a), len(b)) if padlen is None else padlen
    return both_ways(x, axis, padtype, edge, lambda rows: from_rest(b, a, rows))


@composed(signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sos = np.asarray(sos)
    if padlen is None:
        padlen = 3 * (2 * len(sos) + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0)))

    def once(rows):
        for section in sos:
            rows = from_rest(section[:3], section[3:], rows)
        return rows

    return both_ways(x, axis, padtype, padlen, once)


@composed(signal.sosfilt)
def sosfilt(sos, x, axis=-1):
    x = np.asarray(x)
    for section in np.asarray(sos):
        x = signal.lfilter(section[:3], section[3:], x, axis)
    return x


def in_full(d, a, b):
    """Return the cotangent of the full convolution of `a` and `b`, for that of the elements in its middle."""
    lacking = [n + m - 1 - k for n, m, k in zip(np.shape(a), np.shape(b), np.shape(d))]
    return np.pad(d, tuple((k // 2, k - k // 2) for k in lacking))


@multilinear(signal.convolve, memory="fresh", pure=True, sequences="arrays", numba="interpreted", examples=True, result=sized)
def convolve_adjoint(y, in1, in2, mode="full", method="auto", d_y=None):
    d = in_full(d_y, in1, in2)
    return signal.convolve(d, np.flip(in2), "valid", method), signal.convolve(d, np.flip(in1), "valid", method), None, None


@composed(signal.correlate)
def correlate_signals(in1, in2, mode="full", method="auto"):
    return signal.convolve(in1, np.flip(np.conj(in2)), mode, method)


@composed(signal.fftconvolve, signal.oaconvolve)
def convolve_by_fft(in1, in2, mode="full", axes=None):
    if axes is not None:
        refuse("`scipy.signal.fftconvolve` with `axes`")
    return signal.convolve(in1, in2, mode, "fft")


EXTENSIONS = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}
"""The mode of `np.pad` that extends an image as a boundary of `convolve2d` does."""


def convolved_with_boundary(image, window, mode, boundary, fillvalue, shift=0):
    """Return the convolution of an image that goes on behind its edges; for "same", it begins `shift` elements later."""
    is_filled = boundary in ("fill", "pad")
    if mode == "valid" or is_filled and fillvalue == 0 and (mode == "full" or shift == 0):
        return signal.convolve(image, window, mode, "direct")
    widths = [(n - 1, n - 1) if mode == "full" else ((n - shift) // 2, (n - 1 + shift) // 2) for n in window.shape]
    if is_filled:
        extended = np.pad(image, widths, constant_values=fillvalue)
    elif boundary in EXTENSIONS:
        extended = np.pad(image, widths, mode=EXTENSIONS[boundary])
    else:
        refuse(f"boundary={boundary!r}")
    return signal.convolve(extended, window, "valid", "direct")


@composed(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    in1, in2 = np.asarray(in1), np.asarray(in2)
    return convolved_with_boundary(in1, in2, mode, boundary, fillvalue)


@composed(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    in1, in2 = np.asarray(in1), np.flip(np.conj(np.asarray(in2)))
    return convolved_with_boundary(in1, in2, mode, boundary, fillvalue, shift=1)


@composed(signal.periodogram)
def periodogram(x, fs=1.0, axis=-1):
    x = np.asarray(x)
    n = x.shape[axis]
    spectrum = np.fft.rfft(x - np.mean(x, axis=axis, keepdims=True), axis=axis)
    frequencies = np.fft.rfftfreq(n, 1 / fs)
    twice = np.where((frequencies == 0) | (2 * np.arange(len(frequencies)) == n), 1.0, 2.0)
    density = np.moveaxis(np.real(spectrum) ** 2 + np.imag(spectrum) ** 2, axis, -1) * twice / (fs * n)
    return frequencies, np.moveaxis(density, -1, axis)
