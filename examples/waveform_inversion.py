"""Finds how fast sound travels below ground from what receivers hear: full-waveform inversion in two dimensions.

The gradient runs back through all steps of the acoustic wave equation. With `--budget 2MB`, say, the
states that it needs are kept as far as they fit, and computed again from these.

    python examples/waveform_inversion.py --plot ground.png
    python examples/waveform_inversion.py --size 60 --steps 400 --budget 4MB --plot ground.png
"""

import argparse

import numpy as np
from scipy.optimize import minimize

from sourcead import value_and_grad

SPACING, INTERVAL = 10.0, 0.001  # metres, seconds


def recorded(slowness: np.ndarray, source: np.ndarray, signal: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Gives what receivers in the second row hear, of shape (steps, width).

    Args:
        slowness: of shape (depth, width), in seconds for each kilometre.
        source: the weight of the source at each place, of shape (depth, width).
        signal: its strength at each step, of shape (steps,).
        damping: near the edges, of shape (depth, width).
    """
    before, now = np.zeros_like(slowness), np.zeros_like(slowness)
    factor = (INTERVAL * 1000.0 / (SPACING * slowness)) ** 2
    heard = np.zeros((len(signal), slowness.shape[1]))
    for k in range(len(signal)):
        after = np.zeros_like(now)
        bend = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * now[1:-1, 1:-1]
        after[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + factor[1:-1, 1:-1] * bend
        after = damping * (after + factor * signal[k] * source)
        before, now = damping * now, after
        heard[k] = now[2]
    return heard


def misfit(slowness, sources, signal, damping, measured):
    """Gives half the sum of squared differences from what was measured, of shape (sources, steps, width)."""
    total = 0.0
    for source, heard in zip(sources, measured):
        total += 0.5 * np.sum((recorded(slowness, source, signal, damping) - heard) ** 2)
    return total


def made_ground(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Gives the slowness to be found, a slow lens, and where the search begins, both of shape (size, size)."""
    depth, across = np.indices((size, size)) / size
    begin = 1 / (1.8 + 0.8 * depth)
    lens = np.exp(-(((depth - 0.45) / 0.12) ** 2) - ((across - 0.5) / 0.2) ** 2)
    return 1 / (1.8 + 0.8 * depth - 0.35 * lens), begin


def ricker(steps: int, frequency: float = 12.0) -> np.ndarray:
    """Gives Ricker's wavelet, the usual signal of this field."""
    t = np.pi * frequency * (np.arange(steps) * INTERVAL - 0.09)
    return (1 - 2 * t**2) * np.exp(-(t**2))


def draw(path: str, panels: dict[str, np.ndarray]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharey=True)
    metres = SPACING * len(next(iter(panels.values())))
    for axes, (title, slowness) in zip(all_axes, panels.items()):
        shown = axes.imshow(1 / slowness, vmin=1.7, vmax=2.7, cmap="viridis", extent=(0, metres, metres, 0))
        axes.set(title=title, xlabel="across (m)")
    all_axes[0].set_ylabel("depth (m)")
    figure.colorbar(shown, ax=all_axes, label="speed of sound (km/s)")
    figure.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=40, help="of the ground, in points of 10 m (default: 40)")
    parser.add_argument("--steps", type=int, default=320, help="of a millisecond (default: 320)")
    parser.add_argument("--sources", type=int, default=4, help="(default: 4)")
    parser.add_argument("--iterations", type=int, default=40, help="at most (default: 40)")
    parser.add_argument("--budget", default=None, help="memory for the states that the gradient keeps, such as 2MB (default: all are kept)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the ground, the start and the result")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    size = options.size
    true, begin = made_ground(size)
    sources = np.zeros((options.sources, size, size))
    sources[np.arange(options.sources), 2, np.linspace(3, size - 4, options.sources).astype(int)] = 1.0
    edge = np.minimum(np.minimum(*np.indices((size, size))), np.minimum(*np.indices((size, size))[:, ::-1, ::-1]))
    damping = np.exp(-((0.05 * np.maximum(8 - edge, 0)) ** 2))
    signal = ricker(options.steps)
    measured = np.array([recorded(true, source, signal, damping) for source in sources])

    gradient = value_and_grad(misfit, budget=options.budget)
    more = (sources, signal, damping, measured)

    first = gradient(begin, *more)[0]

    def flat(x):
        value, slope = gradient(x.reshape(size, size), *more)
        slope[:6] = 0.0  # the rows at the sources are known
        return value / first, slope.ravel() / first

    found = minimize(
        flat, begin.ravel(), jac=True, method="L-BFGS-B", bounds=[(0.3, 0.7)] * size**2, options={"maxiter": options.iterations}
    )
    result = found.x.reshape(size, size)
    error, before = (np.sqrt(np.mean((1 / x - 1 / true)[6:] ** 2)) for x in (result, begin))
    print(f"misfit {100 * found.fun:.3g} % of the first after {found.nit} iterations; error of the speed {before:.3f} -> {error:.3f} km/s")
    if options.plot:
        draw(options.plot, {"to be found": true, "start": begin, "result": result})
    if options.show_gradient:
        print(gradient.source)
    return found, error / before, gradient


if __name__ == "__main__":
    main()
