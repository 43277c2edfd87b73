"""Who shares memory with whom: aliases, views, writes through them, callees that write."""

import numpy as np

from tests.programs import program


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def alias_written(x):
    a = x * 2
    b = a
    b[0] = x[1] * x[2]
    return np.sum(a * a)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def alias_then_rebound(x):
    a = x * 2
    b = a
    a = a + 1  # a new array: b stays
    a[0] = 0.0
    b[1] = x[0] ** 2
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def augmented_under_both_names(x):
    a = x * 2
    b = a
    a += x
    a *= 3
    s = 1.0
    t = s
    s += x[0]  # a number is rebound
    return np.sum(a * b) + t * s


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def alias_of_an_argument(x):
    y = x
    y[0] = 5 * x[1]
    x[2] = y[0] * y[1]
    return np.sum(x * y)


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def augmented_argument(x):
    y = x
    y += 1
    y **= 2
    return np.sum(x * np.array([1.0, 2.0, 3.0]))


@program(args=lambda rng: (rng.normal(size=(3, 4)),), level="python")
def row_view_written(x):
    a = np.sin(x)
    row = a[1]
    row[:] = x[0] * 2
    row[0] = 9.0
    column = a[:, 2]
    column *= x[:, 1]
    block = a[1:, 1:3]
    block[0] += 1.0
    return np.sum(a**2)


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def view_reads_what_the_base_got(x):
    a = x * 1.0
    v = a[2:5]
    s = v.sum()
    a[3] = x[0] ** 2
    return s * v.sum() + v[1] * a[2]


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def view_of_a_view(x):
    a = x + 0.0
    v = a[1:]
    w = v[::2]
    u = w[::-1]
    u[0] = x[0] * x[1]
    w += v[0]
    return np.sum(a * x)


@program(args=lambda rng: (rng.normal(size=(2, 3)),), level="python")
def transposed_view_written(x):
    a = x * x
    t = a.T
    t[0] = x[:, 1]
    t[2, 1] *= 4.0
    a[1] += t[:, 0].sum()
    return np.sum(t * x.T)


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def reshaped_view_written(x):
    a = np.cos(x)
    m = a.reshape(2, 3)
    m[1, 2] = x[0]
    m[:, 0] *= x[:2]
    r = m.ravel()
    r[1] = x[5] ** 2
    return np.sum(a * x)


@program(
    args=lambda rng: (rng.normal(size=(2, 3)),),
    also=(lambda rng: (rng.normal(size=(3, 2)).T,), lambda rng: (rng.normal(size=(2, 6))[:, ::2],)),
    level="python",
    tags=("layout",),
)
def reshape_depends_on_the_layout(x):
    v = x.reshape(-1)  # a view of a C-ordered array, a copy of another
    v[0] = 3 * x[1, 1]
    return np.sum(x * x) + np.sum(v * np.arange(6))


@program(args=lambda rng: (rng.normal(size=(2, 3)),), level="python", tags=("layout",))
def ravel_of_a_transpose_is_a_copy(x):
    a = x * 1.0
    r = a.T.ravel()
    r[:] = 0.0
    f = a.flatten()
    f[0] = 100.0
    k = a.T.reshape(3, 2)
    k[0, 0] = x[1, 1] ** 2  # same shape: still a view
    return np.sum(a * a) + np.sum(r) + f[1]


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def copies_are_not_views(x):
    a = x * 2
    b = a.copy()
    c = np.array(a)
    d = a[[0, 1, 2, 3, 4]]
    e = a[a > -100]
    f = a + 0
    g = +a
    for other in (b, c, d, e, f, g):
        other[0] = -7.0
    return np.sum(a**2)


@program(args=lambda rng: (rng.normal(size=5),), level="python")
def conversions_that_may_share(x):
    a = x * 2
    b = np.asarray(a)
    b[0] = x[1] ** 2
    c = np.atleast_1d(a)
    c[1] = x[2] ** 2
    d = np.ascontiguousarray(a)
    d[2] = x[3] ** 2
    e = a.astype(float)
    e[3] = 100.0
    f = np.squeeze(a[None])
    f[4] = x[0] ** 3
    return np.sum(a * x)


@program(args=lambda rng: (rng.normal(size=(3, 2)),), level="python")
def rows_written_while_iterating(x):
    a = x * 1.0
    for row in a:
        row[0] = row[1] ** 2
        row += 1
    for i, row in enumerate(a):
        row *= i
    for p, q in zip(a, x):
        p -= q
    return np.sum(a * a)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def element_of_iteration_is_not_a_view(x):
    a = x * 1.0
    for e in a:
        e *= 10  # a number: nothing happens to a
        e += 1
    return np.sum(a * a)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def base_written_while_iterating(x):
    a = x * 1.0
    s = 0.0
    for i, e in enumerate(a):
        if i + 1 < len(a):
            a[i + 1] = a[i + 1] * e + 1  # seen by the next iteration
        s = s + e * e
    return s


def scale_in_place(a, factor):
    a *= factor


def fill_first(a, value):
    a[0] = value
    return a[1] * 2


def smooth(u, out):
    for i in range(1, len(u) - 1):
        out[i] = 0.5 * (u[i - 1] + u[i + 1])


def axpy(alpha, x, y):
    """y += alpha * x, as BLAS does."""
    for i in range(y.shape[0]):
        y[i] += alpha * x[i]
    return y


@program(args=lambda rng: (rng.normal(size=4), 1.5), wrt=(0, 1), level="python")
def callee_writes_into_a_parameter(x, s):
    a = x * x
    scale_in_place(a, s)
    b = fill_first(a, s * s)
    return np.sum(a * a) * b


