"""What is decided before the program runs: attributes that a value has, flags of modules, classes; masks of numbers."""

import cmath
import enum
import inspect
import logging
import math
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

log = logging.getLogger("a")


class U(str, enum.Enum):
    KM = "km"
    MI = "mi"


class D(float, enum.Enum):
    N = 0.5
    S = 1.5


CONV = {U.KM: 2.0, U.MI: 3.0}
FLAG = True
TYPES = (float, int)
LOADED = False


def key_is_a_member(x, u=U.KM):
    return x * CONV[u]


def logged(x):
    log.info("value %s", x)
    log.debug("z")
    return x * x


def attribute_of_a_number_assigned(x):
    p = x * x
    try:
        p.name = "a"
    except AttributeError:
        pass
    return p


def kept(x, **options):
    return x if options else x * x


def an_operand_that_decides_and(x):
    options = {"a": 2.0}
    factor = 3.0 if bool(x < 1.0) and "a" not in options else options.pop("a")
    return kept(x, **options) * factor


def an_operand_that_decides_or(x):
    options = {"a": 2.0}
    if bool(x < 1.0) or "a" in options or x > 5.0:
        return kept(x, **{"b" + k: v for k, v in options.items()}) * options.pop("a")
    options["c"] = x
    return kept(x, **options) * (bool(x > 9.0) or 0) + (bool(x < 9.0) and 2)


def axes_asked_for(x):
    return x.shape[0] * 1.0 + x if hasattr(x, "shape") and x.ndim else 2 * x


def array_as_a_number(x):
    y = np.array([x, 2 * x, 3.0])
    try:
        r = float(y)
    except TypeError:
        r = np.sum(y)
    return r


def length_of_a_number(x):
    try:
        n = len(x)
    except TypeError:
        n = 3
    return x * n


def class_as_text(x):
    if "sympy" in str(type(x)):
        raise ValueError
    return x * 3 if isinstance(x, TYPES) and FLAG else x


def attribute_or_itself(x):
    return getattr(x, "value", x) * 2


@dataclass
class E:
    a: float
    b: float

    def __init__(self, a, c, *, m=1.0):
        self.a = a
        self.b = c * m


def dataclass_with_its_own_init(x):
    e = E(x, 2.0, m=3.0)
    return e.a * e.b


def class_called(x):
    return type(x)(2.0) * x


def math_of_a_list(x):
    try:
        return math.sin([x, x])
    except TypeError:
        return math.cos(x)


def warned(x):
    warnings.warn(f"x is {x}", stacklevel=1)
    return x * D.N * D.S.value


def flag_of_the_module(x):
    global LOADED
    if not LOADED:
        pass
    return x * 2


def masked_number(x):
    a = np.asarray(x)
    a = np.array(a * 2)
    a[a > 1] = 3 * x
    a[np.isnan(a)] = 0
    return float(a)


def method_of_a_number(x):
    try:
        return x.rescale(3)
    except AttributeError:
        return x ** 2


def attributes_of_a_list(x):
    xs = [x, 2 * x]
    return sum(xs) if hasattr(xs, "__len__") and hasattr(xs, "append") and (not hasattr(xs, "shape")) else x


def attributes_of_an_array(x):
    a = np.zeros(3) + x
    return a.sum() if hasattr(a, "__iter__") and (not hasattr(x, "__iter__")) else x


def class_of_an_array(x):
    cls = type(np.zeros(2))
    return x if cls is np.ndarray else 2 * x


def attributes_of_a_module(x):
    for name in ("a", "b"):
        if not hasattr(math, name):
            x = x * 2
    return x if hasattr(math, "sin") else 0.0


def attributes_of_a_function(x):
    return x if hasattr(attributes_of_a_module, "__name__") and (not hasattr(attributes_of_a_module, "cache")) else 3 * x


def element_set(x):
    a = np.array(x * 2.0)
    a[a > 1.0] = 3 * x
    return a * 1.0


