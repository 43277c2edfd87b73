"""Small numerical programs, written as people write them, that judge the compiler.

Every module of this folder holds plain functions over NumPy arrays, numbers and containers. `@program` records a function
with a maker of its arguments and hands it back as it was, so that its source and its behaviour are the user's own.

Levels say what the compiler owes a program:

    basic    a right gradient
    python   a right gradient, or a documented refusal; never a wrong number
    refuse   a `SourceADError`; with `or_right=True` a right gradient does as well
"""

import copy
import importlib
import pkgutil
import sys
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

LEVELS = ("basic", "python", "refuse")


@dataclass(frozen=True)
class Program:
    """One program, how to make its arguments, and what is expected of its gradient.

    Attributes:
        args: the arguments: a tuple, or a function of a `numpy.random.Generator` that returns one.
        also: further arguments for the same gradient object: other shapes, types or layouts.
        raises: the exception that the program itself raises and that its gradient must raise too.
        or_right: a program at level refuse that may also be differentiated right.
        tolerance: of the gradient, relative to its largest element; None chooses by dtype.
        theme: the module that it stands in.
    """

    name: str
    function: Callable
    args: Any
    wrt: Any = 0
    level: str = "basic"
    tags: tuple = ()
    also: tuple = ()
    raises: type | None = None
    or_right: bool = False
    tolerance: float | None = None
    theme: str = ""

    def make_args(self, rng, variant=0):
        """The arguments, made anew; variant 0 is `args`, the others come from `also`."""
        maker = (self.args, *self.also)[variant]
        made = maker(rng) if callable(maker) else copy.deepcopy(maker)
        return made if isinstance(made, tuple) else (made,)


REGISTRY: dict[str, Program] = {}


def register(name, function, args, **options):
    """Record `function` under `name`; for functions that are no `def` statement."""
    if name in REGISTRY:
        raise ValueError(f"two programs are called {name}")
    if options.get("level", "basic") not in LEVELS:
        raise ValueError(f"{name}: no level {options['level']!r}")
    options.setdefault("theme", sys._getframe(1).f_globals["__name__"].rpartition(".")[2])
    REGISTRY[name] = Program(name, function, args, **options)


def program(args, **options):
    """Decorator: record the function as a program and return it unchanged."""
    theme = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]

    def record(function):
        register(function.__name__, function, args, theme=theme, **options)
        return function

    return record


def all_programs(level=None, name=None):
    """The programs of all modules of this folder, in order of module and definition."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return [
        p
        for p in REGISTRY.values()
        if (level is None or p.level == level) and (name is None or name in p.name or name in p.tags or name == p.theme)
    ]


def rng_for(seed=0):
    """The generator that a program's arguments are drawn from."""
    return np.random.default_rng(20240 + seed)
