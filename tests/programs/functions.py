"""Functions as people use them: helpers, closures, partials, methods, recursion, defaults, decorators."""

import functools
import itertools
import math
import operator
from functools import partial, reduce, wraps

import numpy as np

from tests.programs import program, register
from tests.programs import signals as other_module

GRAVITY = 9.81
WEIGHTS = np.array([0.5, -1.0, 2.0])
TABLE = {"scale": 2.0, "shift": np.array([1.0, 2.0, 3.0])}


def square(x):
    return x * x


def polynomial(x, a=1.0, *, b=2.0, c=0.5):
    return a * x**2 + b * x + c


def total(*terms):
    s = 0.0
    for t in terms:
        s = s + np.sum(t)
    return s


def configured(x, **options):
    return x * options["gain"] + options.get("offset", 1.0)


def two_results(x):
    return np.sin(x), np.cos(x) * x


def early(x, n):
    if n == 0:
        return x
    y = x * x
    if n == 1:
        return y
    return y * x


@program(args=lambda rng: (rng.normal(size=3),))
def helper_calls(x):
    a, b = two_results(square(x))
    return np.sum(square(a) + square(b) * a)


@program(args=lambda rng: (rng.normal(size=3), 2))
def helper_with_early_return(x, n):
    return np.sum(early(x, 0) * early(x, 1) + early(x, n))


@program(args=(0.5, 1.5), wrt=(0, 1), level="python")
def defaults_and_keywords(x, y):
    p = polynomial(x) + polynomial(x, y) + polynomial(a=y, x=x, c=x * y)
    return p + polynomial(x, b=y) * polynomial(y, 2.0, c=1.0)


@program(args=lambda rng: (rng.normal(size=3), 0.7), wrt=(0, 1), level="python")
def star_arguments(x, s):
    parts = [x, x * s]
    settings = {"gain": s, "offset": x[0]}
    return total(x, s, x * x) * total(*parts) + configured(s, **settings) * configured(s, gain=2.0) + total()


@program(args=(0.3, 0.4), wrt=(0, 1), level="python")
def keyword_only(x, y, *, scale=3.0):
    return scale * x * y + x


@program(args=(0.3, 0.4, 0.5), level="python")
def variadic(x, *rest):
    s = x
    for r in rest:
        s = s * r + x
    return s


@program(args=lambda rng: (rng.normal(size=3),))
def reads_globals(x):
    return np.sum(WEIGHTS * x) * GRAVITY + np.sum(TABLE["shift"] * x**2) * TABLE["scale"] + other_module.math.pi * x[0]


@program(args=lambda rng: (rng.normal(size=3), 0.5), wrt=(0, 1), level="python")
def inner_functions(x, s):
    t = s * 2

    def inner(y):
        return y * t + s

    def twice(f, y):
        return f(f(y))

    return np.sum(twice(inner, x) * inner(1.0))


@program(args=lambda rng: (rng.normal(size=3), 0.5), wrt=(0, 1), level="python")
def closure_sees_the_latest_value(x, s):
    def scaled(y):
        return y * s

    a = scaled(x)
    s = s * s + 1
    b = scaled(x)  # the new s
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def closures_made_in_a_loop(x):
    functions = []
    for i in range(3):
        functions.append(lambda v: v * x[i])  # all see the last i
    bound = [lambda v, i=i: v * x[i] for i in range(3)]
    return functions[0](2.0) + functions[1](x[0]) + bound[0](3.0) * bound[1](1.0)


@program(args=lambda rng: (rng.normal(size=3), 1.5), wrt=(0, 1), level="python")
def lambdas_and_partials(x, s):
    f, g = lambda v: v * s, lambda v: np.sin(v) + s
    h = partial(polynomial, b=s)
    k = functools.partial(np.sum, axis=0)
    return k(f(g(x))) + h(s) + np.sum(h(x, 2.0)) + (lambda a, b: a * b)(s, x[1])


@program(args=lambda rng: (rng.normal(size=3), "tanh"), level="python", also=(lambda rng: (rng.normal(size=3), "square"),))
def functions_in_a_dict(x, name):
    table = {"tanh": np.tanh, "square": square, "double": lambda v: v + v}
    y = table[name](x)
    for f in [np.sin, square, table["double"]]:
        y = f(y)
    return y.sum()


