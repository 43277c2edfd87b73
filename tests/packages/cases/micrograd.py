"""A small engine of automatic differentiation, itself differentiated."""

from micrograd.engine import Value
from micrograd.nn import MLP

from tests.packages.case import case

REQUIREMENTS = ("micrograd==0.1.0",)
FIELD = "networks"


def example(a, b):
    a, b = Value(a), Value(b)
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + (b + a).relu()
    e = c - d
    f = e**2
    return f / 2.0 + 10.0 / f


def of_weights(x, y):
    import random
    random.seed(3)
    return MLP(2, [3, 1])([x, y]).data


def backward(a, b):
    x, y = Value(a), Value(b)
    z = x * y + x**3
    z.backward()
    return x.grad + 2 * y.grad


CASES = [
    case("micrograd.engine.Value", lambda a, b: example(a, b).data, -4.0, 2.0),
    case("micrograd.engine.Value.backward", backward, -4.0, 2.0),
    case("micrograd.nn.MLP", of_weights, 0.5, -0.3),
]
