"""How compilations are run."""

import gc

import pytest

from sourcead import grad
from sourcead.backends.python_overhead import as_compilation


def test_what_lies_in_one_chunk_is_called_as_it_is():
    @as_compilation
    def shown(a, *rest, b=0):
        """Shows."""
        return a, rest, b

    assert shown(1, 2, 3, b=4) == (1, (2, 3), 4)
    assert (shown.__name__, shown.__doc__) == ("shown", "Shows.")


def test_exceptions_pass_and_recursion_works():
    @as_compilation
    def down(n):
        if n == 0:
            raise KeyError("bottom")
        down(n - 1)

    with pytest.raises(KeyError, match="bottom"):
        down(20)


def test_collection_goes_on_afterwards():
    @as_compilation
    def collects():
        return gc.isenabled()

    @as_compilation
    def fails():
        raise KeyError(collects(), gc.isenabled())

    assert gc.isenabled()
    with pytest.raises(KeyError, match="False, False"):
        fails()
    assert gc.isenabled()


def test_a_gradient_can_be_made_at_any_depth():
    def deep(n):
        return grad(lambda x: x * x * x)(2.0) if n == 0 else deep(n - 1)

    assert [deep(n) for n in range(0, 300, 20)] == [12.0] * 15
