"""Lists whose length is known only at run time, and their methods."""

import numpy as np

from tests.programs import program

X = np.array([0.7, -1.3, 2.1, 0.4, 1.9])

@program(args=(X,), level="python")
def star_unpack_sorted(x):
    best, *others = sorted(x, reverse=True)
    return best ** 2 + sum(others)


@program(args=(X,), level="python")
def star_unpack_array(x):
    a, *b, c = x
    return a * c + sum(b) ** 2


@program(args=(X,), level="python")
def sorted_key(x):
    s = sorted([(e, i) for i, e in enumerate(x)], key=lambda t: -t[0])
    return sum(e * (k + 1) for k, (e, i) in enumerate(s))


@program(args=(X,), level="python")
def list_sort(x):
    log = [e * e for e in x]
    log.sort(reverse=True)
    return log[0] * log[1] + log[-1]


@program(args=(X,), level="python")
def min_key(x):
    return min(x, key=lambda e: abs(e - 1)) ** 2 + max(x, key=abs) * x[0]


@program(args=(X,), level="python")
def max_default(x):
    log = [e for e in x if e > 100]
    return max(log, default=x[0]) ** 2


@program(args=(X,), level="python")
def max_gen(x):
    return max(e * e for e in x) + min(abs(e) for e in x)


@program(args=(X,), level="python")
def list_slice_assign(x):
    l = [x[0], x[1], x[2]]
    l[0:2] = [x[3], x[4] ** 2]
    return l[0] * l[1]


@program(args=(X,), level="python")
def list_insert_rt(x):
    l = []
    for e in x:
        l.insert(0, e * e)
    return l[0] * l[1] + l[-1]


@program(args=(X,), level="python")
def list_pop0_rt(x):
    l = [e * 2 for e in x]
    s = 0.0
    while len(l) > 1:
        a = l.pop(0)
        s += a * l[0]
    return s


@program(args=(X,), level="python")
def list_pop_i(x):
    l = [e * 2 for e in x]
    a = l.pop(1)
    b = l.pop(-2)
    return a * b + sum(l)


@program(args=(X,), level="python")
def list_reverse_rt(x):
    l = []
    for e in x:
        l.append(e ** 2)
    l.reverse()
    return l[0] * 3 + l[1] * l[2]


@program(args=(X,), level="python")
def list_extend_list_rt(x):
    a = [e for e in x if e > 0]
    b = [e * 2 for e in x if e < 1]
    a.extend(b)
    c = a + b
    return sum(v * (i + 1) for i, v in enumerate(c))


@program(args=(X,), level="python")
def list_concat_loop(x):
    l = []
    for e in x:
        l = l + [e * e]
    return sum(v * (i + 1) for i, v in enumerate(l))


@program(args=(X,), level="python")
def list_del(x):
    l = [e for e in x]
    del l[0]
    del l[1:3]
    return l[0] * l[1]


@program(args=(X,), level="python")
def list_of_tuples(x):
    pts = [(e, e * e) for e in x]
    s = 0.0
    for a, b in pts:
        s += a * b
    xs, ys = zip(*pts)
    return s + xs[0] * ys[1]


@program(args=(X,), level="python")
def int_list_rt(x):
    l = [0] * len(x)
    for i in range(len(x)):
        l[i] = x[i] ** 2
    return sum(l) * l[1]


@program(args=(X,), level="python")
def int_table(x):
    n = len(x)
    t = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            t[i][j] = x[i] * x[j]
    return t[1][2] + t[0][0]


@program(args=(X,), level="python")
def none_table(x):
    n = len(x)
    t = [[None] * 2 for _ in range(n)]
    for i in range(n):
        for j in range(2):
            t[i][j] = x[i] * x[j]
    return t[1][1] + t[0][0]


@program(args=(X,), level="python")
def slice_copy_written(x):
    l = []
    for e in x:
        l.append(e * 2)
    m = l[1:3]
    m[0] = x[3] ** 2
    return l[1] * m[0] + m[1]


@program(args=(X,), level="python")
def slice_assign_len(x):
    l = []
    for e in x:
        l.append(e * 2)
    l[0:2] = [x[3] ** 2]
    return l[1] * l[0] + sum(l)


@program(args=(X,), level="python")
def list_bool(x):
    l = [False] * 5
    for i in range(5):
        l[i] = x[i] * 2
    return l[0] * l[2]


@program(args=(X,), level="python")
def two_products_list(x):
    l = []
    l.append(x * 2)
    l.append(x * 2)
    for i in range(5):
        l[i % 2][i] = x[i] ** 2
    return l[0] @ x + np.sum(l[1] ** 2)


@program(args=(X,), level="python")
def two_lists_in_list(x):
    l = []
    l.append([x[0]])
    l.append([x[0]])
    for i in range(5):
        l[i % 2].append(x[i] ** 2)
    return sum(l[0]) * sum(l[1]) + len(l[0])


@program(args=(X, 3,), level="python")
def rows_append(x, n):
    rows = [[] for _ in range(n)]
    for i, e in enumerate(x):
        rows[i % n].append(e * i)
    return sum(len(r) * sum(r) for r in rows) + rows[1][0] * rows[0][1]
