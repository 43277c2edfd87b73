"""Forward mode: tangents of programs, what jvp takes and refuses, and the text."""

import contextlib
import functools
import io
from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import NoRuleError, RuleError, WrtError, adjoint, grad, hvp, jacobian, jvp, pushforward, tangent, vjp
from tests.forward import check_forward
from tests.programs import all_programs

pytestmark = pytest.mark.sampled(3)

EVERY = 4  # of the corpus; `python -m tests.harness --mode forward` takes all of it
PROGRAMS = {p.name: p for p in all_programs()[::EVERY]}
PYTHON_RIGHT = 0.93  # the part of level python that has tangents; raise it as the compiler learns, never lower it
X = np.array([0.5, -1.0, 2.0, 3.0, -0.25, 1.5, 0.75, -2.0, 1.25])
V = np.linspace(-1, 1, 9)


@functools.cache
def outcome(name):
    return check_forward(PROGRAMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_tangent_of_a_program(name):
    result = outcome(name)
    assert result.ok, f"{name} is {result.status}: {result.detail}"


@pytest.mark.long
def test_share_of_python_programs_that_have_tangents():
    results = [outcome(name) for name, p in PROGRAMS.items() if p.level == "python"]
    right = sum(r.status == "right" for r in results)
    assert right / len(results) >= PYTHON_RIGHT, [r.program.name for r in results if r.status != "right"]


# ---- values and structures ----


def test_value_and_tangent_have_the_structure_of_the_result():
    def f(x, n):
        return {"sum": np.sum(x), "parts": (x[0] * 2, [x, n])}

    value, t = jvp(f, (X, 3), (V, None))
    assert value["parts"][1][1] == 3 and t["parts"][1][1] == 0.0
    assert t["sum"] == pytest.approx(V.sum()) and t["parts"][0] == 2 * V[0]
    np.testing.assert_array_equal(t["parts"][1][0], V)


@dataclass
class Model:
    w: np.ndarray
    scale: float
    name: str


def test_structured_arguments_take_structured_tangents():
    def f(model, pair):
        return np.sum(model.w * pair[0]) * model.scale + pair[1]["b"]

    model, direction = Model(X, 2.0, "m"), Model(V, 0.5, "m")
    _, t = jvp(f, (model, (X, {"b": 1.0})), (direction, (V, {"b": 3.0})))
    assert t == pytest.approx(2 * np.sum(V * X) * 2.0 + 0.5 * np.sum(X * X) + 3.0)


def test_a_result_that_does_not_depend_on_the_argument_has_a_tangent_of_zeros():
    value, t = jvp(lambda x, y: y * 2, (X, np.ones((2, 3))), (V, None))
    np.testing.assert_array_equal(t, np.zeros((2, 3)))
    assert jvp(lambda x: 4, (1.0,), (1.0,)) == (4, 0.0)


def test_results_are_not_the_callers_memory():
    value, t = jvp(lambda x: x, (X,), (V,))
    assert not np.shares_memory(value, X) and not np.shares_memory(t, V)
    assert t.flags.writeable


def test_tangent_of_a_broadcast_sum_has_the_shape_of_the_result():
    value, t = jvp(lambda x, y: x + y, (1.0, X), (2.0, None))
    np.testing.assert_array_equal(t, np.full(9, 2.0))
    t[0] = 5.0
    value, t = jvp(lambda x, y: x + y, (X[:3, None], np.ones((3, 2))), (V[:3, None], None))
    np.testing.assert_array_equal(t, np.repeat(V[:3, None], 2, 1))


def test_dtypes_are_those_of_the_primal():
    x, v = X.astype(np.float32), V.astype(np.float32)
    for f in (lambda x: x * 2.0, lambda x: x + np.ones(9, np.float32), np.tanh, lambda x: x @ x, lambda x: x[2] ** 2):
        value, t = jvp(lambda x, f=f: f(x), (x,), (v,))
        assert np.asarray(t).dtype == np.asarray(value).dtype == np.float32
    value, t = jvp(lambda x: x * 1j, (X,), (V,))
    assert t.dtype == complex
    value, t = jvp(lambda z: np.abs(z) ** 2, (X + 1j,), (V - 2j,))
    np.testing.assert_allclose(t, 2 * np.real(np.conj(X + 1j) * (V - 2j)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_arrays_without_elements_or_axes(shape):
    x, v = np.full(shape, 2.0), np.full(shape, 3.0)
    value, t = jvp(lambda x: np.sum(x**2) + x * 1, (x,), (v,))
    assert np.shape(t) == shape
    np.testing.assert_array_equal(t, np.full(shape, 4.0 * np.sum(v) + v))


def test_ties_are_shared_as_in_reverse_mode():
    def f(x):
        return np.sum(np.maximum(x, x[::-1]) * np.arange(4.0)) + np.max(x) + abs(x[0] - x[3])

    x, v = np.array([1.0, 2.0, 2.0, 1.0]), np.array([0.3, -1.0, 2.0, 5.0])
    assert jvp(f, (x,), (v,))[1] == pytest.approx(grad(f)(x) @ v)


def test_writes_in_place_in_a_loop_with_zero_and_more_trips():
    def f(x, n):
        a = x.copy()
        b = a[1:]
        for i in range(n):
            b[i] *= a[i] + x[i]
            a[0] -= b[i]
        return a

    for n in (0, 1, 4):
        value, t = jvp(f, (X, n), (V, None))
        np.testing.assert_allclose(value, f(X, n))
        h = 1e-6
        np.testing.assert_allclose(t, (f(X + h * V, n) - f(X - h * V, n)) / (2 * h), rtol=1e-6, atol=1e-8)


def test_a_list_that_grows_in_one_branch():
    def f(x):
        seen = []
        for i in range(len(x)):
            if x[i] > 0:
                seen.append(x[i] ** 2)
            else:
                seen.append(1.0)
        return sum(seen) * seen.pop()

    assert jvp(f, (X,), (V,))[1] == pytest.approx(grad(f)(X) @ V)


def test_a_recursive_function():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert jvp(power, (1.5, 4), (2.0, None))[1] == pytest.approx(2 * 4 * 1.5**3)
    assert "power_jvp" in pushforward(power).lower(1.5, 4, t_x=1.0).text


# ---- arguments and errors ----


def test_tangents_by_name_and_by_position():
    def f(w, x):
        return w * x

    assert pushforward(f, ("x", "w"))(2.0, 3.0, 1.0, 10.0) == (6.0, 32.0)
    assert pushforward(f, "x")(2.0, 3.0, t_x=1.0) == (6.0, 2.0)
    with_default = pushforward(lambda x, n=2: x**n)
    assert with_default(3.0, t_x=1.0) == (9.0, 6.0)
    assert with_default(3.0, 3, t_x=1.0) == (27.0, 27.0)


def test_a_parameter_that_is_called_like_a_tangent():
    def f(x, t_x):
        return x * t_x

    push = pushforward(f)
    assert push.directions == ("t_x_",)
    assert push(2.0, 3.0, t_x_=1.0) == (6.0, 3.0)


def test_jvp_of_a_method_and_of_a_partial():
    class Scaled:
        def __init__(self, k):
            self.k = k

        def value(self, x):
            return self.k * x**2

    assert jvp(Scaled(3.0).value, (2.0,), (1.0,)) == (12.0, 12.0)
    assert jvp(functools.partial(lambda k, x: k * x, 3.0), (2.0,), (1.0,)) == (6.0, 3.0)


@pytest.mark.parametrize(
    "args, tangents, reason",
    [
        ((X,), (V[:3],), "shape"),
        ((X,), (1.0,), "number"),
        ((1.0,), (V,), "number"),
        ((X,), (V.astype(np.float32),), "float32"),
        ((X,), (V.astype(int),), "int64"),
        ((X,), (V + 1j,), "complex"),
        (((X, 1.0),), ((V,),), "structure"),
        (((X, 1.0),), ([V, 1.0],), "structure"),
        (({"a": X},), ({"b": V},), "structure"),
        ((X,), (V, V), "1 argument and 2 tangents"),
        ((X,), (None,), "no tangent"),
    ],
)
def test_tangents_that_do_not_fit_are_refused(args, tangents, reason):
    with pytest.raises(WrtError, match=reason):
        jvp(lambda x: x, args, tangents)


def test_an_integer_argument_is_refused_unless_it_is_a_number():
    with pytest.raises(WrtError, match="integers"):
        jvp(lambda x: x * 1.0, (np.arange(3),), (np.ones(3),))
    assert jvp(lambda x: x**2, (3,), (1,)) == (9.0, 6.0)


def test_an_argument_that_is_its_own_direction():
    def f(x):
        x *= 2.0
        return np.sum(x**2)

    assert jvp(f, (X,), (X,))[1] == pytest.approx(8 * X @ X)


# ---- rules ----


def test_rules_of_the_users():
    hidden = np.vectorize(lambda a, b: a * b, otypes=[float])

    @tangent(hidden)
    def _(y, a, b, t_a, t_b):
        return t_a * b, a * t_b

    np.testing.assert_allclose(jvp(lambda x: hidden(x, x) + hidden(x, 2.0), (X,), (V,))[1], 2 * V * X + 2 * V)
    with pytest.raises(NoRuleError, match="tangent rule only"):
        grad(lambda x: np.sum(hidden(x, x)))(X)


def test_a_function_with_an_adjoint_alone_is_refused():
    def total(x):
        return np.sum(x)

    @adjoint(total)
    def _(y, x, d_y):
        return np.full(x.shape, d_y)

    assert grad(lambda x: total(x))(X).sum() == 9
    with pytest.raises(NoRuleError, match="adjoint rule only"):
        jvp(lambda x: total(x) * 2, (X,), (V,))


def test_an_adjoint_that_broadcasts_is_a_tangent_too():
    def scaled(x, k):
        return k * x

    @adjoint(scaled, broadcasts=True)
    def _(y, x, k, d_y):
        return k * d_y, x * d_y

    np.testing.assert_allclose(jvp(lambda k: scaled(X, k), (2.0,), (3.0,))[1], 3 * X)


@pytest.mark.parametrize(
    "rule, reason",
    [
        (lambda y, x: x, "no parameter t_x"),
        (lambda y, a, b, t_b, t_a: a, "order"),
        (lambda z, x, t_x: x, "result y first"),
        (lambda y, a, t_a, option: a, "default"),
        (lambda y, *xs, t_xs, **options: xs, "name its options"),
    ],
)
def test_malformed_tangent_rules_are_refused(rule, reason):
    with pytest.raises(RuleError, match=reason):
        tangent(lambda *args: args)(rule)


def test_a_tangent_rule_that_takes_too_many_arguments_is_refused():
    def primal(a):
        return a

    with pytest.raises(RuleError, match="takes 1"):
        tangent(primal)(lambda y, a, b, t_a: t_a)


# ---- Jacobians ----


def test_jacobian_in_both_modes():
    def f(x, y):
        return np.array([x[0] * x[1], np.sin(x[2]) * y])

    expected = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3 * np.cos(3.0)]])
    for mode in ("auto", "forward", "reverse"):
        np.testing.assert_allclose(jacobian(f, mode=mode)(np.array([1.0, 2.0, 3.0]), 3.0), expected)
    by_x, by_y = jacobian(f, wrt=(0, 1))(np.array([1.0, 2.0, 3.0]), 3.0)
    np.testing.assert_allclose(by_x, expected)
    np.testing.assert_allclose(by_y, [0.0, np.sin(3.0)])


