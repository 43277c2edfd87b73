"""Judges the cases of one package: `python -m tests.packages.judge MODULE RESULTS` appends a line of JSON for each to RESULTS.

The gradient is compared with central differences.  Two step sizes give two of them; where these disagree, two larger steps are tried,
for functions that round, and two smaller ones, for functions that search until a tolerance, whose values are stairs.  A component where
the differences disagree for all three pairs (a bend, a jump) says nothing about the gradient: it is left out and counted.  One is wrong
if the differences of a pair agree, and the gradient agrees with those of no pair.
"""

import importlib
import json
import signal
import sys
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np

from sourcead import SourceADError, value_and_grad
from sourcead.errors import VerificationError
from sourcead.places.origin import HERE, shown_path

STATUSES = ("right", "wrong", "refused", "error", "stair")
STEPS = (3e-5, 1e-5), (1e-3, 3e-4), (1e-6, 3e-7)  # relative to the input
AGREE = 1e-5  # of the two differences, relative to the larger
TOLERANCE = 2e-5  # of the gradient: twice what the differences may be apart
ROUNDING = 1e-13  # what rounding inside the function may change its value by, relative to the value


@dataclass(frozen=True)
class Outcome:
    """What became of one case.

    Args:
        calls: the function that the case is about.
        status: one of STATUSES.
        detail: why it is not right: the message, or both numbers.
        seconds: of the processor, what the first call of the gradient took more than the second, which is what the compiler took.
        compared: how many components of the gradient were compared.
        left_out: how many were not, since the two differences disagree.
    """

    calls: str
    status: str
    detail: str = ""
    seconds: float = 0.0
    compared: int = 0
    left_out: int = 0


class TooLong(BaseException):
    """The time for one case is over; no error, so that nobody on the way takes it for one."""


def copies(inputs):
    """The inputs anew, for a function that may write into its arguments."""
    return [np.array(x) if isinstance(x, np.ndarray) else x for x in inputs]


def scale(inputs, position):
    """The size of each element of an input, by which its steps are measured: its own, or that of the largest for those near zero."""
    size = np.abs(np.asarray(inputs[position], float))
    return np.maximum(size, 0.3 * (size.max(initial=0.0) or 1.0))


def difference(function, inputs, position, index, step):
    """The central difference of `function` by one element, and how far the differences to either side are apart."""
    ends = []
    for sign in (1, -1):
        moved = copies(inputs)
        if isinstance(moved[position], np.ndarray):
            moved[position][index] += sign * step
        else:
            moved[position] += sign * step
        at = float(np.asarray(moved[position])[index])
        ends.append((float(function(*moved)), at))
    (high, above), (low, below) = ends
    middle, at = float(function(*copies(inputs))), float(np.asarray(inputs[position])[index])
    return (high - low) / (above - below), abs((high - middle) / (above - at) - (middle - low) / (at - below))


def effects(function, inputs, gradient):
    """For each component: its name, what it does by the gradient, and a function from a step size to what it does by differences.

    What a component does is the change of the value by a change of the input in proportion to its size, so that units play no part.
    """
    for position, d in enumerate(gradient):
        sizes = scale(inputs, position)
        for index in np.ndindex(sizes.shape):
            size = sizes[index]
            by_differences = lambda step, p=position, i=index, s=size: s * np.array(difference(function, inputs, p, i, step * s))  # noqa: E731
            yield f"input {position}" + (str(list(index)) if index else ""), float(np.asarray(d)[index]) * size, by_differences


