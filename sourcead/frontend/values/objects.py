"""Lower objects of the user's classes: attributes, methods, properties, operators and constructors.

An object is a `Cell` whose slots are its attributes, so that an assignment to one is seen under all the object's names, in
branches and in loops.  Methods are functions with `self` bound, and are inlined like any other function.
"""

import dataclasses
import difflib
import functools
import inspect
import operator
import types
from typing import Any

import gast
import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import inlining, outliving
from sourcead.frontend.core import (
    VALUE, AttributesCell, BoundVal, Cell, FunctionVal, Lowering, MethodVal, SuperVal, TupleVal, Value
)
from sourcead.frontend.values import (
    array_attributes, array_objects, descriptors, dict_attributes, sequences, sparse_matrices
)
from sourcead.frontend.values.operator_methods import DUNDER, REFLECTED, taken_by_numpy
from sourcead.ir.nodes import UNDEFINED, Const
from sourcead.ir.records import (
    NEUTRAL, find, generated_init, is_derived_class, is_frozen, is_namedtuple, is_plain_class, own_names, own_setter
)
from sourcead.ir.types import Array, Unknown

TUPLE_METHODS = ("_replace", "_asdict", "_make", "_fields", "_field_defaults")


# -- attributes ----------------------------------------------------------------------------------------------------------


@core.attribute.register("object", SuperVal)
def attribute(lo: Lowering, value: Value, name: str, node) -> Value:
    """Lower `value.name`."""
    cls = core.class_of(value)
    if isinstance(value, SuperVal):
        base = next((c for c in core.classes_after(value) if name in vars(c)), None)
        if base is None:
            raise core.surely(lo, core.refused(lo, f"`super()` of {value.cls.__name__} has no attribute `{name}`"), AttributeError)
        found = vars(base)[name]
        if base in (object, np.ndarray, *core.STAND_INS) and name == "__new__" or cls is None and isinstance(found, types.FunctionType):
            return Const(found)
        return of_class(lo, value.value, base, name, found, node)
    if name == "__class__":
        return Const(cls)
    if name == "__dict__" and isinstance(value, Cell):
        lo.alive(value)
        return AttributesCell(value)
    if isinstance(value, TupleVal):
        if name in cls._fields:
            return value.items[cls._fields.index(name)]
        if name in TUPLE_METHODS:
            return MethodVal(value, name)
    else:
        lo.alive(value)
    base, found = find(cls, name)
    if not descriptors.comes_first(found) and isinstance(value, Cell) and name in value.items:
        item = value.items[name]
        owner = lo.global_objects.get(value)
        if owner is not None and id(held := getattr(owner.value, "__dict__", {}).get(name)) in lo.outliving:
            return core.live_data(lo, name, held, (owner.value, name))
        if item is UNDEFINED:
            wrong = core.refused(lo, f"`.{name}` is read here, but nothing was assigned to it on this path")
            raise core.surely(lo, wrong, AttributeError)
        if (isinstance(found, functools.cached_property) or descriptors.accessor(found, "__get__")) and lo.may_be_missing(item):
            why = f"whether `.{name}` was computed before is not known here"
            raise core.refused(lo, why, f"read `.{name}` once before the loop or branch")
        if issubclass(AttributeError, lo.catching) and lo.may_be_missing(item):
            raise core.refused(lo, f"`.{name}` may have no value here, and the program handles that", "test for the case with `if`")
        return item
    if base is None or isinstance(found, types.MemberDescriptorType):
        if (result := core.call_special(lo, value, "__getattr__", [Const(name)], node)) is not None:
            return result
        near = difflib.get_close_matches(name, [*(n for n in getattr(value, "items", ()) if isinstance(n, str)), *dir(cls)], 1)
        wrong = core.refused(lo, f"an object of class {cls.__name__} has no attribute `{name}` here", f"`{near[0]}`" if near else None)
        raise wrong if hasattr(core.REAL_CLASSES.get(cls), name) else core.surely(lo, wrong, AttributeError)
    return of_class(lo, value, base, name, found, node)


