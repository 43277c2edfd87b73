"""Functions with a cache, and global data: what they return is there for every call, so a write to it is refused wherever it happens."""

import dataclasses
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


PRICES = {"tea": 2.0, "milk": 3.0}
HEATS = {"tea": 2.0, "milk": {"price": 3.0, "sizes": [1.0, 2.0]}}
RATES, COUNTS = {"day": 1.0}, {}
WEIGHTS = np.array([1.0, 3.0])


@functools.cache
def prices(names):
    return {name: [PRICES["tea"], {"twice": 2 * PRICES[name]}] for name in names}


@functools.cache
def priced(q):
    return q * HEATS["tea"] + HEATS["milk"]["price"] * WEIGHTS[1]


@functools.cache
def by_day(q):
    return q * RATES["day"]


def set_day(value):
    RATES["day"] = value


@functools.cache
def counted(n):
    COUNTS[n] = COUNTS.get(n, 0) + 1
    return 1.0 * n


class Model:
    def __init__(self, rate):
        self.rate, self.parts, self.array = rate, [rate], np.array([rate, 1.0])

    @functools.lru_cache  # noqa: B019
    def factor(self, n):
        return self.rate * self.parts[0] * self.array[0] + n

    def run(self, x):
        return self.factor(2) * x + self.factor(2)


@dataclasses.dataclass(frozen=True)
class Fluid:
    density: float
    name: str = "water"


@dataclasses.dataclass(frozen=True)
class Labelled:
    density: float
    weight: float = dataclasses.field(default=1.0, compare=False)


@dataclasses.dataclass(eq=False)
class Named:
    name: str
    value: float

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@functools.cache
def heavy(fluid):
    return fluid.density * 2


@functools.cache
def weighed(labelled):
    return labelled.density * labelled.weight


@functools.cache
def valued(named):
    return named.value


@functools.cache
def itself(model):
    return model


MODEL = Model(2.0)


@functools.cache
def rate_of(model):
    return model.rate


@functools.cache
def missing(n):
    raise ValueError("there is none")


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


def right_table(x):
    return x * prices(("tea",))["tea"][0] * prices(("tea",))["tea"][1]["twice"]


def right_table_in_a_function_of_the_argument(x):
    return priced(x) * x


def right_object_made_here(x):
    return Model(x).run(x)


def right_objects_made_in_a_loop(x):
    total = 0.0
    for i in range(3):
        model = Model(x + i)
        model.rate = 2 * model.rate
        total += model.factor(i)
    return total


def right_objects_in_a_list(x):
    models = [Model(x), Model(2 * x)]
    return sum(m.factor(1) for m in models) + sum(m.factor(1) for m in models)


def right_objects_equal_by_fields(x):
    return heavy(Fluid(x)) * heavy(Fluid(x)) + heavy(Fluid(2 * x, "oil"))


def right_global_object(x):
    return x * rate_of(MODEL) + MODEL.run(x)


def right_unreached(x):
    return missing(3) * x if x > 100 else x * x


def refused_table_that_a_function_changes(x):
    set_day(2.0)
    first = by_day(x)
    set_day(5.0)
    return first + by_day(x)


def refused_count(x):
    return x * counted(2) + len(COUNTS)


def refused_attribute_of_what_it_was_given(x):
    model = Model(x)
    before = model.factor(1)
    model.rate = 3.0
    return before + model.factor(1)


def refused_array_of_what_it_was_given(x):
    model = Model(x)
    array, before = model.array, model.factor(1)
    array[0] = 3.0
    return before + model.factor(1)


def refused_what_it_was_given_in_the_iteration_before(x):
    model, total = Model(x), 0.0
    for _ in range(3):
        model.parts[0] += 1.0
        total += model.factor(1)
    return total


def refused_one_of_two_that_it_was_given(x):
    one, other = Model(x), Model(2 * x)
    chosen = one if x > 1 else other
    before = chosen.factor(1)
    one.rate = 7.0
    return before + chosen.factor(1)


def refused_objects_equal_by_some_fields(x):
    return weighed(Labelled(x)) * weighed(Labelled(x, 2.0))


def refused_objects_equal_by_name(x):
    return valued(Named("a", x)) * valued(Named("a", 2 * x))


def refused_argument_returned(x):
    return itself(Model(x)).rate * x


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


def right_print(x):
    return x * said(2) + said(2)


def right_global(x):
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
CACHED = [f for f in [*globals().values(), Box.scaled, Model.factor] if isinstance(f, functools._lru_cache_wrapper)]


def forgotten(f):
    """Python's value of a function whose caches are empty and whose globals are new."""

    def called(x):
        for cached in CACHED:
            cached.cache_clear()
        GRID[:] = [0.0, 1.0, 2.0]
        COUNTS.clear()
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


def test_what_was_drawn_is_kept():
    kept = drawn(1)
    assert value_and_grad(lambda x: x * drawn(1) + drawn(1), verify=False)(2.0) == (3.0 * kept, kept)


def test_a_table_that_others_change_is_asked_for_as_python_does():
    before = PRICES["tea"]
    function = value_and_grad(lambda x: x * prices(("tea",))["tea"][0], verify=False)
    try:
        assert function(2.0) == (2 * before, before)
        PRICES["tea"] = 5.0
        assert function(2.0) == (2 * before, before)  # which the cache still has
        prices.cache_clear()
        assert function(2.0) == (10.0, 5.0)
    finally:
        PRICES["tea"] = before
        prices.cache_clear()
