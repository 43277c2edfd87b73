"""Lower assignments to data of classes, such as a counter of the objects that were made.

    Thing.made += 1             n1 = n0 + 1; setattr(Thing, "made", n1)        n0 is read when the function is called

The class outlives the call, so the text assigns at the same place as the function. What is read from there on is the value assigned.
Only numbers are assigned this way: an array that the class holds would be one that the text may write later.
"""

import types
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, Slots, Value
from sourcead.frontend.core.names import BEFORE_ALL
from sourcead.ir.nodes import Call, Const, Stmt
from sourcead.ir.records import find
from sourcead.ir.types import Scalar


def is_number_of_class(value: Value, name: str) -> bool:
    """Tell whether `value.name` is a number that the class `value` itself holds, and that an assignment replaces."""
    cls = value.value if isinstance(value, Const) and not value.live else None
    if not isinstance(cls, type) or core.is_library(cls) or isinstance(find(type(cls), "__setattr__")[1], types.FunctionType):
        return False
    return isinstance(found := vars(cls).get(name), (int, float)) and not isinstance(found, bool) and find(type(cls), name)[0] is None


def assign(lo: Lowering, value: Const, name: str, new: Value) -> None:
    """Lower `cls.name = new`."""
    cls: Any = value.value
    atom = lo.read(new)
    if not isinstance(atom_type(atom), Scalar) or lo.cached is not None or lo.in_pairs:
        raise core.refused(lo, f"`.{name}` of {cls.__name__} is assigned, which is the same for everybody", "a number, or a local variable")
    slots = lo.modules.setdefault(id(cls), Slots())
    slots.birth = BEFORE_ALL
    if name not in slots:
        slots[name] = core.live_data(lo, name, vars(cls)[name], (cls, name))
    lo.set(slots, name, atom)
    lo.build.add(Stmt((), Call(setattr, (value, Const(name), atom), effect=True)))
