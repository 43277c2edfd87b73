"""Attributes and methods: `value.name` and `value.name(...)`, of arrays, lists, dicts and objects of the program."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type, grown_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.builtins import random_draws as draws
from sourcead.frontend.core import Lowering, MustMaterialise
from sourcead.frontend.syntax import calls, expressions, iteration
from sourcead.frontend.values import (
    changing_lists as walks, function_choices as choices, lists, memory_layouts as layouts, objects, records,
    runtime_dicts as maps, sequences, sets
)
from sourcead.frontend.values.cells import (
    MISSING, Cell, FunctionVal, MethodVal, OptionalVal, SliceVal, TupleVal, Value, hold, roots
)
from sourcead.frontend.values.not_data import part_of_slice
from sourcead.ir.nodes import Append, Atom, Const, Var
from sourcead.ir.types import (
    BOOL, INT, UNKNOWN, Foreign, ListT, MapT, Scalar, SetT, Str, Type, Unknown, is_array, join, rank
)


def attribute(lo: Lowering, value: Value, name: str, node) -> Value:
    """`value.name`."""
    if isinstance(value, OptionalVal):
        return attribute(lo, value.held, name, node)
    if objects.class_of(value) is not None:
        return objects.attribute(lo, value, name, node)
    if isinstance(value, Const) and not value.live and not isinstance(value.value, (int, float, complex, str, tuple, np.dtype)):
        return attribute_of_object(lo, value, name, node)
    if isinstance(value, SliceVal) and (part := part_of_slice(value, name)) is not None:
        return part
    if (found := records.named_result(lo, value, name, node)) is not None:
        return found
    if isinstance(value, (TupleVal, FunctionVal, SliceVal)) or isinstance(value, Cell) and value.kind != "array":
        return MethodVal(value, name)
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
        return calls.emit_call(lo, np.transpose, [value], {}, node) if not isinstance(t, Scalar) else value
    if name == "mT" and is_array(t):
        return calls.emit_call(lo, np.matrix_transpose, [value], {}, node)
    if name in ("real", "imag"):
        return calls.emit_call(lo, getattr(np, name), [value], {}, node)
    if name == "flat" and isinstance(value, Cell) and is_array(t):
        return layouts.flat(lo, value)
    if name in ("flat", "data", "base", "ctypes", "strides", "flags"):
        raise expressions.unsupported(
            lo,
            node,
            f"`.{name}` of an array shows its memory, which the gradient does not share",
            "use `ravel()` or a subscript",
        )
    return MethodVal(value, name)


def attribute_of_object(lo: Lowering, value: Const, name: str, node) -> Value:
    """An attribute of a module, class or other object that is part of the program."""
    obj = value.value
    try:
        found = getattr(obj, name)
    except AttributeError:
        raise UnsupportedSyntaxError(f"`{value!r}` has no attribute `{name}`", at=lo.origin(node)) from None
    text = f"{value.text}.{name}" if value.text else None
    if isinstance(obj, types.ModuleType):
        if expressions.is_code(found) or is_library_module(obj):
            if not is_library_module(obj) and not isinstance(found, types.ModuleType) and not lo.static_only:
                holder = obj.__dict__ if name in obj.__dict__ else obj  # some modules make their names when they are asked for
                lo.guards[(id(holder), name)] = (holder, name, found)
            return Const(found, text=text)
        return expressions.live_data(lo, name, found, (obj.__dict__, name))
    if expressions.is_code(found) or isinstance(found, enum.Enum) or isinstance(obj, enum.Enum):
        return Const(found, text=text)
    if isinstance(obj, type) and not calls.is_library(obj):
        return expressions.live_data(lo, name, found, (obj, name))
    if isinstance(found, (int, float, bool, complex)) and isinstance(obj, type):
        return Const(found, text=text)
    raise expressions.unsupported(
        lo,
        node,
        f"the attribute `{name}` of an object cannot be read in a differentiated function yet",
        "pass it as an argument",
    )


def is_library_module(module: types.ModuleType) -> bool:
    return module.__name__.split(".")[0] in calls.LIBRARIES


def text_result(name: str) -> Type:
    """What a method of a string returns."""
    if name.startswith("is") or name in ("startswith", "endswith"):
        return BOOL
    if name in ("count", "find", "index", "rfind", "rindex"):
        return INT
    return UNKNOWN if name.endswith(("split", "splitlines", "partition", "encode")) else Str()


OF_DEQUES = {"popleft": ("pop", (0,)), "appendleft": ("insert", (0,))}  # what they are of a list, at which place


def call_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`value.name(*args, **kwargs)`."""
    from sourcead.primitives.methods import INPLACE, METHODS, NORMALISERS

    if name == "__getitem__" and len(args) == 1 and objects.class_of(value) is None:
        return expressions.subscript(lo, value, args[0], node)
    if name in OF_DEQUES:
        name, places = OF_DEQUES[name]
        args = [*map(Const, places), *args]
    if isinstance(value, Cell) and value.kind == "list":
        return list_method(lo, value, name, args, kwargs, node)
    if isinstance(value, Cell) and value.kind == "dict":
        return dict_method(lo, value, name, args, kwargs, node)
    if isinstance(value, TupleVal) and value.cls is not None:
        return records.tuple_method(lo, value, name, args, kwargs, node)
    if isinstance(value, TupleVal):
        if name in ("index", "count"):
            return list_method(lo, lo.new_list(value.items), name, args, kwargs, node)
        raise expressions.unsupported(lo, node, f"the method `{name}` of a tuple")
    t = atom_type(lo.read(value))
    if isinstance(t, Foreign):
        return draws.lower_draw(lo, value, t.cls, name, args, kwargs, node)
    if isinstance(t, MapT):
        return maps.method(lo, value, name, args, kwargs, node)
    if isinstance(t, SetT):
        return sets.method(lo, value, name, args, node)
    if isinstance(t, ListT):
        return lists.method(lo, value, name, args, kwargs, node)
    if isinstance(t, Str) and (found := text_method(lo, value, name, args, kwargs)) is not None:
        return found
    if isinstance(t, Str):
        return lo.build.call(getattr(str, name), lo.read(value), *map(lo.operand, args), type=text_result(name))
    if name in INPLACE:
        return inplace_method(lo, value, name, args, kwargs, node)
    if name == "append":
        raise expressions.unsupported(lo, node, "`append` to something that is not known to be a list")
    if name == "compress" and args:
        return calls.emit_call(lo, np.compress, [args[0], value, *args[1:]], kwargs, node)
    if name == "item" and args:  # of one place: `x.item(i, j)`
        of, place = (value, TupleVal(tuple(args))) if len(args) > 1 else (calls.emit_call(lo, np.ravel, [value], {}, node), args[0])
        return call_method(lo, expressions.subscript(lo, of, place, node), name, [], {}, node)
    if name in NORMALISERS:
        fn, new_args, new_kwargs = NORMALISERS[name](tuple(args), dict(kwargs))
        return calls.emit_call(lo, fn, [value, *[static(v) for v in new_args]], {k: static(v) for k, v in new_kwargs.items()}, node)
    if name in METHODS:
        return calls.call_object(lo, METHODS[name], [value, *args], kwargs, node)
    raise expressions.unsupported(lo, node, f"the method `{name}` is not known for this value", "call the NumPy function instead")


