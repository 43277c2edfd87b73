"""Checkpoint schedules: the iterations of a loop at which states are saved."""

import numpy as np

from sourcead.runtime.checks import refuse_now


def next_snapshot(start, last, free, known={}):  # noqa: B006
    """Return the iteration at which to save the next state, to reverse iterations `start` to `last` with the state at `start` kept.

    `free` more states may be kept.  The binomial schedule is optimal in forward steps: A. Griewank and A. Walther, Algorithm
    799 (revolve), ACM TOMS 26 (2000).  With s = free + 1, C(s + r, s) iterations can be reversed if each runs again at
    most r times; the part before the next snapshot has at most C(s + r - 1, s) of them and leaves at least
    C(s + r - 2, s - 1) for the part after it.  `known` caches results, since parts of the same length recur.
    """
    if free < 1:
        return last
    length = last - start + 1, free
    if length not in known:
        steps = last - start + 1
        reach, before, after, r = free + 2, 1, 1, 1  # C(s + r, s), C(s + r - 1, s), C(s + r - 2, s - 1)
        while reach < steps:
            after = after * (free + r) // r
            r += 1
            before, reach = reach, reach * (free + 1 + r) // r
        if len(known) > 9999:
            known.clear()
        known[length] = min(before, steps - after)
    return start + known[length]


def positive_number(number):
    """Return the number of a loop's checkpoint policy; refuse any but a positive integer."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        refuse_now(f"the checkpoint policy of a loop has the number {number!r}: it must be a positive integer")
    return number


def snapshots_within(budget, others, *state):
    """Return the number of states that fit into `budget` bytes beside `others` values as large as the largest of a state."""
    sizes = [size_in_bytes(x) for x in state]
    if sum(sizes) > budget:
        refuse_now(f"the budget of {budget} bytes is below one state of the loop, which takes {sum(sizes)} bytes")
    return max((budget - others * max(sizes)) // max(sum(sizes), 1), 1)


def size_in_bytes(x):
    """Return the memory, in bytes, of the numbers in a value."""
    if isinstance(x, np.ndarray):
        return x.nbytes
    if isinstance(x, dict):
        return sum(size_in_bytes(v) for v in x.values())
    if isinstance(x, (list, tuple)):
        return sum(size_in_bytes(v) for v in x)
    return 32
