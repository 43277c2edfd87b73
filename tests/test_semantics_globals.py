"""Global names that a function assigns: variables of the call, which it leaves as Python does; a module may be any object in its place."""

import sys
import types

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

MODE, SCALE, FLAG, WEIGHTS, COUNT = "plain", 2.0, False, np.array([1.0, 2.0, 3.0]), 0
X = np.array([0.5, -1.2, 2.0])


class in_mode:
    def __init__(self, mode):
        self.mode, self.before = mode, MODE

    def __enter__(self):
        put(self.mode)

    def __exit__(self, *what):
        put(self.before)


def put(mode):
    global MODE
    MODE = mode


def divided(a, b):
    return 2 * a / b if MODE == "double" else a / b


def in_a_manager(x):
    with in_mode("double"):
        y = divided(x, 1 + x**2)
    return np.sum(y) * np.sum(divided(x, 3.0))


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        with in_mode("double" if i % 2 else "plain"):
            s += np.sum(divided(x, 1.0 + i))
    return s


def in_a_branch(x):
    s = 0.0
    for v in x:
        if v > 0:
            with in_mode("double"):
                s += divided(v, 3.0)
        else:
            s += divided(v, 7.0)
    return s


def that_grows_in_a_loop(x):
    global SCALE
    old = SCALE
    for v in x:
        SCALE = SCALE * v
    y = np.sum(x * SCALE)
    SCALE = old
    return y * SCALE


def in_finally(x):
    global FLAG
    FLAG = True
    try:
        return np.sum(x * 2 if FLAG else x)
    finally:
        FLAG = False


def of_an_array(x):
    global WEIGHTS
    old = WEIGHTS
    WEIGHTS = WEIGHTS * x
    y = np.sum(WEIGHTS**2)
    WEIGHTS = old
    return y + np.sum(WEIGHTS * x)


def read_from_the_module(x):
    import tests.test_semantics_globals as here

    with in_mode("double"):
        s = 2.0 if here.MODE == "double" else 3.0
    return s * np.sum(x)


def that_counts(x):
    global COUNT
    COUNT += 1
    return np.sum(x) * 2


def on_one_path(x):
    global SCALE
    if x[0] > 0:
        SCALE = 3.0
    return np.sum(x * SCALE)


def read_from_the_module_by_its_name(x):
    here = sys.modules[__name__]
    with in_mode("double"):
        s = 2.0 if here.MODE == "double" else 3.0
    return s * np.sum(x)


RESTORED = (
    in_a_manager, in_a_loop, in_a_branch, that_grows_in_a_loop, in_finally, of_an_array, read_from_the_module,
    read_from_the_module_by_its_name,
)


@pytest.mark.parametrize("f", RESTORED, ids=lambda f: f.__name__)
def test_a_global_name_that_ends_as_it_began_is_a_variable(f):
    assert judged_in_all_modes(f, X) == "right"
    assert (MODE, SCALE, FLAG) == ("plain", 2.0, False)


@pytest.mark.parametrize("f, left", [(that_counts, (2.0, 1)), (on_one_path, (3.0, 0))])
def test_a_global_name_keeps_the_value_that_it_is_left(f, left, monkeypatch):
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    monkeypatch.setitem(globals(), "COUNT", 0)
    np.testing.assert_array_equal(grad(f)(X), left[0] if f is on_one_path else 2.0)
    assert (SCALE, COUNT) == left


class InPlaceOfAModule:
    """What some packages put in the place of their modules."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def test_an_object_in_the_place_of_a_module_is_that_module(monkeypatch):
    module = types.ModuleType("a_package_of_the_test")
    module.doubled, module.factor, module.sin = divided, 3.0, np.sin
    other = InPlaceOfAModule(module)
    monkeypatch.setitem(sys.modules, "a_package_of_the_test", other)
    assert judged_in_all_modes(lambda x: np.sum(other.doubled(other.sin(x), 2.0)) * other.factor, X) == "right"
    gradient = grad(lambda x: np.sum(x) * other.factor)
    np.testing.assert_array_equal(gradient(X), 3.0)
    module.factor = 4.0
    np.testing.assert_array_equal(gradient(X), 4.0)
