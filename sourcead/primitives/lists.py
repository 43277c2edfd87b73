"""Lists and dicts.

y = a + b puts the items of `b` behind those of `a`, and the cotangents of the items come apart again.  A dict's cotangent
has zero for each key that it lacks.
"""

import operator

from sourcead.primitives.registry import adjoint, adjoints, linear
from sourcead.runtime import only_at, undefined, without


@adjoint(operator.concat)
def _(y, a, b, d_y):
    n = len(a)
    return d_y[:n], d_y[n:]


adjoints({
    without: lambda y, d, key, d_y: (d_y, None),
    dict.copy: lambda y, d, d_y: d_y,
    dict.get: lambda y, d, key, default=None, d_y=None: (only_at(d_y, d, key), None, undefined("its default")),
})

linear(operator.concat, without, dict.copy, dict.get)
