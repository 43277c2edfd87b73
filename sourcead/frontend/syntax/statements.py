"""Lower statements, with one function for each kind, which returns how control leaves the statement.

None means that control goes on to the next statement; `Return(value)`, `RAISED` and `NEXT` (a `continue`) mean that it does not.  An `if`
that control may leave takes the statements after it into its arms, so that only structured branches are needed.
"""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import gast

from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.control import branches, exits, generators, inlining
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.control.exits import NEXT, Return, may_continue, may_leave
from sourcead.frontend.control.loops import for_each
from sourcead.frontend.core import MISSING, VALUE, Cell, Lowering, Value
from sourcead.frontend.syntax import guarded, managers
from sourcead.frontend.syntax.expressions import lower_test
from sourcead.frontend.values import lists, objects
from sourcead.ir.nodes import Call, Const, Effect, Slice, Stmt, Var
from sourcead.ir.types import ListT, MapT
from sourcead.places.spelling import spelled
from sourcead.primitives.table import record_of

MAX_COPIES = 64


@core.lower_statement.register(gast.If)
def lower_if(lo: Lowering, node: gast.If, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lower an `if`; return how control leaves it, and whether the statements after it were lowered too."""
    with lo.at(node):
        test = core.condition(lo, lower_test(lo, node.test))
        verdict = core.truth(lo, test)
    if verdict is not None:
        taken = node.body if verdict else node.orelse
        if may_leave(node):  # an `if` inside `taken` continues with the statements in `rest`
            return core.lower_statements(lo, [*taken, *rest]), True
        return core.lower_statements(lo, taken), False
    with lo.at(node):
        cond, both = lo.read(test), rest if lo.splits_here() else []
        if not may_leave(node) and not any(map(may_leave, both)):
            lo.copies += bool(both)
            arms = [lambda: core.lower_statements(lo, [*node.body, *both]), lambda: core.lower_statements(lo, [*node.orelse, *both])]
            return branches.branch(lo, cond, arms), bool(both)
        if rest and not leaves_always(lo, node.body) and not leaves_always(lo, node.orelse):
            if lo.scope.loops and not may_continue(node) and not both:
                return leave_or_go_on(lo, node, cond, rest), True
            lo.copies += 1
            if lo.copies > MAX_COPIES:
                raise core.unsupported(lo, node, "too many nested `return` or `continue` statements", "restructure with `else`")
        left = branches.branch(lo, cond, [arm(lo, node.body, rest), arm(lo, node.orelse, rest)])
    if left is RAISED:
        return RAISED, True
    return (NEXT if lo.scope.loops else Return(left)), True


def leave_or_go_on(lo: Lowering, node: gast.If, cond, rest: list[gast.AST]) -> Any:
    """Lower an `if` inside which the loop may be left, then the rest of the iteration under the condition that it was not."""
    if branches.branch(lo, cond, [arm(lo, node.body), arm(lo, node.orelse)]) is RAISED:
        return RAISED
    left = core.lower_statements(lo, [exits.if_flag(lo.scope.leaves[-1], [gast.Pass()], rest, node)])
    return RAISED if left is RAISED else NEXT


def arm(lo: Lowering, body: list[gast.AST], rest: Sequence[gast.AST] = ()) -> Callable[[], Any]:
    """Return a function that lowers an arm to the end of the function or iteration, and returns its value."""

    def run() -> Any:
        left = core.lower_statements(lo, body if leaves_always(lo, body) else [*body, *rest])
        if left is RAISED or lo.scope.loops:
            return RAISED if left is RAISED else None
        return left.value if isinstance(left, Return) else Const(None)

    return run


def leaves_always(lo: Lowering, stmts: list[gast.AST]) -> bool:
    """Tell whether control surely never reaches the end of these statements."""
    for node in stmts:
        match node:
            case gast.Return() | gast.Raise() | gast.Continue() | gast.Break():
                return True
            case gast.If() if leaves_always(lo, node.body) and leaves_always(lo, node.orelse):
                return True
            case gast.With() if leaves_always(lo, node.body):
                with lo.attempt(SourceADError):
                    if not any(managers.stopped(lo, item) for item in node.items):
                        return True
    return False


# -- simple statements -----------------------------------------------------------------------------------------------


@core.statement(gast.Return)
def lower_return(lo: Lowering, node) -> Any:
    """Lower `return value`."""
    value = Const(None) if node.value is None else core.lower(lo, node.value)
    if lo.scope.loops:
        exits.set_return(lo, value, again=hasattr(node, "again"))
        return NEXT
    return Return(value)


@core.statement(gast.Break)
def lower_break(lo: Lowering, node) -> Any:
    """Lower `break`."""
    exits.set_break(lo)
    return NEXT


core.statement(gast.Continue)(lambda lo, node: NEXT)
core.statement(gast.Pass)(lambda lo, node: None)


@core.statement(gast.Expr)
def lower_expr(lo: Lowering, node) -> Any:
    """Lower an expression statement."""
    if isinstance(node.value, gast.Constant):
        return None  # a docstring
    if isinstance(node.value, gast.Yield):
        return RAISED if yielded(lo, node.value) is RAISED else None
    if isinstance(node.value, gast.YieldFrom):
        return core.lower_statements(lo, [generators.each_of(node)])
    value = core.lower(lo, node.value)
    if isinstance(node.value, gast.Name):
        guarded.read(lo, value)
    made = lo.build.made_by.get(value.slots.get(VALUE) if isinstance(value, Cell) else value)
    if isinstance(made, Call) and not made.effect and not isinstance(made.fn, Var) and record_of(made.fn).may_write:
        why = f"nothing takes the result of `{spelled(made.fn)}`, so it is called for what it changes, which is not known"
        raise core.unsupported(lo, node, why, "leave it away, or assign its result")
    return None


def yielded(lo: Lowering, node: gast.Yield) -> Any:
    """Lower `yield value`; return how control leaves what the loop over the generator does with the value."""
    return lo.scope.consume(Const(None) if node.value is None else core.lower(lo, node.value))


@core.lower.register(gast.Yield)
def lower_yield(lo: Lowering, node) -> Value:
    """Lower `yield value` in `x = yield value`, which is None where a loop runs over the generator."""
    left = lo.scope.consume is None or generators.STOP in lo.scope.names and not hasattr(node, "stops")
    if left or yielded(lo, node) is RAISED:
        raise core.unsupported(lo, node, "a `yield` inside an expression, of a generator that may be left there", "give it its own line")
    return Const(None)


@core.lower.register(gast.YieldFrom)
def lower_yield_from(lo: Lowering, node) -> Value:
    """Lower `yield from g` in `x = yield from g`, which is what the generator `g` returns."""
    source = core.iterate(lo, core.lower(lo, node.value), node)
    if lo.scope.consume is None or generators.STOP in lo.scope.names:
        raise core.unsupported(lo, node, "the value of `yield from` in a generator that may be left there", "yield in a loop")
    if source.drive is not None:
        return source.drive(lo.scope.consume) or Const(None)
    for_each(lo, source, lo.scope.consume)
    return Const(None)


@core.statement(gast.Assert)
def lower_assert(lo: Lowering, node) -> Any:
    """Lower `assert test, message`."""
    test = core.condition(lo, core.lower(lo, node.test))
    if (verdict := core.truth(lo, test)) is True:
        return None
    if verdict is False and __debug__:
        return branches.raised_here(lo, AssertionError, *(() if node.msg is None else (core.atom(lo, node.msg),)))
    cond = branches.tested(lo, lo.read(test))
    args = (cond,) if node.msg is None else (cond, core.operand(lo, node.msg))
    lo.build.add(Stmt((), Effect("assert", args)))
    return None


@core.statement(gast.FunctionDef)
def lower_functiondef(lo: Lowering, node) -> None:
    """Lower a `def` inside a function, and the calls of its decorators, of which the last one is called first."""
    decorators = [core.lower(lo, d) for d in node.decorator_list]
    value = inlining.local_function(lo, node)
    for decorator in reversed(decorators):
        value = core.call(lo, decorator, [value], {}, node)
    lo.set(lo.scope.home(node.name), node.name, value)


@core.statement(gast.Global)
def lower_global(lo: Lowering, node) -> None:
    """Lower `global name`."""
    core.declare_globals(lo, lo.scope.source, node.names)


@core.statement(gast.Nonlocal)
def lower_nonlocal(lo: Lowering, node) -> None:
    """Lower `nonlocal name`: assignments go to the enclosing function that defines the name."""
    for name in node.names:
        scope = lo.scope.parent
        while scope is not None and name not in scope.names and name not in scope.local:
            scope = scope.parent
        if scope is not None:
            lo.scope.homes[name] = scope.home(name)
        elif not core.declare_closure(lo, name):
            why = f"`nonlocal {name}` of a function that is not differentiated"
            raise core.unsupported(lo, node, why, "pass it, and return the new value")


@core.statement(gast.Delete)
def lower_delete(lo: Lowering, node) -> None:
    """Lower `del name`, `del xs[k]`."""
    for target in node.targets:
        if isinstance(target, gast.Subscript):
            delete_item(lo, target)
            continue
        if isinstance(target, gast.Attribute):
            delete_attribute(lo, core.lower(lo, target.value), target.attr, node)
            continue
        if not isinstance(target, gast.Name):
            raise core.unsupported(lo, node, "`del` of something else than a name")
        if lo.may_be_missing(core.resolve(lo, target.id)):
            raise core.unsupported(lo, node, f"`del` of `{target.id}`, which may have no value here")
        lo.set(lo.scope.home(target.id), target.id, MISSING)


def delete_attribute(lo: Lowering, value: Value, name: str, node) -> None:
    """Lower `del object.name`."""
    has = isinstance(value, Cell) and value.kind == "object" and name in value.items and not lo.may_be_missing(value.items[name])
    if not has or core.special_method(value, "__delattr__"):
        raise core.unsupported(lo, node, f"`del` of the attribute `{name}`, which this object may not have")
    objects.store_attribute(lo, value, name, MISSING)


def delete_item(lo: Lowering, target: gast.Subscript) -> None:
    """Lower `del items[k]` for an item or slice of a list, or for a key of a dict."""
    base = core.lower(lo, target.value)
    place = core.lower(lo, target.slice)
    kind = base.kind if isinstance(base, Cell) else None
    is_list = kind == "list" or isinstance(core.data_type(lo, base), ListT)
    if is_list and isinstance(place, Slice):
        lists.delete_slice(lo, base, place, target)
    elif is_list or kind == "dict" or isinstance(core.data_type(lo, base), MapT):
        core.call_method(lo, base, "pop", [place], {}, target)
    else:
        raise core.unsupported(lo, target, "`del` of an item whose place is not known before the program runs", "build the list without it")


@core.statement(gast.Import, gast.ImportFrom)
def lower_import(lo: Lowering, node) -> None:
    """Lower an `import` inside a function, of a module that can be imported while compiling."""
    for alias in node.names:
        if isinstance(node, gast.ImportFrom):
            if alias.name == "*":
                raise core.unsupported(lo, node, "an import of all names inside a function", "import it at the top of the file")
            package = lo.scope.source.globals.get("__package__")  # that a relative import begins at
            found = imported(lo, "." * node.level + (node.module or ""), alias.name, package=package)
        else:
            found = imported(lo, alias.name)
            if alias.asname is None:
                found = imported(lo, alias.name.partition(".")[0])
        name = alias.asname or alias.name.partition(".")[0]
        lo.set(lo.scope.home(name), name, Const(core.in_source(found), text=None))


def imported(lo: Lowering, module: str, name: str | None = None, package: str | None = None) -> Any:
    """Return a module, or what it calls `name`; where Python raises ImportError, so does the program."""
    try:
        module = importlib.util.resolve_name(module, package) if module.startswith(".") else module
        found = importlib.import_module(module)
        if name is None or hasattr(found, name):
            return getattr(found, name) if name else found
        return importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        raise core.surely(lo, core.refused(lo, f"this import fails: {error}"), ImportError if name else type(error)) from error
