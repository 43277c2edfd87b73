"""`with adjoint_of(x) as d_x:`: the block runs in the reverse sweep, and nowhere else.

What a block does to a gradient is told by an identity function whose derivative rule does the same.
"""

import sys

import numpy as np
import pytest

import sourcead
from sourcead import (
    SourceADError, UnsupportedSyntaxError, UnsupportedValueError, adjoint, adjoint_of, grad, value_and_grad, vjp
)


def same(x):
    return x + 0


def halved(x):
    return same(x)


def clipped(x):
    return same(x)


def cut(x):
    return same(x)


def first_cut(x):
    return same(x)


def times(x, a):
    return same(x)


@adjoint(halved)
def _(y, x, d_y):
    return d_y * 0.5


@adjoint(clipped)
def _(y, x, d_y):
    return np.clip(d_y, -0.1, 0.1)


@adjoint(cut)
def _(y, x, d_y):
    return d_y * 0


@adjoint(first_cut)
def _(y, x, d_y):
    return np.concatenate([d_y[:1] * 0, d_y[1:]])


@adjoint(times)
def _(y, x, a, d_y):
    return d_y * a, None


PAIRS = []
RNG = np.random.default_rng(0)
X = RNG.normal(size=4)
W = RNG.normal(size=(4, 4)) / 2
M = RNG.normal(size=(3, 4))
KEPT = np.array([0.0, 1, 1, 1])


def pair(*args, wrt=0):
    """Registers two functions that have the same gradient: one with a block, one with an identity in its place."""

    def register(make):
        PAIRS.append(pytest.param(*make(), args, wrt, id=make.__name__))
        return make

    return register


@pair(X)
def an_array():
    def block(x):
        y = x**2
        with adjoint_of(y) as d_y:
            d_y = np.clip(d_y, -0.1, 0.1)
        return np.sum(np.sin(y))

    def hook(x):
        y = clipped(x**2)
        return np.sum(np.sin(y))

    return block, hook


@pair(0.7)
def a_number():
    def block(x):
        y = x**2
        with adjoint_of(y) as d_y:
            d_y *= 0.5
        return np.sin(y) * y

    def hook(x):
        y = halved(x**2)
        return np.sin(y) * y

    return block, hook


@pair(X)
def the_parameter_itself():
    def block(x):
        with adjoint_of(x) as d_x:
            d_x *= 0.5
        return np.sum(x * x)

    def hook(x):
        x = halved(x)
        return np.sum(x * x)

    return block, hook


@pair(X)
def only_what_comes_after_is_steered():
    def block(x):
        before = np.sum(x**3)
        with adjoint_of(x) as d_x:
            d_x = d_x * 0.5
        return before + np.sum(x**2)

    def hook(x):
        before = np.sum(x**3)
        x = halved(x)
        return before + np.sum(x**2)

    return block, hook


@pair(1.5)
def another_name_of_a_number_is_not_steered():
    def block(x):
        y = x * 2
        z = y
        with adjoint_of(y) as d_y:
            d_y *= 0.5
        return y * z * z

    def hook(x):
        z = x * 2
        y = halved(z)
        return y * z * z

    return block, hook


@pair(X)
def equal_expressions_stay_apart():
    def block(x):
        a = x * 2
        b = x * 2
        with adjoint_of(a) as d_a:
            d_a *= 0.5
        return np.sum(a * a * b)

    def hook(x):
        a = halved(x * 2)
        b = x * 2
        return np.sum(a * a * b)

    return block, hook


@pair(W, X)
def each_iteration_of_a_loop():
    def block(w, h):
        for _ in range(5):
            h = np.tanh(w @ h)
            with adjoint_of(h) as d_h:
                d_h = np.clip(d_h, -0.1, 0.1)
        return np.sum(h**2)

    def hook(w, h):
        for _ in range(5):
            h = clipped(np.tanh(w @ h))
        return np.sum(h**2)

    return block, hook


@pair(W, X, wrt=(0, 1))
def a_variable_from_outside_a_loop():
    def block(w, x):
        h = x
        for _ in range(3):
            with adjoint_of(x) as d_x:
                d_x = np.clip(d_x, -0.1, 0.1)
            h = np.tanh(w @ h + x)
        return np.sum(h * x)

    def hook(w, x):
        h = x
        for _ in range(3):
            x = clipped(x)
            h = np.tanh(w @ h + x)
        return np.sum(h * x)

    return block, hook


