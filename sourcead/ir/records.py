"""Python objects while compiling: their types, and the data of records (named tuples, dataclasses, objects of the user's classes)."""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import random
import statistics
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Generic, Protocol

import numpy as np

from sourcead.ir.dict_classes import dict_class_of, with_items
from sourcead.ir.names import shown
from sourcead.ir.number_classes import calculates_as_its_base, is_special_number
from sourcead.ir.types import (
    ANY_DTYPE, BOOL, COMPLEX, FLOAT, INT, KINDS, SMALL, UNKNOWN, Array, DictT, Foreign, FunctionT, Known, ListT,
    NoneType, NumberMember, Opaque, Scalar, SetT, Str, StructT, Sym, TextMember, TupleT, Type, Undefined, Unknown, join
)
from sourcead.runtime import make_record, structures
from sourcead.runtime.structures import own_attribute

LIBRARIES = "numpy scipy numba pandas polars xarray torch jax tensorflow joblib omegaconf sympy".split()
FOREIGN = frozenset([__name__.partition(".")[0], *LIBRARIES, *sys.stdlib_module_names]) - {"__main__"}
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
NEUTRAL = (object, Generic, Protocol)  # bases that add no behaviour

COMPILED = (types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType)
OF_NUMPY = ("__array_ufunc__", "__array_function__", "__array__")  # methods that functions of NumPy ask for
IN_PYTHON = {collections.UserList, collections.UserDict, collections.Counter, statistics.NormalDist}
"""Classes of the standard library whose source is lowered, and those that stand for classes of SciPy."""


def is_namedtuple(cls: Any) -> bool:
    """Return whether a class is made by `namedtuple` or `NamedTuple`, or derived from such a class."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make")


def is_plain_class(cls: Any, over: type | None = None) -> bool:
    """Return whether the state of the objects of a class is all in attributes that Python code sets, and in what it is `over`."""
    if not isinstance(cls, type) or issubclass(cls, (BaseException, enum.Enum)) or issubclass(cls, tuple) and over is not tuple:
        return False
    if cls is types.SimpleNamespace:
        return True
    if type(cls).__call__ is not type.__call__:  # whose metaclass makes objects in a way of its own
        return False
    for base in cls.__mro__:
        if base in NEUTRAL or base in (over, *IN_PYTHON) or base.__module__ in ("abc", "argparse", "collections.abc"):
            continue
        if str(base.__module__).partition(".")[0] in FOREIGN or not base.__flags__ & 1 << 9:  # not made by a class statement
            return False
        if {"__getattribute__", *(() if over is None else OF_NUMPY)} & vars(base).keys():
            return False
        if not isinstance(vars(base).get("__new__", staticmethod(len)), staticmethod):  # compiled
            return False
        if over is not None and any(isinstance(v, COMPILED) and k.startswith("__") and k != "__hash__" for k, v in vars(base).items()):
            return False
    return True


def is_exception_class(cls: Any) -> bool:
    """Return whether the state of the exceptions of a class is all in their arguments and in attributes that Python code sets."""
    if not isinstance(cls, type) or not issubclass(cls, BaseException) or type(cls) is not type:
        return False
    written = [base for base in cls.__mro__ if base.__flags__ & 1 << 9]  # by a class statement
    compiled = next(base for base in cls.__mro__ if base not in written)
    special = any({"__new__", "__getattribute__"} & vars(base).keys() for base in written)
    return compiled.__basicsize__ == BaseException.__basicsize__ and not special


def is_array_class(cls: Any) -> bool:
    """Return whether a class inherits from `np.ndarray`, and adds only what Python code says."""
    return isinstance(cls, type) and issubclass(cls, np.ndarray) and cls is not np.ndarray and is_plain_class(cls, np.ndarray)


def is_derived_class(cls: Any) -> bool:
    """Return whether a class inherits from `np.ndarray`, `list`, `dict` or `tuple`, and adds only what Python code says."""
    bases = (base for base in (np.ndarray, list, dict, tuple) if isinstance(cls, type) and issubclass(cls, base) and cls is not base)
    return any(is_plain_class(cls, base) for base in bases)


def with_own_rules(value: Any, where: str, numbers: set[type] | None = None) -> tuple[str, str, str] | None:
    """Find an array or number in data whose class calculates by rules of its own, as a matrix, a masked array or a tensor does.

    Args:
        value: an argument, or data that a function reads from outside.
        where: the expression for it, such as `params`.
        numbers: gets the classes of numbers that calculate as their base does; these are refused, too, if it is None.

    Returns:
        The expression for what was found, such as `params['w']`, what it is, and what to write instead; None if all is plain.
    """
    cls = type(value)
    if is_special_number(value):
        if numbers is not None and calculates_as_its_base(cls):
            return numbers.add(cls)
        return where, f"{cls.__name__}, {OWN_RULES}", f"`{'complex' if isinstance(value, complex) else 'float'}({where})`"
    if isinstance(value, np.ndarray):
        plain = cls in (np.ndarray, np.memmap)
        to_plain = f"`{where}.filled(...)`" if isinstance(value, np.ma.MaskedArray) else f"`np.asarray({where})`"
        return None if plain else (where, f"{cls.__module__.partition('.')[0]}.{cls.__name__}, {OWN_RULES}", to_plain)
    if isinstance(value, dict) and (changed := redefined(cls, WRITING)):
        return where, *described_dict(value, where, changed)
    if isinstance(value, dict) and (hidden := next((name for name in own_attribute(value, "__dict__") or () if hasattr(dict, name)), None)):
        return where, f"{cls.__name__}, a dict whose attribute `{hidden}` hides its method", f"`dict({where})`"
    if not (is_record(value) or isinstance(value, np.generic | type)) and (hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__")):
        return where, *described_array(value, where)
    return next((found for at, part in parts_of(value) if (found := with_own_rules(part, where + at, numbers))), None)


def redefined(cls: type, other_than: Collection[str]) -> str | None:
    """Return a method of dicts that a user's class derived from `dict` or another class of dicts has anew, besides some."""
    own = itertools.takewhile(lambda base: base.__module__ not in ("builtins", "collections"), cls.__mro__)
    names = (name for base in own for name, value in vars(base).items() if callable(value))
    return next((name for name in names if name not in other_than and (hasattr(dict, name) or name == "__missing__")), None)


