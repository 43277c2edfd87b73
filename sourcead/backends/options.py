"""The options of `backend=Numba(...)`."""

from dataclasses import dataclass
from typing import Any

from sourcead.errors import UnsupportedArgumentError
from sourcead.frontend.find_source import is_compiled

WITHOUT_NUMBA = 'leave backend="numba" away, or take backend="auto"'  # the advice for a text that Numba cannot compile

COMPILED = "compiled"  # Numba where it can compile the text, else NumPy with a warning: the default for functions compiled with Numba

# Numba runs operations that compute a new array in parallel. Writes into arrays stay serial: Numba does not check whether a value shares
# memory with the array, and gave wrong numbers for `a[1:] = f(a[:-1])`; fused loops over arrays of different shapes failed.
PARALLEL = {
    "numpy": True, "reduction": True, "prange": True,
    "setitem": False, "inplace_binop": False, "fusion": False, "comprehension": False, "stencil": False,
}  # fmt: skip


@dataclass(frozen=True)
class Numba:
    """The backend that compiles the generated text with `numba.njit`; `backend="numba"` is `backend=Numba()`.

    Attributes:
        fastmath: lets Numba reorder all floating-point sums and ignore NaN, so that loops use vector instructions; results differ in the
            last digits. Without it only sums of cotangents in loops are reordered, and NaN is preserved.
        boundscheck: raises an `IndexError` for a subscript out of bounds; without it, such a subscript reads or writes arbitrary memory.
        cache: keeps machine code on disk, in the user's cache folder (`SOURCEAD_CACHE_DIR` names another one), for later processes;
            several may share it.
        parallel: runs loops whose iterations are independent on several threads, and lets Numba do so with array expressions and their
            sums. Sums are computed in another order, always the same for as many threads, so results differ in the last digits, and
            compilation takes several times as long.
        inline: "always" puts the text of a gradient into the compiled functions that call it, in place of a call.

    Example:
        >>> Numba(fastmath=True)
        Numba(fastmath=True, boundscheck=True, cache=True, parallel=False, inline='never')
    """

    fastmath: bool = False
    boundscheck: bool = True
    cache: bool = True
    parallel: bool = False
    inline: str = "never"

    def __post_init__(self):
        if self.inline not in ("never", "always"):
            raise UnsupportedArgumentError(f"inline={self.inline!r} is no way to inline", instead='inline="never" or inline="always"')

    def njit(self) -> dict[str, Any]:
        """Return the options of `numba.njit`, except for the cache."""
        options: dict[str, Any] = {"error_model": "numpy", "boundscheck": self.boundscheck, "fastmath": self.fastmath}
        return {**options, "parallel": PARALLEL} if self.parallel else options


def backend_of(backend: Any, f: Any) -> Any:
    """Return the backend that a caller chose: "numpy", "auto", a `Numba`, or `COMPILED`.

    Args:
        backend: its name; None means `COMPILED` for a function compiled with Numba, and otherwise "numpy".
        f: the function that is differentiated.

    Raises:
        UnsupportedArgumentError: there is no such backend.
    """
    if backend is None:
        return COMPILED if is_compiled(f) else "numpy"
    if backend == "numba":
        return Numba()
    if isinstance(backend, Numba) or backend in ("numpy", "auto", COMPILED):
        return backend
    raise UnsupportedArgumentError(f"there is no backend {backend!r}", instead='backend="numpy" or backend="numba" or backend="auto"')