@pair(X, 0)
def a_loop_that_does_not_run():
    def block(x, n):
        for _ in range(n):
            with adjoint_of(x) as d_x:
                d_x = 0.0
            x = x * 2
        return np.sum(x * x)

    def hook(x, n):
        for _ in range(n):
            x = cut(x)
            x = x * 2
        return np.sum(x * x)

    return block, hook


@pair(M)
def rows_of_a_matrix():
    def block(xs):
        total = 0.0
        for row in xs:
            with adjoint_of(row) as d_row:
                d_row[0] = 0
            total += np.sum(row**3)
        return total

    def hook(xs):
        total = 0.0
        for row in xs:
            row = first_cut(row)
            total += np.sum(row**3)
        return total

    return block, hook


@pair(X, 0.3)
def one_arm_of_a_branch():
    def block(x, limit):
        y = x * x
        if y[0] < limit:
            with adjoint_of(y) as d_y:
                d_y *= 0.5
        else:
            with adjoint_of(x) as d_x:
                d_x = 0
        return np.sum(y * x)

    def hook(x, limit):
        y = x * x
        if y[0] < limit:
            y = halved(y)
        else:
            x = cut(x)
        return np.sum(y * x)

    return block, hook


@pair(M, 0.2)
def a_part_in_a_branch_in_a_loop():
    def block(xs, limit):
        total = 0.0
        for i in range(len(xs)):
            row = xs[i]
            if row[0] > limit:
                with adjoint_of(row) as d_row:
                    d_row[:] = d_row * 0.5
            total += np.sum(row**3)
        return total + np.sum(xs)

    def hook(xs, limit):
        total = 0.0
        for i in range(len(xs)):
            row = xs[i]
            if row[0] > limit:
                row = halved(row)
            total += np.sum(row**3)
        return total + np.sum(xs)

    return block, hook


@pair(X)
def a_while_loop_with_break():
    def block(x):
        n = 0
        while True:
            x = x * 1.5
            with adjoint_of(x) as d_x:
                d_x *= 0.5
            if np.sum(x * x) > 50:
                break
            n += 1
            x = x + np.sin(x)
        return np.sum(x * x) * n

    def hook(x):
        n = 0
        while True:
            x = halved(x * 1.5)
            if np.sum(x * x) > 50:
                break
            n += 1
            x = x + np.sin(x)
        return np.sum(x * x) * n

    return block, hook


@pair(X, W)
def a_called_function():
    def layer(w, h):
        h = np.tanh(w @ h)
        with adjoint_of(h) as d_h:
            d_h = np.clip(d_h, -0.1, 0.1)
        return h

    def hooked(w, h):
        return clipped(np.tanh(w @ h))

    def block(x, w):
        return np.sum(layer(w, layer(w, x)) ** 2)

    def hook(x, w):
        return np.sum(hooked(w, hooked(w, x)) ** 2)

    return block, hook


@pair(X)
def an_identity_function_leaves_the_callers_variable_alone():
    def gate(v):
        with adjoint_of(v) as d_v:
            d_v *= 0.5
        return v

    def block(x):
        return np.sum(gate(x) ** 2) + np.sum(x**3)

    def hook(x):
        return np.sum(halved(x) ** 2) + np.sum(x**3)

    return block, hook


@pair(X)
def written_in_place_before_and_after():
    def block(x):
        u = np.zeros(4)
        for t in range(3):
            u[1:] = u[:-1] * u[1:] + x[1:] * (t + 1)
            with adjoint_of(u) as d_u:
                d_u[0] = 0
            u[:-1] += x[:-1] * u[1:]
        return np.sum(u**2)

    def hook(x):
        u = np.zeros(4)
        for t in range(3):
            u[1:] = u[:-1] * u[1:] + x[1:] * (t + 1)
            u = u * KEPT + sourcead.stop_gradient(u * (1 - KEPT))
            u[:-1] += x[:-1] * u[1:]
        return np.sum(u**2)

    return block, hook


@pair({"w": W, "b": X}, X)
def items_of_a_dict():
    def block(p, x):
        with adjoint_of(p) as d_p:
            d_p["w"] = np.clip(d_p["w"], -0.1, 0.1)
            d_p["b"] *= 0.5
        return np.sum(np.tanh(p["w"] @ x + p["b"]) * 3)

    def hook(p, x):
        w, b = clipped(p["w"]), halved(p["b"])
        return np.sum(np.tanh(w @ x + b) * 3)

    return block, hook


