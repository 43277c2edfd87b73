"""Lowering of statements: one function for each kind, returning how control leaves it.

None: goes on to the next statement.  `Return(value)`, `RAISED`, `NEXT` (a `continue`): it does not.  An `if` out of which
control may leave takes the statements after it into its arms, so that structured branches are all there is.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import (
    builtin_functions,
    contexts,
    control,
    exceptions,
    exits,
    expressions,
    generators,
    inlining,
    iteration,
    lists,
    maps,
    matching,
    methods,
    objects,
    recursion,
    sequences,
    sets,
    steering,
    walks,
)
from sourcead.frontend.context import Lowering, name_reads
from sourcead.frontend.control import RAISED
from sourcead.frontend.expressions import BINARY, lower, unsupported
from sourcead.frontend.values import (
    MISSING,
    POISON,
    VALUE,
    Cell,
    SliceVal,
    TupleVal,
    Value,
    hold,
    next_birth,
    roots,
)
from sourcead.ir.nodes import Block, Const, Effect, Let, Stmt, Sub, Var
from sourcead.ir.types import INT, Array, ListT, SetT, Undefined, Unknown


@dataclass(frozen=True, eq=False)
class Return:
    value: Value


NEXT = object()
MAX_COPIES = 64
MAX_UNROLLED = 64  # iterations


def lower_statements(lo: Lowering, stmts: list[gast.AST]) -> Any:
    """Lowers a list of statements; returns how control leaves it."""
    for k, node in enumerate(stmts):
        if isinstance(node, gast.If):
            left, taken_all = lower_if(lo, node, stmts[k + 1 :])
            if left is not None or taken_all:
                return left
            continue
        splice = SPLICED.get(type(node))
        if splice is not None:
            with lo.at(node):
                inside = splice(lo, node)
            return lower_statements(lo, [*inside, *stmts[k + 1 :]])
        handler = HANDLERS.get(type(node))
        if handler is None:
            raise unsupported(lo, node)
        with lo.at(node):
            left = handler(lo, node)
        if left is not None:
            return left
        if isinstance(node, (gast.For, gast.While)):
            after = exits.after_loop(lo, node)
            if after:
                return lower_statements(lo, [*after, *stmts[k + 1 :]])
    return None


def lower_if(lo: Lowering, node: gast.If, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lowers an `if`; returns how control leaves it, and whether the statements after it were lowered too."""
    with lo.at(node):
        test = lower(lo, node.test)
        verdict = expressions.truth(lo, test)
    if verdict is not None:
        taken = node.body if verdict else node.orelse
        if may_leave(node):  # what comes after is what an `if` inside goes on to
            return lower_statements(lo, [*taken, *rest]), True
        return lower_statements(lo, taken), False
    with lo.at(node):
        cond = lo.read(test)
        if not may_leave(node):
            left = control.branch(lo, cond, [lambda: lower_statements(lo, node.body), lambda: lower_statements(lo, node.orelse)])
            return left, False
        if rest and not leaves_always(node.body) and not leaves_always(node.orelse):
            if lo.scope.loops and not may_continue(node):
                return leave_or_go_on(lo, node, cond, rest), True
            lo.copies = getattr(lo, "copies", 0) + 1
            if lo.copies > MAX_COPIES:
                raise unsupported(lo, node, "too many nested `return` or `continue` statements", "restructure with `else`")

        def arm(body):
            def run():
                left = lower_statements(lo, body if leaves_always(body) else [*body, *rest])
                return arm_value(lo, left)

            return run

        left = control.branch(lo, cond, [arm(node.body), arm(node.orelse)])
    if left is RAISED:
        return RAISED, True
    return (NEXT if lo.scope.loops else Return(left)), True


def leave_or_go_on(lo: Lowering, node: gast.If, cond, rest: list[gast.AST]) -> Any:
    """An `if` somewhere in which the loop may be left, then the rest of the iteration if it was not."""

    def arm(body):
        return lambda: arm_value(lo, lower_statements(lo, body))

    if control.branch(lo, cond, [arm(node.body), arm(node.orelse)]) is RAISED:
        return RAISED
    left = lower_statements(lo, [exits.if_flag(lo.scope.leaves[-1], [gast.Pass()], rest, node)])
    return RAISED if left is RAISED else NEXT


