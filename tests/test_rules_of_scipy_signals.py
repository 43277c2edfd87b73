"""Filters, interpolation, spectra and Riccati equations of SciPy."""

import numpy as np
import pytest
import scipy.linalg
from scipy import fft, fftpack, ndimage, signal
from scipy.interpolate import (
    BSpline, CubicSpline, InterpolatedUnivariateSpline, PchipInterpolator, interp1d, make_interp_spline, splev, splrep
)

from sourcead import UnsupportedArgumentError, grad, hvp, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([[1.03, 2.56, 3.11, 0.42], [0.51, 1.47, 2.08, 4.43], [0.34, 0.22, 0.97, 0.71]])
KERNEL = np.array([[0.5, -0.2, 0.1], [0.3, 1.0, 0.7]])
TIMES = np.array([0.0, 1.0, 2.5, 4.0])
OUTSIDE = np.array([-0.4, 0.6, 2.2, 4.7])
SECTIONS = signal.butter(3, 0.4, output="sos")
NEW = np.array([0.0, 0.4, 1.3, 1.9, 3.9, 4.0])
A = np.array([[0.1, 1.0], [-0.5, 0.2]])


def resampled_in_a_helper(x):
    def made(kind):
        return interp1d(TIMES, x[1], kind)

    linear = made("linear")
    return linear(NEW) * made("zero")(NEW) + linear(0.7)


def riccati(x):
    return scipy.linalg.solve_continuous_are(x[:2, :2], x[:2, 2:3], np.diag(x[2, :2] + 1.0), [[x[2, 3]]])


def riccati_of_two_inputs(x):
    r = np.array([[2.0, x[2, 1]], [x[2, 1], 1.0 + x[2, 2]]])
    return scipy.linalg.solve_continuous_are(A * x[0, 0], x[:2, 1:3], x[:2, :2] @ x[:2, :2].T, r)


def filtered_then_written(x):
    y = signal.lfilter([1.0, 0.5], [1.0, 0.2], x[0])
    y[1:] *= 0.1  # an array, as its shape shows
    return y * y


