"""How long compilations in Python are run, so that the interpreter's own bookkeeping takes little of their time."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from contextlib import contextmanager

ROOM = 1 << 16  # slots of 8 bytes; a chunk is rounded up to a power of two, which leaves half a megabyte or more for calls


@contextmanager
def without_collection():
    """Put garbage collection off: the many small objects of a compilation live to its end, and each pass over them is in vain."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def in_one_chunk(function: Callable) -> Callable:
    """Return the function, called where the interpreter's stack has room for all that it calls.

    Since 3.11 CPython keeps frames in chunks of 16 KB.  Where a chunk ends, a call maps memory for another one and its return gives
    that back; with an inner loop at such a depth a compilation took sixty times as long.  A frame that asks for much gets a larger
    chunk, and the frames of further calls lie in it too.

    >>> in_one_chunk(max)(2, 3)
    3
    """

    def called(*args, **kwargs):
        return function(*args, **kwargs)

    if sys.version_info >= (3, 11):
        called.__code__ = called.__code__.replace(co_stacksize=ROOM)
    return functools.update_wrapper(called, function)