def arm_value(lo: Lowering, left: Any) -> Any:
    """What an arm that runs to the end of the function or iteration hands to the branch."""
    if left is RAISED:
        return RAISED
    if lo.scope.loops:
        return None
    return left.value if isinstance(left, Return) else Const(None)


def may_leave(node: gast.AST) -> bool:
    """Whether a `return`, `continue` or `break` may take control out of this statement."""
    todo = [(node, False)]
    while todo:
        n, in_loop = todo.pop()
        if isinstance(n, gast.Return) or isinstance(n, (gast.Continue, gast.Break)) and not in_loop:
            return True
        if isinstance(n, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            continue
        in_loop = in_loop or isinstance(n, (gast.For, gast.While))
        todo.extend((child, in_loop) for child in gast.iter_child_nodes(n))
    return False


def may_continue(node: gast.AST) -> bool:
    """Whether a `continue` of the loop around may stand inside."""
    if isinstance(node, (gast.For, gast.While)):
        return any(map(may_continue, node.orelse))
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
        return False
    return isinstance(node, gast.Continue) or any(map(may_continue, gast.iter_child_nodes(node)))


def leaves_always(stmts: list[gast.AST]) -> bool:
    """Whether control never reaches the end of these statements."""
    for node in stmts:
        if isinstance(node, (gast.Return, gast.Raise, gast.Continue, gast.Break)):
            return True
        if isinstance(node, gast.If) and leaves_always(node.body) and leaves_always(node.orelse):
            return True
        if isinstance(node, gast.With) and leaves_always(node.body):
            return True
    return False


# -- simple statements -----------------------------------------------------------------------------------------------


def lower_return(lo: Lowering, node) -> Any:
    value = Const(None) if node.value is None else lower(lo, node.value)
    if lo.scope.loops:
        exits.set_return(lo, value, again=hasattr(node, "stands_for"))
        return NEXT
    return Return(value)


def lower_break(lo: Lowering, node) -> Any:
    exits.set_break(lo)
    return NEXT


def lower_continue(lo: Lowering, node) -> Any:
    return NEXT


def lower_pass(lo: Lowering, node) -> None:
    return None


def lower_expr(lo: Lowering, node) -> Any:
    if isinstance(node.value, gast.Constant):
        return None  # a docstring
    if isinstance(node.value, gast.Yield):
        return RAISED if generators.lower_yield(lo, node.value) is RAISED else None
    if isinstance(node.value, gast.YieldFrom):
        left: list = []
        sequences.for_each(lo, iteration.iterate(lo, lower(lo, node.value.value), node), lambda e: left.append(lo.scope.consume(e)))
        return None
    lower(lo, node.value)
    return None


def lower_assign(lo: Lowering, node) -> None:
    value = lower(lo, node.value)
    with exchanged(lo, node):
        for target in node.targets:
            assign(lo, target, value)


@contextlib.contextmanager
def exchanged(lo: Lowering, node):
    """`xs[i], xs[k] = xs[k], xs[i]`: what the list holds is what it held, each thing once if it was so before."""
    xs = lo.scope.names.get(name_of_exchanged(node))
    if not isinstance(xs, Cell) or xs.base is not None:
        yield
        return
    before = xs.doubled, set(xs.holds)
    yield
    xs.doubled, xs.holds = before


def name_of_exchanged(node) -> str | None:
    """The list in which an assignment exchanges two items."""
    match node:
        case gast.Assign(targets=[gast.Tuple(elts=[gast.Subscript() as a, gast.Subscript() as b])], value=gast.Tuple(elts=values)):
            names = {getattr(t.value, "id", None) for t in (a, b)}
            if len(names) == 1 and [expression_text(v) for v in values] == [expression_text(b), expression_text(a)]:
                return names.pop()
    return None


def expression_text(node: gast.AST) -> str:
    """An expression, whether it is read or assigned to."""
    return gast.dump(node).replace("Store()", "Load()")


def lower_annassign(lo: Lowering, node) -> None:
    if node.value is not None:
        assign(lo, node.target, lower(lo, node.value))


def lower_assert(lo: Lowering, node) -> None:
    test = lower(lo, node.test)
    if expressions.truth(lo, test) is True:
        return
    args = (lo.read(test),) if node.msg is None else (lo.read(test), expressions.operand(lo, node.msg))
    lo.build.add(Stmt((), Effect("assert", args)))


def lower_raise(lo: Lowering, node) -> Any:
    if node.exc is None:
        raise unsupported(lo, node, "a bare `raise`")
    exc = expressions.atom(lo, node.exc)
    lo.build.add(Stmt((), Effect("raise", (exc,))))
    return RAISED


def lower_functiondef(lo: Lowering, node) -> None:
    lo.set(lo.scope.names, node.name, inlining.local_function(lo, node))


def lower_nonlocal(lo: Lowering, node) -> None:
    """`nonlocal name`: assignments go to the function around that has it."""
    for name in node.names:
        scope = lo.scope.parent
        while scope is not None and name not in scope.names:
            scope = scope.parent
        if scope is None:
            raise unsupported(lo, node, f"`nonlocal {name}` of a function that is not differentiated", "pass it, and return the new value")
        lo.scope.homes[name] = scope.homes.get(name, scope.names)


def home(lo: Lowering, name: str):
    """The variables among which a name is assigned: those of this function, or of one around (`nonlocal`)."""
    return lo.scope.homes.get(name, lo.scope.names)


def lower_delete(lo: Lowering, node) -> None:
    for target in node.targets:
        if isinstance(target, gast.Subscript):
            delete_item(lo, target)
            continue
        if not isinstance(target, gast.Name):
            raise unsupported(lo, node, "`del` of something else than a name")
        lo.set(lo.scope.names, target.id, MISSING)


def delete_item(lo: Lowering, target: gast.Subscript) -> None:
    """`del items[k]` of a list or dict whose items are known one by one."""
    base = lower(lo, target.value)
    place = expressions.lower_key(lo, target.slice)
    if isinstance(base, Cell) and (base.kind == "list" or lists.is_list(lo, base)):
        if isinstance(place, SliceVal):
            return store(lo, base, place, lo.new_list([]), target)
        methods.call_method(lo, base, "pop", [place], {}, target)
        return None
    if isinstance(base, Cell) and base.kind == "dict" or maps.is_map(lo, base):
        methods.call_method(lo, base, "pop", [place], {}, target)
        return None
    found, key = expressions.known(lo, place)
    if not (isinstance(base, Cell) and base.kind == "dict" and found):
        raise unsupported(lo, target, "`del` of an item whose place is not known before the program runs", "build the list without it")
    if base.kind == "dict" and key not in base.items:
        raise unsupported(lo, target, f"the dict has no key {key!r} here")
    methods.call_method(lo, base, "pop", [Const(key)], {}, target)
    return None


def lower_import(lo: Lowering, node) -> None:
    """`import` inside a function: of a module that can be imported now."""
    for alias in node.names:
        if isinstance(node, gast.ImportFrom):
            if node.level or alias.name == "*":
                raise unsupported(lo, node, "a relative import inside a function", "import it at the top of the file")
            found = getattr(importlib.import_module(node.module), alias.name)
        else:
            found = importlib.import_module(alias.name)
            if alias.asname is None:
                found = importlib.import_module(alias.name.partition(".")[0])
        name = alias.asname or alias.name.partition(".")[0]
        lo.set(lo.scope.names, name, Const(found, text=None))


# -- assignment ------------------------------------------------------------------------------------------------------


def assign(lo: Lowering, target: gast.AST, value: Value) -> None:
    """`target = value`."""
    match target:
        case gast.Name(id=name):
            lo.set(home(lo, name), name, named(lo, value, name))
        case gast.Tuple(elts=targets) | gast.List(elts=targets):
            unpack(lo, targets, value, target)
        case gast.Subscript():
            base = lower(lo, target.value)
            key = expressions.lower_key(lo, target.slice)
            store(lo, base, key, value, target)
        case gast.Attribute(value=owner, attr=name):
            objects.set_attribute(lo, lower(lo, owner), name, named(lo, value, name), target)
        case gast.Starred():
            raise unsupported(lo, target)
        case _:
            raise unsupported(lo, target)


def named(lo: Lowering, value: Value, name: str) -> Value:
    """The value under the name that the user gives it."""
    if lo.static_only or name.startswith("$"):
        return value
    match value:
        case Var() if value.temp:
            return lo.rename(value, name)
        case Cell() if value.kind == "array" and value.base is None:
            version = value.slots[VALUE]
            if isinstance(version, Var) and version.temp:
                lo.rename(version, name)
                value.name = name
            elif value.name.startswith("$"):
                value.name = name
        case Cell() if value.kind != "array" and value.name == "items":
            value.name = name
        case Cell() if value.base is not None and isinstance(value.slots.get(VALUE), Var) and value.slots[VALUE].temp:
            lo.rename(value.slots[VALUE], name)
        case Const(number, None, False) if isinstance(number, (int, float, complex)):
            var = lo.build.emit(Let(value), atom_type(value), name, temp=False)
            lo.build.known[var] = number
            return var
    return value


def unpack(lo: Lowering, targets: list, value: Value, node) -> None:
    """`a, (b, *c) = value`."""
    stars = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
    if stars and not sequences.has_countable_items(lo, value):
        found = lists.starred_items(lo, value, stars[0], len(targets) - stars[0] - 1, node)
        for t, item in zip([*targets[: stars[0]], targets[stars[0]].value, *targets[stars[0] + 1 :]], found):
            assign(lo, t, item)
        return
    items = sequences.static_items(lo, value, node, None if stars else len(targets))
    if stars:
        i = stars[0]
        after = len(targets) - i - 1
        if len(items) < len(targets) - 1:
            raise unsupported(lo, node, f"{len(items)} values cannot be unpacked into {len(targets)} names")
        middle = lo.new_list(items[i : len(items) - after])
        items = [*items[:i], middle, *items[len(items) - after :]]
        targets = [*targets[:i], targets[i].value, *targets[i + 1 :]]
    if len(items) != len(targets):
        raise unsupported(lo, node, f"{len(items)} values cannot be unpacked into {len(targets)} names")
    for t, item in zip(targets, items):
        assign(lo, t, item)


def store(lo: Lowering, base: Value, key: Value, value: Value, node, mode: str = "set") -> None:
    """`base[key] = value`."""
    if isinstance(base, Cell) and base.kind in ("list", "dict"):
        is_known, k = expressions.known(lo, key)
        if is_known and not isinstance(key, SliceVal):
            if base.kind == "list":
                n = len(base.items)
                if not -n <= k < n:
                    raise unsupported(lo, node, f"index {k} is out of range: there are {n} items")
                k %= n
            elif k not in base.items and base.depth < lo.depth and maps.may_be(lo, base, value):
                maps.open_up(lo, base, node)  # whether the key is there afterwards depends on what the program does
                return store(lo, base, key, value, node, mode)
            lo.alive(base)
            lo.changed(base)
            lo.set(base.slots, k, value)
            return
        if isinstance(key, SliceVal) and (new := assigned_slice(lo, base, key, value)) is not None:
            lo.alive(base)
            methods.replace_items(lo, base, new)
            return
        if base.kind == "dict":
            maps.open_up(lo, base, node, key)
            return store(lo, base, key, value, node, mode)
        if base.depth < lo.depth:
            raise control.MustMaterialise(base, lo.here)
        lo.materialise(base)
    if not isinstance(base, Cell):
        raise unsupported(lo, node, "this object cannot be written into")
    if maps.is_map(lo, base):
        maps.store(lo, base, maps.key_of(lo, key, node), value)
        return
    if isinstance(key, SliceVal) and lists.is_list(lo, base):
        lists.assign_slice(lo, base, key, value, node)
        return
    if isinstance(atom_type(lo.read(base)), (ListT, Unknown)) and isinstance(value, (Cell, TupleVal)):
        operand = lo.operand(value) if not isinstance(value, Cell) else lo.read(value)
        lo.write(base, (Sub(lo.operand(key)),), operand, mode)
        if isinstance(atom_type(lo.read(base)), ListT):
            hold(base.root(), value)
        return
    lo.write(base, (Sub(lo.operand(key)),), lo.operand(sequences.as_array(lo, value)), mode)


def assigned_slice(lo: Lowering, base: Cell, key: SliceVal, value: Value) -> list[Value] | None:
    """The items of a list after an assignment to a part of it, if all is known one by one."""
    bounds = [(True, None) if p is None else expressions.known(lo, p) for p in (key.lower, key.upper, key.step)]
    if base.kind != "list" or not all(k for k, _ in bounds) or base.depth < lo.depth or not sequences.has_known_items(value):
        return None
    items = list(base.items.values())
    items[slice(*(v for _, v in bounds))] = sequences.static_items(lo, value, None)
    return items


# -- augmented assignment ----------------------------------------------------------------------------------------------


def lower_augassign(lo: Lowering, node) -> None:
    """`target op= value`: an array changes in place under all its names; a number or tuple is rebound."""
    fn = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, gast.Name):
        old = expressions.resolve(lo, target.id, target)
        value = lower(lo, node.value)
        new = augment(lo, old, fn, value, node)
        if new is not None:
            lo.set(home(lo, target.id), target.id, named(lo, new, target.id))
        return
    base = lower(lo, target.value)
    if isinstance(target, gast.Attribute):
        old = methods.attribute(lo, base, target.attr, target)
        new = augment(lo, old, fn, lower(lo, node.value), node)
        objects.set_attribute(lo, base, target.attr, old if new is None else named(lo, new, target.attr), target)
        return
    key = expressions.lower_key(lo, target.slice)
    if isinstance(base, Cell) and base.kind == "array" and isinstance(atom_type(lo.read(base)), Array):
        value = sequences.as_array(lo, lower(lo, node.value))
        path_key = lo.operand(key)
        mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
        if mode and expressions.views(atom_type(lo.read(base)), path_key):
            lo.write(base, (Sub(path_key),), lo.operand(value), mode)
            return
        item = lo.build.index(lo.read(base), path_key)
        lo.write(base, (Sub(path_key),), lo.read(expressions.operate(lo, fn, item, value)))
        return
    item = expressions.subscript(lo, base, key, target)
    value = lower(lo, node.value)
    new = augment(lo, item, fn, value, node)
    if new is not None:
        store(lo, base, key, new, target)