def test_jacobian_of_structures():
    def f(p):
        return {"a": p["w"] * p["k"], "b": p["k"] ** 2}

    for mode in ("forward", "reverse"):
        found = jacobian(f, mode=mode)({"w": X[:2], "k": 3.0})
        np.testing.assert_allclose(found["a"]["w"], 3 * np.eye(2))
        np.testing.assert_allclose(found["a"]["k"], X[:2])
        assert found["b"]["k"] == 6.0 and found["b"]["w"].shape == (2,)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian_of_matrices_and_of_empty_arrays(mode):
    a = np.arange(6.0).reshape(2, 3)
    found = jacobian(lambda x: x.T * 2, mode=mode)(a)
    assert found.shape == (3, 2, 2, 3) and found[2, 1, 1, 2] == 2 and found.sum() == 12
    assert jacobian(lambda x: x * 2, mode=mode)(np.zeros((0, 3))).shape == (0, 3, 0, 3)


@pytest.mark.parametrize("n, m", [(9, 1), (1, 9), (5, 3), (3, 5)])
def test_jacobian_takes_few_sweeps(n, m):
    w = np.ones((m, n))

    def counted(x):
        print("sweep")
        return w @ x

    with contextlib.redirect_stdout(io.StringIO()) as out:
        np.testing.assert_allclose(jacobian(counted)(np.ones(n)), w)
    reverse_sweeps = m if m < n else 0  # which do not print
    assert out.getvalue().count("sweep") + reverse_sweeps <= min(n, m) + 1


