"""What sourcead refuses, and what to do about it: one class per cause.

Every message has the same form: where, what is wrong, the line with a caret under it, and what to write instead:

    model.py:3: a `yield` makes this a generator, which has no single result
        yield x ** 2
        ^^^^^^^^^^^^
    Write instead: collect the values in a list and return it
"""

from __future__ import annotations

import functools
import re
import sys
import textwrap
import types
from typing import Any

from sourcead.places.origin import Origin, labelled, quoted_line, short_place, shown_place, through
from sourcead.places.spelling import spelled

CALLED_OUTSIDE = """call it outside of your function, and pass what it returns as an argument; or register a rule for it \
(`sourcead.adjoint`); or, where no derivative passes through it, call it as `sourcead.opaque(...)`"""
WITHOUT_DECORATOR = "take the decorator away, or differentiate the function below it, which is its `__wrapped__`"


class SourceADError(Exception):
    """Base of all errors that sourcead raises on purpose.

    Args:
        reason: what is wrong, in the user's terms, without a full stop.
        at: where in the user's program; None where no place is known.
        instead: what to write or do instead; None where there is nothing to say.
    """

    label = "Write instead"  # what the last line of the message begins with; "" for a hint that is a sentence of its own

    def __init__(self, reason: str, at: Origin | None = None, instead: str | None = None):
        super().__init__(reason, at, instead)  # `args` is what pickle and copy rebuild the error from
        self.reason, self.at, self.instead = reason, at if at is None else at.part or at, instead

    def __str__(self):
        at, instead, label = self.at, self.instead, self.label
        if at is None:
            lines = [self.reason]
        elif at.users is at:
            lines = [f"{shown_place(at)}: {self.reason}", *quoted_line(at)]
        else:
            what = "a function that this calls cannot be differentiated"
            lines = [f"{shown_place(at.users)}: {what}", *quoted_line(at.users)]
            lines += [*through(at), f"In {short_place(at)}: {self.reason}", *quoted_line(at)]
            if isinstance(self, SourceADError):  # the hint is for who wrote that line
                label, instead = "Write instead", CALLED_OUTSIDE if at.users.text else WITHOUT_DECORATOR
        if instead:
            lines.append(labelled(label, instead))
        return "\n".join(lines)


class NoSourceError(SourceADError):
    """The source of a function cannot be found, and sourcead works on source.

    Built-in and C functions have none; neither has what was typed at the plain prompt of Python 3.12 and earlier, or
    made by `exec` of a string.  A function that was changed in its file after the import is not what runs; one that was moved is.

    Fails::

        namespace = {}
        exec("def f(x): return x ** 2", namespace)
        grad(namespace["f"])(3.0)

    Mended: put the function in a file or a notebook cell; for a C function that you call, register its derivative with
    `@adjoint`; for a function made from text, load the text with `sourcead.backends.load.load`.
    """

    label = "What to do"


class UnsupportedSyntaxError(SourceADError):
    """A construct of Python that sourcead does not differentiate.

    Fails::

        @grad
        def f(x):
            for i in range(3):
                yield i * x

    Mended: write the part that is differentiated without it, or move the construct to the caller::

        @grad
        def f(x):
            terms = []
            for i in range(3):
                terms.append(i * x)
            return sum(terms)
    """


class ProgramError(SourceADError):
    """A mistake that Python reports as well when the program comes to that line: a name, key, attribute or item that there is not.

    The error is also one of Python's own class, which it is named for: `except KeyError` catches that of a missing key.

    Fails::

        @grad
        def f(p):
            return p["w"] * p["scale"]

        f({"w": 3.0, "by": 2.0})    # a KeyError

    Mended: write the name that is meant::

        @grad
        def f(p):
            return p["w"] * p["by"]
    """

    python: type[Exception] = Exception  # what Python raises

    @staticmethod
    def of(python: type[Exception], reason: str, at: Origin | None = None, instead: str | None = None) -> ProgramError:
        """The error for a mistake for which Python raises an exception of the class `python`."""
        return also_of(python)(reason, at, instead)

    def __reduce__(self):
        return ProgramError.of, (self.python, *self.args)


