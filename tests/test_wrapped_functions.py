"""Functions behind caches, dispatchers and decorators: they are seen through, or refused at the user's line with what to write."""

import contextlib
import functools

import numpy as np
import pytest

from sourcead import grad, jvp
from sourcead.errors import NoSourceError, SourceADError

X = np.array([0.5, 1.0, 2.0])
RATE = 3.0


def energy(x, k=2.0):
    return np.sum(k * x**2)


# ---- joblib's cache ----


@pytest.fixture
def memory(tmp_path):
    return pytest.importorskip("joblib").Memory(tmp_path, verbose=0)


def without_folder(memory):
    return type(memory)(None)


@pytest.mark.parametrize("of", [lambda memory: memory, without_folder], ids=["kept", "not kept"])
def test_a_function_that_joblib_caches_has_the_gradient_of_the_function(memory, of):
    cached = of(memory).cache(energy)
    for f in (cached, functools.partial(cached), lambda x: cached(x) + 0 * x[0]):
        np.testing.assert_array_equal(grad(f)(X), 4 * X)
    assert grad(cached, wrt="k")(X, 2.0) == np.sum(X**2)
    assert jvp(cached, (X,), (X,)) == (energy(X), 2 * energy(X))
    np.testing.assert_array_equal(of(memory).cache(grad(energy))(X), 4 * X)


def test_what_joblib_keeps_is_read_inside_a_function(memory):
    table = memory.cache(lambda n: np.arange(n) * 2.0)
    np.testing.assert_array_equal(grad(lambda x: np.sum(table(3) * x))(X), [0.0, 2.0, 4.0])


def reads_a_global(x):
    return x * RATE


def writes(x):
    x[0] = 0.0
    return np.sum(x)


def writes_a_view(x):
    x[1:][0] = 0.0
    return np.sum(x)


def returns_its_argument(x):
    return x


def returns_a_part(x):
    return x[1:]


def draws(x):
    return x * np.random.normal()


def test_a_cached_function_may_read_a_global_that_its_module_does_not_change(memory):
    cached = memory.cache(reads_a_global)
    np.testing.assert_allclose(grad(lambda x: np.sum(cached(2 * x) ** 2))(X), 8 * RATE**2 * X)


@pytest.mark.parametrize(("function", "why"), [
    (writes, "would write to its argument"), (writes_a_view, "would write to its argument"),
    (returns_its_argument, "is an argument, or a part of one"), (returns_a_part, "is an argument, or a part of one"),
    (draws, "draws random numbers"),
])  # fmt: skip
def test_what_a_cache_changes_is_refused(memory, function, why):
    cached = memory.cache(function)
    with pytest.raises(SourceADError, match=f"`{function.__name__}` has a cache, and .*{why}|has a cache and {why}"):
        grad(lambda x: np.sum(cached(2 * x)))(X)


# ---- dispatch by class ----


@functools.singledispatch
def size(x):
    return x**2


@size.register
def _(x: np.ndarray):
    return np.sum(x**3)


@size.register(list)
def _(x):
    return x[0] ** 4


class Sized:
    @functools.singledispatchmethod
    def of(self, x):
        return x**2

    def scaled(self, k, x):
        return k * x**2

    by_three = functools.partialmethod(scaled, 3.0)


SIZED = Sized()


@pytest.mark.parametrize(("x", "slope"), [(3.0, 6.0), (X, 3 * X**2), ([2.0], [32.0])], ids=["number", "array", "list"])
def test_single_dispatch_calls_what_is_registered_for_the_class(x, slope):
    np.testing.assert_array_equal(grad(size)(x), slope)
    np.testing.assert_array_equal(grad(lambda x: size(x) * 2)(x), 2 * np.asarray(slope))


def test_a_function_that_is_registered_later_is_called():
    @functools.singledispatch
    def f(x):
        return 2 * x

    gradient = grad(lambda x: f(x) * 1)
    assert gradient(1.0) == 2.0
    f.register(float, lambda x: 5 * x)
    assert gradient(1.0) == 5.0


def test_single_dispatch_by_a_class_that_is_not_known_is_refused():
    class Items(list):
        pass

    @functools.singledispatch
    def f(x):
        return x[0]

    f.register(Items, lambda x: x[0] * 5)
    with pytest.raises(SourceADError, match="depends on the class of its first argument"):
        grad(lambda x: f(x))([1.0])
    with pytest.raises(SourceADError, match="`of` chooses a method by the class of its argument"):
        grad(lambda x: SIZED.of(x))(1.0)
    with pytest.raises(SourceADError, match=r"test_wrapped_functions.py:\d+: "):
        grad(SIZED.of)(1.0)


def test_partial_methods():
    assert grad(lambda x: SIZED.by_three(x))(2.0) == 12.0
    assert grad(SIZED.by_three)(2.0) == 12.0


# ---- decorators ----


class Counting:
    """A decorator that is a class."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f

    def __call__(self, *args, **kwargs):
        return self.f(*args, **kwargs)


def test_a_decorator_that_is_a_class_takes_the_parameters_of_its_function():
    decorated = Counting(energy)
    np.testing.assert_array_equal(grad(decorated)(X), 4 * X)
    assert grad(decorated, wrt="k")(X, k=2.0) == np.sum(X**2)
    with pytest.raises(TypeError, match="missing"):
        grad(decorated)()


class Timed(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


@Timed()
def timed(x):
    return x**2


def test_a_decorator_that_cannot_be_differentiated_is_named_where_it_stands():
    with pytest.raises(SourceADError, match=r"^.*test_wrapped_functions.py:\d+: ") as caught:
        grad(timed)(1.0)
    assert "@Timed()" in str(caught.value).splitlines()[1] and "`__wrapped__`" in str(caught.value)
    assert grad(timed.__wrapped__)(1.0) == 2.0


def test_objects_that_are_called_are_not_said_to_be_functions():
    with pytest.raises(NoSourceError, match="an object of class `np.vectorize` has no source of its own"):
        grad(np.vectorize(energy))(1.0)
