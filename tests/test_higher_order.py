"""Derivatives of derivatives: any mode over any mode, at the top and inside functions that are differentiated."""

import functools

import numpy as np
import pytest

from sourcead import (
    AliasError, UnsupportedSyntaxError, WrtError, adjoint, check_grads, grad, hessian, hvp, jacobian, jvp, pushforward,
    tangent, value_and_grad, vjp
)
from tests.forward import check_second
from tests.programs import all_programs

pytestmark = pytest.mark.sampled(3)

EVERY = 16  # of the corpus; `python -m tests.harness --mode second` takes all of it
PROGRAMS = {p.name: p for p in [p for p in all_programs() if p.level != "refuse" or p.or_right][::EVERY]}
RIGHT = 0.9  # the part of the programs that have second derivatives; raise it as the compiler learns, never lower it
X = np.array([0.5, -1.0, 2.0, 3.0, -0.25, 1.5, 0.75, -2.0, 1.25])
V = np.linspace(-1, 1, 9)
MATRIX = np.arange(81.0).reshape(9, 9) / 81


@functools.cache
def outcome(name):
    return check_second(PROGRAMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_of_a_program(name):
    result = outcome(name)
    assert result.status in ("right", "refused"), f"{name} is {result.status}: {result.detail}"


@pytest.mark.long
def test_share_of_programs_with_second_derivatives():
    results = list(map(outcome, PROGRAMS))
    right = sum(r.status == "right" for r in results)
    assert right / len(results) >= RIGHT, [r.program.name for r in results if r.status != "right"]


def energy(x):
    h = np.tanh(MATRIX @ x)
    for i in range(1, len(x)):
        h[i] = h[i] * h[i - 1] + np.sin(x[i])
    return np.sum(h * x)


def numeric(gradient, x, v, h=1e-5):
    return (gradient(x + h * v) - gradient(x - h * v)) / (2 * h)


# ---- any mode over any mode ----


def test_hvp_is_the_derivative_of_the_gradient():
    product = hvp(energy)(X, V)
    np.testing.assert_allclose(product, numeric(grad(energy), X, V), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hessian(energy)(X) @ V, product, rtol=1e-10, atol=1e-12)


SECOND = {
    "jvp of grad": lambda f, x, v: jvp(grad(f), (x,), (v,))[1],
    "vjp of grad": lambda f, x, v: vjp(grad(f), x)[1](v),
    "grad of grad times v": lambda f, x, v: grad(lambda x, v: np.sum(grad(f)(x) * v))(x, v),
    "grad of jvp": lambda f, x, v: grad(lambda x, v: jvp(f, (x,), (v,))[1])(x, v),
    "grad of pushforward": lambda f, x, v: grad(lambda x, v: pushforward(f)(x, t_x=v)[1])(x, v),
    "jacobian of grad": lambda f, x, v: jacobian(grad(f), mode="reverse")(x) @ v,
    "jvp of value_and_grad": lambda f, x, v: jvp(value_and_grad(f), (x,), (v,))[1][1],
    "grad of a pullback": lambda f, x, v: grad(lambda x, v: np.sum(vjp(f, x)[1](1.0) * v))(x, v),
    "grad by v of hvp": lambda f, x, v: grad(lambda v, x: np.sum(hvp(f)(x, v) * v) / 2)(v, x),
    "hessian": lambda f, x, v: hessian(f)(x) @ v,
}


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name):
    np.testing.assert_allclose(SECOND[name](energy, X, V), hvp(energy)(X, V), rtol=1e-9, atol=1e-12)


def test_jvp_of_jvp():
    def f(x):
        return np.sum(np.exp(x) * x[::-1])

    def along(x, v):
        return jvp(f, (x,), (v,))[1]

    _, second = jvp(along, (X, V), (V, None))
    assert second == pytest.approx(V @ hvp(f)(X, V), rel=1e-12)


def f3(x):
    return x**3 * np.sin(x)


