"""What a derivative shows of the text that was generated for it: the source, its notes, a module."""

import inspect
import os
import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sourcead.backends.engines import NUMPY
from sourcead.backends.save import standalone
from sourcead.compile.assertions import checked
from sourcead.compile.saving import for_more_sizes
from sourcead.compile.specialisation import Specialisation, specialised
from sourcead.compile.viewing import Page, in_cell, page_of
from sourcead.errors import ArgumentError
from sourcead.files.whole import write
from sourcead.ir.nodes import Function
from sourcead.language.tracebacks import folded


def documentation(made: Any, what: str, function: Callable, more: str = "") -> str:
    """Return the docstring of a derivative: what it computes, what it takes and has, and what the function says of itself.

    Args:
        made: the derivative.
        what: what it computes.
        function: the user's function.
        more: what it takes beside the arguments of the function.
    """
    name = getattr(function, "__name__", "f")
    asked = f"It takes the arguments of `{name}`{more}. `source` is the text that computes it, for the arguments of the last call;\n"
    asked += "`lower(*args)` gives it for others, `save(path)` writes it as a module, and " if isinstance(made, Generated) else ""
    asked += f"`primal` is `{name}` itself."
    own = inspect.getdoc(function) if isinstance(function, types.FunctionType) else None
    said = [f"What `{name}` says of itself:", own] if own else []
    return "\n\n".join([f"The {what} of `{name}` with respect to {', '.join(made.wrt)}.", asked, *said])


@dataclass(frozen=True)
class Lowered:
    """The result of compiling a function.

    Attributes:
        text: the generated source.
        ir: the intermediate representation that the source was generated from.
        notes: for each loop, what it saves for the reverse sweep, with shapes and bytes, and what it recomputes.
        compiled_text: the source that Numba compiles, with backend="numba" or "auto"; None with NumPy.
    """

    text: str
    ir: Function
    notes: tuple[str, ...]
    compiled_text: str | None = None

    def __str__(self):
        return self.text

    __repr__ = __str__


class Generated(ABC):
    """A callable whose code was generated; in forward mode `_directions` is {tangent parameter: its primal parameter}."""

    _directions: dict[str, str]

    @abstractmethod
    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return {parameter: argument} of a call, with bound arguments and defaults."""

    @abstractmethod
    def _latest(self, *args: Any, **kwargs: Any) -> Specialisation:
        """Return what was generated for these arguments; if there are none, for those of the last call."""

    def __getattr__(self, name: str) -> Any:
        if name in ("text", "code"):  # as those of `lower(...)`
            raise AttributeError(f"a derivative has no `{name}`: its text is `source`, and that for other arguments `lower(...).text`")
        return object.__getattribute__(self, name)  # raises, also what a property raised

    @property
    @folded
    def source(self) -> str:
        """The generated text for the types of the last call; before any call, for the types that annotations and defaults tell."""
        return self._latest().built.plain.text

    @folded
    def lower(self, *args, **kwargs) -> Lowered:
        """Return the text that a call with these arguments compiles to, without running it.

        Args:
            args, kwargs: arguments as for a call; if there are none, the text of the last call is returned.

        Returns:
            A `Lowered` with the text, the intermediate representation and notes on what each loop saves, with shapes and bytes
            for these arguments.
        """
        compiled = self._latest(*args, **kwargs)
        given = self._bound(args, kwargs) if args or kwargs else {}
        built = compiled.built
        compiled_text = None if built.program is None else built.program.text
        return self._with_choice(Lowered(built.plain.text, built.plain.ir, built.notes.shown(given), compiled_text), args, kwargs)

    def _with_choice(self, lowered: Lowered, args: tuple, kwargs: dict[str, Any]) -> Lowered:
        """Return what `lower` found, with what is known of a choice between engines."""
        return lowered

    def _repr_html_(self) -> str | None:
        return in_cell(self)

    @folded
    def view(self, *args, **kwargs) -> Page:
        """Return a page that shows the function beside the generated text, and what each statement became.

        Args:
            args, kwargs: arguments as for a call, which is made to measure the memory of the run under several checkpoint policies; if
                there are none, the text of the last call is shown.

        Returns:
            A page that a notebook shows in its cell; `page.save(path)` writes it as a file, and `page.html` is its text.
        """
        return page_of(self, args, kwargs)

    @folded
    def save(self, path, *args, **kwargs) -> None:
        """Write the generated function as a module that runs without sourcead.

        The module holds for arguments of other sizes if it can; on entry it asserts the types, shapes and lengths that it relies on.
        Global data that the function reads becomes constants of the module, with the values that they have now.

        Args:
            path: the file to write, a string or path.
            args, kwargs: arguments whose types the function is generated for; if there are none, those of the last call.

        Raises:
            UnsupportedValueError: the function reads a global object that cannot be written as a constant.
            ArgumentError: the path is no path.
            FileError: the file cannot be written; a file that was there is as it was.
        """
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"`save` takes the path of a file, and not {path!r}", instead='save("gradient.py", ...)')
        built, of_arguments = for_more_sizes(self._latest(*args, **kwargs).built)
        compiled = specialised(built, NUMPY)
        text, names = checked(built.plain.text, built, of_arguments, self._directions, compiled.namespace)
        write(path, standalone(text, built.plain.name, names).encode(), private=False)
