"""Loops over lists of records: in the text a loop, unless the program must know which record it has; the gradient is right."""

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.ir.evaluate import evaluate

pytestmark = pytest.mark.sampled(3)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    b: np.ndarray


class Named(NamedTuple):
    w: np.ndarray
    b: np.ndarray


class Plain:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def act(self, x):
        return np.tanh(self.w * x + self.b)


class Nested(NamedTuple):
    p: Named
    c: np.ndarray


@dataclass
class Scaled:
    w: np.ndarray
    s: float


def write(ps, x):
    for p in ps:
        p.w = p.w * 2
    for p in ps:
        x = np.tanh(p.w * x + p.b)
    return np.sum(x)


def write_element(ps, x):
    for p in ps:
        p.w[0] = 3.0
    for p in ps:
        x = np.tanh(p.w * x + p.b)
    return np.sum(x)


def augment(ps, x):
    for p in ps:
        p.w *= x
        x = np.sin(p.w) + p.b
    return np.sum(x)


def plain(ps, x):
    for p in ps:
        x = np.tanh(p.w * x + p.b)
    return np.sum(x)


def method(ps, x):
    for p in ps:
        x = p.act(x)
    return np.sum(x)


def backward_too(ps, x):
    for k in range(3):
        for p, q in zip(ps, reversed(ps)):
            x = np.tanh(p.w * x + q.b)
    return np.sum(x)


def identity(ps, x):
    last = ps[-1]
    for p in ps:
        x = p.w * x if p is last else np.tanh(p.w * x + p.b)
    return np.sum(x)


def collect(ps, x):
    out = []
    for p in ps:
        out.append(p)
    for p in out[::-1]:
        x = np.tanh(p.w * x + p.b)
    return np.sum(x)


def best_of_all(ps, x):
    best = ps[0]
    for p in ps:
        if np.sum(p.w) > np.sum(best.w):
            best = p
    return np.sum(np.tanh(best.w * x + best.b))


def after_the_loop(ps, x):
    for p in ps:
        x = np.tanh(p.w * x)
    return np.sum(x * p.b)


def beside_an_index(ps, x):
    for i, p in enumerate(ps):
        x = np.tanh(p.w * x + ps[i - 1].b)
    return np.sum(x)


def replaced(ps, x):
    ps = list(ps)
    for i, p in enumerate(ps):
        ps[i] = type(p)(p.w * x, p.b)
    for p in ps:
        x = np.tanh(p.w + p.b * x)
    return np.sum(x)


def nested(ms, x):
    for k in range(4):
        for m in ms:
            x = np.tanh(m.p.w * x + m.p.b) * m.c
    return np.sum(x)


def scaled(qs, x):
    for k in range(2):
        for q in qs:
            x = np.tanh(q.w * x * q.s)
    return np.sum(x)


def comprehensions(ps, x):
    ys = [np.tanh(p.w * x + p.b) for p in ps]
    return np.sum(sum(ys) * sum(np.sum(p.w**2) for p in ps))


def same_record_twice(ps, x):
    for k in range(2):
        for p in ps:
            x = x * p.w + p.w * np.sum(p.w) + p.b
    return np.sum(x)


def on_a_condition(ps, x):
    for k in range(3):
        for p in ps:
            if np.sum(x) > 0.1:
                x = np.tanh(p.w * x + p.b)
            else:
                x = np.sin(p.b * x) + 0.3
    return np.sum(x)


def left_early(ps, x):
    for k in range(3):
        for p in ps:
            x = np.tanh(p.w * x + p.b)
            if np.sum(x) > 2:
                break
    return np.sum(x)


def repeated(ps, x):
    for k in range(3):
        for p in ps:
            x = np.tanh(p.w * x + p.b)
        x = x + ps[0].w * ps[-1].b + ps[k % 2].w
    return np.sum(x)


def stacked(ps, x):
    for k in range(3):
        for p in ps:
            x = np.tanh(p.w * x + p.b)
    return np.sum(x)


LOOPS = (
    write_element, plain, backward_too, identity, collect, best_of_all, after_the_loop, beside_an_index, replaced,
    comprehensions, same_record_twice, on_a_condition, left_early, repeated, stacked,
)  # fmt: skip

ALL, WRITABLE = (Layer, Frozen, Named, Plain), (Layer, Plain)
CASES = [
    *((f, cls) for f in (write, augment) for cls in WRITABLE),
    *((f, cls) for f in LOOPS for cls in ALL if (f, cls) != (identity, Named)),  # equal tuples may be one object or two
    (method, Plain), (nested, Nested), (scaled, Scaled),
]  # fmt: skip


