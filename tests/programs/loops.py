"""`for` and `while`: ranges, sequences, zero trips, loop variables, variants that change type."""

import numpy as np

from tests.programs import program


def vector(rng):
    return (rng.normal(size=5),)


@program(args=(1.1, 4), also=((1.1, 0), (1.1, 1)))
def power_by_loop(x, n):
    p = 1.0
    for i in range(n):
        p = p * x
    return p


@program(args=(1.1, 4), also=((1.1, 0),))
def integer_start(x, n):
    total = 0
    for i in range(n):
        total = total + x * i
    return total * x + x


@program(args=vector, also=(lambda rng: (rng.normal(size=0),),))
def sum_of_elements(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 2
    return s + 1.0


@program(args=vector)
def over_the_elements(x):
    s = 1
    for e in x:
        s = s + e * s * 0.5
    return s


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=3)), wrt=(0, 1))
def over_the_rows(a, v):
    s = np.zeros(3)
    for row in a:
        s = np.tanh(s + row * v)
    return s @ v


@program(args=lambda rng: (rng.normal(size=3),))
def variant_becomes_an_array(x):
    acc = 0
    for k in range(3):
        acc = acc * 0.5 + x**k
    return np.sum(acc * acc)


@program(args=lambda rng: (rng.normal(size=(3, 1)), rng.normal(size=(1, 4))), wrt=(0, 1))
def variant_grows_by_broadcasting(c, r):
    acc = c
    for _ in range(2):
        acc = np.sin(acc + r)
    return acc.sum()


@program(args=lambda rng: (rng.normal(size=4),))
def variant_shrinks(x):
    while x.size > 1:
        x = x[1:] * x[:-1]
    return x[0]


@program(args=vector)
def steps_and_directions(x):
    n = len(x)
    s = 0.0
    for i in range(n - 1, -1, -1):
        s = s * x[i] + 1.0
    for i in range(0, n, 2):
        s = s + x[i] ** 2
    for i in range(4, 0, -2):
        s = s * (1 + 0.1 * x[i])
    for i in range(3, 3):
        s = s * 1000 * x[0]
    return s


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def triangular(a):
    s = 0.0
    for i in range(4):
        for j in range(i):
            s += a[i, j] * a[j, i]
        for j in range(i + 1, 4):
            s += a[i, j] ** 2
    return s


@program(args=lambda rng: (rng.normal(size=3),))
def three_deep(x):
    s = 0.0
    for i in range(3):
        t = 1.0
        for j in range(2):
            for k in range(j + 1):
                t = t * x[i] + x[k]
        s = s + t * t
    return s


@program(args=(0.7, 3), level="python", also=((0.7, 1),))
def loop_variable_afterwards(x, n):
    y = x
    for i in range(n):
        y = y * x + i
    return y * i + x * i


@program(args=vector)
def element_afterwards(x):
    s = 0.0
    for e in x:
        s = s + e * e
    return s * e


@program(args=(1.3,), also=((5.0,), (0.2,)))
def halve_until_small(x):
    y = x
    while y > 1:
        y = y / 2 + 0.01 * x
    return y * x


@program(args=(0.3, 6))
def while_with_a_counter(x, n):
    i = 0
    y = x
    while i < n:
        y = np.sin(y) + x * i
        i += 1
    return y


@program(args=(0.3,))
def while_that_never_runs(x):
    y = x * x
    while y > 100:
        y = y * y
    return y * 3


@program(args=lambda rng: (rng.normal(size=3), 0.1), wrt=(0, 1))
def gradient_descent(x, rate):
    for _ in range(5):
        g = 4 * x**3 - x
        x = x - rate * g
    return np.sum(x * x)


@program(args=(0.4, 3.2), wrt=(0, 1))
def logistic_map(x, r):
    for _ in range(8):
        x = r * x * (1 - x)
    return x


@program(args=(1.1,))
def two_variants_cross(x):
    a, b = x, 1.0
    for _ in range(6):
        a, b = b, 0.5 * a + b * 0.3
    return a * b


@program(args=(0.9,))
def dead_variant(x):
    y = x
    z = x
    for i in range(3):
        z = np.exp(z) * y  # never used
        y = y * x
    return y


@program(args=(0.9, 1.7), wrt=(0, 1))
def invariant_in_the_loop(x, c):
    s = 0.0
    for i in range(4):
        w = np.exp(c)
        s = s + w * np.sin(x * i)
    return s


@program(args=vector)
def branch_in_the_loop(x):
    s = 0.0
    for i in range(len(x)):
        if i % 2:
            s = s + x[i] ** 2
        elif i == 0:
            s = s - x[i]
        else:
            s = s * np.cos(x[i])
    return s


@program(args=vector)
def branch_on_the_data_in_the_loop(x):
    s = 1.0
    for e in x:
        if e > 0:
            s = s * (1 + e)
        else:
            s = s - e * e
    return s


