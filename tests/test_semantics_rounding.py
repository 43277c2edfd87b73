"""Numbers that NumPy rounds, because an array that holds integers on some paths takes them, are refused where they are rounded."""

import numpy as np
import pytest

from sourcead import grad, jvp
from sourcead.errors import UnsupportedArgumentError
from sourcead.runtime import check_fractions
from tests.semantics import judged_in_all_modes, program_of

pytestmark = pytest.mark.sampled(3)

X = np.array([0.3, 0.7, 1.1])
EITHER = "a = np.arange(3) if x[0] > 0 else np.zeros(3)"
ROUNDED = {
    "item": f"{EITHER}\n a[0] = x[2] * 3\n return np.sum(a * x)",
    "slice": f"{EITHER}\n a[:] = x * 3\n return np.sum(a * x)",
    "view": f"{EITHER}\n b = a[1:]\n b[0] = x[2] * 3\n return np.sum(a * x)",
    "fill": f"{EITHER}\n a.fill(x[2])\n return np.sum(a * x)",
    "loop": "a = np.arange(3)\n for i in range(2):\n  a[i] = x[i] * 3\n  a = a * 1.0\n return np.sum(a * x)",
    "list": "a = [np.arange(3), np.zeros(3)][int(x[0] < 0)]\n a[0] = x[2] * 3\n return np.sum(a * x)",
    "dict": "d = dict(a=np.arange(3), b=np.zeros(3))\n d['a' if x[0] > 0 else 'b'].fill(x[0])\n return np.sum(d['a'] * x)",
    "full_like": f"{EITHER}\n return np.sum(np.full_like(a, x[2] * 3)) * x[0]",
    "pad": f"{EITHER}\n return np.sum(np.pad(a, 1, constant_values=x[1] * 2)) * x[0]",
    "insert": f"{EITHER}\n return np.sum(np.insert(a, 0, x[2] * 3)) * x[0]",
    "zeros_like": f"{EITHER}\n c = np.zeros_like(a)\n c[1:] = x[2] * 3\n return np.sum(c * x)",
    "astype": f"{EITHER}\n return np.sum((x * 3).astype(a.dtype) * x)",
    "dtype": f"{EITHER}\n return np.sum(x * 3, dtype=a.dtype) * x[0]",
    "array of what may be an int": "s = 1 if x[0] > 0 else 1.0\n a = np.array([s, 2, 3])\n a[0] = x[2] * 3\n return np.sum(a * x)",
    "product with what may be an int": "s = 1 if x[0] > 0 else x[1]\n a = s * np.array([1, 2, 3])\n a[0] = x[2] * 3\n return np.sum(a * x)",
    "what a loop may leave an int": """s = 1
 for v in x:
  s = s / 2 if v < 0 else s
 a = np.full(3, s)
 a[0] = x[2] * 3
 return np.sum(a * x)""",
    "mask": "a = np.ones(3, dtype=bool) if x[0] > 0 else x\n a = a.copy()\n a[0] = x[2] * 3\n return np.sum(a * x)",
}


@pytest.mark.parametrize("lines", ROUNDED.values(), ids=ROUNDED)
def test_rounded_number_is_refused_where_it_is_rounded(lines):
    f = program_of([lines])
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedArgumentError, match="is of integers here"):
            derivative(X.copy())
    assert judged_in_all_modes(f, -X) == ("refused" if lines == ROUNDED["loop"] else "right")


def test_bounds_that_are_equal_share_the_cotangent():
    assert judged_in_all_modes(lambda x: np.sum(np.clip(x, x, x) ** 2), X) == "right"


def larger(x):
    a = max(1, x[1])
    c = np.full(3, a)
    c[1] = x[0]
    return c @ x


def changed(x):
    a = min(1, x[0], 3.5)
    b = a
    b *= 2
    return a * b * x[1]


def counted(x):
    s, n = 0, max(2, x[1])
    for i in range(n):
        s += x[i]
    return s + np.sum(np.zeros(max(1, n))) + (n // 2 + n % 3) * x[0]


@pytest.mark.parametrize("f, expected", [(larger, "refused"), (changed, "right"), (counted, "right")])
def test_the_larger_of_an_int_and_a_float_is_a_number_that_may_be_either(f, expected):
    assert judged_in_all_modes(f, X) == expected


@pytest.mark.parametrize("dtype", [int, np.int64, "i4", np.dtype(bool)])
def test_dtypes_of_integers_in_all_their_forms_are_refused_in_the_run(dtype):
    with pytest.raises(UnsupportedArgumentError, match="is of integers here"):
        check_fractions(dtype, "the dtype")


@pytest.mark.parametrize("dtype", [float, np.float64, "f8", None])
def test_dtypes_of_floats_in_all_their_forms_pass(dtype):
    check_fractions(dtype, "the dtype")


def test_a_dtype_that_is_known_is_not_checked():
    @grad
    def f(q):
        return np.sum(q**2) / np.sqrt(q.shape[-1]).astype(q.dtype)

    f(np.ones((3, 10), np.float32))
    assert "check_fractions" not in f.source
