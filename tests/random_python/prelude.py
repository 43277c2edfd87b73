"""What programs import, and the functions and classes that they use; a program contains those that it names."""

IMPORTS = """
import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import math
import operator

import numpy as np
""".strip().splitlines()

PARTS = {
    "LIMIT": "LIMIT = 0.7",
    "TABLE": "TABLE = (0.3, 0.6, -0.4)",
    "Point": 'Point = collections.namedtuple("Point", "p q")',
    "same": "def same(q):\n    return q",
    "pair": "def pair(p, q=0.5, *rest, **more):\n    return p, q",
    "touch": "def touch(a, v):\n    a[0] += v\n    return a[-1] * 0.5",
    "halves": "def halves(a):\n    for q in a:\n        yield q * 0.5",
    "twofold": "def twofold(a):\n    a *= 2\n    return a",
    "total": "def total(q):\n    if isinstance(q, (list, tuple)):\n        s = 0.0\n        for p in q:\n            s += total(p)\n        return s\n"
             "    if isinstance(q, dict):\n        return total(list(q.values()))\n    return float(np.sum(np.sin(q)))",
    "walk": "def walk(tree):\n    if isinstance(tree, list):\n        for part in tree:\n            yield from walk(part)\n    else:\n        yield tree",
    "quicksort": "def quicksort(a, low, high):\n    if low >= high:\n        return\n    pivot, k = a[high], low\n    for i in range(low, high):\n"
                 "        if a[i] < pivot:\n            a[i], a[k] = a[k], a[i]\n            k += 1\n    a[k], a[high] = a[high], a[k]\n"
                 "    quicksort(a, low, k - 1)\n    quicksort(a, k + 1, high)",
    "power": "def power(q, n):\n    return 1.0 if n == 0 else q * power(q, n - 1)",
    "fib": "def fib(n, q, memo):\n    if n not in memo:\n        memo[n] = q if n < 2 else fib(n - 1, q, memo) * 0.5 + fib(n - 2, q, memo)\n    return memo[n]",
    "doubled": "def doubled(f):\n    @functools.wraps(f)\n    def g(*args, **more):\n        return f(*args, **more) * 2\n\n    return g",
    "scaled": "def scaled(by):\n    def decorate(f):\n        return lambda *args: f(*args) * by\n\n    return decorate",
    "first": "@doubled\ndef first(a, k=0):\n    return a[k] * 0.7",
    "last": "@scaled(0.5)\ndef last(a):\n    return a[-1]",
    "collect": "def collect(q, into=None):\n    into = [] if into is None else into\n    into.append(q)\n    return into",
    "spread": "def spread(*args, by=1.0, **named):\n    return sum(np.sum(q) * by for q in args) + sum(np.sum(q) for q in named.values())",
    "locked": "@contextlib.contextmanager\ndef locked(a):\n    a[0] += 0.3\n    yield a\n    a[0] *= 0.5",
    "Guard": "class Guard:\n    def __init__(self, a):\n        self.a = a\n\n    def __enter__(self):\n        return self.a\n\n"
             "    def __exit__(self, *error):\n        self.a[0] *= 0.5\n        return False",
    "Countdown": "class Countdown:\n    def __init__(self, q, n):\n        self.q, self.n = q, n\n\n    def __iter__(self):\n        return self\n\n"
                 "    def __next__(self):\n        if self.n <= 0:\n            raise StopIteration\n        self.n -= 1\n        return self.q * self.n",
    "Cell": "class Cell:\n    scale = 0.5\n\n    def __init__(self, v=0.1, w=0.2):\n        self.v = v\n        self.w = w\n\n"
            "    @property\n    def double(self):\n        return self.v * 2\n\n    def times(self, q):\n        return self.v * q * self.scale\n\n"
            "    def put(self, q):\n        self.v = q\n        return self\n\n    def __call__(self, q):\n        return self.v + q\n\n"
            "    def __getitem__(self, k):\n        return (self.v, self.w)[k]\n\n    def __len__(self):\n        return 2\n\n"
            "    def __iter__(self):\n        return iter((self.v, self.w))\n\n    def __add__(self, other):\n"
            "        return type(self)(self.v + (other.v if isinstance(other, Cell) else other), self.w)\n\n"
            "    @classmethod\n    def of(cls, q):\n        return cls(q, q)\n\n    @staticmethod\n    def half(q):\n        return q * 0.5",
    "Node": "class Node(Cell):\n    scale = 0.3\n\n    def __init__(self, v, w):\n        super().__init__(v)\n        self.w = [w]\n\n"
            "    def times(self, q):\n        return super().times(q) + 0.1",
    "Pair": "@dataclasses.dataclass\nclass Pair:\n    v: object\n    w: object = 0.4\n\n    def times(self, q):\n        self.v = self.v * q\n        return self.v",
}
NEEDS = {"first": ("doubled",), "last": ("scaled",), "Node": ("Cell",)}

CALLS = r"""
{t} = total({some})
{t} = list(walk([{num}, [{num}, {num}]]))
quicksort({V1}, 0, len({V1}) - 1)
{t} = power({num}, {int})
{t} = fib({int}, {num}, {})
{t} = first({V})
{t} = first({V1}, k=-1)
{t} = last({V})
{t} = collect({item})
{t} = collect({item}, {L})
{t} = spread({arr}, {num}, by={num})
{t} = spread(*{LA}, a={num})
{t} = spread(*[{num}, {arr}], **{"b": {arr}})
{t} = twofold({A})
twofold({A})
twofold(a={A1}[1:])
{t} = list(halves({V}))
{t} = sum(halves({LF}))
{t} = [q for q in Countdown({num}, 3)]
{t} = sum(Countdown({arr}, 2))
{t} = functools.partial(pair, {A})({num})[0]
{t} = functools.partial(spread, by={num})({arr})
{t} = (lambda p, q={num}: p * q)({num})
{t} = [f({num}) for f in (math.sin, math.cos, abs)]
{t} = {"sin": np.sin, "cos": np.cos}["sin"]({arr})
{t} = operator.itemgetter(0)({V})
{t} = (np.sin if {bool} else np.cos)({arr})
{t} = (lambda f: f(f({num})))(lambda q: q * {c})
"""


def needed(text):
    """Return the parts of the prelude that a text names, in order, as source lines."""
    import re

    words = set(re.findall(r"\w+", text))
    chosen = {k for k in PARTS if k in words}
    for name in list(chosen):
        chosen |= set(NEEDS.get(name, ()))
    out = []
    for name, source in PARTS.items():
        if name in chosen:
            gap = ["", ""] if "\n" in source else []
            out += gap + source.split("\n") + gap
    return out


def everything():
    """Return the names that all the parts define, run once."""
    names = {"__name__": "drawn"}
    exec("\n".join(IMPORTS) + "\n" + "\n\n".join(PARTS.values()), names)
    names.pop("__builtins__")
    return names
