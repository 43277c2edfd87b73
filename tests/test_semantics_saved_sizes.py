"""A saved module is right for arguments of other sizes, or says on entry for which types and shapes it was made."""

import copy
import importlib.util

import numpy as np
import pytest

from sourcead import grad, hvp, pushforward
from tests.semantics import differences

pytestmark = pytest.mark.sampled(3)

RANDOM = np.random.default_rng(0)


def R(*shape):
    return RANDOM.normal(size=shape)


def mse(w, x, y):
    return np.mean((x @ w - y) ** 2)


def outer(x, y):
    return np.sum(x[:, None] * y[None, :] ** 2)


def twosizes(x, y):
    t = 0.0
    for i in range(len(x)):
        t = t + x[i] ** 2
    for j in range(len(y)):
        t = t * 1.1 + y[j] * x[0]
    return t


def meanx(x, y):
    return np.sum(x) / len(y) + np.mean(y)


def add(x, y):
    return np.sum((x + y) ** 2)


def sz(x, y):
    return np.sum(x * y.shape[0]) + np.sum(y) * x.size


def cat(x, y):
    return np.sum(np.concatenate([x, y]) ** 2 * np.arange(len(x) + len(y)))


def resh(x):
    return np.sum(x.reshape(-1) ** 2 * np.arange(x.size))


def means(x):
    return np.sum(x.mean(axis=0) ** 2)


def lists(x, n):
    t = 0.0
    for a in n:
        t += a * np.sum(x)
    return t


def listlen(x, n):
    return np.sum(x) ** 2 * len(n)


def bias(w, b, x):
    return np.sum(np.tanh(x @ w + b) ** 2)


def row(x):
    a, b = x
    return a * b


def unpack(x):
    t = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t += x[i, j] * i ** 2 * j
    return t


def std(x):
    return np.std(x)


def var(x):
    return np.var(x, ddof=1)


def soft(x, y):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    return -np.mean(np.log(p[np.arange(len(y)), y]))


CASES = [
    (mse, (R(3), R(2, 3), R(2)), (R(3), R(6, 3), R(6)), 0),
    (mse, (R(3), R(2, 3), R(2)), (R(3), R(6, 3), R(6)), 1),
    (mse, (R(2), R(2, 2), R(2)), (R(3), R(6, 3), R(6)), 1),
    (outer, (R(3), R(3)), (R(3), R(5)), 0),
    (outer, (R(3), R(3)), (R(6), R(5)), 1),
    (twosizes, (R(2), R(2)), (R(4), R(6)), 0),
    (twosizes, (R(2), R(2)), (R(4), R(6)), 1),
    (meanx, (R(2), R(2)), (R(4), R(6)), 0),
    (meanx, (R(2), R(2)), (R(4), R(6)), 1),
    (add, (R(2), R(2)), (R(6), R(6)), 0),
    (add, (R(2), R(2)), (R(1), R(6)), 0),
    (add, (R(1), R(2)), (R(6), R(6)), 0),
    (add, (R(9), R(9)), (R(1), R(6)), 0),
    (add, (R(9), R(9)), (R(1), R(9)), 0),
    (add, (R(1, 9), R(9, 9)), (R(9, 9), R(9, 9)), 0),
    (sz, (R(2), R(2)), (R(4), R(6)), 0),
    (sz, (R(9), R(9)), (R(11), R(16)), 1),
    (cat, (R(2), R(2)), (R(4), R(6)), 0),
    (cat, (R(9), R(9)), (R(11), R(16)), 1),
    (resh, (R(2, 2),), (R(4, 3),), 0),
    (means, (R(2, 2),), (R(4, 3),), 0),
    (means, (R(1, 2),), (R(4, 3),), 0),
    (std, (R(2),), (R(5),), 0),
    (var, (R(2, 2),), (R(4, 3),), 0),
    (lists, (R(2), [1., 2.]), (R(4), [1., 2., 3.]), 0),
    (lists, (R(2), [1, 2]), (R(4), [1, 2, 3]), 0),
    (listlen, (R(2), [1, 2]), (R(4), [1, 2, 3]), 0),
    (bias, (R(2, 2), R(2), R(2, 2)), (R(4, 3), R(3), R(5, 4)), 0),
    (bias, (R(2, 2), R(2), R(2, 2)), (R(4, 3), R(3), R(5, 4)), 1),
    (bias, (R(2, 2), R(2), R(2, 2)), (R(4, 3), R(3), R(5, 4)), 2),
    (row, (R(2),), (R(3),), 0),
    (unpack, (R(2, 2),), (R(4, 3),), 0),
    (soft, (R(2, 2), np.array([0, 1])), (R(5, 3), np.array([0, 1, 2, 2, 1])), 0),
    (soft, (R(1, 2), np.array([0])), (R(5, 3), np.array([0, 1, 2, 2, 1])), 0),
]


