"""Prints several statements as one where a person would.

    w = p[0];  b = p[1]                w, b = p              of a tuple, or of an array of known length
    p = ps[k];  w, b = p               w, b = ps[k]          if nothing else reads p, which has no name of the user's
    u = a[:, 0];  v = a[:, 1]          u, v = a.T
    d_x = d_xs.pop();  d_h += d_x      d_h += d_xs.pop()

An item that is taken off a list may be read in the next statement if nothing else reads it, and that statement reads no other list.
"""

import ast
from collections.abc import Iterator

from sourcead.emit.text.printing import Group
from sourcead.ir.nodes import Atom, Const, Index, Op, Operand, Pop, Slice, Stmt, Var
from sourcead.ir.types import Array, Scalar, TupleT

LONGEST = 92


def contracted(groups: list[Group], read: dict[Var, int], nested: dict[Var, Op], names: dict[Var, str], arrays: bool) -> list[Group]:
    """Return the printed statements of a block with fewer of them.

    Args:
        groups: the statements, each with what is printed for it.
        read: how often each variable is read.
        nested: the values that are printed inside other expressions.
        names: the name of each variable.
        arrays: whether arrays may be unpacked as well.
    """
    out: list[Group] = []
    groups = [group for group in groups if group[1]]
    while groups:
        count = len(unpacked) if (unpacked := _items_of_a_tuple(groups, arrays)) else 1
        if unpacked:
            stmt, (first,) = groups[0]
            unpacking = ast.Tuple([nodes[0].targets[0] for _, nodes in unpacked], ast.Store())
            base = _made_before(out, stmt, count, read) or first.value.value
            one = ast.Assign([unpacking], ast.Attribute(base, "T", ast.Load()) if isinstance(stmt.op.key, tuple) else base)
            one.made = getattr(first, "made", None)
            out.append((stmt, [one]))
        elif len(groups) > 1 and (joined := _with_the_item_taken_off(groups[0], groups[1], read, nested, names)) is not None:
            groups[1] = groups[1][0], [joined]
        else:
            out.append(groups[0])
        groups = groups[count:]
    return out


def _items_of_a_tuple(groups: list[Group], arrays: bool) -> list[Group]:
    """Return the statements at the beginning that bind names to all items of a tuple or array, in order; none if there are none."""
    stmt, nodes = groups[0]
    base = stmt.op.base if isinstance(stmt.op, Index) else None
    columns = base is not None and isinstance(stmt.op.key, tuple)
    length = _length(base, columns, arrays)
    found = groups[:length]
    if length < 2 or len(found) < length or any(s.within != stmt.within for s, _ in found):
        return []
    texts, targets = set(), []
    for k, (stmt, nodes) in enumerate(found):
        match stmt.op, nodes:
            case Index(of, key), [ast.Assign([ast.Name(name)], ast.Subscript(value))] if of is base and _is_place(key, k, columns):
                texts.add(ast.unparse(value))
                targets.append(name)
            case _:
                return []
    names = {n.id for n in ast.walk(nodes[0].value) if isinstance(n, ast.Name)}
    return found if len(texts) == 1 and len(set(targets)) == length and names.isdisjoint(targets) else []


def _made_before(out: list[Group], stmt: Stmt, count: int, read: dict[Var, int]) -> ast.expr | None:
    """Return the subscript that makes what is unpacked in the statement before, which it takes away, if it need not have a name."""
    base, columns = stmt.op.base, isinstance(stmt.op.key, tuple)
    match out[-1:]:
        case [(Stmt((target,), Index()) as making, [ast.Assign([ast.Name()], ast.Subscript() as made)])] if target is base:
            if base.temp and read.get(base) == count and making.within == stmt.within and not columns:
                del out[-1]
                return made
    return None


def _length(base: Atom | None, columns: bool, arrays: bool) -> int:
    """Return how many items a tuple has, or an array that may be unpacked, or how many columns; 0 if that is not known."""
    match base:
        case Var(type=TupleT(items)):
            return len(items)
        case Var(type=Array(_, (int() as rows, *_))) if arrays and not columns:
            return rows
        case Var(type=Array(_, (_, int() as length))) if arrays and columns:
            return length
    return 0


def _is_place(key: Operand, k: int, column: bool) -> bool:
    """Return whether a subscript is the number k, or names the column k."""
    if column:
        match key:
            case (Slice(None, None, None), number):
                return _is_place(number, k, False)
        return False
    return isinstance(key, Const) and type(key.value) is int and not key.live and key.value == k


def _with_the_item_taken_off(
    taking: Group, reading: Group, read: dict[Var, int], nested: dict[Var, Op], names: dict[Var, str]
) -> ast.stmt | None:
    """Return a statement with the item that the statement before it takes off a list, or None if it must have a name.

    It keeps a name that other variables have too: one of them may be the item, written in place.
    """
    match taking, reading:
        case (stmt, [ast.Assign([ast.Name(name)], ast.Call() as call)]), (reader, [(ast.Assign() | ast.AugAssign()) as node]):
            pass
        case _:
            return None
    if not isinstance(stmt.op, Pop) or len(stmt.targets) != 2 or sum(other == name for other in names.values()) > 1:
        return None
    if read.get(item := stmt.targets[1]) != 1 or stmt.within != reader.within:
        return None
    leaves = list(_leaves(reader.op, nested))
    if item not in leaves or reader.op.blocks or not all(isinstance(v.type, (Array, Scalar)) for v in leaves):
        return None
    if not _is_printed_once(item, reader.op, read, nested):
        return None
    mentions = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    if len(mentions) != 1 or not isinstance(mentions[0].ctx, ast.Load) or len(ast.unparse(node.value)) + len(ast.unparse(call)) > LONGEST:
        return None
    inserted = _Inserted(name, call).visit(node)
    inserted.made = getattr(node, "made", None)
    return inserted


class _Inserted(ast.NodeTransformer):
    """Puts an expression in the place of a name."""

    def __init__(self, name: str, value: ast.expr):
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name else node


def _is_printed_once(item: Var, op: Op, read: dict[Var, int], nested: dict[Var, Op]) -> bool:
    """Return whether the values nested in an op that read an item are read by nothing else."""
    within = [v for v in op.reads if v in nested and item in _leaves(nested[v], nested)]
    return all(read.get(v) == 1 and _is_printed_once(item, nested[v], read, nested) for v in within)


def _leaves(op: Op, nested: dict[Var, Op]) -> Iterator[Var]:
    """Yield the variables whose names stand where an op is printed."""
    for v in op.reads:
        if v in nested:
            yield from _leaves(nested[v], nested)
        else:
            yield v
