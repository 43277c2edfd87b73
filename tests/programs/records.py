"""Named tuples, dataclasses, plain objects; arguments and gradients with their structure."""

import collections
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.programs import program

Point = namedtuple("Point", ["x", "y"])
State = collections.namedtuple("State", "position velocity")


class Layer(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray


@dataclass
class Parameters:
    rate: float
    weights: np.ndarray
    name: str = "p"

    def penalty(self):
        return self.rate * np.sum(self.weights**2)


@dataclass(frozen=True)
class Particle:
    mass: float
    position: np.ndarray
    history: list = field(default_factory=list)

    @property
    def momentum(self):
        return self.mass * self.position


class Model:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def predict(self, x):
        return np.tanh(self.w @ x + self.b)


class Counter:
    def __init__(self):
        self.n = 0
        self.total = 0.0

    def add(self, value):
        self.n += 1
        self.total = self.total + value
        return self


@program(args=(Point(1.5, -0.5),), level="python")
def named_tuple_argument(p):
    return p.x * p.y**2 + p[0] ** 2


@program(args=lambda rng: ([Layer(rng.normal(size=(3, 2)), rng.normal(size=3)), Layer(rng.normal(size=(2, 3)), rng.normal(size=2))], rng.normal(size=2)), wrt=(0, 1), level="python")
def layers_as_named_tuples(layers, x):
    for layer in layers:
        x = np.tanh(layer.weight @ x + layer.bias)
    w, b = layers[0]
    return np.sum(x**2) + np.sum(w) * b[0]


@program(args=lambda rng: (rng.normal(size=2), 0.1), wrt=(0, 1), level="python")
def named_tuple_as_a_state(x0, dt):
    s = State(x0, np.array([0.0, 1.0]))
    for _ in range(4):
        v = s.velocity - dt * s.position**3
        s = s._replace(velocity=v, position=s.position + dt * v)
    return s.position @ s.velocity + State(position=dt, velocity=2.0).position


@program(args=lambda rng: (Parameters(0.3, rng.normal(size=3)), rng.normal(size=3)), wrt=(0, 1), level="python")
def dataclass_argument(p, x):
    return np.sum(p.weights * x) ** 2 + p.penalty() + (p.rate if p.name == "p" else 0.0)


@program(args=lambda rng: (2.0, rng.normal(size=3)), wrt=(0, 1), level="python")
def dataclass_made_inside(m, x):
    p = Particle(m, x * 2)
    q = replace(p, mass=p.mass * x[0])
    r = Parameters(rate=m, weights=q.momentum)
    r.weights = r.weights + p.position
    r.rate *= 2
    return np.sum(p.momentum * q.position) + r.penalty()


@program(args=lambda rng: (Model(rng.normal(size=(2, 3)), rng.normal(size=2)), rng.normal(size=3)), wrt=(0, 1), level="python")
def plain_object_argument(model, x):
    return np.sum(model.predict(x) ** 2) + model.b[0]


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def object_with_state(x):
    c = Counter()
    for e in x:
        c.add(e * e)
    c.add(x[0]).add(c.total)
    return c.total / c.n


@program(args=lambda rng: (Model(rng.normal(size=(2, 2)), rng.normal(size=2)), rng.normal(size=2)), wrt=1, level="python")
def object_argument_written(model, x):
    model.b = model.b + x
    model.w[0] *= x
    return np.sum(model.predict(x))


@program(args=lambda rng: ([Particle(1.0, rng.normal(size=2)), Particle(2.5, rng.normal(size=2))],), level="python")
def list_of_dataclasses(particles):
    energy = 0.0
    for i, a in enumerate(particles):
        for b in particles[i + 1 :]:
            d = a.position - b.position
            energy += a.mass * b.mass / np.sqrt(d @ d + 0.1)
    return energy


@program(args=lambda rng: (rng.normal(size=4),), level="python")
def default_dict_and_friends(x):
    groups = defaultdict(float)
    for i, e in enumerate(x):
        groups[i % 2] += e**2
    queue = collections.deque([x[0], x[1]])
    queue.append(x[2])
    first = queue.popleft()
    ordered = collections.OrderedDict(a=x[3])
    return groups[0] * groups[1] + first * queue[0] + ordered["a"] ** 2


@program(args=lambda rng: ({"layer": Layer(rng.normal(size=(2, 2)), rng.normal(size=2)), "pair": (Point(0.5, 1.5), [0.3])}, rng.normal(size=2)), level="python")
def records_inside_containers(p, x):
    h = p["layer"].weight @ x + p["layer"].bias
    point, (s,) = p["pair"]
    return np.sum(h**2) * s + point.x**point.y