@program(args=(0.9, 5), level="python", also=((0.9, 0),))
def recursive_power(x, n):
    if n == 0:
        return 1.0
    if n % 2:
        return x * recursive_power(x, n - 1)
    half = recursive_power(x, n // 2)
    return half * half


def fibonacci_like(n, a, b):
    return a if n == 0 else fibonacci_like(n - 1, b, a * 0.5 + b)


@program(args=(0.9, 0.4, 6), wrt=(0, 1), level="python")
def tail_recursion(a, b, n):
    return fibonacci_like(n, a, b) * a


def is_even(n, x):
    return x if n == 0 else is_odd(n - 1, x * 1.1)


def is_odd(n, x):
    return -x if n == 0 else is_even(n - 1, x + 0.5)


@program(args=(0.9, 5), level="python")
def mutual_recursion(x, n):
    return is_even(n, x) * x


def sum_of_tree(tree):
    if isinstance(tree, (list, tuple)):
        s = 0.0
        for branch in tree:
            s += sum_of_tree(branch)
        return s * 1.1
    return tree * tree


@program(args=([1.0, (2.0, [0.5, 3.0]), -1.0],), level="python")
def recursion_over_a_tree(tree):
    return sum_of_tree(tree)


@program(args=lambda rng: (rng.normal(size=8),), level="python")
def divide_and_conquer(x):
    def best(lo, hi):
        if hi - lo == 1:
            return x[lo] * 1.0
        mid = (lo + hi) // 2
        return best(lo, mid) * 0.7 + best(mid, hi) ** 2

    return best(0, len(x))


@program(args=(1.1, 4), level="python")
def higher_order(x, n):
    def iterate(f, n):
        def iterated(y):
            for _ in range(n):
                y = f(y)
            return y

        return iterated

    compose = lambda *fs: lambda v: reduce(lambda acc, f: f(acc), fs, v)
    return iterate(lambda y: y - (y * y - x) / (2 * y), n)(1.0) + compose(math.sin, square, lambda t: t * x)(x)


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=4),), level="python")
def reduce_accumulate_map(x):
    a = reduce(lambda p, q: p * q, x)
    b = functools.reduce(operator.add, [x[0], x[1] * 2, x[2]], 1.0)
    c = list(itertools.accumulate(x, lambda acc, e: acc * 0.5 + e))
    d = list(map(lambda e: e**2, x))
    e = [*map(operator.mul, x, d)]
    f = list(filter(lambda v: v > 0.9, x))
    return a * b + c[-1] * c[1] + sum(d) * d[0] + sum(e) + sum(f)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def numpy_reduce_methods(x):
    return np.add.reduce(x**2) + np.multiply.reduce(x + 3) + np.sum(np.add.accumulate(x) ** 2) + np.sum(np.multiply.outer(x, x)) + np.maximum.reduce(x)


@program(args=lambda rng: ([0.5, 2.0, -1.0], rng.normal(size=3)), wrt=(0, 1), level="python")
def builtins(values, x):
    s = sum(values) + sum(x) + max(values) * min(x) + abs(values[2]) + pow(values[1], 3)
    m = max(values[0], x[0]) + min(1.0, values[1], x[1]) + max([x[2], values[2]], default=0.0) + sum([x, x * 2])[1]
    return s * m + float(len(values)) * x[0] + divmod(values[1], 0.7)[1]


def documented(f):
    @wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def doubled(f):
    """A decorator that changes what the function computes."""

    def wrapper(x):
        return 2 * f(x)

    return wrapper


@documented
def decorated_helper(x):
    return np.tanh(x) * x


@doubled
def doubled_helper(x):
    return x**2


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def calls_decorated_functions(x):
    return np.sum(decorated_helper(x)) + np.sum(doubled_helper(x))


@functools.lru_cache(maxsize=None)
def cached_coefficient(n):
    return 1.0 / (1 + n)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def calls_a_cached_function(x):
    s = 0.0
    for i in range(3):
        s += cached_coefficient(i) * x[i] ** 2
    return s


@program(args=lambda rng: (rng.normal(size=3), square), level="python", also=(lambda rng: (rng.normal(size=3), np.tanh), lambda rng: (rng.normal(size=3), lambda v: 3 * v)))
def function_as_an_argument(x, f):
    return np.sum(f(x) * f(f(x)))