def of_class(lo: Lowering, value: Value, base: type, name: str, found: Any, node) -> Value:
    """Lower `value.name` where the class `base` of the object defines `name`."""
    if base is np.ndarray and not callable(found):
        return array_objects.attribute(lo, value, name, node)
    if isinstance(found, classmethod):
        return BoundVal(Const(found.__func__), (value if core.class_of(value) is None else Const(core.class_of(value)),))
    match found:
        case property(fget=getter) if type(found).__get__ is property.__get__:
            return core.call_object(lo, getter, [value], {}, node)
        case functools.cached_property() if type(found).__get__ is functools.cached_property.__get__:
            result = core.call_object(lo, found.func, [value], {}, node)
            if not value.frozen:
                store_attribute(lo, value, name, result)
            return result
        case staticmethod():
            return Const(found.__func__)
        case functools.partialmethod():
            args, kwargs = [core.as_value(lo, v) for v in found.args], {k: core.as_value(lo, v) for k, v in found.keywords.items()}
            return BoundVal(Const(found.func), (value, *args), kwargs)
        case functools.singledispatchmethod():
            raise core.refused(lo, f"`{name}` chooses a method by the class of its argument", "call that method by its name")
        case types.FunctionType():
            return BoundVal(Const(found), (value,))
    if base is object and name in ("__init__", "__setattr__", "__getattribute__"):
        return BoundVal(Const(found), (value,))
    if (getter := descriptors.accessor(found, "__get__")) is not None:
        cls = core.class_of(value)
        of = (Const(None), value) if cls is None else (value, Const(cls))
        return core.call_object(lo, getter, [descriptors.as_data(lo, name, found), *of], {}, node)
    if callable(found) and hasattr(type(found), "__get__"):
        return BoundVal(Const(found), (value,))
    if hasattr(type(found), "__get__"):
        raise core.refused(lo, f"`{name}` is a descriptor of class {type(found).__name__}", "use a property")
    if core.is_code(found):
        return Const(found)
    return core.live_data(lo, name, found, (base, name))


def set_attribute(lo: Lowering, value: Value, name: str, new: Value, node) -> Value | None:
    """Lower `value.name = new`; return what a method of the class that does this gives."""
    cls = core.class_of(value)
    if isinstance(value, FunctionVal) and not hasattr(types.FunctionType, name):
        return lo.set(value.attributes, name, new)
    if cls is None:
        if isinstance(value, Cell) and dict_attributes.set_attribute(lo, value, name, new, node):
            return None
        if core.has_attribute(lo, value, name) is False and not (isinstance(value, Const) and hasattr(value.value, "__dict__")):
            raise core.no_attribute(lo, value, name)
        if name == "shape" and isinstance(core.data_type(lo, value), Array):
            return array_attributes.set_shape(lo, value, new, node)
        if isinstance(core.data_type(lo, value), Array) and array_attributes.set_part(lo, value, name, new, node):
            return None
        if outliving.is_number_of_class(value, name):
            return outliving.set_number_of_class(lo, value, name, new)
        raise core.refused(lo, "an attribute of this object cannot be assigned in a differentiated function", "a local variable, or a dict")
    if isinstance(value, TupleVal):
        raise core.refused(lo, f"`.{name}` of a named tuple cannot be assigned", f"use `_replace({name}=...)`")
    if (setter := own_setter(cls)) is not None:
        return core.call_object(lo, setter, [value, Const(name), new], {}, node)
    return assign(lo, value, name, new, node)


def assign(lo: Lowering, value: Value, name: str, new: Value, node) -> Value | None:
    """Lower `object.__setattr__(value, name, new)`, which is what `value.name = new` does unless the class says otherwise."""
    cls = core.class_of(value)
    if is_frozen(cls):
        raise core.refused(lo, f"{cls.__name__} is a frozen dataclass", f"use `dataclasses.replace(..., {name}=...)`")
    found = find(cls, name)[1]
    if found is np.ndarray.shape:
        return store_attribute(lo, value, core.HELD, core.call_library(lo, np.reshape, [core.array_of(value), new], {}, node))
    if isinstance(found, property) and type(found).__set__ is property.__set__:
        if found.fset is None:
            raise core.refused(lo, f"the property `{name}` of {cls.__name__} has no setter")
        return core.call_object(lo, found.fset, [value, new], {}, node)
    if (setter := descriptors.accessor(found, "__set__")) is not None:
        return core.call_object(lo, setter, [descriptors.as_data(lo, name, found), value, new], {}, node)
    if hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType):
        raise core.refused(lo, f"`{name}` is a descriptor of class {type(found).__name__}", "use a property")
    return store_attribute(lo, value, name, new)


