"""The interface of engines, which turn a derivative into a function that runs.

    derivative  -- prepare -->  IR in the engine's forms  -- emit -->  program (text)  -- load -->  function

`compile/` uses engines through the class `Engine` alone; `backends/numpy.py` and `backends/numba/engine.py` implement it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from sourcead.ad.residuals.notes import Notes
from sourcead.emit import MEMORY, REUSE
from sourcead.errors import BackendError
from sourcead.ir.nodes import Function, Stmt
from sourcead.ir.types import Type
from sourcead.passes import plan
from sourcead.places.origin import Origin


@dataclass(frozen=True, eq=False)
class Derivative:
    """The derivative of a user's function, the input of an engine.

    Attributes:
        name: the name of the generated function.
        place: the file and line of the user's function, for errors.
        function: the IR, not yet simplified.
        notes: the report on what loops save, to which engines add.
        splits: whether products may be moved out of a loop and computed for all its iterations at once, which takes memory.
        without_closures: returns the same function, in which calls of recursive functions return no pullback closures.
        global_data: the names of the global and closure variables that the text for NumPy reads as data.
        readable: whether each result has memory of its own, for readers of the text.
    """

    name: str
    place: str
    function: Function
    notes: Notes
    splits: bool
    without_closures: Callable[[], Function]
    global_data: frozenset[str] = frozenset()
    readable: bool = False


@dataclass(frozen=True, eq=False)
class Program:
    """A generated Python text.

    Attributes:
        name: the name of the function that it defines.
        text: the source.
        namespace: the globals that it reads.
        ir: the IR that it was written from.
        statements: returns the statement of the IR that each line and each expression comes from.
    """

    name: str
    text: str
    namespace: dict[str, Any]
    ir: Function
    statements: Callable[[], dict[Any, Stmt]] = field(default=dict, kw_only=True)

    def origins(self) -> dict[Any, Origin]:
        """Return the user's statement that each line and each expression comes from."""
        return {span: stmt.place for span, stmt in self.statements().items()}


class Engine(ABC):
    """A way to run generated text; where a subclass defines nothing else, NumPy runs it.

    Attributes:
        rebinds: whether the code of a loaded function can serve a new function with other closure cells.
    """

    rebinds = False

    @abstractmethod
    def prepare(self, derivative: Derivative) -> Any:
        """Return the derivative's IR in the engine's forms; only `emit` reads the result.

        Raises:
            BackendError: the engine cannot run the derivative.
        """

    @abstractmethod
    def emit(self, prepared: Any) -> Program:
        """Return the program for a result of `prepare`."""

    def load(self, program: Program, plain: FunctionType) -> Callable:
        """Return the function that a program defines.

        Args:
            program: what `emit` returned.
            plain: the same derivative as a NumPy function, whose globals hold the global data that it reads.

        Raises:
            BackendError: the engine cannot run the program; if it compiles at the first call, that call raises the error.
        """
        return plain

    def fall_back(self, error: BackendError, plain: FunctionType) -> Callable:
        """Return the function to call after the engine has failed with `error`, or raise the error."""
        raise error

    def for_any_length(self, types: dict[str, Type], otherwise: Callable[[BackendError], Callable]) -> "Engine | None":
        """Return the engine for one program that takes lists of every length, or None if each length needs its own.

        Args:
            types: the types of the arguments.
            otherwise: returns the function to call if the engine cannot run that program after all.
        """
        return self

    @abstractmethod
    def cache_key(self) -> str:
        """Return a string of all that the code loaded for a program depends on, besides the program."""


def optimised(
    function: Function,
    notes: list | None = None,
    splits: bool = False,
    lists: bool = True,
    last: Callable[[Function], Function] = lambda f: f,
    reuse: bool = False,
) -> Function:
    """Return the function after the passes of the plan, with the copies that in-place updates need.

    Args:
        function: a derivative, not yet simplified.
        notes: receives what users are told of each loop that is changed.
        splits: whether sums of products are moved out of loops.
        lists: whether a list may hold None in places that are filled later, and arrays are joined by NumPy, as in an interpreter.
        last: the engine's own pass, the last one before updates are in place.
        reuse: whether results take the memory of arrays that nothing reads any more, or the text lets go of them.
    """
    context = plan.Context(notes=[] if notes is None else notes, splits=splits, lists=lists, arrays=lists)
    own = plan.Pass(last, "the engine's own: last while values are immutable")
    return replace(plan.run((*plan.AFTER, own, MEMORY, *((REUSE,) if reuse else ())), function, context), lets_go=reuse)
