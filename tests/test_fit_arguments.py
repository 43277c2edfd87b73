"""What `fit` is given by mistake is an error of ours before the first step, or at the first one."""

import numpy as np
import pytest

from sourcead import ArgumentError, grad, value_and_grad
from sourcead.nn.training import fit

X = np.random.default_rng(0).normal(size=(20, 2))
Y = X @ [1.0, 2.0]


def loss(p, x, y):
    return np.mean((x @ p[0] + p[1] - y) ** 2)


@pytest.mark.parametrize("function, data, options, reason, instead", [
    (loss, (X, Y), {}, "does not return a value and a gradient", "`value_and_grad` of the loss"),
    (grad(loss), (X, Y), {}, "does not return a value and a gradient", "`value_and_grad` of the loss"),
    (value_and_grad(loss), X, {}, "the data as a tuple of arrays, and not as a ndarray", "fit(f, p, (x, y))"),
    (value_and_grad(loss), (X, Y), {"batch": 0}, "batch is 0", "batch=100"),
    (value_and_grad(loss), (X, Y), {"epochs": 1.5}, "epochs is 1.5, which is no number of passes", "epochs=5"),
    (value_and_grad(loss), (X, Y), {"progres": False}, "neither fit nor adam takes an option 'progres'", "progress=..."),
    (value_and_grad(loss), (X, Y), {"weight_dekay": 0.1}, "neither fit nor adam takes an option 'weight_dekay'", "weight_decay=..."),
    (value_and_grad(loss), (X, Y), {"update": "adam"}, "update is 'adam', which is no function", "adam, of `sourcead.nn.optimisers`"),
])  # fmt: skip
def test_what_fit_does_not_take(function, data, options, reason, instead):
    with pytest.raises(ArgumentError) as caught:
        fit(function, (np.zeros(2), np.zeros(1)), data, **{"epochs": 1, "progress": False, **options})
    assert reason in str(caught.value) and instead in str(caught.value)


def test_data_need_not_be_arrays():
    given, lists = (np.zeros(2), np.zeros(1)), (np.zeros(2), np.zeros(1))
    fit(value_and_grad(loss), given, (X, Y), epochs=1, batch=5, progress=False)
    fit(value_and_grad(loss), lists, [X.tolist(), Y.tolist()], epochs=1, batch=5, progress=False)
    assert np.array_equal(given[0], lists[0]) and given[0].any()
