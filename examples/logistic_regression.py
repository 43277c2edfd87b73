"""Fits a logistic regression with SciPy, given the gradient and the Hessian that sourcead generates.

The data are drawn at random: two classes whose log-odds are linear in five features.

    python examples/logistic_regression.py
    python examples/logistic_regression.py --show-gradient
"""

import argparse

import numpy as np
from comparison import differences, picture, report
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


def draw(axes, scores: np.ndarray, labels: np.ndarray) -> None:
    """Draws the probability of label 1 over the score, and the share of label 1 among points of similar scores."""
    at = np.linspace(scores.min(), scores.max(), 200)
    groups = np.array_split(np.argsort(scores), 20)
    axes.plot(at, 1 / (1 + np.exp(-at)), color="tab:blue", label="probability by the fit")
    axes.plot([scores[g].mean() for g in groups], [labels[g].mean() for g in groups], "o", color="tab:orange", label="share of label 1")
    axes.plot(scores, labels, "|", color="black", alpha=0.3, label="labels")
    axes.set(xlabel="score x · w + b", ylabel="label, probability of label 1")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--penalty", type=float, default=1e-3, help="of the squares of the weights (default: 0.001)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the scores and the labels")
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
    picture(options.plot, lambda axes: draw(axes, x @ result.x[:-1] + result.x[-1], labels))
    if options.show_gradient:
        print(loss_and_gradient.source)
    return result, checks


if __name__ == "__main__":
    main()