def augment(lo: Lowering, old: Value, fn, value: Value, node) -> Value | None:
    """`old op= value` of an object; the object to rebind the name to, or None if it changed in place."""
    if isinstance(old, Cell) and old.kind == "list" and fn is operator.add:
        methods.extend(lo, old, value, node)
        return None
    if isinstance(old, Cell) and old.kind == "array":
        t = atom_type(lo.read(old))
        if isinstance(t, Array) and lo.read(old) not in lo.build.maybe_number:
            mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
            if mode:
                lo.write(old, (), lo.operand(value), mode)
            else:
                lo.write(old, (), lo.read(expressions.operate(lo, fn, lo.read(old), value)))
            return None
        if isinstance(t, ListT):
            methods.extend(lo, old, value, node)
            return None
        if isinstance(t, SetT) and sets.set_type(lo, value) is not None:
            sets.replace(lo, old, fn, value, node)
            return None
        new = expressions.operate(lo, fn, old, value)
        if isinstance(t, Undefined):  # an item of what is empty in this round of lowering a loop
            return new
        if isinstance(t, Array) and atom_type(lo.read(new)) != t and getattr(atom_type(lo.read(new)), "dtype", None) != t.dtype:
            raise unsupported(lo, node, "the dtype of what is added differs from that of the array", "start from an array: `np.zeros(...)`")
        same = roots(old)
        for cell in same | {container for c in same for container in c.held_by}:
            how = f"changed by `{symbol(node.op)}=`, which changes an array in place, but a number not"
            lo.set(cell.slots, POISON, f"`{cell.name}` was {how}; its type is not known here")
        return new
    return expressions.operate(lo, fn, old, value)