@pair([X, X + 1, X * 2])
def one_item_of_a_list():
    def block(hs):
        with adjoint_of(hs[1]) as d_h:
            d_h *= 0.5
        total = 0.0
        for h in hs:
            total = total + np.sum(h**3)
        return total

    def hook(hs):
        return np.sum(hs[0] ** 3) + np.sum(halved(hs[1]) ** 3) + np.sum(hs[2] ** 3)

    return block, hook


@pair((X, 2.0))
def a_tuple():
    def block(pair):
        with adjoint_of(pair) as d:
            d_a, d_b = d
            d = (d_a * 0.5, 0.0)
        a, b = pair
        return np.sum(a**2) * b

    def hook(pair):
        a, b = halved(pair[0]), cut(pair[1])
        return np.sum(a**2) * b

    return block, hook


@pair(X, X + 1, wrt=(0, 1))
def several_in_one_with():
    def block(x, y):
        with adjoint_of(x) as d_x, adjoint_of(y) as d_y:
            d_x, d_y = d_y * 2, d_x * 3
        return np.sum(x * np.sin(y))

    def hook(x, y):
        a = x * np.sin(y)
        d_x, d_y = np.sin(y), x * np.cos(y)
        return np.sum(sourcead.stop_gradient(2 * d_y) * x + sourcead.stop_gradient(3 * d_x) * y) + 0 * np.sum(sourcead.stop_gradient(a))

    return block, hook


@pair(X, X + 1, wrt=(0, 1))
def one_inside_the_other():
    def block(x, y):
        with adjoint_of(x) as d_x:
            if np.sum(d_x) < 100:
                with adjoint_of(y) as d_y:
                    d_y *= 0.5
            d_x = d_x * 0.5
        return np.sum(x * np.sin(y))

    def hook(x, y):
        x, y = halved(x), halved(y)
        return np.sum(x * np.sin(y))

    return block, hook


@pair(X, X + 1)
def residuals_of_the_block_in_a_loop():
    def block(x, a):
        h = x
        for i in range(4):
            a = np.sin(a) + 1.2
            h = h * h * 0.5 + h
            with adjoint_of(h) as d_h:
                d_h *= a
                for k in range(2):
                    if a[k] > 0.5 + i / 10:
                        d_h[k] = d_h[k] * a[k + 1]
        return np.sum(h)

    def hook(x, a):
        h = x
        for i in range(4):
            a = np.sin(a) + 1.2
            h = h * h * 0.5 + h
            scale = a.copy()
            for k in range(2):
                if a[k] > 0.5 + i / 10:
                    scale[k] = scale[k] * a[k + 1]
            h = times(h, scale)
        return np.sum(h)

    return block, hook


@pair(X, X + 1)
def an_array_that_is_overwritten_later_is_read_as_it_was():
    def block(x, a):
        a = a.copy()
        h = x
        for i in range(3):
            with adjoint_of(h) as d_h:
                d_h = d_h * a
            a[i] = a[i] * a[i + 1] + 1
            h = h * a
        return np.sum(h)

    def hook(x, a):
        a = a.copy()
        h = x
        for i in range(3):
            h = times(h, a.copy())
            a[i] = a[i] * a[i + 1] + 1
            h = h * a
        return np.sum(h)

    return block, hook


@pair(X.astype(np.float32))
def single_precision():
    def block(x):
        y = x * x
        with adjoint_of(y) as d_y:
            d_y = d_y * np.float64(0.5)
        return np.sum(y * y)

    def hook(x):
        y = halved(x * x)
        return np.sum(y * y)

    return block, hook


@pair(np.zeros(0))
def an_empty_array():
    def block(x):
        y = x * x
        with adjoint_of(y) as d_y:
            d_y = np.clip(d_y, -0.1, 0.1)
        return np.sum(y)

    def hook(x):
        return np.sum(clipped(x * x))

    return block, hook


@pair(X)
def with_errstate_around_and_inside():
    def block(x):
        with np.errstate(divide="ignore"), adjoint_of(x) as d_x:
            with np.errstate(invalid="ignore"):
                d_x = np.where(x > 0, d_x, 0.0)
        return np.sum(x * x)

    def hook(x):
        x = times(x, (x > 0) * 1.0)
        return np.sum(x * x)

    return block, hook


