"""A global or closure variable that an opaque function changes, and that the function reads, is refused; others are not."""

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad, opaque

SCALE, TABLE, VALUES, SEEN = 1.0, {"k": 1.0}, np.ones(3), []
SAME = VALUES


@opaque
def step(v):
    global SCALE
    SCALE = SCALE / 2


def halve():
    TABLE["k"] /= 2


@opaque
def step_of_table(v):
    halve()


@opaque
def step_of_values(v):
    VALUES[0] /= 2


@opaque
def report(v):
    SEEN.append(float(v) * TABLE["k"] + VALUES[1])
    return len(SEEN)


def a_number(x):
    first = SCALE * x[0]
    step(1.0)
    return first + SCALE * x[1]


def an_item(x):
    step_of_table(1.0)
    return TABLE["k"] * x[1]


def an_array_by_another_name(x):
    first = SAME[0] * x[0]
    step_of_values(1.0)
    return first + SAME[0] * x[1]


def of_a_closure():
    n = 1.0

    @opaque
    def up():
        nonlocal n
        n += 1

    def a_closure_variable(x):
        first = n * x[0]
        up()
        return first + n * x[1]

    return a_closure_variable


@pytest.mark.parametrize("program", [a_number, an_item, an_array_by_another_name, of_a_closure()], ids=lambda f: f.__name__)
def test_what_is_read_and_changed_is_refused(program):
    with pytest.raises(UnsupportedSyntaxError, match="is called as it is and changes"):
        grad(program)(np.array([0.5, 0.3]))


def test_what_only_the_opaque_function_reads_or_changes_is_not():
    def reports(x):
        report(x[0])
        return TABLE["k"] * x[1] + VALUES[1] * x[0]

    np.testing.assert_allclose(grad(reports)(np.array([0.5, 0.3])), [VALUES[1], TABLE["k"]])
