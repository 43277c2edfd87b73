"""SciPy's interpolation as compositions: `interp1d`, the piecewise cubics of `CubicSpline` and `PchipInterpolator`, and B-splines.

A cubic polynomial between two knots follows from the values and the slopes `s` at both. The slopes of a spline solve the linear system
that makes second derivatives continuous (de Boor, A Practical Guide to Splines, chapter IV); those of `pchip` are harmonic means of the
slopes of the chords (Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5, 1984). The system is solved with the rule of `np.linalg.solve`.
"""

import numpy as np
from scipy import interpolate

from sourcead.ir.records import IN_PYTHON
from sourcead.primitives.compositions import composed, refuse


class Piecewise:
    """A polynomial between each two knots `x`: its coefficients `c[:, k]`, the highest power of `at - x[k]` first."""

    def __init__(self, x, c, extrapolate=True):
        self.x, self.c, self.extrapolate = x, c, extrapolate

    def __call__(self, x, nu=0, extrapolate=None):
        at, c = np.asarray(x), self.c
        for _ in range(nu):
            c = derived(c)
        k = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, len(self.x) - 2)
        distance = at - self.x[k]
        value = c[0, k]
        for power in range(1, len(c)):
            value = value * distance + c[power, k]
        if extrapolate is None:
            extrapolate = self.extrapolate
        return value if extrapolate else np.where((at < self.x[0]) | (at > self.x[-1]), np.nan, value)

    def derivative(self, nu=1):
        c = self.c
        for _ in range(nu):
            c = derived(c)
        return Piecewise(self.x, c, self.extrapolate)

    def antiderivative(self, nu=1):
        found = self
        for _ in range(nu):
            found = Piecewise(self.x, integrated(self.x, found.c), self.extrapolate)
        return found

    def integrate(self, a, b):
        whole = self.antiderivative()
        return whole(b) - whole(a)

    def integral(self, a, b):  # as splines of one variable name it
        return self.integrate(a, b)


IN_PYTHON.add(Piecewise)


def derived(c):
    """Return the coefficients of the derivative."""
    return c[:-1] * np.arange(len(c) - 1, 0, -1)[:, None] if len(c) > 1 else np.zeros_like(c)


def integrated(x, c):
    """Return the coefficients of the integral from the first knot on."""
    steps = np.diff(x)
    powers = np.arange(len(c), 0, -1)[:, None]
    pieces = np.sum(c / powers * steps**powers, axis=0)
    return np.concatenate((c / powers, np.concatenate((np.zeros(1), np.cumsum(pieces)[:-1]))[None]))


def between_knots(x, y, s):
    """Return the cubic polynomials that have the values and slopes at the knots."""
    dx = np.diff(x)
    slope = np.diff(y) / dx
    t = (s[:-1] + s[1:] - 2 * slope) / dx
    return np.stack((t / dx, (slope - s[:-1]) / dx - t, s[:-1], y[:-1]))


def condition(bc, which):
    """Return one boundary condition as SciPy takes it: "not-a-knot", or the order of a derivative and its value."""
    if not isinstance(bc, str) and isinstance(bc[0], (str, tuple, list)):
        bc = bc[which]
    named = {"clamped": (1, 0.0), "natural": (2, 0.0)}
    if isinstance(bc, str):
        if bc not in ("not-a-knot", "clamped", "natural"):
            refuse("`scipy.interpolate.CubicSpline` in this form")
        return bc if bc == "not-a-knot" else named[bc]
    return bc


def at_the_end(bc, dx, chords, sign):
    """Return the coefficients of the slopes at the first and second knot in the equation of that end, and its right-hand side.

    The other end is the same with the differences in the other order, and another sign of a second derivative.
    """
    if isinstance(bc, str):
        width = dx[0] + dx[1]
        return dx[1], width, ((dx[0] + 2 * width) * dx[1] * chords[0] + dx[0] ** 2 * chords[1]) / width
    if bc[0] == 1:
        return 1.0, 0.0, bc[1]
    return 2 * dx[0], dx[0], 3 * chords[0] * dx[0] - sign * 0.5 * bc[1] * dx[0] ** 2


