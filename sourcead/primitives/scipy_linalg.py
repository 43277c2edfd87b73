"""Rules of `scipy.linalg`: functions of matrices, and equations that NumPy does not solve.

    y = sqrtm(a)                   y t_y + t_y y = t_a                       a Sylvester equation
    y = expm(a)                    t_y = upper right block of expm([[a, t_a], [0, a]])
    a y + y b = q                  a t_y + t_y b = t_q - t_a y - y t_b
    a y = b, a triangular          as for solve, in the triangle that is read
    a[rows] = l @ u                the rows that are exchanged are held
    a.T y + y a - y b r^-1 b.T y + q = 0          c.T t_y + t_y c = -(the tangent of the left side with y held), c = a - b r^-1 b.T y
    y = c.T y c + k.T r k + q, c = a - b k, k = (r + b.T y b)^-1 b.T y a          t_y - c.T t_y c = the tangent of the rest with k held

If t_y = L(t_a) for a linear map L that depends on the matrix a, then d_a = L(d_y) with a.T in place of a.

N. Higham, "Functions of matrices" (2008).
"""

import numpy as np
from scipy import linalg

from sourcead.ir.types import Array
from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.registry import adjoint, adjoints, enter, in_both_modes, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import array_type
from sourcead.runtime.matrices import banded_cotangents, banded_tangent, frechet, inverse_frechet, read_triangle
from sourcead.runtime.triangular import factors, lu_cotangent, lu_tangent, rows_after

# ---- functions of matrices ----


def derivative_of(f):
    """Return the adjoint and the tangent rule of a function of one matrix."""
    return lambda y, a, d_y: frechet(f, a.T, d_y), lambda y, a, t_a: frechet(f, a, t_a)


in_both_modes({
    f: derivative_of(f) for f in (linalg.sinm, linalg.cosm, linalg.sinhm, linalg.coshm)
})
adjoints({
    linalg.expm: lambda y, a, d_y: frechet(linalg.expm, np.swapaxes(a, -1, -2), d_y),
    linalg.logm: lambda y, a, d_y: real_if_real(inverse_frechet(linalg.expm, y.T, d_y), a),
    linalg.sqrtm: lambda y, a, d_y: real_if_real(linalg.solve_sylvester(y.T, y.T, d_y), a),
    linalg.lu_factor: lambda y, a, d_y, overwrite_a=False, check_finite=True: lu_cotangent(d_y[0], y[0], y[1]),
})
tangents({
    linalg.expm: lambda y, a, t_a: frechet(linalg.expm, a, t_a),
    linalg.logm: lambda y, a, t_a: inverse_frechet(linalg.expm, y, t_a),
    linalg.sqrtm: lambda y, a, t_a: linalg.solve_sylvester(y, y, t_a),
    linalg.lu_factor: lambda y, a, t_a, overwrite_a=False, check_finite=True: (lu_tangent(t_a, y[0], y[1]), np.zeros(len(y[1]))),
})

# ---- equations ----

tangents({
    linalg.solve_banded: lambda y, l_and_u, ab, b, t_ab, t_b, overwrite_ab=False, overwrite_b=False, check_finite=True: (
        -linalg.solve_banded(l_and_u, ab, banded_tangent(t_ab, y, l_and_u)), linalg.solve_banded(l_and_u, ab, t_b)
    ),
    linalg.solve_sylvester: lambda y, a, b, q, t_a, t_b, t_q: (
        linalg.solve_sylvester(a, b, -(t_a @ y)),
        linalg.solve_sylvester(a, b, -(y @ t_b)),
        linalg.solve_sylvester(a, b, t_q),
    ),
})


@adjoint(linalg.solve_sylvester)
def solve_sylvester_adjoint(y, a, b, q, d_y):
    d_q = linalg.solve_sylvester(a.T, b.T, d_y)
    return -(d_q @ y.T), -(y.T @ d_q), d_q


