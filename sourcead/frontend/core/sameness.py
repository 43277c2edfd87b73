"""Tell whether two values that are not data are the same: constants, structures, functions."""

from dataclasses import dataclass

from sourcead.frontend.core.cells import FunctionVal, Value
from sourcead.ir.nodes import Const, Slice


def same_constant(a: Const, b: Const) -> bool:
    """Tell whether two constants are the same object for every purpose."""
    return type(a.value) is type(b.value) and (a.value is b.value or isinstance(a.value, (int, str, bool, tuple)) and a.value == b.value)


def same_keys(a: Value, b: Value) -> bool:
    """Tell whether two tuples, lists, dicts or objects have the same structure and class."""
    return type(a) is type(b) and getattr(a, "kind", None) == getattr(b, "kind", None) and a.cls is b.cls and (
        a.keys.keys() == b.keys.keys() if isinstance(a.keys, dict) else list(a.keys) == list(b.keys)
    )


def same_thing(a: Value, b: Value) -> bool:
    """Tell whether two values that are not data are the same in every iteration.

    A function defined again reads the current values of the names of its scope, not those at its definition.
    """
    match a, b:
        case FunctionVal(), FunctionVal():
            return a.source.node is b.source.node and a.scope is b.scope and not (a.defaults or b.defaults)
        case Slice(), Slice():
            return all(
                x is y or isinstance(x, Const) and isinstance(y, Const) and not x.live and not y.live and same_constant(x, y)
                for x, y in zip((a.lower, a.upper, a.step), (b.lower, b.upper, b.step))
            )
        case Const(), Const():
            return same_constant(a, b)
    return a is b


@dataclass(frozen=True, eq=False)
class Factory:
    """The factory of a `defaultdict` in the type of the dict; lowering a loop again makes an equal one of the same function."""

    value: Value

    def __eq__(self, other):
        return isinstance(other, Factory) and same_thing(self.value, other.value)

    def __hash__(self):
        return hash(type(self.value))
