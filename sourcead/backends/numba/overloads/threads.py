"""The threads of loops that run in parallel: how many a loop gets, and who may call them."""

import threading
from collections.abc import Callable

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


_turn = threading.RLock()


def one_at_a_time(call: Callable) -> Callable:
    """Return a function that runs compiled code with parallel loops, for one Python thread at a time where Numba's threads need that.

    Numba lets go of Python's lock while its threads run, and its own layer of threads, `workqueue`, ends the process if it is then called
    from another thread.  The layers `omp` and `tbb` may be.  This also starts the threads, which machine code from the disk expects.
    """
    numba.get_num_threads()
    if numba.threading_layer() != "workqueue":
        return call

    def in_turn(*args):
        with _turn:
            return call(*args)

    return in_turn
