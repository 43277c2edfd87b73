"""Rules of discrete Fourier transforms, linear functions y = F x with a symmetric matrix F, so that d_x = F d_y.

    y = fft(x)      d_x = fft(d_y)
    y = rfft(x)     d_x = n * irfft(conj(d_y) / c)        where c = 1 at the ends of the spectrum of n real numbers and 2 between
    y = irfft(x)    d_x = c * conj(rfft(d_y)) / n

The cotangent of a real x is the real part of this.  Scaling by n or 1 / n is what the transform in the other direction does with the
`norm` that scales alike.
"""

import numpy as np

from sourcead.ir.sizes import minus, plus, quotient, times
from sourcead.ir.types import INT, UNKNOWN, Array, Scalar, Sym, Type
from sourcead.primitives.compositions import composed
from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.registry import enter, family, infers, linear
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import Arg, array_type, const
from sourcead.primitives.together import behind, together
from sourcead.runtime import fit_axis, half_spectrum_weights


def transformed(fn, args, kwargs):
    """Return the type of a transform; a length whose type is not known, as of `2 ** int(n)`, is an integer, since no other works."""
    args, kwargs = list(args), dict(kwargs)
    for where, key in (args, 1), (kwargs, "n"):
        if key in (where if where is kwargs else range(len(args))) and not where[key].known and where[key].type == UNKNOWN:
            where[key] = Arg(INT)
    return sized(fn, args, kwargs)


family(__name__, memory="fresh", result=transformed)


SPECTRA = {np.fft.fft: lambda n: n, np.fft.ifft: lambda n: n, np.fft.rfft: lambda n: plus(quotient(n, 2), 1), np.fft.irfft: lambda n: n}
"""The size of the axis that a transform of `n` elements has in its result."""


@infers(*SPECTRA)
def _along_one_axis(fn, args, kwargs) -> Type:
    found = transformed(fn, args, kwargs)
    given = dict(zip(("a", "n", "axis", "norm"), args)) | kwargs
    n, axis, t = given.get("n"), const(given.get("axis"), -1), array_type(given["a"].type) if "a" in given else UNKNOWN
    if not isinstance(found, Array) or not found.dims or not isinstance(t, Array) or not t.dims or not isinstance(axis, int):
        return found
    if not -len(t.dims) <= axis < len(t.dims):
        return found
    size = t.dims[axis] if n is None or n.known and n.value is None else n.integer if n.dim is None else n.dim
    if not isinstance(size, (int, Sym)):
        return found
    if n is None and fn is np.fft.irfft:
        size = times(2, minus(size, 1))
    dims = list(found.dims)
    dims[axis] = SPECTRA[fn](size)
    return Array(found.dtype, tuple(dims))


@infers(np.fft.fftfreq, np.fft.rfftfreq)
def _frequencies(fn, args, kwargs) -> Type:
    n = args[0] if args else kwargs["n"]
    size = n.integer if n.dim is None else n.dim
    found = sized(fn, args, kwargs)
    if not isinstance(found, Array) or not isinstance(size, (int, Sym)) or found.dims is None or len(found.dims) != 1:
        return found
    if not all(isinstance(a.type, Scalar) for a in (*args[1:], *kwargs.values())):  # a spacing that is an array is broadcast
        return found
    return Array(found.dtype, (size if fn is np.fft.fftfreq else plus(quotient(size, 2), 1),))


def reversed_norm(norm):
    """Return the norm of the transform in the other direction that scales alike."""
    return norm if norm == "ortho" else "backward" if norm == "forward" else "forward"


def fitted(d, x, n, axis):
    """Return `d` cut or padded to as many elements as `x` has along an axis, if the transform was given a length `n`."""
    return d if n is None else fit_axis(d, x.shape[axis], axis)


def fitted_spectrum(d, x, n, axis):
    """Return `d` cut or padded to as many elements as the half spectrum `x` has, unless it has those of a signal of default length."""
    return d if n is None else fit_axis(d, x.shape[axis], axis)


def half_spectrum_adjoint(d, n, axis, norm):
    """Return the cotangent of `n` real numbers along an axis from that of their half spectrum."""
    return np.fft.irfft(np.conj(d) / half_spectrum_weights(n, d, axis), n, axis, reversed_norm(norm))


