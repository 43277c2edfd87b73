"""Calls of the interpreter without `with objmode`: they need no compilation, and the code is kept on disk with its callee pickled."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def interpreted(receiver: Callable, result: types.Type) -> Callable:
    """Return a function for compiled code that calls a receiver with the items of a tuple."""

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
