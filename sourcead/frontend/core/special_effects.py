"""Refuse operations on records that would not do what the user's classes say.

An object that becomes an operand of the IR is a record that is made for it. It is another object, which `==`, `in` and sets find equal only
if the class says so. What `__eq__`, `__hash__` or `__repr__` changes of it, or of what is in it, would be lost. Whether they change
anything is decided by what is written in them, and in the methods, properties and functions that they call.

Of a record in a list that holds numbers, too, the type does not tell the class. An operator, a subscript or a loop would find it in the run
and call its method, of which no derivative is known, so such a list is refused if the class has methods of that kind.
"""

import builtins
import copy
import dataclasses
import functools
import operator
import reprlib
import types
from collections.abc import Hashable, Iterator
from typing import Any

import gast

from sourcead import runtime
from sourcead.analysis.numbers import operand_type
from sourcead.errors import SourceADError
from sourcead.frontend.core.cells import STAND_INS
from sourcead.frontend.core.errors import refused
from sourcead.frontend.core.known_values import is_library
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.find_source import find_source
from sourcead.ir.nodes import Append, Build, Call, Index, Op, Operand, Update
from sourcead.ir.records import find
from sourcead.ir.types import DictT, ListT, MapT, SetT, StructT, TupleT, Type, parts

COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")
TEXTS = ("__repr__", "__str__", "__format__")
OTHERS = (
    "__bool__", "__len__", "__contains__", "__iter__", "__next__", "__getitem__", "__index__", "__int__", "__float__", "__complex__",
    "__array__", "__call__",
)  # fmt: skip

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "abs", "invert", "and", "or", "xor")
OPERATED = (*(f"__{mark}{name}__" for name in ARITHMETIC for mark in ("", "r")), *OTHERS)

CALLS_NONE = frozenset({
    list, tuple, len, operator.concat, operator.mul, operator.is_, operator.is_not, isinstance, type, copy.copy, setattr,
    runtime.check_apart,
})  # fmt: skip
COMPARES = frozenset({
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.contains, list.index, list.count, set, frozenset,
    runtime.sorted_order, runtime.best_place,
})  # fmt: skip

FINDS = COMPARES - {operator.lt, operator.le, operator.gt, operator.ge, runtime.sorted_order, runtime.best_place}

HARMLESS = frozenset({
    "isinstance", "issubclass", "len", "abs", "type", "hash", "id", "min", "max", "sum", "sorted", "tuple", "list", "set", "frozenset",
    "str", "repr", "float", "int", "bool", "complex", "round", "getattr", "hasattr", "any", "all", "zip", "enumerate", "range", "super",
    "reversed", "format", "divmod", "pow", "dict",
})  # fmt: skip
MAKERS = ("<string>", dataclasses.__file__, reprlib.__file__)  # what `dataclass` makes
METHODS = frozenset({
    "lower", "upper", "strip", "startswith", "endswith", "join", "format", "get", "keys", "values", "items", "index", "count", "copy",
    "item", "tolist", "sum", "mean", "min", "max", "any", "all", "dot",
})  # fmt: skip
"""Methods of texts, containers and arrays that change nothing; a class may define them anew, which is looked up first."""


def check(lo: Lowering, op: Op, result: Type) -> None:
    """Refuse an op that calls methods of a class which may change something, or whose result does not tell the class of a record in it."""
    finds = False
    match op:
        case Call(operator.concat, operands) | Build("list", operands):
            return check_class(lo, operands, result)
        case Append(base, value, _) | Update(base, _, value):
            return check_class(lo, (base, value), result)
        case Call(fn, args, kwargs):
            known = fn if isinstance(fn, Hashable) else None
            finds = known in FINDS
            names = () if known in CALLS_NONE else COMPARISONS if known in COMPARES else (*COMPARISONS, *TEXTS, *OTHERS)
            operands = (*args, *(value for _, value in kwargs))
        case Build("set", items):
            names, operands, finds = COMPARISONS, items, True
        case Index(_, key):
            names, operands = ("__index__", "__hash__", "__eq__"), (key,)
        case _:
            return
    for cls in {cls for operand in operands if names for cls in classes_in(operand_type(operand))}:
        if finds and find(cls, "__eq__")[0] is object:
            why = f"objects of class {cls.__name__} are compared by which they are, and copies of them are compared here"
            raise refused(lo, why, "compare numbers that they hold")
        if (name := next((name for name in names if not is_harmless(cls, name)), None)) is not None:
            why = f"`{name}` of class {cls.__name__} may change something, and is called here for copies of its objects"
            raise refused(lo, why, "compare and print numbers, and count in a statement of its own")


