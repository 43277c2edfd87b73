"""Lower exceptions that a program makes and reads: objects whose attributes are their arguments (`args`) and what Python code sets.

`except E as e: ... e.value ...` reads an attribute of such an object.  One that leaves the function is made when it is raised
(`syntax/raising.py`): by a call of its class, or as a record if its class is defined inside the function.
"""

import types
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.frontend.values import objects
from sourcead.ir.nodes import Const
from sourcead.ir.records import find, is_exception_class

ARGS = "args"


@core.kind_of_callable("exception", is_exception_class)
def make(lo: Lowering, cls: type, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `cls(*args, **kwargs)`; Python sets `args` before it calls `__init__`."""
    made = lo.new_object(cls, {}, "error")
    lo.set(made.slots, ARGS, TupleVal(tuple(args)))
    if kwargs and not isinstance(find(cls, "__init__")[1], types.FunctionType):
        raise core.refused(lo, f"{cls.__name__} takes no keyword arguments")
    return objects.initialised(lo, made, args, kwargs, node)


def is_initialiser(fn: Any) -> bool:
    """Tell whether a function is the `__init__` of a compiled exception class."""
    return isinstance(fn, types.WrapperDescriptorType) and fn.__name__ == "__init__" and issubclass(fn.__objclass__, BaseException)


@core.kind_of_callable("exception's arguments", is_initialiser)
def initialise(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `super().__init__(*args)` in the `__init__` of an exception class."""
    error, *others = args
    if kwargs or not issubclass(core.class_of(error) or object, BaseException):
        raise core.unsupported(lo, node, "this call of the `__init__` of an exception class")
    lo.set(error.slots, ARGS, TupleVal(tuple(others)))
    return Const(None)
