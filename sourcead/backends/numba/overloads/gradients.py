"""Gradients that compiled functions call.

    @njit
    def descend(w, x, steps):
        for _ in range(steps):
            w = w - 0.1 * loss_grad(w, x)          # loss_grad = grad(loss)
        return w

For Numba a gradient is a function with an overload: for each combination of argument types, the text is generated for arrays of any size
and compiled.  As everywhere in Numba, globals keep the values of that time.
"""

import functools
import inspect
import re
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from numba import njit, typeof, types
from numba.core.errors import TypingError
from numba.extending import overload, typeof_impl

from sourcead.backends.load import argument_list, parameter_list
from sourcead.backends.numba.calls_to_python import dtype_of
from sourcead.backends.numba.codegen.boundary import namespace_of
from sourcead.backends.numba.compile import dispatcher_of
from sourcead.backends.numba.engine import NumbaProgram
from sourcead.backends.numba.public_toolchain import load
from sourcead.backends.options import Numba
from sourcead.errors import SourceADError
from sourcead.ir.names import name_of
from sourcead.ir.types import BOOL, COMPLEX, FLOAT, INT, Array, Scalar, Sym, TupleT, Type

_PYTHON = {types.float64: FLOAT, types.int64: INT, types.boolean: BOOL, types.complex128: COMPLEX}


class CallableGradient(Protocol):
    """What a gradient provides so that compiled functions can call it.

    Attributes:
        signature: the parameters of a call.
        wrt: the names of the parameters that the gradient is taken with respect to.
        inline: whether its text is put into its callers, "never" or "always".
    """

    __name__: str
    signature: inspect.Signature
    wrt: tuple[str, ...]
    inline: str

    def program_for_numba(self, types: dict[str, Type]) -> tuple[NumbaProgram, frozenset[str], dict[str, Any]]:
        """Return the program for arguments of some types, the parameters that it writes, and the global data that it reads, by name."""


def register(cls: type) -> None:
    """Let compiled functions call the instances of a class."""
    typeof_impl.register(cls)(lambda gradient, context: typeof(caller_of(gradient)))


_callers: weakref.WeakKeyDictionary[CallableGradient, Callable] = weakref.WeakKeyDictionary()


def caller_of(gradient: CallableGradient) -> Callable:
    """Return the compiled function that stands for a gradient in compiled code.

    It calls a stub with the same parameters, whose overload compiles the gradient's text.
    """
    if gradient not in _callers:
        defaults = {"defaults": defaults_of(gradient)}
        parameters = parameter_list(gradient.signature, "defaults[{!r}]")
        name = name_of(gradient, "gradient")
        stub = load(f"def {name}({parameters}):\n    pass\n", name, defaults)
        names = "".join(f"{name}, " for name in gradient.signature.parameters)
        choose = functools.partial(implementation, gradient, parameters)
        typing = load(f"def typing({parameters}):\n    return choose(({names}))\n", "typing", {**defaults, "choose": choose})
        overload(stub, strict=False, inline=gradient.inline)(typing)
        text = f"def {name}({parameters}):\n    return stub({argument_list(gradient.signature)})\n"
        _callers[gradient] = njit(load(text, name, {**defaults, "stub": stub}), inline=gradient.inline)
    return _callers[gradient]


def defaults_of(gradient: CallableGradient) -> dict[str, Any]:
    """Return the defaults of a gradient's parameters."""
    return {p.name: p.default for p in gradient.signature.parameters.values()}


def implementation(gradient: CallableGradient, parameters: str, args: tuple) -> Callable:
    """Return the function that Numba compiles for a call with arguments of these types.

    Raises:
        TypingError: there is none; the message says why.
    """
    found = {name: type_of(t, name) for name, t in zip(gradient.signature.parameters, args)}
    for name in gradient.wrt:
        if isinstance(found[name], Scalar) and found[name].kind != "float":
            raise TypingError(f"the argument {name} of a gradient, with respect to it, is an integer: pass a float")
    try:
        program, written, live = gradient.program_for_numba(found)
    except SourceADError as error:
        raise TypingError(str(error)) from error
    if written and sum(isinstance(t, types.Array) for t in args) > 1:
        raise TypingError(f"{gradient.__name__} writes to its arguments, which may share memory: call its gradient from Python")
    compiled = dispatcher_of(program.without_assumptions(), program.name, Numba(cache=False))
    body = re.sub(r'\blive(?:_\d+)?\["(\w+)"\]', r"live_\1", program.boundary.text.partition("\n")[2])
    text = f"def {program.name}({parameters}):\n{body}"
    namespace = namespace_of(program.boundary, compiled, {}) | {f"live_{k}": v for k, v in live.items()}
    return load(text, program.name, {**namespace, "defaults": defaults_of(gradient)})


def type_of(t: types.Type, where: str) -> Type:
    """Return sourcead's type for the Numba type, or the default, of an argument; arrays may have any size."""
    if not isinstance(t, types.Type | types.Omitted):  # a default
        t = typeof(t)
    t = types.unliteral(typeof(t.value)) if isinstance(t, types.Omitted) else types.unliteral(t)
    if isinstance(t, types.Array):
        return Array(dtype_of(t.dtype), tuple(Sym() for _ in range(t.ndim)))
    if isinstance(t, types.BaseTuple):
        return TupleT(tuple(type_of(item, where) for item in t))
    if t in _PYTHON:
        return _PYTHON[t]
    if isinstance(t, types.Float | types.Integer):
        dtype = dtype_of(t)
        return Scalar("float" if dtype.kind == "f" else "int", dtype)
    raise TypingError(f"the argument {where} of a gradient is of type {t}, which it takes from Python alone")
