"""Indexing, slicing and writes into arrays made by the function."""

import numpy as np

from tests.programs import program


def vector(rng):
    return (rng.normal(size=6),)


def matrix(rng):
    return (rng.normal(size=(4, 5)),)


@program(args=vector)
def reads(x):
    return x[0] * x[-1] + np.sum(x[1:4] * x[-4:-1]) + np.sum(x[::2] * x[1::2]) + np.sum(x[::-1] * x) + x[5:1:-2].sum() ** 2


@program(args=matrix)
def reads_of_a_matrix(a):
    s = np.sum(a[0] * a[-1]) + np.sum(a[:, 1] ** 2) + a[2, 3] * a[-1, -2]
    s += np.sum(a[1:3, ::2] ** 3) + np.sum(a[..., 0] * a[:, -1]) + np.sum(a[1][2:] * a[2, :3])
    return s + np.sum(a[None, 2:, :, None] ** 2) + np.sum(a[:, None, 0] * a[None, :, 1])


@program(args=vector)
def integer_array_reads(x):
    k = np.array([0, 2, 2, 5, 0])
    pairs = x[np.array([[0, 1], [1, 2]])]
    return np.sum(x[k] ** 2 * np.arange(1, 6)) + np.sum(x[[1, -1, 1]]) * x[3] + np.sum(pairs @ pairs)


@program(args=matrix)
def integer_array_reads_of_a_matrix(a):
    i, j = np.array([0, 1, 1, 3]), np.array([4, 2, 2, 0])
    return np.sum(a[i, j] ** 2 * np.arange(4)) + np.sum(a[i] * a[1]) + np.sum(a[:, j] ** 3) + np.sum(a[1:, [0, 0]])


@program(args=vector)
def boolean_reads(x):
    mask = x > 0.1
    return np.sum(x[mask] ** 2) + np.sum(x[~mask] * 3) + np.sum(x[np.abs(x) > 100])


@program(args=vector)
def fills_a_fresh_array(x):
    out = np.zeros(6)
    for i in range(6):
        out[i] = np.sin(x[i]) * i
    return np.sum(out * out)


@program(args=vector, level="python")
def empty_like_is_filled(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] ** 2 if i % 2 else x[i] * x[0]
    return out @ x


@program(args=vector)
def overwritten_after_the_read(x):
    y = x * x
    a = y[0]
    s = np.sum(y**2)
    y[0] = 3.0
    y[1:3] = 0
    return a * s + np.sum(y**3)


@program(args=vector)
def read_modify_write(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1] + np.cos(y[i])
    return y[-1] * y[2]


@program(args=vector)
def augmented_elements(x):
    y = np.ones(6)
    y[0] += x[0]
    y[1] -= x[1] ** 2
    y[2] *= x[2] + y[0]
    y[3] /= 2 + x[3] ** 2
    y[4] **= 2
    y[5] *= y[2]
    y[:2] *= x[4:]
    return np.sum(y * y)


@program(args=matrix)
def rows_and_columns_written(a):
    m = np.zeros_like(a)
    m[0] = a[1] * 2
    m[:, 2] = a[:, 0] ** 2
    m[1, 1:4] = a[2, :3] * m[0, 2:]
    m[-1] += a[0]
    m[2:, ::2] -= a[:2, ::2] * a[0, 0]
    return np.sum(m * m * a)


@program(args=vector)
def broadcast_into_a_slice(x):
    m = np.zeros((3, 6))
    m[:] = x
    m[1:] = x[0] * x[1]
    m[:, 0] = x[:3]
    m[:, 1:2] = x[3:, None]
    m[0, 2:] = 5
    m[...] += x
    return np.sum(m**2)


@program(args=vector)
def integer_array_writes(x):
    y = np.zeros(6)
    y[np.array([0, 2, 5])] = x[:3] ** 2
    y[[1, 3]] = x[0]
    y[[4, 4]] = x[1:3]  # the last one stays
    y[np.array([0, 1, 1])] += x[3:]  # once each
    return np.sum(y * y)


@program(args=vector)
def boolean_writes(x):
    y = x * 1.5
    y[y > 0.2] = 0.0
    y[x < -0.3] *= x[0]
    z = np.where(x > 0, x, 0.0)
    z[np.array([True, False] * 3)] = x[:3] ** 2
    return np.sum(y * y) + np.sum(z * y)


