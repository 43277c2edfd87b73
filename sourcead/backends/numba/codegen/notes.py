"""What the text for Numba does otherwise than that for NumPy, said for people."""

from __future__ import annotations

from sourcead.analysis.builder import atom_type
from sourcead.backends.numba.functions import ARRAY_UFUNCS
from sourcead.ir.nodes import Atom, Call, Function, Slice, Stmt, Sub, Update
from sourcead.ir.types import Array
from sourcead.ir.walk import walk


def decisions(before: Function, after: Function) -> list[str]:
    """The notes on a function, as it was and as Numba compiles it."""
    left = {place_of(s) for s in walk(after.body) if is_on_slice(s)}
    loops = {place_of(s) for s in walk(before.body) if is_on_slice(s)} - left
    told = [f"under Numba, {shown} on parts of arrays {verb} over elements" for shown, verb in said(loops)]
    whole: dict[str, set[int]] = {}
    for stmt in walk(after.body):
        if isinstance(stmt.op, Call) and is_of_array(stmt.op):
            name = next((fn.__name__ for fn in ARRAY_UFUNCS if fn is stmt.op.fn), None)
            if name is not None and place_of(stmt)[0]:
                whole.setdefault(name, set()).add(place_of(stmt)[0])
    if whole:
        names = ", ".join(f"{name} ({lines(found)})" for name, found in whole.items())
        told.append(f"under Numba, functions of whole arrays run NumPy's own loops: {names}")
    return told


def is_of_array(call: Call) -> bool:
    """Whether the first argument is an array; of a text's parts or of a tuple it is neither atom nor array."""
    return bool(call.args) and isinstance(call.args[0], Atom) and isinstance(atom_type(call.args[0]), Array)


def is_on_slice(stmt: Stmt) -> bool:
    """Whether a statement writes a part of an array that has several elements."""
    match stmt.op:
        case Update(_, (Sub(key),)):
            return any(isinstance(part, Slice) for part in (key if isinstance(key, tuple) else (key,)))
    return False


def place_of(stmt: Stmt) -> tuple[int, bool]:
    """The line of the user's function that a statement stands for, and whether it is of the reverse sweep; line 0 is none."""
    origin = stmt.adjoint_of or stmt.origin
    return (origin.line if origin is not None else 0), stmt.adjoint_of is not None


def said(places: set[tuple[int, bool]]):
    """Statements of the program, and those of the reverse sweep, with what they are now."""
    for adjoint, what in ((False, "statements"), (True, "adjoints of statements")):
        found = {line for line, is_adjoint in places if is_adjoint == adjoint and line}
        if found:
            yield f"{what} ({lines(found)})", "are loops"


def lines(numbers: set[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, sorted(numbers)))}"