def masked_elsewhere(x):
    a = np.asarray(x * 2.0).copy()
    b = np.asarray(x ** 2)
    i = a > 1.0
    if np.any(i):
        a[i] = b[i] * 3 - np.exp(b[i])
    return float(a)


def divided_where(x):
    out = np.full_like(np.asarray(x), 2.0)
    np.divide(3.0, x, out=out, where=np.asarray(x) > 1)
    return out * x


def set_by_truth(x):
    a = np.zeros(())
    a[True] = x
    a[np.bool_(False)] = 7.0
    a[...] += x
    return a * x


def added_where(x):
    a = np.array(x)
    b = a
    a[a < 1] += 2 * x
    return b * x


def masked_in_a_loop(x):
    a = np.array(x)
    s = 0.0
    for k in range(3):
        a[a > k] = a * 0.5
        s = s + a
    return float(s)


def nan_where(x):
    a = np.array(x)
    a[~(a > 1)] = np.nan
    a[np.isnan(a)] = x * x
    return float(a)


def set_from_a_row(x):
    a = np.array(x)
    a[a > 0.5] = np.array([4.0]) * x
    return a + 0.0


def product_is_a_number(x):
    a = np.sin(np.array(x)) * 1.0
    try:
        a[a > 0.5] = 3 * x
    except TypeError:
        a = a * 7
    return a


def broadcast_number(x):
    a, b = np.broadcast_arrays(x, 2 * x)
    c = a * b
    try:
        c[c > 0.5] = 3 * x
    except TypeError:
        if c > 0.5:
            c = c * 7
    return c


def sum_is_a_number(x):
    a = np.array(x)
    b = a
    b = b + 0
    try:
        b[...] = 3 * x
    except TypeError:
        b = b * 7
    return b


def doubled_in_place(x):
    a = np.array(x)
    a *= 2
    try:
        a[a > 0] = 3 * x
    except TypeError:
        a = a * 7
    return a * 1


def abs_of_an_array(x):
    a = np.abs(np.asarray(x))
    if hasattr(a, "__setitem__"):
        return a * 3
    return a * 5


def class_of_a_product(x):
    a = np.asarray(x)
    return a * 3 if isinstance(a * 2, np.ndarray) else a * 5

READY = True
STATE = [1.0]


def setup(done=True):
    global READY, STATE
    if READY:
        return True
    READY = True
    STATE = [1.0]
    return False


def global_that_setup_assigns(x):
    setup()
    return x * STATE[0]


def attribute_of_a_function(x):
    try:
        found = attribute_of_a_function.k
    except AttributeError:
        found = 0.0
    return x * attribute_of_a_function.k + found
attribute_of_a_function.k = 3.0


def bound_where_it_is_read(x):
    if x > 100:
        t = 1.0
    elif x > 0:
        u = 2.0
        return u * x
    else:
        for i in range(2):
            return x
    return t * x


def bound_in_one_arm(x):
    if x > -5:
        t = x
    else:
        return x
    return t * 2


def raises_elsewhere(x):
    if x > 100:
        return x.foo
    if x > 50:
        return {"a": 1}["b"]
    if x > 40:
        return len(x)
    return x * 2


def text_or_none(x):
    z = "ABCDEFG"[int(x + 2) >> 1] if x < 100 else None
    return x if z.upper() >= "B" and z.lower() < "c" else 2 * x


def name_of_a_function(x):

    def g(fn):
        return fn.__wrapped__ if hasattr(fn, "__wrapped__") else fn.__name__
    return x if g(setup) == "setup" else 2 * x


def complex_functions(x):
    return (cmath.log(x * 1j) + cmath.sqrt(-x) + cmath.rect(x, 0.3) * cmath.polar(x + 1j)[0]).imag


PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f not in (setup, kept)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 1.7])
@pytest.mark.filterwarnings("ignore")
def test_program(f, x):
    assert judged_in_all_modes(f, x) == "right"


def test_flag_that_changes():
    global FLAG
    assert grad(class_as_text)(2.0) == 3.0
    FLAG = False
    try:
        assert grad(class_as_text)(2.0) == 1.0
    finally:
        FLAG = True
