"""Functions with known gradients whose names, keys, texts, numbers and places of source an attacker might have chosen.

A kind of case is a function that draws such texts from hypothesis and returns a `Case`, or None for texts that Python itself refuses.
"""

import contextlib
import keyword
import linecache
import math
import types
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from sourcead import grad
from sourcead.errors import SourceADError, WrtError

# ---- what an attacker might write ----

CALLS = [
    "canary()", "a=0.0, z=canary(), c", "x\ncanary()\n", "x\rcanary()", "'+canary()+'", '"+canary()+"',
    '"""\ncanary()\n"""', "\\", "\\'", '\\"', "]; canary(); x[0", "{canary()}", "{{", "}", "{0}", "%s", "%(x)s", "#",
    "# \ncanary()", "x)\ncanary()", "__comment_0__", "\n__comment_9__\n", "__import__('os').system('true')",
    "lambda: canary()", "x\x0ccanary()", "x\u2028canary()", "x\x85canary()", "\x00", "a\x00b", "\ud800", "\udcff",
    "\u202e", "\ufeff", "", " ", "\t", "1st", "x.y", "x y", "a:=canary()", "*", "**", ":", "[0]", "(", '"""', "'''",
    "\"'", '"\'"""', "learning rate", "C:\\new", "../../x", "$(true)", "`true`", "é", "²", "x²", "ⅷ", "𝐱", "ﬁ", "ſ",
    "µ", "ª", "Å", "x·y", "٣",
]  # fmt: skip
NAMES = [
    "np", "numpy", "math", "d_x", "d_w", "_", "__", "___", "runtime", "__import__", "__builtins__", "__name__",
    "__debug__", "__class__", "__dict__", "__doc__", "__getattr__", "__init__", "__slots__", "__call__", "cls",
    "self", "T", "dtype", "shape", "getattr", "setattr", "type", "slice", "range", "len", "zip", "enumerate",
    "reversed", "sum", "abs", "float", "int", "bool", "tuple", "list", "dict", "set", "min", "max", "print", "exec",
    "eval", "open", "compile", "object", "super", "isinstance", "sad_key", "sad_table", "sad_call", "sad_type",
    "sad_array", "sad_float", "sad_last", "sad_miss", "sad_make", "sad_defaults", "sad_key_of", "defaults", "key",
    "call", "table", "miss", "total", "ratio", "product", "power", "constant", "function", "function_", "rule",
    "compiled", "live", "i", "k", "h", "hs", "y", "t", "x_1", "w_grad", "f_grad", "loss_grad", "gradients", "value",
    "copy", "make_record", "zeros_like", "ﬁ", "fi", "ſ", "s", "𝐱", "x", "µ", "μ", "é", "e\u0301", "ª", "a", "match",
    "case", "_1", "__comment_0__", "__comment_1__", "collections", "l", "O", "I", "λ", "名", "__x", "__x__", "async_",
    *keyword.kwlist,
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(CALLS), st.sampled_from(NAMES), st.text(max_size=12), st.builds("{}{}".format, *[st.sampled_from(CALLS)] * 2)
)


def is_readable(name: str) -> bool:
    """Whether Python reads a word as a name; it reads `ﬁ` as `fi`."""
    return name.isidentifier() and not keyword.iskeyword(name) and name != "__debug__"


LETTERS = st.characters(categories=["Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Mn", "Nd", "Pc", "No"])
SPELLED = st.one_of(st.sampled_from([n for n in NAMES if is_readable(n)]), st.text(LETTERS, min_size=1, max_size=3).filter(is_readable))


def words(count: int) -> st.SearchStrategy:
    return st.lists(TEXTS, min_size=count, max_size=count, unique=True)


def spelled(count: int) -> st.SearchStrategy:
    return st.lists(SPELLED, min_size=count, max_size=count, unique_by=lambda name: unicodedata.normalize("NFKC", name))


# ---- one case ----


class Case(NamedTuple):
    f: Callable
    args: tuple
    value: Any
    gradient: Any  # of the first argument
    options: dict = {}  # noqa: B006
    saved: bool = True  # whether the module that is saved is run, too
    also: Callable = lambda: None  # what else has to hold


def defined(text: str, name: str, space: dict | None = None, file: str = "<model>") -> Any:
    """What a text defines; its source is found as in a notebook."""
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"__name__": "model", "numpy_": np, **(space or {})}
    exec(compile(text, file, "exec", dont_inherit=True), space)
    return space[unicodedata.normalize("NFKC", name)]


