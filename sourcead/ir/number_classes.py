"""Numbers of classes derived from those of Python and NumPy, such as constants with a unit or a source.

    class Constant(float):          calculates as float does, and gives floats
        unit = "m/s"
"""

import enum
import itertools
from typing import Any

import numpy as np

HARMLESS = frozenset(
    "__new__ __init__ __setattr__ __delattr__ __dir__ __reduce__ __reduce_ex__ __getstate__ __setstate__ "
    "__getnewargs__ __copy__ __deepcopy__ __doc__ __module__ __qualname__ __dict__ __weakref__ __slots__ __annotations__ __orig_bases__ "
    "__init_subclass__ __class_getitem__ __firstlineno__ __static_attributes__ __annotate__ __annotations_cache__ __annotate_func__ "
    "__parameters__".split()
)
"""What a class of numbers may have anew and still calculate as the class that it is derived from.

How such a number is written as a text is not among them: `x * 1.0` is a float, and may become `x` in a text.
"""


class NumberClasses(set):
    """The classes of such numbers that a program reads.

    Attributes:
        asked: whether the program asked before, in a loop or a recursive function, of which class a number is.
    """

    asked = False


def is_special_number(value: Any) -> bool:
    """Return whether an object is a number of a class derived from Python's or NumPy's, which may have rules and attributes of its own."""
    return isinstance(value, int | float | complex | np.generic) and not isinstance(value, enum.Enum) and not is_base(type(value))


def is_base(cls: type) -> bool:
    """Return whether a class is one of Python's or NumPy's own."""
    return cls.__module__ in ("builtins", "numpy") or cls.__module__.startswith("numpy.")


def calculates_as_its_base(cls: type) -> bool:
    """Return whether a class of numbers has no operators of its own, and no other methods that its base has.

    What it does with its attributes and how it is made makes no difference.
    """
    base = next(c for c in cls.__mro__ if is_base(c))
    own = list(itertools.takewhile(lambda c: c is not base, cls.__mro__))
    names = {name for c in own for name in vars(c)} - HARMLESS
    return all(is_base(c) or c in own for c in cls.__mro__) and not any(
        name.startswith("__") and name.endswith("__") or hasattr(base, name) for name in names
    )