@adjoint(linalg.solve_banded)
def solve_banded_adjoint(y, l_and_u, ab, b, d_y, overwrite_ab=False, overwrite_b=False, check_finite=True):
    d_ab, d_b = banded_cotangents(linalg.solve_banded, d_y, y, l_and_u, ab)
    return None, d_ab, d_b


@adjoint(linalg.solve_triangular)
def solve_triangular_adjoint(y, a, b, d_y, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    if trans in (2, "C") and np.iscomplexobj(a):
        raise NotImplementedError("the derivative of scipy.linalg.solve_triangular with trans='C' of complex matrices")
    plain = trans in (0, "N")
    d_b = linalg.solve_triangular(a, d_y, 1 if plain else 0, lower, unit_diagonal)
    d_system = -np.outer(d_b, y) if y.ndim == 1 else -(d_b @ y.T)
    d_a = d_system if plain else d_system.T
    if unit_diagonal:
        return read_triangle(d_a, lower, unit_diagonal), d_b
    return np.tril(d_a) if lower else np.triu(d_a), d_b


@tangent(linalg.solve_triangular)
def solve_triangular_tangent(y, a, b, t_a, t_b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    if trans in (2, "C") and np.iscomplexobj(a):
        raise NotImplementedError("the derivative of scipy.linalg.solve_triangular with trans='C' of complex matrices")
    t = read_triangle(t_a, lower, unit_diagonal)
    moved = (t if trans in (0, "N") else t.T) @ y
    by_a = -linalg.solve_triangular(a, moved, trans, lower, unit_diagonal)
    return by_a, linalg.solve_triangular(a, t_b, trans, lower, unit_diagonal)


@adjoint(linalg.solve_continuous_are)
def solve_continuous_are_adjoint(y, a, b, q, r, d_y):
    gain = np.linalg.solve(r, b.T)
    closed = a - b @ (gain @ y)
    s = linalg.solve_sylvester(closed, closed.T, -d_y)
    both = y @ (s + s.T)
    moved = y @ s @ y
    return both, -(moved + moved.T) @ gain.T, s, gain @ moved @ gain.T


@tangent(linalg.solve_continuous_are)
def solve_continuous_are_tangent(y, a, b, q, r, t_a, t_b, t_q, t_r):
    gain = np.linalg.solve(r, b.T)
    closed = a - b @ (gain @ y)
    by_b = y @ t_b @ (gain @ y)
    by_r = gain @ y
    return (
        linalg.solve_sylvester(closed.T, closed, -(t_a.T @ y + y @ t_a)), linalg.solve_sylvester(closed.T, closed, by_b + by_b.T),
        linalg.solve_sylvester(closed.T, closed, -t_q), linalg.solve_sylvester(closed.T, closed, -(by_r.T @ t_r @ by_r)),
    )


@adjoint(linalg.solve_discrete_are)
def solve_discrete_are_adjoint(y, a, b, q, r, d_y):
    gain = np.linalg.solve(r + b.T @ y @ b, b.T @ y @ a)
    closed = a - b @ gain
    system = np.eye(a.shape[0] * a.shape[0]) - np.kron(closed, closed)
    s = np.reshape(np.linalg.solve(system, np.ravel(d_y)), y.shape)
    d_a = y @ closed @ (s + s.T)
    return d_a, -d_a @ gain.T, s, gain @ s @ gain.T


@tangent(linalg.solve_discrete_are)
def solve_discrete_are_tangent(y, a, b, q, r, t_a, t_b, t_q, t_r):
    gain = np.linalg.solve(r + b.T @ y @ b, b.T @ y @ a)
    closed = a - b @ gain
    system = np.eye(a.shape[0] * a.shape[0]) - np.kron(closed.T, closed.T)
    by_a, by_b = t_a.T @ y @ closed, -(t_b @ gain).T @ y @ closed
    return (
        np.reshape(np.linalg.solve(system, np.ravel(by_a + by_a.T)), y.shape),
        np.reshape(np.linalg.solve(system, np.ravel(by_b + by_b.T)), y.shape),
        np.reshape(np.linalg.solve(system, np.ravel(t_q)), y.shape),
        np.reshape(np.linalg.solve(system, np.ravel(gain.T @ t_r @ gain)), y.shape),
    )


# ---- types ----

enter(
    linalg.expm, linalg.sinm, linalg.cosm, linalg.sinhm, linalg.coshm, linalg.solve_triangular, linalg.solve_banded,
    linalg.solve_sylvester, linalg.solve_continuous_are, linalg.solve_discrete_are, linalg.lu_factor,
    examples=True, result=sized,
)  # fmt: skip
enter(linalg.sqrtm, linalg.logm, result=lambda fn, args, kwargs: Array(None, array_type(args[0].type).dims))  # may be complex

# ---- no derivative ----

NO_DERIVATIVE = "bandwidth dft hadamard helmert hilbert invhilbert invpascal pascal ishermitian issymmetric test".split()

enter(*(getattr(linalg, name) for name in NO_DERIVATIVE if hasattr(linalg, name)), constant=True)

# ---- compositions: functions that NumPy has too, matrices of a given form, and equations in terms of others ----

composed({
    linalg.inv: lambda a, overwrite_a=False, check_finite=True: np.linalg.inv(a),
    linalg.det: lambda a, overwrite_a=False, check_finite=True: np.linalg.det(a),
    linalg.pinv: lambda a: np.linalg.pinv(a),
    linalg.norm: lambda a, ord=None, axis=None, keepdims=False, check_finite=True: np.linalg.norm(a, ord, axis, keepdims),
    linalg.lstsq: lambda a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None: (
        np.linalg.lstsq(a, b, cond)
    ),
    linalg.svd: lambda a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd": (
        np.linalg.svd(a, full_matrices, compute_uv)
    ),
    linalg.svdvals: lambda a, overwrite_a=False, check_finite=True: np.linalg.svd(a, compute_uv=False),
    linalg.eigvalsh: lambda a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, check_finite=True: (
        eigh(a, b, lower=lower, eigvals_only=True)
    ),
    linalg.cho_factor: lambda a, lower=False, overwrite_a=False, check_finite=True: (cholesky(a, lower), lower),
    linalg.tanm: lambda A: np.linalg.solve(linalg.cosm(A), linalg.sinm(A)),
    linalg.tanhm: lambda A: np.linalg.solve(linalg.coshm(A), linalg.sinhm(A)),
    (linalg.solve_continuous_lyapunov, linalg.solve_lyapunov): lambda a, q: linalg.solve_sylvester(a, np.conj(a.T), q),
    linalg.solve_circulant: lambda c, b: np.linalg.solve(circulant(c), b),
    linalg.khatri_rao: lambda a, b: (
        np.reshape(np.expand_dims(a, 1) * np.expand_dims(b, 0), (a.shape[0] * b.shape[0], a.shape[1]))
    ),
})


@composed(linalg.solve)
def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a="gen", transposed=False):
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        a = half + (half.T if assume_a in ("sym", "symmetric") else np.conj(half.T)) + np.diag(np.diag(a))
    elif assume_a not in ("gen", "general"):
        refuse("`scipy.linalg.solve` with this `assume_a`")
    return np.linalg.solve(a.T if transposed else a, b)


