"""The table of derivative rules.

A rule is a plain Python function over the result, the arguments and the result's cotangent:

    @adjoint(np.tanh, broadcasts=True)
    def _(y, x, d_y):
        return d_y * (1 - y * y)

The families (`arithmetic`, `elementwise`, ...) are read when a function of theirs is first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_RULES: dict[Any, Rule] = {}
_LOADED: set[str] = set()

_NUMPY = (
    "arithmetic", "elementwise", "reductions", "scans", "shapes", "joining", "creation", "indexing", "products", "linalg",
    "decompositions", "signals", "statistics", "fft",
)  # fmt: skip
FAMILIES = {
    "numpy": _NUMPY,
    "builtins": ("arithmetic", "elementwise"),
    "operator": ("arithmetic", "products"),
    "_operator": ("arithmetic", "products"),
    "math": ("scalars",),
    "scipy": ("special",),
}


@dataclass(frozen=True, eq=False)
class Rule:
    """How the cotangents of a function's arguments follow from that of its result.

    `params` are the primal's positional parameters, in order, one cotangent each; `defaults` are theirs, where they have
    any; `star` names the last of them if it takes all further arguments (its cotangent is a sequence, and `d_y` is
    then passed by name). `options` are the further arguments that the rule handles, with NumPy's defaults. A rule
    that `broadcasts` returns cotangents of the result's shape, which its caller sums to the parameters' shapes.
    """

    primal: Any
    function: Callable
    result: str
    params: tuple[str, ...]
    defaults: tuple[tuple[str, Any], ...]
    star: str | None
    options: tuple[tuple[str, Any], ...]
    broadcasts: bool

    def bind(self, args, kwargs, wrap=lambda default: default) -> tuple[list, dict]:
        """The call's arguments, arranged as the rule takes them.

        Args:
            args: the positional arguments of the primal's call (of any kind; they are not looked at).
            kwargs: its keyword arguments, a mapping or pairs.
            wrap: applied to the defaults that are filled in.

        Returns:
            One value per parameter (the star's in its place, one each), and the options that the call gives.

        Raises:
            RuleError: the call uses an option that the rule does not handle.
        """
        plain = [p for p in self.params if p != self.star]
        names = plain + [name for name, _ in self.options]
        theirs = _parameter_names(self.primal, plain) if self.star is None else None
        given: dict[str, Any] = {}
        rest: list = []
        for position, value in enumerate(args):
            if position < len(plain):
                given[plain[position]] = value
            elif self.star is not None:
                rest.append(value)
            elif isinstance(self.primal, np.ufunc):
                raise _refuse(self.primal, "out")
            else:
                order = theirs or names
                given[order[position] if position < len(order) else f"argument {position + 1}"] = value
        for name, value in dict(kwargs).items():
            if theirs and name in theirs[: len(plain)]:
                name = plain[theirs.index(name)]
            given[name] = value
        for name in given:
            if name not in names:
                raise _refuse(self.primal, name)
        defaults = dict(self.defaults)
        values = []
        for name in plain:
            if name not in given and name not in defaults:
                raise _refuse(self.primal, name, missing=True)
            values.append(given.pop(name) if name in given else wrap(defaults[name]))
        return values + rest, given

    def __call__(self, y, args, d_y, kwargs=()):
        """The cotangents of a call's arguments, one each, computed here and now (broadcast ones summed)."""
        values, options = self.bind(args, kwargs)
        return self.direct(y, values, d_y, options)

    def direct(self, y, values, d_y, options=()):
        """Likewise, for arguments that are already arranged."""
        if self.star is None:
            result = self.function(y, *values, d_y, **dict(options))
        else:
            result = self.function(y, *values, d_y=d_y, **dict(options))
        if len(self.params) == 1:
            result = (result,)
        if self.star is not None:
            result = (*result[:-1], *result[-1])
        if self.broadcasts:
            from sourcead.runtime import unbroadcast

            result = tuple(None if d is None else unbroadcast(d, x) for d, x in zip(result, values))
        return tuple(result)


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
            if not (rule_function.__module__ or "").startswith("sourcead.rules."):
                _load_families(primal)  # before, so that a user's own rule takes the place of ours
            _RULES[primal] = _make_rule(primal, rule_function, broadcasts)
        return rule_function

    return register


def adjoint_rule(function) -> Rule | None:
    """The derivative rule of a function, None if there is none."""
    try:
        hash(function)
    except TypeError:
        return None
    if function not in _RULES:
        _load_families(function)
    return _RULES.get(function)


def no_derivative(function) -> bool:
    """Whether the results of a function carry no derivative: integers, booleans, steps, fresh constants, random draws."""
    from sourcead.rules.constants import is_constant

    try:
        hash(function)
    except TypeError:
        return False
    return is_constant(function) and adjoint_rule(function) is None


def registered() -> dict[Any, Rule]:
    """All rules, those of every family included."""
    for root, families in FAMILIES.items():
        if root != "scipy" or importlib.util.find_spec("scipy") is not None:
            _load(families)
    return dict(_RULES)


def _load_families(function) -> None:
    if isinstance(function, np.ufunc) and not _home(function).startswith("scipy"):
        _load(_NUMPY)
        return
    root = _home(function).partition(".")[0]
    _load(FAMILIES.get(root, ()))
    if isinstance(function, np.ufunc):
        _load(_NUMPY)


def _load(families) -> None:
    for family in families:
        if family not in _LOADED:
            _LOADED.add(family)
            name = f"sourcead.rules.{family}"
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


def _make_rule(primal, function, broadcasts) -> Rule:
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    if "d_y" not in names:
        raise _malformed(function, "has no parameter d_y, the cotangent of the result")
    at = names.index("d_y")
    if at < 2 or names[0] != "y":
        raise _malformed(function, "must take the result y first, then at least one argument of the primal, then d_y")
    primals, options = parameters[1:at], parameters[at + 1 :]
    star = primals[-1].name if primals[-1].kind is inspect.Parameter.VAR_POSITIONAL else None
    for option in options:
        if option.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise _malformed(function, f"must name its options: *{option.name} does not say which ones it handles")
        if option.default is inspect.Parameter.empty:
            raise _malformed(function, f"must give the option {option.name} the primal's default")
    arity = _arity(primal)
    if arity is not None and star is None:
        least, most = arity
        if len(primals) > most or len([p for p in primals if p.default is p.empty]) < least:
            raise _malformed(
                function,
                f"has {len(primals)} parameter(s) between y and d_y, {', '.join(p.name for p in primals)}, "
                f"and {getattr(primal, '__name__', primal)} takes {least if least == most else f'{least} to {most}'}",
            )
    return Rule(
        primal=primal,
        function=function,
        result=names[0],
        params=tuple(p.name for p in primals),
        defaults=tuple((p.name, p.default) for p in primals if p.default is not p.empty),
        star=star,
        options=tuple((p.name, p.default) for p in options),
        broadcasts=broadcasts,
    )


def _arity(primal) -> tuple[int, float] | None:
    """How many positional arguments a function takes, at least and at most; None where Python does not say."""
    if isinstance(primal, np.ufunc):
        return primal.nin, primal.nin
    if not inspect.isfunction(primal):
        return None
    parameters = inspect.signature(primal).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = len([p for p in positional if p.default is p.empty])
    return least, float("inf") if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)


def _parameter_names(primal, plain) -> list[str] | None:
    """The primal's own parameter names in order, None where Python does not say or they do not fit the rule's."""
    if isinstance(primal, np.ufunc):
        return None
    try:
        parameters = list(inspect.signature(primal).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return names if len(names) >= len(plain) else None


def _malformed(function, reason):
    from sourcead.errors import RuleError

    name = "the rule" if function.__name__ == "_" else f"the rule {function.__name__}"
    code = getattr(function, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return RuleError(
        f"{name}{where} {reason}", instead="def _(y, x, d_y, axis=None): ...  # result, arguments, cotangent, options"
    )


def _refuse(primal, name, missing=False):
    from sourcead.errors import RuleError

    called = getattr(primal, "__name__", str(primal))
    if missing:
        return RuleError(f"the derivative of {called} needs its argument {name}")
    return RuleError(
        f"the derivative rule of {called} does not handle the option {name}",
        instead=f"call {called} without {name}, or register a rule that names it (sourcead.adjoint)",
    )
