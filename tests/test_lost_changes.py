"""A derivative leaves arguments as they were: a warning names the attribute, list or dict that the function itself would change."""

import warnings

import numpy as np
import pytest

from sourcead import grad, jvp, value_and_grad, vjp


class Model:
    def __init__(self):
        self.w, self.calls, self.log, self.cache, self.training = np.ones(2), 0, [], {}, True

    def counts(self, x):
        self.calls += 1
        return x**2

    def keeps(self, x):
        self.last = 3 * x
        return self.last**2

    def appends_in_a_loop(self, x):
        for _ in range(100):
            self.log.append(x)
        return x

    def caches(self, x):
        self.cache["x"] = x
        return x

    def in_an_arm(self, x):
        if x > 0:
            self.calls = 1
        return x

    def in_another_function(self, x):
        return self.counts(x) + 1.0

    def writes_an_array(self, x):
        self.w[0] = x
        self.w += 1.0
        return np.sum(self.w)

    def puts_it_back(self, x):
        before, self.training = self.training, False
        y = x if self.training else 2 * x
        self.training = before
        return y

    def of_a_copy(self, x):
        own = dict(self.cache)
        own["x"] = x
        return own["x"]


CHANGED = {
    "counts": "`self.calls`", "keeps": "`self.last`", "appends_in_a_loop": "`self.log`", "caches": "`self.cache`",
    "in_an_arm": "`self.calls`", "in_another_function": "`self.calls`",
}  # fmt: skip
WAYS = {
    "grad": lambda f: grad(f)(2.0), "value_and_grad": lambda f: value_and_grad(f)(2.0), "vjp": lambda f: vjp(f, 2.0),
    "jvp": lambda f: jvp(f, (2.0,), (1.0,)),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("method, what", CHANGED.items(), ids=CHANGED)
def test_a_warning_names_what_the_function_itself_would_change(method, what, way):
    model = Model()
    with pytest.warns(UserWarning, match=f"`{method}` changes {what}; a derivative uses the new value, and leaves arguments") as told:
        way(getattr(model, method))
    assert {warning.filename for warning in told} == {__file__}
    assert model.calls == 0 and model.log == [] and model.cache == {} and not hasattr(model, "last")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("method", ["writes_an_array", "puts_it_back", "of_a_copy"])
def test_no_warning_for_what_a_caller_does_not_look_for(method, way):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        way(getattr(Model(), method))


def test_the_warning_shows_the_line():
    with pytest.warns(UserWarning, match=r"test_lost_changes.py:\d+: .*\n    self.calls \+= 1\n    \^+\nWrite instead: return what"):
        grad(Model().counts)(2.0)


SHARED = Model()


def test_the_text_that_assigns_an_attribute_of_a_global_object_has_no_copy_of_it_that_is_not_read():
    def assigns(x):
        SHARED.last = x * 3
        return SHARED.last**2

    gradient = grad(assigns)
    assert gradient(2.0) == 36.0 and SHARED.last == 6.0
    assert "copy(" not in gradient.source


SEVEN, HUGE = 7, 10**4400


def by_a_global_key(x, d):
    return x * d[SEVEN]


def by_an_argument(x, d, k=7):
    return x * d[k]


def by_huge_keys(x, d):
    total = 0.0
    for k, v in d.items():
        total = total + v * x + len(str(k > 3))
    return total


def in_one_arm(x, d):
    chosen = d if x > 0 else {7: 1.0}
    return chosen[7] * x


def sums(x, d):
    return sum(d.values()) * x + max(d) + len(sorted(d))


@pytest.mark.parametrize("f", [by_a_global_key, by_an_argument, in_one_arm, sums])
def test_what_is_only_read_is_not_said_to_change(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(f)(2.0, {7: 3.0}) == 3.0


def test_huge_keys_are_no_errors_of_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(by_huge_keys)(2.0, {HUGE: 3.0}) == 3.0
