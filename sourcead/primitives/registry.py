"""The registry of primitives: one record for each function, with all facts that the compiler knows of it.

A rule is a plain Python function over the result, the arguments and the result's cotangent:

    @adjoint(np.tanh, broadcasts=True)
    def _(y, x, d_y):
        return d_y * (1 - y * y)

A tangent rule, for forward mode, takes the tangents of the arguments instead:

    @tangent(np.linalg.inv)
    def _(y, a, t_a):
        return -y @ t_a @ y

A linear function is its own tangent rule (`linear`, `multilinear`), and the adjoint rule of an elementwise function is its tangent
rule too.  Rules that are one expression are rows of a table (`adjoints`, `elementwise`, `tangents`), and other facts are entered by
name (`enter`).  A family is a module that enters functions; `table.py` imports all families and looks records up.
"""

import inspect
from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sourcead.errors import RuleError
from sourcead.language.tracebacks import folded
from sourcead.primitives.function_kinds import facts_of_kind, home
from sourcead.primitives.refusals import reason_of
from sourcead.primitives.rule import Linear, Rule, TangentRule, adjoint_from, tangent_from
from sourcead.runtime import is_helper


@dataclass(frozen=True, eq=False)
class Primitive:
    """The facts that the compiler knows of one function.

    Attributes:
        function: the function.
        adjoint: its adjoint rule, a Python function; `broadcasts` as in the decorator `adjoint`.
        tangent: its tangent rule, a Python function, or a `Linear` if the function is its own tangent rule.
        preset: the options whose default in the function differs from that in its rules.
        compositions: the compositions of other functions that may replace its calls.
        result: `result(function, args, kwargs)` returns the type of its result; if None, this is found by calls on small examples.
        examples: the type of its result may be found by calls on small examples, since type and shape do not depend on values.
        dtype_at: the position of the argument that is the requested dtype.
        first_only: the number of its results if its rules handle only the first of them, else 0.
        constant: its result carries no derivative, whatever its arguments are.
        memory: the memory that its result shares with its arguments (`emit/memory/sharing.py` explains the words): "fresh",
            "readonly", "shallow", "first", "shared", "foreign", or "operands" if this depends on their types as for an operator;
            or a function from the number of arguments and the names of options to one of these.
        view: "always" if the result is a view of the first argument, "shorter" if it is one with fewer axes or the argument itself,
            "maybe" if it may be one, "reshape" if the memory order of the argument decides, "same" if the result is the argument
            itself when that is an array; None if it is no view.
        same_at: (position, number) if the result is the first argument itself whenever the argument at the position is the number.
        order: "C" if the result is in C order, "keeps" if it is when the arguments are, "axes" if it permutes axes, so that
            vectors keep their order; None if nothing is known.
        pure: it does nothing but compute its result from its arguments.
        buffer: its result is an array that is meant to be written, so that two equal calls are not merged.
        writes: it writes into its first argument.
        effect: it has an effect outside of the program.
        checks: it returns nothing and raises an error for invalid arguments, so that its calls are kept.
        commutes: the order of two numbers does not matter.
        cheap: its result is computed again rather than kept for the reverse sweep.
        metadata: it reads only the shape or dtype of its argument, no elements.
        elementwise: it broadcasts its arguments and works on each element; the first `operands` arguments are data, the others
            options; the result is `boolean`.
        batched: the method of `passes/batching/calls.py` or `member_calls.py` that calls it for several values at once, or its `Form`s.
        sequences: "kept" if it takes lists and tuples of arrays as such, "arrays" if each of them becomes an array; if None, those
            that carry a derivative become arrays.
        axis_at: the position of the axis argument of a function that takes such sequences.
        numba: "native" if Numba compiles a call as it is, "interpreted" if compiling it takes too long; if None, it is tried.
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
    first_only: int = 0
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
    batched: str | tuple | None = None
    sequences: str | None = None
    axis_at: int | None = None
    numba: str | None = None
    looped: bool = False

    def is_elementwise(self, count: int) -> bool:
        """Return whether a call with `count` arguments works element by element; `np.where` with one argument does not."""
        return self.elementwise and count >= (self.operands or 1)

    @property
    def has_rule(self) -> bool:
        """Return whether the function has an adjoint or tangent rule, so that its body is not lowered."""
        return self.adjoint is not None or self.tangent is not None

    @property
    def may_write(self) -> bool:
        """Return whether nothing says that the function leaves its arguments as they are: it has no rule and is not known as pure."""
        return not (self.pure or self.has_rule or self.constant or is_helper(self.function))

    @property
    def no_derivative(self) -> bool:
        """Return whether its result never carries a derivative: integers, booleans, steps, new constants, random numbers."""
        return self.constant and not self.has_rule

    @cached_property
    def refused(self) -> str | None:
        """Return the reason for refusing to differentiate the function, None if it has a rule or no reason is known."""
        return None if self.has_rule else reason_of(self.function)

    @cached_property
    def adjoint_rule(self) -> Rule | None:
        """Return the adjoint rule as a `Rule`, None if there is none."""
        return None if self.adjoint is None else adjoint_from(self.function, self.adjoint, self.broadcasts, self.preset)

    @cached_property
    def tangent_rule(self) -> TangentRule | Linear | Rule | None:
        """Return the tangent rule, or the adjoint rule if that broadcasts and so gives tangents too; None if there is neither."""
        if isinstance(self.tangent, Linear):
            return self.tangent
        if self.tangent is not None:
            return tangent_from(self.function, self.tangent, self.preset)
        rule = self.adjoint_rule
        return rule if rule is not None and rule.broadcasts and rule.star is None else None


FACTS: dict[Any, dict[str, Any]] = {}
"""The facts that the families enter: function -> {field of its record: value}."""

USERS: dict[Any, dict[str, Any]] = {}
"""The facts that users enter, which override those of the families."""

CHANGES: list[int] = [0]  # how often users have entered facts: what was generated before is generated anew

RECORDS: dict[Any, Primitive] = {}
"""The records that have been looked up."""

DEFAULTS: dict[str, dict[str, Any]] = {}
"""The facts that a family enters once for all functions that it has rules for: name of its module -> facts."""


def record(function) -> Primitive:
    """Return the record of a function, made from all facts that are entered so far."""
    found = RECORDS.get(function)
    if found is None:
        facts, users = FACTS.get(function, {}), USERS.get(function, {})
        if "adjoint" in users:  # the user's rules apply to both modes
            facts = {name: fact for name, fact in facts.items() if name != "tangent"}
        rule = facts.get("adjoint", facts.get("tangent"))
        defaults = DEFAULTS.get(getattr(rule, "__module__", ""), {})
        found = Primitive(function, **{**facts_of_kind(function), **defaults, **facts, **users})
        if facts or users or isinstance(function, np.ufunc):
            RECORDS[function] = found
    return found


def family(module: str, **facts) -> None:
    """Enter facts about all functions that a module has rules for."""
    DEFAULTS[module] = facts


def is_entered(function) -> bool:
    """Return whether any fact about a function is entered so far."""
    return isinstance(function, Hashable) and (function in FACTS or function in USERS)


def enter(*functions, **facts) -> None:
    """Enter the same facts about each of some functions.

    Args:
        functions: the functions that have these facts.
        facts: fields of `Primitive`.

    Raises:
        ValueError: another value of one of these facts is entered already.
    """
    for function in functions:
        RECORDS.pop(function, None)
        known = FACTS.setdefault(function, {})
        for name, fact in facts.items():
            if known.setdefault(name, fact) is not fact and known[name] != fact:
                raise ValueError(f"{function!r} has two values of {name}: {known[name]!r} and {fact!r}")


def add_to(function, name: str, entry) -> None:
    """Add an entry to the fact `name` of a function, whose value is a tuple."""
    RECORDS.pop(function, None)
    known = FACTS.setdefault(function, {})
    known[name] = (*known.get(name, ()), entry)


def enter_users(function, **facts) -> None:
    """Enter a user's facts about a function, which override those of the families and earlier ones of users."""
    RECORDS.pop(function, None)
    USERS.setdefault(function, {}).update(facts)
    CHANGES[0] += 1


