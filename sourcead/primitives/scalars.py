"""Rules of the `math` module: those of NumPy's functions, written with functions of `math`, so that Python floats stay floats.

y = atan(x)      d_x = d_y / (1 + x * x)          as np.arctan
y = sin(x)       d_x = d_y * math.cos(x)          as np.sin, whose rule has np.cos

Only functions that NumPy lacks, or that take other arguments than NumPy's, have rules of their own here.
"""

import cmath
import math
from types import FunctionType

import numpy as np

from sourcead.primitives.compositions import composed
from sourcead.primitives.elementwise import EXPONENTIALS, TRIGONOMETRY, sign
from sourcead.primitives.registry import adjoint, adjoints, elementwise, tangents
from sourcead.runtime import digamma, divide_or_zero, like_sequence, log_or_zero, lower_exponent

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

SHARED = """
exp exp2 expm1 log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 radians degrees
""".split()


def with_math(rule):
    """Return a copy of a NumPy function's rule in which the name `np` refers to `math`."""
    return FunctionType(rule.__code__, {**rule.__globals__, "np": math, "__name__": __name__})


numpy_rules = EXPONENTIALS | TRIGONOMETRY
elementwise({  # Python 3.10 has no math.exp2 and math.cbrt
    getattr(math, name): with_math(numpy_rules[getattr(np, name)]) for name in SHARED if hasattr(math, name)
})

elementwise({
    math.sqrt: lambda y, x, d_y: np.divide(d_y, 2 * y),  # inf at 0, where Python would raise
    math.pow: lambda y, a, b, d_y: (b * d_y * a ** lower_exponent(b, a), d_y * y * log_or_zero(a)),
    math.ldexp: lambda y, x, i, d_y: (d_y * 2.0**i, None),
    math.fmod: lambda y, a, b, d_y: (d_y, -d_y * math.trunc(a / b)),
    math.fabs: lambda y, x, d_y: d_y * sign(x),
    math.copysign: lambda y, a, b, d_y: (d_y * sign(a) * math.copysign(1, b), None),
    math.erf: lambda y, x, d_y: d_y * TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.erfc: lambda y, x, d_y: -d_y * TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.gamma: lambda y, x, d_y: d_y * y * digamma(x),
    math.lgamma: lambda y, x, d_y: d_y * digamma(x),
})


@adjoint(math.log, broadcasts=True)
def log_adjoint(y, x, base=None, d_y=None):
    if base is None:
        return d_y / x, None
    return d_y / (x * math.log(base)), -d_y * y / (base * math.log(base))


@adjoint(math.hypot)
def hypot_adjoint(y, *xs, d_y):
    d_ratio = divide_or_zero(d_y, y)
    return tuple(d_ratio * x for x in xs)


adjoints({
    math.fsum: lambda y, xs, d_y: like_sequence(np.full(len(xs), d_y), xs),
    math.modf: lambda y, x, d_y: d_y[0],
    math.frexp: lambda y, x, d_y: math.ldexp(d_y[0], -math.frexp(x)[1]),
})
tangents({
    math.hypot: lambda y, *xs, t_xs: divide_or_zero(sum(t * x for t, x in zip(t_xs, xs)), y),
    math.fsum: lambda y, xs, t_xs: math.fsum(t_xs),
    math.modf: lambda y, x, t_x: (t_x, 0.0),
    math.frexp: lambda y, x, t_x: (math.ldexp(t_x, -math.frexp(x)[1]), 0.0),
})

# ---- compositions of operators on Python numbers ----

composed({math.remainder: lambda x, y: float(x - y * round(x / y))})


@composed(math.dist)
def dist(p, q):
    if isinstance(p, np.ndarray) or isinstance(q, np.ndarray):
        return float(np.linalg.norm(np.asarray(p) - np.asarray(q)))
    return math.hypot(*[a - b for a, b in zip(p, q)])


@composed(math.prod)
def prod(iterable, *, start=1):
    result = start
    for x in iterable:
        result = result * x
    return result


if hasattr(math, "sumprod"):  # Python 3.12

    @composed(math.sumprod)
    def sumprod(p, q):
        result = 0
        for a, b in zip(p, q):
            result = result + a * b
        return result


if hasattr(math, "fma"):  # Python 3.13
    composed({math.fma: lambda x, y, z: x * y + z})


# ---- complex numbers ----

composed({
    cmath.exp: lambda z: complex(np.exp(complex(z))),
    cmath.sqrt: lambda z: complex(np.sqrt(complex(z))),
    cmath.log10: lambda z: complex(np.log10(complex(z))),
    cmath.sin: lambda z: complex(np.sin(complex(z))),
    cmath.cos: lambda z: complex(np.cos(complex(z))),
    cmath.tan: lambda z: complex(np.tan(complex(z))),
    cmath.asin: lambda z: complex(np.arcsin(complex(z))),
    cmath.acos: lambda z: complex(np.arccos(complex(z))),
    cmath.atan: lambda z: complex(np.arctan(complex(z))),
    cmath.sinh: lambda z: complex(np.sinh(complex(z))),
    cmath.cosh: lambda z: complex(np.cosh(complex(z))),
    cmath.tanh: lambda z: complex(np.tanh(complex(z))),
    cmath.asinh: lambda z: complex(np.arcsinh(complex(z))),
    cmath.acosh: lambda z: complex(np.arccosh(complex(z))),
    cmath.atanh: lambda z: complex(np.arctanh(complex(z))),
    cmath.phase: lambda z: float(np.angle(complex(z))),
    cmath.polar: lambda z: (abs(complex(z)), float(np.angle(complex(z)))),
    cmath.rect: lambda r, phi: complex(r * math.cos(phi), r * math.sin(phi)),
})
composed({complex: lambda real=0.0, imag=0.0: complex(real + 1j * imag)}, given="imag")


@composed(cmath.log)
def complex_log(z, base=None):
    if base is None:
        return complex(np.log(complex(z)))
    return complex(np.log(complex(z)) / np.log(complex(base)))
