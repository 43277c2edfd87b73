"""Lower a class definition inside a function to a Python class; its methods stand for functions that are lowered where they are called."""

import dataclasses
import functools
import types
from typing import Any

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import inlining
from sourcead.frontend.core import FunctionVal, LocalData, Lowering, Scope
from sourcead.frontend.find_source import unwrap
from sourcead.frontend.syntax.expressions import named_object
from sourcead.frontend.values import objects
from sourcead.ir.nodes import Const, Var
from sourcead.ir.records import is_exception_class

READ_BY_PYTHON = {"__slots__", "__match_args__"}  # when it makes the class, or looks at an object of it
OF_DESCRIPTORS = ("__get__", "__set__", "__delete__", "__set_name__")
DECORATORS = (property, staticmethod, classmethod, functools.cached_property)


@core.statement(gast.ClassDef)
def lower_classdef(lo: Lowering, node: gast.ClassDef) -> None:
    """Lower a class definition."""
    made = class_of_definition(lo, node)
    earlier = lo.scope.exits.setdefault(("class", node), made)  # the same class in each iteration, if nothing in it can differ
    same = all(same_member(vars(earlier).get(name), member) for name, member in vars(made).items())
    lo.set(lo.scope.homes.get(node.name, lo.scope.names), node.name, Const(earlier if same else made))


def class_of_definition(lo: Lowering, node: gast.ClassDef) -> type:
    """Make the class that a definition describes."""
    bases = tuple(known(lo, base) for base in node.bases)
    if node.keywords:
        raise core.unsupported(lo, node)
    closure = types.CellType()
    body = Scope(lo.scope.source, parent=lo.scope)
    body.local = set()  # a name that the body of a class has not bound yet is looked up outside of it
    members: dict[str, Any] = {"__module__": lo.scope.source.globals.get("__name__"), "__qualname__": node.name}
    for statement in node.body:
        with lo.at(statement):
            add_member(lo, statement, body, members, closure)
    for name, value in body.names.items():
        if any(core.special_method(value, asked) for asked in OF_DESCRIPTORS):
            raise core.unsupported(lo, node, f"`{name}` is a descriptor of a class inside a function", "define the class outside of it")
        if isinstance(value, FunctionVal):
            members[name] = method_of(lo, node, value)
            continue
        is_known, constant = core.known(lo, value) if isinstance(value, Var | Const) else (False, None)
        is_code = is_known and (core.is_code(constant) or isinstance(constant, DECORATORS))
        members[name] = constant if is_code else LocalData(Const(constant) if is_known else value)
    for name in READ_BY_PYTHON & body.names.keys():
        refusal = f"a `{name}` that is not known here", f'a tuple of names, `{name} = ("a", "b")`'
        members[name] = core.certain(lo, body.names[name], node, *refusal)
    if lo.depth and any(isinstance(m, LocalData) and not isinstance(m.value, Const) for m in members.values()):
        raise core.unsupported(lo, node, "a class with data that is computed in a branch or loop", "make the class outside of it")
    lo.classes.update(dict.fromkeys(bases, True))
    cls = types.new_class(node.name, bases, exec_body=lambda namespace: namespace.update(members))
    for decorator in reversed(node.decorator_list):
        made = known(lo, decorator.func if isinstance(decorator, gast.Call) else decorator)
        if made is not dataclasses.dataclass:
            raise core.unsupported(lo, decorator, "this decorator of a class inside a function", "define the class outside of it")
        options = {k.arg: known(lo, k.value) for k in decorator.keywords} if isinstance(decorator, gast.Call) else {}
        cls = dataclasses.dataclass(cls, **options)
    if not objects.can_make(cls) and not is_exception_class(cls):
        raise core.unsupported(lo, node)
    closure.cell_contents = cls
    lo.classes[cls] = False
    return cls


