"""Compilation with the modules of this folder, each of which describes its part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba import types
from numba.core.caching import NullCache

from sourcead.backends.numba.internals import casts_and_views, numpy_loops  # noqa: F401  (the first registers itself)
from sourcead.backends.numba.internals.calls_to_python import interpreted
from sourcead.backends.numba.internals.compiler import FoundType, GradientCompiler, TypeInferenceOnly
from sourcead.backends.numba.internals.parts_replaced import (
    inner_functions_linked, optimisation_for, short_shape_errors
)
from sourcead.backends.numba.public_toolchain import Dispatcher, Toolchain, is_refusal


class InternalsToolchain(Toolchain):
    """Compilation that uses Numba beyond its public interface."""

    name = "internals"

    def register(self) -> None:
        numpy_loops.register()

    def dispatcher(self, function: Callable, options: dict[str, Any]) -> Dispatcher:
        return numba.njit(**options, pipeline_class=GradientCompiler)(function)

    @contextlib.contextmanager
    def compiling(self, text: str) -> Iterator[None]:
        with short_shape_errors(), optimisation_for(text), inner_functions_linked():
            yield

    def result_type(self, function: Callable, options: dict[str, Any], args: tuple[types.Type, ...]) -> types.Type | None:
        dispatcher = numba.njit(**options, pipeline_class=TypeInferenceOnly)(function)
        try:
            dispatcher.compile(args)
        except FoundType as found:
            return found.type
        except Exception:  # whatever error Numba ends with: it cannot compile the function
            return None
        raise AssertionError("a compilation that ends at types returned")

    def interpreted(self, receiver: Callable, result: types.Type) -> Callable:
        return interpreted(receiver, result)

    def first_calls(self, make: Callable[[bool], Dispatcher], compile_with: Callable[[Callable[[], None]], None]) -> Callable:
        dispatcher = make(True)
        compile_for_args = dispatcher._compile_for_args  # what Numba calls for arguments of new types

        def compile_first(*args, **kwargs):
            compile_with(lambda: compile_key(tuple(map(numba.typeof, args))))
            return compile_for_args(*args, **kwargs)

        def compile_key(key: tuple[types.Type, ...]) -> None:
            try:
                dispatcher.compile(key)
            except Exception as error:
                if is_refusal(error) or isinstance(dispatcher._cache, NullCache):
                    raise
                dispatcher._cache = NullCache()  # not everything can be kept on disk, and a file there may be damaged
                dispatcher.compile(key)

        dispatcher._compile_for_args = compile_first
        return dispatcher
