"""Random programs in the form of the corpus's programs."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np

from tests.harness import leaves
from tests.metamorphic.units import FOLDER
from tests.programs import Program
from tests.random_python.generate import ALIAS, draw

NUMBERS = itertools.count()


def real(argument):
    """Whether an argument has floating-point numbers, and no others."""
    found = [np.asarray(leaf) for leaf in leaves(argument).values()]
    return any(a.size for a in found) and all(a.dtype.kind == "f" for a in found)


def drawn(seed):
    """The random program of a seed, or None for one that gives an array twice."""
    program = draw(seed)
    if ALIAS in program.source or "one, one" in program.source:
        return None
    title = f"drawn_{next(NUMBERS)}"
    path = Path(FOLDER.name) / f"{title}.py"
    path.write_text(program.source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(title, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module
    spec.loader.exec_module(module)
    wrt = tuple(i for i, argument in enumerate(module.arguments()) if real(argument))
    return Program(f"random_{seed}", module.f, lambda rng: module.arguments(), wrt=wrt, level="python") if wrt else None
