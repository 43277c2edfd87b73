"""Exceptions that a statement in a branch or loop raises for sure, and a `try` around it handles."""

import inspect

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged, judged_in_all_modes, made, program_of

pytestmark = pytest.mark.sampled(3)


def raises_in_a_branch(x):
    alt = np.abs(x)
    inside = alt > 1
    try:
        if inside.any():
            alt[inside] = -alt[inside]
    except (TypeError, AttributeError):
        if inside:
            alt = -alt
    return alt * 2


def raises_in_a_loop(x):
    s = x
    try:
        for k in range(3):
            if s > 0.5:
                s = s.rescale(3)
            s = s * 2
    except AttributeError:
        s = s * 7
    return s


def missing_key(x):
    d = {"a": x}
    try:
        if x > 1:
            y = d["b"]
        else:
            y = d["a"]
    except KeyError:
        y = 5 * x
    return y


def item_of(d, k):
    return d[k] * 2


def missing_key_in_a_callee(x):
    d = {"a": x}
    try:
        if x > 1:
            return item_of(d, "b")
        y = 3 * x
    except KeyError:
        return 5 * x
    finally:
        x = x * 9
    return y + x


def continues_in_a_handler(x):
    n = 0.0
    for k in range(3):
        try:
            if x > k:
                n = (x * k).nope
            n = n + x
        except AttributeError:
            n = n + x * x
            continue
        n = n * 2
    return n


def raises_through_an_inner_try(x):
    try:
        try:
            if x > 1:
                [][0]
            y = x
        except KeyError:
            y = 100 * x
    except IndexError:
        y = 4 * x
    return y


def raises_after_effects(x):
    log = []
    try:
        if x > 1:
            log.append(x)
            log.append(len(x))
        log.append(3 * x)
    except TypeError:
        log.append(7 * x)
    return sum(log)


def leaves_an_endless_loop(x):
    k = 0
    while True:
        try:
            if k > 2:
                x[0] = 3
            k += 1
            x = x * 1.5
        except TypeError:
            break
    return x


def raises_in_a_comprehension(x):
    try:
        vals = [v.foo for v in (x, 2 * x)]
    except AttributeError:
        vals = [x]
    return sum(vals)


def raises_in_a_manager(x):
    try:
        with np.errstate(all="ignore"):
            if x > 1:
                y = None + x
            else:
                y = x
    except TypeError:
        y = 2 * x
    return y


def raises_under_a_condition(x):
    for _ in range(2):
        try:
            if x > 1:
                int("a")
            x = x + 1
        except ValueError:
            x = x * 2
    return x

PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f.__code__.co_argcount < 2]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 1.7])
@pytest.mark.filterwarnings("ignore")
def test_program(f, x):
    assert judged_in_all_modes(f, x) == "right"


# -- what depends on the sizes of arrays -----------------------------------------------------------------------------------


def first_or_sum(x):
    s = 0.0
    try:
        s = next(iter(x)) * 3
    except StopIteration:
        s = s + x.sum() + 7.0
    return s


def second_or_first(x):
    s = 0.0
    for _ in range(2):
        try:
            x[...] = abs(x[-2])
            s = s + x[1, ...] if x.ndim > 1 else s + x[1]
        except Exception:
            s = s + x.sum()
    return s + x.sum()


def written_where_it_is(x):
    s = x.sum()
    try:
        x[0] = s * 2
        s = s * 3
        x[1] = s
        s = s * 5
    except (KeyError, IndexError):
        s = s * 7
    return s + x.sum()


def first_in(items):
    return next(iter(items))


def first_in_a_callee(x):
    for k in range(2):
        try:
            x = x * first_in(x[k:])
        except StopIteration:
            x = x * 3
    return np.sum(x * x)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("f", [first_or_sum, second_or_first, written_where_it_is, first_in_a_callee])
def test_arrays_of_other_sizes(f, size):
    assert judged_in_all_modes(f, np.linspace(0.4, 0.9, size)) == "right"


def test_what_is_read_in_a_try_is_not_saved_outside_of_it():
    f = made("""
        y = x[x > 0.45]
        for _ in range(2):
            try:
                y[...] = abs(y[-2])
            except Exception:
                pass
        return y.sum()
    """, np=np)
    assert judged_in_all_modes(f, np.linspace(0.4, 0.9, 3)) == "right"
    assert judged_in_all_modes(f, np.linspace(0.4, 0.9, 2)) == "right"


def places_that_a_list_lacks(x):
    items, total = list(x), 0.0
    for i in range(5):
        try:
            total += items[i] * x[0]
        except IndexError:
            total -= x[1]
            if i > 3:
                break
        total *= 1.5
    return total


