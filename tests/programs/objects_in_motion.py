"""Programs with state in objects, dataclasses, dicts and closures."""

import enum
import itertools
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.programs import program
from tests.programs.polybench import normal


@program(args=lambda rng: (rng.uniform(0.1, 0.9, size=(3, 2)), rng.normal(size=(3, 2))), wrt=(0, 1), level="python")
def particles_in_box(pos, vel):
    dt = 0.31
    for step in range(5):
        pos = pos + dt * vel
        over = pos > 1
        under = pos < 0
        pos = np.where(over, 2 - pos, pos)
        pos = np.where(under, -pos, pos)
        vel[over | under] *= -0.9
    return np.sum(pos**2) + np.sum(vel * pos)


Z = np.random.default_rng(3).normal(size=(6, 4))


class Body:
    def __init__(self, pos, vel, mass):
        self.pos, self.vel, self.mass = pos, vel, mass
        self.force = np.zeros(2)

    def step(self, dt):
        self.vel = self.vel + dt * self.force / self.mass
        self.pos = self.pos + dt * self.vel
        self.force = np.zeros(2)

    @property
    def kinetic(self):
        return 0.5 * self.mass * np.sum(self.vel**2)


class World:
    G = 0.7

    def __init__(self, bodies):
        self.bodies = bodies

    def step(self, dt):
        for a, b in itertools.combinations(self.bodies, 2):
            d = b.pos - a.pos
            f = self.G * a.mass * b.mass * d / (d @ d + 0.1) ** 1.5
            a.force = a.force + f
            b.force = b.force - f
        for b in self.bodies:
            b.step(dt)

    def energy(self):
        return sum(b.kinetic for b in self.bodies)


@program(args=normal((3, 2), (3, 2)), wrt=(0, 1), level="python")
def physics_world(pos, vel):
    w = World([Body(p, v, m) for p, v, m in zip(pos, vel, [1.0, 2.0, 0.5])])
    for _ in range(3):
        w.step(0.05)
    return w.energy() + np.sum(w.bodies[0].pos)


class BodyIP(Body):
    def push(self, f):
        self.force += f

    def step(self, dt):
        self.vel += dt * self.force / self.mass
        self.pos += dt * self.vel
        self.force[:] = 0


@program(args=normal((3, 2), (3, 2)), wrt=(0, 1), level="python")
def physics_in_place(pos, vel):
    bodies = [BodyIP(pos[i].copy(), vel[i].copy(), 1.0 + i) for i in range(3)]
    for _ in range(3):
        for i in range(3):
            for j in range(i + 1, 3):
                d = bodies[j].pos - bodies[i].pos
                f = d / (d @ d + 0.1)
                bodies[i].push(f)
                bodies[j].push(-f)
        for b in bodies:
            b.step(0.1)
    return sum(np.sum(b.pos**2) for b in bodies)


@dataclass
class Spring:
    i: int
    j: int
    k: float = 1.0
    rest: float = 0.5

    def force(self, pos):
        d = pos[self.j] - pos[self.i]
        l = np.sqrt(np.sum(d**2))
        return self.k * (l - self.rest) * d / l


@program(args=normal((4, 2)), level="python")
def mass_springs(pos):
    springs = [Spring(0, 1), Spring(1, 2, k=2.0), Spring(2, 3, rest=0.3), Spring(0, 3)]
    vel = np.zeros_like(pos)
    for _ in range(4):
        F = np.zeros_like(pos)
        for s in springs:
            f = s.force(pos)
            F[s.i] += f
            F[s.j] -= f
        vel += 0.1 * F
        vel *= 0.99
        pos = pos + 0.1 * vel
    return np.sum(pos**2)


class State(NamedTuple):
    x: np.ndarray
    v: np.ndarray
    t: float = 0.0


@program(args=normal((3,), (3,)), wrt=(0, 1), level="python")
def namedtuple_state(x, v):
    s = State(x, v)
    for _ in range(4):
        a = -np.sin(s.x)
        s = s._replace(x=s.x + 0.1 * s.v, v=s.v + 0.1 * a, t=s.t + 0.1)
    return np.sum(s.x * s.v) + s.t


OPS = {"+": operator.add, "*": operator.mul, "-": operator.sub}


@program(args=normal((3,)), level="python")
def rpn_calculator(x):
    stack = []
    for tok in "0 1 * 2 + 0 -".split():
        if tok in OPS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPS[tok](a, b))
        else:
            stack.append(x[int(tok)])
    return stack[-1] ** 2