THIRD = {
    "grad grad grad": lambda f, x: grad(grad(grad(f)))(x),
    "jvp of grad grad": lambda f, x: jvp(grad(grad(f)), (x,), (1.0,))[1],
    "grad of hvp": lambda f, x: grad(lambda x: hvp(f)(x, 1.0))(x),
    "jvp of jvp of jvp": lambda f, x: jvp(
        lambda x: jvp(lambda x: jvp(f, (x,), (1.0,))[1], (x,), (1.0,))[1], (x,), (1.0,)
    )[1],
    "hessian of grad": lambda f, x: hessian(lambda x: grad(f)(x))(x),
    "grad of jvp of grad": lambda f, x: grad(lambda x: jvp(grad(f), (x,), (1.0,))[1])(x),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_order(name):
    x = 1.3
    expected = (6 - 9 * x**2) * np.sin(x) + (18 * x - x**3) * np.cos(x)
    assert THIRD[name](f3, x) == pytest.approx(expected, rel=1e-12)


def test_fourth_order():
    assert grad(grad(grad(grad(lambda x: x**5))))(2.0) == pytest.approx(240.0)


def test_hvp_of_several_arguments():
    def f(w, k, b):
        return np.sum(np.tanh(w * k) * w) + b["a"] ** 2 * k

    product = hvp(f, wrt=("w", "b"))
    by_w, by_b = product(X, 2.0, {"a": 3.0}, (V, {"a": 1.0}))
    np.testing.assert_allclose(by_w, hvp(f)(X, 2.0, {"a": 3.0}, V))
    assert by_b == {"a": 4.0}
    (ww, wb), by_item = hessian(f, wrt=(0, 2))(X, 2.0, {"a": 3.0})
    bw, bb = by_item["a"]
    np.testing.assert_allclose(ww @ V, by_w)
    assert bb == {"a": 4.0} and wb["a"].shape == bw.shape == (9,) and not wb["a"].any() and not bw.any()


def test_hvp_of_methods_and_partials():
    class Model:
        def __init__(self, k):
            self.k = k

        def loss(self, x):
            return self.k * np.sum(x**3)

    np.testing.assert_allclose(hvp(Model(2.0).loss)(X, V), 12 * X * V)
    np.testing.assert_allclose(hvp(functools.partial(lambda k, x: k * np.sum(x**3), 2.0))(X, V), 12 * X * V)


def test_vector_of_an_hvp_is_checked():
    with pytest.raises(WrtError, match="shape"):
        hvp(energy)(X, V[:3])
    with pytest.raises(WrtError, match="tuple of 2"):
        hvp(lambda x, y: x * y, (0, 1))(1.0, 2.0, 3.0)


def test_second_derivatives_at_a_tie_are_finite():
    def f(x):
        return np.sum(np.maximum(x, 0.0) ** 2) + np.sum(np.abs(x)) + x[0] ** 2

    assert np.isfinite(hvp(f)(np.array([0.0, 1.0, -1.0]), np.ones(3))).all()


# ---- derivatives inside functions ----


def loss(w, x):
    return np.sum(np.tanh(w * x) ** 2)


def test_gradient_step_inside_a_loss():
    def after_steps(w, x, rate):
        for _ in range(3):
            w = w - rate * grad(loss)(w, x)
        return loss(w, x)

    check_grads(after_steps, (X[:3], V[:3], 0.1), wrt=(0, 1, 2))


def test_a_gradient_object_of_the_module_inside_a_function():
    check_grads(lambda w, x: np.sum(LOSS_GRAD(w, x) ** 2), (X[:3], V[:3]), wrt=(0, 1))


LOSS_GRAD = grad(loss)


def test_derivative_of_a_closure_over_what_is_differentiated():
    def f(x):
        scale = np.sum(x**2)

        def inner(y):
            return np.sum(np.sin(y * scale) * x)

        return np.sum(grad(inner)(x * 2) ** 2)

    check_grads(f, (X[:3] / 3,))


def test_pullback_that_is_called_twice_and_in_a_loop():
    def f(x):
        value, pull = vjp(lambda x: np.sin(x) * x[::-1], x)
        total = np.sum(pull(value) * pull(np.ones_like(x)))
        for i in range(2):
            total = total + np.sum(pull(x * i))
        return total

    check_grads(f, (X[:4],))


def test_has_aux_and_value_and_grad_inside_a_function():
    def with_aux(x):
        return np.sum(x**3), x * 2

    def f(x):
        (value, twice), g = value_and_grad(with_aux, has_aux=True)(x)
        g2, aux = grad(with_aux, has_aux=True)(x)
        return value * np.sum(g * twice) + np.sum(g2 * aux)

    check_grads(f, (X[:3],))


def test_gradients_inside_branches_and_recursion_of_newton():
    def root(a):
        x = 1.0
        for _ in range(30):
            g = grad(lambda x: x**3 / 3 - a * x)(x)
            if abs(g) < 1e-14:
                break
            x = x - g / grad(grad(lambda x: x**3 / 3 - a * x))(x)
        return x

    assert root(2.0) == pytest.approx(np.sqrt(2.0))
    assert grad(root)(2.0) == pytest.approx(0.5 / np.sqrt(2.0))
    assert jvp(root, (2.0,), (1.0,))[1] == pytest.approx(0.5 / np.sqrt(2.0))


def test_a_derivative_leaves_the_arguments_of_its_function_alone():
    def writes(x, buffer):
        buffer[:] = x
        buffer *= 2
        x[0] = 5.0
        return np.sum(buffer**2)

    def f(x):
        buffer = np.ones(3)
        g = grad(writes)(x, buffer)
        return np.sum(g * buffer) + x[0] * np.sum(x)

    assert f(X[:3].copy()) == pytest.approx(8 * X[:3].sum() + X[0] * X[:3].sum())
    check_grads(f, (X[:3],))


def test_an_argument_that_is_written_and_read_under_another_name_is_refused():
    def writes(x, y):
        x *= 2.0
        return np.sum(x * y)

    with pytest.raises(AliasError):
        grad(lambda x: np.sum(grad(writes)(x, x[::-1])))(X)


def test_a_function_that_changes_what_lies_outside_is_refused():
    def f(x):
        log = []

        def noted(y):
            log.append(y)
            return np.sum(y**2)

        return np.sum(grad(noted)(x)) + len(log)

    with pytest.raises(UnsupportedSyntaxError, match="changes something outside"):
        grad(f)(X)


B = np.random.default_rng(3).normal(size=(3, 3))
Z = np.array([0.3, 0.7, -0.4])


def waves(x):
    return np.sum(np.sin(B @ x) * x)


def laplacian(x):
    return np.trace(hessian(waves)(x))


def newton(x):
    for _ in range(2):
        x = x - np.linalg.solve(hessian(waves)(x) + 5 * np.eye(3), grad(waves)(x))
    return np.sum(x**2)


def pair(x, k):
    return np.array([x[0] * x[1] * k, np.sin(x[2])])


def volume(x):
    j = jacobian(pair)(x, 2.0)
    return np.linalg.det(j @ j.T)


HESSIAN, JACOBIAN = hessian(waves), jacobian(pair)


def made_outside(x):
    return np.linalg.det(HESSIAN(x)) + np.sum(JACOBIAN(x, 2.0))


def blocks(x):
    h = hessian(lambda a, b: np.sum(a**2 * b) * b, wrt=(0, 1))(x, x[0])
    return np.sum(h[0][0] ** 2) + np.sum(h[0][1] * h[1][0]) + h[1][1]


def of_matrices(x):
    w = np.outer(x, x)
    return np.sum(hessian(lambda w: np.sum(np.tanh(w) ** 3))(w) ** 2)


def of_a_number(x):
    return np.sum(jacobian(lambda z: np.array([z**3, np.sin(z)]))(x[0]))


@pytest.mark.parametrize("f", [
    laplacian, newton, volume, made_outside, blocks, of_matrices, of_a_number,
], ids=lambda f: f.__name__)  # fmt: skip
def test_jacobians_and_hessians_inside_a_function(f):
    expected = np.array([(f(Z + e) - f(Z - e)) / 2e-5 for e in 1e-5 * np.eye(3)])
    got = grad(f)(Z)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
    assert jvp(f, (Z,), (X[:3] if len(X) >= 3 else Z,))[1] == pytest.approx(got @ (X[:3] if len(X) >= 3 else Z), rel=1e-10)
    curved = (grad(f)(Z + 1e-5 * Z) - grad(f)(Z - 1e-5 * Z)) / 2e-5
    np.testing.assert_allclose(hvp(f)(Z, Z), curved, rtol=1e-5, atol=1e-6)


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def tree(x, w, depth):
    if depth == 0:
        return np.sin(x) * w
    return tree(x * w[0], w, depth - 1) * tree(np.cos(x), w, depth - 1)


def grown(w):
    return np.sum(tree(0.7, w, 3))


def folded(xs):
    if len(xs) == 1:
        return xs[0] ** 2
    half = len(xs) // 2
    return np.sin(folded(xs[:half])) * folded(xs[half:]) + folded(xs[:half])


def branching(x, depth):
    """Calls itself in a loop."""
    if depth == 0:
        return np.sum(x**3)
    total = 0.0
    for k in range(len(x)):
        total = total + branching(x * np.cos(x[k]), depth - 1) * x[k]
    return total


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return np.sin(x) * even(x * 0.5, n - 1)


def test_powers_by_recursion():
    assert grad(power)(2.0, 3) == 12.0
    assert hvp(power)(2.0, 3, 1.0) == grad(grad(power))(2.0, 3) == hessian(power)(2.0, 3) == 12.0
    assert jvp(grad(power), (2.0, 4), (1.0, None)) == (32.0, 48.0)
    assert grad(grad(grad(power)))(2.0, 4) == grad(lambda x: hvp(power)(x, 4, 1.0))(2.0) == 48.0


@pytest.mark.parametrize("f, x", [
    (grown, np.array([0.5, 0.8, 1.1])), (folded, np.linspace(0.3, 1.2, 7)), (lambda x: branching(x, 2), np.array([0.4, 0.9, -0.3])),
    (lambda x: even(x[0], 4) * x[1], np.array([0.7, 0.4])),
], ids=["tree", "fold", "branching", "mutual"])  # fmt: skip
def test_second_derivatives_of_recursive_functions(f, x):
    v = np.cos(np.arange(len(x)))
    expected = (grad(f)(x + 1e-5 * v) - grad(f)(x - 1e-5 * v)) / 2e-5
    for got in (
        hvp(f)(x, v), grad(lambda x: np.sum(grad(f)(x) * v))(x), grad(lambda x: jvp(f, (x,), (v,))[1])(x), hessian(f)(x) @ v,
    ):  # fmt: skip
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def test_a_recursive_function_that_prints_has_no_second_derivative():
    def loud(x, n):
        print(n)
        return x if n == 0 else x * loud(x, n - 1)

    with pytest.raises(UnsupportedSyntaxError, match="would do that again"):
        grad(grad(loud))(2.0, 3)


def test_a_tangent_inside_must_fit():
    with pytest.raises(WrtError, match="shape"):
        grad(lambda x: np.sum(jvp(np.sin, (x,), (x[0],))[1]))(X)
    with pytest.raises(AssertionError, match="shape"):
        grad(lambda x, v: np.sum(jvp(np.sin, (x,), (v,))[1]))(X, np.ones(11))


def test_rules_of_the_users_in_second_order():
    hidden = np.vectorize(lambda x: x**3, otypes=[float])

    @adjoint(hidden)
    def _(y, x, d_y):
        return 3 * x * x * d_y

    @tangent(hidden)
    def _(y, x, t_x):
        return 3 * x * x * t_x

    def f(x):
        return np.sum(hidden(x) * x)

    np.testing.assert_allclose(hvp(f)(X, V), 12 * X**2 * V)
    np.testing.assert_allclose(vjp(grad(f), X)[1](V), 12 * X**2 * V)


# ---- the text ----


def test_text_of_an_hvp():
    product = hvp(lambda x: np.sum(np.sin(x)))
    product(X, V)
    assert product.source.split('"""')[2].strip() == "return -t_x * np.sin(x)"


def test_text_of_a_second_derivative_says_what_it_is_of():
    second = grad(grad(f3))
    second(1.0)
    assert second.source.startswith("def f3_grad_grad(x):") and "(test_higher_order.py:" in second.source


def test_hvp_does_not_compute_the_value():
    product = hvp(lambda x: np.sum(np.exp(x)) + np.log(np.sum(x**2)) * 0)
    product(X, V)
    assert product.source.count("np.exp") == 1


def test_saved_hvp_runs_alone(tmp_path):
    product = hvp(energy)
    product.save(tmp_path / "saved.py", X, V)
    namespace = {}
    exec((tmp_path / "saved.py").read_text(), namespace)
    np.testing.assert_allclose(namespace["energy_grad_tangent"](X, V), product(X, V))


def test_hvp_through_helpers_of_the_first_derivative():
    def f(x):
        return np.prod(np.cos(x)) + np.polyval(x, 0.4) * np.sum(np.insert(x, 0, 0.04)[:-1])

    ahead, behind = (grad(f)(X + by * V) for by in (1e-5, -1e-5))
    np.testing.assert_allclose(hvp(f)(X, V), (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-8)


def test_second_derivatives_of_tuples_made_of_lists():
    def f(x):
        rows = [tuple([k * k for k in row]) for row in x]
        return sum(k * k for row in rows for k in row)

    x, v = np.arange(6.0).reshape(2, 3), np.arange(6.0, 0.0, -1.0).reshape(2, 3)
    np.testing.assert_allclose(hvp(f)(x, v), 12 * x * x * v)
