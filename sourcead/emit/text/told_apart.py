"""Tells values without a name of the user's apart by what they are computed of.

    exp = np.exp(start - top)              exp_start = np.exp(start - top)
    exp_1 = np.exp(moves - top)            exp_moves = np.exp(moves - top)

This is for values of the forward sweep that would be numbered.  Where all that have one name are computed of one variable, as the stages of
a method of Runge and Kutta are, the numbers stay, and so do those of products and differences, which say as much of both operands.
"""

from sourcead.ir.nodes import Call, Function, Stmt, Var, operand_atoms
from sourcead.ir.walk import walk

OF_BOTH = {"product", "diff", "power"}
DEEPEST = 4  # through so many values without names the user's variable is sought


def told_apart(function: Function, wishes: dict[Var, str], names: dict[Var, str], user: dict[Var, str]) -> dict[Var, str]:
    """Return other wishes for values that were numbered, by the variables that stand for the classes of those with one name.

    Args:
        function: the function.
        wishes: the names that the classes were to have.
        names: the names that the variables got.
        user: the names that the user gave to variables.
    """
    numbered = {wish for root, wish in wishes.items() if names[root] != wish and root not in user and not wish.startswith("d_")} - OF_BOTH
    if not numbered:
        return {}
    made = {t: s for s in walk(function.body) if len(s.targets) == 1 for t in s.targets}
    groups: dict[str, dict[Var, str]] = {wish: {} for wish in numbered}
    for root, wish in wishes.items():
        if wish in groups and root not in user and root in made and made[root].adjoint_of is None:
            subject = _subject(root, made, user, DEEPEST)
            if subject is not None and not subject[-1].isdigit():
                groups[wish][root] = f"{wish}_{subject}"
    return {root: name for group in groups.values() if len(set(group.values())) > 1 for root, name in group.items()}


def _subject(v: Var, made: dict[Var, Stmt], user: dict[Var, str], depth: int) -> str | None:
    """Return the name of the first of the user's variables that a value is computed of, directly or through values without names."""
    if v not in made or not isinstance(made[v].op, Call) or not depth:
        return None
    for atom in operand_atoms(made[v].op):
        if isinstance(atom, Var):
            found = user.get(atom) or _subject(atom, made, user, depth - 1)
            if found is not None:
                return found
    return None
