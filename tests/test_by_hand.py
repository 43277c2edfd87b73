"""Gradients as a careful hand writes them (`tests/benchmarks/by_hand/programs`) are central differences; generated ones are theirs."""

import numpy as np
import pytest

from tests.benchmarks.by_hand import count, page
from tests.benchmarks.by_hand.compare import DTYPES, TOLERANCES, difference, gradients
from tests.benchmarks.by_hand.program import arrays_in, named, program_names

pytestmark = pytest.mark.sampled(2)


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

    by_hand = arrays_in(program.by_hand(*args))
    assert [a.shape for a in by_hand] == [a.shape for a in arrays_in(sought)]
    expected = sum(np.sum(a * b) for a, b in zip(by_hand, direction, strict=True))
    np.testing.assert_allclose((value(1e-6) - value(-1e-6)) / 2e-6, expected, rtol=1e-6, atol=1e-8)


def moved_by(argument, parts):
    """The argument with the next parts added to its arrays, in the order of `arrays_in`."""
    if isinstance(argument, dict):
        return {name: moved_by(argument[name], parts) for name in sorted(argument)}
    if isinstance(argument, (list, tuple)):
        return [moved_by(part, parts) for part in argument]
    return argument + next(parts)


@pytest.mark.parametrize("name", program_names())
def test_generated_gradients_are_those_by_hand(name):
    both = gradients(named(name))
    for dtype in DTYPES:
        args, untouched = (named(name).inputs("small", dtype) for _ in range(2))
        found, expected = (gradient(*args) for gradient in both.values())
        assert {array.dtype for array in arrays_in(expected)} == {np.dtype(dtype)}
        assert difference(found, expected) < TOLERANCES[dtype]
        np.testing.assert_equal(args, untouched)


def test_a_difference_is_relative_to_each_array_and_sees_shapes_and_dtypes():
    assert difference([np.array([1e-3]), np.array([5.0])], [np.array([2e-3]), np.array([5.0])]) == 0.5
    for other in (np.zeros(2), np.zeros((1, 3)), np.zeros(3, np.float32)):
        with pytest.raises(ValueError, match="where the hand has"):
            difference(other, np.ones(3))


def test_statements_are_counted_without_docstrings_imports_and_heads():
    text = """
import numpy as np

def f(x):
    'What it is for.'
    a, b = np.sin(x), 2  # two
    a, b = np.divmod(a, b)
    for i in range(3):
        def g(y):
            return -y
        a += g(i)
    return a
"""
    assert count.statements(text) == 7
    assert count.operations(text) == 6


def test_the_section_replaces_the_one_before_and_tells_what_failed(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Page\n")
    calls = {"difference": 0.0, "time": 2.0, "bytes ours": 3, "bytes hand": 1, "seconds hand": 1.0, "seconds ours": 2.0}
    row = {"statements ours": 3, "statements hand": 2, "operations ours": 4, "operations hand": 4, "float64": calls, "float32": calls}
    wrong = row | {"float32": {"difference": 0.5}}
    for rows in ({"old": row}, {"a_b": row, "c": wrong, "d": {"reason": "RefusedError: no"}}):
        page.write_section(path, rows)
    lines = path.read_text().splitlines()
    assert lines[0] == "# Page" and lines.count(page.HEADING) == 1
    assert lines[-5:-2] == [
        "| a b | 1.50 | 1.00 | 2.00 | 2.00 | 3.00 | 3.00 | 2 statements, 1000.00 ms, 0.00 MB |",
        "| c | 1.50 | 1.00 | 2.00 | - | 3.00 | - | float32: differs by 5e-01 |",
        "| d | RefusedError: no | | | | | | |",
    ]
