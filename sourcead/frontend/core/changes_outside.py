"""What a function changes that is there before its call: which lists and dicts, which names, and that none of them has a second name."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import Cell, Value
from sourcead.frontend.core.errors import refused
from sourcead.frontend.core.journal import MISSING, Slots
from sourcead.frontend.core.known_values import is_code, known
from sourcead.frontend.core.lowering import Lowering
from sourcead.frontend.core.names import DICTS, LogVal
from sourcead.ir.nodes import Atom, Call, Const, Index, Stmt, Var
from sourcead.ir.records import is_namedtuple
from sourcead.ir.types import DictT, ListT, MapT, StructT, Type, Unknown, keyed_parts, parts


def containers_from_outside(lo: Lowering, error: Exception) -> frozenset[int]:
    """Return the identities of the global list or dict that is written where an error refuses that, and of the dicts that hold it.

    It is the value of a global or closure variable, or an attribute or item of one. With these in `lo.outliving` the text changes it.
    """
    cell = getattr(error, "frozen", None)
    for wrapped, _, const in lo.live_values.values():
        if lo.live[const.text][0] is not lo.holders.get(id(const.value)) and (found := way_to(cell, wrapped, const.value)):
            return frozenset(map(id, found))
    return frozenset()


def way_to(cell: Cell, found: Value, value: Any) -> list:
    """Return the lists and dicts through which data leads to a cell, where `found` stands for `value`; none if it does not."""
    is_dict = type(value) in DICTS
    if found is cell:
        return [value] if is_dict or type(value) is list else []
    if not isinstance(found, Cell) or not (is_dict or found.kind == "object"):
        return []
    own = value if is_dict else getattr(value, "__dict__", {})
    ways = (way_to(cell, item, own[key]) for key, item in found.items.items() if isinstance(item, Cell) and key in own)
    way = next(filter(None, ways), [])
    return [value, *way] if way and is_dict else way


def changed_globals(lo: Lowering) -> Iterator[tuple[Slots, str, Exception]]:
    """Iterate over the global variables, and items of global dicts, that have another value than was left there, or before the call."""
    for (slots, name), error in lo.changed_globals.items():
        now, before = slots.get(name, MISSING), lo.left.get((slots, name), slots.initial[name])
        (found, value), (_, first) = known(lo, now), (False, None) if before is MISSING else known(lo, before)
        if now is not before and not (found and type(value) is type(first) and is_code(first) and value == first):
            yield slots, name, error


def refuse_changed_globals(lo: Lowering) -> None:
    """Refuse global variables that have another value than before the call, where code may read them that is not lowered."""
    for *_, error in changed_globals(lo):
        raise error


def checks_of_second_names(lo: Lowering, arguments: Iterable[Var]) -> list[Stmt]:
    """Return the statements that check that no argument and no other data is, or holds, a list or dict that the function changes.

    Raises:
        UnsupportedSyntaxError: an attribute of a global object is assigned which an argument or other data may be, or hold.
    """
    data = [const for *_, const in lo.live_values.values()]
    objects = [const for const in data if id(const.value) in lo.outliving]
    others = [*arguments, *(const for const in data if const not in objects)]
    if len(objects) > 1 or objects and any(may_hold(atom_type(atom), is_object) for atom in others):
        why = "an attribute of a global object is assigned here, which may also have another name in this function"
        raise refused(lo, why, "an object made inside the function")
    checks: list[Stmt] = []
    for found in lo.containers.values():
        const = found.list if isinstance(found, LogVal) else found.dict
        taken = [taken_apart(atom, const.value) for atom in [*others, *objects]]
        alike = [atom for parts, _ in taken for atom in parts if may_hold(atom_type(atom), is_container)]
        if alike:
            check = Call(runtime.check_apart, (const, Const(const.text), *alike), effect=True)
            checks += [*(stmt for _, stmts in taken for stmt in stmts), Stmt((Var("checked"),), check)]
    return checks


def taken_apart(atom: Atom, outside: Any) -> tuple[list[Atom], list[Stmt]]:
    """Return the attributes of an object that has a list or dict as an attribute, without this, and what reads them; else the data."""
    own = getattr(atom.value, "__dict__", {}) if isinstance(atom, Const) else {}
    if not any(held is outside for held in own.values()):
        return [atom], []
    read = {Var(f"{atom.text}_{name}", t): name for name, t in keyed_parts(atom_type(atom)) or () if own.get(name) is not outside}
    read = {var: name for var, name in read.items() if may_hold(var.type, is_container)}
    return [*read], [Stmt((var,), Index(atom, Const(name))) for var, name in read.items()]


def may_hold(t: Type, kind: Callable[[Type], bool]) -> bool:
    """Tell whether a value of a type may be or hold one of a kind."""
    return isinstance(t, Unknown) or kind(t) or any(may_hold(part, kind) for part in parts(t))


def is_object(t: Type) -> bool:
    """Tell whether values of a type are objects whose attributes can be assigned."""
    return isinstance(t, StructT) and not is_namedtuple(t.cls)


def is_container(t: Type) -> bool:
    """Tell whether values of a type are lists or dicts."""
    return isinstance(t, ListT | DictT | MapT)
