"""Drawings with Matplotlib inside a function: they are made as in the function, and no derivative passes through them."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


class Drawn:
    def __init__(self, v, show=True):
        self.v, self.seen = v, []
        self.fig, self.ax = plt.subplots(figsize=(2, 2))
        self.ax.plot([0, 1], [0, v], label="a")

    def value(self):
        self.seen.append(self.v * self.v)
        return self.seen[-1] * 2

    def draw(self):
        _, ax = plt.subplots()
        ax.plot(np.array(self.seen))
        return ax


def in_a_class(x):
    drawn = Drawn(x)
    y = drawn.value()
    ax = drawn.draw()
    ax.set_title(f"{x}")
    plt.close("all")
    return y


def in_a_loop(x):
    total, a = 0.0, np.array([x, 2.0])
    plt.figure()
    for i in range(3):
        total += x * i * a[0]
        plt.plot([i], [total])
    plt.scatter(a, a * 2, c="r")
    a[0] = 5 * x
    plt.close("all")
    return total + np.sum(a)


def parts_of_a_figure(x):
    fig, (left, right) = plt.subplots(1, 2)
    (line,) = left.plot([1, 2], [x, x])
    line.set_label("line")
    fig.add_subplot(111).plot([x])
    right.plot([x])
    right.xaxis.set_visible(False)
    plt.close(fig)
    return x * x


@pytest.mark.parametrize("f", [in_a_class, in_a_loop, parts_of_a_figure], ids=lambda f: f.__name__)
def test_what_is_drawn_has_no_derivative(f):
    value, slope = value_and_grad(f, verify=False)(1.7)
    assert value == pytest.approx(f(1.7), rel=1e-12)
    assert slope == pytest.approx((f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6, rel=1e-6)


def test_a_figure_is_made():
    def f(x):
        plt.figure()
        plt.plot([x], [x])
        return x * x

    plt.close("all")
    value_and_grad(f, verify=False)(1.7)
    assert [line.get_xdata()[0] for line in plt.gca().lines] == [1.7]
    plt.close("all")


def test_a_number_that_is_read_from_a_drawing_is_refused():
    with pytest.raises(SourceADError, match="read from a drawing"):
        value_and_grad(lambda x: plt.plot([x], [x])[0].get_xdata()[0] * x, verify=False)(1.7)
