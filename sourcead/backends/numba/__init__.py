"""The generated text under `numba.njit`.

    boundary.py   parameters and results in parts that Numba knows, and the Python function around the compiled one
    calls.py      the IR with the calls that Numba may not know in functions of their own
    outlined.py   such a function: compiled if Numba can, else run by the interpreter with the result type that inference promises
    overloads.py  what of sourcead's runtime is compiled
    indexing.py   subscripts that Numba does not know
    compiling.py  the compilation itself, and its errors

Only `boundary.py` and `calls.py` may be imported where Numba is not installed.
"""