CASES = {
    **{f"convolution {mode}": lambda x, mode=mode: ndimage.convolve(x, KERNEL, mode=mode, cval=0.7)
       for mode in ("reflect", "constant", "nearest", "mirror", "wrap")},
    "convolution of vectors": lambda x: ndimage.convolve(x[0], x[1, :3], mode="wrap") + ndimage.convolve(x[1], x[2]),
    "convolution of a list": lambda x: ndimage.convolve([x[0, 0], x[0, 1], 1.0], [0.5, x[1, 1]]),
    **{f"means of windows {mode}": lambda x, mode=mode: ndimage.uniform_filter(x, 3, mode=mode, cval=0.4)
       for mode in ("reflect", "constant")},
    "means of windows of several sizes": lambda x: ndimage.uniform_filter(x, size=(2, 3)) * ndimage.uniform_filter(x[0], 2)[3],
    "blurred": lambda x: ndimage.gaussian_filter(x[0], 0.8, mode="wrap") + ndimage.gaussian_filter(x, (0.4, 0.7), truncate=2.0),
    "blurred by what is differentiated": lambda x: ndimage.gaussian_filter(KERNEL, 0.5 + 0.1 * x[0, 0]),
    "recursive filter": lambda x: signal.lfilter([0.3, x[0, 0], 0.1], [1.0, -0.2 * x[2, 1]], x, axis=0),
    "filtered, then written": filtered_then_written,
    "filter of its own coefficients": lambda x: signal.lfilter(x[0, :3], x[1], x[2]) * signal.lfilter([0.5, 0.5], [1.0], x[0])[1],
    "long filter of a short signal": lambda x: signal.lfilter(x[0], [2.0, 0.1, x[1, 0]], x[:, :2]),
    **{f"convolution of signals {mode} {k}": lambda x, mode=mode, k=k: signal.convolve(x[0], x[1, :k], mode)
       for mode in ("full", "same", "valid") for k in (1, 2, 3, 4)},
    **{f"convolution of images {mode}": lambda x, mode=mode: signal.convolve(x, x[:2, :3] + KERNEL, mode, "direct")
       for mode in ("full", "same", "valid")},
    "convolution with a longer signal": lambda x: signal.convolve(x[0, :2], x[1], "same") * signal.convolve(x[0, :2], x[1], "valid")[1],
    "convolution of a list of constants": lambda x: signal.convolve([1, 2, 3], x[0]),
    "convolution by Fourier transforms": lambda x: signal.fftconvolve(x, KERNEL * x[0, 0], mode="same") * signal.oaconvolve(x, x, "same"),
    "convolution in two dimensions": lambda x: signal.convolve2d(x, KERNEL, mode="same") + signal.convolve2d(x, x[:, :2], "same"),
    **{f"images that go on behind their edges {b}": lambda x, b=b: signal.convolve2d(x[:2], KERNEL, "same", b, 1.5) * x[2, 0]
       + signal.correlate2d(x, x[:2, :2], "same", b)[:2] + signal.correlate2d(x, KERNEL, boundary=b, fillvalue=0.5)[:2, :1]
       for b in ("fill", "wrap", "symm")},
    "convolution of a list with a complex kernel": lambda x: np.abs(signal.convolve([x[0, 0], 1.0, x[0, 1]], x[1, :2] + 1j * x[2, :2])),
    **{f"correlation of signals {mode}": lambda x, mode=mode: signal.correlate(x[0], x[1, :2], mode) * signal.correlate(x, x, mode)[0, 0]
       for mode in ("full", "same", "valid")},
    "correlation": lambda x: ndimage.correlate(x, KERNEL) + ndimage.correlate(x, x[:2, :2], mode="constant"),
    "spectrum": lambda x: np.abs(fftpack.fft(x)) + np.abs(fft.ifft(x, axis=0)),
    "spectrum of a real signal": lambda x: fft.irfft(fft.rfft(x, axis=0) * (1.0 + 0.5j), 3, axis=0),
    "spectrum of an image": lambda x: np.real(fft.ifft2(fft.fftshift(fft.fft2(x)))) * np.abs(fftpack.fft2(x)),
    "cosine transform": lambda x: fft.dct(x, axis=0) * fftpack.dct(x, type=2, norm="ortho"),
    "cosine transform of other lengths": lambda x: fft.dct(x, n=3, axis=1) * fftpack.dct(x, 2, 5, norm="ortho")[:, 2:],
    "cosine transform and back": lambda x: fft.idct(fft.dct(x, norm="ortho") ** 2, norm="ortho") + fftpack.idct(x, axis=0, norm="ortho"),
    "interpolation": lambda x: interp1d(TIMES, x[0])(NEW) + interp1d(TIMES * x[0, 0], x[2])(0.5 * NEW),
    "interpolation between unsorted times": lambda x: interp1d(TIMES[::-1], x[0], "nearest")(NEW) + interp1d(TIMES, x[0], kind="next")(NEW),
    "interpolation in a helper": resampled_in_a_helper,
    "interpolation at what is differentiated": lambda x: interp1d(TIMES, [1.0, 3.0, 2.0, 5.0])(x[:, :3]),
    "previous": lambda x: interp1d(TIMES, x[0], "previous")(NEW.reshape(2, 3)),
    "filter both ways": lambda x: (
        signal.filtfilt(*signal.butter(1, 0.3), np.ravel(x)) + signal.filtfilt([0.3, x[0, 0]], [1.0, -0.5], x, padlen=2)[0, 1]
    ),
    "filter both ways along columns": lambda x: (
        signal.filtfilt([0.3, 0.2], [1.0, -0.5], x, 0, "even", 1) * signal.filtfilt([1.0, 0.1], [2.0, 0.3], x, padtype=None)
    ),
    "smoothed by polynomials": lambda x: (
        signal.savgol_filter(x, 3, 1, deriv=1, delta=0.5) * signal.savgol_filter(x, 3, 2, axis=0, mode="mirror")
    ),
    "filters along an axis": lambda x: (
        ndimage.convolve1d(x, x[0], mode="wrap") + ndimage.correlate1d(x, x[1, :2], axis=0)
        * ndimage.uniform_filter1d(x, 2, mode="nearest") + ndimage.gaussian_filter1d(x, 0.6, axis=0)
    ),
    "analytic signal": lambda x: np.abs(signal.hilbert(x)) + signal.hilbert(x, axis=0).imag ** 2 + np.abs(signal.hilbert(x[0, :3], N=4)),
    "filter in sections": lambda x: signal.sosfilt(SECTIONS, x, axis=0) + signal.sosfiltfilt(SECTIONS, x, padtype="constant", padlen=2),
    "interpolation with other values outside": lambda x: (
        interp1d(TIMES, x[0], bounds_error=False, fill_value=(x[1, 0], 2.0))(OUTSIDE)
        + interp1d(TIMES, x[0], fill_value="extrapolate")(OUTSIDE)
    ),
    "cubic interpolation": lambda x: interp1d(TIMES, x[0], kind="cubic", bounds_error=False, fill_value=0.0)(OUTSIDE) * x[1],
    "splines": lambda x: CubicSpline(TIMES * x[1, 1], x[0])(OUTSIDE) + InterpolatedUnivariateSpline(TIMES, x[2])(x[0]),
    "splines with conditions": lambda x: (
        CubicSpline(TIMES, x[0], bc_type="natural")(x[1]) + CubicSpline(TIMES, x[1], bc_type=((1, x[0, 0]), (2, x[0, 1])))(OUTSIDE, 1)
    ),
    "splines of few points": lambda x: CubicSpline(TIMES[:3] * x[1, 1], x[0, :3])(OUTSIDE) + CubicSpline(TIMES[:2], x[0, :2])(x[2]),
    "integrals of splines": lambda x: CubicSpline(TIMES, x[0]).integrate(0.5, x[1, 2]) * CubicSpline(TIMES, x[2]).derivative(2)(OUTSIDE),
    "monotonic splines": lambda x: PchipInterpolator(TIMES * x[0, 0], x[1])(OUTSIDE) + PchipInterpolator(TIMES, np.sort(x[0]))(x[2]),
    "splines by their knots": lambda x: (
        splev(OUTSIDE, splrep(TIMES * x[0, 0], x[1])) + splev(x[2], splrep(TIMES, x[0], k=2), der=1) + splev(x[0, 0], splrep(TIMES, x[1]))
    ),
    "b-splines": lambda x: (
        BSpline([0, 0, 0, 1, 3, 3, 3], x[0], 2)(x[1] * 0.5) + BSpline(TIMES[[0, 0, 0, 1, 3, 3, 3]], x[2], 2).derivative()(OUTSIDE)
        + make_interp_spline(TIMES, x[0], k=1)(x[1], nu=1) * make_interp_spline(TIMES, x[1])(x[2])
    ),
    "periodogram": lambda x: signal.periodogram(x)[1],
    "periodogram of odd length": lambda x: signal.periodogram(x[:, 0], 100)[1] + signal.periodogram(x[:, :3], fs=2.0, axis=0)[1][:, 1],
    "cosine transforms": lambda x: fft.dct(x) + fft.idct(x, 3, axis=0, norm="ortho") ** 2,
    "cosine transforms of fftpack": lambda x: fftpack.dct(x, type=2, axis=1, norm="ortho")[:, :3] * fftpack.idct(x, 1)[:, 1:],
    "transforms of another length": lambda x: fft.dct(x[0], 4, 6) + fft.dst(np.ravel(x), n=6),
    "sine transforms": lambda x: fft.dst(x, type=1) * fft.idst(x, norm="ortho") + fftpack.dst(x, axis=0),
    "riccati": riccati,
    "riccati of two inputs": riccati_of_two_inputs,
}  # fmt: skip


