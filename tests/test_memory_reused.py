"""Results in the memory of arrays that nothing reads any more: where text writes in place, and where it must not."""

import itertools

import numpy as np
import pytest

from sourcead import ArgumentError, adjoint, check_grads, grad, value_and_grad, vjp
from sourcead.emit.memory import reuse
from sourcead.emit.text import calls_in_place, statements
from sourcead.ir.types import Array
from tests.benchmarks.workers import peak_bytes

pytestmark = pytest.mark.sampled(2)

X = np.linspace(-1.0, 1.0, 600).reshape(20, 30)


def text_of(f, *args, **options):
    return grad(f, **options).lower(*(args or (X,))).text


def dense(x):
    z = x - np.mean(x, axis=0)
    e = np.exp(z)
    return np.sum(e * e)


def recurrent(w, xs):
    h = np.zeros_like(xs[0])
    for x in xs:
        h = np.tanh(x + h @ w)
    return np.sum(h * h)


def test_an_array_that_is_read_for_the_last_time_is_overwritten():
    w, xs = np.ones((30, 30)) / 30, np.tile(X, (4, 1, 1))
    assert "d_h *= 1 - h * h" in text_of(recurrent, w, xs)
    assert "*=" not in text_of(recurrent, w, xs, readable=True)
    assert np.array_equal(grad(recurrent)(w, xs), grad(recurrent, readable=True)(w, xs))
    assert "e = np.exp(z, out=z)" in text_of(dense)
    assert "out=" not in text_of(dense, readable=True)


def test_readable_is_an_option_of_value_and_grad_too_and_survives_copies():
    for option in (True, False):
        made = value_and_grad(dense, readable=option)
        again = type(made)(*made._made_of)
        assert again.lower(X).text == made.lower(X).text == value_and_grad(dense, readable=option).lower(X).text
    assert value_and_grad(dense, readable=True).lower(X).text != value_and_grad(dense).lower(X).text


def test_a_function_has_texts_of_both_kinds_at_a_time():
    first, second = grad(dense), grad(dense, readable=True)
    assert np.array_equal(first(X), second(X))
    assert first.source != second.source


def test_peak_memory_falls():
    def f(x):
        y = x - np.mean(x, axis=0)
        z = np.exp(y)
        return np.sum(np.log(np.sum(z / np.mean(z, axis=0), axis=1)))

    x = np.tile(X, (40, 10))
    peaks = []
    for option in (True, False):
        gradient = grad(f, readable=option)
        gradient(x)
        peaks.append(peak_bytes(lambda gradient=gradient: gradient(x)))
    assert peaks[1] < 0.9 * peaks[0]


@pytest.mark.parametrize("dims", [(3, 4), (2, 2)])
def test_small_arrays_of_known_size_have_the_readable_text(dims):
    x = np.ones(dims)
    assert text_of(dense, x) == text_of(dense, x, readable=True)


def test_numbers_have_the_readable_text():
    def f(x):
        y = x * 2
        z = y + 1
        return z * z

    assert text_of(f, 2.0) == text_of(f, 2.0, readable=True)


def test_an_array_is_not_written_with_a_result_of_another_dtype_or_shape():
    def f(x, b):
        y = x * 2
        z = y + b
        u = np.sum(z, axis=0)
        v = u * 2 + y
        return np.sum(v * v)

    for x, b in ((X.astype(np.float32), X), (np.ones((1, 30)), X), (np.ones((20, 1)), X), (X, np.ones((40, 20, 30)))):
        assert np.allclose(grad(f)(x, b), grad(f, readable=True)(x, b), rtol=1e-6)


# ---- memory that something else may reach ----


def aliased(x):
    y = x * 2
    v = y
    z = y + 1
    return np.sum(z * v * z)


def viewed(x):
    y = x * 2
    v = y[::-1]
    z = y + 1
    return np.sum(z * v * z)


def transposed(x):
    y = x[:, :20] * 2
    z = y * y.T
    w = z + z.T
    return np.sum(w * np.sin(z))


def reshaped(x):
    y = x * 2
    r = y.reshape(-1)
    z = y + 1
    z = z * 3
    return np.sum(r * r) + np.sum(z * z)


