"""The passes from the IR of a derivative to the IR of the text that Numba compiles."""

from collections.abc import Callable

from sourcead.analysis.builder import atom_type
from sourcead.backends.base import Derivative, optimised
from sourcead.backends.numba.codegen.boundary import flattened
from sourcead.backends.numba.codegen.explicit_types import structures_by_parts, with_stable_types
from sourcead.backends.numba.codegen.handled_exceptions import refuse_called_from_outside, refuse_handled
from sourcead.backends.numba.codegen.loops.reordering import with_fast_loops
from sourcead.backends.numba.codegen.outlining import AT, outline_calls
from sourcead.backends.numba.codegen.parallel.rewrite import parallel_loops
from sourcead.backends.numba.codegen.recursion import live_data, with_functions
from sourcead.backends.numba.codegen.small_arrays.rewrite import small_arrays_as_numbers
from sourcead.backends.numba.codegen.stacks import number_stacks_as_arrays
from sourcead.backends.numba.codegen.unsupported_dtypes import refuse_dtypes
from sourcead.backends.numba.codegen.vector_loops import fuse_vector_statements
from sourcead.backends.numba.codegen.vector_statements import may_run_again
from sourcead.backends.numba.codegen.weights import shares_as_weights
from sourcead.backends.numba.functions import ARRAY_UFUNCS
from sourcead.backends.python_overhead import as_compilation
from sourcead.emit import Emitted, emit
from sourcead.ir.nodes import Call, Const, Function, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Opaque
from sourcead.ir.walk import all_reads, walk
from sourcead.passes import plan
from sourcead.passes.cleanup.shape_queries import query_current_versions
from sourcead.passes.plan import Pass

BY_PARTS = (Pass(structures_by_parts, "before the passes of the plan, which remove most of what it makes"),)
FORMS = (  # these keep updates in place
    Pass(number_stacks_as_arrays, "first: it knows stacks by their empty lists, which the next pass gives a type"),
    Pass(with_stable_types, "last: the calls that are taken out of the text afterwards get arguments of these types"),
)


def prepare(derivative: Derivative, parallel: bool = False) -> tuple[Function, Emitted, Callable[[], Function] | None]:
    """Return a derivative's IR in the forms that Numba compiles, and note how the text differs from that for NumPy.

    Args:
        derivative: the derivative.
        parallel: whether independent iterations of loops may run at the same time.

    Returns:
        The compiled function, the Python function around it, and what makes the function for calls whose arguments violate the assumptions
        of the first; None if it assumes nothing.
    """
    function, told = derivative.without_closures(), derivative.notes.compiled
    live = {a.text: atom_type(a) for a in live_data(function.body) if a.text in derivative.global_data}
    refuse_dtypes(function, live)
    refuse_handled(function)
    refuse_called_from_outside(function)
    assumes = False  # whether statements on vectors have become loops, which assume equal lengths

    def loops_over_vectors(function: Function) -> Function:
        nonlocal assumes
        made = fuse_vector_statements(simplified(small_arrays_as_numbers(function), function))
        assumes = made is not function
        return loops(made, function)

    def loops(function: Function, before: Function | None = None) -> Function:
        made = with_fast_loops(simplified(shares_as_weights(function), function))
        told[:] = decisions(before or function, made)
        return made

    def in_forms(function: Function, last: Callable[[Function], Function] = loops) -> Function:
        function = optimised(plan.run(BY_PARTS, function), lists=False, last=last)
        return outline_calls(plan.run(FORMS, function))

    def in_threads(function: Function, notes: list[str]) -> Function:
        return parallel_loops(function, notes) if parallel else function

    @as_compilation
    def alternative() -> Function:
        return in_threads(in_forms(inner, with_fast_loops), [])

    whole = with_functions(function, lambda f: emit(in_forms(f), AT))
    repeats = may_run_again(function) and any(isinstance(s.op, Loop) for s in walk(function.body))
    unread: frozenset[str] = frozenset()
    for _ in range(2):
        inner, boundary = flattened(whole, live, unread)
        made = in_forms(inner, loops_over_vectors if repeats else loops)
        objects = {p for p in made.params if isinstance(p.type, Opaque) and p not in whole.params}
        if not (unread := frozenset(p.name for p in objects - {*all_reads(made.body)})):
            break
    return in_threads(made, told), boundary, alternative if assumes else None


def simplified(made: Function, before: Function) -> Function:
    """Return a function after simplification, if a pass has changed it; no old version of an array is kept for its shape."""
    return made if made is before else query_current_versions(plan.simplify(made))


# ---- notes on what the text for Numba does differently from the text for NumPy ----


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
        match stmt.op:
            case Call(fn, (Var() | Const() as first, *_)) if isinstance(atom_type(first), Array):
                line, _ = place_of(stmt)
                if line and any(fn is known for known in ARRAY_UFUNCS):
                    whole.setdefault(fn.__name__, set()).add(line)
    if whole:
        names = ", ".join(f"{name} ({lines(found)})" for name, found in whole.items())
        told.append(f"under Numba, functions of whole arrays run NumPy's own loops: {names}")
    return told


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
