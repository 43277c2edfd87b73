"""Objects of classes derived from Python's containers and numbers, from outside the function: what these classes add is not overlooked."""

import numpy as np
import pytest

from tests.semantics import judged

pytestmark = pytest.mark.sampled(3)


class OwnList(list):
    k = 3.0


class OwnDict(dict):
    k = 3.0


class OwnTuple(tuple):
    k = 3.0


class OwnFloat(float):
    k = 3.0


class OwnText(str):
    k = 3.0


class OwnArray(np.ndarray):
    k = 3.0


OBJECTS = [OwnList([1.0]), OwnDict(a=1.0), OwnTuple((1.0,)), OwnFloat(2.0), OwnText("a"), np.ones(2).view(OwnArray), [1.0], {}, (1.0,), 2.0]
HELD = OBJECTS[0]


def has(x, o):
    return x * 2 if hasattr(o, "k") else x


def reads(x, o):
    return x * getattr(o, "k", 1.0)


def of_one_class(x, o):
    return x * 2 if type(o) in (list, dict, np.ndarray, float, tuple, str) else x


def handles(x, o):
    try:
        return x * o.k
    except AttributeError:
        return x * 7


def has_inside(x, o):
    return has(x, o[0])


@pytest.mark.parametrize("f", [has, reads, of_one_class, handles, has_inside], ids=lambda f: f.__name__)
@pytest.mark.parametrize("o", OBJECTS, ids=lambda o: type(o).__name__)
def test_argument(f, o):
    assert judged(f, 0.5, [o] if f is has_inside else o) in ("right", "refused")


@pytest.mark.parametrize("o", OBJECTS, ids=lambda o: type(o).__name__)
def test_global(o, monkeypatch):
    monkeypatch.setitem(globals(), "HELD", o)
    assert judged(lambda x: has(x, HELD), 0.5) in ("right", "refused")
