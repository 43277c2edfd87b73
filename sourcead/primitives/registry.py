"""The registry: one record for each function, with all that the compiler knows of it.

A rule is a plain Python function over the result, the arguments and the result's cotangent:

    @adjoint(np.tanh, broadcasts=True)
    def _(y, x, d_y):
        return d_y * (1 - y * y)

A tangent rule, for forward mode, takes the tangents of the arguments instead:

    @tangent(np.linalg.inv)
    def _(y, a, t_a):
        return -y @ t_a @ y

Functions that are linear are their own tangents (`linear`, `multilinear`), and the adjoint rule of one that works element by
element is its tangent rule too.  Rules that are one expression are rows of a table (`adjoints`, `elementwise`, `tangents`), and
other facts are entered by name (`enter`).  `table.py` reads all families and looks records up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sourcead.primitives.rule import Linear, Rule, TangentRule, adjoint_from, tangent_from


@dataclass(frozen=True, eq=False)
class Primitive:
    """What the compiler knows of one function.

    Attributes:
        function: the function.
        adjoint: its adjoint rule, a Python function; `broadcasts` as in the decorator `adjoint`.
        tangent: its tangent rule, a Python function, or what says that the function is its own tangent.
        preset: the options of the function whose default differs from that in its rules.
        compositions: the functions of other functions that may stand for its calls.
        constant: its result carries no derivative, whatever its arguments are.
        checks: it returns nothing, and raises an error if its arguments do not fit: a call of it stays.
    """

    function: Any
    adjoint: Callable | None = None
    broadcasts: bool = False
    tangent: Callable | Linear | None = None
    preset: tuple[tuple[str, Any], ...] = ()
    compositions: tuple = ()
    constant: bool = False
    checks: bool = False

    @cached_property
    def adjoint_rule(self) -> Rule | None:
        """The adjoint rule with its signature, None if there is none."""
        return None if self.adjoint is None else adjoint_from(self.function, self.adjoint, self.broadcasts, self.preset)

    @cached_property
    def tangent_rule(self) -> TangentRule | Linear | Rule | None:
        """The tangent rule with its signature; an adjoint rule where that is one as well; None if there is none."""
        if isinstance(self.tangent, Linear):
            return self.tangent
        if self.tangent is not None:
            return tangent_from(self.function, self.tangent, self.preset)
        rule = self.adjoint_rule
        return rule if rule is not None and rule.broadcasts and rule.star is None else None


FACTS: dict[Any, dict[str, Any]] = {}
"""What the families enter: function -> {field of its record: value}."""

USERS: dict[Any, dict[str, Any]] = {}
"""The rules that users enter, which take the place of those of the families."""

RECORDS: dict[Any, Primitive] = {}
"""The records that have been asked for."""


def record(function) -> Primitive | None:
    """The record of a function, made of all that is entered by now; None if nothing is."""
    found = RECORDS.get(function)
    if found is None and (function in FACTS or function in USERS):
        facts, users = FACTS.get(function, {}), USERS.get(function, {})
        if "adjoint" in users:  # both modes go by the user's rules
            facts = {name: fact for name, fact in facts.items() if name != "tangent"}
        found = RECORDS[function] = Primitive(function, **{**facts, **users})
    return found


def is_entered(function) -> bool:
    """Whether anything is entered about a function by now."""
    return isinstance(function, Hashable) and (function in FACTS or function in USERS)


def enter(*functions, **facts) -> None:
    """Enters facts about functions.

    Args:
        functions: each of them has all these facts.
        facts: fields of `Primitive`.

    Raises:
        ValueError: another value of such a fact is entered already.
    """
    for function in functions:
        RECORDS.pop(function, None)
        known = FACTS.setdefault(function, {})
        for name, fact in facts.items():
            if known.setdefault(name, fact) is not fact and known[name] != fact:
                raise ValueError(f"{function!r} has two values of {name}: {known[name]!r} and {fact!r}")


def add_to(function, name: str, entry) -> None:
    """Adds an entry to a fact that is a tuple."""
    RECORDS.pop(function, None)
    known = FACTS.setdefault(function, {})
    known[name] = (*known.get(name, ()), entry)


def enter_users(function, **facts) -> None:
    """Enters facts of a user's, which take the place of those of the families and of earlier ones."""
    RECORDS.pop(function, None)
    USERS.setdefault(function, {}).update(facts)


def forget_users(function) -> None:
    """Removes what users have entered about a function."""
    RECORDS.pop(function, None)
    USERS.pop(function, None)


def is_own(rule_function) -> bool:
    """Whether a rule is part of this package."""
    return (rule_function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]


