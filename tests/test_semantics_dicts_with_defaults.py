"""Dicts from outside whose class makes a value for a key that they lack: `defaultdict`, `Counter`."""

import collections
import copy

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import made

DICTS = {
    "empty": collections.defaultdict(float),
    "of numbers": collections.defaultdict(float, q=2.0),
    "of integers": collections.defaultdict(int, {0: 1.0, 1: 3.0}),
    "of another function": collections.defaultdict(lambda: 3.0, a=2.0),
    "without a factory": collections.defaultdict(None, q=2.0),
    "counts": collections.Counter(a=2),
    "plain": {"q": 2.0},
}
BODIES = {
    "update": "d.update({'a': 2.0})\nreturn x[0] * d['a']",
    "read": "return d['q'] * np.sum(x)",
    "read and counted": "return d['q'] * np.sum(x) + len(d)",
    "added to": "d['q'] += np.sum(x); return d['q'] * 2 + len(d)",
    "asked for": "return np.sum(x) * (d['q'] if 'q' in d else 5.0) + d.get('z', 3.0) + len(d)",
    "handled": "try:\n    return d['q'] * np.sum(x)\nexcept KeyError:\n    return 5.0 * np.sum(x)",
    "added to in a loop": "for v in x: d['q'] += v * v\nreturn d['q']",
    "copied": "c = d.copy(); return c['q'] * np.sum(x) + len(c) + len(d)",
    "joined": "c = d | {'a': np.sum(x)}; return c['a'] + c['q']",
    "two keys": "for k in range(2): d[k] += x[k]\nreturn d[0] * d[1]",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", DICTS)
@pytest.mark.parametrize("body", BODIES)
def test_a_dict_as_an_argument(body, given):
    f, d, x = made(BODIES[body], "x, d", np=np), DICTS[given], np.array([0.5, 1.5])
    try:
        expected = f(x, copy.deepcopy(d))
    except KeyError:
        pytest.skip("Python raises KeyError")
    try:
        value = value_and_grad(f, verify=False)(x, d)[0]
    except (SourceADError, KeyError):  # the text does not know what another function makes, and says so
        assert given in ("of another function", "counts")
    else:
        assert value == expected and d == DICTS[given]


@pytest.mark.filterwarnings("ignore")
def test_a_default_dict_takes_gradients_under_new_keys():
    def f(x, sums):
        for k, v in enumerate(x):
            sums[k % 2] += v * v
        return sums[0] * sums[1]

    sums, x = collections.defaultdict(float), np.array([0.5, 1.5, 2.0])
    np.testing.assert_allclose(value_and_grad(f)(x, sums)[1], [2.25, 4.25 * 3.0, 9.0])
    assert not sums
