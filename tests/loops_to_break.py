"""Loops whose iterations depend on each other in some way, or seem to; each program with its arguments.

`DEPENDENT` have a loop over elements that may not run in parallel; all iterations of the first loop of `APART` may.  Nothing is said of the
loops of `OTHER`, such as those that save as many residuals as the data say.
"""

import math

import numpy as np

DRAWN = np.random.default_rng(5)
X, Y = DRAWN.normal(size=12), DRAWN.normal(size=12)
A, B = DRAWN.normal(size=(5, 12)), DRAWN.normal(size=(5, 4))
SOME = DRAWN.integers(0, 5, 12)  # some repeated
ORDER = DRAWN.permutation(12)
DEPENDENT, APART, OTHER = {}, {}, {}


def dependent(*args):
    return lambda f: DEPENDENT.setdefault(f.__name__, (f, args))


def apart(*args):
    return lambda f: APART.setdefault(f.__name__, (f, args))


def other(*args):
    return lambda f: OTHER.setdefault(f.__name__, (f, args))


@dependent(X, 0.3)
def carried_number(x, c):
    s = total = 0.0
    for i in range(len(x)):
        s = c * s + x[i] * s + x[i]
        total += s * s
    return total


@dependent(X)
def element_before(x):
    a = x.copy()
    for i in range(1, len(x)):
        a[i] = math.sin(a[i - 1] + x[i])
    return np.sum(a)


@dependent(X)
def overlapping_writes(x):
    a = np.zeros(len(x) + 1)
    for i in range(len(x)):
        a[i] = x[i] ** 2
        a[i + 1] = x[i] ** 3
    return np.sum(a * a)


@dependent(X, SOME)
def last_of_repeated(x, some):
    h = np.zeros(5)
    for i in range(len(x)):
        h[some[i]] = x[i] ** 2
    return np.sum(h**2)


@dependent(X, ORDER)
def unknown_permutation(x, order):
    h = np.zeros(12)
    for i in range(len(x)):
        h[order[i]] = math.exp(x[i]) + h[order[i] - 1]
    return np.sum(h**2)


@dependent(X)
def from_both_ends(x):
    a = x.copy()
    for i in range(len(x)):
        a[i] = a[len(x) - 1 - i] * a[i]
    return np.sum(np.sin(a))


@dependent(X)
def remainder(x):
    a = np.ones(3)
    for i in range(len(x)):
        a[i % 3] = a[i % 3] * x[i] + 1.0
    return np.sum(a**2)


@dependent(X)
def from_the_end(x):
    a = np.zeros(12)
    for i in range(12):
        a[i - 5] = x[i] ** 2 + a[i - 6]
    return np.sum(a**2)


@dependent(X)
def some_are_kept(x):
    out, k = np.zeros(12), 0
    for i in range(len(x)):
        if x[i] > 0:
            out[k] = x[i] ** 2
            k += 1
    return np.sum(out * np.arange(12))


@dependent(X)
def counter_from_below(x):
    out, k = np.ones(6), -6
    for i in range(len(x)):
        out[k] = out[k] * x[i] ** 2
        k += 1
    return np.sum(out * np.arange(6))


@dependent(X)
def counter_ahead_of_the_index(x):
    a, s, k = np.zeros(30), 0.0, 2
    a[3:9] += x[:6]
    for i in range(6):
        s += a[k + 1] ** 2
        k += 1
        a[i + 1] += x[i + 1] * 0.5
    return np.sum(a * a) * s