@program(args=vector)
def loop_in_a_branch(x):
    s = x[0]
    if np.sum(x**2) > 0:
        for i in range(1, 5):
            s = s * 0.5 + x[i] * s
    else:
        while s < 0:
            s = s + 1
    return s


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def while_in_a_for(a, v):
    out = 0.0
    for i in range(3):
        k = 0
        u = v
        while k <= i:
            u = np.tanh(a @ u)
            k = k + 1
        out = out + u[i]
    return out


@program(args=(0.5, [1.0, 2.0, -0.5]), wrt=(0, 1))
def over_a_list(x, coefficients):
    s = 0.0
    for c in coefficients:
        s = s * x + c
    return s


@program(args=(0.5, (1.0, 2.0, -0.5)), wrt=(0, 1))
def over_a_tuple(x, coefficients):
    s = 0.0
    for c in coefficients:
        s = s * x + c * c
    return s


@program(args=lambda rng: (rng.normal(size=4), [0, 2, 2, 1]))
def over_a_list_of_indices(x, order):
    s = 1.0
    for k in order:
        s = s * (x[k] + 2.0)
    return s


@program(args=(0.5,))
def over_literals(x):
    s = 0.0
    for w, shift in [(0.5, 0.0), (0.25, 1.0), (0.25, -1.0)]:
        s += w * np.exp(-((x - shift) ** 2))
    for k in (1, 3, 5):
        s += np.sin(k * x) / k
    return s


@program(args=lambda rng: (rng.normal(size=(2, 3)),))
def strings_drive_the_loop(a):
    s = 0.0
    for op in "abba":
        if op == "a":
            s = s + np.sum(np.sin(a))
        else:
            s = s * a[0, 1]
    return s


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def enumerate_zip_reversed(x):
    s = 0.0
    y = [1.0, 2.0, 3.0]
    for i, e in enumerate(x):
        s += i * e * e
    for a, b in zip(x, y):
        s += a**b
    for i, (a, b) in enumerate(zip(x, x[::-1]), start=1):
        s += i * a * b
    for e in reversed(x):
        s = s * 0.9 + e
    for i in reversed(range(3)):
        s = s * 0.5 + x[i] ** 2
    return s


@program(args=lambda rng: (rng.normal(size=4),), level="python", also=(lambda rng: (rng.normal(size=4) + 5,),))
def breaks(x):
    s = 0.0
    for e in x:
        if s > 6:
            break
        s = s + e * e
    return s * x[0]


@program(args=vector, level="python")
def continues(x):
    s = 1.0
    for i, e in enumerate(x):
        if i == 2:
            continue
        if e > 100:
            continue
        s = s * (e + 3)
    return s


@program(args=(0.5, 10.0), wrt=(0, 1), level="python", also=((0.5, 0.8), (0.5, 0.1)))
def loop_else(x, limit):
    y = x
    for i in range(5):
        y = y + x * i
        if y > limit:
            y = y - limit * x
            break
    else:
        y = y * y * limit
    return y


@program(args=(0.5,), level="python", also=((3.0,),))
def while_true(x):
    y, n = x, 0
    while True:
        y = y * 1.5 + 0.1 * x
        n += 1
        if y > 4:
            break
        if n == 4:
            return y * x
    return y * n


@program(args=(2.5,), level="python")
def while_else(x):
    n = 0
    while n < 3:
        x = x * 0.7
        n += 1
        if x > 10:
            break
    else:
        x = x + x**2
    return x


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def return_from_inside_loops(a):
    for i in range(3):
        for j in range(3):
            if i * j == 2:
                return a[i, j] * a[j, i] + a[0, 0] ** 2
    return a[0, 0]


@program(args=lambda rng: (rng.normal(size=(3, 3)),), level="python")
def break_of_the_inner_loop(a):
    s = 0.0
    for i in range(3):
        for j in range(3):
            if j > i:
                break
            if (i + j) % 2:
                continue
            s = s + a[i, j] * (1 + s)
    return s


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def only_the_last_iteration_counts(x):
    for i in range(3):
        y = np.exp(x[i]) * i
    return y * x[0]


@program(args=(1.2, 3), level="python")
def range_of_a_changing_bound(x, n):
    s = x
    for i in range(n):
        n = n - 1  # the range stays what it was
        s = s * x + n
    return s * n + s


@program(args=(1.2,), level="python")
def loop_variable_overwritten(x):
    s = 0.0
    for i in range(4):
        i = i * x
        s = s + i * i
    return s + i


@program(args=lambda rng: (rng.normal(size=3),), level="python")
def same_name_for_loop_and_array(x):
    for x in x:
        x = x * x
    return x


@program(args=(0.3, 3), level="python", also=((0.3, 0),))
def defined_inside_the_loop(x, n):
    for i in range(n):
        y = x * (i + 1)
    if n > 0:
        return y * y
    return x


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def long_loop(x, b):
    w = 0.5
    for t in range(300):
        x = np.tanh(w * x + b) * 0.9
    return np.sum(x)