@functools.cache
def also_of(python: type[Exception]) -> type[ProgramError]:
    """The class of the mistakes for which Python raises exceptions of a class."""
    if python is Exception:
        return ProgramError
    return type(python.__name__, (ProgramError, python), {"python": python, "__module__": __name__})


class UnsupportedValueError(SourceADError, TypeError):
    """An object that sourcead cannot differentiate through, such as a matrix, a masked array or a data frame.

    Fails::

        grad(f)(np.matrix([[1.0, 2.0]]))

    Mended: hand over the plain array::

        grad(f)(np.asarray(np.matrix([[1.0, 2.0]])))
    """


class NoRuleError(SourceADError):
    """A function without source for which no derivative rule is registered.

    Fails::

        @grad
        def f(x):
            return np.sum(np.i0(x))

    Mended: register a rule, or declare a function `opaque` through which no derivative passes. A rule takes the
    result, the arguments and the result's cotangent `d_y`, and returns the cotangents of the arguments::

        @adjoint(np.i0)
        def _(y, x, d_y):
            return d_y * special.i1(x)
    """

    @property
    def label(self) -> str:
        """What the last lines begin with: a rule to fill in stands below it, or another way to write the call beside it."""
        return "Register a rule" if "\n" in self.instead else "Write instead"

    @classmethod
    def of(cls, function: Any, at: Origin | None = None, mode: str = "derivative", why: str | None = None) -> NoRuleError:
        """The error for a call of `function`, with a rule to fill in.

        Args:
            function: the function that is called.
            at: where it is called.
            mode: which rule is missing: "adjoint", "tangent", or "derivative" if both are.
            why: why there is none, where this is known.
        """
        why, text = f": {why}" if why else "", "" if at is None else (at.part or at).text
        if isinstance(function, types.FunctionType | types.MethodType) and "." in function.__qualname__.rpartition("<locals>.")[2]:
            called = re.search(rf"[^\W\d][\w.]*\.{function.__name__}(?=\()", text)  # a method: a rule would be that of all objects
            name = called[0] if called else function.__qualname__
            return cls(f"no {mode} rule for `{name}`{why}", at, f"its formula; or `sourcead.opaque({name})`, if no derivative passes there")
        if not hasattr(function, "__name__"):  # an object: the program's name for it is what the rule is for
            called = re.match(r"[^\W\d][\w.]*(?=\()", text)
            name, root = called[0] if called else "f", ""
            why = f", an object of class `{spelled(type(function))}`{why}"
        else:
            name, root = spelled(function), spelled(function).partition(".")[0]
        home = "" if root == "np" or root not in sys.modules else f"import {name.rpartition('.')[0]}\n\n"
        rule = f"@adjoint({name})\ndef _(y, x, d_y):\n    return ...  # the cotangent of x"
        if mode == "tangent":
            rule = f"@tangent({name})\ndef _(y, x, t_x):\n    return ...  # the tangent of y"
        way_out = f"\n\n# or, where no derivative passes through it: call `sourcead.opaque({name})` in its place"
        return cls(f"no {mode} rule for `{name}`{why}", at, home + rule + way_out)


class UnsupportedArgumentError(SourceADError, TypeError):
    """An option that a function, or its derivative rule, does not handle.

    Fails::

        @grad
        def f(x):
            return np.cov(x, dtype=float)

    Mended: say the same without the option::

        @grad
        def f(x):
            return np.cov(x)
    """


class ArgumentError(SourceADError, TypeError):
    """A call whose arguments do not fit, inside a differentiated function, or an option that `grad` or another derivative lacks.

    Fails::

        def scaled(x, by):
            return x * by

        @grad
        def f(x):
            return scaled(x)

    Mended: pass what is missing, as plain Python would demand too::

        @grad
        def f(x):
            return scaled(x, 2.0)
    """


class AliasError(SourceADError, ValueError):
    """Whether two names share memory cannot be decided, and one of them is written to.

    Fails::

        @grad
        def f(x, n):
            a = x * 2
            b = x * 3
            for _ in range(n):
                b = a
            a[0] = 0.0
            return np.sum(b)

    Mended: make the copy that is meant explicit::

        b = a.copy()

    Also raised by a call with two arguments that share memory where the function writes to one of them; pass a copy.
    """


