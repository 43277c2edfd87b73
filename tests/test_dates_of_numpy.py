"""NumPy's dates and differences of dates are known while compiling, unless they are the time of the call; numbers follow from them."""

import numpy as np
import pytest

from sourcead import grad, value_and_grad
from tests.semantics import judged_in_all_modes, made

X = np.array([0.4, -1.2, 0.7])
WHEN = np.datetime64("2011-09-23T12:16:00")
TIMES = WHEN + np.arange(3) * np.timedelta64(3, "h")


def days(span):
    if hasattr(span, "shape"):
        span = np.asanyarray(span, dtype=np.timedelta64)
    return span / np.timedelta64(1, "D")


def as_date(when):
    try:
        return np.datetime64(when)
    except ValueError:
        return when.astype("datetime64[ns]")


def like(number, other):
    return number if isinstance(other, float) else np.asarray(number, like=other.data)


RIGHT = {
    "days since a date": """
        since = days(as_date(WHEN) - np.datetime64('2000-01-01T12:00'))
        return like(2.0, since * x[0]) * x[1] * days(WHEN - as_date('2011'))""",
    "an array of dates": """
        hours = np.diff(TIMES) / np.timedelta64(1, 'h')
        return np.sum(np.sin(days(TIMES - np.datetime64('2011-09-01')) * x)) + np.sum(hours * x[1:])""",
    "dates decide": "return x[0] ** 2 if WHEN < np.datetime64('2012') and TIMES[1] > WHEN else x[1]",
    "whole hours": """
        hours = np.timedelta64(90, 'm') // np.timedelta64(1, 'h')
        return (hours + np.timedelta64(3, 'h') / np.timedelta64(30, 'm')) * x[0] ** 2""",
}
KNOWN = {"np": np, "WHEN": WHEN, "TIMES": TIMES, "days": days, "as_date": as_date, "like": like}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x", **KNOWN), X) == "right"


def test_another_date_under_the_name_is_seen():
    f = made("return days(WHEN - np.datetime64('2011-01-01')) * x[0]", "x", **KNOWN)
    first = grad(f)(X)[0]
    f.__globals__["WHEN"] = WHEN + np.timedelta64(2, "D")
    assert grad(f)(X)[0] == pytest.approx(first + 2)


@pytest.mark.parametrize("now", ["now", "today"])
def test_the_time_of_the_call_is_read_in_each(now):
    text = grad(made(f"return days(np.datetime64('{now}') - WHEN) * x[0]", "x", **KNOWN), verify=False).lower(X).text
    assert f"'{now}'" in text or f'"{now}"' in text


def test_value_is_exact():
    value, _ = value_and_grad(made("return days(WHEN - np.datetime64('2000-01-01T12:00')) * x[0]", "x", **KNOWN))(X)
    assert value == days(WHEN - np.datetime64("2000-01-01T12:00")) * X[0]
