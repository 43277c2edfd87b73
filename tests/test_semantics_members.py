"""Members of enumerations that the run decides: their class, their attributes and methods, dicts of them, and state machines."""

import dataclasses
import math
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag

import numpy as np
import pytest

from sourcead import hvp
from sourcead.errors import SourceADError
from tests.semantics import differences, judged_in_all_modes

pytestmark = pytest.mark.sampled(8)


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    ALSO = 2


class Other(IntEnum):
    A = 1
    B = 2


class Name(str, Enum):
    LOW = "low"
    HIGH = "high"


class Planet(Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.3)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return self.mass / self.radius**2

    def force(self, q, k=1.0):
        return self.gravity * q * k

    @classmethod
    def of(cls, q):
        return cls.EARTH if q > 0 else cls.MARS

    @staticmethod
    def opposite(q):
        return Planet.MARS if q > 0 else Planet.EARTH


class Gain(float, Enum):
    A = 0.5
    B = 1.5


class Op(Enum):
    ADD = "+"
    MUL = "*"

    def __call__(self, a, b):
        return a + b if self is Op.ADD else a * b


class Act(Enum):
    TANH = "tanh"
    SIN = "sin"

    def apply(self, q):
        return {"tanh": np.tanh, "sin": np.sin}[self.value](q)


class Mode(IntFlag):
    R = 1
    W = 2


@dataclass
class Cell:
    kind: Level
    v: float


def level(q):
    return Level.LOW if q > 0 else Level.HIGH


def name_of(q):
    return Name.LOW if q > 0 else Name.HIGH


def planet(q):
    return Planet.EARTH if q > 0 else Planet.MARS


W = 4  # the position of the number that the programs calculate with