def store_attribute(lo: Lowering, cell: Cell, name: str, new: Value, node=None) -> None:
    """Set an attribute of an object without asking its class."""
    lo.alive(cell)
    if not cell.cls.__dictoffset__ and find(cell.cls, name)[0] is None:
        raise core.surely(lo, core.refused(lo, f"`{name}` is none of the `__slots__` of {cell.cls.__name__}"), AttributeError)
    if cell in lo.global_objects:
        return outliving.set_attribute(lo, cell, name, new)
    if cell.frozen:
        reason = f"`.{name}` is assigned here, but {cell.frozen}"
        error = core.refused(lo, reason, "keep what changes in a local variable, or in an object made inside the function")
        raise core.frozen_error(cell, error)
    lo.changed(cell)
    lo.set(cell.slots, name, new)
    if lo.follow is not None:
        lo.follow(cell, [name])


@core.store.register("object", SuperVal)
def store_item(lo: Lowering, value: Value, key: Value, new: Value, node, mode: str = "set") -> None:
    """Lower `value[key] = new` by the method `__setitem__`."""
    if core.call_special(lo, value, "__setitem__", [key, new], node) is not None:
        return
    if (held := core.array_of(value)) is not None:
        core.store(lo, held, array_objects.plain(lo, key), array_objects.plain(lo, new), node, mode)
    else:
        core.store.default(lo, value, key, new, node)


# -- new objects ---------------------------------------------------------------------------------------------------------


def can_make(cls: Any) -> bool:
    """Tell whether calls of `cls` can be lowered."""
    return is_namedtuple(cls) or is_plain_class(cls) or is_derived_class(cls)


