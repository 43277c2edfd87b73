"""Named tuples, dataclasses, objects and functions as values: differentiated as they are written, or refused."""

import copy
import dataclasses
import functools
import types
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.errors import AliasError, SourceADError, UnsupportedSyntaxError
from tests import harness

X = np.array([0.3, -0.7, 1.1])
W = np.array([[0.2, -0.4, 0.5], [0.7, 0.1, -0.3]])

Point = namedtuple("Point", "x y")


class Vec(NamedTuple):
    x: float
    y: float = 2.0

    @property
    def norm2(self):
        return self.x**2 + self.y**2

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Layer(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray


@dataclass
class Params:
    w: np.ndarray
    b: float = 0.5
    name: str = "tanh"
    flag: bool = True

    def __call__(self, x):
        h = self.w * x + self.b
        return np.tanh(h) if self.name == "tanh" else h

    @property
    def total(self):
        return np.sum(self.w) + self.b

    @total.setter
    def total(self, value):
        self.b = value

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def ones(cls, n):
        return cls(np.ones(n), 1.0)


@dataclass(frozen=True)
class Frozen:
    mass: float
    position: np.ndarray
    tags: list = field(default_factory=list)


@dataclass
class Scaled:
    x: np.ndarray
    scale: float = 2.0
    y: np.ndarray = field(init=False)

    def __post_init__(self):
        self.y = self.x * self.scale


@dataclass(frozen=True)
class Unit:
    v: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "v", self.v / np.sqrt(self.v @ self.v))


@dataclass
class Config:
    parts: list
    table: dict
    pair: Point


class Linear:
    gain = 1.5

    def __init__(self, w, b=None, activation=np.tanh):
        self.w, self.b = w, b
        self.activation = activation

    def forward(self, x):
        h = self.w @ x
        if self.b is not None:
            h = h + self.b
        return self.activation(h) * self.gain

    def __call__(self, x):
        return self.forward(x)

    def loss(self, x, y=0.0):
        return np.sum((self(x) - y) ** 2)


class Deep(Linear):
    def __init__(self, w, extra):
        super().__init__(w)
        self.extra = extra

    def forward(self, x):
        return super().forward(x) * self.extra


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.calls = 0

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        self.calls += 1
        return x

    def __len__(self):
        return len(self.layers)

    def __getitem__(self, k):
        return self.layers[k]


class Adder:
    def __init__(self, start):
        self.total = start
        self.count = 0

    def add(self, v):
        self.total = self.total + v
        self.count += 1
        return self


MODEL = Linear(W, np.array([0.1, -0.2]))
POINT = Point(1.5, X)
STEPS = {"square": lambda v: v * v, "sine": np.sin}


def holds(f, *args, wrt=0):
    """The gradient is that of central differences, in the class of its argument; the arguments stay as they were."""
    before = copy.deepcopy(args)
    value, gradients = value_and_grad(f, wrt)(*args)
    single = not isinstance(wrt, tuple)
    assert all(map(harness.same_bits, args, before))
    assert np.isclose(value, f(*copy.deepcopy(args)))
    for position, gradient in zip((wrt,) if single else wrt, (gradients,) if single else gradients):
        harness.check_structure(gradient, args[position])
        numeric = harness.numeric_gradient(f, args, position)
        harness.check_numbers(gradient, args[position], numeric, None)
    harness.check_memory(gradients, args)
    return gradients


def refused(f, *args, wrt=0, match=None, error=SourceADError):
    with pytest.raises(error, match=match):
        grad(f, wrt)(*args)


# ---- named tuples ----


def test_the_gradient_of_a_named_tuple_is_one():
    def f(p):
        return p.x**2 * np.sum(p.y) + p[0] * p[1][0]

    assert type(holds(f, Point(1.5, X))) is Point


def test_named_tuples_are_unpacked_indexed_sliced_and_iterated():
    def f(p):
        x, y = p
        s = 0.0
        for k, v in enumerate(p):
            s += (k + 1) * v**2
        return x * y + sum(p[:1]) ** 3 + s + len(p) * p[-1]

    holds(f, Point(1.5, -0.4))


def test_named_tuples_are_indexed_by_a_number_known_at_run_time():
    def f(p, n):
        s = 0.0
        for i in range(n):
            s += p[i % 2] ** (i + 1)
        return s

    holds(f, Point(1.5, 0.4), 4)