@composed(interpolate.CubicSpline)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if y.ndim != 1 or axis not in (0, -1) or isinstance(extrapolate, str):
        refuse("`scipy.interpolate.CubicSpline` in this form")
    first, last = condition(bc_type, 0), condition(bc_type, 1)
    n, dx = x.shape[0], np.diff(x)
    chords = np.diff(y) / dx
    if isinstance(first, str) and isinstance(last, str) and n < 4:  # one parabola, or a line
        bend = (chords[-1] - chords[0]) / (dx[0] + dx[-1])
        at_ends = chords[0] - bend * dx[0], chords[-1] + bend * dx[-1]
        slopes = np.concatenate((np.array([at_ends[0]]), np.full(n - 2, chords[0] + bend * dx[0]), np.array([at_ends[1]])))
    else:
        inner = 3 * (dx[1:] * chords[:-1] + dx[:-1] * chords[1:])
        a, b, begin = at_the_end(first, dx, chords, 1.0)
        e, f, end = at_the_end(last, dx[::-1], chords[::-1], -1.0)
        matrix = np.zeros((n, n))
        rows = np.arange(1, n - 1)
        matrix[rows, rows] = 2 * (dx[:-1] + dx[1:])
        matrix[rows, rows + 1] = dx[:-1]
        matrix[rows, rows - 1] = dx[1:]
        matrix[0, 0], matrix[0, 1], matrix[-1, -1], matrix[-1, -2] = a, b, e, f
        slopes = np.linalg.solve(matrix, np.concatenate((np.array([begin]), inner, np.array([end]))))
    return Piecewise(x, between_knots(x, y, slopes), extrapolate is None or extrapolate)


@composed(interpolate.InterpolatedUnivariateSpline)
def spline_of_one_variable(x, y, k=3):
    if k != 3:
        refuse("`scipy.interpolate.InterpolatedUnivariateSpline` in this form")
    return interpolate.CubicSpline(x, y)


@composed(interpolate.PchipInterpolator)
def pchip(x, y, axis=0, extrapolate=None):
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if y.ndim != 1 or axis not in (0, -1):
        refuse("`scipy.interpolate.PchipInterpolator` in this form")
    dx = np.diff(x)
    chords = np.diff(y) / dx
    w1, w2 = 2 * dx[1:] + dx[:-1], dx[1:] + 2 * dx[:-1]
    same = chords[:-1] * chords[1:] > 0
    left, right = np.where(same, chords[:-1], 1.0), np.where(same, chords[1:], 1.0)
    inner = np.where(same, (w1 + w2) / (w1 / left + w2 / right), 0.0)
    ends = [pchip_end(dx[0], dx[1], chords[0], chords[1]), pchip_end(dx[-1], dx[-2], chords[-1], chords[-2])]
    slopes = np.concatenate((np.array(ends[:1]), inner, np.array(ends[1:])))
    return Piecewise(x, between_knots(x, y, slopes), extrapolate is None or extrapolate)


