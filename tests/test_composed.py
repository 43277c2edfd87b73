"""Functions that are written out with others, and rules beside them: values as NumPy's, both modes against differences."""

# ruff: noqa: E501  (tables of cases)

import math

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import sourcead
from sourcead.errors import NoRuleError, UnsupportedArgumentError

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
x = rng.uniform(0.3, 2, (3, 4))
v = rng.uniform(0.3, 2, 5)
m = x > 1
W = rng.normal(size=(3, 4))
W3, W4, W5 = W[:, 0], W[0], rng.normal(size=5)
xn = np.where(W > -0.8, x, np.nan)
big = np.isnan(xn)
A = rng.normal(size=(4, 6, 8, 3))
B = rng.normal(size=(3, 4, 12))


def mulat_1(x):
    a = x.copy()
    np.multiply.at(a, [0, 1, 0], x[1])
    return np.sum(a * W5)


def negat_2(x):
    a = x * 1
    np.negative.at(a, [0, 1, 0])
    return np.sum(a * W5)


def put_3(x):
    a = np.zeros(5)
    np.put(a, [0, 3], x[:2])
    return np.sum(a * W5)


def put2_4(x):
    a = np.zeros((3, 4))
    a.put([0, -3], x[:2])
    return np.sum(a * W)


def place_5(x):
    a = x * 2
    np.place(a, W > 0, x[0, :2])
    return np.sum(a * W)


def putmask_6(x):
    a = x * 2
    np.putmask(a, W > 0, x**2)
    return np.sum(a * W)


def paa_7(x):
    a = x * 2
    np.put_along_axis(a, np.array([[1], [0], [2]]), x[:, :1] ** 2, 1)
    return np.sum(a * W)


def filld_8(x):
    a = x * 2
    np.fill_diagonal(a, x[0, 0] ** 2)
    return np.sum(a * W)


def copyto_9(x):
    a = x * 2
    np.copyto(a, x[0] ** 2, where=W > 0)
    return np.sum(a * W)


def ufunc_where_out_10(x):
    a = x * 2
    np.divide(x[0], x - 1, out=a, where=m)
    return np.sum(a * W)


def ufunc_where_out2_11(x):
    a = x * 2
    b = np.log(x, out=a, where=W > 0)
    return np.sum(b * W)


def ufunc_out_12(x):
    a = np.zeros(5)
    np.exp(x, out=a)
    np.add(a, x, a)
    return np.sum(a * W5)


def x_partition_13(x):
    a = x * 2
    a.partition(2)
    return np.sum(a * W5)


