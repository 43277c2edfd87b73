"""Lower the built-in functions for objects: `super`, `getattr`, `setattr`, `hasattr`, `type`, `partial`."""

import ast
import contextlib
import enum
import functools
import inspect
import keyword
import operator
import types
from collections.abc import Callable

import gast
import numpy as np

from sourcead.analysis.conditions import raises
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.control import branches, narrowing
from sourcead.frontend.core import (
    POISON, UNSURE, BoundVal, Cell, Flag, IdentityVal, Lowering, MethodVal, NamesVal, SuperVal, TupleVal, Value
)
from sourcead.frontend.values import members, objects
from sourcead.ir.nodes import UNDEFINED, Block, Call, Const, Effect, Var
from sourcead.ir.records import find, is_frozen
from sourcead.ir.walk import walk


@lowers(super)
def builtin_super(lo: Lowering, node, *args: Value) -> Value:
    """Lower `super()`."""
    if args:
        of_class = isinstance(args[-1], Const) and isinstance(args[-1].value, type)
        if len(args) == 2 and isinstance(args[0], Const) and (of_class or core.class_of(args[1]) is not None):
            return SuperVal(args[0].value, args[1])
        raise core.refused(lo, "`super` with these arguments", "call it without arguments")
    scope = lo.scope
    while scope is not None and "__class__" not in scope.source.closure:
        scope = scope.parent
    a = scope.source.node.args if scope is not None else None
    first = next(iter([*a.posonlyargs, *a.args]), None) if a is not None else None
    value = scope.names.get(first.id, None) if first is not None else None
    if core.class_of(value) is None and not (isinstance(value, Const) and isinstance(value.value, type)):
        raise core.refused(lo, "`super()` is used where the object is not known")
    return SuperVal(scope.source.closure["__class__"].cell_contents, value)


def for_each_name(rule: Callable[..., Value]) -> Callable[..., Value]:
    """Make the rule of `getattr` and its like one that chooses between the names that a condition has chosen: `"x" if a else "y"`."""

    @functools.wraps(rule)
    def lower(lo: Lowering, node, value: Value, name: Value, *more: Value) -> Value:
        is_known = core.known(lo, name)[0] or not isinstance(name, Var)
        names = {c.value: c for c in (() if is_known else narrowing.constants(lo, name))}
        if not names or not all(isinstance(each, str) for each in names):
            return rule(lo, node, value, name, *more)

        def chosen(first: Const, *others: Const) -> Value:
            if not others:
                return rule(lo, node, value, first, *more)
            is_first = core.operate(lo, operator.eq, name, first)
            return branches.choose(lo, is_first, lambda: rule(lo, node, value, first, *more), lambda: chosen(*others))

        return chosen(*names.values())

    return lower


@stands_in_for()
def attribute_or(obj, name, default):
    try:
        return obj.__getattr__(name)
    except AttributeError:
        return default


@lowers(getattr)
@for_each_name
def builtin_getattr(lo: Lowering, node, value: Value, name: Value, default: Value | None = None) -> Value:
    """Lower `getattr(obj, "name")`."""
    word = known_name(lo, getattr, name)
    found = True if default is None else has(lo, value, word)
    if found is None and core.class_of(value) is not None and core.special_method(value, "__getattr__") is not None:
        return core.call_object(lo, attribute_or, [value, Const(word), default], {}, node)
    if found is None:
        raise core.refused(lo, f"whether this has an attribute `{word}` is not known before the program runs")
    if not found:
        return default
    return core.attribute(lo, value, word, node)


