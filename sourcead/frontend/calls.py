"""Lowering of calls and attributes.

A callee is, in this order: a built-in that the frontend knows (`len`, `range`, `enumerate`), a function with a derivative
rule or one that carries none, which stays a call, or a Python function, which is inlined.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
import types
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead import runtime
from sourcead.errors import NoRuleError, NoSourceError, UnsupportedArgumentError, UnsupportedSyntaxError
from sourcead.frontend import expressions, iteration
from sourcead.frontend.context import Lowering, MustMaterialise, NotStatic, Scope
from sourcead.frontend.iteration import Iterable
from sourcead.frontend.source import Source, find_source, unwrap
from sourcead.rules.registry import adjoint_rule, no_derivative
from sourcead.frontend.values import (
    KIND, MISSING, VALUE, WHOLE, Cell, FunctionVal, MethodVal, SliceVal, TupleVal, Value, hold, leaves, roots,
)
from sourcead.ir.nodes import Append, Atom, Call, Const, Operand, Pop, Stmt, Sub, Var, View
from sourcead.ir.types import (
    BOOL, FLOAT, INT, UNKNOWN, Array, DictT, FunctionT, ListT, NoneType, Scalar, Str, TupleT, Unknown, carries_derivative, is_array, join, rank,
)

MAX_INLINE = 60  # calls inside calls


def lower_call(lo: Lowering, node: gast.Call) -> Value:
    """`f(*args, **kwargs)`."""
    if isinstance(node.func, gast.Attribute):
        fn = expressions.lower_attribute(lo, node.func)
    else:
        fn = expressions.lower(lo, node.func)
    args: list[Value] = expressions.elements(lo, node.args)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = expressions.lower(lo, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Cell) and value.kind == "dict":
            kwargs.update(value.items)
        else:
            raise expressions.unsupported(lo, node, "`**` of a dict whose keys are not known here")
    return call(lo, fn, args, kwargs, node)


def call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a value with values."""
    match fn:
        case MethodVal(value, name):
            return call_method(lo, value, name, args, kwargs, node)
        case FunctionVal(source, scope, defaults):
            return inline(lo, source, args, kwargs, node, scope, defaults)
        case Const(function, _, False):
            return call_object(lo, function, args, kwargs, node)
    raise expressions.unsupported(lo, node, "the function that is called here is not known before the program runs", "call it by its name")


