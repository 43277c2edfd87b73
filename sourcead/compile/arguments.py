"""The properties of a call's arguments that a generated text depends on: the types of all, from values or annotations, and some values."""

import contextlib
import inspect
import types
import typing
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead.analysis.sizes_at_call import Sizes
from sourcead.compile.keys import NUMBERS, coarse_key, is_static, wide_key
from sourcead.compile.structures import as_plain, conversion
from sourcead.compile.wrt import check_wrt
from sourcead.errors import UnsupportedValueError
from sourcead.ir.dict_classes import dict_class_of
from sourcead.ir.number_classes import calculates_as_its_base
from sourcead.ir.records import (
    ATTRIBUTES, described_dict, is_namedtuple, is_plain_class, is_record, list_type, parts_of, redefined, type_of,
    with_own_rules
)
from sourcead.ir.types import (
    BOOL, COMPLEX, FLOAT, INT, UNKNOWN, Array, DictT, ListT, StructT, Sym, TupleT, Type, keyed_parts, map_type,
    tangent_type
)


@dataclass(frozen=True, eq=False)
class Arguments:
    """The properties of a call's arguments that a generated text depends on.

    Attributes:
        key: the coarse key (`keys.py`).
        types: the type of each parameter.
        statics: the values of the parameters that are known while compiling.
        conversions: for some parameters, a function that converts the argument to what the generated function takes.
        sizes: the sizes of the arrays, by the dims of the types.
        of_any_length: the properties without the lengths of lists whose items are alike; None if no argument holds such a list.
        listed: how many items these lists have, those of lists in lists included.
    """

    key: Any
    types: dict[str, Type]
    statics: dict[str, Any]
    conversions: dict[str, Callable]
    sizes: dict[Sym, int] = field(default_factory=dict)
    of_any_length: "Arguments | None" = None
    listed: int = 0

    @property
    def of_any_size(self) -> "Arguments":
        """The properties without the sizes, so that a text relies on none of them."""
        return replace(self, key=(self.key, "any sizes"), sizes={}, of_any_length=None)


def arguments_of(values: dict[str, Any], wrt: Collection[str], derived: Collection[str], directions: dict[str, str]) -> Arguments:
    """Return the properties of arguments that a generated text depends on.

    Args:
        values: the arguments by parameter.
        wrt: the parameters that the derivative is taken with respect to.
        derived: these, the parameters in wrt of the inner derivatives if a derivative is differentiated again, and tangents.
        directions: {parameter that is a tangent: parameter that it is the tangent of}.

    Raises:
        WrtError: an argument in wrt carries no derivative.
        UnsupportedValueError: an argument is an array of a library that sourcead does not support.
    """
    coarse, wide, found, open_, statics, conversions, sizes = [], [], {}, {}, {}, {}, Sizes()
    for name, value in values.items():
        refuse_arrays(as_plain(value), name)
        if name in wrt:
            check_wrt(as_plain(value), name)
        convert = conversion(value, name in derived)
        if convert is not None:
            conversions[name], value = convert, convert(value)
        if is_static(value):
            statics[name] = value
        found[name] = type_of(value)
        sizes.of_value(found[name], value)
        open_[name] = of_any_length(found[name], value)
        coarse.append(coarse_key(value))
        wide.append(wide_key(value))
    for types_ in (found, open_):
        types_.update({t: tangent_type(types_[name]) for t, name in directions.items()})  # with the same dims
    made = Arguments(tuple(coarse), found, statics, conversions, sizes.numbers)
    if wide == coarse:
        return made
    listed = sum(map(items_in_lists, found.values()))
    return replace(made, of_any_length=replace(made, key=tuple(wide), types=open_, sizes={}, listed=listed))


def items_in_lists(t: Type, inside: bool = False) -> int:
    """Return how many items the lists of a type have that hold nothing else, such as 6 for two lists of three numbers."""
    parts = keyed_parts(t)
    return sum(items_in_lists(part, inside or isinstance(t, ListT)) for _, part in parts) if parts else int(inside)


def of_any_length(t: Type, x: Any) -> Type:
    """Return the type `t` of an argument without the lengths of the lists in it whose items are alike."""
    parts = keyed_parts(t)
    if not parts:
        return t
    items = [of_any_length(part, item) for (_, part), (_, item) in zip(parts, parts_of(x))]
    if isinstance(t, ListT):
        alike = ... in wide_key(x)
        return replace(list_type(tuple(items)), items=None if alike else tuple(items))
    left = iter(items)
    return map_type(t, lambda part: next(left))


def refuse_arrays(x: Any, where: str) -> None:
    """Refuse an argument that is or contains an array which sourcead does not support: a matrix, a masked array, a data frame, a tensor.

    Args:
        x: the argument.
        where: the expression for it in the user's code, such as `w` or `params['w']`.

    Raises:
        UnsupportedValueError: it is or contains one.
    """
    if type(x) in (np.ndarray, np.memmap) or isinstance(x, np.generic) and calculates_as_its_base(type(x)) or is_static(x):
        return
    if (found := with_own_rules(x, where)) is not None:
        at, what, instead = found
        raise UnsupportedValueError(f"the argument `{at}` is a {what}", instead=instead)
    added = dict_class_of(x) if isinstance(x, dict) else None
    only_read = added is not None and added.kept_twice
    if isinstance(x, dict) and not only_read and (changed := redefined(type(x), ATTRIBUTES)):
        what, instead = described_dict(x, where, changed)
        raise UnsupportedValueError(f"the argument `{where}` is a {what}", instead=instead)
    if is_record(x) or isinstance(x, tuple | list | dict):
        for at, part in parts_of(x):
            refuse_arrays(part, where + at)


_ANNOTATED = {float: FLOAT, int: INT, bool: BOOL, complex: COMPLEX, np.ndarray: Array(None, None)}


def annotated_type(annotation: Any) -> Type:
    """Return the type that an annotation declares, UNKNOWN if it is not one of numbers, arrays, tuples, records or Optional."""
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
    """Return the type of each parameter that annotations and defaults tell, UNKNOWN for the others, and the static defaults."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # an annotation names something that does not exist: annotations are hints, never errors
        hints = {}
    found, statics = {}, {}
    for p in signature.parameters.values():
        found[p.name] = UNKNOWN
        if p.kind is p.VAR_POSITIONAL:
            found[p.name] = TupleT(())
        elif p.kind is p.VAR_KEYWORD:
            found[p.name] = DictT(())
        elif p.name in hints:
            with contextlib.suppress(TypeError):  # an annotation that cannot be hashed
                found[p.name] = annotated_type(hints[p.name])
        elif p.default is not p.empty and is_static(p.default):
            found[p.name] = type_of(p.default)
            statics[p.name] = p.default
    return found, statics
