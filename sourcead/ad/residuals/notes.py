"""Notes for the user on what each loop saves for the reverse sweep, with its size for given arguments, and what it rebuilds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sourcead.analysis.sizes_at_call import sizes_in
from sourcead.ir.dims import with_dims
from sourcead.ir.nodes import Function, Origin, Var
from sourcead.ir.types import Array, DictT, ListT, Scalar, StructT, Sym, TupleT, Type
from sourcead.passes.loops.fused_sweeps import Fused

OBJECT = 32  # bytes of a number that is kept in a list
UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Kept:
    """A value that a loop saves: its name and type."""

    name: str
    type: Type

    def shown(self, numbers: Mapping[Sym, int]) -> str:
        """Return the value with its type, shape and bytes as text."""
        t = with_dims(self.type, numbers)
        size = bytes_of(t)
        return f"{self.name} ({described(t)}{'' if size is None else f', {amount(size)}'})"


@dataclass(frozen=True)
class LoopNote:
    """The note on one loop: `head`, in which `{}` is replaced by the saved values, and further remarks."""

    origin: Origin | None
    head: str
    kept: tuple[Kept, ...] = ()
    rest: tuple[str, ...] = ()

    def shown(self, numbers: Mapping[Sym, int]) -> str:
        """Return the note as text, for dims of these sizes."""
        where = f"line {self.origin.line}, `{self.origin.text.splitlines()[0].strip()}`" if self.origin else "a loop"
        values = ", ".join(k.shown(numbers) for k in self.kept)
        sizes = [bytes_of(with_dims(k.type, numbers)) for k in self.kept]
        if len(sizes) > 1 and None not in sizes:
            values += f", together {amount(sum(sizes))}"
        return f"{where}: " + "; ".join([self.head.replace("{}", values), *self.rest])


@dataclass(frozen=True, eq=False)
class Notes:
    """The notes of a function.

    Attributes:
        loops: the notes on its loops, the outer first.
        forward: its forward sweep, in which the sizes of arrays are looked for.
        before, after: the changes made to loops before they were differentiated, and to those of the reverse sweep.
        compiled: what the text does differently under Numba.
    """

    loops: tuple[LoopNote, ...] = ()
    forward: Function | None = None
    before: tuple[str, ...] = ()
    after: list[str | Fused] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)

    def shown(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the notes as text, for a call with these arguments."""
        numbers = sizes_in(self.forward, arguments) if self.loops and self.forward is not None else {}
        saving = [note.shown(numbers) for note in self.loops if Fused(note.origin) not in self.after]
        return (*self.before, *saving, *map(str, self.after), *self.compiled)


def rebuilt(variables: Sequence[Var]) -> tuple[str, ...]:
    """Return the remark on what is computed again: the names that the user gave, and a mention of other values."""
    names = list(dict.fromkeys(v.name for v in variables if not v.temp))
    if any(v.temp for v in variables):
        names.append("parts of expressions")
    return (f"rebuilds {', '.join(names)}",) if names else ()


def described(t: Type) -> str:
    """Return a type as text for the user."""
    match t:
        case Scalar(kind, dtype):
            return kind if dtype is None or dtype.kind == "O" else str(dtype)
        case Array(dtype, dims):
            name = "array" if dtype is None else str(dtype)
            if dims is None:
                return name
            sizes = ", ".join("?" if isinstance(n, Sym) else str(n) for n in dims)
            return f"{name} ({sizes}{',' if len(dims) == 1 else ''})"
        case ListT(item):
            return f"list of {described(item)}"
        case TupleT(items):
            return f"tuple of {', '.join(map(described, items))}"
        case StructT(cls):
            return cls.__name__
    return "value"


def bytes_of(t: Type) -> int | None:
    """Return the number of bytes of a value of this type, or None if the type does not determine it."""
    match t:
        case Scalar():
            return OBJECT
        case Array(dtype, dims) if dtype is not None and dims is not None and not any(isinstance(n, Sym) for n in dims):
            return dtype.itemsize * math.prod(dims)
        case TupleT(items):
            return total(items)
        case ListT(_, items) if items is not None:
            return total(items)
        case StructT(_, fields) | DictT(fields):
            return total([field for _, field in fields])
    return None


def total(types: Sequence[Type]) -> int | None:
    """Return the number of bytes of several values, or None if the types do not determine it."""
    found = [bytes_of(t) for t in types]
    return None if None in found else sum(found)


def amount(size: float) -> str:
    """Return a number of bytes in a suitable unit.

    Example:
        >>> amount(80), amount(6400), amount(8_000_000)
        ('80 B', '6.4 kB', '8 MB')
    """
    k = 0
    while size >= 1000 and k < len(UNITS) - 1:
        size, k = size / 1000, k + 1
    return f"{size:.3g} {UNITS[k]}"
