"""Discrete Fourier transforms: y = F x with a symmetric matrix F, so d_x = F d_y.

    y = fft(x)      d_x = fft(d_y)
    y = rfft(x)     d_x = real part of fft(d_y, n)                    d_y padded with zeros to the n elements of x
    y = irfft(x)    d_x[k] = c[k] * ifft(d_y)[k]                      c = 1 at the ends of the spectrum, 2 between

The cotangent of a real x is the real part.
"""

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, linear
from sourcead.runtime import fit_axis, irfft_weights


@adjoint(np.fft.fft)
def fft_adjoint(y, x, n=None, axis=-1, norm=None, d_y=None):
    d_x = np.fft.fft(d_y, axis=axis, norm=norm)
    if n is not None:
        d_x = fit_axis(d_x, x.shape[axis], axis)
    return d_x if np.iscomplexobj(x) else np.real(d_x), None, None, None


@adjoint(np.fft.ifft)
def ifft_adjoint(y, x, n=None, axis=-1, norm=None, d_y=None):
    d_x = np.fft.ifft(d_y, axis=axis, norm=norm)
    if n is not None:
        d_x = fit_axis(d_x, x.shape[axis], axis)
    return d_x if np.iscomplexobj(x) else np.real(d_x), None, None, None


@adjoint(np.fft.rfft)
def rfft_adjoint(y, x, n=None, axis=-1, norm=None, d_y=None):
    if n is None:
        return np.real(np.fft.fft(d_y, x.shape[axis], axis, norm)), None, None, None
    return fit_axis(np.real(np.fft.fft(d_y, n, axis, norm)), x.shape[axis], axis), None, None, None


@adjoint(np.fft.irfft)
def irfft_adjoint(y, x, n=None, axis=-1, norm=None, d_y=None):
    d_x = fit_axis(np.fft.ifft(d_y, axis=axis, norm=norm) * irfft_weights(y, axis), x.shape[axis], axis)
    return d_x if np.iscomplexobj(x) else np.real(d_x), None, None, None


@adjoint(np.fft.fft2)
def fft2_adjoint(y, x, d_y, axes=(-2, -1), norm=None):
    d_x = np.fft.fft2(d_y, axes=axes, norm=norm)
    return d_x if np.iscomplexobj(x) else np.real(d_x)


@adjoint(np.fft.ifft2)
def ifft2_adjoint(y, x, d_y, axes=(-2, -1), norm=None):
    d_x = np.fft.ifft2(d_y, axes=axes, norm=norm)
    return d_x if np.iscomplexobj(x) else np.real(d_x)


@adjoint(np.fft.fftn)
def fftn_adjoint(y, x, d_y, axes=None, norm=None):
    d_x = np.fft.fftn(d_y, axes=axes, norm=norm)
    return d_x if np.iscomplexobj(x) else np.real(d_x)


@adjoint(np.fft.ifftn)
def ifftn_adjoint(y, x, d_y, axes=None, norm=None):
    d_x = np.fft.ifftn(d_y, axes=axes, norm=norm)
    return d_x if np.iscomplexobj(x) else np.real(d_x)


adjoints({
    np.fft.fftshift: lambda y, x, d_y, axes=None: np.fft.ifftshift(d_y, axes),
    np.fft.ifftshift: lambda y, x, d_y, axes=None: np.fft.fftshift(d_y, axes),
})

linear(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn)
linear(np.fft.fftshift, np.fft.ifftshift)