@dependent(X)
def slow_counter(x):
    a = np.ones(12)
    for i in range(12):
        a[i // 2] = a[i // 2] * x[i]
    return np.sum(a)


@dependent(X)
def product(x):
    p = 1.0
    for i in range(len(x)):
        p *= x[i]
    return p


@dependent(X)
def largest(x):
    best = -1e9
    for i in range(len(x)):
        best = max(best, math.sin(x[i]))
    return best


@dependent(X)
def smallest_by_branch(x):
    best, at = 1e9, 0
    for i in range(len(x)):
        if x[i] ** 2 < best:
            best, at = x[i] ** 2, i
    return best * x[at]


@dependent(X)
def running_total(x):
    total, out = 0.0, np.zeros(12)
    for i in range(len(x)):
        total += x[i] ** 2
        out[i] = math.sqrt(total)
    return np.sum(out)


@dependent(X)
def early_end(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if total > 3.0:
            break
    return total


@dependent(A)
def row_before(a):
    r = np.zeros((5, 12))
    for i in range(1, 5):
        for j in range(12):
            r[i, j] = math.tanh(r[i - 1, j] + a[i, j])
    return np.sum(r * r)


@dependent(X)
def exchanged(x):
    a, b = x.copy(), x * 2
    for i in range(7):
        a[i] = b[i + 1] * 0.5
        a, b = b, a
    return np.sum(a * a * b)


@dependent(X)
def through_a_view(x):
    a = x.copy()
    v = a[1:]
    for i in range(11):
        v[i] = a[i] * x[i]
    return np.sum(a**2)


@dependent(X)
def reads_everything(x):
    a = x.copy()
    for i in range(12):
        a[i] = np.sum(a) * 0.1
    return np.sum(a**2)


@dependent(X)
def too_wide(x):
    a = np.zeros(40)
    for i in range(8):
        for j in range(5):
            a[4 * i + j] = a[4 * i + j] * 0.5 + x[i] * j
    return np.sum(a**2)


@dependent(X, 3)
def unknown_width(x, m):
    a = np.zeros(60)
    for i in range(8):
        for j in range(5):
            a[i * m + j] = a[i * m + j] * 0.5 + x[i] * j
    return np.sum(a**2)


@other(X)
def a_list_grows(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(x[i] ** 2)
    return sum(found)


@dependent(X)
def lower_triangle(x):
    a = np.zeros(100)
    k = 0
    for i in range(12):
        for j in range(i):
            a[k] = x[i] * x[j]
            k += 1
    return np.sum(a**2)


@apart(X, Y)
def sum_of_numbers(x, y):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i]) * y[i]
    return total**2


@apart(X, SOME)
def scatter(x, some):
    h = np.zeros(5)
    for i in range(len(x)):
        h[some[i]] += math.exp(x[i])
    return np.sum(h**2)


@apart(X)
def even_and_odd(x):
    a = np.zeros(24)
    for i in range(12):
        a[2 * i] = x[i] ** 2
        a[2 * i + 1] = a[2 * i] * x[i]
    return np.sum(np.sin(a))


@apart(X)
def backward_by_two(x):
    a = np.zeros(12)
    for i in range(11, 0, -2):
        a[i] = x[i] ** 2
        a[i - 1] = a[i] * x[i - 1]
    return np.sum(np.sin(a))


@apart(A)
def columns(a):
    r = np.zeros((5, 12))
    for j in range(12):
        for i in range(1, 5):
            r[i, j] = math.tanh(r[i - 1, j] + a[i, j])
    return np.sum(r * r)


@apart(X)
def four_each(x):
    a = np.zeros(48)
    for i in range(12):
        for j in range(4):
            a[4 * i + j] = x[i] * j + a[4 * i + j]
    return np.sum(np.sin(a))


@apart(X, Y)
def convolution(x, y):
    out = np.zeros(23)
    for i in range(12):
        for j in range(12):
            out[i + j] += x[i] * y[j]
    return np.sum(out**2)


@apart(A, B)
def nested(a, b):
    c = np.zeros((4, 12))
    for i in range(4):
        for j in range(12):
            s = 0.0
            for k in range(5):
                s += b[k, i] * a[k, j]
            c[i, j] = math.tanh(s)
    return np.sum(c**2)


@apart(A)
def triangle(a):
    r = np.zeros((5, 12))
    for i in range(5):
        for j in range(i + 1):
            r[i, j] = math.exp(a[i, j]) * a[j, i]
    return np.sum(r**2)


@apart(X, X)
def same_argument_twice(x, y):
    out = np.zeros(12)
    for i in range(1, 12):
        out[i] = x[i] * y[i - 1]
    return np.sum(out**2)


@apart(X.astype(np.float32), Y.astype(np.float32))
def single_precision(x, y):
    total = np.float32(0)
    h = np.zeros(3, np.float32)
    for i in range(12):
        total += x[i] * y[i]
        h[i % 3] += x[i] * x[i]
    return total * np.sum(h)


@apart(X + 1j * Y)
def complex_numbers(z):
    out = np.zeros(12, complex)
    for i in range(12):
        out[i] = z[i] * z[i] + 1j
    return np.sum(np.abs(out) ** 2)


@apart(X)
def counted(x):
    out, k = np.zeros(40), 2
    for i in range(12):
        out[k] = x[i] ** 2
        out[k + 1] = x[i] ** 3
        k += 3
    return np.sum(np.sin(out)) * k


@other(X)
def own_search(x):
    roots = np.zeros(12)
    for i in range(12):
        r, n = 1.0, 0
        while abs(r * r - x[i] ** 2 - 1.0) > 1e-9 and n < 60:
            r = 0.5 * (r + (x[i] ** 2 + 1.0) / r)
            n += 1
        roots[i] = r
    return np.sum(roots * x)


@other(X, Y)
def in_branches(x, y):
    total, out = 0.0, np.zeros(12)
    for i in range(12):
        if x[i] > 0:
            out[i] = x[i] * y[i]
            total += x[i]
        elif y[i] > 0:
            out[i] = math.exp(y[i]) * x[i]
        else:
            total -= y[i] * x[i]
    return np.sum(out**2) * total
