"""Who shares memory with whom: what was found wrong once, by random programs."""

import numpy as np
import pytest

from sourcead import AliasError, check_grads, grad
from sourcead.errors import SourceADError


def arm_writes_other_arm_rebinds(a, b):
    if b > 0.7:
        a, b = (a > 0.2, a)
    else:
        b = b / 1.5
    return np.sum(b)


def written_in_one_arm(a, b):
    if b[0] > 0.7:
        a, b = (a > 0.2, a)
    else:
        b /= 1.5
    return np.sum(b)


def arms_of_different_shape(x, y):
    if x[0] > 0:
        z = x
    else:
        z = y
    return np.sum(z**2)


def buffers_are_swapped(x):
    a, b = x.copy(), np.zeros(9)
    for _ in range(5):
        b[1:-1] = a[:-2] * a[2:] + a[1:-1]
        b[0], b[-1] = b[1], b[-2]
        a, b = b, a
    return np.sum(a * np.arange(9)) + b[1]


def items_in_one_arm_and_a_loop(a, n):
    if n % 2 == 0:
        b = 0.0
        if n != 1:
            for _ in range(n):
                b = a[1] @ a[0]
    else:
        a.append(0.1)
        return 0.72
    return np.sum(a[-1]) + b


def elements_are_filled(a):
    parts = [np.cos(a) for _ in range(3)]
    for part in parts:
        part.fill(0.3)
    return np.sum(parts[0] + parts[2]) * np.sum(a)


def equal_arrays_written_apart(p):
    a, b = np.sin(p), np.sin(p)
    for i in range(3):
        a[i] = a[i] * b[i] * a[i + 1]
        b[i + 1] = np.sin(b[i]) * a[i]
    return np.sum(a * a) + np.sum(b * b)


def number_becomes_an_array(w, xs):
    s = 0
    h = 0.5
    for x in xs:
        h = np.tanh(w @ x + 0.3 * h)
        s = s + h
    return np.sum(s**2) + np.mean(h)


def shape_changes_in_the_loop(x, n):
    s = x[0]
    for i in range(n):
        x = np.ones(5) * i
    return np.sum(x) + s


ROWS = np.random.default_rng(0).normal(size=(4, 9))
RIGHT = [
    (arm_writes_other_arm_rebinds, (np.array([0.5, 1.5]), 0.9)),
    (arm_writes_other_arm_rebinds, (np.array([0.5, 1.5]), 0.3)),
    (written_in_one_arm, (np.array([1.32]), np.array([-0.858]))),
    (arms_of_different_shape, (np.array([1.0, 2, 3]), np.array([2.0]))),
    (arms_of_different_shape, (-np.array([1.0, 2, 3]), np.array([2.0]))),
    (buffers_are_swapped, (ROWS[0],)),
    (items_in_one_arm_and_a_loop, ([np.array([-0.7, 0.6]), np.array([-1.3, -1.0])], 2)),
    (elements_are_filled, (ROWS[1],)),
    (equal_arrays_written_apart, (np.linspace(0.3, 1.2, 5),)),
    (number_becomes_an_array, (ROWS[:, :4], ROWS.T[:, :4])),
    (shape_changes_in_the_loop, (np.array([1.0, 2, 3]), 0)),
    (shape_changes_in_the_loop, (np.array([1.0, 2, 3]), 2)),
]


@pytest.mark.parametrize(("function", "args"), RIGHT, ids=lambda v: getattr(v, "__name__", ""))
def test_gradient_is_right(function, args):
    check_grads(function, args)


def one_object_twice_in_a_list(a):
    parts = [a for _ in range(3)]
    for part in parts:
        part.fill(0.3)
    return sum([np.sum(p) for p in parts])


def list_walked_and_written(xs):
    for x in xs:
        x /= 1.5
    return sum([np.sum(x) for x in xs])


def test_what_is_decided_iteration_by_iteration():
    check_grads(one_object_twice_in_a_list, (np.array([0.3, 0.4]),))


def test_elements_of_a_list_argument_change_in_place_under_all_names():
    args = ([np.array([0.3, -1.0]), np.array([0.4, 0.2])],)
    check_grads(list_walked_and_written, args)


def item_replaced_in_a_list(b):
    parts = [b * k for k in range(1, 4)]
    parts[-1] = b[None, :] * 2.0
    parts[0] = parts[1]
    return sum([np.sum(p**2) for p in parts])


def test_item_of_a_list_is_replaced():
    check_grads(item_replaced_in_a_list, (np.array([0.3, -0.4]),))


def number_then_array_under_two_names(xs):
    s = t = 0.0
    for x in xs:
        before = s
        s += x  # rebinds in the first iteration, writes in place in the later ones
        t = t + np.sum(before) * np.sum(x)
    return t


def array_after_no_iteration(xs, y):
    s = 0.0
    for x in xs:
        s = s + x
    t = s
    s += y
    return np.sum(t * s)