def symbol(op) -> str:
    symbols = {
        "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "FloorDiv": "//", "Mod": "%",
        "BitOr": "|", "BitAnd": "&",
    }  # fmt: skip
    return symbols.get(type(op).__name__, "?")


# -- loops -----------------------------------------------------------------------------------------------------------


def lower_for(lo: Lowering, node) -> Any:
    """A loop in the text; but if it writes into the items of a list, or needs to know which they are, they are taken one by one."""
    state, before, birth = State(lo), lo.walked, next_birth()
    lo.walked = []
    try:
        try:
            left = lower_loop(lo, node)
            if not any(cell in lo.dirty for cell in lo.walked):
                return left
        except (AliasError, UnsupportedSyntaxError):
            if not lo.walked:
                raise
        walks.forget({cell for walked in lo.walked for cell in walked.holds}, birth)
    finally:
        lo.walked = before
    state.restore(lo)
    return lower_loop(lo, node, listing=True)


def lower_loop(lo: Lowering, node, listing: bool = False) -> Any:
    listed_before, lo.listing = lo.listing, listing
    walks_before, lo.walks = lo.walks, []
    try:
        iterable = iteration.iterate(lo, lower(lo, node.iter), node)
        taken = lo.walks
    finally:
        lo.listing, lo.walks = listed_before, walks_before
    if iterable.items is not None:
        exits.enter(lo, exits.exits_of(lo, node))
        return unrolled(lo, node, iterable, taken)
    run_loop(lo, node, iterable, lambda element: assign(lo, node.target, element), lambda: lower_statements(lo, node.body))


