"""Lists, dicts and arrays that are there before the call, in globals and closures: a write to them is refused wherever it stands."""

import collections
import copy

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import made

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
