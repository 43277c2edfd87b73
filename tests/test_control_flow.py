"""Control flow that leaves early, contexts, exceptions, patterns: values, gradients, and effects once and in order."""

import contextlib
import functools
import io
import itertools
import math
import operator
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

from sourcead import grad, value_and_grad
from sourcead.errors import SourceADError, UnsupportedSyntaxError

pytestmark = pytest.mark.sampled(3)

CASES = []
ARGUMENTS = [
    np.array([0.6, 0.3, 0.75, 0.2]),
    np.array([0.21, 0.3, 0.55, 0.95]),
    np.array([1.31, 1.17, 0.4, 1.1]),
    np.array([0.45, 0.41, 0.05, 0.3]),
]


def case(f):
    """A function of a vector of four numbers, differentiable at each of `ARGUMENTS` where it does not raise."""
    CASES.append(f)
    return f


def first_above(x, limit):
    for i in range(len(x)):
        y = x * x[i]
        if y[0] > limit:
            return y
    return x * x


@case
def array_result(x):
    return np.sum(first_above(x, 0.3) ** 2) + np.sum(first_above(x, 100.0))


@case
def tuple_result(x):
    def find(v):
        for i, e in enumerate(v):
            if e > 0.5:
                return v * e, e, i
        return v, v[0], -1
    a, b, k = find(x)
    return np.sum(a) * b * (k + 2)


@case
def while_walrus(x):
    n = 0
    while (r := np.sum(x * x)) > 0.1:
        x = x * 0.7
        n += 1
    return r * n + x[0]