HUGE = st.just(0).map(lambda _: 10**4400)  # Python refuses to write an integer of more than 4300 digits

# ---- the kinds of cases ----

X = np.array([[1.0, 2.0], [3.0, 4.0]])


def keys(data):
    k, m, w = data.draw(words(3))
    f = lambda p: np.sum(p[w] ** 2) * p[k] + np.sin(p["in"][m])  # noqa: E731
    p = {"in": {m: 0.5, "other": 1.0}, k: 2.0, w: X}
    if len({k, w, "in"}) < 3 or m == "other":
        return None
    return Case(f, (p,), 60 + math.sin(0.5), {"in": {m: math.cos(0.5), "other": 0.0}, k: 30.0, w: 4 * X})


def keys_in_a_loop(data):
    names = data.draw(words(3))

    def f(p, q):
        total = 0.0
        for name, v in p.items():
            total = total + np.sum(v * v) * q[name]
        return total

    p = {name: X * k for k, name in enumerate(names, 1)}
    q = dict.fromkeys(names, 3.0)
    return Case(f, (p, q), 90.0 * 14, {name: 6 * v for name, v in p.items()})


def layers(data):
    """Arrays in records in a list, to whose cotangents a loop adds."""
    w, b = data.draw(words(2))

    def f(p, x):
        total = 0.0
        for k in range(3):
            for layer in p:
                total = total + np.sum(getattr(layer, w) * x) * getattr(layer, b)
                getattr(layer, w)[0, k % 2] *= 1.0
        return total

    p = [types.SimpleNamespace(**{w: X.copy(), b: k + 1.0}) for k in range(2)]
    return Case(f, (p, X), 270.0, [types.SimpleNamespace(**{w: 3 * (k + 1) * X, b: 90.0}) for k in range(2)], saved=False)


class Text(str):
    __slots__ = ()
    __repr__ = __str__ = __format__ = lambda self, *_: "canary()"


def texts_of_a_class(data):
    """A text whose class says otherwise: its `repr` is code."""
    a, b = map(Text, data.draw(words(2)))
    f = lambda p, mode: np.sum(p[a] ** 2) * (2.0 if mode == b else 3.0)  # noqa: E731
    return Case(f, ({a: X, b: 1.0}, b), 60.0, {a: 4 * X, b: 0.0})


def other_keys(data):
    scalars = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), st.binary(max_size=4), TEXTS)
    keys = st.one_of(scalars, st.tuples(scalars, scalars), HUGE, st.frozensets(scalars, max_size=2))
    k, m = data.draw(st.lists(keys, min_size=2, max_size=2, unique=True))

    def f(p):
        total = 1.0
        for v in p.values():
            total = total * v * v
        return total

    return Case(f, ({k: 3.0, m: 2.0},), 36.0, {k: 24.0, m: 36.0})


def attributes(data):
    k, w = data.draw(words(2))
    p = types.SimpleNamespace(**{k: 2.0, w: X})
    return Case(
        lambda p: np.sum(getattr(p, w) ** 2) * getattr(p, k), (p,), 60.0, types.SimpleNamespace(**{k: 30.0, w: 4 * X}),
        saved=data.draw(st.booleans()),
    )  # fmt: skip


def spelled_attributes(data):
    k, w = data.draw(spelled(2))
    p = types.SimpleNamespace()
    try:
        exec(compile(f"p.{k} = 2.0\np.{w} = X", "<set>", "exec"), {"p": p, "X": X})
    except (AttributeError, TypeError):  # of `__dict__` and `__class__`
        return None
    f = defined(f"def f(p):\n    return numpy_.sum(p.{w} ** 2) * p.{k}\n", "f")
    names = [unicodedata.normalize("NFKC", name) for name in (k, w)]
    return Case(f, (p,), 60.0, types.SimpleNamespace(**dict(zip(names, (30.0, 4 * X)))))


def names_in_code(data):
    f, p, q, v, i, helper, a, glob = data.draw(spelled(8))
    numpy_ = data.draw(st.sampled_from(["np", "xp", "numpy_", "d_np"]))
    taken = {unicodedata.normalize("NFKC", n) for n in (f, p, q, v, i, helper, a, glob)}
    if numpy_ in taken or taken & {"range", "__name__", "__builtins__", "numpy_"}:
        return None
    text = f"""
def {helper}({a}, *, {q}):
    return {a} * {q} + {glob}

def {f}({p}, {q}=2.0):
    {v} = {p} * {p}
    for {i} in range(3):
        {v} = {helper}({v}, {q}={q})
    return {numpy_}.sum({v}) + (lambda {a}: {a} * 2)({p}[0, 0])
"""
    return Case(defined(text, f, {glob: 3.0, unicodedata.normalize("NFKC", glob): 3.0, numpy_: np}), (X,), 326.0, 16 * X + [[2, 0], [0, 0]])


