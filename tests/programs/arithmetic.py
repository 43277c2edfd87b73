"""Straight lines: arithmetic, broadcasting in every direction, names used again, dtypes."""

import math

import numpy as np

from tests.programs import program


def three(rng):
    return rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)


@program(args=(1.3,))
def cube(x):
    return x * x * x


@program(args=(3,))
def integer_argument(n):
    return n**2 / 4 + 1.5 * n


@program(args=(0.7, -1.1), wrt=(0, 1))
def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


@program(args=(0.7, 1.9, 2.3), wrt=("c", "a"))
def order_of_wrt(a, b, c):
    return a * b**2 + c**3 * a


@program(args=(1.7,))
def unchanged(x):
    return x


@program(args=(1.7, 2.0), wrt=(0, 1), level="python")
def second_is_unused(x, y):
    return math.sin(x)


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(2, 2))), wrt=(0, 1))
def array_is_unused(x, y):
    return np.sum(x * x)


@program(args=(1.7,), tags=("zero",))
def constant(x):
    return 3.0


@program(args=lambda rng: (rng.normal(size=(2, 3)),), tags=("zero",))
def only_the_shape(x):
    m, n = x.shape
    return float(m * n) + x.ndim + len(x) + x.size


@program(args=lambda rng: (rng.normal(size=3),), tags=("zero",))
def times_zero_then_gone(x):
    y = np.exp(x)
    y = np.ones(3)
    return y.sum()


@program(args=lambda rng: (1.5, rng.normal(size=(3, 2))), wrt=(0, 1), tags=("broadcast",))
def scalar_times_matrix(s, a):
    return np.sum(np.sin(s * a) + a / s - s)


@program(args=lambda rng: (rng.normal(size=(4, 1)), rng.normal(size=(1, 3))), wrt=(0, 1), tags=("broadcast",))
def column_with_row(c, r):
    return np.sum(np.tanh(c + r) * c)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=(4, 3))), wrt=(0, 1), tags=("broadcast",))
def vector_with_matrix(v, m):
    return np.mean((v - m) ** 2 * v)


@program(
    args=lambda rng: (rng.normal(size=(2, 1, 3)), rng.normal(size=(4, 1)), rng.normal(size=(1, 1, 1))),
    wrt=(0, 1, 2),
    tags=("broadcast",),
)
def three_ranks(a, b, c):
    return (a * b + c * np.cos(a - b)).sum()


@program(
    args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3))),
    wrt=(0, 1),
    tags=("broadcast", "signature"),
    also=(
        lambda rng: (rng.normal(size=(3, 1)), rng.normal(size=(1, 3))),
        lambda rng: (rng.normal(size=(1, 1)), rng.normal(size=(3, 3))),
        lambda rng: (rng.normal(size=3), rng.normal(size=(3, 3))),
        lambda rng: (0.3, rng.normal(size=(3, 3))),
        lambda rng: (rng.normal(size=3), 2.0),
        lambda rng: (rng.normal(size=(1,)), rng.normal(size=(5,))),
        lambda rng: (rng.normal(size=(1,)), rng.normal(size=(1,))),
        lambda rng: (rng.normal(size=(3, 0)), rng.normal(size=(3, 1))),
        lambda rng: (0.3, 0.4),
        lambda rng: (1, 0.4),
        lambda rng: (np.float64(0.3), rng.normal(size=2)),
        lambda rng: (np.array(0.3), rng.normal(size=2)),
    ),
)
def many_signatures(a, b):
    d = a - 2 * b
    return np.sum(d * d * np.exp(a * 0.1))


@program(args=lambda rng: (rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=2).astype(np.float32)), wrt=(0, 1))
def single_precision(a, b):
    return np.sum(np.tanh(a * 2.0 + b) / 3)


@program(args=lambda rng: (rng.normal(size=3).astype(np.float32), rng.normal(size=3)), wrt=(0, 1))
def mixed_precision(a, b):
    return np.sum(a * b + np.sin(a))


@program(args=lambda rng: (np.float32(1.25), rng.normal(size=3).astype(np.float32)), wrt=(0, 1))
def single_precision_scalar(s, a):
    return (s * a * a).sum()


@program(args=lambda rng: (np.array(0.8), rng.normal(size=3)), wrt=(0, 1))
def array_without_axes(s, x):
    return np.sum(s * x) + s**2


@program(args=lambda rng: (rng.normal(size=4), np.arange(4), np.array([True, False, True, True])))
def integers_and_booleans(x, k, mask):
    y = x * k + k / 3
    return np.sum(y * mask) + np.sum(k) * x[0]


@program(args=three, wrt=(0, 1, 2))
def one_name_many_values(a, b, c):
    t = a * b
    u = np.sum(t)
    t = u * c
    t = t.mean()
    t = t * u + a[0]
    return t


@program(args=lambda rng: (rng.normal(size=(2, 3)),))
def one_name_many_types(x):
    y = x.shape
    n = y[0] * y[1]
    y = x.sum() / n
    y = np.full((4,), 2.0) * y
    y = (y, x[0])
    y = y[0].sum() + (y[1] ** 2).sum()
    return y


@program(args=lambda rng: (rng.normal(size=3), 0.5), wrt=(0, 1))
def parameters_reassigned(x, y):
    x = np.exp(x * y)
    y = x.sum() * y
    x = x + y
    return np.sum(x * x) * y


@program(args=lambda rng: (rng.normal(size=3),))
def shadowed_builtins(list):
    sum = list * 2
    max = np.tanh(sum)
    len = max @ list
    float = len + 1.0
    return float**2


