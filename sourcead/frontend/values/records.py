"""Construct named tuples and dataclasses, copy them with some fields replaced, and convert them to dicts and tuples."""

from __future__ import annotations

import dataclasses

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import VALUE, Cell, Lowering, TupleVal, Value
from sourcead.frontend.values import sequences
from sourcead.ir.nodes import Call, Const, Var
from sourcead.ir.records import own_names
from sourcead.ir.types import Array

TUPLE_METHODS = ("_replace", "_asdict", "_make", "_fields", "_field_defaults")


def make_tuple(lo: Lowering, cls: type, args: list[Value], kwargs: dict[str, Value]) -> TupleVal:
    """Construct a named tuple, as in `Point(1.0, y=2.0)`."""
    if "__new__" in own_names(cls) or "__init__" in own_names(cls):
        raise UnsupportedSyntaxError(f"the named tuple {cls.__name__} is made by code of its own", at=lo.here)
    names = cls._fields
    defaults = {k: core.as_value(lo, v) for k, v in cls._field_defaults.items()}
    found = arguments(lo, cls, names, (), args, kwargs, defaults)
    return TupleVal(tuple(found[n] for n in names), None, cls)


def arguments(lo: Lowering, cls, names, only_named, args, kwargs, defaults) -> dict[str, Value]:
    """Return the value of each parameter of a generated constructor."""
    if len(args) > len(names) or (unknown := set(kwargs) - set(names[len(args) :]) - set(only_named)):
        wrong = f"{len(args)} positional arguments" if len(args) > len(names) else f"the argument `{min(unknown)}`"
        raise UnsupportedSyntaxError(f"`{cls.__name__}` does not take {wrong}, or takes it twice", at=lo.here)
    found = {**dict(zip(names, args)), **kwargs}
    for name in (*names, *only_named):
        if name not in found:
            if name not in defaults:
                raise UnsupportedSyntaxError(f"`{cls.__name__}` misses the argument `{name}`", at=lo.here)
            found[name] = defaults[name]
    return found


RESULTS = {
    np.linalg.slogdet: ("sign", "logabsdet"), np.linalg.eigh: ("eigenvalues", "eigenvectors"),
    np.linalg.eig: ("eigenvalues", "eigenvectors"), np.linalg.qr: ("Q", "R"), np.linalg.svd: ("U", "S", "Vh"),
}  # fmt: skip
"""The names under which NumPy gives the results of a call."""


def named_result(lo: Lowering, value: Value, name: str, node) -> Value | None:
    """Lower a named result, as in `np.linalg.slogdet(a).logabsdet`, or return None for any other attribute."""
    atom = value.origin if isinstance(value, TupleVal) else value
    made = lo.build.made_by.get(atom) if isinstance(atom, Var) else None
    names = RESULTS.get(made.fn, ()) if isinstance(made, Call) and not isinstance(made.fn, Var) else ()
    return core.subscript(lo, value, Const(names.index(name)), node) if name in names else None


