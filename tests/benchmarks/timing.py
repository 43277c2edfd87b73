"""Timing side by side: what is compared runs in turns, so that a busy moment of the machine falls on all alike."""

import statistics
import time
from collections.abc import Callable, Mapping

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
SPINNING = 0.3  # seconds for which threads of OpenMP (0.2 s by itself) and of BLAS keep a core busy after their last work


def interleaved_seconds(
    tasks: Mapping[str, Callable[[], object]],
    rounds: int,
    warm_up: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    rest: float = 0.0,
) -> dict[str, list[float]]:
    """Times each task once per round, every second round in the opposite order.

    Args:
        tasks: Name to a function without arguments.
        rounds: How often each is timed.
        warm_up: How often each is run first, untimed.
        clock: What tells the seconds; `time.process_time` leaves out what other processes take of a single thread's time.
        rest: Seconds of nothing before each; `SPINNING` where tasks are processes with threads of their own, which would
            otherwise slow down the next one.

    Returns:
        Name to its seconds, one per round.
    """
    for task in tasks.values():
        for _ in range(warm_up):
            task()
    seconds = {name: [] for name in tasks}
    order = list(tasks)
    for _ in range(rounds):
        for name in order:
            time.sleep(rest)
            start = clock()
            tasks[name]()
            seconds[name].append(clock() - start)
        order.reverse()
    return seconds


def median_ratio(numerator: list[float], denominator: list[float]) -> float:
    """The median over the rounds of one task's time divided by another's."""
    return statistics.median(a / b for a, b in zip(numerator, denominator, strict=True))


def overhead_seconds(
    outer: Callable[[], object], inner: Callable[[], object], rounds: int = 41, calls: int = 2000
) -> float:
    """How much longer a call of `outer` takes than one of `inner`: the median over the rounds."""

    def repeated(function):
        def run():
            for _ in range(calls):
                function()

        return run

    seconds = interleaved_seconds({"outer": repeated(outer), "inner": repeated(inner)}, rounds)
    return statistics.median(a - b for a, b in zip(seconds["outer"], seconds["inner"])) / calls
