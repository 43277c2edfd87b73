"""Every function that autograd differentiates is differentiable here, in both modes, and no less accurately."""

import math

import numpy as np
import pytest

import sourcead
from sourcead.primitives.table import compositions_of, record_of

pytestmark = pytest.mark.sampled(3)

autograd = pytest.importorskip("autograd")
special = pytest.importorskip("scipy.special")

import autograd.numpy as anp  # noqa: E402
import autograd.scipy.linalg  # noqa: E402, F811
import autograd.scipy.special  # noqa: E402
from autograd.core import primitive_jvps, primitive_vjps  # noqa: E402

HOMES = ("numpy", "scipy.special", "scipy.linalg")


def home(function) -> str:
    module = getattr(function, "__module__", None)
    if module is None and getattr(special, getattr(function, "__name__", ""), None) is function:
        return "scipy.special"
    return "numpy" if module is None else module


def theirs():
    """The functions of NumPy and SciPy in autograd's own registry."""
    found = {}
    for primitive in {*primitive_vjps, *primitive_jvps}:
        function = getattr(primitive, "fun", primitive)
        if home(function).startswith(HOMES):
            found[f"{home(function)}.{function.__name__}"] = function
    return found


THEIRS = theirs()


def test_autograds_registry_is_read():
    assert len(THEIRS) > 150


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_what_autograd_differentiates_is_differentiable(name):
    function = THEIRS[name]
    if record_of(function).no_derivative or any(not c.given for c in compositions_of(function)):
        return
    assert record_of(function).adjoint_rule is not None
    assert record_of(function).tangent_rule is not None


rng = np.random.default_rng(0)
A = rng.normal(size=(4, 4)) + 4 * np.eye(4)
S = A @ A.T
X = rng.uniform(0.3, 0.9, (3, 4))
V = rng.uniform(0.3, 0.9, 5)
W = rng.normal(size=(4, 4))

# what is computed with NumPy's module, here and in autograd; and at what
SAME = {
    "exp": (lambda np: lambda x: np.sum(np.exp(x) * np.tanh(x)), X),
    "power": (lambda np: lambda x: np.sum(x**2.5 + np.power(x, 3)), X),
    "sinc": (lambda np: lambda x: np.sum(np.sinc(x)), X),
    "logaddexp": (lambda np: lambda x: np.sum(np.logaddexp(x, x[0])), X),
    "std": (lambda np: lambda x: np.sum(np.std(x, axis=1)), X),
    "prod": (lambda np: lambda x: np.sum(np.prod(x, axis=0)), X),
    "partition": (lambda np: lambda x: np.sum(np.partition(x, 2) ** 2), V),
    "sort": (lambda np: lambda x: np.sum(np.sort(x) * np.arange(5)), V),
    "cumsum": (lambda np: lambda x: np.sum(np.cumsum(x, axis=1) ** 2), X),
    "tensordot": (lambda np: lambda x: np.sum(np.tensordot(x, x, [[0], [0]]) ** 2), X),
    "einsum": (lambda np: lambda x: np.sum(np.einsum("ij,kj->ik", x, x) ** 2), X),
    "kron": (lambda np: lambda x: np.sum(np.kron(x, x) ** 2), X),
    "gradient": (lambda np: lambda x: np.sum(np.gradient(x) ** 2), np.tile(V, 2)),
    "rfftn": (lambda np: lambda x: np.sum(np.abs(np.fft.rfftn(x)) ** 2), X),
    "irfft2": (lambda np: lambda x: np.sum(np.fft.irfft2(np.fft.rfft2(x) * (1 + 0.5j)) ** 2), np.tile(X, 2)[:2]),
    "fft": (lambda np: lambda x: np.sum(np.real(np.fft.fft(x)) ** 3), V),
    "inv": (lambda np: lambda x: np.sum(np.linalg.inv(x) * W), A),
    "solve": (lambda np: lambda x: np.sum(np.linalg.solve(x, W) ** 2), A),
    "det": (lambda np: lambda x: np.linalg.det(x), A),
    "slogdet": (lambda np: lambda x: np.linalg.slogdet(x)[1], A),
    "norm": (lambda np: lambda x: np.linalg.norm(x) + np.linalg.norm(x, "nuc"), A),
    "pinv": (lambda np: lambda x: np.sum(np.linalg.pinv(x) ** 2), X),
    "svd": (lambda np: lambda x: np.sum(np.linalg.svd(x, full_matrices=False)[0] ** 4), A),
    "eigh": (lambda np: lambda x: np.sum(np.linalg.eigh(x + x.T)[0] * V[:4]), S),
    "cholesky": (lambda np: lambda x: np.sum(np.linalg.cholesky(x @ x.T) ** 3), A),
    "eig": (lambda np: lambda x: np.sum(np.abs(np.linalg.eig(x)[0]) ** 2), A),
}


@pytest.mark.parametrize("name", SAME)
def test_no_function_is_less_accurate(name):
    make, x = SAME[name]
    ours = sourcead.grad(make(np))(x)
    other = autograd.grad(make(anp))(x)
    r = np.random.default_rng(1)
    for _ in range(3):
        direction = r.normal(size=x.shape)
        exact = richardson(make(np), x, direction)
        error, theirs_error = abs(np.sum(ours * direction) - exact), abs(np.sum(other * direction) - exact)
        assert error <= theirs_error + 1e-9 * max(1.0, abs(exact))


def richardson(f, x, t, h=1e-2):
    """The derivative of f along t by Richardson's extrapolation of central differences."""
    rows = [[(f(x + h / 2**k * t) - f(x - h / 2**k * t)) / (2 * h / 2**k) for k in range(6)]]
    for order in range(1, 6):
        last = rows[-1]
        rows.append([last[i + 1] + (last[i + 1] - last[i]) / (4**order - 1) for i in range(len(last) - 1)])
    return rows[-1][0]


def test_special_functions_agree():
    import autograd.scipy.special as theirs_special

    cases = dict.fromkeys(("erf", "erfc", "erfinv", "erfcinv", "logit", "j0", "j1", "y0", "y1", "i0", "i1", "expit"), (0.4,))
    cases |= dict.fromkeys(("gammaln", "gamma", "digamma", "rgamma"), (1.3,))
    for name, args in cases.items():
        f = getattr(special, name)
        ours = sourcead.grad(lambda x: f(x))(*args)  # noqa: B023
        assert math.isclose(ours, autograd.grad(getattr(theirs_special, name))(*args), rel_tol=1e-12), name
