"""Rules of `scipy.linalg`: functions of matrices, and equations that NumPy does not solve.

    y = sqrtm(a)                   y t_y + t_y y = t_a                       a Sylvester equation
    y = expm(a)                    t_y = upper right block of expm([[a, t_a], [0, a]])
    a y + y b = q                  a t_y + t_y b = t_q - t_a y - y t_b
    a y = b, a triangular          as for solve, in the triangle that is read

If t_y = L(t_a) for a linear map L that depends on the matrix a, then d_a = L(d_y) with a.T in place of a.

N. Higham, "Functions of matrices" (2008).
"""

import numpy as np
from scipy import linalg

from sourcead.ir.types import Array
from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.registry import adjoint, adjoints, enter, tangent, tangents
from sourcead.primitives.result_types.operands import Impossible, array_type
from sourcead.runtime.matrices import (
    banded_cotangents, banded_tangent, frechet, inverse_frechet, read_triangle, triangular_cotangents
)

# ---- functions of matrices ----

adjoints({
    linalg.expm: lambda y, a, d_y: frechet(linalg.expm, np.swapaxes(a, -1, -2), d_y),
    linalg.sinm: lambda y, a, d_y: frechet(linalg.sinm, a.T, d_y),
    linalg.cosm: lambda y, a, d_y: frechet(linalg.cosm, a.T, d_y),
    linalg.sinhm: lambda y, a, d_y: frechet(linalg.sinhm, a.T, d_y),
    linalg.coshm: lambda y, a, d_y: frechet(linalg.coshm, a.T, d_y),
    linalg.logm: lambda y, a, d_y: real_if_real(inverse_frechet(linalg.expm, y.T, d_y), a),
    linalg.sqrtm: lambda y, a, d_y: real_if_real(linalg.solve_sylvester(y.T, y.T, d_y), a),
})
tangents({
    linalg.expm: lambda y, a, t_a: frechet(linalg.expm, a, t_a),
    linalg.sinm: lambda y, a, t_a: frechet(linalg.sinm, a, t_a),
    linalg.cosm: lambda y, a, t_a: frechet(linalg.cosm, a, t_a),
    linalg.sinhm: lambda y, a, t_a: frechet(linalg.sinhm, a, t_a),
    linalg.coshm: lambda y, a, t_a: frechet(linalg.coshm, a, t_a),
    linalg.logm: lambda y, a, t_a: inverse_frechet(linalg.expm, y, t_a),
    linalg.sqrtm: lambda y, a, t_a: linalg.solve_sylvester(y, y, t_a),
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
    return triangular_cotangents(linalg.solve_triangular, d_y, y, a, trans, lower, unit_diagonal)


@tangent(linalg.solve_triangular)
def solve_triangular_tangent(y, a, b, t_a, t_b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    if trans in (2, "C") and np.iscomplexobj(a):
        raise NotImplementedError("the derivative of scipy.linalg.solve_triangular with trans='C' of complex matrices")
    t = read_triangle(t_a, lower, unit_diagonal)
    moved = (t if trans in (0, "N") else t.T) @ y
    by_a = -linalg.solve_triangular(a, moved, trans, lower, unit_diagonal)
    return by_a, linalg.solve_triangular(a, t_b, trans, lower, unit_diagonal)


# ---- types ----


def shaped_like_last(fn, args, kwargs):
    """Return the type of a result with the shape of the last array, in double precision if all arrays are."""
    arrays = [array_type(a.type) for a in args if isinstance(a.type, Array)]
    if not arrays or any(isinstance(a.type, Array) for a in kwargs.values()):
        raise Impossible
    double = all(t.dtype is not None and t.dtype.str[1:] in ("f8", "c16") for t in arrays)
    return Array(np.result_type(*(t.dtype for t in arrays)) if double else None, arrays[-1].dims)


enter(
    linalg.expm, linalg.sinm, linalg.cosm, linalg.sinhm, linalg.coshm, linalg.solve_triangular, linalg.solve_banded,
    linalg.solve_sylvester,
    result=shaped_like_last,
)  # fmt: skip
enter(linalg.sqrtm, linalg.logm, result=lambda fn, args, kwargs: Array(None, array_type(args[0].type).dims))  # may be complex

# ---- no derivative ----

NO_DERIVATIVE = "bandwidth dft hadamard helmert hilbert invhilbert invpascal pascal ishermitian issymmetric test".split()

enter(*(getattr(linalg, name) for name in NO_DERIVATIVE if hasattr(linalg, name)), constant=True)
