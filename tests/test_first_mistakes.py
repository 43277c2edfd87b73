"""What a first user writes by mistake: the error is one of ours, shows the user's line, and says what to write instead."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sourcead
from sourcead import (
    ArgumentError, NonScalarError, NoRuleError, RuleError, Segments, SourceADError, UnsupportedSyntaxError, WrtError,
    adjoint, checkpoint, grad, hessian, hvp, jacobian, jvp, pushforward, value_and_grad, vjp
)
from tests.semantics import exec_with_source


def squares(x):
    return x**2


@pytest.mark.parametrize("derivative", [
    hessian(squares), lambda x: hvp(squares)(x, x), grad(grad(squares)), grad(lambda x: grad(squares)(x)[0]),
])  # fmt: skip
def test_a_function_with_several_results_is_shown_whatever_is_between(derivative):
    with pytest.raises(NonScalarError) as caught:
        derivative(np.ones(3))
    first, line, *_ = str(caught.value).splitlines()
    assert "test_first_mistakes.py" in first and "`squares` returns an array with 1 axis" in first and line.strip() == "return x**2"


def weighted(w, x):
    products = w * x
    return np.sum(products)


def repeated(n):
    return np.sum(np.array([1.0] * n))


@pytest.mark.parametrize("f, args, line", [
    (weighted, (2.0, [1.0, 2.0]), "products = w * x"),
    (lambda w, x: weighted(w[0], x), (np.ones(2), (1.0, 2.0)), "products = w * x"),
    (repeated, (2,), "return np.sum(np.array([1.0] * n))"),
])  # fmt: skip
def test_a_list_times_a_float(f, args, line):
    with pytest.raises(SourceADError, match="a list or tuple times a float") as caught:
        grad(f)(*args)
    assert line in str(caught.value) and "np.asarray" in str(caught.value)


@pytest.mark.parametrize("make, option, instead", [
    (lambda: grad(weighted, argnums=1), "`grad` has no option `argnums`", "wrt=1"),
    (lambda: grad(argnums=(0, 1)), "`grad` has no option `argnums`", "wrt=(0, 1)"),
    (lambda: value_and_grad(weighted, checkpoints="store"), "`value_and_grad` has no option `checkpoints`", "checkpoint='store'"),
    (lambda: vjp(squares, 2.0, backend="numba"), "`vjp` has no option `backend`: it has wrt, verify", None),
    (lambda: grad(weighted, check=True), "`grad` has no option `check`", 'verify="gradient"'),
    (lambda: grad(weighted, jit=True), "`grad` has no option `jit`", 'backend="numba"'),
])  # fmt: skip
def test_an_option_that_there_is_not(make, option, instead):
    with pytest.raises(ArgumentError) as caught:
        make()
    assert option in str(caught.value) and caught.value.instead == instead


@pytest.mark.parametrize("make", [grad, jacobian, value_and_grad], ids=lambda make: make.__name__)
@pytest.mark.parametrize("given", [1.5, np.ones(2)])
def test_arguments_given_in_the_place_of_wrt(make, given):
    with pytest.raises(WrtError, match=rf"given an? (float|ndarray) as wrt\nWrite instead: `{make.__name__}\(squares\)\(\.\.\.\)`"):
        make(squares, given)


def test_a_string_times_a_float():
    with pytest.raises(SourceADError, match="a string times a float"):
        grad(lambda x: x[0] * x[1])([2.0, "a"])


def test_the_jacobian_of_a_result_without_numbers():
    with pytest.raises(SourceADError, match="`<lambda>` returns a str, which has no numbers that have a derivative"):
        jacobian(lambda x: "a")(2.0)


WEIGHT, NAME = 2.0, "sin"


def times(a, b):
    return a * b


def test_a_rule_that_does_not_return_a_cotangent_for_each_argument():
    def product(a, b):
        return times(a, b)

    adjoint(product)(lambda y, a, b, d_y: (d_y * b, d_y * a, None))
    with pytest.raises(RuleError, match="returns 3 cotangents, and .*product has 2 arguments") as caught:
        grad(lambda a, b: product(a, b))(2.0, 3.0)
    assert "return a cotangent for each: of a, b" in str(caught.value)


class Model:
    def __init__(self):
        self.weights = np.ones(2)


class Opaque:
    """Has no operators."""


@pytest.mark.parametrize("f, args, reason, instead", [
    (lambda x, m: np.sum(m.wieghts * x), (np.ones(2), Model()), "class Model has no attribute `wieghts`", "`weights`"),
    (lambda x, p: p["b"] * x, (1.0, {"w": 1.0, "c": 2}), "has no key 'b'", "one of its keys: 'w', 'c'"),
    (lambda x, t: x * t, (1.0, Opaque()), "an object of class Opaque has no `__rmul__` that takes", None),
    (lambda x, t: t - x, (1.0, Opaque()), "an object of class Opaque has no `__sub__` that takes", None),
], ids=["attribute", "key", "right", "left"])  # fmt: skip
def test_what_is_not_there(f, args, reason, instead):
    with pytest.raises(SourceADError) as caught:
        grad(f)(*args)
    assert reason in str(caught.value) and caught.value.instead == instead


def test_a_function_that_returns_no_pair_with_has_aux():
    with pytest.raises(NonScalarError, match=r"Write instead: .*\(number, kept\)"):
        grad(lambda x: x**2, has_aux=True)(1.0)


def test_the_cotangent_of_a_pullback_is_named_as_the_user_names_it():
    with pytest.raises(WrtError, match=r"^the cotangent has the shape \(2,\), and the value has the shape \(3,\)"):
        vjp(squares, np.ones(3))[1](np.ones(2))


@pytest.mark.parametrize("make, reason", [
    (lambda: vjp(squares, np.ones(3))[1]([1.0, 1.0, 1.0]), "the cotangent is a list, and the value has the shape (3,)"),
    (lambda: vjp(squares, np.ones(3))[1](None), "the cotangent is None, and the value has the shape (3,)"),
    (lambda: vjp(lambda x: (x, x), np.ones(3))[1]({}), "the cotangent is a dict, and the value a tuple"),
    (lambda: jvp(squares, (np.ones(3),), ([1.0, 1.0, 1.0],)), "the tangent `t_x` is a list, and `x` has the shape (3,)"),
    (lambda: jvp(squares, (2.0,), (1.0, 1.0)), "jvp is given 1 argument and 2 tangents"),
    (lambda: jvp(times, (2.0, 3.0), (1.0,)), "jvp is given 2 arguments and 1 tangent"),
    (lambda: grad(lambda x: jvp(times, (x, x), (1.0,))[0])(2.0), "jvp is given 2 arguments and 1 tangent"),
])  # fmt: skip
def test_a_cotangent_or_tangents_of_another_kind_or_number(make, reason):
    with pytest.raises(WrtError) as caught:
        make()
    assert reason in caught.value.reason


@pytest.mark.parametrize("f, reason, instead", [
    (lambda x: np.random(x), "`np.random` is called, which is a module", "a function that is in it, as `np.random.name(...)`"),
    (lambda x: WEIGHT(x), "numbers and arrays cannot be called", "a subscript"), (lambda x: NAME(x), "'sin' is called", None),
])  # fmt: skip
def test_what_cannot_be_called(f, reason, instead):
    with pytest.raises(SourceADError) as caught:
        grad(f)(2.0)
    assert reason in caught.value.reason and (caught.value.instead or "").startswith(instead or "")
    assert (caught.value.instead is None) is (instead is None)


CALLS = 0


def counting(x):
    global CALLS
    CALLS += 1
    return np.sum(x**3)


@pytest.mark.parametrize("derivative", [lambda f: lambda x: hvp(f)(x, x), hessian, lambda f: grad(lambda x: np.sum(grad(f)(x)))])
def test_a_function_that_counts_its_calls_is_shown_below_a_second_derivative(derivative):
    with pytest.raises(SourceADError, match="`CALLS`, which outlives the call, is assigned here: .*\n    CALLS [+]= 1\n"):
        derivative(counting)(np.ones(3))


@pytest.mark.parametrize("derivative", [lambda f: hvp(f)(np.ones(3), np.ones(3)), lambda f: hessian(f)(np.ones(3))])
def test_a_lambda_is_shown_where_it_stands_also_below_a_derivative(derivative):
    def product(a, b):
        return a * b

    adjoint(product)(lambda y, a, b, d_y: (d_y * b, d_y * a))
    with pytest.raises(SourceADError, match="no tangent rule for `.*product`") as caught:
        derivative(lambda a: np.sum(product(a, a) * a))
    first, line, *_ = str(caught.value).splitlines()
    assert "test_first_mistakes.py:" in first and line.strip().startswith("derivative(lambda a: np.sum(")


class Losses:
    @grad
    @staticmethod
    def above(x):
        return np.sum(x**2)

    @staticmethod
    @grad
    def below(x):
        return np.sum(x**2)


def test_a_static_method_is_differentiated_below_and_above_the_decorator():
    for gradient in (Losses.above, Losses().above, Losses.below, Losses().below):
        np.testing.assert_allclose(gradient(np.ones(2)), [2.0, 2.0])


def test_a_line_of_a_notebook_is_named_as_ipython_names_it(monkeypatch):
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]") if file == __file__ else None))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with pytest.raises(NonScalarError, match=rf"^Cell In\[3\], line {squares.__code__.co_firstlineno + 1}: `squares` returns"):
        grad(squares)(np.ones(3))


def written_as_in_jax(w):
    w = w.at[0].set(3.0)
    return np.sum(w)


def test_a_copy_that_is_written_as_in_jax_is_shown_as_in_numpy():
    with pytest.raises(AttributeError, match=r"`w = w.copy\(\)`, and then `w\[...\] = value`"):
        grad(written_as_in_jax)(np.ones(2))


def test_a_rule_for_a_callable_object_is_shown_by_the_name_that_the_program_has_for_it():
    interpolate = pytest.importorskip("scipy.interpolate")
    made = SimpleNamespace(line=interpolate.interp1d([0.0, 1.0], [0.0, 2.0]))
    with pytest.raises(NoRuleError) as caught:
        grad(lambda x: np.sum(2.0 * made.line(x) + 1.0))(0.5)
    assert "for `made.line`, an object of class `scipy.interpolate.interp1d`" in str(caught.value)
    assert "Register a rule:\n    @adjoint(made.line)\n" in str(caught.value)


def scaled(x, k):
    return np.sum(x**2) * k


def dot(w, x):
    total = 0.0
    for i in range(len(w)):
        total += w[i] * x[i]
    return total


def segments_first(x, n):
    for _ in checkpoint(Segments(3), range(n)):
        x = np.sin(x)
    return x


X = np.ones(3)


@pytest.mark.parametrize("call, kind, said, instead", [
    (lambda: grad(lambda w: w / 2)([1.0, 2.0]), TypeError, "a list, tuple or string in a calculation", "`np.asarray(w)`"),
    (lambda: grad(lambda w, x: w * x)([1.0], [2.0]), TypeError, "a list or tuple times another one", "`np.asarray(w)` and `np.asarray(x)`"),
    (lambda: grad(lambda x, y: x * (1 - y["y"]))(2.0, {"y": [1]}), TypeError, "a calculation with numbers", "`np.asarray(y['y'])`"),
    (lambda: grad(lambda x, n: sum(x for _ in range(1, n)))(1.0, 3.0), SourceADError, "`range` of a float", "`range(1, int(n))`"),
    (lambda: grad(dot)(X, "abc"), TypeError, "a string times a float", "numbers in place of the string"),
    (lambda: grad(segments_first)(1.0, 5), SourceADError, "takes the iterable first", "checkpoint(range(n), Segments(3))"),
    (lambda: checkpoint(squares), SourceADError, "is given the function `squares`", "`grad(squares, checkpoint=...)`"),
    (lambda: checkpoint(Segments(3), range(5)), SourceADError, "takes the iterable first", "checkpoint(range(n), Segments(3))"),
    (lambda: grad(lambda x: np.sum(sourcead.map(x, squares)))(X), ArgumentError, "`map` takes the function first", "map(f, xs)"),
    (lambda: sourcead.map(X, squares), ArgumentError, "`map` takes the function first", "map(f, xs)"),
    (lambda: sourcead.scan(X, np.add, 0.0), ArgumentError, "`scan` takes the function first", "scan(f, xs, initial)"),
    (lambda: hvp(scaled)(X, 2.0), ArgumentError, "takes the vector last", "hvp(scaled)(x, k, v)"),
    (lambda: jvp(scaled, (X, 2.0), (None, None)), WrtError, "every argument is held fixed", "jvp(scaled, (x, k), (t_x, None))"),
    (lambda: grad(scaled, wrt="z"), WrtError, "names the parameter 'z'", "wrt='x'"),
    (lambda: grad(scaled, wrt=""), WrtError, "names the parameter ''", "wrt='x'"),
    (lambda: grad(scaled, wrt="*"), WrtError, "names the parameter '*'", "wrt=('x', 'k')"),
    (lambda: grad(scaled, wrt=b"x"), WrtError, "wrt is b'x', which is neither", "wrt='x'"),
    (lambda: grad(scaled, checkpoint="segments:3"), SourceADError, "no checkpoint policy 'segments:3'", "Segments(3)"),
    (lambda: grad(lambda x: np.sum(np.hstack(x, x)))(X), TypeError, "`np.hstack` takes the arrays as one list", "`np.hstack((a, b))`"),
    (lambda: grad(lambda x: float(f"1{x:.2f}"))(2.0), SourceADError, "read from a text", "before it is written as a text"),
    (lambda: grad(lambda x: np.var(x, ddof=x[0]))(X), SourceADError, "its argument `ddof`", "`stop_gradient(...)` as `ddof`"),
    (lambda: grad(lambda x: {"loss": x})(2.0), NonScalarError, "returns a dict", "return the number alone, one of the items"),
    (lambda: grad(lambda x: x * x)(1j), NonScalarError, "returns a complex number", "use `jvp` or `vjp`"),
    (lambda: pushforward(scaled)(X, 2.0), TypeError, "scaled_jvp() missing 1 required positional argument: 't_x'", ""),
    (lambda: grad(scaled, checkpoint=Segments), SourceADError, "no checkpoint policy Segments", "Segments(10)"),
    (lambda: grad(scaled, checkpoint="state"), SourceADError, "no checkpoint policy 'state'", '"states"'),
    (lambda: grad(scaled, readable="x"), ArgumentError, "readable is 'x'", "readable=True"),
    (lambda: grad(scaled).save(None, X, 2.0), ArgumentError, "`save` takes the path of a file, and not None", "gradient.py"),
    (lambda: grad(scaled).save("folder/", X, 2.0), SourceADError, "it is the name of a folder", "name a file"),
    (lambda: grad(scaled).text, AttributeError, "its text is `source`", ""),
])  # fmt: skip
def test_a_mistake_is_told_with_what_fits_the_program(call, kind, said, instead):
    with pytest.raises(kind) as caught:
        call()
    assert said in str(caught.value) and instead in str(caught.value).partition(said)[2]


def test_nesting_beyond_the_recursion_limit_is_an_error_with_advice():
    names = {}
    exec_with_source(f"def f(x):\n    return {'+'.join(['x'] * 600)}\n", names)
    with pytest.raises(UnsupportedSyntaxError, match="nested more deeply here than Python's recursion limit") as caught:
        grad(names["f"])(1.0)
    assert "setrecursionlimit" in caught.value.instead


OF_OTHER_LIBRARIES = [
    (lambda x: np.sum(x).backward(), "`sourcead.grad` of the function that returns this number"),
    (lambda x: x.detach().sum(), r"`sourcead.stop_gradient\(x\)`"),
    (lambda x: np.sum(x.numpy()), "`x` itself, which is an array of NumPy"),
    (lambda x: x.at[0].set(1.0).sum(), r"`x = x.copy\(\)`, and then `x\[...\] = value`"),
    (lambda x: x.exp().sum(), r"`np.exp\(x\)`"),
    (lambda x: x.mean(dim=0), "axis="),
]


@pytest.mark.parametrize(("f", "instead"), OF_OTHER_LIBRARIES)
def test_what_arrays_of_jax_and_pytorch_have_is_told_in_the_words_of_numpy(f, instead):
    with pytest.raises((AttributeError, SourceADError), match=instead):
        grad(f)(np.array([1.0, 2.0]))