class NonScalarError(SourceADError, TypeError):
    """`grad` of a function whose result is not one real number.

    Fails::

        grad(lambda x: x ** 2)(np.ones(3))

    Mended: return a number, as in `np.sum(x ** 2)`.  For all derivatives of a function with many results use
    `jacobian`; for the product of a cotangent with them, `vjp`::

        value, pullback = vjp(lambda x: x ** 2, np.ones(3))
        d_x = pullback(np.ones(3))
    """


class WrtError(SourceADError, ValueError):
    """`wrt` names no parameter of the function, or one that carries no derivative; or a tangent does not fit its argument.

    Fails::

        grad(loss, wrt="weights")          # the parameter is called w
        grad(loss)(np.array([1, 2, 3]))    # integers have no derivative

    Mended::

        grad(loss, wrt="w")
        grad(loss)(np.array([1.0, 2.0, 3.0]))
    """


class VerificationError(SourceADError, RuntimeError):
    """The generated code does not do what the function does: an error in sourcead, or in a rule that was registered.

    It is raised by the first call of the code, which is compared with a call of the function.

    Fails::

        @adjoint(cube)
        def _(y, x, d_y):
            return 2 * x * d_y

        grad(cube, verify="gradient")(3.0)

    Mended: if it is not a rule of yours that is wrong, report it, with the message, which holds both texts.  `verify=False` leaves
    the comparison out.

    Args:
        reason: what differs, with both numbers.
        place: the file and line of the function.
        source: the source of the function.
        text: the generated text.
    """

    label = "What to do"

    def __init__(self, reason: str, place: str = "", source: str = "", text: str = ""):
        super().__init__(reason)
        self.args = (reason, place, source, text)
        self.place, self.source, self.text = place, source, text

    def __str__(self):
        return "\n".join([
            f"{self.place}: {self.reason}",
            labelled(self.label, "correct your rule; if you registered none, this is an error in sourcead: report both texts"),
            "The function:", textwrap.indent(self.source, "    "), "The generated code:", textwrap.indent(self.text, "    "),
        ])  # fmt: skip


class InternalError(RuntimeError):
    """An error in sourcead: the compiler failed where it should have differentiated the function or refused it.

    It is no `SourceADError`, since sourcead does not raise it on purpose.  Its `__cause__` is what the compiler raised.

    Fails::

        with mock.patch.object(plan, "run", side_effect=KeyError("x")):    # stands for a fault
            grad(f)(3.0)

    Mended: report it, with the function and the traceback.  Until it is corrected, write the line that the message shows in another
    way, or register a rule with `@adjoint` for a function that contains it.
    """

    label = "What to do"
    instead = "report it, with the function and this traceback; until then, write this line in another way"

    def __init__(self, reason: str, at: Origin | None = None):
        super().__init__(reason, at)
        self.reason, self.at = reason, at

    __str__ = SourceADError.__str__


class RuleError(SourceADError, TypeError):
    """A derivative rule that does not fit the function it is registered for.

    Fails::

        @adjoint(np.tanh)
        def _(x, d_y):
            return d_y / np.cosh(x) ** 2

    Mended: the result comes first, then the parameters, then the result's cotangent, named `d_y`::

        @adjoint(np.tanh)
        def _(y, x, d_y):
            return d_y * (1 - y * y)
    """


class BackendError(SourceADError, ImportError):
    """A backend that is not installed, or that cannot run a function, such as Numba with arrays of float16.

    Fails::

        grad(f, backend="numba")    # where Numba is not installed

    Mended: `pip install "numba>=0.62"`, or leave `backend` away.
    """

    label = "What to do"


class ZeroGradientWarning(UserWarning):
    """Nothing that has a derivative leads from the arguments to the result, so that its gradient is zero: an accuracy, a count."""


class FileError(SourceADError, OSError):
    """A file cannot be written.  What was there before is still there.

    Fails::

        grad(f).save("missing/gradient.py", 3.0)

    Mended: make the folder first, or name a file in a folder in which you may write::

        grad(f).save("gradient.py", 3.0)
    """

    label = "What to do"