def names_of_locals(data):
    """No name but the parameters' is the attacker's: variables of several dims, dicts, slices and branches."""
    p, q, v, i, r = data.draw(spelled(5))
    if {unicodedata.normalize("NFKC", n) for n in (p, q, v, i, r)} & {"range", "numpy_", "len"}:
        return None
    text = f"""
def f({p}, {q}):
    {v} = numpy_.zeros(3)
    for {i} in range(3):
        {v}[{i}] = {p}[{i}] ** 2
    {r} = {{"{q}": {v}[1:], 'b': {q}}}
    if {q} > 1:
        {r}['b'] = {r}['b'] * 2
    return numpy_.sum({r}["{q}"]) * {r}["b"]
"""
    if r == "" or unicodedata.normalize("NFKC", q) == "b":
        return None
    x = np.array([1.0, 2.0, 3.0])
    return Case(defined(text, "f"), (x, 2.0), 52.0, 8 * x * [0, 1, 1])


def names_of_functions(data):
    name, qualified, module, doc = data.draw(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS))
    of_def, of_lambda = "def f(x, k):\n    return numpy_.sum(x ** 2) * k\n", "f = lambda x, k: numpy_.sum(x ** 2) * k\n"
    f = defined(data.draw(st.sampled_from([of_def, of_lambda])), "f")
    f.__name__, f.__qualname__, f.__module__, f.__doc__ = name, qualified, module, doc
    f.__annotations__ = {"x": data.draw(TEXTS), "return": data.draw(TEXTS)}
    return Case(f, (X, 2.0), 60.0, 4 * X)


def names_of_helpers(data):
    """A helper with a name of its own, called by a function that is not inlined: its name is that of a global of the text."""
    name = data.draw(TEXTS)
    made = defined("def h(x, n):\n    if n < 1:\n        return x * 2\n    return h(x * x, n - 1)\n", "h")
    made.__name__ = made.__qualname__ = name
    return Case(lambda x, n: made(x, n), (1.5, 2), 2 * 1.5**4, 8 * 1.5**3)


def names_of_classes(data):
    name, module, text = data.draw(st.tuples(TEXTS, TEXTS, TEXTS))
    try:
        cls = type(name, (), {"__module__": module, "__doc__": text, "__annotations__": {"w": text}})
    except (ValueError, UnicodeEncodeError):  # which Python refuses
        return None
    p = cls()
    p.w, p.k = X, 2.0
    gradient = types.SimpleNamespace(w=4 * X, k=30.0)
    f = lambda p: np.sum(p.w**2) * p.k  # noqa: E731
    return Case(lambda p: f(p), (p,), 60.0, gradient, saved=False)


def files(data):
    file = data.draw(TEXTS.filter(lambda t: "\x00" not in t and t)) + data.draw(st.sampled_from(["", ".py"]))
    return Case(defined("def f(x, k):\n    y = numpy_.sin(x)\n    return numpy_.sum(y ** 2) * k\n", "f", file=file), (X, 2.0),
                2 * np.sum(np.sin(X) ** 2), 4 * np.sin(X) * np.cos(X))  # fmt: skip


def constants(data):
    a, b = data.draw(words(2))
    text = f"""
def f(x, mode={a!r}):
    {a!r}
    table = {{{a!r}: 3.0, {b!r}: 5.0}}
    if mode == {b!r}:
        raise ValueError({a!r})
    y = x * len({a!r}) + table[mode]
    assert mode != {b!r}, {b!r}
    return numpy_.sum(y * y)  # {ascii(a)}
"""
    n = len(a)
    return Case(defined(text, "f"), (X,), np.sum((n * X + 3) ** 2), 2 * n * (n * X + 3))


def raised(data):
    """The message is the user's, whatever it is."""
    a = data.draw(TEXTS)
    f = defined(f"def f(x, mode):\n    if x > 1:\n        raise ValueError({a!r}, mode, f'{{mode}}|{{x:.1f}}')\n    return x * x\n", "f")
    b = data.draw(TEXTS)

    def raises():
        with pytest.raises((ValueError, SourceADError)) as caught:
            grad(f)(2.0, b)
        assert isinstance(caught.value, SourceADError) or caught.value.args == (a, b, f"{b}|2.0")

    return Case(f, (0.5, b), 0.25, 1.0, also=raises)


