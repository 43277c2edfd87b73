"""Rules of discrete Fourier transforms, linear functions y = F x with a symmetric matrix F, so that d_x = F d_y.

    y = fft(x)      d_x = fft(d_y)
    y = rfft(x)     d_x = real part of fft(d_y, n)        where d_y is padded with zeros to the n elements of x
    y = irfft(x)    d_x[k] = c[k] * ifft(d_y)[k]          where c = 1 at the ends of the spectrum and 2 between

The cotangent of a real x is the real part of this.
"""

import numpy as np

from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.registry import family, linear
from sourcead.primitives.result_types.by_example import sized
from sourcead.runtime import fit_axis, irfft_weights

family(__name__, memory="fresh", result=sized)


def fitted(d, x, n, axis):
    """Return `d` cut or padded to as many elements as `x` has along an axis, if the transform was given a length `n`."""
    return d if n is None else fit_axis(d, x.shape[axis], axis)


linear({
    np.fft.fft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(fitted(np.fft.fft(d_y, axis=axis, norm=norm), x, n, axis), x), None, None, None
    ),
    np.fft.ifft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(fitted(np.fft.ifft(d_y, axis=axis, norm=norm), x, n, axis), x), None, None, None
    ),
    np.fft.rfft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        fitted(np.real(np.fft.fft(d_y, x.shape[axis] if n is None else n, axis, norm)), x, n, axis), None, None, None
    ),
    np.fft.irfft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(
            fit_axis(np.fft.ifft(d_y, axis=axis, norm=norm) * irfft_weights(y, axis), x.shape[axis], axis), x
        ), None, None, None
    ),
    np.fft.fft2: lambda y, x, d_y, axes=(-2, -1), norm=None: real_if_real(np.fft.fft2(d_y, axes=axes, norm=norm), x),
    np.fft.ifft2: lambda y, x, d_y, axes=(-2, -1), norm=None: real_if_real(np.fft.ifft2(d_y, axes=axes, norm=norm), x),
    np.fft.fftn: lambda y, x, d_y, axes=None, norm=None: real_if_real(np.fft.fftn(d_y, axes=axes, norm=norm), x),
    np.fft.ifftn: lambda y, x, d_y, axes=None, norm=None: real_if_real(np.fft.ifftn(d_y, axes=axes, norm=norm), x),
    np.fft.fftshift: lambda y, x, d_y, axes=None: np.fft.ifftshift(d_y, axes),
    np.fft.ifftshift: lambda y, x, d_y, axes=None: np.fft.fftshift(d_y, axes),
})
