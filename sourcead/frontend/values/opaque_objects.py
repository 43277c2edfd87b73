"""Lower attributes and methods of objects whose class is known and whose data is not: configurations, environments, sparse matrices.

No derivative passes through them; the text reads their attributes and calls their methods as the program does.
"""

import collections
import logging
import operator
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import outliving
from sourcead.frontend.core import Lowering, MethodVal, Value
from sourcead.frontend.core.cells import cells_of, roots
from sourcead.frontend.values import sparse_matrices
from sourcead.ir.nodes import Call, Const, Index, Stmt, Var
from sourcead.ir.types import UNKNOWN, Opaque, TupleT, Unknown
from sourcead.primitives.result_types.sparse import attribute_of_sparse, is_sparse
from sourcead.primitives.table import record_of

VIEWS = ("items", "keys", "values")
LOGGERS = logging.Logger, logging.LoggerAdapter
REPORTS = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")


def attribute(lo: Lowering, value: Value, name: str) -> Value:
    """Lower `value.name`: a method of the class, or what the object gives when the program runs."""
    atom = lo.read(value)
    cls = getattr(atom_type(atom), "cls", object)
    if callable(getattr(cls, name, None)):
        return MethodVal(value, name)
    outliving.leave_in_names(lo)  # which it may read
    t = attribute_of_sparse(atom_type(atom), name) if is_sparse(atom_type(atom)) else UNKNOWN
    found = lo.wrap(lo.build.emit(Call(getattr, (atom, Const(name)), effect=True), t, name))
    core.keep(cells_of(found), f"`{name}` belongs to an object of the class {cls.__name__}: writing to it would change it for everybody")
    return found


def is_part(lo: Lowering, value: Value, name: str) -> bool:
    """Return whether a value was read from such an object, was drawn, or is an item of one, and has the attribute `name`."""
    made = lo.build.made_by.get(lo.read(value))
    while isinstance(made, Index):
        made = lo.build.made_by.get(made.base)
    read = isinstance(made, Call) and made.effect and made.fn in (getattr, runtime.drawn)
    return read and not any(hasattr(cls, name) for cls in (np.ndarray, float, complex, int, str, list, dict, tuple, set))


@core.call.register(Unknown)
def call_part(lo: Lowering, value: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of an attribute of such an object, which returns data that no derivative passes through."""
    made = lo.build.made_by.get(lo.read(value))
    operands, named = [lo.operand(a) for a in args], {k: lo.operand(v) for k, v in kwargs.items()}
    is_attribute = isinstance(made, Call) and made.fn is getattr and made.effect
    if is_attribute and is_of_drawing(lo, made.args[0]):
        return lo.wrap(lo.build.emit(Call(runtime.drawn, (lo.read(value), *operands), tuple(named.items()), effect=True), UNKNOWN, "drawn"))
    if not is_attribute or any(map(core.passes_derivative, (*operands, *named.values()))) and not core.in_composition(lo):
        return core.call.default(lo, value, args, kwargs, node)
    outliving.leave_in_names(lo)  # which it may read
    var = lo.build.emit(Call(lo.read(value), tuple(operands), tuple(named.items()), effect=True), UNKNOWN, "value")
    return lo.wrap(core.told(lo, var, operands), shares=[r for v in (value, *args, *kwargs.values()) for r in roots(v)])


def method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `value.name(*args, **kwargs)`."""
    atom = lo.read(value)
    cls = atom_type(atom).cls
    if cls is collections.deque and name in ("append", "extend") and type(held := core.part_of_global(lo, value)) is cls:
        wrong = core.unsupported(lo, node, f"`{name}` of a deque from outside of the function", core.APPENDED)
        raise core.marked(wrong, outliving=frozenset({id(held)}))
    outliving.leave_in_names(lo)  # which it may read
    if is_drawn(cls) and hasattr(cls, name):
        return drawn(lo, getattr(cls, name), name, [value, *args], kwargs)
    if name == "dot" and len(args) == 1 and cls.__module__.startswith("scipy.sparse"):
        return core.operate(lo, operator.matmul, value, args[0])
    if name in VIEWS and issubclass(cls, Mapping):
        core.iterate(lo, value, node)  # refuses it
    function = getattr(cls, name, None)
    if isinstance(logger := core.part_of_global(lo, value), LOGGERS):
        return core.call_object(lo, getattr(logger, name), args, kwargs, node)
    operands, named = [lo.operand(a) for a in args], {k: lo.operand(v) for k, v in kwargs.items()}
    if name in REPORTS and issubclass(cls, LOGGERS):  # no derivative passes through what is reported
        lo.build.add(Stmt((), Call(function, (atom, *operands), tuple(named.items()), effect=True)))
        return Const(None)
    sparse = is_sparse(atom_type(atom))
    given = [a for a in (*operands, *named.values()) if not (isinstance(a, (Var, Const)) and is_sparse(atom_type(a)))]
    active = any(map(core.passes_derivative, given))
    if function is not None and record_of(function).adjoint_rule is not None:
        return lo.wrap(lo.build.applied(function, (atom, *operands), named))
    if sparse and active:
        return core.call(lo, core.attribute(lo, sparse_matrices.with_entries(lo, value), name, node), args, kwargs, node)
    if function is None or active:
        why = f"the method `{name}` of an object of the class {spelled_class(cls)} is not differentiated"
        raise core.unsupported(lo, node, why, "call it outside of your function, and pass what it returns")
    call = Call(function, (atom, *operands), tuple(named.items()), effect=True)
    t = lo.build.result_type(call) if sparse else UNKNOWN
    var = core.told(lo, lo.build.emit(call, t, "value"), operands)
    return lo.wrap(var, shares=[r for v in (value, *args, *kwargs.values()) for r in roots(v)])


def drawn(lo: Lowering, fn: Any, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Emit a call of a function or method of Matplotlib, whose result is a figure, axes or something else that is drawn."""
    operands, named = [lo.operand(a) for a in args], {k: lo.operand(v) for k, v in kwargs.items()}
    call = Call(runtime.drawn, (Const(fn), *operands), tuple(named.items()), effect=True)
    figure, axes = (Opaque(getattr(sys.modules.get(f"matplotlib.{m}"), n, object)) for m, n in (("figure", "Figure"), ("axes", "Axes")))
    t = figure if name in ("figure", "gcf") else axes
    if name == "subplots":
        t = TupleT((figure, axes)) if fn.__module__ == "matplotlib.pyplot" else axes
    return lo.unpack(lo.build.emit(call, t, name)) if isinstance(t, TupleT) else lo.wrap(lo.build.emit(call, t, name))


def is_of_drawing(lo: Lowering, atom: Any) -> bool:
    """Return whether an atom is something that is drawn, an item or an attribute of one."""
    while True:
        match lo.build.made_by.get(atom):
            case Index(base):
                atom = base
            case Call(fn, (of, *_)) if fn is getattr:
                atom = of
            case made:
                return isinstance(made, Call) and made.fn is runtime.drawn or is_drawn(getattr(atom_type(atom), "cls", object))


def is_drawn(cls: type) -> bool:
    """Return whether a class is one of Matplotlib's."""
    return cls.__module__.partition(".")[0] == "matplotlib"


def spelled_class(cls: type) -> str:
    """Return how a user would write a class: `scipy.csr_matrix`, `Settings`."""
    package = cls.__module__.partition(".")[0]
    return cls.__name__ if package in ("__main__", "builtins") else f"{package}.{cls.__name__}"
