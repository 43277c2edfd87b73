"""Compilation with the modules of this folder, each of which describes its part."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sourcead.backends.numba.internals import casts_and_views, numpy_loops  # noqa: F401  (the first registers itself)
from sourcead.backends.numba.internals.compiler import FoundType, GradientCompiler, TypeInferenceOnly
from sourcead.backends.numba.internals.kept_code import KeptCode
from sourcead.backends.numba.internals.parts_replaced import (
    inner_functions_linked, optimisation_for, short_shape_errors
)
from sourcead.backends.numba.public_toolchain import Dispatcher, Toolchain


class InternalsToolchain(Toolchain):
    """Compilation that uses Numba beyond its public interface."""

    name = "internals"

    def choice(self, function: Callable) -> Callable:
        return numpy_loops.choice(function)

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
        """Return the function for compiled code, without `with objmode`: it needs no compilation, and is kept on disk with its callee."""

        @intrinsic
        def run(typing, sent):
            def generate(context, builder, signature, args):
                api = context.get_python_api(builder)
                environment = context.get_env_manager(builder)
                held = api.gil_ensure()
                objects = []
                for t, value in zip(signature.args[0], cgutils.unpack_tuple(builder, args[0])):
                    context.nrt.incref(builder, t, value)  # the conversion to an object consumes a reference
                    objects.append(api.from_native_value(t, value, environment))
                made = api.call_function_objargs(_callee(context, builder, api, receiver), objects)
                for x in objects:
                    api.decref(x)
                failed = cgutils.alloca_once_value(builder, cgutils.is_null(builder, made))
                value = cgutils.alloca_once(builder, context.get_value_type(result))
                with builder.if_then(builder.not_(builder.load(failed)), likely=True):
                    native = api.to_native_value(result, made)
                    builder.store(native.value, value)
                    builder.store(native.is_error, failed)
                    if native.cleanup is not None:
                        native.cleanup()
                    api.decref(made)
                api.gil_release(held)
                with builder.if_then(builder.load(failed), likely=False):
                    context.call_conv.return_exc(builder)
                return builder.load(value)

            return result(sent), generate

        return run

    def keep(self, dispatcher: Dispatcher, key: str) -> None:
        dispatcher._cache = KeptCode(key)

    def first_calls(self, dispatcher: Dispatcher, compile_with: Callable[[Callable[[], None]], None]) -> Callable:
        compile_for_args = dispatcher._compile_for_args  # what Numba calls for arguments of new types

        def compile_first(*args, **kwargs):
            compile_with(lambda: dispatcher.compile(tuple(map(numba.typeof, args))))
            return compile_for_args(*args, **kwargs)

        dispatcher._compile_for_args = compile_first
        return dispatcher


def _callee(context, builder, api, receiver: Callable):
    """Return the receiver as a Python object, which is unpickled at the first call and kept from then on."""
    try:
        pickled = api.serialize_object(receiver)
    except Exception:  # it refers to something that cannot be pickled: code with its address is not kept on disk
        _addressed.append(receiver)
        return context.add_dynamic_addr(builder, id(receiver), info="called by the interpreter")
    place = ir.GlobalVariable(builder.module, api.pyobj, builder.module.get_unique_name("receiver"))
    place.initializer = place.type.pointee(None)
    place.linkage = "internal"
    with builder.if_then(cgutils.is_null(builder, builder.load(place)), likely=False):
        builder.store(api.unserialize(pickled), place)
    return builder.load(place)


_addressed: list[Callable] = []  # receivers that must live as long as the process
