"""Lower draws from a sequence, which are draws of places in it.

    rng.shuffle(x)           order = rng.permutation(len(x)); x[...] = x[order]
    rng.permutation(x)       x[rng.permutation(len(x))]
    rng.choice(x, size)      x[rng.choice(len(x), size)]
    random.sample(xs, k)     [xs[place] for place in random.sample(range(len(xs)), k)]

Python and NumPy draw the places of such a call from the length alone, so both sides draw the same numbers from the generator. The places
are constants, and the rest has a derivative.
"""

import functools
import random
from collections.abc import Callable

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import lowers
from sourcead.frontend.builtins.calls import call_library
from sourcead.frontend.builtins.in_python import stands_in_for
from sourcead.frontend.core import BoundVal, Cell, Lowering, MethodVal, Value
from sourcead.frontend.values.random_generators import OF_SEQUENCES, drawn_dims
from sourcead.ir.nodes import Call, Const, Var
from sourcead.ir.types import INT, Array, ListT, Type


def places_of_sample(n, k, by=random):
    """Stand for the draw of the places of a sample, and only there."""
    return by.sample(range(n), k)


@stands_in_for()
def shuffle(x, permutation):
    order = permutation(len(x))
    if isinstance(x, np.ndarray):
        x[...] = x[order]
    else:
        x[:] = [x[place] for place in order]


@stands_in_for()
def at_places(x, draw, *args, **kwargs):
    return x[draw(len(x), *args, **kwargs)]


def type_of(lo: Lowering, value: Value) -> Type | None:
    return core.data_type(lo, value) if isinstance(value, Cell) else atom_type(lo.read(value)) if isinstance(value, Var | Const) else None


def has_places(lo: Lowering, x: Value, method: str) -> bool:
    """Return whether `x` is an array whose numbers or rows a draw takes; a choice of NumPy's takes them from one axis only."""
    t = type_of(lo, x)
    return isinstance(t, Array) and t.dims is not None and (len(t.dims) == 1 if method == "choice" else bool(t.dims))


def shuffled(lo: Lowering, permutation: Value, rows: bool, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a shuffle of an array or a list; `permutation` draws the order, `rows` tells whether it may be that of rows."""
    x = args[0] if len(args) == 1 and not kwargs else None
    t = type_of(lo, x) if isinstance(x, Cell) else None
    is_list = isinstance(x, Cell) and x.kind == "list" or isinstance(t, ListT)
    if not (is_list or isinstance(t, Array) and t.dims and (rows or len(t.dims) == 1)):
        if x is None:
            raise core.unsupported(lo, node, "`shuffle` along an axis", "`x = x[:, rng.permutation(x.shape[1])]`")
        of_rows = isinstance(t, Array) and t.dims and len(t.dims) > 1
        why = "`random.shuffle` of rows, which Python mixes up" if of_rows else "`shuffle` of what may be neither list nor array"
        raise core.unsupported(lo, node, why, "`x = x[rng.permutation(len(x))]`, of an array `x`")
    return core.call_object(lo, shuffle, [x, permutation], {}, node)


def of_numpy(name: str, places: Value, args: list[Value], kwargs: dict[str, Value], lo: Lowering, node) -> Value | None:
    """Lower `shuffle`, `permutation` or `choice`, where `places` draws the places; None if it draws no places of an array."""
    if name == "shuffle":
        return shuffled(lo, places, True, args, kwargs, node)
    if not args or {"axis", "shuffle"} & kwargs.keys() or len(args) > 4 or not has_places(lo, args[0], name):
        return None
    return core.call_object(lo, at_places, [args[0], places, *args[1:]], kwargs, node)


def method_of_numpy(name: str, lo: Lowering, generator: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value | None:
    places = MethodVal(generator, "permutation" if name == "shuffle" else name)
    return of_numpy(name, places, args, kwargs, lo, node)


def function_of_numpy(name: str, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    places = getattr(np.random, "permutation" if name == "shuffle" else name)
    found = of_numpy(name, Const(places), args, kwargs, lo, node)
    return call_library(lo, places, args, kwargs, node) if found is None else found


for _name in ("shuffle", "permutation", "choice"):
    OF_SEQUENCES[np.random.Generator, _name] = OF_SEQUENCES[np.random.RandomState, _name] = functools.partial(method_of_numpy, _name)
    core.builtin(getattr(np.random, _name))(functools.partial(function_of_numpy, _name))


# -- Python's generators ---------------------------------------------------------------------------------------------------


@stands_in_for()
def sample(population, k, places):
    return [population[place] for place in places(len(population), k)]


@stands_in_for()
def choice(seq, randrange):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[randrange(len(seq))]


@core.builtin(runtime.shuffled_range)
def order_of_python(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit the draw of an order: `shuffled_range(len(x), generator)`."""
    op = Call(runtime.shuffled_range, (lo.operand(args[0]), lo.operand(kwargs["by"])), effect=True)
    return lo.wrap(lo.build.emit(op, Array(np.dtype(int), drawn_dims(lo, args[0])), "order"))


@core.builtin(places_of_sample)
def emit_places(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit the draw of the places of a sample: `random.sample(range(len(population)), k)`."""
    operands = lo.operand(core.call_object(lo, range, args[:1], {}, node)), lo.operand(args[1])
    generator = [lo.read(kwargs["by"])] if "by" in kwargs else []
    op = Call(random.Random.sample if generator else random.sample, (*generator, *operands), effect=True)
    return lo.wrap(lo.build.emit(op, ListT(INT), "places"))


def shuffled_by_python(lo: Lowering, by: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    return shuffled(lo, BoundVal(Const(runtime.shuffled_range), (), {"by": by}), False, args, kwargs, node)


def sampled_by_python(lo: Lowering, by: dict[str, Value], node, population: Value, k: Value) -> Value:
    return core.call_object(lo, sample, [population, k, BoundVal(Const(places_of_sample), (), by)], {}, node)


def chosen_by_python(lo: Lowering, generator: Value, node, seq: Value) -> Value:
    return core.call_object(lo, choice, [seq, MethodVal(generator, "randrange")], {}, node)


def sampled_by_method(lo: Lowering, generator: Value, node, population: Value, k: Value) -> Value:
    return sampled_by_python(lo, {"by": generator}, node, population, k)


def of_method(lower: Callable) -> Callable:
    """Make of a function of the generator and the parameters of a method the function that lowers calls of the method."""
    return lambda lo, generator, args, kwargs, node: lower(lo, generator, node, *args, **kwargs)


core.builtin(random.shuffle)(lambda lo, args, kwargs, node: shuffled_by_python(lo, Const(random.shuffle), args, kwargs, node))
OF_SEQUENCES[random.Random, "shuffle"] = shuffled_by_python
lowers(random.sample)(lambda lo, node, population, k: sampled_by_python(lo, {}, node, population, k))
OF_SEQUENCES[random.Random, "sample"] = of_method(sampled_by_method)
OF_SEQUENCES[random.Random, "choice"] = of_method(chosen_by_python)
