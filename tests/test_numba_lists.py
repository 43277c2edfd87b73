"""Lists of lists that begin with integers and hold floats later, elements at known places, and functions of `math` that Numba lacks."""

import math

import numpy as np
import pytest

from sourcead import value_and_grad

pytest.importorskip("numba")

pytestmark = pytest.mark.compiled

X = np.array([2.0, 2.5, 3.0])


def turned(x):
    around_x = np.array([[1, 0, 0], [0, np.cos(x[0]), -np.sin(x[0])], [0, np.sin(x[0]), np.cos(x[0])]])
    scaled = np.asarray([[2, 0, 0], [0, 2, 0], (0, 0, x[1])])
    return np.sum((around_x @ scaled).dot(x) ** 2)


def two_rotations(x):
    blocks = [[[1, 0], [0, 1]], [[0, x[0]], [1, 1]]]
    return np.sum(np.array(blocks) * x[1])


def products(x):
    table = [[0] * len(x) for _ in range(2)]
    for i in range(2):
        for j in range(len(x)):
            table[i][j] = x[i] * x[j]
    return table[0][1] + table[1][2]


def appended_rows(x):
    rows = []
    rows.append([0, 1])
    rows.append([x[0], x[1]])
    return np.sum(np.array(rows) ** 2)


def share(t, width):
    if t <= 0:
        return 0
    return (t / width) ** 2.5 if t < width else 1


def routed(x):
    ordinates = [0] * int(math.ceil(x[0]))
    for t in range(1, len(ordinates) + 1):
        ordinates[t - 1] = share(t, x[1]) - share(t - 1, x[1])
    return sum(v * k**2 for k, v in enumerate(ordinates)) + ordinates[0] ** 2


def integers_stay(x):
    places = [[0, 2], [1, 1]]
    return sum(x[places[i][j]] * (i + 1) for i in range(2) for j in range(2))


def counted(x):
    return sum(math.comb(3, k) * x[k] + math.factorial(k + 1) * x[k] ** 2 for k in range(len(x))) + math.perm(3, 2) * x[0]


def of_several_numbers(x):
    if not math.isclose(x[0], 2.0):
        return x[1]
    fraction, whole = math.modf(x[1])
    return math.fsum([x[0], x[1] ** 2]) * fraction + math.dist([x[0], 1.0], [x[1], x[2]]) + whole * math.fmod(x[2], 0.7)


CORNERS = np.array([[0, 1], [1, 2]])


def at_known_places(x):
    doubled = 2.0 * x
    return np.sum(x[CORNERS] * doubled[CORNERS])


def of_comprehensions(x):
    shares = [0 for _ in range(len(x))]
    table = [[0 for _ in range(2)] for _ in range(len(x))]
    for k in range(len(x)):
        shares[k] = x[k] / x[0]
        table[k][1] = shares[k] * x[k]
    return sum(shares) + table[1][1] + table[2][0] + table[2][1]


def appended_one_by_one(x):
    cost = []
    for k in range(len(x)):
        row = []
        for j in range(2):
            row.append(0)
        cost.append(row)
    for k in range(len(x)):
        cost[k][0] = 1000000
    for k in range(1, len(x)):
        cost[k][1] = x[k] ** 2 + min(cost[k][0], cost[k - 1][1], cost[k - 1][0])
    return cost[2][1]


def counts_stay_integers(x):
    seen = [0 for _ in range(3)]
    for k in range(4):
        seen[k % 3] += 1
    return x[seen[0]] * x[seen[1]]


EDGES = [[0, 1, 1.5], [0, 2, 0.5], [1, 0, -1.0], [2, 1, 2.0], [1, 2, 0.1]]


def rows_of_integers_and_floats(x):
    total = 0.0
    for k, edge in enumerate(EDGES):
        total += edge[2] * np.sin(x[edge[0]] - x[EDGES[k][1]])
    return total


CASES = [
    at_known_places, turned, two_rotations, products, appended_rows, routed, integers_stay, counted, of_several_numbers,
    of_comprehensions, appended_one_by_one, counts_stay_integers,
    rows_of_integers_and_floats,
]  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_gradient_is_that_of_numpy(f):
    value, gradient = value_and_grad(f)(X)
    compiled, compiled_gradient = value_and_grad(f, backend="numba")(X)
    np.testing.assert_allclose(compiled, value, rtol=1e-12)
    np.testing.assert_allclose(compiled_gradient, gradient, rtol=1e-10)
