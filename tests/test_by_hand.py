"""Gradients as a careful hand writes them (`tests/benchmarks/by_hand/programs`) are central differences."""

import numpy as np
import pytest

from tests.benchmarks.by_hand.program import arrays_in, named, program_names


@pytest.mark.parametrize("name", program_names())
def test_gradients_by_hand_are_central_differences(name):
    program = named(name)
    args = program.inputs("small", np.float64)
    rng = np.random.default_rng(1)
    sought = [args[position] for position in program.positions]
    direction = [rng.standard_normal(array.shape) for array in arrays_in(sought)]

    def value(step):
        moved = list(args)
        parts = iter(step * array for array in direction)
        for position in program.positions:
            moved[position] = moved_by(args[position], parts)
        return program.primal(*moved)

    gradients = arrays_in(program.by_hand(*args))
    assert [g.shape for g in gradients] == [a.shape for a in arrays_in(sought)]
    expected = sum(np.sum(a * b) for a, b in zip(gradients, direction, strict=True))
    np.testing.assert_allclose((value(1e-6) - value(-1e-6)) / 2e-6, expected, rtol=1e-6, atol=1e-8)


def moved_by(argument, parts):
    """The argument with the next parts added to its arrays, in the order of `arrays_in`."""
    if isinstance(argument, dict):
        return {name: moved_by(argument[name], parts) for name in sorted(argument)}
    if isinstance(argument, (list, tuple)):
        return [moved_by(part, parts) for part in argument]
    return argument + next(parts)


@pytest.mark.parametrize("name", program_names())
def test_gradients_by_hand_keep_float32_and_their_arguments(name):
    program = named(name)
    given, again = (program.inputs("small", np.float32) for _ in range(2))
    gradients = arrays_in(program.by_hand(*given))
    assert {g.dtype for g in gradients} == {np.dtype(np.float32)}
    np.testing.assert_equal(given, again)
    for g, expected in zip(gradients, arrays_in(program.by_hand(*program.inputs("small", np.float64))), strict=True):
        np.testing.assert_allclose(g, expected, rtol=1e-3, atol=1e-4)
