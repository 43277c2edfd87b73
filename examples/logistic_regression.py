"""Fits a logistic regression with SciPy, given the gradient and the Hessian that sourcead generates.

The data are drawn at random: two classes whose log-odds are linear in five features.

    python examples/logistic_regression.py
    python examples/logistic_regression.py --show-gradient
"""

import argparse

import numpy as np
from comparison import differences, report
from scipy.optimize import minimize

from sourcead import hessian, value_and_grad


def loss(w: np.ndarray, x: np.ndarray, labels: np.ndarray, penalty: float) -> float:
    """Gives the mean negative log-likelihood of labels 0 and 1, with a ridge penalty; `w` ends with the intercept."""
    scores = x @ w[:-1] + w[-1]
    return np.mean(np.logaddexp(0, scores) - labels * scores) + penalty * np.sum(w[:-1] ** 2)


loss_and_gradient = value_and_grad(loss)
curvature = hessian(loss)


def made_data(n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gives features, labels, and the weights from which they were drawn."""
    rng = np.random.default_rng(seed)
    w = np.array([1.5, -2.0, 0.7, 0.0, 1.0, -0.3])
    x = rng.normal(size=(n, 5))
    labels = (rng.random(n) < 1 / (1 + np.exp(-(x @ w[:-1] + w[-1])))).astype(float)
    return x, labels, w


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--penalty", type=float, default=1e-3, help="of the squares of the weights (default: 0.001)")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated function")
    options = parser.parse_args(argv)
    x, labels, w = made_data()
    more = (x, labels, options.penalty)
    start = np.zeros(len(w))
    checks = differences(
        lambda z: loss(z, *more), lambda z: loss_and_gradient(z, *more)[1], lambda z: curvature(z, *more), start
    )
    result = minimize(loss_and_gradient, start, more, method="Newton-CG", jac=True, hess=curvature)
    report("Newton-CG", result, checks)
    right = np.mean((x @ result.x[:-1] + result.x[-1] > 0) == (labels > 0.5))
    print(f"  weights {np.round(result.x, 2)}, made with {w}; {right:.1%} of the labels right")
    if options.show_gradient:
        print(loss_and_gradient.source)
    return result, checks


if __name__ == "__main__":
    main()
