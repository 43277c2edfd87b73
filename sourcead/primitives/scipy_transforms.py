"""Compositions of the transforms of `scipy.fft` and `scipy.fftpack`, which are those of NumPy, and of cosine transforms of the second kind.

    dct(x)[k] = 2 sum_n x[n] cos(pi k (2 n + 1) / (2 N)) = 2 real part of exp(-i pi k / (2 N)) * fft(x, 2 N)[k]

and `idct` is the sum of its spectrum, weighted, times the same cosines.
"""

import numpy as np
from scipy import fft, fftpack

from sourcead.primitives.compositions import composed, refuse
from sourcead.runtime import fit_axis

composed({
    (fft.fft, fftpack.fft): lambda x, n=None, axis=-1, norm=None: np.fft.fft(x, n, axis, norm),
    (fft.ifft, fftpack.ifft): lambda x, n=None, axis=-1, norm=None: np.fft.ifft(x, n, axis, norm),
    fft.rfft: lambda x, n=None, axis=-1, norm=None: np.fft.rfft(x, n, axis, norm),
    fft.irfft: lambda x, n=None, axis=-1, norm=None: np.fft.irfft(x, n, axis, norm),
    fft.fft2: lambda x, s=None, axes=(-2, -1), norm=None: np.fft.fft2(x, s, axes, norm),
    fft.ifft2: lambda x, s=None, axes=(-2, -1), norm=None: np.fft.ifft2(x, s, axes, norm),
    fftpack.fft2: lambda x, shape=None, axes=(-2, -1): np.fft.fft2(x, shape, axes),
    fftpack.ifft2: lambda x, shape=None, axes=(-2, -1): np.fft.ifft2(x, shape, axes),
    fft.fftshift: lambda x, axes=None: np.fft.fftshift(x, axes),
    fft.ifftshift: lambda x, axes=None: np.fft.ifftshift(x, axes),
})


@composed(fft.dct, fftpack.dct)
def dct(x, type=2, n=None, axis=-1, norm=None):
    if type != 2 or norm not in (None, "backward", "ortho"):
        refuse("this form of `dct`")
    x = np.moveaxis(np.asarray(x), axis, -1)
    if n is not None:
        x = fit_axis(x, n, -1)
    n = x.shape[-1]
    k = np.arange(n)
    y = 2.0 * np.real(np.exp(-0.5j * np.pi * k / n) * np.fft.fft(x, 2 * n)[..., :n])
    return np.moveaxis(y * np.sqrt(np.where(k == 0, 0.25, 0.5) / n) if norm == "ortho" else y, -1, axis)


@composed(fft.idct, fftpack.idct)
def idct(x, type=2, n=None, axis=-1, norm=None):
    if type != 2 or n is not None or norm != "ortho":
        refuse("this form of `idct`")
    x = np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1]
    k = np.arange(n)
    weighted = x * np.sqrt(np.where(k == 0, 1.0, 2.0) / n) * np.exp(0.5j * np.pi * k / n)
    return np.moveaxis(2.0 * n * np.real(np.fft.ifft(weighted, 2 * n)[..., :n]), -1, axis)
