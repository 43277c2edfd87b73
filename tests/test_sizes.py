"""Sizes as expressions: what a normal form says must hold for all numbers, and equal sizes must have one form."""

import random

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.sizes import ANY, Sym, form_of, greater, lesser, lower_bound, minus, plus, quotient, times, with_terms
from sourcead.ir.slice_sizes import place, sliced
from tests.benchmarks.by_hand.programs import lstm

N, M = Sym(8), Sym(8)
ZERO = Sym(0)


def number_of(dim):
    return dim if isinstance(dim, int) else None


def drawn(rng):
    """Sizes and integers with their values, some of them computed from others."""
    pool = []
    for least in (0, 0, 1, 2, 8, 8, ANY, ANY):
        value = rng.randint(-4, 12) if least == ANY else least + rng.choice((0, 0, 1, 2, 5))
        pool.append((Sym(least), value))
    pool += [(k, k) for k in (0, 1, 2, 3, -1, -2)]
    terms = {s: v for s, v in pool if isinstance(s, Sym)}
    index = rng.choice([pair for pair in pool if pair[1] > 0])  # an index that counts up to it
    counted = Sym(0, True, above=((form_of(minus(index[0], 1)), 1),))
    terms[counted] = rng.randrange(index[1])
    pool.append((counted, terms[counted]))
    for _ in range(12):
        (a, x), (b, y) = rng.choice(pool), rng.choice(pool)
        made = [
            (plus(a, b), x + y), (minus(a, b), x - y), (lesser(a, b), min(x, y)), (greater(a, b), max(x, y)), (times(a, b), x * y),
        ]  # fmt: skip
        if y > 0 and (isinstance(b, int) or b.least > 0):
            made.append((quotient(a, b), x // y))
        if x >= 0 and (isinstance(a, int) or a.least >= 0):
            c, z = rng.choice(pool)
            step = rng.choice((1, 1, 2, 3))
            made.append((sliced(a, b, c, step), len(range(x)[y:z:step])))
            made.append((sliced(a, None, b, step), len(range(x)[:y:step])))
            made.append((sliced(a, b, None, step), len(range(x)[y::step])))
            made.append((place(b, a), slice(None, y).indices(x)[1]))
        pool.append(rng.choice(made))
    return pool, terms


@pytest.mark.parametrize("count, seed", [(300, 0), pytest.param(1500, 2, marks=pytest.mark.long)])
def test_expressions_are_the_numbers_that_python_computes(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        pool, terms = drawn(rng)
        for dim, value in pool:
            assert with_terms(dim, terms) == value
            assert lower_bound(form_of(dim)) <= value
            assert isinstance(dim, int) or dim.least <= value


def test_one_expression_has_one_value_for_all_numbers():
    """What is one and the same object for two ways to compute a size is equal for all numbers."""
    rng = random.Random(1)
    for _ in range(300):
        pool, terms = drawn(rng)
        found = {}
        for dim, value in pool:
            assert found.setdefault(dim, value) == value


@pytest.mark.parametrize("one, other", [
    (sliced(N, 1, -1), sliced(N, 2, None)),
    (sliced(ZERO, 1, -1), sliced(ZERO, None, -2)),
    (sliced(sliced(ZERO, 1, None), 1, None), sliced(ZERO, 2, None)),
    (sliced(N, quotient(N, 2), None), minus(N, quotient(N, 2))),
    (sliced(N, None, None, 2), quotient(plus(N, 1), 2)),
    (sliced(N, 1, None, 2), quotient(N, 2)),
    (sliced(plus(N, M), N, None), M),
    (sliced(plus(N, M), None, N), N),
    (quotient(times(4, N), 4), N),
    (times(plus(N, 1), M), plus(times(N, M), M)),
    (lesser(N, plus(N, 3)), N),
    (quotient(times(times(N, M), 6), M), times(6, N)),
])  # fmt: skip
def test_equal_sizes_are_one_object(one, other):
    assert one is other or one == other


def test_equations_replace_terms():
    known, p, q, r = EqualSizes(), Sym(8), Sym(8), Sym(8)
    known.learn(plus(p, q), r)
    assert known.same(sliced(r, p, None), q)
    assert not known.same(p, q)
    known.learn(p, q)
    assert known.same(r, times(2, p)) and known.same(r, times(2, q))


# ---- programs ----


def gates(w, x, h):
    a, b = np.split(x @ w, 2, axis=1)
    return np.sum(h * a / (1 + np.exp(-b)))


def halves(x, w):
    d = x.shape[1] // 2
    return np.sum(x[:, :d] * w * np.tanh(x[:, d : 2 * d]))


def every_tail(x):
    s = 0.0
    for i in range(len(x)):
        s = s + np.sum(x[i:] ** 2 * x[: len(x) - i])
    return s


def joined(x, y, w):
    a = np.tanh(np.concatenate([x, y], axis=1) * w)
    return np.sum(a[:, : x.shape[1]] * x) + np.sum(a[:, x.shape[1] :] * y)


def heads(x, w, number):
    n, d = x.shape
    q = (x @ w).reshape(n, number, d // number).transpose(1, 0, 2)
    s = np.exp(q @ q.transpose(0, 2, 1))
    return np.sum(s / np.sum(s, axis=2, keepdims=True))


def coarse(x):
    return np.sum(x[::2][: len(x) // 2] * x[1::2] ** 2)


def listed(w, xs, ys):
    h, states = np.zeros((xs.shape[1], w.shape[1])), []
    for x in xs:
        h = np.tanh(x + h @ w)
        states.append(h)
    return np.sum((np.array(states) - ys) ** 2)


def with_memory(w, xs, h):
    for x in xs:
        h = np.tanh(np.concatenate([x, h], axis=1) @ w)
    return np.sum(h**2)


def counted(x, w):
    k = 0
    for _ in range(len(x) - 2):
        k = k + 1
    return np.sum(x[:k] * w[2:] + x[:-2] * w[1:-1])


def masked(w, xs, mask):
    h, rows = np.zeros((xs.shape[1], w.shape[1])), np.arange(xs.shape[1])
    for x, m in zip(xs, mask):
        h = m[:, None] * np.tanh(x @ w) + (1 - m[:, None]) * h
    shifted = h - h.max(axis=1, keepdims=True)
    return -np.mean((shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))[rows, rows % 10])


R = np.random.default_rng(0)


def normal(*shape):
    return 0.3 * R.normal(size=shape)


PERSON = [
    (gates, (normal(10, 18), normal(12, 10), normal(12, 9))),
    (halves, (normal(10, 18), normal(9))),
    (every_tail, (normal(10),)),
    (joined, (normal(12, 9), normal(12, 10), normal(19))),
    (heads, (normal(10, 16), normal(16, 16), 4)),
    (coarse, (normal(20),)),
    (listed, (normal(9, 9), normal(10, 8, 9), normal(10, 8, 9))),
    (with_memory, (normal(19, 10), normal(8, 9, 9), normal(9, 10))),
    (counted, (normal(20), normal(20))),
    (masked, (normal(9, 10), normal(8, 11, 9), (normal(8, 11) > 0).astype(float))),
]


@pytest.mark.parametrize("f, args", PERSON, ids=lambda v: getattr(v, "__name__", ""))
def test_where_a_person_knows_the_shapes_the_text_asks_for_none(f, args):
    arrays = [name for name, v in zip(f.__code__.co_varnames, args) if isinstance(v, np.ndarray)]
    text = grad(f, wrt=arrays).lower(*args).text
    assert "unbroadcast" not in text and "np.where" not in text


def test_a_concatenation_is_not_kept_for_the_sizes_of_its_parts():
    text = grad(with_memory, wrt=("w", "xs", "h")).lower(*dict(PERSON)[with_memory]).text
    assert "split_like" not in text and "x = xs[i]" not in text.split("# reverse")[1]


def test_the_gates_of_an_lstm_are_as_long_as_its_state():
    text = grad(lstm.primal, wrt=lstm.WRT).lower(*lstm.inputs("full", float)).text
    assert "unbroadcast" not in text and "totals" not in text


def difference_quotient(f, args, k, direction, step=1e-6):
    def at(t):
        return f(*(v + t * direction if j == k else v for j, v in enumerate(args)))

    return (at(step) - at(-step)) / (2 * step)


def is_right(g, f, args, wrt):
    rng = np.random.default_rng(1)
    found = g(*args)
    for k, d in zip(wrt, found if isinstance(found, tuple) else (found,)):
        assert d.shape == args[k].shape
        direction = rng.normal(size=args[k].shape)
        assert np.sum(d * direction) == pytest.approx(difference_quotient(f, args, k, direction), rel=1e-5, abs=1e-7)


def first(x, y, n):
    """A part that may have one element, which is then broadcast."""
    return np.sum(np.exp(x[:n]) * y)


def both_ends(x, n):
    return np.sum(np.exp(x[:n] * x[n:]))


def zeros_of(x, n):
    s = np.zeros(n)
    for t in range(len(x)):
        s = np.tanh(s + x[t])
    return np.sum(s)


def reshaped(x, y, n):
    return np.sum(np.exp(np.reshape(x, n) * np.reshape(y, n)))


def sums_of_parts(x, n):
    parts = []
    for i in range(n, len(x)):
        parts.append(x[i - n : i] * x[i])
    return np.sum(parts[0] * parts[-1])


def parts_that_grow(x, w):
    parts = []
    for i in range(8, len(x)):
        parts.append(np.sum(x[:i] * w) * x[:i])
    return np.sum(parts[0]) * np.sum(parts[-1] ** 2)


def stepped(x, n):
    return np.sum(x[::n] ** 2) + np.sum(x[n::2] * 3)


def shrinking(x):
    while len(x) > 2:
        x = x[1:] * x[:-1]
    return np.sum(x)


def growing(x, n):
    y = x
    for i in range(n):
        y = np.concatenate([y, x[i:] * y[: len(x) - i]])
    return np.sum(y**2)


def by_branch(x, n, m):
    k = n if x[0] > 0 else m
    y = x[:k]
    return np.sum(np.exp(y) * x[len(x) - len(y) :])


def scaled(x, w):
    for _ in range(4):
        x = x * w + np.sin(w)
    return np.sum(x**2)


EDGES = [
    (scaled, [(normal(9), normal(9)), (normal(9), normal(1)), (normal(1), normal(9)), (normal(10), normal(10))]),
    (first, [(normal(9), normal(1), 9), (normal(9), normal(9), 1), (normal(9), normal(9), 9), (normal(9), normal(8), -1)]),
    (both_ends, [(normal(12), 6), (normal(12), 1), (normal(12), 11), (normal(12), -6), (normal(12), -1)]),
    (zeros_of, [(normal(5, 9), 9), (normal(5, 9), 1), (normal(9, 10), 1)]),
    (reshaped, [(normal(9), normal(9), 9), (normal(9), normal(9), -1), (normal(9), normal(1), -1), (normal(3, 3), normal(1, 1), -1)]),
    (sums_of_parts, [(normal(12), 3), (normal(12), 1), (normal(30), 9)]),
    (parts_that_grow, [(normal(12), normal(1)), (normal(20), normal(1))]),
    (stepped, [(normal(12), 1), (normal(12), 2), (normal(13), 5), (normal(13), 13)]),
    (shrinking, [(normal(9),), (normal(10),), (normal(3),), (normal(2),), (normal(1),)]),
    (growing, [(normal(9), 0), (normal(9), 1), (normal(9), 3)]),
    (by_branch, [(np.abs(normal(10)), 3, 4), (-np.abs(normal(10)), 3, 4), (np.abs(normal(10)), 1, 9), (np.abs(normal(10)), -3, 9)]),
]


@pytest.mark.parametrize("f, cases", EDGES, ids=lambda v: getattr(v, "__name__", ""))
def test_one_function_serves_all_sizes(f, cases):
    wrt = [k for k, v in enumerate(cases[0]) if isinstance(v, np.ndarray)]
    g = grad(f, wrt=[f.__code__.co_varnames[k] for k in wrt], verify=False)
    for args in [*cases, *reversed(cases)]:
        is_right(g, f, args, wrt)


@pytest.mark.parametrize("f, args", PERSON, ids=lambda v: getattr(v, "__name__", ""))
def test_gradients_where_shapes_are_known(f, args):
    wrt = [k for k, v in enumerate(args) if isinstance(v, np.ndarray)]
    is_right(grad(f, wrt=[f.__code__.co_varnames[k] for k in wrt], verify=False), f, args, wrt)


def test_what_is_broadcast_along_axes_of_length_one_is_summed_whatever_the_size():
    def grouped(x, groups):
        n, c, s = x.shape
        g = x.reshape(n, groups, c // groups, s)
        g = (g - g.mean(axis=(2, 3), keepdims=True)) * np.cos(g)
        return np.sum(g**3)

    x = np.random.default_rng(0).normal(size=(3, 12, 9))
    for groups in (1, 4, 12):
        check_grads(grouped, (x[:, :, :1] if groups == 12 else x, groups), wrt=0)
    assert "unbroadcast" not in grad(grouped, wrt=0).lower(x, 4).text