@pair(X, 3)
def an_unrolled_loop_and_names_of_its_own():
    def block(x, n):
        total = 0.0
        for v in [x, x * 2, x * 3]:
            with adjoint_of(v) as d_v:
                norm = np.linalg.norm(d_v)
                scale = 1.0
                if norm > 1:
                    scale = 1 / norm
                d_v = d_v * scale
            total = total + np.sum(v**2)
        return total

    def hook(x, n):
        total = 0.0
        for k in range(3):
            v = x * (k + 1)
            total = total + np.sum(times(v, 1 / max(1.0, float(np.linalg.norm(2 * x * (k + 1))))) ** 2)
        return total

    return block, hook


def assert_same(a, b):
    if isinstance(a, (tuple, list)):
        assert type(a) is type(b) and len(a) == len(b)
        for v, w in zip(a, b):
            assert_same(v, w)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            assert_same(a[k], b[k])
    else:
        np.testing.assert_allclose(a, b, rtol=1e-6 if getattr(a, "dtype", None) == np.float32 else 1e-12)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None) and np.shape(a) == np.shape(b)


@pytest.mark.parametrize("block, hook, args, wrt", PAIRS)
def test_gradient_is_that_of_an_identity_with_such_a_rule(block, hook, args, wrt):
    expected = grad(hook, wrt=wrt)(*args)
    assert_same(grad(block, wrt=wrt)(*args), expected)


@pytest.mark.parametrize("block, hook, args, wrt", PAIRS)
def test_value_is_that_of_the_program_without_the_block(block, hook, args, wrt):
    value, _ = value_and_grad(block, wrt=wrt)(*args)
    assert value == pytest.approx(block(*args))


# -- what a block does besides -------------------------------------------------------------------------------------------


def printing(x, n):
    total = 0.0
    for i in range(n):
        y = x * (i + 1)
        with adjoint_of(y) as d_y:
            print("iteration", i, d_y)
        total = total + y**2
    return total


def test_effects_happen_once_in_each_iteration_of_the_reverse_sweep(capsys):
    assert grad(printing)(1.0, 3) == 28.0
    assert capsys.readouterr().out == "iteration 2 6.0\niteration 1 4.0\niteration 0 2.0\n"


def test_effects_keep_their_order_with_those_of_the_forward_sweep(capsys):
    def f(x):
        print("forward")
        with adjoint_of(x) as d_x:
            print("first", d_x)
            print("second")
        y = x * x
        with adjoint_of(y) as d_y:
            print("third", d_y)
        return y

    assert grad(f)(2.0) == 4.0
    assert capsys.readouterr().out == "forward\nthird 1.0\nfirst 4.0\nsecond\n"


def test_each_call_of_a_pullback_runs_the_block(capsys):
    def f(x):
        y = x * x
        with adjoint_of(y) as d_y:
            print(d_y)
            d_y = d_y + 1
        return y

    value, pullback = vjp(f, 3.0)
    assert value == 9.0 and capsys.readouterr().out == ""
    assert pullback(1.0) == 12.0 and pullback(2.0) == 18.0
    assert capsys.readouterr().out == "1.0\n2.0\n"


def test_block_runs_on_the_path_that_was_taken_alone(capsys):
    def f(x):
        y = x * x
        if x > 0:
            with adjoint_of(y) as d_y:
                print("positive", d_y)
            y = y * 3
        return y

    assert grad(f)(2.0) == 12.0 and capsys.readouterr().out == "positive 3.0\n"
    assert grad(f)(-2.0) == -4.0 and capsys.readouterr().out == ""


def test_a_variable_that_no_argument_of_wrt_reaches_is_shown_too(capsys):
    def f(w, x):
        h = x * 2
        with adjoint_of(h) as d_h:
            print(d_h)
        return w * h

    assert grad(f)(3.0, 5.0) == 10.0
    assert capsys.readouterr().out == "3.0\n"


