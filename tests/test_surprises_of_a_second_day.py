"""What surprised somebody on another first day: messages that named what the user never wrote, or the wrong cause."""

import numpy as np
import pytest

from sourcead import AliasError, WrtError, grad
from sourcead.errors import NoRuleError, NoSourceError, UnsupportedSyntaxError, UnsupportedValueError


def two_lists_with_one_name(x, n):
    h = [x * 1, x * 2]
    for i in range(n):
        old = h
        h = [np.tanh(a) for a in old]
        old[0][0] = i
        h = h if i > 2 else old
    return np.sum(h[0])


def read_by_no_name(x, n):
    h = [x * 1, x * 2]
    k = h
    for _ in range(n):
        h = [h[1], h[0]]
        h[0][0] = 3.0
    return np.sum(h[0]) + np.sum(k[1])


@pytest.mark.parametrize("f, message", [
    (two_lists_with_one_name, r"`old(\[1\])?` may share memory with `old\[0\]`, which is written in line \d+, so its value"),
    (read_by_no_name, r"`k\[1\]` may share memory with `h\[0\]`, which is written in line \d+, so its value"),
])  # fmt: skip
def test_an_alias_error_names_only_what_the_user_wrote_and_nothing_twice(f, message):
    with pytest.raises(AliasError, match=message):
        grad(f)(np.ones(3), 3)


class Thing:
    def without_self(x):
        return x * 2


def test_a_method_without_self():
    with pytest.raises(WrtError, match=r"without_self has no parameter to differentiate by: .* takes x\n.*\(self, \.\.\.\)"):
        grad(Thing().without_self)(2.0)


def test_a_rule_for_a_class_inside_a_function_is_registered_by_its_name():
    class Local:
        pass

    assert "@adjoint(Local)" in str(NoRuleError.of(Local)) and "import" not in str(NoRuleError.of(Local))


def test_a_gradient_of_a_class_inside_a_function_is_not_saved(tmp_path):
    class Local:
        def __init__(self, v):
            self.v = v

    with pytest.raises(UnsupportedValueError, match="define `Local` at the top level of its module"):
        grad(lambda p: p.v * 2).save(tmp_path / "saved.py", Local(2.0))


def test_the_source_of_a_function_without_text_has_no_other_reason():
    space = {}
    exec("def f(x): return x", space)
    with pytest.raises(NoSourceError) as told:
        grad(space["f"]).source  # noqa: B018
    assert "types of the arguments" not in str(told.value)


def test_a_copy_of_what_may_be_none():
    import copy

    def f(x, n):
        v = None
        for i in range(n):
            v = [x * i]
        return copy.deepcopy(v)[0]

    with pytest.raises(UnsupportedSyntaxError, match="a copy of what may be a number, an array, a list or None here"):
        grad(f)(2.0, 3)


def gates(w, xs):
    h = np.zeros(3)
    for x in xs:
        i = 1 / (1 + np.exp(-(w @ h)))
        h = i * np.tanh(h + x)
    return np.sum(h)


def test_the_index_of_a_loop_has_no_name_that_is_assigned_in_the_loop():
    text = grad(gates).lower(np.eye(3), np.ones((4, 3))).text
    forward = text[: text.index("# reverse")]
    assert "        i = 1 / (1 + " in forward and "for i in" not in forward


def test_the_text_of_a_function_that_only_raises_ends_there():
    def f(x):
        raise ValueError("no")

    assert grad(f).lower(2.0).text.splitlines()[-1] == '    raise ValueError("no")'