def strings_of_numpy(data):
    texts = st.one_of(
        TEXTS, st.text("ijk,->. 01", max_size=12), st.sampled_from(["ij,ij->", "f4", "<f8", "float32", "i,i", "O", "V", "M8[s]"])
    )
    a, b = data.draw(st.tuples(texts, texts))
    way = data.draw(st.integers(0, 3))
    f = [
        lambda x: np.sum(np.einsum(a, x, x)) ** 1,
        lambda x: np.sum(x.astype(a) * 1.0),
        lambda x: np.sum(np.zeros(2, dtype=a) + x),
        lambda x: np.sum(x) * len(a.format(x, x=b)) + len(f"{a}{b!r}" % ()) * 0.0,
    ][way]
    try:
        with np.errstate(all="ignore"):
            value = f(X)
            rows = [f(X + dx) - f(X - dx) for dx in 0.5 * np.eye(4).reshape(4, 2, 2)]
        expected = np.reshape(rows, (2, 2))  # exact for what is quadratic
        if way == 1 and np.dtype(a).kind not in "fcO":  # the derivative of steps
            expected = np.zeros((2, 2))
    except Exception:
        value = expected = None  # Python refuses, and so must we
    return Case(f, (X,), value, expected, saved=False)


def places(data):
    """`wrt` by a hostile name is refused, or names a parameter."""
    a, p = data.draw(TEXTS), data.draw(SPELLED.filter(lambda n: n not in ("numpy_", "k")))
    f = defined(f"def f({p}, k):\n    return numpy_.sum({p} ** 2) * k\n", "f")
    p = unicodedata.normalize("NFKC", p)

    def refuses():
        with contextlib.nullcontext() if a in (p, "k") else pytest.raises(WrtError, match="."):
            grad(f, wrt=a)(X, 2.0)

    return Case(f, (X, 2.0), 60.0, 4 * X, {"wrt": p}, also=refuses)


def globals_and_closures(data):
    texts = data.draw(st.lists(TEXTS, min_size=1, max_size=3))
    g, k = data.draw(spelled(2))
    if {unicodedata.normalize("NFKC", n) for n in (g, k)} & {"numpy_", "len", "f", "make", "x", "__name__", "__builtins__"}:
        return None
    text = f"def make({k}):\n    def f(x):\n        return numpy_.sum(x ** 2) * len({g}) + len({k}[0]) * x[0, 0]\n    return f\n"
    f = defined(text, "make", {g: texts, unicodedata.normalize("NFKC", g): texts})(texts)
    n, m = len(texts), len(texts[0])
    return Case(f, (X,), 30 * n + m, 2 * n * X + [[m, 0], [0, 0]])


def numbers(data):
    finite = st.floats(-1e100, 1e100)
    c = data.draw(st.one_of(st.floats(), finite, st.integers(), st.integers(-(10**30), 10**30), st.just(-0.0), HUGE))
    where = data.draw(st.sampled_from(["literal", "global", "argument", "default"]))
    if where == "literal" and (abs(c) > 10**4000 or c != c or abs(c) == math.inf):
        where = "global"
    spelling = {"literal": f"({c!r})" if where == "literal" else "", "global": "c"}.get(where, "k")
    text = f"def f(x, k{'=c' if where == 'default' else ''}):\n    return numpy_.sum(x * x) + x[0, 0] * {spelling}\n"
    f = defined(text, "f", {"c": c})
    try:
        with np.errstate(all="ignore"):
            value, slope = 30.0 + 1.0 * c, 1.0 * c
    except OverflowError:
        value = slope = 0.0
    args = (X,) if where == "default" else (X, c)
    return Case(f, args, value, 2 * X + [[slope, 0], [0, 0]], saved=where != "default")


KINDS = [
    keys, layers, texts_of_a_class, keys_in_a_loop, other_keys, attributes, spelled_attributes, names_in_code,
    names_of_locals, names_of_functions, names_of_helpers, names_of_classes, files, constants, raised,
    strings_of_numpy, places, globals_and_closures, numbers,
]  # fmt: skip
SELDOM = {strings_of_numpy}  # whose texts NumPy refuses, most of them


