"""From the IR of a function to the text that Numba compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sourcead.analysis.builder import atom_type
from sourcead.backends.numba.codegen.boundary import Boundary, flattened
from sourcead.backends.numba.codegen.calls import AT, for_numba
from sourcead.backends.numba.codegen.forms import by_parts, with_one_type
from sourcead.backends.numba.codegen.fusing import fused
from sourcead.backends.numba.codegen.loops import with_fast_loops
from sourcead.backends.numba.codegen.notes import decisions
from sourcead.backends.numba.codegen.recursion import with_functions
from sourcead.backends.numba.codegen.stacks import with_arrays
from sourcead.backends.numba.codegen.vectors import may_run_again
from sourcead.backends.interpreter import in_one_chunk, without_collection
from sourcead.emit import Emitted, emit
from sourcead.ir.nodes import Block, Const, Function, Loop, op_operands, operand_atoms
from sourcead.ir.walk import walk


def in_parts(
    function: Function, finished: Callable[..., Function], read: Emitted, told: list[str]
) -> tuple[Emitted, Boundary, Callable[[], Emitted] | None]:
    """The text that Numba compiles, what stands around it, and what makes another one for calls where what the first takes for
    granted does not hold.

    Args:
        function: the function, not yet simplified; its reverse sweep calls no pullbacks of recursive functions.
        finished: what simplifies it and settles its memory.
        read: the text for NumPy; its namespace has the global data.
        told: gets notes on what is done otherwise than in the text for NumPy.
    """
    live = {a.text: atom_type(a) for a in live_data(function.body) if a.text in read.namespace}
    quick = False  # whether vectors in loops have become loops

    def with_vectors(function: Function) -> Function:
        nonlocal quick
        made = fused(function)
        quick = made is not function
        return engine(made, function)

    def engine(function: Function, before: Function | None = None) -> Function:
        made = with_fast_loops(function)
        told[:] = decisions(before or function, made)
        return made

    def written(function: Function, for_engine: Callable[[Function], Function] = engine) -> Emitted:
        return emit(for_numba(with_one_type(with_arrays(finished(by_parts(function), for_engine=for_engine)))), AT)

    @in_one_chunk
    @without_collection()
    def plain() -> Emitted:
        return written(inner, with_fast_loops)

    inner, boundary = flattened(with_functions(function, written), live)
    repeats = may_run_again(function) and any(isinstance(s.op, Loop) for s in walk(function.body))
    emitted = written(inner, with_vectors if repeats else engine)
    return emitted, boundary, plain if quick else None


def live_data(block: Block) -> Iterator[Const]:
    """The data of globals and closures that a block reads."""
    for stmt in walk(block):
        for operand in op_operands(stmt.op):
            yield from (a for a in operand_atoms(operand) if isinstance(a, Const) and a.live)
