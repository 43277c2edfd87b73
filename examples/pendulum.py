"""Plans the swing of a pendulum on a cart past an obstacle by direct shooting: the forces at all times are the parameters.

The pendulum hangs, is swung up and ends upright and at rest; its tip keeps away from a disc. The motion is computed in steps of Runge and
Kutta, and the generated gradient runs through all of them.

    python examples/pendulum.py --plot pendulum.png
    python examples/pendulum.py --steps 120 --show-gradient
"""

import argparse

import numpy as np
from comparison import picture

from sourcead import grad, minimize

GRAVITY, LENGTH, CART, BOB = 9.81, 0.5, 1.0, 0.2
DURATION, LARGEST = 2.5, 12.0  # seconds, newton
DISC, RADIUS = np.array([0.2, 0.2]), 0.15  # metres


def motion(state: np.ndarray, force: float) -> np.ndarray:
    """Gives the derivative of (place of the cart, angle from hanging, their velocities) in time."""
    _, angle, velocity, turning = state
    sine, cosine = np.sin(angle), np.cos(angle)
    inertia = CART + BOB * sine**2
    cart = (force + BOB * sine * (LENGTH * turning**2 + GRAVITY * cosine)) / inertia
    bob = -(force * cosine + BOB * LENGTH * turning**2 * cosine * sine + (CART + BOB) * GRAVITY * sine) / (LENGTH * inertia)
    return np.array([velocity, turning, cart, bob])


def step(state: np.ndarray, force: float, h: float) -> np.ndarray:
    """Gives the state after a step of Runge and Kutta of fourth order."""
    k1 = motion(state, force)
    k2 = motion(state + h / 2 * k1, force)
    k3 = motion(state + h / 2 * k2, force)
    k4 = motion(state + h * k3, force)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def tip_of(state: np.ndarray) -> np.ndarray:
    return np.array([state[0] + LENGTH * np.sin(state[1]), -LENGTH * np.cos(state[1])])


def cost(forces: np.ndarray) -> float:
    """Gives the work, what the tip comes too near to the disc, and how far the end is from upright and at rest."""
    h = DURATION / len(forces)
    state, total = np.zeros(4), 0.0
    for force in forces:
        state = step(state, force, h)
        away = np.sqrt(np.sum((tip_of(state) - DISC) ** 2))
        total += h * (0.001 * force**2 + 500.0 * np.maximum(RADIUS + 0.03 - away, 0.0) ** 2)
    upright = np.array([0.0, np.pi, 0.0, 0.0])
    return total + 200.0 * np.sum((state - upright) ** 2)


def path_of(forces: np.ndarray) -> np.ndarray:
    """Gives the states at all times, of shape (steps + 1, 4)."""
    states = [np.zeros(4)]
    for force in forces:
        states.append(step(states[-1], force, DURATION / len(forces)))
    return np.array(states)


def draw(axes, states: np.ndarray) -> None:
    tips = np.array([tip_of(state) for state in states])
    for state, tip in list(zip(states, tips))[:: max(1, len(states) // 25)]:
        axes.plot([state[0], tip[0]], [0, tip[1]], color="0.75", linewidth=1)
    axes.plot(*tips.T, label="tip of the pendulum")
    axes.plot(states[:, 0], 0 * states[:, 0], "k", label="cart")
    turn = np.linspace(0, 2 * np.pi, 60)
    axes.fill(DISC[0] + RADIUS * np.cos(turn), DISC[1] + RADIUS * np.sin(turn), alpha=0.4, color="tab:red", label="obstacle")
    axes.set(xlabel="to the right (m)", ylabel="up (m)", aspect="equal", title="rods at equal times")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=80, help="in which the force is constant (default: 80)")
    parser.add_argument("--iterations", type=int, default=600, help="at most (default: 600)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the motion")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    start = np.sin(np.linspace(0, 12, options.steps))
    found = minimize(cost, start, bounds=(-LARGEST, LARGEST), options={"maxiter": options.iterations, "maxfun": 10**6})
    states = path_of(found.x)
    away = min(float(np.linalg.norm(tip_of(state) - DISC)) for state in states) - RADIUS
    print(f"cost {found.fun:.4f} after {found.nit} iterations; at the end {np.degrees(states[-1, 1]):.1f} degrees from hanging")
    print(f"the tip passes the obstacle at {100 * away:.1f} cm")
    picture(options.plot, lambda axes: draw(axes, states))
    if options.show_gradient:
        gradient = grad(cost)
        gradient(start)
        print(gradient.source)
    return found, states, away


if __name__ == "__main__":
    main()
