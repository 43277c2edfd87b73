"""Which engine runs a generated text: `backend="numba"`, or `"auto"`, which falls back to NumPy."""

from __future__ import annotations

import contextlib
import inspect
import types
import warnings
from collections.abc import Callable

from sourcead.backends.options import Numba
from sourcead.errors import BackendError


def choosing(backend: Numba | str, built, plain: types.FunctionType, place: str) -> Callable:
    """The function that is called for a text.

    Args:
        backend: a `Numba`, or "auto": NumPy where Numba cannot compile the text, or is not there, with a warning.
        built: what the pipeline built, with the text for Numba.
        plain: the text under NumPy.
        place: where the user's function stands.

    Raises:
        BackendError: Numba is not installed, or cannot compile it, and the backend is not "auto".
    """
    try:
        import_numba()
        if isinstance(built.numba, BackendError):
            raise built.numba
    except BackendError as error:
        if backend == "auto":
            return fallen_back(error, plain)
        raise
    from sourcead.backends.numba.codegen.boundary import around
    from sourcead.backends.numba.compile import compiled

    emitted, boundary, careful = built.numba
    options = Numba() if backend == "auto" else backend
    parameters = list(inspect.signature(plain).parameters)

    def made(emitted) -> Callable:
        inner = compiled(emitted, built.name, place, options)
        return around(boundary, built.name, parameters, inner, built.namespace)

    call = made(emitted) if careful is None else as_long_as_it_holds(made(emitted), lambda: made(careful()))
    return with_fallback(call, plain) if backend == "auto" else call


def as_long_as_it_holds(call: Callable, other: Callable[[], Callable]) -> Callable:
    """Calls a text that takes for granted what the types do not tell, until it fails or cannot be compiled; from then on another.

    The other raises the error again, if it is one of the program.
    """
    chosen, settled = call, False

    def either(*args, **kwargs):
        nonlocal chosen, settled
        if settled:
            return chosen(*args, **kwargs)
        try:
            return call(*args, **kwargs)
        except Exception:
            chosen, settled = other(), True
        return chosen(*args, **kwargs)

    return either


def with_fallback(call: Callable, plain: types.FunctionType) -> Callable:
    """Calls the one until it cannot be compiled, then the other."""
    chosen = call

    def either(*args, **kwargs):
        nonlocal chosen
        try:
            return chosen(*args, **kwargs)
        except BackendError as error:
            if chosen is plain:
                raise
            chosen = fallen_back(error, plain)
        return plain(*args, **kwargs)

    return either


def fallen_back(error: BackendError, plain: types.FunctionType) -> types.FunctionType:
    """The text under NumPy, with a warning that says why."""
    warnings.warn(f"NumPy runs what Numba cannot: {error}", RuntimeWarning, stacklevel=3)
    return plain


OLDEST_NUMBA = (0, 62)


def import_numba() -> types.ModuleType:
    """Numba, or an error that says how to get it."""
    try:
        import numba
    except ImportError as error:
        raise BackendError(
            "the backend 'numba' needs Numba, which is not installed", instead='pip install "sourcead[numba]"'
        ) from error
    if tuple(map(int, numba.__version__.split(".")[:2])) < OLDEST_NUMBA:
        oldest = ".".join(map(str, OLDEST_NUMBA))
        raise BackendError(
            f"the backend 'numba' needs Numba {oldest} or later, and {numba.__version__} is installed",
            instead=f'pip install "numba>={oldest}"',
        )
    return numba


def let_numba_call(cls: type) -> None:
    """Have Numba, where it is installed, take the instances of a class for functions that compiled functions may call."""
    with contextlib.suppress(ImportError):
        import_numba()
        from sourcead.backends.numba.overloads.gradients import register

        register(cls)