CASES = {
    "sumwhere": (lambda x: np.sum(x, where=m) ** 2, x),
    "sumwhereaxis": (lambda x: np.sum(np.sum(x, axis=1, where=m) * W3), x),
    "suminit": (lambda x: np.sum(x, initial=2.0) ** 2, x),
    "suminit2": (lambda x: np.sum(W, initial=x) ** 2, 2.0),
    "sumposdtype": (lambda x: np.sum(np.sum(x, 1, None, None, True) * W3[:, None]), x),
    "sumdtype": (lambda x: np.sum(x, dtype=np.float64) ** 2, x),
    "meanwhere": (lambda x: np.sum(x.mean(0, where=m) * W4), x),
    "varwhere": (lambda x: x.var(where=m) * x.std(1, ddof=1, keepdims=True).sum(), x),
    "varwhere2": (lambda x: np.sum(x.std(1, where=W < 1) * W3), x),
    "maxinit": (lambda x: np.sum(np.max(x, 1, initial=1.2) * W3), x),
    "maxwhere": (lambda x: np.sum(np.max(x, 1, where=m, initial=0.2) * W3), x),
    "prodw": (lambda x: np.sum(np.prod(x, 1, where=m) * W3), x),
    "outer": (lambda x: np.sum(np.subtract.outer(x, x) ** 3), v),
    "outer2": (lambda x: np.sum(np.hypot.outer(x, W) ** 3), v),
    "reduce": (lambda x: np.sum(np.hypot.reduce(x) * W4), x),
    "reducesub": (lambda x: np.sum(np.subtract.reduce(x, axis=1) * W3), x),
    "reducelogadd": (lambda x: np.sum(np.logaddexp.reduce(x) ** 2), v),
    "acc": (lambda x: np.sum(np.logaddexp.accumulate(x) * W5), v),
    "reduceat": (lambda x: np.sum(np.add.reduceat(x, [0, 2, 4, 1]) * W4), v),
    "reduceatmul": (lambda x: np.sum(np.multiply.reduceat(x, [0, 2, 4, 1]) * W4), v),
    "mulat": (mulat_1, v),
    "negat": (negat_2, v),
    "divmod": (lambda x: np.sum(np.divmod(x, 0.7)[1] * W5) + np.sum(np.divmod(2, x)[1] * W5), v),
    "divmodpy": (lambda x: divmod(x, 0.7)[1] * 2, 1.5),
    "modf": (lambda x: np.sum(np.modf(x * 3)[0] * W5), v),
    "put": (put_3, v),
    "put2": (put2_4, v),
    "place": (place_5, x),
    "putmask": (putmask_6, x),
    "paa": (paa_7, x),
    "filld": (filld_8, x),
    "copyto": (copyto_9, x),
    "diff": (lambda x: np.sum(np.diff(x, prepend=0, append=x[-1]) ** 3), v),
    "interpp": (lambda x: np.sum(np.interp(x, np.arange(4.0), W4, period=3.7) ** 3), v),
    "linsp": (lambda x: np.sum(np.linspace(x[0], x[1], 5, retstep=True)[0] * W5), v),
    "nancumsum dtype": (lambda x: np.sum(np.cumsum(x, dtype=float) * W5), v),
    "avg": (lambda x: np.average(x, weights=x, returned=True)[1], v),
    "nanvarw": (lambda x: np.nanvar(np.where(W > 0, x, np.nan), where=m), x),
    "ufunc where out": (ufunc_where_out_10, x),
    "ufunc where out2": (ufunc_where_out2_11, x),
    "ufunc dtype": (lambda x: np.sum(np.multiply(x, 3, dtype=np.float64) * W5), v),
    "ufunc out": (ufunc_out_12, v),
    "ufunc casting": (lambda x: np.sum(np.add(1, x, casting="same_kind", where=True) * W5), v),
    "unique2": (lambda x: np.sum(np.unique(x, return_counts=True)[0] ** 2), v),
    "matvec": (lambda x: np.sum(np.matvec(x, W4) ** 2), x),
    "vecmat": (lambda x: np.sum(np.vecmat(W3, x) ** 2), x),
    "vecdot": (lambda x: np.sum(np.vecdot(x, x) ** 2), x),
    "union1d": (lambda x: np.sum(np.union1d(x, x[:2] * 2) ** 3), v),
    "intersect": (lambda x: np.sum(np.intersect1d(x * 2, x[:2] * 2) ** 3), v),
    "setdiff": (lambda x: np.sum(np.setdiff1d(x * 2, x[:2] * 2) ** 3), v),
    "setxor": (lambda x: np.sum(np.setxor1d(x, np.array([1.0, 2])) ** 3), v),
    "block": (lambda x: np.sum(np.block([[x, x @ x.T], [x * 2, x[:, :3]]]) ** 2), x),
    "block1": (lambda x: np.sum(np.block([x, 1.0, x]) ** 3), v),
    "apply": (lambda x: np.sum(np.apply_along_axis(lambda r: np.sum(r**2), 0, x) * W4), x),
    "apply1": (lambda x: np.sum(np.apply_along_axis(lambda r: r / np.sum(r), 0, x) * W), x),
    "applyover": (lambda x: np.sum(np.apply_over_axes(np.sum, x, [0]) * W4), x),
    "piecewise": (lambda x: np.sum(np.piecewise(x, [x < 1, x >= 1], [lambda x: x**2, lambda x: 3 * x])), v),
    "piecewise2": (lambda x: np.sum(np.piecewise(x, [x < 1], [lambda x: x**2, 2.0]) * W5), v),
    "fromfunction": (lambda x: np.sum(np.fromfunction(lambda i, j: x[0] * i + x[1] * j**2, (3, 4)) * W), v),
    "logspace": (lambda x: np.sum(np.logspace(x[0], x[1], 5) * W5), v),
    "geomspace": (lambda x: np.sum(np.geomspace(x[0], x[1], 5) * W5), v),
    "padc": (lambda x: np.sum(np.pad(x[1:], 1, constant_values=x[0]) ** 3), v),
    "polyadd": (lambda x: np.sum(np.polyadd(x, x[:2]) ** 3), v),
    "polysub": (lambda x: np.sum(np.polysub(x[:2], x) ** 3), v),
    "polymul": (lambda x: np.sum(np.polymul(x, x[:2]) ** 3), v),
    "polymul of zeros": (lambda x: np.sum(np.polymul(x, np.zeros(2)) ** 2) + np.sum(np.polymul(np.array([0.0, x[0], x[1]]), x) ** 3), v),
    "polymul of zero": (lambda x: np.sum(np.polyadd(np.polymul([0], x), x) ** 3), v),
    "polyder": (lambda x: np.sum(np.polyder(x) ** 3), v),
    "polyder2": (lambda x: np.sum(np.polyder(x, 2) ** 3), v),
    "polyint": (lambda x: np.sum(np.polyint(x) ** 3), v),
    "polyint2": (lambda x: np.sum(np.polyint(x, 1, x[0]) ** 3), v),
    "polydiv": (lambda x: np.sum(np.polydiv(x, x[:2])[0] ** 3) + np.sum(np.polydiv(x, x[:2])[1]), v),
    "poly": (lambda x: np.sum(np.poly(x)[1:] * W5), v),
    "polyfit": (lambda x: np.sum(np.polyfit(x, x**3, 2) * W3), v),
    "polyfit2": (lambda x: np.sum(np.polyfit(np.arange(5.0), x, 2) * W3), v),
    "corrcoef": (lambda x: np.sum(np.corrcoef(x) * (W @ W.T + np.arange(3))), x),
    "corrcoef2": (lambda x: np.corrcoef(x, W5)[0, 1], v),
    "cov2": (lambda x: np.cov(x, W5)[0, 1], v),
    "covw": (lambda x: np.sum(np.cov(x, aweights=W4**2) * (W @ W.T + np.arange(3))), x),
    "hist": (lambda x: np.sum(np.histogram(x, 4)[1] * W5), v),
    "histw": (lambda x: np.sum(np.histogram(W5, 4, weights=x)[0] * W4), v),
    "histwd": (lambda x: np.sum(np.histogram(W5, [-2, -1, 0, 1, 3], weights=x, density=True)[0] * W4), v),
    "nanmedian": (lambda x: np.nanmedian(np.where(big, np.nan, x)), x),
    "nanmedian1": (lambda x: np.sum(np.nanmedian(np.where(big, np.nan, x), axis=1) * W3), x),
    "nanquant": (lambda x: np.sum(np.nanquantile(np.where(big, np.nan, x), 0.3, axis=0, keepdims=True) * W4), x),
    "nanperc": (lambda x: np.sum(np.nanpercentile(np.where(big, np.nan, x), 30, axis=0) * W4), x),
    "quantq": (lambda q: np.sum(np.quantile(x, q, axis=1) * W3), 0.3),
    "quantlow": (lambda x: np.sum(np.quantile(x, 0.3, axis=1, method="lower") * W3), x),
    "percq": (lambda q: np.sum(np.percentile(x, q)), 33.0),
    "rfft2": (lambda x: np.sum(np.abs(np.fft.rfft2(x)) ** 2 * np.arange(3)[:, None]), x),
    "rfft2s": (lambda x: np.sum(np.abs(np.fft.rfft2(x, s=(4, 3))) ** 2 * np.arange(4)[:, None]), x),
    "rfftn": (lambda x: np.sum(np.abs(np.fft.rfftn(x)) ** 2 * np.arange(3)[:, None]), x),
    "fft2s": (lambda x: np.sum(np.abs(np.fft.fft2(x, s=(2, 5))) ** 2 * np.arange(2)[:, None]), x),
    "irfftn": (lambda x: np.sum(np.fft.irfftn(np.fft.rfftn(x) * 2j + x[0, 0]) ** 2 * np.arange(3)[:, None]), x),
    "irfft2": (
        lambda x: np.sum(np.fft.irfft2(np.fft.rfft2(x) * 2j + x[0, 0], s=(3, 5)) ** 2 * np.arange(3)[:, None]),
        x,
    ),
    "hfft": (lambda x: np.sum(np.fft.hfft(x + 1j * x**2) ** 2 * np.arange(8)), v),
    "ihfft": (lambda x: np.sum(np.abs(np.fft.ihfft(x)) ** 2 * np.arange(3)), v),
    "dist": (lambda x: math.dist([x[0], x[1]], (x[2], 1.0)), v),
    "mprod": (lambda x: math.prod([x[0], x[1], x[2]]), v),
    "remainder": (lambda x: math.remainder(x, 0.7) ** 2 + math.remainder(3.0, x), 1.3),
    "cond": (lambda x: np.linalg.cond(x), x),
    "condf": (lambda x: np.linalg.cond(x[:, :3] + np.eye(3), "fro"), x),
    "mnorm": (lambda x: np.linalg.matrix_norm(x) * np.linalg.matrix_norm(x, ord=2), x),
    "vnorm": (lambda x: np.linalg.vector_norm(x) * np.sum(np.linalg.vector_norm(x, axis=1, ord=3)), x),
    "tensorinv": (lambda x: np.sum((np.linalg.tensorinv(A * x[0, 0])[..., 0, 0]) ** 2), x),
    "tensorsolve": (lambda x: np.sum(np.linalg.tensorsolve(B * x[0, 0], x) ** 2), x),
    "partition": (lambda x: np.sum(np.partition(x, 2) * W5), v),
    "partition ax": (lambda x: np.sum(np.partition(x, 1, axis=0) * W), x),
    "x.partition": (x_partition_13, v),
    "swv": (lambda x: np.sum(sliding_window_view(x, 3)[:, 1] ** 2), v),
    "swv2": (lambda x: np.sum(np.lib.stride_tricks.sliding_window_view(x, (2, 2)) ** 3), x),
    "roots": (lambda x: np.sum(np.abs(np.roots(x)) ** 2), v),
    "frexp": (lambda x: np.sum(np.frexp(x)[0] * W5), v),
    "ric": (lambda x: np.sum(np.real_if_close(x + 0j) ** 2), v),
    "gamma": (lambda x: math.gamma(x) + math.lgamma(-x - 0.3), 1.3),
    "ldexp": (lambda x: math.ldexp(x, 3) + math.modf(x * 3)[0] ** 2 + math.frexp(x)[0], 1.3),
    "svdvals": (lambda x: np.sum(np.linalg.eigvals(x[:, :3]).real ** 2), x),
    "eig": (lambda x: np.sum(np.abs(np.linalg.eig(x[:, :3])[1]) ** 3), x),
    "eigrec": (lambda x: np.real(np.linalg.eig(x[:, :3] + 1j * x[:, 1:])[0][0]) ** 2, x),
    "flat": (lambda x: sum(e**2 for e in x.flat), x),
    "flat2": (lambda x: x.flat[3] ** 2, x),
    "item": (lambda x: x.item(1, 2) ** 2 + x.item(3), x),
    "dot": (lambda x: np.sum(x.dot(x.T)), x),
    "clip": (lambda x: np.sum(x.clip(1) * W), x),
    "clipk": (lambda x: np.sum(x.clip(max=1) * W), x),
    "sumpos": (lambda x: np.sum(np.sum(x, 1) * W3) + x.sum(-1).prod() + x.mean((0, 1)), x),
    "stdpos": (lambda x: np.sum(np.std(x, 1, None, None, 1) * W3), x),
    "take": (lambda x: np.sum(x.take([0, 2], axis=1) * 3), x),
    "take out of range": (lambda x: np.sum(np.take(x, [0, 7], mode="wrap") * 3), x),
    "choose": (lambda x: np.sum(np.choose([0, 1, 0, 1], [x[0], x[1]]) * W4), x),
    "repeat": (lambda x: np.sum(x.repeat(2, 0) ** 2), x),
    "swapaxes": (lambda x: np.sum(x.swapaxes(0, 1)[0] * W3), x),
    "argsort": (lambda x: np.sum(x[x[:, 0].argsort()] * W), x),
    "compress": (lambda x: np.sum(x.compress([True, False, True], axis=0) ** 2), x),
    "cumsum": (lambda x: np.sum(x.cumsum(1) * W), x),
    "real": (lambda x: np.sum((x * 1j).imag * W) + x.real.sum(), x),
    "einsum implicit": (lambda x: np.sum(np.einsum("ij,jk", x, x.T) * (W @ W.T)), x),
    "einsum ell": (lambda x: np.sum(np.einsum("...j->...", x) * W3), x),
    "einsum lists": (lambda x: np.sum(np.einsum(x, [0, 1], x, [2, 1], [0, 2]) * (W @ W.T)), x),
    "maskmax": (lambda x: np.max(x, axis=(0, 1)), x),
    "logical": (lambda x: np.sum(np.where(np.logical_and(x > 1, x < 1.5), x, 0)), x),
    "trapz": (lambda x: np.trapezoid(x[0], x[1]), x),
    "median": (lambda x: np.sum(np.median(x, (0, 1), keepdims=True) * 2), x),
    "ptp": (lambda x: np.sum(np.ptp(x, 1) * W3), x),
    "pdt": (lambda x: np.sum(x.prod(0) * W4), x),
    "round": (lambda x: np.sum(x.round(1) * 0 + x), x),
    "rollaxis": (lambda x: np.sum(np.roll(x, (1, 2), (0, 1)) * W), x),
    "tri": (lambda x: np.sum(np.tril(x, -1) * W), x),
    "interp1": (lambda x: np.sum(np.interp([0.2, 0.7, -3.0], [0.5], x[:1])) * np.interp(x[0], [1.0], x[1:2]), v),
    "interp": (lambda x: np.sum(np.interp([0.5, 1.5], [0.0, 1, 2], x[:3]) * [2.0, 3.0]), v),
    "linalgnorm": (
        lambda x: (
            np.linalg.norm(x, 1)
            + np.linalg.norm(x, np.inf)
            + np.linalg.norm(x, -2)
            + np.linalg.norm(x, "nuc")
            + np.linalg.norm(x[0], 3)
        ),
        x,
    ),
    "tensordot": (lambda x: np.sum(np.tensordot(x, x, [[0], [0]]) * (W.T @ W)), x),
    "float pow": (lambda x: np.sum(np.float_power(x, 2.5)), x),
    "astype": (lambda x: np.sum(np.astype(x, np.float64) * W), x),
    "gradient": (lambda x: np.sum(np.gradient(x)[1] * W), x),
}


