"""The sections of a snapshot: what the compiler makes of one program, for each kind of derivative."""

import functools
import re
import time
from pathlib import Path

from sourcead import Gradient, Numba, Revolve, Segments, grad, hvp, pushforward, value_and_grad
from sourcead.errors import SourceADError
from tests.forward import direction
from tests.golden import without_lines
from tests.harness import first_line, last_frame, positions, quietly, time_limit
from tests.programs import rng_for

ROOT = str(Path(__file__).parents[2]) + "/"
NUMBERED = re.compile(r"<sourcead (\w+) \d+>")  # the file name of a generated text counts the texts before it
SECONDS = 60  # for one compilation
POLICIES = {
    "store": {"checkpoint": "store"},
    "states": {"checkpoint": "states"},
    "recompute": {"checkpoint": "recompute"},
    "segments": {"checkpoint": Segments(3)},
    "revolve": {"checkpoint": Revolve(3)},
    "budget": {"budget": "1kB"},
}
KINDS = ("grad", "value_and_grad", "vjp", "jvp", "hvp", *POLICIES, "compiled")


def without_numbers(message):
    """An error message without this machine's folders and the running numbers of generated texts."""
    return NUMBERED.sub(r"<sourcead \1>", message.replace(ROOT, ""))


def snapshot_of(program, kinds=KINDS):
    """The snapshot of a program, and the seconds that each kind took to compile.

    Policies are left out where the gradient has no loop: there they change nothing.
    """
    sections, seconds = {}, {}
    for kind in kinds:
        if kind in POLICIES and not has_loop(sections.get("grad", "for ")):
            continue
        for variant in range(1 + len(program.also) if kind == "grad" else 1):
            name = f"{kind} {variant}" if variant else kind
            started = time.perf_counter()
            sections[name] = section_of(program, kind, variant)
            seconds[name] = time.perf_counter() - started
    return "".join(f"==== {name}\n{section}" for name, section in sections.items()), seconds


def has_loop(text):
    return re.search(r"^ +(for|while) |\bfor\b", text, re.M) is not None


def section_of(program, kind, variant=0):
    """The text and the notes of one derivative, or the error that it is refused with."""
    args = program.make_args(rng_for(), variant)
    with quietly():
        try:
            with time_limit(SECONDS):
                lowered = lowered_as(kind, program, args)
        except SourceADError as error:
            return f"{type(error).__name__}\n{without_numbers(str(error))}\n"
        except Exception as error:
            return f"INTERNAL {type(error).__name__}: {first_line(error)}{last_frame(error)}\n"
    text = lowered.compiled_text if kind == "compiled" else lowered.text
    notes = "".join(f"# {note}\n" for note in lowered.notes)
    return f"{without_lines(text or 'nothing to compile').strip()}\n{notes}"


def lowered_as(kind, program, args):
    """What the derivative of a program compiles to."""
    f, wrt = program.function, program.wrt
    several = isinstance(wrt, (tuple, list))

    def tangents():
        rng = rng_for()
        return tuple(direction(args[k], rng) for k in positions(f, wrt, len(args)))

    if kind == "value_and_grad":
        return value_and_grad(f, wrt=wrt).lower(*args)
    if kind == "vjp":
        return Gradient(f, wrt, kind="vjp").lower(*args)
    if kind == "jvp":
        push = pushforward(f, wrt=wrt)
        return push.lower(*args, **dict(zip(push.directions, tangents())))
    if kind == "hvp":
        return hvp(f, wrt=wrt).lower(*args, tangents() if several else tangents()[0])
    if kind == "compiled":
        return grad(f, wrt=wrt, backend=Numba(cache=False)).lower(*args)
    return functools.partial(grad, **POLICIES.get(kind, {}))(f, wrt=wrt).lower(*args)
