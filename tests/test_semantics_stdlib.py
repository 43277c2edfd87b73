"""Classes and functions of the standard library that are lowered as Python classes and functions, against Python and differences."""

import functools
import itertools
from collections import ChainMap, OrderedDict, defaultdict, deque

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.3, 0.7, -1.2])


def last_two(x):
    d, total = deque(maxlen=2), 0.0
    for v in x:
        d.append(v * v)
        total += d[0] * d[-1]
    return total


def both_ends(x):
    d = deque([x[0], x[1], x[2]], 2)
    d.appendleft(x[0] ** 2)
    a = d.popleft()
    d.extend(x)
    d.extendleft([1.0, a])
    d.rotate(1)
    d += [x[1]]
    return a + d[0] * d[1] * 3


def arrays_in_a_deque(x):
    d = deque(maxlen=2)
    for i in range(3):
        d.append(x * i)
    d[0][1] = x[2] ** 2
    d[1] += x
    return np.sum(np.stack(d) ** 2) + np.mean(d)


def written_after_it_was_put_in(x):
    a = x * 2
    d = deque([x, a], maxlen=2)
    d.append(a)
    d[0][0] = x[1] ** 2
    return np.sum(a * d[1])


def class_of_a_deque(x):
    d = deque(x, maxlen=2)
    return d[0] * (isinstance(d, deque) + 2 * isinstance(d, list) + 4 * (type(d) is deque))


def walked_and_unpacked(x):
    d, total = deque(x, maxlen=2), 0.0
    for i, v in enumerate(d):
        total += i * v * v
    for v, w in zip(d, x):
        total += v * w
    for v in reversed(d):
        total = total * 2 + v
    a, b = d
    return total * a * b + max(d) + sorted(d)[0] + len(d)


def emptied(x):
    d, total = deque(x, maxlen=3), 0.0
    while d:
        total = total * 0.5 + d.popleft()
    return total * total


def of_no_items(x):
    d = deque(x, maxlen=0)
    d.append(x[0])
    return x.sum() + len(d)


def grown_in_a_branch(x):
    d = deque([x[0]], maxlen=2)
    if x[1] > 0.5:
        d.append(x[1])
        d.append(x[2])
    return sum(v * v for v in d)


def attribute_of_an_object(x):
    class Window:
        def __init__(self):
            self.d = deque(maxlen=2)

        def put(self, v):
            self.d.append(v)
            return sum(self.d) / len(self.d)

    w, total = Window(), 0.0
    for v in x:
        total += w.put(v * v)
    return total


def ordered_dict(x):
    d = OrderedDict(a=x[0], b=x)
    d["c"] = d["a"] * 2
    total = 0.0
    for v in d.values():
        total += np.sum(v * v)
    return total * (isinstance(d, dict) + 2 * isinstance(d, OrderedDict) + 4 * isinstance({}, OrderedDict))


def chain_map(x):
    d = {"a": x[0]}
    c = ChainMap(d, {"a": 1.0, "b": x[1]})
    before = c["a"] * c["b"] + c.get("z", x[2])
    c["b"] = x[2] ** 2
    inner = c.new_child({"a": x[1] ** 3})
    inner["b"] = inner["a"] * x[0]
    return before + d["b"] * c["b"] + ("a" in c) + inner["a"] * inner["b"] + len(c.new_child().maps[0])


def remembered(x):
    y = x * 2

    @functools.cache
    def g(k):
        return y[k] ** 2

    a = g(0)
    y[0] = x[1]
    return a * g(0) * g(1)


def remembered_in_a_loop(x):
    calls = [0.0]

    @functools.lru_cache
    def g(k):
        calls[0] += x[k]
        return x[k] ** 2

    total = 0.0
    for i in range(6):
        total += g(i % 3)
    return total * calls[0]


def taken_and_dropped(x):
    first = list(itertools.takewhile(lambda q: q > 0, x))
    return sum(itertools.dropwhile(lambda q: q > 0.5, [x[1], x[0], x[1]])) * first[-1] * len(first)


def truth_of_iterators(x):
    it, d = iter(x), {"a": x[1]}
    total = next(it) ** 2 if it else 0.0
    if not (q for q in x):
        total = 1.0
    if d.values() and not {}.keys():
        total *= x[1]
    return total * sum(map(np.sin, x)) if map(abs, x) else 0.0


def added_in_place(x):
    class Sum:
        def __init__(self, v):
            self.v = v

        def __iadd__(self, other):
            self.v = self.v + other * other
            return self

    a = b = Sum(x[0])
    a += x[1]
    return b.v * x[2]


def required(x):
    y = x * 2
    z = np.require(y)
    z[0] = x[1] ** 2
    return np.sum(y * np.require(x, dtype=float))


def known_comparisons(x):
    total = 0.0
    if total < 1.0 and 0.19 <= 0.96:
        y = x.sum()
    else:
        y = [x]
    return y * y


def union_with_a_default(x):
    made = defaultdict(float, {"a": x[0]}) | {"b": x[1] ** 2}
    also = {"b": x[1]} | made
    also["c"] += x[2]
    try:
        v = made["missing"]
    except KeyError:
        v = x[0]
    return (v + made["a"] + also["c"]) * x[1]


PROGRAMS = [v for v in list(globals().values()) if getattr(v, "__module__", None) == __name__]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_standard_library(program):
    assert judged_in_all_modes(program, X) == "right"
