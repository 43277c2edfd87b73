"""SciPy's filters along one axis as compositions: `convolve1d` and its kin, `savgol_filter`, and the analytic signal `hilbert`.

The filter of Savitzky and Golay gives each element the value of a polynomial that is fitted to the window around it, which is a sum with
fixed weights; near the ends, the polynomial is that of the first or last window.
"""

import math

import numpy as np
from scipy import ndimage, signal

from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.scipy_signals import PADDED, sums_of_windows


def along_rows(x, weights, axis, mode, cval, before):
    """Return the sums of weights times what lies under them along an axis, where `before` of them stand in front of an element."""
    x, weights = np.asarray(x), np.asarray(weights)
    if np.ndim(x) == 0 or np.ndim(weights) != 1 or mode not in PADDED:
        refuse("a filter of SciPy in this form")
    rows = x if axis == -1 else np.moveaxis(x, axis, -1)
    weights = np.reshape(weights, (1,) * (np.ndim(x) - 1) + (-1,))
    found = sums_of_windows(rows, weights, mode, cval, (0,) * (np.ndim(x) - 1) + (before,))
    return found if axis == -1 else np.moveaxis(found, -1, axis)


@composed(ndimage.correlate1d)
def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0):
    return along_rows(input, weights, axis, mode, cval, len(weights) // 2)


@composed(ndimage.convolve1d)
def convolve1d(input, weights, axis=-1, mode="reflect", cval=0.0):
    return along_rows(input, np.flip(np.asarray(weights)), axis, mode, cval, (len(weights) - 1) // 2)


@composed(ndimage.uniform_filter1d)
def uniform_filter1d(input, size, axis=-1, mode="reflect", cval=0.0):
    return along_rows(input, np.full(size, 1.0 / size), axis, mode, cval, size // 2)


@composed(ndimage.gaussian_filter1d)
def gaussian_filter1d(input, sigma, axis=-1, mode="reflect", cval=0.0, truncate=4.0):
    radius = int(truncate * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return along_rows(input, weights / np.sum(weights), axis, mode, cval, radius)


def of_fitted_polynomials(places, window_length, polyorder, deriv, delta):
    """Return, for each place in a window, the weights of its elements in the fitted polynomial, or in a derivative of it."""
    powers = np.vander(np.arange(window_length) - window_length // 2, polyorder + 1, increasing=True) + 0.0
    at = np.vander(np.asarray(places) - window_length // 2, polyorder + 1, increasing=True) + 0.0
    factors = np.array([math.perm(k, deriv) / delta**deriv if k >= deriv else 0.0 for k in range(polyorder + 1)])
    shifted = np.concatenate((np.zeros((len(at), min(deriv, polyorder + 1))), at), axis=1)[:, : polyorder + 1]
    return (shifted * factors) @ np.linalg.pinv(powers)


@composed(signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    x, half = np.asarray(x) + 0.0, window_length // 2
    if deriv > polyorder or np.ndim(x) == 0 or mode == "reflect":
        refuse("`scipy.signal.savgol_filter` in this form")
    weights = of_fitted_polynomials([0.5 * (window_length - 1)], window_length, polyorder, deriv, delta)[0]
    before = (window_length - 1) // 2
    if mode != "interp":
        return along_rows(x, weights, axis, mode, cval, before)
    rows = x if axis == -1 else np.moveaxis(x, axis, -1)
    if window_length > rows.shape[-1]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    ends = of_fitted_polynomials(range(window_length), window_length, polyorder, deriv, delta)
    first, last = rows[..., :window_length] @ ends[:half].T, rows[..., -window_length:] @ ends[window_length - half :].T
    inner = along_rows(rows, weights, -1, "constant", 0.0, before)[..., half : rows.shape[-1] - half]
    found = np.concatenate((first, inner, last), axis=-1)
    return found if axis == -1 else np.moveaxis(found, -1, axis)


@composed(signal.hilbert)
def hilbert(x, N=None, axis=-1):
    x = np.asarray(x)
    count = x.shape[axis] if N is None else N
    spectrum = np.fft.fft(x, count, axis)
    k = np.arange(count)
    factors = np.where((k == 0) | (2 * k == count), 1.0, np.where(2 * k < count, 2.0, 0.0))
    spectrum = spectrum if axis == -1 else np.moveaxis(spectrum, axis, -1)
    found = np.fft.ifft(spectrum * factors)
    return found if axis == -1 else np.moveaxis(found, -1, axis)
