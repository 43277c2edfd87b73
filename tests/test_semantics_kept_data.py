"""Lists, dicts and arrays that are there before the call, in globals and closures: a write to them is done in order, or refused."""

import collections
import copy
import dataclasses
import types

import numpy as np
import pytest

from sourcead import Revolve, jvp, opaque, value_and_grad, vjp
from sourcead.errors import SourceADError
from tests.semantics import exec_with_source, made

DATA = {
    "SEEN": [3.0, 1.0], "ROWS": [np.zeros(2), np.ones(2)], "LISTS": [[1.0], [2.0]], "TABLE": {"a": 1.0, 0: 2.0},
    "GROUPS": {"a": [1.0]}, "QUEUE": collections.deque([1.0]), "LABELS": {7}, "BUFFER": np.zeros(4),
}  # fmt: skip
WRITES = """
SEEN.append(x[i])
SEEN.extend([x[i], 2.0])
SEEN.insert(0, x[i])
SEEN.pop()
SEEN.reverse()
SEEN[0] = x[i]
SEEN[i % 2] += x[i]
SEEN[1:] = [x[i]]
del SEEN[0]
SEEN.clear()
TABLE["a"] = x[i]
TABLE[i] = x[i]
TABLE.pop("a", None)
TABLE.update(b=x[i])
QUEUE.append(x[i])
LABELS.add(i)
LABELS.clear()
BUFFER[i] = x[i]
np.add.at(BUFFER, [0], x[i])
LISTS[0].append(x[i])
LISTS[i % 2].append(x[i])
LISTS[i % 2][0] = x[i]
ROWS[i % 2][0] = x[i]
ROWS.append(x)
GROUPS["a"].append(x[i])
here = SEEN; here.append(x[i])
here = LISTS[i % 2]; here.append(x[i])
(SEEN if x[0] > 0 else [0.0]).append(x[i])
list.append(SEEN, x[i])
for each in LISTS: each.append(x[i])
""".strip().splitlines()
PLACES = {
    "a loop": """
        for i in range(n):
            {write}
        return np.sum(x * x)
    """,
    "a loop of a known number": """
        for i in range(2):
            {write}
        return np.sum(x * x)
    """,
    "a branch in a loop": """
        i = 0
        while i < n:
            if x[i] > 0:
                {write}
            i += 1
        return np.sum(x * x)
    """,
    "a function called for each element": """
        def double(i):
            {write}
            return x[i] * 2
        return sum(double(i) for i in range(n))
    """,
}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_kept_is_never_left_unwritten(place):
    for write in WRITES:
        ours, expected = copy.deepcopy(DATA), copy.deepcopy(DATA)
        f, by_python = (made(PLACES[place].format(write=write), "x, n", np=np, **data) for data in (ours, expected))
        try:
            value_and_grad(f, verify=False)(np.array([0.5, 1.5, 2.5]), 2)
        except SourceADError:
            continue
        by_python(np.array([0.5, 1.5, 2.5]), 2)
        assert str(ours) == str(expected) != str(DATA), f"{write!r} in {place} was left out"


class Keeper:
    log: list = []


HISTORY: list = []


def test_numbers_are_appended_to_lists_that_the_function_does_not_read():
    log = []

    def f(x, n):
        for i in range(n):
            y = x[i] ** 2
            if y > 1.0:
                log.append(y)
            Keeper.log.append("step")
        HISTORY.append(float(np.sum(x)))
        return np.sum(x * x)

    for checkpoint in ("auto", "recompute", Revolve(1)):
        for kept in (log, HISTORY, Keeper.log):
            kept.clear()
        derivative = value_and_grad(f, checkpoint=checkpoint)
        for _ in range(2):
            assert derivative(np.array([0.5, 1.5]), 2)[0] == 2.5
        assert (log, HISTORY, Keeper.log) == ([2.25] * 2, [2.0] * 2, ["step"] * 4)
        assert len(derivative._texts) == 1 and "log.append(y)" in derivative.source
    assert jvp(f, (np.array([0.5, 1.5]), 2), (np.ones(2), None))[1] == 4.0 and len(log) == 3