def saved(f, args, wrt, path):
    """The gradient of a function as it is saved for the sizes of these arguments."""
    return loaded(grad(f, wrt=wrt, verify=False), args, path)


def loaded(derivative, args, path):
    """The function of the module that a derivative is saved as for the sizes of these arguments."""
    derivative.save(path, *copy.deepcopy(args))
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    *_, function = (f for f in vars(module).values() if getattr(f, "__module__", "") == "saved")
    return function


@pytest.mark.parametrize(("f", "args", "others", "wrt"), CASES)
def test_other_sizes(f, args, others, wrt, tmp_path):
    text = saved(f, args, wrt, tmp_path / "saved.py")
    np.testing.assert_allclose(text(*copy.deepcopy(args)), differences(f, args, wrt), rtol=1e-4, atol=1e-5)
    try:
        f(*copy.deepcopy(others))
    except ValueError:
        with pytest.raises((AssertionError, ValueError)):
            text(*copy.deepcopy(others))
        return
    try:
        found = text(*copy.deepcopy(others))
    except AssertionError as error:
        assert str(error).startswith("made for other ")
        return
    np.testing.assert_allclose(found, differences(f, others, wrt), rtol=1e-4, atol=1e-5)


def test_sizes_that_the_text_does_not_rely_on_are_free(tmp_path):
    for f, args, others in ((mse, (R(2), R(2, 2), R(2)), (R(3), R(6, 3), R(6))), (outer, (R(3), R(3)), (R(1), R(5)))):
        text = saved(f, args, 0, tmp_path / "saved.py")
        np.testing.assert_allclose(text(*others), differences(f, others), rtol=1e-4, atol=1e-5)


def larger(a, b, *rest):
    return b if a < b else a


def total(x, n):
    return np.sum(x) ** larger(*n)


def pairs(x, n):
    return sum(np.sum(x) * np.sum(a) ** i for a, i in n)


def rows(x, n):
    return np.sum(x) * sum(sum(row) for row in n)


def test_length_of_a_list_is_checked(tmp_path):
    with pytest.raises(AssertionError, match=r"n: list of 3"):
        saved(total, (R(2), [1, 2]), 0, tmp_path / "saved.py")(R(6), [1, 2, 3])


LISTS = [
    (listlen, (R(2), [1, 2]), (R(4), [1, 2, 3]), (R(4), [R(2)])),
    (lists, (R(2), [1.0, 2.0]), (R(4), [3.0]), (R(4), [R(2)])),
    (pairs, (R(2), [(R(2), 2)] * 2), (R(4), [(R(3), 2)] * 3), (R(4), [(R(3, 3), 2)] * 3)),
    (rows, (R(2), [[1, 2], [3]]), (R(4), [[1], [1, 2, 3], [3]]), (R(4), [[R(1)]])),
]


