"""check_grads: what it accepts, what it finds, how it says so."""

import functools
import inspect

import numpy as np
import pytest

from sourcead import GradientMismatch, UnsupportedArgumentError, WrtError, adjoint, check_grads, tangent
from sourcead.api.transformations import _derivative_of
from sourcead.compile import pipeline
from sourcead.compile.specialisation import SHARED
from tests.stub_compiler import built

check_reverse = functools.partial(check_grads, modes=("reverse",))


@pytest.fixture
def derivative(monkeypatch):
    """Says what the compiler answers: an expression over the function's parameters, and `d` in a pullback."""
    SHARED.clear()
    _derivative_of.cache_clear()

    def answer(expression):
        def build(request):
            f, names = request.function, ", ".join(request.types)
            result = f"(primal({names}), lambda d: {expression})" if request.form.kind == "vjp" else expression
            return built(f"def generated{inspect.signature(f)}:\n    return {result}\n", {"np": np, "primal": f})

        monkeypatch.setattr(pipeline, "build", build, raising=False)

    yield answer
    SHARED.clear()
    _derivative_of.cache_clear()


X = np.array([[0.5, 1.0], [-2.0, 3.0]])


@pytest.mark.parametrize(
    "f, args, right",
    [
        (lambda x: x**3, (2.0,), "3 * x**2"),
        (lambda x: x**3, (np.float64(2.0),), "3 * x**2"),
        (lambda x: np.sum(x**3), (X,), "3 * x**2"),
        (lambda x: np.sum(x**3), (X.astype(np.float32),), "3 * x**2"),
        (lambda x: np.sum(1e8 * x), (X,), "np.full(x.shape, 1e8)"),
        (lambda x: 1e-3 * np.sum(np.sin(x)), (X,), "1e-3 * np.cos(x)"),
        (lambda x: np.sum(np.exp(x)), (np.array([30.0]),), "np.exp(x)"),
        (
            lambda x: np.sum(x["a"] * x["b"][0]),
            ({"a": X, "b": (2.0, 5.0)},),
            "{'a': 2.0 * np.ones((2, 2)), 'b': (x['a'].sum(), 0.0)}",
        ),
        (lambda x: np.sum(np.abs(x) ** 2), (np.array([1 + 2j, 3j]),), "2 * np.conj(x)"),
        (lambda x: np.sum(x), (np.zeros((0, 3)),), "np.zeros((0, 3))"),
        (lambda x: x**2, (3,), "2 * x"),
    ],
    ids=lambda p: p if isinstance(p, str) else None,
)
def test_right_derivative_passes_and_wrong_one_is_found(derivative, f, args, right):
    derivative(right)
    check_reverse(f, args)
    if np.size(args[0]):
        SHARED.clear()
        derivative(
            f"wrong({right})".replace(
                "wrong(",
                "(lambda d: {k: (v[0] * 1.01, v[1]) if k == 'b' else v for k, v in d.items()} if isinstance(d, dict) else d * 1.01)(",
            )
        )
        with pytest.raises(GradientMismatch):
            check_reverse(f, args)


def test_message_names_the_worst_element_both_values_and_the_error(derivative):
    derivative("3 * w**2 + np.array([[0, 0], [0.5, 1e-3]])")
    with pytest.raises(GradientMismatch) as raised:
        check_reverse(lambda w: np.sum(w**3), (X,))
    error = raised.value
    assert (error.where, round(error.derivative, 6), round(error.numerical, 6), round(error.error, 3)) == (
        "w[1, 0]",
        12.5,
        12.0,
        0.04,
    )
    assert "`w[1, 0]` is 12.5, and numerically 12" in str(error) and "2 elements differ" in str(error)


def test_element_of_a_structure_is_named_as_users_write_it(derivative):
    derivative("{'a': [0.0, np.array([2.0, 3.0])]}")
    with pytest.raises(GradientMismatch, match=r"`p\['a'\]\[1\]\[1\]`"):
        check_reverse(lambda p: 2.0 * np.sum(p["a"][1]), ({"a": [1.0, np.ones(2)]},))


