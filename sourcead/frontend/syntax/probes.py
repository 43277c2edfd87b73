"""Lower a call of a library, or a subscript, that may raise what is handled: it is tried first, and the handler's exit taken if it raises.

    try:                                       error = exception_of(np.linalg.cholesky, a)
        L = np.linalg.cholesky(a)              code = handler_of(error, (LinAlgError,))
    except LinAlgError:                        if code == 1: return inf
        return np.inf                          L = np.linalg.cholesky(a)

The call is computed twice. So it is lowered like this only after it has raised what is handled (`compile/handled_exceptions.py`); until
then, the text computes it once and refuses the exception (`syntax/guarded.py`).
"""

import operator
from collections.abc import Callable
from typing import Any

import gast

from sourcead import runtime
from sourcead.analysis.numbers import operand_type
from sourcead.frontend import core
from sourcead.frontend.control.exits import assignment, standing_for
from sourcead.frontend.core import Held, Lowering, MethodVal, TupleVal, Value
from sourcead.frontend.core.known_values import common_type
from sourcead.frontend.syntax.guarded import is_division, may_be_of_python, meets, raised_by
from sourcead.frontend.syntax.handlers import Handler
from sourcead.ir.nodes import Atom, Block, Call, Const, Index, Op, Stmt, Var
from sourcead.ir.types import INT, UNKNOWN, Array, ListT, MapT
from sourcead.ir.walk import all_reads


def after_trial(lo: Lowering, node: Any, made: Value, stmts: list[Stmt]) -> list[gast.AST]:
    """Return what follows a call of a library (`Calling`) whose statements, `stmts`, were emitted last: each is tried if it may raise."""
    stops = [h for h in node.exits.handlers if h.number in node.taken]
    k = risky(lo, stmts, tuple(c for h in stops for c in h.classes))
    if k is None:
        return [assignment(node.name, Held(made), node), *(assignment(flag, Held(Const(False)), node) for flag in node.taken.values())]
    del lo.build.stmts[len(lo.build.stmts) - len(stmts) + k :]
    error = tried(lo, stmts[k])

    later = stmts[k + 1 :]
    if later and not set(all_reads(Block(tuple(later), ()))).intersection(stmts[k].targets):  # called for what it raises alone
        lo.probed.update(var for stmt in later for var in stmt.targets)  # what is computed in its place raises the same

    def rest() -> list[gast.AST]:
        lo.build.stmts.extend(stmts[k:])
        return after_trial(lo, node, made, later)

    return [*leaving(lo, node, stops, error, error), standing_for(node, Then(rest))]


def leaving(lo: Lowering, node: Any, stops: list[Handler], error: Var, told: Value) -> list[gast.AST]:
    """Return the exits to the handlers of an error, if that is one; `told` is what they know of it."""
    classes = [lo.operand(TupleVal(tuple(map(Const, h.classes)))) for h in stops]
    code = lo.wrap(lo.build.emit(Call(runtime.handler_of, (error, *classes)), INT, "code"))
    done = [assignment(node.exits.errors[h.number], Held(told), node) for h in stops]
    for number, h in enumerate(stops, 1):
        taken = gast.Compare(Held(code), [gast.Eq()], [gast.Constant(number, None)])
        done.append(standing_for(node, gast.If(taken, node.exits.leave(h.number, node), [])))
    return done


# -- changes -----------------------------------------------------------------------------------------------------------------
#
#     try:                                   error = exception_of(operator.getitem, stack, -1)
#         y = stack.pop()                    code = handler_of(error, (IndexError,))
#     except IndexError:                     if code == 1: return 0.0
#         return 0.0                         y = stack.pop()
#
# What changes an object is tried by a function that reads what is changed, and raises an exception of the same class as the change.

Trial = tuple[Any, list[Atom]]  # a function and its arguments
ENDS = {"pop": -1, "popleft": 0}  # methods that take an item out of a list, and which if they are not told


