"""Derivative rules: a Python function for each, and the way in which a call's arguments are bound to its parameters."""

import contextlib
import difflib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.errors import RuleError
from sourcead.places.origin import shown_path
from sourcead.places.spelling import counted
from sourcead.runtime import unbroadcast

OF_TORCH = {"dim": "axis", "keepdim": "keepdims"}  # what the options of PyTorch are called in NumPy


@dataclass(frozen=True, eq=False)
class Arguments:
    """The way in which a rule takes the arguments of its primal.

    `params` are the primal's positional parameters, in order, and `defaults` the defaults of those that have one; `star`
    names the last one if it takes all further arguments. `options` are the other parameters that the rule handles, with
    the primal's defaults; `preset` are the options whose default in the primal differs from that in the rule's function.
    """

    primal: Any
    function: Callable
    params: tuple[str, ...]
    defaults: tuple[tuple[str, Any], ...]
    star: str | None
    options: tuple[tuple[str, Any], ...]
    preset: tuple[tuple[str, Any], ...]

    def bind(self, args, kwargs, wrap=lambda default: default) -> tuple[list, dict]:
        """Arrange the arguments of a call of the primal as the rule takes them.

        Args:
            args: the positional arguments of the call, which may be values, variables or any other objects.
            kwargs: the keyword arguments of the call, a mapping or pairs.
            wrap: a function that is applied to the defaults which are filled in.

        Returns:
            The list of values of the parameters, those of the star at its end, and {option: value} as given or preset.

        Raises:
            RuleError: the call gives an option that the rule does not handle, or leaves out an argument that it needs.
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
                raise self._refused("out")
            else:
                order = theirs or names
                given[order[position] if position < len(order) else f"argument {position + 1}"] = value
        for name, value in dict(kwargs).items():
            if theirs and name in theirs[: len(plain)]:
                name = plain[theirs.index(name)]
            given[name] = value
        for name in given:
            if name not in names:
                raise self._refused(name)
        defaults = dict(self.defaults)
        values = []
        for name in plain:
            if name not in given and name not in defaults:
                raise self._refused(name, missing=True)
            values.append(given.pop(name) if name in given else wrap(defaults[name]))
        return values + rest, {name: wrap(value) for name, value in self.preset} | given

    def _refused(self, name: str, missing: bool = False):
        called = getattr(self.primal, "__name__", str(self.primal))
        if missing:
            return RuleError(f"the derivative of {called} needs its argument {name}")
        with contextlib.suppress(TypeError, ValueError):  # some functions that are written in C do not tell their parameters
            taken = inspect.signature(self.primal).parameters
            if name not in taken and all(p.kind is not p.VAR_KEYWORD for p in taken.values()):
                found = [OF_TORCH[name]] if OF_TORCH.get(name) in taken else difflib.get_close_matches(name, taken, 1)
                return RuleError(f"{called} has no argument {name}", instead=f"{found[0]}=..." if found else None)
        return RuleError(
            f"the derivative rule of {called} does not handle the option {name}",
            instead=f"call {called} without {name}, or register a rule that names it (sourcead.adjoint)",
        )


@dataclass(frozen=True, eq=False)
class Rule(Arguments):
    """An adjoint rule, which computes the cotangents of a function's arguments from the cotangent of its result.

    It returns one cotangent for each of `params`; that of a `star` is a sequence, and `d_y` is then passed by name. A rule that
    `broadcasts` returns cotangents of the result's shape, which the caller sums to the shapes of the arguments.
    """

    broadcasts: bool

    def __call__(self, y, args, d_y, kwargs=()):
        """Compute the cotangents of a call's arguments, one for each, summed over the axes that were broadcast."""
        values, options = self.bind(args, kwargs)
        return self.direct(y, values, d_y, options)

    def direct(self, y, values, d_y, options=()):
        """Compute the cotangents of arguments that `bind` has already arranged."""
        if self.star is None:
            result = self.function(y, *values, d_y, **dict(options))
        else:
            result = self.function(y, *values, d_y=d_y, **dict(options))
        if len(self.params) == 1:
            result = (result,)
        if self.star is not None:
            result = (*result[:-1], *result[-1])
        if self.broadcasts:
            result = tuple(None if d is None else unbroadcast(d, x) for d, x in zip(result, values))
        return tuple(result)


@dataclass(frozen=True, eq=False)
class TangentRule(Arguments):
    """A tangent rule, which computes the tangent of a function's result from the tangents of its arguments.

    `tangents` are the parameters whose tangents it takes; it returns the contribution of each to the result's tangent, which is
    their sum. A `star` is the only one: its tangents are a sequence, zero where there is none, and the rule returns their sum.
    """

    tangents: tuple[str, ...]


@dataclass(frozen=True)
class Linear:
    """The tangent rule of a function that is linear in the parameters that its adjoint rule has cotangents of, together or in each.

        together:  t_y = f(t_a, t_b, the others as they are)
        each:      t_y = f(t_a, b) + f(a, t_b)

    `only` names these parameters if the adjoint rule has cotangents of others too.
    """

    together: bool
    only: tuple[str, ...] | None = None


