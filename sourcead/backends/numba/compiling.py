"""Compilation with `numba.njit`, and its errors in the user's terms."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numba
from numba import types
from numba.core import ir
from numba.core.errors import NumbaError

from sourcead.backends import load as loading
from sourcead.backends.numba import indexing, overloads  # noqa: F401  (they register themselves)
from sourcead.backends.numba.calls import Outlined
from sourcead.backends.numba.outlined import prepared
from sourcead.emit import Emitted
from sourcead.errors import BackendError, SourceADError

OPTIONS = {"error_model": "numpy", "boundscheck": True}


def compiled(emitted: Emitted, name: str, place: str) -> Callable:
    """The function that a text defines, compiled at its first call for arguments of each kind.

    Args:
        emitted: the text.
        name: the name of the function in it.
        place: where the user's function stands, for errors.

    Raises:
        BackendError: at that call, if Numba cannot compile it.
    """
    namespace = {k: prepared(v, OPTIONS) if isinstance(v, Outlined) else v for k, v in emitted.namespace.items()}
    function = loading.load(emitted.text, name, namespace)
    dispatcher = numba.njit(**OPTIONS)(function)
    known: set[tuple] = set()

    def call(*args):
        key = tuple(map(numba.typeof, args))
        if key not in known:
            compile_for(dispatcher, key, emitted, function.__code__.co_filename, place)
            known.add(key)
        return dispatcher(*args)

    return call


def compile_for(dispatcher, key: tuple, emitted: Emitted, file: str, place: str) -> None:
    """Makes machine code for arguments of some types."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dispatcher.compile(key)
            check_casts(dispatcher.overloads[key])
    except Exception as error:  # NumbaError, but internal errors of Numba as well
        raise refusal(error, emitted, file, place) from error


def check_casts(compiled) -> None:
    """Refuses a write that would cut the fraction off: Numba's lists of integers take floats so, Python's hold both.

    Raises:
        NumbaError: there is such a write.
    """
    annotation = compiled.type_annotation
    for block in annotation.blocks.values():
        for write in block.body:
            if not isinstance(write, ir.SetItem | ir.StaticSetItem):
                continue
            into, value = annotation.typemap[write.target.name], annotation.typemap[write.value.name]
            if isinstance(into, types.List) and isinstance(into.dtype, types.Integer) and isinstance(value, types.Float | types.Complex):
                raise NumbaError("a float is written into a list of integers", loc=write.loc)


def refusal(error: Exception, emitted: Emitted, file: str, place: str) -> SourceADError:
    """What Numba says, in one sentence, at the line of the user's program."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, SourceADError):
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return cause
    at = [int(line) for line in re.findall(rf'File "{re.escape(file)}", line (\d+)', str(error))]
    origin = next((emitted.origins[line] for line in at if line in emitted.origins), None)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(("Failed in", "During", "- "))), type(error).__name__)
    where = "" if origin is not None else f" of the function at {place}"
    written = emitted.text.splitlines()[at[0] - 1].strip() if at else ""
    return BackendError(
        f"Numba cannot compile the gradient{where}: {reason[:300]}{f', in `{written}`' if written else ''}", at=origin,
        instead='leave backend="numba" away, or take backend="auto"',
    )  # fmt: skip
