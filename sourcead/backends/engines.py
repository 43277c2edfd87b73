"""The choice of an engine for each backend."""

import contextlib
from typing import Any

from sourcead.backends.base import Engine
from sourcead.backends.numpy import NUMPY
from sourcead.backends.options import COMPILED, Numba
from sourcead.errors import BackendError


def engine_of(backend: Any) -> Engine:
    """Return the engine of a backend.

    Args:
        backend: "numpy"; a `Numba`; `COMPILED`; or "auto", for which NumPy makes the text that is shown (`compile/choice.py`).
    """
    if backend in ("numpy", "auto"):
        return NUMPY
    from sourcead.backends.numba.engine import NumbaEngine

    return NumbaEngine(Numba(), required=False) if backend == COMPILED else NumbaEngine(backend, required=True)


def let_compiled_code_call(cls: type) -> None:
    """Let functions compiled with Numba, if it is installed, call the instances of a class."""
    from sourcead.backends.numba.engine import import_numba

    with contextlib.suppress(BackendError):
        import_numba()
        from sourcead.backends.numba.overloads.gradients import register

        register(cls)
