"""What a generated text depends on in the arguments of a call: their types, and the values of some.

Two keys stand for the arguments.  The *exact* key has dtypes and shapes and is quick to make; it finds the function for
arguments like those of an earlier call.  The *coarse* key has dtypes, ranks and small dims, all that a text depends on.
Strings, None, booleans and callables given as arguments are *static*: known while compiling, their values part of the keys.
"""

from __future__ import annotations

import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sourcead.errors import UnsupportedValueError, WrtError
from sourcead.ir.records import fields_inside, is_namedtuple, is_plain_class, is_record, map_value, parts_of
from sourcead.ir.type_of import list_type, type_of
from sourcead.ir.types import BOOL, COMPLEX, FLOAT, INT, SMALL, UNKNOWN, Array, DictT, Known, StructT, TupleT, Type
from sourcead.language.checkpoints import SavingPolicy

NUMBERS = frozenset(
    [
        float,
        int,
        complex,
        np.bool_,
        *(np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]),
    ]
)


class Same:
    """Stands for an object in a key: equal only to itself."""

    __slots__ = ("object",)

    def __init__(self, object):
        self.object = object

    def __hash__(self):
        return id(self.object)

    def __eq__(self, other):
        return isinstance(other, Same) and self.object is other.object

    def __repr__(self):
        return f"Same({self.object!r})"


# ---- keys ----


def exact_key(x: Any):
    """The key of one argument by its dtype and shape."""
    t = type(x)
    if t in NUMBERS:
        return t
    if t is np.ndarray:
        return x.dtype, x.shape
    return static_key(x) if is_static(x) else _structure_key(x, _exact_part)


def coarse_key(x: Any):
    """The key of one argument by what a text depends on."""
    t = type(x)
    if t in NUMBERS:
        return t
    if t is np.ndarray:
        return x.dtype, tuple([min(n, SMALL) for n in x.shape])
    return static_key(x) if is_static(x) else _structure_key(x, _coarse_part)


def _exact_part(x: Any):
    if type(x) is np.ndarray:
        return x.dtype, x.shape
    return _part(x, _exact_part)


def _coarse_part(x: Any):
    if type(x) is np.ndarray:
        return x.dtype, tuple([min(n, SMALL) for n in x.shape])
    return _part(x, _coarse_part)


def _part(x: Any, key: Callable):
    """The key of an item of a structure: of what is static there, only functions are known while compiling."""
    if type(x) in NUMBERS or x is None or isinstance(x, bool | str | bytes):
        return type(x)
    return static_key(x) if is_static(x) else _structure_key(x, key)


def _structure_key(x: Any, key: Callable):
    t = type(x)
    if isinstance(x, tuple) and is_record(x):
        return _record_key(x, key)
    if isinstance(x, tuple | list):
        return (t, *map(key, x))
    if isinstance(x, dict):
        return (t, *((type(k), k, key(v)) for k, v in x.items()))
    if is_record(x):
        return _record_key(x, key)
    if isinstance(x, np.memmap):
        return t, x.dtype, x.shape
    if isinstance(x, np.generic):
        return t, x.dtype
    return t


def _record_key(x: Any, key: Callable):
    """The key of a record: strings and truth values in it are known while compiling."""
    with fields_inside(x) as fields:
        items = (fields or {}).items()
        return (type(x), *[(n, static_key(v) if isinstance(v, bool | str) else key(v)) for n, v in items])


def is_static(x: Any) -> bool:
    """Whether the value of an argument is known while compiling."""
    if x is None or isinstance(
        x, bool | str | bytes | type | types.ModuleType | types.EllipsisType | np.dtype | enum.Enum | SavingPolicy
    ):
        return True
    return callable(x) and not is_record(x)


def static_key(x: Any):
    """The key of a static value: two values with the same key make the same text."""
    t = type(x)
    if isinstance(x, bool | str | bytes | np.dtype | SavingPolicy):
        return t, x
    if t is types.FunctionType and x.__name__ == "<lambda>":
        if not (x.__closure__ or x.__defaults__ or x.__kwdefaults__ or x.__dict__):
            return t, Same(x.__code__), Same(x.__globals__)  # made anew in each call, and always the same
    if t is types.MethodType:
        return t, Same(x.__func__), Same(x.__self__)
    if t is types.BuiltinMethodType:
        return t, Same(x.__self__), x.__name__
    return Same(x)


# ---- types ----