@program(args=lambda rng: (rng.normal(size=3),))
def awkward_names(d_x):
    # names that a compiler could want for itself
    x = d_x * 2
    y = np.sin(x)
    d_y = y * x
    d_d_x = d_y + y
    i = np.sum(d_d_x)
    x_at = [i, i * i]
    _ = x_at[1]
    return x_at[0] * _


@program(args=lambda rng: (rng.normal(size=3),))
def np_is_a_variable(x):
    import numpy

    np = x * x
    return numpy.sum(np * numpy.cos(np))


@program(args=(0.4, 1.7, 2.2), wrt=(0, 1, 2), level="python")
def powers(x, y, z):
    return x**3 + y**x + 2.0**z + z**-1 + y**0.5 + x**0 + (-z) ** 2 + pow(x, 2)


@program(args=lambda rng: (rng.uniform(0.5, 2, size=4), rng.uniform(0.5, 2, size=4)), wrt=(0, 1))
def array_powers(x, y):
    return np.sum(x**y + y**2 + x**-2.5 + 1.5**x + np.power(x, 3) + np.square(y) + np.sqrt(x) + np.reciprocal(y))


@program(args=lambda rng: (rng.normal(size=4),))
def negative_bases(x):
    return np.sum((x - 5.0) ** 3 + (x - 5) ** 2 + (x - 5.0) ** 2.0 + (x - 5) ** -1)


@program(args=lambda rng: (np.array([0.0, 0.0, 1.0, -2.0]),))
def powers_at_zero(x):
    return np.sum(x**2 + x**1 + x**3 + 3 * x)


@program(args=(2.7, 1.1), wrt=(0, 1))
def quotient_and_remainder(x, y):
    return x // y + x % y + (x * 3) // 2 * y + x % 0.8


@program(args=lambda rng: (rng.uniform(0.3, 0.8, size=(2, 3)),))
def elementwise_functions(x):
    y = np.sin(x) + np.cos(x) * np.tan(x) + np.exp(-x) + np.log(x) + np.sqrt(x) + np.tanh(x)
    z = np.arcsin(x) + np.arccos(x) + np.arctan(x) + np.sinh(x) + np.cosh(x) + np.log1p(x) + np.expm1(x)
    w = np.abs(-x) + np.sign(x) * x + np.log2(x) + np.log10(x) + np.exp2(x) + np.absolute(x) + np.negative(x)
    return np.sum(y * z) + w.sum()


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=4)), wrt=(0, 1))
def two_argument_functions(x, y):
    a = np.maximum(x, y) + np.minimum(x, 0.1) + np.hypot(x, y) + np.arctan2(x, y)
    b = np.logaddexp(x, y) + np.add(x, y) * np.multiply(x, y) - np.subtract(x, y) / np.divide(2, 3 + y**2)
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=4),))
def clip_and_where(x):
    a = np.clip(x, -0.5, 0.6)
    b = np.where(x > 0.2, x * x, -x)
    c = np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)
    return np.sum(a * b + c)


@program(args=lambda rng: (rng.normal(size=3),))
def same_value_many_times(x):
    y = x * x + x
    return np.sum(y * y * x + y + x - x + y / (1 + x * x) + y)


@program(args=lambda rng: (rng.normal(size=5), np.array([2.0, 3.0])), wrt=(0, 1))
def difference_of_itself(x, c):
    return np.sum(x - x) + np.sum(c * c) + np.sum(x / (x * 1.0 + 7.0))


@program(args=(0.3,))
def chained_assignment(x):
    a = b = c = x * 2
    a = a + 1
    b *= 3
    return a * b * c


@program(args=lambda rng: (rng.normal(size=(2, 2)),))
def unary_operators(x):
    y = -x
    z = +y
    return np.sum(-(-z) * 2) - -x[0, 0] ** 2


@program(args=(0.9, 1.4), wrt=("beta", "alpha"))
def greek(alpha: float, beta: float) -> float:
    """A docstring, annotations and a comment."""
    gamma: float = alpha * beta
    delta: float
    delta = gamma - alpha  # the difference
    return delta * gamma


@program(args=lambda rng: (rng.normal(size=3),))
def long_expression(x):
    return (
        np.sum(x)
        * np.sum(x**2)
        / (1.0 + np.sum(x**4))
        + np.sum(
            x
            * np.exp(
                -x * x
            )
        )
    )


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def quadratic_form(A, x): return x @ A @ x + x.dot(A).dot(x) - np.dot(x, x); pass  # noqa: E702


@program(args=lambda rng: (rng.normal(size=0), 2.0), wrt=(0, 1))
def empty_array(x, s):
    return np.sum(x * s) + s * s


@program(args=lambda rng: (rng.normal(size=(0, 3)), rng.normal(size=3)), wrt=(0, 1))
def empty_matrix(m, v):
    return np.sum(m @ v) + np.sum(m * v) + np.sum(v**2) + m.sum(axis=0) @ v


@program(args=lambda rng: (rng.normal(size=3) * 1e-8, rng.normal(size=3) * 1e8), wrt=(0, 1))
def wide_range(x, y):
    return np.sum(np.sin(x * y))


@program(args=(1.2,), level="python")
def math_module(x):
    a = math.sin(x) + math.cos(x) * math.exp(-x) + math.log(x) + math.sqrt(x) + math.tanh(x)
    b = math.atan(x) + math.pow(x, 3) + math.fabs(x) + math.hypot(x, 2.0) + math.atan2(x, 2.0) + math.log(x, 2)
    return a * b + math.pi * x + math.e + math.floor(x) + math.log1p(x) + math.expm1(x) + math.erf(x)


@program(args=(0.5,), level="python")
def rounding(x):
    return round(x * 3.3) * x + int(x * 7) * x + math.ceil(x) * x + np.floor(x * 2.2) + float(x) + round(x, 2) * 0 + abs(-x)
