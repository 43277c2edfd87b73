"""Functions with a cache, and global data: what they return is there for every call, so a write to it is refused wherever it happens."""

import functools

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError

GRID = np.arange(3.0)
TABLE = [1.0, 2.0]
RATE = 2.0


@functools.cache
def reciprocal(n):
    return 1.0 / (n + 1)


@functools.lru_cache(maxsize=3)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.cache
def square(q):
    return q * q


@functools.cache
def zeros(n):
    return np.zeros(n)


@functools.cache
def ones(n):
    return [1.0] * n


@functools.cache
def nested(n):
    return 1.0, {"a": np.ones(n)}


class Box:
    def __init__(self, v):
        self.v = v

    @functools.lru_cache  # noqa: B019
    def scaled(self, n):
        return self.v * n

    @staticmethod
    @functools.cache
    def twice(n):
        return n * 2.0


@functools.cache
def boxed(n):
    return Box(n)


@functools.cache
def drawn(n):
    return np.random.normal() * n


@functools.cache
def said(n):
    print("said")
    return 1.0 * n


@functools.cache
def rated(n):
    return RATE * n


@functools.cache
def iterated(n):
    return iter([1.0, 2.0])


@functools.cache
def doubled(a):
    return a * 2


def fill(a, v):
    a[0] = v


def right_number(x):
    return x * reciprocal(3)


def right_recursion(x):
    return x * fib(6)


def right_of_the_argument(x):
    return square(x) * x


def right_in_a_loop(x):
    return sum(x * reciprocal(i) for i in range(3)) + sum(map(reciprocal, [1, 2]))


def right_array_that_is_read(x):
    return x * np.sum(zeros(3) + 1)


def right_list_that_is_read(x):
    return x * len(ones(3)) + sum(ones(3))


def right_object_that_is_read(x):
    return x * boxed(2).v * nested(2)[1]["a"][0]


def right_static_method(x):
    return x * Box.twice(2)


def right_copy(x):
    a = zeros(3).copy()
    a[0] = x
    return a[0] + zeros(3)[0] * x


def right_globals_in_a_list(x):
    kept = []
    for i in range(int(x + 0.5)):
        kept.append(GRID)
        kept.append(zeros(3))
    return x * sum(np.sum(q) for q in kept)


def right_global_that_is_rebound(x):
    a = np.zeros(3)
    for _ in range(3):
        a = a + x
        b, a = a, GRID
    return x * np.sum(a) * np.sum(b)


def refused_write(x):
    a = zeros(3)
    a[0] += x
    return zeros(3)[0] * x


def refused_write_of_a_view(x):
    b = zeros(3).reshape(3, 1)[1:]
    b[0] = x
    return np.sum(zeros(3)) * x


def refused_write_in_a_callee(x):
    fill(zeros(3), x)
    return zeros(3)[0] * x


def refused_out(x):
    np.add(zeros(3), x, out=zeros(3))
    return zeros(3)[0] * x


def refused_append(x):
    ones(2).append(3.0)
    return x * len(ones(2))


def refused_item_of_a_dict(x):
    nested(2)[1]["a"][0] = x
    return x * nested(2)[1]["a"][0]


def refused_attribute(x):
    boxed(1).v = x
    return boxed(1).v * x


def refused_partial(x):
    make = functools.partial(zeros, 3)
    make()[0] = x
    return make()[0] * x


def refused_write_in_the_next_iteration(x):
    a = np.zeros(3)
    for _ in range(3):
        a[0] += x
        a = zeros(3)
    return a[0] * x


def refused_global_in_the_next_iteration(x):
    a = np.zeros(3)
    for _ in range(3):
        a[0] += x
        a = GRID
    return a[0] * x


def refused_one_or_the_other(x):
    a = GRID if x > 0 else np.zeros(3)
    a[0] = x
    return GRID[0] * x


def refused_in_a_list(x):
    kept = []
    for _ in range(int(x + 0.5)):
        kept.append(zeros(3))
    kept[0][0] = x
    return zeros(3)[0] * x


def refused_globals_in_a_list(x):
    kept = [GRID for _ in range(3)]
    for q in kept:
        q[0] += x
    return x


def refused_carried(x):
    a = zeros(3)
    for i in range(2):
        b = a
        b[i] = x
        a = b
    return zeros(3)[0] * x


def refused_identity(x):
    return x * (2.0 if zeros(3) is zeros(3) else 1.0)


def refused_identity_of_objects(x):
    return x * (2.0 if boxed(1) is boxed(1) else 1.0)


def refused_random(x):
    return x * drawn(0) + drawn(0)


def refused_print(x):
    return x * said(2) + said(2)


def refused_global(x):
    return x * rated(2)


def refused_iterator(x):
    return x * next(iterated(1)) + 0 * next(iterated(1))


def refused_method(x):
    box = Box(1.0)
    before = box.scaled(2)
    box.v = 3.0
    return x * box.scaled(2) + before


def refused_info(x):
    reciprocal(3)
    return x * reciprocal.cache_info()[3]


CASES = [f for name, f in list(globals().items()) if name.startswith(("right_", "refused_"))]
CACHED = [f for f in list(globals().values()) if isinstance(f, functools._lru_cache_wrapper)]


def forgotten(f):
    """Python's value of a function whose caches are empty and whose globals are new."""

    def called(x):
        for cached in CACHED:
            cached.cache_clear()
        GRID[:] = [0.0, 1.0, 2.0]
        return f(x)

    return called


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_caches(f):
    python = forgotten(f)
    slope, value = (python(2.0 + 1e-6) - python(2.0 - 1e-6)) / 2e-6, python(2.0)
    GRID[:] = [0.0, 1.0, 2.0]
    if f.__name__.startswith("refused"):
        with pytest.raises(SourceADError):
            value_and_grad(f, verify=False)(2.0)
    else:
        np.testing.assert_allclose(value_and_grad(f, verify=False)(2.0), (value, slope), rtol=1e-5)


def test_an_unhashable_argument_is_refused():
    with pytest.raises(SourceADError, match="has a cache, and an argument is an array"):
        value_and_grad(lambda x: x * np.sum(doubled(GRID)))(2.0)


def test_the_cached_function_itself_can_be_differentiated():
    assert value_and_grad(square)(3.0) == (9.0, 6.0)
