"""Tells which memory the result of an op may share with its operands.

    fresh     nothing: the memory was made by the op (np.zeros, np.tanh, reductions, integer-array subscripts)
    shallow   a new container of the operands' elements (list(xs), xs + ys, np.split)
    shared    the result may be, contain or be part of any operand (views, elements)
    first     the same for the first operand only
    readonly  the same as shared, and the result may not be written (np.broadcast_to, np.diagonal)
    foreign   the same as shared, or memory from outside of the function (functions of which nothing is known)

The record of a function says which of these holds for its result (`Primitive.memory`).
"""

from __future__ import annotations

from sourcead.analysis.builder import operand_type
from sourcead.ir.nodes import Attr, Call, Const, Index, Operand, Slice, Var
from sourcead.ir.types import (
    Array, DictT, FunctionT, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type, Undefined, rank
)
from sourcead.primitives.table import record_of

_PLAIN_ATTRIBUTES = frozenset("shape ndim size dtype itemsize nbytes strides".split())


def has_memory(t: Type) -> bool:
    """Return whether a value of this type may be or hold memory that can be written."""
    match t:
        case Scalar() | Str() | NoneType() | FunctionT() | Undefined():
            return False
        case TupleT(items):
            return any(map(has_memory, items))
    return True


def is_plain(t: Type) -> bool:
    """Return whether a value of this type is known to be a number or an array of numbers."""
    return isinstance(t, Scalar) or (isinstance(t, Array) and (t.dtype is None or t.dtype.kind != "O"))


def call_sharing(op: Call) -> str:
    """Return how the result of a call shares memory with its arguments, as one of the words above."""
    if isinstance(op.fn, Var):
        return "foreign"
    fn = op.fn.value if isinstance(op.fn, Const) else op.fn
    options = {k for k, _ in op.kwargs}
    memory = record_of(fn).memory
    if not isinstance(memory, str):
        return memory(len(op.args), options)
    if memory == "operands":  # of lists, operators make a list of the same elements
        return "fresh" if all(is_plain(operand_type(a)) for a in op.args) else "shallow"
    return "shared" if options & {"out", "copy"} and memory != "foreign" else memory


def index_sharing(op: Index, result: Type) -> str:
    """Return how `base[key]` shares memory with `base`."""
    if not has_memory(result) or is_integer_index(op):
        return "fresh"
    if isinstance(operand_type(op.base), Array) and _key_kinds(op.key) & {"advanced", "mask"}:
        return "fresh"
    return "shallow" if isinstance(op.key, Slice) and isinstance(operand_type(op.base), ListT) else "shared"


def is_integer_index(op: Index) -> bool:
    """Return whether the subscript takes one element of an array, because it has an integer for each axis."""
    axes = rank(operand_type(op.base))
    keys = op.key if isinstance(op.key, tuple) else (op.key,)
    return axes is not None and len(keys) == axes and all(getattr(operand_type(k), "kind", None) == "int" for k in keys)


def key_kind(key: Operand) -> str:
    """Return 'basic' (a view), 'mask', 'advanced' (integer arrays, which copy and may repeat elements) or 'unknown'."""
    kinds = _key_kinds(key)
    return next(k for k in ("unknown", "advanced", "mask", "basic") if k in kinds or k == "basic")


def _key_kinds(key: Operand) -> set[str]:
    return {_item_kind(k) for k in (key if isinstance(key, tuple) else (key,))}


def _item_kind(key: Operand) -> str:
    if isinstance(key, Slice) or (isinstance(key, Const) and (key.value is None or key.value is ...)):
        return "basic"
    if isinstance(key, Const) and isinstance(key.value, slice):
        return "basic"
    match operand_type(key):
        case Scalar("int") | Str():
            return "basic"
        case Array(dtype) if dtype is not None and dtype.kind == "b":
            return "mask"
        case Array() | ListT():
            return "advanced"
        case TupleT(items):
            return "basic" if all(isinstance(t, Scalar) and t.kind == "int" for t in items) else "unknown"
    return "unknown"


def attr_sharing(op: Attr, result: Type) -> str:
    """Return how `base.name` shares memory with `base`."""
    return "fresh" if op.name in _PLAIN_ATTRIBUTES or not has_memory(result) else "shared"


def is_container(t: Type) -> bool:
    """Return whether writing an element may store the element itself rather than a copy of its numbers."""
    return not is_plain(t)


def is_known_container(t: Type) -> bool:
    return isinstance(t, (TupleT, ListT, DictT, MapT, StructT))