def adjoints(table: dict[Any, Callable], **facts) -> None:
    """Enters a table of adjoint rules that are one expression each.

    Args:
        table: from a function (or several in a tuple) to its rule, a lambda of the parameters `(y, ..., d_y, options)`.
        facts: further facts of all of them.

    Example:
        >>> adjoints({np.transpose: lambda y, x, axes=None, d_y=None: (np.transpose(d_y), None)})  # doctest: +SKIP
    """
    for functions, rule in _named(table, "adjoint"):
        enter(*functions, adjoint=rule, **facts)


def elementwise(table: dict[Any, Callable], **facts) -> dict[Any, Callable]:
    """Enters a table of rules, like `adjoints`, of functions that work element by element, for both modes, and returns it."""
    adjoints(table, broadcasts=True, **facts)
    return table


def tangents(table: dict[Any, Callable]) -> None:
    """Enters a table of tangent rules: lambdas of the parameters `(y, ..., t_..., options)`."""
    for functions, rule in _named(table, "tangent"):
        enter(*functions, tangent=rule)


def _named(table: dict[Any, Callable], mode: str):
    """The functions and the rule of each row; a rule has the name by which generated text calls it."""
    for functions, rule in table.items():
        functions = functions if isinstance(functions, tuple) else (functions,)
        rule.__name__ = f"{functions[0].__name__}_{mode}"
        yield functions, rule


def linear(*functions, only: tuple[str, ...] | None = None, **facts) -> None:
    """Enters functions that are linear in all those arguments together that their adjoint rules have cotangents of.

    Args:
        functions: the functions, or a table of their adjoint rules.
        only: names the parameters in which they are linear, if these are not all.
        facts: further facts of all of them.
    """
    for function in _with_rows(functions, facts):
        enter(function, tangent=Linear(together=True, only=only))


def multilinear(*functions, **facts) -> None:
    """Enters functions that are linear in each of the arguments that their adjoint rules have cotangents of."""
    for function in _with_rows(functions, facts):
        enter(function, tangent=Linear(together=False))


def like(function, other, **preset) -> None:
    """Enters the rules of another function, whose options have other defaults: `preset` are those of this function."""
    rules = {name: FACTS[other][name] for name in ("adjoint", "broadcasts", "tangent") if name in FACTS[other]}
    enter(function, preset=tuple(preset.items()), **rules)


def _with_rows(functions, facts) -> list:
    """The functions, those of tables among them, whose rules and facts are entered."""
    found = []
    for entry in functions:
        if isinstance(entry, dict):
            adjoints(entry, **facts)
            found += [f for key in entry for f in (key if isinstance(key, tuple) else (key,))]
        else:
            enter(entry, **facts)
            found.append(entry)
    return found


def adjoint(function, *more_functions, broadcasts: bool = False):
    """Registers the decorated function as the derivative rule of `function` (and of others like it).

    Args:
        function: the function whose derivative the rule gives; `more_functions` share it.
        broadcasts: the primal works element by element and broadcasts its arguments; the rule then need not sum
            cotangents over the axes that were broadcast.

    Returns:
        A decorator, which returns the rule function unchanged.

    Raises:
        RuleError: the rule's parameters are not `(y, ..., d_y, options)`.

    Example:
        >>> def cube(x):
        ...     return x * x * x
        >>> @adjoint(cube)
        ... def _(y, x, d_y):
        ...     return 3 * x * x * d_y
    """

    def register(rule_function):
        for primal in (function, *more_functions):
            if is_own(rule_function):
                enter(primal, adjoint=rule_function, broadcasts=broadcasts)
            else:
                adjoint_from(primal, rule_function, broadcasts)  # raises an error if the rule does not fit
                enter_users(primal, adjoint=rule_function, broadcasts=broadcasts)
        return rule_function

    return register


def tangent(function, *more_functions):
    """Registers the decorated function as the tangent rule of `function` (and of others like it).

    Functions that work element by element need none: their adjoint rule, if it is registered with `broadcasts=True`,
    is the tangent rule too.

    Args:
        function: the function whose tangent the rule gives; `more_functions` share it.

    Returns:
        A decorator, which returns the rule function unchanged. The rule takes the result `y`, the primal's arguments, the
        tangent `t_<name>` of each that has one, and options; it returns what each tangent contributes to that of the
        result, a tuple if there are several. Contributions of arguments that are held fixed are not computed.

    Raises:
        RuleError: the rule's parameters are not `(y, ..., t_..., options)`.

    Example:
        >>> def product(a, b):
        ...     return a @ b
        >>> @tangent(product)
        ... def _(y, a, b, t_a, t_b):
        ...     return t_a @ b, a @ t_b
    """

    def register(rule_function):
        for primal in (function, *more_functions):
            if is_own(rule_function):
                enter(primal, tangent=rule_function)
            else:
                tangent_from(primal, rule_function)
                enter_users(primal, tangent=rule_function)
        return rule_function

    return register