def derived_from_a_number(xs):
    s = t = 0.0
    for x in xs:
        u = s * 2
        v = u
        u += x
        t = t + np.sum(v) * np.sum(x)
        s = s + np.sin(x)
    return t + np.sum(s)


@pytest.mark.parametrize("function", [number_then_array_under_two_names, array_after_no_iteration, derived_from_a_number])
def test_augmented_assignment_to_what_may_be_a_number_or_an_array_under_two_names(function):
    def call(rows):
        return (rows, rows[0]) if function is array_after_no_iteration else (rows,)

    check_grads(function, call(ROWS))
    with pytest.raises(AliasError):  # the number of iterations is not known while compiling
        grad(function)(*call(np.concatenate([ROWS] * 5)))


def augmented_from_a_number(xs, w):
    s, m = 0.0, 1
    for x in xs:
        s += w * x
        m *= np.cos(x)
    return np.sum(s * m)


def old_value_used_in_one_arm(xs):
    s = t = 0.0
    for x in xs:
        old = s
        s = s + np.sin(x)
        if x[0] > 0:
            t = t + np.sum(old * x * 2)
    return t + np.sum(s**2)


@pytest.mark.parametrize("sign", [1, -1])
def test_number_that_becomes_an_array(sign):
    check_grads(augmented_from_a_number, (ROWS * sign, ROWS[0]))
    check_grads(old_value_used_in_one_arm, (ROWS * sign,))


def rotated_out_of_a_list(a, n):
    held = []
    for _ in range(2):
        held.append(a)
    pair = (np.zeros(2), held[0])
    for _ in range(n):
        first, second = pair
        first[1] += 0.1
        pair = (second, np.ones(2))
    return np.sum(np.sin(a))


def chosen_from_a_list(a, n):
    held = [a, a * 2.0]
    t = held[n % 2]
    for _ in range(n):
        t[0] += 1.0
        t = t[1:]
    return np.sum(a**2)


@pytest.mark.parametrize("function", [rotated_out_of_a_list, chosen_from_a_list])
def test_what_was_read_from_a_list_may_be_what_was_put_into_it(function):
    with pytest.raises(AliasError):
        grad(function)(np.array([0.3, 0.4]), 2)


def same_object_if_no_iteration(a, n):
    other = a
    for _ in range(n):
        a, other = (a * 0.5, a)
    a[0] /= 1.5
    return np.sum(other)


def test_names_of_one_object_before_a_loop_may_be_so_after_it():
    with pytest.raises(AliasError):
        grad(same_object_if_no_iteration)(np.array([0.3, 0.4]), 0)


def view_put_into_a_list(b, n):
    acc = 1
    for _ in range(2):
        acc = np.full((3, 3), 1.02)
    b[n % 2] = acc[:3, 1:3]
    acc -= 0.1
    return sum([np.sum(part) for part in b])


def test_what_may_be_a_number_is_not_changed_while_a_list_holds_a_part_of_it():
    with pytest.raises(AliasError):
        grad(view_put_into_a_list)([np.ones((3, 2)), np.ones((3, 2))], 1)


def number_without_axes_written(a):
    total = np.array(np.sum(a[0] if a.ndim > 1 else a * 2.0))
    total[()] = 1.0
    return total * a[0]


def test_a_write_into_an_array_without_axes():
    check_grads(number_without_axes_written, (np.array([0.3, 0.4]),))


def test_a_float_in_a_dict_has_a_float_as_its_gradient():
    def f(c, a):
        c["q"] += a.sum()
        return c["q"] * c["q"]

    found = grad(f)({"q": -0.5}, np.array([0.25, 0.5], dtype=np.float32))
    assert type(found["q"]) is float and found["q"] == 0.5


def test_arrays_made_by_their_class_are_new_memory_of_the_type_that_was_asked_for():
    def powers(x):
        a, b = np.ndarray(x.shape, dtype=x.dtype), np.ndarray((2, len(x)))
        a[0] = 1.0
        for i in range(1, len(x)):
            a[i] = a[i - 1] * x[i]
        b[0], b[1] = a, x
        return np.sum(b[0] * b[1])

    x = np.arange(1.0, 10.0)
    text = grad(powers).lower(x).text
    assert "copy(" not in text.replace(".copy()", "") and "unbroadcast" not in text
    for dtype in (np.float64, np.float32):
        v = x.astype(dtype)
        with_zeros = grad(lambda x: np.sum(np.cumprod(np.concatenate((np.ones(1, x.dtype), x[1:]))) * x))(v)
        assert grad(powers)(v).dtype == dtype
        np.testing.assert_allclose(grad(powers)(v), with_zeros, rtol=1e-5)


def test_arrays_over_memory_that_is_there_are_refused():
    def seen_through(x):
        y = x * 2.0
        z = np.ndarray((3,), dtype=float, buffer=y)
        y[0] = x[1] ** 2
        return np.sum(z**2)

    with pytest.raises(SourceADError, match="buffer"):
        grad(seen_through)(np.array([1.0, 2.0, 3.0]))
