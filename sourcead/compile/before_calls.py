"""Wrappers that run before a generated function: they rearrange its arguments, convert them, or check them for aliases."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.backends import load as loading
from sourcead.compile import structures
from sourcead.errors import AliasError

_TooHardError = np.exceptions.TooHardError if hasattr(np, "exceptions") else np.TooHardError


def arguments_by_name(signature: inspect.Signature, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Return {parameter: argument} for a call by the look-up, which passes keyword-only parameters by name and the others by position."""
    values, left = {}, dict(kwargs)
    for i, p in enumerate(signature.parameters.values()):
        if p.kind is p.VAR_POSITIONAL:
            values[p.name] = args[i:]
        elif p.kind is p.VAR_KEYWORD:
            values[p.name] = left
        else:
            values[p.name] = left.pop(p.name) if p.kind is p.KEYWORD_ONLY else args[i]
    return values


def spread(signature: inspect.Signature, values: dict[str, Any]) -> tuple[list, dict]:
    """Return the positional and the keyword arguments of {parameter: argument}, the reverse of `arguments_by_name`."""
    args, kwargs = [], {}
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            args.extend(values[p.name])
        elif p.kind is p.VAR_KEYWORD:
            kwargs.update(values[p.name])
        elif p.kind is p.KEYWORD_ONLY:
            kwargs[p.name] = values[p.name]
        else:
            args.append(values[p.name])
    return args, kwargs


def adapted(function: Callable, plain: types.FunctionType, signature: inspect.Signature) -> Callable:
    """Return a function that takes its parameters as the user's function does and calls the generated one.

    Args:
        function: the generated function, as Python or as compiled by the engine.
        plain: the generated function as Python, whose signature is read; arguments for which it has no parameter are dropped.
        signature: the signature of the user's function.
    """

    def kinds(parameters):
        simple = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [(p.name, None if p.kind in simple else p.kind) for p in parameters.values()]

    taken = inspect.signature(plain).parameters
    if kinds(taken) == kinds(signature.parameters):
        return function

    def by_name(*args, **kwargs):
        values = arguments_by_name(signature, args, kwargs)
        return function(**{name: values[name] for name in taken})

    return by_name


def in_own_globals(
    code: types.CodeType, name: str, namespace: dict[str, Any], signature: inspect.Signature
) -> Callable:
    """Return a function that executes the text anew in each call, so that a pullback keeps the global data of its own call."""

    def called(*args, **kwargs):
        function = loading.run(code, name, dict(namespace))
        return adapted(function, function, signature)(*args, **kwargs)

    return called


def converting(call: Callable, conversions: dict[str, Callable], signature: inspect.Signature) -> Callable:
    """Return a function that converts the arguments named in `conversions` and then calls `call`."""

    def converted(*args, **kwargs):
        values = arguments_by_name(signature, args, kwargs)
        for name, convert in conversions.items():
            values[name] = convert(values[name])
        args, kwargs = spread(signature, values)
        return call(*args, **kwargs)

    return converted


FLAT = frozenset({np.ndarray, np.float64, np.float32, float, int, bool, str, type(None)})  # what holds nothing else


def checking_aliases(
    call: Callable, written: frozenset[str], signature: inspect.Signature, globals_: Callable[[], dict[str, Any]],
    tangents: frozenset[str] = frozenset(),
) -> Callable:  # fmt: skip
    """Return a function that calls `call` unless an array, list, dict or object that the user's function writes is in its data twice.

    Its data are the arguments, except those named in `tangents`, and the globals that `globals_()` returns. Else AliasError is raised.
    """
    names = tuple(signature.parameters)
    takes_more = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in signature.parameters.values())

    def checked(*args, **kwargs):
        given = arguments_by_name(signature, args, kwargs) if kwargs or takes_more else dict(zip(names, args))
        values = {**globals_(), **{name: x for name, x in given.items() if name not in tangents}}
        nested = any(type(x) not in FLAT for x in values.values())
        if nested:
            arrays = [
                (name, *leaf) for name, x in values.items() for leaf in structures.leaves(x, name) if isinstance(leaf[1], np.ndarray)
            ]
        else:
            arrays = [(name, name, x) for name, x in values.items() if type(x) is np.ndarray]
        for (name, where, array), (other, place, another) in itertools.combinations(arrays, 2):
            if (name in written or other in written) and share(array, another):
                changed = where if name in written else place
                raise AliasError(
                    f"`{where}` and `{place}` share memory, and the function writes to `{changed}`",
                    instead=f"pass `{place}.copy()`",
                )
        holders: dict[int, tuple[str, str]] = {}
        for name, x in values.items() if nested else ():
            for where, holder in structures.holders(x, name):
                other, place = holders.setdefault(id(holder), (name, where))
                if place != where and (name in written or other in written):
                    raise AliasError(
                        f"`{place}` and `{where}` are one object, and the function writes to it",
                        instead=f"pass a copy: `copy.deepcopy({where})`",
                    )
        return call(*args, **kwargs)

    return checked


def share(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays share an element, True if NumPy gives up deciding."""
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=10_000)
    except _TooHardError:
        return True