def compare(function, inputs, value, gradient):
    """Return (what is wrong or None, components compared, components left out)."""
    for position, d in enumerate(gradient):
        if np.shape(d) != np.shape(inputs[position]):
            return f"the gradient by input {position} has shape {np.shape(d)}, not {np.shape(inputs[position])}", 0, 0
    remaining = list(effects(function, inputs, gradient))
    total, right, wrong, largest = len(remaining), 0, {}, 0.0
    for wide_step, narrow_step in STEPS:
        found = [(by_differences(wide_step), by_differences(narrow_step)) for _, _, by_differences in remaining]
        largest = max([largest, *(abs(narrow[0]) for _, narrow in found if np.isfinite(narrow[0]))])
        floor = 1e-3 * largest + ROUNDING * abs(value) / narrow_step / AGREE
        again = []
        for component, ((wide, wide_bend), (narrow, narrow_bend)) in zip(remaining, found):
            name, ours, _ = component
            size = max(abs(wide), abs(narrow)) + floor
            bent = narrow_bend > max(0.7 * wide_bend, 100 * AGREE * size)  # of a smooth function it shrinks like the step
            converged, agrees = abs(wide - narrow) <= AGREE * size and not bent, abs(ours - narrow) <= TOLERANCE * size
            if converged and agrees:
                right += 1
                wrong.pop(name, None)
                continue
            if converged:
                wrong[name] = f"by {name} (in proportion to its size): {ours:.9g}, by differences {narrow:.9g}"
            again.append(component)
        remaining = again
    if largest <= ROUNDING * abs(value) / STEPS[0][1] or not (right or wrong):
        raise ValueError("nothing to compare: the differences do not converge, or are all zero")
    return next(iter(wrong.values()), None), right + len(wrong), total - right - len(wrong)


def first_lines(error):
    """The message of an error as one line, the paths of the package from its own folder on."""
    kept = []
    for line in f"{type(error).__name__}: {error}".splitlines():
        if line.startswith(("Write instead", "Register a rule", "What to do")):
            break
        kept.append(line.strip())
    return " | ".join(line for line in kept if line.strip("^ "))[:600]


def place_of(error):
    """The innermost place in our own code that an error passed through, for errors that are ours to mend."""
    error = error.__cause__ or error
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(HERE):
            place = f"{shown_path(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f" [{type(error).__name__}: {str(error)[:200]}; at {place}]"


def judge(case):
    """Return the `Outcome` of one case."""
    expected = float(case.function(*copies(case.inputs)))
    derivative = value_and_grad(case.function, wrt=tuple(range(len(case.inputs))))
    started = time.process_time()
    try:
        value, gradient = derivative(*copies(case.inputs))
        first = time.process_time() - started
        started = time.process_time()
        derivative(*copies(case.inputs))
        seconds = max(first - (time.process_time() - started), 0.0)
    except TooLong:
        return Outcome(case.calls, "error", "the compiler did not end in time", time.process_time() - started)
    except VerificationError as error:
        return Outcome(case.calls, "wrong", f"found by the compiler itself: {error.reason}", time.process_time() - started)
    except SourceADError as error:
        return Outcome(case.calls, "refused", first_lines(error), time.process_time() - started)
    except Exception as error:
        return Outcome(case.calls, "error", first_lines(error) + place_of(error), time.process_time() - started)
    if not abs(value - expected) <= 1e-9 * max(abs(expected), 1e-300):
        return Outcome(case.calls, "wrong", f"the value is {value!r}, not {expected!r}", seconds)
    wrong, compared, left_out = compare(case.function, case.inputs, expected, gradient)
    if wrong and case.stair:
        return Outcome(case.calls, "stair", f"{case.stair}; {wrong}", seconds, compared, left_out)
    return Outcome(case.calls, "wrong" if wrong else "right", wrong or "", seconds, compared, left_out)


def limited(case, seconds):
    """The `Outcome` of one case, which takes at most so many seconds of the processor; the case itself may be what fails."""

    def over(*_):
        raise TooLong

    signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return judge(case)
    except TooLong:
        return Outcome(case.calls, "error", "the comparison did not end in time")
    except Exception as error:
        return Outcome(case.calls, "error", "the call itself, or its differences, failed: " + first_lines(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main(module, results, *only, seconds=60):
    """Judge the cases of one file, or those whose name has one of `only` in it."""
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"), open(results, "a", encoding="utf-8") as file:
        for case in importlib.import_module(f"tests.packages.cases.{module}").CASES:
            if not only or any(part in case.calls for part in only):
                file.write(json.dumps(asdict(limited(case, seconds))) + "\n")
                file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
