"""The programs of `by_hand/programs`, by name."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.benchmarks.by_hand import programs


@dataclass(frozen=True)
class Program:
    """A program as a user writes it, with its gradient as a careful hand writes it."""

    name: str
    primal: Callable
    by_hand: Callable
    wrt: tuple[str, ...]
    inputs: Callable

    @property
    def positions(self) -> list[int]:
        """Where the arguments by which it is differentiated stand."""
        parameters = list(inspect.signature(self.primal).parameters)
        return [parameters.index(name) for name in self.wrt]

    @property
    def hand_text(self) -> str:
        """The gradient by hand, and after it the functions of the module that it calls, each once."""
        functions = [self.by_hand]
        for function in functions:
            called = (self.by_hand.__globals__.get(name) for name in function.__code__.co_names)
            functions += [f for f in called if inspect.isfunction(f) and f.__module__ == self.by_hand.__module__ and f not in functions]
        return "\n\n".join(inspect.getsource(function) for function in functions)


def program_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(programs.__path__))


def named(name: str) -> Program:
    module = importlib.import_module(f"{programs.__name__}.{name}")
    return Program(name, module.primal, module.by_hand, module.WRT, module.inputs)


def arrays_in(gradients) -> list[np.ndarray]:
    """The arrays of gradients in tuples, lists and dicts, in the order of their names or places."""
    if isinstance(gradients, dict):
        gradients = [gradients[name] for name in sorted(gradients)]
    if isinstance(gradients, (tuple, list)):
        return [array for part in gradients for array in arrays_in(part)]
    return [np.asarray(gradients)]
