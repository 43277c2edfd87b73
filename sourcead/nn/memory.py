"""Keeps freed memory in the process, so that each batch of a training loop finds the memory of the last one.

A gradient makes the same large arrays for every batch. The C library of Linux (glibc) returns a large array to the system as soon as it
is freed, and the system then clears each page before it lends it again, which can take as long as the arithmetic.
"""

import ctypes
import os

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # names of parameters in glibc's malloc.h
LARGEST_BLOCK = 32 << 20  # the largest value that glibc takes for the first
SETTINGS = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Tell glibc to keep up to 64 MB of freed memory, and blocks of up to 32 MB in it, for the rest of this process.

    `fit` calls it; call it yourself before a training loop of your own. It does nothing where the C library is another one, and nothing
    where the environment sets what glibc keeps (`MALLOC_TRIM_THRESHOLD_`, `MALLOC_MMAP_THRESHOLD_` or `GLIBC_TUNABLES`).

    Returns:
        Whether glibc took the setting (`man 3 mallopt`).
    """
    if os.name != "posix" or any(name in os.environ for name in SETTINGS):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    return bool(library.mallopt(MMAP_THRESHOLD, LARGEST_BLOCK) and library.mallopt(TRIM_THRESHOLD, 2 * LARGEST_BLOCK))
