"""Sparse Jacobians and Hessians: the same numbers as the dense ones, in as few sweeps as the pattern allows.

Each program is judged by its dense Jacobian, for which the pattern is not known.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sourcead import adjoint_of, grad, hessian, jacobian, sparse_pattern
from sourcead.errors import SourceADError, UnsupportedArgumentError, UnsupportedValueError
from sourcead.sparsity.colouring import distance_2, star
from sourcead.sparsity.sets import FEW, VariableSet, members_of, united
from sourcead.sparsity.sweeps import seeds, sweeps_for, symmetric_sweeps
from tests.harness import all_programs, quietly, rng_for
from tests.semantics import exec_with_source

scipy_sparse = pytest.importorskip("scipy.sparse")
RNG = np.random.default_rng(3)


# ---- programs, each with arguments and the number of elements of its pattern, which was counted by hand ----


def heat(u, k):
    v = np.pad(u, 1)
    return k * (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * u) + np.exp(u)


def elements(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] * x[i + 1] - x[i] ** 2
    return y


def running(x):
    total, found = 0.0, []
    for v in x:
        total += v * v
        found.append(total)
    return np.array(found)


def rows_of_a_matrix(a):
    b = a.copy()
    b[1] = b[0] * 2
    b[:, 0] += 1.0
    b[0, :] *= 0.0
    return b


def gathers(x):
    return x[np.array([2, 0, 2])] * x[::-1][:3]


def scatters(x):
    y = np.zeros(4)
    np.add.at(y, np.array([0, 3, 3]), x[:3] ** 2)
    return y


def products(x):
    band = np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.0], [0.0, 0.0, 1.0, 2.0]])
    return band @ x, np.einsum("ij,j->i", band, np.sin(x))


def masked(x):
    return np.array([1.0, 0.0, 1.0]) * x, x / np.array([1.0, 2.0, 3.0]), 0.0 * x


def reductions(a):
    return np.max(a, axis=1), np.mean(a, axis=0), np.prod(a, axis=-1, keepdims=True)


def stacks(a):
    return np.linalg.det(a), np.linalg.inv(a)


def helper(s, v):
    return {"sum": s["sum"] + v, "last": v}


def containers(x):
    state, seen = {"sum": x[0], "last": x[0]}, [x[0]]
    for v in x[1:]:
        state = helper(state, v)
        seen.append(state["last"] * seen[-1])
    return np.array([state["sum"], state["last"], seen.pop(), seen.pop()])


def swaps(x):
    a, b = x[:2].copy(), x[2:].copy()
    for _ in range(3):
        a, b = b, a
    a[0] = b[1]
    return np.concatenate([a, b])


def while_large(x):
    y, k = x.copy(), 0
    while k < 2 and y[0] < 100:
        y = y + np.roll(y, 1)
        k += 1
    return y


@dataclass
class Pose:
    angle: float
    offset: np.ndarray


def seen_from(pose, points):
    c, s = np.cos(pose.angle), np.sin(pose.angle)
    turn = np.array([[c, -s], [s, c]])
    return points @ turn.T + pose.offset


X = RNG.uniform(0.5, 1.5, 5)
PROGRAMS = [
    (heat, (RNG.normal(size=(4, 5)), 0.3), 0, 20 + 2 * (3 * 5 + 4 * 4)),
    (elements, (X,), 0, 9),
    (running, (X,), 0, 15),
    (rows_of_a_matrix, (RNG.normal(size=(3, 2)),), 0, 4),
    (gathers, (X,), 0, 5),
    (scatters, (X,), 0, 3),
    (products, (X[:4],), 0, 12),
    (masked, (X[:3],), 0, 5),
    (reductions, (RNG.normal(size=(2, 3)),), 0, 6 + 6 + 6),
    (stacks, (RNG.normal(size=(3, 2, 2)) + 3 * np.eye(2),), 0, 12 + 48),
    (containers, (X[:3],), 0, 3 + 1 + 3 + 2),
    (swaps, (X[:4],), 0, 4),
    (while_large, (X,), 0, 15),
    (seen_from, (Pose(0.3, np.ones(2)), RNG.normal(size=(3, 2))), 0, 12),
    (seen_from, (Pose(0.3, np.ones(2)), RNG.normal(size=(3, 2))), ("pose", "points"), 24),
]


def blocks(found):
    """The matrices in a structure, one after the other."""
    if hasattr(found, "toarray"):
        return [found.toarray()]
    if isinstance(found, np.ndarray | np.generic):
        return [found]
    parts = found if isinstance(found, list | tuple) else found.values() if isinstance(found, dict) else vars(found).values()
    return [b for part in parts for b in blocks(part)]


@pytest.mark.parametrize(("f", "args", "wrt", "count"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_sparse_jacobians_are_the_dense_ones(f, args, wrt, count):
    dense = blocks(jacobian(f, wrt)(*args))
    for mode in ("auto", "forward", "reverse"):
        made = jacobian(f, wrt, mode, sparse=True)
        for _ in range(2):  # with the pattern found, and with the one that was kept
            for own, other in zip(blocks(made(*args)), dense, strict=True):
                np.testing.assert_allclose(own.ravel(), np.ravel(other), rtol=1e-12, atol=1e-12)
    assert sparse_pattern(f, wrt)(*args).matrix.nnz == count


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def springs(x):
    total = 0.0
    for i in range(len(x)):
        for j in (i + 1, i + 3):
            if j < len(x):
                total += (x[i] - x[j]) ** 4
    return total


def log_of_sum(x):
    return np.log(np.sum(np.exp(x)))


def separate(p):
    return np.sum(p["a"] ** 3) + np.exp(p["b"]) * p["a"][0]


def number_in_an_array(x):
    z = np.array(x)
    w = z[()]
    z += 0.5 * x
    return z + w * w


@pytest.mark.parametrize(
    ("f", "x", "count", "sweeps"),
    [
        (rosenbrock, X, 13, 3),
        (springs, X, 5 + 2 * (4 + 2), 4),
        (log_of_sum, X, 25, 5),
        (separate, {"a": X, "b": 0.5}, 6 + 2, 2),
        (number_in_an_array, 2.0, 1, 1),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_sparse_hessians_are_the_dense_ones(f, x, count, sweeps):
    found = sparse_pattern(f, hessian=True)(x)
    assert found.matrix.nnz == count
    assert found.sweeps <= sweeps
    for own, other in zip(blocks(hessian(f, sparse=True)(x)), blocks(hessian(f)(x)), strict=True):
        np.testing.assert_allclose(own.ravel(), np.ravel(other), rtol=1e-10, atol=1e-12)


def scaled_on_the_way_back(x):
    y = x * x
    with adjoint_of(y) as d_y:
        d_y[1:] *= x[:-1]
    return np.sum(y * 2.0)


def test_what_the_user_says_of_an_adjoint_need_not_be_symmetric():
    dense = hessian(scaled_on_the_way_back)(X)
    assert not np.allclose(dense, dense.T)
    made = hessian(scaled_on_the_way_back, sparse=True)
    for _ in range(2):
        np.testing.assert_allclose(made(X).toarray(), dense)


# ---- patterns that depend on the point ----


def one_of_two(x):
    y = x.copy()
    if x[0] > 0.5:
        y[0] = x[1] * x[2]
    return y[np.argsort(x)]


def test_a_pattern_that_does_not_hold_any_more_is_found_anew():
    made = jacobian(one_of_two, sparse=True)
    for x in ([0.9, 2.0, 3.0], [0.1, 3.0, 2.0], [2.0, 1.0, 0.6], [0.9, 2.0, 3.0]):
        np.testing.assert_allclose(made(np.array(x)).toarray(), jacobian(one_of_two)(np.array(x)))
    assert len(made._known) == 1


def test_other_shapes_have_a_pattern_of_their_own():
    made = jacobian(elements, sparse=True)
    assert [made(np.ones(n)).shape for n in (4, 9, 4)] == [(4, 4), (9, 9), (4, 4)]


def test_rounding_is_no_other_pattern():
    def cancels(x):
        return (x + 1e10 * np.roll(x, 1)) - 1e10 * np.roll(x, 1)

    made = jacobian(cancels, sparse=True)
    np.testing.assert_allclose(made(X).toarray(), np.eye(5), atol=1e-12)
    np.testing.assert_allclose(made(X).toarray(), np.eye(5), atol=1e-12)


# ---- sweeps ----


def arrow(x):
    return np.concatenate([[np.sum(x**2)], x[1:] * x[0]])


def test_dense_rows_and_columns_are_computed_in_the_other_mode():
    x = RNG.normal(size=50)
    found = sparse_pattern(arrow)(x)
    assert (found.sweeps, repr(found)) == (3, "50 by 50, 148 elements, 3 sweeps: 2 forward and 1 reverse")
    np.testing.assert_allclose(jacobian(arrow, sparse=True)(x).toarray(), jacobian(arrow)(x))


def random_pattern(rng, shape):
    return scipy_sparse.csr_array(rng.random(shape) < rng.choice([0.02, 0.1, 0.4]))


@pytest.mark.parametrize("seed", range(30))
def test_each_element_is_read_from_the_sweeps(seed):
    rng = np.random.default_rng(seed)
    pattern = random_pattern(rng, tuple(rng.integers(1, 30, 2)))
    if seed % 3 == 0:
        dense = pattern.toarray()
        dense[rng.integers(len(dense))] = True
        pattern = scipy_sparse.csr_array(dense)
    matrix = pattern * rng.normal(size=pattern.shape)
    for mode in ("auto", "forward", "reverse"):
        sweeps = sweeps_for(pattern, mode)
        forward = seeds(sweeps.column_colours, 0, sweeps.forward) @ matrix.T
        reverse = seeds(sweeps.row_colours, 0, sweeps.reverse) @ matrix
        found = scipy_sparse.csr_array((sweeps.data(forward, reverse), pattern.indices, pattern.indptr), shape=pattern.shape)
        np.testing.assert_allclose(found.toarray(), matrix.toarray())


@pytest.mark.parametrize("seed", range(30))
def test_each_element_of_a_symmetric_matrix_is_read_from_the_sweeps(seed):
    rng = np.random.default_rng(seed)
    pattern = random_pattern(rng, (n := int(rng.integers(1, 30)), n))
    pattern = scipy_sparse.csr_array((pattern + pattern.T) > 0)
    values = rng.normal(size=(n, n))
    matrix = pattern * (values + values.T)
    sweeps = symmetric_sweeps(pattern)
    data = sweeps.data(seeds(sweeps.column_colours, 0, sweeps.forward) @ matrix.T, np.empty((0, 0)))
    found = scipy_sparse.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)
    np.testing.assert_allclose(found.toarray(), matrix.toarray())
    whole = scipy_sparse.csr_array(pattern.toarray() | np.eye(n, dtype=bool))
    assert star(whole).max() <= distance_2(whole).max()


def test_a_star_colouring_of_an_arrow_takes_two_colours():
    pattern = np.eye(20, dtype=bool)
    pattern[0] = pattern[:, 0] = True
    assert star(scipy_sparse.csr_array(pattern)).max() == 1
    assert distance_2(scipy_sparse.csr_array(pattern)).max() == 19


# ---- sets ----


def test_large_unions_are_made_when_they_are_asked_for():
    ones = [VariableSet(frozenset((k,))) for k in range(5 * FEW)]
    whole = united([0, *ones, ones[3]])
    assert whole.members is None
    assert members_of(whole) == frozenset(range(5 * FEW))
    assert whole.members is not None


def test_sets_are_numbers_for_numpy():
    a, b = VariableSet(frozenset((0,))), VariableSet(frozenset((1,)))
    found = np.cumsum(np.array([a, 0, b], object) * np.array([2.0, 1.0, 0.0]))
    assert [sorted(s) for s in found] == [[0], [0], [0]]
    assert sorted(np.sum(np.array([a, b]))) == [0, 1]


# ---- the interface ----


def test_what_it_returns():
    found = jacobian(lambda x: x**2, sparse=True)(X)
    assert isinstance(found, scipy_sparse.csr_array)
    assert found.has_sorted_indices and found.dtype == float
    assert jacobian(lambda x: x**2, sparse=True)(X.astype(np.float32)).dtype == np.float32
    assert jacobian(lambda x: np.sum(x), sparse=True)(X).shape == (1, 5)
    assert jacobian(lambda x: x[0] * 2, sparse=True)(X).nnz == 1
    assert jacobian(lambda x, y: x * y, (0, 1), sparse=True)(X, 2.0)[1].shape == (5, 1)
    assert jacobian(lambda x: np.zeros(3), sparse=True)(X).nnz == 0


def test_complex_results():
    f = lambda x: np.exp(1j * x)
    np.testing.assert_allclose(jacobian(f, sparse=True)(X).toarray(), jacobian(f)(X))


def test_a_pattern_is_shown():
    found = sparse_pattern(elements)(np.ones(4))
    assert str(found).splitlines()[1:] == ["....", "███.", ".███", "...."]
    large = str(sparse_pattern(lambda x: x**2)(np.ones(600))).splitlines()
    assert (len(large), len(large[1])) == (31, 60)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = found.plot()
    assert len(axes.collections[0].get_offsets()) == 6
    pyplot.close("all")


def test_errors():
    with pytest.raises(UnsupportedArgumentError, match="sparse is 'yes'"):
        jacobian(elements, sparse="yes")
    with pytest.raises(UnsupportedValueError, match="inside a function that is differentiated"):
        made = jacobian(elements, sparse=True)
        grad(lambda x: np.sum(made(x).data))(X)
    with pytest.raises(UnsupportedValueError, match="no numbers that have a derivative"):
        jacobian(lambda x: "text", sparse=True)(X)




def test_the_page_of_the_docs(capsys):
    text = (Path(__file__).resolve().parents[1] / "docs" / "sparse.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python)?\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    namespace = {}
    for kind, block in blocks:
        if kind:
            exec_with_source(block, namespace)
    assert capsys.readouterr().out == next(block for kind, block in blocks if not kind)


def judged_programs():
    """Programs of the corpus whose Jacobian is small."""
    for p in all_programs("basic"):
        args = p.make_args(rng_for(0)) if p.raises is None else ()
        if args and isinstance(args[0], np.ndarray | float) and np.size(args[0]) <= 60:
            yield p


@pytest.mark.long
@pytest.mark.parametrize("p", list(judged_programs()), ids=lambda p: f"{p.theme}.{p.name}")
def test_programs_of_the_corpus(p):
    for make in (jacobian, hessian):
        with quietly():
            try:
                dense = blocks(make(p.function)(*p.make_args(rng_for(0))))
            except (SourceADError, ValueError):
                continue
            sparse = blocks(make(p.function, sparse=True)(*p.make_args(rng_for(0))))
        for own, other in zip(sparse, dense, strict=True):
            scale = np.max(np.abs(other), where=np.isfinite(other), initial=1.0)
            np.testing.assert_allclose(own.ravel(), np.ravel(other), rtol=1e-7, atol=1e-9 * scale)


ORDER = np.array([0.9, 0.4, 1.3, 0.7, 1.1, 0.5])
SPREAD = sp.csr_array(np.array([[1.0, 0, 2, 0, 0, 0], [0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 0]]))
OF_ORDER = {
    "range": lambda x: np.array([np.ptp(x), np.ptp(x[:3])]),
    "quantiles": lambda x: np.percentile(x, [20, 70]),
    "spread": lambda x: np.array([np.var(x[:4]), np.std(x[2:]), np.median(x[1:4])]),
    "along an axis": lambda x: np.ptp(x.reshape(3, 2), 1),
    "sparse matrix": lambda x: SPREAD @ x**2,
}


@pytest.mark.parametrize("name", OF_ORDER)
def test_functions_of_the_order_of_elements(name):
    f = OF_ORDER[name]
    slopes = jacobian(f, sparse=True)
    for x in (ORDER, ORDER[::-1].copy()):
        np.testing.assert_allclose(slopes(x).toarray(), jacobian(f)(x), atol=1e-12)
    if name == "sparse matrix":
        assert sparse_pattern(f)(ORDER).matrix.nnz == 3
