"""Lists and dicts.

    y = a + b (lists)      d_a = the first len(a) items of d_y,    d_b = the others
    y = d.get(k)           d_d = a dict with d_y at k

The cotangent of a dict stands for zero at each key that it lacks.
"""

import operator

from sourcead.primitives.registry import enter, linear
from sourcead.runtime import only_at, undefined, without

linear({
    operator.concat: lambda y, a, b, d_y: (d_y[: len(a)], d_y[len(a) :]),
    without: lambda y, d, key, d_y: (d_y, None),
    dict.copy: lambda y, d, d_y: d_y,
    dict.get: lambda y, d, key, default=None, d_y=None: (only_at(d_y, d, key), None, undefined("its default")),
})

# ---- memory, order and forms ----

enter(list.copy, dict.copy, memory="shallow")
enter(dict.get, memory="shared")
