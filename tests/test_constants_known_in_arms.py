"""Which of a few constants a value is, is known in the arm of a branch that asks for it."""

import pytest

from sourcead import UnsupportedSyntaxError, check_grads, grad


class State:
    given = {"t": 0.0, "p": 0.0, "h": None, "x": None}
    case = ""
    result = None

    def __init__(self, **given):
        self.given = State.given.copy()
        self(**given)

    def __call__(self, **given):
        self.given.update(given)
        if self.solvable:
            self.solve()

    @property
    def solvable(self):
        self.case = ""
        if self.given["t"] and self.given["p"]:
            self.case = "tp"
        elif self.given["p"] and self.given["h"] is not None:
            self.case = "ph"
        elif self.given["h"] is not None and self.given["x"]:
            self.case = "hx"
        return self.case

    def solve(self):
        first, second = (self.given[self.case[k]] for k in range(2))
        if self.case == "tp":
            self.result = first * second ** 2
        elif self.case == "ph":
            self.result = first - second


def solved(t, p):
    return State(t=t, p=p).result


TABLE = {"low": [1.0, 2.0], "high": 3.0}


def chosen(x):
    case = "low" if x < 1 else "high"
    if case == "low":
        return x * TABLE[case][1]
    return x ** 2 * TABLE[case]


def not_chosen(x):
    case = "low" if x < 1 else "high"
    if not case != "high":
        x = x * TABLE[case]
    else:
        x = x - TABLE[case][0]
    return x * x


def truth_of_and(x):
    scale = [2.0] if x and None is not None else 3.0
    return x * scale


def truth_of_or(x):
    scale = 3.0 if x < 1 or None is None else [2.0]
    return x * scale


def rebound_in_the_arm(x):
    case = "low" if x < 1 else "high"
    if case == "low":
        case = "high"
        x = x * TABLE[case]
    return x * (2.0 if case == "high" else 5.0)


def changed_by_a_loop(x):
    case, total = "low", 0.0
    for i in range(4):
        if case == "low":
            total = total + x * i
            case = "high" if i * x > 1 else case
        else:
            total = total + x * x
            case = "low"
    return total


@pytest.mark.parametrize("f", [chosen, not_chosen, truth_of_and, truth_of_or, rebound_in_the_arm, changed_by_a_loop])
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_the_constant_of_the_arm_is_known(f, x):
    check_grads(f, (x,))


def test_the_key_that_a_property_chose_is_known():
    check_grads(solved, (2.0, 3.0))
    with pytest.raises(TypeError):
        grad(solved)(0.0, 3.0)


def test_a_constant_of_which_two_are_left_is_not_known():
    def f(x):
        case = "low" if x < 1 else "high" if x < 2 else ""
        return x * TABLE[case] if case else x

    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(0.5)
