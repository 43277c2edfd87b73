"""Records of primitives: one entry gives a function its derivatives, the type of its result and its place in memory."""

import inspect

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp
from sourcead.emit.memory.sharing import call_sharing
from sourcead.errors import AliasError
from sourcead.ir.nodes import Call, Var
from sourcead.ir.types import Array, many
from sourcead.primitives import registry, table
from sourcead.primitives.function_kinds import home
from sourcead.primitives.registry import adjoints, elementwise, enter
from sourcead.primitives.result_types.infer import Arg, infer_call
from tests.entered_rules import registered

X = np.array([0.3, -1.2, 2.0])
VECTOR = Array(np.dtype(float), (many(),))


def soft_sign(x):
    """What stands for a function of a library: the compiler never looks into it."""
    return _compiled_elsewhere(x)


def _compiled_elsewhere(x):
    return np.asarray([float(v) / (1 + abs(float(v))) for v in np.ravel(x)]).reshape(np.shape(x))


elementwise({soft_sign: lambda y, x, d_y: d_y / (1 + np.abs(x)) ** 2}, memory="fresh", pure=True)


def loss(x):
    y = soft_sign(x * 2.0)
    y[0] = 0.0
    return np.sum(y * x)


def written_out(x):
    y = 2.0 * x / (1 + np.abs(2.0 * x))
    y[0] = 0.0
    return np.sum(y * x)


def test_one_entry_gives_all_derivatives():
    v = np.array([1.0, 0.5, -2.0])
    assert np.allclose(grad(loss)(X), grad(written_out)(X))
    assert np.allclose(jvp(loss, (X,), (v,))[1], jvp(written_out, (X,), (v,))[1])
    assert np.allclose(hvp(loss)(X, v), hvp(written_out)(X, v))


def test_one_entry_gives_the_type_of_the_result():
    assert infer_call(soft_sign, [Arg(VECTOR)], {}) == VECTOR


def test_one_entry_tells_whose_memory_the_result_is():
    assert call_sharing(Call(soft_sign, (Var("x", VECTOR),))) == "fresh"
    gradient = grad(loss)
    gradient(X)
    assert "y.copy()" not in gradient.source, "nothing else needs the result of soft_sign, which is new memory"


def first_half(x):
    return _half(x)


def _half(x):
    return x[: len(x) // 2]


adjoints({first_half: lambda y, x, d_y: np.concatenate((d_y, np.zeros(len(x) - len(d_y))))}, memory="shared", view="maybe")


def test_a_write_into_what_may_be_a_view_is_refused():
    def written(x):
        a = x * 1.0
        b = first_half(a)
        b[0] = 0.0
        return np.sum(a)

    with pytest.raises(AliasError):
        grad(written)(X)
    assert grad(lambda x: np.sum(first_half(x) ** 2))(X)[0] == 2 * X[0]


def test_a_fact_that_is_entered_twice_must_be_the_same():
    enter(soft_sign, memory="fresh")
    with pytest.raises(ValueError, match="two values of memory"):
        enter(soft_sign, memory="shared")


def test_a_users_rule_replaces_both_rules_of_a_family():
    try:
        registry.adjoint(np.negative)(lambda y, x, d_y: 7 * d_y)
        assert grad(lambda x: np.negative(x))(1.0) == 7.0
    finally:
        registry.forget_users(np.negative)
    assert grad(lambda x: np.negative(x))(2.0) == -1.0


ARRAYS = (np.arange(1.0, 7.0).reshape(2, 3), np.arange(1.0, 5.0), np.arange(1.0, 10.0).reshape(3, 3) + 4 * np.eye(3))


def calls():
    """Calls of each function of NumPy's that has a record, with arguments that it takes."""
    registered()
    for function in registry.FACTS:
        if home(function).partition(".")[0] != "numpy" or isinstance(function, type):
            continue
        for x in ARRAYS:
            for args in ((x,), (x, x), (x, 0), (x, 1), (x, (1, -1)), (x > 2, x, x), (x, x.astype(int)), ([x, x],), ("ij->ji", x)):
                if not gives_memory(function, args):
                    yield function, args


def gives_memory(function, args):
    """Whether one of the arguments is an array to be returned: `out`, or a default."""
    if isinstance(function, np.ufunc):
        return len(args) > function.nin
    try:
        return bool({"out", "default"} & set(inspect.signature(function).bind(*args).arguments))
    except ValueError:  # older versions of NumPy do not tell the parameters of `np.dot`, whose third is `out`
        return len(args) > 2
    except TypeError:
        return False


@pytest.mark.filterwarnings("ignore")
def test_records_tell_the_truth_about_memory():
    """A result that shares memory with an argument is not recorded as fresh; nor as C order, if it is not."""
    false = set()
    for function, args in calls():
        known, copies = table.record_of(function), [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
        if not known.pure:
            continue
        try:
            y = function(*copies)
        except Exception:  # these are not arguments of the function
            continue
        parts = y if isinstance(y, (list, tuple)) else (y,)
        shares = any(isinstance(p, np.ndarray) and isinstance(a, np.ndarray) and np.shares_memory(p, a) for p in parts for a in copies)
        if shares and known.same_at is None and call_sharing(Call(function, tuple(args))) == "fresh":
            false.add((function.__name__, "memory"))
        if known.order == "C" and isinstance(y, np.ndarray) and not y.flags.c_contiguous:
            false.add((function.__name__, "order"))
        if known.elementwise and isinstance(y, np.ndarray) and len(args) == 1 and y.shape != np.shape(args[0]):
            false.add((function.__name__, "elementwise"))
    assert not false


def through_conj(x):
    y = x * 1.0
    z = y.conj()
    z[0] = 5.0 * x[1]
    return np.sum(y * y)


def through_first_power(x):
    y = np.outer(x, x)
    z = np.linalg.matrix_power(y, 1)
    z[0, 0] = 5.0 * x[1]
    return np.sum(y * y)


def through_no_difference(x):
    y = x * 1.0
    z = np.diff(y, 0)
    z[0] = 5.0 * x[1]
    return np.sum(y * y)


@pytest.mark.parametrize("f", [through_conj, through_first_power, through_no_difference], ids=lambda f: f.__name__)
def test_writes_reach_the_argument_that_numpy_returns_as_it_is(f):
    check_grads(f, (X,))


@pytest.mark.parametrize("function", [np.real_if_close, np.asarray_chkfinite], ids=lambda f: f.__name__)
def test_what_may_be_the_argument_itself_is_not_written(function):
    def written(x):
        y = x * 1.0
        z = function(y)
        z[0] = 0.0
        return np.sum(y)

    with pytest.raises(AliasError):
        grad(written)(X)
