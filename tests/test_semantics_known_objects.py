"""Objects of the standard library that cannot change, comparisons with None, and compositions of SciPy."""

import datetime
import functools
import inspect
import numbers
import re

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import norm

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

T0 = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


def days_between(x):
    return x * (datetime.datetime(2020, 2, 3, 4, 5) - datetime.datetime(2020, 1, 1)).total_seconds() / 86400


def date_as_default(x, when=datetime.datetime(2021, 3, 4, 5, 6)):
    d = when.utctimetuple().tm_yday
    return x * d + when.hour + (when - datetime.datetime(2021, 1, 1)).days


def date_of_the_module(x):
    d = T0.date() + datetime.timedelta(days=3)
    return x * d.day if d > datetime.date(2020, 1, 2) else x


QUADRATIC = np.poly1d([1.0, -2.0, 0.5])


def polynomials(x):
    p = np.poly1d([0.0, x, 2 * x, 1.0])
    q = (p * np.poly1d([x, 1.0]) + x - 3.0 * p) ** 2 / x
    return q(x) + p.deriv()(x) * p.integ(k=x)(0.5) + p(np.poly1d([x, 1.0]))(0.3) + p[1] * p.order + np.sum(np.polyder(p).coeffs)


def polynomial_of_the_module(x):
    fitted = np.poly1d(np.polyfit([0.0, 1.0, 2.0, 3.0], [x, x**2, 1.0, x], 2))
    return QUADRATIC(x) * QUADRATIC.deriv()(fitted(0.5)) + np.polymul(QUADRATIC, fitted)(x) * (fitted == QUADRATIC or 2.0)


def time_in_another_zone(x):
    there = T0.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
    return x * there.time().minute + x**2 * there.timestamp() / 1e9


def distance_by(distance):
    if isinstance(distance, numbers.Number) and distance <= 0:
        raise ValueError("no distance")
    return (lambda a, b: abs(a - b) ** distance) if isinstance(distance, numbers.Number) else distance


def number_or_function(x):
    return distance_by(3)(x, 5.0) + distance_by(lambda a, b: a * b)(x, 2.0)


def array_of_rank(x):
    return np.sum(np.array([x, 2.0], ndmin=2) * np.array(x, ndmin=2) * np.array([[x]], ndmin=1))


def several_at_least_1d(x):
    a, b = np.atleast_1d(x, [x, 2 * x])
    return np.sum(a * b)


def row_of_numbers(x):
    return np.sum(np.r_[x, 2 * x, 3.0, 1] ** 2)


def only_class(x):
    s = {type(v) for v in (x, 2 * x)}
    return x * 2 if len(s) == 1 and s.pop() is not int else x


def as_arrays(*names):

    def dec(fn):

        @functools.wraps(fn)
        def w(*args, **kw):
            spec = inspect.getfullargspec(fn)
            args = list(args)
            for i, (k, v) in enumerate(zip(spec.args, args)):
                if k in names and v is not None:
                    args[i] = np.array(v)
            for k, v in kw.items():
                if k in names and v is not None:
                    kw[k] = np.array(v)
            return fn(*args, **kw)
        return w
    return dec


@as_arrays("a", "c")
def dotted(a, b, c=None):
    return np.sum(a * b) if c is None else np.sum(a * c) * b


def parameters_of_a_function(x):
    return dotted([x, 2 * x], 3.0) + dotted([x, 1.0], 2.0, c=[x, x]) + len(inspect.getfullargspec(dotted).args)


def options_in_a_text(x):
    options = {name: eval(value) for name, value in re.findall(r"([a-z]*)=([^,)]*)", "kernel(width=1.5, power=2)")}
    return (x / options["width"]) ** options["power"] * len(re.split(r",\s*", "a, b,c"))


def slopes_of_rows_of_any_number(x):
    rows = np.array([[np.sin(x * t), x * t] for t in ARRAY])
    return np.polyfit(ARRAY, rows[:, 0], 1)[0] * x


def patterns(x):
    return x * 2 if re.match(r"\d+", "12") and re.compile("a.c").search("abc") else x * 3


def dates_in_a_loop(x):
    t = T0
    for k in range(3):
        t = t + datetime.timedelta(hours=k)
    return x * t.hour
TABLE = None


def table():
    global TABLE
    if TABLE == None:  # noqa: E711
        TABLE = {"a": 2.0}
    return TABLE
table()


def table_made_before(x):
    return x * table()["a"]


def equals_none(x, y=None):
    return x * 2 if y == None else x  # noqa: E711


def differs_from_none(x):
    return x * 3 if x != None and [x] != None and (None == None) else x  # noqa: E711


def array_equals_none(x):
    a = np.array([x, 1.0])
    m = a == None  # noqa: E711
    return np.sum(a[~m.astype(bool)]) if hasattr(m, "astype") else x


def missing_key_equals_none(x):
    d = {}.get("k")
    return x if d == None else d * x  # noqa: E711
POINTS = np.array([[0.1, 0.2], [1.0, 2.0]])


def densities(x):
    return norm.cdf(x) * norm.pdf(x, 1.0, 2.0) + norm.sf(x, loc=0.3)


def quantiles(x):
    return norm.ppf(x * 0.2, scale=x) + norm.isf(0.1 * x) + norm.logpdf(x, 0.1, x)


def logarithms(x):
    return np.sum(norm.logcdf([x, 2 * x]) * norm.logsf(np.array([x, 1.0]), scale=2.0))


def distances(x):
    return np.sum(cdist(POINTS * x, POINTS + x))


def distances_of_order_3(x):
    return np.sum(cdist(POINTS * x, POINTS + x, "minkowski", p=3)) + np.sum(cdist(POINTS * x, POINTS + x, metric="cityblock"))


def distances_of_a_set(x):
    return np.sum(cdist(POINTS * x, POINTS * x) ** 2)

HELPERS = (as_arrays, dotted, table, distance_by)

PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f not in HELPERS]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 1.7])
def test_program(f, x):
    assert judged_in_all_modes(f, x) == "right"


NUMBERS, ARRAY = [1.0, 2.0], np.array([0.5, 1.5, 2.5])


def with_defaults(e, w=ARRAY, k=NUMBERS):
    return e * w[0] + k[1]


def test_defaults_may_be_a_list_and_an_array():
    assert judged_in_all_modes(lambda x: np.sum(with_defaults(x)), np.array([0.5, -1.2])) == "right"