def forget_users(function) -> None:
    """Remove the facts that users have entered about a function."""
    RECORDS.pop(function, None)
    USERS.pop(function, None)
    CHANGES[0] += 1


def infers(*functions):
    """Enter the decorated `handler(fn, args, kwargs) -> Type` as the inference of these functions' result types."""

    def register(handler):
        enter(*functions, result=handler)
        return handler

    return register


def is_own(rule_function) -> bool:
    """Return whether a rule is defined in this package, rather than by a user."""
    return (rule_function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]


def adjoints(table: dict[Any, Callable], **facts) -> None:
    """Enter a table of adjoint rules, each of which is one expression.

    Args:
        table: {function, or tuple of functions: rule}, where a rule is a lambda with the parameters `(y, ..., d_y, options)`.
        facts: further facts about all of these functions.

    Example:
        >>> adjoints({np.transpose: lambda y, x, axes=None, d_y=None: (np.transpose(d_y), None)})  # doctest: +SKIP
    """
    for functions, rule in _named(table, "adjoint"):
        enter(*functions, adjoint=rule, **facts)


def elementwise(table: dict[Any, Callable], **facts) -> dict[Any, Callable]:
    """Enter a table of adjoint rules of elementwise functions, which are their tangent rules too; return the table."""
    adjoints(table, broadcasts=True, **facts)
    functions = [f for key in table for f in (key if isinstance(key, tuple) else (key,))]
    enter(*(f for f in functions if home(f) not in ("math", "builtins")), elementwise=True)  # functions of these two take no arrays
    return table


def tangents(table: dict[Any, Callable]) -> None:
    """Enter a table of tangent rules, which are lambdas with the parameters `(y, ..., t_..., options)`."""
    for functions, rule in _named(table, "tangent"):
        enter(*functions, tangent=rule)