def along(f, x, direction, step=1e-6):
    return (f(x + step * direction) - f(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("name", CASES)
def test_values_and_both_modes(name):
    if name in ("matvec", "vecmat") and not hasattr(np, name):
        pytest.skip("NumPy 2.2")
    f, at = CASES[name]
    at = np.asarray(at, dtype=float) if np.ndim(at) else float(at)
    value, gradient = sourcead.value_and_grad(f)(at)
    assert value == pytest.approx(f(at), rel=1e-13)
    direction = rng.normal(size=np.shape(at))
    numeric = along(f, at, direction)
    assert np.sum(gradient * direction) == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    _, tangent = sourcead.jvp(f, (at,), (np.asarray(direction)[()],))
    assert tangent == pytest.approx(np.sum(gradient * direction), rel=1e-10, abs=1e-12)


Z34 = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
Z33 = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
T233 = rng.normal(size=(2, 3, 3))
ARGUMENTS = {  # arguments whose axes, types or numbers are not the usual ones
    "trace of each matrix in a type": (lambda x: np.linalg.trace(x, dtype=np.float64), T233),
    "vecdot along another axis": (lambda x: np.vecdot(x, T233[1], axis=-2), T233),
    "vecdot of a row along the first axis": (lambda x: np.linalg.vecdot(x, W3, axis=0), T233[0]),
    "geomspace of arrays": (lambda x: np.geomspace(x**2 + 1, 2 * x**2 + 3, 5), v),
    "geomspace to an array": (lambda x: np.geomspace(1.5, x**2 + 3, 4), v),
    "correlations of complex rows": (np.corrcoef, Z34),
    "correlations of two complex sets of rows": (lambda x: np.corrcoef(x, x[::-1] ** 2), Z34),
    "variance about a given mean": (lambda x: np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)), T233[0]),
    "options of a reduction by position": (lambda x: np.add.reduce(x, 1, None, None, True), T233[0]),
    "options of another reduction by position": (lambda x: np.maximum.reduce(x, 1, None, None, True), T233[0]),
    "eigenvalues": (np.linalg.eigvals, T233[0] + np.diag([1.0, 3.0, 6.0])),
    "eigenvalues of a complex matrix": (np.linalg.eigvals, Z33),
    "eigenvalues of symmetric matrices": (lambda x: np.linalg.eigvalsh(x + np.swapaxes(x, -1, -2)), T233),
    "eigenvalues of a Hermitian matrix": (lambda x: np.linalg.eigvalsh(x @ np.conj(x.T), "U"), Z33),
    "singular values": (getattr(np.linalg, "svdvals", lambda x: np.linalg.svd(x, compute_uv=False)), T233),
    "singular values of a complex matrix": (getattr(np.linalg, "svdvals", np.ravel), Z33),
    "percentiles over two axes": (lambda x: np.percentile(x, 30, axis=(0, 2)), T233),
    "cumulative product without missing elements": (lambda x: np.nancumprod(np.where(x > 0.9, np.nan, x), axis=1), T233),
    "cumulative product of all elements": (lambda x: np.nancumprod(np.where(x > 0.9, np.nan, x)), T233),
    "deletion of a slice": (lambda x: np.delete(x, slice(0, 4, 2)), T233[0]),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_unusual_arguments(name):
    call, at = ARGUMENTS[name]
    shape = np.shape(call(at))
    w = rng.normal(size=shape) + 1j * rng.normal(size=shape)

    def f(x):
        return np.sum(np.real(w * call(x)))

    direction = rng.normal(size=at.shape) + (1j * rng.normal(size=at.shape) if np.iscomplexobj(at) else 0)
    value, gradient = sourcead.value_and_grad(f)(at)
    assert value == pytest.approx(f(at), rel=1e-12)
    assert np.sum(np.real(gradient * direction)) == pytest.approx(along(f, at, direction), rel=1e-5, abs=1e-6)
    assert sourcead.jvp(f, (at,), (direction,))[1] == pytest.approx(along(f, at, direction), rel=1e-5, abs=1e-6)


def test_a_complex_symmetric_matrix_is_not_taken_for_a_hermitian_one():
    linalg = pytest.importorskip("scipy.linalg")
    a = Z33 + Z33.T
    for lower in (False, True):
        value = sourcead.value_and_grad(lambda b, lower=lower: np.sum(np.abs(linalg.solve(a, b, lower, assume_a="sym")) ** 2))(W3)[0]
        assert value == pytest.approx(np.sum(np.abs(np.linalg.solve(a, W3)) ** 2), rel=1e-10)


def test_a_type_by_position_is_not_taken_for_another_option():
    with pytest.raises(NoRuleError):
        sourcead.grad(lambda x: np.sum(np.hypot.reduce(x, 0, np.float64)))(T233[0])


@pytest.mark.parametrize("ufunc", [np.power, np.arctan2])
def test_a_reduction_in_which_numpy_loses_elements_is_refused(ufunc):
    for f in (lambda x: np.sum(ufunc.reduce(x)), lambda x: np.sum(ufunc.reduceat(x, [0, 1]))):
        with pytest.raises(UnsupportedArgumentError, match="depends on the version of NumPy"):
            sourcead.grad(f)(T233[0])


def test_weights_of_several_axes_are_refused():
    with pytest.raises(UnsupportedArgumentError, match="np.average"):
        sourcead.grad(lambda x: np.sum(np.average(x, axis=(0, 1), weights=np.ones((2, 3)))))(T233)


def test_a_masked_ufunc_does_not_look_at_what_is_masked():
    def f(x):
        ratio = np.zeros(3)
        np.divide(1.0, x, out=ratio, where=x != 0)
        return np.sum(ratio)

    np.testing.assert_array_equal(sourcead.grad(f)(np.array([2.0, 0.0, 1.0])), [-0.25, 0, -1])


def test_arguments_are_not_touched():
    def f(a, x):
        np.put(a, [0, 1], x)
        np.multiply.at(a, [0, 0], x[0])
        return np.sum(a)

    a = np.arange(3.0)
    gradient = sourcead.grad(f, wrt=(0, 1))(a, v[:2])
    np.testing.assert_array_equal(a, np.arange(3.0))
    np.testing.assert_allclose(gradient[0], [0, 0, 1])
    np.testing.assert_allclose(gradient[1], [3 * v[0] ** 2, 1])


def test_first_of_equal_elements_carries_the_derivative():
    np.testing.assert_array_equal(sourcead.grad(lambda x: np.sum(np.unique(x)))(np.array([2.0, 1.0, 2.0])), [1, 1, 0])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["sumwhere", "reduce", "vecdot", "block", "polymul", "partition", "swv", "outer"])
