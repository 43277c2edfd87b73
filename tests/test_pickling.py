"""Derivatives are sent to other processes, copied, cached on disk and wrapped, as functions are."""

import concurrent.futures
import copy
import functools
import importlib
import multiprocessing
import pickle
import sys

import numpy as np
import pytest

from sourcead import grad, value_and_grad, vjp
from sourcead.errors import UnsupportedValueError

pytestmark = pytest.mark.sampled(3)


def square(x):
    return np.sum(x * x)


@grad
def decorated(x):
    return square(x) * 2


class Model:
    def __init__(self, rate):
        self.rate = rate

    def loss(self, x):
        return self.rate * square(x)

    def __call__(self, x):
        return self.loss(x)


@functools.lru_cache
def cached(x):
    return x * x


gradient = grad(square)
NAMED = {
    "gradient": gradient, "decorated": decorated, "method": grad(Model(3.0).loss), "object": grad(Model(3.0)), "cached": grad(cached),
    "partial": grad(functools.partial(square)), "second": grad(grad(square)), "of decorated": value_and_grad(decorated),
}  # fmt: skip
UNNAMED = {
    "lambda": grad(lambda x: x * x), "second": grad(grad(lambda x: x**3)), "of decorated": grad(decorated.primal),
    "partial": grad(functools.partial(lambda k, x: k * x * x, 2.0)),
}  # fmt: skip


@pytest.fixture
def without_packages(monkeypatch):
    for name in ("cloudpickle", "dill"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("name", NAMED)
def test_a_derivative_of_a_named_function_pickles(without_packages, name):
    renewed = pickle.loads(pickle.dumps(NAMED[name]))
    assert renewed(3.0) == NAMED[name](3.0)


@pytest.mark.parametrize("name", UNNAMED)
def test_a_derivative_of_another_function_is_refused_with_what_to_do(without_packages, name):
    with pytest.raises(UnsupportedValueError, match="cannot be pickled\n.*define the function with `def` outside.*install cloudpickle"):
        pickle.dumps(UNNAMED[name])


@pytest.mark.parametrize("name", UNNAMED)
@pytest.mark.parametrize("package", ["pickle", "cloudpickle", "dill"])
def test_a_derivative_of_another_function_pickles_by_value(name, package):
    pytest.importorskip("cloudpickle" if package == "pickle" else package)
    package = importlib.import_module(package)
    assert package.loads(package.dumps(UNNAMED[name]))(3.0) == UNNAMED[name](3.0)


def test_a_pullback_is_refused_with_what_to_do(without_packages):
    with pytest.raises(UnsupportedValueError, match="cannot be pickled\n.*call `vjp` where the pullback is needed"):
        pickle.dumps(vjp(square, 3.0)[1])


def test_a_pullback_pickles_by_value():
    pytest.importorskip("cloudpickle")
    assert pickle.loads(pickle.dumps(vjp(square, 3.0)[1]))(1.0) == 6.0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_derivatives_are_copied_without_a_package(without_packages, copied):
    for derivative in (*NAMED.values(), *UNNAMED.values()):
        assert copied(derivative)(3.0) == derivative(3.0)
    pullback = vjp(lambda x: x * x, 3.0)[1]
    assert copied({"key": pullback})["key"](1.0) == 6.0
    assert copy.deepcopy(decorated) is decorated


def test_bound_arguments_stay_when_a_derivative_is_differentiated():
    assert grad(bound)(3.0) == 4.0
    assert bound.lower(3.0).text and bound(3.0) == 12.0


def bound(rate, x):
    return rate * x * x


bound = grad(functools.partial(bound, 2.0))


def test_an_object_that_takes_over_the_attributes_of_a_derivative_is_not_disturbed():
    class Counted:
        def __init__(self, function):
            self.function, self.calls = function, 0
            functools.update_wrapper(self, function)

        def _call(self, number, x):
            self.calls += number
            return self.function(x)

        def __call__(self, x):
            return self._call(1, x)

    counted = Counted(gradient)
    assert (counted(3.0), counted.calls, counted.__name__) == (6.0, 1, "square")


def test_attributes_of_the_function_do_not_disturb_a_derivative():
    def f(x):
        return x * x

    f._call = f._kind = f._find = f.wrt = None
    assert grad(f)(3.0) == 6.0 and grad(grad(f))(3.0) == 2.0


def test_a_cache_on_disk_takes_a_derivative(tmp_path):
    joblib = pytest.importorskip("joblib")
    memory = joblib.Memory(tmp_path, verbose=0)
    kept = memory.cache(gradient)
    assert (kept(3.0), kept(3.0), kept(4.0)) == (6.0, 6.0, 8.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_derivatives_run_in_other_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        for derivative in NAMED.values():
            assert list(pool.map(derivative, [2.0, 3.0])) == [derivative(2.0), derivative(3.0)]
    with context.Pool(1) as pool:
        assert pool.map(gradient, [2.0, 3.0]) == [4.0, 6.0]