def call_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a Python object."""
    try:
        handler = BUILTINS.get(fn)
    except TypeError:
        handler = None
    if handler is not None:
        return handler(lo, args, kwargs, node)
    if isinstance(fn, functools.partial):
        extra = {k: as_value(lo, v) for k, v in fn.keywords.items()}
        return call_object(lo, fn.func, [as_value(lo, v) for v in fn.args] + args, {**extra, **kwargs}, node)
    if is_ufunc_at(fn):
        return ufunc_at(lo, fn, args, node)
    if has_rule(fn) or is_library(fn):
        return emit_call(lo, fn, args, kwargs, node)
    plain, bound_args, bound_kwargs = unwrap(fn)
    if isinstance(plain, types.FunctionType):
        if has_rule(plain):
            return emit_call(lo, plain, args, kwargs, node)
        try:
            source = find_source(fn)
        except NoSourceError:
            return opaque(lo, fn, args, kwargs, node)
        if bound_args or bound_kwargs:
            args = [as_value(lo, v) for v in bound_args] + args
            kwargs = {**{k: as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
        return inline(lo, source, args, kwargs, node)
    return opaque(lo, fn, args, kwargs, node)


def as_value(lo: Lowering, obj: Any) -> Value:
    """A Python object that is part of the program (an argument of a partial) as a value."""
    if expressions.is_code(obj) or isinstance(obj, (int, float, bool, complex)):
        return Const(obj)
    holder = {"value": obj}
    return expressions.live_data(lo, "bound", obj, (holder, "value"))


def has_rule(fn: Any) -> bool:
    """Whether the derivative of a function is known, if only that it has none."""
    return adjoint_rule(fn) is not None or no_derivative(fn)


LIBRARIES = ("numpy", "math", "operator", "scipy", "cmath", "_operator")
PLAIN_BUILTINS = frozenset({abs, pow, round, divmod, format, repr, ascii, ord, chr, bin, hex, all, any, sorted, callable, type, hash})


def is_library(fn: Any) -> bool:
    """Whether a function belongs to NumPy, math or kin: no source is looked for, a missing rule is an error."""
    if getattr(fn, "__module__", "") == "sourcead.runtime":
        return True
    owner = getattr(fn, "__objclass__", None) or getattr(fn, "__self__", None)
    module = getattr(fn, "__module__", None) or getattr(owner, "__module__", None) or ""
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if isinstance(fn, type) and issubclass(fn, (np.generic, int, float, complex, bool, str)):
        return True
    if module == "builtins":
        return fn in PLAIN_BUILTINS
    return module.split(".")[0] in LIBRARIES and not isinstance(fn, type)


SEES_EVERYTHING = frozenset({eval, exec, locals, globals, vars, dir, getattr, setattr, delattr, open, input, iter, next, id, compile})


def opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of what has neither source nor rule: fine as long as no derivative can pass through it."""
    if isinstance(fn, types.BuiltinFunctionType | type) and fn in SEES_EVERYTHING:
        raise expressions.unsupported(lo, node, f"what `{fn.__name__}` reads or changes cannot be seen in the source", "write out what it does")
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    for operand in [*operands, *named.values()]:
        if passes_derivative(operand):
            name = getattr(fn, "__name__", None) or repr(fn)
            raise NoRuleError(f"`{name}` has no source and no derivative rule", at=lo.origin(node))
    const = fn
    var = lo.build.emit(Call(const, tuple(operands), tuple(named.items()), effect=True), UNKNOWN, "value")
    return lo.wrap(var, shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def passes_derivative(operand: Operand) -> bool:
    if isinstance(operand, tuple):
        return any(map(passes_derivative, operand))
    if isinstance(operand, Const):
        return operand.live and carries_derivative(atom_type(operand))
    return isinstance(operand, Var) and carries_derivative(operand.type)


def is_ufunc_at(fn: Any) -> bool:
    return isinstance(getattr(fn, "__self__", None), np.ufunc) and getattr(fn, "__name__", "") == "at"


def ufunc_at(lo: Lowering, fn: Any, args: list[Value], node) -> Value:
    """`np.add.at(a, key, v)`."""
    mode = {np.add: "add", np.subtract: "sub"}.get(fn.__self__)
    if mode is None or len(args) != 3 or not isinstance(args[0], Cell):
        raise expressions.unsupported(lo, node, f"`np.{fn.__self__.__name__}.at` cannot be differentiated", "write the loop")
    lo.write(args[0], (Sub(lo.operand(args[1])),), lo.operand(args[2]), mode)
    return Const(None)


# -- calls that stay calls ---------------------------------------------------------------------------------------------

MUTATES = frozenset(
    {np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.random.shuffle}
)
EFFECTS = ("numpy.random",)


def emit_call(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of a function that has a rule, carries no derivative, or belongs to a library."""
    from sourcead.rules.sharing import VIEWS

    if fn in (float, complex) and args and passes_text(lo, args[0]):
        raise expressions.unsupported(lo, node, f"`{fn.__name__}` of a string: a derivative does not pass through text")
    if fn is np.broadcast_to and len(args) == 2 and isinstance(args[1], TupleVal) and not args[1].items and not kwargs:
        return args[0]
    out = kwargs.pop("out", None) if "out" in kwargs else None
    if out is not None and isinstance(out, TupleVal) and len(out.items) == 1:
        out = out.items[0]
    if isinstance(fn, np.ufunc) and len(args) > fn.nin:
        args, out = args[: fn.nin], args[fn.nin]
    if fn in MUTATES:
        return mutate(lo, fn, args, kwargs, node)
    operands = tuple(lo.operand(a) for a in args)
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    base = args[0] if args and isinstance(args[0], Cell) else None
    if fn in SURE_VIEWS and base is not None and is_array(atom_type(lo.read(base))):
        cell = lo.view(base, View(fn, operands[1:], tuple(named.items())))
        lo.read(cell)
        return cell
    module = getattr(fn, "__module__", "") or ""
    effect = module.startswith(EFFECTS) or isinstance(getattr(fn, "__self__", None), (np.random.Generator, np.random.RandomState))
    folded = expressions.fold(lo, fn, args) if fn in FOLDED and not kwargs else None
    if folded is not None:
        return folded
    if effect:
        var = lo.build.emit(Call(fn, operands, tuple(named.items()), effect=True), UNKNOWN, "sample")
    else:
        var = lo.build.call(fn, *operands, **named)
    if out is not None and not (isinstance(out, Const) and out.value is None):
        if not isinstance(out, Cell):
            raise expressions.unsupported(lo, node, "`out=` of something that is not an array")
        lo.write(out, (), var)
        return out
    shared = [r for a in args for r in roots(a)] if fn in VIEWS or registry_is_users(fn) else ()
    return lo.wrap(var, shares=shared)


def passes_text(lo: Lowering, value: Value) -> bool:
    """Whether a value is, or may be, text made while the program runs."""
    return isinstance(value, Var) and isinstance(value.type, Str)


def registry_is_users(fn: Any) -> bool:
    return not is_library(fn)


SURE_VIEWS = frozenset({np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.flip, np.flipud, np.fliplr, np.diagonal})
FOLDED = frozenset({isinstance, len, min, max, abs, int, round, tuple, callable, issubclass, np.dtype, np.ndim})


def mutate(lo: Lowering, fn: Any, args: list[Value], kwargs, node) -> Value:
    """Library functions that write into their first argument."""
    if fn is np.copyto and len(args) == 2 and not kwargs and isinstance(args[0], Cell):
        lo.write(args[0], (), lo.operand(args[1]))
        return Const(None)
    raise expressions.unsupported(lo, node, f"`np.{fn.__name__}` writes into its argument in a way that cannot be differentiated yet", "assign to a subscript: `a[mask] = v`")


# -- methods and attributes ----------------------------------------------------------------------------------------------


def attribute(lo: Lowering, value: Value, name: str, node) -> Value:
    """`value.name`."""
    if isinstance(value, Const) and not value.live and not isinstance(value.value, (int, float, complex, str, tuple, np.dtype)):
        return attribute_of_object(lo, value, name, node)
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
        if isinstance(value, Cell) and is_array(t):
            return emit_call(lo, np.transpose, [value], {}, node)
        return emit_call(lo, np.transpose, [value], {}, node) if not isinstance(t, Scalar) else value
    if name in ("real", "imag"):
        return emit_call(lo, getattr(np, name), [value], {}, node)
    if name in ("flat", "data", "base", "ctypes", "strides", "flags"):
        raise expressions.unsupported(lo, node, f"`.{name}` of an array shows its memory, which the gradient does not share", "use `ravel()` or a subscript")
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
                lo.guards[(id(obj.__dict__), name)] = (obj.__dict__, name, found)
            return Const(found, text=text)
        return expressions.live_data(lo, name, found, (obj.__dict__, name))
    if expressions.is_code(found) or isinstance(found, (int, float, bool, complex)) and isinstance(obj, type):
        return Const(found, text=text)
    raise expressions.unsupported(lo, node, f"the attribute `{name}` of an object cannot be read in a differentiated function yet", "pass it as an argument")


def is_library_module(module: types.ModuleType) -> bool:
    return module.__name__.split(".")[0] in LIBRARIES


def call_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`value.name(*args, **kwargs)`."""
    from sourcead.rules.methods import INPLACE, METHODS, NORMALISERS

    if isinstance(value, Cell) and value.kind == "list":
        return list_method(lo, value, name, args, kwargs, node)
    if isinstance(value, Cell) and value.kind == "dict":
        return dict_method(lo, value, name, args, kwargs, node)
    if isinstance(value, TupleVal):
        raise expressions.unsupported(lo, node, f"the method `{name}` of a tuple")
    t = atom_type(lo.read(value))
    if isinstance(t, ListT):
        return dynamic_list_method(lo, value, name, args, kwargs, node)
    if isinstance(t, Str):
        return lo.build.call(getattr(str, name), lo.read(value), *map(lo.operand, args), type=UNKNOWN)
    if name in INPLACE:
        return inplace_method(lo, value, name, args, kwargs, node)
    if name == "append":
        raise expressions.unsupported(lo, node, "`append` to something that is not known to be a list")
    if name in NORMALISERS:
        fn, new_args, new_kwargs = NORMALISERS[name](tuple(args), dict(kwargs))
        return emit_call(lo, fn, [value, *[static(v) for v in new_args]], {k: static(v) for k, v in new_kwargs.items()}, node)
    if name in METHODS:
        return call_object(lo, METHODS[name], [value, *args], kwargs, node)
    raise expressions.unsupported(lo, node, f"the method `{name}` is not known for this value", "call the NumPy function instead")


def static(value: Any) -> Value:
    """What a normaliser made of operands, as a value."""
    if isinstance(value, (Var, Const, Cell, TupleVal, SliceVal, FunctionVal, MethodVal)):
        return value
    if isinstance(value, tuple):
        return TupleVal(tuple(map(static, value)))
    return Const(value)


def inplace_method(lo: Lowering, value: Value, name: str, args: list[Value], kwargs, node) -> Value:
    """Methods of arrays that change the array."""
    if isinstance(value, Cell) and name == "fill" and len(args) == 1:
        lo.write(value, (), lo.operand(args[0]))
        return Const(None)
    if isinstance(value, Cell) and name == "sort":
        lo.write(value, (), lo.read(emit_call(lo, np.sort, [value, *args], dict(kwargs), node)))
        return Const(None)
    raise expressions.unsupported(lo, node, f"the method `{name}` changes the array in a way that cannot be differentiated yet")


def list_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a list whose items are known one by one."""
    if name == "append":
        append(lo, cell, args[0], node)
        return Const(None)
    if name == "extend":
        extend(lo, cell, args[0], node)
        return Const(None)
    if name == "copy":
        return lo.new_list(cell.items.values(), cell.name)
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
    lo.set(cell.slots, WHOLE, MISSING)
    for key in list(cell.items):
        lo.set(cell.slots, key, MISSING)
    for key, item in enumerate(items):
        lo.set(cell.slots, key, item)


def append(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """`cell.append(value)`."""
    if cell.kind == "list":
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        lo.set(cell.slots, WHOLE, MISSING)
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
        raise expressions.unsupported(lo, node, "`append` to a list inside a list cannot be differentiated yet", "use one flat list")
    new = lo.build.emit(Append(before, item), t, before.name, before.temp)
    lo.set_version(root, new)
    hold(root, value)


def extend(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """`cell.extend(value)`, `cell += value`."""
    for item in static_items(lo, value, node):
        append(lo, cell, item, node)


def dynamic_list_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a list whose length is not known here."""
    if name == "append":
        append(lo, cell, args[0], node)
        return Const(None)
    if name == "pop" and not args and cell.base is None:
        before = lo.read(cell)
        rest = Var(before.name, before.type, before.temp)
        item = Var(f"{before.name}_item", before.type.item, True)
        lo.build.add(Stmt((rest, item), Pop(before)))
        lo.set_version(cell, rest)
        return lo.wrap(item, shares={*roots(cell), *(r for h in cell.holds for r in roots(h))})
    if name == "copy":
        return lo.wrap(lo.build.call(list, lo.read(cell), type=atom_type(lo.read(cell))), shares=roots(cell))
    raise expressions.unsupported(lo, node, f"the list method `{name}` on a list whose length is not known here")


def dict_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a dict of known keys."""
    items = cell.items
    if name == "items":
        return iteration.listed([TupleVal((Const(k), v)) for k, v in items.items()])
    if name == "keys":
        return iteration.listed([Const(k) for k in items])
    if name == "values":
        return iteration.listed(list(items.values()))
    if name == "copy":
        return lo.new_dict(items, cell.name)
    if name == "get":
        found, key = expressions.known(lo, args[0])
        if found:
            return items.get(key, args[1] if len(args) > 1 else Const(None))
    if name in ("update", "setdefault", "pop"):
        if name == "update":
            other = args[0] if args else None
            new = dict(other.items) if isinstance(other, Cell) and other.kind == "dict" else None
            if other is None or new is not None:
                lo.set(cell.slots, WHOLE, MISSING)
                for k, v in {**(new or {}), **kwargs}.items():
                    lo.set(cell.slots, k, v)
                return Const(None)
        found, key = expressions.known(lo, args[0])
        if found and name == "setdefault":
            if key not in items:
                lo.set(cell.slots, WHOLE, MISSING)
                lo.set(cell.slots, key, args[1])
            return cell.items[key]
        if found and name == "pop" and key in items and cell.depth == lo.depth:
            lo.set(cell.slots, WHOLE, MISSING)
            lo.set(cell.slots, key, MISSING)
            return items[key]
    raise expressions.unsupported(lo, node, f"the dict method `{name}` in this form")


# -- built-ins -----------------------------------------------------------------------------------------------------------


def static_items(lo: Lowering, value: Value, node, count: int | None = None) -> list[Value]:
    """The items of a value whose number is known."""
    if isinstance(value, TupleVal):
        return list(value.items)
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        return list(value.items.values()) if value.kind == "list" else [Const(k) for k in value.items]
    if isinstance(value, Iterable) and value.items is not None:
        return list(value.items)
    if isinstance(value, Const) and not value.live and isinstance(value.value, (tuple, list, str, range)):
        return [Const(v) for v in value.value]
    if isinstance(value, (Var, Cell)) and count is not None:
        t = atom_type(lo.read(value))
        if isinstance(t, (Array, ListT, Unknown)):
            return [expressions.subscript(lo, value, Const(i), node) for i in range(count)]
    raise expressions.unsupported(lo, node, "the number of items is not known before the program runs")


def builtin_len(lo, args, kwargs, node):
    (value,) = args
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind in ("list", "dict"):
        return Const(len(value.items))
    if isinstance(value, Iterable):
        return Const(len(value.items)) if value.items is not None else value.length()
    if isinstance(value, Const) and not value.live:
        return Const(len(value.value))
    return lo.build.call(len, lo.read(value), type=INT, name="n")


def builtin_isinstance(lo, args, kwargs, node):
    value, cls = args
    found, classes = expressions.known(lo, cls)
    if isinstance(value, TupleVal):
        kind: Any = tuple
    elif isinstance(value, Cell) and value.kind in ("list", "dict"):
        kind = {"list": list, "dict": dict}[value.kind]
    else:
        t = atom_type(lo.read(value))
        kind = None
        match t:
            case Array():
                kind = np.ndarray
            case ListT():
                kind = list
            case TupleT():
                kind = tuple
            case DictT():
                kind = dict
            case Str():
                kind = str
            case NoneType():
                kind = type(None)
            case Scalar(k, None):
                kind = {"float": float, "int": int, "bool": bool, "complex": complex}[k]
            case Scalar(_, dtype) if dtype != np.dtype(object):
                kind = dtype.type
    if found and kind is not None:
        return Const(issubclass(kind, classes))
    if lo.static_only:
        raise NotStatic
    return lo.build.call(isinstance, lo.read(value), lo.operand(cls), type=BOOL)


def builtin_range(lo, args, kwargs, node):
    return iteration.counted(lo, args, node)


def builtin_enumerate(lo, args, kwargs, node):
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return iteration.enumerated(lo, iteration.iterate(lo, args[0], node), start, node)


def builtin_zip(lo, args, kwargs, node):
    kwargs.pop("strict", None)
    return iteration.zipped(lo, [iteration.iterate(lo, a, node) for a in args], node)


def builtin_reversed(lo, args, kwargs, node):
    return iteration.reverse(lo, iteration.iterate(lo, args[0], node), node)


def builtin_tuple(lo, args, kwargs, node):
    if not args:
        return TupleVal(())
    value = args[0]
    if isinstance(value, Cell) and value.kind == "array" and isinstance(atom_type(lo.read(value)), ListT):
        return lo.wrap(lo.build.call(tuple, lo.read(value), type=UNKNOWN), shares=roots(value))
    return TupleVal(tuple(static_items(lo, value, node)))


def builtin_list(lo, args, kwargs, node):
    if not args:
        return lo.new_list([])
    value = args[0]
    if isinstance(value, Iterable) and value.items is None or isinstance(value, Cell) and value.kind == "array":
        return collect(lo, iteration.iterate(lo, value, node), lambda element: element, node)
    return lo.new_list(static_items(lo, value, node))


def collect(lo: Lowering, iterable: Iterable, f, node) -> Value:
    """The list of `f(element)` for each element."""
    from sourcead.frontend import statements

    result = lo.new_list([])
    if iterable.items is not None:
        for item in iterable.items:
            append(lo, result, f(item), node)
        return result
    target = gast.Name("$element", gast.Store(), None, None)
    element: list[Value] = []
    statements.run_loop(
        lo, statements.ForLike(target, [gast.Pass()]), iterable,
        lambda e: element.__setitem__(slice(None), [e]), lambda: append(lo, result, f(element[0]), node),
    )
    return result


def builtin_dict(lo, args, kwargs, node):
    items: dict[Any, Value] = {}
    if args and isinstance(args[0], Cell) and args[0].kind == "dict":
        items.update(args[0].items)
    elif args:
        for pair in static_items(lo, args[0], node):
            key, value = static_items(lo, pair, node, 2)
            found, k = expressions.known(lo, key)
            if not found:
                raise expressions.unsupported(lo, node, "a dict key that is not known before the program runs")
            items[k] = value
    return lo.new_dict({**items, **kwargs})


def builtin_map(lo, args, kwargs, node):
    fn, *iterables = args
    parts = [iteration.iterate(lo, a, node) for a in iterables]
    if len(parts) == 1:
        return collect(lo, parts[0], lambda e: call(lo, fn, [e], {}, node), node)
    return collect(lo, iteration.zipped(lo, parts, node), lambda e: call(lo, fn, list(e.items), {}, node), node)


def builtin_sum(lo, args, kwargs, node):
    value = args[0]
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    items = None
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        items = list(value.items.values()) if isinstance(value, Cell) else list(value.items)
    elif isinstance(value, Iterable):
        items = value.items
    if items is not None:
        total = start
        for item in items:
            zero = isinstance(total, Const) and type(total.value) is int and total.value == 0
            total = item if zero and not isinstance(item, Const) else expressions.operate(lo, operator.add, total, item)
        if len(items) == 1 and isinstance(total, Cell):
            total = expressions.operate(lo, operator.add, start, items[0])
        return total
    if isinstance(value, (Iterable,)):
        value = collect(lo, value, lambda e: e, node)
    atom = lo.read(value)
    if is_array(atom_type(atom)):
        total = emit_call(lo, np.sum, [value], {"axis": Const(0)}, node)
        plain = isinstance(start, Const) and start.value == 0
        return total if plain else expressions.operate(lo, operator.add, start, total)
    t = atom_type(atom)
    item = t.item if isinstance(t, ListT) else UNKNOWN
    if isinstance(item, Scalar):
        from sourcead.ir.types import ANY_DTYPE

        item = Scalar(item.kind, ANY_DTYPE)
    elif isinstance(item, Array):
        item = item
    return lo.wrap(lo.build.call(sum, atom, lo.read(start), type=item) if not (isinstance(start, Const) and start.value == 0) else lo.build.call(sum, atom, type=item))


def builtin_extreme(fn):
    def handler(lo, args, kwargs, node):
        if kwargs:
            raise expressions.unsupported(lo, node, f"`{fn.__name__}` with `{next(iter(kwargs))}=`")
        values = args
        if len(args) == 1:
            if isinstance(args[0], (Cell, Var)) and not (isinstance(args[0], Cell) and args[0].kind == "list"):
                t = atom_type(lo.read(args[0]))
                if is_array(t) and rank(t) == 1:
                    return emit_call(lo, np.max if fn is max else np.min, args, {}, node)
                raise expressions.unsupported(lo, node, f"`{fn.__name__}` of a list whose length is not known here", f"use `np.{fn.__name__}` of an array")
            values = static_items(lo, args[0], node)
        folded = expressions.fold(lo, fn, list(values))
        if folded is not None and lo.static_only:
            return folded
        result = values[0]
        for value in values[1:]:
            result = lo.build.call(fn, lo.read(result), lo.read(value))
        if folded is not None and isinstance(result, Var):
            lo.build.known[result] = folded.value
        return result

    return handler


def builtin_print(lo, args, kwargs, node):
    operands = tuple(lo.operand(a) for a in args)
    named = tuple((k, lo.operand(v)) for k, v in kwargs.items())
    lo.build.add(Stmt((), Call(print, operands, named, effect=True)))
    return Const(None)


def builtin_super(lo, args, kwargs, node):
    raise expressions.unsupported(lo, node, "`super()` inside a differentiated function")


def builtin_reduce(lo, args, kwargs, node):
    fn, iterable, *rest = args
    source = iteration.iterate(lo, iterable, node)
    if source.items is None:
        raise expressions.unsupported(lo, node, "`functools.reduce` over a sequence whose length is not known here", "write the loop")
    items = list(source.items)
    total = rest[0] if rest else items.pop(0)
    for item in items:
        total = call(lo, fn, [total, item], {}, node)
    return total


def builtin_slice(lo, args, kwargs, node):
    parts = [None if isinstance(a, Const) and a.value is None else lo.read(a) for a in args]
    return SliceVal(*{1: (None, *parts, None), 2: (*parts, None), 3: tuple(parts)}[len(parts)])


def rule_is_literal(lo, args, kwargs, node):
    found, value = expressions.known(lo, args[0])
    return Const(found and isinstance(value, (int, float)))


def operator_function(fn):
    return lambda lo, args, kwargs, node: expressions.operate(lo, fn, *args)


def builtin_int(fn):
    def handler(lo, args, kwargs, node):
        folded = expressions.fold(lo, fn, args) if not kwargs else None
        if folded is not None:
            return folded
        return emit_call(lo, fn, args, kwargs, node)

    return handler


BUILTINS: dict[Any, Any] = {
    len: builtin_len, isinstance: builtin_isinstance, range: builtin_range, enumerate: builtin_enumerate, zip: builtin_zip,
    reversed: builtin_reversed, tuple: builtin_tuple, list: builtin_list, dict: builtin_dict, map: builtin_map, sum: builtin_sum,
    max: builtin_extreme(max), min: builtin_extreme(min), print: builtin_print, super: builtin_super, slice: builtin_slice,
    functools.reduce: builtin_reduce, runtime.is_literal: rule_is_literal, int: builtin_int(int),
    **{f: operator_function(f) for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg, operator.matmul, operator.mod,
        operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    )},
}  # fmt: skip


def contains(lo: Lowering, item: Value, container: Value, negated: bool, node) -> Value:
    """`item in container`."""
    found, key = expressions.known(lo, item)
    if isinstance(container, Cell) and container.kind == "dict" and found:
        return Const((key in container.items) != negated)
    known, values = expressions.known(lo, container)
    if found and known:
        return Const((key in values) != negated)
    fn = operator.contains
    var = lo.build.call(fn, lo.operand(container), lo.read(item), type=BOOL)
    return lo.build.call(operator.not_, var, type=BOOL) if negated else var


def concatenate(lo: Lowering, a: Value, b: Value) -> Value:
    """`a + b` of two tuples or lists."""
    for value in (a, b):
        if isinstance(value, Const) and isinstance(value.value, str) or isinstance(value, Var) and isinstance(value.type, Str):
            return lo.build.call(operator.add, lo.read(a), lo.read(b), type=Str())
    if any(isinstance(v, Cell) and v.kind == "array" for v in (a, b)):
        raise UnsupportedSyntaxError("`+` of a list whose length is not known here", at=lo.here, instead="use `append`")
    items = [*static_items(lo, a, None), *static_items(lo, b, None)]
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def repeat(lo: Lowering, a: Value, b: Value) -> Value:
    """`[x] * n`."""
    if not expressions.is_sequence(a):
        a, b = b, a
    found, n = expressions.known(lo, b)
    if not found or isinstance(a, Const):
        if isinstance(a, Cell) and all(isinstance(v, Const) for v in a.items.values()):
            var = lo.build.call(operator.mul, lo.read(a), lo.read(b), type=ListT(element_join(a)))
            return lo.wrap(var)
        raise UnsupportedSyntaxError("a list repeated a number of times that is not known here", at=lo.here, instead="build it with `append`, or use an array")
    items = static_items(lo, a, None) * n
    return lo.new_list(items) if isinstance(a, Cell) else TupleVal(tuple(items))


def element_join(cell: Cell):
    from sourcead.ir.types import Undefined

    t: Any = Undefined()
    for v in cell.items.values():
        t = join(t, atom_type(v))
    return t


def cells_of(value: Value) -> list[Cell]:
    """The cells inside a value."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Cell)] if value is not MISSING else []


# -- inlining --------------------------------------------------------------------------------------------------------------


def local_function(lo: Lowering, node) -> FunctionVal:
    """A `def` or `lambda` inside the function being lowered."""
    source = LocalSource(lo.scope.source, node)
    defaults: dict[str, Value] = {}
    positional = [*node.args.posonlyargs, *node.args.args]
    for arg, default in zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults):
        defaults[arg.id] = expressions.lower(lo, default)
    for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
        if default is not None:
            defaults[arg.id] = expressions.lower(lo, default)
    return FunctionVal(source, lo.scope, defaults)


class LocalSource:
    """The source of a nested function: its own node, the rest of the function around it."""

    def __init__(self, outer: Source, node):
        self.node, self.outer = node, outer
        self.name = getattr(node, "name", "<lambda>")
        self.globals, self.closure, self.file = outer.globals, outer.closure, outer.file

    def origin(self, node):
        return self.outer.origin(node)


def bind(lo: Lowering, source, args: list[Value], kwargs: dict[str, Value], defaults: dict[str, Value], node) -> dict[str, Value]:
    """The values of a function's parameters for a call."""
    a = source.node.args
    positional = [p.id for p in [*a.posonlyargs, *a.args]]
    bound: dict[str, Value] = dict(zip(positional, args))
    if len(args) > len(positional):
        if a.vararg is None:
            raise UnsupportedSyntaxError(f"`{source.name}` takes {len(positional)} positional arguments but {len(args)} are given", at=lo.here)
    if a.vararg is not None:
        bound[a.vararg.id] = TupleVal(tuple(args[len(positional) :]))
    names = {*positional[len(a.posonlyargs) :], *(p.id for p in a.kwonlyargs)}
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in names and name not in bound:
            bound[name] = value
        elif a.kwarg is not None and name not in names:
            extra[name] = value
        else:
            raise UnsupportedSyntaxError(f"`{source.name}` got an argument `{name}` that it does not take, or twice", at=lo.here)
    if a.kwarg is not None:
        bound[a.kwarg.id] = lo.new_dict(extra)
    for name in [*positional, *(p.id for p in a.kwonlyargs)]:
        if name not in bound:
            if name not in defaults:
                raise UnsupportedSyntaxError(f"`{source.name}` misses the argument `{name}`", at=lo.here)
            bound[name] = defaults[name]
    return bound


def inline(lo: Lowering, source, args, kwargs, node, scope: Scope | None = None, defaults: dict[str, Value] | None = None) -> Value:
    """Lowers the body of a callee in place."""
    from sourcead.frontend import statements

    key = source.node
    if key in lo.calls:
        raise UnsupportedSyntaxError(f"`{source.name}` calls itself; recursion cannot be differentiated yet", at=lo.here, instead="write it as a loop")
    if len(lo.calls) > MAX_INLINE:
        raise UnsupportedSyntaxError("functions are nested too deeply here", at=lo.here)
    refuse_generators(lo, source)
    if defaults is None:
        defaults = {k: as_value(lo, v) for k, v in source.defaults.items()}
    bound = bind(lo, source, args, kwargs, defaults, node)
    inner = Scope(source, parent=scope)
    for name, value in bound.items():
        inner.names[name] = value
    outer_scope, outer_origin = lo.scope, lo.build.origin
    lo.scope = inner
    lo.calls.append(key)
    try:
        if isinstance(source.node, gast.Lambda):
            return expressions.lower(lo, source.node.body)
        left = statements.lower_statements(lo, source.node.body)
    finally:
        lo.calls.pop()
        lo.scope, lo.build.origin = outer_scope, outer_origin
    return left.value if isinstance(left, statements.Return) else Const(None)


def refuse_generators(lo: Lowering, source) -> None:
    for n in gast.walk(source.node):
        if isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)):
            raise UnsupportedSyntaxError(f"`{source.name}` is a generator or coroutine", at=source.origin(n), instead="return a list")
