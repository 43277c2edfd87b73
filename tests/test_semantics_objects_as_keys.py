"""Objects as keys of dicts are found by their identity, in every place where Python asks for a key."""

import collections
import copy
import dataclasses

import numpy as np
import pytest

from sourcead import AliasError, UnsupportedSyntaxError, check_grads, grad, jvp


class Node:
    def __init__(self, value):
        self.value = value
        self.messages = {}

    def __getitem__(self, sender):
        return self.messages[sender]

    def __setitem__(self, sender, message):
        self.messages[sender] = message


class Sender:
    def __init__(self, nodes):
        self.nodes = nodes
        for node in nodes:
            node[self] = 1.0

    def send(self):
        for node in self.nodes:
            node[self] = node[self] * node.value
        return self


class Uncertain:
    def __init__(self, value, error):
        self.value, self.error, self.parts = value, error, {self: 1.0}

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self.value == other.value


class Text:
    def __init__(self, word):
        self.word = word

    def __hash__(self):
        return hash(self.word)

    def __eq__(self, other):
        return self.word == other.word


def messages(x, y):
    a, b = Node(x), Node(y)
    both, one = Sender([a, b]), Sender([b])
    both.send().send()
    one.send()
    total = 0.0
    for sender in a.messages:
        total = total + a[sender] * len(sender.nodes)
    for sender, message in b.messages.items():
        total = total + message * (3 if sender is one else 7)
    return total


def hash_of_its_own(x, y):
    a, b = Uncertain(x, 2.0), Uncertain(x, 3.0)
    found = {a: x, b: y}
    found[a] += 1.0
    total = sum(variable.error * value for variable, value in found.items())
    for variable in a.parts:
        total = total + variable.value ** 2
    return total + (5 * x if a in found else 0.0) + found.get(Uncertain(x, 1.0), 7.0) + found[b]


def in_tuples(x, y):
    a, b = Node(x), Node(y)
    found = {(a, 0): x, (a, b): y, (b, 1): x * y}
    del found[a, b]
    found[a, b] = 2.0
    total = 0.0
    for (node, _), value in found.items():
        total = total + node.value * value
    return total + found.pop((b, 1)) + ((b, 1) in found)


def one_of_two(x, y):
    a, b = Node(x), Node(y)
    chosen = a if x > 1 else b
    return {a: x * x, b: y}[chosen]


def made_in_an_arm(x, y):
    if x > 1:
        key = Node(x * y)
        found = {key: x * y}
    else:
        key = Node(y)
        found = {key: x + y}
    return found[key] * key.value


def new_key_in_an_arm(x, y):
    holder = Node(y)
    if x > 1:
        holder[Node(x * 2)] = y
    return sum(key.value * value for key, value in holder.messages.items()) + x


def made_in_one_arm_alone(x, y):
    if x > 1:
        found = {Node(x * 2): y}
    else:
        return x
    return sum(key.value * value for key, value in found.items())


def made_in_a_loop(x, y):
    found = {}
    for i in range(3):
        found[Node(x * i)] = y * i
    return sum(key.value * value for key, value in found.items())


def written_in_a_loop(x, y):
    a, b = Node(x), Node(y)
    found = {a: 1.0, b: y}
    for i in range(4):
        for key in found:
            found[key] = found[key] * key.value
        a.value = a.value + found[b] * 0.01
    return found[a] + found[b]


def other_ways_to_make_it(x, y):
    a, b = Node(x), Node(y)
    pairs = dict(zip((a, b), (x, y)))
    counted = collections.defaultdict(float)
    for node in (a, b, a):
        counted[node] += pairs[node] * node.value
    made = {node: value * 2 for node, value in counted.items()}
    made.update(pairs)
    made.setdefault(a, 9.0)
    alike = copy.copy(made)
    return sum(alike.values()) + counted[a] + alike.popitem()[0].value


PROGRAMS = [messages, hash_of_its_own, in_tuples, one_of_two, made_in_an_arm, new_key_in_an_arm, made_in_one_arm_alone,
            made_in_a_loop, written_in_a_loop, other_ways_to_make_it]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x, y", [(2.0, 3.0), (0.5, 1.5)])
def test_objects_are_found_by_identity(f, x, y):
    check_grads(f, (x, y))
    by_x, by_y = grad(f, wrt=(0, 1))(x, y)
    assert jvp(f, (x, y), (1.0, 0.5))[1] == pytest.approx(by_x + 0.5 * by_y)


@pytest.mark.compiled
def test_objects_are_found_by_identity_with_numba():
    for f in PROGRAMS:
        assert grad(f, backend="numba")(2.0, 3.0) == pytest.approx(grad(f)(2.0, 3.0))


FIRST, SECOND = Node(2.0), Node(3.0)
AGAIN = FIRST
FACTORS = {FIRST: 5.0, SECOND: 7.0}


