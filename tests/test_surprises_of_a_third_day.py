"""What surprised somebody on a third first day: an order that nobody chose, advice that did not help, warnings without a cause."""

import functools
import linecache
import re
import warnings

import numpy as np
import pytest

from sourcead import AliasError, NoSourceError, UnsupportedArgumentError, WrtError, grad, hvp, jacobian, vjp
from sourcead.compile import pipeline


def product(w, x):
    return np.sum(w * x ** 2)


class Model:
    def __init__(self):
        self.a = np.ones(2)

    def loss(self, w, x):
        return np.sum(self.a * w * x)

    def energy(self):
        return np.sum(self.a ** 2)

    def by_another_name(this, x):
        return np.sum(this.a * x)


@pytest.mark.parametrize("wrt, instead", [
    ({"x", "w"}, r"wrt is a set, which has no order.*\nWrite instead: wrt=\('w', 'x'\)"),
    (frozenset([1, 0]), r"wrt is a set.*\nWrite instead: wrt=\(0, 1\)"),
    ("w,x", r"\nWrite instead: wrt=\('w', 'x'\)"),
    ("W", r"\nWrite instead: wrt='w'"),
    (2, r"\nWrite instead: wrt='x', or an index below 2"),
])  # fmt: skip
def test_advice_on_wrt(wrt, instead):
    with pytest.raises(WrtError, match=instead):
        grad(product, wrt=wrt)


def test_errors_of_wrt_say_from_where_the_indices_of_methods_count():
    with pytest.raises(WrtError, match=r"index 2, and loss has no such parameter: its parameters after self are w, x"):
        grad(Model().loss, wrt=2)
    with pytest.raises(WrtError, match=r"what is bound, takes self\nWrite instead: wrt='self'"):
        grad(Model().energy)
    with pytest.raises(WrtError, match=r"takes self, w, x\nWrite instead: wrt='self'"):
        grad(functools.partial(Model().loss, 1.0, 2.0))
    assert np.array_equal(grad(Model().energy, wrt="self")().a, [2.0, 2.0])
    with pytest.raises(WrtError, match="Write instead: wrt='this', which the method calls its object"):
        grad(Model().by_another_name, wrt="self")


def test_an_index_into_further_arguments():
    with pytest.raises(WrtError, match=r"Write instead: wrt='xs', for all that `\*xs` takes; the gradient is a tuple then"):
        grad(lambda *xs: xs[0] * xs[1], wrt=1)
    assert grad(lambda *xs: xs[0] * xs[1], wrt="xs")(2.0, 3.0) == (3.0, 2.0)


def test_arguments_given_to_jacobian_itself():
    with pytest.raises(WrtError, match="the arguments are given to what it returns"):
        jacobian(product, np.ones(2), np.ones(2))
    with pytest.raises(UnsupportedArgumentError, match="there is no mode that is an ndarray\nWrite instead: mode='auto'"):
        jacobian(product, 0, np.ones(2))


def test_the_dict_of_further_arguments_is_the_functions_own():
    def f(x, **options):
        return x * options.pop("by", 3.0)

    def g(x, **options):
        options["inner"]["by"] = x
        return x * options["inner"]["by"]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(f)(2.0) == 3.0 and grad(f)(2.0, by=5.0) == 5.0
    with pytest.warns(UserWarning, match=r"`g` changes `options\['inner'\]`"):
        assert grad(g)(2.0, inner={"by": 1.0}) == 4.0


class Pair:
    pass


def items_of_a_list(x, n):
    h = [x * 2, x * 3]
    for _ in range(n):
        h[0] = h[1]
    h[1][0] = 0.0
    return np.sum(h[0])


def items_of_a_dict(x, n):
    h = {"a": x * 2, "b": x * 3}
    for _ in range(n):
        h["a"] = h["b"]
    h["b"][0] = 0.0
    return np.sum(h["a"])


def attributes(x, n):
    h = Pair()
    h.a, h.b = x * 2, x * 3
    for _ in range(n):
        h.a = h.b
    h.b[0] = 0.0
    return np.sum(h.a)


@pytest.mark.parametrize("f, read, written", [
    (items_of_a_list, "h[0]", "h[1]"), (items_of_a_dict, "h['a']", "h['b']"), (attributes, "h.a", "h.b"),
])  # fmt: skip
def test_an_alias_error_names_items_and_attributes_as_the_user_writes_them(f, read, written):
    with pytest.raises(AliasError) as caught:
        grad(f)(np.ones(3), 2)
    assert f"`{read}` may share memory with `{written}`, which is written in line" in str(caught.value)


def test_a_function_without_source_inside_a_second_derivative_is_named_without_a_line_of_generated_text():
    names = {}
    exec("cube = lambda x: x ** 3\ndef fourth(x):\n    return x ** 4", names)
    for name in ("cube", "fourth"):
        with pytest.raises(NoSourceError) as caught:
            grad(grad(names[name]))(2.0)
        assert "<sourcead" not in str(caught.value) and "@adjoint(<" not in str(caught.value)


def test_lower_names_the_function_whose_arguments_do_not_fit():
    with pytest.raises(TypeError, match=r"product\(\) missing a required argument: 'x'"):
        grad(product).lower(np.ones(2))


def test_a_long_function_is_not_told_to_be_long_because_of_one_line(monkeypatch, caplog):
    monkeypatch.setattr(pipeline, "LONG_TEXT", 50)
    lines = "\n".join(f"    x = np.sin(x) * {k}.5" for k in range(1, 60))
    made = {"np": np}
    exec(compile(f"def long(x):\n{lines}\n    return np.sum(x)", "long.py", "exec"), made)
    monkeypatch.setitem(linecache.cache, "long.py", (1, None, f"def long(x):\n{lines}\n    return np.sum(x)".splitlines(True), "long.py"))
    with caplog.at_level("WARNING", logger="sourcead"):
        grad(made["long"])(np.ones(2))
    (told,) = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r"the text of `long` has \d+ statements: it takes long to generate, once for each kind of arguments", told)


def test_what_vectors_and_cotangents_look_like():
    with pytest.raises(WrtError, match=r"is a tuple of 2\nWrite instead: one tuple as the last argument: `\(v_w, v_x\)`"):
        hvp(product, wrt=("w", "x"))(np.ones(2), np.ones(2), np.ones(2), np.ones(2))
    _, pullback = vjp(lambda x: (x ** 2, np.sum(x)), np.ones(2))
    for wrong in (np.ones(2), (np.ones(2),), (np.ones(2), None)):
        with pytest.raises(WrtError, match="Write instead: a cotangent with the structure of the value"):
            pullback(wrong)
