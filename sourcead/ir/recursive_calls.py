"""Calls that stay calls, such as those of recursive functions: a generated function returns a pair.

`f_vjp(args)` returns the value and the pullback, which keeps what the reverse sweep of that call needs; `f_jvp(args, tangents)`
returns the value and its tangent:

    y = f(a, b)        y, pullback = f_vjp(a, b)        d_a, d_b = pullback(d_y)
                       y, t_y = f_jvp(a, b, t_a, t_b)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sourcead.ir.nodes import Block, Call, Const, Index, Stmt, Var
from sourcead.ir.types import UNKNOWN, Type, Undefined
from sourcead.ir.walk import rewrite, walk


@dataclass(eq=False)
class Pair:
    """The generated function that returns the value and the pullback of a function, for arguments of some types.

    Attributes:
        name: its name in the text.
        result: the type of the value, as far as it is known while the function is lowered.
        effect: whether a call has an effect.
        wrt: the positions of the arguments that have cotangents.
        written: the names of the arguments that it writes.
        lowered: the lowered function, or None until it is lowered.
        recursive: whether it was called while it was lowered.
        relies_on: the pairs that were not lowered to the end when it was lowered with what was known of them.
        guards: the globals that its text relies on.
        kind: "vjp", or "jvp" for the function that takes tangents too and returns the value and its tangent.
    """

    name: str
    result: Type = Undefined()
    effect: bool = False
    wrt: tuple[int, ...] = ()
    written: tuple[str, ...] = ()
    lowered: Any = None
    recursive: bool = False
    relies_on: set[Pair] = field(default_factory=set)
    guards: dict = field(default_factory=dict)
    kind: str = "vjp"
    derivatives: dict[str, Pair] = field(default_factory=dict)  # to differentiate it again (`ad/recursion.py`)

    @cached_property
    def forward(self) -> Pair:
        """Return the generated function that returns the value and its tangent."""
        return replace(self, name=self.name.replace("_vjp", "_jvp"), kind="jvp")

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args):
        raise TypeError(f"{self.name} is defined in the generated text")


def name_pairs(body: Block, taken: str) -> None:
    """Name the generated functions that a function calls, so that no two of them have one name, nor that of the text, `taken`."""
    names = {taken}
    found = pairs_called(body)
    for pair in found:  # `found` grows meanwhile
        found += [p for p in pairs_called(pair.lowered.function.body) if p not in found]
        base, n = pair.name.removesuffix("_vjp"), 1
        while not names.isdisjoint((pair.name, f"{pair.name.removesuffix('_vjp')}_jvp")):
            n += 1
            pair.name = f"{base}_{n}_vjp"
        names.update((pair.name, f"{pair.name.removesuffix('_vjp')}_jvp"))


def pairs_called(block: Block) -> list[Pair]:
    """Return the generated functions that a block calls, each once."""
    return list(dict.fromkeys(s.op.fn for s in walk(block) if isinstance(s.op, Call) and isinstance(s.op.fn, Pair)))


def with_pullbacks(block: Block) -> tuple[Block, dict[Var, Var]]:
    """Return the block with a variable for the pullback of each call of a pair, and a map from each pair to its pullback."""
    pullbacks: dict[Var, Var] = {}

    def change(stmt: Stmt) -> list[Stmt]:
        if not (isinstance(stmt.op, Call) and isinstance(stmt.op.fn, Pair)):
            return [stmt]
        (pair,) = stmt.targets
        pullbacks[pair] = Var("pullback", UNKNOWN, True)
        return [stmt, Stmt((pullbacks[pair],), Index(pair, Const(1)), stmt.origin)]

    return rewrite(block, change), pullbacks
