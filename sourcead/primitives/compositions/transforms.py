"""Compositions of Fourier transforms over several axes, one axis after the other, and of those of Hermitian signals."""

import numpy as np

from sourcead.primitives.compositions import composed
from sourcead.primitives.registry import enter


def all_axes(x, s, axes):
    """Return the axes that a transform works on, with its defaults if none are named."""
    if axes is not None:
        return tuple(axes)
    return tuple([k for k, _ in enumerate(x.shape)] if s is None else [k - len(s) for k, _ in enumerate(s)])


@composed(np.fft.fftn, np.fft.fft2, given="s")
def fftn(a, s=None, axes=None, norm=None):
    axes = all_axes(a, s, axes)
    for n, axis in zip(s[::-1], axes[::-1]):
        a = np.fft.fft(a, n, axis, norm)
    return a


@composed(np.fft.ifftn, np.fft.ifft2, given="s")
def ifftn(a, s=None, axes=None, norm=None):
    axes = all_axes(a, s, axes)
    for n, axis in zip(s[::-1], axes[::-1]):
        a = np.fft.ifft(a, n, axis, norm)
    return a


@composed(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None):
    axes = all_axes(a, s, axes)
    a = np.fft.rfft(a, None if s is None else s[-1], axes[-1], norm)
    for i in range(len(axes) - 1):
        a = np.fft.fft(a, None if s is None else s[i], axes[i], norm)
    return a


@composed(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None):
    axes = all_axes(a, s, axes)
    for i in range(len(axes) - 1):
        a = np.fft.ifft(a, None if s is None else s[i], axes[i], norm)
    return np.fft.irfft(a, None if s is None else s[-1], axes[-1], norm)


@composed(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None):
    if n is None:
        n = 2 * (a.shape[axis] - 1)
    if norm == "ortho":
        return np.fft.irfft(np.conj(a), n, axis, "ortho")
    return np.fft.irfft(np.conj(a), n, axis, "backward" if norm == "forward" else "forward")


@composed(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None):
    if norm == "ortho":
        return np.conj(np.fft.rfft(a, n, axis, "ortho"))
    return np.conj(np.fft.rfft(a, n, axis, "backward" if norm == "forward" else "forward"))


composed({
    np.fft.rfft2: lambda a, s=None, axes=(-2, -1), norm=None: rfftn(a, s, axes, norm),
    np.fft.irfft2: lambda a, s=None, axes=(-2, -1), norm=None: irfftn(a, s, axes, norm),
})

enter(np.fft.hfft, np.fft.ihfft, np.fft.rfft2, np.fft.irfft2, np.fft.rfftn, np.fft.irfftn, memory="fresh")
