"""Recursive functions under Numba, which cannot compile functions that return closures.

The value and the cotangents are computed by separate recursive functions (`ad/recursion.py`):

    y, pullback = f_vjp(a, b)        y = f(a, b)
    d_a, d_b = pullback(d_y)         d_a, d_b = f_cotangents(a, b, d_y)

They take whole arguments, tuples and lists too, because these do not cross the boundary to Python.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sourcead.emit import Emitted
from sourcead.emit.memory.sharing import Writer
from sourcead.errors import BackendError
from sourcead.ir.nodes import Block, Call, Const, Function, Index, Let, Stmt, Var, operand_atoms
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.walk import rewrite


@dataclass(eq=False)
class Helper:
    """A function that the text calls, `name`, with its source, and the globals that the source reads."""

    name: str
    text: str = ""
    namespace: dict[str, Any] = field(default_factory=dict)

    @property
    def __name__(self):
        return self.name


@dataclass(eq=False, kw_only=True)
class ParallelLoop(Helper, Writer):
    """A loop that may run in parallel (`parallel/rewrite.py`): `text` is the function `name`, which runs a part of its iterations.

    Attributes:
        driver: the text of two functions around it.
        names: their names: what divides the loop into parts and runs them, and what tells whether a part raised an error.
    """

    driver: str
    names: tuple[str, str]
    writes: tuple[tuple[int, int], ...]


class Recursive(Helper):
    """A recursive function; its namespace includes the function itself."""

    def __call__(self, *args):
        raise TypeError(f"{self.name} is defined in the generated text")


def with_functions(function: Function, written: Callable[[Function], Emitted]) -> Function:
    """Return the function with calls of functions that return only values in place of pairs of a value and a pullback.

    Args:
        function: a function whose reverse sweep calls no pullbacks.
        written: makes the text of such a function.

    Raises:
        BackendError: one of the recursive functions reads global data.
    """
    made: dict[Pair, Recursive] = {}

    def in_functions(function: Function) -> Function:
        values: dict[Var, Var] = {}

        def change(stmt: Stmt) -> list[Stmt]:
            match stmt.op:
                case Call(Pair() as pair, args):
                    values[stmt.targets[0]] = v = Var(pair.name.removesuffix("_vjp"), pair.result, True)
                    stmt = replace(stmt, targets=(v,), op=Call(recursive(pair), args, effect=pair.effect))
                case Index(Var() as base, Const(place)) if base in values and place == 0:
                    stmt = replace(stmt, op=Let(values[base]))
            return [stmt]

        return replace(function, body=rewrite(function.body, change))

    def recursive(pair: Pair) -> Recursive:
        """Return the recursive function of a pair; its namespace holds the functions that it calls."""
        if pair not in made:
            taken = {f.name for f in made.values()}
            name = pair.name.removesuffix("_vjp")
            while name in taken:
                name += "_"
            made[pair] = Recursive(name)
            own = pair.lowered.function
            refuse_globals(own)
            emitted = written(replace(in_functions(own), name=name, doc=None, defaults=()))
            made[pair].text, made[pair].namespace = emitted.text, emitted.namespace
        return made[pair]

    return in_functions(function)


def refuse_globals(function: Function) -> None:
    """Refuse a function that reads global data, because Numba would compile the present value as a constant."""
    for a in live_data(function.body):
        raise BackendError(
            f"Numba cannot compile `{function.name}`, which calls itself and reads the global `{a.text}`", at=function.origin,
            instead=f"give it `{a.text}` as an argument",
        )  # fmt: skip


def live_data(block: Block) -> Iterator[Const]:
    """Yield the data of globals and closures that a block, or a block inside it, reads or yields."""
    atoms = (*(a for s in block.stmts for a in operand_atoms(s.op)), *block.results)
    yield from (a for a in atoms if isinstance(a, Const) and a.live)
    for inner in (b for s in block.stmts for b in s.op.blocks):
        yield from live_data(inner)


def reachable(namespace: dict[str, Any]) -> list[Recursive]:
    """Return the recursive functions that a text calls, directly or through others."""
    found: list[Recursive] = []
    todo = list(namespace.values())
    while todo:
        value = todo.pop(0)
        if isinstance(value, Recursive) and value not in found:
            found.append(value)
            todo += value.namespace.values()
    return found