def add_member(lo: Lowering, node: gast.AST, body: Scope, members: dict[str, Any], closure: types.CellType) -> None:
    """Lower a statement in the body of a class."""
    match node:
        case gast.FunctionDef(name=name, decorator_list=decorators):
            with lo.in_scope(body):
                made = inlining.local_function(lo, node)
            made.source.closure = {**made.source.closure, "__class__": closure}
            function = FunctionVal(made.source, body.parent, made.defaults)
            found: Any = method_of(lo, node, function)
            for decorator in reversed(decorators):
                found = decorated(lo, decorator, found, members)
            members[name] = found
            lo.set(body.names, name, Const(found) if decorators else function)
        case gast.AnnAssign(target=gast.Name(id=name)):
            members.setdefault("__annotations__", {})[name] = object
            with lo.in_scope(body):
                if named_object(lo, getattr(node.value, "func", None)) is dataclasses.field:
                    members[name] = field_of(lo, node.value)
                elif node.value is not None:
                    core.lower_statements(lo, [node])
        case gast.Assign() | gast.Pass() | gast.Expr(value=gast.Constant()):
            with lo.in_scope(body):
                core.lower_statements(lo, [node])
        case _:
            raise core.unsupported(lo, node, "this statement in the body of a class", "define the class outside of the function")


def field_of(lo: Lowering, call: gast.Call) -> dataclasses.Field:
    """Return the field of a dataclass that `field(default_factory=lambda: ...)` describes."""
    options = {}
    for word in call.keywords:
        value = core.lower(lo, word.value)
        options[word.arg] = stand_in(value) if isinstance(value, FunctionVal) else known(lo, core.Held(value))
    return dataclasses.field(**options)


def decorated(lo: Lowering, decorator: gast.AST, found: Any, members: dict[str, Any]) -> Any:
    """Apply a decorator of a method."""
    if isinstance(decorator, gast.Attribute) and isinstance(members.get(getattr(decorator.value, "id", None)), property):
        return getattr(members[decorator.value.id], decorator.attr)(found)
    made = known(lo, decorator)
    if made not in DECORATORS:
        raise core.unsupported(lo, decorator, "this decorator of a method of a class inside a function", "call it in the method")
    return made(found)


def method_of(lo: Lowering, node: gast.AST, made: FunctionVal) -> types.FunctionType:
    """Return what stands for a function in a class, whatever name of the class it has."""
    if lo.depth and not all(isinstance(v, Const) for v in made.defaults.values()):
        what = "a method with a default that is computed in a branch or loop"
        raise core.unsupported(lo, node, what, "make the class outside of it")
    return stand_in(made)


def stand_in(made: FunctionVal) -> types.FunctionType:
    """Return a Python function that stands for a function inside the function being lowered."""

    def method(self, *args, **kwargs):
        what = f"`{made.source.name}` of the class {type(self).__name__}, which is defined inside the function"
        raise UnsupportedSyntaxError(f"{what}, is called by Python itself", instead="define the class outside of the function")

    method.lowered = made
    return method


def known(lo: Lowering, node: gast.AST) -> Any:
    """Return the Python object that an expression is known to be."""
    return core.certain(lo, core.lower(lo, node), node, "this part of a class definition is not known before the program runs")


def same_member(a: Any, b: Any) -> bool:
    """Tell whether two members of a class, made by the same definition, are the same for every purpose."""
    match a, b:
        case LocalData(), LocalData():
            return core.same_thing(a.value, b.value)
        case types.FunctionType(lowered=first), types.FunctionType(lowered=second):
            return core.same_thing(first, second)
        case property(), property():
            return all(same_member(getattr(a, part), getattr(b, part)) for part in ("fget", "fset", "fdel"))
        case (staticmethod(), staticmethod()) | (classmethod(), classmethod()):
            return same_member(a.__func__, b.__func__)
    return type(a) is type(b) and (a is b or isinstance(a, types.GetSetDescriptorType) or a == b)


@core.kind_of_callable("local", lambda fn: hasattr(unwrap(fn)[0], "lowered"))
def call_method(lo: Lowering, fn: Any, args: list, kwargs: dict, node) -> Any:
    """Lower a call of a method of a class inside the function being lowered."""
    plain, bound, _ = unwrap(fn)
    return core.call(lo, plain.lowered, [*map(Const, bound), *args], kwargs, node)
