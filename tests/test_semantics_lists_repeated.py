"""`xs + xs` and `xs * n` of lists whose length is not known: the derivative passes, and each object is in the new list several times."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes, made

pytestmark = pytest.mark.sampled(3)

NUMBERS = {
    "times the run's number": "xs = [x[0] * i for i in range(k)]; ys = xs * k",
    "the run's number times": "xs = list(x); xs.sort(); ys = k * xs",
    "times two": "xs = [x[0] * i for i in range(k)]; ys = xs * 2",
    "times ten": "xs = [v * v for v in x if v > 0]; ys = xs * 10",
    "times nothing": "xs = [x[0] * i for i in range(k)]; ys = xs * 0 + xs",
    "in place": "xs = list(x); xs.append(x[1]); xs *= 3; ys = xs",
    "written": "xs = [x[0] * i for i in range(k)]; ys = xs * 2; ys[0] = 5 * x[1]",
    "plus itself": "xs = [x[0] * i for i in range(k)]; ys = xs + xs; ys[0] = 5 * x[1]",
}
SUM = "return sum(v * (i + 1) for i, v in enumerate(ys)) + len(xs) + 2 * x[1]"


@pytest.mark.parametrize("lines", NUMBERS.values(), ids=NUMBERS)
def test_a_list_of_numbers_that_is_repeated(lines):
    f = made(f"{lines}\n{SUM}", "x, k", np=np)
    for k in (3, 1, 9):
        assert judged_in_all_modes(f, np.array([0.7, 1.3, -0.4]), k) == "right"


ARRAYS = "xs = [x * i for i in range(k)]"
REPEATED = {
    "plus itself": "ys = xs + xs",
    "plus a part of itself": "ys = xs + xs[:1]",
    "times two": "ys = xs * 2",
    "times the run's number": "ys = xs * k",
    "values of a dict": "d = dict(enumerate(xs)); ys = list(d.values()) + list(d.values())",
    "a part of what is repeated": "ys = (xs + xs)[1:]",
    "a copy of what is repeated": "ys = (xs + xs).copy()",
    "the items of what is repeated": "zs = xs + xs; ys = [v for v in zs]",
}


@pytest.mark.parametrize("write", ["ys[-1][0] = 5.0", "ys[-1] *= 2", "ys[k - 1] += x"])
@pytest.mark.parametrize("lines", REPEATED.values(), ids=REPEATED)
def test_an_array_that_is_in_a_list_twice_is_not_written_once(lines, write):
    f = made(f"{ARRAYS}\n{lines}\n{write}\nreturn sum(np.sum(v) * (i + 1) for i, v in enumerate(ys))", "x, k", np=np)
    judged_in_all_modes(f, np.array([0.7, 1.3]), 3)  # refused, or right
    judged_in_all_modes(f, np.array([0.7, 1.3]), 12)