def test_named_tuples_have_defaults_keywords_methods_and_operators():
    def f(x):
        v = Vec(x[0]) + Vec(y=x[1], x=x[2]) * x[0]
        return v.dot(Vec(1.0, x[1])) * v.norm2 + v._asdict()["y"] + v._replace(y=3.0).norm2

    holds(f, X)


def test_named_tuples_are_loop_states():
    def f(x, n):
        s = Point(x[0], x)
        for _ in range(n):
            s = Point(s.x + s.y[1], s.y * 0.9)
            s = s._replace(x=s.x * x[2])
        return s.x * np.sum(s.y)

    holds(f, X, 3)


def test_named_tuples_are_chosen_by_a_branch():
    def f(x):
        p = Point(x[0], 1.0) if x[1] > 0 else Point(x[2] * 2, x[1])
        if x[0] > 0:
            p = p._replace(y=p.x)
        return p.x * p.y

    holds(f, X)
    holds(f, -X)


def test_named_tuples_go_through_lists_of_unknown_length():
    def f(x, n):
        states = [Point(x[0], x)]
        for _ in range(n):
            last = states[-1]
            states.append(Point(last.x * x[1], last.y + last.x))
        return states[-1].x + np.sum(states[n // 2].y)

    holds(f, X, 4)


def test_lists_of_named_tuples_of_different_shapes():
    def f(layers, x):
        for layer in layers:
            x = np.tanh(layer.weight @ x + layer.bias)
        return np.sum(x)

    layers = [Layer(W, X[:2]), Layer(W.T, X)]
    found = holds(f, layers, X, wrt=(0, 1))
    assert [type(g) for g in found[0]] == [Layer, Layer]


def test_numpy_takes_a_named_tuple_for_a_tuple():
    def f(p, x):
        return np.sum(np.array(p) * np.array([Point(x[0], x[1])])) + np.max(p) + np.stack([p, p])[1, 0]

    holds(f, Point(0.7, 0.9), X, wrt=(0, 1))


def test_parts_that_are_not_read_get_zeros():
    def f(p):
        return p.x * 2.0

    found = holds(f, Point(1.5, X))
    assert found.y.shape == (3,) and not found.y.any()


# ---- dataclasses ----


def test_the_gradient_of_a_dataclass_is_one():
    def f(p, x):
        return np.sum(p(x)) * p.total + p.b**2 + p.square(x[0])

    found = holds(f, Params(X), X, wrt=(0, 1))
    assert type(found[0]) is Params
    holds(f, Params(X, name="other"), X, wrt=(0, 1))


def test_dataclasses_made_inside():
    def f(x):
        p = Params(x * 2, name="linear")
        q = replace(p, b=x[1], w=p.w + 1)
        p.b = x[0] * 3
        p.w = p.w * p.b
        q.w[0] = x[2]
        q.b += p.b
        return np.sum(p(x)) * np.sum(q(x))

    holds(f, X)


def test_frozen_dataclasses_made_inside():
    def f(m, x):
        p = Frozen(m, x)
        q = replace(p, mass=p.mass * x[0])
        return p.mass * q.mass * np.sum(q.position) + len(q.tags)

    holds(f, 2.0, X, wrt=(0, 1))
    holds(lambda p: p.mass * np.sum(p.position**2), Frozen(2.0, X, ["a"]))


def test_post_init_runs():
    def f(x):
        return np.sum(Scaled(x).y * Scaled(x, scale=x[0]).y) + np.sum(Unit(x).v * np.arange(3))

    holds(f, X)
    holds(lambda s: np.sum(s.y * s.x) * s.scale, Scaled(X))
    holds(lambda u: np.sum(u.v**3), Unit(X))


def test_class_methods_static_methods_and_setters():
    def f(x):
        p = Params.ones(3)
        p.total = x[0] * 2
        return np.sum(p(x)) + Params.square(x[1]) + type(p)(x).total

    holds(f, X)


def test_conversions_of_dataclasses():
    def f(p):
        d = dataclasses.asdict(p)
        d["w"][0] = 5.0
        w, b, *rest = dataclasses.astuple(p)
        named = sum(np.sum(getattr(p, fd.name)) for fd in dataclasses.fields(p)[:2])
        return np.sum(d["w"]) * d["b"] + np.sum(w * p.w) + b + named

    holds(f, Params(X))


def test_writes_into_the_fields_of_an_argument_stay_inside():
    def f(p, x):
        p.w[1] = x[0] * 2
        p.b = p.b * x[1]
        p.w *= x
        return np.sum(p.w**2) + p.b

    holds(f, Params(X), X + 1, wrt=(0, 1))


def test_dataclasses_hold_lists_dicts_and_records():
    def f(c):
        s = 0.0
        for k, p in enumerate(c.parts):
            s += p.mass * np.sum(p.position) * (k + 1)
        c.table["new"] = s * c.pair.x
        return c.table["new"] + c.table["old"] * c.pair.y

    c = Config([Frozen(1.0, X), Frozen(2.0, X * 2)], {"old": 0.7}, Point(0.2, 0.3))
    assert type(holds(f, c)) is Config


# ---- objects ----


def test_the_gradient_of_an_object_is_one():
    def f(model, x):
        return model.loss(x, y=0.3)

    model = Linear(W, X[:2])
    found = grad(f, (0, 1))(model, X)
    assert type(found[0]) is Linear and found[0].activation is None
    np.testing.assert_allclose(found[1], grad(lambda x: np.sum((np.tanh(W @ x + X[:2]) * 1.5 - 0.3) ** 2))(X))


def test_bound_methods_and_callable_objects_are_differentiated():
    holds(MODEL.loss, X)
    holds(functools.partial(MODEL.loss, y=0.2), X)
    holds(lambda x: np.sum(Deep(W, 2.0)(x)), X)


def test_attributes_are_read_again_in_each_call():
    model = Linear(W.copy())
    g = grad(lambda x: np.sum(model(x)))
    first = g(X)
    model.w = W * 2
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum(np.tanh(W * 2 @ x) * 1.5))(X))
    model.w[...] = W
    np.testing.assert_allclose(g(X), first)
    model.b = np.ones(2)
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum(np.tanh(W @ x + 1) * 1.5))(X))
    model.activation = np.sin
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum(np.sin(W @ x + 1) * 1.5))(X))
    model.gain = 1.0
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum(np.sin(W @ x + 1)))(X))


