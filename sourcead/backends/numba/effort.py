"""How hard LLVM tries.

Its highest level copies a loop for each condition in it that does not change, and Numba's array expressions have such conditions for
each axis that may broadcast: a gradient of 300 lines took 27 s to compile so, 13 s without.  Loops over elements gain from it, up to
a third of their time.  So long texts are compiled at the level below, short ones at the highest.

Numba optimises each function once before all are put together and optimised again; for that the lowest level is enough.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from numba.core import config
from numba.core.codegen import CPUCodegen
from numba.core.compiler_lock import global_compiler_lock

LONG = 120  # lines of code
HIGHEST = 3


@contextlib.contextmanager
def effort_for(text: str) -> Iterator[None]:
    """Compiles with the effort that is right for a text, and alone."""
    with global_compiler_lock:
        level, manager = config.OPT, CPUCodegen._function_pass_manager

        def cheap(self, *args, **kwargs):
            return manager(self, *args, **{"opt": 1, **kwargs})

        if level == HIGHEST and not level.is_opt_max:  # people have not chosen another
            CPUCodegen._function_pass_manager = cheap
            if is_long(text):
                config.OPT = type(level)("2")
        try:
            yield
        finally:
            config.OPT, CPUCodegen._function_pass_manager = level, manager


def is_long(text: str) -> bool:
    """Whether a text has many lines of code.

    >>> is_long("def f(x):\\n    # nothing\\n    return x\\n")
    False
    """
    code = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith("#") for line in code) > LONG
