"""The number of threads for a loop that may run in parallel."""

import numba

ONLY_LOOPS = {
    "prange": True, "numpy": False, "reduction": False, "setitem": False, "inplace_binop": False, "fusion": False,
    "comprehension": False, "stencil": False,
}  # fmt: skip


@numba.njit
def threads(n, work, more, least):
    """Return into how many parts a loop is divided.

    Args:
        n: the number of iterations.
        work: what they calculate, in additions.
        more: what each part calculates besides.
        least: the least work for which several threads pay.
    """
    chunks = min(numba.get_num_threads(), n)
    return chunks if chunks > 1 and work >= least + more * chunks else 1


def started() -> None:
    """Start Numba's threads, which machine code from the disk expects."""
    numba.get_num_threads()
