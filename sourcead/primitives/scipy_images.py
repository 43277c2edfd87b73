"""Compositions of the functions of `scipy.ndimage` that read an image between its elements: `map_coordinates` and its kin.

An image is a sum of B-splines of order p around its elements, of which the coefficients c make it equal to the elements,

    y = sum_k c[k] beta(x - k)          beta(t) = sum_j (-1)^j binom(p + 1, j) max(t + (p + 1) / 2 - j, 0)^p / p!

in each axis. The coefficients are linear in the elements of each axis; SciPy tells the matrix. Of what lies outside of the image, `mode`
says which element it is.

M. Unser, "Splines: a perfect fit for signal and image processing" (1999).
"""

import math

import numpy as np
from scipy import ndimage

from sourcead.ir.types import UNKNOWN, Array
from sourcead.primitives.compositions import composed, number_kind, refuse
from sourcead.primitives.registry import enter
from sourcead.runtime import stop_gradient

enter(
    ndimage.spline_filter1d, memory="fresh",
    result=lambda fn, args, kwargs: Array(np.dtype(float), args[0].type.dims) if isinstance(args[0].type, Array) else UNKNOWN,
)  # fmt: skip
MARGIN = 12  # elements that SciPy adds around an image for `nearest`


@composed(ndimage.spline_filter1d)
def spline_filter1d(input, order=3, axis=-1, *, mode="mirror"):
    x = np.asarray(input)
    weights = ndimage.spline_filter1d(stop_gradient(np.eye(x.shape[axis])), order, 0, mode=mode)
    return np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)


@composed(ndimage.spline_filter)
def spline_filter(input, order=3, *, mode="mirror"):
    x = np.asarray(input)
    for axis in range(np.ndim(x)):
        x = spline_filter1d(x, order, axis, mode=mode)
    return x


def spline(t, order):
    """Return the B-spline of an order at `t`."""
    total = np.zeros_like(t)
    for j in range(order + 2):
        total = total + (-1) ** j * math.comb(order + 1, j) * np.maximum(t + 0.5 * (order + 1) - j, 0.0) ** order
    return total / math.factorial(order)


def element_at(k, n, mode):
    """Return which of n elements continue an axis at the places k."""
    if mode == "grid-wrap":
        return k % n
    period = 2 * n if mode == "reflect" else max(2 * n - 2, 1)
    k = k % period
    return np.where(k < n, k, period - k - (1 if mode == "reflect" else 0))


def between_elements(image, coordinates, order, mode, cval, prefilter):
    """Return an image at coordinates, of which there is one array for each axis."""
    x, at = np.asarray(image), np.asarray(coordinates)
    if mode not in ("constant", "nearest", "mirror", "reflect", "grid-wrap") or number_kind(x) in ("int", "bool", "complex"):
        refuse("`scipy.ndimage.map_coordinates` and kin with `wrap` or `grid-constant`, or of an image that is not of floating point,")
    padded, margin = x, 0
    if prefilter and order > 1:
        if mode == "nearest":
            margin = MARGIN
            padded = np.pad(x, margin, "edge")
        padded = spline_filter(padded, order, mode="mirror" if mode == "constant" else mode)
    places, weights, inside = 0, 1.0, True
    dims = np.ndim(x)
    for axis in range(dims):
        n, place = padded.shape[axis], at[axis] + float(margin)
        if mode == "nearest":
            place = np.clip(place, 0.0, n - 1.0)
        if mode == "constant":
            inside = inside & (place >= 0) & (place <= n - 1)
        first = np.floor(place + (0.5 if order % 2 == 0 else 0.0)).astype(int) - order // 2
        steps = np.reshape(np.arange(order + 1), (-1,) + (1,) * np.ndim(place))
        k = first + steps
        if order == 0:
            weight = np.ones(np.shape(k))
        elif order == 1:
            part = place - first
            weight = np.stack((1.0 - part, part))
        else:
            weight = spline(place - k, order)
        shape = (1,) * axis + (order + 1,) + (1,) * (dims - 1 - axis) + np.shape(place)
        places = places * n + np.reshape(element_at(k, n, mode), shape)
        weights = weights * np.reshape(weight, shape)
    found = np.reshape(np.sum(np.ravel(padded)[places] * weights, axis=tuple(range(dims))), at.shape[1:])
    return np.where(inside, found, cval) if mode == "constant" else found


@composed(ndimage.map_coordinates)
def map_coordinates(input, coordinates, *, order=3, mode="constant", cval=0.0, prefilter=True):
    return between_elements(input, coordinates, order, mode, cval, prefilter)


@composed(ndimage.affine_transform)
def affine_transform(input, matrix, offset=0.0, *, order=3, mode="constant", cval=0.0, prefilter=True):
    matrix, dims = np.asarray(matrix), np.ndim(input)
    if np.ndim(matrix) == 1:
        matrix = np.diag(matrix)
    elif matrix.shape[1] == dims + 1:
        offset = matrix[:dims, dims]
        matrix = matrix[:dims, :dims]
    places = np.reshape(np.indices(np.shape(input)) + 0.0, (dims, -1))
    at = matrix @ places + np.reshape(offset + np.zeros(dims), (dims, 1))
    return between_elements(input, np.reshape(at, (dims, *np.shape(input))), order, mode, cval, prefilter)


@composed(ndimage.shift)
def shift(input, shift, *, order=3, mode="constant", cval=0.0, prefilter=True):
    dims = np.ndim(input)
    moved = np.reshape(shift + np.zeros(dims), (dims,) + (1,) * dims)
    return between_elements(input, np.indices(np.shape(input)) - moved, order, mode, cval, prefilter)
