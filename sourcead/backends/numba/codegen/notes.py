"""Notes on what the text for Numba does differently from the text for NumPy."""

from __future__ import annotations

from sourcead.analysis.builder import atom_type
from sourcead.backends.numba.functions import ARRAY_UFUNCS
from sourcead.ir.nodes import Atom, Call, Function, Slice, Stmt, Sub, Update
from sourcead.ir.types import Array
from sourcead.ir.walk import walk


def decisions(before: Function, after: Function) -> list[str]:
    """Return notes on the differences between a function and the form that Numba compiles."""
    left = {place_of(s) for s in walk(after.body) if is_on_slice(s)}
    loops = {place_of(s) for s in walk(before.body) if is_on_slice(s)} - left
    told = []
    for adjoint, what in ((False, "statements"), (True, "adjoints of statements")):
        if found := {line for line, is_adjoint in loops if is_adjoint == adjoint and line}:
            told.append(f"under Numba, {what} ({lines(found)}) on parts of arrays are loops over elements")
    whole: dict[str, set[int]] = {}
    for stmt in walk(after.body):
        if isinstance(stmt.op, Call) and is_of_array(stmt.op):
            line, _ = place_of(stmt)
            if line and any(fn is stmt.op.fn for fn in ARRAY_UFUNCS):
                whole.setdefault(stmt.op.fn.__name__, set()).add(line)
    if whole:
        names = ", ".join(f"{name} ({lines(found)})" for name, found in whole.items())
        told.append(f"under Numba, functions of whole arrays run NumPy's own loops: {names}")
    return told


def is_of_array(call: Call) -> bool:
    """Return whether the first argument of a call is an array."""
    return bool(call.args) and isinstance(call.args[0], Atom) and isinstance(atom_type(call.args[0]), Array)


def is_on_slice(stmt: Stmt) -> bool:
    """Return whether a statement writes a part of an array that has several elements."""
    match stmt.op:
        case Update(_, (Sub(key),)):
            return any(isinstance(part, Slice) for part in (key if isinstance(key, tuple) else (key,)))
    return False


def place_of(stmt: Stmt) -> tuple[int, bool]:
    """Return the user's line that a statement comes from (0: none), and whether it belongs to the reverse sweep."""
    origin = stmt.adjoint_of or stmt.origin
    return (origin.line if origin is not None else 0), stmt.adjoint_of is not None


def lines(numbers: set[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, sorted(numbers)))}"
