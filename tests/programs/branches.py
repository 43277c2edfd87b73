"""`if` in all its forms."""

import numpy as np

from tests.programs import program

BOTH = (lambda rng: (rng.normal(size=3) - 3,),)


@program(args=lambda rng: (rng.normal(size=3) + 3,), also=BOTH)
def two_ways(x):
    if np.sum(x) > 0:
        y = x * x
    else:
        y = np.exp(x)
    return y.sum()


@program(args=(2.0,), also=((-2.0,), (0.3,)))
def three_ways(x):
    if x > 1:
        y = x**2
    elif x < -1:
        y = -(x**3)
    else:
        y = 2 * x
    return y * x


@program(args=(2.0, True), also=((2.0, False),))
def one_armed(x, double):
    y = x * 3
    if double:
        y = y * y
    return y


@program(args=(2.0, 1.0), wrt=(0, 1), also=((-2.0, 1.0),))
def nested(x, y):
    r = x + y
    if x > 0:
        r = r * x
        if y > 0:
            r = r * y
        else:
            r = r - y
        r = r + 1
    else:
        if y > 0:
            r = r - x * y
    return r * r


@program(args=(2.0, 1.0), wrt=(0, 1), also=((-2.0, 1.0),))
def different_names_in_the_arms(x, y):
    if x > 0:
        a = x * y
        b = a + x
        out = b * b
    else:
        c = y - x
        out = c * x
    return out


@program(args=(2.0, 3), also=((2.0, 0), (2.0, -5)), level="python")
def on_an_integer(x, n):
    if n % 2 == 1 and n > 0:
        return x * n
    if n == 0:
        return x * x
    return x * x * n


@program(args=(1.3, "square"), also=((1.3, "cube"), (1.3, "other")))
def on_a_string(x, kind):
    if kind == "square":
        y = x * x
    elif kind == "cube":
        y = x**3
    else:
        y = x
    return y + x


@program(args=lambda rng: (rng.normal(size=3), None), also=(lambda rng: (rng.normal(size=3), rng.normal(size=3)),))
def on_none(x, weights):
    if weights is None:
        weights = np.ones_like(x)
    return np.sum(weights * x * x)


@program(args=(1.5,), also=((-1.5,),), level="python")
def conditional_expression(x):
    y = x * 2 if x > 0 else x * x
    return y * (1.0 if y > 1 else x)


@program(args=(1.5, 0.5), wrt=(0, 1), also=((0.5, 1.5), (3.0, 0.2)), level="python")
def chained_comparison(x, y):
    if 0 < y < x < 2:
        return x * y
    return x * x + y


@program(args=(1.5, 0.5), wrt=(0, 1), level="python", also=((-1.0, 1.5),))
def short_circuit(x, y):
    if x != 0 and y / x > 0.1 or y > 2:
        z = y / x
    else:
        z = y * 2
    w = x or y
    v = x and y
    return z * w + v


@program(args=(1.5,), level="python", also=((0.5,),))
def walrus(x):
    if (y := x * x) > 1:
        return y * 3
    return (z := y + x) * z


@program(args=lambda rng: (rng.normal(size=(3, 3)), True), also=(lambda rng: (rng.normal(size=(3, 3)), False),))
def arms_of_different_shape(a, whole):
    if whole:
        r = a * a
    else:
        r = a[0]
    return np.sum(r * 2)


@program(args=lambda rng: (rng.normal(size=3), 1), also=(lambda rng: (rng.normal(size=3), -1),))
def arms_of_different_type(x, sign):
    shift = 0
    if sign > 0:
        shift = np.sin(x)
    return np.sum(x * shift + x)


@program(args=(0.5, 2.0), wrt=(0, 1), level="python", also=((3.0, 2.0),))
def defined_in_one_arm(x, y):
    if x > 1:
        z = x * y
    w = x + y
    if x > 1:
        w = w * z
    return w


@program(args=lambda rng: (np.array([1.0, -2.0]),))
def returns_nothing_on_one_path(x):
    if x[0] > 0:
        return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=4), True), also=(lambda rng: (rng.normal(size=4), False),))
def write_in_one_arm(x, flag):
    y = x * 2
    if flag:
        y[1] = y[0] * y[2]
    return np.sum(y * y)


@program(args=(1.2,), also=((-1.2,), (0.1,)), level="python")
def early_returns(x):
    if x < 0:
        return x * x
    y = x * 3
    if y < 1:
        return y * x
    return y - x**3


@program(args=(1.2,), tags=("zero",), also=((-1.2,),), level="python")
def arms_without_the_argument(x):
    if x > 0:
        return 1.0
    else:
        return -1.0


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def boolean_of_arrays(x):
    if np.all(x < 10) and not np.any(x > 20):
        s = np.sum(x**2)
    else:
        s = np.sum(x)
    if x.size and (x > -50).all():
        s = s * x[0]
    return s


@program(args=(1.4, 2), level="python", also=((1.4, 0), (1.4, 7)))
def match_statement(x, kind):
    match kind:
        case 0:
            y = x
        case 1 | 2:
            y = x * x
        case _:
            y = x**3
    return y * x


@program(args=(0.8,), level="python")
def huber(r, delta=0.5):
    a = abs(r)
    return 0.5 * r * r if a <= delta else delta * (a - 0.5 * delta)


@program(args=(2.0, 1.0), wrt=(0, 1))
def swapped_in_an_arm(lo, hi):
    if lo > hi:
        lo, hi = hi, lo
    return (hi - lo) ** 2 * lo + hi
