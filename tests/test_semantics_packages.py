"""Parts of Python and its standard library that public packages use: `locals()`, `namedtuple` in a function, `x.shape = s`, decimals."""

import collections
import decimal
import inspect
import math

import numpy as np
import pytest

import sourcead
from sourcead import grad
from sourcead.errors import NoRuleError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.values import memory_layouts
from sourcead.passes.residuals import flatten_stacks
from tests.semantics import judged_in_all_modes, made

X, A, S = np.array([0.4, 0.7, -0.3, 0.9]), np.arange(12.0).reshape(4, 3) / 7, 0.6

def size_of(variables, name, shape):
    value = variables[name]
    if value.ndim == 1:
        return 1
    if value.shape[1] != shape[1]:
        raise ValueError(f"{name} must be of shape {shape}, not {value.shape}")
    return value.shape[0]


def checked(points, by):
    scale = by * 2
    if scale > -9:
        rows = size_of(locals(), "points", (-1, 3))
    doubled = points * scale
    doubled[0] = scale
    return rows + np.sum(locals()["doubled"] ** 2)


def written(points):
    copy = points * 1
    locals()["copy"][0] = points[1] ** 2
    return np.sum(copy ** 2)


def applied(f, a, b):
    if f is np.subtract or f is None:
        return a - b
    return f(a, b)


def rounded(number, how):
    return int(decimal.Decimal(number).quantize(decimal.Decimal("1"), rounding=how))


class Model:
    def __init__(self, mean=1.0, *, width=2.0):
        self.mean, self.width = mean, width

    def total(self):
        names = inspect.getfullargspec(self.__init__)[0][1:]
        return sum(getattr(self, name) for name in names) * self.__getattribute__("width")


class Rating:
    def __init__(self, value):
        self.value = value


def squeezed(x):
    return x.squeeze() if hasattr(x, "squeeze") and callable(x.squeeze) else x


RIGHT = {
    "the bits of an integer": "return np.sum(x) * 2 ** (len(x) - 1).bit_length() + s * (x.shape[0] + 3).bit_count()",
    "the bits of an integer that the run finds": "n = int(s > 0) + 8; return np.sum(x) * n.bit_length()",
    "a float that is an integer": "return np.sum(x) if (2 * s).is_integer() else np.sum(x ** 2)",
    "the variables as a dict": "return checked(A * x[0], s) + checked(x, x[1])",
    "a variable is written through the dict": "return written(x)",
    "the shape of a broadcast": """
        both = np.broadcast(x, A.T)
        out = np.zeros(both.shape)
        out[...] = x * A.T
        return np.sum(out ** 2) * both.size * both.nd + both.ndim""",
    "a named tuple made inside": """
        Line = collections.namedtuple("Line", ["slope", "start"])
        fitted = Line(x[0] * x[1], start=s)
        slope, start = fitted
        return fitted.slope ** 2 * start + slope""",
    "a named tuple with defaults": """
        Line = collections.namedtuple("Line", "slope start", defaults=(2.0,))
        total = 0.0
        for k in range(3):
            total = total + Line(x[k]).start * Line(x[k], s).slope
        return total""",
    "text is encoded for its errors": '"abc".encode("ascii"); return np.sum(x ** 2)',
    "an attribute by its name": "return Model(x[0], width=s).total()",
    "a function or None": "return np.sum(applied(None, x, s) ** 2) + np.sum(applied(np.multiply, x, s))",
    "numbers in text": "line = 'a 0.5-1'; return float(line[2:5]) * x[0] + float(line[2] + '.' + line[4]) * x[1]",
    "a decimal": "return np.sum(x[:rounded(0.25 * 10, decimal.ROUND_HALF_UP)] ** 2) + rounded(s * 10, decimal.ROUND_DOWN) * x[0]",
    "a size from a float": """
        n = 2 * math.floor((1 + 2) / 2) + 1
        return sum(np.sum(x[part]) ** 2 for part in [slice(k, k + 1) for k in np.array(list(range(n)))])""",
    "a shape is assigned": "y = np.sin(np.concatenate([x, x])); y.shape = (2, 4); return np.sum(y[0] * y[1] ** 2)",
    "a view was taken before the shape is assigned": """
        y = np.sin(np.concatenate([x, x]))
        last = y[6:]
        y.shape = (2, 4)
        y[1, 3] = s * x[0]
        last[0] = 2 * x[1]
        return np.sum(y[0] * y[1] ** 2) + np.sum(last)""",
    "a shape is assigned in an arm": """
        y = x * s
        if s > 0:
            y.shape = (2, 2)
            s = np.sum(y[0] * y[1])
        return s * x[0]""",
    "generators in a list": """
        kept = []
        for place, (group, rank, weights) in sorted(enumerate(zip([Rating(x[0]), Rating(x[1])], [1, 0], [(s, 1.0), (x[2], x[3])])),
                                                    key=lambda pair: pair[1][1]):
            kept.append(max(-9.0, group.value * w) for w in weights)
        first, second = kept
        return sum(first) * 2 + sum(second)""",
    "what sorts has an effect": """
        seen = []
        def rank(pair):
            seen.append(s * x[pair[1]])
            return pair[1]
        last, *_ = sorted([(Rating(x[0]), 1), (Rating(x[1]), 2)], key=rank, reverse=True)
        return last[0].value * seen[0] + seen[1]""",
    "a method is asked for": "return np.sum(squeezed(x[None]) ** 2) * squeezed(x[0])",
    "an array that may be written": "y = np.require(x, float, ['W']) * s; return np.sum(np.require(y, requirements=[]) ** 2)",
    "a written sum of products": "y = np.einsum('i,ij->i', x, A); y[y == 0] = s; return np.sum(y * x)",
    "an import of a part": "from math import tau as turn; import math as m; return turn * x[0] * m.sqrt(4)",
}