@pytest.mark.parametrize(("f", "args", "others", "refused"), LISTS)
def test_a_list_of_things_that_are_alike_has_any_length(f, args, others, refused, tmp_path):
    text = saved(f, args, 0, tmp_path / "saved.py")
    np.testing.assert_allclose(text(*others), differences(f, others), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="made for other (types|shapes|lengths) than"):
        text(*refused)


def squares(x):
    return np.sum(x**2)


def parts(p):
    return np.sum(p["a"] ** 2) * p["b"] + sum(np.sum(q) for q in p["c"])


PARTS = {"a": R(3), "b": 2.0, "c": [R(2), R(2)]}
TANGENTS = [
    (hvp(squares), (R(9), R(9)), (R(12), R(12)), [(R(12), R(1)), (R(12), 1.0), (R(12), R(3, 12))]),
    (pushforward(squares), (R(9), R(9)), (R(12), R(12)), [(R(12), R(1)), (R(12), np.ones(()))]),
    (pushforward(parts), (PARTS, PARTS), (PARTS, PARTS), [(PARTS, {**PARTS, "a": R(1)}), (PARTS, {**PARTS, "b": R(3)}),
                                                          (PARTS, {**PARTS, "c": [R(2)]}), (PARTS, {**PARTS, "c": [R(1), R(2)]})]),
    (pushforward(pushforward(squares)), (R(9), R(9), R(9)), (R(12), R(12), R(12)), [(R(9), R(1), R(9)), (R(9), R(9), R(1))]),
]  # fmt: skip


@pytest.mark.parametrize(("derivative", "args", "others", "refused"), TANGENTS)
def test_a_tangent_must_have_the_shape_of_its_primal(derivative, args, others, refused, tmp_path):
    text = loaded(derivative, args, tmp_path / "saved.py")
    np.testing.assert_allclose(np.hstack(text(*others)), np.hstack(derivative(*others)))
    for wrong in refused:
        with pytest.raises(AssertionError, match="other (types|shapes|lengths) than|must have the shape"):
            text(*wrong)


def smoothed(u, k, steps):
    for _ in range(steps):
        u = u.copy()
        u[1:-1] = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def written(x, w, p):
    p[0] = w * p[1]
    return np.sum(p * x)


U = np.ones(9)
OTHER_KINDS = [
    (smoothed, (U, 0.1, 3), [(np.arange(9) % 4, 0.1, 3), ([1.0] * 9, 0.1, 3), (U * 1j, 0.1, 3), (np.asmatrix(U), 0.1, 3), (U, 1, 3),
                             (U, 0.1, 3.0), (U, 0.1, True), (U.astype(np.float32), 0.1, 3), (U, U, 3)]),
    (written, (U, 0.1, R(9)), [(U, 0.1, np.arange(9)), (U, 0.1, U), (U, 0.1, U[::-1]), (1.0, 0.1, U)]),
    (lists, (U, [1.0, 2.0]), [(U, [1, 2]), (U, (1.0, 2.0)), (U, np.ones(2))]),
    (parts, (PARTS,), [({**PARTS, "a": np.arange(3)},), ({**PARTS, "b": 1},), ({**PARTS, "c": (R(2), R(2))},)]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "others"), OTHER_KINDS)
def test_arguments_of_other_kinds_or_that_share_what_is_written_are_refused(f, args, others, tmp_path):
    text = saved(f, args, 0, tmp_path / "saved.py")
    text(*copy.deepcopy(args))
    for wrong in others:
        with pytest.raises(AssertionError, match=r"made for (other (types|shapes|lengths) than \w|arguments that share no memory)"):
            text(*wrong)


def test_the_message_says_which_kinds_were_found(tmp_path):
    with pytest.raises(AssertionError, match=r"made for other types than u: ndarray of int64, k: float, steps: int$"):
        saved(smoothed, (U, 0.1, 3), 0, tmp_path / "saved.py")(np.arange(9), 0.1, 3)