@composed(linalg.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if pivoting:
        refuse("`scipy.linalg.qr` with pivoting")
    if mode == "r":
        r = np.linalg.qr(a, "r")
        return (np.concatenate((r, np.zeros((np.shape(a)[0] - r.shape[0], r.shape[1]), r.dtype))),)
    return tuple(np.linalg.qr(a, "reduced" if mode == "economic" else "complete"))


@composed(linalg.eigh)
def eigh(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, check_finite=True):
    if b is not None:
        refuse("`scipy.linalg.eigh` of two matrices: multiply by the inverse of a Cholesky factor of the second")
    if eigvals_only:
        return np.linalg.eigvalsh(a, "L" if lower else "U")
    return tuple(np.linalg.eigh(a, "L" if lower else "U"))


@composed(linalg.eigvals)
def eigvals(a, b=None, overwrite_a=False, check_finite=True):
    if b is not None:
        refuse("`scipy.linalg.eigvals` of two matrices")
    return np.linalg.eigvals(a)


# ---- factors ----


@composed(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    rows = rows_after(pivots)
    if trans == 0:
        return linalg.solve_triangular(lu, linalg.solve_triangular(lu, b[rows], lower=True, unit_diagonal=True))
    half = linalg.solve_triangular(lu, linalg.solve_triangular(lu, b, trans=trans), trans=trans, lower=True, unit_diagonal=True)
    return half[np.argsort(rows)]


@composed(linalg.lu)
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    both, pivots = linalg.lu_factor(a)
    where = np.argsort(rows_after(pivots))
    lower, upper = factors(both)
    if permute_l:
        return lower[where], upper
    return where if p_indices else np.eye(len(both))[:, rows_after(pivots)], lower, upper


@composed(linalg.cholesky)
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return np.linalg.cholesky(a) if lower else np.conj(np.linalg.cholesky(np.conj(a.T)).T)


@composed(linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    if lower:
        return linalg.solve_triangular(np.conj(c.T), linalg.solve_triangular(c, b, lower=True))
    return linalg.solve_triangular(c, linalg.solve_triangular(np.conj(c.T), b, lower=True))


@composed(linalg.polar)
def polar(a, side="right"):
    u, s, vt = np.linalg.svd(a, False)
    if side == "right":
        return u @ vt, np.conj(vt.T) * s @ vt
    return u @ vt, u * s @ np.conj(u.T)


# ---- equations ----


@composed(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None):
    system = np.eye(a.shape[0] * a.shape[0]) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), q.shape)


@composed(linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    if isinstance(c_or_cr, tuple):
        return np.linalg.solve(toeplitz(c_or_cr[0], c_or_cr[1]), b)
    return np.linalg.solve(toeplitz(c_or_cr), b)


@composed(linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    if isinstance(c_or_cr, tuple):
        return toeplitz(c_or_cr[0], c_or_cr[1]) @ x
    return toeplitz(c_or_cr) @ x


# ---- matrices of a given form ----


@composed(linalg.block_diag)
def block_diag(*arrs):
    blocks = [np.atleast_2d(a) for a in arrs]
    widths = [b.shape[1] for b in blocks]
    rows = []
    for k, b in enumerate(blocks):
        rows.append(np.pad(b, ((0, 0), (sum(widths[:k]), sum(widths[k + 1 :])))))
    return np.concatenate(rows, 0)


@composed(linalg.toeplitz)
def toeplitz(c, r=None):
    c = np.asarray(c)
    r = np.conj(c) if r is None else np.asarray(r)
    values = np.concatenate((c[::-1], r[1:]))
    return values[np.arange(len(c))[::-1, None] + np.arange(len(r))[None, :]]


@composed(linalg.hankel)
def hankel(c, r=None):
    c = np.asarray(c)
    r = np.zeros_like(c) if r is None else np.asarray(r)
    values = np.concatenate((c, r[1:]))
    return values[np.arange(len(c))[:, None] + np.arange(len(r))[None, :]]


@composed(linalg.circulant)
def circulant(c):
    c = np.asarray(c)
    return c[(np.arange(len(c))[:, None] - np.arange(len(c))[None, :]) % len(c)]


# ---- memory ----

OVERWRITES = {"overwrite_a", "overwrite_b"}
PLAIN = {linalg.solve_triangular: 5, linalg.cho_solve: 2, linalg.cholesky: 2, linalg.solve: 3, linalg.inv: 1}

for function, count in PLAIN.items():  # that many arguments come before those that let SciPy write into the operands

    def memory(given, options, most=count):
        return "fresh" if given <= most and not options & OVERWRITES else "shared"

    enter(function, pure=True, memory=memory)
