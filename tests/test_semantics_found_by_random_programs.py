"""Causes of wrong results that random programs found, each in several forms: the gradient is that of central differences, or refused."""

import numpy as np
import pytest

from sourcead import SourceADError, value_and_grad

X = np.array([0.47, 1.04, 1.06])


def check(f, *args):
    """The value and the gradient by the arrays of the first argument, a list or an array, are those of Python and of differences."""

    def copies():
        return [[a.copy() for a in x] if isinstance(x, list) else np.copy(x) for x in args]

    value, gradient = value_and_grad(f, verify=False)(*copies())
    assert value == pytest.approx(f(*copies()))
    parts = gradient if isinstance(gradient, list) else [gradient]
    for k, part in enumerate(parts):
        for place in np.ndindex(part.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = copies()
                (moved[0][k] if isinstance(gradient, list) else moved[0])[place] += step
                ends.append(f(*moved))
            assert part[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


# -- a list read as a whole in an iteration after one that wrote its items ----------------------------------------------------


def sorted_then_written(x):
    total = 0.0
    for _ in range(2):
        total += np.sum(sorted(x, key=np.sum)[0] ** 2)
        x[0][1:] = 5.0
    return total


def stacked_then_written(x):
    total = 0.0
    for _ in range(3):
        total += np.sum(np.stack(x) ** 2)
        x[0][1:] = 0.1 * total
    return total


def joined_in_a_while(x):
    total, k = 0.0, 0
    while k < len(x[0]):
        k += 1
        total += np.sum(np.concatenate(x) ** 2)
        x[k % len(x)][1:] = 0.1 * total
    return total


def written_in_a_branch(x):
    total = 0.0
    for k in range(3):
        total += np.sum(max(x, key=lambda row: row[0]) ** 2)
        if k > 0:
            x[0][0] = 0.1 * total
    return total


@pytest.mark.parametrize("f", [sorted_then_written, stacked_then_written, joined_in_a_while, written_in_a_branch])
@pytest.mark.parametrize("x", [[X], [X, 3 * X[::-1]]], ids=["one array", "two arrays"])
def test_a_list_whose_items_an_earlier_iteration_wrote(f, x):
    check(f, x)


# -- attributes that numbers of NumPy have, and those of Python not ------------------------------------------------------------


def shapes_of_some(x):
    for part in [x, x[:2], 0.0]:
        try:
            last = np.reshape(part, part.shape)
        except Exception:
            pass
    return np.sum(last**2) + np.sum(x)


def numbers_of_both(x):
    total = 0.0
    for part in (x, 2.0, len(x), x[0], x.sum(), float(x[1])):
        try:
            total = total + 2.0 * np.size(part) * part.shape[0]
        except AttributeError:
            total = total + 1.0 + part * part
        except IndexError:
            total = total + 10.0 + part
    return total


def transposed(x):
    total = 0.0
    for part in (x[0], float(x[1]), 2.0 * x[1]):
        try:
            total = total + part.T
        except AttributeError:
            total = total + 1.0 + part * part
    return total


@pytest.mark.parametrize("f", [shapes_of_some, numbers_of_both, transposed])
def test_attributes_that_numbers_of_python_lack(f):
    check(f, X)


# -- arrays made of a number ---------------------------------------------------------------------------------------------------


def squeezed_and_written(z):
    w = np.squeeze(z)
    np.add(w, 1.0, out=w)
    return np.sum(np.sin(w))


def reshaped_and_written(z):
    w = z.reshape(())
    np.multiply(w, w, out=w)
    return np.sum(np.sin(w)) + np.sum(z)


@pytest.mark.parametrize("f", [squeezed_and_written, reshaped_and_written])
def test_writes_to_arrays_of_one_number(f):
    check(f, np.array([[0.3]]))


def test_rows_of_one_number_squeezed_and_written():
    check(squeezed_and_written, np.array([[0.3, 0.5, -0.2]]))


# -- methods that lists and arrays have ----------------------------------------------------------------------------------------


def test_a_copy_of_what_is_an_array_first_and_then_a_list():
    def f(x):
        for _ in range(3):
            kept = x.copy()
            x = [np.max(x + kept) * k for k in (2.0, 2.0, 2.0)]
        return x[1] * 2

    check(f, X)


def test_a_copy_of_what_may_be_an_array_or_a_list():
    def f(x):
        k = 0
        while k < len(x):
            k += 1
            kept = x.copy()
            x = [np.max(x + kept) * k for k in (2.0, 2.0, 2.0)]
        return x[1] * 2

    with pytest.raises(SourceADError, match="`copy` of what may be a list or an array"):
        value_and_grad(f)(np.linspace(0.1, 1.2, 12))


# -- keys of several kinds -----------------------------------------------------------------------------------------------------


def test_keys_of_a_dict_carry_no_derivative():
    def f(x):
        parts, i = dict(enumerate(x)), 0
        while i < int(x[0] > 9):
            i += 1
            parts["last"] = x[2]
        in_order = [part for _, part in sorted(parts.items())]
        return np.sin(in_order[1]) * in_order[-1]

    check(f, X)


# -- conditions of `while` that change something -------------------------------------------------------------------------------


def popped(x):
    items, rounds = list(x), 1.0
    while items.pop() > 1.0 and items:
        rounds *= 1.5
    return rounds * np.sum(items)


def written_by_a_call(x):
    def moved(y):
        y[0] += 0.3
        return y[0]

    while moved(x) < 1.3 and x[1] > 1:
        pass
    return x[0] * x[2]


def written_by_out(x):
    y = x * x[1]
    while np.add(y, y, out=y)[0] < 2:
        pass
    else:
        y *= 3.0
    return np.sum(y)


def counted_by_an_object(x):
    class Counter:
        left = 4

        def __len__(self):
            self.left -= 1
            return self.left

    counter = Counter()
    while counter:
        x = x * x[1]
    return np.sum(x) * (1 + counter.left)


def taken_of_a_dict(x):
    kept = {"a": x[0]}
    while kept.pop("a", None):
        kept["b"] = x[1] * (len(kept) + 1)
    return kept["b"] * x[2]


@pytest.mark.parametrize("f", [popped, written_by_a_call, written_by_out, counted_by_an_object, taken_of_a_dict])
def test_a_condition_that_changes_what_it_reads(f):
    check(f, X)