def described_dict(value: dict, where: str, changed: str) -> tuple[str, str]:
    """Return what a dict of a class is that has the method `changed` anew, and what to write in place of the expression `where` for it."""
    plain = f"`{where}.to_dict()`" if callable(getattr(type(value), "to_dict", None)) else f"`dict({where})`"
    name = next((name for name in value if isinstance(name, str) and name.isidentifier()), None)
    items = f", and its items as `{where}[{shown(name)}]`" if name and hasattr(value, name) and not hasattr(dict, name) else ""
    return f"{type(value).__name__}, a dict whose class has a `{changed}` of its own", plain + items


def default_of(value: dict) -> Any:
    """Return what makes a value for a key that a dict lacks; None if it raises KeyError."""
    if not hasattr(type(value), "__missing__"):
        return None
    factory = value.default_factory if isinstance(value, collections.defaultdict) else made_by_its_class
    return factory if factory in (None, float, int, complex, bool, list, dict) else made_by_its_class


def made_by_its_class() -> Any:
    """Stand for what makes the values of keys that a dict from outside lacks, if that is not known while compiling."""
    raise NotImplementedError


ATTRIBUTES = frozenset("__init__ __setattr__ __delattr__ __repr__ __str__ __dir__ __reduce__ __reduce_ex__ __getstate__ __format__".split())
"""What a class of dicts may have anew where a dict is also written: what concerns attributes only, and how it is shown and kept."""

WRITING = ATTRIBUTES | frozenset(
    "__new__ __setitem__ __delitem__ __ior__ __missing__ update pop popitem setdefault clear fromkeys".split()
)
"""What a class of dicts may have anew where a dict is only read, under keys that it has."""

OWN_RULES = "which calculates by rules of its own"


def described_array(value: Any, where: str) -> tuple[str, str]:
    """Return what an array of another library is, and what to write in place of the expression `where` for it."""
    cls = type(value)
    name = f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
    if cls.__name__.endswith(("Tracer", "Box")):  # of JAX and of autograd: no numbers yet
        other = cls.__module__.partition(".")[0]
        return f"{name}, with which {other} follows what is calculated", f"a derivative by sourcead or by {other}, not one inside the other"
    return f"{name}, which is no NumPy array", as_arrays(value, where)


