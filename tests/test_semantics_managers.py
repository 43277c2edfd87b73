"""`with` on the standard library's managers, objects of the user and generators, against Python and differences."""

import contextlib

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes
from tests.test_semantics_exceptions import X, agrees


class Guard:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        return self.a

    def __exit__(self, *error):
        self.a[0] *= 0.5
        return False


class Swallowing(Guard):
    def __exit__(self, kind, value, trace):
        self.a[1] *= 3.0
        return kind is KeyError


@contextlib.contextmanager
def locked(a, by=0.3):
    a[0] += by
    yield a
    a[0] *= 0.5


@contextlib.contextmanager
def tidied(a):
    try:
        yield a[1]
    finally:
        a[2] *= 2.0


@contextlib.contextmanager
def handling(a):
    try:
        yield a
    except ValueError:
        a[0] = 7.0


def raise_into_generator(x):
    a = x * 1.0
    with handling(a) as b:
        b[1] = x[0]
        raise ValueError
    return a @ a


def suppressed(x):
    s = x[0]
    with contextlib.suppress(KeyError, IndexError):
        s = s * x[1]
        s = {"a": s}["b"]
    with contextlib.suppress(ValueError):
        s = s * x[2]
    return s


def given_by_nullcontext(x):
    a = x * 2
    with contextlib.nullcontext(a) as b, np.errstate(all="ignore"):
        b[0] = x[1]
    return np.sum(a ** 2)


def guarded(x):
    a = x * 1.0
    with Guard(a) as b:
        b[0] += x[1]
    return np.sum(a ** 2)


def guarded_return(x):
    a = x * 1.0

    def inner():
        with Guard(a) as b, Guard(b):
            if b[1] > 0.5:
                return b[0] * 2
            b[1] = 0.0
        return b[0]

    return inner() * a[0]


def guarded_loop(x):
    a, s = x * 1.0, 0.0
    for k in range(3):
        with Guard(a):
            if a[k] > 1.0:
                continue
            s = s + a[0] * a[k]
    return s + a[0]


def guarded_raise(x):
    a = x * 1.0
    try:
        with Guard(a):
            a[1] = x[2]
            raise KeyError("no")
    except KeyError:
        a[1] *= x[0]
    return np.sum(a ** 2)


def swallowing(x):
    a = x * 1.0
    with Swallowing(a) as b:
        b[0] *= x[2]
    return np.sum(a ** 2)


def around_yield(x):
    a = x * 1.0
    with locked(a) as b:
        b[1] = b[0] * x[2]
    with locked(a, by=x[1]):
        a[2] = a[0]
    return np.sum(a ** 2)


def around_yield_returns(x):
    a = x * 1.0

    def inner():
        for k in range(3):
            with tidied(a) as v:
                if k == 1:
                    return v * a[2]
                a[1] = a[1] * 2
        return v

    return inner() * a[2]


RIGHT = [
    raise_into_generator,
    suppressed, given_by_nullcontext, guarded, guarded_return, guarded_loop, guarded_raise, swallowing, around_yield,
    around_yield_returns,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, X)


class Asking(Guard):
    """Asks for the exception in a function inside `__exit__`."""

    def __exit__(self, kind, value, trace):
        raised = lambda: kind is not None  # noqa: E731
        if raised():
            self.a[1] *= 3.0


def test_an_exit_that_asks_for_the_exception_in_a_function_is_not_the_same_after_it():
    def asking(x):
        a = x * 1.0
        try:
            with Asking(a):
                if x[0] > 0:
                    raise ValueError("no")
        except ValueError:
            a[0] = 2 * x[0]
        return np.sum(a**2)

    assert judged_in_all_modes(asking, X) in ("refused", "right")


def returned_but_for_an_exception(x):
    if x[0] > 0:
        with contextlib.suppress(KeyError):
            return {}["missing"] * x[1]
    return x[0] * x[2]


def returned_unless_it_raises(x, least):
    if x[0] > 0:
        with contextlib.suppress(ValueError):
            if x[1] > least:
                raise ValueError
            return 3 * x[0]
    return x[0] * x[2]


def left_unless_it_raises(x, least):
    total = 0.0
    for k in range(3):
        if x[0] * k > 0:
            with contextlib.suppress(ValueError):
                if x[1] > least:
                    raise ValueError
                break
        total += x[0] * x[2]
    return total


@pytest.mark.parametrize("least", [-100.0, 100.0])
@pytest.mark.parametrize("f", [returned_unless_it_raises, left_unless_it_raises])
def test_what_follows_a_manager_that_stops_an_exception(f, least):
    assert judged_in_all_modes(lambda x: f(x, least), np.abs(X)) == "right"


def test_what_follows_a_manager_that_stops_a_sure_exception():
    assert judged_in_all_modes(returned_but_for_an_exception, np.abs(X)) == "right"


def made_inside(x):
    log = []

    @contextlib.contextmanager
    def twice(v):
        log.append(1.0)
        yield v * 2
        log.append(2.0)

    with twice(x) as a, twice(a) as b:
        s = np.sum(a * b)
    return s * len(log)


def made_by_a_call(x):
    doubled = contextlib.contextmanager(lambda v: (u * 2 for u in [v]))
    with doubled(x) as a:
        return np.sum(a * x)


def made_before_it_is_entered(x):
    y = x * 1
    manager = locked(y)
    y[0] *= 3
    with manager as a:
        s = np.sum(y * y) if a is None else np.sum(a * y)
    return s + y[0]


@pytest.mark.parametrize("f", [made_inside, made_by_a_call, made_before_it_is_entered])
def test_manager_is_a_value(f):
    assert judged_in_all_modes(f, X) == "right"


class Transaction:
    """Puts back what it is given where an exception of one class ends the block, and notes how it ended."""

    def __init__(self, a, log):
        self.a, self.log = a, log

    def __enter__(self):
        self.before = self.a.copy()
        return self.a

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.log.append(1.0)
        elif issubclass(kind, KeyError):
            self.log.append(error.args[0])
            self.a[:] = self.before
        return kind is KeyError


def told_of_an_exception(x):
    log = []
    with Transaction(x, log) as a:
        a[0] *= 3.0
    with Transaction(x, log) as a:
        a[1] = 5.0
        if x[2] < 9.0:
            raise KeyError(x[0] * 2.0)
        a[2] = 7.0
    return np.sum(x * np.arange(1.0, len(x) + 1.0)) + log[0] + log[1] ** 2


def told_in_each_way_of_leaving(x):
    log, total = [], 0.0
    for k in range(4):
        with Transaction(x, log) as a, Transaction(x * 2.0, log) as b:
            if k == 0:
                continue
            if k == 1:
                raise KeyError(x[k])
            if k == 3:
                break
            total += a[0] * b[1]
        total += x[k - 1]
    return total + sum(log) * x[0]


def told_before_it_returns(x):
    log = []

    def inside(a):
        with Transaction(a, log):
            return a[0] * 2.0

    return inside(x) * len(log)


@pytest.mark.parametrize("f", [told_of_an_exception, told_in_each_way_of_leaving, told_before_it_returns])
def test_exit_is_told_of_the_exception_that_ends_the_block(f):
    assert judged_in_all_modes(f, X) == "right"


def none_of_errstate(x):
    with np.errstate(all="ignore") as state:
        y = x[0] * 2.0
    return y * (1.0 if state is None else 2.0)


def test_errstate_hands_out_none():
    assert judged_in_all_modes(none_of_errstate, X) == "right"