@pytest.mark.parametrize("wrong", ["3 * x[0] ** 2", "np.ones(4)", "(1.0, 2.0)", "float('nan')"])
def test_derivative_of_another_shape_or_structure_is_found(derivative, wrong):
    derivative(wrong)
    with pytest.raises(GradientMismatch):
        check_reverse(lambda x: np.sum(x**3), (X,) if wrong != "float('nan')" else (1.0,))


def test_several_parameters(derivative):
    derivative("(x * y, 3.0)")
    with pytest.raises(GradientMismatch, match="`y`"):
        check_reverse(lambda x, y: x**2 * y / 2, (2.0, 3.0), wrt=("x", "y"))


def test_vector_results_are_checked_by_a_pullback(derivative):
    derivative("2 * x * d")
    check_reverse(lambda x: x**2, (X,))
    derivative("2 * x")
    SHARED.clear()
    with pytest.raises(GradientMismatch):
        check_reverse(lambda x: x**2, (X + 1,))


def test_structured_results_are_checked_by_a_pullback(derivative):
    derivative("2 * x * d[0] + 3 * d[1]['a']")
    check_reverse(lambda x: (x**2, {"a": 3 * x}), (X,))


def test_function_that_writes_its_argument_is_given_copies(derivative):
    def f(x):
        x *= 2.0
        return np.sum(x**2)

    derivative("8 * x")
    x = X.copy()
    check_reverse(f, (x,))
    np.testing.assert_array_equal(x, X)


def test_errors_of_the_function_are_not_hidden(derivative):
    derivative("1 / 0")
    with pytest.raises(ZeroDivisionError):
        check_reverse(lambda x: x, (1.0,))


def test_integer_array_in_wrt_is_refused():
    with pytest.raises(WrtError, match="integers"):
        check_reverse(lambda x: np.sum(x) * 1.0, (np.array([1, 2]),))


@pytest.mark.parametrize(
    "options", [{"modes": ("reverse", "both")}, {"modes": ("sideways",)}, {"order": 0}, {"order": 1.5}, {"wrt": "y"}]
)
def test_what_is_not_there_is_refused(options):
    with pytest.raises(UnsupportedArgumentError):
        check_grads(lambda x, y=1.0: x, (1.0,), **options)


# ---- with the compiler ----


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda x: np.sum(np.tanh(x) ** 2), (X,)),
        (lambda x: np.sum(np.tanh(x) ** 2), (X.astype(np.float32),)),
        (lambda x: np.tanh(x) * 2, (X,)),
        (lambda x: x * np.sin(x), (0.3,)),
    ],
    ids=["array", "float32", "vector", "float"],
)
def test_generated_derivative_passes(f, args):
    check_grads(f, args)


def test_second_derivative():
    check_grads(lambda x: np.sum(x**3), (X,), order=2)


def test_second_derivative_in_forward_mode_alone():
    check_grads(lambda x: np.sum(x**3) * x[0, 0], (X,), order=2, modes=("forward",))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_wrong_rule_is_found_in_its_mode(mode):
    def cube(x):
        return x**3

    factor = {"reverse": 3.0, "forward": 3.0, mode: 2.0}

    @adjoint(cube)
    def _(y, x, d_y):
        return factor["reverse"] * x * x * d_y

    @tangent(cube)
    def _(y, x, t_x):
        return factor["forward"] * x * x * t_x

    check_grads(lambda x: np.sum(cube(x)), (X,), modes=[m for m in ("reverse", "forward") if m != mode])
    with pytest.raises(GradientMismatch, match=r"`x\[1, 1\]` is 18.*numerically 27") as found:
        check_grads(lambda x: np.sum(cube(x)), (X,))
    assert ("in forward mode" in str(found.value)) == (mode == "forward")


def test_rules_of_a_function_without_source_are_checked_by_themselves():
    hidden = np.vectorize(lambda x: np.hypot(x, 1.0), otypes=[float])

    @adjoint(hidden)
    def _(y, x, d_y):
        return d_y * x / y

    @tangent(hidden)
    def _(y, x, t_x):
        return t_x * x / y

    check_grads(lambda x: np.sum(hidden(x) * x), (X,), order=2)
