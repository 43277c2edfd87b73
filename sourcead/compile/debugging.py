"""Runs what was generated for a call with every value shown to a watch (`sourcead.debug`)."""

import dataclasses
import inspect
from typing import Any

import numpy as np

from sourcead.backends.load import compiled, run
from sourcead.compile.gradient import Gradient
from sourcead.compile.structures import leaves, map_leaves
from sourcead.debugging.instrumented import WATCH, instrumented
from sourcead.debugging.report import DebugReport, Telling, report
from sourcead.debugging.watch import Watch
from sourcead.page.relation import Relation


def watched(inner: Gradient, arguments: dict[str, Any]) -> DebugReport:
    """Run a derivative once, with NumPy's text, and return the report on its values.

    Args:
        inner: the derivative.
        arguments: {parameter: argument}, with those that it is bound to.
    """
    function, asked, kind, options = inner._made_of
    made = type(inner)(function, asked, kind, dataclasses.replace(options, backend="numpy", verify=False))
    made._far_apart = inner._far_apart
    try:
        return _watched(made, arguments)
    except FloatingPointError:  # of a product of exponentials that is out of range: the text without one
        if made._far_apart:
            raise
        made._far_apart = True
        return _watched(made, arguments)


def _watched(made: Gradient, arguments: dict[str, Any]) -> DebugReport:
    described = made._described(arguments)
    plain = made._compiled(described)
    program = plain.built.plain
    file = compiled(program.text, program.name, origins=program.origins).co_filename
    text = instrumented(program.text, file)
    watch = Watch(text.sites)
    namespace = {**plain.namespace, WATCH: watch}
    function = run(text.code, program.name, namespace)
    call = made._prepared(dataclasses.replace(plain, code=text.code, namespace=namespace, plain=function, function=function), described, ())
    given = inspect.BoundArguments(made.signature, dict(arguments))
    for where, leaf in [found for name, value in arguments.items() for found in leaves(value, name)]:
        watch.argument(where, leaf)
    with np.errstate(all="ignore"):
        result = call(*given.args, **given.kwargs)
        if made.form.kind == "vjp":  # of which the text ends with the pullback
            result = result[0], result[1](map_leaves(lambda leaf: np.ones_like(leaf)[()], result[0]))
    telling = Telling(Relation(program, made._user_function))
    return report(result, watch.events, watch.event_of, [leaf for _, leaf in leaves(result)], telling)
