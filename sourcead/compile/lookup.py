"""The look-up of the generated function for a call, itself a generated function."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.backends import load as loading
from sourcead.backends.load import argument_list, parameter_list
from sourcead.compile.keys import exact_key


def dispatcher(signature: inspect.Signature, name: str, table: dict, miss: Callable) -> tuple[Callable, Callable]:
    """Return a function with this signature that looks up the function to call, and a function that returns the one called last.

    For `def loss(w, rate=0.1)` it is generated as:

        def loss(w, rate=defaults['rate']):
            key = (<dtype and shape of w>, <dtype and shape of rate>)
            call = table.get(key)
            if call is None:
                call = miss(key, (w, rate))
            last = call
            return call(w, rate)
    """
    parameters = list(signature.parameters.values())
    keys = "".join(
        f"({p.name}.dtype, {p.name}.shape) if (sad_type := type({p.name})) is sad_array "
        f"else sad_type if sad_type is sad_float else sad_key_of({p.name}), "
        for p in parameters
    )
    named = name if name.isidentifier() else "function"
    text = f"""
def sad_make(sad_table, sad_miss, sad_array, sad_float, sad_key_of, sad_defaults):
    sad_last = None
    def {named}({parameter_list(signature, "sad_defaults[{!r}]")}):
        nonlocal sad_last
        sad_key = ({keys})
        sad_call = sad_table.get(sad_key)
        if sad_call is None:
            sad_call = sad_miss(sad_key, ({"".join(p.name + ", " for p in parameters)}))
        sad_last = sad_call
        return sad_call({argument_list(signature)})
    return {named}, lambda: sad_last
"""
    namespace: dict[str, Any] = {}
    exec(_dispatcher_code(text, f"<sourcead call of {name}>"), namespace)
    defaults = {p.name: p.default for p in parameters}
    call, last = namespace["sad_make"](table, miss, np.ndarray, float, exact_key, defaults)
    call.__qualname__ = name
    return call, last


@functools.lru_cache(maxsize=1024)
def _dispatcher_code(text: str, file: str) -> types.CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def only_passes_on(function: types.FunctionType) -> bool:
    """Return whether a function is a decorator's wrapper that takes `*args` or `**kwargs` and has `__wrapped__`."""
    takes_any = function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return bool(takes_any) and hasattr(function, "__wrapped__")


def calling(function: Callable, signature: inspect.Signature, name: str | None = None) -> types.FunctionType:
    """Return a generated function with this signature, whose source is available and which only calls `function`."""
    name = name or (function.__name__ if function.__name__.isidentifier() else "function")
    inner = f"{name}_"
    while inner in signature.parameters:
        inner += "_"
    text = f"def {name}({parameter_list(signature, 'None')}):\n    return {inner}({argument_list(signature)})\n"
    return loading.load(text, name, {inner: function, "__name__": function.__module__})