@core.kind_of_callable("enumeration", lambda fn: isinstance(fn, enum.EnumMeta))
def member(lo: Lowering, cls: type, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `cls(value)`, a member of an enumeration."""
    unknown = f"which member of {cls.__name__} this is, is not known before the program runs"
    refusal = unknown, f"`if`, and `{cls.__name__}.NAME` in each arm"
    if len(args) == 1 and not kwargs and (found := members.of_value(lo, cls, args[0])) is not None:
        return found
    given = [core.certain(lo, value, node, *refusal) for value in args]
    try:
        return Const(cls(*given, **{k: core.certain(lo, value, node, *refusal) for k, value in kwargs.items()}))
    except ValueError as error:
        raise core.surely(lo, core.unsupported(lo, node, f"it raises ValueError: {error}"), ValueError) from None


@lowers(id)
def builtin_id(lo: Lowering, node, value: Value) -> IdentityVal:
    """Lower `id(obj)`, for use as the hash of an object."""
    if not isinstance(value, Cell) or value.kind != "object":
        raise core.unsupported(lo, node, "`id` of this object")
    return IdentityVal(value)


@lowers(vars)
def builtin_vars(lo: Lowering, node, value: Value | None = None) -> Value:
    """Lower `vars(obj)`, and `vars()`, which is `locals()`."""
    return builtin_locals(lo, node) if value is None else core.attribute(lo, value, "__dict__", node)


@lowers(object.__getattribute__)
def builtin_getattribute(lo: Lowering, node, value: Value, name: Value) -> Value:
    """Lower `obj.__getattribute__("name")` of an object whose class defines no other."""
    return core.attribute(lo, value, known_name(lo, getattr, name), node)


MADE = Flag("locals")


@lowers(locals)
def builtin_locals(lo: Lowering, node) -> Value:
    """Lower `locals()` to a dict of the variables as they are now.

    Up to Python 3.12, all calls in one call of a function return the same dict, which each brings up to date; later, each returns another.
    So no program may use an earlier one after the next call, or write to one unless it is the only one.
    """
    scope = lo.scope
    if scope.parent is not None or scope.loops or scope.source.closure.keys() - {"__class__"}:
        raise core.unsupported(lo, node, "`locals()` in a loop or in a function inside another", "write the dict: `{'x': x}`")
    bound = {name: value for name, value in scope.names.items() if not isinstance(name, Flag) and value is not UNDEFINED}
    made = lo.new_dict(bound, "variables")
    if core.name_reads(scope.source.node)["locals"] > 1:
        made.frozen = "it is what `locals()` returned"
    if any(lo.may_be_missing(value) for value in made.contents):
        lo.set(made.slots, UNSURE, "which variables have a value here is not known before the program runs")
    earlier = scope.exits.setdefault(MADE, [])
    for cell in earlier:
        lo.set(cell.slots, POISON, "what an earlier `locals()` returned differs between versions of Python")
    earlier.append(made)
    return made


@lowers(globals)
def builtin_globals(lo: Lowering, node) -> NamesVal:
    """Lower `globals()`, whose names are looked up one by one."""
    return NamesVal(lo.scope.source.globals)


@core.subscript.register(NamesVal)
def item_of_globals(lo: Lowering, base: NamesVal, key: Value, node) -> Value:
    """Lower `globals()["name"]`."""
    found, name = core.known(lo, key)
    if not found:
        why = "which name of the module this is, is not known before the program runs"
        raise core.unsupported(lo, node, why, "choose among functions by `if`, or keep them in a list")
    if not core.has_global(lo, base.names, name):
        raise core.surely(lo, core.unsupported(lo, node, f"the module has no name {name!r}"), KeyError)
    return core.read_global(lo, base.names, name)


core.attribute.register(NamesVal)(lambda lo, value, name, node: MethodVal(value, name))


@core.method.register(NamesVal)
def method_of_globals(lo: Lowering, value: NamesVal, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `globals().get("name", default)`."""
    found, key = core.known(lo, args[0]) if args else (False, None)
    if name != "get" or kwargs or not found:
        raise core.unsupported(lo, node, f"`globals().{name}(...)`", "the names themselves")
    return core.read_global(lo, value.names, key) if core.has_global(lo, value.names, key) else (*args, Const(None))[1]


@lowers(setattr)
@for_each_name
def builtin_setattr(lo: Lowering, node, value: Value, name: Value, new: Value) -> Value:
    """Lower `setattr(obj, "name", value)`."""
    objects.set_attribute(lo, value, known_name(lo, setattr, name), new, node)
    return Const(None)


@lowers(object.__setattr__)
def builtin_object_setattr(lo: Lowering, node, value: Value, name: Value, new: Value) -> Value:
    """Lower `object.__setattr__(obj, "name", value)`, by which frozen dataclasses set their own fields."""
    word = known_name(lo, setattr, name)
    if not isinstance(value, Cell) or core.class_of(value) is None:
        raise core.refused(lo, "`object.__setattr__` of something that is not known here")
    store = objects.store_attribute if is_frozen(core.class_of(value)) else objects.assign
    store(lo, value, word, new, node)
    return Const(None)


@lowers(object.__new__)
def builtin_object_new(lo: Lowering, node, cls: Value, *args: Value, **kwargs: Value) -> Value:
    """Lower `object.__new__(cls)`, which makes an object without attributes."""
    if not isinstance(cls, Const) or not objects.can_make(cls.value):
        raise core.refused(lo, "`object.__new__` of a class that is not known here")
    return lo.new_object(cls.value, {})


@lowers(hasattr)
@for_each_name
def builtin_hasattr(lo: Lowering, node, value: Value, name: Value) -> Value:
    """Lower `hasattr(obj, "name")`."""
    word = known_name(lo, hasattr, name)
    found = has(lo, value, word)
    if not found and (classes := core.classes_of(lo, value)):
        core.refuse_unknown_class(lo, classes)
    if found and is_computed(value, word):
        core.attribute(lo, value, word, node)  # which may change something
    return core.call_library(lo, hasattr, [value, name], {}, node) if found is None else Const(found)


@lowers(callable)
def builtin_callable(lo: Lowering, node, value: Value) -> Value:
    """Lower `callable(x)`, also of a method such as `x.squeeze`."""
    if isinstance(value, MethodVal) and all(callable(getattr(cls, value.name, None)) for cls in core.classes_of(lo, value.value) or [None]):
        return Const(True)
    if core.is_function(value):
        return Const(True)
    answers = {find(cls, "__call__")[0] is not None for cls in core.classes_of(lo, value)}
    if len(answers) == 1 and (True in answers or core.has_exact_class(lo, value)):
        return Const(answers.pop())
    return core.call_library(lo, callable, [value], {}, node)


def has(lo: Lowering, value: Value, name: str) -> bool | None:
    """Tell whether a value has an attribute, or return None if that is not known; the text relies on the answer."""
    obj = value.value if isinstance(value, Const) and not value.live else None
    if isinstance(obj, type):
        lo.classes.setdefault(obj, True)
    elif isinstance(own := getattr(obj, "__dict__", None), dict):  # of a module or function
        lo.guards[(id(own), name)] = (own, name, own.get(name, core.MISSING))
    found = core.has_attribute(lo, value, name)
    return computes(lo, value, name) if found and is_computed(value, name) else found


def is_computed(value: Value, name: str) -> bool:
    """Return whether a property or another descriptor of an object's class computes an attribute, which may raise an AttributeError."""
    if core.class_of(value) is None or isinstance(value, Cell) and name in value.items:
        return False
    member = find(core.class_of(value), name)[1]
    of_python = isinstance(getattr(type(member), "__get__", None), types.FunctionType) and not isinstance(member, types.FunctionType)
    return of_python or isinstance(member, property | types.MemberDescriptorType)  # a slot may have no value


def computes(lo: Lowering, value: Value, name: str) -> bool:
    """Tell whether an attribute that a descriptor computes has a value, by lowering it on trial; refuse one that may have none."""
    with lo.attempt(UnsupportedSyntaxError, when=lambda error: core.surely_raised(error)[0] is AttributeError) as attempt:
        with lo.build.block() as stmts:
            core.attribute(lo, value, name, None)
        attempt.fail()
    raised = [s.op.kind for s in walk(Block(tuple(stmts), ())) if isinstance(s.op, Effect)]
    if attempt.error is None and "raise" not in raised:
        return True
    made = stmts[-2].op if attempt.error is None and len(stmts) > 1 and raises(Block(tuple(stmts), ())) else None
    if attempt.error is not None and not raised or len(raised) == 1 and isinstance(made, Call) and made.fn is AttributeError:
        return False
    raise core.refused(lo, f"whether `{name}`, which a property computes, has a value here is not known before the program runs")


def known_name(lo: Lowering, fn, name: Value) -> str:
    """Return the name of an attribute if it is known while compiling; refuse it otherwise."""
    found, word = core.known(lo, name)
    if not found or not isinstance(word, str):
        raise core.refused(lo, f"`{fn.__name__}` of a name that is not known before the program runs")
    return word


@core.builtin(eval)
def builtin_eval(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `eval` of a known text that is a number or text itself, or names something outside of the function: "1.5", "module.name"."""
    found, text = core.known(lo, TupleVal(tuple(args)))
    with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError):
        literal = ast.literal_eval(text[0]) if found and len(text) == 1 and not kwargs else ...
        if isinstance(literal, int | float | str | None):
            return Const(literal)
    first, *others = text[0].strip().split(".") if found and len(text) == 1 and isinstance(text[0], str) and not kwargs else [""]
    names_it = all(name.isidentifier() and not keyword.iskeyword(name) for name in (first, *others))
    if not names_it or any(first in scope.names for scope in lo.scopes()):
        raise core.unsupported(lo, node, "what `eval` reads or changes cannot be seen in the source", "write out what it does")
    made = core.resolve(lo, first)
    return functools.reduce(lambda value, name: core.attribute(lo, value, name, node), others, made)


@lowers(type)
def builtin_type(lo: Lowering, node, *args: Value) -> Value:
    """Lower `type(obj)`."""
    classes = core.classes_of(lo, args[0]) if len(args) == 1 else ()
    if classes:
        core.refuse_unknown_class(lo, classes)
    exact = len(classes) == 1 and core.has_exact_class(lo, args[0])
    if not classes and len(args) == 1 and isinstance(args[0], Cell) and isinstance(dtype := core.known(lo, lo.read(args[0]))[1], np.dtype):
        return Const(type(dtype))
    return Const(classes[0]) if exact else core.call_library(lo, type, list(args), {}, node)


@lowers(inspect.getfullargspec)
def builtin_getfullargspec(lo: Lowering, node, function: Value) -> Value:
    """Lower `inspect.getfullargspec(f)` of a function that is known while compiling."""
    if isinstance(function, BoundVal) and isinstance(node.args[0], gast.Attribute) and len(function.args) == 1 and not function.kwargs:
        function = function.function  # a method, of which `self` is a parameter too
    unknown = "the parameters of a function that is not known here"
    known = core.certain(lo, function, node, unknown)
    if hasattr(known, "lowered"):  # it stands for a function that is defined here
        raise core.unsupported(lo, node, unknown)
    spec = inspect.getfullargspec(known)
    names = {name: lo.new_list(map(Const, getattr(spec, name))) for name in ("args", "kwonlyargs")}
    found = {name: names.get(name) or core.as_value(lo, part) for name, part in zip(spec._fields, spec)}
    return TupleVal(tuple(found.values()), None, type(spec))


@lowers(functools.partial)
def builtin_partial(lo: Lowering, node, function: Value, /, *args: Value, **kwargs: Value) -> Value:
    """Lower `partial(f, x, k=y)`."""
    return BoundVal(function, args, kwargs)


core.builtin(object.__init__)(lambda lo, args, kwargs, node: Const(None))