def keys_of_a_global(x):
    found = {FIRST: x, SECOND: x * x}
    total = found[AGAIN] * 2 + found[SECOND] + FACTORS[AGAIN] * x
    own = Node(x)
    return total + (x if AGAIN in FACTORS else 0.0) + (x * x if own in FACTORS or own in found else 0.0) + FACTORS.get(own, 0.0)


def test_an_object_of_a_global_is_found_under_each_of_its_names():
    check_grads(keys_of_a_global, (1.5,))


def global_and_argument(x, node):
    found = {FIRST: x, node: x * x}
    return found[node] + found[FIRST]


def is_the_global(x, node):
    return 2.0 * x if node is FIRST else 3.0 * x


def in_the_global(x, node):
    return FACTORS[node] * x


def two_arguments(x, node, other):
    found = {node: x, other: x * x}
    return found[node] + found[other]


@pytest.mark.parametrize("f", [global_and_argument, is_the_global, in_the_global])
@pytest.mark.parametrize("node", [FIRST, Node(1.0)])
def test_an_argument_that_may_be_an_object_of_a_global_is_refused(f, node):
    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(1.5, node)


def test_two_arguments_that_are_one_object_are_refused():
    assert grad(two_arguments)(1.5, FIRST, SECOND) == 4.0
    with pytest.raises(AliasError):
        grad(two_arguments)(1.5, FIRST, FIRST)


@dataclasses.dataclass(frozen=True)
class Point:
    x: float


@dataclasses.dataclass(eq=False)
class Place:
    x: float


def by_its_fields(x):
    return {Point(x): x, Point(2.0): 3.0}[Point(2.0)]


def test_a_dataclass_without_equality_is_found_by_identity():
    def f(x):
        place = Place(x)
        return {place: place.x ** 2, Place(x): 1.0}[place]

    check_grads(f, (1.5,))


def key_of_a_loop(xs):
    nodes = [Node(xs[0]), Node(xs[1])]
    found = {node: node.value for node in nodes}
    for i in range(xs.shape[0]):
        found[nodes[i % 2]] += xs[i]
    return sum(found.values())


def copied_deeply(x):
    a = Node(x)
    found = copy.deepcopy({a: x})
    return found[a] if a in found else 3.0 * x


def returned(x):
    return {Node(x): x}


def by_its_word(x):
    return {Text("a"): x, Text("b"): x * x}[Text("b")]


def test_an_equal_key_is_found():
    check_grads(by_its_word, (2.0,))


@pytest.mark.parametrize("f, argument", [
    (key_of_a_loop, np.arange(1.0, 12.0)), (copied_deeply, 2.0), (returned, 2.0), (by_its_fields, 2.0),
])  # fmt: skip
def test_a_key_that_is_not_known_is_refused(f, argument):
    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(argument)


OTHER_NAN = float("nan")


@pytest.mark.parametrize("key", [np.nan, OTHER_NAN, (1, OTHER_NAN)])
def test_a_key_that_is_not_a_number_is_found_as_the_object_it_is(key):
    def squares(p):
        total = 0.0
        for k in p:
            total += p[k] ** 2
        return total

    ((found, d),) = grad(squares)({key: 3.0}).items()
    assert (found is key or found == key) and d == 6.0


PAIR, BYTES, COMPLEX, NUMBER, FROZEN = (1, 2), b"x", 1 + 2j, np.int64(3), frozenset({1})


def of_constants(p):
    return p[PAIR] ** 2 + p[BYTES][0] * p[COMPLEX] + p[NUMBER]["a"] * p[FROZEN] if BYTES in p else 0.0


def alike(p):
    return p[PAIR] ** 2 + p[BYTES] * p[COMPLEX] * p[NUMBER] * p[FROZEN]


def displayed(x):
    d = {BYTES: x, COMPLEX: 2 * x, FROZEN: x}
    return d[BYTES] * d[COMPLEX] * d[FROZEN]


def test_constants_of_globals_are_keys_as_literals_are():
    made = {PAIR: 3.0, BYTES: [2.0], COMPLEX: 4.0, NUMBER: {"a": 5.0}, FROZEN: 6.0}
    expected = {PAIR: 6.0, BYTES: [4.0], COMPLEX: 2.0, NUMBER: {"a": 6.0}, FROZEN: 5.0}
    assert grad(of_constants)(made) == expected
    assert grad(alike)(dict.fromkeys(made, 2.0)) == {PAIR: 4.0, BYTES: 8.0, COMPLEX: 8.0, NUMBER: 8.0, FROZEN: 8.0}
    assert grad(displayed)(2.0) == 24.0


def test_a_constant_that_changed_is_another_key(monkeypatch):
    gradient = grad(lambda p: p[COMPLEX] ** 2)
    assert gradient({1 + 2j: 3.0, 1j: 4.0}) == {1 + 2j: 6.0, 1j: 0.0}
    monkeypatch.setitem(globals(), "COMPLEX", 1j)
    assert gradient({1 + 2j: 3.0, 1j: 4.0}) == {1 + 2j: 0.0, 1j: 8.0}
