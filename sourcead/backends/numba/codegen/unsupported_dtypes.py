"""The refusal of data whose dtype NumPy has and Numba has not, before Numba itself fails in words of its own."""

from __future__ import annotations

import numpy as np

from sourcead.errors import BackendError
from sourcead.ir.nodes import Function
from sourcead.ir.types import ANY_DTYPE, Array, MapT, Scalar, SetT, StructT, Type, keyed_parts, parts
from sourcead.ir.walk import walk
from sourcead.places.origin import Origin

CHARACTERS = "?bhilqpBHILQPfdFDmMSU"  # of the dtypes that Numba has; for half precision and objects it has types, and fails to calculate


def refuse_dtypes(function: Function, live: dict[str, Type]) -> None:
    """Refuse a derivative that takes, reads or computes numbers of a dtype that Numba lacks; `live` has the types of its global data.

    Raises:
        BackendError: it does; the message names the argument, the global variable or the line.
    """
    for kind, types in (("argument", {p.name: p.type for p in function.params}), ("global", live)):
        for name, t in types.items():
            if (found := lacking(t, name)) is not None:
                raise refusal(f"the {kind} `{found[0]}` has", *found)
    for stmt in walk(function.body):
        for v in stmt.targets:
            if (found := lacking(v.type, "")) is not None:
                raise refusal("this computes values of", "the value", found[1], stmt.adjoint_of or stmt.origin)


def refusal(what: str, name: str, dtype: np.dtype, at: Origin | None = None) -> BackendError:
    """Return the error for data of a dtype that Numba lacks."""
    if dtype.kind in "fciubOmM" and not dtype.isnative:
        shown, other = f"{dtype} (bytes in the other order)", f"{name}.astype({str(dtype.newbyteorder('='))!r})"
    else:
        shown, other = str(dtype), f"{name}.astype({'complex' if dtype.kind == 'c' else 'np.float32' if dtype.char == 'e' else 'float'})"
    instead = f"convert it before, as in `{other}`, or leave" if at is None and dtype.kind in "fcO" else "leave"
    return BackendError(f"{what} the dtype {shown}, which Numba lacks", at, f'{instead} backend="numba" away, or take backend="auto"')


def lacking(t: Type, name: str) -> tuple[str, np.dtype] | None:
    """Return the expression and the dtype of a part of this type that Numba lacks, None if it has all."""
    if isinstance(t, Array | Scalar):
        unknown = t.dtype is None or isinstance(t, Scalar) and t.dtype == ANY_DTYPE
        return None if unknown or has(t.dtype) else (name, t.dtype)
    if (keyed := keyed_parts(t)) is not None:
        inside = ((f"{name}.{key}" if isinstance(t, StructT) else f"{name}[{key!r}]", part) for key, part in keyed)
    else:
        inside = ((f"{name}[...]" if not isinstance(t, MapT | SetT) else name, part) for part in parts(t))
    return next((found for where, part in inside if (found := lacking(part, where)) is not None), None)


def has(dtype: np.dtype) -> bool:
    """Return whether Numba can calculate with elements of a dtype."""
    if dtype.names:
        return all(has(dtype[name].base) for name in dtype.names)
    return dtype.char in CHARACTERS and dtype.isnative
