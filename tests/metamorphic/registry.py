"""The table of rewritings, and how one of them, or several at random, are applied to a unit."""

import ast
import builtins
import copy
import dataclasses
from typing import Any

from tests.metamorphic.trees import SCOPES, all_names
from tests.metamorphic.units import Unit

REWRITES = {}


@dataclasses.dataclass
class Case:
    """One function that a rewriting may change in place.

    Attributes:
        function: its definition.
        rng: a `random.Random`.
        scope: the names of the module.
        body: the definitions of the unit, to which a rewriting may add.
        before: statements of the module that the rewriting wants to put before the function.
        at_top: whether the function stands at the top level of the module.
    """

    function: ast.FunctionDef
    rng: Any
    scope: dict
    body: list
    at_top: bool = True
    before: list = dataclasses.field(default_factory=list)
    taken: set = dataclasses.field(default_factory=set)

    def fresh(self, wish):
        """A name that nothing uses yet, like the one that is wished for."""
        made, count = wish, 0
        while made in self.taken:
            count += 1
            made = f"{wish}_{count}"
        self.taken.add(made)
        return made

    def used(self):
        return all_names(self.function)


def rewriting(function):
    """Records a function that changes a `Case` in place and says whether it could."""
    REWRITES[function.__name__] = function
    return function


def functions_of(body):
    """(function, whether it stands at the top level) for each function definition, inner ones included."""
    found = []
    for one in body:
        for node in ast.walk(one):
            if isinstance(node, ast.FunctionDef):
                found.append((node, node is one))
    return found


def rewritten(unit, rewrite, rng):
    """A copy of the unit with one rewriting applied to one of its functions, or None if it applies to none that is tried."""
    found = functions_of(unit.body)
    main = next(i for i, (f, at_top) in enumerate(found) if f.name == unit.main and at_top)
    order = [i for i in range(len(found)) if i != main]
    rng.shuffle(order)
    order.insert(0 if rng.random() < 0.6 else len(order), main)
    taken = unit.names() | set(dir(builtins))
    for index in order[:4]:
        made = Unit(copy.deepcopy(unit.body), unit.main, unit.scope)
        function, at_top = functions_of(made.body)[index]
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in walk_own(function)):
            continue
        case = Case(function, rng, made.scope, made.body, at_top, taken=set(taken))
        if REWRITES[rewrite](case):
            add_before(made.body, case)
            if made.text != unit.text:
                return made
    return None


def add_before(body, case):
    """Puts what a rewriting wants before its function there; imports go to the beginning of the module."""
    at = position(body, case.function)
    body[at:at] = [s for s in case.before if not isinstance(s, (ast.Import, ast.ImportFrom))]
    body[:0] = [s for s in case.before if isinstance(s, (ast.Import, ast.ImportFrom))]


def position(body, function):
    """Where in the module the definition stands that contains a function."""
    return next((i for i, s in enumerate(body) if any(n is function for n in ast.walk(s))), 0)


def walk_own(function):
    """The nodes of a function without those of inner functions."""
    stack = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, SCOPES):
            stack += ast.iter_child_nodes(node)


def composed(unit, rewrites, rng):
    """The unit after several rewritings one after the other, and the names of those that applied."""
    applied = []
    for one in rewrites:
        made = rewritten(unit, one, rng)
        if made is not None:
            unit = made
            applied.append(one)
    return unit, applied