def pchip_end(h0, h1, m0, m1):
    """Return the slope at an end, of three points, as long as it keeps the shape of the chords."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(d) != np.sign(m0):
        return 0.0 * d
    return 3.0 * m0 if np.sign(m0) != np.sign(m1) and abs(d) > 3 * abs(m0) else d


@composed(interpolate.interp1d)
def interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    x, y = np.asarray(x), np.asarray(y)
    kind = {0: "zero", 1: "linear", 3: "cubic"}.get(kind, kind) if isinstance(kind, int) else kind
    extends = isinstance(fill_value, str)
    kinds = ("linear", "cubic") if extends else ("linear", "zero", "previous", "next", "nearest", "cubic")
    if np.ndim(y) != 1 or kind not in kinds:
        refuse("`scipy.interpolate.interp1d` in this form")
    if not assume_sorted:
        order = np.argsort(x, kind="mergesort")
        x, y = x[order], y[order]
    raises = not extends and (bounds_error is None or bounds_error)
    below, above = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    spline = interpolate.CubicSpline(x, y) if kind == "cubic" else None

    def within(at):
        if kind == "cubic":
            return spline(at)
        if kind == "linear" and not extends:
            return np.interp(at, x, y)
        if kind == "linear":
            k = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
            return (y[k] - y[k - 1]) / (x[k] - x[k - 1]) * (at - x[k - 1]) + y[k - 1]
        if kind == "next":
            return y[np.minimum(np.searchsorted(x, at), len(x) - 1)]
        if kind == "nearest":
            return y[np.searchsorted((x[1:] + x[:-1]) / 2, at)]
        return y[np.maximum(np.searchsorted(x, at, side="right") - 1, 0)]

    def interpolated(at):
        at = np.asarray(at)
        if raises:
            if np.any(at < x[0]) or np.any(at > x[-1]):
                raise ValueError("A value in x_new is outside of the interpolation range.")
            return within(at)
        return within(at) if extends else np.where(at < x[0], below, np.where(at > x[-1], above, within(at)))

    return interpolated


# ---- splines by their knots and coefficients ----


def basis(x, t, k):
    """Return the B-splines of degree k on the knots t at the places x, one in the last axis each (Cox and de Boor)."""
    at, count = np.asarray(x)[..., None], len(t) - k - 1
    inside = np.clip(np.searchsorted(t, at, side="right") - 1, k, count - 1)
    b = np.where(np.arange(len(t) - 1) == inside, 1.0, 0.0)
    for d in range(1, k + 1):
        width = t[d:] - t[:-d]
        share = (at - t[:-d]) / np.where(width > 0, width, 1.0)
        b = share[..., :-1] * b[..., :-1] + (1.0 - share[..., 1:]) * b[..., 1:]
    return b


class Spline:
    """A spline by its knots, coefficients and degree, as SciPy's `BSpline`."""

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        self.t, self.k = np.asarray(t), k
        self.c = np.asarray(c)[: len(self.t) - k - 1]

    def __call__(self, x, nu=0, extrapolate=None):
        spline = self.derivative(nu)
        return basis(x, spline.t, spline.k) @ spline.c

    def derivative(self, nu=1):
        found = self
        for _ in range(nu):
            t, k = found.t, found.k
            found = Spline(t[1:-1], k * np.diff(found.c) / (t[k + 1 : -1] - t[1 : -k - 1]), k - 1)
        return found


IN_PYTHON.add(Spline)


@composed(interpolate.BSpline)
def b_spline(t, c, k, extrapolate=True, axis=0):
    if np.ndim(c) != 1 or extrapolate is not True:
        refuse("`scipy.interpolate.BSpline` in this form")
    return Spline(t, c, k)


@composed(interpolate.make_interp_spline)
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if np.ndim(y) != 1 or t is not None or bc_type is not None:
        refuse("`scipy.interpolate.make_interp_spline` in this form")
    x, y = np.asarray(x), np.asarray(y)
    between = (x[1:] + x[:-1]) / 2 if k % 2 == 0 else x  # the knots, without those near the ends
    inner = between[k // 2 + 1 : -(k // 2 + 1)] if k % 2 == 1 else between[k // 2 : -(k // 2)]
    knots = np.concatenate((np.full(k + 1, x[0]), inner, np.full(k + 1, x[-1])))
    return Spline(knots, np.linalg.solve(basis(x, knots, k), y), k)


@composed(interpolate.splrep)
def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    if w is not None or xb is not None or xe is not None or task != 0 or t is not None or full_output or per or s not in (None, 0):
        refuse("`scipy.interpolate.splrep` in this form")
    spline = make_interp_spline(x, y, k)
    return spline.t, np.concatenate((spline.c, np.zeros(k + 1))), k


@composed(interpolate.splev)
def splev(x, tck, der=0, ext=0):
    t, c, k = tck
    if ext != 0:
        refuse("`scipy.interpolate.splev` with `ext`")
    return Spline(t, c, k)(x, der)
