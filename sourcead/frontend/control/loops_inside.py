"""What the rounds of a loop find out about the loops inside it, with which each next round begins them.

    for row in rows:              # lowered again until its assumptions hold (`loop_variants.py`)
        for x in row:             # assumed at once in the second round of the loop around it: `s` changes, and is a float
            s = s + x

If a loop inside began with nothing in each round of the loop around it, the work would grow by a factor for each level of nesting.
What was found is only what the loop begins with, and it is corrected as any assumption is. A type is assumed where the value on entry
has the type that it had when that was found.
"""

from dataclasses import dataclass
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend.control.variant_values import Assumptions
from sourcead.frontend.core import MISSING, VALUE, Cell, Lowering, Slots
from sourcead.ir.dims import syms
from sourcead.ir.nodes import Const, Origin, Var
from sourcead.ir.types import Type, Undefined


@dataclass(frozen=True)
class Variant:
    """What was found about a variant: its type on entry, that in the loop (None if it is not assumed again), whether it may be missing."""

    on_entry: Type | None
    inside: Type | None
    missing: bool


Loops = tuple[tuple[int, Origin | None], ...]  # a loop after those around it


def begun(lo: Lowering, assumed: Assumptions) -> Loops:
    """Assume of the loop that begins here what is known about it; return it after those around it."""
    lo.nth_loop += 1
    loops = (*lo.loops, (lo.nth_loop, lo.here))
    known = lo.loops_found.get(loops, {})
    at = {place: slots for slots, place in places(lo).items()} if known else {}
    for (place, key), variant in known.items():
        slots = at.get(place)
        if slots is None:
            continue
        slot = slots, key
        assumed.variants.setdefault(slot, None)
        if variant.inside is not None and type_on_entry(slot) == variant.on_entry:
            assumed.types[(slot,)] = variant.inside
            if variant.missing:
                assumed.missing.add((slot,))
    return loops


def ended(lo: Lowering, loops: Loops, assumed: Assumptions) -> None:
    """Note what was found about a loop whose assumptions hold; the slots are as they were before the loop."""
    at = places(lo)
    lo.loops_found[loops] = {
        (at[slots], key): variant(assumed, (slots, key), template)
        for (slots, key), template in assumed.variants.items() if slots in at
    }  # fmt: skip


def variant(assumed: Assumptions, slot: tuple[Slots, Any], template: Any) -> Variant:
    """Return what was found about a variant."""
    before, inside = type_on_entry(slot), assumed.types.get((slot,))
    plain = template is None and (slot,) not in assumed.numbers and before is not None and inside is not None
    same_dims = plain and set(syms(inside)) <= set(syms(before))  # others were made in the loop
    return Variant(before, inside if same_dims else None, (slot,) in assumed.missing)


def type_on_entry(slot: tuple[Slots, Any]) -> Type | None:
    """Return the type of the value in a slot; None if it is no number, text or array."""
    value = slot[0].get(slot[1], MISSING)
    if isinstance(value, Cell) and value.kind == "array" and value.base is None:
        return type_on_entry((value.slots, VALUE))
    return Undefined() if value is MISSING else atom_type(value) if isinstance(value, (Const, Var)) else None


def places(lo: Lowering) -> dict[Slots, tuple]:
    """Return where the variables of the functions that are being lowered are, and the arrays and objects that these are bound to."""
    found: dict[Slots, tuple] = {}
    scopes = [*lo.stack, *lo.scopes()]
    for number, scope in enumerate(scopes):
        found.setdefault(scope.names, (number,))
    for number, scope in enumerate(scopes):
        for name, value in scope.names.items():
            if isinstance(value, Cell):
                found.setdefault(value.root().slots, (number, name))
    return found
