"""Minimises Rosenbrock's function with SciPy, given the gradient and the Hessian that sourcead generates.

    python examples/rosenbrock.py
    python examples/rosenbrock.py --n 50 --show-gradient
"""

import argparse

import numpy as np
from comparison import differences, picture, report
from scipy.optimize import minimize

from sourcead import grad, hessian, hvp


def rosenbrock(x: np.ndarray) -> float:
    """Gives the sum of 100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2; its minimum is 0 at ones."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


gradient = grad(rosenbrock)
curvature = hessian(rosenbrock)
product = hvp(rosenbrock)


def draw(axes, courses: dict[str, list[float]]) -> None:
    for method, course in courses.items():
        axes.semilogy(course, ".-", label=method)
    axes.set(xlabel="iterations", ylabel="Rosenbrock's function")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10, help="the number of variables (default: 10)")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of the function over the iterations")
    parser.add_argument("--show-gradient", action="store_true", help="print the generated gradient")
    options = parser.parse_args(argv)
    start = np.full(options.n, -1.2)
    checks = differences(rosenbrock, gradient, curvature, start)
    results, courses = {}, {}
    for method, more in (("BFGS", {}), ("trust-exact", {"hess": curvature}), ("Newton-CG", {"hessp": product})):
        courses[method] = [rosenbrock(start)]
        follow = lambda x, course=courses[method]: course.append(rosenbrock(x))  # noqa: E731
        results[method] = minimize(rosenbrock, start, method=method, jac=gradient, callback=follow, **more)
        report(method, results[method], checks)
    picture(options.plot, lambda axes: draw(axes, courses))
    if options.show_gradient:
        print(gradient.source)
    return results, checks


if __name__ == "__main__":
    main()
