"""Lower calls of functions of other libraries than NumPy and SciPy: bars of progress, unique names, drawings, other libraries of arrays."""

import uuid
from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.calls import call_opaque, refuse_functions
from sourcead.frontend.control import outliving
from sourcead.frontend.core import Lowering, Value
from sourcead.frontend.values import opaque_objects
from sourcead.ir.nodes import Call
from sourcead.ir.types import Opaque
from sourcead.places.spelling import spelled

OF_ARRAYS = ("jax", "torch", "tensorflow", "cupy", "mxnet", "paddle")  # they differentiate their own functions, in ways of their own


@core.builtin(uuid.uuid1, uuid.uuid4)
def builtin_uuid(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `uuid.uuid4()`, a name that no other object has: it is drawn anew in each call of the gradient."""
    if args or kwargs:
        raise core.unsupported(lo, node, "a unique name with arguments")
    return lo.wrap(lo.build.emit(Call(uuid.uuid4, (), effect=True), Opaque(uuid.UUID), "name"))


def library_of(fn: Any) -> str:
    return (getattr(fn, "__module__", None) or "").partition(".")[0]


@core.kind_of_callable("other library", lambda fn: library_of(fn) in ("tqdm", "matplotlib", *OF_ARRAYS))
def call_other(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of such a library."""
    return {"tqdm": progress, "matplotlib": drawing}.get(library_of(fn), of_arrays)(lo, fn, args, kwargs, node)


def drawing(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of Matplotlib to the call itself: no derivative passes through what is drawn."""
    refuse_functions(lo, fn, [*args, *kwargs.values()])
    outliving.leave_in_names(lo)  # which it may read
    return opaque_objects.drawn(lo, fn, fn.__name__, args, kwargs)


def progress(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `tqdm(items)` as the items, and `trange(n)` as `range(n)`: a derivative shows no bar."""
    if fn.__name__ == "trange":
        return core.call_object(lo, range, args, {}, node)
    items = args[0] if args else kwargs.get("iterable")
    if items is None:
        raise core.unsupported(lo, node, "a bar of progress that is moved by hand", "`for item in tqdm(items)`")
    return items


def of_arrays(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Refuse a function of another library of arrays where a derivative would pass through it."""
    values = [*args, *kwargs.values()]
    if any(core.is_function(a) or core.passes_derivative(lo.operand(a)) for a in values):
        why = f"`{fn.__name__}` is a function of {library_of(fn)}, and the functions that are differentiated are those of NumPy and SciPy"
        same = f"NumPy's function, `np.{fn.__name__}`" if hasattr(np, fn.__name__) else "a function of NumPy"
        raise core.unsupported(lo, node, why, f"{same}, or register a rule: `@adjoint({spelled(fn)})`")
    return call_opaque(lo, fn, args, kwargs, node)
