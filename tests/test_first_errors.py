"""The errors of a first day: each message says what is wrong in the terms of the program, and what to write instead works."""

import math

import numpy as np
import pytest

import sourcead
from sourcead import check_grads, grad, hvp, jvp
from sourcead.errors import ArgumentError, SourceADError, UnsupportedArgumentError, UnsupportedValueError

V = np.array([1.0, 2.0, 3.0])


def no_return(x):
    np.sum(x)


def two_results(x):
    return np.sum(x), np.max(x)


def complex_result(x):
    return np.sum(x) * 1j


def compared(x):
    return np.sum(x) > 0


def of_math(x):
    return np.sum(math.sin(x))


def counts(x):
    total = 0.0
    for i in x.shape[0]:
        total = total + x[i]
    return total


def appends(x):
    x.append(1.0)
    return np.sum(x)


def misspelled(x):
    return np.summ(x)


def misspelled_method(x):
    return x.summ()


def called(x):
    return np.sum(x(2))


def reads_a_file(x):
    with open("weights.txt") as file:
        return np.sum(x) * float(file.read())


def misspelled_option(x):
    return np.sum(x, axs=0)


COUNT, SEEN = 0, []


def counts_calls(x):
    global COUNT
    COUNT = range(COUNT)
    return np.sum(x)


def keeps(x):
    SEEN.append(x)
    return np.sum(x)


MESSAGES = {
    counts_calls: ("`COUNT`, which outlives the call, is assigned here", "`(number, kept)` with has_aux=True"),
    keeps: ("`SEEN`, a list from outside of the function, is appended to", "append numbers, as `float(x)`, or `x.copy()`"),
    no_return: ("returns None", "end it with `return`"),
    two_results: ("returns a tuple", "`(number, anything)`, with has_aux=True"),
    complex_result: ("returns a complex number", "such as np.abs(...) ** 2"),
    compared: ("returns a truth value", "return the number that is compared"),
    of_math: ("`math.sin` of what is not one number", "`np.sin`, which takes arrays"),
    counts: ("a number or None cannot be iterated over", "`range(...)`"),
    appends: ("a value of class ndarray has no `.append`", "`np.append(...)`"),
    misspelled: ("`np` has no attribute `summ`", "`sum`"),
    misspelled_method: ("has no `.summ`", "`sum`"),
    called: ("numbers and arrays cannot be called", "a subscript, as in `x[i]`"),
    reads_a_file: ("what `open` reads or changes cannot be seen", "call it outside of your function, and pass what it returns"),
    misspelled_option: ("sum has no argument axs", "axis=..."),
}


@pytest.mark.parametrize("f", MESSAGES, ids=lambda f: f.__name__)
def test_a_message_says_what_is_wrong_and_what_to_write(f):
    reason, instead = MESSAGES[f]
    with pytest.raises(SourceADError) as raised:
        grad(f)(V)
    first, *_, last = str(raised.value).splitlines()
    assert "test_first_errors.py:" in first and reason in first and last.startswith("Write instead: ") and instead in last


def test_what_the_messages_say_works():
    assert grad(lambda x: two_results(x), has_aux=True)(V)[1] == 3
    np.testing.assert_allclose(grad(lambda x: np.sum(np.sin(x)))(V), np.cos(V))
    np.testing.assert_allclose(grad(lambda x: np.abs(complex_result(x)) ** 2)(V), 12 * np.ones(3))


def test_a_function_of_a_library_that_is_given_a_function_is_named():
    integrate = pytest.importorskip("scipy.integrate")
    with pytest.raises(SourceADError, match="`scipy.integrate.fixed_quad` is given a function that is defined here"):
        grad(lambda x: integrate.fixed_quad(lambda t: t * x[0], 0.0, 1.0)[0])(V)


def test_calls_of_the_transformations_that_lack_something_say_what():
    with pytest.raises(UnsupportedValueError, match=r"is not a function\nWrite instead: the function itself.*`grad\(f\)\(x\)`"):
        grad(np.sum(V))
    with pytest.raises(ArgumentError, match=r"hvp\(compared\)\(x, v\)"):
        hvp(compared)(V)
    with pytest.raises(ArgumentError, match=r"jvp\(f, \(x,\), \(t_x,\)\)"):
        jvp(compared, V, V)
    with pytest.raises(ArgumentError, match=r"check_grads\(f, \(x,\)\)"):
        check_grads(compared, V)


def test_an_option_that_exists_and_has_no_rule_is_told_from_one_that_does_not_exist():
    def cube(x, scale=1.0, mode="plain"):
        return scale * x**3

    @sourcead.adjoint(cube)
    def rule(y, x, d_y):
        return 3 * x**2 * d_y

    with pytest.raises(UnsupportedArgumentError, match="the derivative rule of cube does not handle the option mode"):
        grad(lambda x: cube(x, mode="other"))(2.0)
    with pytest.raises(UnsupportedArgumentError, match=r"cube has no argument mod\n(.*\n)*Write instead: mode=..."):
        grad(lambda x: cube(x, mod="other"))(2.0)
