"""The examples with SciPy: the minima are found, and the derivatives are those of SciPy's finite differences."""

import importlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed: pip install '.[examples]'")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def example(monkeypatch):
    """Imports an example as a script sees it, its folder first on the path."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def close(checks):
    gradient, hessian = checks
    assert gradient < 1e-6 and hessian < 1e-5


def test_rosenbrock(example, capsys, tmp_path):
    results, checks = example("rosenbrock").main(["--n", "6", "--show-gradient", "--plot", str(tmp_path / "a.png")])
    close(checks)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    for result in results.values():
        np.testing.assert_allclose(result.x, 1, atol=1e-3)
    assert "def rosenbrock_grad(x):" in capsys.readouterr().out


def test_logistic_regression(example, tmp_path):
    result, checks = example("logistic_regression").main(["--plot", str(tmp_path / "a.png")])
    close(checks)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert result.success
    np.testing.assert_allclose(result.x, [1.5, -2.0, 0.7, 0.0, 1.0, -0.3], atol=0.4)


def test_gaussian_process(example, tmp_path):
    result, checks = example("gaussian_process").main(["--plot", str(tmp_path / "a.png")])
    close(checks)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert result.success
    assert np.exp(result.x[2]) == pytest.approx(0.1, abs=0.03)


def test_trust_region(example, tmp_path):
    exact, products, checks = example("trust_region").main(["--units", "4", "--plot", str(tmp_path / "a.png")])
    close(checks)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert exact.fun < 0.02 and products.fun < 0.02
    assert np.max(np.abs(products.jac)) < 1e-3


def test_pendulums(example, tmp_path):
    pendulums = example("pendulums")
    times, slopes = pendulums.main(["--size", "4", "--seconds", "2", "--plot", str(tmp_path / "a.png"), "--show-text"])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    angles = np.linspace(-np.pi, np.pi, 6)[1:-1]
    a, b = (x.ravel() for x in np.meshgrid(angles, angles, indexing="ij"))
    np.testing.assert_allclose(times, [pendulums.time_to_flip(*one, 2.0) for one in zip(a, b)])
    moved = pendulums.end(np.array([a[1] + 1e-6, b[1]]), 100) - pendulums.end(np.array([a[1] - 1e-6, b[1]]), 100)
    assert slopes[1, 0] == pytest.approx(moved / 2e-6, rel=1e-4)


def test_bundle_adjustment(example, tmp_path):
    found, pixels = example("bundle_adjustment").main(["--cameras", "4", "--points", "20", "--plot", str(tmp_path / "a.png")])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (found.sweeps, found.matrix.nnz) == (9, 20 * 4 * 2 * 9)
    assert pixels < 0.5
