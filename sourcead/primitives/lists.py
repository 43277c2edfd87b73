"""Rules of lists and dicts.

    y = a + b (lists)      d_a = the first len(a) items of d_y,    d_b = the others
    y = d.get(k)           d_d = a dict with d_y at k

A key that is missing in the cotangent of a dict has a cotangent of zero.
"""

import collections
import operator

from sourcead.primitives.registry import enter, linear
from sourcead.runtime import only_at, undefined, without

linear({
    without: lambda y, d, key, d_y: (d_y, None),
    dict.copy: lambda y, d, d_y: d_y,
    collections.OrderedDict: lambda y, d, d_y: d_y,
    collections.defaultdict: lambda y, factory, d, d_y: (None, d_y),
    dict.get: lambda y, d, key, default=None, d_y=None: (only_at(d_y, d, key), None, undefined("its default")),
})


@linear(operator.concat)
def concat_adjoint(y, a, b, d_y):
    n = len(a)
    return d_y[:n], d_y[n:]


# ---- memory, order and forms ----

enter(list.copy, dict.copy, collections.OrderedDict, collections.defaultdict, memory="shallow")
enter(dict.get, memory="shared")