def unrolled(lo: Lowering, node, iterable: iteration.Iterable, taken: list[walks.Walk]) -> Any:
    """A loop over values known one by one."""
    items = [functools.partial(walks.element, lo, taken, iterable, k, node) for k in range(len(iterable.items))]
    return iteration_by_iteration(
        lo, exits.exits_of(lo, node).leave, items,
        lambda element: assign(lo, node.target, element), lambda: lower_statements(lo, node.body),
    )  # fmt: skip


def iteration_by_iteration(lo: Lowering, leave, items: list, bind, body) -> Any:
    """The iterations one after the other; after one that may leave the loop, the others depend on a flag."""
    for k, item in enumerate(items):
        bind(item())
        if one_iteration(lo, leave, body) is RAISED:
            return RAISED
        if leave is None:
            continue
        left = lo.scope.names[leave]
        verdict = expressions.truth(lo, left)
        if verdict is None:
            rest = functools.partial(iteration_by_iteration, lo, leave, items[k + 1 :], bind, body)
            return control.branch(lo, lo.read(left), [lambda: None, rest])
        if verdict:
            break
    return None


def one_iteration(lo: Lowering, leave, body) -> Any:
    """Lowers the body of a loop; returns how control leaves it."""
    within = lo.build.within
    lo.scope.loops += 1
    if leave is not None:
        lo.scope.leaves.append(leave)
    try:
        return body()
    finally:
        lo.build.within = within
        lo.scope.loops -= 1
        if leave is not None:
            lo.scope.leaves.pop()


