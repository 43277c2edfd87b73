"""What a value is called in messages."""

from sourcead.ir.types import (
    Array, DictT, FunctionT, ListT, MapT, NoneType, Scalar, SetT, Str, StructT, TupleT, Type, rank
)
from sourcead.places.spelling import counted


def spoken(t: Type | None) -> str | None:
    """Return what a value of a type is called; None if the type does not tell."""
    match t:
        case Scalar() | Array(_, ()):
            return "a number"
        case Array(_, tuple()):
            return f"an array with {counted(rank(t), 'axis')}"
        case Array():
            return "an array"
        case TupleT() | ListT() | DictT() | MapT():
            return {TupleT: "a tuple", ListT: "a list"}.get(type(t), "a dict")
        case SetT():
            return "a set"
        case StructT(cls):
            return f"an object of class {cls.__name__}"
        case NoneType():
            return "None"
        case Str():
            return "a string"
        case FunctionT():
            return "a function"
    return None