def static(value: Any) -> Value:
    """What a normaliser made of operands, as a value."""
    if isinstance(value, (Var, Const, Cell, TupleVal, SliceVal, FunctionVal, MethodVal)):
        return value
    if isinstance(value, tuple):
        return TupleVal(tuple(map(static, value)))
    return Const(value)


def text_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A method of a string that is known while compiling; None of others."""
    parts = [expressions.known(lo, v) for v in (value, *args)]
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
        lo.write(value, (), lo.read(calls.emit_call(lo, np.sort, [value, *args], dict(kwargs), node)))
        return Const(None)
    if name in ("put", "partition"):
        if name == "put":
            return calls.emit_call(lo, np.put, [value, *args], dict(kwargs), node)
        lo.write(value, (), lo.read(calls.emit_call(lo, np.partition, [value, *args], dict(kwargs), node)))
        return Const(None)
    raise expressions.unsupported(lo, node, f"the method `{name}` changes the array in a way that cannot be differentiated yet")


def list_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a list whose items are known one by one."""
    lo.alive(cell)
    if name == "append":
        append(lo, cell, args[0], node)
        return Const(None)
    if name == "extend":
        extend(lo, cell, args[0], node)
        return Const(None)
    if name == "copy":
        return lo.new_list(cell.items.values(), cell.name)
    if name in ("index", "count") and len(args) == 1:
        parts = [expressions.known(lo, v) for v in (*cell.items.values(), *args)]
        if all(k for k, _ in parts):
            *values, wanted = (v for _, v in parts)
            if name == "count" or wanted in values:
                return Const(getattr(values, name)(wanted))
    if name == "remove":
        place = list_method(lo, cell, "index", args, kwargs, node)
        name, args = "pop", [place]
    if name in ("sort", "index", "count", "pop") and (name != "pop" or args and not expressions.known(lo, args[0])[0]):
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        lo.materialise(cell)
        return lists.method(lo, cell, name, args, kwargs, node)
    if name in ("pop", "insert", "reverse", "clear"):
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        items = list(cell.items.values())
        indices = [expressions.known(lo, a) for a in args]
        found = None
        if name == "pop" and items and all(k for k, _ in indices):
            found = items.pop(*(v for _, v in indices))
        elif name == "insert" and indices[0][0]:
            items.insert(indices[0][1], args[1])
        elif name == "insert":
            lo.materialise(cell)
            return lists.method(lo, cell, name, args, kwargs, node)
        elif name == "reverse":
            items.reverse()
        elif name == "clear":
            items.clear()
        else:
            raise expressions.unsupported(lo, node, f"`{name}` at a position that is not known here")
        replace_items(lo, cell, items)
        return Const(None) if found is None else found
    raise expressions.unsupported(lo, node, f"the list method `{name}`")


