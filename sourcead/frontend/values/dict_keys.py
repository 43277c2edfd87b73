"""Find out which key of a dict a value is: a constant, an object that is found by its identity, or a tuple of such.

Python asks an object for its hash.  Unless its class says otherwise, it is found under nothing but itself, so the cell that stands for
the object stands for the key, too.
"""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.core import Cell, IdentityVal, Lowering, TupleVal, Value, roots
from sourcead.ir.nodes import Const
from sourcead.ir.records import find
from sourcead.ir.types import Scalar, SetT, Unknown


def known_key(lo: Lowering, value: Value, among: Iterable[Any]) -> tuple[bool, Any]:
    """Tell whether it is known which key a value is, and return the key; refuse an object that may be one of those `among` them."""
    if isinstance(value, Cell) and value.kind == "object":
        return object_key(lo, value, among)
    if isinstance(value, TupleVal) and value.cls is None:
        same_length = [key for key in among if isinstance(key, tuple) and len(key) == len(value.items)]
        found = [known_key(lo, item, [key[k] for key in same_length]) for k, item in enumerate(value.items)]
        return all(is_known for is_known, _ in found), tuple(key for _, key in found)
    is_set = isinstance(value, Cell) and isinstance(core.data_type(lo, value), SetT)
    found, key = core.known(lo, lo.read(value) if is_set else value)  # a frozenset may be known
    t = core.type_of_value(value)
    alone = is_set or isinstance(t, Unknown) or isinstance(t, Scalar) and t.kind == "complex"  # a key that is known, or none
    return constant_key(lo, value) if alone and not found else (found, key)


def constant_key(lo: Lowering, value: Value) -> tuple[bool, Any]:
    """Tell whether a value is a constant of a global that can be a key, on which the text relies then, and return it."""
    constant = core.part_of_global(lo, value)
    return is_hashable(constant), constant


def is_hashable(constant: Any) -> bool:
    """Tell whether an object is a number, a text, a frozenset or a tuple of such."""
    if type(constant) in (tuple, frozenset):
        return all(map(is_hashable, constant))
    return constant is None or isinstance(constant, bool | int | float | complex | str | bytes | np.number)


def object_key(lo: Lowering, value: Cell, among: Iterable[Any]) -> tuple[bool, Any]:
    """Return the key that an object is if it is found by its identity."""
    lo.alive(value)
    if not is_found_by_identity(lo, value):
        return False, None
    for other in among:
        if isinstance(other, Cell):
            same = core.truth(lo, core.operate(lo, operator.is_, value, other))
            if same is None:
                raise core.refused(lo, "which of the keys of this dict this object is, is not known before the program runs")
            if same:
                return True, other
        if type(other) is value.cls and (part := core.part_of_global(lo, value)) is other:
            return True, other
        if type(other) is value.cls and part is core.NOT_A_PART and roots(value) & lo.params.keys():
            return False, None
    return True, value


def is_found_by_identity(lo: Lowering, value: Cell) -> bool:
    """Tell whether an object has a hash that no other has: that of `object`, or `id(self)`."""
    own = {name for name in ("__eq__", "__hash__") if find(value.cls, name)[0] is not object}
    code = getattr(core.special_method(value, "__hash__"), "__code__", None)
    if "__hash__" not in own or code is None or code.co_filename == "<string>":  # which `dataclass` writes
        return not own
    found = core.call_special(lo, value, "__hash__", [], None)
    return isinstance(found, IdentityVal) and found.of is value


def value_of(key: Any) -> Value:
    """Return the value that a key is."""
    if isinstance(key, Cell):
        return key
    return TupleVal(tuple(map(value_of, key))) if core.objects_in(key) else Const(key)
