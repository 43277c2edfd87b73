"""What Python offers, as numerical programs use it: comprehensions, iterators, strings, globals, keywords."""

import functools
import itertools
import math

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=normal((6,)), level="python")
def comps(x):
    sq = [e * e for e in x]
    ev = [e for i, e in enumerate(x) if i % 2 == 0]
    mat = [[a * b for b in sq[:3]] for a in ev]
    flat = [e for row in mat for e in row if e is not None]
    d = {f"k{i}": e for i, e in enumerate(sq)}
    gen = sum(e * i for i, e in enumerate(flat))
    return gen + d["k3"] * max(sq) + sum(d.values())


@program(args=normal((6,)), level="python")
def comp_if_on_values(x):
    pos = [e for e in x if e > 0]
    neg = [abs(e) for e in x if e <= 0]
    return sum(pos) * len(neg) + math.prod(pos) + sum(neg)


@program(args=normal((4,), (4,)), wrt=(0, 1), level="python")
def zips(x, y):
    t = 0.0
    for i, (a, b) in enumerate(zip(x, y), start=1):
        t += i * a * b
    for a, b in zip(reversed(x), y[1:]):
        t += a / (1 + b * b)
    for a, b in itertools.pairwise(x):
        t += (a - b) ** 2
    return t


@program(args=normal((5,)), level="python")
def itertools_use(x):
    s = 0.0
    for a, b in itertools.product(x[:2], x[2:]):
        s += a * b
    for i, j in itertools.combinations(range(5), 2):
        s += x[i] * x[j] ** 2
    for k in itertools.accumulate(x):
        s += k
    for a in itertools.chain(x[:1], x[3:]):
        s += np.sin(a)
    for a in itertools.islice(x, 2):
        s += a**3
    return s


@program(args=normal((5,)), level="python")
def functools_use(x):
    f = functools.partial(np.clip, a_min=-0.5, a_max=0.5)
    r = functools.reduce(lambda a, b: a * 0.5 + b, x)
    g = functools.partial(pow, 2.0)
    return r + np.sum(f(x)) + g(x[0])


@program(args=normal((5,)), level="python")
def match_stmt(x):
    t = 0.0
    for i, e in enumerate(x):
        match i % 3, e > 0:
            case 0, True:
                t += e
            case 0, False:
                t -= e * e
            case 1, _:
                t += np.sin(e)
            case _:
                t *= 1 + 0.1 * e
    return t


@program(args=normal((4,)), level="python")
def try_finally(x):
    log = []
    try:
        y = np.sum(x**2)
        log.append("ok")
    finally:
        z = 2.0
    return y * z * len(log)


@program(args=normal((4,)), level="python")
def try_except_unused(x):
    try:
        y = np.log(np.sum(x**2))
    except ValueError as e:
        raise RuntimeError("bad") from e
    else:
        y = y + 1
    return y


@program(args=normal((4,)), level="python")
def fstrings(x):
    names = [f"layer_{i}" for i in range(len(x))]
    params = dict(zip(names, x))
    return sum(params[f"layer_{i}"] ** (i + 1) for i in range(4))


STATE = np.array([1.0, 2.0, 3.0])


COEF = {"a": 2.0, "b": np.array([1.0, 0.0, -1.0])}


@program(args=normal((3,)), level="python")
def globals_used(x):
    return np.sum(STATE * x**2) + COEF["a"] * np.sum(COEF["b"] * x)


@program(args=normal((6,)), level="python")
def generator_module_level(x):
    total = 0.0
    for a, b in pairs_of(x):
        total += a * b
    return total


def pairs_of(x):
    for i in range(0, len(x), 2):
        yield x[i], x[i + 1]


@program(args=normal((5, 2)), level="python")
def polygon_area(p):
    x, y = p.T
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


@program(args=normal((3,)), wrt=0, level="python")
def gradient_descent_momentum_list(x):
    hist = [x]
    vel = [0 * x]
    for k in range(4):
        g = 2 * hist[-1] + np.cos(hist[-1])
        vel.append(0.9 * vel[-1] - 0.1 * g)
        hist.append(hist[-1] + vel[-1])
    return sum(np.sum(h**2) for h in hist[1:])


@program(args=normal((3,)), wrt=0, level="python")
def default_mutable(x, acc=None):
    acc = [] if acc is None else acc
    for e in x:
        acc.append(e**2)
    return sum(acc) / len(acc)


@program(args=normal((6,)), wrt=0, level="python")
def segment_sum_loop(x):
    seg = np.array([0, 0, 1, 2, 2, 2])
    out = np.zeros(3)
    for i, s in enumerate(seg):
        out[s] += x[i] ** 2
    cnt = np.bincount(seg)
    return np.sum(out / cnt) + np.sum(np.bincount(seg, weights=x) ** 2)


@program(args=lambda rng: (np.zeros((0, 3)), rng.normal(size=3)), wrt=(0, 1), level="python")
def empty_rows(x, w):
    total = np.sum(w * w)
    for row in x:
        total += row @ w
    return total + np.sum(x @ w)


@program(args=lambda rng: (rng.normal(size=3), 0), wrt=0, level="python")
def zero_trips(x, n):
    y = x
    for i in range(n):
        y = y * x[i]
        x[i] = 0
    return np.sum(y * x)


@program(args=(1.3, 4), wrt=0, level="python")
def power_by_squaring(x, n):
    r = 1.0
    while n:
        if n & 1:
            r *= x
        x *= x
        n >>= 1
    return r


@program(args=(1.3, 4), wrt=0, level="python")
def fibonacci_like_by_hand(x, n):
    a, b = 0, 1.0
    for _ in range(n):
        a, b = b, a * x + b
    return a


@program(args=normal((6,)), wrt=0, level="python")
def early_exit_search(x):
    acc = 0.0
    for i, e in enumerate(x):
        if acc > 1.0:
            return acc * e
        if e < -1.5:
            continue
        acc += e * e
    return acc


@program(args=normal((4,)), wrt=0, level="python")
def walrus_loops(x):
    s, i = 0.0, 0
    while (e := x[i]) < 10 and i < 3:
        s += e
        i += 1
    return s + (y := x[0] * 2) * y


@program(args=normal((5,)), wrt=0, level="python")
def string_building(x):
    parts = []
    for i, e in enumerate(x):
        parts.append(f"{i}")
    key = "-".join(parts)
    return np.sum(x**2) * len(key) + (1 if key.startswith("0") else 0) * x[0]


@program(args=normal((5,)), wrt=0, level="python")
def assert_and_print(x):
    assert x.ndim == 1, "bad"
    if not np.all(np.isfinite(x)):
        raise ValueError("nan")
    print("sum", len(x))
    return np.sum(np.exp(-x))


@program(args=normal((4, 2)), wrt=0, level="python")
def star_args(p):
    def f(first, *rest, scale=1.0, **kw):
        return scale * np.sum(first) * sum(np.prod(r) for r in rest) + kw.get("bias", 0)

    return f(*p, scale=0.5, bias=p[0, 0]) + max(*p[0]) + min(p[1])
