"""Modules that are held by objects, dicts and other data, such as the `self.xp = np` of classes that compute with NumPy or with CuPy."""

import types

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp

X = np.array([0.5, 1.5])
TWICE = types.ModuleType("twice")
TWICE.sum, TWICE.factor = lambda x: 2 * np.sum(x), 3.0


class Model:
    def __init__(self, xp, factor=2.0):
        self.xp, self.factor = xp, factor

    def loss(self, x):
        return self.factor * self.xp.sum(self.xp.sin(x))


class Shim:
    """Stands for a module that may be exchanged."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


model, shim, config = Model(np), Shim(np), {"xp": np}


@pytest.mark.parametrize("f, args", [
    (model.loss, (X,)),
    (lambda x: model.xp.sum(x**2), (X,)),
    (lambda x: shim.sum(shim.cos(x)), (X,)),
    (lambda x: config["xp"].sum(x**2), (X,)),
    (lambda x, m: m.factor * m.xp.sum(x**2), (X, model)),
    (lambda x, modules: sum(m.sum(x**2) for m in modules), (X, [np, np])),
])  # fmt: skip
def test_functions_are_taken_from_modules_that_data_hold(f, args):
    check_grads(f, args, wrt=0)


def test_another_module_is_another_derivative():
    gradient = grad(lambda x, m: m.xp.sum(x))
    for module, expected in ((np, 1.0), (TWICE, 2.0), (np, 1.0)):
        np.testing.assert_array_equal(gradient(X, Model(module)), np.full(2, expected))


def test_a_module_that_a_global_object_holds_may_be_exchanged():
    held = Model(np)
    gradient = grad(lambda x: held.xp.sum(x))
    for module, expected in ((np, 1.0), (TWICE, 2.0), (np, 1.0)):
        held.xp = module
        np.testing.assert_array_equal(gradient(X), np.full(2, expected))


def test_numbers_of_such_a_module_are_read_at_each_call():
    held = Model(TWICE)
    gradient = grad(lambda x: held.xp.factor * held.xp.sum(x))
    np.testing.assert_array_equal(gradient(X), [6.0, 6.0])
    TWICE.factor = 5.0
    np.testing.assert_array_equal(gradient(X), [10.0, 10.0])
    TWICE.factor = 3.0


def test_a_module_carries_no_derivative():
    gradient = grad(lambda m, x: m.factor * m.xp.sum(x**2))(model, X)
    assert gradient.xp is None and np.isclose(gradient.factor, np.sum(X**2))
    np.testing.assert_allclose(hvp(model.loss)(X, np.ones(2)), -2 * np.sin(X))


def test_such_a_module_under_numba():
    np.testing.assert_allclose(grad(model.loss, backend="numba")(X), 2 * np.cos(X))
