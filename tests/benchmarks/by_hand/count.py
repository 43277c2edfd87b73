"""How much a text says: its statements and its operations, counted alike whether a compiler or a hand wrote it."""

import ast

from tests.benchmarks.generated import is_docstring


def statements(text: str) -> int:
    """The statements of the text and of the functions that it defines.

    Docstrings, imports and the heads of functions are not counted, and `a, b = f(x), g(y)` counts as the two that it stands for.
    """
    return sum(weight(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))


def weight(statement: ast.stmt) -> int:
    if is_docstring(statement) or isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
        return 0
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            return len(values)
    return 1


def operations(text: str) -> int:
    """The calls, operators and comparisons of the text."""
    kinds = (ast.Call, ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Compare)
    return sum(isinstance(node, kinds) for node in ast.walk(ast.parse(text)))