def keys_that_a_dict_lacks(x):
    counted, total = {}, 0.0
    for v in x:
        counted[int(v * 4)] = v
    for k in range(4):
        try:
            total += counted[k]
        except KeyError:
            total += 0.5 * x[1] * k
    try:
        return {"a": total, "b": x[0]}["a" if total > 100.0 else "c"]
    except KeyError:
        return total * x[2]


def kept_by_what_it_lacks(x):
    memo = {0: x[0], 1: x[1]}

    def found(n):
        try:
            return memo[n]
        except KeyError:
            memo[n] = 0.5 * found(n - 1) + memo[n - 2] * x[2]
            return memo[n]

    return found(4)


def items_of_items(x):
    rows = [[v, 1.0] for v in x]
    try:
        total = x[0]
        total += rows[int(x[0] * 3.0)][int(x[2] * 3.0)] * x[1]
    except (IndexError, KeyError):
        total += x[1] * 2.0
    else:
        total *= 3.0
    finally:
        total *= x[0]
    return total


@pytest.mark.parametrize("f", [places_that_a_list_lacks, keys_that_a_dict_lacks, kept_by_what_it_lacks, items_of_items])
def test_what_a_subscript_raises_in_a_run_is_handled(f):
    assert judged_in_all_modes(f, np.array([0.4, 0.6, 0.9])) == "right"


RAISING = [
    "max(())", "max([])", "min({})", "max(map(abs, x[:0]))", "max(q for q in [])", "next(iter([]))", "next(iter(x[:0]))", "[1.0].pop(3)",
    "[].pop()", "iter(3)", "zip(3)", "enumerate(x[0])", "reversed(3)", "reversed({1})", "range('a')", "isinstance(1, 2)", "slice()",
    "x[7]", "x[-4]", "x[0, 0]", "set([[]])", "np.array_split(x, 0)", "np.matmul(x, 3.0)",
]
REFUSED = ["not x", "list(zip([1], [], strict=True))"]


@pytest.mark.parametrize("what", RAISING + REFUSED)
def test_what_raises_in_a_try_or_in_an_arm(what):
    x = np.array([0.5, 0.75, 0.25])
    handled = ["s = x[0] * 2", "try:", f" d = {what}", " s = s * 3", "except Exception:", " s = s * 5", "return s"]
    assert judged_in_all_modes(program_of(handled), x) == ("refused" if what in REFUSED else "right")
    not_reached = ["s = x[0] * 2", "if x[0] > 9:", f" d = {what}", " s = s * 3", "return s"]
    assert judged_in_all_modes(program_of(not_reached), x) in ("right", "refused")


def percentile_or_the_first(at):
    def f(x):
        try:
            q = np.percentile(x, at)
        except ValueError:
            q = x[0]
        return q * 2

    return f


def percentile_for_its_error(x):
    try:
        np.percentile(x, 200)
    except ValueError:
        return x[0] * 5
    return x[1] * 2


@pytest.mark.parametrize(
    "f, verdict",
    [(percentile_or_the_first(200), "right"), (percentile_or_the_first(50), "right"), (percentile_for_its_error, "right")],
)
def test_function_that_is_written_out_raises_what_it_does(f, verdict):
    assert judged(f, np.array([1.0, 2.0, 4.0])) == verdict


def item_of_a_function(x):
    y = x[2]
    try:
        _ = judged_in_all_modes[0]
        y = x[0] * 2
    except TypeError:
        y = y * x[1]
    return y


def item_of_a_nested_function(x):
    y = x[2]

    def inner(z):
        return z

    try:
        _ = inner[0]
        y = x[0] * 2
    except TypeError:
        y = y * x[1]
    return y


def range_without_a_step(x):
    y = x[2]
    try:
        for _ in range(1, 2, 0):
            y = x[0]
        y = x[0] * 2
    except ValueError:
        y = y * x[1]
    return y


@pytest.mark.parametrize("f", [item_of_a_function, item_of_a_nested_function, range_without_a_step])
def test_what_surely_raises_is_handled(f):
    assert judged_in_all_modes(f, np.array([0.7, -0.4, 1.3])) == "right"


@pytest.mark.parametrize("f", [lambda x: np.sum(x[::0]), lambda x: sum([x[0], x[1]][::0])])
def test_slices_without_a_step_are_refused(f):
    with pytest.raises(SourceADError, match="step is 0"):
        grad(f, verify=False)(np.array([0.7, -0.4, 1.3]))
