"""Linear systems that share a factorisation (`linear_systems.py`), and sums that become products (`sums_over_matrices.py`), in adjoints."""

import numpy as np
import pytest
from scipy import linalg

from sourcead import check_grads, grad, hvp, jvp
from sourcead.runtime.triangular import inverse_lower, solve_lower

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
X, Y, B = rng.normal(size=(6, 2)), rng.normal(size=6), rng.normal(size=(6, 3))


def kernel(s, x):
    return s * np.exp(-0.5 * np.sum((x[:, None] - x[None]) ** 2, axis=-1)) + 0.3 * np.eye(len(x))


def by_cho_solve(s, x, y):
    c = linalg.cho_factor(kernel(s, x), lower=True)
    return -0.5 * y @ linalg.cho_solve(c, y) - np.log(np.diag(c[0])).sum()


def by_upper_factor(s, x, y):
    c = linalg.cho_factor(kernel(s, x))
    return -0.5 * y @ linalg.cho_solve(c, y) - np.sum(np.log(np.diag(c[0])))


def by_one_triangular_solve(s, x, y):
    w = linalg.solve_triangular(low := linalg.cholesky(kernel(s, x), lower=True), y, lower=True)
    return -0.5 * np.sum(w**2) - np.sum(np.log(low.diagonal()))