def make(cls, rng, n=4):
    def one():
        if cls is Nested:
            return Nested(Named(rng.normal(size=3), rng.normal(size=3)), rng.normal(size=3))
        return cls(rng.normal(size=3), float(rng.normal()) if cls is Scaled else rng.normal(size=3))

    return [one() for _ in range(n)]


def leaves(value):
    """The arrays and numbers of a structure, in order."""
    if isinstance(value, (np.ndarray, float)):
        return [value]
    parts = value if isinstance(value, (list, tuple)) else vars(value).values()
    return [leaf for part in parts for leaf in leaves(part)]


def shifted(f, args, leaf, index, by):
    """The value of f with one element of one array changed."""
    args = copy.deepcopy(args)
    leaves(args[0])[leaf][index] += by
    return f(*args)


@pytest.mark.parametrize("f, cls", CASES, ids=lambda v: v.__name__)
def test_a_loop_over_records_is_differentiated(f, cls):
    rng = np.random.default_rng(0)
    args = (make(cls, rng), rng.normal(size=3))
    before = copy.deepcopy(args)
    gradient = grad(f)
    found = leaves(gradient(*args))
    arrays = leaves(args[0])
    assert len(found) == len(arrays)
    for k, (array, d) in enumerate(zip(arrays, found)):
        if isinstance(array, np.ndarray):
            numerical = [(shifted(f, args, k, i, 1e-6) - shifted(f, args, k, i, -1e-6)) / 2e-6 for i in range(3)]
            np.testing.assert_allclose(d, numerical, rtol=1e-5, atol=1e-7)
    for now, then in zip(leaves(list(args)), leaves(list(before)), strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("cls", ALL)
def test_the_length_of_the_list_does_not_lengthen_the_text(cls):
    gradient, rng, lengths = grad(stacked), np.random.default_rng(0), set()
    for n in (3, 12):
        gradient(make(cls, rng, n), rng.normal(size=3))
        lengths.add(len(gradient.source.splitlines()))
    assert len(lengths) == 1


@pytest.mark.parametrize("cls", ALL)
def test_cotangents_of_records_are_added_to_in_place(cls):
    gradient, rng = grad(stacked), np.random.default_rng(0)
    gradient(make(cls, rng), rng.normal(size=3))
    place = "d_ps[i].w +=" if cls in WRITABLE else "d_w = d_ps[i].w"
    assert place in gradient.source and " add(" not in gradient.source and "copy" not in gradient.source


def test_what_is_added_once_to_each_zero_is_set():
    def through_two_lists(w, xs):
        hs = [x * w for x in xs]
        for k in range(3):
            hs = [np.tanh(h * w + x) for h, x in zip(hs, xs)]
        return np.sum(sum(hs))

    w, xs = np.array([0.3, -0.2]), [np.array([0.1 * k, 0.5]) for k in range(4)]
    gradient = grad(through_two_lists, wrt=("w", "xs"))
    d_w, d_xs = gradient(w, xs)
    assert "d_hs[i] = " in gradient.source and "d_hs[i] +=" not in gradient.source
    assert "d_xs[i] +=" in gradient.source  # of all three rounds
    for k, d_x in enumerate(d_xs):
        for i in range(2):
            values = []
            for sign in (1, -1):
                moved = [x.copy() for x in xs]
                moved[k][i] += sign * 1e-6
                values.append(through_two_lists(w, moved))
            np.testing.assert_allclose(d_x[i], (values[0] - values[1]) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("cls", ALL)
def test_the_text_computes_what_its_ir_means(cls):
    rng = np.random.default_rng(0)
    args = (make(cls, rng), rng.normal(size=3))
    gradient = value_and_grad(stacked)
    value, found = gradient(*args)
    expected_value, expected = evaluate(gradient.lower(*args).ir, *args)
    assert value == expected_value
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_record_twice_in_a_list_gets_the_cotangent_of_each_place():
    rng = np.random.default_rng(0)
    (p,) = make(Named, rng, 1)
    x = rng.normal(size=3)
    found = grad(stacked)([p, p], x)
    apart = grad(stacked)([p, Named(p.w.copy(), p.b.copy())], x)
    for one, other in zip(leaves(found), leaves(apart), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0].w is not found[1].w


@pytest.mark.parametrize("cls", [Layer, Frozen, Named])
def test_to_second_order(cls):
    def loss(layers, x):
        for layer in layers:
            x = np.tanh(layer.w @ x + layer.b)
        return np.sum(x**2) + np.sum(layers[0].w) * layers[0].b[0]

    def gradients(layers, x):
        return sum(np.sum(d.w**2) + np.sum(d.b) for d in grad(loss)(layers, x))

    rng = np.random.default_rng(1)
    layers = [cls(rng.normal(size=(3, 3)), rng.normal(size=3)) for _ in range(2)]
    check_grads(gradients, (layers, rng.normal(size=3)), wrt=(0, 1))
