"""The engine that compiles generated text with Numba."""

import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sourcead.backends.base import Derivative, Engine, Program
from sourcead.backends.numba.codegen.boundary import around
from sourcead.backends.numba.codegen.outlining import AT, with_outlined
from sourcead.backends.numba.codegen.prepare import prepare
from sourcead.backends.options import WITHOUT_NUMBA, Numba
from sourcead.emit import Emitted, emit
from sourcead.emit.text.printing import lower
from sourcead.errors import BackendError, SourceADError
from sourcead.ir.types import ListT, Scalar, Type, keyed_parts
from sourcead.language.tracebacks import level_outside

OLDEST = (0, 62)  # versions of Numba before this one are refused


@dataclass(frozen=True, eq=False)
class NumbaProgram(Program):
    """A text for Numba.

    Attributes:
        emitted: the text without the functions that were taken out of it.
        boundary: the Python function around the compiled one.
        place: the file and line of the user's function, for errors.
        alternative: makes the text for calls whose arguments violate the assumptions of this one; None if it assumes nothing.
    """

    emitted: Emitted
    boundary: Emitted
    place: str
    alternative: Callable[[], Emitted] | None

    def without_assumptions(self) -> Emitted:
        """Return the text that is valid for all calls, since a compiled caller cannot repeat a call with another text."""
        return self.emitted if self.alternative is None else self.alternative()


class NumbaEngine(Engine):
    """The Numba engine.

    Args:
        options: the options of the compilation.
        required: whether a text that Numba cannot compile is an error; otherwise NumPy runs it, after a warning.
        otherwise: what returns the function to call for such a text, if that is neither.
    """

    def __init__(self, options: Numba, required: bool, otherwise: Callable[[BackendError], Callable] | None = None):
        self.options, self.required, self.otherwise = options, required, otherwise

    def prepare(self, derivative: Derivative) -> tuple:
        import_numba()
        try:
            return *prepare(derivative, self.options.parallel), derivative.place
        except BackendError:
            raise
        except SourceADError as error:
            raise BackendError(f"Numba cannot compile the gradient: {error.reason}", at=error.at, instead=WITHOUT_NUMBA) from error

    def emit(self, prepared: tuple) -> NumbaProgram:
        ir, boundary, alternative, place = prepared
        emitted = emit(ir, AT)
        other = None if alternative is None else lambda: emit(alternative(), AT)
        text = with_outlined(emitted)
        above = text[: -len(emitted.text)].count("\n")
        statements = lambda: {lower(span, above): stmt for span, stmt in emitted.statements.items()}
        return NumbaProgram(ir.name, text, emitted.namespace, ir, emitted, boundary, place, other, statements=statements)

    def load(self, program: NumbaProgram, plain: types.FunctionType) -> Callable:
        from sourcead.backends.numba.compile import compiled, until

        def loaded(emitted: Emitted) -> Callable:
            inner = compiled(emitted, program.name, program.place, self.options)
            return around(program.boundary, program.name, inner, plain.__globals__)

        call = loaded(program.emitted)
        if program.alternative is not None:
            call = until(call, Exception, lambda error: loaded(program.alternative()))  # an error of the user's program is raised again
        if self.otherwise is not None:
            return until(call, BackendError, self.otherwise)
        return call if self.required else until(call, BackendError, partial(self.fall_back, plain=plain))

    def fall_back(self, error: BackendError, plain: types.FunctionType) -> Callable:
        if self.required:
            raise error
        told = BackendError(f"NumPy runs what Numba cannot: {error.reason}", error.at, 'backend="numpy", which gives no warning')
        warnings.warn(str(told), RuntimeWarning, stacklevel=level_outside())
        return plain

    def for_any_length(self, types: dict[str, Type], otherwise: Callable[[BackendError], Callable]) -> Engine | None:
        """Return such an engine for lists of numbers, which Numba passes as they are; it takes the items of other lists one by one."""
        return NumbaEngine(self.options, True, otherwise) if all(map(has_no_other_lists, types.values())) else None

    def cache_key(self) -> str:
        from sourcead.backends.numba.compile import cache_key

        return cache_key(self.options)


def has_no_other_lists(t: Type) -> bool:
    """Return whether the length of every list in a value of this type is known, or its items are numbers."""
    if isinstance(t, ListT) and t.items is None:
        return isinstance(t.item, Scalar)
    return all(has_no_other_lists(part) for _, part in keyed_parts(t) or ())


def import_numba() -> types.ModuleType:
    """Return the module `numba`.

    Raises:
        BackendError: it is not installed or too old; the message says how to install it.
    """
    try:
        import numba
    except ImportError as error:
        raise BackendError(
            "the backend 'numba' needs Numba, which is not installed", instead='pip install "numba>=0.62"'
        ) from error
    if tuple(map(int, numba.__version__.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise BackendError(
            f"the backend 'numba' needs Numba {oldest} or later, and {numba.__version__} is installed",
            instead=f'pip install "numba>={oldest}"',
        )
    return numba
