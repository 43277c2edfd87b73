"""The rules of scipy.special and scipy.linalg against central differences, in both modes."""

import numpy as np
import pytest

import sourcead
from sourcead.errors import SourceADError
from sourcead.primitives.table import record_of
from tests.entered_rules import registered

special = pytest.importorskip("scipy.special")
linalg = pytest.importorskip("scipy.linalg")

pytestmark = pytest.mark.sampled(3)

# where a function is looked at, if not at the numbers of DEFAULT in turn
POINTS = {
    "betainc": (2.0, 3.0, 0.4), "betaincc": (2.0, 3.0, 0.4), "betaincinv": (2.0, 3.0, 0.4), "betainccinv": (2.0, 3.0, 0.4),
    "hyp2f1": (0.5, 1.5, 2.5, 0.4), "ellipkinc": (0.7, 0.4), "ellipeinc": (0.7, 0.4), "bdtr": (2.0, 5.0, 0.4), "bdtrc": (2.0, 5.0, 0.4),
    "nbdtr": (2.0, 5.0, 0.4), "nbdtrc": (2.0, 5.0, 0.4), "pdtr": (2.0, 1.4), "pdtrc": (2.0, 1.4), "chdtri": (3.0, 0.4),
    "fdtri": (3.0, 4.0, 0.4), "stdtrit": (3.0, 0.4), "gdtrix": (1.2, 2.0, 0.4), "expn": (3, 0.7), "eval_sh_jacobi": (3, 2.5, 1.5, 0.7),
    "jvp": (1.5, 0.7), "gammaincinv": (2.0, 0.4), "gammainccinv": (2.0, 0.4), "ndtri_exp": (-0.7,), "spherical_jn": (2, 0.7),
    "spherical_yn": (2, 0.7), "spherical_in": (2, 0.7), "spherical_kn": (2, 0.7), "multigammaln": (5.3, 3), "polygamma": (1, 0.7),
    "ellipj": (0.7, 0.4), "yn": (2, 0.7), "kn": (2, 0.7), "hyp1f1": (0.5, 1.5, 0.7), "zeta": (2.5, 0.7), "voigt_profile": (0.5, 1.2, 0.7),
    "radian": (0.3, 0.4, 0.5),
    "elliprf": (0.5, 1.2, 0.7), "powm1": (0.7, 1.3), "pbdv": (1.5, 0.7), "pbvv": (1.5, 0.7), "boxcox": (0.7, 1.3), "inv_boxcox": (0.7, 1.3),
    "poch": (0.7, 1.3), "binom": (2.7, 1.3), "logsumexp": (np.array([0.3, 0.9]),), "softmax": (np.array([0.3, 0.9]),),
    "log_softmax": (np.array([0.3, 0.9]),),
}  # fmt: skip
DEFAULT = (0.7, 1.3, 0.4, 0.6)
WEIGHTS = (1.0, 0.3, -0.7, 0.2)


def names():
    rules = registered()
    return sorted(
        n
        for n in dir(special)
        if n[0] != "_" and callable(getattr(special, n)) and hashable(getattr(special, n)) in rules
    )


def hashable(f):
    return f if getattr(type(f), "__hash__", None) else None


def point(name):
    rule = record_of(getattr(special, name)).adjoint_rule
    if name.startswith("eval_") and name not in POINTS:
        return (3, *(1.5, 0.6, 0.4)[: len(rule.params) - 1])
    return POINTS.get(name) or DEFAULT[: len(rule.params) - len(rule.defaults)]


@pytest.mark.parametrize("name", names())
def test_special_functions(name):
    f, at = getattr(special, name), point(name)
    y = f(*at)
    several = isinstance(y, tuple)
    d_y = WEIGHTS[: len(y)] if several else np.ones(np.shape(y))[()]
    rule = record_of(f).adjoint_rule
    values, given = rule.bind(at, {})
    cotangents = rule.direct(y, values, d_y, given)
    seen = 0
    for i, x in enumerate(at):
        d_x = cotangents[i]
        if isinstance(x, int) or d_x is None or np.any(np.isnan(d_x)):  # no derivative is known there
            continue
        ahead, back = (f(*at[:i], x + s, *at[i + 1 :]) for s in (1e-5, -1e-5))
        parts = zip(d_y, ahead, back) if several else [(d_y, ahead, back)]
        numeric = sum(np.real(np.sum(w * (a - b))) for w, a, b in parts) / 2e-5
        assert np.sum(d_x) == pytest.approx(numeric, rel=1e-6, abs=1e-8), i
        seen += 1
    assert seen
    assert record_of(f).tangent_rule is not None


def test_an_unknown_derivative_is_refused_where_it_is_needed():
    assert sourcead.grad(lambda x: special.jv(2.5, x))(1.0) == pytest.approx(special.jvp(2.5, 1.0), rel=1e-12)
    with pytest.raises(SourceADError, match="the order"):
        sourcead.grad(lambda v: special.jv(v, 1.0))(2.5)
    with pytest.raises(SourceADError, match="first argument"):
        sourcead.jvp(lambda a: special.gammainc(a, 1.0), (2.5,), (1.0,))