def run_loop(lo: Lowering, node, iterable, bind, body) -> None:
    """A counted loop over an iterable of unknown length."""
    if iterable.drive is not None:
        return driven_loop(lo, node, iterable, bind, body)
    if iterable.endless:
        iterable = iteration.unending(lo, iterable)
    domain = iterable.domain()
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def start():
        name = index_name(node) if iterable.index_name else None
        index = Var(name or "i", INT, temp=name is None)
        bind(iterable.element(index))
        return domain, index

    def run():
        exits.go_on(lo, leaving)
        if one_iteration(lo, leaving.leave, body) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises")

    state = State(lo)
    try:
        recursion.or_not_at_all(lo, lambda: control.loop(lo, start, run, seeds(lo, node), (lo.scope.names, leaving.leave), iterable.policy))
    except UnsupportedSyntaxError as error:
        if not getattr(error, "needs_items", False):
            raise
        places = known_places(lo, iterable)
        if places is None:
            raise
        state.restore(lo)
        items = [functools.partial(iterable.element, Const(k)) for k in places]
        if iteration_by_iteration(lo, leaving.leave, items, bind, body) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises") from None


def known_places(lo: Lowering, iterable: iteration.Iterable) -> range | None:
    """The indices of the items of an iterable, if they are known and few."""
    if iterable.drive is not None or iterable.endless:
        return None
    domain = iterable.domain()
    bounds = [expressions.known(lo, a) for a in (domain.start, domain.stop, domain.step)]
    if not all(k for k, _ in bounds):
        return None
    places = range(*(v for _, v in bounds))
    return places if len(places) <= MAX_UNROLLED else None


