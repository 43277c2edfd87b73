"""The error for arrays whose shapes do not fit, without text put together in compiled code.

Numba writes both shapes into the message; to compile that takes it two seconds in each process, longer than most gradients.  It names
the stub that raises the error as one to be specialised, `raise_with_shape_context`;
`raise_mismatch` replaces it while a gradient is compiled.
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
    """Compile with that error, and alone."""
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
