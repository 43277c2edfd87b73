"""The engine that runs generated text unchanged, with NumPy."""

import functools
from dataclasses import replace

from sourcead.ad.forward.pushforward import pushforward, tangent_names
from sourcead.ad.gradient import Form, differentiate
from sourcead.backends.base import Derivative, Engine, Program, optimised
from sourcead.emit import emit
from sourcead.emit.memory.joined_sums import join_sums
from sourcead.emit.text.printing import Span, lower
from sourcead.errors import UnsupportedSyntaxError
from sourcead.ir.nodes import Function, Stmt
from sourcead.ir.recursive_calls import Pair, pairs_called
from sourcead.passes.cleanup.inner_products import sum_products_at_once
from sourcead.passes.cleanup.shifts import copy_shifted
from sourcead.passes.cleanup.short_axes import reduce_short_axes


class NumPy(Engine):
    """The NumPy engine, which runs every text."""

    rebinds = True

    def prepare(self, derivative: Derivative) -> Function:
        last = join_sums if derivative.readable else sum_and_join
        function = optimised(derivative.function, derivative.notes.after, derivative.splits, last=last, reuse=not derivative.readable)
        return function if derivative.readable else copy_shifted(reduce_short_axes(function))

    def emit(self, prepared: Function) -> Program:
        """Return the program, whose text begins with the recursive functions that it calls."""
        emitted = emit(prepared)
        texts, printed, namespace, elsewhere = [], [], dict(emitted.namespace), dict(emitted.names)
        pairs = pairs_called(prepared.body)
        for pair in pairs:  # `pairs` grows meanwhile
            made = copy_shifted(reduce_short_axes(optimised(differentiated(pair), last=sum_and_join)))
            pairs += [p for p in pairs_called(made.body) if p not in pairs]
            helper = emit(made, elsewhere=elsewhere)
            texts.append(helper.text)
            printed.append((made, elsewhere))
            elsewhere = elsewhere | helper.names
            for name, value in helper.namespace.items():
                if namespace.setdefault(name, value) is not value:
                    raise UnsupportedSyntaxError(
                        f"two different objects called `{name}` are used in recursive functions", at=pair.lowered.function.origin
                    )
        names = {p.name for p in pairs}
        namespace = {name: value for name, value in namespace.items() if name not in names}
        texts.append(emitted.text)

        @functools.cache
        def statements() -> dict[Span, Stmt]:
            found, above = {}, 0
            for (function, names), text in zip((*printed, (prepared, {})), texts):
                again = emit(function, elsewhere=names)  # since few programs raise errors, none keeps the tree that it was printed from
                found |= {lower(span, above): stmt for span, stmt in again.statements.items()} if again.text == text else {}
                above += text.count("\n") + 2
            return found

        return Program(prepared.name, "\n\n".join(texts), namespace, prepared, statements=statements)

    def cache_key(self) -> str:
        return "numpy"


def sum_and_join(function: Function) -> Function:
    """Return the function with sums of products in one call each, and contributions to cotangents in fewer statements."""
    return join_sums(sum_products_at_once(function))


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