PROGRAMS = [
    lambda x, w: w if level(x[0]) > Level.LOW else 3*w,
    lambda x, w: w if isinstance(level(x[0]) + 1, Level) else 3*w,
    lambda x, w: w if isinstance(-level(x[0]), Level) else 3*w,
    lambda x, w: w if isinstance(max(level(x[0]), level(x[1])), Level) else 3*w,
    lambda x, w: w * max(level(x[0]), level(x[1])).value,
    lambda x, w: (w if max(level(x[0]), level(x[1])).name == "LOW" else 3*w),
    lambda x, w: w if isinstance(int(level(x[0])), Level) else 3*w,
    lambda x, w: w if isinstance(level(x[0]) if x[1] > 0 else 2, Level) else 3*w,
    lambda x, w: w if isinstance(Level.LOW if x[1] > 0 else 2, Level) else 3*w,
    lambda x, w: w if type(Level.LOW if x[1] > 0 else 1) is int else 3*w,
    lambda x, w: w if isinstance(Level.LOW if x[1] > 0 else Other.B, Other) else 3*w,
    lambda x, w: w if (Level.LOW if x[1] > 0 else Other.A) == 1 else 3*w,
    lambda x, w: w if (Level.LOW if x[1] > 0 else Other.A) is Level.LOW else 3*w,
    lambda x, w: w if (Level.ALSO if x[1] > 0 else Level.LOW).name == "HIGH" else 3*w,
    lambda x, w: w if level(x[0]).__class__ is Level else 3*w,
    lambda x, w: w*len(type(level(x[0])).__name__),
    lambda x, w: w*len(f"{level(x[0]).name}"),
    lambda x, w: w*len(str(level(x[0]))),
    lambda x, w: w*len(repr(level(x[0]))),
    lambda x, w: x[level(x[0])] * w,
    lambda x, w: sum(x[i] for i in range(level(x[0]))) * w,
    lambda x, w: sum([w] * level(x[0])),
    lambda x, w: w ** level(x[0]),
    lambda x, w: (np.array([1., 2.]) * level(x[0])).sum() * w,
    lambda x, w: x[[level(x[0]), level(x[1])]].sum() * w,
    lambda x, w: w if level(x[0]) in [Level.LOW] else 3*w,
    lambda x, w: w if level(x[0]) in (1, 5) else 3*w,
    lambda x, w: w if isinstance(level(x[0]), (float, int)) else 3*w,
    lambda x, w: w if isinstance(level(x[0]), (float, Other)) else 3*w,
    lambda x, w: w * sum([level(q) for q in x]),
    lambda x, w: w * [level(q) for q in x][2].value,
    lambda x, w: w * [level(q) for q in x].count(Level.LOW),
    lambda x, w: w * dict(zip("abcde", map(level, x)))["c"].value,
    lambda x, w: (lambda c: c.v * c.kind.value)(Cell(level(x[0]), w)),
    lambda x, w: (lambda c: c.v * (2 if c.kind is Level.LOW else 5))(dataclasses.replace(Cell(Level.LOW, w), kind=level(x[0]))),
    lambda x, w: Planet.of(x[0]).mass * w,
    lambda x, w: Planet.of(x[0]).gravity * w,
    lambda x, w: Planet.of(x[0]).force(w, k=x[1]),
    lambda x, w: Planet.of(x[0]).value[1] * w,
    lambda x, w: Planet.of(x[0]).opposite(w).radius * w,
    lambda x, w: sum(Planet.of(q).force(w) for q in x),
    lambda x, w: (Gain.A if x[0] > 0 else Gain.B) * w,
    lambda x, w: w if isinstance(Gain.A if x[0] > 0 else Gain.B, Gain) else 3*w,
    lambda x, w: w if type(Gain.A if x[0] > 0 else Gain.B) is float else 3*w,
    lambda x, w: w * (Gain.A if x[0] > 0 else Gain.B).value,
    lambda x, w: (Op.ADD if x[0] > 0 else Op.MUL)(w, x[1]),
    lambda x, w: (w if Op("+" if x[0] > 0 else "*") is Op.ADD else x[1]*w),
    lambda x, w: (Act.TANH if x[0] > 0 else Act.SIN).apply(w),
    lambda x, w: w*len(name_of(x[0]).value),
    lambda x, w: w if name_of(x[0]).upper() == "LOW" else 3*w,
    lambda x, w: w if isinstance(name_of(x[0]), Name) else 3*w,
    lambda x, w: w if isinstance(name_of(x[0]) if x[1] > 0 else "low", Name) else 3*w,
    lambda x, w: w if type(name_of(x[0])) is str else 3*w,
    lambda x, w: {Name.LOW: w, Name.HIGH: x[0]}[name_of(x[0])],
    lambda x, w: w*len("a" + name_of(x[0])),
    lambda x, w: w * ((Mode.R if x[0] > 0 else Mode.W) | Mode.W),
    lambda x, w: w if isinstance((Mode.R if x[0] > 0 else Mode.W), Mode) else 3*w,
    lambda x, w: Level(level(x[0])).value*w,
    lambda x, w: Level(level(x[0]) % 2 + 1).value*w,
    lambda x, w: w if hash(level(x[0])) == 1 else 3*w,
    lambda x, w: w*sorted([level(q) for q in x])[0].value,
    lambda x, w: w*sorted([Planet.of(q) for q in x], key=lambda p: p.mass)[0].mass,
    lambda x, w: w*max([Planet.of(q) for q in x], key=lambda p: p.mass).radius,
    lambda x, w: w * {Planet.EARTH: {Level.LOW: 1.0, Level.HIGH: 2.0}, Planet.MARS: {Level.LOW: 3.0}}[Planet.of(x[0])].get(Level.LOW),
    lambda x, w: w * {(Planet.EARTH, Level.LOW): 1.0, (Planet.MARS, Level.LOW): 3.0}[Planet.of(x[0]), Level.LOW],
    lambda x, w: level(x[0]).value * w,
    lambda x, w: level(x[0]) * w,
    lambda x, w: (w if level(x[0]).name == "LOW" else 2*w),
    lambda x, w: (w if level(x[0]) is Level.LOW else 2*w),
    lambda x, w: (w if level(x[0]) == 1 else 2*w),
    lambda x, w: (w if isinstance(level(x[0]), Level) else 2*w),
    lambda x, w: (w if type(level(x[0])) is int else 2*w),
    lambda x, w: {Level.LOW: w, Level.HIGH: x[1]}[level(x[0])],
    lambda x, w: {Level.LOW: 1.0, Level.HIGH: 3.0}[level(x[0])]*w,
    lambda x, w: (w if f"{level(x[0])}" == "1" else 2*w),
    lambda x, w: (w if "LOW" in repr(level(x[0])) else 2*w),
    lambda x, w: Level(int(x[0] > 0) + 1) * w,
    lambda x, w: Level(int(x[0] > 0) + 1).value * w,
    lambda x, w: sum(w*k.value for k in Level if k == level(x[0])),
    lambda x, w: [w, x[1]][level(x[0]) - 1],
    lambda x, w: planet(x[0]).value[0] * w,
    lambda x, w: (w if planet(x[0]).name == "LOW" else 2*w),
    lambda x, w: {"EARTH": w, "MARS": x[1]}[planet(x[0]).name],
    lambda x, w: (w if planet(x[0]) is Planet.EARTH else 2*w),
    lambda x, w: (w if isinstance(planet(x[0]), Planet) else 2*w),
    lambda x, w: {Planet.EARTH: w, Planet.MARS: x[1]}[planet(x[0])],
    lambda x, w: {Planet.EARTH: 1.0, Planet.MARS: 3.0}[planet(x[0])]*w,
    lambda x, w: {Planet.EARTH: math.sin, Planet.MARS: math.cos}[planet(x[0])](w),
    lambda x, w: planet(x[0]).gravity*w,
    lambda x, w: planet(x[0]).force(w),
    lambda x, w: (w if planet(x[0]) in (Planet.EARTH, None) else 2*w),
    lambda x, w: (w if planet(x[0]) in {Planet.EARTH} else 2*w),
    lambda x, w: (w if name_of(x[0]).value == "low" else 2*w),
    lambda x, w: (w if name_of(x[0]) == "low" else 2*w),
    lambda x, w: {"low": w, "high": x[1]}[name_of(x[0])],
    lambda x, w: len(name_of(x[0]))*w,
    lambda x, w: (w if name_of(x[0]) is Name.LOW else 2*w),
]  # fmt: skip


