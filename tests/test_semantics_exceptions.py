"""`try` and the exceptions that programs raise and handle, against Python and differences."""

import numpy as np
import pytest

from sourcead import jvp, value_and_grad, vjp

pytestmark = pytest.mark.sampled(3)

X = np.array([0.3, 0.7, 1.1])


def agrees(f, x):
    """Assert that the value, the gradient, a tangent and a pullback of `f` are those of Python and of differences."""
    value, slope = value_and_grad(f, verify=False)(x.copy())
    eps = 1e-6
    differences = np.array([(f(x + d) - f(x - d)) / (2 * eps) for d in eps * np.eye(len(x))])
    direction = np.array([0.5, -1.0, 2.0])
    assert np.isclose(value, f(x.copy()))
    assert np.allclose(slope, differences, atol=1e-6)
    assert np.isclose(jvp(f, (x.copy(),), (direction,), verify=False)[1], differences @ direction, atol=1e-6)
    assert np.allclose(vjp(f, x.copy(), verify=False)[1](1.0), differences, atol=1e-6)


def failing(v):
    if v is None:
        raise ValueError("no")
    return v * 2


def looked_up(d, key):
    return d[key]


def raise_in_try(x):
    s = x[0]
    try:
        s = s * x[1]
        raise ValueError("no")
        s = s * 100
    except ValueError:
        s = s + x[2]
    return s


def raise_under_condition(x):
    s = x[0]
    try:
        if x[1] > 0.5:
            raise KeyError("no")
        s = s * 7
    except (KeyError, IndexError):
        s = s + x[2] ** 2
    else:
        s = s + 1
    return s * x[1]


def raise_under_condition_not_met(x):
    s = x[0]
    try:
        if x[1] < 0.5:
            raise KeyError("no")
        s = s * 7
    except KeyError:
        s = s + x[2] ** 2
    else:
        s = s * x[2]
    finally:
        s = s * x[1]
    return s


def raise_in_loop(x):
    s = 1.0
    try:
        for v in x:
            s = s * v
            if s < 0.25:
                raise StopIteration
        s = s * 100
    except StopIteration:
        s = s + 1
    return s


def raise_chooses_handler(x):
    s = 0.0
    for k in range(3):
        try:
            if x[k] < 0.5:
                raise KeyError(k)
            if x[k] < 1.0:
                raise ValueError
            s = s + x[k]
        except ValueError:
            s = s + 2 * x[k] ** 2
        except LookupError:
            s = s + 3 * x[k] ** 3
    return s


def missing_key(x):
    d = {"a": x[0]}
    try:
        s = d["a"] * 2
        s = s + d["b"]
    except KeyError:
        s = s * x[1]
    return s


def missing_key_in_callee(x):
    s = x[0]
    try:
        s = s * 3
        s = looked_up({"a": x}, "b")
    except LookupError:
        s = s * x[1]
    return s


def item_out_of_range(x):
    xs = [x[0], x[1]]
    try:
        xs[0] = x[2]
        xs[5] = x[1]
        xs[0] = 100.0
    except IndexError:
        xs.append(x[1])
    return xs[0] * xs[-1]


def none_plus_number(x):
    s = x[0]
    try:
        s = s * x[2]
        s = None + s
    except TypeError:
        s = s * x[1]
    return s


def text_to_number(x):
    s, missing = x[0], "x"
    for k in range(2):
        try:
            s = s * x[2]
            s = s + int(missing)
        except ValueError:
            s = s * x[1] + k
    return s


def else_of_assigning_while(x):
    s, k = x[0], 0
    while (left := 3 - k) > 0:
        s, k = s * x[1] * left, k + 1
    else:
        s = s + x[2] * left + k
    return s


def written_through_view(x):
    a = x * 1.0
    b = a.view()
    b[0] = x[1]
    return np.sum(a * a)


def raise_in_callee(x):
    s = x[0]
    try:
        s = s + failing(x[1])
        s = s + failing(None)
    except ValueError:
        s = s * x[2]
    return s


def finally_in_callee(x):
    a = x * 1.0

    def inner():
        try:
            return {"a": x}["b"]
        finally:
            a[0] = x[1]

    try:
        inner()
    except KeyError:
        a[1] *= 2
    return np.sum(a ** 2)


def inner_does_not_catch(x):
    s = x[0]
    try:
        try:
            s = s * 2
            raise KeyError("no")
        except ValueError:
            s = s * 100
        finally:
            s = s * x[1]
    except KeyError:
        s = s * x[2]
    return s


def raised_again(x):
    s = x[0]
    try:
        try:
            raise KeyError("no")
        except KeyError:
            s = s * x[1]
            raise ValueError("other") from None
    except ValueError:
        s = s * x[2]
    return s


def returned_before_finally(x):
    a = x * 2

    def inner(q):
        try:
            return q[0] * 3
        finally:
            q[0] = x[1]

    return inner(a) * a[0]


def returned_in_loop(x):
    def inner(q):
        s = 0.0
        for v in q:
            try:
                s = s + v
                if s > 0.9:
                    return s * v
            finally:
                s = s * 2
        return s

    return inner(x) + inner(x * 0.1)


def left_before_finally(x):
    s = 0.0
    for k in range(3):
        try:
            if x[k] > 1.0:
                break
            if x[k] < 0.5:
                continue
            s = s + x[k]
        finally:
            s = s + x[k] ** 2
    return s


def return_in_finally(x):
    def inner(v):
        try:
            return v * 100
        finally:
            return v ** 2  # noqa: B012

    return inner(x[0])


def return_in_handler(x):
    try:
        if x[0] < 0.5:
            raise ValueError
        return x[1]
    except ValueError:
        return x[2] ** 2


def while_and_try(x):
    s, k = x[0], 0
    while True:
        try:
            k += 1
            if k > 4:
                break
            s = s * x[1]
        finally:
            s = s + x[2]
    return s


def assertion_caught(x):
    s = x[0]
    try:
        assert x[0] > 10
        s = s * 2
    except AssertionError:
        s = s * x[1]
    return s


def catches_all_raises_none(x):
    s = x[0]
    try:
        s = s * x[1] + np.sum(np.sin(x))
    except Exception:
        s = 100.0
    return s


def division_caught(x):
    s = x[0]
    try:
        s = float(s) / float(x[1])
    except ZeroDivisionError:
        s = 100.0
    return s


WEIGHTS = ("wx", "wy", "wz")


def key_missing_in_some_iterations(x, **weights):
    parts = []
    for axis in range(2):
        part = np.diff(x)
        try:
            part *= {"wy": x[0], **weights}[WEIGHTS[axis]]
        except (KeyError, TypeError):
            pass
        parts.append(part * x[1])
    return np.sum(parts[0] * parts[1])


RIGHT = [
    key_missing_in_some_iterations,
    raise_in_try, raise_under_condition, raise_under_condition_not_met, raise_in_loop, raise_chooses_handler,
    missing_key, missing_key_in_callee, item_out_of_range, none_plus_number, text_to_number, else_of_assigning_while,
    written_through_view, raise_in_callee, finally_in_callee, inner_does_not_catch, raised_again,
    returned_before_finally, returned_in_loop, left_before_finally, return_in_finally, return_in_handler, while_and_try,
    assertion_caught, catches_all_raises_none, division_caught,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, X)


def raises_late(x):
    s = x[0]
    try:
        s = s + 0 / float(x[1] - x[1])
    except ZeroDivisionError:
        s = s * 2
    return s


def test_an_exception_that_a_handler_would_take_is_not_lost():
    agrees(raises_late, X)
