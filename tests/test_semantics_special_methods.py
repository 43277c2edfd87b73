"""What Python asks of classes: special methods, comparisons, truth and reversal of objects and of containers of other classes."""

import collections
import decimal
import types

import numpy as np
import pytest

from sourcead import jvp
from tests.semantics import judged_in_all_modes


def functions_under_other_names(x):
    def times(self, v):
        return self.q * v

    class P:
        q = x[2]
        go = times
        any_number = lambda *a: len(a) * x[0]  # noqa: E731

        def sized(self):
            return x[1] * 3.0

        first = sized

        @property
        def w(self):
            return self.q * 5.0

        v = w

    p = P()
    p.q = x[0]
    return p.go(x[1]) + P.go(p, 2.0) + p.any_number(1) + P.any_number() + p.first() + p.v


def sized(*args):
    return 0.0


def reversed_by_its_own_methods(x):
    class P:
        def __iter__(self):
            return iter([x[0]])

        def __reversed__(self):
            return iter([x[1], x[2] ** 2])

    return sum((k + 1) * v for k, v in enumerate(reversed(P())))


def reversed_of_limited_length(x):
    last = collections.deque([1.0, x[0], 3.0], maxlen=2)
    last += [x[1]]
    return sum(k * v for k, v in enumerate(reversed(last))) * x[2]


def in_place_left_to_the_operator(x):
    class P:
        def __imul__(self, other):
            return NotImplemented

        def __mul__(self, other):
            return x[1] * other

    p = P()
    p *= 2.0
    return p * x[0]


def list_in_place_by_the_other_class(x):
    class P:
        def __radd__(self, other):
            return [x[0], *other]

    items = [x[1], 2.0]
    same = items
    items += P()
    return items[0] * 2.0 + len(same) * x[2]


def truth_of_chains(x):
    chain = collections.ChainMap({}, {})
    grown = collections.ChainMap({"a": x[0]}, {"a": 1.0, "b": x[1]})
    return (x[2] if chain else x[0]) + len(grown) * x[1] + sum(grown[k] for k in grown)


def order_of_ordered_dicts(x):
    a, b = collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)
    return x[0] * (a == b) + x[1] * (a != b) + x[2] * (a == {"b": 2, "a": 1})


def deques_are_no_lists(x):
    q = collections.deque([1, 2])
    copied = q.copy()
    answers = [q == [1, 2], q == copied, q != [1, 2], isinstance(q, list), isinstance(q + q, collections.deque), hasattr(q, "popleft")]
    return sum((k + 1) * a for k, a in enumerate(answers)) * x[0] + hasattr([], "popleft") * x[1]


def handled_type_errors(x):
    total = 0.0
    for k, make in enumerate((lambda: [1.0] + (2.0,), lambda: collections.deque([1.0])[0:1], lambda: collections.deque([1.0]) + [2.0])):
        try:
            total += sum(make())
        except TypeError:
            total += x[k]
    return total


def texts_repeated(x):
    n = len(x)
    return len("ab" * 2 + "c") * x[0] + ("-" * n).count("-") * x[1] + {"aa": x[2]}["a" * 2]


def truth_values_of_python(x):
    a, b = not not (x[0] > 0.0), not not (x[2] > 0.0)
    return (a + b) * x[0] + ~a * x[1] + [x[1], x[2]][not not (x[0] > 0.0)] * 3.0


def truth_of_iterators(x):
    used = (v * x[0] for v in [1.0, 2.0])
    total = sum(used)
    answers = [bool(used), bool(iter([])), bool(zip()), bool(map(abs, [])), bool(range(0)), bool({}.keys()), bool(collections.Counter())]
    return total + sum(k * a for k, a in enumerate(answers)) * x[1] + len(list(zip()))


def shifted_into(x):
    class Log:
        def __init__(self):
            self.items = []

        def __lshift__(self, item):
            self.items.append(item)
            return self

        def __rrshift__(self, item):
            self.items.append(item * 2.0)
            return self

    log = Log()
    log << x[0] << x[1]
    x[2] >> log
    return sum(k * v for k, v in enumerate(log.items))


def attribute_without_a_slot(x):
    class P:
        __slots__ = ("a", "b")

        def __init__(self, a):
            self.a = a

    p = P(x[0])
    try:
        p.c = 1.0
    except AttributeError:
        p.b = x[1]
    return p.a * p.b


