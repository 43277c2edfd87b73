"""What `isinstance`, `type`, `hasattr` and patterns say of iterators, views of dicts, parts of ranges and the like, as in Python."""

import functools
import types
from collections import OrderedDict

import numpy as np
import pytest

from tests.semantics import judged

pytestmark = pytest.mark.sampled(3)

X = np.array([0.7, -0.4, 1.3])


def doubled(z):
    return 2 * z


def yielding(z):
    yield z


QUESTIONS = {
    "zip is no list": lambda x: isinstance(zip(x, x), list),
    "zip is a zip": lambda x: type(zip(x, x)) is zip,
    "enumerate is no list": lambda x: type(enumerate(x)) is list,
    "map is no generator": lambda x: isinstance(map(doubled, x), types.GeneratorType),
    "map is a map": lambda x: isinstance(map(doubled, x), map),
    "zip has no append": lambda x: hasattr(zip(x, x), "append"),
    "zip has no length": lambda x: hasattr(zip(x, x), "__len__"),
    "enumerate has a next": lambda x: hasattr(enumerate(x), "__next__"),
    "values are no list": lambda x: isinstance({"a": x}.values(), list),
    "items are no list": lambda x: type({"a": x}.items()) is list,
    "values have no append": lambda x: hasattr({"a": x}.values(), "append"),
    "flat is no array": lambda x: isinstance(x.flat, np.ndarray),
    "flat has no shape": lambda x: hasattr(x.flat, "shape"),
    "array of flat": lambda x: isinstance(np.asarray(x.flat), np.ndarray),
    "generator": lambda x: isinstance(yielding(x), types.GeneratorType),
    "slice of a range": lambda x: isinstance(range(10)[2:8], np.ndarray),
    "slice of a slice of a range": lambda x: type(range(len(x))[1:][1:]) is range,
    "number of a range": lambda x: type(range(10)[2]) is int,
    "number of a slice of a range": lambda x: hasattr(range(len(x))[1:][0], "shape"),
    "number of another dtype": lambda x: isinstance(x[0].astype(int), np.integer),
    "number of the same dtype": lambda x: isinstance(x.sum().astype(float), np.ndarray),
    "copy of a number": lambda x: isinstance(x[0].copy(), np.ndarray),
    "copied number": lambda x: isinstance(np.copy(x[0]), np.ndarray),
    "truth value as a number": lambda x: isinstance((x[0] > 0).astype(float), np.floating),
    "lambda": lambda x: type(lambda z: z) is float,
}
ASKED_OF_OTHERS = {
    "function with a cache": lambda x: isinstance(functools.cache(lambda z: z), types.FunctionType),
    "type of a function with a cache": lambda x: type(functools.lru_cache(None)(lambda z: z)) is types.FunctionType,
    "reversed": lambda x: hasattr(reversed(list(x)), "append"),
    "iter": lambda x: isinstance(iter(x), np.ndarray),
    "values of an ordered dict": lambda x: type(OrderedDict(a=x).values()) is type({}.values()),
}


def weighted(question):
    """A function whose derivative tells the answer."""
    return lambda x: x[0] * (2.0 if question(x) else 3.0) + x[1]


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_classes_of_iterators_are_those_of_python(question):
    assert judged(weighted(question), X) == "right"


@pytest.mark.parametrize("question", ASKED_OF_OTHERS.values(), ids=ASKED_OF_OTHERS)
def test_classes_that_are_not_known_are_refused(question):
    judged(weighted(question), X)


def sum_of_nested(z):
    if isinstance(z, (list, tuple)):
        return sum(map(sum_of_nested, z))
    if isinstance(z, dict):
        return sum(sum_of_nested(v) for v in z.values())
    if isinstance(z, zip):
        return 7.0
    return np.sum(z)


def nested(x):
    return sum_of_nested([x, {"a": x}, zip(x, x), (x[0], x[1])])


def pattern_of_a_function(x):
    match doubled:
        case [_, *_]:
            return x[0]
        case {"a": v}:
            return v
        case _:
            return x[1] * 3


def pattern_of_an_iterator(x):
    match zip(x, x):
        case [_, *_]:
            return x[0]
        case _:
            return x[1]


def asked_after_some_were_taken(x):
    pairs = zip(x, x)
    first = next(pairs)
    return first[0] * (2 if isinstance(pairs, zip) else 3) + sum(u * v for u, v in pairs)


@pytest.mark.parametrize("f", [nested, pattern_of_a_function, pattern_of_an_iterator, asked_after_some_were_taken])
def test_programs_that_ask_for_the_class(f):
    assert judged(f, X) == "right"
