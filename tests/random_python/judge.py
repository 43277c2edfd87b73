"""The judge: what a program's derivatives are by differences, and what `sourcead` says."""

import copy
import importlib.util
import itertools
import os
import re
import sys
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np

from tests.random_python.scope import Slow, limit
from tests.random_python.structure import direction, is_real, leaves, moved

STEPS = (1e-4, 1e-5)
SECONDS = 20  # the longest that one mode of one program may take
PYTHON_SECONDS = 0.5
_numbers = itertools.count()


@dataclass
class Outcome:
    """What one mode made of a program: `ok`, `refused`, `wrong`, `internal` or `timeout`, and why."""

    kind: str
    mode: str
    message: str = ""

    @property
    def cause(self):
        """What outcomes of the same cause have in common."""
        return self.kind, self.mode, self.message if self.kind in ("refused", "internal") else ""


@dataclass
class Verdict:
    """The outcomes of a program, or the reason why it was not judged."""

    outcomes: list = field(default_factory=list)
    discarded: str = ""

    def failures(self):
        """Return the outcomes that should not be."""
        return [o for o in self.outcomes if o.kind in ("wrong", "internal", "timeout")]


class Discard(Exception):
    """The program cannot be judged."""


class Wrong(Exception):
    """A result that differs from Python's or from the differences."""


class Subject:
    """A program that has been loaded, with its arguments and the differences of its value."""

    def __init__(self, source, seed, folder):
        self.module = load(source, folder)
        self.f = self.module.f
        self.rng = np.random.default_rng(seed)
        self.args = self.module.arguments()
        self.names = list(self.f.__code__.co_varnames[:self.f.__code__.co_argcount])
        self.wrt = tuple(n for n, a in zip(self.names, self.args) if leaves(a) and all(is_real(q) for q in leaves(a)))
        if not self.wrt:
            raise Discard("no real argument")
        self.value = run(self.f, self.args)
        if run(self.f, self.args) != self.value:
            raise Discard("not the same twice")
        self.slopes = [slope(self.f, self.args, self.along()) for _ in range(2)]

    def along(self):
        """Return a random direction of all arguments, zero for those that the gradient is not taken of."""
        made = direction(self.args, self.rng)
        still = direction(self.args, np.random.default_rng(0))
        return tuple(d if n in self.wrt else moved(s, -1.0, s) for n, d, s in zip(self.names, made, still))

    def copies(self):
        """Return a copy of the arguments for one call."""
        return copy.deepcopy(self.args)


def load(source, folder):
    """Return a new module of this source, which lies in a file so that its source can be found."""
    path = os.path.join(folder, f"drawn_{os.getpid()}_{next(_numbers)}.py")
    with open(path, "w") as file:
        file.write(source)
    name = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def run(f, args):
    """Return the value of a function at copies of its arguments; raise `Discard` if it has none that can be judged."""
    try:
        with limit(PYTHON_SECONDS):
            value = f(*copy.deepcopy(args))
    except (Exception, Slow) as error:
        raise Discard(f"Python: {type(error).__name__}") from None
    if not isinstance(value, (int, float, np.number, np.bool_, np.ndarray)) or np.ndim(value) or np.iscomplexobj(value):
        raise Discard("not a number")
    if not np.isfinite(value):
        raise Discard("not finite")
    if np.asarray(value).dtype in (np.float16, np.float32):
        raise Discard("too few digits for differences")
    return float(value)


def slope(f, args, along):
    """Return the direction, the derivative in it by differences, and its uncertainty; discard what is not smooth."""
    here, found = run(f, args), []
    for step in STEPS:
        ahead, behind = run(f, moved(args, step, along)), run(f, moved(args, -step, along))
        found.append((ahead - behind) / (2 * step))
    scale = 1 + abs(found[0]) + abs(here)
    bent = abs(ahead - 2 * here + behind) / STEPS[-1]
    if abs(found[0] - found[1]) > 1e-4 * scale or bent > 5e-3 * scale:
        raise Discard("not smooth")
    return along, found[1], 10 * abs(found[0] - found[1]) + bent + 1e-6 * scale


def judge(source, seed, modes, folder):
    """Judge a program in the modes of these names; if its value or its gradient fails, in no others."""
    from tests.random_python.modes import MODES

    verdict = Verdict()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            subject = Subject(source, seed, folder)
        except Discard as why:
            return Verdict(discarded=str(why))
        except Exception as error:
            return Verdict(discarded=f"module: {type(error).__name__}")
        for mode in modes:
            outcome = outcome_of(MODES[mode], subject, mode)
            if outcome:
                verdict.outcomes.append(outcome)
            if outcome and outcome.kind != "ok" and mode in ("value", "grad"):
                break
    return verdict


def outcome_of(check, subject, mode):
    """Run one mode and return its outcome, or None if it does not apply to the program."""
    from sourcead.errors import SourceADError, VerificationError

    try:
        with limit(SECONDS):
            check(subject)
    except Discard:
        return None
    except Wrong as wrong:
        return Outcome("wrong", mode, str(wrong))
    except VerificationError as error:
        return Outcome("wrong", mode, str(error).split("\n")[0])
    except SourceADError as error:
        return Outcome("refused", mode, template(error))
    except Slow:
        return Outcome("timeout", mode)
    except Exception as error:
        return Outcome("internal", mode, place(error))
    return Outcome("ok", mode)


def template(error):
    """Return the first line of a refusal without places, names and numbers."""
    text = str(error).split("\n")[0]
    text = re.sub(r"^\S+:\d+: ", "", text)
    text = re.sub(r"`[^`]*`", "`_`", text)
    text = re.sub(r"'[^']*'", "'_'", text)
    return f"{type(error).__name__}: " + re.sub(r"\d+", "N", text)[:150]


def place(error):
    """Return the kind of an unexpected exception, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    ours = [f for f in frames if "sourcead" in f.filename and "tests" not in f.filename]
    where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].name}" if ours else "?"
    first = re.sub(r"\d+", "N", str(error).split("\n")[0])[:100]
    return f"{type(error).__name__}: {first} [{where}{'' if ours and last is ours[-1] else ', in the generated code'}]"
