"""`vmap`: equal to a loop over the members, in value and gradient; what becomes a loop in the text; axes, errors, composition."""

import copy
import functools
import inspect
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import (
    ArgumentError, UnsupportedSyntaxError, VerificationError, check_grads, grad, hessian, hvp, jacobian, jvp,
    value_and_grad, vjp, vmap
)
from sourcead.compile.member_loop import MemberLoop
from sourcead.compile.structures import leaves, map_leaves
from tests.vmap_programs import PROGRAMS, A, S, W, X


def assert_alike(got, want, tolerance=1e-9):
    """Two structures have equal numbers up to rounding, shapes and dtypes."""
    for (place, a), (_, b) in zip(leaves(got, "result"), leaves(want, "result"), strict=True):
        assert np.shape(a) == np.shape(b), place
        assert np.asarray(a).dtype == np.asarray(b).dtype, place
        tolerance = 1e-4 if np.asarray(b).dtype == np.float32 else tolerance
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=place)


def weights_of(result):
    return map_leaves(lambda y: np.cos(np.arange(np.size(y))).reshape(np.shape(y)).astype(np.asarray(y).dtype), result)


def floats_in(batch):
    return tuple(k for k, x in enumerate(batch) if all(np.asarray(leaf).dtype.kind == "f" for _, leaf in leaves(x)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_results_are_those_of_a_loop(name):
    f, batch, loops = PROGRAMS[name]
    many = vmap(f, verify=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # as an arm that is not taken would raise it
        got = many(*copy.deepcopy(batch))
    assert_alike(got, MemberLoop(f, 0, 0)(*batch))
    assert bool(many.lower(*batch).notes) is loops


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradients_are_those_of_a_loop(name):
    f, batch, _ = PROGRAMS[name]
    wrt = floats_in(batch)
    value, pullback = vjp(vmap(f), *batch, wrt=wrt, verify=False)
    weights = weights_of(value)
    found = []
    for k in range(9):
        own, _ = MemberLoop(f, 0, 0).member(batch, {}, k)
        _, back = vjp(f, *own, wrt=wrt, verify=False)
        found.append(back(map_leaves(lambda w, k=k: w[k], weights)))
    assert_alike(pullback(weights), MemberLoop(f, 0, 0).joined(found, 0), 1e-8)


# ---- composition ----


def f(x):
    return np.sum(np.sin(x) * x) if x[0] > 0 else np.sum(x**3)


def g(x):
    return np.sin(W.T @ x) * x[0]


def each(function, *batches):
    """The results of a loop, stacked."""
    return MemberLoop(function, 0, 0)(*batches)


ONES = np.ones_like(X)
COMPOSED = {
    "vmap of grad": (lambda: vmap(grad(f))(X), lambda: each(grad(f), X)),
    "vmap of value_and_grad": (lambda: vmap(value_and_grad(f))(X), lambda: each(value_and_grad(f), X)),
    "vmap of jacobian": (lambda: vmap(jacobian(g))(X), lambda: each(jacobian(g), X)),
    "vmap of hessian": (lambda: vmap(hessian(f))(X), lambda: each(hessian(f), X)),
    "vmap of hvp": (lambda: vmap(hvp(f))(X, ONES), lambda: each(hvp(f), X, ONES)),
    "vmap of vmap": (lambda: vmap(vmap(lambda s: s * s if s > 0 else -s))(X), lambda: np.where(X > 0, X * X, -X)),
    "vmap of vjp": (lambda: vmap(lambda x: vjp(g, x)[1](x[1:]))(X), lambda: each(lambda x: vjp(g, x)[1](x[1:]), X)),
    "vmap of jvp": (lambda: vmap(lambda x: jvp(g, (x,), (x,)))(X), lambda: each(lambda x: jvp(g, (x,), (x,)), X)),
    "grad of vmap": (lambda: grad(lambda x: np.sum(vmap(f)(x)))(X), lambda: each(grad(f), X)),
    "grad of vmap of grad": (lambda: grad(lambda x: np.sum(vmap(grad(f))(x)))(X), lambda: each(hvp(f), X, ONES)),
    "jvp of vmap": (lambda: jvp(vmap(f), (X,), (ONES,)), lambda: each(lambda x: jvp(f, (x,), (np.ones(4),)), X)),
    "vjp of vmap": (lambda: vjp(vmap(f), X)[1](S), lambda: S[:, None] * each(grad(f), X)),
    "jacobian of vmap": (
        lambda: np.einsum("aiaj->aij", jacobian(vmap(g))(X)), lambda: each(jacobian(g), X),
    ),
    "gradient of what is the same for all": (
        lambda: grad(lambda w: np.sum(vmap(lambda x: np.tanh(x @ w))(X)))(W),
        lambda: np.sum(each(lambda x: grad(lambda w: np.sum(np.tanh(x @ w)))(W), X), axis=0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSED)
def test_it_composes(name):
    got, want = (make() for make in COMPOSED[name])
    assert_alike(got, want)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_any_number_of_members(count):
    many = vmap(f)
    assert_alike(many(X[:count]), each(f, X[:count]))
    assert_alike(vmap(grad(f))(X[:count]), each(grad(f), X[:count]))


# ---- arguments ----


@dataclass
class Layer:
    w: np.ndarray
    b: float


class Model:
    def __init__(self):
        self.w = W

    def loss(self, x):
        return np.sum((x @ self.w) ** 2)

    @vmap
    def losses(self, x):
        return np.sum((x @ self.w) ** 2)


MODEL = Model()
ARGUMENTS = {
    "by name": (lambda: vmap(lambda x, y: x * y)(X, y=S), lambda: X * S[:, None]),
    "a default": (lambda: vmap(lambda x, k=3: x * k)(X), lambda: 3 * X),
    "a derivative of a function with a default": (lambda: vjp(vmap(lambda x, k=3: x * k), X)[1](X), lambda: 3 * X),
    "the last axis": (lambda: vmap(lambda x: x[0] * x, in_axes=-1)(X.T), lambda: X[:, :1] * X),
    "a dict": (lambda: vmap(lambda p, x: x @ p["w"] + p["b"], ({"w": None, "b": 0}, 0))({"w": W, "b": S}, X), lambda: X @ W + S[:, None]),
    "an object": (lambda: vmap(lambda p, x: x @ p.w + p.b, (Layer(None, 0), 0))(Layer(W, S), X), lambda: X @ W + S[:, None]),
    "a list": (lambda: vmap(lambda pair: pair[0] * pair[1])([X, S]), lambda: X * S[:, None]),
    "an object as the result": (lambda: vmap(lambda x: Layer(x * 2, x[0]))(X), lambda: Layer(X * 2, X[:, 0])),
    "out_axes": (
        lambda: vmap(lambda x: (x * 2, {"a": x[0], "b": x}), out_axes=(1, {"a": 0, "b": -1}))(X),
        lambda: ((X * 2).T, {"a": X[:, 0], "b": X.T}),
    ),
    "a result for all": (lambda: vmap(lambda x, w: (x, w.T @ w), (0, None), (0, None))(X, W), lambda: (X, W.T @ W)),
    "a constant result": (lambda: vmap(lambda x: 3.0)(X), lambda: np.full(9, 3.0)),
    "a closure": (lambda: (lambda k: vmap(lambda x: x * k))(4.0)(X), lambda: 4 * X),
    "a partial": (lambda: vmap(functools.partial(lambda a, x: a * x, 3.0))(X), lambda: 3 * X),
    "a bound method": (lambda: vmap(MODEL.loss)(X), lambda: each(MODEL.loss, X)),
    "a method": (lambda: MODEL.losses(X), lambda: each(MODEL.loss, X)),
    "a derivative of a method": (lambda: grad(lambda x: np.sum(MODEL.losses(x)))(X), lambda: each(grad(MODEL.loss), X)),
    "a ufunc": (lambda: vmap(np.sin)(X), lambda: np.sin(X)),
    "more arguments": (lambda: vmap(lambda *xs: xs[0] * xs[1])(X, S), lambda: X * S[:, None]),
    "a string": (lambda: vmap(lambda x, kind: x * 2 if kind == "twice" else x, (0, None))(X, "twice"), lambda: 2 * X),
    "axes in the function": (
        lambda: grad(lambda x: np.sum(vmap(lambda a, b: a @ b, (1, None))(x, np.arange(9.0))))(X),
        lambda: np.repeat(np.arange(9.0)[:, None], 4, axis=1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_and_axes(name):
    got, want = (make() for make in ARGUMENTS[name])
    assert_alike(got, want)


REFUSED = {
    "other numbers": (lambda: vmap(lambda x, y: x * y)(X, S[:3]), "9 in `x`, 3 in `y`"),
    "other numbers in a structure": (lambda: vmap(lambda p: p["a"] * p["b"])({"a": X, "b": S[:2]}), r"9 in `p\['a'\]`, 2 in `p\['b'\]`"),
    "a number": (lambda: vmap(lambda x, y: x * y)(X, 3.0), "`y` is a number, which has no axis of members"),
    "too few axes": (lambda: vmap(lambda x, y: x * y, in_axes=(0,))(X, 3.0), "in_axes has 1 items"),
    "no members": (lambda: vmap(lambda x: x, in_axes=None)(X), "no argument of `<lambda>` has an axis of members"),
    "no such axis": (lambda: vmap(lambda x: x, in_axes=2)(X), r"the axis of members of `x` is 2, and its shape is \(9, 4\)"),
    "an empty batch": (lambda: vmap(lambda x: np.sort(x[x > 0]))(X[:0]), "there are no members, and the shapes of what `<lambda>` returns"),
    "a result that differs": (lambda: vmap(lambda x: x, out_axes=None)(X), "out_axes is None for a result that differs"),
    "no such axis of the result": (lambda: vmap(lambda x: x, out_axes=2)(X), "out_axes is 2 for a result that has 2 axes"),
    "another structure": (lambda: vmap(lambda p: p["w"], in_axes=({"v": 0},))({"w": X}), "axes {'v': 0} are given for a structure"),
    "no function": (lambda: vmap(3), "takes a function, and is given 3"),
    "no axes": (lambda: vmap(f, in_axes="x"), "in_axes is 'x'"),
    "no text yet": (lambda: vmap(f).source, "was not called yet"),
    "other numbers inside": (
        lambda: grad(lambda x: np.sum(vmap(lambda a, b: a * b)(x, np.ones(5))))(np.ones(3)), "3 members in `a` and 5 in `b`|5 in `b`"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_name_the_argument(name):
    call, message = REFUSED[name]
    with pytest.raises(ArgumentError, match=message):
        call()


def test_other_numbers_of_members_in_a_run():
    with pytest.raises(ValueError, match="another number of members in a than in b"):
        grad(lambda x, y: np.sum(vmap(lambda a, b: a * b)(x, y)))(np.ones(9), np.ones(10))


def test_results_of_other_shapes_are_not_stacked():
    with pytest.raises(ValueError, match="same shape"):
        vmap(lambda x: x[x > 0])(X)


def test_results_of_unknown_kind_are_refused():
    with pytest.raises(UnsupportedSyntaxError, match="cannot be stacked"):
        vmap(lambda x: "a" if x[0] > 0 else "b")(X)


# ---- effects ----


def test_members_print_in_order(capsys):
    def told(x):
        print("member", x)
        return 2 * x

    assert_alike(vmap(told)(np.array([1.0, 2.0])), np.array([2.0, 4.0]))
    assert capsys.readouterr().out == "member 1.0\nmember 2.0\n"


def test_members_draw_in_order():
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    got = vmap(lambda x: x * rng.normal())(S)
    assert_alike(got, np.stack([s * other.normal() for s in S]))


def test_an_exception_is_that_of_the_member():
    def checked(x):
        if x < -1:
            raise ValueError(f"{x:.1f} is too little")
        return np.sqrt(x + 1)

    with pytest.raises(ValueError, match="^-3.0 is too little"):
        vmap(checked)(np.array([1.0, -3.0, -4.0]))


def test_arguments_are_not_changed():
    def written(x, w):
        w[0] = x[0]
        x[1] = 2.0
        return np.sum(w) * x

    xs, w = X.copy(), np.ones(3)
    got = vmap(written, in_axes=(0, None))(xs, w)
    assert_alike(got, np.stack([written(x.copy(), np.ones(3)) for x in X]))
    np.testing.assert_array_equal(xs, X)
    np.testing.assert_array_equal(w, np.ones(3))


# ---- texts ----


def lines(many, *args):
    """The text of a batched function, without its docstring."""
    return [line.strip() for line in many.lower(*args).text.splitlines()[2:]]


def test_text_of_an_arm_that_is_not_safe():
    def half(x):
        return np.log(x) if x > 0 else x

    assert "[gt] = np.log(x[gt])" in vmap(half).lower(S).text


def test_text_of_arms_that_are_safe():
    assert lines(vmap(lambda x: x if x > 0 else -0.1 * x), S) == ["return np.where(x > 0, x, -0.1 * x)"]


def test_text_of_a_product():
    assert lines(vmap(lambda w, x: np.tanh(w @ x), in_axes=(None, 0)), W.T, X) == ["return np.tanh(x @ w.T)"]


def test_text_of_a_loop_that_members_leave():
    def halved(x):
        while x > 0.1:
            x = x / 2
        return x

    text = vmap(halved).lower(S).text
    assert "while np.any(going):" in text and "x[going] = " in text


def test_gradients_of_loops_that_members_leave_are_no_loop_over_the_members():
    def root(c):
        x = 1.0
        for _ in range(50):
            step = (x**3 + x - c) / (3 * x * x + 1)
            x = x - step
            if abs(step) < 1e-12:
                break
        return x

    slopes, cs = vmap(grad(root)), np.linspace(0.1, 9.0, 20)
    assert slopes.lower(cs).notes == ()
    assert_alike(slopes(cs), each(grad(root), cs), 1e-8)


def test_an_arm_that_may_raise_an_error_is_not_computed_for_none():
    def scaled(x, n):
        return x / (1 / n) if x > 100 else x

    many = vmap(scaled, in_axes=(0, None))
    assert_alike(many(S, 0), S)
    assert "if np.any(gt):" in many.source
    with pytest.raises(ZeroDivisionError):
        many(S + 100, 0)


def test_notes_say_what_became_a_loop():
    (note,) = vmap(lambda x: np.prod(x[x > 0])).lower(X).notes
    assert "a loop over the members" in note and "np.prod(x[x > 0])" in note
    assert vmap(lambda x: np.sum(x)).lower(X).notes == ()
    assert any("a loop over the members" in n for n in grad(lambda x: np.sum(vmap(lambda r: np.prod(r[r > 0]))(x))).lower(X).notes)


def test_what_it_shows():
    many = vmap(f, in_axes=0)
    many(X)
    assert many.source.startswith("def f_vmap(x):") and "for all members of a batch" in many.source
    assert "test_vmap.py" in many.source
    assert "f_vmap" in many.view(X).html and "f_vmap" in many._repr_html_()
    assert repr(many) == "<f for all members, in_axes=0, out_axes=0>"
    assert many.primal is f
    assert_alike(pickle.loads(pickle.dumps(many))(X), many(X))


def test_it_saves_a_module(tmp_path):
    many, names = vmap(f), {}
    many.save(tmp_path / "many.py", X)
    exec(compile((tmp_path / "many.py").read_text(), "many.py", "exec"), names)
    assert_alike(names["f_vmap"](X), each(f, X))


def test_as_a_decorator():
    @vmap(in_axes=(None, 0))
    def scaled(a, x):
        return a * x

    assert_alike(scaled(2.0, X), 2.0 * X)
    assert list(inspect.signature(scaled).parameters) == ["a", "x"]


def test_a_text_that_is_wrong_is_found(monkeypatch):
    from sourcead.passes.batching.member_calls import OF_ARRAYS, math

    monkeypatch.setitem(OF_ARRAYS, math.sin, np.cos)
    with pytest.raises(VerificationError):
        vmap(lambda x: math.sin(x))(S)


def test_an_edited_function_is_followed():
    def before(x):
        return x * 2

    def after(x):
        return x * 3

    many = vmap(before)
    total = grad(lambda x: np.sum(many(x)))
    assert_alike(many(S), 2 * S)
    before.__code__ = after.__code__
    assert_alike(many(S), 3 * S)
    assert_alike(total(S), np.full(9, 3.0))


def test_globals_are_read_at_each_call():
    many = vmap(scaled_by_a_global)
    assert_alike(many(S), 2 * S)
    try:
        globals()["SCALE"] = 3.0
        assert_alike(many(S), 3 * S)
    finally:
        globals()["SCALE"] = 2.0


SCALE = 2.0


def scaled_by_a_global(x):
    return x * SCALE


def test_checks_of_gradients_take_it():
    check_grads(lambda x: np.sum(vmap(f)(x)), (X[:3],))


@pytest.mark.compiled
def test_numba_compiles_the_loop_over_the_members():
    many = vmap(g, backend="numba")
    assert_alike(many(X), each(g, X))
    assert "for i in range(" in many.lower(X).compiled_text
    total = grad(lambda x: np.sum(vmap(f)(x)), backend="numba")
    assert_alike(total(X), each(grad(f), X))


def test_single_precision_stays():
    assert vmap(lambda x: np.sin(x) * 0.5)(X.astype(np.float32)).dtype == np.float32
    assert vmap(lambda a: np.linalg.inv(a + 9 * np.eye(4, dtype=np.float32)))(A.astype(np.float32)).dtype == np.float32
