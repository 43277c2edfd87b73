"""Fits a neural ordinary differential equation to a spiral: `scipy.integrate.solve_ivp` inside the loss is differentiated as it is.

The right side is a small network of the cubes of the state (Chen, Rubanova, Bettencourt and Duvenaud, "Neural ordinary differential
equations", 2018, whose example this is). The parameters are a dict of arrays.

    python examples/neural_ode.py --plot spiral.png
    python examples/neural_ode.py --units 30 --show-gradient
"""

import argparse

import numpy as np
from comparison import picture
from scipy.integrate import solve_ivp

from sourcead import grad, minimize

TRUE = np.array([[-0.1, 2.0], [-2.0, -0.1]])
START = np.array([2.0, 0.0])
TOLERANCE = 1e-5


def velocity(y: np.ndarray, p: dict) -> np.ndarray:
    """Gives the velocity of a state of shape (2,) by a network with one hidden layer."""
    return p["out"] @ np.tanh(p["weights"] @ y**3 + p["shift"])


def path(p: dict, times: np.ndarray) -> np.ndarray:
    """Gives the states at these times, of shape (2, times)."""
    return solve_ivp(lambda t, y: velocity(y, p), (times[0], times[-1]), START, t_eval=times, rtol=TOLERANCE, atol=TOLERANCE).y


def loss(p: dict, times: np.ndarray, measured: np.ndarray) -> float:
    return np.mean((path(p, times) - measured) ** 2)


def made_data(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gives times and noisy places of a spiral, of shapes (count,) and (2, count)."""
    times = np.linspace(0.0, 4.0, count)
    states = solve_ivp(lambda t, y: TRUE @ y**3, (0.0, 4.0), START, t_eval=times, rtol=1e-9, atol=1e-9).y
    return times, states + 0.02 * np.random.default_rng(seed).normal(size=states.shape)


def draw(axes, times: np.ndarray, measured: np.ndarray, before: dict, after: dict) -> None:
    fine = np.linspace(times[0], times[-1], 400)
    axes.plot(*measured, ".", color="black", label="measured")
    axes.plot(*path(before, fine), "--", color="0.6", label="before the fit")
    axes.plot(*path(after, fine), label="after the fit")
    axes.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal", xlim=(-2.3, 2.3), ylim=(-2.3, 2.3))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=16, help="of the hidden layer (default: 16)")
    parser.add_argument("--points", type=int, default=50, help="(default: 50)")
    parser.add_argument("--iterations", type=int, default=200, help="at most (default: 200)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the spiral and the fit")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    times, measured = made_data(options.points)
    rng = np.random.default_rng(1)
    shapes = {"weights": (options.units, 2), "shift": (options.units,), "out": (2, options.units)}
    before = {name: 0.3 * rng.normal(size=shape) for name, shape in shapes.items()}
    after = before
    for part in (0.2, 0.5, 1.0):  # the beginning of the spiral first: the whole one has many poor minima
        few = times <= part * times[-1]
        found = minimize(loss, after, times[few], measured[:, few], method="L-BFGS-B", options={"maxiter": options.iterations})
        after = found.x
        print(f"{100 * part:3.0f} % of the time: mean squared error {found.fun:.3g} after {found.nit} iterations")
    picture(options.plot, lambda axes: draw(axes, times, measured, before, after))
    if options.show_gradient:
        gradient = grad(loss)
        gradient(before, times, measured)
        print(gradient.source)
    return found


if __name__ == "__main__":
    main()
