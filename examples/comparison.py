"""The common part of the examples with SciPy: the difference of generated derivatives from SciPy's finite differences."""

import sys

import numpy as np

try:
    from scipy.optimize import approx_fprime
except ImportError:
    sys.exit('this example needs SciPy: pip install -e ".[examples]"')


def differences(f, gradient, hessian, x: np.ndarray) -> tuple[float, float]:
    """Gives the largest difference of a gradient and a Hessian at `x` from finite differences, relative to their largest element."""
    numeric = approx_fprime(x, f, 1e-7)
    numeric_hessian = np.stack([approx_fprime(x, lambda z, k=k: gradient(z)[k], 1e-7) for k in range(len(x))])
    return relative(gradient(x), numeric), relative(hessian(x), numeric_hessian)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1.0))


def report(name: str, result, checks: tuple[float, float]) -> None:
    """Prints the result of a minimiser of SciPy and the differences."""
    print(f"{name}: minimum {result.fun:.6g} after {result.nit} iterations, {result.nfev} evaluations")
    print(f"  from SciPy's finite differences: gradient {checks[0]:.1e}, Hessian {checks[1]:.1e} (relative)")


def picture(path: str | None, draw) -> None:
    """Writes the picture that `draw(axes)` draws to a file; where the path is None, it does nothing."""
    if path is None:
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[1]:
        axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit("this is the common part of the examples with SciPy, and no example: run one of them, such as rosenbrock.py")
