"""Lower `np.poly1d` like a Python class that holds the coefficients, the highest power first."""

from collections.abc import Callable

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.stdlib_classes import class_in_python
from sourcead.frontend.core import Lowering, Value


@class_in_python
class poly1d:
    """A polynomial, whose coefficients begin with the first that is not zero."""

    def __init__(self, c_or_r, r=False, variable=None):
        found = c_or_r.coeffs if isinstance(c_or_r, np.poly1d) else np.poly(c_or_r) if r else np.atleast_1d(c_or_r)
        self.coeffs = np.concatenate((np.trim_zeros(found[:-1], "f"), found[-1:]))

    @property
    def c(self):
        return self.coeffs

    @property
    def coef(self):
        return self.coeffs

    @property
    def coefficients(self):
        return self.coeffs

    @property
    def order(self):
        return len(self.coeffs) - 1

    @property
    def o(self):
        return len(self.coeffs) - 1

    @property
    def roots(self):
        return np.roots(self.coeffs)

    @property
    def r(self):
        return np.roots(self.coeffs)

    def __call__(self, val):
        if isinstance(val, np.poly1d):
            found = poly1d([0.0])
            for coefficient in self.coeffs:
                found = found * val + coefficient
            return found
        return np.polyval(self.coeffs, val)

    def __len__(self):
        return len(self.coeffs) - 1

    def __iter__(self):
        return iter(self.coeffs)

    def __getitem__(self, power):
        return self.coeffs[len(self.coeffs) - 1 - power] if 0 <= power < len(self.coeffs) else 0

    def __eq__(self, other):
        return isinstance(other, np.poly1d) and len(self.coeffs) == len(other.coeffs) and np.all(self.coeffs == other.coeffs)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __pos__(self):
        return self

    def __mul__(self, other):
        return poly1d(np.polymul(self.coeffs, other.coeffs) if isinstance(other, np.poly1d) else self.coeffs * other)

    def __rmul__(self, other):
        return poly1d(np.polymul(other, self.coeffs) if isinstance(other, list | np.ndarray) else other * self.coeffs)

    def __add__(self, other):
        return poly1d(np.polyadd(self.coeffs, other.coeffs if isinstance(other, np.poly1d) else other))

    def __radd__(self, other):
        return poly1d(np.polyadd(other, self.coeffs))

    def __sub__(self, other):
        return poly1d(np.polysub(self.coeffs, other.coeffs if isinstance(other, np.poly1d) else other))

    def __rsub__(self, other):
        return poly1d(np.polysub(other, self.coeffs))

    def __pow__(self, exponent):
        found = poly1d([1.0])
        for _ in range(exponent):
            found = found * self
        return found

    def __truediv__(self, other):
        if isinstance(other, np.poly1d):
            q, r = np.polydiv(self.coeffs, other.coeffs)
            return poly1d(q), poly1d(r)
        return poly1d(self.coeffs / other)

    def deriv(self, m=1):
        return poly1d(np.polyder(self.coeffs, m))

    def integ(self, m=1, k=None):
        return poly1d(np.polyint(self.coeffs, m, k))


core.REAL_CLASSES[poly1d] = np.poly1d
core.builtin(np.poly1d)(lambda lo, args, kwargs, node: core.call_object(lo, poly1d, args, kwargs, node))


def from_outside(lo: Lowering, polynomial: np.poly1d) -> Value:
    """Return what stands for a polynomial that was made before the function is called."""
    coeffs = core.live_data(lo, "coeffs", polynomial.coeffs, (polynomial, "coeffs"))
    return lo.known_object(poly1d, {"coeffs": coeffs}, "polynomial")


core.MADE_FROM[np.poly1d] = from_outside


def of_objects(fn: Callable, name: str) -> Callable:
    """Return the handler of a function of NumPy that is the method `name` of such a polynomial."""

    def handler(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
        if not any(core.class_of(a) is poly1d for a in args):
            return core.call_library(lo, fn, args, kwargs, node)
        first = args[0] if core.class_of(args[0]) is poly1d else core.call_object(lo, poly1d, args[:1], {}, node)
        return core.call(lo, core.attribute(lo, first, name, node), args[1:], kwargs, node)

    return handler


METHODS = {
    np.polyder: "deriv", np.polyint: "integ", np.polyadd: "__add__", np.polysub: "__sub__", np.polymul: "__mul__", np.polydiv: "__truediv__"
}
for _fn, _name in METHODS.items():
    core.builtin(_fn)(of_objects(_fn, _name))