@program(args=(0.5, 2.0), wrt=(0, 1), level="python")
def assertions_and_messages(x, y):
    assert y > 0, "y must be positive"
    if x > 100:
        raise ValueError(f"x = {x} is too large")
    print("computing at", y)
    pass
    z = x * y
    print(f"{z:.3f}", end=";")
    return z * z


@program(args=(-1.0,), level="python", raises=ValueError)
def raises_an_error(x):
    y = x * x
    if x < 0:
        raise ValueError("negative")
    return y


@program(args=(-1.0,), level="python", raises=AssertionError)
def fails_an_assertion(x):
    assert x > 0
    return x * x


@program(args=lambda rng: (rng.normal(size=3),), level="python", raises=IndexError)
def indexes_out_of_range(x):
    return x[0] * x[5]


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=4)), level="python", raises=ValueError)
def shapes_do_not_match(x, y):
    return np.sum(x * y)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def prints_in_a_loop(x):
    s = 0.0
    for i in range(3):
        s = s * 0.5 + x[i] ** 2
        print(i, round(float(s), 3))
    return s


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def contexts_and_tries(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / (x * x + 1)
    try:
        z = np.sum(y * y)
    except ZeroDivisionError:
        z = 0.0
    try:
        w = z * y[1]
    finally:
        v = z + 1
    return w * v


@program(args=(4.0, 1.0), wrt=(0, 1), level="python", also=((4.0, 0.0),))
def exception_takes_a_path(x, y):
    try:
        q = math.sqrt(y - 0.5) * x
    except ValueError:
        q = x * x + y
    return q * x


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def local_import(x):
    import math as m  # noqa: I001
    from numpy import exp, sum as total_of

    return total_of(exp(x) * m.pi) + m.sin(x[0])


class Scale:
    factor = 3.0

    def __init__(self, shift):
        self.shift = shift

    def __call__(self, x):
        return self.factor * x + self.shift

    def loss(self, x):
        return np.sum(self(x) ** 2) * self.gain

    @property
    def gain(self):
        return self.shift * 2

    @staticmethod
    def halve(x):
        return x / 2

    @classmethod
    def of_class(cls, x):
        return cls.factor * x


@program(args=lambda rng: (rng.normal(size=3), Scale(0.5)), level="python")
def object_with_methods(x, scale):
    y = scale(x)
    return np.sum(y * scale.halve(x)) + Scale.of_class(x[0]) * scale.gain + scale.loss(x)


@program(args=lambda rng: (rng.normal(size=3), 0.4), wrt=(0, 1), level="python")
def object_made_inside(x, s):
    scale = Scale(s)
    y = scale(x)
    scale.shift = scale.shift * 2 + x[0]
    return np.sum(y * scale(x)) * scale.gain


class WeightedLoss:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        return np.sum(self.weights * x**2)


def make_closure(weights, rate):
    def closure_over_an_array(x):
        return np.sum(weights * x * x) * rate

    return closure_over_an_array


def make_counter(limit):
    def inner(x):
        y = x
        for _ in range(limit):
            y = np.sin(y) * limit
        return np.sum(y)

    return inner


SAMPLE = dict(args=lambda rng: (rng.normal(size=3),), level="python")
register("closure_over_an_array", make_closure(np.array([1.0, 2.0, -1.0]), 0.3), **SAMPLE)
register("closure_over_a_number", make_counter(3), **SAMPLE)
register("lambda_loss", lambda x: np.sum(x**3) - x[0], **SAMPLE)
register("first_of_two_lambdas", (lambda x: np.sum(x * 2), lambda x: np.sum(x * 3 + x**2))[0], **SAMPLE)
register("second_of_two_lambdas", (lambda x: np.sum(x * 2), lambda x: np.sum(x * 3 + x**2))[1], **SAMPLE)
register("bound_method", Scale(0.7).loss, **SAMPLE)
register("callable_object", WeightedLoss(np.array([1.0, 2.0, 3.0])), **SAMPLE)
register("partial_of_a_function", partial(polynomial, a=2.0, b=0.5), args=(0.8,), level="python")
register("partial_with_an_array", partial(lambda w, x: np.sum(w * x**2), np.array([1.0, 2.0, 3.0])), **SAMPLE)
register("wrapped_function", documented(lambda x: np.sum(np.tanh(x) * x)), **SAMPLE)
