"""Functions of other people's packages: the judge itself, and a sample of small packages as PyPI has them (`pytest -m long`)."""


import numpy as np
import pytest

from tests.packages import environment
from tests.packages.__main__ import SAMPLE, judge
from tests.packages.case import case, packages, stair
from tests.packages.judge import compare, judge as outcome_of
from tests.packages.table import document, reason, right_cases


def wave(x, y):
    return np.sum(np.sin(x) * y)


INPUTS = np.array([0.3, 1.2, 0.0]), 2.0


def compared(gradient, function=wave, inputs=INPUTS):
    return compare(function, inputs, function(*inputs), gradient)


def test_the_right_gradient_is_found_right():
    assert compared([np.cos(INPUTS[0]) * 2.0, np.sum(np.sin(INPUTS[0]))]) == (None, 4, 0)


def test_a_wrong_element_is_named():
    gradient = np.cos(INPUTS[0]) * 2.0
    gradient[1] *= 1.001
    wrong, _, _ = compared([gradient, np.sum(np.sin(INPUTS[0]))])
    assert wrong.startswith("by input 0[1]")


def test_a_gradient_of_another_shape_is_wrong():
    wrong, _, _ = compared([np.ones((3, 1)), 1.0])
    assert wrong.startswith("the gradient by input 0 has shape (3, 1)")


@pytest.mark.parametrize("function", [np.floor, lambda x: np.abs(x - 1.0)], ids=["jump", "bend"])
def test_a_component_at_a_jump_or_bend_is_left_out(function):
    assert compared([np.array([5.0, 1.0])], lambda x: function(x[0]) + x[1], [np.array([1.0, 2.0])]) == (None, 1, 1)


def test_a_stair_is_compared_between_its_steps():
    stair = lambda x: x + np.floor(x * 2e4) / 1e4
    assert compared([1.0], stair, [1.00001]) == (None, 1, 0)


def test_a_call_that_does_not_depend_on_its_input_is_no_case():
    with pytest.raises(ValueError, match="nothing to compare"):
        compared([0.0], lambda x: 1.0, [1.0])


def test_a_refusal_is_reported_with_its_reason():
    outcome = outcome_of(case("np.i0", lambda x: float(np.i0(x)), 1.0))
    assert (outcome.status, "order one" in outcome.detail) == ("refused", True)


def test_a_function_that_writes_into_its_argument_is_judged_by_copies():
    def halved(x):
        x /= 2.0
        return np.sum(x**3)

    assert outcome_of(case("halved", halved, [1.0, 2.0])).status == "right"


def halved_interval(a):
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle**2 < a:
            low = middle
        else:
            high = middle
    return low + a


def test_a_search_by_comparisons_is_a_stair_if_its_case_says_so():
    search = case("halved_interval", halved_interval, 2.0)
    assert outcome_of(search).status == "wrong"
    found = outcome_of(stair(search, "it halves an interval"))
    assert (found.status, "halves an interval; by input 0" in found.detail) == ("stair", True)
    assert outcome_of(stair(case("square", lambda x: x**2, 2.0), "it is none")).status == "right"


def test_every_case_file_pins_its_package():
    for package in packages().values():
        assert all(len(requirement.split("==")) == 2 for requirement in package.requirements), package
    assert set(SAMPLE) <= set(packages())


def test_the_page_shows_what_the_outcomes_say():
    package = packages()["utm"]
    outcome = {"calls": "utm.from_latlon", "status": "right", "detail": "", "seconds": 0.1, "compared": 2, "left_out": 0}
    refused = {**outcome, "calls": "utm.to_latlon", "status": "refused", "detail": "NoRuleError: no rule"}
    text = document([(package, [outcome, refused])])
    assert "**2 cases of 1 packages: 1 right, 0 wrong, 1 refused, 0 error, 0 stair.**" in text
    assert "| `utm.to_latlon` | refused | 0.1 | `NoRuleError: no rule` |" in text


def test_a_reason_on_the_page_names_the_package_and_no_folder_of_the_machine():
    detail = "NoRuleError: tests/packages/cases/a.py:3: a function that this calls | case(f) | In a/b.py:7: no rule | f(x)"
    assert reason(detail) == "NoRuleError: In a/b.py:7: no rule | f(x)"
    assert reason("NoRuleError: tests/packages/a.py:3: no rule | case(f)") == "NoRuleError: tests/packages/a.py:3: no rule"
    assert reason("AliasError: /home/me/lib/a/b.py:7: `x` is shared") == "AliasError: a/b.py:7: `x` is shared"


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLE)
def test_what_the_page_says_of_a_package_holds(name):
    """No case is wrong or an error, and each that docs/packages.md calls right is right."""
    package = packages()[name]
    if (said := environment.install(package)) is not None:
        pytest.skip(f"{package.requirements[0]} could not be installed: {said}")
    outcomes = judge(package)
    assert [outcome for outcome in outcomes if outcome["status"] not in ("right", "refused", "stair")] == []
    found = {(package.requirements[0], outcome["calls"]) for outcome in outcomes if outcome["status"] == "right"}
    assert found >= {known for known in right_cases() if known[0] == package.requirements[0]}
