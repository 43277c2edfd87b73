"""Find values whose types lost what is in them: a list that something was put into, but whose type is that of an empty list.

The elements of an empty list have the type `Undefined`, which carries no derivative.  A list that holds numbers under such a type would
have a gradient of zero, silently.  Each place where a value gets another name, or becomes part of another value, is looked at:

    a2 = Append(a1, v)       v: float       a2: list of Undefined       lost
    y = Loop(inits=(x0,), params=(x1,), results=(x2,))                  x0 -> x1, x2 -> x1, x1 -> y
"""

from collections.abc import Iterator

from sourcead.ir.nodes import Append, Atom, Block, Build, Const, Function, Index, Let, Pop, Stmt, Sub, Update, Var
from sourcead.ir.types import (
    AnyTuple, DictT, ListT, MapT, NoneType, SetT, StructT, TupleT, Type, Undefined, carries_derivative
)
from sourcead.ir.walk import handed_on


def lost_in(block: Block) -> Stmt | None:
    """Return a statement that makes a value whose type says that nothing is in it, of values that are something; None if all is well."""
    return next((s for s in block.statements if any(loses(old, new) for old, new in flows(s))), None)


def loses(old: Type, new: Type) -> bool:
    """Return whether a value of type `old` has a derivative in a part that is nothing according to the type `new`."""
    match new, old:
        case Undefined(), _:
            return not isinstance(old, Undefined) and carries_derivative(old)
        case (ListT(x), ListT(y)) | (AnyTuple(x), AnyTuple(y)) | (SetT(x), SetT(y)) | (MapT(_, x), MapT(_, y)):
            return loses(y, x)
        case TupleT(xs), TupleT(ys):
            return any(map(loses, ys, xs))
        case (DictT(xs), DictT(ys)) | (StructT(_, xs), StructT(_, ys)):
            found = dict(ys)
            return any(key in found and loses(found[key], x) for key, x in xs)
    return False


def flows(stmt: Stmt) -> Iterator[tuple[Type, Type]]:
    """Yield the types of values that a statement hands on, each with the type that the value has afterwards."""
    for target, *sources in handed_on(stmt):
        yield from ((t, target.type) for t in types_of(sources))
    match stmt.op:
        case Let(value):
            yield from ((t, stmt.targets[0].type) for t in types_of([value]))
        case Build(kind, items) if kind in ("list", "set", "tuple"):
            held = parts_of(stmt.targets[0].type, len(items))
            yield from ((t, part) for item, part in zip(items, held) for t in types_of([item]))
        case Append(base, value, path) | Update(base, path, value):
            yield from ((t, stmt.targets[0].type) for t in types_of([base]))
            if all(isinstance(step, Sub) for step in path):
                part = stmt.targets[0].type
                for _ in range(len(path) + isinstance(stmt.op, Append)):
                    part = part.item if isinstance(part, (ListT, MapT)) else None
                yield from ((t, part) for t in types_of([value]) if part is not None)
        case Index(base, key):
            yield from ((item_of(t, key), stmt.targets[0].type) for t in types_of([base]) if isinstance(t, (ListT, MapT)))
        case Pop(base, (), at):
            yield from ((item_of(t, at or Const(-1)), stmt.targets[-1].type) for t in types_of([base]) if isinstance(t, (ListT, MapT)))


def item_of(t: ListT | MapT, key: object) -> Type:
    """Return the type of an item: where each position has a type of its own, that of the position (`[[], [0.5]][0]` is empty)."""
    match t, key:
        case ListT(_, tuple(items)), Const(int(k)) if -len(items) <= k < len(items):
            return items[k]
    return t.item


def types_of(atoms: list[Atom]) -> list[Type]:
    """Return the types of the variables among some atoms."""
    return [atom.type for atom in atoms if isinstance(atom, Var) and not isinstance(atom.type, NoneType)]


def parts_of(t: Type, count: int) -> tuple[Type, ...]:
    """Return the type that each of the parts of a new list, set or tuple has by the type of the whole."""
    match t:
        case TupleT(items):
            return items
        case ListT(item) | SetT(item):
            return (item,) * count
    return ()


def lost(function: Function) -> Stmt | None:
    """Return a statement of a function where a type loses what is in a value, None if all is well."""
    return lost_in(function.body)