def test_precision_stays(name, dtype):
    f, at = CASES[name]
    assert sourcead.grad(f)(at.astype(dtype)).dtype == np.dtype(dtype)


EMPTY = {
    "sum": lambda x: np.sum(x, where=x > 0),
    "prod": lambda x: np.prod(x, initial=2.0),
    "unique": lambda x: np.sum(np.unique(x)),
    "outer": lambda x: np.sum(np.hypot.outer(x, x)),
    "partition": lambda x: np.sum(np.sort(x)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_arrays_without_elements(name):
    assert sourcead.grad(EMPTY[name])(np.zeros(0)).shape == (0,)


A2, B2, B3 = rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
PLANES = {  # vectors of two numbers, which NumPy takes up to 2.4
    "cross of two planes": (lambda a, b: np.sum(np.cross(a, b) ** 3), A2, B2),
    "cross of plane and space": (lambda a, b: np.sum(np.cross(a, b) ** 3), A2, B3),
    "cross of one vector": (lambda a, b: np.sum(np.cross(a, b[1]) ** 3), B3, B2),
    "cross along the first axis": (lambda a, b: np.sum(np.cross(a[:2], b[1:], axis=0) ** 3), B3, B3),
}
OTHERS = {
    **(PLANES if np.lib.NumpyVersion(np.__version__) < "2.5.0" else {}),
    "pad with two values": (lambda a, b: np.sum(np.pad(a[0], 2, constant_values=(b[0, 0], 1.0)) ** 3), A2, B2),
    "pad with values of each side": (lambda a, b: np.sum(np.pad(a, ((1, 2), (0, 3)), constant_values=b[:2]) ** 3), A2, B2),
    "polyfit with weights": (lambda a, b: np.sum(np.polyfit(np.arange(4.0), a, 1, w=b[:, 0] ** 2) ** 2), A2, B2),
    "polynomial": (lambda a, b: np.sum(np.polynomial.polynomial.polyval(a, b[:, 0]) ** 2), A2, B2),
    "Chebyshev": (lambda a, b: np.sum(np.polynomial.chebyshev.chebval(a, b[:, 0]) ** 2), A2, B2),
    "Legendre": (lambda a, b: np.sum(np.polynomial.legendre.legval(a, b[:, 0]) ** 2), A2, B2),
    "Legendre of degree 0": (lambda a, b: np.sum(np.polynomial.legendre.legval(a, b[:1, 0]) ** 2), A2, B2),
    "nextafter": (lambda a, b: np.sum(np.nextafter(a, b) ** 2), A2, B2),
    "matrices transposed": (lambda a, b: np.sum((a.mT @ b) ** 2), A2, B2),
    "ravel in the order of memory": (lambda a, b: np.sum(a.ravel(order="K") ** 3 * np.ravel(b * 2, "A")), A2, B2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_derivatives_of_both_arguments(name):
    f, *at = OTHERS[name]
    sourcead.check_grads(f, at, wrt=(0, 1), order=2)


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1")
def test_running_sums_that_begin_before_the_first_element():
    sourcead.check_grads(lambda a: np.sum(np.cumulative_sum(a, axis=1, include_initial=True) ** 2), (x,))
    sourcead.check_grads(lambda a: np.sum(np.cumulative_prod(a, axis=0, include_initial=True) ** 2), (x,))
    sourcead.check_grads(lambda a: np.sum(np.cumulative_sum(a[0]) ** 2 * np.cumulative_prod(a, axis=0)[0]), (x,))


def test_ravel_in_an_order_of_memory_that_is_not_known_is_refused():
    with pytest.raises(sourcead.UnsupportedSyntaxError, match="how it lies"):
        sourcead.grad(lambda a: np.sum(a.T.ravel(order="K") ** 2))(x)
