"""The examples with SciPy: the minima are found, and the derivatives are those of SciPy's finite differences."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from sourcead import check_grads

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


def drawn(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_mixture(example, tmp_path):
    module = example("mixture")
    found = module.main(["--points", "300", "--plot", str(tmp_path / "a.png")])
    points = module.made_points(300)
    assert drawn(tmp_path / "a.png") and module.log_likelihood(found.x, points) > -2.65
    check_grads(module.loss, (found.x, points, 0.1))


def test_pendulum(example, tmp_path):
    module = example("pendulum")
    found, states, away = module.main(["--steps", "16", "--iterations", "25", "--plot", str(tmp_path / "a.png")])
    assert drawn(tmp_path / "a.png") and states.shape == (17, 4)
    assert found.fun < 0.5 * module.cost(np.sin(np.linspace(0, 12, 16))) and np.max(np.abs(found.x)) <= module.LARGEST
    check_grads(module.cost, (np.sin(np.linspace(0, 12, 16)),))


def test_heston(example, tmp_path):
    module = example("heston")
    found = module.main(["--noise", "0", "--plot", str(tmp_path / "a.png")])
    assert drawn(tmp_path / "a.png")
    np.testing.assert_allclose(list(found.x.values()), list(module.TRUE.values()), rtol=0.02)
    strikes, maturities = np.linspace(0.7, 1.3, 5), np.array([0.5, 2.0])
    check_grads(module.misfit, (module.HIGHEST | {"speed": 2.0}, strikes, maturities, np.full((2, 5), 0.1)))


@pytest.mark.parametrize("more", [[], ["--budget", "40kB"]])
def test_waveform_inversion(example, tmp_path, more):
    arguments = ["--size", "20", "--steps", "90", "--sources", "2", "--iterations", "8", "--plot", str(tmp_path / "a.png"), *more]
    found, share, gradient = example("waveform_inversion").main(arguments)
    assert drawn(tmp_path / "a.png") and found.fun < 0.5
    assert ("next_snapshot" in gradient.source) == bool(more)


def test_neural_ode(example, tmp_path, monkeypatch):
    module = example("neural_ode")
    found = module.main(["--units", "4", "--points", "12", "--iterations", "5", "--plot", str(tmp_path / "a.png")])
    assert drawn(tmp_path / "a.png") and found.fun < 3.0
    monkeypatch.setattr(module, "TOLERANCE", 1e-11)  # else the steps jump from one difference to the other
    times, measured = module.made_data(5)
    check_grads(module.loss, (found.x, times[:3] / 4, measured[:, :3]))