def check_class(lo: Lowering, operands: tuple[Operand, ...], result: Type) -> None:
    """Refuse a container that does not tell the class of a record in it, if operators, subscripts or loops call methods of this class."""
    for cls in {cls for operand in operands for cls in classes_in(operand_type(operand))}.difference(classes_in(result)):
        if name := next((name for name in OPERATED if isinstance(find(cls, name)[1], types.FunctionType)), None):
            why = f"a list holds objects of class {cls.__name__}, which has a method `{name}`, and values of another kind"
            raise refused(lo, why, "keep them in lists of their own")


def classes_in(t: Type) -> Iterator[type]:
    """Iterate over the classes of the records in a value of a type."""
    if isinstance(t, StructT):
        yield t.cls
    if isinstance(t, StructT | ListT | TupleT | DictT | MapT | SetT):
        for part in parts(t):
            yield from classes_in(part)


def is_harmless(cls: type, name: str, around: tuple = ()) -> bool:
    """Tell whether reading an attribute of an object, and calling what is read if that is a method, surely changes nothing."""
    base, found = find(cls, name)
    found = getattr(found, "__func__", found)  # of a static method or class method
    found = found.fget if isinstance(found, property) else found
    if isinstance(found, types.FunctionType):
        return base in STAND_INS or changes_nothing(cls, found, around)
    return not isinstance(found, functools.cached_property) and not isinstance(getattr(type(found), "__get__", None), types.FunctionType)


def changes_nothing(cls: type | None, function: types.FunctionType, around: tuple = ()) -> bool:
    """Tell whether a function, or a method of a class, surely changes nothing, by what is written in it."""
    if function in around or function.__code__.co_filename in MAKERS or hasattr(function, "lowered"):
        return True  # it calls itself, was made by `dataclass`, or belongs to a class inside the function and raises an error
    try:
        source = find_source(function)
    except SourceADError:
        return False
    node, inside = source.node, (*around, function)
    names = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}

    def named(n: gast.AST) -> Any:
        """Return the object that a global name, or an attribute of a module, is."""
        if isinstance(n, gast.Attribute) and isinstance(module := named(n.value), types.ModuleType):
            return getattr(module, n.attr, None)
        if not isinstance(n, gast.Name) or n.id in names:
            return None
        cell = source.closure.get(n.id)
        return source.globals.get(n.id, getattr(builtins, n.id, None)) if cell is None else cell.cell_contents

    def is_called_harmless(call: gast.Call) -> bool:
        found = named(call.func)
        if isinstance(found, types.FunctionType) and not is_library(found):
            return changes_nothing(None, found, inside)
        if found is not None:
            own = isinstance(call.func, gast.Name) and found is getattr(builtins, call.func.id, None)
            return found.__name__ in HARMLESS if own else is_library(found) and not any(k.arg in (None, "out") for k in call.keywords)
        if not isinstance(call.func, gast.Attribute):
            return False
        name = call.func.attr
        return is_harmless(cls, name, inside) if cls is not None and find(cls, name)[0] is not None else name in METHODS

    for n in gast.walk(node):
        match n:
            case gast.Call() if not is_called_harmless(n):
                return False
            case gast.Attribute(attr=name, ctx=gast.Load()) if cls is not None and not is_harmless(cls, name, inside):
                return False
            case gast.Attribute(ctx=gast.Store() | gast.Del()) | gast.Subscript(ctx=gast.Store() | gast.Del()):
                return False
            case gast.AugAssign() | gast.Global() | gast.Nonlocal() | gast.With() | gast.Yield() | gast.YieldFrom() | gast.Import():
                return False
    return True