def argument_type(x: Any, where: str) -> Type:
    """The type of an argument.

    Args:
        x: the argument.
        where: how the user would write it, `w` or `params['w']`, for errors.

    Raises:
        UnsupportedValueError: it is an array, but none that sourcead knows: a matrix, a masked array, a data frame, a tensor.
    """
    t = type(x)
    if isinstance(x, np.ndarray):
        if t is np.ndarray:
            return type_of(x)
        if t is np.memmap:
            return type_of(np.asarray(x))
        raise _refused_array(x, where)
    if is_record(x):
        return _record_type(x, where)
    if isinstance(x, tuple | list):
        items = tuple(argument_type(v, f"{where}[{i}]") for i, v in enumerate(x))
        return TupleT(items) if isinstance(x, tuple) else list_type(items)
    if isinstance(x, dict):
        return DictT(tuple((k, argument_type(v, f"{where}[{k!r}]")) for k, v in x.items()))
    if (
        not is_static(x)
        and (hasattr(x, "__array__") or hasattr(x, "__array_ufunc__"))
        and not isinstance(x, np.generic)
    ):
        raise _refused_array(x, where)
    return type_of(x)


def _record_type(x: Any, where: str) -> Type:
    """The type of a record; what refers back to it is not known."""
    with fields_inside(x) as fields:
        if fields is None:
            return UNKNOWN
        return StructT(type(x), tuple((n, _field_type(v, f"{where}.{n}")) for n, v in fields.items()))


def _field_type(x: Any, where: str) -> Type:
    return Known(x) if isinstance(x, bool | str) else argument_type(x, where)


def _refused_array(x: Any, where: str) -> UnsupportedValueError:
    cause = "calculates by rules of its own" if isinstance(x, np.ndarray) else "is no NumPy array"
    return UnsupportedValueError(
        f"the argument `{where}` is a {type(x).__module__.partition('.')[0]}.{type(x).__name__}, which {cause}",
        instead=f"`{where}.filled(...)`" if isinstance(x, np.ma.MaskedArray) else f"`np.asarray({where})`",
    )


_ANNOTATED = {float: FLOAT, int: INT, bool: BOOL, complex: COMPLEX, np.ndarray: Array(None, None)}


def annotated_type(annotation: Any) -> Type:
    """The type that an annotation promises: numbers, NumPy scalars, arrays with or without their dtype."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        some = [a for a in typing.get_args(annotation) if a is not type(None)]
        return annotated_type(some[0]) if len(some) == 1 else UNKNOWN
    if annotation in _ANNOTATED:
        return _ANNOTATED[annotation]
    if isinstance(annotation, type) and issubclass(annotation, np.generic) and annotation in NUMBERS:
        return type_of(annotation(0))
    if typing.get_origin(annotation) is np.ndarray:
        dtype = typing.get_args(typing.get_args(annotation)[-1])
        if len(dtype) == 1 and isinstance(dtype[0], type) and dtype[0] in NUMBERS:
            return Array(np.dtype(dtype[0]), None)
        return Array(None, None)
    if is_namedtuple(annotation) or is_plain_class(annotation) and hasattr(annotation, "__dataclass_fields__"):
        hints = typing.get_type_hints(annotation)
        names = getattr(annotation, "_fields", None) or annotation.__dataclass_fields__
        return StructT(annotation, tuple((name, annotated_type(hints.get(name))) for name in names))
    if typing.get_origin(annotation) is tuple and Ellipsis not in typing.get_args(annotation):
        return TupleT(tuple(map(annotated_type, typing.get_args(annotation))))
    return UNKNOWN


def declared_types(function: Callable, signature: inspect.Signature) -> tuple[dict[str, Type], dict[str, Any]]:
    """The types of the parameters as far as annotations and defaults tell, and the static defaults."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # a name in an annotation that does not exist: annotations are hints, never errors
        hints = {}
    found, statics = {}, {}
    for p in signature.parameters.values():
        found[p.name] = UNKNOWN
        if p.kind is p.VAR_POSITIONAL:
            found[p.name] = TupleT(())
        elif p.kind is p.VAR_KEYWORD:
            found[p.name] = DictT(())
        elif p.name in hints:
            found[p.name] = _hashed(annotated_type, hints[p.name])
        elif p.default is not p.empty and is_static(p.default):
            found[p.name] = type_of(p.default)
            statics[p.name] = p.default
    return found, statics


def _hashed(f: Callable, annotation: Any) -> Type:
    try:
        return f(annotation)
    except TypeError:
        return UNKNOWN


# ---- wrt ----


def resolved_wrt(wrt: Any, signature: inspect.Signature, bound: int, name: str) -> tuple[tuple[str, ...], bool]:
    """The names of the parameters that `wrt` stands for, and whether it stands for one alone.

    Args:
        wrt: an index, a parameter name, or a sequence of them.
        signature: that of the function.
        bound: how many positional parameters are taken already; indices count from there.
        name: the function's name, for errors.

    Raises:
        WrtError: there is no such parameter, the same one twice, or none at all.
    """
    names = list(signature.parameters)
    single = isinstance(wrt, str) or not isinstance(wrt, typing.Iterable)
    found = tuple(_parameter_name(item, names, bound, name) for item in ([wrt] if single else wrt))
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


