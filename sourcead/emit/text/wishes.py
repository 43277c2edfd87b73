"""The name that each variable of a text should have, before names that are taken get numbers.

A variable of the user's keeps its name.  A temporary has the name of what it is, such as `total` for a sum.  Where several that are live at
the same time are called so, each takes the name of the user's variable that its statement assigns to as well:

    q = (X @ Wq).T          product = X @ Wq        q_product = X @ Wq
    k = (X @ Wk).T          product_1 = X @ Wk      k_product = X @ Wk

Those of one statement are told apart by what they are computed of: `exp_start = np.exp(start - top)`.
"""

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sourcead.emit.text.live_ranges import NameClasses, overlaps
from sourcead.ir.names import as_name
from sourcead.ir.nodes import Branch, Call, Function, Let, Loop, Stmt, Sub, Update, Var, operand_atoms
from sourcead.ir.types import INT
from sourcead.ir.walk import bound_vars, is_cotangent, walk
from sourcead.places.origin import Origin

DEEPEST = 4  # through so many values without names the user's variable is sought
OF_TWO = ("product", "diff", "power")  # which say as much of both operands


def wishes_of(function: Function, classes: NameClasses) -> dict[Var, str]:
    """Return the preferred name of each class of variables, by the class's root."""
    carried = {p for s in walk(function.body) if isinstance(s.op, Loop) for p in s.op.params}
    speaks = {root: _speaker(members, classes, carried) for root, members in classes.members.items()}
    wishes = {root: as_name(classes.user_name[root] or v.name, "t") for root, v in speaks.items()}
    groups: dict[str, list[Var]] = defaultdict(list)
    for root, name in wishes.items():
        if classes.user_name[root] is None:
            groups[name].append(root)
    longer = _Longer(function)
    cotangents = {f"d_{name}" for name in classes.user_name.values() if name}
    used = cotangents | set(wishes.values())
    for name, rest in groups.items():
        for name_of in (longer.of_target, longer.of_operand) if name not in cotangents else ():
            together: dict[str, list[Var]] = defaultdict(list)
            for root in rest if len(rest) > 1 and _meet(rest, classes) else ():
                together[name_of(speaks[root], classes.members[root])].append(root)
            for new, some in together.items() if len(together) > 1 else ():
                if new not in used and not _meet(some, classes):
                    wishes.update(dict.fromkeys(some, new))
                    used.add(new)
                    rest = [root for root in rest if root not in some]
    _name_old_versions(function, wishes, classes, used)
    _name_indices(function, wishes, classes, used)
    for root, name in wishes.items():
        if classes.user_name[root] is None and hasattr(builtins, name):
            wishes[root] = f"{name}_"
    return wishes


def _of_the_user(wishes: dict[Var, str], classes: NameClasses) -> dict[str, list[Var]]:
    """Return the classes that have each name of the user's."""
    found: dict[str, list[Var]] = defaultdict(list)
    for root, name in classes.user_name.items():
        if name is not None and root in wishes:
            found[name].append(root)
    return found


def _name_old_versions(function: Function, wishes: dict[Var, str], classes: NameClasses, used: set[str]) -> None:
    """Let `h_prev = h` keep the value that a variable of the user's has before it changes."""
    of_user, params = _of_the_user(wishes, classes), set(map(classes.find, function.params))
    for stmt in walk(function.body):
        match stmt.op:
            case Let(Var(name)) if stmt.targets[0].name == name in of_user and f"{name}_prev" not in used:
                root = classes.find(stmt.targets[0])
                if wishes.get(root) == name and root not in params and _meet({root, *of_user[name]}, classes):
                    wishes[root] = f"{name}_prev"


def _name_indices(function: Function, wishes: dict[Var, str], classes: NameClasses, used: set[str]) -> None:
    """Let the indices of loops have letters that are no names of the user's, where the two would meet."""
    of_user = _of_the_user(wishes, classes)
    indices: dict[str, list[Var]] = defaultdict(list)
    for loop in (stmt.op for stmt in walk(function.body) if isinstance(stmt.op, Loop)):
        for index in bound_vars(loop)[: -len(loop.params) or None]:
            root = classes.find(index)
            if index.temp and index.type == INT and wishes.get(root) in of_user:
                indices[wishes[root]].append(root)
    for name, roots in indices.items():
        if any(_meet([root, other], classes) for root in roots for other in of_user[name]):
            letter = next((k for k in "kjmn" if k not in used), name)
            used.add(letter)
            wishes.update(dict.fromkeys(roots, letter))


