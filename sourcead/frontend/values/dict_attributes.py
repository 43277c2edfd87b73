"""Lower attributes of dicts whose class gives their items as attributes, too.

    p.rate            ->      p["rate"]
    p.rate = v        ->      p["rate"] = v
"""

import types

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, MethodVal, Value
from sourcead.ir.nodes import Const
from sourcead.ir.records import find


@core.attribute.register("dict")
def attribute_of_dict(lo: Lowering, cell: Cell, name: str, node) -> Value:
    """Lower an attribute of a dict: an item, a method or property of the dict's class, or a method of dicts."""
    added = cell.added
    if added is None or name.startswith("__"):
        return MethodVal(cell, name)
    lo.classes.setdefault(added.cls, True)  # its methods are lowered, and may be replaced
    base, found = find(added.cls, name)
    if base is not None and not (added.first and name in cell.items):
        if isinstance(found, types.FunctionType):
            return core.BoundVal(Const(found), (cell,))
        return core.call_object(lo, found.fget, [cell], {}, node) if isinstance(found, property) else MethodVal(cell, name)
    if added.reader is dict.__getitem__:
        if added.first and name not in cell.items:
            lo.sure(cell)
            raise core.no_attribute(lo, cell, name)
        return core.subscript(lo, cell, Const(name), node)
    if added.reader is dict.get:
        return core.call_method(lo, cell, "get", [Const(name)], {}, node)
    return core.call_object(lo, added.reader, [cell, Const(name)], {}, node)


def set_attribute(lo: Lowering, cell: Cell, name: str, new: Value, node) -> bool:
    """Lower `p.name = new` for such a dict, and the assignment of the factory of a `defaultdict`; return False for anything else."""
    if name == "default_factory" and cell.default is not None:
        if cell.depth != lo.depth:
            raise core.refused(lo, "the factory of a `defaultdict` is assigned in a branch or loop", "make another one")
        lo.changed(cell)
        lo.journal.assign(cell, "default", None if core.is_none(new) else new)
        return True
    added = cell.added
    if added is None or cell.kind != "dict" or name.startswith("__"):
        return False
    lo.classes.setdefault(added.cls, True)
    if added.kept_twice:
        lo.may_change(cell)
    setter = find(added.cls, "__setattr__")[1]
    if isinstance(setter, types.FunctionType):
        core.call_object(lo, setter, [cell, Const(name), new], {}, node)
    elif setter is dict.__setitem__ or added.same and setter is object.__setattr__ and find(added.cls, name)[0] is None:
        core.store(lo, cell, Const(name), new, node)
    else:
        return False
    return True