def test_attributes_of_self_are_read_again_in_each_call():
    model = Linear(W.copy())
    g = grad(model.loss)
    g(X)
    model.w, model.activation = W * 2, np.sin
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum((np.sin(W * 2 @ x) * 1.5) ** 2))(X))


def test_class_attributes_are_read_again_in_each_call():
    class Local:
        k = 2.0

        def f(self, x):
            return np.sum(x * self.k)

    g = grad(Local().f)
    assert g(X)[0] == 2.0
    Local.k = 3.0
    assert g(X)[0] == 3.0
    Local.f = lambda self, x: np.sum(x) * 7
    assert grad(Local().f)(X)[0] == 7.0


def test_another_object_under_the_same_global_name():
    def f(x):
        return np.sum(m(x))  # noqa: F821  it is put among the globals below

    f = types.FunctionType(f.__code__, {**globals(), "m": Linear(W)}, "f")
    g = grad(f)
    g(X)
    f.__globals__["m"] = Deep(W, 3.0)
    np.testing.assert_allclose(g(X), grad(lambda x: np.sum(np.tanh(W @ x) * 4.5))(X))


def test_objects_made_inside_with_inheritance_and_super():
    def f(w, x):
        net = Net([Deep(w, x[0]), Linear(w.T)])
        y = net(x)
        return np.sum(y) * net.calls + len(net) * np.sum(net[0].w)

    holds(f, W, X, wrt=(0, 1))


def test_attributes_are_loop_variants():
    def f(x, n):
        a = Adder(0.0)
        for i in range(n):
            a.add(x[i % 3] * a.total + x[i % 2]).add(1.0)
        return a.total * a.count

    holds(f, X, 4)


def test_attributes_assigned_in_a_branch():
    def f(x):
        a = Adder(x[0])
        if x[1] > 0:
            a.total = x[2] ** 2
            a.extra = x[0]
        else:
            a.extra = x[1]
        return a.total * a.extra

    holds(f, X)
    holds(f, -X)