def by_general_solves(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    w = np.linalg.solve(low, y)
    again = low
    return -0.5 * np.dot(y, np.linalg.solve(np.transpose(again), w)) - np.log(np.diagonal(low)).sum()


def by_transposed_solves(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    w = linalg.solve_triangular(low.T, y, trans="T")
    a = linalg.solve_triangular(low, w, trans=1, lower=True)
    return s * (y * a).sum() / len(y) - 3 * np.sum(np.log(np.diag(low)))


def of_two_vectors(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    a = linalg.solve_triangular(low.T, linalg.solve_triangular(low, y, lower=True))
    return np.sum(np.sin(x[:, 0]) * a) + y @ a


def of_many_right_sides(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    w = np.linalg.solve(low, np.stack([y, y**2, np.cos(y)], 1))
    return s * (np.sum(w * w) + len(y) * np.sum(np.log(np.diag(low)))) / len(x)


def of_factors(s, x, y):
    low = np.linalg.cholesky(x @ x.T + np.diag(np.exp(s * y)))
    z = np.linalg.solve(low, (np.outer(np.arange(1.0, 4.0), y) - y**2).T)
    return -0.5 * np.sum(z**2) - 3 * np.sum(np.log(np.diag(low)))


def of_scaled_diagonal(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    return np.sum(y * np.log(np.diag(low))) + 2 * np.sum(np.log(np.diag(low)))


def of_factor_itself(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    w = np.linalg.solve(low, y)
    return np.sum(np.sin(low @ y)) + w @ w - np.sum(np.log(np.diag(low)))


def by_inverse(s, x, y):
    k = kernel(s, x)
    return -0.5 * y @ np.linalg.inv(k) @ y - 0.5 * np.linalg.slogdet(k)[1]


def by_slogdet(s, x, y):
    k = kernel(s, x)
    return -0.5 * y @ np.linalg.solve(k, y) - 0.5 * np.linalg.slogdet(k)[1]


def of_other_triangle(s, x, y):
    low = np.linalg.cholesky(kernel(s, x))
    return np.sum(linalg.solve_triangular(low, y) ** 2) + np.sum(linalg.solve_triangular(low, y, lower=True, unit_diagonal=True) ** 2)


LIKELIHOODS = [
    by_cho_solve, by_upper_factor, by_one_triangular_solve, by_general_solves, by_transposed_solves, of_two_vectors, of_many_right_sides,
    of_factors,
]  # fmt: skip
OTHERS = [of_scaled_diagonal, of_factor_itself, by_inverse, by_slogdet, of_other_triangle]


@pytest.mark.parametrize("f", [*LIKELIHOODS, *OTHERS], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 6])
def test_against_differences(f, n):
    check_grads(f, (1.2, X[:n], Y[:n]), wrt=("s", "x", "y"))
    single = grad(f, wrt=("x", "y"))(np.float32(1.2), X[:n].astype(np.float32), Y[:n].astype(np.float32))
    for d, expected in zip(single, grad(f, wrt=("x", "y"))(1.2, X[:n], Y[:n])):
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("f", LIKELIHOODS, ids=lambda f: f.__name__)
def test_likelihood_needs_no_cotangent_of_the_factor(f):
    text = grad(f).lower(1.2, X, Y).text
    assert "cholesky_cotangent" not in text
    reverse = text.partition("# reverse")[2]
    assert reverse.count("solve(") + reverse.count("solve_triangular(") <= 2
    if f in LIKELIHOODS[:4]:  # whose solutions the adjoint alone reads: they are products with the inverse that it needs anyway
        assert "solve(" not in text and "solve_triangular(" not in text and text.count("inverse_lower(") == 1


def test_symmetric_cotangents_are_not_halved_and_put_together_again():
    lines = grad(of_factors, wrt=("x", "y")).lower(1.2, X, Y).text.splitlines()
    text = "\n".join(line for line in lines if not line.strip().startswith("#"))
    assert "lower_half" not in text and "solve(" not in text and text.count("inverse.T @ inverse") == 1


@pytest.mark.parametrize("f", [by_cho_solve, by_general_solves, of_two_vectors, by_inverse, by_slogdet], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    v, step = rng.normal(size=X.shape), 1e-6
    slope = (grad(f, wrt="x")(1.2, X + step * v, Y) - grad(f, wrt="x")(1.2, X - step * v, Y)) / (2 * step)
    np.testing.assert_allclose(hvp(f, wrt="x")(1.2, X, Y, v), slope, rtol=1e-5, atol=1e-5)
    _, forward = jvp(lambda x: f(1.2, x, Y), (X,), (v,))
    np.testing.assert_allclose(np.sum(grad(f, wrt="x")(1.2, X, Y) * v), forward)


def test_factor_that_is_written_is_another_factor():
    def f(k, y):
        low = np.linalg.cholesky(k)
        w = np.linalg.solve(low, y)
        low[1, 0] = 0.5
        low[2, 2] *= 2
        return w @ w - np.sum(np.log(np.diag(low))) + np.sum(np.linalg.solve(low.T, w) ** 2)

    k = B @ B.T + np.eye(6)
    check_grads(lambda b, y: f(b @ b.T + np.eye(6), y), (B, Y), wrt=("b", "y"))
    before = k.copy()
    grad(f, wrt=("k", "y"))(k, Y)
    np.testing.assert_array_equal(k, before)


def test_systems_in_branches_and_loops():
    def f(k, y, n):
        total = 0.0
        if n > 1:
            total = total + np.linalg.slogdet(k)[1]
        for i in range(n):
            low = np.linalg.cholesky(k + i * np.eye(len(y)))
            total = total + y @ np.linalg.solve(k, y) + np.sum(np.log(np.diag(low))) + y @ np.linalg.solve(low.T, np.linalg.solve(low, y))
        return total

    for n in (0, 1, 3):
        check_grads(lambda b, y, n=n: f(b @ b.T + np.eye(6), y, n), (B, Y), wrt=("b", "y"))


def test_complex_matrices_are_as_before():
    def f(b, y):
        low = np.linalg.cholesky(b @ np.conj(b.T) + np.eye(6))
        w = np.linalg.solve(low, y)
        return np.sum(np.abs(w) ** 2) + 2 * np.sum(np.log(np.real(np.diag(low))))

    check_grads(f, (B + 1j * B[::-1], Y + 1j * Y[::-1]), wrt=("b", "y"))


def test_inverse_of_a_triangular_matrix_by_halves():
    for n in (1, 2, 48, 49, 97, 200):
        low = np.tril(rng.normal(size=(n, n)) / n) + np.eye(n)
        inverse = inverse_lower(low)
        np.testing.assert_allclose(inverse @ low, np.eye(n), atol=1e-10)
        assert not np.triu(inverse, 1).any()
    stack = np.linalg.cholesky(np.eye(60) + 0.01 * rng.random((2, 1, 1)) * np.ones((2, 60, 60)))
    np.testing.assert_allclose(inverse_lower(stack), np.linalg.inv(stack), atol=1e-12)


def test_solution_by_a_triangular_matrix_by_halves():
    for n in (1, 48, 49, 130):
        low = np.tril(rng.normal(size=(n, n)) / n) + np.eye(n)
        for b in (rng.normal(size=n), rng.normal(size=(n, 3))):
            np.testing.assert_allclose(low @ solve_lower(low, b), b, atol=1e-10)
            np.testing.assert_allclose(low.T @ solve_lower(low, b, True), b, atol=1e-10)


# ---- sums over matrices ----


def test_sums_over_outer_products_and_identities():
    def f(a, b, m):
        return np.sum(np.outer(np.sin(a), b) * m * m) + np.sum((m * m) * np.eye(6)) + np.sum(np.outer(a, b) * np.eye(6))

    def g(s, a, b, m):
        return np.sum((s * np.outer(a, b) + s**2 * np.eye(6) + m) ** 3)

    m = rng.normal(size=(6, 6))
    check_grads(f, (Y, B[:, 0], m), wrt=("a", "b", "m"))
    check_grads(g, (0.3, Y, B[:, 0], m), wrt=("s", "a", "b", "m"))


def test_identity_that_is_broadcast_is_no_trace():
    def f(s, x):
        return np.sum(np.exp(x + s * np.eye(1)))

    def g(s, x):
        return np.sum(np.exp(x[:, :1] + s * np.eye(6)))

    x = rng.normal(size=(6, 6))
    check_grads(f, (0.3, x), wrt=("s", "x"))
    check_grads(g, (0.3, x), wrt=("s", "x"))


def test_noise_on_the_diagonal_costs_a_trace():
    text = grad(lambda noise, x, y: by_general_solves_with(noise, x, y)).lower(0.3, rng.normal(size=(20, 2)), rng.normal(size=20)).text
    assert "np.trace(" in text


def by_general_solves_with(noise, x, y):
    low = np.linalg.cholesky(np.exp(-0.5 * np.sum((x[:, None] - x[None]) ** 2, axis=-1)) + noise * np.eye(len(x)))
    return y @ np.linalg.solve(low.T, np.linalg.solve(low, y)) + np.sum(np.log(np.diag(low)))


def filtered(p, r, ys):
    m, total = np.zeros(len(p)), 0.0
    for y in ys:
        p = 0.9 * p + np.eye(len(p))
        s = p + r * np.eye(len(p))
        gain = p @ np.linalg.inv(s)
        e = y - m
        total = total + 0.5 * e @ np.linalg.solve(s, e) + 0.5 * np.linalg.slogdet(s)[1]
        m = m + gain @ e
        p = p - gain @ p
    return total


def test_an_inverse_of_the_forward_sweep_serves_all_adjoints_in_a_loop():
    args = np.eye(9) + 0.1 * rng.normal(size=(9, 9)), 0.5, rng.normal(size=(4, 9))
    code = "\n".join(line for line in grad(filtered).lower(*args).text.splitlines() if "# " not in line)
    assert code.count("np.linalg.inv(") == code.count("np.linalg.solve(") == 1
    check_grads(filtered, args, wrt=(0, 1, 2))


# ---- sums along axes ----


def of_distances(p, q, w):
    apart = p[:, None, :] - q[None, :, :]
    return np.sum(np.sqrt(np.sum(apart**2, axis=2) + 1) * w)


def of_scaled_distances(p, q, w):
    z = (p[:, None, :] - q) / np.exp(q)
    return np.sum(np.exp(-np.sum(z**2, axis=2)) * w) - np.sum(q)


def of_windows(p, q, w):
    z = 0.0
    for i in range(2):
        z = z + p[i : len(p) - 2 + i, :, None] * q[i]
    return np.sum(np.tanh(z))


def of_other_uses(p, q, w):
    apart = p[:, None, :] - q
    d = np.sin(np.sum(apart**2, axis=2))[:, :, None] * apart
    return np.sum(d * d) + np.sum(d)


SUMS = [of_distances, of_scaled_distances, of_windows, of_other_uses]


@pytest.mark.parametrize("f", SUMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("n", "m", "k"), [(9, 12, 10), (9, 12, 3), (9, 1, 10), (3, 9, 1), (1, 9, 3), (9, 0, 3)])
def test_sums_over_broadcast_products(f, n, m, k):
    if f is of_windows and n < 3:
        n = 3
    p, q, w = rng.normal(size=(n, k)), rng.normal(size=(m, k)), rng.normal(size=(n, m))
    if f is of_windows:
        q = rng.normal(size=(2, max(m, 1)))
    check_grads(f, (p, q, w), wrt=("p", "q"))
    single = grad(f, wrt=("p", "q"))(*(a.astype(np.float32) for a in (p, q, w)))
    for d, expected in zip(single, grad(f, wrt=("p", "q"))(p, q, w)):
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, expected, rtol=1e-3, atol=1e-3)


def test_differences_of_points_are_summed_without_their_product():
    p, q, w = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)), rng.normal(size=(20, 30))
    reverse = grad(of_distances, wrt=("p", "q")).lower(p, q, w).text.partition("# reverse")[2]
    assert reverse.count(" @ ") == 2
    assert "np.sum(d_apart" not in reverse


ROWS = "ij,ijk->ik ij,ijk->jk ijk,ij->ik ijk,ijkl->l ijkl,ijk->l ijk,ik->ij ik,ijk->jk ij,ijk->ijk"


@pytest.mark.parametrize("subscripts", ROWS.split())
def test_products_of_rows_and_matrices_against_einsum(subscripts):
    sizes = dict(zip("ijkl", (9, 11, 10, 12) if len(set(subscripts)) < 6 else (8, 3, 9, 2)))  # fewer elements where there are four axes
    a, b = (rng.normal(size=tuple(sizes[c] for c in term)) for term in subscripts.partition("->")[0].split(","))
    out = rng.normal(size=np.einsum(subscripts, a, b).shape)

    def f(a, b, out):
        return np.sum(np.einsum(subscripts, a, b) ** 2 * out)

    check_grads(f, (a, b, out), wrt=("a", "b"))


def test_einsum_of_rows_and_matrices_is_a_product():
    def f(a, b):
        return np.sum(np.einsum("ij,ijk->ik", a, b) ** 2)

    assert "einsum" not in grad(f).lower(rng.normal(size=(9, 11)), rng.normal(size=(9, 11, 10))).text


def newton_step(w, x, y):
    p = 1 / (1 + np.exp(-x @ w))
    hessian = x.T @ (x * (p * (1 - p))[:, None]) + 0.1 * np.eye(len(w))
    return np.sum((w + np.linalg.solve(hessian, x.T @ (y - p))) ** 2)


def by_columns(u, v, a):
    return np.sum(np.sin(np.sum(np.outer(u, v) * a, axis=0)) + np.sum(a * np.outer(u, v), axis=1, keepdims=True)[0])


def test_rows_of_a_product_with_an_outer_product_are_summed_without_it():
    rng = np.random.default_rng(0)
    args = rng.normal(size=9), rng.normal(size=(12, 9)), rng.random(12)
    check_grads(newton_step, args)
    gradient = grad(newton_step)
    gradient(*args)
    assert "np.outer" not in gradient.source
    check_grads(by_columns, (rng.normal(size=12), rng.normal(size=9), rng.normal(size=(12, 9))), wrt=(0, 1, 2))
