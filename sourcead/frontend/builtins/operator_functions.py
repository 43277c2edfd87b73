"""Lower the functions of `operator`, and methods that are called by the name of their class or as `__setitem__`.

They do what the operators and statements do whose names they have, so `operator.setitem(y, 0, v)`, `y.__setitem__(0, v)`,
`np.ndarray.__setitem__(y, 0, v)` and `y[0] = v` are lowered by the same functions.
"""

import functools
import operator
import types
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.core import BoundVal, Lowering, TupleVal, Value
from sourcead.frontend.values import subscripts
from sourcead.ir.nodes import Const
from sourcead.primitives.methods import METHODS


def changed(lo: Lowering, node, a: Value, b: Value, /, *, fn: Any) -> Value:
    """Lower a function that returns what `a` is after `a op= b`."""
    new = subscripts.augment(lo, a, fn, b, node)
    return a if new is None else new


IN_PLACE = [name for name in operator.__all__ if name[0] == "i" and {name[1:], f"{name[1:]}_"} & {*operator.__all__}]

for name in IN_PLACE:
    plain = "add" if name == "iconcat" else name[1:]
    lowers(getattr(operator, name))(functools.partial(changed, fn=getattr(operator, plain, None) or getattr(operator, f"{plain}_")))


for name in ("getitem", "setitem", "delitem", "contains", *IN_PLACE):
    core.OF_OPERATOR[f"__{name}__"] = getattr(operator, name)


@stands_in_for(operator.getitem)
def getitem(a, b):
    return a[b]


@stands_in_for(operator.setitem)
def setitem(a, b, c):
    a[b] = c


@stands_in_for(operator.delitem)
def delitem(a, b):
    del a[b]


@stands_in_for(operator.contains)
def contains(a, b):
    return b in a


@stands_in_for(operator.concat)
def concat(a, b):
    return a + b


@stands_in_for(operator.countOf)
def count_of(a, b):
    return sum([1 for item in a if item == b])


@stands_in_for()
def items_of(keys, x):
    return x[keys[0]] if len(keys) == 1 else tuple(x[key] for key in keys)


@stands_in_for()
def attributes_of(names, x):
    return getattr(x, names[0]) if len(names) == 1 else tuple(getattr(x, name) for name in names)


@stands_in_for()
def called_on(method, args, kwargs, x):
    return getattr(x, method)(*args, **kwargs)


lowers(operator.itemgetter)(lambda lo, node, *keys: BoundVal(Const(items_of), (TupleVal(keys),)))
lowers(operator.attrgetter)(lambda lo, node, *names: BoundVal(Const(attributes_of), (TupleVal(names),)))
lowers(operator.methodcaller)(
    lambda lo, node, name, /, *args, **kwargs: BoundVal(Const(called_on), (name, TupleVal(args), lo.new_dict(kwargs)))
)


@core.kind_of_callable("getter", lambda fn: isinstance(fn, (operator.itemgetter, operator.attrgetter, operator.methodcaller)))
def call_getter(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a getter that was made outside the function being lowered."""
    make, given, *_ = fn.__reduce__()
    named: dict[str, Any] = {}
    if not isinstance(make, type):  # a `methodcaller` with keywords reduces to a partial
        make, named = make.func, make.keywords
    made = core.call_object(lo, make, [*map(Const, given)], {k: Const(v) for k, v in named.items()}, node)
    return core.call(lo, made, args, kwargs, node)


# -- methods by other names ------------------------------------------------------------------------------------------------


OWN_METHODS = set(METHODS.values())
"""The methods of arrays that have rules of their own."""


def is_unbound(fn: Any) -> bool:
    """Tell whether an object is a method of a class that is not written in Python, as `np.ndarray.fill` and `list.append`."""
    return isinstance(fn, (types.MethodDescriptorType, types.WrapperDescriptorType)) and fn not in OWN_METHODS


@core.kind_of_callable("unbound method", is_unbound)
def call_unbound(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `Class.method(value, *args)` as `value.method(*args)`."""
    if not args:
        raise core.unsupported(lo, node, f"`{fn.__qualname__}` of nothing")
    return core.call_method(lo, args[0], fn.__name__, args[1:], kwargs, node)