def test_two_names_of_one_object_see_the_same():
    def f(x):
        a = Adder(x[0])
        b = a
        keep = [a, {"k": a}]
        b.total = x[1] * 2
        keep[1]["k"].total *= x[2]
        return a.total + keep[0].total * b.total

    holds(f, X)


def test_objects_chosen_by_a_branch():
    def f(x):
        a, b = Adder(x[0]), Adder(x[1] * 2)
        c = a if x[2] > 0 else b
        return c.total * x[0]

    holds(f, X)
    holds(f, -X)


def test_writing_to_an_object_chosen_by_a_branch_is_seen_in_it():
    def f(x):
        a, b = Adder(x[0]), Adder(x[1])
        c = a if x[2] > 0 else b
        c.total = x[0] * 3
        return a.total + c.total

    for sign in (1, -1):
        check_grads(f, (sign * X,))


def test_an_object_put_on_a_list_of_unknown_length_and_changed_later():
    def f(x, n):
        a = Adder(x[0])
        kept = []
        for _ in range(n):
            kept.append(a)
        a.total = x[1] * 10
        return kept[0].total

    refused(f, X, 2)


def test_an_object_read_from_a_list_of_unknown_length_and_changed():
    def f(x, n):
        kept = []
        for i in range(n):
            kept.append(Adder(x[i]))
        kept[0].total = 3.0 * x[0]
        return kept[0].total

    refused(f, X, 2)


def test_writes_into_arrays_of_global_objects_are_refused():
    def f(x):
        MODEL.b[0] = x[0]
        return np.sum(MODEL.b)

    refused(f, X)


def test_one_object_given_twice_and_written():
    def f(a, b):
        a.total = a.total * 2
        return a.total + b.total

    a = Adder(1.5)
    refused(f, a, a, error=AliasError)
    assert grad(f, (0, 1))(Adder(1.0), Adder(2.0))[0].total == 2.0


def test_one_list_given_twice_and_written():
    def f(a, b):
        a[0] = a[0] * 2
        return a[0] + b[0]

    a = [1.5]
    refused(f, a, a, error=AliasError)


def test_frozen_objects_and_missing_attributes_are_refused():
    def assigns(x):
        p = Frozen(1.0, x)
        p.mass = x[0]
        return p.mass

    def misses(x):
        return Adder(x[0]).nothing

    def assigns_a_field(x):
        p = Point(x[0], 1.0)
        p.x = 2.0
        return p.x

    refused(assigns, X, match="frozen", error=UnsupportedSyntaxError)
    refused(misses, X, match="no attribute", error=AttributeError)
    refused(assigns_a_field, X, match="_replace", error=UnsupportedSyntaxError)


def test_circles_of_objects():
    node, other = types.SimpleNamespace(w=X), types.SimpleNamespace(w=X * 2)
    node.next, other.next = other, node
    holds_ = grad(lambda x: np.sum(node.w * node.next.w * x))(X)
    np.testing.assert_allclose(holds_, 2 * X * X)


def test_simple_namespaces_getattr_and_isinstance():
    def f(x, p):
        n = types.SimpleNamespace(a=x * 2, b=1.0)
        n.c = n.a[0]
        s = n.c + getattr(n, "none", 3.0) if hasattr(n, "a") else 0.0
        return s * (2.0 if isinstance(p, Params) else 1.0) * (2.0 if isinstance(Point(1, 2), tuple) else 1.0)

    holds(f, X, Params(X))


# ---- functions as values ----


def test_functions_in_dicts_lists_and_loops():
    def f(x, name):
        table = {"a": np.tanh, "b": lambda v: v**2, **STEPS}
        y = table[name](x)
        for step in [np.sin, lambda v: v * x[0], table["square"]]:
            y = step(y)
        scaled = [lambda v, k=k: v * k for k in (1.0, 2.0, 3.0)]
        return np.sum(y) + scaled[2](x[1]) + scaled[0](x[0])

    for name in ("a", "b", "sine"):
        holds(f, X, name)


def test_partials_made_inside_and_outside():
    def power(x, p, scale=1.0):
        return scale * np.sum(x**p)

    square = functools.partial(power, p=2)

    def f(x):
        cube = functools.partial(power, scale=x[0], p=3)
        again = functools.partial(cube, x)
        return square(x) + cube(x) + again() + functools.partial(np.multiply, x[1])(2.0)

    holds(f, X)


