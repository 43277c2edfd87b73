"""The gradient of a program of the table by each engine, as two functions without arguments: the gradient, and the function itself.

An engine that cannot run a program says why, by raising `Left`.
"""

import math
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks.programs import ADBENCH, IN_PLACE, LOOPS, NETWORKS, Program, shorter

NUMPY, NUMBA, BY_HAND = "sourcead, NumPy", "sourcead, Numba", "by hand"
AUTOGRAD, TORCH, COMPILED = "autograd", "PyTorch", "torch.compile"
JAX, JAX_LOOPS = "jax.jit", "jax.jit, loop for loop"


class Left(Exception):
    """Why an engine does not run a program."""


class Made(NamedTuple):
    """What an engine makes of a program.

    Attributes:
        gradient, primal: functions without arguments, whose results are ready when they return; None where there is none.
        program: what is run, if that is a shorter form of the program.
    """

    gradient: Callable[[], Any]
    primal: Callable[[], Any] | None = None
    program: Program | None = None


def numpy_text(program: Program) -> Made:
    from sourcead import grad

    gradient = grad(program.function, wrt=program.wrt)
    return Made(lambda: gradient(*program.args), lambda: program.function(*program.args))


def numba_text(program: Program) -> Made:
    if program.group == NETWORKS:
        raise Left("products of matrices: the NumPy text is meant for them")
    import numba

    from sourcead import grad

    gradient = grad(program.function, wrt=program.wrt, backend="numba")
    primal = None
    if program.group == LOOPS:
        compiled = numba.njit(program.function)
        primal = lambda: compiled(*program.args)  # noqa: E731
    return Made(lambda: gradient(*program.args), primal)


def by_hand(program: Program) -> Made:
    gradient = program.twin("by hand")
    if gradient is None:
        raise Left("not written")
    if program.group != NETWORKS:
        return Made(lambda: gradient(*program.args))
    return Made(lambda: gradient(*program.hand_args)[1])


def rebound(function: Callable, **modules) -> Callable:
    """The function with other modules under the names that it uses."""
    return types.FunctionType(
        function.__code__, {**function.__globals__, **modules}, function.__name__, function.__defaults__
    )


def autograd(program: Program) -> Made:
    if program.name in IN_PLACE or program.group == ADBENCH:
        raise Left("autograd refuses writes into arrays")
    if program.name != "RNN on MNIST" and program.group == NETWORKS:
        raise Left("the layers of sourcead.nn are NumPy's")
    import autograd.numpy as anp
    from autograd import grad

    program = shorter(program) if program.group == LOOPS else program
    function = rebound(program.function, np=anp, math=anp)
    gradient = grad(function, program.at)
    return Made(lambda: gradient(*program.args), lambda: function(*program.args), program)


def tensors(structure: Any, requires_grad: bool) -> Any:
    """The arrays of nested lists, and numbers that are differentiated, as tensors."""
    import torch

    if isinstance(structure, list):
        return [tensors(part, requires_grad) for part in structure]
    if isinstance(structure, np.ndarray):
        return torch.tensor(structure, requires_grad=requires_grad)
    return torch.tensor(structure, dtype=torch.float64, requires_grad=True) if requires_grad else structure


def flat(structure: Any) -> list:
    return [leaf for part in structure for leaf in flat(part)] if isinstance(structure, (list, tuple)) else [structure]


class TensorMath:
    """The functions of `math` and `np` that the recurrences call, for tensors and numbers."""

    def __getattr__(self, name):
        import torch

        return lambda x: getattr(torch, name)(x) if isinstance(x, torch.Tensor) else getattr(math, name)(x)


def torch_loss(program: Program) -> Callable:
    if program.group == LOOPS:
        return rebound(program.function, math=TensorMath(), np=TensorMath())
    return program.twin("torch")


def eager_torch(program: Program) -> Made:
    if program.name in IN_PLACE:
        raise Left("a node of its graph for each element: minutes a call")
    program = shorter(program) if program.group == LOOPS else program
    return torch_made(program, torch_loss(program))


def compiled_torch(program: Program) -> Made:
    if program.group == LOOPS or "LSTM of" in program.name or "Elman" in program.name:
        raise Left("unrolls the loop while compiling: minutes")
    import torch

    return torch_made(program, torch.compile(torch_loss(program)))


def torch_made(program: Program, function: Callable) -> Made:
    import torch

    args = [tensors(a, k in program.at) for k, a in enumerate(program.twin_args)]
    parameters = flat([args[k] for k in program.at])

    def gradient():
        return torch.autograd.grad(function(*args), parameters)

    def primal():
        with torch.no_grad():
            return function(*args)

    return Made(gradient, primal, program)


def jax_arrays(program: Program) -> Made:
    return jax_made(program, program.twin("jax"))


def jax_loops(program: Program) -> Made:
    if program.group != LOOPS:
        raise Left("has one form")
    if program.name in ("cholesky", "lu", "triangular solve"):
        raise Left("no reverse mode where the bounds of a loop depend on another")
    return jax_made(program, program.twin("jax loops") or program.twin("jax"))


def jax_made(program: Program, function: Callable) -> Made:
    """Compiled, with arguments on the device; integers are known while compiling."""
    import jax

    args = program.twin_args
    jax.config.update("jax_enable_x64", program.group != NETWORKS)
    static = tuple(k for k, a in enumerate(args) if isinstance(a, int))
    args = tuple(a if k in static else jax.tree.map(jax.numpy.asarray, a) for k, a in enumerate(args))
    gradient = jax.jit(jax.grad(function, argnums=program.at), static_argnums=static)
    primal = jax.jit(function, static_argnums=static)
    return Made(lambda: jax.block_until_ready(gradient(*args)), lambda: jax.block_until_ready(primal(*args)))


ENGINES = {
    NUMPY: numpy_text, NUMBA: numba_text, BY_HAND: by_hand, AUTOGRAD: autograd, TORCH: eager_torch, COMPILED: compiled_torch,
    JAX: jax_arrays, JAX_LOOPS: jax_loops,
}  # fmt: skip
OURS = (NUMPY, NUMBA)