def _parameter_name(item: Any, names: list[str], bound: int, name: str) -> str:
    have = f"its parameters are {', '.join(names[bound:])}" if names[bound:] else "it has no parameters"
    if isinstance(item, str):
        if item not in names:
            raise WrtError(f"wrt names the parameter {item!r}, and {name} has none of that name: {have}")
        return item
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise WrtError(f"wrt is {item!r}, which is neither the index of a parameter of {name} nor its name: {have}")
    index, count = item.__index__(), len(names) - bound
    if not -count <= index < count:
        raise WrtError(f"wrt is the index {index}, and {name} has no such parameter: {have}")
    return names[bound:][index]


def tangent_names(parameters: Iterable[str], wrt: Sequence[str]) -> dict[str, str]:
    """What the tangents of the parameters in wrt are called."""
    taken, found = set(parameters), {}
    for name in wrt:
        t = f"t_{name}"
        while t in taken:
            t += "_"
        taken.add(t)
        found[name] = t
    return found


def with_tangents(signature: inspect.Signature, directions: Iterable[str]) -> inspect.Signature:
    """The signature with parameters for tangents: after the others where each of these must be given, else by name only."""
    parameters = list(signature.parameters.values())
    plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if plain else inspect.Parameter.KEYWORD_ONLY
    rest = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    first = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    return inspect.Signature([*first, *(inspect.Parameter(t, kind) for t in directions), *rest])


def check_tangent(t: Any, x: Any, name: str, primal: str) -> None:
    """Refuses a tangent that does not have its argument's structure, shapes and dtypes.

    Raises:
        WrtError: where it differs.
    """
    places, given = dict(leaves(x, primal)), dict(leaves(t, primal))
    for place, leaf in places.items():
        at = name + place[len(primal) :]
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
    if given or type(t) is not type(x) and isinstance(x, tuple | list | dict):
        raise WrtError(f"the tangent `{name}` has another structure than `{primal}`")


def _described(x: Any) -> str:
    return f"has the shape {x.shape}" if isinstance(x, np.ndarray) else "is a number"


def check_wrt(x: Any, where: str) -> None:
    """Refuses an argument that carries no derivative.

    Raises:
        WrtError: an array of integers, booleans or text; a boolean, a string, None, a function or another object.
    """
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fcO":
            kind = {"i": "integers", "u": "integers", "b": "booleans"}.get(x.dtype.kind, "these")
            instead = f"`{where}.astype(float)`, or leave it out of wrt" if x.dtype.kind in "iub" else None
            raise WrtError(
                f"the argument `{where}` in wrt is an array of {x.dtype}, and {kind} carry no derivative",
                instead=instead,
            )
    elif not any(True for _ in leaves(x)) and not isinstance(x, tuple | list | dict):
        shown = "None" if x is None else f"a {type(x).__name__}"
        raise WrtError(
            f"the argument `{where}` in wrt is {shown}, which carries no derivative",
            instead="name in wrt the parameters that are numbers or arrays",
        )
    else:
        for path, leaf in leaves(x, where):
            if isinstance(leaf, np.ndarray):
                check_wrt(leaf, path)


def is_leaf(x: Any) -> bool:
    """Whether this is a number or an array."""
    return isinstance(x, np.ndarray | np.number | float | complex) or isinstance(x, int) and not isinstance(x, bool)


def leaves(x: Any, where: str = "") -> list[tuple[str, Any]]:
    """The numbers and arrays in a structure, each with its place as the user would write it."""
    return [(where, x)] if is_leaf(x) else [leaf for at, part in parts_of(x) for leaf in leaves(part, where + at)]


def holders(x: Any, where: str) -> list[tuple[str, Any]]:
    """The lists, dicts and objects in a structure, each with its place as the user would write it."""
    own = [(where, x)] if isinstance(x, list | dict) or is_record(x) and not isinstance(x, tuple) else []
    return own + [holder for at, part in parts_of(x) for holder in holders(part, where + at)]


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """The structure with each of its numbers and arrays replaced by `f` of it."""
    return f(x) if is_leaf(x) else map_value(x, functools.partial(map_leaves, f))


def conversion(x: Any, in_wrt: bool) -> Callable[[Any], Any] | None:
    """What an argument must pass through before the generated function takes it; None: nothing.

    Python's integers in wrt count as floats; a memory-mapped array is taken as the plain array that it is.
    """

    def convert(leaf):
        if in_wrt and isinstance(leaf, int | np.integer):
            return float(leaf)
        return np.asarray(leaf) if type(leaf) is np.memmap else leaf

    if any(convert(leaf) is not leaf for _, leaf in leaves(x)):
        return functools.partial(map_leaves, convert)
    return None