def tuple_method(lo: Lowering, value: TupleVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the methods that every named tuple has."""
    cls = value.cls
    match name:
        case "_replace":
            if unknown := set(kwargs) - set(cls._fields):
                raise core.unsupported(lo, node, f"{cls.__name__} has no field `{min(unknown)}`")
            return TupleVal(tuple(kwargs.get(n, v) for n, v in zip(cls._fields, value.items)), None, cls)
        case "_asdict":
            return lo.new_dict(dict(zip(cls._fields, value.items)))
        case "_make":
            return make_tuple(lo, cls, sequences.static_items(lo, args[0], node, len(cls._fields)), {})
    raise core.unsupported(lo, node, f"the method `{name}` of a named tuple")


def plain(value: Value, lo: Lowering) -> Value:
    """Convert named tuples to plain tuples, for functions that accept only these."""
    if isinstance(value, TupleVal) and value.cls is not None:
        return TupleVal(tuple(plain(v, lo) for v in value.items))
    if isinstance(value, Cell) and value.kind == "list":
        items = [plain(v, lo) for v in value.items.values()]
        if any(a is not b for a, b in zip(items, value.items.values())):
            return lo.new_list(items, value.name)
    return value


# -- dataclasses ---------------------------------------------------------------------------------------------------------


def fill_dataclass(lo: Lowering, cell: Cell, base: type, args: list[Value], kwargs: dict[str, Value], node) -> None:
    """Lower the `__init__` that `dataclass` generated for the class `base`, applied to a new object."""
    if any(f._field_type is dataclasses._FIELD_INITVAR for f in base.__dataclass_fields__.values()):
        raise core.unsupported(lo, node, f"`InitVar` of the dataclass {base.__name__}", "use `field(init=False)` and plain fields")
    fields = dataclasses.fields(base)
    taken = [f for f in fields if f.init]
    named = tuple(f.name for f in taken if f.kw_only)
    given = {*[f.name for f in taken if not f.kw_only][: len(args)], *kwargs}
    defaults = {f.name: value for f in fields if f.name not in given and (value := default(lo, f, node)) is not None}
    names = tuple(f.name for f in taken if not f.kw_only)
    found = {**defaults, **arguments(lo, base, names, named, args, kwargs, defaults)}
    for f in fields:
        if f.name in found:
            lo.set(cell.slots, f.name, found[f.name])
    if hasattr(cell.cls, "__post_init__"):
        core.call(lo, core.attribute(lo, cell, "__post_init__", node), [], {}, node)


def default(lo: Lowering, f: dataclasses.Field, node) -> Value | None:
    """Return the default value of a field that is not given, or None if it has none."""
    if f.default is not dataclasses.MISSING:
        return core.as_value(lo, f.default)
    if f.default_factory is not dataclasses.MISSING:
        return core.call_object(lo, f.default_factory, [], {}, node)
    return None


@core.builtin(dataclasses.replace)
def builtin_replace(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `dataclasses.replace(obj, **changes)`."""
    (obj,) = args
    cls = core.class_of(obj)
    if cls is None or not dataclasses.is_dataclass(cls):
        raise core.unsupported(lo, node, "`dataclasses.replace` of something that is no dataclass here")
    fields = dataclasses.fields(cls)
    if unset := [f.name for f in fields if not f.init and f.name in kwargs]:
        raise core.unsupported(lo, node, f"the field `{unset[0]}` of {cls.__name__} is not a parameter of it")
    kept = {f.name: core.attribute(lo, obj, f.name, node) for f in fields if f.init and f.name not in kwargs}
    return core.call_object(lo, cls, [], {**kept, **kwargs}, node)


@core.builtin(dataclasses.asdict)
def builtin_asdict(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `dataclasses.asdict(obj)`."""
    return lo.new_dict({name: copied(lo, value, builtin_asdict, node) for name, value in data(lo, args, kwargs, node)})


@core.builtin(dataclasses.astuple)
def builtin_astuple(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `dataclasses.astuple(obj)`."""
    return TupleVal(tuple(copied(lo, value, builtin_astuple, node) for _, value in data(lo, args, kwargs, node)))


def data(lo: Lowering, args: list[Value], kwargs, node) -> list[tuple[str, Value]]:
    """Return the names and values of the fields of a dataclass."""
    cls = core.class_of(args[0])
    if kwargs or cls is None or not dataclasses.is_dataclass(cls):
        raise core.unsupported(lo, node, "this conversion of a dataclass", "write out the fields")
    return [(f.name, core.attribute(lo, args[0], f.name, node)) for f in dataclasses.fields(cls)]


def copied(lo: Lowering, value: Value, convert, node) -> Value:
    """Copy a field for a conversion: containers and arrays are copied."""
    if isinstance(value, Cell) and value.kind == "object":
        return convert(lo, [value], {}, node)
    if (found := lo.map_items(value, lambda item: copied(lo, item, convert, node), "items")) is not None:
        return found
    if isinstance(value, Cell):
        if VALUE in value.slots and isinstance(atom_type(lo.read(value)), Array):
            return core.call_library(lo, np.copy, [value], {}, node)
        raise core.unsupported(lo, node, "a field whose type is not known here", "write out the fields")
    return value


@core.builtin(dataclasses.fields)
def builtin_fields(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `dataclasses.fields(obj)`."""
    cls = core.class_of(args[0])
    if cls is None:
        cls = args[0].value if isinstance(args[0], Const) else None
    if not dataclasses.is_dataclass(cls):
        raise core.unsupported(lo, node, "`dataclasses.fields` of something that is no dataclass here")
    return Const(dataclasses.fields(cls))
