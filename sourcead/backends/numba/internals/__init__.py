"""Compilation beyond Numba's public interface: the same text compiles in less than half the time, and runs faster.

    own_toolchain.py         the toolchain that uses the other modules; calls of the interpreter without `objmode`
    compiler.py              Numba's compiler with additional passes, such as sums of cotangents in any order
    compact_lowering.py      array elements, ranges and reference counts in few instructions; variables.py, repeated_operations.py
    parts_replaced.py        error messages, the optimisation levels of LLVM, no machine code for functions that are only linked
    numpy_loops.py           NumPy's loops for functions and reductions of whole arrays
    casts_and_views.py       casts of lists, transposes
    kept_code.py             machine code on disk

It is used for the versions of Numba that the tests have run with.  With any other, or with `SOURCEAD_NUMBA_INTERNALS=0`, `TOOLCHAIN` uses
the public interface alone: the same results, after a longer compilation in every process.
"""

import logging
import os

import numba

from sourcead.backends.numba.public_toolchain import Toolchain

TESTED = ("0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")  # versions of Numba that the tests have run with
VARIABLE = "SOURCEAD_NUMBA_INTERNALS"  # an environment variable; "0" switches this folder off


def reason_against(version: str) -> str | None:
    """Return why this folder is not used for a version of Numba; None if it is used.

    >>> reason_against("0.99.0")
    'Numba 0.99.0 is none of the versions that the tests ran (0.62 to 0.68)'
    """
    if os.environ.get(VARIABLE) == "0":
        return f"{VARIABLE} is 0"
    if ".".join(version.split(".")[:2]) not in TESTED:
        return f"Numba {version} is none of the versions that the tests ran ({TESTED[0]} to {TESTED[-1]})"
    return None


if (_reason := reason_against(numba.__version__)) is None:
    from sourcead.backends.numba.internals.own_toolchain import InternalsToolchain

    TOOLCHAIN: Toolchain = InternalsToolchain()
else:
    logging.getLogger("sourcead").warning("gradients compile slowly, by Numba's public interface alone: %s", _reason)
    TOOLCHAIN = Toolchain()

TOOLCHAIN.register()
