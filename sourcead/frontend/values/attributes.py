"""Lower `value.name` for arrays and numbers, and for modules, classes and other objects of the program."""

from __future__ import annotations

import enum
import types

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import Cell, FunctionVal, Lowering, MethodVal, TupleVal, Value
from sourcead.frontend.values import memory_layouts, objects, records
from sourcead.ir.nodes import Const, Slice
from sourcead.ir.types import Scalar, Str, Unknown, is_array, rank

core.attribute.register("list", "dict", FunctionVal)(lambda lo, value, name, node: MethodVal(value, name))
core.attribute.register(Slice)(lambda lo, value, name, node: core.bound_of_slice(value, name) or MethodVal(value, name))


@core.attribute.register(TupleVal)
def _attribute_of_tuple(lo: Lowering, value: TupleVal, name: str, node) -> Value:
    if value.cls is not None:
        return objects.attribute(lo, value, name, node)
    return records.named_result(lo, value, name, node) or MethodVal(value, name)


@core.attribute.register(Const)
def _attribute_of_constant(lo: Lowering, value: Const, name: str, node) -> Value:
    if value.live or isinstance(value.value, (int, float, complex, str, tuple, np.dtype)):
        return attribute_of_data(lo, value, name, node)
    return attribute_of_object(lo, value, name, node)


@core.attribute.register(object)
def attribute_of_data(lo: Lowering, value: Value, name: str, node) -> Value:
    """Lower an attribute of an array, a number or a string."""
    if (found := records.named_result(lo, value, name, node)) is not None:
        return found
    atom = lo.read(value)
    t = atom_type(atom)
    if isinstance(t, Str):
        return MethodVal(value, name)
    if name == "ndim" and rank(t) is not None:
        return Const(rank(t))
    if name in ("shape", "size") and isinstance(t, Scalar):
        return TupleVal(()) if name == "shape" else Const(1)
    if name in ("shape", "size", "ndim") and isinstance(t, Unknown) and lo.static_only:
        return lo.wrap(lo.build.call(getattr(np, name), atom))
    if name in ("shape", "size", "ndim", "dtype", "itemsize", "nbytes"):
        var = lo.build.attr(atom, name)
        if name == "dtype" and getattr(t, "dtype", None) is not None and t.dtype != np.dtype(object):
            lo.build.known[var] = t.dtype
        return lo.wrap(var)
    if name == "T":
        return core.call_library(lo, np.transpose, [value], {}, node) if not isinstance(t, Scalar) else value
    if name == "mT" and is_array(t):
        return core.call_library(lo, np.matrix_transpose, [value], {}, node)
    if name in ("real", "imag"):
        return core.call_library(lo, getattr(np, name), [value], {}, node)
    if name == "flat" and isinstance(value, Cell) and is_array(t):
        return memory_layouts.flat(lo, value)
    if name in ("flat", "data", "base", "ctypes", "strides", "flags"):
        raise core.unsupported(
            lo,
            node,
            f"`.{name}` of an array shows its memory, which the gradient does not share",
            "use `ravel()` or a subscript",
        )
    return MethodVal(value, name)


def attribute_of_object(lo: Lowering, value: Const, name: str, node) -> Value:
    """Lower an attribute of a module, a class or another object that is known while compiling."""
    obj = value.value
    try:
        found = getattr(obj, name)
    except AttributeError:
        raise UnsupportedSyntaxError(f"`{value!r}` has no attribute `{name}`", at=lo.origin(node)) from None
    text = f"{value.text}.{name}" if value.text else None
    if isinstance(obj, types.ModuleType):
        if core.is_code(found) or core.is_library_module(obj):
            if not core.is_library_module(obj) and not isinstance(found, types.ModuleType) and not lo.static_only:
                holder = obj.__dict__ if name in obj.__dict__ else obj  # some modules make their names on first access
                lo.guards[(id(holder), name)] = (holder, name, found)
            return Const(found, text=text)
        return core.live_data(lo, name, found, (obj.__dict__, name))
    if core.is_code(found) or isinstance(found, enum.Enum) or isinstance(obj, enum.Enum):
        return Const(found, text=text)
    if isinstance(obj, type) and not core.is_library(obj):
        return core.live_data(lo, name, found, (obj, name))
    if isinstance(found, (int, float, bool, complex)) and isinstance(obj, type):
        return Const(found, text=text)
    raise core.unsupported(
        lo,
        node,
        f"the attribute `{name}` of an object cannot be read in a differentiated function yet",
        "pass it as an argument",
    )
