"""Overloads of the functions of `sourcead.runtime` that check what they are given: what the types show is not checked again."""

from numba import types
from numba.extending import overload

from sourcead import runtime
from sourcead.backends.numba import calls_to_python as interpreted


@overload(runtime.check_layout)
def _check_layout(x, name):
    if isinstance(x, types.Array) and x.layout == "C":
        return lambda x, name: None
    return interpreted.call(runtime.check_layout, ["x", "name"], [x, name], None)


@overload(runtime.check_array)
def _check_array(x):
    if isinstance(x, types.Array):
        return lambda x: None
    return interpreted.call(runtime.check_array, ["x"], [x], None)


@overload(runtime.check_finite)
def _check_finite(x):
    return interpreted.call(runtime.check_finite, ["x"], [x], None)


@overload(runtime.computed)
def _computed(value):
    return lambda value: None


@overload(runtime.check_fractions)
def _check_fractions(x, name):
    if not isinstance(x, types.Array) or isinstance(x.dtype, types.Float | types.Complex):
        return lambda x, name: None
    return interpreted.call(runtime.check_fractions, ["x", "name"], [x, name], None)


@overload(runtime.check_structure)
def _check_structure(result, tangent, function):
    if not isinstance(result, types.Number | types.Array):
        return lambda result, tangent, function: None
    return interpreted.call(runtime.check_structure, ["result", "tangent", "function"], [result, tangent, function], None)


@overload(runtime.one_for_each)
def _one_for_each(derivatives, count, function):
    return (lambda derivatives, count, function: derivatives) if isinstance(derivatives, types.BaseTuple) else None
