"""Dicts as scripts use them: keys that are known only at run time."""

from collections import defaultdict

import numpy as np

from tests.programs import program

X = np.array([0.7, -1.3, 2.1, 0.4, 1.9])

@program(args=(X,), level="python")
def dict_group(x):
    groups = {"even": [], "odd": []}
    for i, e in enumerate(x):
        groups["even" if i % 2 == 0 else "odd"].append(e * (i + 1))
    return sum(groups["even"]) * sum(groups["odd"])


@program(args=(X,), level="python")
def dict_comp_zip(x):
    d = {k: v * 2 for k, v in zip("abcde", x)}
    return d["a"] * d["c"] + sum(d.values())


@program(args=(X,), level="python")
def dd_int(x):
    d = defaultdict(float)
    for i, e in enumerate(x):
        d[i % 2] += e ** 2
    return d[0] * d[1]


@program(args=(X,), level="python")
def dd_list(x):
    d = defaultdict(list)
    for i, e in enumerate(x):
        d[i % 3].append(e)
    s = 0.0
    for k, v in d.items():
        s += (k + 1) * sum(v) ** 2
    return s


@program(args=(X, np.array([0, 2, 1, 0, 2]),), level="python")
def rt_keys(x, labels):
    d = {}
    for e, l in zip(x, labels):
        if l not in d:
            d[l] = 0.0
        d[l] = d[l] + e * e
    s = 0.0
    for k in d:
        s += d[k] ** 2 * (k + 1)
    return s


@program(args=(X, np.array([0, 2, 1, 0, 2]),), level="python")
def rt_get(x, labels):
    d = {}
    for e, l in zip(x, labels):
        d[l] = d.get(l, 1.0) * e
    return sum(v ** 2 for v in d.values())


@program(args=(X, np.array([0, 2, 1, 0, 2]),), level="python")
def rt_setdefault(x, labels):
    d = {}
    for e, l in zip(x, labels):
        d.setdefault(l, []).append(e)
    return sum(np.prod(np.array(v)) for v in d.values())


@program(args=(1.3, 7,), level="python")
def memo_dict_rt(x, n):
    memo = {0: 1.0, 1: x}
    for i in range(2, n + 1):
        memo[i] = memo[i - 1] * x + memo[i - 2]
    return memo[n]


@program(args=(X, 3,), level="python")
def dict_tuple_keys_rt(x, n):
    d = {}
    for i in range(n):
        for j in range(2):
            d[i, j] = x[i] * x[j + 1]
    return d[1, 1] + d[2, 0] * d[0, 1]


@program(args=(X,), level="python")
def dict_max_key(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    best = max(d, key=d.get)
    return d[best] ** 2


@program(args=(X,), level="python")
def dict_sorted_items(x):
    d = {"b": x[0], "a": x[1], "c": x[2]}
    s = 0.0
    for k, (n, v) in enumerate(sorted(d.items())):
        s += (k + 1) * v
    return s ** 2


@program(args=(X,), level="python")
def fstr_key(x):
    params = {f"w{i}": x[i] for i in range(3)}
    s = 0.0
    for i in range(3):
        s += params[f"w{i}"] ** (i + 1)
    return s


@program(args=(X, ["a", "b", "a", "c", "b"],), level="python")
def str_keys(x, names):
    d = {}
    for n, e in zip(names, x):
        if n in d:
            d[n] += e
        else:
            d[n] = e * 2
    return sum(v * v for v in d.values()) + len(d)


@program(args=(X,), level="python")
def new_key_in_loop(x):
    d = {}
    for e in x:
        if "a" not in d:
            d["a"] = e
        else:
            d["a"] += e * e
    return d["a"]


@program(args=(X,), level="python")
def new_key_in_branch(x):
    d = {"b": x[1]}
    if x[0] > 100:
        d["a"] = x[0]
    return len(d) * x[0] + sum(d.values())


@program(args=(X,), level="python")
def new_key_in_branch2(x):
    d = {"b": x[1]}
    if x[0] > 100:
        d["a"] = x[0]
    s = 0.0
    for k in d:
        s += x[0] ** 2
    return s * ("a" in d) + s


@program(args=(X,), level="python")
def new_key_in_loop_len(x):
    d = {}
    s = 0.0
    for e in x:
        s += len(d) * e
        d["q"] = e
    return s


@program(args=(X,), level="python")
def pop_in_branch(x):
    d = {"b": x[1], "a": x[0]}
    if x[0] > 0:
        d.pop("a")
    return len(d) * x[0]


@program(args=(X,), level="python")
def update_in_loop(x):
    d = {"a": 1.0}
    s = 0.0
    for e in x:
        s += len(d) * e
        d.update(z=e)
    return s


@program(args=(X, ["a", "b", "a", "c", "c"],), level="python")
def nested_append_pop(x, names):
    d = {}
    for n, e in zip(names, x):
        d.setdefault(n, [e]).append(e * e)
    s = 0.0
    for n in ["a", "b", "c"]:
        s += d[n].pop() * d[n][0]
    d["a"].insert(0, x[1])
    s += d["a"].pop(1)
    return s * len(d["a"])


@program(args=(X, 3,), level="python")
def dict_arrays_elem(x, n):
    d = {}
    for i, e in enumerate(x):
        if i % n not in d:
            d[i % n] = np.zeros(5)
        d[i % n][i] = e * x[0]
        d[i % n][0] += e * x[1]
    return sum(v @ v for v in d.values())


@program(args=(X, 3,), level="python")
def dict_overwritten(x, n):
    d = {}
    for i in range(5):
        d[i % n] = x[i] ** 2 + d.get((i + 1) % n, 0.0)
    for k in list(d):
        d[k] = d[k] * 2
    return d[0] * d[1] * d[2]


@program(args=(X, 0,), level="python")
def dict_empty(x, n):
    d = {}
    for i in range(n):
        d[i] = x[i]
    return sum(d.values()) + x[0] + len(d)


@program(args=(X, 2,), level="python")
def dict_pop_rt(x, n):
    d = {}
    for i in range(5):
        d[i] = x[i] ** 2
    s = 0.0
    for i in range(0, 5, n):
        s = s * 0.5 + d.pop(i)
    del d[1]
    return s + sum(d.values()) * len(d) + d.pop(77, x[0])


@program(args=({"a": 1.5, "b": -0.3, "c": 2.0}, ["a", "c", "a"],), level="python")
def dict_param(p, names):
    s = 0.0
    for n in names:
        s += p[n] ** 2
        p[n] = p[n] * 2
    return s + p["b"] * p["a"]


@program(args=(X, 2,), level="python")
def dict_tuple_vals(x, n):
    d = {}
    for i, e in enumerate(x):
        d[i % n] = (e, e * e)
    a, b = d[0]
    return a * b + d[1][1]


@program(args=(X, 3,), level="python")
def dict_of_dicts(x, n):
    d = {}
    for i in range(n):
        d[i] = {}
        for j in range(2):
            d[i][j] = x[i] * x[j]
    return d[1][1] + d[2][0]
