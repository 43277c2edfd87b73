"""Arrays in lists, dicts and closures that are written later, and what was once differentiated wrong."""

import collections

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=normal((3,)), wrt=0, level="python")
def list_of_rows_written(x):
    grid = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        grid[i][i] = x[i]
        grid[i] += x * 0.5
    return sum(np.sum(g**2) for g in grid)


@program(args=normal((3,)), wrt=0, level="python")
def multiplied_list_shares(x):
    row = [0.0] * 3
    grid = [row] * 2
    for i in range(3):
        grid[0][i] += x[i]
    return sum(g[1] ** 2 for g in grid)


@program(args=lambda rng: ({"w": rng.normal(size=3), "b": 0.5}, rng.normal(size=(4, 3))), wrt=(0, 1), level="python")
def sgd_on_dict_in_place(params, x):
    for row in x:
        err = params["w"] @ row + params["b"] - 1.0
        params["w"] -= 0.1 * err * row
        params["b"] -= 0.1 * err
    return np.sum(params["w"] ** 2) + params["b"]


@program(args=lambda rng: ([rng.normal(size=3), rng.normal(size=3)],), wrt=0, level="python")
def list_argument_in_place(ps):
    for p in ps:
        p *= 2
    ps[0] += ps[1]
    ps.append(ps[0] * ps[1])
    return sum(np.sum(p) for p in ps)


@program(args=normal((3,), 0.5), wrt=(0, 1), level="python")
def nonlocal_state(x, k):
    total = 0.0

    def add(e):
        nonlocal total
        total = total * k + e

    for e in x:
        add(e)
    return total


@program(args=normal((3,)), wrt=0, level="python")
def closure_array_counter(x):
    state = np.zeros(2)

    def push(e):
        state[0] += e
        state[1] = state[1] * 0.5 + state[0]

    for e in x:
        push(e)
    return state[0] * state[1]


@program(args=normal((4,)), wrt=0)
def out_argument(x):
    buf = np.empty(4)
    np.multiply(x, 2, out=buf)
    np.sin(buf, out=buf)
    np.add(buf, x, buf)
    np.dot(np.outer(buf, x), buf, out=(r := np.empty(4)))
    return np.sum(buf) + np.sum(r)


@program(args=normal((5,), (3,)), wrt=(0, 1))
def histogram_add_at(x, w):
    h = np.zeros(4)
    np.add.at(h, np.array([0, 2, 2]), w * x[:3])
    np.subtract.at(h, [1, 1], x[3:])
    np.maximum.at(h, [0], 0.1)
    return np.sum(h**2)


@program(args=normal((5,)), wrt=0)
def put_take_where(x):
    y = x.copy()
    np.put(y, [0, 2], x[1] * 2)
    idx = np.argsort(x)
    z = np.take(y, idx)
    inv = np.empty(5, dtype=int)
    inv[idx] = np.arange(5)
    return np.sum(z[inv] * x) + np.sum(np.where(x > 0)[0] * x[0]) + np.sum(x[np.nonzero(x > 0)])


@program(args=normal((4, 2)), wrt=0, level="python")
def dict_of_arrays_loop(p):
    bank = {"a": p[0], "b": p[1]}
    bank["c"] = bank["a"] * bank["b"]
    for k in ("a", "b"):
        bank[k] = bank[k] + bank["c"]
    out = {k: np.sum(val**2) for k, val in bank.items()}
    del out["a"]
    return sum(out.values()) + (out["b"] if "b" in out else 0)


@program(args=normal((6,)), wrt=0, level="python")
def defaultdict_groups(x):
    groups = collections.defaultdict(list)
    for i, e in enumerate(x):
        groups[i % 3].append(e)
    return sum(np.prod(np.array(g)) for g in groups.values())


@program(args=normal((4,), 3))
def mask_of_what_it_writes(b, n):
    for _ in range(n):
        m = b < 1.16
        b[m] += b[m] * b[0]
    return np.sum(b)


@program(args=normal((5,)))
def reversed_added_to_itself(a):
    a += a[::-1]
    return np.sum(a) + a[1] * a[0]


@program(args=normal((3,), (3,)), wrt=(0, 1))
def joined_by_brackets(a, b):
    padded = np.r_[0.0, a, b[-1]]
    table = np.c_[a, b]
    return np.sum(np.diff(padded) ** 2) + np.sum(table.T @ table)


@program(args=normal((2,)))
def number_taken_from_an_array_of_unknown_dtype(x):
    z = np.array([1.0, 2.0], dtype=np.float32) if x[0] > 5 else x * 2
    w = z[0]  # a number: what is written later does not change it
    z *= 2.0
    return w * w + np.sum(z)


@program(args=normal((2,)), level="refuse", or_right=True)
def item_of_an_array_of_unknown_rank(x):
    z = np.array([x, x]) if x[0] > 5 else x * 2
    w = z[0]  # a number here, a view on the other path
    z *= 2.0
    return np.sum(w * w) + np.sum(z)


@program(args=(2.0,))
def array_without_axes_read_and_changed(x):
    z = np.array(x)
    w = z[()]
    z += 0.5 * x
    return z + w * w


@program(args=lambda rng: (rng.normal(size=3).astype(np.float32), rng.normal(size=3), 2), wrt=0)
def single_precision_kept_by_adding_in_place(a, b, n):
    a += b if n > 1 else a
    return np.sum(a * a)


@program(args=lambda rng: (0.3, rng.normal(size=3).astype(np.float32)), wrt=(0, 1), tolerance=1e-2)
def number_written_into_single_precision(x, v):
    v[-1] += x
    return np.sum(v * v)


@program(args=normal((2,)))
def tuples_written_into_rows(x):
    A = np.zeros((2, 3))
    A[0] = x[0], x[1] * 2, 3
    A[1, :2] = [x[0] * x[1], 1.0]
    A[1, 1:] += (x[0], x[1])
    return np.sum(A * A)


@program(args=normal((3, 2)))
def every_index(x):
    y = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        y[index] = np.sin(x[index]) * y[0, 0] + x[index]
    return np.sum(y)


@program(args=normal((2,)), level="python")
def items_replaced_ahead_of_the_loop(x):
    items = [x * 1.0, x * 2.0]
    total = 0.0
    for item in items:
        item[0] += 0.3
        items[1] = items[1] ** 2
        total += np.sum(item) * 2
    return total + np.sum(items[1])


@program(args=normal((2,)), level="python")
def values_replaced_ahead_of_the_loop(x):
    named = {"a": x * 1.0, "b": x * 2.0}
    total = 0.0
    for value in named.values():
        named["b"] = named["b"] * value
        total += np.sum(value)
    return total


@program(args=normal((2,)), level="refuse", or_right=True)
def pairs_replaced_ahead_of_the_loop(x):
    items = [x * 1.0, x * 2.0]
    total = 0.0
    for k, item in enumerate(items):
        items[1] = items[1] ** 2
        total += np.sum(item) * k
    return total


@program(args=normal((3, 3)))
def saved_value_asked_for_its_shape_in_one_arm(b):
    s = 0.0
    for k in range(3):
        s += np.sum(np.tanh(b) ** 3) * np.sum(np.tanh(b) if k > 0 else b)
    return s


@program(args=normal((3,), 2.0), wrt=(0, 1))
def array_that_shrinks_in_a_loop(x, k):
    c = x * 2.0
    for _ in range(2):
        c[:-1] = k * c[:-1] + c[1:]
        c = c[:-1]
    return c[0]