class State:
    """Where lowering stands, to go back to."""

    def __init__(self, lo: Lowering):
        self.mark, self.depth, self.scope, self.loops = lo.journal.mark(), lo.depth, lo.scope, lo.scope.loops
        self.build = lo.build.stmts, lo.build.origin, lo.build.within
        self.count, self.leaves = len(lo.build.stmts), list(lo.scope.leaves)

    def restore(self, lo: Lowering) -> None:
        lo.journal.rollback(self.mark)
        lo.depth, lo.scope = self.depth, self.scope
        lo.build.stmts, lo.build.origin, lo.build.within = self.build
        del lo.build.stmts[self.count :]
        lo.scope.loops, lo.scope.leaves[:] = self.loops, self.leaves


def driven_loop(lo: Lowering, node, iterable, bind, body) -> None:
    """A loop over a generator."""
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def act(element):
        exits.go_on(lo, leaving)
        bind(element)
        return one_iteration(lo, leaving.leave, body)

    iterable.drive(act, leaving.leave)


def index_name(node) -> str | None:
    """The name that the user gives to the number of the iteration: `for i in range`, `for i, x in enumerate`."""
    match node.target:
        case gast.Name(id=name) | gast.Tuple(elts=[gast.Name(id=name), *_]):
            return name
    return None


def lower_while(lo: Lowering, node) -> None:
    if not exits.is_endless(node) and any(isinstance(n, gast.NamedExpr) for n in gast.walk(node.test)):
        if node.orelse:
            raise unsupported(
                lo,
                node,
                "the condition of this loop assigns a name, and the loop has an `else`",
                "assign it before the loop and at the end of its body",
            )
        return lower_while(lo, exits.tested_inside(lo, node))
    leaving = exits.exits_of(lo, node)
    exits.enter(lo, leaving)

    def start():
        before = lo.journal.mark()
        with lo.build.block() as stmts:
            cond = expressions.atom(lo, node.test)
        if any(not isinstance(key, type(VALUE)) for _, key, _ in lo.journal.entries[before:]):
            raise unsupported(lo, node, "the condition of this loop assigns a name", "assign it before the loop and at the end of its body")
        lo.journal.rollback(before)
        return Block(tuple(stmts), (cond,)), None

    def run():
        exits.go_on(lo, leaving)
        if one_iteration(lo, leaving.leave, lambda: lower_statements(lo, node.body)) is RAISED:
            raise unsupported(lo, node, "every iteration of this loop raises")

    control.loop(lo, start, run, seeds(lo, node), (lo.scope.names, leaving.leave))


