"""A wrapper that reduces the interpreter's overhead in long compilations."""

import functools
import gc
import sys
from collections.abc import Callable

ROOM = 1 << 16  # slots of 8 bytes; a chunk is rounded up to a power of two, which leaves half a megabyte or more for calls


def as_compilation(function: Callable) -> Callable:
    """Return a wrapper that runs the function without garbage collection, and its nested calls in one chunk of the interpreter's stack.

    The many small objects of a compilation live until its end, so a collection would free none.

    Since 3.11 CPython keeps frames in chunks of 16 KB.  A call at the end of a chunk maps memory for the next one, and its return frees
    it; an inner loop at that depth made a compilation sixty times slower.  A frame that requests much stack gets a larger chunk, which
    also holds the frames of further calls.

    >>> as_compilation(max)(2, 3)
    3
    """

    def called(*args, **kwargs):
        collects = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if collects:
                gc.enable()

    if sys.version_info >= (3, 11):
        called.__code__ = called.__code__.replace(co_stacksize=ROOM)
    return functools.update_wrapper(called, function)
