"""What a rule must return: a derivative for each of some arguments, and a cotangent that has the axes of its argument.

A user's rule that returns something else is refused. The rules of this package are tested for that.
"""

from collections.abc import Callable, Iterable

import gast

from sourcead import runtime
from sourcead.analysis.builder import Builder
from sourcead.errors import NoSourceError, RuleError, UnsupportedArgumentError
from sourcead.frontend.core import TupleVal, Value, is_sequence, surely_raised, type_of_value
from sourcead.frontend.find_source import find_source
from sourcead.frontend.lower import Lowering
from sourcead.frontend.values import sequences
from sourcead.ir.nodes import Atom, Build, Call, Const, Operand, Stmt, Var
from sourcead.ir.spoken_types import spoken
from sourcead.ir.types import (
    UNKNOWN, Array, DictT, ListT, MapT, NoneType, Scalar, Str, TupleT, Type, Unknown, keyed_parts, rank
)
from sourcead.places.spelling import counted, spelled
from sourcead.primitives.registry import is_own
from sourcead.primitives.rule import Rule, TangentRule, malformed


def results_for(lo: Lowering, rule: Rule | TangentRule, result: Value, types: dict[str, Type]) -> list[Value]:
    """Return what a rule returned for each of the arguments of these names and types whose derivatives it returns.

    Raises:
        RuleError: it is not one derivative for each of them.
    """
    kind, t, own = "cotangent" if isinstance(rule, Rule) else "tangent", type_of_value(result), is_own(rule.function)
    each = one_for(kind, types)
    if len(types) > 1 and isinstance(t, Unknown):
        result = one_for_each(lo.build, rule, lo.read(result), len(types))
    if len(types) == 1 and isinstance(t, NoneType) and not own:
        raise returns_nothing(rule)
    whole = len(types) == 1 or not (own or is_sequence(result) or isinstance(t, Unknown))
    items = [result] if whole else sequences.static_items(lo, result, None, len(types))
    if len(items) != len(types):
        found = spoken(t) or "one value" if whole else counted(len(items), kind)
        raise malformed(rule.function, f"returns {found}, and {spelled(rule.primal)} has {len(types)} arguments", each)
    for (name, wanted), item in zip(types.items(), items):
        if not own and isinstance(wanted, (Scalar, Array)) and not fits(rule, item, wanted):
            found = structure(item) or spoken(type_of_value(item))
            raise malformed(rule.function, f"returns {found} as the {kind} of {name}, which is {spoken(wanted)}", each)
    return items


def collected(build: Builder, result: Operand | None, t: Type, name: str) -> Atom | None:
    """Return a rule's result as one value of type `t`, built if the rule returned it item by item."""
    if not isinstance(result, tuple):
        return result
    types = [part for _, part in keyed_parts(t) or ()]
    types = types if len(types) == len(result) else [UNKNOWN] * len(result)
    items = (collected(build, r, part, f"{name}_{k}") for k, (r, part) in enumerate(zip(result, types)))
    kind = "tuple" if isinstance(t, TupleT) else "list"
    return build.emit(Build(kind, tuple(Const(None) if i is None else i for i in items)), t, name)


def one_for(kind: str, names: Iterable[str]) -> str:
    """Return what a rule of these arguments must return, for a message."""
    first, *more = names
    return f"return a {kind} for each: of {', '.join((first, *more))}" if more else f"return the {kind} of {first}"


def returns_nothing(rule: Rule | TangentRule) -> RuleError:
    """Return the error for a rule that returns nothing."""
    return malformed(rule.function, "returns nothing", one_for("derivative", rule.params))


def one_for_each(build: Builder, rule: Rule | TangentRule, whole: Var, count: int) -> Var:
    """Emit the check of what a rule returns if its type does not tell whether it is a derivative for each argument."""
    if is_own(rule.function) or count == 1 and always_gives(rule.function):
        return whole
    return build.call(runtime.one_for_each, whole, Const(count), Const(spelled(rule.primal)), type=whole.type)


def always_gives(function: Callable) -> bool:
    """Return whether a function is known to return something but None in all its branches."""
    try:
        node = find_source(function).node
    except NoSourceError:
        return False
    return isinstance(node, gast.Lambda) or gives(node.body)


def gives(body: list[gast.stmt]) -> bool:
    """Return whether statements end with a `return` of a value or a `raise`, whichever branch is taken."""
    if any(isinstance(node, gast.Return) and node.value is None for statement in body for node in gast.walk(statement)):
        return False
    if isinstance(body[-1], gast.If):
        return bool(body[-1].orelse) and gives(body[-1].body) and gives(body[-1].orelse)
    return isinstance(body[-1], gast.Return | gast.Raise)


def check_structures(build: Builder, rule: TangentRule, y: Var, results: list[Value]) -> None:
    """Emit the check that `y` is a structure if a user's rule returns one as its tangent, and the type of `y` does not tell."""
    found = [found for r in results if (found := structure(r)) is not None]
    if found and isinstance(y.type, Unknown) and not is_own(rule.function):
        args = y, Const(found[0]), Const(spelled(rule.primal))
        build.add(Stmt((Var("checked"),), Call(runtime.check_structure, args, effect=True), build.origin))


def fits(rule: Rule | TangentRule, item: Value, wanted: Type) -> bool:
    """Return whether what a rule returned may be the derivative of a number or an array; those of some rules are broadcast."""
    t = type_of_value(item)
    if structure(item) is not None or isinstance(t, Str):
        return False
    ranks = {t and rank(t), rank(wanted)}
    return len(ranks) == 1 or None in ranks or isinstance(item, Const) or not isinstance(rule, Rule) or rule.broadcasts


def structure(value: Value) -> str | None:
    """Return what a tuple, list or dict is called, of one type or not; None for any other value."""
    t = type_of_value(value)
    if isinstance(t, (TupleT, ListT, DictT, MapT)):
        return spoken(t)
    kind = "tuple" if isinstance(value, TupleVal) else getattr(value, "kind", None)
    return f"a {kind}" if kind in ("tuple", "list", "dict") else None


def is_open(error: Exception) -> bool:
    """Return whether types that are not known may be why a rule cannot be lowered, so that the generated text calls it."""
    return not isinstance(error, (UnsupportedArgumentError, RuleError)) and surely_raised(error)[0] not in (NameError, AttributeError)
