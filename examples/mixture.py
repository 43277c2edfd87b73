"""Fits a mixture of Gaussian distributions to points in the plane, by the likelihood and its generated gradient.

The parameters are a dataclass: weights as logits, means, and the covariances by their lower triangles with logarithms on the diagonal, so
that every value is allowed.

    python examples/mixture.py --plot mixture.png
    python examples/mixture.py --components 5 --show-gradient
"""

import argparse
from dataclasses import dataclass

import numpy as np
from comparison import picture

from sourcead import grad, minimize


@dataclass
class Mixture:
    """The parameters of k components: `logits` (k,), `means` (k, 2), `triangles` (k, 3): log of the diagonal, and the element below it."""

    logits: np.ndarray
    means: np.ndarray
    triangles: np.ndarray


def log_likelihood(m: Mixture, points: np.ndarray) -> float:
    """Gives the mean logarithm of the density at points of shape (n, 2)."""
    rest = points[:, None, :] - m.means
    first = rest[:, :, 0] * np.exp(-m.triangles[:, 0])
    second = (rest[:, :, 1] - m.triangles[:, 2] * first) * np.exp(-m.triangles[:, 1])
    weights = m.logits - np.log(np.sum(np.exp(m.logits)))
    logs = weights - 0.5 * (first**2 + second**2) - m.triangles[:, 0] - m.triangles[:, 1] - np.log(2 * np.pi)
    top = np.max(logs, axis=1)
    return np.mean(top + np.log(np.sum(np.exp(logs - top[:, None]), axis=1)))


def loss(m: Mixture, points: np.ndarray, penalty: float) -> float:
    return -log_likelihood(m, points) + penalty * np.sum(m.triangles**2)


def made_points(n: int, seed: int = 0) -> np.ndarray:
    """Gives points of three clouds of different size and direction."""
    rng = np.random.default_rng(seed)
    clouds = [((-2, 0), (0.5, 1.2), 0.6), ((1, 1.5), (1.0, 0.3), -0.4), ((1.5, -1.5), (0.4, 0.4), 0.0)]
    parts = []
    for k, (mean, spread, turn) in enumerate(clouds):
        z = rng.normal(size=(n * (k + 2) // 9, 2)) * spread
        parts.append(z @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]] + mean)
    return np.concatenate(parts)


def draw(axes, points: np.ndarray, m: Mixture) -> None:
    axes.plot(*points.T, ".", color="0.6", markersize=3, label="points")
    circle = np.stack([np.cos(t := np.linspace(0, 2 * np.pi, 100)), np.sin(t)])
    shares = np.exp(m.logits) / np.sum(np.exp(m.logits))
    for k, (mean, (a, b, below)) in enumerate(zip(m.means, m.triangles)):
        ellipse = mean[:, None] + 2 * np.array([[np.exp(a), 0], [below, np.exp(b)]]) @ circle
        axes.plot(*ellipse, label=f"component {k + 1}, weight {shares[k]:.2f}")
    axes.set(xlabel="first coordinate", ylabel="second coordinate", title="two standard deviations of each component", aspect="equal")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--components", type=int, default=3, help="of the mixture (default: 3)")
    parser.add_argument("--points", type=int, default=900, help="(default: 900)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the points and the components")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    points, k = made_points(options.points), options.components
    means = points[np.random.default_rng(2).choice(len(points), k, replace=False)]
    found = minimize(loss, Mixture(np.zeros(k), means, np.zeros((k, 3))), points, 1e-4)
    print(f"mean log-likelihood {log_likelihood(found.x, points):.4f} after {found.nit} iterations: {found.message}")
    picture(options.plot, lambda axes: draw(axes, points, found.x))
    if options.show_gradient:
        gradient = grad(loss)
        gradient(found.x, points, 1e-4)
        print(gradient.source)
    return found


if __name__ == "__main__":
    main()