def test_a_list_under_its_name_at_each_call():
    names = {"log": []}
    f = made("log.append(x[0])\nreturn x @ x", **names)
    derivative = value_and_grad(f)
    derivative(np.ones(2))
    first, f.__globals__["log"] = f.__globals__["log"], []
    derivative(np.ones(2))
    assert first == [1.0] == f.__globals__["log"]


@pytest.mark.parametrize("body", [
    "y = log[0]\nlog.append(x[0])\nreturn y * x[0]", "log.append(x)\nreturn x[0]",
    "for y in log:\n    x = x * y\nlog.append(x[0])\nreturn x[0]", "log.append(x[0])\nreturn x[0] * TABLE['log'][0]",
    "(log if x[0] > 0 else []).append(x[0])\nreturn x[0]", "log.append(x[0])\nlog.clear()\nreturn x[0]",
    "log.append(log)\nreturn x[0]", "log.append(x[0])\nreturn x[0] if log else 2 * x[0]",
])  # fmt: skip
def test_a_list_that_is_appended_to_is_not_read_or_given_other_things(body):
    log = [1.0]
    with pytest.raises(SourceADError):
        value_and_grad(made(body, log=log, TABLE={"log": log}), verify=False)(np.ones(2))
    assert log == [1.0]


def test_a_list_that_is_appended_to_is_no_argument():
    log = [1.0]
    derivative = value_and_grad(made("log.append(x[0])\nreturn x[0] * ys[0]", "x, ys", log=log))
    assert derivative(np.ones(2), [2.0])[0] == 2.0 and log == [1.0, 1.0]
    with pytest.raises(SourceADError, match="`log`, which the function changes, has another name in it"):
        derivative(np.ones(2), log)
    assert log == [1.0, 1.0]


COUNTS = """
def counting(x):
    global N, best
    N += 1
    TABLE["calls"] += 1
    for v in x:
        if v > 0:
            TABLE["positive"] = TABLE["positive"] + 1
            HELD.seen["n"] += 1
    loss = np.sum(x * x) * TABLE["weight"] * TABLE["calls"]
    TABLE["last"] = float(loss)
    TABLE["path"].append(x * 1.0)
    HELD.log.append((N, float(loss)))
    COUNTER["calls"] += 1
    GROUPED["loss"].append(float(loss))
    BY_NUMBER[len(BY_NUMBER)] = float(loss)
    best = min(best, float(loss))
    return loss + best * 0.0
"""


class Held:
    def __init__(self):
        self.log, self.seen = [], {"n": 0}


@dataclasses.dataclass
class State:
    calls: int = 0
    best: float = np.inf
    losses: list = dataclasses.field(default_factory=list)


@pytest.mark.parametrize("state", [State(), types.SimpleNamespace(calls=0, best=np.inf, losses=[])])
def test_a_state_and_an_attribute_of_the_function_itself_count(state):
    def loss(x):
        loss.calls += 1
        state.calls += 1
        value = np.sum(x * x)
        if value < state.best:
            state.best = value
        state.losses.append(float(value))
        return value

    loss.calls = 0
    derivative = value_and_grad(loss)
    for k in range(3):
        assert derivative(np.array([1.0, k]))[0] == 1.0 + k**2
    assert (loss.calls, state.calls, state.best, state.losses) == (3, 3, 1.0, [1.0, 2.0, 5.0])


def counting():
    """A function that counts and keeps in every kind of global, and what it keeps."""
    kept = {
        "N": 0, "best": np.inf, "TABLE": {"calls": 0, "positive": 0, "weight": 2.0, "path": []}, "HELD": Held(),
        "COUNTER": collections.Counter(), "GROUPED": collections.defaultdict(list), "BY_NUMBER": {},
    }  # fmt: skip
    names = {"np": np, **kept}
    exec_with_source(COUNTS, names)
    return names["counting"], lambda: str([vars(names[name]) if name == "HELD" else names[name] for name in kept])