linear({
    np.fft.fft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(fitted(np.fft.fft(d_y, axis=axis, norm=norm), x, n, axis), x), None, None, None
    ),
    np.fft.ifft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(fitted(np.fft.ifft(d_y, axis=axis, norm=norm), x, n, axis), x), None, None, None
    ),
    np.fft.rfft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        fitted(half_spectrum_adjoint(d_y, x.shape[axis] if n is None else n, axis, norm), x, n, axis), None, None, None
    ),
    np.fft.irfft: lambda y, x, n=None, axis=-1, norm=None, d_y=None: (
        real_if_real(fitted_spectrum(
            np.conj(np.fft.rfft(d_y, axis=axis, norm=reversed_norm(norm))) * half_spectrum_weights(y.shape[axis], y, axis), x, n, axis
        ), x), None, None, None
    ),
    np.fft.fft2: lambda y, x, d_y, axes=(-2, -1), norm=None: real_if_real(np.fft.fft2(d_y, axes=axes, norm=norm), x),
    np.fft.ifft2: lambda y, x, d_y, axes=(-2, -1), norm=None: real_if_real(np.fft.ifft2(d_y, axes=axes, norm=norm), x),
    np.fft.fftn: lambda y, x, d_y, axes=None, norm=None: real_if_real(np.fft.fftn(d_y, axes=axes, norm=norm), x),
    np.fft.ifftn: lambda y, x, d_y, axes=None, norm=None: real_if_real(np.fft.ifftn(d_y, axes=axes, norm=norm), x),
    np.fft.fftshift: lambda y, x, d_y, axes=None: np.fft.ifftshift(d_y, axes),
    np.fft.ifftshift: lambda y, x, d_y, axes=None: np.fft.fftshift(d_y, axes),
})

# ---- transforms over several axes, one axis after the other, and those of Hermitian signals ----


def all_axes(x, s, axes):
    """Return the axes that a transform works on, with its defaults if none are named."""
    if axes is not None:
        return tuple(axes)
    return tuple([k for k, _ in enumerate(x.shape)] if s is None else [k - len(s) for k, _ in enumerate(s)])


def along_each_axis(transform):
    """Return the composition of a transform over several axes."""

    def composition(a, s=None, axes=None, norm=None):
        axes = all_axes(a, s, axes)
        for n, axis in zip(s[::-1], axes[::-1]):
            a = transform(a, n, axis, norm)
        return a

    return composition


composed({
    (np.fft.fftn, np.fft.fft2): along_each_axis(np.fft.fft),
    (np.fft.ifftn, np.fft.ifft2): along_each_axis(np.fft.ifft),
}, given="s")


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


composed({
    np.fft.hfft: lambda a, n=None, axis=-1, norm=None: (
        np.fft.irfft(np.conj(a), 2 * (a.shape[axis] - 1) if n is None else n, axis, reversed_norm(norm))
    ),
    np.fft.ihfft: lambda a, n=None, axis=-1, norm=None: np.conj(np.fft.rfft(a, n, axis, reversed_norm(norm))),
    np.fft.rfft2: lambda a, s=None, axes=(-2, -1), norm=None: rfftn(a, s, axes, norm),
    np.fft.irfft2: lambda a, s=None, axes=(-2, -1), norm=None: irfftn(a, s, axes, norm),
})

enter(np.fft.hfft, np.fft.ihfft, np.fft.rfft2, np.fft.irfft2, np.fft.rfftn, np.fft.irfftn, memory="fresh")


# ---- for all members of a batch ----


together(np.fft.fft)(lambda a, n=None, axis=-1, norm=None: np.fft.fft(a, n, behind(axis, a.ndim - 1), norm))
together(np.fft.ifft)(lambda a, n=None, axis=-1, norm=None: np.fft.ifft(a, n, behind(axis, a.ndim - 1), norm))
together(np.fft.rfft)(lambda a, n=None, axis=-1, norm=None: np.fft.rfft(a, n, behind(axis, a.ndim - 1), norm))
together(np.fft.irfft)(lambda a, n=None, axis=-1, norm=None: np.fft.irfft(a, n, behind(axis, a.ndim - 1), norm))