def listed(x):
    y = x * 2
    hs = [y, y]
    a = hs.pop()
    b = a * 3
    return np.sum(b * hs.pop())


def kept_in_a_dict(x):
    d = {"a": x * 2}
    y = d["a"] * 3
    d["b"] = y
    z = y * d["a"]
    w = z + y
    return np.sum(w * d["b"])


def read_again_in_the_next_iteration(x):
    a = x * 1.0
    h = a
    for _ in range(3):
        h = h * 1.5
        h = h + a
    return np.sum(h * a)


def swapped(x):
    a = x * 1.0
    b = x * 2.0
    for _ in range(4):
        a, b = b, a * np.sin(b)
    return np.sum(a * b)


def saved_by_a_loop(x):
    h = x * 1.0
    out = []
    for _ in range(5):
        h = np.tanh(h * 1.1)
        out.append(h)
        h = h * 0.5
    return sum(np.sum(o * o) for o in out) + np.sum(h)


def in_one_arm(x):
    y = x * 2
    if np.sum(x) > -100:
        z = y * 3
    else:
        z = y
    w = z * 2
    return np.sum(w * z + y)


def updated(x):
    y = x * 2
    z = y * 3
    z[0] = 5.0
    w = z * y
    w[1:] *= 2
    q = w + z
    return np.sum(q * w)


def normalised(x):
    d = x - np.mean(x, axis=0)
    n = d / np.sqrt(np.mean(d * d, axis=0) + 1e-5)
    e = np.exp(n - np.max(n, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(np.where(p > 0.01, p, 0.1 * p) * n)


def asked_for_its_shape_later(x):
    y = x * 2
    z = y + 1
    w = z * z
    return np.sum(w * w) / y.size + np.sum(np.zeros_like(z)) + z.shape[0]


PROGRAMS = [
    aliased, viewed, transposed, reshaped, listed, kept_in_a_dict, read_again_in_the_next_iteration, swapped, saved_by_a_loop, in_one_arm,
    updated, normalised, asked_for_its_shape_later, dense,
]  # fmt: skip


@pytest.fixture(params=["as it is", "of vectors and small arrays too"])
def reused(request, monkeypatch):
    if request.param != "as it is":
        monkeypatch.setattr(reuse, "SMALLEST", 0)
        for module in (reuse, calls_in_place, statements):
            monkeypatch.setattr(module, "is_large", lambda t: isinstance(t, Array) and bool(t.dims))


def arrays_in(value):
    return [a for part in value for a in arrays_in(part)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("f", PROGRAMS)
def test_reused_memory_changes_no_gradient_and_no_argument(f, reused):
    x = X.copy()
    expected = grad(f, readable=True)(x)
    for options in ({}, {"checkpoint": "states"}, {"checkpoint": "store"}, {"checkpoint": "recompute"}):
        gradient = grad(f, **options)
        assert np.allclose(gradient(x), expected, rtol=1e-12, atol=1e-14)
        assert np.array_equal(gradient(x), gradient(x))
    assert np.array_equal(x, X)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_pullback_is_called_twice(f, reused):
    _, pullback = vjp(f, X)
    first = pullback(1.0)
    kept = first.copy()
    assert np.array_equal(pullback(1.0), kept) and np.array_equal(first, kept)


def test_results_share_no_memory(reused):
    def f(x, y):
        s = x + y
        d = s - y
        p = s * d
        return np.sum(p * s / (1 + d * d)), {"s": s, "d": d, "p": p}

    (_, aux), gradients = value_and_grad(f, wrt=(0, 1), has_aux=True)(X, X + 1)
    arrays = [*aux.values(), *gradients]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations([*arrays, X], 2))
    s = X + (X + 1)
    assert np.array_equal(aux["s"], s) and np.array_equal(aux["p"], s * aux["d"])


kept_outside = []


def keeps(x):
    kept_outside.append(x)
    return np.sum(x)


@adjoint(keeps)
def _(y, x, d_y):
    return d_y * np.ones_like(x)


def test_an_array_that_other_code_has_seen_is_not_written(reused):
    def f(x):
        s = 0.0
        h = x * 2
        for _ in range(3):
            h = h * 1.5
            s = s + keeps(h)
            h = h + 1
        y = h * 2
        s = s + keeps(y)
        z = y + 1
        return s + np.sum(z * z * z)

    seen = []
    for option in (True, False):
        kept_outside.clear()
        gradient = grad(f, readable=option, verify=False)(X)
        seen.append([gradient, *(a.copy() for a in kept_outside)])
    assert all(np.array_equal(a, b) for a, b in zip(*seen, strict=True))


def test_the_option_has_no_other_name():
    with pytest.raises((ArgumentError, TypeError)):
        grad(dense, legible=True)


def test_a_result_takes_no_part_of_a_larger_array_which_it_would_keep():
    def of_a_part(x, w):
        part = (x @ w)[:, :10]
        e = np.exp(part)
        return np.sum(e / np.mean(e, axis=0))

    def of_all(x, w):
        part = (x @ w)[:, None]
        e = np.exp(part)
        return np.sum(e / np.mean(e, axis=0))

    for f, taken in ((of_a_part, False), (of_all, True)):
        assert ("out=part" in text_of(f, X, X.T)) is taken
        check_grads(f, (X, X.T))


def test_what_a_function_is_applied_to_takes_the_memory_of_what_is_read_for_the_last_time():
    def softmax(x, w):
        logits = x @ w
        e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)

    def read_again(x, w):
        logits = x @ w
        e = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2 * logits)

    text = text_of(softmax, X, X.T)
    assert "logits -= np.max(logits, axis=1, keepdims=True)\n    e = np.exp(logits, out=logits)" in text
    assert "logits -=" not in text_of(read_again, X, X.T).split("# reverse")[0]
    for f in (softmax, read_again):
        check_grads(f, (X, X.T))
        assert np.allclose(grad(f)(X, X.T), grad(f, readable=True)(X, X.T), rtol=1e-13)


