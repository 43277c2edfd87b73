"""The transforms of `scipy.fft` and `scipy.fftpack`: those of Fourier are those of NumPy, and cosine and sine transforms have rules."""

import numpy as np
from scipy import fft, fftpack

from sourcead.primitives.compositions import composed
from sourcead.primitives.fft import transformed
from sourcead.primitives.registry import linear

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


def transform_adjoint(transform, inverse):
    """Return the adjoint rule of a cosine or sine transform, y = x @ m along one axis, by the transforms m of the unit vectors.

    The matrix m of an orthonormal transform is orthogonal, so its transpose is the inverse transform.
    """
    return lambda y, x, type=2, n=None, axis=-1, norm=None, d_y=None: (
        inverse(d_y, type, None, axis, norm) if norm == "ortho" and type > 1 and n is None
        else np.moveaxis(np.moveaxis(d_y, axis, -1) @ transform(np.eye(np.shape(x)[axis]), type, n, -1, norm).T, -1, axis),
        None, None, None, None,
    )  # fmt: skip


PAIRS = [(module.dct, module.idct) for module in (fft, fftpack)] + [(module.dst, module.idst) for module in (fft, fftpack)]
TRANSFORMS = {f: transform_adjoint(f, g) for pair in PAIRS for f, g in (pair, pair[::-1])}
linear(TRANSFORMS, memory="fresh", examples=True, result=transformed)