@case
def break_mid(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            s += x[i]
            if s > 1.0:
                break
            s = s * x[0]
        s = s + x[i] ** 2
    return s


@case
def nested_break_flags(x):
    s = 0.0
    for i in range(3):
        for j in range(len(x)):
            s += x[j] * i
            if s > 1.5:
                break
        else:
            s = s * x[1]
            continue
        if s > 2.5:
            break
        s = np.sin(s)
    else:
        s = s ** 2
    return s * x[0]


@case
def array_carried_written(x):
    a = np.zeros(6)
    for i in range(6):
        a[i] = x[i % 3] * (a[i-1] + 1.0)
        if a[i] > 1.2:
            break
        a[i] = a[i] ** 2
    return np.sum(a)


@case
def saves_arrays(x):
    y = x
    for k in range(10):
        y = np.tanh(y) * x
        if np.linalg.norm(y) < 0.2:
            break
    return np.sum(y)


@case
def reversed_range(x):
    s = 1.0
    for i in range(len(x) - 1, -1, -1):
        s = s * x[i] + x[i]
        if s > 1.0:
            break
    return s


@case
def stepped(x):
    s = 0.3
    for i in range(1, len(x), 2):
        s = s * x[i] + x[i]**2
        if s > 0.2:
            return s * x[0]
    return s


@case
def zero_trips(x):
    for i in range(0):
        if x[i] > 0:
            return x[0]
    else:
        return np.sum(x ** 3)


@case
def unrolled_break(x):
    s = 1.0
    for w in (x[0], x, 3.0):
        s = s + np.sum(w) * s
        if s > 2.2:
            break
    else:
        s = s * 5
    return s


@case
def unrolled_return(x):
    for k, name in enumerate(("a", "b", "c")):
        if name == "b":
            return x[k] ** 2
    return 0.0


@case
def newton(x):
    y = x[0]
    for _ in range(50):
        step = (y * y - x[1]) / (2 * y)
        y = y - step
        if abs(step) < 1e-8:
            break
    else:
        raise ValueError("no convergence")
    return y * x[2]


@case
def bisect(x):
    lo, hi = 0.0, 4.0
    while True:
        mid = (lo + hi) / 2
        if hi - lo < 0.1:
            return mid * np.sum(x)
        if mid * mid < x[0]:
            lo = mid
        else:
            hi = mid


@case
def loop_var_after(x):
    for i in range(len(x)):
        if x[i] > 0.5:
            break
    return x[i] ** 2 * i


@case
def while_else_ret(x):
    n = 0
    while n < 4:
        if x[n] > 0.9:
            return x[n] ** 3
        n += 1
    else:
        return np.sum(x) * x[0]


@case
def continue_in_while(x):
    n, s = 0, 1.0
    while n < len(x):
        n += 1
        if n % 2:
            continue
        s *= x[n - 1]
    return s


@case
def deep_return(x):
    for i in range(3):
        for j in range(3):
            for k in range(3):
                if i + j + k == 4:
                    return x[i] * x[j] * x[k]
                x = x * 1.1
    return x[0]


@case
def list_in_loop(x):
    out = []
    for e in x:
        if e < 0.1:
            break
        out.append(e * e)
    return sum(out) * x[0]


@case
def return_in_else(x):
    for e in x:
        if e > 10:
            break
    else:
        return x[0] * x[1]
    return x[2]


@case
def two_returns(x):
    for i in range(4):
        if x[i] > 0.8:
            return x[i] * 2
        elif x[i] > 0.7:
            return x[i] * x[0]
        x = x * x[3]
    return np.sum(x)


@case
def print_order(x):
    for i in range(4):
        print("at", i)
        if x[i] > 0.5:
            print("found")
            return x[i]
    return x[0]


@case
def red(x):
    return functools.reduce(lambda p, q: p * q + p, x) + functools.reduce(operator.mul, x, 2.0)


@case
def acc(x):
    c = list(itertools.accumulate(x, lambda a, e: a * 0.5 + e))
    d = list(itertools.accumulate(x))
    e = list(itertools.accumulate([x[0], x[1]], operator.mul, initial=2.0))
    return c[-1] * c[1] + d[2] ** 2 + e[2] * len(e)


@case
def filt(x):
    f = list(filter(lambda v: v > 0.42, x))
    return sum(f) * x[0]


@case
def maxdef(x):
    return max([x[0], x[1]], default=0.0) + max([], default=x[2]) * x[1]


@case
def dels(x):
    c = [x[0], x[1] ** 2, x[2]]
    del c[0]
    d = {"a": x[0], "b": x[1]}
    del d["a"]
    return c[0] * c[1] * d["b"] * len(c)


@case
def star(x):
    head, *rest = x
    a, b, *c = x * 2
    return head * sum(rest) * rest[0] + a * b * c[1]


@case
def withs(x):
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x)
        s = 0.0
        for i in range(len(y)):
            if y[i] > 0.2:
                break
            s += y[i] ** 2 / x[0]
    return s * np.sum(y)


@case
def with_return(x):
    with np.errstate(all="ignore"):
        if x[0] > 0.5:
            return np.sum(np.sqrt(x) / x[1])
        y = x * x
    return np.sum(y * x[0])


@case
def with_in_loop(x):
    s = 1.0
    for i in range(len(x)):
        with np.errstate(all="ignore"):
            t = s / x[i]
            if t > 5.0:
                break
        s = s + t * t
    return s


@case
def with_null(x):
    with nullcontext():
        y = x ** 2
    return np.sum(y)


@case
def try_finally(x):
    try:
        y = x * x
    finally:
        z = np.sum(x)
    return np.sum(y) * z


@case
def try_reraise(x):
    try:
        y = np.linalg.solve(np.outer(x, x) + np.eye(4), x)
    except np.linalg.LinAlgError as e:
        raise ValueError("singular") from e
    else:
        y = y * 2
    return np.sum(y ** 2)


@case
def matches(x):
    def area(shape):
        match shape:
            case ("circle", r):
                return math.pi * r * r
            case ("rect", w, h) if True:
                return w * h
            case [first, *others]:
                return first * others[0]
    return area(("circle", x[0])) + area(("rect", x[1], x[2])) * area([x[0], x[3], 2.0])


@case
def match_loop(x):
    s = 0.0
    for i in range(len(x)):
        match i % 3:
            case 0:
                s += x[i]
            case 1:
                continue
            case k if s > 0.7:
                s = s * x[i] * k
                break
            case _:
                s += x[i] ** 2
    return s * s


