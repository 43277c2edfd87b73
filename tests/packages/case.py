"""What a case is: a call of a function of a package, and the numbers and arrays that it is differentiated by."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One call of a package's function.

    Args:
        calls: the function, class or method that the case is about, as the package's users name it.
        function: calls it and returns one number.
        inputs: the arguments of `function`, all of floating point; it is differentiated by every one of them.
        stair: why no derivative passes through the function, although its value changes, such as a search that halves an interval.
    """

    calls: str
    function: Callable
    inputs: tuple
    stair: str = ""


def case(calls: str, function: Callable, *inputs) -> Case:
    """Return a `Case` whose inputs are numbers, or arrays made of (nested) lists of numbers."""
    return Case(calls, function, tuple(np.array(x, float) if isinstance(x, (list, np.ndarray)) else float(x) for x in inputs))


def stair(case: Case, why: str) -> Case:
    """Return a case whose value is found by comparisons alone, so that the derivative of the program is not that of what it finds."""
    return replace(case, stair=why)


@dataclass(frozen=True)
class Package:
    """What can be read in a file of cases without importing the package.

    Args:
        module: the name of the file, and of the module that it imports.
        requirements: what pip installs, with versions; the package itself is the first.
        field: what the package is for, in a word or two.
    """

    module: str
    requirements: tuple
    field: str


def packages() -> dict[str, Package]:
    """Return every package that has a file of cases, by the name of its module."""
    found = {}
    for path in sorted(CASES.glob("*.py")):
        if path.stem == "__init__":
            continue
        constants = {
            statement.targets[0].id: ast.literal_eval(statement.value)
            for statement in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) in ("REQUIREMENTS", "FIELD")
        }
        found[path.stem] = Package(path.stem, tuple(constants["REQUIREMENTS"]), constants["FIELD"])
    return found


def blend(*parts):
    """One number that every element of every part, a number or an array, adds to by a weight of its own."""
    total = 0.0
    for k, part in enumerate(parts):
        flat = np.ravel(part)
        total = total + np.dot(np.cos(np.arange(flat.size) + k), flat)
    return total
