"""Rules of `scipy.special`: values of orthogonal polynomials, whose derivatives are polynomials of one degree less.

    y = P_n^(a, b)(x)     d_x = d_y * (n + a + b + 1) / 2 * P_{n-1}^(a+1, b+1)(x)        Jacobi
    y = C_n^(a)(x)        d_x = d_y * 2 a * C_{n-1}^(a+1)(x)                             Gegenbauer
    y = L_n^(a)(x)        d_x = -d_y * L_{n-1}^(a+1)(x)                                  Laguerre
    y = H_n(x)            d_x = d_y * 2 n H_{n-1}(x)                                     Hermite
"""

from scipy import special

from sourcead.primitives.scipy_special import known_in_last


def lower(n):
    """Return the degree of the derivative, which is 0 for a constant."""
    return n - (n != 0)


known_in_last("the degree", {
    special.eval_jacobi: lambda y, n, a, b, x, d_y: (
        d_y * ((n != 0) * (n + a + b + 1) / 2 * special.eval_jacobi(lower(n), a + 1, b + 1, x))
    ),
    special.eval_sh_jacobi: lambda y, n, p, q, x, d_y: (
        d_y * ((n != 0) * (n + p) * special.eval_jacobi(lower(n), p - q + 1, q, 2 * x - 1) / special.binom(2 * n + p - 1, n))
    ),
    special.eval_gegenbauer: lambda y, n, alpha, x, d_y: (
        d_y * ((n != 0) * 2 * alpha * special.eval_gegenbauer(lower(n), alpha + 1, x))
    ),
    special.eval_legendre: lambda y, n, x, d_y: d_y * (n != 0) * (n + 1) / 2 * special.eval_jacobi(lower(n), 1, 1, x),
    special.eval_sh_legendre: lambda y, n, x, d_y: (
        d_y * (n != 0) * (n + 1) * special.eval_jacobi(lower(n), 1, 1, 2 * x - 1)
    ),
    special.eval_chebyt: lambda y, n, x, d_y: d_y * n * special.eval_chebyu(lower(n), x),
    special.eval_sh_chebyt: lambda y, n, x, d_y: d_y * 2 * n * special.eval_chebyu(lower(n), 2 * x - 1),
    special.eval_chebyc: lambda y, n, x, d_y: d_y * n * special.eval_chebyu(lower(n), x / 2),
    special.eval_chebyu: lambda y, n, x, d_y: d_y * 2 * (n != 0) * special.eval_gegenbauer(lower(n), 2, x),
    special.eval_sh_chebyu: lambda y, n, x, d_y: d_y * 4 * (n != 0) * special.eval_gegenbauer(lower(n), 2, 2 * x - 1),
    special.eval_chebys: lambda y, n, x, d_y: d_y * (n != 0) * special.eval_gegenbauer(lower(n), 2, x / 2),
    special.eval_laguerre: lambda y, n, x, d_y: -d_y * (n != 0) * special.eval_genlaguerre(lower(n), 1, x),
    special.eval_genlaguerre: lambda y, n, alpha, x, d_y: (
        -d_y * (n != 0) * special.eval_genlaguerre(lower(n), alpha + 1, x)
    ),
    special.eval_hermite: lambda y, n, x, d_y: d_y * 2 * n * special.eval_hermite(lower(n), x),
    special.eval_hermitenorm: lambda y, n, x, d_y: d_y * n * special.eval_hermitenorm(lower(n), x),
})
