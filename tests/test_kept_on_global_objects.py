"""Arrays and lists that a method keeps on an object that outlives the call."""

import numpy as np
import pytest

from sourcead import AliasError, grad, jvp


class Meter:
    def __init__(self):
        self.last, self.blocks, self.calls, self.weights = None, None, 0, np.array([1.0, 2.0])

    def measure(self, x):
        self.blocks = [x[0] * x[1], x[1] ** 2]
        y = np.sin(x) * self.weights
        self.last = y
        self.calls += 1
        return np.sum(y) * self.blocks[0] + np.sum(self.last)

    def written_afterwards(self, x):
        y = np.zeros(2)
        self.last = y
        y[0] = x[1]
        return np.sum(self.last * x)


METER = Meter()
X = np.array([0.5, 1.5])


def of_the_meter(x):
    return METER.measure(x)


def test_values_and_gradient():
    expected = [(of_the_meter(X + 1e-6 * e) - of_the_meter(X - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    d = grad(of_the_meter)
    assert d(X) == pytest.approx(expected, rel=1e-7)
    calls = METER.calls
    assert d(2 * X) is not None and METER.calls == calls + 1
    np.testing.assert_allclose(METER.last, np.sin(2 * X) * METER.weights)
    np.testing.assert_allclose(METER.blocks, [3.0, 9.0])
    assert jvp(of_the_meter, (X,), (X,))[1] == pytest.approx(np.dot(expected, X), rel=1e-7)


def test_what_is_kept_may_not_be_written():
    with pytest.raises(AliasError, match="outlives the call"):
        grad(lambda x: METER.written_afterwards(x))(X)
