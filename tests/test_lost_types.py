"""A type that lost what is in a list is found while compiling: it would give a gradient of zero."""

from unittest import mock

import numpy as np
import pytest

from sourcead import InternalError, grad, jvp
from sourcead.frontend.values import sequences
from sourcead.ir.lost_types import loses
from sourcead.ir.types import FLOAT, INT, ListT, MapT, StructT, TupleT, Undefined
from sourcead.ir.verify import verify
from sourcead.passes.plan import observed
from tests.semantics import made

X = np.array([0.7, 1.3, -0.4])
EMPTY = ListT(Undefined())


FUNCTIONS = {
    "appended": """
        kept = []
        for v in x:
            if v > 0:
                kept.append(v)
        total = 0.0
        for v in kept:
            total = total + v * v
        return total""",
    "stored": """
        kept = [[] for _ in range(len(x))]
        for i in range(len(x)):
            kept[int(x[i] > 0)].append(x[i] ** 2)
        return sum(kept[1])""",
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("derivative", [grad, lambda f: lambda x: jvp(f, (x,), (x,))], ids=["grad", "jvp"])
def test_a_list_that_grows_without_its_type_is_an_internal_error(name, derivative):
    f = made(FUNCTIONS[name])
    with mock.patch.object(sequences, "grown_type", lambda t, path, item: t), pytest.raises(InternalError, match="lost what is in it"):
        derivative(f)(X)


@pytest.mark.parametrize("old, new, found", [
    (ListT(FLOAT), EMPTY, True), (EMPTY, ListT(FLOAT), False), (EMPTY, EMPTY, False), (ListT(INT), EMPTY, False),
    (TupleT((INT, ListT(FLOAT))), TupleT((INT, EMPTY)), True), (MapT(INT, ListT(FLOAT)), MapT(INT, EMPTY), True),
    (StructT(list, (("a", ListT(FLOAT)),)), StructT(list, (("a", EMPTY),)), True), (FLOAT, FLOAT, False), (FLOAT, Undefined(), True),
])  # fmt: skip
def test_what_a_type_loses(old, new, found):
    assert loses(old, new) is found


TABLE = [[], [0.5], [0.25, 2.0]]


def test_an_item_that_is_known_to_be_empty_loses_nothing():
    def f(x):
        total = x * 1.0
        for i in range(len(TABLE)):
            total = total + sum((TABLE[i][j] * x**2 for j in range(i)), 0.0)
        return total

    with observed(lambda row, before, after: verify(before)):
        assert grad(f)(3.0) == pytest.approx(1 + 2 * 2.75 * 3)