def adjoint_from(primal, function, broadcasts: bool, preset: tuple = ()) -> Rule:
    """Return the adjoint rule that a Python function defines.

    Raises:
        RuleError: its parameters are not `(y, ..., d_y, options)`.
    """
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    if "d_y" not in names:
        raise malformed(function, "has no parameter d_y, the cotangent of the result")
    at = names.index("d_y")
    if at < 2 or names[0] != "y":
        raise malformed(function, "must take the result y first, then at least one argument of the primal, then d_y")
    fields = _arguments(primal, function, parameters[1:at], parameters[at + 1 :], preset, "between y and d_y")
    return Rule(**fields, broadcasts=broadcasts)


def tangent_from(primal, function, preset: tuple = ()) -> TangentRule:
    """Return the tangent rule that a Python function defines.

    Raises:
        RuleError: its parameters are not `(y, ..., t_..., options)`.
    """
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    found = [k for k, name in enumerate(names) if name.startswith("t_") and name[2:] in names[1:k]]
    if not found:
        raise malformed(function, "has no parameter t_x, the tangent of an argument x", TANGENT_EXAMPLE)
    at, end = found[0], found[0] + len(found)
    if found != list(range(at, end)) or names[0] != "y":
        raise malformed(
            function, "must take the result y first, then the arguments of the primal, then their tangents", TANGENT_EXAMPLE
        )
    tangents = tuple(name[2:] for name in names[at:end])
    if list(tangents) != [name for name in names[1:at] if name in tangents]:
        raise malformed(function, "must take the tangents in the order of the arguments", TANGENT_EXAMPLE)
    last = parameters[at - 1]
    if last.kind is last.VAR_POSITIONAL and tangents != (last.name,):
        raise malformed(function, f"must take t_{last.name} as its only tangent", TANGENT_EXAMPLE)
    fields = _arguments(primal, function, parameters[1:at], parameters[end:], preset, "before the tangents")
    return TangentRule(**fields, tangents=tangents)


def form_from(primal, function) -> Arguments:
    """Return how a Python function that takes the place of a call (`together.py`) takes its arguments."""
    parameters = list(inspect.signature(function).parameters.values())
    plain = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    return Arguments(**_arguments(primal, function, plain, parameters[len(plain) :], (), "before its options"))


def _arguments(primal, function, primals, options, preset, where: str) -> dict[str, Any]:
    """Return the values of the fields of `Arguments` for a rule; refuse one whose parameters do not match those of its primal."""
    for option in options:
        if option.kind in (option.VAR_POSITIONAL, option.VAR_KEYWORD):
            raise malformed(function, f"must name its options: *{option.name} does not say which ones it handles")
        if option.default is option.empty:
            raise malformed(function, f"must give the option {option.name} the primal's default")
    defaults = tuple((p.name, p.default) for p in primals if p.default is not p.empty)
    star = primals[-1].name if primals[-1].kind is inspect.Parameter.VAR_POSITIONAL else None
    arity = _arity(primal)
    if arity is not None and star is None:
        least, most = arity
        if len(primals) > most or len(primals) - len(defaults) < least:
            raise malformed(
                function,
                f"has {counted(len(primals), 'parameter')} {where}, {', '.join(p.name for p in primals)}, "
                f"and {getattr(primal, '__name__', primal)} takes {least if least == most else f'{least} to {most}'}",
            )
    return {
        "primal": primal,
        "function": function,
        "params": tuple(p.name for p in primals),
        "defaults": defaults,
        "star": star,
        "options": tuple((p.name, dict(preset).get(p.name, p.default)) for p in options),
        "preset": tuple(preset),
    }


@functools.lru_cache(maxsize=1024)
def signature_of(function) -> tuple[inspect.Parameter, ...] | None:
    """Return the parameters of a function, None if Python does not know them."""
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _arity(primal) -> tuple[int, float] | None:
    """Return the least and the greatest number of positional arguments of a function, None if `inspect` does not tell."""
    if isinstance(primal, np.ufunc):
        return primal.nin, primal.nin
    if not inspect.isfunction(primal):
        return None
    parameters = inspect.signature(primal).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = len([p for p in positional if p.default is p.empty])
    return least, float("inf") if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)


def _parameter_names(primal, plain) -> list[str] | None:
    """Return the primal's parameter names in order, None if `inspect` does not tell or there are fewer than in the rule."""
    parameters = None if isinstance(primal, np.ufunc) else signature_of(primal)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return names if len(names) >= len(plain) else None


ADJOINT_EXAMPLE = "def _(y, x, d_y, axis=None): ...  # result, arguments, cotangent, options"
TANGENT_EXAMPLE = "def _(y, a, b, t_a, t_b, axis=None): ...  # result, arguments, their tangents, options"


def malformed(function, reason, example=ADJOINT_EXAMPLE):
    name = "the rule" if function.__name__ == "_" else f"the rule {function.__name__}"
    code = getattr(function, "__code__", None)
    where = f" ({shown_path(code.co_filename)}:{code.co_firstlineno})" if code else ""
    return RuleError(f"{name}{where} {reason}", instead=example)