@pytest.mark.parametrize("n", [0, 2])
def test_cotangent_of_what_the_result_does_not_need_is_zeros(n, capsys):
    def f(x, n):
        y = x + 1
        for _ in range(n):
            with adjoint_of(y) as d_y:
                print(d_y)
        if n > 1:
            with adjoint_of(y) as d_y:
                print("branch", d_y)
        return np.sum(x * x)

    assert_same(grad(f)(np.ones(2), n), np.full(2, 2.0))
    assert capsys.readouterr().out == ("branch [0. 0.]\n[0. 0.]\n[0. 0.]\n" if n else "")


def test_assertions_and_errors_of_a_block_are_raised():
    def f(x, limit):
        y = x * x
        with adjoint_of(y) as d_y:
            assert np.all(np.isfinite(d_y)), "not finite"
            if np.max(np.abs(d_y)) > limit:
                raise OverflowError("too large")
        return np.sum(np.log(y))

    assert_same(grad(f)(np.array([1.0, 2.0]), 10), np.array([2.0, 1.0]))
    with pytest.raises(OverflowError, match="too large"):
        grad(f)(np.array([0.1, 2.0]), 10)
    with np.errstate(divide="ignore"), pytest.raises(AssertionError, match="not finite"):
        grad(f)(np.array([0.0, 2.0]), 10)


def test_checks_of_numpy_are_made(tmp_path):
    def f(x, path):
        y = x * x
        with adjoint_of(y) as d_y:
            np.save(path, d_y)
            np.testing.assert_array_less(d_y, 10)
        return np.sum(y * y)

    path = str(tmp_path / "d_y.npy")
    assert_same(grad(f)(np.ones(2), path), np.full(2, 4.0))
    assert_same(np.load(path), np.full(2, 2.0))
    with pytest.raises(AssertionError):
        grad(f)(np.full(2, 3.0), path)


class Recorder(list):
    pass


RECORDED = Recorder()
record = RECORDED.append


def test_function_without_source_is_handed_a_copy():
    def f(x):
        y = x * 1.0
        with adjoint_of(y) as d_y:
            record(d_y)
            d_y *= 3
        return np.sum(y * y) + np.sum(x)

    del RECORDED[:]
    assert_same(grad(f)(np.ones(2)), np.full(2, 7.0))
    assert_same(list(RECORDED), [np.full(2, 2.0)])


def test_arguments_of_the_gradient_are_not_touched():
    def f(x, a):
        with adjoint_of(x) as d_x:
            d_x[0] = 7
        return np.sum(x * a)

    x, a = np.ones(3), np.arange(3.0)
    assert_same(grad(f)(x, a), np.array([7.0, 1, 2]))
    assert_same(a, np.arange(3.0))
    assert_same(grad(f, wrt=(0, 1))(x, a)[1], np.ones(3))


def test_cotangent_that_a_pullback_is_given_is_not_touched():
    def f(x):
        y = x * 1
        with adjoint_of(y) as d_y:
            d_y[0] = 7
        return y

    _, pullback = vjp(f, np.ones(2))
    given = np.ones(2)
    assert_same(pullback(given), np.array([7.0, 1]))
    assert_same(given, np.ones(2))


def test_loop_saves_no_more_for_a_block_that_looks_at_the_cotangent_alone():
    def plain(w, h):
        for _ in range(5):
            h = np.tanh(w * h)
        return np.sum(h)

    def steered(w, h):
        for _ in range(5):
            with adjoint_of(w) as d_w:
                d_w = d_w * 1.5
            h = np.tanh(w * h)
            with adjoint_of(h) as d_h:
                d_h = np.clip(d_h, -1, 1)
        return np.sum(h)

    texts = [grad(f).lower(X, X).text for f in (plain, steered)]
    assert texts[0].count("append") == texts[1].count("append") == 1
    assert texts[1].count("# with adjoint_of") == 2


def test_name_of_the_cotangent_is_the_users():
    def f(x):
        y = x * x
        with adjoint_of(y) as flow:
            flow = np.clip(flow, -1, 1)
        return np.sum(y * y)

    assert "flow = np.clip(" in grad(f).lower(X).text


def test_text_runs_without_the_library(tmp_path):
    def f(x):
        y = x * x
        with adjoint_of(y) as d_y:
            d_y = np.round(d_y, 1) if np.sum(d_y) > 0 else np.array(x.tolist()) * 1.0
        return np.sum(y * y)

    g = grad(f)
    expected = g(X)
    g.save(tmp_path / "saved.py")
    text = (tmp_path / "saved.py").read_text()
    assert "import sourcead" not in text and "adjoint_of(" not in "".join(s for s in text.splitlines() if "#" not in s)
    namespace = {}
    exec(text, namespace)
    assert_same(namespace["f_grad"](X), expected)


