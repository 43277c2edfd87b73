"""The verification of a new text, once, at its first call: it must do what the user's own function does.

The user's function is called on copies of the arguments.  Its value must equal, up to rounding, the value that the generated code
computes.  With `verify="gradient"` the derivative must also equal a difference quotient of the user's function.
"""

import inspect
import logging
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sourcead.ad.residuals.notes import Notes
from sourcead.backends import load as loading
from sourcead.backends.base import Derivative
from sourcead.backends.numpy import NUMPY
from sourcead.compile.arguments import Arguments
from sourcead.compile.before_calls import arguments_by_name
from sourcead.compile.comparison import (
    PATIENCE, LeftOut, Primal, direction_of, drawn, product, refuse_effects, slope, value_mismatch
)
from sourcead.compile.internal_errors import InternalErrors
from sourcead.compile.live_data import is_read, read
from sourcead.compile.pipeline import unknown_types
from sourcead.compile.structures import is_leaf, leaves, map_leaves
from sourcead.errors import ArgumentError, NoSourceError, SourceADError, VerificationError
from sourcead.frontend.find_source import find_source
from sourcead.frontend.lower import Lowered, lower_function
from sourcead.places.spelling import of_class

VARIABLE = "SOURCEAD_VERIFY"  # an environment variable: the level where the program gives none
LEVELS = ("value", "gradient", False)
SPOKEN = {"": "value", "1": "value", "true": "value", "0": False, "false": False, "off": False}
BY_A_WRONG_TEXT = (NameError, AttributeError, TypeError, LookupError, ValueError)  # errors that it may raise

log = logging.getLogger("sourcead")


def level_of(verify: Any) -> str | bool:
    """Return the level of verification for the option `verify`; None is what the environment says, "value" if it says nothing.

    Raises:
        ArgumentError: there is no such level.
    """
    if verify is None:
        spoken = os.environ.get(VARIABLE, "").lower()
        verify = SPOKEN.get(spoken, spoken)
    verify = "value" if verify is True else verify
    if verify not in LEVELS:
        raise ArgumentError(f"there is no verification {verify!r}", instead='verify="value", verify="gradient" or verify=False')
    return verify


def primal_of(lowered: Lowered) -> Callable:
    """Return the Python function that computes the value of a lowered function."""
    function = replace(lowered.function, name="value", doc=None)
    with InternalErrors(function.name):
        program = NUMPY.emit(NUMPY.prepare(Derivative(function.name, "", function, Notes(), False, lambda: function)))
    live = {text: read(*at) for text, at in lowered.live.items() if is_read(program.namespace, text, lowered)}
    return loading.load(program.text, program.name, {**program.namespace, **live})


@dataclass(frozen=True, eq=False)
class Subject:
    """A derivative whose first call is verified.

    Attributes:
        derivative: the `Gradient`.
        arguments: the properties of the arguments of the call.
        text: the generated text.
        own: the function that is differentiated, in the IR.
    """

    derivative: Any
    arguments: Arguments
    text: str
    own: Lowered

    def primal(self, values: dict[str, Any], outer: bool = False) -> Primal:
        """Return the user's function with the arguments of a call, given as {parameter: argument}.

        With `outer`, return the function that is differentiated, which may be a derivative itself, with these arguments.
        """
        made = self.derivative
        function, tangents = (made._function, made._directions) if outer else (made._user_function, made._all_directions())
        given = {name: v for name, v in values.items() if name not in tangents}
        return Primal(function, made._takes, given, None if made._engine is NUMPY else PATIENCE)

    def lowered(self) -> Lowered:
        """Return the user's function in the IR."""
        made, statics = self.derivative, self.arguments.statics
        if made._function is made._user_function:
            return self.own
        types = {name: t for name, t in self.arguments.types.items() if name not in made._all_directions()}
        ways = {"translating": made._probing, "probing": made._probing}
        return lower_function(find_source(made._user_function), unknown_types(types, statics, made._derived), statics, **ways)

    def error(self, why: str) -> VerificationError:
        """Return the error for a text that does not do what the user's function does."""
        why = f"the generated code does not do what the function does: {why}"
        return VerificationError(why, self.derivative._place, source_of(self.derivative._user_function), self.text)


def source_of(function: Callable) -> str:
    """Return the source of a function, dedented."""
    try:
        return find_source(function).text
    except NoSourceError:
        return repr(function)


def verifying(call: Callable, subject: Subject, signature: inspect.Signature, settle: Callable[[], None]) -> Callable:
    """Return a function that calls `call` and compares its first result with the user's function; then `settle()` is called.

    Raises:
        VerificationError: (in a call) they differ.
    """

    def first(*args, **kwargs):
        values = arguments_by_name(signature, args, kwargs)
        try:
            result = call(*args, **kwargs)
        except SourceADError:
            raise
        except BY_A_WRONG_TEXT as error:
            _explain(subject, values, error)
            raise
        try:
            _verify(subject, values, result)
        except LeftOut as why:
            log.info("the derivative of `%s` (%s) was not verified: %s", subject.derivative.__name__, subject.derivative._place, why)
        settle()
        return result

    return first