AS_PYTHON = [
    shifted_into, attribute_without_a_slot, truth_of_iterators,
    functions_under_other_names, reversed_by_its_own_methods, reversed_of_limited_length, in_place_left_to_the_operator,
    list_in_place_by_the_other_class, truth_of_chains, order_of_ordered_dicts, deques_are_no_lists, handled_type_errors, texts_repeated,
    truth_values_of_python,
]  # fmt: skip


@pytest.mark.parametrize("f", AS_PYTHON)
def test_as_python(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


def descriptor(x):
    class Doubled:
        def __get__(self, obj, owner):
            return x[0] * 2.0

        def __set__(self, obj, value):
            pass

    class P:
        d = Doubled()

    p = P()
    p.d = x[1]
    return p.d


def compared_namespaces(x):
    return x[0] if types.SimpleNamespace(a=1) == types.SimpleNamespace(a=1) else x[1]


def compared_deques_of_limited_length(x):
    return x[0] if collections.deque([1], maxlen=2) == collections.deque([1], maxlen=2) else x[1]


def truth_of_decimals(x):
    return x[0] if decimal.Decimal(x[0] * 0.0) else x[1]


def method_of_a_range(x):
    return range(3).index(1) * x[0]


@pytest.mark.parametrize(
    "f", [descriptor, compared_namespaces, compared_deques_of_limited_length, truth_of_decimals, method_of_a_range]
)
def test_what_python_asks_of_a_class_and_is_not_known_is_refused(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "refused"


def test_the_tangent_of_a_number_of_numpy_has_its_methods():
    for f in (lambda s: np.square(s).item(), lambda s: np.add(s, s * s).tolist(), lambda s: np.square(s).flatten()[0]):
        slope = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
        assert jvp(f, (0.5,), (1.0,), verify=False)[1] == pytest.approx(slope)


# -- iterators ---------------------------------------------------------------------------------------------------------------


def taken_by_its_method(x):
    it = iter(x * 2.0)
    take = it.__next__
    return take() * it.__next__() + next(it.__iter__())


def test_an_iterator_is_asked_for_its_next_element_by_its_method():
    assert judged_in_all_modes(taken_by_its_method, np.array([0.5, -1.2, 2.0])) == "right"


def changes_what_the_generator_reads(x):
    nested = {}
    for _ in range(2):  # which is refused unless it is taken iteration by iteration
        nested = {"k": nested}
    for v in (x * k for k in (1, 2, 3)):
        x[:] = v
        if x[0] > 9.0:
            break
    return np.sum(x) + len(nested["k"]["k"])


def grids_without_copies(x):
    grid = np.meshgrid(x, x, copy=False)[0]
    grid[0] = x[1]
    return np.sum(grid[1])


@pytest.mark.parametrize("f", [changes_what_the_generator_reads, grids_without_copies])
def test_what_would_be_read_before_it_is_written_is_refused(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "refused"


def in_pairs(x):
    it, total = iter(np.concatenate([x, x * 2.0, x])), 0.0
    for a, b in zip(it, it):
        total = np.tanh(total * a + b)
    rows = list(zip(*[iter([x[0], 2.0, x[1], x[2], 5.0])] * 2))
    return total + rows[0][0] * rows[1][1] + len(rows)


def in_pairs_read_when_taken(x):
    it, total = iter(x), 0.0
    for a, b in zip(it, it):
        x[1] = a * 3.0
        total += a * b
    return total + x[1]


def of_objects_that_grow(x):
    class Items(list):
        pass

    class Holder:
        def __init__(self):
            self.held = [x[0]]

        def __iter__(self):
            return iter(self.held)

    items, holder, last = Items([x[0], x[1]]), Holder(), collections.deque([x[0], x[1]], maxlen=4)
    numbered, pairs, late = enumerate(items, 1), zip(holder, [2.0, 3.0]), iter(last)
    items.append(x[2])
    holder.held.append(x[1])
    last[0] = 5.0
    return sum(k * v for k, v in numbered) + sum(v * w for v, w in pairs) + next(late) * x[0]


@pytest.mark.parametrize("f", [in_pairs, in_pairs_read_when_taken, of_objects_that_grow])
def test_iterators_read_when_they_are_asked(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


class Counted:
    """Count how often Python compares, hashes and prints the object."""

    def __init__(self, v):
        self.v, self.n = v, 0

    def noted(self, result):
        self.n += 1
        return result

    def __eq__(self, other):
        return self.noted(self.v == (other.v if isinstance(other, Counted) else other))

    def __lt__(self, other):
        return self.noted(self.v < other.v)

    def __hash__(self):
        return self.noted(1)

    def __repr__(self):
        return self.noted("Counted")

    def __index__(self):
        return self.noted(2)

    def __contains__(self, v):
        return self.noted(v > 1.0)


def searched(x):
    items = [Counted(k) for k in (1, 2, 2, 3)]
    place, times, there = items.index(2), items.count(Counted(2)), 3 in items
    kept = list(items)
    items.remove(2)
    return x[place] * times + there * x[0] + sum((k + 1) * c.n for k, c in enumerate(kept)) * x[2]


def searched_by_numbers_of_the_run(x):
    items = (Counted(x[0]), Counted(x[1]), Counted(x[2]))
    found = x[1] in items
    return found * x[2] + (items[0].n + 3.0 * items[1].n + 5.0 * items[2].n) * x[0]


def compared_one_by_one(x):
    one, other = (Counted(x[0]), [Counted(x[1]), 1.0]), (Counted(x[0]), [Counted(x[2]), 1.0])
    answers = one == other, one != other, one[1] == other[1], one[1] < other[1], [one[0]] == [one[0]]
    return sum((k + 1) * a for k, a in enumerate(answers)) * x[1] + (one[0].n + 2 * one[1][0].n) * x[0]


def told_otherwise(x):
    c = Counted(x[0])
    hash(c), range(c), repr(c), str(c)
    return c.n * x[0] + ((2 in c) + (x[2] in c)) * x[1] + c.n * x[2]


def asked_for_what_is_computed(x):
    class P:
        n = 0

        @property
        def w(self):
            self.n += 1
            return x[0]

    p = P()
    return (hasattr(p, "w") + p.w) * p.n


def least_by_itself(x):
    items = [Counted(v) for v in x]
    return min(items, key=lambda c: c).v * items[0].n + items[1].n * x[1]


@pytest.mark.parametrize(
    "f",
    [searched, searched_by_numbers_of_the_run, compared_one_by_one, told_otherwise, asked_for_what_is_computed, least_by_itself],
)
def test_what_special_methods_change_is_seen(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (items := [Counted(v) for v in x]) and sorted(items)[0].v * items[0].n,
        lambda x: (c := Counted(x[0])) and len({c, c}) * x[0] * c.n,
        lambda x: (c := Counted(x[0])) and len(str([c])) * x[0] * c.n,
        lambda x: (t := Trebled(x[0])) and len({t, t}) * x[0],  # which are one object
        lambda x: (c := Counted(x[0])) and x[c] * c.n,
    ],
)
def test_operations_on_records_whose_methods_change_something_are_refused(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "refused"


class Trebled:
    def __init__(self, v):
        self.v = v

    def __mul__(self, w):
        return 3.0 * self.v * w

    def __iter__(self):
        return iter([self.v, self.v**2])


def objects_among_numbers(x):
    items, joined = [v * 1.0 for v in x], list(x) + [Trebled(v) for v in x]
    items[1] = Trebled(x[0])
    return items[1] * x[2] + sum(items[1]) + joined[4] * x[0]


def deques_among_numbers(x):
    items = [1.0, 2.0]
    for k in range(2):
        items[k] = collections.deque([x[k], x[2]], maxlen=2)
    return sum(items[1]) * items[0][0]


def texts_among_numbers(x):
    stack = []
    for token in (x[0], 2.0, "*", x[1], "+"):
        if token == "+":
            stack.append(stack.pop() + stack.pop())
        elif token == "*":
            stack.append(stack.pop() * stack.pop())
        else:
            stack.append(token)
    return stack[-1] * x[2]


@pytest.mark.parametrize("f", [objects_among_numbers, deques_among_numbers, texts_among_numbers])
def test_operators_find_the_classes_of_objects_among_numbers(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


class Node:
    def __init__(self, v):
        self.v = v


def beyond_or_grown(v, bounds, s):
    for bound in bounds:
        if bound > 2.0:
            return bound * v
        v += bound
    return v + s


def pairs_in_order(x, bounds, s):
    total = s * 0.5 + beyond_or_grown(beyond_or_grown(s, bounds, s), bounds, s)
    nodes = [Node(v) for v in x]
    nodes[1] = nodes[0]  # for which the function is lowered item by item
    return total + sum(v * i for v, i in sorted([(v, i) for i, v in enumerate(x)], key=lambda t: t[0]))


def test_the_items_of_a_pair_that_a_loop_takes_have_names():
    assert judged_in_all_modes(pairs_in_order, np.array([0.5, -1.2, 2.0]), [0.1, 0.2, 0.3], 1.2) == "right"
