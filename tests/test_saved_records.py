"""A saved gradient makes the named tuples of its parameters without the module that defines them."""

from typing import NamedTuple

import numpy as np
import pytest

from sourcead import grad, value_and_grad
from sourcead.errors import UnsupportedValueError

pytestmark = pytest.mark.sampled(3)


def loss(p, x):
    return np.sum((np.tanh(x @ p.hidden.w + p.hidden.b) @ p.out.w + p.out.b) ** 2)


def saved(gradient, name, path):
    """The function in the saved module, which imports nothing of ours."""
    gradient.save(path)
    text = path.read_text()
    assert not any("sourcead" in line for line in text.splitlines() if line.startswith(("import", "from")))
    namespace = {}
    exec(compile(text, str(path), "exec"), namespace)
    return namespace[name]


def test_named_tuples_come_back_under_their_names(tmp_path):
    class Layer(NamedTuple):  # no module has it
        w: np.ndarray
        b: np.ndarray

    class Network(NamedTuple):
        hidden: Layer
        out: Layer

    rng = np.random.default_rng(0)
    p = Network(Layer(rng.normal(size=(3, 4)), rng.normal(size=4)), Layer(rng.normal(size=(4, 2)), rng.normal(size=2)))
    gradient = grad(loss)
    expected = gradient(p, np.ones((5, 3)))
    found = saved(gradient, "loss_grad", tmp_path / "saved.py")(p, np.ones((5, 3)))
    assert type(found).__name__ == "Network" and found._fields == Network._fields and found.hidden._fields == Layer._fields
    for one, other in zip([*found.hidden, *found.out], [*expected.hidden, *expected.out], strict=True):
        np.testing.assert_array_equal(one, other)


LARGER = [pytest.param(name, marks=pytest.mark.long) for name in ("mnist_cnn", "mnist_lstm", "mnist_gru")]


@pytest.mark.parametrize("name", ["mnist_mlp", *LARGER])
def test_the_gradients_of_the_examples_run_without_sourcead(name, tmp_path):
    import importlib

    model = importlib.import_module(f"examples.{name}").MODEL
    rng = np.random.default_rng(0)
    p, labels = model.initial(rng), rng.integers(0, 10, 5)
    inputs = model.prepare(rng.random((5, 784)).astype(np.float32))
    value, _ = model.loss(p, inputs, labels)
    function = saved(model.loss, "loss_value_and_grad", tmp_path / "saved.py")
    assert function(p, inputs, labels)[0] == value
    with pytest.raises(ValueError, match="cross_entropy: the shapes"):
        function(p, inputs, labels[:-1])


def test_other_classes_are_still_refused(tmp_path):
    class Held:
        def __init__(self, x):
            self.x = x

    def f(h):
        return h.x**2

    gradient = value_and_grad(f)
    gradient(Held(2.0))
    with pytest.raises(UnsupportedValueError, match="Held"):
        gradient.save(tmp_path / "saved.py")