# ---- the text ----


def test_text_interleaves_tangents():
    def rnn(w, u, b, xs):
        h = np.zeros(b.shape)
        for x in xs:
            h = np.tanh(w @ x + u @ h + b)
        return np.mean(h**2)

    push = pushforward(rnn, "w")
    w, b, xs = np.ones((9, 9)), np.ones(9), np.ones((4, 9))
    push(w, w, b, xs, w)
    assert push.source.split('"""')[2].strip() == (
        "h = np.zeros(b.shape)\n"
        "    t_h = np.zeros_like(h)\n"
        "    for x in xs:\n"
        "        h = np.tanh(w @ x + u @ h + b)\n"
        "        t_h = (t_w @ x + u @ t_h) * (1 - h * h)\n"
        "    return np.mean(h ** 2), np.mean(2 * t_h * h)"
    )


def test_the_tangent_of_a_transposed_matrix_has_its_shape():
    def loss(w, x, n):
        h = np.zeros(len(w))
        for _ in range(n):
            h = np.tanh(w @ h + x)
        return np.sum(h**2)

    product, w, v = hvp(loss), np.eye(9) / 2, np.ones((9, 9))
    difference = (grad(loss)(w + 1e-6 * v, np.ones(9), 3) - grad(loss)(w - 1e-6 * v, np.ones(9), 3)) / 2e-6
    np.testing.assert_allclose(product(w, np.ones(9), 3, v), difference, rtol=1e-6)
    assert "broadcast_to" not in product.source


