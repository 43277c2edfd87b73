"""What uses Numba beyond its public interface: the same text compiles in a third of the time, and runs faster.

    toolchain.py           the entry: the compiler of this folder in place of `njit` alone
    compiler.py            Numba's compiler with passes in between
    compact_lowering.py    elements of arrays, ranges and counts of references in few instructions
    ...

It is on for the versions of Numba that the tests ran.  With any other, or with `SOURCEAD_NUMBA_INTERNALS=0`, `TOOLCHAIN` uses
the public interface alone: the same results, after a longer compilation.
"""

import logging
import os

import numba

from sourcead.backends.numba.toolchain import Toolchain

TESTED = ("0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")  # versions of Numba that the tests ran
VARIABLE = "SOURCEAD_NUMBA_INTERNALS"  # of the environment; "0" switches this folder off


def reason_against(version: str) -> str | None:
    """Return why this folder is off for a version of Numba; None if it is on.

    >>> reason_against("0.99.0")
    'Numba 0.99.0 is none of the versions that the tests ran (0.62 to 0.68)'
    """
    if os.environ.get(VARIABLE) == "0":
        return f"{VARIABLE} is 0"
    if ".".join(version.split(".")[:2]) not in TESTED:
        return f"Numba {version} is none of the versions that the tests ran ({TESTED[0]} to {TESTED[-1]})"
    return None


if (_reason := reason_against(numba.__version__)) is None:
    from sourcead.backends.numba.internals.toolchain import InternalsToolchain

    TOOLCHAIN: Toolchain = InternalsToolchain()
else:
    logging.getLogger("sourcead").warning("gradients compile slowly, by Numba's public interface alone: %s", _reason)
    TOOLCHAIN = Toolchain()

TOOLCHAIN.register()