def test_edges_of_special_functions():
    assert sourcead.grad(lambda x: special.boxcox(2.0, x))(0.0) == pytest.approx(np.log(2) ** 2 / 2)
    assert sourcead.grad(lambda x: special.inv_boxcox(2.0, x))(0.0) == pytest.approx(-2 * np.exp(2.0))
    assert sourcead.grad(special_ellipk)(0.0) == pytest.approx(np.pi / 8)
    assert sourcead.grad(lambda x: special.spence(x))(1.0) == -1.0
    assert sourcead.grad(lambda x: special.eval_legendre(0, x))(0.3) == 0.0
    assert sourcead.grad(lambda x: special.lambertw(x).real)(0.0) == 1.0


def special_ellipk(m):
    return special.ellipk(m)


rng = np.random.default_rng(0)
B = rng.normal(size=(4, 3))
Q = B @ B.T
S = rng.normal(size=(4, 4))
S = S @ S.T + 4 * np.eye(4)
W = rng.normal(size=(4, 4))

MATRICES = {
    "inv": lambda x: linalg.inv(x),
    "expm": lambda x: linalg.expm(x * 0.2),
    "sqrtm": lambda x: linalg.sqrtm(x),
    "logm": lambda x: linalg.logm(x),
    "sinm": lambda x: linalg.sinm(x * 0.1),
    "cosm": lambda x: linalg.cosm(x * 0.1),
    "sinhm": lambda x: linalg.sinhm(x * 0.1),
    "coshm": lambda x: linalg.coshm(x * 0.1),
    "tanm": lambda x: linalg.tanm(x * 0.1),
    "tanhm": lambda x: linalg.tanhm(x * 0.1),
    "chol": lambda x: linalg.cholesky(x),
    "cholL": lambda x: linalg.cholesky(x, lower=True),
    "polar": lambda x: linalg.polar(x)[1],
    "st": lambda x: linalg.solve_triangular(x, Q),
    "stl": lambda x: linalg.solve_triangular(x, x, lower=True),
    "stt": lambda x: linalg.solve_triangular(x, Q, trans=1, lower=True),
    "stu": lambda x: linalg.solve_triangular(x, Q, trans="T", unit_diagonal=True),
    "sylv": lambda x: linalg.solve_sylvester(x, x @ x, x.T),
    "lyap": lambda x: linalg.solve_continuous_lyapunov(x, x.T),
    "dlyap": lambda x: linalg.solve_discrete_lyapunov(x * 0.05, x.T),
    "solve": lambda x: linalg.solve(x, Q),
    "solvep": lambda x: linalg.solve(x, Q, assume_a="pos"),
    "cho": lambda x: linalg.cho_solve(linalg.cho_factor(x), W),
    "chol2": lambda x: linalg.cho_solve(linalg.cho_factor(x, lower=True), W),
    "lu": lambda x: linalg.lu_factor(x[::-1])[0] + linalg.lu(x)[2] @ linalg.lu(x[::-1], permute_l=True)[0],
    "lus": lambda x: linalg.lu_solve(linalg.lu_factor(x[::-1]), W) * linalg.lu_solve(linalg.lu_factor(x[::-1]), x, trans=1),
    "toep": lambda x: linalg.toeplitz(x[0], x[1]),
    "hank": lambda x: linalg.hankel(x[0], x[1]),
    "circ": lambda x: linalg.circulant(x[0]),
    "st2": lambda x: linalg.solve_toeplitz((x[0], x[:, 0]), W),
    "mt": lambda x: linalg.matmul_toeplitz(x[0], W),
    "sc": lambda x: linalg.solve_circulant(x[0], W),
    "bd": lambda x: linalg.block_diag(x[:2, :2], x[2:, :2]),
    "svd": lambda x: linalg.svd(x)[1] * W,
    "eigh": lambda x: linalg.eigh(x)[0] * W,
    "eigvalsh": lambda x: linalg.eigvalsh(x) * W,
    "qr": lambda x: linalg.qr(x, mode="economic")[1],
}


@pytest.mark.parametrize("name", MATRICES)
def test_dense_linear_algebra(name):
    f = MATRICES[name]

    def loss(x):
        return np.sum(f(x) * W)

    gradient = sourcead.grad(loss)(S)
    direction = rng.normal(size=S.shape)
    numeric = (loss(S + 1e-6 * direction) - loss(S - 1e-6 * direction)) / 2e-6
    assert np.sum(gradient * direction) == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    value, tangent = sourcead.jvp(loss, (S,), (direction,))
    assert value == pytest.approx(loss(S), rel=1e-12)
    assert tangent == pytest.approx(np.sum(gradient * direction), rel=1e-9)


@pytest.mark.parametrize("b", [W[0], W], ids=["vector", "matrix"])
@pytest.mark.parametrize("low, up", [(1, 2), (2, 1), (0, 0), (0, 2)])
def test_banded_equations(low, up, b):
    ab = rng.normal(size=(low + up + 1, 4))
    ab[up] += 5

    def loss(ab, b):
        return np.sum(linalg.solve_banded((low, up), ab, b) ** 2)

    d_ab, d_b = sourcead.grad(loss, wrt=(0, 1))(ab, b)
    t_ab, t_b = rng.normal(size=ab.shape), rng.normal(size=b.shape)
    numeric = (loss(ab + 1e-6 * t_ab, b + 1e-6 * t_b) - loss(ab - 1e-6 * t_ab, b - 1e-6 * t_b)) / 2e-6
    assert np.sum(d_ab * t_ab) + np.sum(d_b * t_b) == pytest.approx(numeric, rel=1e-6)
    assert sourcead.jvp(loss, (ab, b), (t_ab, t_b))[1] == pytest.approx(
        np.sum(d_ab * t_ab) + np.sum(d_b * t_b), rel=1e-10
    )
