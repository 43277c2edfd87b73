"""Sums whose value is known are not added up, and sparse cotangents stand behind those of all elements."""

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad

rng = np.random.default_rng(0)
LOGITS, LABELS = rng.normal(size=(12, 9)), rng.integers(0, 9, 12)


def text(f, *args, **options):
    return grad(f, **options).lower(*args).text


def by_log_softmax(logits, labels):
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.sum(log_p[np.arange(logits.shape[0]), labels])


def by_log_of_softmax(logits, labels):
    e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.log(p[np.arange(len(logits)), labels]))


def by_differences(logits, labels):
    return np.mean(np.log(np.sum(np.exp(logits), axis=1)) - logits[np.arange(len(labels)), labels])


def of_columns(logits, labels):
    return by_log_softmax(logits.T, labels)


def of_negative_labels(logits, labels):
    return by_log_softmax(logits, labels - 9)


def weighted(logits, labels):
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.sum(np.arange(12.0) * log_p[np.arange(12), labels])


@pytest.mark.parametrize("loss", [by_log_softmax, by_log_of_softmax, by_differences, of_negative_labels, weighted])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cross_entropy_has_the_adjoint_of_the_textbook(loss, dtype):
    logits = LOGITS.astype(dtype)
    found = grad(loss)(logits, LABELS)
    assert "np.zeros_like" not in text(loss, logits, LABELS)
    e = np.exp(LOGITS)
    expected = e / e.sum(axis=1, keepdims=True)
    expected[np.arange(12), LABELS] -= 1
    if loss in (by_log_of_softmax, by_differences):
        expected /= 12
    if loss is weighted:
        expected *= np.arange(12.0)[:, None]
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-9 if dtype is np.float64 else 1e-4, atol=1e-6)


def test_columns_have_known_sums_too():
    check_grads(of_columns, (LOGITS.T.copy(), LABELS))


@pytest.mark.parametrize("count", [12, 7, 1])
@pytest.mark.parametrize("repeated", [False, True])
def test_rows_that_have_no_element_or_several(count, repeated):
    def loss(logits, rows, labels):
        log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
        return -np.sum(log_p[rows, labels] ** 2)

    def counted(logits, labels):
        return loss(logits, np.arange(len(labels)), labels)

    rows = rng.integers(0, 12, count) if repeated else np.arange(count)
    check_grads(loss, (LOGITS, rows, LABELS[:count]), wrt=0)
    check_grads(counted, (LOGITS, LABELS[:count]), wrt=0)


def test_elements_outside_of_the_array_are_errors_as_before():
    for f in (by_log_softmax, by_differences):
        with pytest.raises(IndexError):
            grad(f)(LOGITS, LABELS + 9)


def shifted(x, b, c):
    return np.sum(x + b) + np.sum((x - c[:, None]) * 2)


def test_sums_of_what_was_broadcast_are_products_of_sizes():
    args = LOGITS, 0.5, rng.normal(size=12)
    assert "np.sum" not in text(shifted, *args, wrt=(1, 2))
    check_grads(shifted, args, wrt=(0, 1, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("b", [
    0.5, np.float32(0.5), np.float64(0.5), np.array(0.5), np.array(0.5, np.float32), np.array([0.5]), np.ones(9, np.float32)
])
def test_known_sums_have_the_types_of_sums(dtype, b):
    x, c = LOGITS.astype(dtype), np.ones(12, dtype)
    found = grad(shifted, wrt=(0, 1, 2))(x, b, c)
    assert [type(d) for d in found[::2]] == [np.ndarray] * 2 and found[0].dtype == found[2].dtype == dtype
    assert isinstance(found[1], type(b)) and np.shape(found[1]) == np.shape(b) and np.asarray(found[1]).dtype == np.asarray(b).dtype
    np.testing.assert_allclose(found[1], 108.0 if np.size(b) == 1 else 12.0)
    np.testing.assert_allclose(found[2], -18.0)


def test_sums_of_outer_products():
    def f(u, v):
        return np.sum(np.sin(np.sum(np.outer(u, v), axis=0))) + np.sum(np.outer(u, v))

    check_grads(f, (rng.normal(size=12), rng.normal(size=9)))


def test_the_value_is_added_up_as_the_program_asks_for():
    def f(x):
        return np.sum(np.full((12, 9), 0.1)) * np.sum(x)

    assert "np.sum(np.full((12, 9), 0.1))" in value_and_grad(f).lower(LOGITS).text


def test_two_sparse_contributions_stand_behind_all():
    def f(x, rows, columns):
        return np.sum(x[rows, columns]) + np.sum(x[columns, rows] ** 2) + np.sum(x * x)

    x = rng.normal(size=(9, 9))
    rows, columns = rng.integers(0, 9, (2, 20))
    check_grads(f, (x, rows, columns), wrt=0)


def of_labels(w, b, x, labels):
    logits = x @ w + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def test_labels_are_as_many_as_rows_or_not():
    """The text relies on it where it is so in the call; a call in which it is not so has another text."""
    rng, gradient, texts = np.random.default_rng(0), grad(of_labels, wrt=("w", "b")), set()
    for rows, labels in ((20, 20), (20, 15), (30, 30), (9, 8), (7, 7), (21, 9)):
        args = rng.normal(size=(12, 5)), rng.normal(size=5), rng.normal(size=(rows, 12)), rng.integers(0, 5, labels)
        expected = grad(of_labels, wrt=("w", "b"))(*args)
        for found, right in zip(gradient(*args), expected, strict=True):
            np.testing.assert_array_equal(found, right)
        check_grads(of_labels, args, wrt=("w", "b"))
        text = gradient.lower(*args).text
        assert ("np.where(" in text) == (rows != labels)
        texts.add(text)
    with pytest.raises(IndexError):
        gradient(*args[:3], rng.integers(0, 5, 25))
    assert len(texts) == 3
