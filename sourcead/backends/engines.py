"""The engine that runs generated text unchanged, with NumPy, and the choice of an engine for each backend."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from sourcead.ad.forward.pushforward import pushforward, tangent_names
from sourcead.ad.gradient import Form, differentiate
from sourcead.backends.base import Derivative, Engine, Program, optimised
from sourcead.backends.options import Numba
from sourcead.emit import emit
from sourcead.errors import BackendError, UnsupportedSyntaxError
from sourcead.ir.nodes import Block, Call, Function
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.walk import walk


class NumPy(Engine):
    """The NumPy engine, which runs every text."""

    rebinds = True

    def generate(self, derivative: Derivative) -> Program:
        """Return the program, whose text begins with the recursive functions that it calls."""
        function = optimised(derivative.function, derivative.notes.after if derivative.splits else None)
        emitted = emit(function)
        texts, namespace = [], dict(emitted.namespace)
        pairs = pairs_called(function.body)
        for pair in pairs:  # `pairs` grows meanwhile
            made = optimised(differentiated(pair))
            pairs += [p for p in pairs_called(made.body) if p not in pairs]
            helper = emit(made)
            texts.append(helper.text)
            for name, value in helper.namespace.items():
                if namespace.setdefault(name, value) is not value:
                    raise UnsupportedSyntaxError(
                        f"two different objects called `{name}` are used in recursive functions", at=pair.lowered.function.origin
                    )
        names = {p.name for p in pairs}
        namespace = {name: value for name, value in namespace.items() if name not in names}
        return Program(function.name, "\n\n".join([*texts, emitted.text]), namespace, function)


def pairs_called(block: Block) -> list[Pair]:
    """Return the differentiated recursive functions that a block calls, each once."""
    return list(dict.fromkeys(s.op.fn for s in walk(block) if isinstance(s.op, Call) and isinstance(s.op.fn, Pair)))


def differentiated(pair: Pair) -> Function:
    """Return the function that computes a recursive function's value together with its pullback or tangent."""
    lowered = pair.lowered
    wrt = tuple(name for k, name in enumerate(lowered.params) if k in pair.wrt)
    if pair.kind == "jvp":
        made = pushforward(lowered, tangent_names(lowered.params, wrt), True)
    else:
        made, _ = differentiate(lowered, wrt, Form("vjp", single=len(wrt) == 1))
    return replace(made, name=pair.name, doc=None)


NUMPY = NumPy()


def engine_of(backend: Any) -> Engine:
    """Return the engine of a backend.

    Args:
        backend: "numpy"; a `Numba`; or "auto", which is Numba where it can compile the text, and else NumPy with a warning.
    """
    if backend == "numpy":
        return NUMPY
    from sourcead.backends.numba.engine import NumbaEngine

    return NumbaEngine(Numba(), required=False) if backend == "auto" else NumbaEngine(backend, required=True)


def let_compiled_code_call(cls: type) -> None:
    """Let functions compiled with Numba, if it is installed, call the instances of a class."""
    from sourcead.backends.numba.engine import import_numba

    with contextlib.suppress(BackendError):
        import_numba()
        from sourcead.backends.numba.overloads.gradients import register

        register(cls)
