"""Attributes and methods: `value.name` and `value.name(...)`, of arrays, lists, dicts and objects of the program."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.core import Cell, FunctionVal, Lowering, MethodVal, SliceVal, TupleVal, Value
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import BOOL, INT, UNKNOWN, Str, Type


def text_result(name: str) -> Type:
    """What a method of a string returns."""
    if name.startswith("is") or name in ("startswith", "endswith"):
        return BOOL
    if name in ("count", "find", "index", "rfind", "rindex"):
        return INT
    return UNKNOWN if name.endswith(("split", "splitlines", "partition", "encode")) else Str()


OF_DEQUES = {"popleft": ("pop", (0,)), "appendleft": ("insert", (0,))}  # what they are of a list, at which place


def static(value: Any) -> Value:
    """What a normaliser made of operands, as a value."""
    if isinstance(value, (Var, Const, Cell, TupleVal, SliceVal, FunctionVal, MethodVal)):
        return value
    if isinstance(value, tuple):
        return TupleVal(tuple(map(static, value)))
    return Const(value)


def text_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A method of a string that is known while compiling; None of others."""
    parts = [core.known(lo, v) for v in (value, *args)]
    if kwargs or not all(k for k, _ in parts):
        return None
    try:
        result = getattr(parts[0][1], name)(*(v for _, v in parts[1:]))
    except Exception:  # the program will raise it too, when it runs
        return None
    if isinstance(result, list):
        return lo.new_list([Const(v) for v in result])
    return Const(result) if isinstance(result, (str, int, bool, tuple)) else None


def inplace_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs, node) -> Value:
    """Methods of arrays that change the array."""
    if isinstance(value, Cell) and name == "fill" and len(args) == 1:
        lo.write(value, (), lo.operand(args[0]))
        return Const(None)
    if isinstance(value, Cell) and name == "sort":
        lo.write(value, (), lo.read(core.call_library(lo, np.sort, [value, *args], dict(kwargs), node)))
        return Const(None)
    if name in ("put", "partition"):
        if name == "put":
            return core.call_library(lo, np.put, [value, *args], dict(kwargs), node)
        lo.write(value, (), lo.read(core.call_library(lo, np.partition, [value, *args], dict(kwargs), node)))
        return Const(None)
    raise core.unsupported(lo, node, f"the method `{name}` changes the array in a way that cannot be differentiated yet")
