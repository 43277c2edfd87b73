"""Fits a small network by a trust region: sourcead generates the Hessians, or their products with vectors.

The network has one hidden layer of tanh units and fits a noisy curve by least squares; exact Hessians suit
13 to 100 parameters, products with vectors any number.

    python examples/trust_region.py
    python examples/trust_region.py --units 20 --show-gradient
"""

import argparse

import numpy as np
from comparison import differences, picture, report
from scipy.optimize import minimize

from sourcead import hessian, hvp, value_and_grad


def network(parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gives the results of a network with one hidden layer."""
    units = (len(parameters) - 1) // 3
    w, b, v = parameters[:units], parameters[units : 2 * units], parameters[2 * units : 3 * units]
    return np.tanh(np.outer(x, w) + b) @ v + parameters[-1]


def loss(parameters: np.ndarray, x: np.ndarray, y: np.ndarray, penalty: float) -> float:
    """Gives the mean squared error of a network with one hidden layer, with a ridge penalty."""
    return np.mean((network(parameters, x) - y) ** 2) + penalty * np.sum(parameters**2)


loss_and_gradient = value_and_grad(loss)
curvature = hessian(loss)
product = hvp(loss)


def made_data(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gives noisy points of a curve."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-2, 2, n)
    return x, np.sin(3 * x) * np.exp(-(x**2) / 2) + 0.02 * rng.normal(size=n)


def draw(axes, x: np.ndarray, y: np.ndarray, fits: dict[str, np.ndarray]) -> None:
    axes.plot(x, y, ".", color="black", label="points")
    for (name, parameters), line in zip(fits.items(), ("-", "--")):
        axes.plot(x, network(parameters, x), line, label=name)
    axes.set(xlabel="x", ylabel="y")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=6, help="of the hidden layer (default: 6)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the curve and the fits")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated product of the Hessian with a vector")
    options = parser.parse_args(argv)
    more = (*made_data(), 1e-5)
    start = np.random.default_rng(1).normal(size=3 * options.units + 1)
    checks = differences(
        lambda z: loss(z, *more), lambda z: loss_and_gradient(z, *more)[1], lambda z: curvature(z, *more), start
    )
    exact = minimize(loss_and_gradient, start, more, method="trust-exact", jac=True, hess=curvature, options={"maxiter": 500})
    report("trust-exact, Hessians", exact, checks)
    products = minimize(
        loss_and_gradient, start, more, method="trust-ncg", jac=True, options={"maxiter": 500},
        hessp=lambda z, v, *rest: product(z, *rest, v),
    )  # fmt: skip
    report("trust-ncg, products with vectors", products, checks)
    fits = {"trust-exact, Hessians": exact.x, "trust-ncg, products with vectors": products.x}
    picture(options.plot, lambda axes: draw(axes, *more[:2], fits))
    if options.show_gradient:
        print(product.source)
    return exact, products, checks


if __name__ == "__main__":
    main()