def test_no_tangent_is_computed_of_what_is_held_fixed():
    push = pushforward(lambda x, y: np.sum(np.exp(y)) + x)
    push(1.0, X, 2.0)
    assert "t_y" not in push.source and push.source.count("exp") == 1


def test_saved_text_runs_alone(tmp_path):
    push = pushforward(lambda x: np.sum(x**3))
    push.save(tmp_path / "saved.py", X, t_x=V)
    namespace = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    made = next(v for name, v in namespace.items() if name.endswith("_jvp"))
    np.testing.assert_allclose(made(X, V), jvp(lambda x: np.sum(x**3), (X,), (V,)))


def test_tangent_and_cotangent_agree_on_results_of_any_shape():
    def f(x, y):
        return np.outer(x, y), np.cumsum(x)[::2], x @ y

    rng = np.random.default_rng(0)
    t = rng.normal(size=9), rng.normal(size=9)
    value, tangents = jvp(f, (X, V), t)
    cotangent = tuple(rng.normal(size=np.shape(v)) if np.ndim(v) else 2.0 for v in value)
    _, pullback = vjp(f, X, V)
    left = sum(np.sum(c * v) for c, v in zip(cotangent, tangents))
    assert left == pytest.approx(sum(np.sum(d * v) for d, v in zip(pullback(cotangent), t)), rel=1e-12)


def test_an_array_filled_with_its_own_product():
    def f(z):
        z = z * 2.0
        z.fill(z @ z)
        return z[0]

    def g(z):
        z = np.maximum(z, 0.25)
        z[...] = z @ z
        return z[0] * z[1]

    x = np.array([0.5, 1.0, 2.0])
    for function, slope in (f, 8 * np.sum(x)), (g, 4 * np.sum(x**2) * np.sum(x)):
        np.testing.assert_allclose(jvp(function, (x,), (np.ones_like(x),))[1], slope)