# -- the function itself -------------------------------------------------------------------------------------------------


def test_call_of_the_function_itself_skips_the_block(capsys):
    assert printing(2.0, 3) == 56.0
    assert capsys.readouterr().out == ""
    assert sys.gettrace() is None


def test_block_on_the_line_of_its_with_is_skipped():
    def f(x, seen):
        with adjoint_of(x) as d_x: seen.append(d_x)  # noqa: E701
        return x

    seen = []
    assert f(1.0, seen) == 1.0 and seen == []


def test_under_a_tracer_the_block_ends_where_it_uses_the_cotangent():
    def f(x, seen):
        with adjoint_of(x) as d_x:
            seen.append("begun")
            seen.append(np.clip(d_x, -1, 1))
        return x

    def tracer(frame, event, arg):
        return None

    seen = []
    sys.settrace(tracer)
    try:
        assert f(1.0, seen) == 1.0
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(None)
    assert seen == ["begun"]


@pytest.mark.parametrize(
    "use",
    [str, repr, float, abs, np.sum, np.asarray, bool, len, list, lambda d: d + 1, lambda d: 1 - d, lambda d: d[0], lambda d: d.shape,
     lambda d: np.ones(2) * d, lambda d: f"{d:.2f}", lambda d: d == 0, lambda d: np.clip(d, -1, 1), lambda d: isinstance(d, float)],
)  # fmt: skip
def test_every_use_of_the_cotangent_ends_the_block_under_a_tracer(use):
    sys.settrace(lambda *_: None)
    try:
        reached = False
        with adjoint_of(1.0) as d:
            use(d)
            reached = True
    finally:
        sys.settrace(None)
    assert not reached


def test_an_error_around_a_block_is_not_swallowed():
    def f(x):
        with adjoint_of(x) as d_x:
            print(d_x)
        raise KeyError("after")

    with pytest.raises(KeyError, match="after"):
        f(1.0)
    assert sys.gettrace() is None


# -- what is refused -----------------------------------------------------------------------------------------------------


def returns_inside(x):
    with adjoint_of(x) as d_x:
        return np.sum(d_x)


def assigns_a_variable(x):
    n = 1.0
    with adjoint_of(x) as d_x:
        n = np.sum(d_x)
    return np.sum(x) * n


def writes_an_array(x):
    a = np.ones(4)
    with adjoint_of(x) as d_x:
        a[0] = d_x[0]
    return np.sum(x * a)


def writes_through_a_function(x):
    a = np.ones(4)

    def note(d):
        a[0] = d[0]

    with adjoint_of(x) as d_x:
        note(d_x)
    return np.sum(x * a)


def appends_to_a_list(x):
    seen = []
    with adjoint_of(x) as d_x:
        seen.append(d_x)
    return np.sum(x) * len(seen)


def appends_to_a_list_in_a_loop(x):
    seen = []
    for i in range(3):
        with adjoint_of(x) as d_x:
            for _ in range(i):
                seen.append(d_x)
    return np.sum(x) * len(seen)


def reads_the_cotangent_afterwards(x):
    with adjoint_of(x) as d_x:
        d_x = d_x * 2
    return np.sum(x) + np.sum(d_x)


def reads_a_name_of_the_block_afterwards(x):
    with adjoint_of(x) as d_x:
        norm = np.sum(d_x)
    return np.sum(x) + norm


norm_outside = 1.0


def falls_back_on_no_global(x):
    with adjoint_of(x) as norm_outside:
        norm_outside = norm_outside * 2
    return np.sum(x) * norm_outside


def uses_a_name_twice(x):
    d_x = 2.0
    with adjoint_of(x) as d_x:  # noqa: F811
        d_x = d_x * 2
    return np.sum(x)


def steers_an_expression(x):
    with adjoint_of(x * 2) as d_x:
        d_x = d_x * 2
    return np.sum(x)


def steers_a_part(x):
    with adjoint_of(x[0]) as d_x:
        d_x = d_x * 2
    return np.sum(x)


def steers_text(x):
    s = "text"
    with adjoint_of(s) as d_s:
        print(d_s)
    return np.sum(x)


