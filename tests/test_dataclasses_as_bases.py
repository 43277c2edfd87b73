"""What `dataclass` generated, as derived classes and programs that look at fields use it; `__class__`; defaults of named tuples."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad, jvp


@dataclasses.dataclass
class Inputs:
    x: float = dataclasses.field(metadata={"types": (float, np.ndarray), "lowest": 0.5})
    y: float = 2.0
    history: list = dataclasses.field(default_factory=list)
    label: str = dataclasses.field(default="", metadata={"is_text": True})

    def __post_init__(self):
        for f in dataclasses.fields(self):
            meta = f.metadata
            if not meta:
                continue
            value = getattr(self, f.name)
            if meta.get("is_text") and not isinstance(value, str):
                raise TypeError(f"{f.name} is no text")
            if "types" in meta and isinstance(value, meta["types"]):
                setattr(self, f.name, value * meta["lowest"])
        self.product = self.x * self.y


@dataclasses.dataclass
class BySuper(Inputs):
    def __init__(self, x):
        super().__init__(x=x, y=x)


class ByName(Inputs):
    def __init__(self, x):
        Inputs.__init__(self, x, 3.0)
        self.total = self.product * x


CASES = [
    (lambda x: BySuper(x).product, 3.0),
    (lambda x: ByName(x).total, 9.0),
    (lambda x: Inputs(x, y=x).product + len(ByName(x).history), 3.0),
]


@pytest.mark.parametrize("f, expected", CASES)
def test_a_generated_init_is_called(f, expected):
    assert grad(f)(3.0) == pytest.approx(expected)
    assert jvp(f, (3.0,), (2.0,))[1] == pytest.approx(2 * expected)


def test_metadata_is_not_written():
    def f(x):
        dataclasses.fields(Inputs)[0].metadata["lowest"] = x
        return x

    with pytest.raises(Exception, match="metadata"):
        grad(f)(1.0)


def test_the_class_of_a_number_or_an_array():
    f = lambda x: x * 2 if x.__class__.__name__ == "ndarray" else x * 3  # noqa: E731
    assert grad(f)(2.0) == 3.0
    np.testing.assert_array_equal(grad(lambda x: np.sum(f(x)))(np.ones(2)), [2.0, 2.0])


Point = namedtuple("Point", "a b c")
Point.__new__.__defaults__ = (2.0, 3.0)


def test_defaults_that_a_program_gives_to_a_named_tuple():
    assert grad(lambda x: Point(x).a * Point(x).b * Point(x, c=x).c)(3.0) == pytest.approx(12.0)


class Other:
    pass


def test_an_init_of_another_object_is_refused():
    def f(x):
        other = Other()
        Inputs.__init__(other, x)
        return other.x

    with pytest.raises(UnsupportedSyntaxError, match="made by `exec`"):
        grad(f)(1.0)