@case
def match_dict(x):
    cfg = {"kind": "scaled", "by": x[0]}
    match cfg:
        case {"kind": "plain"}:
            return np.sum(x)
        case {"kind": "scaled", "by": b}:
            return np.sum(x) * b


@case
def match_none(x):
    y = None
    match y:
        case None:
            z = x[0] ** 2
        case _:
            z = x[1]
    return z


@case
def dictcomp(x):
    d = {k: x[i] * i for i, k in enumerate("abc") if k != "b"}
    e = {k: v * v for k, v in d.items()}
    return d["c"] * e["c"] + e["a"] * x[1] + sum(e.values())


@case
def factory(x):
    n = 0
    def bump(v):
        return v * x[0] + n
    n = 2
    y = bump(x[1])
    def twice(f):
        def g(v):
            return f(f(v))
        return g
    return twice(bump)(y) * twice(lambda v: v * v)(x[2])


def _power(v, n):
    return np.ones_like(v) if n == 0 else v * _power(v, n - 1)


@case
def array_recursion(x):
    return np.sum(_power(x, 3)) * x[0]


@case
def recursion_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + np.sum(_power(x * x[i], i))
    return s


def _fold(v, acc):
    if len(v) == 0:
        return acc
    return _fold(v[1:], acc * 0.5 + v[0] ** 2)


@case
def consuming_recursion(x):
    return _fold(x, x[1])


def _both(v, n):
    if n <= 0:
        return v[0], v * 1.0
    a, b = _both(v * 1.1, n - 1)
    return a * b[1], b + v


@case
def recursion_with_two_results(x):
    a, b = _both(x, 3)
    return a * np.sum(b)


def _talk(v, n):
    print("at", n)
    if n == 0:
        return v[0]
    return _talk(v * v, n - 1) + v[1]


@case
def talking_recursion(x):
    return _talk(x, 3) ** 2


def _loop_inside(v, n):
    s = 0.0
    for i in range(n):
        s = s + v[i] * _loop_inside(v, i)
        if s > 3.0:
            break
    return s + v[n]


@case
def recursion_inside_a_loop_of_itself(x):
    return _loop_inside(x, 3)


@case
def nested_recursion(x):
    scale = x[3] * 2
    def half(v):
        return v * scale
    def walk(lo, hi):
        if hi - lo == 1:
            return half(x[lo]) ** 2
        mid = (lo + hi) // 2
        return walk(lo, mid) + half(walk(mid, hi))
    return walk(0, len(x))


def _even(n, v):
    return v if n == 0 else _odd(n - 1, v * 1.1)


def _odd(n, v):
    return -v if n == 0 else _even(n - 1, v + 0.5)


@case
def mutual(x):
    return _even(5, x[0]) * _odd(4, x[1])


def _tree(t):
    if isinstance(t, tuple):
        return sum(_tree(b) for b in t) * 1.5
    return t * t


@case
def tree_recursion(x):
    return _tree((x[0], (x[1], (x[2], x[3])), x[0]))


def _argument_changed_later(v, n):
    if n == 0:
        return np.sum(v * v)
    return _argument_changed_later(v * 0.5, n - 1) * 2


@case
def argument_changed_after_the_call(x):
    y = x * 1.0
    s = _argument_changed_later(y, 2)
    y[0] = 5.0
    return s + np.sum(y * y) * x[1]


def _ackermannish(v, m, n):
    if m == 0:
        return v * (n + 1)
    if n == 0:
        return _ackermannish(v, m - 1, 1)
    return _ackermannish(v, m - 1, n - 1) + v * v


@case
def two_numbers(x):
    return _ackermannish(x[0], 2, 2) * x[1]


def _sierp(x, depth=0):
    if depth > 2 or x[0] > 2:
        return x[0]
    return _sierp(x * 1.3, depth + 1) * _sierp(x + 0.1, depth=depth + 2)


@case
def defaults(x):
    return _sierp(x)