@pytest.mark.parametrize("derivative", [value_and_grad, lambda f: lambda x: jvp(f, (x,), (x,)), lambda f: lambda x: vjp(f, x)])
def test_what_counts_and_keeps_does_so_once_for_each_call(derivative):
    (ours, left), (by_python, expected) = counting(), counting()
    derived = derivative(ours)
    for k in range(3):
        x = np.array([0.5, -1.5, 2.5]) + k
        assert derived(x)[0] == by_python(x)
        assert left() == expected()
    if derivative is value_and_grad:
        np.testing.assert_allclose(derived(x)[1], 4 * x * 4)


def test_what_counts_is_not_saved_as_a_module(tmp_path):
    derived = value_and_grad(counting()[0])
    derived(np.ones(2))
    with pytest.raises(SourceADError, match="which the function changes, would be another one in a module"):
        derived.save(tmp_path / "saved.py")


def closures(k):
    """A function that counts its calls in a variable around it."""

    def counts(x):
        nonlocal k
        k += 1
        return np.sum(x * x) * k

    return counts, lambda: k


def test_each_function_counts_in_its_own_closure():
    (one, of_one), (other, of_other) = closures(0), closures(10)
    for _ in range(2):
        assert value_and_grad(one)(np.ones(2))[0] == 2.0 * of_one()
        assert value_and_grad(other)(np.ones(2))[0] == 2.0 * of_other()
    assert (of_one(), of_other()) == (2, 12)


@pytest.mark.parametrize("body", [
    "TABLE['o'] = Keeper()\nreturn x[0]", "for k in TABLE:\n    x = x * 2\nTABLE['a'] += 1\nreturn x[0]",
    "TABLE['a'] = x\nreturn x[0]", "y = x * 2\nlog.append(y)\ny[0] = 5.0\nreturn y[0]", "TABLE['a'] += x[0]\nreturn x[0] * by_number()",
    "TABLE[int(x[0])] = 1.0\nreturn x[0] * TABLE['a']",
])  # fmt: skip
def test_what_cannot_be_kept_in_order_is_refused(body):
    log, table = [], {"a": 1}
    f = made(body, log=log, TABLE=table, Keeper=Keeper, by_number=opaque(lambda: float(table["a"])))
    with pytest.raises(SourceADError):
        value_and_grad(f, verify=False)(np.ones(2))
    assert (log, table) == ([], {"a": 1})


KEEPING = """
def keeping(t, seen=[]):
    seen.append(t)
    return 2 * t
"""


@pytest.mark.parametrize("body", [
    "return keeping(x[0]) * x[1] if n else np.sum(x)",  # lowering ended never: each time the default was another list
    "return sum(keeping(t) for t in x)",
    "return keeping(x[0]) + keeping(x[1])",
])  # fmt: skip
def test_a_default_that_a_function_appends_to_is_refused(body):
    names = {"np": np}
    exec_with_source(KEEPING, names)
    with pytest.raises(SourceADError, match="the default of `seen` is one object for all calls"):
        value_and_grad(made(body, "x, n", **names), verify=False)(np.array([0.5, 1.5]), 2)


def test_a_default_is_one_object_however_often_the_function_is_called():
    names = {"np": np, "weights": np.array([2.0, 3.0])}
    exec_with_source("def given(t, w=weights):\n    return w if t is None else t\n", names)
    f = made("return np.sum(x) * (2.0 if given(None) is given(None) else 3.0)", **names)
    assert value_and_grad(f, verify=False)(np.ones(2))[0] == 4.0


def test_what_is_not_lowered_reads_the_count_of_this_moment():
    table = {"a": 1}
    body = "TABLE['a'] += 1\ny = x[0] * by_number()\nTABLE['a'] += 1\nreturn y"
    f = made(body, TABLE=table, by_number=opaque(lambda: float(table["a"])))
    derivative = value_and_grad(f)
    assert [derivative(np.ones(1))[0] for _ in range(2)] == [2.0, 4.0] and table == {"a": 5}
