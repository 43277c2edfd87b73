"""The engine that compiles generated text with Numba."""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from sourcead.backends.base import Derivative, Engine, Program
from sourcead.backends.numba.codegen.boundary import Boundary, around
from sourcead.backends.numba.codegen.outlining import AT, with_outlined
from sourcead.backends.numba.codegen.prepare import Prepared, prepare
from sourcead.backends.options import WITHOUT_NUMBA, Numba
from sourcead.emit import Emitted, emit
from sourcead.errors import BackendError, SourceADError

OLDEST = (0, 62)  # versions of Numba before this one are refused


@dataclass(frozen=True, eq=False)
class NumbaProgram(Program):
    """A text for Numba.

    Attributes:
        emitted: the text without the functions that were taken out of it.
        boundary: the Python function around the compiled one.
        place: where the user's function stands, for errors.
        alternative: makes the text for calls where what this one assumes of its arguments does not hold; None if it assumes nothing.
    """

    emitted: Emitted
    boundary: Boundary
    place: str
    alternative: Callable[[], Emitted] | None

    def without_assumptions(self) -> Emitted:
        """Return the text for all calls: compiled functions cannot begin a call again with another one."""
        return self.emitted if self.alternative is None else self.alternative()


class NumbaEngine(Engine):
    """Numba.

    Args:
        options: those of the compilation.
        required: whether it is an error where Numba cannot compile a text; otherwise NumPy runs that, after a warning.
    """

    def __init__(self, options: Numba, required: bool):
        self.options, self.required = options, required

    def prepare(self, derivative: Derivative) -> Prepared:
        import_numba()
        try:
            return prepare(derivative)
        except BackendError:
            raise
        except SourceADError as error:
            raise BackendError(f"Numba cannot compile the gradient: {error.reason}", at=error.at, instead=WITHOUT_NUMBA) from error

    def emit(self, prepared: Prepared) -> NumbaProgram:
        emitted = emit(prepared.function, AT)
        alternative = None if prepared.alternative is None else lambda: emit(prepared.alternative(), AT)
        text, ir = with_outlined(emitted), prepared.function
        return NumbaProgram(ir.name, text, emitted.namespace, ir, emitted, prepared.boundary, prepared.place, alternative)

    def load(self, program: NumbaProgram, plain: types.FunctionType) -> Callable:
        from sourcead.backends.numba.compile import compiled

        parameters = list(inspect.signature(plain).parameters)

        def loaded(emitted: Emitted) -> Callable:
            inner = compiled(emitted, program.name, program.place, self.options)
            return around(program.boundary, program.name, parameters, inner, plain.__globals__)

        call = loaded(program.emitted)
        if program.alternative is not None:
            call = until_it_fails(call, lambda: loaded(program.alternative()))
        return call if self.required else self.until_refused(call, plain)

    def fall_back(self, error: BackendError, plain: types.FunctionType) -> Callable:
        if self.required:
            raise error
        warnings.warn(f"NumPy runs what Numba cannot: {error}", RuntimeWarning, stacklevel=3)
        return plain

    def cache_key(self) -> str:
        from sourcead.backends.numba.disk import cache_key

        return cache_key(self.options)

    def until_refused(self, call: Callable, plain: types.FunctionType) -> Callable:
        """Return a function that calls the compiled one until that cannot be compiled for some arguments, and then NumPy's."""
        chosen = call

        def either(*args, **kwargs):
            nonlocal chosen
            try:
                return chosen(*args, **kwargs)
            except BackendError as error:
                if chosen is plain:
                    raise
                chosen = self.fall_back(error, plain)
            return plain(*args, **kwargs)

        return either


def until_it_fails(call: Callable, other: Callable[[], Callable]) -> Callable:
    """Return a function that calls the one until it fails or cannot be compiled, and from then on the other.

    The first makes assumptions that the types do not tell.  If the error is one of the user's program, the other raises it again.
    """
    chosen, decided = call, False

    def either(*args, **kwargs):
        nonlocal chosen, decided
        if decided:
            return chosen(*args, **kwargs)
        try:
            return call(*args, **kwargs)
        except Exception:
            chosen, decided = other(), True
        return chosen(*args, **kwargs)

    return either


def import_numba() -> types.ModuleType:
    """Return Numba.

    Raises:
        BackendError: it is not installed, or too old; says how to get it.
    """
    try:
        import numba
    except ImportError as error:
        raise BackendError(
            "the backend 'numba' needs Numba, which is not installed", instead='pip install "sourcead[numba]"'
        ) from error
    if tuple(map(int, numba.__version__.split(".")[:2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise BackendError(
            f"the backend 'numba' needs Numba {oldest} or later, and {numba.__version__} is installed",
            instead=f'pip install "numba>={oldest}"',
        )
    return numba
