"""`np.einsum` of two arrays becomes a product of matrices where that computes the same."""

import numpy as np
import pytest

from sourcead import check_grads, value_and_grad

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)

SIZES = {"b": 9, "h": 8, "i": 10, "j": 11, "k": 12, "n": 13, "t": 8}
PRODUCTS = (
    "ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "ji,kj->ki", "ij,jk", "ij,j->i", "ij,i->j", "i,ij->j", "j,ij->i", "i,i->",
    "bij,bjk->bik", "bij,bkj->bki", "kij,nkj->nki", "nki,nkj->kij", "nki,kij->nkj", "nti,ntj->ij", "bti,ij->btj",
    "bti,ihj->bhtj", "bhij,bhjk->bhik", "ti,bjk->tbijk", "bij,bj->bi", "i,j->ij", "ij,ij->", "ijk,k->ij",
)  # fmt: skip


def made(subscripts):
    """The sum of products with these subscripts, as a function of two arrays and weights that are not differentiated."""

    def f(a, b, c):
        return np.sum(c * np.einsum(subscripts, a, b))

    return f


def arrays(subscripts, dtype=float, sizes=SIZES):
    rng = np.random.default_rng(0)
    a, b = (
        rng.normal(size=[sizes[c] for c in term]).astype(dtype) for term in subscripts.partition("->")[0].split(",")
    )
    return a, b, rng.normal(size=np.einsum(subscripts, a, b).shape).astype(dtype)


def expected(subscripts, a, b, c):
    inputs, arrow, out = subscripts.partition("->")
    x, y = inputs.split(",")
    out = out if arrow else "".join(sorted(set(x) ^ set(y)))
    return np.einsum(f"{out},{y}->{x}", c, b), np.einsum(f"{out},{x}->{y}", c, a)


@pytest.mark.parametrize("subscripts", PRODUCTS)
def test_value_and_gradient_are_those_of_einsum(subscripts):
    a, b, c = arrays(subscripts)
    value, gradients = value_and_grad(made(subscripts), wrt=("a", "b"))(a, b, c)
    np.testing.assert_allclose(value, made(subscripts)(a, b, c), rtol=1e-11)
    for found, wanted in zip(gradients, expected(subscripts, a, b, c), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("subscripts", ("ij,jk->ik", "kij,nkj->nki", "nti,ntj->ij", "bti,ihj->bhtj"))
def test_large_products_are_left_to_blas(subscripts):
    gradient = value_and_grad(made(subscripts), wrt=("a", "b"))
    for dtype in (np.float64, np.float32):
        a, b, c = arrays(subscripts, dtype)
        _, gradients = gradient(a, b, c)
        assert "np.einsum" not in gradient.source
        assert [g.dtype for g in gradients] == [dtype, dtype]


@pytest.mark.parametrize(
    "subscripts, sizes, dtype",
    [
        ("bij,bjk->bik", {**SIZES, "i": 3, "j": 3, "k": 3}, float),  # BLAS gains nothing on small matrices
        ("ij,ij->ij", SIZES, float),
        ("ij,jk->ik", SIZES, complex),
    ],
)
def test_other_sums_stay(subscripts, sizes, dtype):
    a, b, c = arrays(subscripts, dtype, sizes)

    def f(a, b, c):
        return np.sum(np.abs(c * np.einsum(subscripts, a, b)) ** 2)

    gradient = value_and_grad(f, wrt=("a", "b"))
    gradient(a, b, c)
    assert "np.einsum" in gradient.source


def test_an_axis_of_length_one_is_repeated():
    """`einsum` stretches it, a product of matrices would not."""
    a, b, c = np.ones((9, 1)), np.arange(90.0).reshape(9, 10), np.ones((9, 10))
    a[:, 0] = np.arange(9)

    def f(a, b, c):
        return np.sum(c * np.einsum("ij,kj->ik", a, b.T[:, :1] * np.ones((10, 9))))

    value, (d_a, _) = value_and_grad(f, wrt=("a", "b"))(a, b, c)
    np.testing.assert_allclose(value, f(a, b, c))
    step = 1e-6
    moved = a.copy()
    moved[2, 0] += step
    np.testing.assert_allclose(d_a[2, 0], (f(moved, b, c) - f(a, b, c)) / step, rtol=1e-5)


def test_an_axis_that_may_be_of_length_one_is_left_to_einsum():
    def f(a, b, n):
        return np.sum(np.einsum("ij,jk->ik", a[:, :n], b) ** 2)

    gradient = value_and_grad(f, wrt=("a", "b"))
    a, b = np.linspace(0, 1, 90).reshape(9, 10), np.linspace(1, 2, 100).reshape(10, 10)
    value, (d_a, _) = gradient(a, b, 1)
    np.testing.assert_allclose(value, f(a, b, 1))
    step = 1e-6 * np.eye(1, 90, 20).reshape(9, 10)
    np.testing.assert_allclose(d_a[2, 0], (f(a + step, b, 1) - f(a - step, b, 1)) / 2e-6, rtol=1e-6)
    assert d_a.shape == a.shape


def stretched_columns(a, b):
    return np.sum(np.einsum("ij,jk->ik", a[:, :1], b) ** 2)


def stretched_rows(a, b):
    return np.sum(np.einsum("ij,jk->ik", a, b[:1]) ** 2)


def stretched_at_run_time(a, b, n):
    return np.sum(np.einsum("ij,jk->ik", a[:, :n], b) ** 2)


def stretched_in_the_middle(a, b):
    return np.sum(np.einsum("ij,jk,jl->il", a[:, :1], b, a[:1, :3]) ** 2)


@pytest.mark.parametrize("f", [stretched_columns, stretched_rows, stretched_in_the_middle])
@pytest.mark.parametrize("shapes", [((4, 3), (3, 5)), ((14, 13), (13, 15))])
def test_axes_of_length_one_are_stretched(f, shapes):
    """The cotangent of the other operand has that operand's shape, not the length 1."""
    check_grads(f, tuple(rng.normal(size=s) for s in shapes), wrt=(0, 1))


@pytest.mark.parametrize("n", [1, 13])
def test_axes_that_may_be_of_length_one(n):
    check_grads(stretched_at_run_time, (rng.normal(size=(14, 15)), rng.normal(size=(13, 15)), n), wrt=(0, 1))
