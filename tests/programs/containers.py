"""Tuples, lists, dicts, nested parameters, and values that pass through them."""

import numpy as np

from tests.programs import program


@program(args=((1.0, 2.5),))
def a_pair(p):
    x, y = p
    return x * y + x**2


@program(args=lambda rng: ([rng.normal(size=3), rng.normal(size=(2, 3)), 1.5],))
def a_list_of_mixed_things(things):
    v, m, s = things
    return s * np.sum(m @ v) + things[0][1] * things[-1]


@program(args=lambda rng: ({"w": rng.normal(size=(2, 3)), "b": rng.normal(size=2)}, rng.normal(size=3)), wrt=(0, 1))
def a_dict_of_parameters(params, x):
    return np.sum(np.tanh(params["w"] @ x + params["b"]) ** 2)


def nested_params(rng):
    layer = lambda m, n: {"w": rng.normal(size=(m, n)), "b": rng.normal(size=m)}
    return {"layers": [layer(3, 2), layer(2, 3)], "scale": 0.7, "pair": (rng.normal(size=2), 2.0)}, rng.normal(size=2)


@program(args=nested_params)
def deeply_nested_parameters(params, x):
    for layer in params["layers"]:
        x = np.tanh(layer["w"] @ x + layer["b"])
    shift, power = params["pair"]
    return params["scale"] * np.sum((x - shift) ** 2) * power


@program(args=nested_params, wrt="params", level="python")
def partly_used_parameters(params, x):
    return params["layers"][1]["w"][0] @ np.append(x, 1.0)


@program(args=lambda rng: (rng.normal(size=3),))
def tuples_come_and_go(x):
    t = (x, x * 2)
    u = t + (x.sum(),)
    a, b, c = u
    (d, e), f = (a, b), c
    return np.sum(d * e) * f + len(u) + u[-1] + u[1:][0][0]


@program(args=lambda rng: (rng.normal(size=3),))
def lists_grow_in_a_loop(x):
    states = [x]
    for i in range(3):
        states.append(np.sin(states[-1]) + states[0] * i)
    total = 0.0
    for s in states:
        total += np.sum(s**2)
    return total + states[2][1] * len(states)


@program(args=lambda rng: (rng.normal(size=4),))
def stack_of_a_list(x):
    rows = []
    for i in range(3):
        rows.append(x * i + x[i])
    m = np.array(rows)
    n = np.stack(rows, axis=1)
    return np.sum(np.tanh(m)) + np.sum((m @ n) ** 2) * 0.1


@program(args=lambda rng: (rng.normal(size=3), 0.4), wrt=(0, 1))
def array_of_scalars(x, s):
    a = np.array([s, x[0] * x[1], 2.0])
    b = np.array([[s, 1.0], [x[2], s * s]])
    return a @ x + np.sum(b @ b)


@program(args=lambda rng: (rng.normal(size=3),))
def list_items_replaced(x):
    h = [1.0, 2.0, x[0]]
    h[0] = x[1] * x[2]
    h[1] = h[0] * h[2]
    h[-1] = h[1] + h[2] ** 2
    return h[0] + h[1] * h[2]


@program(args=lambda rng: (rng.normal(size=3),))
def dict_built_step_by_step(x):
    cache = {}
    cache["a"] = x * x
    cache["b"] = cache["a"] + x
    cache["a"] = cache["a"] * cache["b"]
    return np.sum(cache["a"]) + np.sum(cache["b"] ** 2)


@program(args=lambda rng: ({"a": 1.0, "b": 2.5, "c": -0.5},))
def loop_over_a_dict(d):
    s = 0.0
    for key in d:
        s = s + d[key] ** 2
    for value in d.values():
        s = s * value + 1
    for key, value in d.items():
        if key != "b":
            s = s + value * s
    return s