@program(args=lambda rng: (rng.normal(size=6),), level="python")
def callee_with_an_output_parameter(u):
    v = u.copy()
    for _ in range(2):
        smooth(u, v)
        smooth(v, u)
    return np.sum(u * v)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def callee_returns_its_parameter(x):
    y = np.ones(4)
    z = axpy(2.0, x, y)
    z[0] = x[1] ** 2  # z is y
    w = axpy(x[0], y, z)  # both are the same
    return np.sum(w * y)


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def callee_writes_into_a_view(x):
    a = x * 1.0
    scale_in_place(a[1], 3.0)
    scale_in_place(a[:, 0], x[0, 0])
    axpy(2.0, a[0], a[2])
    axpy(1.0, a[0, :-1], a[0, 1:])  # overlapping
    return np.sum(a**2)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def same_array_for_both_parameters(x):
    a = x * 1.0
    smooth(a, a)
    axpy(0.5, a, a)
    return np.sum(a * x)


@program(args=lambda rng: (rng.normal(size=4), 3), level="python", also=(lambda rng: (rng.normal(size=4), -3),))
def alias_chosen_by_a_condition(x, n):
    a = x * 2
    b = x * 3
    c = a if n > 0 else b
    c[0] = x[1] ** 2
    return np.sum(a * a) + np.sum(b * x)


@program(args=lambda rng: (rng.normal(size=4), True), level="python", also=(lambda rng: (rng.normal(size=4), False),))
def alias_made_in_one_arm(x, share):
    a = x * 2
    b = a.copy()
    if share:
        b = a
    b[1] = x[0] * x[2]
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=4), 3), level="python", also=(lambda rng: (rng.normal(size=4), 4),))
def double_buffer(x, n):
    u = x * 1.0
    v = np.zeros(4)
    for t in range(n):
        v[0] = u[0]
        for i in range(1, 4):
            v[i] = u[i] * 0.5 + u[i - 1] ** 2
        u, v = v, u  # the buffers change places
    return np.sum(u * u) + v[1]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def two_buffers_in_a_list(x):
    grids = [x * 1.0, np.zeros(4)]
    for t in range(3):
        old, new = grids[t % 2], grids[(t + 1) % 2]
        new[:] = np.sin(old) + t
        new[0] = old[-1] * 2
    return np.sum(grids[0] * grids[1])


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def list_holds_an_alias(x):
    a = np.zeros(4)
    snapshots = []
    for t in range(3):
        a[t] = x[t] ** 2
        snapshots.append(a)  # three times the same array
    return sum(np.sum(s * x) for s in snapshots)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def list_holds_copies(x):
    a = x * 1.0
    snapshots = []
    for t in range(3):
        a[t] = a[t + 1] ** 2
        snapshots.append(a.copy())
    return np.sum(snapshots[0] * snapshots[2]) + np.sum(a)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def tuple_holds_a_view(x):
    a = x * 1.0
    halves = (a[:2], a[2:])
    halves[0][1] = x[3] ** 2
    halves[1][:] *= halves[0]
    lo, hi = halves
    lo += hi
    return np.sum(a * x)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def dict_holds_an_alias(x):
    state = {"u": x * 1.0, "t": 0.0}
    u = state["u"]
    for _ in range(3):
        u[1:] += 0.1 * u[:-1] ** 2
        state["t"] += u[0]
    state["u"][0] = state["t"]
    return np.sum(u**2) * state["t"]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def returned_through_a_write(x):
    loss = np.zeros(1)
    work = np.empty((2, 4))
    work[0], work[1] = x, x**2
    loss[0] = np.sum(work[0] * work[1])
    loss += work[1, 1:3].sum()
    return loss[0]


@program(args=lambda rng: (rng.normal(size=(2, 2)), rng.normal(size=2)), wrt=(0, 1), level="python")
def swapped_names_then_written(m, v):
    a, b = m[0] * 1.0, v * 2
    a, b = b, a
    a[0] = b[1]
    b[:] = a * v
    return a @ b + b[0]


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def broadcast_values_are_copied(x):
    m = np.empty((3, 3))
    m[:] = x
    m[0, 0] = x[1] * 5
    x = x * 1.0
    m[1] = x
    x[0] = 0.0  # m has its own
    t = np.tile(x, 2)
    t[0] = 4.0
    return np.sum(m * m) + np.sum(t * t) + x[1]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def same_array_written_under_a_loop_alias(x):
    y = x * 1.0
    z = y
    for i in range(3):
        z[i] = y[i + 1] * z[i]
        if i == 1:
            z = z.copy()  # from here on apart
    return np.sum(y * y) + np.sum(z * x)


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def is_the_same_object(x):
    a = x * 2
    b = a
    c = a.copy()
    s = 0.0
    if b is a:
        s = s + a[0] ** 2
    if c is not a:
        s = s + c[1] ** 2
    return s


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def deleted_names(x):
    a = x * 2
    b = a
    del a
    b[0] = 1.0
    a = b * x
    del b
    return np.sum(a)


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def diagonal_through_strides(x):
    a = x * 1.0
    a.reshape(-1)[::4] = x[0]
    a.flat[1] = 2.0
    np.fill_diagonal(a[:2, :2], x[1, 1] ** 2)
    return np.sum(a * a)


@program(args=lambda rng: (np.asfortranarray(rng.normal(size=(3, 2))), rng.normal(size=8)[::2]), wrt=(0, 1), tags=("layout",))
def odd_layouts(a, v):
    w = a.T * v[:2, None]
    w[0] = v[1:].sum()
    v = v[::-1] * 2
    return np.sum(w**2) + np.sum(v[:3] @ a)
