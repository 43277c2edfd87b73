"""What surprised somebody on a third first day: wrong reasons, advice that does not help, and texts that say less than they should."""

import functools
import logging
import random
import runpy
import sys
import traceback
import types
import warnings

import numpy as np
import pytest

import sourcead
from sourcead import adjoint_of, grad, jvp, value_and_grad
from sourcead.compile import pipeline
from sourcead.errors import (
    NonScalarError, NoRuleError, SourceADError, UnsupportedArgumentError, UnsupportedValueError, WrtError
)

# ---- random numbers ----


def drawn(x):
    random.seed(3)
    chosen = random.choice([1.0, 2.0]) + random.randint(1, 3) + random.uniform(0, 1)
    return x * (random.gauss(0, 1) + random.random()) + x * chosen


def test_functions_of_the_module_random_are_draws_by_their_names(tmp_path):
    made = grad(drawn)
    assert made(2.0) == pytest.approx(drawn(1.0), rel=1e-12)
    assert "random.seed(3)" in made.source and "random.gauss(0, 1)" in made.source and "bound" not in made.source
    made.save(tmp_path / "saved.py", 2.0)
    assert runpy.run_path(tmp_path / "saved.py")["drawn_grad"](2.0) == pytest.approx(drawn(1.0), rel=1e-12)


def test_an_empty_choice_raises_as_python_does():
    with pytest.raises(IndexError, match="Cannot choose from an empty sequence"):
        grad(lambda x, xs: x * random.choice(xs))(2.0, np.ones(0))


@pytest.mark.parametrize("f, instead", [
    (lambda mu: np.random.normal(mu, 1.0), "`mu + sigma * np.random.standard_normal(size)`"),
    (lambda mu: np.random.default_rng(0).uniform(mu, 3.0), "`low + (high - low) * rng.random(size)`"),
    (lambda mu: random.gauss(mu, 1.0), "`mu + sigma * random.gauss(0, 1)`"),
    (lambda mu: np.random.beta(mu, 1.0), "a draw with fixed parameters"),
])  # fmt: skip
def test_a_draw_from_active_parameters_shows_another_draw_and_no_rule_to_fill_in(f, instead):
    for derivative in (grad(f), lambda mu: jvp(f, (mu,), (1.0,))):
        with pytest.raises(NoRuleError) as caught:
            derivative(2.0)
        assert f"Write instead: {instead}" in str(caught.value) and "@adjoint" not in str(caught.value)


# ---- objects of other libraries, and dicts of other classes ----


class Frame:
    """Like a data frame of pandas."""

    __module__ = "pandas"

    def __init__(self, **columns):
        self.columns = list(columns)
        self.data = columns

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self.data.values())).T


class Column:
    __module__ = "pandas"
    to_numpy = __array__ = lambda self: np.ones(3)


def line(w, df):
    return np.sum(w * df["a"])


def test_a_table_becomes_a_dict_of_columns_with_which_the_function_stays():
    table = Frame(a=np.ones(3), b=np.zeros(3))
    with pytest.raises(UnsupportedValueError, match=r"pandas.Frame.*\n.*`\{k: df\[k\]\.to_numpy\(\) for k in \['a', 'b'\]\}`"):
        grad(line)(2.0, table)
    assert grad(line)(2.0, table.data) == 3.0
    with pytest.raises(UnsupportedValueError, match=r"Write instead: `df\.to_numpy\(\)`"):
        grad(line)(2.0, Column())


class AttrDict(dict):
    __getattr__, __setattr__, __delattr__ = dict.__getitem__, dict.__setitem__, dict.__delitem__


class Merging(AttrDict):
    def __or__(self, other):
        return Merging(a=5.0)

    def to_dict(self):
        return dict(self)


def test_dicts_with_attributes_are_read_by_subscripts():
    point = AttrDict(w=2.0, b=1.0)
    assert grad(lambda p: p["w"] ** 2 * p["b"])(point) == {"w": 4.0, "b": 4.0}
    with pytest.raises(SourceADError, match=r"`\.w` is no attribute of a dict.*\n(.*\n)*Write instead: a subscript, `\['w'\]`"):
        grad(lambda p: p.w ** 2)(point)
    with pytest.raises(UnsupportedValueError, match=r"`__or__` of its own\nWrite instead: `p\.to_dict\(\)`, and its items as `p\['w'\]`"):
        grad(lambda p: p.w)(Merging(w=2.0))


class Settings:
    """Like a configuration of omegaconf: other objects of its class are its attributes."""

    __module__ = "omegaconf"

    def __init__(self, **values):
        self.values = values

    def __getattr__(self, name):
        return self.__dict__["values"][name]


def test_attributes_of_attributes_of_a_configuration():
    scaled = grad(lambda x, cfg: x * cfg.model.scale)
    assert scaled(2.0, Settings(model=Settings(scale=3.0))) == 3.0
    assert scaled(2.0, Settings(model=Settings(scale=5.0))) == 5.0


