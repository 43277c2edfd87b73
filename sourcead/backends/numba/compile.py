"""Compilation with `numba.njit`, with errors reported at lines of the user's program, and machine code kept on disk."""

import functools
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np

from sourcead import runtime
from sourcead.backends import load as loading
from sourcead.backends.numba.codegen.outlining import Outlined, with_outlined
from sourcead.backends.numba.codegen.recursion import ParallelLoop, Recursive, reachable
from sourcead.backends.numba.internals import TOOLCHAIN
from sourcead.backends.numba.overloads import checks, runtime as overloads  # noqa: F401  (they register themselves)
from sourcead.backends.numba.overloads.outlined import prepared
from sourcead.backends.numba.overloads.threads import ONLY_LOOPS, one_at_a_time, threads
from sourcead.backends.numba.public_toolchain import MODULE
from sourcead.backends.options import WITHOUT_NUMBA, Numba
from sourcead.backends.python_overhead import as_compilation
from sourcead.emit import Emitted
from sourcead.errors import BackendError, SourceADError
from sourcead.language.progress import waiting


def compiled(emitted: Emitted, name: str, place: str, backend: Numba) -> Callable:
    """Return the function that a text defines, which is compiled at its first call for each combination of argument types.

    With `parallel`, Numba's code raises an error for arrays that broadcast; then the function is compiled for one thread.

    Args:
        emitted: the text.
        name: the name of the function in it.
        place: the file and line of the user's function, for errors.
        backend: the options.

    Raises:
        BackendError: at a call, if Numba cannot compile the text.
    """

    def loaded(backend: Numba) -> Callable:
        dispatcher = dispatcher_of(emitted, name, backend, code_key(emitted, name, backend))
        file = dispatcher.py_func.__code__.co_filename
        return TOOLCHAIN.first_calls(dispatcher, lambda compile_types: compile_or_refuse(compile_types, emitted, file, place))

    def on_one_thread(error: AssertionError) -> Callable:
        if not str(error).startswith("Sizes of "):
            raise error
        return loaded(replace(backend, parallel=False))

    return until(one_at_a_time(loaded(backend)), AssertionError, on_one_thread) if backend.parallel else loaded(backend)


def until(call: Callable, errors: type[Exception], other: Callable[[Exception], Callable]) -> Callable:
    """Return a function that runs `call` until it raises one of `errors`, and from then on the function that `other` makes of the error.

    `call` makes assumptions that types do not express, or cannot be compiled for all arguments.
    """
    chosen, decided = call, False

    def either(*args, **kwargs):
        nonlocal chosen, decided
        if not decided:
            try:
                return chosen(*args, **kwargs)
            except errors as error:
                chosen, decided = other(error), True
        return chosen(*args, **kwargs)

    return either


def dispatcher_of(emitted: Emitted, name: str, backend: Numba, key: str | None = None):
    """Return Numba's dispatcher of the function that a text defines; its machine code is kept on disk under the key, if one is given."""
    options = backend.njit()
    namespace = with_dispatchers(emitted.namespace, options)
    code = loading.compiled(emitted.text, name, key and key[:12], lambda: emitted.origins)
    function = loading.run(code, name, {**namespace, "__name__": MODULE})
    function.__code__ = with_names_apart(function.__code__)
    dispatcher = TOOLCHAIN.dispatcher(function, options)
    if key is not None:
        TOOLCHAIN.keep(dispatcher, key)
    return dispatcher


def with_names_apart(code: CodeType) -> CodeType:
    """Return the code after renaming local variables that end in `_` and a number, since Numba names versions of `x` `x_1`."""
    count = code.co_argcount
    local = (name + "_" if re.search(r"_\d+$", name) else name for name in code.co_varnames[count:])
    return code.replace(co_varnames=(*code.co_varnames[:count], *local))