@program(args=lambda rng: ([rng.normal(size=2) for _ in range(3)], [0.1, 0.2, 0.7]), wrt=(0, 1), level="python")
def parallel_lists(xs, ws):
    total = np.zeros(2)
    for x, w in zip(xs, ws):
        total = total + w * x * x
    return sum(w * np.sum(x) for x, w in zip(xs, ws)) + total @ xs[0]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def comprehensions(x):
    squares = [e * e for e in x]
    odd = [x[i] * i for i in range(4) if i % 2]
    table = [[a * b for a in x[:2]] for b in odd]
    named = {k: v * 2 for k, v in zip("abcd", squares)}
    flat = [cell for row in table for cell in row]
    return sum(squares) * sum(odd) + named["c"] * flat[3] + sum(v**2 for v in named.values())


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def list_methods(x):
    a = [x[0], x[1]]
    a.extend([x[2], 1.0])
    b = a + [x[0] * x[1]]
    b += [2.0]
    b.insert(1, x[2] ** 2)
    last = b.pop()
    first = b.pop(0)
    c = a * 2
    del c[0]
    a.reverse()
    return sum(b) * first + last * c[3] + a[0] * a[-1] * len(b)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def two_names_one_list(x):
    a = [x[0], x[1]]
    b = a
    c = a[:]
    d = list(a)
    b[0] = x[2] * 2
    b.append(x[0] ** 2)
    return a[0] * a[2] + len(a) * c[0] * d[1] + len(c) * x[0]


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def list_multiplied(x):
    rows = [[0.0] * 3 for _ in range(2)]
    rows[0][1] = x[0] * x[1]
    rows[1][2] = rows[0][1] * x[2]
    shared = [[0.0] * 2] * 2  # one inner list, twice
    shared[0][1] = x[0]
    return rows[0][1] + rows[1][2] ** 2 + rows[1][1] + shared[1][1] * x[2]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def star_unpacking(x):
    first, *middle, last = [x[0] * 2, x[1], x[2], x[3] ** 2]
    head, *rest = x
    args = (*middle, first)
    return first * last + middle[0] * middle[1] + sum(rest) * head + args[2] + max(*middle) * min(args)


@program(args=lambda rng: ({"a": 2.0, "b": rng.normal(size=2)}, {"b": rng.normal(size=2), "c": 1.5}), wrt=(0, 1), level="python")
def merged_dicts(p, q):
    m = {**p, **q}
    n = p | q
    n.update(a=m["a"] * 3)
    return m["a"] * n["a"] * np.sum(m["b"] ** 2) + n.get("c") + n.get("d", 2.0) * p["b"][0] + n.pop("c") ** 2 + ("a" in n) * p["a"]


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def dict_of_lists(x):
    groups = {"even": [], "odd": []}
    for i, e in enumerate(x):
        groups["even" if i % 2 == 0 else "odd"].append(e * (i + 1))
    counts = {}
    for i in (0, 1, 0, 2):
        counts[i] = counts.get(i, 0.0) + x[i] ** 2
    return sum(groups["even"]) * groups["odd"][0] + counts[0] * counts[2]


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def list_as_a_queue(x):
    queue = [x[0], x[1], x[2]]
    s = 0.0
    while queue:
        e = queue.pop()
        s = s * 0.5 + e * e
        if len(queue) == 1 and s < 100 and e != 0:
            s = s + e
    return s


@program(args=lambda rng: ((rng.normal(size=2), [rng.normal(size=2), (1.5, {"k": rng.normal(size=3)})]),))
def a_tuple_of_lists_of_tuples(tree):
    a, (b, (s, d)) = tree
    return a @ b * s + np.sum(d["k"] ** 3)


@program(args=lambda rng: ([1.0, 2.0, 3.0],))
def integer_like_list(c):
    n = len(c)
    s = 0
    for i in range(n):
        s += c[i] * c[n - 1 - i] * (i + 1)
    return s


@program(args=lambda rng: ([], rng.normal(size=2)), wrt=(0, 1))
def empty_list(hidden, x):
    for w in hidden:
        x = w @ x
    return np.sum(x * x)


@program(args=lambda rng: (rng.normal(size=3), {"power": 2, "name": "p"}))
def settings_in_a_dict(x, options):
    y = x ** options["power"]
    if options["name"] == "p":
        y = y + x
    return y.sum()


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def arrays_in_a_list_written_later(x):
    buffers = [np.zeros(3), np.ones(3)]
    for k in range(3):
        buffers[k % 2][k] = x[k] ** 2
    buffers[0] += x
    named = {"h": buffers[1]}
    named["h"][2] = x[0] * x[1]
    named["h"] *= 2.0
    return np.sum(buffers[0] * buffers[1])


@program(args=lambda rng: (rng.normal(size=(2, 2)), rng.normal(size=2)), wrt=(0, 1))
def list_of_functions_results(a, v):
    results = (a @ v, v * 2, a[0] - a[1])
    best = results[0]
    for r in results[1:]:
        best = best + np.cos(r)
    return best @ best
