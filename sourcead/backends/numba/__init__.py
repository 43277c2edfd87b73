"""The engine that compiles generated text with Numba.

    engine.py       the engine: what `backends/base.py` asks for
    codegen/        from IR to the IR that is written as text for Numba
        prepare.py            the order of all that follows
        recursion.py          recursive functions
        boundary.py           parameters and results in parts, and the Python function around the compiled one
        explicit_types.py     forms in which types are explicit
        row_stacks.py         residuals that are vectors, as rows of matrices
        vector_loops.py       statements on vectors as loops
        loops/                statements on slices as loops; loops split and turned upward
        number_stacks.py      residuals that are numbers, in arrays
        outlining.py          calls that Numba may not know, as functions of their own
    functions.py    what the text calls beside `sourcead.runtime`
    integers.py     integer arithmetic as in Python
    compile.py      the compilation, and its errors
    overloads/      forms of those functions that Numba compiles; outlined functions; gradients called from compiled functions
    interpreter.py  calls of the interpreter from compiled code
    disk.py         machine code kept on disk
    toolchain.py    Numba by its public interface
    internals/      Numba beyond its public interface: faster, for versions that the tests ran

Only `engine.py`, `codegen/`, `functions.py` and `integers.py` may be imported where Numba is not installed.
"""