def central_differences(f, x, h=1e-6):
    steps = np.eye(x.size) * h
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in steps])


def printed(f, *args):
    """What a call returns, and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = f(*args)
    return result, out.getvalue()


@functools.cache
def differentiated(f):
    return value_and_grad(f), grad(f)


@pytest.mark.parametrize("k", range(len(ARGUMENTS)))
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_value_gradient_and_effects(f, k):
    both, gradient = differentiated(f)
    try:
        want, text = printed(f, ARGUMENTS[k].copy())
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            gradient(ARGUMENTS[k].copy())
        return
    x = ARGUMENTS[k].copy()
    (value, d_x), text_again = printed(both, x)
    numeric, _ = printed(central_differences, f, ARGUMENTS[k])
    assert text_again == text
    assert value == pytest.approx(want)
    np.testing.assert_allclose(d_x, numeric, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(printed(gradient, x)[0], numeric, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, ARGUMENTS[k])


def text_of(f):
    """The statements of the generated gradient, without its docstring."""
    gradient = grad(f)
    printed(gradient, ARGUMENTS[0].copy())
    return gradient.source.split('"""')[2].strip("\n")


def test_break_is_printed_where_it_stood():
    assert text_of(saves_arrays) == """\
    # forward
    tanh_ys = []
    y = x
    n = 0
    for _ in range(10):
        n += 1
        tanh_y = np.tanh(y)
        tanh_ys.append(tanh_y)
        y = tanh_y * x
        if np.linalg.norm(y) < 0.2:
            break
    # reverse
    d_y = np.broadcast_to(1.0, y.shape)
    d_x = np.zeros_like(x)
    for _ in range(n):
        # y = np.tanh(y) * x
        tanh_y = tanh_ys.pop()
        d_x += d_y * tanh_y
        d_y = d_y * x * (1 - tanh_y * tanh_y)
    d_x += d_y
    return d_x"""


def test_a_recursive_function_becomes_one_that_returns_its_value_and_its_pullback():
    gradient = grad(consuming_recursion)
    gradient(ARGUMENTS[0].copy())
    assert "def _fold_vjp(v, acc):" in gradient.source
    assert "    def pullback(d_y):" in gradient.source
    assert gradient.source.count("_fold_vjp(") == 3  # its definition, its call of itself, the call of it


@pytest.mark.parametrize("f", [break_mid, deep_return, two_returns, newton], ids=lambda f: f.__name__)
def test_the_condition_of_an_exit_is_not_saved(f):
    saved = [line.strip() for line in text_of(f).splitlines() if ".append(" in line]
    assert not any("done" in line or "returned" in line for line in saved), saved


def test_a_context_opens_around_the_adjoints_as_well():
    text = text_of(with_return)
    assert text.count('with np.errstate(all="ignore"):') == 2


@pytest.mark.filterwarnings("error")
def test_a_silenced_warning_stays_silent_in_the_reverse_sweep():
    def f(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(x > 0, np.log(x), 0.0)
        return np.sum(y)

    np.testing.assert_array_equal(grad(f)(np.array([2.0, 4.0, 0.0]))[:2], [0.5, 0.25])


def unknown_context(x):
    with warnings.WarningMessage:
        y = x * x
    return np.sum(y)


def raising_errstate(x):
    with np.errstate(divide="raise"):
        return np.sum(1 / x)


def keys_of_data(x):
    table = {float(v): v for v in x}
    return sum(table.values())


@pytest.mark.parametrize(
    "f, line, reason",
    [
        (unknown_context, "warnings.WarningMessage", "context manager"),
        (raising_errstate, "np.errstate", "errstate"),
        (keys_of_data, "table", "keys"),
    ],
)
def test_what_cannot_be_seen_is_refused_at_its_line(f, line, reason):
    with pytest.raises(SourceADError) as caught:
        grad(f)(ARGUMENTS[0].copy())
    assert isinstance(caught.value, UnsupportedSyntaxError)
    assert reason in caught.value.reason and line in str(caught.value)
