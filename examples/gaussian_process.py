"""Finds the scales of a Gaussian process by its marginal likelihood, with gradients and Hessians that sourcead generates.

The kernel is s^2 exp(-(x - z)^2 / (2 l^2)) + n^2 [x = z]; the parameters are log s, log l and log n, and the loss is the
negative log marginal likelihood (C. Rasmussen and C. Williams, Gaussian Processes for Machine Learning, equation 2.30).

    python examples/gaussian_process.py
    python examples/gaussian_process.py --show-gradient --plot process.png
"""

import argparse

import numpy as np
from comparison import differences, picture, report
from scipy.optimize import minimize

from sourcead import hessian, value_and_grad


def loss(scales: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Gives the negative log marginal likelihood of observations `y` at `x`."""
    signal, length, noise = np.exp(scales)
    gaps = x[:, None] - x[None, :]
    kernel = signal**2 * np.exp(-(gaps**2) / (2 * length**2)) + noise**2 * np.eye(len(x))
    factor = np.linalg.cholesky(kernel)
    whitened = np.linalg.solve(factor, y)
    return 0.5 * np.sum(whitened**2) + np.sum(np.log(np.diag(factor))) + 0.5 * len(x) * np.log(2 * np.pi)


loss_and_gradient = value_and_grad(loss)
curvature = hessian(loss)


def made_data(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gives noisy observations of a smooth function."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, n))
    return x, np.sin(2 * x) + 0.3 * x + 0.1 * rng.normal(size=n)


def posterior(scales: np.ndarray, x: np.ndarray, y: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gives the mean and the standard deviation of the process at other points (the same book, equations 2.23 and 2.24)."""
    signal, length, noise = np.exp(scales)
    between = [signal**2 * np.exp(-((a[:, None] - b[None, :]) ** 2) / (2 * length**2)) for a, b in ((x, x), (x, at))]
    weights = np.linalg.solve(between[0] + noise**2 * np.eye(len(x)), np.column_stack([y, between[1]]))
    return between[1].T @ weights[:, 0], np.sqrt(signal**2 - np.sum(between[1] * weights[:, 1:], axis=0))


def draw(axes, scales: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    at = np.linspace(-3.5, 3.5, 200)
    mean, spread = posterior(scales, x, y, at)
    axes.fill_between(at, mean - 2 * spread, mean + 2 * spread, color="tab:blue", alpha=0.2, label="mean ± 2 standard deviations")
    axes.plot(at, mean, color="tab:blue", label="mean of the process")
    axes.plot(at, np.sin(2 * at) + 0.3 * at, "--", color="tab:grey", label="sin 2x + 0.3 x, which was observed")
    axes.plot(x, y, ".", color="black", label="observations")
    axes.set(xlabel="x", ylabel="y")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=60, help="the number of observations (default: 60)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the observations and the process")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated function")
    options = parser.parse_args(argv)
    more = made_data(options.n)
    start = np.log(np.array([1.0, 1.0, 0.5]))
    checks = differences(
        lambda z: loss(z, *more), lambda z: loss_and_gradient(z, *more)[1], lambda z: curvature(z, *more), start
    )
    result = minimize(loss_and_gradient, start, more, method="trust-exact", jac=True, hess=curvature)
    report("trust-exact", result, checks)
    signal, length, noise = np.exp(result.x)
    print(f"  signal {signal:.2f}, length {length:.2f}, noise {noise:.3f} (the data have noise 0.1)")
    picture(options.plot, lambda axes: draw(axes, result.x, *more))
    if options.show_gradient:
        print(loss_and_gradient.source)
    return result, checks


if __name__ == "__main__":
    main()
