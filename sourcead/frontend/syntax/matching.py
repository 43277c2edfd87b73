"""Lower `match` to a chain of `if`.

    match s:                       if s == 0: A
        case 0: A                  elif s == 1 or s == 2: B
        case 1 | 2: B              else: n = s; C
        case n: C

Sequence and mapping patterns are matched while compiling where the structure of the subject is known.
"""

from __future__ import annotations

import gast

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins import functions
from sourcead.frontend.core import Cell, Held, Lowering, TupleVal, Value
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import Array, NoneType, Scalar, Str

NEVER, ALWAYS = gast.Constant(False, None), gast.Constant(True, None)


@core.replaced_statement(gast.Match)
def as_branch(lo: Lowering, node: gast.Match) -> list[gast.AST]:
    """Rewrite the first case of a `match` as an `if`, and the others as a `match` in its `else`."""
    subject = core.lower(lo, node.subject)
    case, *others = node.cases
    binds: list[gast.AST] = []
    test = pattern_test(lo, case.pattern, subject, binds, node)
    rest = gast.Match(Held(subject), others) if others else gast.Pass()
    rest.stands_for = getattr(node, "stands_for", node)
    body = [*binds, *case.body]
    if case.guard is not None:  # the names are bound before the guard is evaluated
        body = [*binds, choice(case.guard, case.body, rest, node)]
    if test is ALWAYS:
        return body
    return [rest] if test is NEVER else [choice(test, body, rest, node)]


def choice(test: gast.AST, body: list[gast.AST], rest: gast.AST, node) -> gast.If:
    """Build `if test: body else: rest`."""
    made = gast.If(test, body, [rest])
    made.stands_for = getattr(node, "stands_for", node)
    return made


def pattern_test(lo: Lowering, pattern, value: Value, binds: list[gast.AST], node) -> gast.AST:
    """Build the condition under which a value matches; append the assignments of captured names to `binds`."""
    match pattern:
        case gast.MatchValue(value=wanted):
            return gast.Compare(Held(value), [gast.Eq()], [wanted])
        case gast.MatchSingleton(value=wanted):
            return gast.Compare(Held(value), [gast.Is()], [gast.Constant(wanted, None)])
        case gast.MatchOr(patterns=patterns):
            tests = [pattern_test(lo, p, value, binds, node) for p in patterns]
            if ALWAYS in tests:
                return ALWAYS
            tests = [t for t in tests if t is not NEVER]
            return gast.BoolOp(gast.Or(), tests) if len(tests) > 1 else tests[0] if tests else NEVER
        case gast.MatchAs(pattern=inner, name=name):
            test = ALWAYS if inner is None else pattern_test(lo, inner, value, binds, node)
            if name is not None:
                binds.append(bind(lo, name, value, node))
            return test
        case gast.MatchSequence(patterns=patterns):
            return sequence_test(lo, patterns, value, binds, node)
        case gast.MatchMapping(keys=keys, patterns=patterns, rest=None):
            if isinstance(value, Cell) and value.kind == "dict":
                return mapping_test(lo, keys, patterns, value, binds, node)
            if is_another_kind(lo, value, "dict"):
                return NEVER
        case gast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            return class_test(lo, cls, patterns, dict(zip(names, named)), value, binds, node)
    raise core.unsupported(lo, pattern, "this pattern cannot be matched before the program runs", "write the choice with `if`")


def bind(lo: Lowering, name: str, value: Value, node) -> gast.Assign:
    """Build `name = value`."""
    made = gast.Assign([gast.Name(name, gast.Store(), None, None)], Held(value), None)
    made.stands_for = getattr(node, "stands_for", node)
    return made


def sequence_test(lo: Lowering, patterns, value: Value, binds, node) -> gast.AST:
    """Build the condition of `case [a, *b]`."""
    if isinstance(value, Cell) and value.kind == "list":
        items = value.contents
    elif isinstance(value, TupleVal):
        items = list(value.items)
    elif isinstance(value, Const) and not value.live and isinstance(value.value, tuple):
        items = [Const(v) for v in value.value]
    elif is_another_kind(lo, value, "list"):
        return NEVER
    else:
        error = core.unsupported(
            lo, node, "a sequence pattern needs a tuple or list whose length is known", "write the choice with `if`"
        )
        error.needs_items = True  # items of a list that differ in type are known one by one
        raise error
    stars = [k for k, p in enumerate(patterns) if isinstance(p, gast.MatchStar)]
    if len(items) != len(patterns) and not (stars and len(items) >= len(patterns) - 1):
        return NEVER
    if stars:
        k, after = stars[0], len(patterns) - stars[0] - 1
        if patterns[k].name is not None:
            binds.append(bind(lo, patterns[k].name, lo.new_list(items[k : len(items) - after]), node))
        items = [*items[:k], *items[len(items) - after :]]
        patterns = [*patterns[:k], *patterns[k + 1 :]]
    return conjunction([pattern_test(lo, p, item, binds, node) for p, item in zip(patterns, items)])


def is_another_kind(lo: Lowering, value: Value, kind: str) -> bool:
    """Tell whether a value surely fails a list pattern, or a dict pattern; an array matches neither."""
    if isinstance(value, TupleVal):
        return kind == "dict"
    if isinstance(value, Cell) and value.kind != "array":
        return value.kind in {"list", "dict"} - {kind}
    return isinstance(value, (Var, Const, Cell)) and isinstance(atom_type(lo.read(value)), (Scalar, Str, NoneType, Array))


def class_test(lo: Lowering, cls, patterns, named: dict, value: Value, binds, node) -> gast.AST:
    """Build the condition of `case Point(x, y=0)`, which tests the class while compiling and then the attributes."""
    wanted = core.lower(lo, cls)
    verdict = functions.builtin_isinstance(lo, [value, wanted], {}, node)
    if not (isinstance(verdict, Const) and isinstance(verdict.value, bool)):
        raise core.unsupported(lo, node, "the class of this value is not known before the program runs")
    if not verdict.value:
        return NEVER
    _, matched = core.known(lo, wanted)
    if patterns and matched in TAKEN_WHOLE:
        return pattern_test(lo, patterns[0], value, binds, node)
    attributes = {**dict(zip(getattr(matched, "__match_args__", ()), patterns)), **named}
    return conjunction([pattern_test(lo, p, core.attribute(lo, value, n, node), binds, node) for n, p in attributes.items()])


TAKEN_WHOLE = (bool, dict, float, int, list, str, tuple)  # `case float(x)` binds the number itself


def mapping_test(lo: Lowering, keys, patterns, value: Cell, binds, node) -> gast.AST:
    """Build the condition of `case {key: pattern}`."""
    tests = []
    for key, pattern in zip(keys, patterns):
        found, k = core.known(lo, core.lower(lo, key))
        if not found or k not in value.items:
            return NEVER
        tests.append(pattern_test(lo, pattern, value.items[k], binds, node))
    return conjunction(tests)


def conjunction(tests: list[gast.AST]) -> gast.AST:
    """Build the condition that all tests hold."""
    if NEVER in tests:
        return NEVER
    tests = [t for t in tests if t is not ALWAYS]
    return gast.BoolOp(gast.And(), tests) if len(tests) > 1 else tests[0] if tests else ALWAYS
