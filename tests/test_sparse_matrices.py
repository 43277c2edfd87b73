"""Sparse matrices whose entries are differentiated, the solvers of `scipy.sparse.linalg`, and linear programs."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed")

import scipy.sparse as sp
import scipy.sparse.linalg as sla
from scipy.optimize import linprog

from sourcead import check_grads, grad, hvp, jvp
from sourcead.errors import SourceADError
from sourcead.primitives.function_kinds import home

D = sp.diags([np.full(4, -1.0), np.full(5, 2.0), np.full(4, -1.0)], [-1, 0, 1]).tocsr()
I, J = D.nonzero()
LU = sla.splu(D.tocsc())
X = np.arange(1.0, 6.0)
V = np.random.default_rng(0).uniform(0.2, 1.0, len(I)) + 3 * (I == J)
UNIT = np.eye(5)


# ---- products and sums ----


def product_with_a_constant(x):
    return np.sum((D @ x) ** 2) + D.dot(x) @ x + np.sum((D.T @ np.outer(x, x)) ** 2)


def of_triplets(v, x):
    A = sp.csr_matrix((v, (I, J)), shape=(5, 5))
    return np.sum((A @ x) ** 2) + np.sum((x @ A) ** 3) + np.sum(A.dot(np.ones((5, 2))) ** 2)


def of_pointers(v, x):
    A = sp.csr_array((v, D.indices, D.indptr), shape=(5, 5))
    B = sp.csc_array((v * 2, D.indices, D.indptr))
    first = np.sum((A.tocoo().copy() @ x) ** 2) + x @ (B.tocsc() @ (x + 1))
    return first + (A.todense() ** 2).sum() + np.sum(A.sum(axis=0) ** 2 + A.sum(1))


def with_repeated_places(v):
    A = sp.coo_matrix((v[:4], ([0, 0, 1, 0], [1, 1, 0, 1])), shape=(2, 3))
    return np.sum(A.toarray() ** 2) + np.sum((A.tocsr() @ np.arange(3.0)) ** 2) + A.multiply(A).sum()


def of_diagonals(x):
    A = sp.diags([-x[1:], x + np.append(x[1:], 1.0), -x[1:]], [-1, 0, 1], format="csc")
    B = sp.diags(x)
    return np.sum((A @ B @ np.ones(5)) ** 2) + np.sum(A.diagonal() * x) + A.trace()


def stiffness(v, x):
    G = sp.csr_matrix((v, (I, J)), shape=(5, 5))
    K = G.T @ sp.diags(x) @ G
    H = D - 0.5 * K + K * 2 + sp.eye(5)
    L = H.dot(D)
    return np.sum((L @ np.ones((5, 2))) ** 2) + x @ K @ x + H.sum() + np.sum(L.toarray() ** 2) + L.T.dot(x).sum() + (K / x[0]).sum()


def put_together(v, x):
    A = sp.csr_array((v, (I, J)), shape=(5, 5))
    tall, wide, blocks = sp.vstack([A, -A]), sp.hstack([A, sp.eye_array(5)]), sp.block_diag((A, A.multiply(2.0)))
    return np.sum((tall @ x) ** 2) + np.sum((wide.T @ x) ** 2) + np.sum((sp.kron(sp.eye_array(2), A) @ (blocks @ np.tile(x, 2))) ** 2)


def times_a_constant(t, x):
    A = t * D
    B = (D * t - D / t).tocsr()
    return np.sum((A @ x) ** 2) + np.sum(B.dot(x) ** 2) + D.multiply(t).sum() + (-A).sum()


# ---- solvers ----


def solved(v, x):
    A = sp.csr_matrix((v, (I, J)), shape=(5, 5))
    y = sla.spsolve(A, x)
    return np.sum(y**2) + np.sum(sla.spsolve(A.T, np.stack((x, y), axis=1)) ** 2)


def heat(dt, u):
    A = sp.eye(5) - dt * D
    for _ in range(4):
        u = sla.spsolve(A.tocsc(), u)
    return np.sum(u**2)


def conductivity(k):
    A = sp.diags([-k[1:], k + np.append(k[1:], 1.0), -k[1:]], [-1, 0, 1], format="csc")
    return np.sum(sla.spsolve(A, np.ones(len(k))) ** 2)


def decomposed(v, x):
    A = sp.csc_array((v, (I, J)), shape=(5, 5)) + sp.eye_array(5) * x[0]
    lu, solve = sla.splu(A), sla.factorized(A)
    y = lu.solve(x)
    return np.sum(lu.solve(y, trans="T") ** 2 * solve(y))


def decomposed_outside(x):
    u = x / 3
    for _ in range(3):
        u = LU.solve(u * u, "T")
    return np.sum(u**2) + np.sum(sla.splu(D.tocsc()).solve(x) ** 3)


def iterated(v, x):
    A = sp.csr_matrix((v, (I, J)), shape=(5, 5))
    S = (A.T @ A + 0.1 * sp.eye(5)).tocsr()
    y, info = sla.cg(S, x, rtol=1e-13)
    z, _ = sla.gmres(A, y, rtol=1e-13, x0=x)
    assert info == 0
    return np.sum(y**3) + np.sum(z**2) + np.sum(sla.bicgstab(D, x, rtol=1e-13)[0] ** 2) + sla.minres(D, x, rtol=1e-13)[0] @ x


def by_products(x, b):
    def product(u):
        return D @ u + x * u

    y, info = sla.gmres(sla.LinearOperator((5, 5), matvec=product), b, rtol=1e-13)
    return np.sum(y**2) + info


COMPLEX = (D * (1 + 0.5j)).tocsc()
LU_COMPLEX = sla.splu(COMPLEX)
OF_INTEGERS = D.astype(int)


def complex_right_sides(t, x):
    y = sla.spsolve(D * t, x * (1 + 2j))
    z = sla.splu(t * COMPLEX).solve(x * (1 + 2j), "H")
    return np.sum(np.abs(y) ** 2 * np.arange(5.0)) + np.sum(np.abs(z) ** 2) + np.sum(np.abs((t * COMPLEX) @ x) ** 2)


def hermitian(x):
    y = LU.solve(x, "H") * np.arange(5.0)
    return np.sum(np.abs(LU_COMPLEX.solve(y * (1 + 2j), "H")) ** 2 * x)


def other_dtypes(t, x):
    y = sla.spsolve(OF_INTEGERS * t, x)
    return np.sum(y**2) + np.sum((OF_INTEGERS * t @ x) ** 2) + np.sum(D.multiply(OF_INTEGERS).dot(x) * t)


def formats(t, x):
    A, B = sp.eye(5, format="csc"), sp.kron(D, D)
    factor = 2.0 if isinstance(A, sp.csc_matrix) else 3.0
    more = 5.0 if isinstance(B, sp.bsr_matrix) or not sp.issparse(B) else 7.0
    return factor * more * t * hasattr(A, "indices") + (A @ x).sum()


def places_in_one_array(v, x):
    places = np.array([[0, 1, 2, 3, 4], [4, 1, 2, 3, 0]])
    return np.sum((sp.csr_matrix((v, places)) @ x) ** 2)


def changed_in_place(t, x):
    A = D.copy()
    B = A * t
    A.setdiag(7.0)
    A += t * D
    return np.sum((B @ x) ** 2) + (A @ x).sum()


# ---- linear programs ----


def of_sparse_constraints(t, x):
    return linprog([-1.0, -2.0], A_ub=sp.csr_matrix([[1.0, 1.0], [1.0, 3.0]]), b_ub=np.array([4.0, 6.0]) * t).fun * x[0]


def vertex(b):
    found = linprog([-1.0, -2.0], A_ub=[[1.0, 1.0], [1.0, 3.0]], b_ub=b[:2] + 3)
    return found.fun + np.sum(found.x**2)


def diet(c, needs):
    A = np.array([[1.0, 2.0, 0.5], [3.0, 0.2, 1.0], [0.5, 1, 2]]) * needs[1]
    found = linprog(c, A_ub=-A, b_ub=-(needs + 3), bounds=[(0, None), (0, 4.0), (0.1 * c[1], None)])
    return found.fun * found.x[2] + found.slack @ found.slack + found["x"] @ np.arange(3.0)


def flow(capacity, cost):
    balance = np.array([[1.0, 1, 0, 0, 0], [-1, 0, 1, 1, 0], [0, -1, -1, 0, 1]])
    bounds = np.stack((np.zeros(5), 1 + capacity / 4), axis=1)
    found = linprog(cost + np.array([0, 0, 0, 9.0, 0]), A_eq=balance, b_eq=[2.0, 0, 0], bounds=bounds, method="highs-ds")
    return found.x @ np.arange(5.0) ** 2 + found.fun


PROGRAMS = [
    (product_with_a_constant, (X,)), (of_triplets, (V, X)), (of_pointers, (V, X)), (with_repeated_places, (V,)), (of_diagonals, (X,)),
    (stiffness, (V, X)), (put_together, (V, X)), (times_a_constant, (0.7, X)), (solved, (V, X)), (heat, (-0.1, X)), (conductivity, (X,)),
    (decomposed, (V, X)), (decomposed_outside, (X / 2,)), (iterated, (V, X)), (by_products, (X, X + 1)), (vertex, (X,)), (flow, (X, X)),
    (complex_right_sides, (0.7, X)), (hermitian, (X,)), (other_dtypes, (0.7, X)), (formats, (0.7, X)), (places_in_one_array, (X, X)),
    (changed_in_place, (0.7, X)), (of_sparse_constraints, (0.7, X)),
    (diet, (np.array([2.0, 3.0, 1.5]), np.array([1.0, 1.1, 0.2]))),
]  # fmt: skip


@pytest.mark.parametrize("f, args", PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_both_modes_agree_with_differences(f, args):
    check_grads(f, args, wrt=tuple(range(len(args))))


@pytest.mark.parametrize("f, args", PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_second_derivatives_agree_with_differences_of_the_first(f, args):
    first, *rest = args
    direction, step = np.cos(np.arange(np.size(first))).reshape(np.shape(first))[()], 1e-5
    slope = grad(f)
    expected = (np.asarray(slope(first + step * direction, *rest)) - slope(first - step * direction, *rest)) / (2 * step)
    found = hvp(f)(*args, direction)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * (1 + np.max(np.abs(expected))))


def test_a_matrix_is_decomposed_once_for_value_and_gradient():
    g = grad(solved, wrt=(0, 1))
    g(V, X)
    assert g.source.count("sparse_solver(") == 2  # the matrix, and its transpose, which the program solves too
    assert "np.zeros((5, 5))" not in g.source


def test_constant_matrices_are_left_as_they_are():
    before = D.toarray()
    grad(heat)(-0.1, X), grad(times_a_constant, wrt=(0, 1))(0.7, X), jvp(heat, (-0.1, X), (1.0, X))
    np.testing.assert_array_equal(D.toarray(), before)


def test_a_saved_module_solves_too(tmp_path):
    g = grad(conductivity)
    expected = g(X)
    g.save(tmp_path / "saved_conductivity.py")
    text = (tmp_path / "saved_conductivity.py").read_text()
    namespace = {}
    exec(compile(text, "saved", "exec"), namespace)
    np.testing.assert_allclose(namespace["conductivity_grad"](X), expected)


def test_a_decomposition_from_outside_is_found_before_anything_else_of_its_module():
    assert home(type(LU).solve) == "scipy.sparse.linalg"


def test_float32_stays_float32():
    def energy(v, x):
        return np.sum((sp.csr_matrix((v, (I, J)), shape=(5, 5)) @ x) ** 2)

    assert grad(energy)(V.astype("f4"), X.astype("f4")).dtype == np.float32


# ---- what is refused ----


def written_into(x):
    A = sp.lil_matrix((5, 5))
    for i in range(5):
        A[i, i] = 2 * x[i]
    return np.sum(sla.spsolve(A.tocsr(), np.ones(5)))


def its_data(x):
    return np.sum(sp.csr_matrix((x, (range(5), range(5)))).data)


def matrix_of_numpy(x):
    return np.sum(sp.csr_matrix((x, (range(5), range(5)))).sum(axis=0) * UNIT)


def one_row(x):
    return (D * x[0]).getrow(0).sum()


def along_two_axes(x):
    return sp.csr_array((x, (range(5), range(5)))).sum(axis=(0, 1))


def of_integers(x):
    return linprog(x, A_ub=[[-1.0] * 5], b_ub=[-2.5], integrality=np.ones(5)).fun


@pytest.mark.parametrize("f, words", [
    (written_into, "written into a sparse matrix"), (its_data, "keep the array of which it is made"), (matrix_of_numpy, "np.matrix"),
    (of_integers, "its solution jumps"), (one_row, "`getrow` of a sparse matrix through whose entries"), (along_two_axes, "one axis"),
])  # fmt: skip
def test_what_is_refused_says_why_at_the_users_line(f, words):
    with pytest.raises(SourceADError, match=words) as caught:
        grad(f)(X)
    assert "test_sparse_matrices.py" in str(caught.value) and "primitives" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f, words", [
    (lambda x: sla.cg(D * x[0], x, maxiter=1, rtol=1e-14)[0] @ x, "found no solution"),
    (lambda x: np.sum(sla.spsolve(sp.csr_matrix((0 * x, (range(5), range(5)))), x)), "singular"),
    (lambda x: linprog([1.0, 1.0], A_ub=[[1.0, 1.0]], b_ub=[-x[0]]).fun, "found no solution"),
    (lambda x: linprog([-1.0, -1.0], A_ub=[[1.0, -1.0]], b_ub=[x[0]]).fun, "found no solution"),
])  # fmt: skip
def test_a_search_without_a_solution_is_an_error(f, words):
    with pytest.raises(RuntimeError, match=words):
        grad(f)(X)


# ---- matrices that are replaced ----

held = D


def energy_of_held(x):
    return np.sum((held @ x) ** 2)


def test_a_matrix_of_another_kind_gives_another_text(monkeypatch):
    g = grad(energy_of_held)
    for matrix in (D, (D * 3).tocsc(), sp.eye(5, dtype=int, format="csr") * 2, D.toarray(), sp.coo_array(UNIT)):
        monkeypatch.setitem(globals(), "held", matrix)
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        np.testing.assert_allclose(g(X), 2 * dense.T @ (dense @ X))
    monkeypatch.setitem(globals(), "held", 1j * D)
    with pytest.raises(SourceADError, match="complex"):
        g(X)


@pytest.mark.parametrize("convert", [lambda A: A, sp.csc_array, lambda A: A.astype(int), lambda A: A.tolil(), lambda A: A.toarray()])
def test_a_matrix_as_an_argument(convert):
    g = grad(lambda x, A: np.sum((A @ x) ** 2))
    A = convert(D)
    for x in (X, X.astype("f4")):
        found = g(x, A)
        assert found.dtype == x.dtype
        np.testing.assert_allclose(found, 2 * D.T @ (D @ X), rtol=1e-5)
