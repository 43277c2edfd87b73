"""An `if` that is decided while compiling, with one inside that may leave: what comes after belongs to both."""

import pytest

from sourcead import check_grads, grad


def returns_early(x, n, flag):
    if flag is None:
        if n > 3:
            return 2 * x
        x = 3 * x
    return x * x


def returns_early_otherwise(x, n, flag):
    if flag is not None:
        x = 5 * x
    else:
        if n > 3:
            return 2 * x
        if n > 2:
            x = 3 * x
    x = x + 1
    return x * x


def in_a_loop(x, n, flag):
    total = 0.0
    for k in range(5):
        if flag is None:
            if k == n:
                break
            if k == 1:
                continue
            x = 1.5 * x
        total += x * x
    return total + x


@pytest.mark.parametrize("flag", [None, 1])
@pytest.mark.parametrize("n", [0, 3, 4, 9])
@pytest.mark.parametrize("f", [returns_early, returns_early_otherwise, in_a_loop])
def test_every_path_is_differentiated(f, n, flag):
    check_grads(f, (1.7, n, flag))


def test_the_value_is_the_functions_own():
    assert grad(returns_early)(2.0, 1, None) == 36.0
    assert grad(returns_early)(2.0, 5, None) == 2.0
