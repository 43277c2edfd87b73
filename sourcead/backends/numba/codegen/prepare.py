"""The passes from the IR of a derivative to the IR of the text that Numba compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sourcead.analysis.builder import atom_type
from sourcead.backends.base import Derivative, optimised
from sourcead.backends.numba.codegen.boundary import Boundary, flattened
from sourcead.backends.numba.codegen.explicit_types import structures_by_parts, with_stable_types
from sourcead.backends.numba.codegen.loops.fast_loops import with_fast_loops
from sourcead.backends.numba.codegen.notes import decisions
from sourcead.backends.numba.codegen.outlining import AT, outline_calls
from sourcead.backends.numba.codegen.recursion import with_functions
from sourcead.backends.numba.codegen.stacks import number_stacks_as_arrays
from sourcead.backends.numba.codegen.vector_loops import fuse_vector_statements
from sourcead.backends.numba.codegen.vector_statements import may_run_again
from sourcead.backends.python_overhead import in_one_chunk, without_collection
from sourcead.emit import emit
from sourcead.ir.nodes import Block, Const, Function, Loop
from sourcead.ir.walk import walk


def prepare(derivative: Derivative) -> tuple[Function, Boundary, Callable[[], Function] | None]:
    """Return a derivative's IR in the forms that Numba compiles, and note how the text differs from that for NumPy.

    Returns:
        The compiled function, the Python function around it, and what makes the function for calls whose arguments violate the assumptions
        of the first; None if it assumes nothing.
    """
    function, told = derivative.without_closures(), derivative.notes.compiled
    live = {a.text: atom_type(a) for a in live_data(function.body) if a.text in derivative.global_data}
    assumes = False  # whether statements on vectors have become loops, which assume equal lengths

    def loops_over_vectors(function: Function) -> Function:
        nonlocal assumes
        made = fuse_vector_statements(function)
        assumes = made is not function
        return loops(made, function)

    def loops(function: Function, before: Function | None = None) -> Function:
        made = with_fast_loops(function)
        told[:] = decisions(before or function, made)
        return made

    def in_forms(function: Function, last: Callable[[Function], Function] = loops) -> Function:
        function = optimised(structures_by_parts(function), lists=False, last=last)
        return outline_calls(with_stable_types(number_stacks_as_arrays(function)))

    @in_one_chunk
    @without_collection()
    def alternative() -> Function:
        return in_forms(inner, with_fast_loops)

    inner, boundary = flattened(with_functions(function, lambda f: emit(in_forms(f), AT)), live)
    repeats = may_run_again(function) and any(isinstance(s.op, Loop) for s in walk(function.body))
    made = in_forms(inner, loops_over_vectors if repeats else loops)
    return made, boundary, alternative if assumes else None


def live_data(block: Block) -> Iterator[Const]:
    """Yield the data of globals and closures that a block reads."""
    for stmt in walk(block):
        yield from (a for a in stmt.op.atoms if isinstance(a, Const) and a.live)
