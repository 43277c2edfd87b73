"""`islice` of a generator that does not end, for a number of elements that the run decides."""

import itertools

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes, made

GENERATOR = """
def halves(t):
    while True:
        yield t
        t = 0.5 * t + x[1]
"""
RIGHT = {
    "sum": "return sum(islice(halves(x[0]), k)) + np.sum(x)",
    "list": "return np.sum(np.array(list(islice(halves(x[0]), k + 1))) ** 2)",
    "two": "return x[0] + sum(v * w for v, w in zip(islice(halves(x[0]), k), islice(halves(x[1]), k)))",
    "in a loop": "s = x[0]\nfor n in range(k): s += sum(islice(halves(x[n % 2]), n))\nreturn s",
    "with effects": "seen = []\ndef noted():\n    t = x[0]\n    while True:\n        seen.append(t)\n        yield t\n"
    "        t = t * x[1]\nreturn sum(islice(noted(), k)) + 2 * sum(seen) + len(seen) + x[0]",
}
REFUSED_OR_RIGHT = {
    "what is left": "g = halves(x[0]); s = sum(islice(g, k)); return s * next(g)",
    "begun later": "g = halves(x[0]); h = islice(g, k); first = next(g); return sum(h) * first + x[1]",
    "written before": "y = x.copy()\ndef first():\n    while True: yield y[0]\n"
    "h = islice(first(), k); y[0] = 3 * x[1]\nreturn sum(h) + x[0]",
}


@pytest.mark.parametrize("name", [*RIGHT, *REFUSED_OR_RIGHT])
def test_a_part_of_an_endless_generator(name):
    body = GENERATOR + (RIGHT.get(name) or REFUSED_OR_RIGHT[name])
    f = made(body, "x, k", np=np, islice=itertools.islice)
    for k in (3, 0, 1):
        found = judged_in_all_modes(f, np.array([0.7, 1.3]), k)
        assert found == "right" or name in REFUSED_OR_RIGHT