@pytest.mark.parametrize("found", CASES.values(), ids=CASES)
def test_derivative(found):
    def f(x):
        y = found(x)
        return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))

    assert judged_in_all_modes(f, X) == "right"


def test_second_derivative_of_a_riccati_equation():
    def f(x):
        return np.sum(riccati(x) * np.array([[1.0, -2.0], [0.5, 3.0]]))

    step = np.cos(np.arange(12.0)).reshape(3, 4)
    expected = (grad(f)(X + 1e-5 * step) - grad(f)(X - 1e-5 * step)) / 2e-5
    np.testing.assert_allclose(hvp(f)(X, step), expected, rtol=1e-6, atol=1e-8)


def test_interpolation_outside_of_the_range_raises():
    def f(y):
        return np.sum(interp1d(TIMES, y)(np.array([1.0, 4.5])))

    for call in (f, value_and_grad(f)):
        with pytest.raises(ValueError, match="interpolation range"):
            call(X[0])


@pytest.mark.parametrize("f", [
    lambda y: np.sum(interp1d(TIMES, y, "quadratic")(NEW)), lambda y: np.sum(ndimage.convolve(y, KERNEL, mode="other"))
])  # fmt: skip
def test_form_without_a_derivative_is_refused(f):
    with pytest.raises(UnsupportedArgumentError, match="in this form"):
        grad(f)(X[0])
