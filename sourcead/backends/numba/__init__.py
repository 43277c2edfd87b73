"""The engine that compiles generated text with Numba.

    engine.py            the engine: implements `backends/base.py`
    codegen/             passes from a derivative's IR to the IR of the text for Numba
        prepare.py           runs the passes below in order
        recursion.py         recursive functions
        boundary.py          parameters and results in parts, and the Python function around the compiled one
        explicit_types.py    forms in which types are explicit
        vector_loops.py      statements on vectors as loops
        loops/               statements on slices as loops; loops split, and reversed to count upward
        stacks.py            residuals that are numbers or vectors, in arrays
        outlining.py         calls that Numba may not know, as functions of their own
        parallel/            loops of independent iterations, as functions that run parts of them
    functions.py         functions that the text calls, besides `sourcead.runtime`
    compile.py           the compilation, its errors, and machine code kept on disk
    overloads/           how Numba compiles these functions, outlined functions, and gradients called from compiled functions
    calls_to_python.py   calls of the interpreter from compiled code
    public_toolchain.py  compilation by Numba's public interface alone
    internals/           compilation beyond Numba's public interface: faster, for tested versions

Only `engine.py`, `codegen/` and `functions.py` may be imported where Numba is not installed.
"""
