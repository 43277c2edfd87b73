"""Sets, deques and the getters of `operator`: what holds labels and work to do beside the numbers."""

from collections import deque, namedtuple
from operator import attrgetter, itemgetter, methodcaller

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad, pushforward

X = np.random.default_rng(0).normal(size=6)
LABELS = np.array([2, 1, 2, 0, 1, 1])
KEPT = {5, 1, 2}
SECOND = itemgetter(1)
Pair = namedtuple("Pair", "a b")


def means_of_classes(x, labels):
    total = 0.0
    for c in set(labels.tolist()):
        total = 0.5 * total + np.var(x[labels == c]) * np.mean(x[labels == c])
    return total / len(set(labels))


def classes_in_order(x, labels):
    sums = [np.sum(x[labels == c]) ** 2 for c in sorted(set(labels), reverse=True)]
    nonzero = {int(label) for label in labels if label}
    return np.array(sums) @ np.arange(1, 4) + sum(nonzero) * x[0] + (2 in nonzero) * x[1]


def displays(x):
    total = 0.0
    for i in range(6):
        if i in {0, 3, 5}:
            total += x[i] ** 2
        if i not in KEPT:
            total -= x[i]
    for k in KEPT:
        total = 0.5 * total + x[k]
    return total


def algebra(x):
    a, b = {1, 2, 5}, frozenset((2, 3))
    union = a.union([3]) - {1}
    weight = sum(x[i] ** i for i in union & {2, 5}) + (x[0] if {2, 5} <= a else 0) + len(a ^ b) * x[4]
    return weight + (x[3] if a else 1) + (x[2] if isinstance(a, set) and not isinstance(b, set) else 0) + max(a) * x[1]


def under_two_names(x):
    a = {0, 1, 2}
    b = a
    b.add(4)
    c = a.copy()
    c.discard(0)
    total = 0.0
    for k in sorted(a - c | {5}):
        total = 0.5 * total + x[k]
    return total * len(a) + (x[1] if a.isdisjoint({9}) else 0)


def emptied(x):
    done, total = set(), 0.0
    for i in range(20):
        k = (i * 7) % 6
        if k in done:
            total *= 0.9
        else:
            done |= {k}
            total += x[k] ** 2
        if len(done) == 6:
            done.clear()
    return total + len(done)


def breadth_first(x):
    edges = {0: [1, 2], 1: [3], 2: [3, 4], 3: [5], 4: [5], 5: []}
    seen, queue, total = {0}, deque([0]), 0.0
    while queue:
        u = queue.popleft()
        total = 0.9 * total + x[u] ** 2
        for v in edges[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return total + len(seen) * x[0]


def both_ends(x):
    items, total = deque(), 0.0
    for i in range(6):
        items.append(x[i] ** 2)
        items.appendleft(x[i])
        if len(items) > 3:
            total += items.popleft() * items[-1]
    return total + sum(items) + np.mean(items)


def getters(x):
    pairs = [(i, v) for i, v in enumerate(x)]
    u, v = itemgetter(0, 2)(x)
    least, most = sorted([Pair(x[0], x[1]), Pair(x[2], x[3])], key=attrgetter("b"))
    return max(pairs, key=SECOND)[1] ** 2 + u * v + least.a * most.b + methodcaller("reshape", 2, 3)(x)[1, 0] ** 2


@pytest.mark.parametrize("f", [displays, algebra, under_two_names, emptied, breadth_first, both_ends, getters])
def test_beside_the_numbers(f):
    check_grads(f, (X,))


@pytest.mark.parametrize("f", [means_of_classes, classes_in_order])
def test_sets_of_labels(f):
    check_grads(f, (X, LABELS), wrt=0)


@pytest.mark.parametrize("kept", [{1, 3}, frozenset({4}), set(), {"a", 2}])
def test_a_set_as_argument(kept):
    def f(x, kept):
        return np.sum(x) + sum(x[i] ** 2 for i in range(6) if i in kept)

    expected = 1 + 2 * X * np.isin(np.arange(6), [k for k in kept if isinstance(k, int)])
    np.testing.assert_allclose(grad(f)(X, kept), expected, rtol=1e-14)


def test_set_of_classes_reads_as_written():
    assert "for c in sorted(set(labels), reverse=True)" in grad(classes_in_order).lower(X, LABELS).text


def added_to(x):
    kept = {0, 1, 2}
    if x[0] > -9:
        kept.add(5)
    return sum(x[k] for k in kept)


def adds_to_its_argument(x, kept):
    kept.add(1)
    return sum(x[k] for k in sorted(kept))


def of_differentiated_numbers(x):
    return sum(v**2 for v in set(x))


@pytest.mark.parametrize(
    "f, args, reason",
    [
        (added_to, (X,), "the order of a set that was added to"),
        (adds_to_its_argument, (X, {0}), "made elsewhere"),
        (of_differentiated_numbers, (X,), "a set of differentiated numbers"),
    ],
)
def test_refused(f, args, reason):
    with pytest.raises(SourceADError, match=reason):
        grad(f)(*args)


@pytest.mark.parametrize("f", [
    lambda x: sum({x, 2 * x}), lambda x: max({x, 2 * x}), lambda x: max({x, x**2} | {3 * x}), lambda x: sum({x, x**2} - {2.0}),
])  # fmt: skip
def test_a_display_of_differentiated_numbers_is_refused_in_both_modes(f):
    with pytest.raises(SourceADError, match="a set of differentiated numbers"):
        grad(f)(3.0)
    with pytest.raises(SourceADError, match="a set of differentiated numbers"):
        pushforward(f)(3.0, 1.0)


def test_a_set_of_differentiated_numbers_may_be_asked():
    def counted(x):
        return len({x, 2 * x}) * x if x in {x, 0.0} else 0.0

    assert grad(counted)(3.0) == 2.0
    assert pushforward(counted)(3.0, 1.0) == (6.0, 2.0)


def removed_by_another_name(x):
    left = {"a", "b"}
    other = left
    if x > 1:
        other.remove("a")
    return x * (3 if "a" in left else 5)


def each_once(x):
    left, found = {name.lower() for name in ("U", "v", "u")}, []
    for name in ("u", "v", "u"):
        if name in left:
            found.append(x * (len(found) + 1))
            left.remove(name)
    (first, second) = found
    return first + second


def removes_what_is_not_there(x):
    left = {1, 2}
    try:
        left.remove(5)
    except KeyError:
        return 7 * x
    return x


@pytest.mark.parametrize("f, x, derivative", [
    (removed_by_another_name, 0.5, 3.0), (removed_by_another_name, 2.0, 5.0), (each_once, 2.0, 3.0), (removes_what_is_not_there, 2.0, 7.0),
])  # fmt: skip
def test_items_may_be_removed(f, x, derivative):
    assert grad(f)(x) == derivative
    assert pushforward(f)(x, 1.0) == (f(x), derivative)


def test_removing_what_is_not_there_raises_the_error_of_python():
    def f(x):
        {1, 2}.remove(int(x))
        return x * x

    with pytest.raises(KeyError):
        grad(f)(3.0)
    assert grad(f)(2.0) == 4.0
