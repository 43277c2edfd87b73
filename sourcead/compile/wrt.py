"""The parameters that a derivative is taken with respect to, and their tangents."""

import decimal
import difflib
import inspect
import numbers
import re
import typing
from collections import deque
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from sourcead.compile.structures import leaves
from sourcead.errors import WrtError
from sourcead.ir.records import is_record, parts_of
from sourcead.places.spelling import of_class


def resolved_wrt(wrt: Any, signature: inspect.Signature, bound: int, name: str) -> tuple[tuple[str, ...], bool]:
    """Return the names of the parameters in `wrt`, and whether `wrt` is a single parameter rather than a sequence.

    Args:
        wrt: an index, a parameter name, or a sequence of them.
        signature: the signature of the function.
        bound: the number of positional parameters that are bound already; indices count from the next one.
        name: the function's name, for error messages.

    Raises:
        WrtError: `wrt` names a parameter that does not exist, names one twice, is empty, or is a set, whose order is not that in
            which it was written: the gradients would come in an order that no one chose.
    """
    names = list(signature.parameters)
    if isinstance(wrt, set | frozenset):
        in_order = tuple(n for n in names if n in wrt) or tuple(sorted(wrt, key=repr))
        raise WrtError("wrt is a set, which has no order, and the gradients come in the order of wrt", instead=f"wrt={in_order!r}")
    single = isinstance(wrt, str | bytes) or not isinstance(wrt, typing.Iterable)
    found = tuple(_parameter_name(item, signature, bound, name) for item in ([wrt] if single else wrt))
    if not found:
        raise WrtError(
            f"wrt is empty: it names no parameter of {name}", instead=f"wrt={names[bound:][:1] and names[bound]!r}"
        )
    for n in found:
        if found.count(n) > 1:
            raise WrtError(
                f"wrt names the parameter {n!r} of {name} more than once",
                instead=f"wrt={tuple(dict.fromkeys(found))!r}",
            )
    return found, single


def _parameter_name(item: Any, signature: inspect.Signature, bound: int, name: str) -> str:
    names = list(signature.parameters)
    after = f" after {', '.join(names[:bound])}" if bound else ""
    have = f"its parameters{after} are {', '.join(names[bound:])}" if names[bound:] else "it has no parameters"
    if isinstance(item, str):
        if item not in names:
            why = f"wrt names the parameter {item!r}, and {name} has none of that name: {have}"
            of_object = f"wrt={names[0]!r}, which the method calls its object" if bound and item in ("self", "cls") else None
            some = f"wrt={tuple(names[bound:])!r}" if item in ("*", "all") else names[bound:] and f"wrt={names[bound]!r}"
            raise WrtError(why, instead=of_object or _probably_meant(item, signature) or some or None)
        return item
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise WrtError(
            f"wrt is {item!r}, which is neither the index of a parameter of {name} nor its name: {have}",
            instead=f"wrt={names[bound:][:1] and names[bound]!r}; the arguments are given to what it returns",
        )
    index, count = item.__index__(), len(names) - bound
    if not -count <= index < count:
        if bound and not count:
            taken = ", ".join(names) or "none"
            why = f"{name} has no parameter to differentiate by: the object of a method, or what is bound, takes {taken}"
            without_self = f"`def {name}(self, ...)`, if it is a method: the object comes first"
            by_name = f"wrt={names[:1] and names[0]!r}, for the derivative with respect to what is bound"
            raise WrtError(why, instead=by_name if bound > 1 or names[:1] in (["self"], ["cls"]) else without_self)
        last = f"wrt={names[-1]!r}, or an index below {count}" if count else None
        instead = _of_all(signature, inspect.Parameter.VAR_POSITIONAL) or last
        raise WrtError(f"wrt is the index {index}, and {name} has no such parameter: {have}", instead=instead)
    return names[bound:][index]


def _probably_meant(wanted: str, signature: inspect.Signature) -> str | None:
    """Return what to write in place of a name in wrt that no parameter has: several names, all of `**kwargs`, or a name that is near."""
    names = list(signature.parameters)
    several = re.findall(r"\w+", wanted)
    if len(several) > 1 and {*several} <= {*names}:
        return f"wrt={tuple(several)!r}"
    near = difflib.get_close_matches(wanted, names, 1) or [n for n in names if n.lower() == wanted.lower()]
    return _of_all(signature, inspect.Parameter.VAR_KEYWORD) or (f"wrt={near[0]!r}" if near else None)


def _of_all(signature: inspect.Signature, kind: Any) -> str | None:
    """Return that wrt may name the parameter which takes all further arguments of a kind, None if there is no such parameter."""
    all_of = next((p for p in signature.parameters.values() if p.kind is kind), None)
    container = "tuple" if kind is inspect.Parameter.VAR_POSITIONAL else "dict"
    return all_of and f"wrt={all_of.name!r}, for all that `{all_of}` takes; the gradient is a {container} then"


def with_tangents(signature: inspect.Signature, directions: Iterable[str]) -> inspect.Signature:
    """Return the signature with a parameter for each tangent, keyword-only unless all others are positional without a default."""
    parameters = list(signature.parameters.values())
    plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if plain else inspect.Parameter.KEYWORD_ONLY
    rest = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    first = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    return inspect.Signature([*first, *(inspect.Parameter(t, kind) for t in directions), *rest])