def as_arrays(value: Any, where: str) -> str:
    """Return what to write in place of the expression `where` for an array, a tensor or a table of another library."""
    if isinstance(value, collections.abc.Mapping) or hasattr(value, "columns"):  # a table, whose columns may be of several dtypes
        names = list(getattr(value, "columns", value))
        columns = f"{{k: {where}[k].to_numpy() for k in [{', '.join(map(shown, names[:3]))}{', ...' if names[3:] else ''}]}}"
        read = f"`{columns}`" + (f", in which `{where}[{shown(names[0])}]` is read as before" if names else "")
        return f"`{where}.to_numpy()` for one array; for single columns {read}" if hasattr(value, "to_numpy") else read
    if hasattr(value, "to_numpy"):
        return f"`{where}.to_numpy()`"
    followed = getattr(value, "requires_grad", False)
    if followed or hasattr(value, "detach"):
        moved = "" if str(getattr(value, "device", "cpu")) == "cpu" else ".cpu()"
        return f"`{where}{'.detach()' if followed else ''}{moved}.numpy()`"
    return f"`np.asarray({where})`"


def is_record(value: Any) -> bool:
    """Return whether an object is a named tuple, a dataclass instance or an object of a plain class."""
    return is_namedtuple(type(value)) or is_plain_class(type(value))


def is_frozen(cls: type) -> bool:
    """Return whether a class is a frozen dataclass."""
    return dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen


def fields_of(value: Any) -> dict[str, Any]:
    """Return the data of a record by name."""
    if is_namedtuple(type(value)):
        return dict(zip(value._fields, value))
    return structures.fields_of(value)


class _Around(threading.local):
    """The records that the current thread is reading, kept to detect a record that contains itself."""

    def __init__(self):
        self.ids: set[int] = set()


_around = _Around()


