"""Small programs from numerical code: parts of split arrays, slices with names, `ufunc.at`, double-ended queues, lists as axes."""

import functools
import itertools
import textwrap
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(3)

X, A, S = np.array([0.4, 0.7, -0.3, 0.9]), np.arange(12.0).reshape(4, 3) / 7, 0.6

RIGHT = {
    "the real part is the array": "y = x * 1; np.real(y)[0] = x[1] * 3; y.real[1] *= s; return np.sum(y * y)",
    "the real part of a real array is the array": "y = x * s; return np.sum(y * y) if np.real(y) is y else np.sum(x)",
    "the real part is assigned": "y = x * 1; y.real = x[::-1]; y.flat = x[0]; y[1:].real = s; return np.sum(y * y)",
    "parts of complex numbers are assigned": "z = np.zeros(4, complex); z.real = x; z.imag = x * s; return np.sum(np.abs(z) ** 2)",
    "put in other modes": "y = x * 1; np.put(y, [7, 0], s, mode='clip'); np.put(y, [-7, 9], x[:2], mode='wrap'); return np.sum(y * y)",
    "nan_to_num in place": """
        y = x / np.array([1, 1, np.inf, 1])
        z = np.nan_to_num(y, copy=False)
        z[0] = s
        np.nan_to_num(y, False)[1] = x[3]
        return np.sum(y * y)""",
    "what is left by a filter": """
        kept = sum(itertools.filterfalse(lambda v: v > 0.5, x))
        return kept * x[0] + sum(itertools.compress(x, x > 0.2)) * s""",
    "the greatest of written tuples": "r = max([(x[0], 1.0), (x[1], 2.0)]); return r[0] * r[1]",
    "the least of written lists": "r = min([[x[0]], [s]]) + list(max((x[0], 1.0), (x[1], s))); return r[0] * r[1]",
    "the greatest of tuples with arrays": "r = max([(x[0], x), (x[1], x * s)]); return r[0] * np.sum(r[1])",
    "the first items of tuples are equal": "r = max((1, x[0]), (1, x[1]), (0, s)); return r[0] * r[1]",
    "the greatest tuple so far": """
        t = (x[0], s)
        for v in x:
            t = max(t, (v, 2.0))
        return t[0] * t[1]""",
    "a mask that broadcasts": """
        y = A * x[0]
        np.copyto(y, s, where=[True, False, False])
        np.copyto(y, x[1:2], where=[[True], [False], [False], [True]])
        return np.sum(y * y)""",
    "both parts of a split are views": "p, q = np.split(x, 2); p *= s; return x.sum() * q[0] + p[0]",
    "a split is a view in each iteration": """
        for k in range(3):
            p, q = np.array_split(x, 2)
            p *= s + k
        return x.sum() * q[0] + p[0]""",
    "rows are split": """
        for row in A * x[0]:
            p, q = np.split(row, [1])
            p *= s
            q[0] = p[0] + row[2]
            s = s + row.sum()
        return s""",
    "a split at a number that the run finds": """
        k = int(x[0] > -9)
        p, q = np.split(x, [k])
        p[0] = s
        x[1] = p[0] * q[1]
        return q.sum() * x.sum()""",
    "columns are split": "B = A * x[0]; p, q = np.hsplit(B, [1]); q[0] += p[0]; p *= s; return (B ** 2).sum() * q[0, 1]",
    "parts of a split in a list": """
        parts = np.array_split(x, 3)
        for i in range(len(parts)):
            parts[i][0] *= s + i
        parts[1] = parts[1] * 2
        return x @ x + parts[1][0] * parts[0].sum()""",
    "the array is written after the split": "p, q = np.split(x, [-1]); x[0] = s; x *= x; return q.sum() * p.sum()",
    "no part is written": "p, q = np.split(x, 2); return p @ q + s * sum(np.sin(r).sum() for r in np.split(x, 4))",
    "a slice of one arm": """
        t = s
        if x[0] > 0:
            part = slice(0, len(x), 2)
            t *= x[part].sum()
        return t""",
    "a slice of one arm in a loop": """
        for k in range(len(x)):
            if k % 2:
                part = slice(0, k)
            if k > 1:
                s = s + x[part].sum()
        return s * s""",
    "a slice in a dict in one arm": """
        d = {}
        if x[0] > 0:
            d['a'] = slice(1, None)
            s = x[d['a']].sum() * s
        return s""",
    "a slice here, a number there, and neither is read": """
        if x[0] > 0:
            part = slice(0, 2)
            s = s * x[part].sum()
        else:
            part = 1
        return s""",
    "multiply.at by the array itself": "np.multiply.at(x, np.arange(4) // 2, x); return x.sum() * s",
    "multiply.at by a part of the array": "y = x[1:]; np.multiply.at(x, [0, 0, 1], y); return x @ x * s",
    "a queue is made in each iteration": """
        for k in range(2):
            last = deque([0.0] * 3, maxlen=3)
            for t in x:
                last.append(t * s)
                s = s + last[0] * 0.5 + sum(last)
        return s""",
    "a greatest of an element and a number is a number": """
        m = A.shape[1]
        items = [max(t, 0.1) for t in x]
        items[m // 2] -= 1.2 * s
        return sum(items) * items[m // 2]""",
    "axes in lists": "v = np.tensordot(A, x, axes=([0], [0])); p = v[1:]; p *= s; return v.sum() * p[0]",
    "one axis as a number, one in a list": "v = np.tensordot(A, x, (0, [0])); v[0] *= s; return v.sum()",
    "a list that grows after it was an index": "k = [0, 2]; v = x[k]; k.append(1); v *= s; return v @ x[k][:2]",
    "the elements of nested lists": """
        B = A * s
        for k, v in np.ndenumerate([[p * s for q in range(3)] for p in x]):
            B[k] += v
        return (B ** 2).sum()""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_is_right(name):
    f = made("x = x.copy()\n" + textwrap.dedent(RIGHT[name]).strip("\n"), "x, A, s", np=np, deque=deque, itertools=itertools)
    assert judged_in_all_modes(f, X, A, S) == "right"


def test_a_slice_without_a_value_is_not_read():
    def f(x):
        if x[0] > 5:
            part = slice(0, 2)
        return x[part].sum()

    with pytest.raises(UnboundLocalError):
        grad(f, verify=False)(X)


SIZED = """
    np.select([x > 0.1, x < -0.1], [x, 2 * x], 0.5)
    np.choose([0, 1, 0, 1], [x, x * x])
    np.append(x[1:], s)
    np.insert(x, 1, s)[1:]
    np.delete(np.append(x, s), 0)
    np.interp(x, np.arange(4.0), x)
    np.quantile(np.outer(x, x), 0.3, axis=1)
    np.kron(x, [1.0, 2.0])
    np.convolve(x, np.array([0.2, s]))[:len(x)]
    np.repeat(x, 2)[::2]
    np.tile(x, 2)[:len(x)]
    np.ravel(A * s)[:len(x)]
    np.concatenate([x, x])[len(x):]
"""


@pytest.mark.parametrize("line", SIZED.strip().splitlines())
def test_objects_made_of_as_many_elements_as_are_known_are_written(line):
    f = made(f"objects = [Some(v=v) for v in {line.strip()}]\nfor o in objects:\n    o.v *= s + x[0]\nreturn objects[0].v * objects[-1].v",
             "x, A, s", np=np, Some=SimpleNamespace)  # fmt: skip
    assert judged_in_all_modes(f, X, A, S) == "right"


WRITTEN_BY_THE_RIGHT_SIDE = """
    x[::2] *= bump(x, s)
    x[:] -= bump(x, s)
    x[1:] += bump(x, s)
    x[0] *= bump(x, s)
    x[1] -= bump(x, s)
    x[[0, 1]] *= bump(x, s)
    x[x > 0] += bump(x, s)
    x *= bump(x, s)
    x[1:][0] += bump(x, s); x[1:][:1] *= bump(x, s)
    view = x[1:]; x[:2] *= bump(view, s); x[0] += view[1]
    x[..., 1] *= bump(x, s)
    items = [x]; items[0][:2] *= bump(x, s)
    d = {'a': x}; d['a'] *= bump(x, s)
    o = Some(v=x); o.v[::2] *= bump(o.v, s)
    x = x[::2] * bump(x, s)
    x = np.array([x[0], bump(x, s), x[0]])
    B = np.outer(x, x); B[0] *= bump(B, s)[0]; x = B[0] + B[1]
"""


@pytest.mark.parametrize("line", WRITTEN_BY_THE_RIGHT_SIDE.strip().splitlines())
def test_the_right_side_writes_what_is_augmented(line):
    bump = "def bump(a, by):\n    a += by\n    return a[0]\n"
    f = made(f"{bump}x = x.copy()\n{line.strip()}\nreturn x @ x", "x, A, s", np=np, Some=SimpleNamespace)
    assert judged_in_all_modes(f, X, A, S) == "right"


MADE_IN_AN_ARM = {
    "a loop that is left": """
        for k in range(3):
            if x[k] > 2.0:
                break
            fs = [lambda t, k=k: t * k for k in range(3)]
            s = s + sum(h(x[k]) for h in fs)
        return s""",
    "a default": """
        g = lambda t: t
        if x[0] > 0:
            c = x[1]
            g = lambda t, u=c: t * u
            s = g(s)
        return s""",
    "a factory in both arms": """
        def make(c):
            return lambda t: t * c
        if x[0] > 0:
            g = make(x[1])
            s = g(s)
        else:
            g = make(s)
            s = g(s) * 2
        return s""",
    "a partial in a loop": """
        for k in range(len(x)):
            if x[k] > 0:
                P = functools.partial(lambda a, b: a * b, x[k])
                s = s + P(s)
        return s""",
}


@pytest.mark.parametrize("name", MADE_IN_AN_ARM)
def test_a_function_made_in_an_arm_is_not_called_after_it(name):
    assert judged_in_all_modes(made(MADE_IN_AN_ARM[name], "x, A, s", functools=functools), X, A, S) == "right"
