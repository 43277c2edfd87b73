"""The functions, classes and constants that programs use; a program contains copies of those that it names."""

import collections
import contextlib
import copy  # noqa: F401
import dataclasses
import functools
import itertools  # noqa: F401
import math  # noqa: F401
import operator  # noqa: F401

import numpy as np

LIMIT = 0.7


TABLE = (0.3, 0.6, -0.4)


RATES = {"a": 0.3, "b": [0.2, 0.7]}


GRID = np.array([0.2, -0.5, 0.9])


Point = collections.namedtuple("Point", "p q")


def same(q):
    return q


def pair(p, q=0.5, *rest, **more):
    return p, q


def touch(a, v):
    a[0] += v
    return a[-1] * 0.5


def halves(a):
    for q in a:
        yield q * 0.5


def twofold(a):
    a *= 2
    return a


def total(q):
    if isinstance(q, (list, tuple)):
        s = 0.0
        for p in q:
            s += total(p)
        return s
    if isinstance(q, dict):
        return total(list(q.values()))
    return float(np.sum(np.sin(q)))


def walk(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from walk(part)
    else:
        yield tree


def quicksort(a, low, high):
    if low >= high:
        return
    pivot, k = a[high], low
    for i in range(low, high):
        if a[i] < pivot:
            a[i], a[k] = a[k], a[i]
            k += 1
    a[k], a[high] = a[high], a[k]
    quicksort(a, low, k - 1)
    quicksort(a, k + 1, high)


def power(q, n):
    return 1.0 if n == 0 else q * power(q, n - 1)


def fib(n, q, memo):
    if n not in memo:
        memo[n] = q if n < 2 else fib(n - 1, q, memo) * 0.5 + fib(n - 2, q, memo)
    return memo[n]


def doubled(f):
    @functools.wraps(f)
    def g(*args, **more):
        return f(*args, **more) * 2

    return g


def scaled(by):
    def decorate(f):
        return lambda *args: f(*args) * by

    return decorate


@doubled
def first(a, k=0):
    return a[k] * 0.7


@scaled(0.5)
def last(a):
    return a[-1]


def collect(q, into=None):
    into = [] if into is None else into
    into.append(q)
    return into


def spread(*args, by=1.0, **named):
    return sum(np.sum(q) * by for q in args) + sum(np.sum(q) for q in named.values())


@contextlib.contextmanager
def locked(a):
    a[0] += 0.3
    yield a
    a[0] *= 0.5


class Guard:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        return self.a

    def __exit__(self, *error):
        self.a[0] *= 0.5
        return False


class Countdown:
    def __init__(self, q, n):
        self.q, self.n = q, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.q * self.n


class Cell:
    scale = 0.5

    def __init__(self, v=0.1, w=0.2):
        self.v = v
        self.w = w

    @property
    def double(self):
        return self.v * 2

    def times(self, q):
        return self.v * q * self.scale

    def put(self, q):
        self.v = q
        return self

    def __call__(self, q):
        return self.v + q

    def __getitem__(self, k):
        return (self.v, self.w)[k]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.v, self.w))

    def __add__(self, other):
        return type(self)(self.v + (other.v if isinstance(other, Cell) else other), self.w)

    @classmethod
    def of(cls, q):
        return cls(q, q)

    @staticmethod
    def half(q):
        return q * 0.5


class Node(Cell):
    scale = 0.3

    def __init__(self, v, w):
        super().__init__(v)
        self.w = [w]

    def times(self, q):
        return super().times(q) + 0.1


@dataclasses.dataclass
class Pair:
    v: object
    w: object = 0.4

    def times(self, q):
        self.v = self.v * q
        return self.v