def in_both_modes(table: dict[Any, tuple[Callable, Callable]]) -> None:
    """Enter a table of pairs of an adjoint rule and a tangent rule, which follow from one derivative."""
    adjoints({functions: rules[0] for functions, rules in table.items()})
    tangents({functions: rules[1] for functions, rules in table.items()})


def _named(table: dict[Any, Callable], mode: str):
    """Yield the functions and the rule of each row of a table; the rule gets the name by which generated text calls it."""
    for functions, rule in table.items():
        functions = functions if isinstance(functions, tuple) else (functions,)
        rule.__name__ = f"{functions[0].__name__}_{mode}"
        yield functions, rule


def linear(*functions, only: tuple[str, ...] | None = None, **facts) -> Callable:
    """Enter functions that are jointly linear in the arguments that their adjoint rules have cotangents of.

    Args:
        functions: the functions, or a table of their adjoint rules.
        only: the names of the parameters in which they are linear, if these are not all.
        facts: further facts about all of these functions.

    Returns:
        A decorator for their adjoint rule, if it is not entered in a table.
    """
    return _linear(functions, Linear(together=True, only=only), facts)


def multilinear(*functions, **facts) -> Callable:
    """Enter functions that are linear in each of the arguments that their adjoint rules have cotangents of, as `linear` does."""
    return _linear(functions, Linear(together=False), facts)


def like(function, other, **preset) -> None:
    """Enter the rules of the function `other` for `function`, whose options have the defaults `preset`."""
    rules = {name: FACTS[other][name] for name in ("adjoint", "broadcasts", "tangent") if name in FACTS[other]}
    enter(function, preset=tuple(preset.items()), **rules)


def _linear(functions, rule: Linear, facts) -> Callable:
    """Enter the tangent rule and the facts of functions, those of tables with their adjoint rules; return a decorator for these rules."""
    for entry in functions:
        if isinstance(entry, dict):
            adjoints(entry, **facts, tangent=rule)
        else:
            enter(entry, **facts, tangent=rule)

    def register(adjoint_rule):
        enter(*functions, adjoint=adjoint_rule)
        return adjoint_rule

    return register


@folded
def adjoint(function, *more_functions, broadcasts: bool = False):
    """Register the decorated function as the adjoint rule of `function` and of `more_functions`.

    Args:
        function: the function that the rule is for; `more_functions` have the same rule.
        broadcasts: whether the primal works element by element and broadcasts its arguments; the rule then need not sum
            cotangents over the axes that were broadcast.

    Returns:
        A decorator, which returns the rule function unchanged.

    Raises:
        RuleError: `function` is no function, or the rule's parameters are not `(y, ..., d_y, options)`.

    Example:
        >>> def cube(x):
        ...     return x * x * x
        >>> @adjoint(cube)
        ... def _(y, x, d_y):
        ...     return 3 * x * x * d_y
    """
    return _decorator((function, *more_functions), "adjoint", adjoint_from, broadcasts=broadcasts)


@folded
def tangent(function, *more_functions):
    """Register the decorated function as the tangent rule of `function` and of `more_functions`.

    Functions that work element by element need no tangent rule if their adjoint rule is registered with
    `broadcasts=True`, which is then the tangent rule too.

    Args:
        function: the function that the rule is for; `more_functions` have the same rule.

    Returns:
        A decorator, which returns the rule function unchanged. The rule takes the result `y`, the primal's arguments, the
        tangent `t_<name>` of each that has one, and options; it returns the contribution of each of these tangents to the
        result's tangent, a tuple if there are several. Contributions of arguments that are held fixed are not computed.

    Raises:
        RuleError: `function` is no function, or the rule's parameters are not `(y, ..., t_..., options)`.

    Example:
        >>> def product(a, b):
        ...     return a @ b
        >>> @tangent(product)
        ... def _(y, a, b, t_a, t_b):
        ...     return t_a @ b, a @ t_b
    """
    return _decorator((function, *more_functions), "tangent", tangent_from)


def _decorator(primals: tuple, mode: str, read: Callable, **facts) -> Callable:
    """Return the decorator that registers a rule; a user's rule is read first, which raises an error if it does not fit."""
    above = f"`@{mode}(f)` above the rule of f"
    for primal in primals:
        names = primal.__code__.co_varnames[: primal.__code__.co_argcount] if inspect.isfunction(primal) else ()
        if not callable(primal) or names[:1] == ("y",) and {"d_y", *(f"t_{name}" for name in names)}.intersection(names):
            given = getattr(primal, "__name__", primal)
            raise RuleError(f"`{mode}` is given {given} in place of the function that the rule is for", None, above)

    @folded
    def register(rule_function):
        if not callable(rule_function):
            raise RuleError(f"the rule of {primals[0].__name__} is given as {rule_function!r}, which is no function", instead=above)
        for primal in primals:
            if is_own(rule_function):
                enter(primal, **{mode: rule_function}, **facts)
            else:
                read(primal, rule_function, **facts)
                enter_users(primal, **{mode: rule_function}, **facts)
        return rule_function

    return register
