"""The places where a loop keeps the values that its reverse reads: lists, the loop variants of the reverse, arrays that are put back."""

from collections.abc import Iterable
from dataclasses import dataclass

from sourcead.ad.residuals.notes import Kept, LoopNote, rebuilt
from sourcead.ir.nodes import Stmt, Var


@dataclass(frozen=True)
class Storage:
    """The storage of a loop's values, by the way in which each is kept.

    Attributes:
        listed: values of which each iteration appends one to a list.
        carried: values on leaving an iteration, each with the variant that has it on entry to the next; the variant is listed.
        flag: the carried flag that the loop was left, true at most in the last iteration, or None if the reverse does not read it.
        restored: the chains of the arrays that the reverse puts back as they were, with the numbers of their variants.
        overwritten: the values overwritten by updates that the reverse undoes, each with its array.
    """

    listed: list[Var]
    carried: dict[Var, Var]
    flag: Var | None
    restored: dict[Var, int]
    overwritten: dict[Var, Var]

    def note(self, loop: Stmt, again: Iterable[Var]) -> LoopNote:
        """Return the note for the user on a loop that rebuilds the values `again`."""
        kept = [Kept(v.name, v.type) for v in self.listed if v not in self.overwritten]
        olds = [v for v in self.listed if v in self.overwritten]
        kept += [Kept(f"what is overwritten of {self.overwritten[v].name}", v.type) for v in olds]
        rest = []
        if self.carried:
            names = ", ".join(sorted({p.name for p in self.carried.values()}))
            rest.append(f"carries {names} backward, whose value on leaving an iteration is that on entering the next")
        if self.restored:
            rest.append(f"puts back {', '.join(loop.op.params[k].name for k in self.restored.values())} as it was")
        head = "saves in each iteration {}" if kept else "saves nothing"
        return LoopNote(loop.origin, head, tuple(kept), (*rest, *rebuilt(again)))