KNOWN = {"np": np, "collections": collections, "decimal": decimal, "math": math, "inspect": inspect}
KNOWN |= {f.__name__: f for f in (applied, checked, rounded, squeezed, written, Model, Rating)}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, A, s", **KNOWN), X, A, S) == "right"


REFUSED = {
    "another name of the array": "y = np.sin(x); z = y; y.shape = (2, 2); return np.sum(z * z)",
    "an array in a list": "y = np.sin(x); kept = [y]; y.shape = (2, 2); return np.sum(kept[0] ** 2)",
    "the array of a caller": "y = np.sin(x); reshaped(y); return np.sum(y[0] * y[1])",
    "a default holds the array": "y = np.sin(x); f = lambda a=y: a[0]; y.shape = (2, 2); return np.sum(f() ** 2)",
    "a method of the array": "y = np.sin(x); f = y.sum; y.shape = (2, 2); return np.sum(f(axis=0) ** 2)",
    "a generator holds the array": """
        def sums(a):
            yield a.sum(axis=0)
            yield a.sum(axis=0)
        y, total = np.sin(x), 0.0
        for part in sums(y):
            total = total + np.sum(part ** 2)
            y.shape = (2, 2)
        return total""",
    "an iterator over the array": "y = np.sin(x); it = iter([y, y]); y.shape = (2, 2); return np.sum(next(it)[0] ** 2)",
    "an argument": "x.shape = (2, 2); return np.sum(x[0] * x[1])",
    "an earlier dict of the variables": "return kept_variables(x)",
    "the parameters of a method of a class inside": """
        class Inner:
            def area(self, width):
                return width
        return x[0] * len(inspect.getfullargspec(Inner().area)[0])""",
    "a decimal of a text": "return x[0] * float(decimal.Decimal('0.1'))",
    "None is called": "f = None; return f(x)",
    "rows in some order": "return np.sum(np.require(A * s, requirements=['F']).ravel('K'))",
}


def reshaped(y):
    y.shape = (2, 2)


def kept_variables(x):
    first = locals()
    y = x * 2
    locals()
    return np.sum(first["y"])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(name):
    f = made(REFUSED[name], "x, A, s", reshaped=reshaped, kept_variables=kept_variables, **KNOWN)
    with pytest.raises(SourceADError):
        grad(f, verify=False)(X.copy(), A, S)


def test_the_error_for_a_call_of_none_says_so():
    with pytest.raises(TypeError, match="None is called, which is no function"):
        grad(made("f = None\nreturn f(x)"))(1.0)


def test_the_error_for_a_method_of_a_compiled_class_names_the_class():
    with pytest.raises(UnsupportedSyntaxError, match="what `compare` of `decimal.Context` does is not seen"):
        grad(made("c = decimal.Context()\nreturn x * c.compare(2, 3)", decimal=decimal))(1.0)


def test_an_option_may_have_the_name_of_one_of_the_compiler():
    def transformed(x, type=1, name=None):
        return np.asarray(x) * type

    transformed.__module__ = "scipy.fft"  # of a library, which is not inlined
    f = made("return np.sum(transformed(x, type=2, name='a'))", np=np, transformed=transformed)
    with pytest.raises(NoRuleError):
        grad(f)(X)


def test_the_layout_of_each_variable_is_found_once(monkeypatch):
    seen, found = [], memory_layouts._result
    monkeypatch.setattr(memory_layouts, "_result", lambda lo, fn, *rest: (seen.append(fn), found(lo, fn, *rest))[1])
    body = "y = x * 2\n" + "y = y * y + y * 0.5\n" * 12 + "z = np.ravel(y)\nz[0] = 1\nreturn np.sum(y * y)"
    grad(made(body, np=np))(A / 9)
    assert 0 < len(seen) < 400


def test_stacks_are_joined_together(monkeypatch):
    walks, found = [], flatten_stacks.residual_stacks
    monkeypatch.setattr(flatten_stacks, "residual_stacks", lambda function: (walks.append(function), found(function))[1])
    nest = "for i in range(3):\n    for k in range(len(x)):\n        s = np.sin(s * x[k])\n"
    assert sourcead.check_grads(made(f"s = 1.0\n{nest * 8}return s", np=np), (X,)) is None
    assert max(sum(w.name == name for w in walks) for name in {w.name for w in walks}) <= 4
