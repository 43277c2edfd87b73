"""Objects of classes that inherit from `np.ndarray`: methods, what NumPy returns of which class, and what is refused."""

import copy

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.array([1.1, 2.3, 4.2])


class Vec(np.ndarray):
    def __new__(cls, values):
        return np.array(values).view(cls)

    def norm(self):
        return np.linalg.norm(self)

    def unit(self):
        return self / self.norm()

    @property
    def first(self):
        return self[0]

    @classmethod
    def between(cls, a, b):
        return cls(np.subtract(b, a))


class Scaled(np.ndarray):
    """Gives what is derived from it its scale."""

    def __new__(cls, values, scale=2.0):
        made = np.asarray(values).view(cls)
        made.scale = scale
        return made

    def __array_finalize__(self, seen):
        self.scale = getattr(seen, "scale", 5.0)

    def scaled(self):
        return np.asarray(self) * self.scale


class Checked(np.ndarray):
    """Says itself of which class results are, and handles the exception of its own constructor."""

    def __new__(cls, values):
        if np.size(values) == 0:
            raise ValueError("empty")
        if not np.isfinite(values).all():
            raise ValueError("not finite")
        return np.asarray(values).view(cls)

    def __array_finalize__(self, _):
        self.dimension = self.size

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if return_scalar:
            return array[()]
        try:
            return type(self)(array)
        except Exception:
            return array

    def distance(self, other):
        return np.sqrt(((self - other) ** 2).sum())


class Doubling(np.ndarray):
    def __new__(cls, values):
        return np.asarray(values).view(cls)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] * 2.0 if return_scalar else (array * 2.0).view(type(self))


class Turn(np.ndarray):
    """Is made on the memory of an array, which it keeps."""

    def __new__(subtype, q, versor=True):
        q = np.array(q, dtype=float)
        if versor:
            q /= np.linalg.norm(q)
        made = super(Turn, subtype).__new__(subtype, q.shape, float, q)  # noqa: UP008
        made.A = q
        return made

    def __array_finalize__(self, seen):
        if seen is None:
            return
        self.A = getattr(seen, "A", np.zeros(3))

    def __mul__(self, p):
        return Turn(np.array([self.A[0] * p.A[0] - self.A[1:] @ p.A[1:], *(self.A[0] * p.A[1:] + p.A[0] * self.A[1:])]), versor=False)

    def __add__(self, other):
        return Turn(np.asarray(self) + other)


class Plus(Vec):
    def __mul__(self, other):
        return np.add(self, other)

    def __rmul__(self, other):
        return np.subtract(self, other)


class First(Vec):
    __array_priority__ = 10.0

    def norm(self):
        return 2.0 * np.linalg.norm(self)


class FromTheRight(np.ndarray):
    def __new__(cls, values):
        return np.asarray(values).view(cls)

    def __rmul__(self, other):
        return np.asarray(self) * 100.0


def methods(x):
    v = Vec(x)
    return (v + v.unit()).norm() * v.first + np.sum(Vec.between(x, x * x).unit() * v.unit())


def results_of_numpy(x):
    v = Vec(x)
    total = v.sum() + v.mean() + np.dot(v, x) + np.sum(np.cross(v, x * x) * x) + np.max(v) * np.min(v) + np.trace(np.outer(v, v))
    return total + np.sqrt(v).norm() + np.maximum(v, x).norm() + (2.0 - v).norm() + np.cumsum(v)[1] + np.concatenate([v, x]).sum() + len(v)


def classes_of_results(x):
    v = Vec(x)
    kinds = [v + 1, 2 * v, x * v, v[:1], v[0], v.sum(), np.asarray(v), np.sort(v), np.outer(v, v)]
    kinds += [np.linalg.norm(v), v.T, v.real, abs(v), v > 1]
    return sum(isinstance(kind, Vec) * 2.0**k for k, kind in enumerate(kinds)) * x[0] + (type(v) is Vec) + isinstance(v, np.ndarray)


def views_and_writes(x):
    v = Vec(x)
    w, plain = v[1:], np.asarray(v)
    w[0] = 5.0
    before = v.norm()
    plain[2] = x[0] ** 2
    v += v.unit()
    v[0] *= 3.0
    return before + v.norm() + w.norm()


def held_in_containers(x):
    v = Vec(x)
    both = {"a": v, "b": [v, 2 * v]}
    both["a"][0] = 4.0
    return both["b"][0].norm() + both["b"][1].norm() + sum(u.norm() for u in both["b"])


def rows(x):
    m = Vec(np.outer(x, x))
    return sum(row.norm() * k for k, row in enumerate(m)) + m[0].norm() + m.T[1].norm() + m.reshape(9).norm() + (m @ x).norm()


def unpacked(x):
    a, b, c = Vec(x)
    return a * b * c + max(Vec(x)) + sum(t * t for t in Vec(x)) + sum(a * b for a, b in zip(Vec(x), x)) + np.sum(np.array([*Vec(x), 2.0]))


def selected_by(x):
    v = Vec(x)
    return x[v > 1.5].sum() + x[np.argsort(v)][0] + sum(v) + sum(reversed(v)) * x[0] + sorted(v)[0]


def in_a_loop(x):
    v, n, s = Vec(x), int(x[2]), 0.0
    for k in range(n):
        v = v + x * k
        s += v.norm()
    return s


