"""What an engine is: the class that turns a derivative into a function that runs.

    derivative  -- prepare -->  IR in the engine's forms  -- emit -->  program (text)  -- load -->  function

`compile/` knows engines by this class alone.  `backends/numpy.py` and `backends/numba/engine.py` are the two that there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from sourcead.ad.residuals.notes import Notes
from sourcead.emit import MEMORY
from sourcead.errors import BackendError
from sourcead.ir.nodes import Function
from sourcead.passes import plan


@dataclass(frozen=True, eq=False)
class Derivative:
    """A derivative that no engine has seen yet.

    Attributes:
        name: the name of the generated function.
        place: where the user's function stands, for errors.
        function: the IR, not yet simplified.
        notes: what loops save; engines add to them.
        splits: whether products of all iterations of a loop may be put together, which takes memory.
        without_closures: makes the same function, in which recursive functions that are called return no pullbacks.
        global_data: the names of the data of globals and closures that the text for NumPy reads.
    """

    name: str
    place: str
    function: Function
    notes: Notes
    splits: bool
    without_closures: Callable[[], Function]
    global_data: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Program:
    """A generated text.

    Attributes:
        name: the name of the function in it.
        text: the source.
        namespace: the globals that it reads.
        ir: what it was written from.
    """

    name: str
    text: str
    namespace: dict[str, Any]
    ir: Function


class Engine(ABC):
    """What runs generated text.

    Attributes:
        rebinds: whether a loaded function can be made anew from its code for other closure cells.
    """

    rebinds = False

    @abstractmethod
    def prepare(self, derivative: Derivative) -> Any:
        """Return the IR of a derivative in the forms that the engine takes; only `emit` looks at it.

        Raises:
            BackendError: the engine cannot run it.
        """

    @abstractmethod
    def emit(self, prepared: Any) -> Program:
        """Return the text of what `prepare` returned."""

    @abstractmethod
    def load(self, program: Program, plain: FunctionType) -> Callable:
        """Return the function that a program defines.

        Args:
            program: what `emit` returned.
            plain: the same derivative under NumPy; the global data that it reads is in its globals.

        Raises:
            BackendError: the engine cannot run it; also from the calls of the function, where text is compiled at the first call.
        """

    @abstractmethod
    def fall_back(self, error: BackendError, plain: FunctionType) -> Callable:
        """Return the function to call where the engine failed with `error`, or raise that."""

    @abstractmethod
    def cache_key(self) -> str:
        """Return a text that two engines share if they load the same code for the same program."""


def optimised(
    function: Function, notes: list[str] | None = None, lists: bool = True, last: Callable[[Function], Function] = lambda f: f
) -> Function:
    """Return the function after the passes of the plan, with the copies that writing in place needs.

    Args:
        function: a derivative, not yet simplified.
        notes: gets a line for each sum of products that is taken out of a loop; None: they stay in the loops.
        lists: whether a list may hold None where it is filled later.
        last: a pass of the engine's own; after it updates are in place.
    """
    context = plan.Context(notes=[] if notes is None else notes, splits=notes is not None, lists=lists)
    return plan.run((*plan.AFTER, plan.Pass(last, "the engine's own: last while values are immutable"), MEMORY), function, context)
