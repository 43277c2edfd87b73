"""The benchmarks of the networks: what we compare with computes the same."""

import numpy as np
import pytest

from sourcead.nn.data import load
from tests.benchmarks import networks
from tests.benchmarks.workers import BY_HAND, GENERATED, TORCH

NAMES = ["cnn", "mlp", "autoencoder", "lstm", "gru"]

pytest.importorskip("sklearn")


@pytest.mark.parametrize("name", NAMES)
def test_gradients_generated_by_hand_and_by_pytorch_are_the_same(name):
    pytest.importorskip("torch")
    rows = list(networks.gradient_rows(name, load("digits")))
    assert len(rows) == 2 and all(row.ok for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_all_engines_train_alike_from_the_same_weights_on_the_same_batches(name):
    pytest.importorskip("torch")
    trained = {}
    for engine in (GENERATED, BY_HAND, TORCH):
        run = networks.epoch_of(name, engine, "digits")
        run()
        trained[engine] = [np.array(p.detach() if engine == TORCH else p) for p in run.parameters]
    for engine in (BY_HAND, TORCH):
        for one, other in zip(trained[GENERATED], trained[engine], strict=True):
            np.testing.assert_allclose(one, other, rtol=0.02, atol=2e-3)