def test_an_array_of_integers_in_a_dict_of_parameters_is_told_what_else_it_may_be():
    with pytest.raises(WrtError, match=r"`p\['at'\]\.astype\(float\)`, or pass it as an argument of its own"):
        grad(lambda p: np.sum(p["w"][p["at"]]))({"w": np.ones(3), "at": np.array([0, 2])})


def test_texts_among_parameters_have_no_derivative_and_need_no_helper():
    made = grad(lambda p: p["w"] ** 2)
    assert made({"w": 2.0, "name": "line", "more": None}) == {"w": 4.0, "name": None, "more": None}
    assert "zeros_like" not in made.source


# ---- errors ----


@pytest.mark.parametrize("f, args", [
    (lambda x: "s" * x, (2.0,)), (lambda x: [1.0] * x, (2.0,)), (lambda x, t: x * t, (2.0, object())),
])  # fmt: skip
def test_operators_that_python_refuses_are_type_errors(f, args):
    with pytest.raises(TypeError) as caught:
        f(*args)
    with pytest.raises(TypeError) as found:
        grad(f)(*args)
    assert isinstance(found.value, SourceADError) or str(found.value) == str(caught.value)


def activation(x, kind):
    if kind == "relu":
        return np.maximum(x, 0)
    raise ValueError(f"no activation {kind!r}")


def checked(x, kind):
    assert kind == "relu", kind
    return np.maximum(x, 0)


def assigned(w, kind):
    y = activation(w, kind)
    return np.sum(y)


def inside(w, kind):
    return np.sum(activation(w, kind)[0] * 2)


def in_an_arm(w, kind):
    if np.sum(w) > 0:
        w = activation(w, kind)[0] + 1
    return np.sum(w)


def asserted(w, kind):
    return np.sum(checked(w, kind))


@pytest.mark.parametrize("f, error", [(assigned, ValueError), (inside, ValueError), (in_an_arm, ValueError), (asserted, AssertionError)])
def test_what_a_called_function_raises_for_sure_is_raised(f, error):
    assert grad(f)(np.ones((2, 2)), "relu").shape == (2, 2)
    for derivative in (grad(f), value_and_grad(f), grad(f, verify=False)):
        with pytest.raises(error, match="elu"):
            derivative(np.ones((2, 2)), "elu")


def test_an_arm_in_which_a_called_function_raises_is_left_alone_where_it_is_not_taken():
    w = -np.ones((2, 2))
    np.testing.assert_array_equal(grad(in_an_arm)(w, "elu"), np.ones((2, 2)))


def test_a_function_that_only_forgets_to_return_is_told_so():
    with pytest.raises(NonScalarError, match="returns None"):
        grad(lambda x: print(x))(2.0)


def divided(x, n):
    y = x * 2
    z = y / n
    return z * 3


def test_the_line_that_divides_is_blamed_for_a_division_by_zero():
    made = grad(divided)
    assert made(2.0, 4) == 1.5
    with pytest.raises(ZeroDivisionError) as caught:
        made(2.0, 0)
    assert [entry.line for entry in traceback.extract_tb(caught.value.__traceback__) if entry.name == "divided"] == ["z = y / n"]


def handled(x):
    z = x + 1
    try:
        y = z / x
    except ZeroDivisionError:
        y = 0.0 * x
    return y


def test_a_handled_exception_is_refused_with_the_line_that_raises_it():
    with pytest.raises(UnsupportedArgumentError, match=r"third_day\.py:\d+: the program handles ZeroDivisionError here"):
        grad(handled)(0.0)
    with pytest.raises(UnsupportedArgumentError, match=r"\n    y = z / x\n    \^+\nWrite instead: test for the case with `if`"):
        grad(handled)(0.0)


# ---- texts ----


def options(x, kind="mean", scale=True, axis=None, of=np.sin):
    y = of(x * 2) if scale else x
    return np.mean(y, axis=axis) if kind == "mean" else np.sum(y, axis=axis)


def test_a_text_names_the_options_that_it_was_made_for(tmp_path):
    made = grad(options)
    made(np.ones(3), "sum")
    assert "with respect to x, for kind='sum', scale=True, of=np.sin." in made.source
    made.save(tmp_path / "saved.py", np.ones(3), "mean", of=np.cos)
    assert "for kind='mean', scale=True, of=np.cos." in (tmp_path / "saved.py").read_text()
    plain = grad(lambda x: x)
    assert plain(2.0) == 1.0 and "for" not in plain.source


@pytest.mark.parametrize("kind", ['"""', "a\nb", "\\", "x" * 500, "\ud800", "é\x00"])
def test_no_option_breaks_the_text(kind):
    made = grad(lambda x, kind: x * len(kind))
    assert made(2.0, kind) == len(kind)
    assert len(made.source) < 300 and types.FunctionType(compile(made.source, "text", "exec").co_consts[0], {})(2.0) == len(kind)


def told(x):
    y = x ** 2
    n = 3
    if y < 0:
        raise ValueError(f"negative: {y:.{n}f}")
    print(f"{y:.3f}", f"y = {y!r}")
    return y


