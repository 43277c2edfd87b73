"""Lists, dicts and arrays that are there before the call, in globals and closures: a write to them is refused wherever it stands."""

import collections
import copy

import numpy as np
import pytest

from sourcead import value_and_grad
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
        f = made(PLACES[place].format(write=write), "x, n", np=np, **copy.deepcopy(DATA))
        with pytest.raises(SourceADError):
            value_and_grad(f, verify=False)(np.array([0.5, 1.5, 2.5]), 2)
            pytest.fail(f"{write!r} in {place} was left out")


def test_a_list_of_a_closure_that_a_loop_appends_to_is_refused():
    def with_log():
        log = []

        def f(x, n):
            for i in range(n):
                log.append(x[i])
            return np.sum(x * x)

        return f

    with pytest.raises(SourceADError, match="`log` is not a parameter of the function"):
        value_and_grad(with_log(), verify=False)(np.array([0.5, 1.5]), 2)


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
