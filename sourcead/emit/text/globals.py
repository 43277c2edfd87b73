"""The global objects that the text of a function uses, and their names in it."""

import ast
import builtins
import enum
import math
import random
from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from sourcead.ir.names import as_name, is_name, numbered
from sourcead.ir.nodes import Const
from sourcead.ir.recursive_calls import Pair

_NUMPY_MODULES = (
    ("np", np),
    ("np.linalg", np.linalg),
    ("np.random", np.random),
    ("np.fft", np.fft),
    ("np.lib.stride_tricks", np.lib.stride_tricks),
)
_LITERALS = (bool, int, float, complex, str, bytes, type(None))
LONGEST_INTEGER = 2000  # bits of the longest integer that is written as a literal; Python refuses to read those beyond 4300 digits


def is_literal(value: Any) -> bool:
    """Return whether the `repr` of a value is a literal."""
    match value:
        case int() if type(value) is int:
            return value.bit_length() <= LONGEST_INTEGER
        case float() if type(value) is float:
            return math.isfinite(value)
        case tuple() if type(value) is tuple:
            return all(map(is_literal, value))
    return type(value) in (str, bytes, bool, type(None))


class Globals:
    """The global names that the text uses, and their values.

    Args:
        taken: the names of the function and of its parameters.
        live: the names of global data.
        elsewhere: what names stand for in other functions of the same text.
    """

    def __init__(self, taken: set[str], live: set[str], elsewhere: Mapping[str, Any] = MappingProxyType({})):
        self.taken, self.live, self.elsewhere = taken, live, elsewhere
        self.namespace: dict[str, Any] = {}
        self.builtins: set[str] = set()
        self._spelled: dict[int, tuple[Any, ast.expr]] = {}

    @property
    def reserved(self) -> set[str]:
        """Return the names that local variables must not have."""
        return self.namespace.keys() | self.builtins

    @property
    def values(self) -> dict[str, Any]:
        """Return what all the names stand for."""
        return self.namespace | {name: getattr(builtins, name) for name in self.builtins}

    def constant(self, const: Const) -> ast.expr:
        """Return an expression for a constant."""
        if const.text is not None:
            return self._from_text(const)
        return self.value(const.value)

    def value(self, value: Any) -> ast.expr:
        """Return an expression for a Python object."""
        if value is ...:
            return ast.Constant(value)
        match value:
            case enum.Enum():  # also members that are numbers or strings
                return self._held(value, f"{type(value).__name__}_{value.name}")
            case np.generic() if value.dtype.kind in "biufc":
                return ast.Call(self._dtype(value.dtype), [self.value(value.item())], [])
            case np.generic():
                return self._held(value, "constant")
            case str() | bytes() | int() | float() | complex() if type(value) not in _LITERALS:  # whose `repr` may be anything
                return self._held(value, "constant")
            case int() if value.bit_length() > LONGEST_INTEGER:
                return self._held(value, "constant")
            case None | bool() | str() | bytes():
                return ast.Constant(value)
            case int() | float() | complex():
                return self._number(value)
            case tuple() if type(value) is tuple:
                return ast.Tuple([self.value(v) for v in value], ast.Load())
            case slice():
                return ast.Call(self._builtin("slice"), [self.value(v) for v in (value.start, value.stop, value.step)], [])
            case np.dtype():
                return self._dtype(value)
        return self._object(value)

    def _number(self, value) -> ast.expr:
        if value != value and type(value) is float and value is not np.nan:  # the key of a dict, which no other NaN is
            return self._held(value, "nan")
        if isinstance(value, float) and not math.isfinite(value):
            special = ast.Attribute(self._held(np, "np"), "nan" if value != value else "inf", ast.Load())
            return ast.UnaryOp(ast.USub(), special) if value < 0 else special
        if not isinstance(value, complex) and (value < 0 or (value == 0 and math.copysign(1, value) < 0)):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        if isinstance(value, complex) and (value.real or not math.isfinite(value.imag) or math.copysign(1, value.imag) < 0):
            return ast.Call(self._builtin("complex"), [self._number(value.real), self._number(value.imag)], [])
        return ast.Constant(value)

    def _dtype(self, dtype: np.dtype) -> ast.expr:
        name = "bool_" if dtype.kind == "b" else dtype.name
        if getattr(getattr(np, name, None), "__name__", None) is not None and np.dtype(getattr(np, name)) == dtype:
            return ast.Attribute(self._held(np, "np"), name, ast.Load())
        return ast.Call(ast.Attribute(self._held(np, "np"), "dtype", ast.Load()), [ast.Constant(dtype.str)], [])

    def _object(self, value: Any) -> ast.expr:
        """Return an expression for a function, class, module or other object."""
        known = self._spelled.get(id(value))
        if known is not None:
            return known[1]
        name = getattr(value, "__name__", None)
        if type(owner := getattr(value, "__self__", None)) is str and isinstance(name, str):  # a method of a text: `", ".join`
            return ast.Attribute(ast.Constant(owner), name, ast.Load())
        if (known := self._from_library(value)) is not None:
            return known
        if isinstance(value, MethodType) and getattr(owner, name, None) == value and is_name(name):  # as `logger.info`
            known = self._spelled.get(id(owner))
            return ast.Attribute(known[1] if known else self._held(owner, type(owner).__name__.lower()), name, ast.Load())
        return self._held(value, name.split(".")[-1] if isinstance(name, str) else "constant")

    def _from_library(self, value: Any) -> ast.expr | None:
        """Return an expression for an object of the builtins, `math` or NumPy by its name there, or None for other objects."""
        name = getattr(value, "__name__", None)
        if not isinstance(name, str):
            return None
        if getattr(builtins, name, None) is value:
            return self._builtin(name)
        for module in (math, random):
            if getattr(module, name, None) is value:
                return ast.Attribute(self._held(module, module.__name__), name, ast.Load())
        for path, module in _NUMPY_MODULES:
            if getattr(module, name, None) is value or (value is module and not isinstance(value, type)):
                return self._dotted(path if value is module else f"{path}.{name}", np)
        return None

    def _dotted(self, path: str, module: ModuleType) -> ast.expr:
        """Return an expression for a part of NumPy or `math`, given with the name of the module in front."""
        expr, held = ast.parse(path, mode="eval").body, self._held(module, "math" if module is math else "np")
        for node in ast.walk(expr):
            if isinstance(node, ast.Name) and node.id == path.split(".")[0]:
                node.id = held.id
        return expr

    def _builtin(self, name: str) -> ast.expr:
        value = getattr(builtins, name)
        if name in self.taken or name in self.namespace or name in self.live or self.elsewhere.get(name, value) is not value:
            return self._held(value, name)
        self.builtins.add(name)
        return ast.Name(name, ast.Load())

    def _from_text(self, const: Const) -> ast.expr:
        """Return an expression for a constant by its name in the user's program."""
        text = const.text
        root = text.split(".")[0]
        if root in ("np", "numpy", "math") and root != text:
            return self._dotted(text, math if root == "math" else np)
        found = self._from_library(const.value) if callable(const.value) and not const.live else None
        return found or self._held(const.value, text, live=const.live)

    def _held(self, value: Any, wish: str, live: bool = False) -> ast.expr:
        """Return a global name that is bound to a value in the namespace of the text; `wish` is the name if it is free."""
        base = as_name(wish, "constant")
        if not base.strip("_"):  # a rule without a name; `_` is the target of values that are not read
            base = "rule"
        taken = self.builtins | (set() if live else self.live)
        taken = taken if isinstance(value, Pair) else taken | self.taken  # which may call itself
        held = ChainMap(self.namespace, {} if live else self.elsewhere)
        name = next(n for n in numbered(base) if n not in taken and held.get(n, value) is value)
        self.namespace[name] = value
        expr = ast.Name(name, ast.Load())
        if not live and type(value) not in _LITERALS:
            self._spelled[id(value)] = value, expr
        return expr