def test_an_f_string_reads_as_a_text(tmp_path, capsys):
    made = grad(told)
    assert made(2.0) == 4.0 and capsys.readouterr().out == "4.000 y = 4.0\n"
    assert 'print(format(y, ".3f")' in made.source and '"".join(("negative: "' in made.source
    made.save(tmp_path / "saved.py", 2.0)
    assert runpy.run_path(tmp_path / "saved.py")["told_grad"](2.0) == 4.0


def kalman(log_q, ys):
    q = np.exp(log_q) * np.eye(2)
    p = np.eye(2)
    total = 0.0
    for y in ys:
        p = p @ p.T + q
        k = p / (1 + p[0, 0])
        p = (np.eye(2) - k) @ p
        total += y * p[0, 0]
    return total


def test_the_start_of_a_state_names_no_other_constant():
    made = grad(kalman)
    d = made(0.1, np.ones(3))
    assert d == pytest.approx((kalman(0.1 + 1e-6, np.ones(3)) - kalman(0.1 - 1e-6, np.ones(3))) / 2e-6, rel=1e-6)
    assert "eye - " in made.source and "    p = eye\n" in made.source


def test_a_text_of_many_statements_is_told_in_the_log(caplog, monkeypatch):
    monkeypatch.setattr(pipeline, "LONG_TEXT", 100)

    def squares(p):
        total = 0.0
        for k in p:
            total = total + p[k] ** 2
        return total

    with caplog.at_level(logging.WARNING, "sourcead"):
        grad(squares)({f"k{i}": 1.0 for i in range(5)})
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "sourcead"):
        grad(squares)({f"k{i}": 1.0 for i in range(50)})
    assert "the text of `squares` has 151 statements" in caplog.text and "for k in p:" not in caplog.text
    assert "total = total + p[k] ** 2" in caplog.text


# ---- what needs no word ----


class Spring:
    def __init__(self, k):
        self.k = k

    @functools.cached_property
    def squared(self):
        return self.k ** 2

    def energy(self, x):
        return self.squared * x ** 2


def test_a_cached_property_is_no_change_of_its_object():
    spring = Spring(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(spring.energy)(2.0) == 36.0
        assert grad(Spring.energy)(spring, 2.0).k == 24.0
    assert vars(spring) == {"k": 3.0}


def test_vars_without_an_object_are_the_variables():
    assert grad(lambda x: vars()["x"] ** 2)(3.0) == 6.0


@pytest.mark.parametrize("f, error, message", [
    (lambda x: sourcead.reduce(lambda a, b: a + b, x), TypeError, "missing a required argument: 'initial'"),
    (lambda x: adjoint_of(x) and x, SourceADError, r"Write instead: `with adjoint_of\(x\) as d_x:`"),
])  # fmt: skip
def test_calls_that_python_or_sourcead_does_not_take(f, error, message):
    with pytest.raises(error, match=message):
        grad(f)(np.ones(3))


def test_a_table_of_another_library_made_inside_is_no_matter_of_rules():
    with pytest.raises(SourceADError, match="(?s)Frame.*holds what is differentiated.*Write instead: `dict"):
        grad(lambda w: np.sum(Frame(a=w).data["a"]))(np.ones(2))


def test_a_list_with_a_name_for_a_subscript():
    with pytest.raises(TypeError, match="index 'a' is no integer, and lists and tuples are subscripted by places"):
        grad(lambda x, xs: x * xs["a"])(2.0, [1.0, 2.0])


@pytest.mark.parametrize("f, found, instead", [
    (lambda x: np.sum, "a function", "call it, and return the number"),
    (lambda x: {1.0}, "a set", "return a scalar"),
])  # fmt: skip
def test_a_function_that_returns_no_number_has_no_gradient_of_zeros(f, found, instead):
    with pytest.raises(NonScalarError, match=f"returns {found}; a gradient is that of one real number\n.*\n.*\nWrite instead: {instead}"):
        grad(f)(np.ones(3))


def sometimes(x):
    return x if x.any() else None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells the places of expressions in the run from 3.11 on")
def test_a_result_that_is_known_only_in_the_run_is_refused_with_the_line():
    with pytest.raises(NonScalarError, match=r"third_day.py:\d+: the function returns ndarray.*\n    return x if x.any\(\) else None"):
        grad(sometimes)(np.ones(3))


@pytest.mark.parametrize("f, error", [(lambda x, y: x * y(), TypeError), (lambda x, fs: x * fs[int(x)](x), SourceADError)])
def test_what_is_surely_not_called_is_a_type_error(f, error):
    with pytest.raises(error) as caught:
        grad(f)(1.0, 3.0 if error is TypeError else {1: 2.0})
    assert isinstance(caught.value, SourceADError)


def test_a_shuffled_argument_is_read_in_a_drawn_order():
    with pytest.raises(NoRuleError, match=r"Write instead: `x\[np\.random\.permutation\(len\(x\)\)\]`"):
        grad(lambda x: np.random.permutation(x)[0])(np.ones(3))


def test_the_gradient_of_a_gradient_that_is_an_array_shows_no_generated_line():
    def cubes(x):
        return np.sum(x ** 3)

    with pytest.raises(NonScalarError, match="^`cubes_grad` returns an array with 1 axis; .*\nWrite instead: `hessian`"):
        grad(grad(cubes))(np.ones(2))
