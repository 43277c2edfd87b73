"""The table of derivative rules.

A rule is a plain Python function over the result, the arguments and the result's cotangent:

    @adjoint(np.tanh, broadcasts=True)
    def _(y, x, d_y):
        return d_y * (1 - y * y)

A tangent rule, for forward mode, takes the tangents of the arguments instead:

    @tangent(np.linalg.inv)
    def _(y, a, t_a):
        return -y @ t_a @ y

Functions that are linear are their own tangents (`linear`, `multilinear`), and the adjoint rule of one that works element by
element is its tangent rule too.  The families (`arithmetic`, `elementwise`, ...) are read when a function of theirs is first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any

import numpy as np

from sourcead.primitives.rule import Linear, Rule, TangentRule, adjoint_from, tangent_from

_RULES: dict[Any, Rule] = {}
_TANGENTS: dict[Any, TangentRule | Linear] = {}
_LOADED: set[str] = set()

_NUMPY = (
    "arithmetic", "elementwise", "reductions", "scans", "shapes", "joining", "creation", "indexing", "products", "linalg",
    "decompositions", "partitions", "signals", "statistics", "fft",
)  # fmt: skip
FAMILIES = {
    "numpy": _NUMPY,
    "builtins": ("arithmetic", "elementwise", "lists"),
    __name__.partition(".")[0]: ("lists", "runtime_helpers"),
    "operator": ("arithmetic", "products", "lists"),
    "_operator": ("arithmetic", "products", "lists"),
    "math": ("scalars",),
    "scipy.special": (
        "scipy_special.elementary", "scipy_special.bessel", "scipy_special.distributions", "scipy_special.integrals",
        "scipy_special.orthogonal", "scipy_special.several_results",
    ),
    "scipy.linalg": ("scipy_linalg",),
}


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
            rule = adjoint_from(primal, rule_function, broadcasts)
            if not _is_ours(rule_function):
                _load_families(primal)  # before, so that a user's own rule takes the place of ours
                theirs = _TANGENTS.get(primal)
                if theirs is not None and (isinstance(theirs, Linear) or _is_ours(theirs.function)):
                    del _TANGENTS[primal]  # both modes go by the user's rules
            _RULES[primal] = rule
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
            rule = tangent_from(primal, rule_function)
            if not _is_ours(rule_function):
                _load_families(primal)
            _TANGENTS[primal] = rule
        return rule_function

    return register


def linear(*functions, only: tuple[str, ...] | None = None) -> None:
    """Registers functions that are linear in all those arguments together that their adjoint rules have cotangents of.

    `only` names the parameters in which they are linear, if these are not all.
    """
    _TANGENTS.update((f, Linear(f, together=True, only=only)) for f in functions)


def multilinear(*functions) -> None:
    """Registers functions that are linear in each of the arguments that their adjoint rules have cotangents of."""
    _TANGENTS.update((f, Linear(f, together=False)) for f in functions)


def _is_ours(rule_function) -> bool:
    return (rule_function.__module__ or "").startswith("sourcead.primitives.")


def adjoint_rule(function) -> Rule | None:
    """The derivative rule of a function, None if there is none."""
    try:
        hash(function)
    except TypeError:
        return None
    if function not in _RULES:
        _load_families(function)
    return _RULES.get(function)


def tangent_rule(function) -> TangentRule | Linear | Rule | None:
    """The tangent rule of a function, None if there is none; an adjoint rule where that is one as well."""
    rule = adjoint_rule(function)  # reads the family
    try:
        found = _TANGENTS.get(function)
    except TypeError:
        return None
    if found is None and rule is not None and rule.broadcasts and rule.star is None:
        return rule
    return found


def has_rule(function) -> bool:
    """Whether a function has a derivative rule of either mode, so that its body is not looked into."""
    return adjoint_rule(function) is not None or tangent_rule(function) is not None


def no_derivative(function) -> bool:
    """Whether the results of a function carry no derivative: integers, booleans, steps, fresh constants, random draws."""
    from sourcead.primitives.constants import is_constant

    try:
        hash(function)
    except TypeError:
        return False
    return is_constant(function) and not has_rule(function)


def ours() -> dict[Any, Rule]:
    """The rules of every family, without those that users (and the examples above) have registered."""
    all_rules = registered()
    return {f: rule for f, rule in all_rules.items() if rule.function.__module__.removeprefix("sourcead.primitives.") in _LOADED}


def registered() -> dict[Any, Rule]:
    """All rules, those of every family included."""
    for root, families in FAMILIES.items():
        if not root.startswith("scipy") or importlib.util.find_spec("scipy") is not None:
            _load(families)
    return dict(_RULES)


def _load_families(function) -> None:
    if isinstance(function, np.ufunc) and not _home(function).startswith("scipy"):
        _load(_NUMPY)
        return
    home = _home(function) + "."
    for root, families in FAMILIES.items():
        if home.startswith(root + "."):
            _load(families)
    if isinstance(function, np.ufunc):
        _load(_NUMPY)


def _load(families) -> None:
    for family in families:
        if family not in _LOADED:
            _LOADED.add(family)
            name = f"sourcead.primitives.{family}"
            if importlib.util.find_spec(name) is not None:
                importlib.import_module(name)


def _home(function) -> str:
    """The module that a function, a method descriptor or a ufunc's method belongs to."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        return module
    if isinstance(function, np.ufunc):
        import sys

        special = sys.modules.get("scipy.special")
        return (
            "scipy.special"
            if special is not None and getattr(special, function.__name__, None) is function
            else "numpy"
        )
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if owner is None or inspect.ismodule(owner):
        return getattr(owner, "__name__", "")
    return (
        _home(owner)
        if isinstance(owner, np.ufunc)
        else getattr(owner if isinstance(owner, type) else type(owner), "__module__", "")
    )
