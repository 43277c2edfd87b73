"""`sourcead.api.extending`: what a library tells the compiler about its functions; `sourcead.nn` and the examples need nothing else."""

import ast
from pathlib import Path

import numpy as np
import pytest

from sourcead import adjoint, grad
from sourcead.api.extending import checks, primitive

ROOT = Path(__file__).parents[1]
PUBLIC = ("sourcead", "sourcead.errors", "sourcead.api.extending", "sourcead.distributed", "sourcead.nn")


def doubled(x):
    return np.concatenate((x, x))


@adjoint(doubled)
def _(y, x, d_y):
    return d_y[: len(x)] + d_y[len(x) :]


def halved(x):
    return x / 2


@adjoint(halved)
def _(y, x, d_y):
    return d_y / 2


def positive(x):
    if np.any(x <= 0):
        raise ValueError("not positive")


primitive(doubled, result=lambda x: ((None,), x.dtype))
primitive(halved, like=np.negative)
checks(positive)


def written(x):
    y = doubled(x)
    y[0] = 0.0
    return np.sum(y**2)


def test_new_memory_is_written_in_place():
    gradient = grad(written)
    np.testing.assert_allclose(gradient(np.array([1.0, 2.0])), [2.0, 8.0])
    assert "copy()" not in gradient.source


def test_the_type_decides_what_later_statements_become():
    gradient = grad(lambda x, b: np.sum(halved(x) * b), wrt="b")
    assert np.shape(gradient(np.array([1.0, 3.0]), 1.0)) == () and "unbroadcast" not in gradient.source


def test_a_check_stays_in_the_generated_text():
    def loss(x):
        positive(x)
        return np.sum(np.log(x))

    gradient = grad(loss)
    np.testing.assert_allclose(gradient(np.array([1.0, 2.0])), [1.0, 0.5])
    with pytest.raises(ValueError, match="not positive"):
        gradient(np.array([-1.0]))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("folder", ["sourcead/nn", "examples"])
def test_networks_and_examples_import_the_public_interface_alone(folder):
    """Networks also write their files, sum over parts, and fold the frames of their errors, as the rest of the package does."""
    shared = ("distributed.gradients", "distributed.parts", "files.whole", "files.caches", "language.tracebacks", "language.progress")
    public = (*PUBLIC, *(f"sourcead.{name}" for name in shared)) if folder == "sourcead/nn" else PUBLIC
    for path in (ROOT / folder).glob("*.py"):
        own = [name for name in imported(path) if name.partition(".")[0] == "sourcead"]
        assert all(name in public or name.startswith("sourcead.nn.") for name in own), (path, own)