def check_tangent(t: Any, x: Any, name: str, primal: str) -> None:
    """Refuse a tangent `t` that does not have the structure, shapes and dtypes of its primal `x`.

    Raises:
        WrtError: the tangent differs in one of these; the message names the place.
    """
    places, given = dict(leaves(x, primal)), dict(leaves(t, primal))
    for place, leaf in places.items():
        at = name + place[len(primal) :]
        if place not in given and place == primal:
            why = f"the tangent `{name}` is {of_class(t)}, and `{primal}` {_described(leaf)}"
            raise WrtError(why, instead=f"a tangent of the shape of `{primal}`")
        if place not in given:
            raise WrtError(f"the tangent `{name}` has another structure than `{primal}`: there is no number at `{at}`")
        found = given.pop(place)
        if np.shape(found) != np.shape(leaf) or isinstance(found, np.ndarray) is not isinstance(leaf, np.ndarray):
            raise WrtError(
                f"the tangent `{at}` {_described(found)}, and `{place}` {_described(leaf)}",
                instead=f"a tangent of the shape of `{place}`",
            )
        if isinstance(found, np.ndarray) and found.dtype != leaf.dtype:
            raise WrtError(
                f"the tangent `{at}` is an array of {found.dtype}, and `{place}` one of {leaf.dtype}",
                instead=f"`{at}.astype({place}.dtype)`",
            )
        if np.iscomplexobj(found) and not np.iscomplexobj(leaf):
            raise WrtError(f"the tangent `{at}` is complex, and `{place}` is real")
    if given or not alike(t, x):
        raise WrtError(f"the tangent `{name}` has another structure than `{primal}`")


def alike(d: Any, x: Any) -> bool:
    """Return whether a tangent or cotangent is a container of the class of `x` if `x` is one; that of a dict is any dict."""
    return isinstance(d, dict) if isinstance(x, dict) else type(d) is type(x) or not isinstance(x, tuple | list)


STRUCTURE = "a cotangent with the structure of the value: for each number or array in it one of that shape, zeros if none is meant"


def check_cotangent(d: Any, value: Any) -> None:
    """Refuse a cotangent `d` of a function's value that does not have its structure and shapes.

    Raises:
        WrtError: the cotangent differs in one of these, is no number, or is complex where the value is real.
    """
    if not alike(d, value):
        raise WrtError(f"the cotangent is {of_class(d)}, and the value {of_class(value)}", instead=STRUCTURE)
    given = dict(leaves(d, "cotangent"))
    places = {place: leaf for place, leaf in leaves(value, "cotangent") if np.asarray(leaf).dtype.kind in "fc"}
    for place, leaf in places.items():
        if place not in given and place == "cotangent":
            raise WrtError(f"the cotangent is {of_class(d)}, and the value {_described(leaf)}", instead="a cotangent of the value's shape")
        if place not in given:
            raise WrtError(f"the cotangent has another structure than the value: there is no number at `{place}`", instead=STRUCTURE)
        found = given[place]
        at, there = ("", "") if place == "cotangent" else (f" at `{place}`", " there")
        if np.shape(found) != np.shape(leaf):
            raise WrtError(
                f"the cotangent{at} {_described(found)}, and the value{there} {_described(leaf)}",
                instead="a cotangent of the value's shape",
            )
        if np.asarray(found).dtype.kind not in "fciub" or np.iscomplexobj(found) and not np.iscomplexobj(leaf):
            dtypes = np.asarray(found).dtype, np.asarray(leaf).dtype
            raise WrtError(f"the cotangent{at} has the dtype {dtypes[0]}, and the value{there} {dtypes[1]}")


def _described(x: Any) -> str:
    return f"has the shape {x.shape}" if isinstance(x, np.ndarray) else "is a number"


PLAIN = {Mapping: "dict", Set: "sorted", deque: "list"}  # what holds numbers by rules of its own, and the function that converts it


def _float_of(x: Any) -> bool:
    """Return whether `float` or `astype(float)` makes a number of a fraction, a decimal or a text, or numbers of an array of them."""
    if isinstance(x, bool):
        return False  # a switch rather than a number
    try:
        return bool(np.size(np.asarray(x).astype(float)))
    except (TypeError, ValueError, OverflowError):
        return False


def check_wrt(x: Any, where: str) -> None:
    """Refuse an argument in wrt that carries no derivative.

    Raises:
        WrtError: it is an array of integers, booleans or text, a boolean, a string, None, a function or another object.
    """
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fcO":
            kind = {"i": "integers", "u": "integers", "b": "booleans"}.get(x.dtype.kind, "these")
            part = not where.isidentifier()
            apart = "pass it as an argument of its own, if it is none of the parameters" if part else "leave it out of wrt"
            instead = f"`{where}.astype(float)`, or {apart}" if x.dtype.kind in "iub" or _float_of(x) else None
            raise WrtError(
                f"the argument `{where}` in wrt is an array of {x.dtype}, and {kind} carry no derivative",
                instead=instead,
            )
    elif not leaves(x) and not isinstance(x, tuple | list | dict):
        plain = {**PLAIN, numbers.Number | decimal.Decimal | str: "float"}
        converted = next((f"`{to}({where})`" for cls, to in plain.items() if isinstance(x, cls) and (to != "float" or _float_of(x))), None)
        raise WrtError(
            f"the argument `{where}` in wrt is {of_class(x)}, which carries no derivative",
            instead=converted or "name in wrt the parameters that are numbers or arrays",
        )
    else:
        for at, part in parts_of(x):
            items = list(part.values() if isinstance(part, Mapping) else part) if isinstance(part, tuple(PLAIN)) else []
            holds_numbers = any(np.asarray(leaf).dtype.kind in "fc" for _, leaf in leaves(items))
            if holds_numbers or isinstance(part, np.ndarray | tuple | list | dict) or is_record(part) and leaves(part):
                check_wrt(part, where + at)