def trial_of_change(lo: Lowering, base: Value, node: gast.AST, given: list, stores: bool) -> Trial | None:
    """Return the trial of a method or an assignment that changes an object; None if it is none, or none that is tried."""
    if stores and isinstance(node, gast.Subscript):
        return trial_of_store(lo, base, *given)
    if not isinstance(base, MethodVal) or not isinstance(node, gast.Call) or given[1] or core.class_of(base.value) is not None:
        return None
    target, args = base.value, given[0]
    if args:
        as_one_value(lo, target, args[0])
    t = core.data_type(lo, target)
    if base.name in ENDS and isinstance(t, ListT) and len(args) <= 1:
        return operator.getitem, [lo.read(target), lo.read(args[0]) if args else Const(ENDS[base.name])]
    if base.name == "pop" and isinstance(t, MapT) and len(args) == 1:
        return operator.getitem, [lo.read(target), lo.read(args[0])]
    if base.name == "remove" and isinstance(t, ListT) and len(args) == 1:
        return list.index, [lo.read(target), lo.read(args[0])]
    return None


def trial_of_store(lo: Lowering, base: Value, key: Value) -> Trial | None:
    """Return the trial of `base[key] = value`, which is none for a dict or an object."""
    if core.class_of(base) is not None:
        return None
    if getattr(base, "kind", None) == "list":
        as_one_value(lo, base, key)
    if not isinstance(core.data_type(lo, base), ListT | Array):
        return None
    return operator.getitem, [lo.read(base), lo.operand(key)]


def as_one_value(lo: Lowering, cell: Value, key: Value) -> None:
    """Make a list or dict one value if the place that is changed is not known, as the change does."""
    kind = getattr(cell, "kind", None)
    if not core.known(lo, key)[0] and (kind == "list" or kind == "dict" and common_type(cell) is not None):
        lo.materialise(cell)


def change(lo: Lowering, node: Any, trial: Trial | None, lower: Callable[[], Value] | None) -> list[gast.AST]:
    """Return the trial of a change, if it has one, the exits to the handlers, and the change; an item is set by the next statement."""

    def changed() -> list[gast.AST]:
        with lo.at(node):
            made = Const(None) if lower is None else lower()
        return [assignment(node.name, Held(made), node), *(assignment(flag, Held(Const(False)), node) for flag in node.taken.values())]

    if trial is None:
        return changed()
    stops = [h for h in node.exits.handlers if h.number in node.taken]
    error = lo.build.emit(Call(runtime.exception_of, (Const(trial[0]), *trial[1])), UNKNOWN, "error")
    untold = core.unreadable("error", "what this exception says is not known here")  # it names the change
    return [*leaving(lo, node, stops, error, untold), standing_for(node, Then(changed))]


class Then(gast.Pass):
    """Stands for the statements that `after()` returns when it is lowered."""

    def __init__(self, after: Callable[[], list[gast.AST]]):
        self.after = after


core.replaced_statement(Then)(lambda lo, node: node.after())


def risky(lo: Lowering, stmts: list[Stmt], classes: tuple[type, ...]) -> int | None:
    """Return the position of the first call that may raise an exception of one of these classes, None if there is none."""
    for k, stmt in enumerate(stmts):
        op = stmt.op
        is_item = isinstance(op, Index) and isinstance(op.key, Atom) and isinstance(operand_type(op.base), ListT | MapT | Array)
        plain = (is_item or isinstance(op, Call) and not op.effect) and not stmt.within and not is_of_unknown_class(op)
        if plain and not lo.probed.intersection(stmt.targets) and any(meets(raised, classes) for raised in raised_by(stmt)):
            return k
    return None


def is_of_unknown_class(op: Op) -> bool:
    """Tell whether an operation is a division of numbers of which it is not known whether they are Python's, which may raise."""
    if not is_division(op) or not all(map(may_be_of_python, op.args)):
        return False
    return any(operand_type(a).dtype is not None for a in op.args)


def tried(lo: Lowering, stmt: Stmt) -> Var:
    """Emit the trial of a call; return the exception that it raises, or None."""
    lo.probed.update(stmt.targets)
    match stmt.op:
        case Index(base, key):
            call = Call(runtime.exception_of, (Const(operator.getitem), base, key))
        case Call(fn, args) if is_division(stmt.op) and all(map(may_be_of_python, args)):
            call = Call(runtime.exception_of, (Const(runtime.as_python), Const(fn), *args))
        case Call(fn, args, kwargs):
            call = Call(runtime.exception_of, (Const(fn), *args), kwargs)
    return lo.build.emit(call, UNKNOWN, "error")
