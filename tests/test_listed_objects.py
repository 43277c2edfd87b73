"""Objects in a list whose attributes are assigned: bodies that attract each other, cells with neighbours, layers of neurons."""

from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad

rng = np.random.default_rng(0)


class Body:
    def __init__(self, mass, position):
        self.mass, self.position, self.velocity, self.force = mass, position, np.zeros(2), np.zeros(2)

    def pull(self, other):
        d = other.position - self.position
        f = self.mass * other.mass * d / (d @ d + 0.1)
        self.force = self.force + f
        other.force = other.force - f

    def step(self, dt):
        self.velocity += dt * self.force / self.mass
        self.position = self.position + dt * self.velocity
        self.force = np.zeros(2)


def bodies(positions, masses):
    bodies = [Body(m, p) for m, p in zip(masses, positions)]
    for _ in range(3):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                a.pull(b)
        for b in bodies:
            b.step(0.1)
    return sum(b.mass * b.velocity @ b.velocity + b.position @ b.position for b in bodies)


@dataclass
class Cell:
    height: float


def neighbours(x):
    cells = []
    for i in range(4):
        cells.append(Cell(x[i]))
    for _ in range(5):
        new = [0.5 * c.height + 0.25 * (cells[i - 1].height + cells[(i + 1) % 4].height) for i, c in enumerate(cells)]
        for c, height in zip(cells, new):
            c.height = np.tanh(height)
    first = cells[0]
    first.height *= 2
    return sum(c.height**2 for c in cells)


class Neuron:
    def __init__(self, w):
        self.w, self.out = w, 0.0


class Layer:
    def __init__(self, weights):
        self.neurons = [Neuron(w) for w in weights]

    def forward(self, x):
        for n in self.neurons:
            n.out = np.tanh(n.w @ x)
        return np.array([n.out for n in self.neurons])


def layers(a, b, x):
    network = [Layer(a), Layer(b)]
    for layer in network:
        x = layer.forward(x)
    return x @ x + network[0].neurons[1].out


def long_series(x, n):
    """The loop over time is a loop; those over the cells are written out."""
    cells = [Cell(v) for v in x]
    for _ in range(n):
        for i in range(1, 3):
            cells[i].height = np.sin(cells[i - 1].height) + 0.5 * cells[i].height
    return cells[-1].height


@pytest.mark.parametrize(
    "f, args",
    [
        (bodies, (rng.normal(size=(3, 2)), np.array([1.0, 0.5, 2.0]))),
        (neighbours, (rng.normal(size=4),)),
        (layers, tuple(rng.normal(size=s) for s in ((3, 3), (3, 3), 3))),
    ],
)
def test_assigned_attributes(f, args):
    check_grads(f, args, wrt=tuple(range(len(args))))


def test_only_the_loops_over_objects_are_written_out():
    x = np.array([0.3, -0.2, 0.8])
    check_grads(long_series, (x, 200), wrt=0)
    text = grad(long_series).lower(x, 200).text
    assert text.count("\n    for ") == 2 and len(text.splitlines()) < 40


def unknown_number(x):
    cells = [Cell(v) for v in x]
    for c in cells:
        c.height = c.height**2
    return sum(c.height for c in cells)


def unknown_place(x):
    cells = [Cell(v) for v in x]
    highest = max(cells, key=lambda c: c.height)
    highest.height = 2.0
    return sum(c.height for c in cells)


@pytest.mark.parametrize("f, n", [(unknown_number, 70), (unknown_place, 9)])
def test_refused(f, n):
    with pytest.raises(SourceADError, match="it was read from a list"):
        grad(f)(np.linspace(0.1, 1.0, n))
