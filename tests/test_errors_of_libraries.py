"""Errors at the border to other libraries: the user's line first, arrays of other libraries by name, rules with their modules."""

import json
import re
import sys
import textwrap
import types

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import NoRuleError, SourceADError, UnsupportedValueError
from sourcead.places.spelling import spelled

V = np.ones(3)
HERE = re.escape(__file__.rpartition("/")[2])


def library(tmp_path, monkeypatch, name, text):
    """A module in a folder of libraries."""
    monkeypatch.setattr("sourcead.places.origin.LIBRARIES", (str(tmp_path),))
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    return __import__(name)


def test_an_error_inside_a_library_shows_the_users_line_first(tmp_path, monkeypatch):
    made = library(tmp_path, monkeypatch, "tools_of_others", """
        def outer(x):
            return inner(x) + 1

        def inner(x):
            def items():
                yield x
            return items
    """)

    def f(x):
        y = 2 * x
        return np.sum(made.outer(y))

    with pytest.raises(SourceADError) as raised:
        grad(f)(V)
    first, line, carets, inside, source, *_, hint = str(raised.value).splitlines()
    assert re.search(f"{HERE}:\\d+: a function that this calls cannot be differentiated", first)
    assert line.strip() == "return np.sum(made.outer(y))" and carets.strip() == "^" * len("made.outer(y)")
    assert re.match(r"In .*tools_of_others.py:\d+: ", inside) and source.strip()
    assert "call it outside of your function" in hint


def test_a_missing_rule_inside_a_library_shows_the_users_line_first(tmp_path, monkeypatch):
    made = library(tmp_path, monkeypatch, "rules_of_others", """
        import numpy as np

        def smoothed(x):
            return np.i0(x)
    """)
    message = rf"(?s)^.*{HERE}:\d+: .*made.smoothed\(x\).*rules_of_others.py:5: no derivative rule for `np.i0`"
    with pytest.raises(NoRuleError, match=message):
        grad(lambda x: np.sum(made.smoothed(x)))(V)


class Tensor:
    """What is asked of a tensor of torch."""

    __module__, requires_grad = "torch", True

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("it requires grad")


class PlainTensor(Tensor):
    requires_grad = False


class LinearizeTracer:
    __module__ = "jax._src.interpreters.ad"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("it has no value")


TENSOR, PLAIN, TRACER = Tensor(), PlainTensor(), LinearizeTracer()
DATA = {"weights": [TENSOR]}


@pytest.mark.parametrize(("x", "message"), [
    (TENSOR, r"the argument `x` is a torch.Tensor, which is no NumPy array\nWrite instead: `x.detach\(\).numpy\(\)`"),
    (PLAIN, r"which is no NumPy array\nWrite instead: `np.asarray\(x\)`"),
    ({"w": TENSOR}, r"the argument `x\['w'\]` is a torch.Tensor"),
    (TRACER, "is a jax.LinearizeTracer, with which jax follows what is calculated\nWrite instead: a derivative by sourcead or by jax"),
], ids=["a tensor", "a tensor without gradient", "in a dict", "a tracer"])  # fmt: skip
def test_arguments_of_other_libraries_are_named(x, message):
    with pytest.raises(UnsupportedValueError, match=message):
        grad(lambda x: np.sum(x))(x)


@pytest.mark.parametrize(("f", "message"), [
    (lambda x: np.sum(x * TENSOR), r"`TENSOR` is a torch.Tensor, which is no NumPy array"),
    (lambda x: np.sum(x * DATA["weights"][0]), r"`DATA\['weights'\]\[0\]` is a torch.Tensor"),
    (lambda x: x * TRACER, "`TRACER` is a jax.LinearizeTracer"),
], ids=["a global", "in a dict", "a tracer"])  # fmt: skip
def test_global_arrays_of_other_libraries_are_named(f, message):
    with pytest.raises(SourceADError, match=message) as raised:
        grad(f)(V)
    assert "lambda x" in str(raised.value)


def test_functions_of_other_libraries_of_arrays_are_named(monkeypatch):
    def sum(x):
        return x

    sum.__module__ = "jax.numpy"
    with pytest.raises(SourceADError, match=r"`sum` is a function of jax.*\n.*\n.*\nWrite instead: NumPy's function, `np.sum`"):
        grad(lambda x: sum(x))(V)


@pytest.mark.parametrize(("function", "name"), [
    (json.loads, "json.loads"), (np.random.default_rng, "np.random.default_rng"), (np.ndarray.astype, "np.ndarray.astype"),
    (np.random.Generator.normal, "np.random.Generator.normal"), (np.add, "np.add"), (spelled, "spelled"),
])  # fmt: skip
def test_functions_are_spelled_with_the_module_that_users_import(function, name):
    assert spelled(function) in (name, f"sourcead.places.spelling.{name}")


def test_a_suggested_rule_imports_what_it_names():
    special = pytest.importorskip("scipy.special")
    rule = NoRuleError.of(special.wofz).instead
    assert rule.startswith("import scipy.special\n\n@adjoint(scipy.special.wofz)\n")
    namespace = {"adjoint": lambda f: lambda rule: f}
    exec(rule, namespace)
    assert namespace["_"] is special.wofz
    assert NoRuleError.of(np.i0).instead.startswith("@adjoint(np.i0)\n")


def test_a_module_that_is_not_loaded_is_not_asked_for():
    function = types.FunctionType((lambda x: x).__code__.replace(co_filename=sys.prefix + "/x.py"), {"__name__": "gone"}, "f")
    assert spelled(function).endswith("f")


def test_an_error_inside_a_library_names_the_calls_on_the_way_and_three_ways_out(tmp_path, monkeypatch):
    made = library(tmp_path, monkeypatch, "calls_of_others", """
        import numpy as np

        def outer(x):
            return middle(x) + 1

        def middle(x):
            return inner(x) * 2

        def inner(x):
            return np.i0(x)
    """)
    with pytest.raises(NoRuleError) as raised:
        grad(lambda x: np.sum(made.outer(x)))(V)
    *_, through, inside, _, _, hint = str(raised.value).splitlines()
    assert re.fullmatch(r"Called through (.*calls_of_others.py:5), (.*calls_of_others.py:8)", through)
    assert re.match(r"In .*calls_of_others.py:11: no derivative rule for `np.i0`", inside)
    assert all(way in hint for way in ("call it outside of your function", "sourcead.adjoint", "sourcead.opaque"))
