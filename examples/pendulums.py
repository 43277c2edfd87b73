"""Swings many double pendulums, each until it flips, and differentiates where each of them ends by how it began.

The functions are written for one pendulum.  `vmap` makes of them text for all at once: a `while` loop that each pendulum leaves in its
time, and the gradient of one pendulum for all of them.

    python examples/pendulums.py
    python examples/pendulums.py --size 200 --plot flips.png
"""

import argparse
import math
import time

import numpy as np

from sourcead import grad, vmap

GRAVITY, STEP = 9.81, 0.02


def swung(a: float, b: float, u: float, v: float) -> tuple[float, float, float, float]:
    """Gives the angles and velocities of two arms of length and mass 1 after one step (semi-implicit Euler)."""
    sine, cosine = math.sin(a - b), math.cos(a - b)
    inertia = 2 - cosine * cosine
    du = -2 * GRAVITY * math.sin(a) - sine * (v * v + u * u * cosine) + GRAVITY * cosine * math.sin(b)
    dv = sine * (2 * u * u + 2 * GRAVITY * math.cos(a) + v * v * cosine)
    u, v = u + STEP * du / inertia, v + STEP * dv / inertia
    return a + STEP * u, b + STEP * v, u, v


def time_to_flip(a: float, b: float, most: float) -> float:
    """Gives the seconds until an arm turns over, `most` if none does before."""
    u = v = t = 0.0
    while t < most and abs(a) < math.pi and abs(b) < math.pi:
        a, b, u, v = swung(a, b, u, v)
        t += STEP
    return t


def end(start: np.ndarray, steps: int) -> float:
    """Gives the angle of the second arm after some steps; `start` has both angles at the beginning."""
    a, b = start
    u = v = 0.0
    for _ in range(steps):
        a, b, u, v = swung(a, b, u, v)
    return b


flips = vmap(time_to_flip, in_axes=(0, 0, None))
sensitivities = vmap(grad(end), in_axes=(0, None))


def draw(path: str, times: np.ndarray, slopes: np.ndarray) -> None:
    """Draws when each pendulum flips, and how much its end depends on its beginning, over both angles."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    axes = figure.subplots(1, 2)
    places = {"origin": "lower", "extent": (-180, 180, -180, 180)}
    titles = "seconds until an arm flips", "digits lost in 2 s: log10 of the gradient's length"
    for ax, values, title in zip(axes, (times, slopes), titles):
        figure.colorbar(ax.imshow(values.T, cmap="magma", **places), ax=ax)
        ax.set(title=title, xlabel="first angle in degrees", ylabel="second angle in degrees")
    figure.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=80, help="pendulums along each axis of the picture (default: 80)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to wait for flips (default: 10)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of both")
    parser.add_argument("--show-text", action="store_true", help="print the generated texts")
    options = parser.parse_args(argv)
    angles = np.linspace(-math.pi, math.pi, options.size + 2)[1:-1]
    a, b = (x.ravel() for x in np.meshgrid(angles, angles, indexing="ij"))
    start = time.perf_counter()
    times = flips(a, b, options.seconds)
    slopes = sensitivities(np.stack([a, b], axis=1), round(2 / STEP))
    print(f"{a.size} pendulums and their gradients in {time.perf_counter() - start:.1f} s")
    print(f"{np.mean(times < options.seconds):.0%} flip within {options.seconds:g} s")
    shape = options.size, options.size
    lost = np.log10(np.linalg.norm(slopes, axis=1)).reshape(shape)
    if options.plot:
        draw(options.plot, times.reshape(shape), lost)
    if options.show_text:
        print(flips.source, sensitivities.source, sep="\n")
    return times, slopes


if __name__ == "__main__":
    main()