def machine(x, w):
    st, log = Level.LOW, []
    for q in x:
        log.append(st)
        if st == Level.LOW:
            st = Level.HIGH if q > 0 else Level.LOW
        else:
            st = Level(3 - st)
        w = w * (1 + 0.1 * q * st.value)
    return w * sum(k.value for k in log)


def machine2(x, w):
    st = Planet.EARTH
    trans = {Planet.EARTH: Planet.MARS, Planet.MARS: Planet.EARTH}
    for q in x:
        w = np.sin(w * st.mass + q)
        if q > 0:
            st = trans[st]
    return w * st.radius


def machine3(x, w):
    st = 0
    for q in x:
        if q > 0:
            st = Level.HIGH
        w = w + q * st
    return w if isinstance(st, Level) else 2 * w


def machine4(x, w):
    st = None
    for q in x:
        if q > 0.5:
            st = Level.HIGH
        w = w + q * (st or 0.3)
    return w if isinstance(st, Level) else 2 * w


def machine5(x, w):
    c = Cell(Level.LOW, w)
    for q in x:
        if q > 0:
            c.kind = Level.HIGH
        else:
            c.kind = c.kind + 1
        c.v = c.v * 0.5 + q * c.kind
    return c.v if isinstance(c.kind, Level) else c.v * 3


def whiles(x, w):
    st, i = Planet.MARS, 0
    while st is not Planet.EARTH and i < 4:
        w = w * st.mass + x[i] ** 2
        if x[i] > 0.9:
            st = Planet.EARTH
        i += 1
    return w * st.gravity


def swap(x, w):
    a, b = Planet.EARTH, Planet.MARS
    for q in x:
        if q > 0:
            a, b = b, a
        w = w * a.mass / b.radius + q
    return w


def while_a_member(x, w):
    state, i = Planet.MARS, 0
    while state is not Planet.EARTH:
        w = w * state.mass
        if x[i] > 0.2:
            state = Planet.EARTH
        i += 1
    return w


def sums_by_member(x, w):
    sums = dict.fromkeys(Planet, 0.0)
    for q in x:
        sums[Planet.of(q)] += q * w
    return sums[Planet.EARTH] - 3 * sums[Planet.MARS]


def matched(x, w):
    state = Level.LOW
    for q in x:
        match state:
            case Level.LOW:
                w = w * q
                state = Level.HIGH
            case Level.HIGH if q > 0:
                w = w + q
                state = level(q * w)
            case _:
                pass
    return w * state.value


MACHINES = [machine, machine2, machine3, machine4, machine5, whiles, swap, while_a_member, sums_by_member, matched]


@pytest.mark.parametrize("program", [*PROGRAMS, *MACHINES], ids=lambda f: f"{f.__name__} {f.__code__.co_firstlineno}")
@pytest.mark.parametrize("x", [(0.4, 0.8, -1.0, 2.0, 0.7), (-0.4, 0.8, 1.0, -2.0, 0.9), (0.4, -0.8, 1.0, -2.0, 0.9)])
def test_members_that_the_run_decides(program, x):
    def f(x):
        return program(x[:W], x[W])

    x = np.array(x)
    assert judged_in_all_modes(f, x) == "right"
    direction = np.array([0.3, -0.2, 0.5, 0.1, 1.0])
    slope = (differences(f, [x + 1e-3 * direction]) - differences(f, [x - 1e-3 * direction])) / 2e-3
    np.testing.assert_allclose(hvp(f, verify=False)(x, direction), slope, rtol=1e-3, atol=1e-4)


REFUSED = [
    lambda x, w: w * (Level.LOW if x[1] > 0 else Other.B).value,
    lambda x, w: w * ((Mode.R if x[0] > 0 else Mode.W) | Mode.W).value,
    lambda x, w: w * (Planet.EARTH if x[0] > 0 else None).mass,
]


@pytest.mark.parametrize("program", REFUSED)
def test_what_may_be_of_several_enumerations_is_refused(program):
    with pytest.raises(SourceADError):
        program_of_x = lambda x: program(x[:W], x[W])  # noqa: E731
        hvp(program_of_x, verify=False)(np.ones(5), np.ones(5))