@core.kind_of_callable("class", can_make)
def make(lo: Lowering, cls: type, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `cls(*args, **kwargs)`."""
    if is_namedtuple(cls):
        return make_tuple(lo, cls, args, kwargs)
    if inspect.isabstract(cls):
        raise core.refused(lo, f"{cls.__name__} is an abstract class")
    if cls is types.SimpleNamespace:
        cell = lo.new_object(cls, {})
        for name, value in kwargs.items():
            lo.set(cell.slots, name, value)
        return cell
    base, new = find(cls, "__new__")
    if base not in NEUTRAL:
        made = core.call_object(lo, getattr(new, "__func__", new), [Const(cls), *args], kwargs, node)
        return initialised(lo, made, args, kwargs, node) if issubclass(core.class_of(made) or object, cls) else made
    return initialised(lo, lo.new_object(cls, {}), args, kwargs, node)


def initialised(lo: Lowering, cell: Cell, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the `__init__` of an object that was made."""
    cls = cell.cls
    base, init = find(cls, "__init__")
    if generated_init(cls):
        fill_dataclass(lo, cell, base, args, kwargs, node)
    elif base is not object:
        done = core.call_object(lo, init, [cell, *args], kwargs, node)
        return dataclasses.replace(done, result=cell) if isinstance(done, core.Escaped) else cell
    elif (args or kwargs) and find(cls, "__new__")[0] in NEUTRAL:
        raise core.refused(lo, f"{cls.__name__} takes no arguments")
    return cell


# -- named tuples --------------------------------------------------------------------------------------------------------


def make_tuple(lo: Lowering, cls: type, args: list[Value], kwargs: dict[str, Value]) -> TupleVal:
    """Construct a named tuple, as in `Point(1.0, y=2.0)`."""
    if "__new__" in own_names(cls) or "__init__" in own_names(cls):
        raise core.refused(lo, f"the named tuple {cls.__name__} is made by code of its own")
    lo.classes.setdefault(cls, True)
    names = cls._fields
    given = getattr(cls.__new__, "__defaults__", None) or ()  # which some programs set anew
    defaults = {k: core.as_value(lo, v) for k, v in zip(names[len(names) - len(given) :], given)}
    found = arguments(lo, cls, names, (), args, kwargs, defaults)
    return TupleVal(tuple(found[n] for n in names), None, cls)


def arguments(lo: Lowering, cls, names, only_named, args, kwargs, defaults) -> dict[str, Value]:
    """Return the value of each parameter of a generated constructor."""
    names, only_named = ([gast.Name(n, gast.Param(), None, None) for n in ns] for ns in (names, only_named))
    node = gast.FunctionDef(cls.__name__, gast.arguments(names, [], None, only_named, [], None, []), [], [], None, None)
    return inlining.bind(lo, inlining.LocalSource(lo.scope.source, node), args, kwargs, defaults)


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
            assign = set_attribute if own_setter(cell.cls) else store_attribute
            assign(lo, cell, f.name, found[f.name], node)
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
    fields = fields_of(lo, cls, node, "`dataclasses.replace` of something that is no dataclass here")
    if unset := [f.name for f in fields if not f.init and f.name in kwargs]:
        raise core.unsupported(lo, node, f"the field `{unset[0]}` of {cls.__name__} is not a parameter of it")
    kept = {f.name: core.attribute(lo, obj, f.name, node) for f in fields if f.init and f.name not in kwargs}
    return core.call_object(lo, cls, [], {**kept, **kwargs}, node)


def fields_of(lo: Lowering, cls: Any, node, *refusal: str) -> tuple[dataclasses.Field, ...]:
    """Return the fields of a dataclass; refuse anything else."""
    if not dataclasses.is_dataclass(cls):
        raise core.unsupported(lo, node, *refusal)
    return dataclasses.fields(cls)


def convert(make, lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `dataclasses.asdict(obj)` or `dataclasses.astuple(obj)`: `make` makes the result from copies of the fields."""
    cls = None if kwargs else core.class_of(args[0])
    fields = fields_of(lo, cls, node, "this conversion of a dataclass", "write out the fields")
    return make(lo, {f.name: copied(lo, core.attribute(lo, args[0], f.name, node), functools.partial(convert, make), node) for f in fields})


core.builtin(dataclasses.asdict)(functools.partial(convert, Lowering.new_dict))
core.builtin(dataclasses.astuple)(functools.partial(convert, lambda lo, items: TupleVal(tuple(items.values()))))


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


# -- what operators and built-in functions do with objects -----------------------------------------------------------------


def declined(result: Value | None) -> bool:
    """Tell whether a class has no method for an operator, or one that leaves these operands to another."""
    return result is None or isinstance(result, Const) and result.value is NotImplemented


def operate(lo: Lowering, fn: Any, values: list[Value]) -> Value | None:
    """Call the operator that the class of an operand defines, or return None if none does."""
    name = DUNDER.get(fn)
    if name is None:
        return None
    if (found := sparse_matrices.operate(lo, fn, values)) is not None or all(core.class_of(v) is None for v in values):
        return found
    reflected = f"__{REFLECTED.get(name, 'r' + name)}__"
    attempts = [(values, f"__{name}__"), (values[::-1], reflected)][: len(values)]
    a, b = core.class_of(values[0]), core.class_of(values[-1])
    if a is not b and a and b and issubclass(b, a) and find(b, reflected)[1] is not find(a, reflected)[1]:
        attempts.reverse()
    elif core.array_of(values[0]) is not None and core.special_method(values[0], f"__{name}__") is None:
        attempts.clear()  # the operator of NumPy comes first
    for operands, special_name in attempts:
        found = core.special_method(operands[0], special_name)
        if found is None:
            continue
        if operands[0] is not values[0] and (taken := taken_by_numpy(lo, *values)) is not None:
            return core.operate(lo, fn, values[0], taken)
        if found.__code__.co_filename == "<string>":
            cls = core.class_of(operands[0])
            if fn in (operator.eq, operator.ne) and operands[0] is operands[1]:  # tuples of the same items are equal
                return Const(fn is operator.eq)
            raise core.refused(lo, f"the comparison that `dataclass` writes for {cls.__name__}", "compare the fields")
        result = core.call_object(lo, found, operands, {}, None)
        if not declined(result):
            return result
    if any(core.array_of(v) is not None for v in values):
        return array_objects.operate(lo, fn, values)
    if all(isinstance(v, TupleVal) or core.class_of(v) is None for v in values):
        return None  # a named tuple is a tuple
    if fn is operator.ne and any(core.special_method(v, "__eq__") for v in values):
        return core.call_object(lo, operator.not_, [core.operate(lo, operator.eq, *values)], {}, None)
    kinds = [core.REAL_CLASSES.get(cls, cls) for v in values if (cls := core.class_of(v)) is not None]
    if own := [cls.__name__ for cls in kinds if find(cls, f"__{name}__")[0] not in (None, object)]:
        raise core.refused(lo, f"what this operator does with an object of class {own[0]}")
    if fn in (operator.eq, operator.ne) and not any(isinstance(core.data_type(lo, v), (Array, Unknown)) for v in values):
        return core.operate(lo, operator.is_ if fn is operator.eq else operator.is_not, *values)  # as `object` compares
    cls = next(cls for cls in map(core.class_of, values) if cls is not None)
    special_name = f"__{name}__" if core.class_of(values[0]) is cls else reflected
    raise core.perhaps(core.refused(lo, f"an object of class {cls.__name__} has no `{special_name}` that takes these operands"), TypeError)