def _speaker(members: list[Var], classes: NameClasses, carried: set[Var]) -> Var:
    """Return the variable of a class whose name is the best: a loop variant, a cotangent or the first variable."""
    return min(members, key=lambda v: (v not in carried, not v.name.startswith("d_"), v not in classes.cotangents, v.id))


def _meet(roots: Iterable[Var], classes: NameClasses) -> bool:
    """Return whether two of these classes are live at the same time."""
    ranges = sorted((classes.intervals[root] for root in roots), key=lambda intervals: intervals[0])
    return any(overlaps(a, b) for k, a in enumerate(ranges) for b in ranges[k + 1 :] if b[0][0] <= a[-1][1])


class _Longer:
    """The names of temporaries with the user's variables that their statements assign to, or that they are computed of."""

    def __init__(self, function: Function):
        self._made: dict[Var, Stmt] = {}
        assigned: dict[tuple[str, int], set[str]] = defaultdict(set)  # what the statement on a line of a file assigns to
        self._owner: dict[Var, Origin] = {}
        self._of_cotangents: set[Var] = set()
        self._row: dict[Var, Var] = {}  # the values that fill an array of rows of its own
        for stmt in walk(function.body):
            at = stmt.adjoint_of or stmt.origin
            if isinstance(stmt.op, (Loop, Branch)) or at is None:
                continue
            for target in stmt.targets:
                self._owner[target], self._made[target] = at, stmt
                if not target.temp and stmt.adjoint_of is None:
                    for place in _assigning(at):
                        for line in range(place.line, place.end_line + 1):
                            assigned[place.file, line].add(target.name)
            if stmt.adjoint_of is not None and any(is_cotangent(v) or v in self._of_cotangents for v in stmt.op.reads):
                self._of_cotangents.update(stmt.targets)
            match stmt.op:
                case Update(Var(), (Sub(),), Var() as value) if stmt.targets[0].name == f"{value.name}s":
                    self._row[stmt.targets[0]] = value
        self._assigned = assigned

    def of_target(self, speaker: Var, members: list[Var]) -> str:
        """Return the name of a class of temporaries with what its statement assigns to, the short one where that is no variable."""
        row = next((self._row[v] for v in members if v in self._row), None)
        return self._of_one(speaker) if row is None else f"{self._of_one(row)}s"

    def _of_one(self, v: Var) -> str:
        user, part = self._user_of(v), v.name.removeprefix("d_")
        if user is None or user in part.split("_"):
            return as_name(v.name, "t")
        kind = "d_" if is_cotangent(v) or v in self._of_cotangents else ""
        return as_name(f"{kind}{user}_{part}", "t")

    def of_operand(self, speaker: Var, members: list[Var]) -> str:
        """Return the name of a class of temporaries with what it is computed of, as `exp_start`, the short one for other values."""
        stmt = self._made.get(speaker)
        of = self._operand(speaker, DEEPEST)
        if of is None or stmt.adjoint_of is not None or speaker.name in OF_TWO:
            return as_name(speaker.name, "t")
        return as_name(f"{speaker.name}_{of}", "t")

    def _operand(self, v: Var, depth: int) -> str | None:
        """Return the first of the user's variables that a value is computed of, directly or through values without names."""
        stmt = self._made.get(v)
        if stmt is None or not depth or not isinstance(stmt.op, Call):
            return None
        for atom in operand_atoms(stmt.op):
            if isinstance(atom, Var):
                found = atom.name if not atom.temp else self._operand(atom, depth - 1)
                if found is not None:
                    return found
        return None

    def _user_of(self, v: Var) -> str | None:
        """Return the variable that the statement assigns to, or else that of the statement that calls the function around it."""
        places = self._owner[v].chain() if v in self._owner else []
        users = (self._assigned.get((at.file, at.line), ()) for at in reversed(places))
        return next((user for names in users if len(names) == 1 for user in names), None)


def _assigning(at: Origin) -> Iterator[Origin]:
    """Yield the place of a statement, and where it returns from a function, the place of the call, which assigns the result."""
    yield at
    if at.text.startswith("return") and at.caller is not None:
        yield from _assigning(at.caller)
