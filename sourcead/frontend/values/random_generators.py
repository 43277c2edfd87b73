"""Lower random draws to calls of the generator's methods, which run once each time control passes them.

A draw carries no derivative. A draw whose parameters carry one (`rng.normal(mu, sigma)`) has no rule, so it is refused where a
derivative would have to pass through it; `mu + sigma * rng.normal()` is equivalent and has a derivative.
"""

import functools
import random
from collections.abc import Callable

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, TupleVal, Value, roots
from sourcead.ir.nodes import Call, Const
from sourcead.ir.types import FLOAT, INT, UNKNOWN, Array, Foreign, Scalar, Type
from sourcead.primitives.result_types.operands import Impossible, shape_dims

FLOATS = {  # methods that draw floats -> the position of the argument `size`
    "random": 0, "standard_normal": 0, "standard_exponential": 0, "random_sample": 0, "normal": 2, "uniform": 2, "exponential": 1,
    "beta": 2, "gamma": 2, "laplace": 2, "logistic": 2, "lognormal": 2, "gumbel": 2, "rayleigh": 1,
}  # fmt: skip
INTEGERS = {"integers": 2, "randint": 2, "binomial": 2, "poisson": 1, "geometric": 1, "choice": 1}


OF_SEQUENCES: dict[tuple[type, str], Callable] = {}
"""(a class of generators, a method) -> what lowers calls of it as draws of places in a sequence, or returns None."""

OF_MODULE = random.random.__self__  # the generator behind the functions of the module


@core.method.register(Foreign)
def lower_draw(lo: Lowering, generator: Value, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a generator's method, such as `rng.normal(...)`."""
    cls = atom_type(lo.read(generator)).cls
    method = getattr(cls, name, None)
    if method is None or not callable(method):
        raise core.unsupported(lo, node, f"a {cls.__name__} has no method `{name}`")
    if (of_sequence := OF_SEQUENCES.get((cls, name))) and (found := of_sequence(lo, generator, args, kwargs, node)) is not None:
        return found
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    t = drawn_type(lo, cls, name, args, kwargs)
    op = Call(method, (lo.read(generator), *operands), tuple(named.items()), effect=True)
    if getattr(lo.read(generator), "value", None) is OF_MODULE and getattr(random, name, None) == getattr(OF_MODULE, name):
        op = Call(getattr(random, name), tuple(operands), tuple(named.items()), effect=True)
    return lo.wrap(lo.build.emit(op, t, "sample"), shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def draw_of_module(fn, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of the module `random`, which is a method of a generator of the module."""
    named = tuple((k, lo.operand(v)) for k, v in kwargs.items())
    op = Call(fn, tuple(map(lo.operand, args)), named, effect=True)
    return lo.wrap(lo.build.emit(op, drawn_type(lo, random.Random, fn.__name__, args, kwargs), "sample"))


for _fn in (random.random, random.gauss, random.randint, random.randrange, random.seed):
    core.builtin(_fn)(functools.partial(draw_of_module, _fn))


def type_of_call(lo: Lowering, fn, args: list[Value], kwargs: dict[str, Value]) -> Type:
    """Infer the type of what a function with an effect returns: `np.random.randn` is a method of a generator."""
    of = getattr(fn, "__self__", None)
    return drawn_type(lo, type(of), fn.__name__, args, kwargs) if isinstance(of, np.random.RandomState) else UNKNOWN


def drawn_type(lo: Lowering, cls: type, name: str, args: list[Value], kwargs: dict[str, Value]) -> Type:
    """Infer the type of a draw whose parameters are numbers; return the unknown type for other draws."""
    place = FLOATS.get(name, INTEGERS.get(name))
    if cls is random.Random:
        return FLOAT if name in ("random", "gauss", "uniform", "normalvariate") else INT if name in ("randint", "randrange") else UNKNOWN
    if name == "permutation" and args and atom_type(lo.read(args[0])) == INT:
        return Array(np.dtype(np.int64), drawn_dims(lo, args[0]))
    if name in ("rand", "randn"):
        return Array(np.dtype(float), drawn_dims(lo, TupleVal(tuple(args)))) if args else FLOAT
    if place is None or kwargs.keys() - {"size", "dtype", "loc", "scale", "low", "high", "lam", "p", "n", "shape"}:
        return UNKNOWN
    parameters = [*args[:place], *(v for k, v in kwargs.items() if k not in ("size", "dtype"))]
    if any(not isinstance(atom_type(lo.read(p)), Scalar) for p in parameters):
        return UNKNOWN
    dtype = np.dtype(float) if name in FLOATS else np.dtype(np.int64)
    given = kwargs.get("dtype", args[place + 1] if len(args) > place + 1 else None)
    if given is not None:
        found, value = core.known(lo, given)
        if not found:
            return UNKNOWN
        dtype = np.dtype(value)
    size = kwargs.get("size", args[place] if len(args) > place else Const(None))
    dims = drawn_dims(lo, size)
    if dims is None:
        return UNKNOWN
    return Array(dtype, dims) if dims else Scalar("float", None) if name in FLOATS else INT


def drawn_dims(lo: Lowering, size: Value) -> tuple | None:
    """Return the dims of a draw, which are empty for a number, or None if they are not known."""
    found, value = core.known(lo, size)
    if found and value is None:
        return ()
    try:
        return shape_dims(lo.build.arg(lo.operand(size)))
    except Impossible:
        return None
