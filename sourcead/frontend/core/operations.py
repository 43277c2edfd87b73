"""Define the operations that syntax and values implement, each for one kind of subject at a time.

A generic operation is a function of the lowering and a subject: `lower(lo, node)`, `iterate(lo, value, node)`. The files above `core`
register what it does for a kind of subject and call it for any other, so that they need not import each other.

A kind of subject is one of these:
- a class: of syntax nodes, of values (`TupleVal`), of Python objects;
- "list", "dict", "object": a cell whose items are known one by one;
- a class of types (`MapT`): a variable of that type, or a cell that is one value of it.

Each kind has one implementation, so the order in which the files are imported does not matter.

A call of a Python object is lowered by its own handler (`@builtin(len)`), else by that of the first kind of `ORDER` whose test holds.
"""

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from sourcead.analysis.conditions import surely_raises
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.core.cells import (
    BoundVal, Cell, Held, Iterable, MethodVal, SuperVal, TupleVal, Value, array_of, structure_of
)
from sourcead.frontend.core.choices import with_choices_apart
from sourcead.frontend.core.classes_of_values import REAL_CLASSES, class_of, classes_of, special_method
from sourcead.frontend.core.errors import perhaps, raises_in_statement, surely, unsupported
from sourcead.frontend.core.generic import Generic
from sourcead.frontend.core.known_values import data_type, in_python, not_called
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Atom, Const, Operand, Var
from sourcead.ir.records import find
from sourcead.ir.types import Opaque, kind_of

# -- syntax ----------------------------------------------------------------------------------------------------------------


@Generic
def lower(lo: Lowering, node: gast.AST) -> Value:
    """Lower an expression to its value."""
    raise unsupported(lo, node)


def atom(lo: Lowering, node: gast.AST) -> Atom:
    """Lower an expression to one atom."""
    return lo.read(lower(lo, node))


lower.register(Held)(lambda lo, node: node.value)


def operand(lo: Lowering, node: gast.AST) -> Operand:
    """Lower an expression to an operand: tuple displays and slices stay as they are written."""
    return lo.operand(lower(lo, node))