def test_a_transposed_array_is_overwritten_where_nothing_else_reads_it():
    def alone(x, w):
        y = (x @ w).T
        z = y - np.mean(y, axis=1, keepdims=True)
        return np.sum(np.exp(z) * z)

    def beside_itself(x):
        a = x @ x.T
        y = a.T - a
        return np.sum(np.exp(y / 50) * y)

    def read_again(x, w):
        a = x @ w
        y = a.T
        y = y * 2
        return np.sum(np.tanh(y) * y) + np.sum(a * a)

    assert "out=y)" in text_of(alone, X, X.T)
    for f, args in ((alone, (X, X.T)), (beside_itself, (X,)), (read_again, (X, X.T))):
        check_grads(f, args)
        assert np.allclose(grad(f)(*args), grad(f, readable=True)(*args), rtol=1e-12)


def test_something_smaller_is_added_to_a_new_array_in_place():
    def layer(w, b, x):
        z = x @ w + b
        return np.sum(np.sin(z) * z)

    def residual(w, x):
        z = x @ w + x
        return np.sum(np.sin(z) * z)

    args = np.ones((30, 10)) / 30, np.ones(10), X
    assert "z = x @ w + x\n" in text_of(residual, np.ones((30, 30)), X)  # which NumPy writes into the product
    assert "z = x @ w\n    z += b\n" in text_of(layer, *args)
    assert "z = x @ w + b\n" in text_of(layer, *args, readable=True)
    check_grads(layer, args)
    np.testing.assert_array_equal(grad(layer)(*args), grad(layer, readable=True)(*args))


def test_the_operand_that_needs_more_memory_is_computed_first():
    def layer(w, x):
        h = np.tanh(x @ w)
        return np.sum((h @ w.T - x) ** 2)

    w, x = np.linspace(-1, 1, 400).reshape(20, 20), np.tile(X[:, :20], (400, 1))
    assert "(1 - h * h) * (d_diff @ w)" in text_of(layer, w, x)
    assert "d_diff @ w * (1 - h * h)" in text_of(layer, w, x, readable=True)
    assert np.array_equal(grad(layer)(w, x), grad(layer, readable=True)(w, x))
