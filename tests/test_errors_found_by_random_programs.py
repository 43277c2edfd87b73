"""Causes of internal errors that random programs found, each in several forms: value and derivatives are those of differences."""

import numpy as np
import pytest

from sourcead import SourceADError, UnsupportedSyntaxError, grad, hvp, jvp, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.47, 1.04, 1.06])


def check(f, x):
    """The value, the gradient and the tangent of a function of one array are those of Python and of differences."""
    value, gradient = value_and_grad(f, verify=False)(x.copy())
    assert value == pytest.approx(f(x.copy()))
    moved = [(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(len(x))]
    assert gradient == pytest.approx(np.array(moved), rel=1e-5, abs=1e-7)
    assert jvp(f, (x.copy(),), (np.ones_like(x),))[1] == pytest.approx(sum(moved), rel=1e-5, abs=1e-7)


# -- a list that is put into what may be an array ------------------------------------------------------------------------------


def sorted_into_a_dict(x):
    h = {"a": x[0]}
    if h["a"] > 0.5:
        return 0.0
    h |= {"a": 2 * x}
    h["a"][:] = sorted(h["a"])
    return h["a"] @ np.arange(3.0)


def sorted_into_a_sum(x):
    total, n = 0, 2
    while n > 0:
        total, n = total + x, n - 1
    total[:] = sorted(total, reverse=True)
    return total @ np.arange(3.0)


def items_into_a_row(x):
    rows, n = 0, 2
    while n > 0:
        rows, n = rows + np.outer(x, x), n - 1
    rows[1] = [a * a for a in x]
    return np.sum(rows[1] * np.arange(3.0)) + rows[0, 2]


def pairs_into_a_matrix(x):
    rows, n = 0, 2
    while n > 0:
        rows, n = rows + np.outer(x, x), n - 1
    rows[:2, :2] = [[x[0], 2 * x[1]], [x[2], x[0] * x[1]]]
    return np.sum(rows * np.arange(9.0).reshape(3, 3))


def number_into_each(x):
    rows, n = 0, 2
    while n > 0:
        rows, n = rows + np.outer(x, x), n - 1
    rows[:] = [x[0], x[1], 3.0]
    return np.sum(rows * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("f", [sorted_into_a_dict, sorted_into_a_sum, items_into_a_row, pairs_into_a_matrix, number_into_each])
def test_a_list_put_into_what_may_be_an_array(f):
    check(f, X)


# -- integers whose derivative is that of a power ------------------------------------------------------------------------------


def polynomial_at_a_bool(y):
    return np.polyval([y[2]], y[2] <= 1.1 or y[2])


def longer_polynomial_at_a_bool(y):
    return np.polyval([y[2], y[0], y[1] * y[0], y[2]], y[2] <= 1.1 or y[2])


def polynomial_at_an_integer(y):
    return np.polyval([y[0], y[1] * y[1]], int(y[2]) if y[1] > 0 else y[2])


def integer_to_a_power(y):
    base, n = np.array([2, 0, 3]) if y[0] > 0 else y, np.array([0, 1, 2])
    return np.sum(base**n * y * y)


@pytest.mark.parametrize("f", [polynomial_at_a_bool, longer_polynomial_at_a_bool, polynomial_at_an_integer, integer_to_a_power])
def test_second_derivatives_where_a_power_is_of_an_integer(f):
    check(f, X)
    gradient = grad(f)
    moved = (gradient(X + 1e-6) - gradient(X - 1e-6)) / 2e-6
    assert hvp(f)(X, np.ones(3)) == pytest.approx(moved, rel=1e-5, abs=1e-7)


# -- a tuple where only a path that raises an error leads ----------------------------------------------------------------------


def a_tuple_or_a_number(x):
    pair = (x, x)
    if x[0] > 0:
        pair = x[1]
    return 2.0 * x[0] + pair


def a_nested_tuple_or_a_number(x):
    for a in x:
        pair = ((x, a),)
    if x[1] > 0:
        pair = x[0] * x[1]
    return np.sum(x) - pair


def a_tuple_of_the_argument(x):
    def inner(part):
        if not part[0] < 0:
            part = 2
        return 0.5 + part

    return inner((x[0],)) * x[1]


def a_tuple_times_a_sum(x):
    pair, total, n = (x[0], 2.0, x[1]), 0, 2
    while n > 0:
        total, n = total + x, n - 1
    return np.sum(total * pair - pair / total)


def a_tuple_or_a_number_by_others(x):
    pair, quotient = (x[2], x[0], x[1]), (x[1], x[0])
    if x[0] > 0:
        pair = quotient = x[1]
    return x[0] ** pair * quotient + quotient / x[2]


@pytest.mark.parametrize("f", [
    a_tuple_or_a_number, a_nested_tuple_or_a_number, a_tuple_of_the_argument, a_tuple_times_a_sum, a_tuple_or_a_number_by_others,
])
def test_a_tuple_where_a_number_is_added(f):
    check(f, X)


# -- a name that is unassigned in the arm that is surely taken -----------------------------------------------------------------


def unassigned_where_one_arm_is_taken(x):
    if x[0] > 0:
        d = x
    if np.all(1 < 0.5) and d:
        return np.ones()
    return np.sum(d * d)


def unassigned_in_both_arms(x):
    if x[0] > 0:
        d = x * x
    if np.any(np.array([False, False])) and d is None:
        return d
    elif np.all(2 < 1) and d:
        return np.zeros()
    return np.sum(d) * x[1]


@pytest.mark.parametrize("f", [unassigned_where_one_arm_is_taken, unassigned_in_both_arms])
def test_a_name_unassigned_before_a_condition_that_is_known(f):
    check(f, X)
    with pytest.raises(UnboundLocalError):
        grad(f, verify=False)(-X)


# -- the truth of an array, which raises what the program handles --------------------------------------------------------------


def handled_in_an_expression(x):
    try:
        w = 0.31 if x else 2.0
    except ValueError:
        w = x[0]
    return w * x[1]


def handled_in_an_if(x):
    w = x * x
    try:
        if w:
            w = 2.0
    except Exception:
        w = x[0]
    return w * x[1]


def handled_in_a_while(x):
    w = 3.0
    try:
        while 2 * x:
            w += 2.0
    except ValueError:
        w = x[0]
    return w * x[1]


def handled_in_an_assertion(x):
    w = 3.0
    try:
        assert x
    except ValueError:
        w = x[0]
    return w * x[1]


def handled_in_any(x):
    try:
        w = any([x, x]) * 2.0
    except ValueError:
        w = x[0]
    return w * x[1]


@pytest.mark.parametrize("f", [handled_in_an_expression, handled_in_an_if, handled_in_a_while, handled_in_an_assertion])
def test_the_truth_of_an_array_that_raises_what_is_handled(f):
    with pytest.raises(SourceADError, match="the program handles ValueError here"):
        grad(f)(X)


def test_the_truth_of_arrays_that_a_call_asks_for_and_that_is_handled():
    np.testing.assert_allclose(grad(handled_in_any)(X), [X[1], X[0], 0.0])


def test_the_truth_of_an_array_of_one_element_raises_nothing():
    def f(x):
        y, w = x[x > 1.05], 3.0
        try:
            w = 2.0 if y else 4.0
        except ValueError:
            w = x[0]
        return w * x[1]

    check(f, X)


# -- lists in lists of which one is replaced -----------------------------------------------------------------------------------


def cleared_in_a_nested_list(x):
    rows = np.outer(x, x).reshape(1, 3, 3).tolist()
    rows[0][1].clear()
    rows = rows[-1][0]
    return rows[0] * rows[2]


def list_replaced_in_a_nested_list(x):
    rows = np.outer(x, x).reshape(1, 3, 3).tolist()
    rows[0][1] = [x[0]]
    total = 0.0
    for row in rows[0]:
        total += row[0] * len(row)
    return total


def array_replaced_in_a_nested_list(x):
    rows = [[k * x, np.outer(x, x)[:, k % 3]] for k in range(9)]
    for k in range(9):
        rows[k][0] = rows[k][0][: k % 3 + 1] * x[0]
    return sum(np.sum(row[0] ** 2) * np.sum(row[1]) for row in rows)


@pytest.mark.parametrize("f", [cleared_in_a_nested_list, list_replaced_in_a_nested_list, array_replaced_in_a_nested_list])
def test_a_list_or_array_replaced_in_a_nested_list(f):
    check(f, X)


def list_times_what_may_be_an_array(x, n):
    k = n or x
    items = [1.0] * k
    return x[0] * items[0] * items[1]


def test_a_list_times_what_may_be_an_array_is_refused():
    with pytest.raises(UnsupportedSyntaxError, match="may be a number or an array"):
        grad(list_times_what_may_be_an_array)(np.array([0.5, 0.7]), 2)


def recursion_with_a_table_as_default(x, n):
    def step(k, memo={}):  # noqa: B006 (the table is the point)
        if k not in memo:
            memo[k] = x[2] * k if k < 2 else step(k - 1) * 0.7 + step(k - 2) * x[1]
        return memo[k]

    return step(3) if n is None else step(n)


def test_a_recursive_function_whose_default_is_a_table_is_inlined_or_refused():
    check(lambda x: recursion_with_a_table_as_default(x, None), X)
    with pytest.raises(UnsupportedSyntaxError, match="default value of `memo`"):
        grad(recursion_with_a_table_as_default)(X, 3)


def arguments_by_name(x):
    total, m = 0.0, np.outer(a=x, b=x)
    for v in x:
        total = np.tanh(np.sum(a=x * (v + total))) / np.mean(a=np.exp(x)) + np.dot(a=x, b=np.roll(a=x * total, shift=1))
        m = (np.triu(m=m) + np.copy(a=m)) / np.sum(a=np.abs(m))
    return total + np.trace(a=m @ m)


def test_arrays_are_given_by_name():
    check(arguments_by_name, X)


def a_dict_by_default_in_a_dict_of_numbers(x):
    held = {}
    for k, v in enumerate(x):
        held[f"k{k}"] = v * x[0]
    held.setdefault("n", {})["m"] = held["k2"]
    return held["k1"] * held["n"]["m"]


def test_a_dict_by_default_in_a_dict_of_numbers():
    check(a_dict_by_default_in_a_dict_of_numbers, X)


def an_empty_list_beside_others(x):
    pairs = [(x[0], [x[1]]), (x[1], [x[2], 0.2])]
    if x[2] > 0:
        pairs += [(x[2] * 2, [])]
    return sum(a * sum(b) for a, b in pairs)


def an_empty_list_that_grows(x):
    rows = [[2, x[0]]]
    if x[2] > 0:
        rows.append([])
        rows[-1].append(x[1] * x[2])
    for row in rows:
        row.append(x[1])
    return sum(sum(row) for row in rows)


@pytest.mark.parametrize("f", [an_empty_list_beside_others, an_empty_list_that_grows])
def test_empty_lists_among_lists(f):
    for x in np.array([0.3, 0.5, 1.0]), np.array([0.3, 0.5, -1.0]):
        assert judged_in_all_modes(f, x) == "right"
