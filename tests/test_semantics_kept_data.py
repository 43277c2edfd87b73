"""Lists, dicts and arrays that are there before the call, in globals and closures: a write to them is refused wherever it stands.

A list to which the function only appends numbers is appended to.
"""

import collections
import copy

import numpy as np
import pytest

from sourcead import Revolve, jvp, value_and_grad
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
        assert ours["SEEN"] == expected["SEEN"] != DATA["SEEN"], f"{write!r} in {place} was left out"


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
    "log.append(x[0])\nreturn x[0] * len(log)", "y = log[0]\nlog.append(x[0])\nreturn y * x[0]", "log.append(x)\nreturn x[0]",
    "for y in log:\n    x = x * y\nlog.append(x[0])\nreturn x[0]", "log.append(x[0])\nreturn x[0] * TABLE['log'][0]",
    "(log if x[0] > 0 else []).append(x[0])\nreturn x[0]", "log.append(x[0])\nlog.clear()\nreturn x[0]",
    "log.append(log)\nreturn x[0]", "log.append([x[0]])\nreturn x[0]", "log.append(x[0])\nreturn x[0] if log else 2 * x[0]",
])  # fmt: skip
def test_a_list_that_is_appended_to_is_not_read_or_given_other_things(body):
    log = [1.0]
    with pytest.raises(SourceADError):
        value_and_grad(made(body, log=log, TABLE={"log": log}), verify=False)(np.ones(2))
    assert log == [1.0]


def test_a_list_that_is_appended_to_is_no_argument():
    log = [1.0]
    with pytest.raises(SourceADError, match="a list is appended to here that an argument or other data may be, or hold"):
        value_and_grad(made("log.append(x[0])\nreturn x[0] * ys[0]", "x, ys", log=log))(np.ones(2), log)


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