def replace_items(lo: Lowering, cell: Cell, items: list[Value]) -> None:
    """Gives a list of known structure other items."""
    lo.changed(cell)
    for key in list(cell.items):
        lo.set(cell.slots, key, MISSING)
    for key, item in enumerate(items):
        lo.set(cell.slots, key, item)


def append(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """`cell.append(value)`."""
    if cell.kind == "list":
        if cell.depth < lo.depth:
            objects.keep_apart(lo, value)
            raise MustMaterialise(cell, lo.here)
        lo.alive(cell)
        lo.changed(cell)
        lo.set(cell.slots, len(cell.items), value)
        return
    before = lo.read(cell)
    item = lo.read(value)
    t = atom_type(before)
    item_type = atom_type(item)
    if isinstance(t, ListT):
        t = ListT(join(t.item, item_type))
    root = cell.root()
    if cell.base is not None:
        grow_inner(lo, cell, item)
        hold(root, value)
        return
    lo.replace_slot(root, lambda: lo.build.emit(Append(before, item), t, before.name, before.temp), grows=True)
    lists.note_part(lo, root, value)
    hold(root, value)
    if any(cell.depth < lo.depth for cell in roots(value)):  # made outside of the loop that appends it
        root.doubled = True


def replace_inner(lo: Lowering, cell: Cell, new: Var) -> None:
    """Gives a list that lies in a list or dict other items."""
    lo.write(cell.base, (cell.step,), new, through=True)


def grow_inner(lo: Lowering, cell: Cell, item: Atom, at: Atom | None = None) -> None:
    """Appends to a list that lies in a list or dict."""

    def grown(base, path):
        return lo.build.emit(Append(base, item, path, at), grown_type(atom_type(base), path, atom_type(item)), base.name, base.temp)

    lo.write(cell.base, (cell.step,), grown, through=True)


def extend(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """`cell.extend(value)`, `cell += value`."""
    if cell.kind != "list":
        return lists.extend(lo, cell, value, node)
    if not sequences.has_known_items(value):
        source = iteration.iterate(lo, value, node)
        sequences.for_each(lo, source, lambda item: append(lo, cell, item, node))
        return None
    for item in sequences.static_items(lo, value, node):
        append(lo, cell, item, node)
    return None


def dict_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a dict of known keys."""
    lo.alive(cell)
    lo.sure(cell)
    items = cell.items
    if name == "items":
        return walks.pairs(lo, cell, iteration.listed([TupleVal((Const(k), v)) for k, v in items.items()]))
    if name == "keys":
        return iteration.listed([Const(k) for k in items])
    if name == "values":
        return walks.walk(lo, cell, list(items.items()))
    if name == "copy":
        made = lo.new_dict(items, cell.name)
        made.default = cell.default
        return made
    if name == "get":
        found, key = expressions.known(lo, args[0])
        if found and (key in items or cell.depth == lo.depth or not items):
            return items.get(key, args[1] if len(args) > 1 else Const(None))
        if items and len(args) > 1 and all(map(choices.is_function, (*items.values(), args[1]))):
            return choices.by_key(lo, items, args[0], args[1])
    fixed = cell.depth == lo.depth  # else what is a key afterwards depends on what the program does
    if name == "update" and fixed:
        other = args[0] if args else None
        if other is None or isinstance(other, Cell) and other.kind == "dict":
            lo.changed(cell)
            for k, v in {**(other.items if other is not None else {}), **kwargs}.items():
                lo.set(cell.slots, k, v)
            return Const(None)
    found, key = expressions.known(lo, args[0]) if args else (False, None)
    if found and name == "setdefault" and (fixed or key in items):
        if key not in items:
            lo.changed(cell)
            lo.set(cell.slots, key, args[1] if len(args) > 1 else Const(None))
        return cell.items[key]
    if found and name == "pop" and fixed:
        if key not in items and len(args) > 1:
            return args[1]
        if key in items:
            lo.changed(cell)
            lo.set(cell.slots, key, MISSING)
            return items[key]
    if name in ("update", "setdefault", "pop", "get", "clear"):
        maps.open_up(lo, cell, node)
        return maps.method(lo, cell, name, args, kwargs, node)
    raise expressions.unsupported(lo, node, f"the dict method `{name}` in this form")
