"""Lower `match` to a chain of `if`.

    match s:                       if s == 0: A
        case 0: A                  elif s == 1 or s == 2: B
        case 1 | 2: B              else: n = s; C
        case n: C

Sequence and mapping patterns are matched while compiling where the structure of the subject is known.
"""

from collections.abc import Mapping, Sequence

import gast

from sourcead.frontend import core
from sourcead.frontend.builtins import functions
from sourcead.frontend.control.exits import assignment, standing_for
from sourcead.frontend.core import Cell, Held, Lowering, OptionalVal, TupleVal, Value
from sourcead.frontend.values import operators
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import ListT, Scalar, Str

NEVER, ALWAYS = gast.Constant(False, None), gast.Constant(True, None)


@core.replaced_statement(gast.Match)
def as_branch(lo: Lowering, node: gast.Match) -> list[gast.AST]:
    """Rewrite the first case of a `match` as an `if`, and the others as a `match` in its `else`."""
    subject = core.lower(lo, node.subject)
    case, *others = node.cases
    binds: list[gast.AST] = []
    test = pattern_test(lo, case.pattern, Held(subject), binds, node)
    rest = standing_for(node, gast.Match(Held(subject), others) if others else gast.Pass())
    body = case.body if case.guard is None else [standing_for(node, gast.If(case.guard, case.body, [rest]))]
    return [standing_for(node, gast.If(test, [*binds, *body], [rest]))]  # the names are bound before the guard is evaluated


def pattern_test(lo: Lowering, pattern, subject: gast.AST, binds: list[gast.AST], node) -> gast.AST:
    """Build the condition under which the value of an expression matches; append the assignments of captured names to `binds`."""
    value = getattr(subject, "value", None)
    if isinstance(value, OptionalVal) and isinstance(pattern, gast.MatchSequence | gast.MatchMapping | gast.MatchClass):
        there = gast.UnaryOp(gast.Not(), Held(value.missing))
        return conjunction([there, pattern_test(lo, pattern, Held(value.held), binds, node)])
    match pattern:
        case gast.MatchValue(value=wanted):
            return gast.Compare(subject, [gast.Eq()], [wanted])
        case gast.MatchSingleton(value=wanted):
            return gast.Compare(subject, [gast.Is()], [gast.Constant(wanted, None)])
        case gast.MatchOr(patterns=patterns):
            return alternatives_test(lo, patterns, subject, binds, node)
        case gast.MatchAs(pattern=inner, name=name):
            test = ALWAYS if inner is None else pattern_test(lo, inner, subject, binds, node)
            if name is not None:
                binds.append(assignment(name, subject, node))
            return test
        case gast.MatchSequence(patterns=patterns):
            return sequence_test(lo, patterns, subject.value, binds, node)
        case gast.MatchMapping():
            if isinstance(subject.value, Cell) and subject.value.kind == "dict":
                return mapping_test(lo, pattern, subject.value, binds, node)
            if is_another_kind(lo, subject.value, "dict") or is_none_of(lo, subject.value, Mapping):
                return NEVER
        case gast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            return class_test(lo, cls, patterns, dict(zip(names, named)), subject.value, binds, node)
    raise core.unsupported(lo, pattern, "this pattern cannot be matched before the program runs", "write the choice with `if`")


def alternatives_test(lo: Lowering, patterns, subject: gast.AST, binds, node) -> gast.AST:
    """Build the condition of `case A | B`, and the assignments of the names that the first alternative that matches captures."""
    tests, assigned = [], [[] for _ in patterns]
    for pattern, own in zip(patterns, assigned):
        tests.append(pattern_test(lo, pattern, subject, own, node))
    chosen: list[gast.AST] = []
    for test, own in zip(reversed(tests), reversed(assigned)):
        chosen = [standing_for(node, gast.If(test, own, chosen))] if own else chosen
    binds += chosen
    return combined(gast.Or(), NEVER, ALWAYS, tests)


def sequence_test(lo: Lowering, patterns, value: Value, binds, node) -> gast.AST:
    """Build the condition of `case [a, *b]`: that on the length, and then those on the items, which are known or read by subscripts."""
    items = known_items(lo, value)
    if items is None and (is_another_kind(lo, value, "list", "tuple") or is_none_of(lo, value, Sequence)):
        return NEVER
    if items is None and not (isinstance(core.data_type(lo, value), ListT) and all(map(is_plain, patterns))):
        reason = "a sequence pattern needs a tuple or list whose length is known"  # as are items of a list that differ in type
        raise core.needs_items(reason, lo.origin(node), "write the choice with `if`")
    star = next((k for k, p in enumerate(patterns) if isinstance(p, gast.MatchStar)), len(patterns))
    after = len(patterns) - star - 1
    least = len(patterns) - (after >= 0)
    if items is not None and (len(items) < least or len(items) > least and after < 0):
        return NEVER
    length = gast.Call(Held(Const(len)), [Held(value)], [])
    fits = gast.Compare(length, [gast.Eq() if after < 0 else gast.GtE()], [gast.Constant(least, None)])
    tests: list[gast.AST] = [fits] if items is None else []
    for k, p in enumerate(patterns):
        end = k - len(patterns) + 1 or None
        if k != star:
            place = gast.Constant(k if k < star else k - len(patterns), None)
            item = gast.Subscript(Held(value), place, gast.Load()) if items is None else Held(items[place.value])
            tests.append(pattern_test(lo, p, item, binds, node))
        elif p.name is not None:
            bounds = gast.Slice(gast.Constant(k, None), end and gast.Constant(end, None), None)
            part = gast.Subscript(Held(value), bounds, gast.Load()) if items is None else Held(lo.new_list(items[k:end]))
            binds.append(assignment(p.name, part, node))
    return conjunction(tests)