def _verify(subject: Subject, values: dict[str, Any], result: Any) -> None:
    """Compare the result of a call with the user's function.

    Raises:
        LeftOut: they cannot be compared.
        VerificationError: they differ.
    """
    lowered, primal, outer = subject.lowered(), subject.primal(values), subject.primal(values, outer=True)
    refuse_effects(lowered.function)
    made = subject.derivative
    kind = made.form.kind
    if kind == "vmap":
        loop = made._function.member_loop
        taken, some = loop.picked(primal.copied())
        why = value_mismatch(replace(primal, values=taken), lambda: loop.results_of(result, some))
    elif kind in ("value_and_grad", "vjp", "jvp") and primal.function is outer.function:
        value = (result[0], result[2]) if kind == "vjp" and made.form.has_aux else result[0]
        why = value_mismatch(primal, lambda: value)
    else:
        why = value_mismatch(primal, lambda: primal.by(primal_of(lowered), made._derived))
    why = why or _shape_mismatch(made, values, result)
    if why is None and made._verify == "gradient" and kind != "vmap":
        why = _slope_mismatch(made, outer, values, result)
    if why is not None:
        raise subject.error(why)


def _explain(subject: Subject, values: dict[str, Any], error: Exception) -> None:
    """Raise VerificationError if generated code raised an error for arguments for which the user's function raises none.

    Code that a rule brings along may refuse what it cannot differentiate, by a `raise` of its own.
    """
    if (traceback.extract_tb(error.__traceback__)[-1].line or "").startswith("raise "):
        return
    try:
        refuse_effects(subject.lowered().function)
        subject.primal(values)()
    except Exception:
        return
    raise subject.error(f"it raises {type(error).__name__} ({error}), and the function does not") from error


def _gradients_in(made: Any, result: Any) -> Any:
    """Return the gradients in the result of a call of `grad` or `value_and_grad`."""
    return result[1] if made.form.kind == "value_and_grad" else result[0] if made.form.has_aux else result


def _shape_mismatch(made: Any, values: dict[str, Any], result: Any) -> str | None:
    """Return which derivative has another shape than the number or array that it belongs to, None if there is none."""
    if made.form.kind in ("grad", "value_and_grad"):
        gradients = _gradients_in(made, result)
        pairs = [(f"`{name}`", values[name], d) for name, d in zip(made.wrt, (gradients,) if made._single else gradients)]
    else:
        pairs = [("the value", *result)] if made.form.kind == "jvp" and getattr(result[0], "dtype", np.dtype(float)).kind in "fc" else []
    for name, x, d in pairs:
        if is_leaf(x) and (not is_leaf(d) or np.shape(d) != np.shape(x)):
            found, has = (f"has the shape {np.shape(d)}", "") if is_leaf(d) else (f"is {of_class(d)}", "has ")
            return f"a derivative {found}, and {name}, to which it belongs, {has}the shape {np.shape(x)}"
    return None


def _slope_mismatch(made: Any, primal: Primal, values: dict[str, Any], result: Any) -> str | None:
    """Return how the derivative `made` along one direction differs from a difference quotient of the function, None if it does not."""
    form, random, value = made.form, np.random.default_rng(0), primal()
    cotangent = map_leaves(lambda leaf: drawn(leaf, random), value)
    weights = [weight for _, weight in leaves(cotangent)]
    if made._directions:
        given = {name: [leaf for _, leaf in leaves(values[t])] for t, name in made._directions.items()}
        if form.kind == "columns":  # a sum of them is the derivative along the sum of their directions
            mix = random.standard_normal(max(len(leaf) for steps in given.values() for leaf in steps))
            given = {name: [np.tensordot(mix, leaf, 1) for leaf in steps] for name, steps in given.items()}
            result = map_leaves(lambda leaf: np.tensordot(mix, leaf, 1), result)
        found = product(weights, result[1] if form.kind == "jvp" else result)
    else:
        given = {name: direction_of(primal.values[name], random) for name in made.wrt}
        if form.kind == "vjp":
            gradients = result[1](cotangent)
        else:
            weights = [1.0, *(0.0 for _ in weights[1:])]  # not the auxiliary result
            gradients = _gradients_in(made, result)
        found = product([step for steps in given.values() for step in steps], gradients)
    expected = slope(primal, given, lambda value: product(weights, value))
    size = sum(float(np.sum(np.abs(step))) for steps in given.values() for step in steps)
    if abs(found - expected) <= 1e-4 * abs(expected) + 1e-6 * (1 + size) or not np.isfinite(expected):
        return None
    return f"along one direction its derivative is {found:.9g}, and a difference quotient {expected:.9g}"