def writes_a_part_that_was_steered(x):
    x = x.copy()
    v = x[1:]
    with adjoint_of(v) as d_v:
        d_v *= 2
    v[0] = 1.0
    return np.sum(x * x)


def another_name_read_after_a_write(x):
    y = x.copy()
    z = y
    with adjoint_of(y) as d_y:
        d_y *= 2
    y[0] = 1.0
    return np.sum(z * z)


def unpacks_the_cotangent(x):
    p = (x, x)
    with adjoint_of(p) as (d_a, d_b):
        print(d_a, d_b)
    return np.sum(p[0] * p[1])


def another_structure(x):
    p = (x, x)
    with adjoint_of(p) as d_p:
        d_p = (d_p[0], d_p[1], d_p[0])
    return np.sum(p[0] * p[1])


def nothing(x):
    with adjoint_of(x) as d_x:
        d_x = None
    return np.sum(x)


def a_block_in_a_called_function(x):
    def inner(y):
        with adjoint_of(y) as d_y:
            print(d_y)

    with adjoint_of(x) as d_x:
        inner(d_x)
    return np.sum(x)


def another_shape(x):
    with adjoint_of(x) as d_x:
        d_x = np.ones((2, 2)) * np.sum(d_x)
    return np.sum(x)


def complex_for_real(x):
    with adjoint_of(x) as d_x:
        d_x = d_x * 1j
    return np.sum(x)


def an_integer(x):
    n = 3
    with adjoint_of(n) as d_n:
        print(d_n)
    return np.sum(x) * n


REFUSED = [
    (returns_inside, UnsupportedSyntaxError, "left by `return`"),
    (assigns_a_variable, UnsupportedSyntaxError, "assigns `n`"),
    (writes_an_array, UnsupportedSyntaxError, "changes `a`"),
    (writes_through_a_function, UnsupportedSyntaxError, "changes `a`"),
    (appends_to_a_list, UnsupportedSyntaxError, "changes `seen`"),
    (appends_to_a_list_in_a_loop, UnsupportedSyntaxError, "changes `seen`"),
    (reads_the_cotangent_afterwards, UnsupportedSyntaxError, "`d_x`"),
    (reads_a_name_of_the_block_afterwards, UnsupportedSyntaxError, "`norm`"),
    (falls_back_on_no_global, UnsupportedSyntaxError, "`norm_outside`"),
    (uses_a_name_twice, UnsupportedSyntaxError, "`d_x` has another value"),
    (steers_an_expression, UnsupportedSyntaxError, "not a variable"),
    (steers_a_part, UnsupportedSyntaxError, "not a variable"),
    (steers_text, UnsupportedSyntaxError, "no cotangent"),
    (writes_a_part_that_was_steered, sourcead.AliasError, "was given to `adjoint_of`"),
    (another_name_read_after_a_write, sourcead.AliasError, "may share memory"),
    (unpacks_the_cotangent, UnsupportedSyntaxError, "several names"),
    (another_structure, UnsupportedSyntaxError, "another structure"),
    (nothing, UnsupportedSyntaxError, "another structure"),
    (a_block_in_a_called_function, UnsupportedSyntaxError, "calls"),
    (another_shape, UnsupportedValueError, "another shape"),
    (complex_for_real, UnsupportedValueError, "complex"),
    (an_integer, UnsupportedValueError, "an integer has no cotangent"),
]


@pytest.mark.parametrize("f, error, reason", REFUSED, ids=[f.__name__ for f, _, _ in REFUSED])
def test_what_a_block_cannot_mean_is_refused(f, error, reason):
    with pytest.raises(error, match=reason) as caught:
        grad(f)(X)
    assert isinstance(caught.value, SourceADError) and f.__name__ not in str(caught.value).split("\n")[0]
    assert f"{__name__.rpartition('.')[2]}.py:" in str(caught.value)


def test_shape_that_is_known_at_run_time_alone_is_checked_then():
    def f(x, key):
        with adjoint_of(x) as d_x:
            d_x = d_x[key]
        return np.sum(x * x)

    x = np.arange(10.0)
    assert_same(grad(f)(x, np.arange(10)), 2 * x)
    assert_same(grad(f)(x, np.ones(10, dtype=bool)), 2 * x)
    with pytest.raises(ValueError, match=r"shape \(10,\) is replaced by an array of shape \(9,\)"):
        grad(f)(x, np.arange(9))
