"""Load text for Numba under the name of an existing module, since Numba's disk cache imports that module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sourcead.backends import load as loading

MODULE = "sourcead.backends.numba"


def load(text: str, name: str, namespace: dict[str, Any]) -> Callable:
    """Return the function that a text defines."""
    return loading.load(text, name, {**namespace, "__name__": MODULE})
