"""The generated function for arguments of one coarse key, and the tables that keep such functions."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sourcead.analysis.sizes_at_call import Sizes
from sourcead.backends import load as loading
from sourcead.backends.base import Engine
from sourcead.compile import keys
from sourcead.compile.arguments import Arguments
from sourcead.compile.live_data import read
from sourcead.compile.pipeline import Built
from sourcead.errors import BackendError
from sourcead.frontend.core import Part
from sourcead.ir.dims import with_dims

EXACT_ENTRIES = 512  # exact keys that a gradient keeps
TEXTS = 64  # specialisations that a gradient keeps
SHARED_TEXTS = 256  # specialisations kept for functions that are made anew with the same code
MANY_ITEMS = 64  # more items than these in the lists of a call: its text holds for lists of any length from the first call on


@dataclass(frozen=True, eq=False)
class Specialisation:
    """A generated function for one coarse key.

    Attributes:
        built: the pipeline's output.
        namespace: the globals of the text.
        code: the code object of the text for NumPy.
        plain: the function that this code defines.
        function: the function that the engine runs.
        live: (holder, name in the holder, name in the namespace) of data that the text depends on; the last is None if it
            depends on the type alone.
        live_keys: the coarse keys that these data had while compiling.
        guards: (holder, name, object) of functions that were inlined.
    """

    built: Built
    namespace: dict[str, Any]
    code: types.CodeType
    plain: types.FunctionType
    function: Callable
    live: tuple
    live_keys: tuple
    guards: tuple

    def rebound(self, cells: dict[keys.Same, types.CellType]) -> Specialisation:
        """Return a specialisation with the same text for a function with other closure cells, given as {old cell: new cell}."""
        namespace = dict(self.namespace)
        plain = loading.run(self.code, self.built.plain.name, namespace)
        live = tuple((cells.get(keys.Same(holder), holder), name, inside) for holder, name, inside in self.live)
        guards = tuple((in_other_cells(holder, cells), name, value) for holder, name, value in self.guards)
        made = Specialisation(self.built, namespace, self.code, plain, plain, live, self.live_keys, guards)
        made.refresh()
        return made

    def refresh(self) -> None:
        """Read the global data of the text into its namespace."""
        for holder, name, inside in self.live:
            if inside is not None:
                self.namespace[inside] = read(holder, name)

    def globals(self) -> dict[str, Any]:
        """Return the current data that the text reads from globals and closures, by name."""
        return {f"global {inside}": read(holder, name) for holder, name, inside in self.live if inside is not None}

    def is_current(self) -> bool:
        """Return whether inlined functions are unchanged and the globals and closure variables still have the same coarse keys."""
        return all(read(holder, name) is value for holder, name, value in self.guards) and all(
            keys.coarse_key(read(holder, name)) == key for (holder, name, _), key in zip(self.live, self.live_keys)
        )

    def holds(self, arguments: Arguments) -> bool:
        """Return whether the text holds for arguments of its coarse key: what it relies on may depend on their sizes."""
        at_call = self.built.at_call
        if not at_call.relied:
            return True
        own = Sizes()
        for name, t in self.built.request.types.items():
            own.of_type(t, with_dims(arguments.types[name], arguments.sizes))
        return at_call.holds(own.numbers)


def in_other_cells(holder: Any, cells: dict[keys.Same, types.CellType]) -> Any:
    """Return what a guard looks at, or the same in the closure cell of another function, where {old cell: new cell} has it."""
    if isinstance(holder, Part):
        return holder.rebound(cells.get(keys.Same(holder.holder), holder.holder))
    return cells.get(keys.Same(holder), holder)


def specialised(built: Built, engine: Engine) -> Specialisation:
    """Load the pipeline's output; where the engine cannot run it, use the engine's fallback.

    Raises:
        BackendError: the engine cannot run it and has no fallback.
    """
    program = built.plain
    code = loading.compiled(program.text, program.name, origins=program.origins)
    plain = loading.run(code, program.name, program.namespace)
    live_keys = tuple(keys.coarse_key(read(holder, name)) for holder, name, _ in built.live)
    made = Specialisation(built, program.namespace, code, plain, plain, built.live, live_keys, built.guards)
    made.refresh()
    try:
        if built.refusal is not None:
            raise built.refusal
        function = plain if built.program is None else engine.load(built.program, plain)
    except BackendError as error:
        function = engine.fall_back(error, plain)
    return replace(made, function=function)


def remember(table: dict, key: Any, value: Any, most: int) -> None:
    """Add an entry to a table, and remove the oldest entries so that it has no more than `most`."""
    while len(table) >= most:
        table.pop(next(iter(table)), None)
    table[key] = value


# ---- functions that are made anew with the same code, such as a lambda in a loop ----

SHARED: dict[Any, tuple[types.FunctionType, Specialisation]] = {}
LENGTHS: dict[Any, str] = {}  # for arguments with lists: "one" length was met so far, or "each" needs a text of its own


def shared(key: Any, function: types.FunctionType) -> Specialisation | None:
    """Return the specialisation of another function with the same code, rebound to the closure cells of this one.

    None if there is none, if it is invalid, or if its text was not yet compared with that function.
    """
    other, found = SHARED.get(key, (None, None))
    if found is None or found.built.unverified:
        return None
    cells = zip(map(keys.Same, other.__closure__ or ()), function.__closure__ or ())
    found = found.rebound(dict(cells))
    return found if found.is_current() else None
