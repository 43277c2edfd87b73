"""From `--args` to the arguments of a call.

    --args "np.ones(3), 2.0, n=5"       Python, with `np` and the names of the function's module
    --args "float32[100, 784], n=5"     arrays of a dtype and shape, filled with random numbers; `float64` alone is one number
    --args data.npz                     the arrays of a file: by the names of parameters, or in order if they have no such names
"""

import ast
import difflib
import inspect
import zipfile
from typing import Any

import numpy as np

from sourcead.cli.targets import CommandError

SEED = 0
KINDS = ("float16", "float32", "float64", "longdouble", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "bool")


class Typed:
    """A dtype that is given a shape in brackets, `float32[100, 784]`, and then stands for an array of random numbers."""

    def __init__(self, name: str, random: np.random.Generator):
        self.dtype, self._random = np.dtype(name), random

    def __getitem__(self, shape: int | tuple[int, ...]) -> np.ndarray:
        return self.drawn(shape if isinstance(shape, tuple) else (shape,))

    def drawn(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of a shape: standard normal numbers, or 0 and 1 where the dtype has no fractions."""
        if self.dtype.kind in "iub":
            return self._random.integers(0, 2, size=shape).astype(self.dtype)
        values = self._random.normal(size=shape)
        if self.dtype.kind == "c":
            values = values + 1j * self._random.normal(size=shape)
        return np.asarray(values, dtype=self.dtype)

    @property
    def number(self) -> Any:
        """One number of the dtype."""
        return self.drawn(())[()]


def arguments_of(text: str | None, signature: inspect.Signature, names: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """Return the positional and the keyword arguments that `--args` gives; None if it is not given.

    Args:
        text: what stands behind `--args`.
        signature: that of the function.
        names: the globals of the function's module.

    Raises:
        CommandError: the text or file cannot be read, or does not fit the signature.
    """
    if text is None:
        return None
    args, kwargs = _of_file(text, signature) if text.endswith(".npz") else _evaluated(text, names)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise CommandError(f"--args {text!r} does not fit the parameters {signature}: {error}") from None
    return args, kwargs


def _evaluated(text: str, names: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Return the arguments that a text of Python gives, as between the parentheses of a call."""
    try:
        call = ast.parse(f"given({text}\n)", mode="eval").body
    except SyntaxError as error:
        raise CommandError(f"--args {text!r} is not what stands between the parentheses of a call: {error.msg}") from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise CommandError(f"--args {text!r} is more than what stands between the parentheses of a call")
    random = np.random.default_rng(SEED)
    typed = {name: Typed(name, random) for name in KINDS}
    builtin = {kind: Typed(name, random) for kind, name in ((float, "float64"), (int, "int64"), (complex, "complex128"), (bool, "bool"))}
    def given(*args: Any, **kwargs: Any) -> tuple[tuple, dict[str, Any]]:
        return args, kwargs

    scope = {**typed, **names, "np": np, "given": given}
    try:
        args, kwargs = eval(compile(ast.fix_missing_locations(ast.Expression(call)), "<--args>", "eval"), scope)
    except Exception as error:
        near = difflib.get_close_matches(getattr(error, "name", None) or "", scope, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise CommandError(f"--args {text!r} cannot be evaluated: {type(error).__name__}: {error}{meant}") from error

    def value(given: Any) -> Any:
        if isinstance(given, type) and given in builtin:
            return given(builtin[given].number)
        return given.number if isinstance(given, Typed) else given

    return tuple([value(a) for a in args]), {name: value(a) for name, a in kwargs.items()}


def _of_file(path: str, signature: inspect.Signature) -> tuple[tuple, dict[str, Any]]:
    """Return the arrays of a file that `np.savez` wrote; arrays without axes as numbers. Nothing in the file is run."""
    try:
        if not zipfile.is_zipfile(path):
            with open(path, "rb"):  # whether it is there at all
                raise CommandError(f"--args {path}: it cannot be read as arrays of np.savez: it is something else, cut off or damaged")
        with np.load(path, allow_pickle=False) as file:
            found = {name: value if (value := file[name]).ndim else value[()] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise CommandError(f"--args {path}: it cannot be read as arrays of np.savez: {error}") from None
    if set(found) <= set(signature.parameters):
        return (), found
    if all(name.startswith("arr_") for name in found):
        return tuple(found.values()), {}
    unknown = ", ".join(sorted(set(found) - set(signature.parameters)))
    raise CommandError(f"--args {path}: the function has no parameter {unknown}; its parameters are {', '.join(signature.parameters)}")
