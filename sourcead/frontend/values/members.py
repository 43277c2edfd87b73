"""Read attributes of a member of an enumeration that the run decides.

    state = State.HIGH if x > 0 else State.LOW
    return state.value * x                          one number for each member, which the text reads from the member
"""

import enum
import functools
import inspect
import operator
import types
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.core import MISSING, BoundVal, Lowering, Value
from sourcead.ir.nodes import Attr, Call, Const
from sourcead.ir.records import type_of
from sourcead.ir.types import ANY_DTYPE, MEMBERS, Member, Scalar, Str, Type, Unknown, join

NAMES = "name", "value", "_name_", "_value_"


def is_own(t: Type, name: str) -> bool:
    """Tell whether a type is that of members of an enumeration which have an attribute as such, not as the numbers or texts they are."""
    if not isinstance(t, MEMBERS):
        return False
    own = any(name in vars(base) for base in t.cls.__mro__ if isinstance(base, enum.EnumMeta))
    return isinstance(t, Member) or name in NAMES or own or any(name in vars(member) for member in t.cls)


def may_be(t: Type | None) -> bool:
    """Tell whether a number or text of this type may be a member of an enumeration, of which the type does not tell."""
    return isinstance(t, Scalar) and t.dtype is ANY_DTYPE or type(t) is Str


def of_value(lo: Lowering, cls: type[enum.Enum], value: Value) -> Value | None:
    """Lower `cls(value)` of a number, text or member that the run decides; None if it is known, or if the class makes members of others."""
    makes_others = inspect.getattr_static(cls, "_missing_") is not inspect.getattr_static(enum.Enum, "_missing_")
    if core.known(lo, value)[0] or issubclass(cls, enum.Flag) or makes_others:
        return None
    if not isinstance(core.data_type(lo, value), (Scalar, Str, *MEMBERS)):
        return None
    return lo.build.emit(Call(cls, (lo.read(value),)), functools.reduce(join, map(type_of, cls)), cls.__name__.lower())


def attribute(lo: Lowering, value: Value, cls: type[enum.Enum], name: str, node) -> Value:
    """Lower an attribute of a member that the run decides: what its class has, or what each member has."""
    found = MISSING if name in NAMES else inspect.getattr_static(cls, name, MISSING)
    match found:
        case types.FunctionType():
            return BoundVal(Const(found), (value,))
        case property(fget=types.FunctionType() as getter):
            return core.call_object(lo, getter, [value], {}, node)
        case classmethod() | staticmethod():
            return core.attribute(lo, Const(cls), name, node)
    if found is not MISSING and not isinstance(found, cls):
        what = f"`{name}` of a member of {cls.__name__} that is not known before the program runs"
        raise core.refused(lo, what, f"`if`, and `{cls.__name__}.NAME` in each arm")
    members = list(cls)
    if not all(hasattr(member, name) for member in members):
        raise core.no_attribute(lo, value, name)
    return of_each(lo, value, {member: getattr(member, name) for member in members}, name)


def is_constant(part: Any) -> bool:
    """Tell whether what a member has under a name cannot change."""
    return all(map(is_constant, part)) if type(part) is tuple else core.is_code(part) or isinstance(part, int | float | complex)


def of_each(lo: Lowering, value: Value, parts: dict[enum.Enum, Any], name: str) -> Value:
    """Lower an attribute that is a constant for each member."""
    if not all(is_constant(part) for part in parts.values()):
        raise core.refused(lo, f"`{name}` of a member that is not known before the program runs, which is no number, text or function")
    t = functools.reduce(join, map(type_of, parts.values()))
    if not isinstance(t, Unknown | Str):
        return lo.wrap(lo.build.emit(Attr(lo.read(value), name), t, name))
    (_, last), *others = reversed(parts.items())

    def chosen(left: list) -> Value:
        if not left:
            return core.as_value(lo, last)
        (member, part), *rest = left
        is_it = core.operate(lo, operator.is_, value, Const(member))
        return branches.choose(lo, is_it, lambda: core.as_value(lo, part), lambda: chosen(rest), "ifexp")

    return chosen(others)