@program(args=lambda rng: (rng.normal(size=(4, 4)),), level="python")
def diagonal_written(a):
    m = a @ a
    i = np.arange(4)
    m[i, i] = np.diag(a) ** 2
    m[np.triu_indices(4, 1)] = 0.0
    m[i[:2], 3 - i[:2]] += a[0, :2]
    return np.sum(m * m)


@program(args=vector)
def saved_array_overwritten_in_a_loop(x):
    y = x.copy()
    s = 0.0
    for i in range(4):
        s = s + np.sum(np.sin(y))
        y[i] = y[i + 1] ** 2 * y[i]
    return s * y[0]


@program(args=lambda rng: (rng.normal(size=4), 5), also=(lambda rng: (rng.normal(size=4), 0),))
def array_carried_and_written(x, n):
    y = np.zeros(4)
    for t in range(n):
        y[t % 4] = np.tanh(y[(t + 1) % 4] + x[t % 4])
        y[0] = y[0] * 0.9
    return np.sum(y * x)


@program(args=lambda rng: (rng.normal(size=5).astype(np.float32),))
def single_precision_buffer(x):
    out = np.zeros(5, dtype=x.dtype)
    out[0] = x[0]
    for i in range(1, 5):
        out[i] = out[i - 1] * 0.5 + x[i] ** 2
    return out.sum()


@program(args=lambda rng: (rng.normal(size=3),), tags=("zero",), level="python")
def integer_buffer_truncates(x):
    counts = np.zeros(3, dtype=int)
    counts[0] = x[0] * 3
    counts[1:] = 10 * x[1:]
    return counts.sum() * 1.0


@program(args=lambda rng: (rng.normal(size=3) * 10,), level="python")
def integer_buffer_by_accident(x):
    y = np.array([0, 0, 0])
    y[1] = x[1]
    z = np.full(3, 0)
    z[:] = x
    w = np.zeros_like(np.arange(3))
    w[2] = x[0]
    return np.sum(y) + np.sum(z) + np.sum(w) + x[2] ** 2


@program(args=vector)
def same_element_twice(x):
    y = np.zeros(2)
    y[0] = x[0]
    y[0] = y[0] * y[0]
    y[0] = y[0] * y[0] + x[1]
    y[1] = y[0]
    y[0] = 7.0
    return y[0] * y[1] * x[2]


@program(args=lambda rng: (rng.normal(size=(3, 3)),))
def triangular_writes(a):
    b = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            b[i, j] = a[i, j] * a[j, i]
            if i != j:
                b[j, i] = b[i, j] ** 2
    return np.sum(b * a)


@program(args=lambda rng: (rng.normal(size=7),))
def stencil_three_points(u):
    for _ in range(3):
        v = u.copy()
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u = v
    return np.sum(u**2)


@program(args=lambda rng: (rng.normal(size=7),))
def stencil_in_place(x):
    u = x * 1.0
    for t in range(3):
        for i in range(1, len(u) - 1):
            u[i] = 0.3 * u[i - 1] + 0.4 * u[i] + 0.3 * u[i + 1]
    return u @ u


@program(args=lambda rng: (rng.normal(size=7),))
def overlapping_slices(x):
    u = np.sin(x)
    u[1:] = u[:-1] * u[1:]
    u[:-1] += u[1:]
    u[::-1] = u * u
    u[2:5] = u[1:4]
    return np.sum(u * x)


@program(args=lambda rng: (rng.normal(size=(2, 3)), 4), level="python")
def history_as_a_matrix(w, steps):
    history = np.zeros((steps + 1, 3))
    history[0] = w[0]
    for t in range(steps):
        history[t + 1] = np.tanh(history[t] * w[1]) + history[max(t - 1, 0)] * 0.1
    return np.sum(history[-1] ** 2) + history[1:, 0].mean()


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(4, 4))), wrt=(0, 1))
def matrix_vector_by_hand(x, a):
    y = np.zeros(4)
    for i in range(4):
        acc = 0.0
        for j in range(4):
            acc += a[i, j] * x[j]
        y[i] = acc
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(3, 2))), wrt=(0, 1))
def matrix_product_by_hand(a, b):
    c = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(3):
                c[i, j] += a[i, k] * b[k, j]
    return (c * c).sum()


