"""What becomes of a pair of programs, one of which is a rewriting of the other."""

import copy
import dataclasses
import re
import time

import numpy as np

from sourcead import value_and_grad
from sourcead.errors import SourceADError
from tests.harness import (
    Wrong, check_numbers, first_line, last_frame, leaves, numeric_gradient, positions, quietly, time_limit
)
from tests.programs import rng_for

SECONDS = 60  # for one compilation and one call
STATUSES = ("same", "refused more", "refused less", "both refused", "both wrong", "wrong", "internal", "slow", "unlike", "unjudged")


@dataclasses.dataclass(frozen=True)
class Ran:
    """What the compiler made of one program: a status, the value and the gradients, or the error."""

    status: str
    value: object = None
    gradients: tuple = ()
    error: BaseException | None = None
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The status of a pair and a line of detail; `unlike` pairs are not two forms of one program."""

    status: str
    detail: str = ""


def python_value(function, args):
    """The value of a function under Python on a copy of its arguments, or an exception."""
    try:
        with quietly(), time_limit(10):
            return function(*copy.deepcopy(args))
    except Exception as error:
        return error


def run(function, wrt, args):
    """The `Ran` of a function: its value and gradient as the compiler computes them."""
    started = time.process_time()
    try:
        with quietly(), time_limit(SECONDS):
            value, gradients = value_and_grad(function, wrt=wrt, verify=False)(*copy.deepcopy(args))
    except SourceADError as error:
        return Ran("refused", error=error, seconds=time.process_time() - started)
    except Exception as error:
        status = "slow" if type(error).__name__ == "TimeLimit" else "internal"
        return Ran(status, error=error, seconds=time.process_time() - started)
    gradients = gradients if isinstance(wrt, (tuple, list)) else (gradients,)
    return Ran("ran", value, gradients, seconds=time.process_time() - started)


def close(a, b, double=1e-9, single=1e-4):
    """Whether two trees of numbers differ by rounding alone."""
    first, second = leaves(a), leaves(b)
    if first.keys() != second.keys():
        return False
    for path, x in first.items():
        x, y = np.asarray(x), np.asarray(second[path])
        if x.shape != y.shape or x.dtype.kind != y.dtype.kind or x.dtype.itemsize != y.dtype.itemsize:
            return False
        tolerance = single if x.dtype.itemsize < 8 else double
        scale = np.abs(x[np.isfinite(x)]).max(initial=0.0)
        if not np.allclose(x, y, rtol=tolerance, atol=tolerance * max(scale, 1e-3), equal_nan=True):
            return False
    return True


def same_value(a, b):
    """Whether Python's values of two programs are equal or differ by rounding."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return False
    try:
        return np.shape(a) == np.shape(b) == () and bool(np.allclose(a, b, rtol=1e-11, atol=1e-13, equal_nan=True))
    except TypeError:
        return False


def off_from_differences(p, function, args, gradients):
    """How a program's gradients differ from its own central differences, or None."""
    for at, gradient in zip(positions(p.function, p.wrt, len(args)), gradients):
        with quietly(), time_limit(SECONDS):
            numeric = numeric_gradient(function, copy.deepcopy(args), at)
        try:
            check_numbers(gradient, args[at], numeric, p.tolerance, f"gradient of argument {at}")
        except Wrong as error:
            return str(error)
        except (KeyError, ValueError) as error:
            return f"the gradient of argument {at} has another structure: {error!r}"
    return None


class Judge:
    """Judges the rewritings of one program.

    Args:
        p: the `Program`.
        seed: of its arguments.
    """

    def __init__(self, p, seed=0):
        self.p, self.args = p, p.make_args(rng_for(seed))
        self.expected = python_value(p.function, self.args)
        self.original = None

    def judgeable(self):
        """Whether the program runs under Python and gives one real number."""
        return not isinstance(self.expected, Exception) and same_value(self.expected, self.expected)

    def verdict(self, function):
        """The `Verdict` of a rewritten program."""
        if not same_value(self.expected, python_value(function, self.args)):
            return Verdict("unlike", "another value under Python")
        self.original = self.original or run(self.p.function, self.p.wrt, self.args)
        made = run(function, self.p.wrt, self.args)
        if made.status in ("internal", "slow"):
            same = self.original.status == made.status
            return Verdict("both wrong" if same else made.status, described(made.error))
        if made.status == "refused":
            return Verdict("both refused" if self.original.status != "ran" else "refused more", described(made.error))
        return self.numbers(function, made)

    def numbers(self, function, made):
        """The verdict where the rewritten program has a gradient."""
        if not value_fits(made.value, self.expected):
            both = self.original.status == "ran" and not value_fits(self.original.value, self.expected)
            return Verdict("both wrong" if both else "wrong", f"the value is {made.value!r}, under Python {self.expected!r}")
        if self.original.status != "ran":
            off = off_from_differences(self.p, function, self.args, made.gradients)
            return Verdict("wrong", f"{off}; the original is refused") if off else Verdict("refused less")
        if close(made.gradients, self.original.gradients):
            slow = made.seconds > 5 and made.seconds > 20 * self.original.seconds
            return Verdict("slow" if slow else "same", f"{made.seconds:.1f} s, the original {self.original.seconds:.1f} s" * slow)
        return self.which(function, made)

    def which(self, function, made):
        """The verdict where the gradients differ: which of them differs from central differences."""
        mine = off_from_differences(self.p, function, self.args, made.gradients)
        others = off_from_differences(self.p, self.p.function, self.args, self.original.gradients)
        if mine is None and others is None:
            return Verdict("same", "but for rounding")
        if mine and others:
            return Verdict("both wrong", f"both gradients differ from central differences: {mine}; the original: {others}")
        if mine:
            return Verdict("wrong", f"the rewritten program: {mine}")
        return Verdict("wrong", f"the original program: {others}")


def value_fits(value, expected):
    """Whether the compiler's value is Python's but for rounding."""
    single = np.asarray(expected).dtype.itemsize < 8
    return np.shape(value) == () and np.allclose(value, expected, rtol=1e-5 if single else 1e-9, atol=1e-12, equal_nan=True)


def described(error):
    """One line about an error."""
    where = "" if isinstance(error, SourceADError) else last_frame(error)
    return f"{type(error).__name__}: {first_line(error)}{where}"


def template(detail):
    """A line of detail without names, numbers and the text of the program, so that equal causes have equal templates."""
    text = detail.split(" | ")[0]
    text = re.sub(r"\S+\.py:\d+: ", "", text)
    text = re.sub(r"`[^`]*`|'[^']*'", "`…`", text)
    return re.sub(r"-?\b\d[\d.e+-]*", "0", text)
