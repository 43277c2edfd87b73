"""Lower recursive calls, which are calls of functions that are being lowered already.

A call whose arguments have another structure, such as the branches of a tree, is lowered in place, and the recursion ends where the
structure does. A call with arguments of the same types becomes a call of the function's generated pair (`control/pairs.py`).
"""

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.control.pairs import call_pair, signature
from sourcead.frontend.core import FunctionVal, Lowering, Value, parts_of

MAX_DEPTH = 24
MAX_UNKNOWN = 4  # the most branches of unknown outcome around such a call that its callers make
MAX_IN_PLACE = 100  # the most calls of one recursive function that are lowered in place


def is_under_way(lo: Lowering, key, bound: dict[str, Value]) -> bool:
    """Return whether a call of this function with arguments of these types is being lowered."""
    frames = [frame for frame in lo.calls if frame.key is key]
    if not frames:
        return False
    now = signature(bound)
    return any(signature(frame.bound) == now for frame in frames)


def call_or_none(lo: Lowering, fn: FunctionVal, bound: dict[str, Value], node) -> tuple[Value | None, dict]:
    """Lower a call of a recursive function to a call of its pair; return None for one that must be lowered in place, and those under way.

    A call is lowered in place if its pair is refused, and known values bound the depth.
    The calls of a function that is lowered in place are counted: where no known value ends the recursion, it is refused in the end.
    """
    key = fn.source.node
    if key in lo.in_pairs.values():
        return call_pair(lo, fn, bound, node), lo.in_place
    if key in lo.in_place:
        calls, depth, error = lo.in_place[key]
        calls.append(bound)
        if len(calls) > MAX_IN_PLACE or len(lo.calls) > MAX_DEPTH or lo.depth > depth + MAX_UNKNOWN:
            raise error
        return None, lo.in_place
    with lo.attempt(UnsupportedSyntaxError) as attempt:
        return call_pair(lo, fn, bound, node), lo.in_place
    return None, {**lo.in_place, key: ([bound], lo.depth, attempt.error)}


def is_called_as_pair(lo: Lowering, source, bound: dict[str, Value]) -> bool:
    """Return whether the first call of a function that calls itself by name becomes a call of its pair, not lowered in place."""
    node = source.node
    if any(frame.key is node for frame in lo.calls):
        return False
    if not hasattr(node, "calls_itself"):
        node.calls_itself = any(
            isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id == source.name for n in gast.walk(node)
        )
    return node.calls_itself and all(parts_of(v) is None for v in bound.values())
