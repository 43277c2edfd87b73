"""Lists: y = a + b puts the items of `b` behind those of `a`, and the cotangents of the items come apart again."""

import operator

from sourcead.rules.registry import adjoint


@adjoint(operator.concat)
def _(y, a, b, d_y):
    n = len(a)
    return d_y[:n], d_y[n:]
