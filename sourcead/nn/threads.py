"""Notices threads that fight each other: NumPy's products run on several threads, which spin while they wait for each other.

If there are more of them than cores, because the process may use few or because other processes keep them busy, or if the products are
small, then one thread is several times as fast.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")  # the first that is set counts
SMALL = 500_000  # multiplications for each thread, some 50 microseconds; to start and await a thread takes about as long
BUSY = 0.75  # of the machine's cores
_log = logging.getLogger("sourcead")
_advised = False


def advise_on_threads(multiplications: int | None = None) -> str | None:
    """Write one line of advice to the log if the threads of NumPy's products slow each other down; at most once in a process.

    `fit` calls it; call it yourself before a training loop of your own.

    Args:
        multiplications: in the largest product of matrices of a step; None if it is not known.

    Returns:
        The line, None if there is nothing to advise or the advice was given before.
    """
    global _advised
    problem = None if _advised else conflict(blas_threads(), available_cores(), multiplications)
    if problem is None:
        return None
    _advised = True
    line = f"{problem}: training may be several times faster with OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 set before Python starts"
    _log.warning(line)
    return line


def conflict(threads: int, cores: int, multiplications: int | None) -> str | None:
    """Return why threads slow each other down, None if they do not."""
    machine = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if threads <= 1:
        return None
    if threads > cores:
        return f"NumPy's products run on {threads} threads, and this process may use {cores} of the machine's cores"
    if load > BUSY * machine:
        return f"NumPy's products run on {threads} threads, and the machine's cores are busy (load {load:.1f} on {machine})"
    if threads > 2 and multiplications is not None and multiplications < SMALL * threads:
        return f"NumPy's products run on {threads} threads, and are small"
    return None


def blas_threads(environment: Mapping[str, str] = os.environ) -> int:
    """Return the number of threads of NumPy's products: what `threadpoolctl` finds, else what the environment sets, else one a core."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        known = (environment.get(name, "") for name in SETTINGS)
        return next((int(text) for text in known if text.isdigit() and int(text)), _allowed_cores())
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


def available_cores(cgroup: str | os.PathLike = "/sys/fs/cgroup") -> int:
    """Return how many cores this process may use: those it is bound to, or fewer if its control group has a quota."""
    return max(1, min(_allowed_cores(), int(_quota(Path(cgroup)))))


def _allowed_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quota(cgroup: Path) -> float:
    """Return the cores' worth of time that the control group grants, of version 2 or 1 of its files; infinity without a limit."""
    for names in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = " ".join((cgroup / name).read_text() for name in names).split()
            if float(quota) > 0:
                return -(-float(quota) // float(period))
        except (OSError, ValueError):  # no such file; `max`
            continue
    return os.cpu_count() or 1
