"""What the engine needs of Numba, through the public interface alone: `njit`, `numba.extending` and `objmode`.

`internals` has a subclass that compiles the same text in less than half the time, with interfaces that Numba may change in any version.
"""

import contextlib
import operator
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numba
from numba import types
from numba.extending import overload
from numba.typed import List

from sourcead.backends import load as loading
from sourcead.backends.numba.functions import ARRAY_REDUCTIONS, ARRAY_UFUNCS
from sourcead.errors import BackendError

Dispatcher = Any  # what `numba.njit` returns
MODULE = "sourcead.backends.numba"  # the module of what is compiled: machine code from the disk names it


def load(text: str, name: str, namespace: dict[str, Any]) -> Callable:
    """Return the function that a text for Numba defines."""
    return loading.load(text, name, {**namespace, "__name__": MODULE})


class Toolchain:
    """Compilation with Numba's public interface.

    Attributes:
        name: distinguishes the machine code of different toolchains.
    """

    name = "public"

    def register(self) -> None:
        """Register overloads for the stand-ins of ufuncs and reductions of whole arrays."""
        for function, stand_in in {**ARRAY_UFUNCS, **ARRAY_REDUCTIONS}.items():
            overload(stand_in, strict=False)(self.choice(function))

    def choice(self, function: Callable) -> Callable:
        """Return the overload of a ufunc or reduction, which chooses its implementation for the type of an argument."""
        return lambda x: lambda x: function(x)

    def dispatcher(self, function: Callable, options: dict[str, Any]) -> Dispatcher:
        """Return a dispatcher, which compiles a function at its first call for each combination of argument types."""
        return numba.njit(**options)(function)

    @contextlib.contextmanager
    def compiling(self, text: str) -> Iterator[None]:
        """Treat what is compiled in the `with` block as a generated text.

        Args:
            text: the text.
        """
        before = _generated.set(True)
        try:
            yield
        finally:
            _generated.reset(before)

    def result_type(self, function: Callable, options: dict[str, Any], args: tuple[types.Type, ...]) -> types.Type | None:
        """Return the type of a function's result, or None if Numba cannot compile it."""
        made = numba.njit(**options)(function)
        try:
            made.compile(args)
        except Exception:  # whatever error Numba ends with: it cannot compile the function
            return None
        return made.nopython_signatures[-1].return_type

    def interpreted(self, receiver: Callable, result: types.Type) -> Callable:
        """Return a function for compiled code in which the interpreter calls `receiver(*sent)`."""
        text = "def run(sent):\n    with objmode(y=made):\n        y = receiver(*sent)\n    return y\n"
        namespace = {"receiver": receiver, "made": result, "objmode": numba.objmode}
        if result is types.none:
            text = "def run(sent):\n    with objmode():\n        receiver(*sent)\n"
        elif isinstance(result, types.List):  # which `objmode` does not return
            namespace |= {"receiver": lambda *sent: typed_list(receiver(*sent), result.dtype), "made": types.ListType(result.dtype)}
            text = text.replace("return y", "return [item for item in y]")
        exec(text, namespace)
        return numba.njit(namespace["run"])

    def keep(self, dispatcher: Dispatcher, key: str) -> None:
        """Keep the machine code of a dispatcher on disk for later processes.

        Numba's own cache would run what somebody else wrote or what is damaged, so nothing is kept here.

        Args:
            dispatcher: the dispatcher, before its first call.
            key: a string of all that the machine code depends on, except for the types of the arguments.
        """

    def first_calls(self, dispatcher: Dispatcher, compile_with: Callable[[Callable[[], None]], None]) -> Callable:
        """Return a function that compiles for new argument types before it runs.

        Args:
            dispatcher: the dispatcher.
            compile_with: calls its argument, which compiles, and turns Numba's errors into refusals.
        """
        compiled = set()

        def call(*args):
            key = tuple(map(numba.typeof, args))
            if key not in compiled:
                compile_with(lambda: dispatcher.compile(key))
                compiled.add(key)
            return dispatcher(*args)

        return call


def typed_list(items: list, item: types.Type) -> List:
    """Return the items as a Numba typed list."""
    made = List.empty_list(item)
    for v in items:
        made.append(v)
    return made


_generated = ContextVar("generated", default=False)  # whether a generated text is being compiled


@overload(operator.setitem, target="cpu")
def _setitem_of_a_list(x, key, value):
    """Refuse a write that would lose digits: Numba truncates a float in a list of integers, and Python's lists hold both."""
    if _generated.get() and isinstance(x, types.List) and width(value) > width(x.dtype):
        raise BackendError(f"a value of type {value} is written into a list of {x.dtype}")
    return None


def width(t: types.Type) -> int:
    """Return the rank of a kind of number, which is greater than that of any kind it includes; -1 for other types."""
    kinds = types.Boolean, types.Integer, types.Float, types.Complex
    return next((k for k, kind in enumerate(kinds) if isinstance(t, kind)), -1)