def seeds(lo: Lowering, node) -> list:
    """Slots that an iteration surely changes, judged by the syntax: names assigned, arrays written through a name."""
    found: dict = {}
    names = lo.scope.names
    everywhere, loops = lo.scope.reads
    here = name_reads(node) if node in loops else {}
    inside = [m for s in node.body for m in steering.walk(lo, s)] + list(gast.walk(getattr(node, "target", node.body[0])))
    in_place = {n.target for n in inside if isinstance(n, gast.AugAssign) and isinstance(names.get(getattr(n.target, "id", None)), Cell)}
    for n in inside:
        match n:
            case gast.Name(id=name, ctx=gast.Store()) if n not in in_place:
                if name in names or everywhere[name] > here.get(name, 0):  # read outside this loop
                    found.setdefault((names, name))
            case gast.Subscript(value=gast.Name(id=name), ctx=gast.Store()):
                cell = names.get(name)
                if isinstance(cell, Cell) and cell.root().kind == "array":
                    found.setdefault((cell.root().slots, VALUE))
    return list(found)


# -- comprehensions ----------------------------------------------------------------------------------------------------


def comprehension(lo: Lowering, node, take=None) -> Value:
    """`[f(x) for x in xs if c]`: the loop that appends to an empty list, or does with each value what `take` does."""
    result = lo.new_list([])
    take = take or (lambda value: methods.append(lo, result, value, node))

    def nest(generators):
        if not generators:
            take(lower(lo, node.elt))
            return None
        g, *rest = generators
        iterable = iteration.iterate(lo, lower(lo, g.iter), node)

        def body():
            tests = list(g.ifs)

            def guarded(tests):
                if not tests:
                    return nest(rest)
                test = lower(lo, tests[0])
                verdict = expressions.truth(lo, test)
                if verdict is None:
                    control.branch(lo, lo.read(test), [lambda: guarded(tests[1:]), lambda: None])
                elif verdict:
                    guarded(tests[1:])
                return None

            return guarded(tests)

        items = iterable.items
        if items is None and lo.apart and (places := known_places(lo, iterable)) is not None:
            items = [iterable.element(Const(k)) for k in places]
        if items is not None:
            for item in items:
                assign(lo, g.target, item)
                body()
            return None
        run_loop(lo, ForLike(g.target, [gast.Expr(node.elt)]), iterable, lambda element: assign(lo, g.target, element), body)
        return None

    shadowed = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    before = {name: lo.scope.names.get(name, MISSING) for name in shadowed}
    nest(node.generators)
    for name, value in before.items():
        lo.set(lo.scope.names, name, value)
    return result


def summed(lo: Lowering, node, start: Value) -> Value:
    """`sum(f(x) for x in xs)`: the loop that adds, without a list."""
    names = lo.scope.names
    outer = names.get("$total", MISSING)
    lo.set(names, "$total", start)
    comprehension(lo, node, lambda value: lo.set(names, "$total", builtin_functions.plus(lo, names["$total"], value)))
    result = names["$total"]
    lo.set(names, "$total", outer)
    return result


@dataclass(eq=False)
class ForLike:
    """What `run_loop` needs of a `for` statement."""

    target: gast.AST
    body: list


HANDLERS = {
    gast.Return: lower_return, gast.Continue: lower_continue, gast.Break: lower_break, gast.Pass: lower_pass, gast.Expr: lower_expr,
    gast.Assign: lower_assign, gast.AnnAssign: lower_annassign, gast.AugAssign: lower_augassign, gast.For: lower_for,
    gast.While: lower_while, gast.Assert: lower_assert, gast.Raise: lower_raise, gast.FunctionDef: lower_functiondef,
    gast.Nonlocal: lower_nonlocal, gast.Delete: lower_delete, gast.Import: lower_import, gast.ImportFrom: lower_import,
    steering.Steered: steering.lower_steered, contexts.Opened: contexts.lower_opened, contexts.Closed: contexts.lower_closed,
    exceptions.Begun: exceptions.lower_begun, exceptions.Guarded: exceptions.lower_guarded,
}  # fmt: skip

SPLICED = {gast.With: contexts.spliced, gast.Try: exceptions.spliced, gast.Match: matching.as_branch}