def while_it_is_long(x):
    v, n = Vec(x), 0
    while v.norm() > 0.3 and n < 5:
        v, n = v * 0.5, n + 1
    return v.norm() * n + v[0]


def in_a_branch(x):
    v = Vec(x)
    v = v.unit() * 3.0 if x[0] > 0.5 else Vec(x * x)
    return v.norm() + v[0]


def recursive(x):
    def step(v, k):
        return v if k == 0 else step(v.unit() * k + v, k - 1)

    return step(Vec(x), 3).norm()


def scale_is_handed_on(x):
    f = Scaled(x, 3.0)
    seen = np.asarray(x).view(Scaled)
    return np.sum((f + 1.0).scaled()) + np.sum(f[1:].scaled() ** 2) + np.sum(Scaled(x).scaled()) + np.sum(seen.scaled())


def says_itself(x):
    d = Checked(x)
    e = d * 2.0 + 1.0
    return e.distance(d) + e.sum() * e.dimension + (-e).distance(x) + Checked(np.outer(x, x)).mean(axis=0).distance(d) + d.mean()


def doubles(x):
    return np.sum(Doubling(x) + 1.0) + np.sum(np.asarray(np.exp(Doubling(x))))


def on_memory(x):
    return np.sum((Turn(x) * Turn(x)).A * x) + (Turn(x) + x).A[0]


def operators_of_its_own(x):
    w = Plus(x)
    return np.sum((w * x) ** 2) + np.sum((x * w) ** 3)


def priority(x):
    return (Vec(x) + First(x)).norm() + (First(x) + Vec(x)).norm()


def numpy_operator_comes_before_that_of_another_class(x):
    return np.sum(Vec(x) * FromTheRight(x)) + np.sum(x * FromTheRight(x)) + np.sum(2.0 * FromTheRight(x))


def shape_is_set(x):
    v = Vec(x)
    w = v[::-1]
    v.shape = (1, 3)
    v[0, 0] = 5.0
    return np.sum(np.asarray(w) * x) + v.shape[1] * v.sum()


def defined_inside(x):
    class Inner(np.ndarray):
        def __new__(cls, a):
            return np.asarray(a).view(cls)

        def half(self):
            return self * 0.5

    return np.sum(Inner(x).half() ** 2)


RIGHT = [
    methods, results_of_numpy, classes_of_results, views_and_writes, held_in_containers, rows, unpacked, selected_by, in_a_loop,
    while_it_is_long, in_a_branch, recursive, scale_is_handed_on, says_itself, doubles, on_memory, operators_of_its_own, priority,
    numpy_operator_comes_before_that_of_another_class, shape_is_set, defined_inside,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f):
    assert judged_in_all_modes(f, X) == "right"


class OwnSum(Vec):
    def sum(self, *args, **kwargs):
        return 42.0 * self[0]


def numpy_asks_for_an_own_method(x):
    return np.sum(OwnSum(x))


def one_class_or_another(x):
    v = Vec(x) if x[0] > 0.5 else np.asarray(x)
    return np.sum(v * v)


def class_is_lost_in_a_list(x):
    vs = []
    for k in range(int(x[2])):
        vs.append(Vec(x) * k)
    return sum(v.norm() for v in vs)


def copied(x):
    v = Vec(x)
    c = copy.copy(v)
    c[0] = 10.0
    return v.norm()


def in_place_with_an_own_wrap(x):
    d = Doubling(x)
    d += 1.0
    return np.sum(np.asarray(d))


def out_with_an_own_wrap(x):
    z = Doubling(x.copy())
    return np.sum(np.asarray(np.add(Doubling(x), x, out=z))) + np.sum(np.asarray(z))


REFUSED = [
    numpy_asks_for_an_own_method, one_class_or_another, class_is_lost_in_a_list, copied, in_place_with_an_own_wrap, out_with_an_own_wrap,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_is_not_known_is_refused(f):
    assert judged_in_all_modes(f, X) == "refused"


def test_an_exception_that_the_class_handles_is_raised_in_the_run():
    def f(x):
        return np.sum(np.asarray(Checked(np.ones(3)) / x))

    derivative = grad(f, verify=False)
    np.testing.assert_allclose(derivative(X), -1 / X**2)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="not finite"):
        derivative(np.zeros(3))


def test_a_method_that_is_changed_is_noticed():
    class Changing(Vec):
        def size_of(self):
            return self.norm()

    def f(x):
        return (Changing(x) * 2.0).size_of()

    derivative = grad(f)
    np.testing.assert_allclose(derivative(X), 2 * X / np.linalg.norm(X))
    Changing.size_of = Vec.sum
    np.testing.assert_allclose(derivative(X), [2, 2, 2])


def test_an_argument_with_a_class_is_refused():
    with pytest.raises(SourceADError, match="rules of its own"):
        grad(lambda v: v.norm())(Vec(X))


@pytest.mark.compiled
def test_with_numba():
    np.testing.assert_allclose(grad(methods, backend="numba")(X), grad(methods)(X))


class Parts:
    """No array, with a sum of its own, which NumPy calls."""

    def __init__(self, parts):
        self.parts = parts

    def sum(self, axis=None, out=None):
        return 2 * self.parts[0] + self.parts[1]

    def max(self, axis=None, out=None):
        return self.parts[2]


def test_numpy_calls_the_sum_of_an_object_that_is_no_array():
    assert judged_in_all_modes(lambda x: np.sum(Parts(x)) * np.max(Parts(x)), X) == "right"
