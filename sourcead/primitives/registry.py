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

from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sourcead.primitives.function_kinds import facts_of_kind, home
from sourcead.primitives.refusals import reason_of
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
        result: `result(function, args, kwargs)` is the type of its result; if None, this follows from calls on small examples.
        examples: the type of its result may be taken from calls on small examples: neither it nor the shape depends on their values.
        dtype_at: the position of the requested dtype among its arguments.
        first_only: of several results, its rules know the first one alone.
        constant: its result carries no derivative, whatever its arguments are.
        memory: what its result shares with its arguments (`emit/memory/sharing.py` explains the words): "fresh", "readonly",
            "shallow", "first", "shared", "foreign", or "operands" where it depends on their types as that of an operator
            does; or a function from the number of arguments and the names of options to one of these.
        view: "always" if the result is a view of the first argument, "maybe" if it may be one, "reshape" if the memory order of
            the argument decides, "same" if it is the argument itself where that is an array already; None if it is none.
        same_at: (position, number) if the result is the first argument itself where the argument there is this number.
        order: "C" if the result is in C order, "keeps" if it is where the arguments are, "axes" if it permutes axes, so that
            vectors keep their order; None if nothing is known.
        pure: it does nothing but compute its result from its arguments.
        buffer: its result is an array that is meant to be written, so that two equal calls stay two.
        writes: it writes into its first argument.
        effect: it does something that is seen outside of the program.
        checks: it returns nothing, and raises an error if its arguments do not fit: a call of it stays.
        commutes: the order of two numbers does not matter.
        cheap: its result is computed again rather than kept for the reverse sweep.
        metadata: it reads no elements of its argument, but its shape or dtype.
        elementwise: it broadcasts its arguments and works on each element; `operands` of them, the rest are options; the
            result is `boolean`.
        batched: the method of `passes/batching/calls.py` that calls it for several values at once.
        sequences: "kept" if it takes lists and tuples of arrays as such, "arrays" if each of them becomes an array; None if those
            that carry a derivative do.
        axis_at: the position of an axis among such arguments.
        numba: "native" if Numba takes a call as it stands, "interpreted" if compiling it takes too long; None if it is tried.
        looped: Numba's loop over the elements is as fast as NumPy's.
    """

    function: Any
    adjoint: Callable | None = None
    broadcasts: bool = False
    tangent: Callable | Linear | None = None
    preset: tuple[tuple[str, Any], ...] = ()
    compositions: tuple = ()
    result: Callable | None = None
    examples: bool = False
    dtype_at: int | None = None
    first_only: bool = False
    constant: bool = False
    memory: str | Callable[[int, Set[str]], str] = "foreign"
    view: str | None = None
    same_at: tuple[int, int] | None = None
    order: str | None = None
    pure: bool = False
    buffer: bool = False
    writes: bool = False
    effect: bool = False
    checks: bool = False
    commutes: bool = False
    cheap: bool = False
    metadata: bool = False
    elementwise: bool = False
    operands: int | None = None
    boolean: bool = False
    batched: str | None = None
    sequences: str | None = None
    axis_at: int | None = None
    numba: str | None = None
    looped: bool = False

    def is_elementwise(self, count: int) -> bool:
        """Whether a call with so many arguments works element by element; `np.where` with one argument does not."""
        return self.elementwise and count >= (self.operands or 1)

    @cached_property
    def refused(self) -> str | None:
        """Why the function is refused where a derivative would pass through it; None if nothing is known of it."""
        return None if self.adjoint or self.tangent else reason_of(self.function)

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
"""The records that have been looked up."""

DEFAULTS: dict[str, dict[str, Any]] = {}
"""The facts that a family states once, for all functions that it has rules for: name of its module -> facts."""


def record(function) -> Primitive:
    """The record of a function, made of all that is entered by now."""
    found = RECORDS.get(function)
    if found is None:
        facts, users = FACTS.get(function, {}), USERS.get(function, {})
        if "adjoint" in users:  # both modes go by the user's rules
            facts = {name: fact for name, fact in facts.items() if name != "tangent"}
        rule = facts.get("adjoint", facts.get("tangent"))
        defaults = DEFAULTS.get(getattr(rule, "__module__", ""), {})
        found = Primitive(function, **{**facts_of_kind(function), **defaults, **facts, **users})
        if facts or users or isinstance(function, np.ufunc):
            RECORDS[function] = found
    return found


def family(module: str, **facts) -> None:
    """Enters facts of all functions that a module has rules for."""
    DEFAULTS[module] = facts


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


def infers(*functions):
    """Enters the decorated `handler(fn, args, kwargs) -> Type` as what infers the type of these functions' results."""

    def register(handler):
        enter(*functions, result=handler)
        return handler

    return register


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
    functions = [f for key in table for f in (key if isinstance(key, tuple) else (key,))]
    enter(*(f for f in functions if home(f) not in ("math", "builtins")), elementwise=True)  # those take numbers, no arrays
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