@program(args=vector, also=(lambda rng: (np.ones(6),),))
def argument_overwritten(x):
    x[0] = x[1] * x[2]
    x[3:] *= 2
    return np.sum(x**2)


@program(args=vector)
def argument_overwritten_in_a_loop(x):
    for i in range(1, 6):
        x[i] += x[i - 1] * x[i]
    return x.sum()


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=1)
def other_argument_overwritten(buffer, x):
    buffer[:] = x * x
    buffer[0] += 1
    return buffer @ x


@program(args=lambda rng: ([rng.normal(size=2), 1.0], {"a": rng.normal(size=2)}), wrt=(0, 1), level="python")
def containers_overwritten(p, q):
    p[0][1] = p[1] ** 2
    p[1] = p[0][0] * 3
    q["a"] *= p[0]
    q["b"] = q["a"] + 1
    p.append(q["b"])
    return np.sum(q["b"] * p[0]) * p[1] + p[2][0]


@program(args=vector)
def zero_length_writes(x):
    y = x * x
    y[3:3] = x[2:2]
    y[6:] += 5
    for i in range(len(y), 6):
        y[i] = 0
    return np.sum(y)


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def write_by_np_functions(x):
    y = np.zeros(5)
    np.add.at(y, [0, 1, 1, 4], x[:4] ** 2)
    np.add(y, x, out=y)
    np.multiply(x, 2.0, y[:])
    z = np.empty(5)
    np.exp(y, out=z)
    w = np.zeros((2, 5))
    np.tanh(x, out=w[1])
    w[0].fill(3.0)
    np.copyto(y, x[::-1])
    np.subtract.at(y, np.array([2, 2]), x[0])
    return np.sum(y * z) + np.sum(w**2 * x)


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def sorted_in_place(x):
    y = x * 2
    y.sort()
    z = np.zeros(5)
    z.fill(x[2])
    z[1] = y[0]
    return np.sum(y * np.arange(5)) + np.sum(z * z)


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def swaps(x):
    a = x * 2
    a[0], a[1] = a[1], a[0] * a[1]
    a[[2, 3]] = a[[3, 2]]
    b = a.copy()
    a, b = b * 2, a
    i = 0
    i, a[i] = 2, 5.0  # the target's index is read after i was set
    tmp = a[4]
    a[4] = a[0]
    a[0] = tmp
    return np.sum(a * np.arange(1, 6)) * b[0] + b[1] + a[2] * b[3]


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def row_swap_of_views(x):
    a = x * 1.0
    a[0], a[2] = a[2], a[0]  # the classic mistake: views, so row 2 is written twice with the same row
    b = x * 1.0
    b[[0, 2]] = b[[2, 0]]
    return np.sum(a * np.arange(9).reshape(3, 3)) + np.sum(b * b * np.arange(3))


@program(args=lambda rng: (rng.normal(size=(3, 4)), np.array([0, 2, 2, 1])), wrt=0)
def scatter_by_hand(values, group):
    sums = np.zeros((3, 3))
    for j in range(4):
        sums[group[j]] += values[:, j]
    return np.sum(sums**2 * np.arange(3))


@program(args=lambda rng: (rng.normal(size=6),), tags=("zero",))
def everything_overwritten(x):
    y = x * x
    y[:] = 1.0
    y[0] = 2.0
    return y.sum()


@program(args=lambda rng: (rng.normal(size=(2, 3, 2)),), level="python")
def three_axes(t):
    u = np.zeros((3, 2, 2))
    for k in range(2):
        u[:, k, :] = t[k] ** 2
        u[..., k] += t[:, :, k].T
    u[1, ..., 0] *= t[0, 0, 0]
    u[0][1][0] = t[1, 1, 1] ** 2  # a write through two views
    return np.sum(u**2)


@program(args=lambda rng: (rng.normal(size=4), 2))
def index_computed_from_data(x, k):
    y = np.zeros(4)
    y[k] = x[k - 1]
    j = int(np.argmax(np.abs(x)))
    y[j] += x[j] ** 2
    y[(k * 3 + 1) % 4] += x[k // 2]
    return np.sum(y * x)
