"""The error for arrays whose shapes do not match, with a fixed message instead of one that compiled code formats.

Numba writes both shapes into the message; compiling that takes two seconds in each process, longer than most gradients.  While a gradient
is compiled, `raise_mismatch` replaces Numba's stub `raise_with_shape_context`, which raises the error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload
from numba.np import arrayobj

STUB = "raise_with_shape_context"


def raise_mismatch(src_shapes, index_shape):
    raise ValueError("an array is assigned to a part of an array that has another shape")


@overload(raise_mismatch)
def _raise_mismatch(src_shapes, index_shape):
    return raise_mismatch


@contextlib.contextmanager
def short_shape_errors() -> Iterator[None]:
    """Compile with the fixed message, holding Numba's compiler lock."""
    with global_compiler_lock:
        theirs = getattr(arrayobj, STUB, None)
        if theirs is None:  # another version of Numba
            yield
            return
        setattr(arrayobj, STUB, raise_mismatch)
        try:
            yield
        finally:
            setattr(arrayobj, STUB, theirs)