def is_none_of(lo: Lowering, value: Value, wanted: type) -> bool:
    """Tell whether the class of a value is known, and not one that a pattern takes for a sequence or a mapping."""
    classes = core.classes_of(lo, value)
    return bool(classes) and core.has_exact_class(lo, value) and not any(issubclass(cls, wanted) for cls in classes)


def known_items(lo: Lowering, value: Value) -> list[Value] | None:
    """Return the items of a tuple or list whose length is known, None for any other value."""
    if isinstance(value, Cell) and value.kind == "list":
        lo.alive(value)
        return value.contents
    if isinstance(value, TupleVal):
        return value.contents
    is_tuple = isinstance(value, Const) and not value.live and isinstance(value.value, tuple)
    return [Const(v) for v in value.value] if is_tuple else None


def is_plain(pattern) -> bool:
    """Tell whether a pattern captures any value, or compares it with a constant."""
    return isinstance(pattern, gast.MatchStar | gast.MatchValue) or isinstance(pattern, gast.MatchAs) and pattern.pattern is None


def is_another_kind(lo: Lowering, value: Value, *kinds: str) -> bool:
    """Tell whether a value surely fails a pattern that matches only values of some kinds."""
    atom = lo.read(value) if isinstance(value, Var) or isinstance(value, Cell) and value.kind == "array" else None
    of_number = isinstance(lo.build.unless_none.get(atom), Scalar | Str)  # None, or else a number or text
    return of_number or operators.kind_of_object(lo, value) not in (None, "object", "Iterable", *kinds)


def class_test(lo: Lowering, cls, patterns, named: dict, value: Value, binds, node) -> gast.AST:
    """Build the condition of `case Point(x, y=0)`, which tests the class while compiling and then the attributes."""
    wanted = core.lower(lo, cls)
    verdict = functions.builtin_isinstance(lo, node, value, wanted)
    found, matched = core.known(lo, wanted)
    if not (isinstance(verdict, Const) and isinstance(verdict.value, bool)):
        if not found or named or len(patterns) > 1 or patterns and matched not in TAKEN_WHOLE:
            raise core.unsupported(lo, node, "the class of this value is not known before the program runs")
        return conjunction([Held(verdict), *(pattern_test(lo, p, Held(value), binds, node) for p in patterns)])
    if not verdict.value:
        return NEVER
    places = getattr(matched, "__match_args__", None)
    if patterns and places is None and matched in TAKEN_WHOLE:
        return pattern_test(lo, patterns[0], Held(value), binds, node)
    if len(patterns) > len(places or ()):
        raise core.unsupported(lo, node, f"{matched.__name__} has no {len(patterns)} attributes for patterns without a name")
    attributes = {**dict(zip(places or (), patterns)), **named}
    return conjunction([pattern_test(lo, p, Held(core.attribute(lo, value, n, node)), binds, node) for n, p in attributes.items()])


TAKEN_WHOLE = (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)  # `case float(x)` binds the number itself


def mapping_test(lo: Lowering, pattern: gast.MatchMapping, value: Cell, binds, node) -> gast.AST:
    """Build the condition of `case {key: pattern, **rest}`."""
    lo.sure(value)
    known = [core.known(lo, core.lower(lo, key)) for key in pattern.keys]
    if not all(found and k in value.items for found, k in known):
        return NEVER
    keys = [k for _, k in known]
    tests = [pattern_test(lo, p, Held(value.items[k]), binds, node) for p, k in zip(pattern.patterns, keys)]
    if pattern.rest is not None:
        rest = lo.new_dict({k: v for k, v in value.items.items() if k not in keys})
        binds.append(assignment(pattern.rest, Held(rest), node))
    return conjunction(tests)


def conjunction(tests: list[gast.AST]) -> gast.AST:
    """Build the condition that all tests hold."""
    return combined(gast.And(), ALWAYS, NEVER, tests)


def combined(op: gast.AST, neutral: gast.AST, deciding: gast.AST, tests: list[gast.AST]) -> gast.AST:
    """Combine tests by `and` or `or`, for which one constant condition changes nothing, and the other decides."""
    tests = [t for t in tests if t is not neutral]
    return deciding if deciding in tests else gast.BoolOp(op, tests) if tests else neutral
