"""Which values are the same while compiling: constants, functions, slices, and the structure of containers."""

from __future__ import annotations

from sourcead.frontend.core.cells import FunctionVal, SliceVal, Value
from sourcead.ir.nodes import Atom, Const


def same_constant(a: Const, b: Const) -> bool:
    """Whether two constants are the same object for every purpose."""
    return type(a.value) is type(b.value) and (a.value is b.value or isinstance(a.value, (int, str, bool, tuple)) and a.value == b.value)


def same_keys(a: Value, b: Value) -> bool:
    """Whether two tuples, lists, dicts or objects have the same structure and class."""
    return type(a) is type(b) and getattr(a, "kind", None) == getattr(b, "kind", None) and a.cls is b.cls and (
        a.keys.keys() == b.keys.keys() if isinstance(a.keys, dict) else list(a.keys) == list(b.keys)
    )


def same_thing(a: Value, b: Value) -> bool:
    """Whether two values that are no data are the same in every iteration.

    A function that is made again sees the names of its scope, and not the values that they had when it was made.
    """
    match a, b:
        case FunctionVal(), FunctionVal():
            return a.source.node is b.source.node and a.scope is b.scope and not (a.defaults or b.defaults)
        case SliceVal(), SliceVal():
            return all(
                x is y or isinstance(x, Const) and isinstance(y, Const) and not x.live and not y.live and same_constant(x, y)
                for x, y in zip((a.lower, a.upper, a.step), (b.lower, b.upper, b.step))
            )
        case Const(), Const():
            return same_constant(a, b)
    return a is b


def paired_bounds(a: SliceVal, b: SliceVal) -> list[tuple[Atom | None, Atom | None]] | None:
    """The parts of two slices side by side, where each has those of the other; without a step, no lower bound is 0."""
    parts = [[s.lower, s.upper, s.step] for s in (a, b)]
    if a.step is None and b.step is None and (a.lower is None) != (b.lower is None):
        for part in parts:
            part[0] = Const(0) if part[0] is None else part[0]
    pairs = list(zip(*parts))
    return pairs if all((x is None) == (y is None) for x, y in pairs) else None


def bound_of_slice(value: SliceVal, name: str) -> Atom | None:
    """`rows.start` and kin; None if slices have no such attribute."""
    if name not in ("start", "stop", "step"):
        return None
    part = {"start": value.lower, "stop": value.upper, "step": value.step}[name]
    return Const(None) if part is None else part