def test_bound_methods_are_values():
    def f(x):
        a = Adder(0.0)
        put = a.add
        for v in (x[0], x[1] * 2):
            put(v)
        act = MODEL.activation
        return a.total**2 + np.sum(list(map(Params(x[:1]).square, [x[0], x[2]]))) + np.sum(act(x))

    holds(f, X)


def test_functions_as_arguments_are_static():
    def f(x, fns, how):
        for fn in fns:
            x = fn(x)
        return np.sum(how(x))

    holds(f, X, [np.sin, np.tanh], lambda v: v * 2)
    holds(f, X, [np.cos], Params(X))


def test_closures_over_local_objects():
    def f(x):
        a = Adder(x[0])

        def bump(k):
            a.total = a.total * k
            return a.total

        return bump(x[1]) + bump(x[2])

    holds(f, X)


# ---- arrays inside lists ----


def test_arrays_of_a_list_updated_in_place():
    def f(params, grads, lr):
        for p, g in zip(params, grads):
            p -= lr * g
        return sum(np.sum(p**2) for p in params)

    holds(f, [X.copy(), X * 2], [X * 3, X + 1], 0.1, wrt=(0, 1, 2))


def test_items_of_a_list_replaced_by_index():
    def f(params, lr):
        for i in range(len(params)):
            params[i] = params[i] - lr * params[i] ** 2
        return sum(np.sum(p**2) for p in params)

    holds(f, [X.copy(), X * 2], 0.1, wrt=(0, 1))


def test_two_lists_one_of_which_is_written():
    def f(x):
        a, b = [x[0], x[1]], [x[1], x[2]]
        c = a if x[0] > 0 else b
        c[0] = x[2] * 2
        return a[0] * 3 + c[0]

    for sign in (1, -1):
        check_grads(f, (sign * X,))


# ---- what is the same object ----


def test_what_was_read_from_a_list_stays_what_it_was():
    def f(x, n):
        hs = [x]
        for _ in range(n):
            last = hs[-1]
            hs.append(np.sin(last) * 2)
            s = last[1] * 3
        return np.sum(hs[-1]) + s

    holds(f, X, 3)


def test_items_of_a_list_written_through_a_loop_over_two_sequences():
    def f(x):
        a, b = x * 2, x * 3
        for w, k in zip([a, b], x):
            w *= k
        return np.sum(a) + np.sum(b)

    holds(f, X)
    holds(f, X[:1])


def test_what_an_arm_changed_is_seen_under_the_name_that_it_gave():
    def f(x, p):
        b = Adder(x[0])
        if x[1] > 0:
            b = p.add(x[2])
        else:
            p.total = x[1]
        return b.total * 2 + x[0]

    holds(f, X, Adder(0.5), wrt=0)
    holds(f, -X, Adder(0.5), wrt=0)


def test_objects_renamed_in_a_loop_are_still_the_same():
    def f(x):
        a, b = Adder(x[0]), Adder(x[1])
        for _ in range(2):
            c = a.add(x[2])
        c.total = x[0] * 5
        return a.total + b.total

    check_grads(f, (X,))


def test_two_names_of_one_object_before_a_loop():
    def f(x, n):
        a = Adder(x[0])
        b = a
        for _ in range(n):
            if x[1] > 5:
                a = a.add(1.0)
                b = Adder(x[2])
        a.total = x[2] * 2
        return b.total

    refused(f, X, 1, error=AliasError)


def test_identity_is_that_of_python():
    def f(x):
        a = Adder(x[0])
        b, c = a, Adder(x[0])
        return (a.total if a is b else 1.0) * (x[1] if a is c else x[2])

    holds(f, X)


def test_a_global_object_that_is_also_an_argument_and_written():
    def f(m, x):
        m.total = x[0] * 2
        return SHARED.total * m.total

    refused(f, SHARED, X, wrt=1, error=AliasError)
    grad(f, 1)(Adder(2.0), X)


def test_numpy_functions_take_lists_of_numbers():
    def f(x):
        return np.sum([x[0] ** 2, x[1]]) + np.mean((x[0], x[2])) + np.max([x, x * 2]) + np.sum([x[0], x[1]] * x[:2])

    holds(f, X)


SHARED = Adder(1.5)
