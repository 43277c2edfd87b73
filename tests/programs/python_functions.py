"""Functions chosen while the program runs, generators, and what `itertools` makes of sequences."""

import itertools
import operator
from enum import Enum, IntEnum
from itertools import chain, combinations, cycle, islice, pairwise, permutations, product, repeat, starmap

import numpy as np

from tests.programs import program

X = np.array([0.7, -1.3, 2.1, 0.4, 1.9])


def gen_sq(v):
    for e in v:
        yield e * e


def gen_pairs(n):
    i = 0
    while i < n:
        yield i, i + 1
        i += 1


def gen(v):
    for e in v:
        if e > 0:
            yield e
        t = e * 2
        yield t


def chain_gen(v):
    yield v[0]
    yield from gen(v)
    yield v[1]


class Color(Enum):
    RED = 1
    BLUE = 2


class Mode(IntEnum):
    A = 0
    B = 1


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __iter__(self):
        return iter((self.a, self.b))

@program(args=(X,), level="python")
def closures_in_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda v: v * x[i])
    return sum(f(2.0) for f in fs)


@program(args=(X,), level="python")
def closures_default(x):
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * x[i])
    return sum(f(2.0) ** 2 for f in fs)


@program(args=(X,), level="python")
def fs_by_index(x):
    fs = [np.sin, np.cos, lambda e: e * e]
    s = 0.0
    for i, e in enumerate(x):
        s += fs[i % 3](e)
    return s


@program(args=(X,), level="python")
def fs_by_dict(x):
    ops = {"sq": lambda e: e * e, "id": lambda e: e, "neg": operator.neg}
    s = 0.0
    for i, e in enumerate(x):
        name = "sq" if e > 0 else "neg"
        s += ops[name](e) * (i + 1)
    return s


@program(args=(X, ["sq", "id", "sq", "neg", "id"],), level="python")
def fs_by_dict_names(x, names):
    ops = {"sq": lambda e: e * e, "id": lambda e: e, "neg": operator.neg}
    s = 0.0
    for n, e in zip(names, x):
        s += ops[n](e)
    return s


@program(args=(X,), level="python")
def f_cond(x):
    f = np.sin if x[0] > 0 else np.cos
    return f(x[1]) ** 2


@program(args=(X,), level="python")
def nonlocal_counter(x):
    total = 0.0
    def add(e):
        nonlocal total
        total += e * e
    for e in x:
        add(e)
    return total


@program(args=(X,), level="python")
def closure_counter(x):
    def make(k):
        count = 0
        def inc(e):
            nonlocal count
            count += 1
            return e * k * count
        return inc
    f = make(x[0])
    return f(x[1]) + f(x[2]) * f(x[3])


@program(args=(X, 3,), level="python")
def star_call(x, n):
    def f(*a):
        s = 0.0
        for e in a:
            s += e * e
        return s
    return f(*x) + f(*[e * 2 for e in x])


@program(args=(X,), level="python")
def prod_it(x):
    return sum(a * b for a, b in product(x, x)) + sum(x[i] * x[j] for i, j in product(range(2), range(3)))


@program(args=(X,), level="python")
def prod_repeat(x):
    return sum(x[i] * x[j] * x[k] for i, j, k in product(range(2), repeat=3))


@program(args=(X,), level="python")
def comb_it(x):
    return sum(a * b for a, b in combinations(x, 2)) + sum(x[i] * x[j] for i, j in combinations(range(4), 2))


@program(args=(X,), level="python")
def perm_it(x):
    return sum(a * b * b for a, b in permutations(x[:3], 2))


@program(args=(X,), level="python")
def chain_it(x):
    return sum(e * e for e in chain(x[:2], x[3:])) + sum(chain.from_iterable([[x[0]], [x[1], x[2]]]))


@program(args=(X,), level="python")
def islice_it(x):
    return sum(e * e for e in islice(x, 2)) + sum(islice(x, 1, 4))


@program(args=(X,), level="python")
def pairwise_it(x):
    return sum((b - a) ** 2 for a, b in pairwise(x))


