"""A cast that Numba lacks: from a list of arrays in C order to a list of arrays in any order.

Both lists are the same memory.  Nothing may read the list under its old type after an array in another order was put in: the text writes
into a list only where no other name for it is read any more (`emit/memory/`).
"""

from __future__ import annotations

from numba import types
from numba.cpython import listobj


@listobj.lower_cast(types.List, types.List)  # registered after Numba's own cast, so that this one is used
def list_as_list(context, builder, from_type, to_type, value):
    if not holds(to_type.dtype, from_type.dtype):
        raise NotImplementedError(f"a list of {from_type.dtype} where one of {to_type.dtype} is wanted")
    return value


def holds(general: types.Type, special: types.Type) -> bool:
    """Return whether the memory of a value of type `special` is also a valid value of type `general`."""
    match general, special:
        case types.Array(), types.Array():
            return (general.dtype, general.ndim) == (special.dtype, special.ndim) and general.layout in ("A", special.layout)
        case types.List(), types.List():
            return holds(general.dtype, special.dtype)
        case types.BaseTuple(), types.BaseTuple():
            return len(general) == len(special) and all(map(holds, general, special))
    return general == special