class Poly:
    def __init__(self, *c):
        self.c = c

    def __call__(self, x):
        return sum(c * x**i for i, c in enumerate(self.c))

    def __add__(self, o):
        return Poly(*(a + b for a, b in itertools.zip_longest(self.c, o.c, fillvalue=0)))

    def __mul__(self, o):
        out = [0] * (len(self.c) + len(o.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(o.c):
                out[i + j] += a * b
        return Poly(*out)

    @property
    def derivative(self):
        return Poly(*(i * c for i, c in enumerate(self.c) if i))

    @classmethod
    def constant(cls, k):
        return cls(k)

    @staticmethod
    def twice(x):
        return 2 * x


@program(args=(0.5, 1.5, -0.7), wrt=(0, 1, 2), level="python")
def polynomials(a, b, x):
    p = Poly(a, b, 1.0) + Poly(1.0, a)
    q = p * Poly(b, 2.0)
    return q(x) + q.derivative(x) + Poly.constant(a)(x) + Poly.twice(x)


class Dual:
    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    def __add__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v)

    __rmul__ = __mul__

    def __pow__(self, n):
        return Dual(self.v**n, n * self.v ** (n - 1) * self.d)

    def __neg__(self):
        return Dual(-self.v, -self.d)

    def __sub__(self, o):
        return self + (-o if isinstance(o, Dual) else -o)


@program(args=(0.7, 1.3), wrt=(0, 1), level="python")
def dual_numbers(x, y):
    X = Dual(x, 1.0)
    Z = 3.0 * X**3 + X * y - y
    return Z.d * Z.v


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __sub__(self, o):
        return Vec(self.x - o.x, self.y - o.y)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __abs__(self):
        return (self @ self) ** 0.5

    def __iter__(self):
        yield self.x
        yield self.y

    def __eq__(self, o):
        return self.x == o.x and self.y == o.y


@program(args=normal((4,)), level="python")
def vectors(p):
    a, b = Vec(p[0], p[1]), Vec(p[2], p[3])
    return abs(a - b) + (a @ b)


@dataclass
class Circle:
    r: float


@dataclass
class Rect:
    w: float
    h: float


@program(args=normal((3,)), level="python")
def match_classes(x):
    total = 0.0
    for shape in (Circle(x[0]), Rect(x[1], h=x[2])):
        match shape:
            case Circle(r=r):
                total += np.pi * r**2
            case Rect(w, h):
                total += w * h
    return total


class Counter:
    def __init__(self):
        self.total = 0.0
        self.n = 0
        self.hist = []

    def add(self, v):
        self.total += v
        self.n += 1
        self.hist.append(v)
        return self

    @property
    def mean(self):
        return self.total / self.n


@program(args=normal((5,)), level="python")
def running_mean_object(x):
    c = Counter()
    for e in x:
        c.add(e).add(e * e)
    return c.mean * c.hist[-1] + sum(c.hist[:2])


class Welford:
    def __init__(self, d):
        self.mean = np.zeros(d)
        self.m2 = np.zeros(d)
        self.n = 0

    def update(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)


@program(args=normal((5, 3)), level="python")
def welford_in_place(x):
    w = Welford(3)
    for row in x:
        w.update(row)
    return np.sum(np.sqrt(w.m2 / (w.n - 1))) + np.sum(w.mean**2)


class Adam:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr
        self.m = [np.zeros_like(p) for p in params]
        self.v = [np.zeros_like(p) for p in params]
        self.t = 0

    def step(self, grads):
        self.t += 1
        for i, (p, g) in enumerate(zip(self.params, grads)):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g
            self.v[i] = 0.99 * self.v[i] + 0.01 * g**2
            mh = self.m[i] / (1 - 0.9**self.t)
            vh = self.v[i] / (1 - 0.99**self.t)
            p -= self.lr * mh / (np.sqrt(vh) + 1e-8)


@program(args=normal((2,), (3,), (2,), (3,)), wrt=(0, 1, 2, 3), level="python")
def adam_in_place(a, b, ta, tb):
    opt = Adam([a, b])
    for _ in range(3):
        opt.step([a - ta, b - tb])
    return np.sum(a**2) + np.sum(np.sin(b))


class Mode(enum.Enum):
    LINEAR = "linear"
    CUBIC = "cubic"


@program(args=normal((6,)), wrt=0, level="python")
def enum_mode(x, mode=Mode.CUBIC):
    if mode is Mode.LINEAR:
        return np.sum(x)
    elif mode == Mode.CUBIC:
        return np.sum(x**3)
    raise NotImplementedError


@program(args=normal((6,)), level="python")
def generator_function_by_hand(x):
    def windows(a, k):
        for i in range(len(a) - k + 1):
            yield a[i : i + k]

    return sum(np.prod(w) for w in windows(x, 3))