@program(args=(X,), level="python")
def repeat_it(x):
    return sum(a * b for a, b in zip(x, repeat(2.0))) + sum(e for e in repeat(x[0], 3))


@program(args=(X,), level="python")
def cycle_it(x):
    return sum(a * w for a, w in zip(x, cycle([1.0, -1.0]))) ** 2


@program(args=(X,), level="python")
def starmap_it(x):
    return sum(starmap(lambda a, b: a * b, zip(x, x[1:])))


@program(args=(X,), level="python")
def count_it(x):
    s = 0.0
    for i, e in zip(itertools.count(1), x):
        s += i * e * e
    return s


@program(args=(X,), level="python")
def generator_for(x):
    s = 0.0
    for e in gen_sq(x):
        s += e * 2
    return s


@program(args=(X,), level="python")
def generator_sum(x):
    return sum(gen_sq(x)) + sum(x[i] * x[j] for i, j in gen_pairs(3))


@program(args=(X,), level="python")
def generator_list(x):
    l = list(gen_sq(x))
    return l[0] * l[-1]


@program(args=(X,), level="python")
def generator_steps(x):
    def steps(h, n):
        t = 0.0
        for k in range(n):
            yield t, h / (k + 1)
            t += h
    s = 0.0
    for t, h in steps(x[0], 4):
        s += t * h * x[1]
    return s


@program(args=(X,), level="python")
def generator_local_break(x):
    def newton(v):
        while True:
            v = v - (v * v - x[2]) / (2 * v)
            yield v
    for k, v in enumerate(newton(1.5)):
        if k == 4:
            break
    return v


@program(args=(X,), level="python")
def next_first(x):
    first = next(e for e in x if e > 1)
    return first ** 2


@program(args=(X,), level="python")
def next_default(x):
    return next((e for e in x if e > 10), x[0]) ** 2


@program(args=(X,), level="python")
def tuple_index_count(x):
    t = ("a", "b", "a")
    return x[t.index("b")] * t.count("a")


@program(args=(X,), level="python")
def str_methods(x):
    mode = "Mean-Square"
    a, b = mode.lower().split("-")
    if a.startswith("me") and b == "square" and "sq" in b:
        return np.mean(x ** 2) * len(a) + x[int("1")]
    return x[0]


@program(args=(X,), level="python")
def enum_use(x):
    c = Color.RED
    s = x[0] if c is Color.RED else x[1]
    for m in Color:
        s = s * x[2] + m.value
    return s * x[Mode.B] + (c == Color.BLUE)


@program(args=(X,), level="python")
def cls_iter(x):
    u, v = Pair(x[0], x[1])
    s = u * v
    for e in Pair(x[2], x[3]):
        s += e * e
    return s


@program(args=(X,), level="python")
def zip_twice(x):
    z = zip(x, x)
    a = sum(u * v for u, v in z)
    b = sum(u for u, v in z)
    return a + b


@program(args=(X,), level="python")
def gen_twice(x):
    g = gen(x)
    return sum(g) + sum(e * e for e in g)


@program(args=(X,), level="python")
def gen_break_nested(x):
    s = 0.0
    for k, e in enumerate(gen(x)):
        if k == 1:
            continue
        if e < -2.5:
            break
        s += e * e * (k + 1)
    else:
        s = s - 1.0
    return s


@program(args=(X,), level="python")
def gen_return(x):
    def first(v):
        for e in gen(v):
            if e > 2:
                return e * e
        return 0.0
    return first(x) + first(-x)


@program(args=(X,), level="python")
def gen_nonlocal(x):
    n = 0.0
    def g():
        nonlocal n
        for e in x:
            n += e
            yield n * e
    s = 0.0
    for v in g():
        s += v * n
    return s


@program(args=(X,), level="python")
def gen_from(x):
    return sum(e * e for e in chain_gen(x))


@program(args=(X,), level="python")
def zip_gen(x):
    return sum(a * b for a, b in zip(gen(x), x))