def with_dispatchers(namespace: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of a text with functions that Numba compiles in place of outlined and recursive functions."""
    found = {f: TOOLCHAIN.dispatcher(loading.load(f.text, f.name, {"__name__": MODULE}), options) for f in reachable(namespace)}

    def compiled_form(value: Any) -> Any:
        match value:
            case Outlined():
                return prepared(value, options)
            case Recursive():
                return found[value]
            case ParallelLoop():
                return dispatcher_of_loop(value, options)
        return value

    def known(names: dict[str, Any]) -> dict[str, Any]:
        return {k: compiled_form(v) for k, v in names.items()}

    for f, dispatcher in found.items():
        dispatcher.py_func.__globals__.update(known(f.namespace))
    return known(namespace)


def dispatcher_of_loop(loop: ParallelLoop, options: dict[str, Any]) -> Callable:
    """Return the function that Numba compiles for a loop that may run in parallel; it runs on one thread if the options say so.

    The function with `prange` is apart from the loop itself, which is compiled as without threads.
    """
    serial = {k: v for k, v in options.items() if k != "parallel"}
    part = loading.load(loop.text, loop.name, {**loop.namespace, "__name__": MODULE})
    part.__code__ = with_names_apart(part.__code__)
    made = TOOLCHAIN.dispatcher(part, serial)
    if "parallel" not in options:
        return made
    names = {"np": np, "prange": numba.prange, "threads": threads, loop.name: made, "__name__": MODULE}
    divided, tried = loop.names
    space = loading.load(loop.driver, divided, names).__globals__
    for name, own in ((tried, serial), (divided, {**serial, "parallel": ONLY_LOOPS})):
        space[name] = numba.njit(**own)(space[name])
    return space[divided]


@as_compilation
def compile_or_refuse(compile_types: Callable[[], None], emitted: Emitted, file: str, place: str) -> None:
    """Compile a text for some argument types.

    Args:
        compile_types: runs the compilation.
        emitted: the text.
        file: the file name of its code.
        place: the file and line of the user's function.

    Raises:
        BackendError: Numba cannot compile it.
    """
    try:
        with waiting(f"Numba compiles a derivative of {place}"), warnings.catch_warnings(), TOOLCHAIN.compiling(emitted.text):
            warnings.simplefilter("ignore")
            compile_types()
    except Exception as error:  # NumbaError, but internal errors of Numba as well
        raise refusal(error, emitted, file, place) from error


def refusal(error: Exception, emitted: Emitted, file: str, place: str) -> SourceADError:
    """Return Numba's error in one sentence, at the line of the user's program."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, SourceADError):
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return cause
    said = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    at = [int(line) for line in re.findall(rf'File "[^"]*{re.escape(os.path.basename(file))}", line (\d+)', said)]
    origin = next((emitted.origins[line] for line in at if line in emitted.origins), None)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(("Failed in", "During", "- "))), type(error).__name__)
    if reason.endswith("signature:"):  # the types stand in a line of their own
        reason += next((f" {line.removeprefix('>>> ')}" for line in lines if line.startswith(">>> ")), "")
    reason = re.sub(r"Function\(<(?:built-in )?function (\w+)(?: at 0x[0-9a-f]+)?>\)", r"`\1`", reason)
    where = "" if origin is not None else f" of the function at {place}"
    written = emitted.text.splitlines()[at[0] - 1].strip() if at else ""
    return BackendError(
        f"Numba cannot compile the gradient{where}: {reason[:300]}{f', in `{written}`' if written else ''}", at=origin,
        instead=WITHOUT_NUMBA,
    )  # fmt: skip


# ---- machine code on disk ----


def code_key(emitted: Emitted, name: str, backend: Numba) -> str | None:
    """Return a hash of all that machine code depends on, except for the types of a call; None if it is not kept on disk.

    That is the text with its outlined functions, the options, the versions, and the sources of this package that are compiled into it.
    """
    if not (backend.cache and is_text(emitted.namespace)):
        return None
    return hashlib.sha256(f"{name}\0{with_outlined(emitted)}\0{backend!r} {versions()}".encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def versions() -> str:
    """Return a string of all that machine code depends on besides the text and the options."""
    here = Path(__file__).parent
    files = sorted([*here.rglob("*.py"), *Path(runtime.__file__).parent.glob("*.py")])
    stamps = [(f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files]
    return repr((sys.version, numba.__version__, np.__version__, TOOLCHAIN.name, stamps))


def is_text(namespace: dict[str, Any]) -> bool:
    """Return whether machine code depends on the text alone, that is, the text reads only objects of NumPy, Python and sourcead."""
    namespaces = [namespace, *(f.namespace for f in reachable(namespace))]
    values = [v for names in namespaces for v in names.values() if not isinstance(v, Recursive)]
    return all(is_text(v.namespace) if isinstance(v, Outlined | ParallelLoop) else is_known(v) for v in values)


def is_known(value: Any) -> bool:
    """Return whether an object is identified by its name in NumPy, Python or sourcead."""
    if isinstance(value, np.ndarray | list | dict | int | float | complex | str):
        return False
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] in ("numpy", "math", "builtins", "sourcead", "_operator", "operator")
