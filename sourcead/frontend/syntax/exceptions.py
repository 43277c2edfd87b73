"""Lower `try`: the exceptions that are raised for sure are ways of leaving its body, like `return`, `break` and `continue`.

    try: A                          code, e, result = A as a function, in which each way of leaving it returns its number:
    except E as e: B                    raise E(...)    e = E(...); return 1
    else: C                             return x        result = x; return 2
    finally: D                          break           return 3
                                        the end         return 0
                                    D; if code == 1: B; elif code == 2: return result; elif code == 3: break; else: C

A function that is called in the body and raises what is handled, in some runs, is lowered as the body of a `try` of its own: it returns
the number of its exit with its result.

    y = f(x)                            code, result = f(x);  if code == 1: return 1;  y = result

An exception that is raised for sure by something else than `raise`, such as a missing key of a dict whose keys are known, ends the body
where it is raised. Anything else that may raise a caught exception is computed although nothing reads it: if it raises, so does the
gradient. So does, in an `__array_wrap__` (`raising`), what a function called in the body raises in some runs only. A handler
that only raises another exception is not in the text, unless the first one is raised for sure; calls of the derivative raise what the
program raises (`compile/handled_exceptions.py`).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead.errors import SourceADError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control.branches import INSTEAD, RAISED, UNDECIDED
from sourcead.frontend.control.exits import (
    Return, always_leaves, as_function, assignment, may_leave, rewritten, standing_for, variable
)
from sourcead.frontend.core import MISSING, Escaped, Flag, Held, Lowering, Value
from sourcead.frontend.find_source import body_of
from sourcead.frontend.syntax import calls_in_order, managers, probes
from sourcead.frontend.syntax.calls_in_order import STRICT, TRIED, has_calls, is_choice, is_lazy, is_one_of
from sourcead.frontend.syntax.guarded import kept
from sourcead.frontend.syntax.handlers import Handler, caught, handler_of_syntax, names_no_class
from sourcead.frontend.syntax.managers import Act, Surrounded
from sourcead.frontend.syntax.raising import class_raised, error_for
from sourcead.frontend.values import objects
from sourcead.ir.nodes import UNDEFINED, Const

ENDED = 0  # the number of a body that ended without leaving
LOOPS = (gast.For, gast.While)
UNTOLD = "what this exception says is not known here"


@core.replaced_statement(gast.Try)
def after_body(lo: Lowering, node: gast.Try) -> list[gast.AST]:
    """Lower the body of a `try`, and return the statements that follow it."""
    if node.finalbody and (node.handlers or node.orelse):  # a handler may leave too
        inner = standing_for(node, gast.Try(node.body, node.handlers, node.orelse, []))
        return after_body(lo, standing_for(node, gast.Try([inner], [], [], node.finalbody)))
    handlers = [handler_of_syntax(lo, h, k) for k, h in enumerate(node.handlers, 1)]
    lo.handles = lo.handles or bool(handlers)
    if always_leaves(node.finalbody):  # no exception leaves it
        handlers = [Handler(gast.ExceptHandler(None, None, [gast.Pass()]), (BaseException,), 1)]
    if not lo.catching and all(h.passes_on for h in handlers) and not (node.finalbody and any(map(may_leave, node.body))):
        return [*node.body, *node.orelse, *node.finalbody]
    exits = Leaving(lo, node, handlers)
    if lo.raising and node.handlers:
        with lo.attempt(UnsupportedSyntaxError, when=lambda error: error.reason == UNDECIDED) as attempt:
            code = body_with_exits(lo, exits)
        if attempt.failed:
            return [*node.body, *node.orelse]
        return [standing_for(node, Act(lambda: RAISED))] if code is None else dispatch(lo, exits, code, node.orelse, node)
    try:
        code = body_with_exits(lo, exits)
    except SourceADError as error:
        if not node.finalbody or core.surely_raised(error)[1] is not lo.build.stmts:
            raise
        return [*node.finalbody, standing_for(node, Act(functools.partial(managers.reraise, error)))]
    if code is None:
        return [standing_for(node, Act(lambda: RAISED))]
    return [*node.finalbody, *dispatch(lo, exits, code, node.orelse, node)]


def body_with_exits(lo: Lowering, exits: Leaving) -> Value | None:
    """Lower the body of a `try`, again each time that a statement inside a branch or loop of it turns out to raise what is handled."""
    while True:
        with lo.attempt(UnsupportedSyntaxError, when=exits.is_new_exit):
            return lowered_body(lo, exits, rewritten(exits.node.body, exits.exit_of))


@core.replaced_statement(Surrounded)
def after_surrounded(lo: Lowering, node: Surrounded) -> list[gast.AST]:
    """Lower the body of a `with` on a generator and the code of the generator around it, and return the statements that follow it."""
    exits = Leaving(lo, node, [])
    body = rewritten(node.body, exits.exit_of)
    code = node.run(lambda: lowered_body(lo, exits, body))
    return [standing_for(node, Act(lambda: RAISED))] if code is None else dispatch(lo, exits, code, [], node)


def lowered_body(lo: Lowering, exits: Leaving, body: list[gast.AST]) -> Value | None:
    """Lower a body as a function; return the number of the exit by which control leaves it, None if an exception leaves the function."""
    stmts, within = lo.build.stmts, lo.build.within
    first = len(stmts)
    stops = tuple(c for h in exits.handlers if not h.passes_on or lo.catching for c in h.classes)
    with as_function(lo, exits.inner), lo.using(catching=(*lo.catching, *stops)):
        try:
            left = core.lower_statements(lo, [*body, *exits.leave(ENDED, exits.node)])
        except SourceADError as error:
            cls, place = core.surely_raised(error)
            handler = exits.handler_of(cls) if place is stmts else None
            if handler is None or handler.passes_on or exits.is_raised_in_new_call(error):
                raise
            left = Return(Const(handler.number))
            exits.reached.add(handler.number)
    lo.build.within = within
    if stops:
        stmts[first:] = kept(stmts[first:], stops, lo.probed)
    return None if left is RAISED else left.value


# -- the ways of leaving a body -------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Leaving:
    """The ways in which control leaves the body of a `try`.

    Attributes:
        lo: the lowering.
        node: the statement, or one that stands for it.
        handlers: its handlers.
        raising: the statements inside the body that raise an exception for sure, and the handlers of these.
        after: number of an exit -> the statements that continue it outside.
        calls: the statements inside the body that call a function which may raise what is handled.
        reached: the numbers of the exits that the lowering of the body came to.
    """

    lo: Lowering
    node: gast.Try
    handlers: list[Handler]
    raising: list[tuple[gast.AST, Handler]] = field(default_factory=list)
    calls: list[gast.AST] = field(default_factory=list)
    after: dict[int, list[gast.AST]] = field(default_factory=dict)
    reached: set[int] = field(default_factory=set)

    def __post_init__(self):  # the variables are the same each time that the statement is lowered
        made = Flag("result"), defaultdict(functools.partial(Flag, "error")), {}
        key = "try", standing_for(self.node, gast.Pass()).stands_for
        self.result, self.errors, self.inners = self.lo.scope.exits.setdefault(key, made)

    @property
    def inner(self) -> dict:
        """The exits of the loops in the body, which are others if other statements leave them."""
        return self.inners.setdefault(tuple(original(node) for node in (*dict(self.raising), None, *self.calls)), {})

    def handler_of(self, raised: type) -> Handler | None:
        """Return the handler that catches an exception of a class."""
        return next((h for h in self.handlers if issubclass(raised, h.classes)), None)

    def is_new_exit(self, error: Exception) -> bool:
        """Tell whether a statement inside the body raises for sure what this `try` handles, and was not known to; note it if it does."""
        handler = self.handler_of(core.surely_raised(error)[0] or type(None))
        statement = getattr(error, "statements", {}).get(self.lo.scope)
        if handler is None or handler.passes_on:
            return False
        if statement is None or self.is_raised_in_new_call(error):
            call = getattr(error, "callers", {}).get(self.lo.scope) if statement is None else statement
            is_new = self.is_new_call(call)
            self.calls += [call] * is_new
            return is_new
        if any(original(known) is original(statement) for known, _ in self.raising):
            return False
        self.raising.append((statement, handler))
        return True

    def is_new_call(self, statement: gast.AST | None) -> bool:
        """Tell whether a statement calls functions one after the other, and was not known to raise."""
        is_new = not any(original(known) is original(statement) for known in self.calls)
        return is_new and has_calls(statement) and not self.lo.raising

    def is_raised_in_new_call(self, error: Exception) -> bool:
        """Tell whether a `raise` of a function surely raised an error, and its call was not known to raise."""
        return error.reason == UNDECIDED and self.is_new_call(getattr(error, "statements", {}).get(self.lo.scope))

    def attempted(self, node: gast.AST, handler: Handler) -> list[gast.AST]:
        """Return the statements for one that raises an exception for sure: what it does before it raises, and the exit to the handler."""

        def attempt() -> None:
            within = self.lo.build.within
            try:
                core.lower_statement(self.lo, node, [])
            except UnsupportedSyntaxError as error:
                cls, place = core.surely_raised(error)
                if self.handler_of(cls or type(None)) is not handler or place is not self.lo.build.stmts:
                    raise
                self.lo.build.within = within
            else:
                raise core.unsupported(self.lo, node, UNDECIDED, INSTEAD)

        untold = assignment(self.errors[handler.number], Held(core.unreadable("error", UNTOLD)), node)
        return [standing_for(node, Act(attempt)), untold, *self.leave(handler.number, node)]

    def exit_of(self, node: gast.AST, around: tuple) -> list[gast.AST] | None:
        """Return the statements that return the number of an exit, in place of the statement that takes it; None for other statements."""
        if isinstance(node, gast.ExceptHandler):
            made = handler_of_syntax(self.lo, node, ENDED).node if names_no_class(node) else node
            return None if made is node else [standing_for(node, gast.ExceptHandler(None, None, self.caught_raise(made.body[0], around)))]
        for known, handler in self.raising:
            if original(node) is original(known):
                return self.attempted(node, handler)
        is_inside = any(isinstance(n, gast.Try) and n.handlers and part == "body" for n, part in around)
        if self.lo.probing and not is_inside and has_calls(node, TRIED):
            return self.with_calls(node, around, TRIED)
        if has_calls(node) and any(original(node) is original(known) for known in self.calls):
            return self.with_calls(node, around)
        match node:
            case gast.Return(value=value):
                keep = assignment(self.result, value or gast.Constant(None, None), node)
                return [keep, *self.leave(-1, node, gast.Return(variable(self.result)))]
            case gast.Break() | gast.Continue() if not any(isinstance(n, LOOPS) and part == "body" for n, part in around):
                return self.leave(-2 if isinstance(node, gast.Break) else -3, node, type(node)())
            case gast.Raise(exc=exc) if exc is not None:
                return self.caught_raise(node, around)
            case gast.Raise(exc=None):
                return self.raised_again(node, around)
            case gast.Assert(test=test) if self.handler_of(AssertionError) is not None:
                failed = self.caught_raise(standing_for(node, gast.Raise(variable("AssertionError"), None)), around)
                return [standing_for(node, gast.If(gast.UnaryOp(gast.Not(), test), failed, []))]
        return None

    def with_calls(self, node: gast.AST, around: tuple, calls: tuple[type, ...] = (gast.Call, gast.Attribute)) -> list[gast.AST]:
        """Return the statements for one in which functions are called, each call in a statement of its own."""
        before: list[gast.AST] = []

        def part(n: Any, whole: bool = False) -> Any:
            if isinstance(n, list):
                return [part(item, whole) for item in n]
            is_whole = isinstance(n, gast.Name) and n.id in self.lo.scope.local or is_choice(n)
            if not is_whole and (isinstance(n, gast.Name) or not isinstance(n, STRICT)) or whole and n is not node.value:
                return n
            name = self.flag_of(n, "part")
            if is_whole:
                before.append(assignment(name, n, node))
                return variable(name)
            if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
                func = gast.Attribute(part(n.func.value, whole), n.func.attr, n.func.ctx)
                parts = [func, part(n.args, whole), part(n.keywords, whole)]
            else:
                parts = [part(value, whole) for _, value in gast.iter_fields(n)]
            made = standing_for(n, type(n)(*parts))
            if not is_one_of(n, calls):
                return made
            before.extend(self.calling(node, n, name, made))
            return variable(name)

        fields = dict(gast.iter_fields(node))
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Subscript):
            fields["target"] = gast.Subscript(part(node.target.value), part(node.target.slice), gast.Store())
            item = standing_for(node.target, gast.Subscript(fields["target"].value, fields["target"].slice, gast.Load()))
            before.extend(self.calling(node, node.target, self.flag_of(node.target, "part"), item))  # which is read first
        rest = standing_for(node, type(node)(**{**fields, "value": part(node.value, is_lazy(node.value))}))
        if apart := calls_in_order.stored_apart(node, calls):
            held = self.flag_of(node, "stored")
            before.append(assignment(held, rest.value, node))
            for target in node.targets:
                if (tried := target) in apart and isinstance(target, gast.Subscript):  # an item that can be read can be written
                    place = part(target.value), part(target.slice)
                    tried, target = (standing_for(target, gast.Subscript(*place, ctx())) for ctx in (gast.Load, gast.Store))
                if tried is not target or target in apart:
                    before.extend(self.calling(node, tried, self.flag_of(tried, "part"), tried, held))
                if not isinstance(target, gast.Attribute):
                    before.append(standing_for(node, gast.Assign([target], variable(held), None)))
            return before
        is_tried = isinstance(getattr(rest, "target", None), gast.Subscript)
        return [*before, *([rest] if is_tried else self.exit_of(rest, around) or [rest])]

    def calling(self, node: gast.AST, n: gast.AST, name: Flag, made: gast.AST, stored: Flag | None = None) -> list[gast.AST]:
        """Return the statements for the call that an expression `n` is, or for the attribute that it reads or sets to what is `stored`."""
        exits = {h.number: self.flag_of(n, f"left_{h.number}") for h in self.handlers if not h.passes_on}
        leaving = [gast.If(variable(taken), self.leave(number, node), []) for number, taken in exits.items()]
        return [standing_for(node, s) for s in (Calling(self, name, made, exits, stored), *leaving)]

    def flag_of(self, node: gast.AST, name: str) -> Flag:
        """Return the variable that belongs to an expression, the same one each time that the expression is lowered."""
        return self.lo.scope.exits.setdefault((original(node), name), Flag(name))

    def caught_raise(self, node: gast.Raise, around: tuple) -> list[gast.AST]:
        """Return the statements for a `raise`, or the `raise` itself if this `try` does not catch it or one inside it does."""
        raised, bodies = class_raised(self.lo, node), [n for n, part in around if part == "body"]
        handlers = [h for n in bodies if isinstance(n, gast.Try) for h in n.handlers]
        inner = tuple(c for h in handlers for c in handler_of_syntax(self.lo, h, ENDED).classes)
        inner += tuple(c for n in bodies if isinstance(n, gast.With) for item in n.items for c in managers.stopped(self.lo, item))
        handler = None if raised is None or issubclass(raised, inner) else self.handler_of(raised)
        if handler is None or handler.passes_on:
            return [node]
        kept = error_for(handler.node, node)
        return [*([assignment(self.errors[handler.number], kept, node)] if kept else []), *self.leave(handler.number, node)]

    def raised_again(self, node: gast.Raise, around: tuple) -> list[gast.AST] | None:
        """Return the statements for a bare `raise` inside a handler, None if this `try` does not surely catch what that handler caught."""
        inside = next((n for n, part in reversed(around) if isinstance(n, gast.ExceptHandler)), None)
        found = {self.handler_of(cls) for cls in caught(self.lo, inside)} if inside is not None else {None}
        bodies = [n for n, part in around if part == "body" and isinstance(n, (gast.Try, gast.With))]
        if len(found) != 1 or None in found or bodies:
            return None
        (handler,) = found
        error = variable(inside.name.id) if inside.name else Held(core.unreadable("error", UNTOLD))
        return [assignment(self.errors[handler.number], error, node), *self.leave(handler.number, node)]

    def leave(self, number: int, node, *after: gast.AST) -> list[gast.AST]:
        """Record that an exit is reached, and return its number; `after` are the statements that continue it outside."""
        self.after[number] = [standing_for(node, n) for n in after]
        reach = Act(functools.partial(self.reached.add, number))
        return [standing_for(node, n) for n in (reach, gast.Return(Held(Const(number))))]


class Calling(gast.Pass):
    """The call of a function that may raise what is handled, a property, or a subscript: `name = value`, and which exit is `taken`.

    A property may be set, too, to the value of the variable `stored`; an item is set by the statement that follows.
    """

    def __init__(self, exits: Leaving, name: Flag, value: gast.AST, taken: dict[int, Flag], stored: Flag | None = None):
        self.exits, self.name, self.value, self.taken, self.stored = exits, name, value, taken, stored


@core.replaced_statement(Calling)
def after_call(lo: Lowering, node: Calling) -> list[gast.AST]:
    """Lower a call of a function that may raise what is handled, and return the statements that follow it."""
    call, exits, used = node.value, node.exits, []
    with lo.at(node):
        base = core.lower(lo, calls_in_order.first_operand(call))
        read, *given = calls_in_order.operation(lo, base, call)
        sets_item = node.stored is not None and isinstance(call, gast.Subscript)
        trial = probes.trial_of_change(lo, base, call, given, sets_item) if lo.probing else None
        if trial is not None or sets_item:
            return probes.change(lo, node, trial, None if sets_item else functools.partial(read, lo, base, *given, call))
        mark, birth, first = lo.journal.mark(), core.next_birth(), len(lo.build.stmts)
        with lo.using(escaping=functools.partial(with_escapes, exits.handlers, used)):
            if node.stored is not None:
                made = objects.set_attribute(lo, base, *given, core.resolve(lo, node.stored), call) or Const(None)
            else:
                made = read(lo, base, *given, call)
        if used and not isinstance(made, Escaped):
            raise core.unsupported(lo, call, UNDECIDED, INSTEAD)
    if not used and lo.probing and not lo.journal.changed(mark, birth):
        return probes.after_trial(lo, node, made, lo.build.stmts[first:])
    if not used:
        made = Escaped(Const(ENDED), made, {}, set())
    done = [assignment(node.name, Held(made.result), node)]
    for number, flag in node.taken.items():
        same = gast.Compare(Held(made.code), [gast.Eq()], [gast.Constant(number, None)])
        done.append(assignment(flag, same if number in made.reached else Held(Const(False)), node))
    return [*done, *(assignment(exits.errors[number], Held(error), node) for number, error in made.errors.items())]


def with_escapes(handlers: list[Handler], used: list, lo: Lowering, source: Any) -> Escaped:
    """Lower the body of a function whose caller has handlers for what it raises."""
    used.append(source)
    node = source.node
    body = [*body_of(node), standing_for(node, gast.Return(gast.Constant(None, None)))]
    exits = Leaving(lo, standing_for(node, gast.Try(body, [h.node for h in handlers], [], [])), handlers)
    code = body_with_exits(lo, exits)
    if code is None:
        raise core.refused(lo, UNDECIDED, INSTEAD)
    names = lo.scope.names
    errors = {number: names[name] for number, name in exits.errors.items() if name in names}
    return Escaped(code, names.get(exits.result, UNDEFINED), errors, exits.reached)


def original(node: gast.AST) -> gast.AST:
    """Return the statement of the user that a statement is, or stands for."""
    return getattr(node, "original", getattr(node, "stands_for", node))


def dispatch(lo: Lowering, exits: Leaving, code: Value, orelse: list[gast.AST], node) -> list[gast.AST]:
    """Return the statements that follow a body, for the exit that it took."""
    after = {**exits.after, **{h.number: handling(lo, exits, h) for h in exits.handlers}, ENDED: orelse}
    found, number = core.known(lo, code)
    if found:
        return after[number]
    first, *others = sorted(exits.reached, key=abs)
    rest = after[first]
    for k in others:
        test = gast.Compare(Held(code), [gast.Eq()], [gast.Constant(k, None)])
        rest = [standing_for(node, gast.If(test, after[k], rest))]
    return rest


def handling(lo: Lowering, exits: Leaving, handler: Handler) -> list[gast.AST]:
    """Return the statements of a handler, in which its name is bound and a bare `raise` raises again."""
    h = handler.node
    if h.name is None:
        return h.body
    names, bound = lo.scope.names, h.name.id if isinstance(h.name, gast.Name) else h.name

    def bind() -> None:
        error = names.get(exits.errors[handler.number], MISSING)
        lo.set(lo.scope.home(bound), bound, core.unreadable(bound, UNTOLD) if error is MISSING else error)

    return [standing_for(h, Act(bind)), *h.body, standing_for(h, Act(lambda: lo.set(lo.scope.home(bound), bound, MISSING)))]
