"""From the options of a command to a derivative, and to the text that is generated for its arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.api.transformations import HessianProduct, hvp
from sourcead.backends.base import Program
from sourcead.cli.targets import CommandError, is_method
from sourcead.compile.comparison import drawn
from sourcead.compile.generated import Generated
from sourcead.compile.gradient import Gradient
from sourcead.compile.pipeline import Options
from sourcead.compile.structures import map_leaves
from sourcead.language.checkpoint_policies import NAMES, Revolve, Segments, policy_of

MODES = ("grad", "value_and_grad", "vjp", "jvp", "hvp")
NUMBERED = {"segments": Segments, "revolve": Revolve}
Call = tuple[tuple, dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """What the options of a command say of the derivative; None where they say nothing.

    Attributes:
        mode: one of `MODES`.
        wrt: the names or positions of parameters, divided by commas.
        checkpoint: a policy: a name, `segments:N` or `revolve:N`.
        budget: an amount of memory for the states of loops.
        backend: "numpy", "numba" or "auto".
        readable: whether each value has a name of its own.
    """

    mode: str | None = None
    wrt: str | None = None
    checkpoint: str | None = None
    budget: str | None = None
    backend: str | None = None
    readable: bool = False

    @property
    def nothing(self) -> bool:
        """Whether the options leave the derivative to the decorator of the function."""
        return self == Asked()


def derivative_of(function: Callable, asked: Asked) -> Generated:
    """Return the derivative of a function that the options ask for.

    A function that is decorated with `@grad` or kin is its own derivative, unless an option says something else.
    """
    if isinstance(function, Generated):
        if asked.nothing:
            return function
        function = function.primal
    wrt = int(is_method(function)) if asked.wrt is None else _parameters(asked.wrt)
    mode = asked.mode or "grad"
    if mode == "hvp":
        if asked.checkpoint or asked.budget or asked.readable:
            raise CommandError("--mode hvp takes no --checkpoint, --budget or --readable")
        return hvp(function, wrt, backend=asked.backend)
    options = Options(checkpoint=policy_of(_policy(asked.checkpoint), asked.budget), backend=asked.backend, readable=asked.readable)
    return Gradient(function, wrt, mode, options)


def _parameters(text: str) -> Any:
    """Return `wrt` from the text of an option: a name or position, or a tuple of them where there is a comma."""
    names = [int(part) if part.lstrip("-").isdigit() else part for part in (p.strip() for p in text.split(",")) if part != ""]
    if not names:
        raise CommandError("--wrt names no parameter; write --wrt w, or --wrt w,b")
    return tuple(names) if "," in text else names[0]


def _policy(text: str | None) -> Any:
    """Return the checkpoint policy of an option."""
    name, _, number = (text or "auto").partition(":")
    if name in NUMBERED and number.isdigit() and int(number) > 0:
        return NUMBERED[name](int(number))
    if name in NAMES and not number:
        return name
    raise CommandError(f"--checkpoint {text!r} is none of {', '.join(NAMES)}, segments:N and revolve:N")


def with_directions(made: Generated, call: Call | None) -> Call:
    """Return the arguments of a call of a derivative: those of the function, and in forward mode random tangents."""
    args, kwargs = call or ((), {})
    if call is None or not made._directions:
        return args, kwargs
    random = np.random.default_rng(0)
    inner = made._gradient if isinstance(made, HessianProduct) else made
    given = inner._takes.bind(*inner._bound_args, *args, **{**inner._bound_kwargs, **kwargs})
    given.apply_defaults()

    def direction(name: str) -> Any:
        return map_leaves(lambda leaf: drawn(float(leaf) if isinstance(leaf, int) else leaf, random), given.arguments[name])

    if isinstance(made, HessianProduct):
        vectors = tuple([direction(name) for name in made.wrt])
        return (*args, vectors[0] if made._single else vectors), kwargs
    return args, {**kwargs, **{t: direction(name) for t, name in made._directions.items()}}


def program_of(made: Generated, call: Call) -> tuple[Program, tuple[str, ...]]:
    """Return the program that runs for the arguments of a call, of its engine where there is one, and the notes on its loops."""
    args, kwargs = call
    built = made._latest(*args, **kwargs).built
    notes = built.notes.shown(made._bound(args, kwargs) if args or kwargs else {})
    return built.program or built.plain, notes
