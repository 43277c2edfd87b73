"""What the compiler knows of `grad`, `vjp` and the other public functions when a differentiated function calls them.

They are found here, and not imported, because they stand above the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KINDS: dict[Callable, str] = {}  # the kind of derivative that a public function returns, or "vjp call", "jvp call"


def returns_derivative(kind: str) -> Callable[[Callable], Callable]:
    """A decorator that makes a public function known as one that returns a derivative of this kind."""

    def add(function: Callable) -> Callable:
        KINDS[function] = kind
        return function

    return add


@dataclass(frozen=True, eq=False)
class Described:
    """What one of the public functions returned.

    Attributes:
        kind: that of `Gradient`, or "jacobian", "hessian" or "hvp".
        function: the function that it is the derivative of.
        wrt: by which of its arguments.
        has_aux: whether it returns further values.
        names: its parameters, where they are known.
        bound_args, bound_kwargs: arguments that were given before.
    """

    kind: str
    function: Any
    wrt: Any
    has_aux: bool = False
    names: tuple[str, ...] | None = None
    bound_args: tuple = ()
    bound_kwargs: dict[str, Any] = field(default_factory=dict)
