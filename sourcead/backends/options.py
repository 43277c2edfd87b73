"""How Numba compiles: the options of `backend=Numba(...)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sourcead.errors import UnsupportedArgumentError
from sourcead.frontend.source import is_compiled


@dataclass(frozen=True)
class Numba:
    """The backend that compiles the generated text with `numba.njit`; `backend="numba"` is `backend=Numba()`.

    Attributes:
        fastmath: lets floating point sums be reordered and NaN be ignored, so that loops use vector instructions; results differ
            in the last digits.
        boundscheck: a subscript out of bounds is an `IndexError`; without it, it reads or writes whatever lies there.
        cache: keeps machine code on disk, in the user's cache folder (`SOURCEAD_CACHE_DIR` names another one), for later processes.

    Example:
        >>> Numba(fastmath=True)
        Numba(fastmath=True, boundscheck=True, cache=True)
    """

    fastmath: bool = False
    boundscheck: bool = True
    cache: bool = True

    def njit(self) -> dict[str, Any]:
        """The options of `numba.njit`, but for the cache."""
        return {"error_model": "numpy", "boundscheck": self.boundscheck, "fastmath": self.fastmath}


def backend_of(backend: Any, f: Any) -> Any:
    """A backend as a caller names it: "numpy", "auto" or a `Numba`.

    Args:
        backend: its name; None is "auto" for a function that Numba compiles, and "numpy" else.
        f: the function that is differentiated.

    Raises:
        UnsupportedArgumentError: there is none of that name.
    """
    if backend is None:
        return "auto" if is_compiled(f) else "numpy"
    if backend == "numba":
        return Numba()
    if isinstance(backend, Numba) or backend in ("numpy", "auto"):
        return backend
    raise UnsupportedArgumentError(f"there is no backend {backend!r}", instead='backend="numpy" or backend="numba" or backend="auto"')
