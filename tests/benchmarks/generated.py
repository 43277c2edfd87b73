"""The generated text, taken as text: what is in it, and the function that it defines when run on its own."""

import ast

import numpy as np


def function_in(text):
    """The gradient function that the text defines, run with nothing but `np` (and what the text itself imports)."""
    namespace = {"np": np}
    exec(compile(text, "<generated>", "exec"), namespace)
    return namespace[functions_of(text)[-1].name]


def functions_of(text):
    """The functions at the top level of the text."""
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def statement_count(text):
    """How many statements the functions of the text hold, at every depth; docstrings are not counted."""
    return sum(
        isinstance(node, ast.stmt) and not is_docstring(node)
        for function in functions_of(text)
        for node in ast.walk(function)
        if node is not function
    )


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
