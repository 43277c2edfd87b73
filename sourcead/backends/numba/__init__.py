"""The generated text under `numba.njit`.

    boundary.py   parameters and results in parts that Numba knows, and the Python function around the compiled one
    calls.py      the IR with the calls that Numba may not know in functions of their own
    stacks.py     residuals that are numbers, in arrays
    recursive.py  functions that call themselves
    forms.py      what Numba needs said more plainly
    integers.py   integers that mean what they do in Python
    nests.py      calls that are quicker compiled as loops, or not at all
    lowering.py   these in order: from IR to text
    outlined.py   such a function: compiled if Numba can, else run by the interpreter with the result type that inference promises
    overloads.py  what of sourcead's runtime is compiled
    indexing.py   subscripts that Numba does not know
    interpreted.py  calls of the interpreter from compiled code
    casts.py      casts that Numba leaves out
    mismatch.py   the error for shapes that do not fit
    careful.py    a check of casts, in Numba's compiler, and that compiler up to types
    effort.py     how hard LLVM tries
    disk.py       machine code that outlives the process
    within.py     gradients that compiled functions call
    compiling.py  the compilation itself, and its errors

What `lowering.py` imports may be imported where Numba is not installed; nothing else.
"""
