"""Replace Numba's objects by Python's: `prange` by `range`, a typed list by a list.

Numba need not be installed: its objects are recognised by the module that defines them.
"""

from __future__ import annotations

from typing import Any


def in_python(fn: Any) -> Any:
    """Return the Python equivalent of an object of Numba in interpreted code; return any other object itself."""
    module, name = getattr(fn, "__module__", None), getattr(fn, "__name__", None)
    if isinstance(module, str) and module.startswith("numba.") and isinstance(name, str):
        if isinstance(getattr(fn, "__self__", None), type):  # typed.List.empty_list(float64), typed.Dict.empty(...)
            return _MAKERS.get((module, name), fn)
        return _SAME.get((module, name), fn)
    return fn


def _new_list(item_type=None, allocated=0):
    return []


def _new_dict(key_type=None, value_type=None, n_keys=0):
    return {}


def _unrolled(container):
    return container


_SAME = {
    ("numba.misc.special", "prange"): range,
    ("numba.misc.special", "literal_unroll"): _unrolled,
    ("numba.typed.typedlist", "List"): list,
    ("numba.typed.typeddict", "Dict"): dict,
}
_MAKERS = {
    ("numba.typed.typedlist", "empty_list"): _new_list,
    ("numba.typed.typeddict", "empty"): _new_dict,
}
