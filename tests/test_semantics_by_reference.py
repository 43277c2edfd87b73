"""What the references of Python and NumPy say of cases that few programs have."""

import numpy as np
import pytest

from sourcead import adjoint, grad, hvp
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes, made

X = np.array([0.7, 1.3, -0.4])

HANDLERS_OF_NO_CLASS = {
    "nothing is raised": """
        try:
            y = x[0] * 2
        except 0.5:
            y = x[1]
        return y""",
    "what it raises is caught around it": """
        try:
            try:
                if x[0] > 0.5:
                    raise ValueError
                y = x[0] * 2
            except (ValueError, 0.5):
                y = x[1]
        except TypeError:
            y = x[2] ** 2
        return y""",
    "a name for it": """
        what = "ValueError"
        try:
            y = np.sqrt(x[0])
        except what:
            y = x[1]
        return y""",
    "an earlier handler takes it": """
        try:
            y = x[0] * 2
            raise KeyError("a")
        except LookupError:
            y = y * x[1]
        except 0.5:
            y = x[1]
        return y""",
}


@pytest.mark.parametrize("case", HANDLERS_OF_NO_CLASS)
def test_a_handler_of_no_exception_class_raises_when_an_exception_arrives(case):
    assert judged_in_all_modes(made(HANDLERS_OF_NO_CLASS[case], np=np), X) == "right"


def test_the_type_error_of_a_handler_of_no_exception_class_leaves_the_function():
    f = made("try:\n    raise KeyError('a')\nexcept (KeyError, 'z'):\n    return x[0]")
    with pytest.raises(TypeError, match="catching classes that do not inherit from BaseException"):
        grad(f)(X)


VECTORIZED = {
    "calls counted": """
        calls = [0]
        def square(v):
            calls[0] += 1
            return v * v
        return np.sum(np.vectorize(square)(x)) * calls[0]""",
    "arguments kept": """
        kept = []
        def square(v):
            kept.append(v)
            return v * v
        return np.sum(np.vectorize(square)(x[:, None] * x)) + sum(kept)""",
    "with a type, no call more": """
        kept = []
        def square(v):
            kept.append(v)
            return v * v
        return np.sum(np.vectorize(square, otypes=[float])(x)) + sum(kept)""",
}


@pytest.mark.parametrize("case", VECTORIZED)
def test_effects_of_a_vectorized_function_run_once_more_for_the_first_elements(case):
    assert judged_in_all_modes(made(VECTORIZED[case], np=np), X) == "right"


def test_the_call_that_finds_the_type_is_not_in_the_text_of_a_function_without_effects():
    f = made("return np.sum(np.vectorize(lambda v: np.sin(v))(x))", np=np)
    lines = [line for line in grad(f).lower(X).text.splitlines() if not line.lstrip().startswith("#")]
    assert "\n".join(lines).count("np.sin(") == 1


class Counted:
    alive = 0

    def __init__(self, v):
        self.v = v

    def __del__(self):
        Counted.alive -= 1


def kept(x):
    return Counted(x[0]).v * x[1]


def made_bare(x):
    counted = object.__new__(Counted)
    counted.v = x[0]
    return counted.v * x[1]


@pytest.mark.parametrize("f", [kept, made_bare], ids=lambda f: f.__name__)
def test_objects_that_python_calls_at_their_end_are_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="`__del__` runs"):
        grad(f)(X)


def test_an_object_of_the_caller_may_have_an_end():
    def f(x, counted):
        return x[0] * counted.v

    assert np.array_equal(grad(f)(X, Counted(3.0)), [3.0, 0.0, 0.0])


def put(values, v):
    values.append(v)
    return values[0] * v


def put_in_part(state, v):
    state["kept"][0] = v
    return 2.0 * v


def put_in_copy(values, v):
    values = [*values, v]
    values[0] = values[0] * 2.0
    return values[0] * v


adjoint(put)(lambda y, values, v, d_y: (None, d_y * values[0]))
adjoint(put_in_part)(lambda y, state, v, d_y: (None, 2.0 * d_y))
adjoint(put_in_copy)(lambda y, values, v, d_y: ([2.0 * v * d_y, *[0.0] * (len(values) - 1)], 2.0 * values[0] * d_y))


def put_into_list(x):
    kept = list(x)
    return put(kept, x[1]) * kept[-1]


def put_into_dict(x):
    state = {"kept": [x[0]]}
    return put_in_part(state, x[1]) * state["kept"][0]


@pytest.mark.parametrize("f", [put_into_list, put_into_dict], ids=lambda f: f.__name__)
def test_functions_with_a_rule_that_change_an_argument_are_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="has a rule, which tells of its result alone, and changes its argument"):
        grad(f)(X)


def test_a_function_with_a_rule_may_change_what_it_made():
    def f(x):
        kept = [x[0], x[2]]
        return put_in_copy(kept, x[1]) * kept[-1]

    assert judged_in_all_modes(f, X) == "right"


def pivoted(a):
    n = len(a)
    u, rows = a.copy(), np.eye(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(u[k:, k]))
        if p != k:
            u[[k, p]] = u[[p, k]]
            rows[[k, p], :k] = rows[[p, k], :k]
        for i in range(k + 1, n):
            rows[i, k] = u[i, k] / u[k, k]
            u[i, k:] -= rows[i, k] * u[k, k:]
    return np.prod(np.diag(u)) + np.sum(rows**2)


def test_second_derivatives_where_a_position_beside_a_slice_is_a_number_of_numpy():
    a = np.array([[0.3, 1.0, -0.7], [2.0, 0.4, 1.1], [0.5, -1.5, 0.9]])
    v = np.cos(np.arange(9.0)).reshape(3, 3)
    slope = (grad(pivoted)(a + 1e-6 * v) - grad(pivoted)(a - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(pivoted)(a, v), slope, rtol=1e-5, atol=1e-6)
