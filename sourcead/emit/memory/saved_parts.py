"""Finds the views that would keep whole arrays on lists of residuals: parts of arrays that otherwise would go with their iteration.

    after = f(u);  row = after[1];  rows = rows ++ [row]              row = copy(after[1])

Such a view is copied if an integer in its subscript takes an axis away, if each iteration makes the array anew, and if nothing else
stores the array.
"""

from sourcead.analysis.builder import operand_type
from sourcead.analysis.residual_stacks import residual_stacks
from sourcead.emit.memory.sharing import call_sharing, has_memory, index_sharing, is_container
from sourcead.ir.nodes import Append, Atom, Build, Call, Function, Index, Let, Loop, Stmt, Update, Var, operand_atoms
from sourcead.ir.types import Array, rank
from sourcead.ir.walk import definitions, walk


def saved_parts(function: Function) -> set[Stmt]:
    """Return the statements that make views which should be copied."""
    made = definitions(function.body)
    stacks = {id(stack): stack for stack in residual_stacks(function).values() if stack.plain}
    pushes = [place for stack in stacks.values() for place in stack.pushes if place.loops]
    parts = [(made[v], place.loops[-1].op) for place in pushes if _is_part(v := place.stmt.op.value, made)]
    return {view for view, loop in parts if _keeps_more(view, loop)}


def _is_part(v: Atom, made: dict[Var, Stmt]) -> bool:
    """Return whether a value is a view with fewer axes than the array has."""
    view = made[v].op if v in made else None
    if not isinstance(view, Index) or not isinstance(operand_type(view.base), Array):
        return False
    axes, all_axes = rank(v.type), rank(operand_type(view.base))
    return axes is not None and all_axes is not None and axes < all_axes and index_sharing(view, v.type) == "shared"


def _keeps_more(view: Stmt, loop: Loop) -> bool:
    """Return whether the view, which an iteration of the loop saves, is all that keeps a larger array that the loop makes."""
    made = definitions(loop.body)
    inner = [stmt.op for stmt in walk(loop.body) if isinstance(stmt.op, Loop)]
    made.update((p, Stmt((p,), Let(init))) for op in inner for p, init in zip(op.params, op.inits))
    versions: list[Atom] = []
    return view.targets[0] in made and _made_anew(view.op.base, loop, made, versions) and not _stored(loop, made).intersection(versions)


def _made_anew(v: Atom, loop: Loop, made: dict[Var, Stmt], versions: list[Atom]) -> bool:
    """Return whether each iteration makes the memory of an array anew, or the one before did; add its versions to `versions`."""
    if v in versions:
        return False
    versions.append(v)
    if v in loop.params:
        return _made_anew(loop.body.results[loop.params.index(v)], loop, made, versions)
    match made[v].op if v in made else None:
        case Update(base) | Let(base):
            return _made_anew(base, loop, made, versions)
        case Index(base) as op:
            return index_sharing(op, v.type) == "fresh" or _made_anew(base, loop, made, versions)
        case Call(_, args) as op if call_sharing(op) in ("fresh", "shared"):
            return call_sharing(op) == "fresh" or all(_made_anew(a, loop, made, versions) for a in args if has_memory(operand_type(a)))
        case Loop() as op:
            return _made_anew(op.body.results[made[v].targets.index(v)], loop, made, versions)
    return False


def _stored(loop: Loop, made: dict[Var, Stmt]) -> set[Atom]:
    """Return what the iterations of a loop put into lists and other structures, and the arrays that this keeps but for their parts."""
    stored: set[Atom] = set()
    for stmt in walk(loop.body):
        match stmt.op:
            case Append(_, value):
                stored.update(operand_atoms(value))
            case Build() as op:
                stored.update(op.reads)
            case Update(base, _, value) if is_container(operand_type(base)):
                stored.update(operand_atoms(value))
    for v in list(stored):
        while v in made and isinstance(made[v].op, Index) and not _is_part(v, made):
            v = made[v].op.base
            stored.add(v)
    return stored
