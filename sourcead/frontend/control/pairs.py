"""Lower calls of functions that stay calls: of a generated pair, which returns the value and a pullback (`ir/recursive_calls.py`).

Such are recursive functions (`control/recursion.py`), and functions that a long text calls several times (`control/long_texts.py`).

The type of the result is the least type that agrees with the body: at first a recursive call is assumed never to return, so that the
other arms of the branches around it determine the type.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control.functions import lower_from
from sourcead.frontend.core import (
    VALUE, Cell, Flag, FunctionVal, Lowering, Meta, NeverReturns, Scope, TupleVal, Value, cells_of, reach, roots
)
from sourcead.ir.names import is_name
from sourcead.ir.nodes import Call, Const, Index, Var
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import (
    ANY_DTYPE, UNKNOWN, Array, DictT, Foreign, FunctionT, ListT, NoneType, Scalar, StructT, Sym, TupleT, Type,
    Undefined, Unknown, carries_derivative, join, map_type
)
from sourcead.ir.walk import free_vars, has_effect

MAX_ROUNDS = 6
UNCERTAIN = (StructT, FunctionT, Foreign, Unknown)  # what a function whose calls are kept must not return


def signature(bound: dict[str, Value]) -> tuple:
    """Return a key that is the same for two calls if one generated text serves both."""
    seen: dict[Cell, int] = {}
    return tuple((name, kind_of_value(value, seen)) for name, value in bound.items())


def kinds_of_call(bound: dict[str, Value]) -> tuple:
    """Return a key that is the same for two calls if one generated text serves both, where it serves one value of an integer."""
    seen: dict[Cell, int] = {}
    return tuple((name, value.value if is_integer(value) else kind_of_value(value, seen)) for name, value in bound.items())


def kind_of_value(value: Value, seen: dict[Cell, int]) -> Any:
    """Return the part of a signature for one argument; `seen` numbers the containers, which may be inside each other."""
    if is_static(value):
        return "static", repr(value.value)
    match value:
        case Var() | Const():
            return canonical(general(atom_type(value)))
        case Cell(kind="list" | "dict" | "object") if value in seen:
            return "again", seen[value]
        case TupleVal() | Cell(kind="list" | "dict" | "object"):
            if isinstance(value, Cell):
                seen[value] = len(seen)
            return getattr(value, "kind", "tuple"), *((key, kind_of_value(item, seen)) for key, item in zip(value.keys, value.contents))
        case Cell() if VALUE in value.slots:
            return canonical(general(atom_type(value.slots[VALUE])))
        case FunctionVal():
            return "function", value.source.node
    return "other", type(value)


def is_static(value: Value) -> bool:
    """Return whether an argument is a constant of the program: a string, None, a boolean, a class, a module or a function."""
    return isinstance(value, Const) and not value.live and (isinstance(value.value, bool) or core.is_code(value.value))


def general(t: Type) -> Type:
    """Return the most general type that the same text serves: any float dtype of a scalar, any dims of the same rank."""
    match t:
        case Scalar("float" | "complex" as kind, _, least):
            return Scalar(kind, ANY_DTYPE, least)
        case Array(dtype, dims):
            return Array(dtype, None if dims is None else tuple(Sym() for _ in dims))
    return map_type(t, general)


def canonical(t: Type) -> Any:
    """Return a key that is the same for two general types only if they are equal."""
    match t:
        case Array(dtype, dims):
            return Array(dtype, None if dims is None else (0,) * len(dims))
        case TupleT() | ListT() | DictT() | StructT():
            return map_type(t, canonical)
    return repr(t)


def call_pair(lo: Lowering, fn: FunctionVal, bound: dict[str, Value], node) -> Value:
    """Lower a call of a function to a call of its pair."""
    source = fn.source
    kept = lo.kept.get(source.node, False)
    if kept and source.node in lo.in_pairs.values():
        raise core.refused(lo, f"`{source.name}` calls itself")
    if lo.static_only:
        raise UnsupportedSyntaxError("a derivative rule that calls itself", at=lo.here)
    if declares_nonlocal(source.node):
        reason = f"`{source.name}` calls itself and assigns a `nonlocal` name"
        raise core.unsupported(lo, node, reason, "return the value instead")
    captured = captured_values(lo, fn, bound)
    values = {**bound, **{name: v for name, v in captured.items() if name not in bound}}
    objects = {n: found for n, v in values.items() if (found := global_object(lo, v, n)) is not None}
    statics = {n: v for n, v in values.items() if is_static(v) or kept and is_integer(v)}
    functions = {n: v for n, v in values.items() if isinstance(v, FunctionVal)}
    atoms = {n: lo.read(v) for n, v in values.items() if n not in statics | functions | objects}
    kinds = {n: general(atom_type(a)) for n, a in atoms.items()}
    if kept and any(isinstance(part, Unknown) for t in kinds.values() for part in parts_of_type(t)):
        raise core.refused(lo, f"`{source.name}` is given what is of unknown kind")
    key = (
        source.node, tuple((n, canonical(t)) for n, t in kinds.items()),
        tuple((n, repr(v.value)) for n, v in statics.items()), tuple((n, v.source.node) for n, v in functions.items()),
        tuple((n, id(obj)) for n, (_, _, obj) in objects.items()),
    )  # fmt: skip
    if key not in lo.pairs:
        try:
            lower_pair(lo, key, source, kinds, (statics, functions, objects))
        except Exception:
            forget_reliant(lo, lo.pairs.pop(key, None))
            raise
    pair = lo.pairs[key]
    note_reliance(lo, pair)
    pair.recursive |= pair.lowered is None
    if pair.result == Undefined():
        raise NeverReturns
    lo.guards.update(pair.guards)
    if not pair.wrt:
        reason = f"`{source.name}` calls itself, and is a function of integers alone"
        raise core.unsupported(lo, node, reason, "compute it outside, or write it as a loop")
    core.refuse_changed_globals(lo)  # which it may read
    if lo.outliving or any(slots.initial is None for slots in lo.modules.values()):
        raise core.refused(lo, f"`{source.name}` calls itself, and may read what was assigned to a class or global object", "a loop")
    made = lo.build.emit(Call(pair, tuple(atoms.values()), effect=pair.effect), TupleT((pair.result, UNKNOWN)), "pair")
    value = lo.build.index(made, Const(0), name=source.name)
    if not pair.written:
        return lo.wrap(value, shares=[r for v in values.values() for r in roots(v)])
    for name in pair.written:
        if any(roots(values[name]) & (roots(other) | reach(other)) for of, other in values.items() if of != name):
            reason = f"`{source.name}` calls itself and writes into `{name}`, which may share memory with another of its arguments"
            raise core.refused(lo, reason, "return the new array, or write a loop")
    for k, name in enumerate(pair.written, 1):
        is_array = isinstance(kinds[name], Array)
        left = lo.build.emit(Index(value, Const(k)), atom_type(lo.read(values[name])) if is_array else pair.result.items[k], name)
        leave_in(lo, values[name], left)
    return lo.wrap(lo.build.index(value, Const(0), name=source.name))


class KnownDefaults(dict[str, Value]):
    """The default values of a function that a pair calls: one that is made outside of the pair cannot be read in it."""

    def __init__(self, defaults: dict[str, Value], refused: Callable[[str], Exception]):
        super().__init__(defaults)
        self.refused = refused

    def __getitem__(self, name: str) -> Value:
        if not isinstance(value := super().__getitem__(name), Const):
            raise self.refused(f"a function that calls itself uses the default value of `{name}`, which is made before the call")
        return value


def lower_pair(lo: Lowering, key, source, kinds: dict[str, Type], known: tuple[dict[str, Any], ...]) -> None:
    """Lower a function for arguments of the types `kinds`, repeatedly until the type of its result settles.

    `known` has the arguments that are constants, functions and global objects.
    """
    statics, functions, objects = known
    refused = functools.partial(UnsupportedSyntaxError, at=source.origin(source.node))
    name = f"{source.name if is_name(source.name) else 'function'}_vjp"
    wrt = tuple(k for k, t in enumerate(kinds.values()) if carries_derivative(t))
    pair = lo.pairs[key] = Pair(name, wrt=wrt)
    for _ in range(MAX_ROUNDS):
        forget_reliant(lo, pair)
        inner = Lowering()
        inner.number_classes = lo.number_classes
        inner.unrolling, inner.whole_tables, inner.tables_read = lo.unrolling, lo.whole_tables, lo.tables_read
        inner.live.update(lo.live)  # so that no two globals get one name
        inner.pairs, inner.in_pairs, inner.kept = lo.pairs, {**lo.in_pairs, pair: source.node}, lo.kept
        inner.keeps, inner.sizes = lo.keeps, lo.sizes
        inner.scope = Scope(source)
        inner.scope.names.update(statics)
        inner.scope.names.update({n: FunctionVal(f.source, inner.scope, KnownDefaults(f.defaults, refused)) for n, f in functions.items()})
        inner.scope.names.update({n: core.live_data(inner, text, obj, where) for n, (text, where, obj) in objects.items()})
        try:
            lowered = lower_from(inner, source, kinds, {}, pair.written)
        except NeverReturns:
            raise core.surely(lo, refused(f"`{source.name}` calls itself on every path"), RecursionError) from None
        result = general(atom_type(lowered.function.body.results[0]))
        returned = result.items[0] if pair.written else result
        if touched(inner) - lowered.written.keys():
            raise refused(f"`{source.name}` calls itself and gives what it is given new attributes")
        for name, where in lowered.written.items():
            left = result.items[1 + pair.written.index(name)] if name in pair.written else None
            if not can_be_left(kinds[name], left) or not holds_no_memory(returned):
                reason = f"`{source.name}` calls itself and writes into its arguments"
                raise UnsupportedSyntaxError(reason, at=where, instead="return the new array, or write a loop")
        if lowered.compared:
            raise refused(f"`{source.name}` calls itself and compares its arguments by `is`")
        effect = any(has_effect(s.op) for s in lowered.function.body.stmts)
        written = tuple(name for name in kinds if name in lowered.written or name in pair.written)
        if written != pair.written:
            pair.written, pair.result, pair.effect = written, Undefined(), effect
            continue
        result = general(join(pair.result, result))
        if not pair.recursive:
            pair.result, pair.effect = result, effect
            break
        if canonical(result) == canonical(pair.result) and effect == pair.effect:
            break
        pair.result, pair.effect = result, effect
    else:
        raise refused(f"the kind of value that `{source.name}` returns does not settle")
    if lo.kept.get(source.node) and (lowered.derived or any(isinstance(t, UNCERTAIN) for t in parts_of_type(returned))):
        raise refused(f"`{source.name}` computes a derivative, or returns an object or what is of unknown kind")
    if free_vars(lowered.function.body).keys() - {*lowered.function.params}:
        raise refused(f"`{source.name}` calls itself and reads what is made outside of it, such as an attribute of a class")
    pair.lowered = lowered
    pair.guards = {(id(where), name): (where, name, found) for where, name, found in lowered.guards}
    lo.live.update(lowered.live)


def note_reliance(lo: Lowering, pair: Pair) -> None:
    """Note that what is being lowered calls a pair: what is known of those that are under way may change."""
    under_way = [*lo.in_pairs]
    for one in {pair, *pair.relies_on} & lo.in_pairs.keys():
        for caller in under_way[under_way.index(one) + 1 :]:
            caller.relies_on.add(one)


def forget_reliant(lo: Lowering, pair: Pair | None) -> None:
    """Forget the pairs that were lowered with what is no longer known of a pair."""
    for key in [key for key, other in lo.pairs.items() if pair in other.relies_on]:
        del lo.pairs[key]


def leave_in(lo: Lowering, cell: Cell, left: Var) -> None:
    """Lower that a call has left a value in an array, list or object that it was given."""
    new = lo.unpack(left) if cell.kind != "array" else None
    if new is not None and new.kind == cell.kind and new.items.keys() == cell.items.keys():
        lo.changed(cell)
        for key, item in zip(new.keys, new.contents):
            lo.set(cell.slots, key, item)
        if lo.follow is not None:
            lo.follow(cell, list(new.keys))
        return
    if isinstance(left.type, Array):
        lo.write(cell, (), left)
        return
    if isinstance(left.type, StructT):
        raise core.refused(lo, f"this call gives `{cell.name}` other attributes than it had")
    if cell.kind != "array":
        lo.materialise(cell)
    lo.resized.append((cell, frozenset()))
    if cell.base is None:
        lo.replace_slot(cell, lambda: left)
    else:
        lo.write(cell.base, (cell.step,), left, through=True)


def touched(lo: Lowering) -> set[str]:
    """Return the names of the parameters of a function that was lowered, of which something was assigned in any way."""
    mark, birth, params = lo.entered
    changed = {slots for slots, key in lo.journal.changed(mark, birth) if key is VALUE or not isinstance(key, (Flag, Meta))}
    return {name for name, value in params.items() if any(cell.slots in changed for cell in (*cells_of(value), *reach(value)))}


def can_be_left(given: Type, left: Type | None) -> bool:
    """Return whether a pair can write what it is given: an array, or a list or object of numbers, which it returns as it leaves it."""
    if not isinstance(given, (ListT, StructT)):
        return isinstance(given, Array)
    return all(isinstance(t, ListT | StructT) and all(map(holds_no_memory, items_of(t))) for t in (given, left) if t is not None)


def items_of(t: ListT | StructT) -> Iterable[Type]:
    """Return the types of the items of a list or the attributes of an object."""
    return (u for _, u in t.fields) if isinstance(t, StructT) else (t.item,)


def holds_no_memory(t: Type) -> bool:
    """Return whether a value of a type can be no other name of an array or container: it is a number, None, or a tuple of these."""
    return isinstance(t, (Scalar, NoneType, Undefined)) or isinstance(t, TupleT) and all(map(holds_no_memory, t.items))


def parts_of_type(t: Type) -> Iterable[Type]:
    """Return a type and the types of what is in it."""
    found: list[Type] = []
    map_type(t, lambda part: found.extend(parts_of_type(part)) or part)
    return [t, *found]


def is_integer(value: Value) -> bool:
    """Return whether an argument is an integer of the program, which often chooses what a function computes."""
    return isinstance(value, Const) and not value.live and isinstance(value.value, int)


def global_object(lo: Lowering, value: Value, name: str) -> tuple[str, tuple[Any, str], Any] | None:
    """Return the global object that an argument is, with its name in the text and where that is read; None for other arguments."""
    if not isinstance(value, Cell) or value.kind != "object":
        return None
    obj = lo.global_objects[value].value if value in lo.global_objects else core.part_of_global(lo, value)
    if obj is core.NOT_A_PART:
        return None
    for text, (holder, key) in lo.live.items():
        if core.at_place(holder, key, ()) is obj:
            return text, (holder, key), obj
    return name, ({name: obj}, name), obj


@core.once_for_each_node
def declares_nonlocal(node) -> bool:
    """Return whether a function, or one inside it, declares names as `nonlocal`."""
    return any(isinstance(n, gast.Nonlocal) for n in gast.walk(node))


def captured_values(lo: Lowering, fn: FunctionVal, bound: dict[str, Value]) -> dict[str, Value]:
    """Return the variables of enclosing functions that a function reads, and those that the functions read that it calls or is given.

    All of them become variables of one scope, so that a name must have the same value in each of these functions.
    """
    source = fn.source
    if hasattr(getattr(fn.scope, "source", None), "place"):  # made by one of the compiler's own functions
        raise core.refused(lo, f"`{source.name}` calls itself through a decorator", "write it as a loop")
    found: dict[str, Value | None] = {}
    todo = [fn, *(v for v in bound.values() if isinstance(v, FunctionVal))]
    seen: set[FunctionVal] = set()
    mine = local_names(source.node)
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        if one is not fn and not all(isinstance(v, Const) for v in one.defaults.values()):
            raise core.refused(lo, f"`{source.name}` calls itself and a function with a default value that is computed")
        for name in sorted(core.name_reads(one.source.node).keys() - local_names(one.source.node)):
            outer = one.scope
            while outer is not None and name not in outer.names:
                outer = outer.parent
            value = None if outer is None else outer.names[name]
            if value is not None and name in mine:
                reason = f"`{name}` is local to `{source.name}`, and read by a function that it calls"
                raise core.refused(lo, reason, "give one of the two another name")
            if found.setdefault(name, value) is not value:
                reason = f"`{source.name}` calls itself and a function that reads another `{name}` than it does"
                raise core.refused(lo, reason, "give one of the two another name")
            if isinstance(value, FunctionVal):
                todo.append(value)
    return {name: value for name, value in found.items() if value is not None}


@core.once_for_each_node
def local_names(node) -> set[str]:
    """Return the names that a function binds."""
    names = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    return names | {n.name for n in gast.walk(node) if isinstance(n, gast.FunctionDef) and n is not node}
