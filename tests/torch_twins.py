"""Functions of ours beside the same of PyTorch: value and gradients."""

import numpy as np
import pytest

from sourcead import value_and_grad


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def weighted(y):
    """A number that depends on each element in its own way."""
    return np.sum(np.sin(y) * np.linspace(1, 2, y.size).reshape(y.shape))


def torch_weighted(torch, y):
    return (torch.sin(y) * torch.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape)).sum()


def assert_same_as_torch(f, their_f, *arrays, rtol=1e-9):
    """The value of `f(*arrays)` and its gradients by all of them are PyTorch's."""
    theirs = [pytest.importorskip("torch").tensor(a, requires_grad=True) for a in arrays]
    expected = their_f(*theirs)
    expected.backward()
    value, gradients = value_and_grad(f, wrt=tuple(range(len(arrays))))(*arrays)
    np.testing.assert_allclose(value, expected.item(), rtol=1e-12)
    for one, other in zip(gradients, theirs, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other.grad.numpy(), rtol=rtol, atol=1e-13)