@Generic
def lower_statement(lo: Lowering, node: gast.AST, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lower a statement; return how control leaves it, and whether the statements after it were lowered too."""
    raise unsupported(lo, node)


def lower_statements(lo: Lowering, stmts: list[gast.AST]) -> Any:
    """Lower a list of statements; return how control leaves it."""
    for k, node in enumerate(stmts):
        if lo.after_each and (apart := with_choices_apart(lo, node)) is not None:
            return lower_statements(lo, [*apart, *stmts[k + 1 :]])
        first = len(lo.build.stmts)
        try:
            left, rest_is_lowered = lower_statement(lo, node, stmts[k + 1 :])
        except UnsupportedSyntaxError as error:
            if raised_in_call(lo, first):
                return RAISED
            raises_in_statement(lo, error, node)
            raise
        left = RAISED if left is not RAISED and raised_in_call(lo, first) else left
        if left is not None or rest_is_lowered:
            return left
    return None


RAISED = object()  # how control leaves statements of which one raises an exception for sure


def raised_in_call(lo: Lowering, first: int) -> bool:
    """Tell whether a function that a statement calls raises for sure; remove what the statement does with the result, from `first` on."""
    place = next((k for k, stmt in enumerate(lo.build.stmts[first:], first) if surely_raises(stmt.op)), None)
    del lo.build.stmts[len(lo.build.stmts) if place is None else place + 1 :]
    return place is not None


def statement(*classes: type) -> Callable:
    """Register the lowering of a statement that does not depend on those after it; it returns how control leaves."""
    return _registered(classes, lambda lo, left, rest: (left, False))


def replaced_statement(*classes: type) -> Callable:
    """Register a function that returns the statements by which a statement is replaced."""
    return _registered(classes, lambda lo, inside, rest: (lower_statements(lo, [*inside, *rest]), True))


def _registered(classes: tuple[type, ...], after: Callable) -> Callable:
    """Register a lowering `(lo, node)` of statements, whose result and the statements after it `after` turns into what is returned."""

    def add(lower_one: Callable) -> Callable:
        @lower_statement.register(*classes)
        def case(lo: Lowering, node: gast.AST, rest: list[gast.AST]) -> tuple[Any, bool]:
            with lo.at(node):
                result = lower_one(lo, node)
            return after(lo, result, rest)

        return lower_one

    return add


# -- values ----------------------------------------------------------------------------------------------------------------


@Generic
def call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `fn(*args, **kwargs)`."""
    if isinstance(fn, Cell) and lo.unreadable(fn) is not None:
        lo.read(fn)  # raises the error that tells why
    error = unsupported(lo, node, *not_called(lo, fn))
    if isinstance(fn, Const) and not fn.live:
        raise surely(lo, error, TypeError)
    raise error if kind_of(data_type(lo, fn)) is None else perhaps(error, TypeError)


@Generic
def call_library(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit a call of a function of NumPy, SciPy or the standard library, or of one that has a rule."""
    raise NotImplementedError


@Generic
def iterate(lo: Lowering, value: Value, node) -> Iterable:
    """Make the iterable that a loop over a value runs over."""
    raise not_iterable(lo, value, node)


def not_iterable(lo: Lowering, value: Value, node) -> Exception:
    """Return the error for a loop over a value that cannot be iterated over, which Python raises too if it is a number or None."""
    if is_single(lo, value):
        return surely(lo, unsupported(lo, node, "a number or None cannot be iterated over", "loop over `range(...)` of it"), TypeError)
    return unsupported(lo, node, "this object cannot be iterated over", "loop over a range, an array, a list or a tuple")


def is_single(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is surely a number or None."""
    classes = classes_of(lo, value)
    return bool(classes) and all(issubclass(cls, (numbers.Number, np.bool_, type(None))) for cls in classes)


@Generic
def attribute(lo: Lowering, value: Value, name: str, node) -> Value:
    """Lower `value.name`."""
    return MethodVal(value, name)


OF_DEQUES = {"popleft": ("pop", (0,)), "appendleft": ("insert", (0,))}  # methods of a deque as those of a list, and their first arguments
OF_OPERATOR: dict[str, Any] = {}  # special methods of arrays and containers, and the functions of `operator` that do the same


def call_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `value.name(*args, **kwargs)`."""
    if name in OF_OPERATOR and isinstance(value, (Var, Const, Cell, TupleVal)) and class_of(value) is None:
        return call_object(lo, OF_OPERATOR[name], [value, *args], kwargs, node)
    if name in OF_DEQUES and not isinstance(data_type(lo, value), Opaque):  # a deque that is called itself has them
        name, places = OF_DEQUES[name]
        args = [*map(Const, places), *args]
    return method(lo, value, name, args, kwargs, node)


@Generic
def method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `value.name(*args, **kwargs)` for one kind of value."""
    raise unsupported(lo, node, f"the method `{name}` of {structure_of(value)}")


@Generic
def subscript(lo: Lowering, base: Value, key: Value, node) -> Value:
    """Lower `base[key]`."""
    raise NotImplementedError


@Generic
def store(lo: Lowering, base: Value, key: Value, value: Value, node, mode: str = "set") -> None:
    """Lower `base[key] = value`; in the mode "add", lower `base[key] += value` of an array."""
    raise unsupported(lo, node, "this object cannot be written into")


@Generic
def operate(lo: Lowering, fn: Any, *values: Value) -> Value:
    """Apply a function of the module `operator` to values."""
    raise NotImplementedError


@Generic
def truth(lo: Lowering, value: Value) -> bool | None:
    """Tell whether a condition holds, or return None if that is not known while compiling."""
    return None


# -- calls of Python objects -----------------------------------------------------------------------------------------------


BUILTINS: dict[Any, Callable] = {}

ORDER = (
    "local",  # methods of classes inside the function being lowered
    "declared opaque",  # before all that looks through a callable
    "derivative",  # `grad` and what it returned; before "partial" and "library", as it has neither source nor rule
    "partial", "binding", "vectorize", "numba ufunc", "getter",
    "exception", "exception's arguments",  # before "library" and "unbound method", to which those of Python belong
    "unbound method",  # before "library", to which those of arrays belong
    "ufunc.at",  # before "library", to which it belongs
    "distribution",  # before "library", to which those of SciPy belong
    "library",  # also the user's functions that have a rule, which are not inlined
    "other library",
    "class", "enumeration",
    "context manager",  # before "function", which looks through the decorator
    "cached", "chosen by class",  # before "function", which looks through the cache
    "generated init",  # before "function", since its text is in no file
    "speaker",  # functions of `logging` and `warnings`, which are not inlined although they have source
    "function",
    "opaque",  # everything else
)
KINDS: dict[str, tuple[Callable[[Any], bool], Callable]] = {}


def builtin(*objects: Any) -> Callable:
    """Register the handler `(lo, args, kwargs, node)` for calls of some Python objects."""

    def add(handler: Callable) -> Callable:
        for obj in objects:
            if obj in BUILTINS:
                raise ValueError(f"{obj} has two handlers")
            BUILTINS[obj] = handler
        return handler

    return add


def kind_of_callable(name: str, test: Callable[[Any], bool]) -> Callable:
    """Register the handler `(lo, fn, args, kwargs, node)` for calls of the objects that pass a test."""
    if name in KINDS or name not in ORDER:
        raise ValueError(f"{name} has two handlers, or no place in the order")

    def add(handler: Callable) -> Callable:
        KINDS[name] = test, handler
        return handler

    return add


def call_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a Python object."""
    fn = in_python(fn)
    try:
        handler = BUILTINS.get(fn)
    except TypeError:  # not hashable
        handler = None
    if handler is not None:
        made = handler(lo, args, kwargs, node)
        return replace(made, cls=fn) if isinstance(made, Iterable) and isinstance(fn, type) and fn is not reversed else made
    handler = next(found for test, found in (KINDS[name] for name in ORDER if name in KINDS) if test(fn))
    return handler(lo, fn, args, kwargs, node)


@call.register(Const)
def _call_constant(lo: Lowering, fn: Const, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    return call.default(lo, fn, args, kwargs, node) if fn.live or not callable(fn.value) else call_object(lo, fn.value, args, kwargs, node)


call.register(BoundVal)(lambda lo, fn, args, kwargs, node: call(lo, fn.function, [*fn.args, *args], {**fn.kwargs, **kwargs}, node))


# -- special methods of the user's classes --------------------------------------------------------------------------------


def call_special(lo: Lowering, value: Value, name: str, args: list[Value], node) -> Value | None:
    """Call a special method of an object and return the result, or None if the class does not define the method."""
    found = special_method(value, name)
    if found is None and array_of(value) is None and find(real := REAL_CLASSES.get(class_of(value), object), name)[0] not in (None, object):
        raise unsupported(lo, node, f"`{name}` of an object of class {real.__name__}")
    return None if found is None else call_object(lo, found, [value, *args], {}, node)


@call.register("object", TupleVal, SuperVal)
def _call_by_class(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    found = special_method(fn, "__call__")
    if found is None:
        return call.default(lo, fn, args, kwargs, node)
    return call_object(lo, found, [fn, *args], kwargs, node)