@contextlib.contextmanager
def fields_inside(value: Any) -> Iterator[dict[str, Any] | None]:
    """Provide the data of a record by name to a `with` block, or None for a record that is being read already."""
    if id(value) in _around.ids:
        yield None
        return
    _around.ids.add(id(value))
    try:
        yield fields_of(value)
    finally:
        _around.ids.discard(id(value))


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a tuple, list, dict or record, each with the text that selects it: `[0]`, `['key']`, `.name`.

    A record that contains itself has no parts at its inner place, so that a recursion over the parts ends.
    """
    if is_record(value):
        with fields_inside(value) as fields:
            yield from ((f".{name}", v) for name, v in (fields or {}).items())
    elif isinstance(value, tuple | list):
        yield from ((f"[{i}]", v) for i, v in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"[{shown(k)}]", v) for k, v in value.items())


def map_value(value: Any, f: Callable[[Any], Any]) -> Any:
    """Return the tuple, list, dict or record with `f(part)` in place of each part, and any other value unchanged."""
    if is_record(value):
        with fields_inside(value) as fields:
            return value if fields is None else make_record(type(value), **{name: f(v) for name, v in fields.items()})
    if isinstance(value, tuple):
        return tuple(map(f, value))
    if isinstance(value, list):
        return list(map(f, value))
    return with_items(value, {k: f(v) for k, v in value.items()}) if isinstance(value, dict) else value


def deep_copy(value: Any) -> Any:
    """Return a copy of a structure, all its arrays and objects copied, in which the modules that it holds stay themselves."""
    try:
        return copy.deepcopy(value, copies_of_settings(value, {}))
    except TypeError:  # as for a module
        return copy.deepcopy(value, copies_of_settings(value, {id(module): module for module in sys.modules.copy().values()}))


def copies_of_settings(value: Any, memo: dict[int, Any], seen: set[int] | None = None) -> dict[int, Any]:
    """Add to `memo` copies of the dicts in a value that are their own `__dict__`; `copy.deepcopy` leaves them without attributes."""
    seen = set() if seen is None else seen
    if id(value) in seen or id(value) in memo or not (isinstance(value, tuple | list | dict) or is_record(value)):
        return memo
    seen.add(id(value))
    if isinstance(value, dict) and own_attribute(value, "__dict__") is value:
        made = memo[id(value)] = with_items(value, {})
        dict.update(made, {k: copy.deepcopy(v, copies_of_settings(v, memo, seen)) for k, v in dict.items(value)})
    else:
        for _, part in parts_of(value):
            copies_of_settings(part, memo, seen)
    return memo


def find(cls: type, name: str) -> tuple[type | None, Any]:
    """Return the class that defines an attribute, and the attribute; (None, None) if no class does."""
    for base in cls.__mro__:
        if name in vars(base):
            return base, vars(base)[name]
    return None, None


def own_setter(cls: type) -> Any:
    """Return the `__setattr__` that the user wrote for a class, None if there is none."""
    base, setter = find(cls, "__setattr__")
    return setter if isinstance(setter, types.FunctionType) and not is_frozen(base) else None


def generated_init(cls: type) -> bool:
    """Return whether the `__init__` of a class is generated by `dataclass`."""
    base, init = find(cls, "__init__")
    params = vars(base).get("__dataclass_params__") if base is not None else None
    written = getattr(init, "__code__", None)  # `dataclass` keeps an `__init__` that the class has
    return params is not None and params.init and written is not None and written.co_filename == "<string>"


def takes_its_fields(cls: type, names: tuple[str, ...]) -> bool:
    """Return whether `cls(name=value, ...)` only makes an object with these fields."""
    if is_namedtuple(cls):
        return cls._fields == names and "__new__" not in own_names(cls)
    if not dataclasses.is_dataclass(cls) or not generated_init(cls) or hasattr(cls, "__post_init__") or own_setter(cls):
        return False
    fields = dataclasses.fields(cls)
    return tuple(f.name for f in fields) == names and all(f.init for f in fields)


def own_names(cls: type) -> set[str]:
    """Return the names that the classes derived from a generated named tuple define."""
    found: set[str] = set()
    for base in cls.__mro__:
        if tuple in base.__bases__:
            break
        found |= vars(base).keys()
    return found


# ---- types ----


def type_of(value: Any) -> Type:
    """Return the type of a Python object.

    A dim below `SMALL` is known; a larger one becomes a fresh `Sym`, because code is specialised on small sizes only.
    """
    match value:
        case bool():
            return BOOL
        case enum.Flag() if isinstance(value, int):
            return Scalar("int", ANY_DTYPE)  # what joins two of them is a member, or another number
        case enum.Enum() if isinstance(value, int | float | str):
            return TextMember(type(value)) if isinstance(value, str) else NumberMember(type_of(value.value).kind, cls=type(value))
        case int():
            return INT
        case np.ndarray():
            dims = tuple(n if n < SMALL else Sym(SMALL) for n in value.shape)
            return Array(value.dtype, dims, not value.flags.c_contiguous)
        case np.generic() if value.dtype.kind in KINDS:
            return Scalar(KINDS[value.dtype.kind], value.dtype)
        case float():
            return FLOAT
        case complex():
            return COMPLEX
        case str():
            return Str()
        case None:
            return NoneType()
        case tuple() if not is_namedtuple(type(value)):
            return TupleT(tuple(map(type_of, value)))
        case list():
            return list_type(tuple(map(type_of, value)))
        case set() | frozenset():
            return SetT(list_type(tuple(map(type_of, value))).item)
        case dict():
            return DictT(tuple((k, type_of(v)) for k, v in value.items()), default_of(value), dict_class_of(value))
    if isinstance(value, GENERATORS):
        return Foreign(type(value))
    if is_record(value):
        return record_type(value)
    if callable(value) or isinstance(value, types.ModuleType | enum.Enum):
        return FunctionT(value)
    return Opaque(type(value), str(value.dtype) if hasattr(type(value), "tocsr") else "")


def is_made_of_numbers(value: Any) -> bool:
    """Return whether an object is a real number of Python, or a tuple of such, which its `repr` tells apart from others."""
    return all(map(is_made_of_numbers, value)) if type(value) is tuple else type(value) in (bool, int, float)


def record_type(value: Any) -> StructT | Unknown:
    """Return the type of a named tuple, dataclass or plain object; `Unknown` for a record inside itself.

    A string or truth value in a field is known.
    """
    with fields_inside(value) as fields:
        if fields is None:
            return UNKNOWN
        return StructT(type(value), tuple((k, Known(v) if isinstance(v, (str, bool)) else type_of(v)) for k, v in fields.items()))


def list_type(items: tuple[Type, ...]) -> ListT:
    """Return the type of a list with these element types."""
    return ListT(join_all(items), items)


def join_all(types: Iterable[Type]) -> Type:
    """Return the type that a value has if it has one of these."""
    return functools.reduce(join, types, Undefined())
