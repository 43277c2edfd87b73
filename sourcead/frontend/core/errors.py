"""Define the errors of the lowering, and the exceptions that control it."""

from typing import Any

import gast

from sourcead.errors import NoSourceError, ProgramError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.core.cells import Cell
from sourcead.ir.nodes import Origin


class NotStatic(Exception):
    """Signal, while inlining a rule, that a condition depends on a value that is not known while compiling."""


def marked(error: SourceADError, **marks: Any) -> SourceADError:
    """Give an error attributes that tell where it is caught in which other way the program may be lowered."""
    vars(error).update(marks)
    return error


def called_without_source(cause: NoSourceError, name: str, at: Origin | None) -> NoSourceError:
    """Make the error for a call of a function whose source is not found; a line of generated text is none that the user wrote."""
    by_rule = "" if "<" in name else f"; or register a rule with `@adjoint({name})`"
    at = None if at is not None and at.file.startswith("<sourcead ") else at
    return NoSourceError(cause.reason, at, f"{cause.instead}{by_rule}")


def needs_items(reason: str, at: Origin | None, instead: str | None = None) -> UnsupportedSyntaxError:
    """Make the error for a use that can be lowered only if the loop around it is unrolled (`control/loops.py`)."""
    return marked(UnsupportedSyntaxError(reason, at=at, instead=instead), needs_items=True)


def surely(lo, error: SourceADError, raised: type) -> SourceADError:
    """Mark the error for a use that raises an exception of the class `raised` when the program comes to it (`syntax/exceptions.py`)."""
    return marked(error, raised=(raised, lo.build.stmts))


def perhaps(error: SourceADError, raised: type) -> SourceADError:
    """Mark the error for a use that raises an exception of the class `raised` in some programs, of which the types do not tell this one."""
    return marked(error, reported=raised)


def as_python_reports(error: SourceADError) -> SourceADError:
    """Return the error that leaves the compiler: one of Python's own class too if Python raises an exception in its place."""
    raised = surely_raised(error)[0] or getattr(error, "reported", None)
    cls = next((c for c in getattr(raised, "__mro__", ()) if c in REPORTED), None)
    if type(error) is not UnsupportedSyntaxError or cls is None:
        return error
    return ProgramError.of(cls, error.reason, error.at, error.instead).with_traceback(error.__traceback__)


REPORTED = {
    ArithmeticError, AttributeError, ImportError, IndexError, KeyError, LookupError, NameError, OverflowError, RecursionError,
    RuntimeError, StopIteration, TypeError, UnboundLocalError, ValueError, ZeroDivisionError,
}  # fmt: skip


def raises_in_statement(lo, error: SourceADError, node: gast.AST) -> None:
    """Note on the error for what raises an exception the innermost statement of each function that does, and whether it does for sure."""
    cls, place = surely_raised(error)
    if cls is not None:
        error.statements = {lo.scope: node if place is lo.build.stmts else None, **getattr(error, "statements", {})}
        error.callers = {lo.scope: node, **getattr(error, "callers", {})}


def surely_raised(error: Exception) -> tuple[type | None, list | None]:
    """Return the class of the exception that an error stands for and the statements at whose end it is raised, None if there is none."""
    return getattr(error, "raised", (None, None))


READ_FROM_LIST = "it was read from a list, and whether others see the change is not known here"


def frozen_error(cell: Cell, error: SourceADError) -> SourceADError:
    """Mark the error for a write to a frozen cell if the write is possible when objects in lists are kept one by one."""
    return marked(error, objects_apart=cell.frozen == READ_FROM_LIST, frozen=cell)


RETURN_IT = "return what is to be kept, as `(number, kept)` with has_aux=True"
APPENDED = f"append numbers, as `float(x)`, or `x.copy()`, and do nothing else with the list in the function; or {RETURN_IT}"


class MustMaterialise(Exception):
    """Signal that a list of known length changes in a branch or loop, and must become one IR value first."""

    def __init__(self, cell: Cell, origin: Origin | None):
        self.cell = cell
        self.origin = origin


class MustBeOneValue(Exception):
    """Signal that a list or dict that an arm of a branch leaves must be one IR value, as the other arm's is or can be.

    Attributes:
        place: the slot that the arm leaves it in, None for the value of the arm.
    """

    place: tuple | None = None


def unsupported(lo, node: gast.AST, reason: str | None = None, instead: str | None = None) -> UnsupportedSyntaxError:
    """Make the error for an unsupported construct."""
    name = type(node).__name__
    what, otherwise = CONSTRUCTS.get(name, (f"`{name}`", None))
    reason, instead = (reason, instead) if reason is not None else (f"{what} cannot be differentiated yet", instead or otherwise)
    return UnsupportedSyntaxError(reason, at=lo.origin(node), instead=instead)


CONSTRUCTS = {  # the syntax that is not lowered -> its name in messages, what to write instead
    "AsyncFunctionDef": ("an async function", "a function without `async`"),
    "Await": ("`await`", "a function without `async`"),
    "ClassDef": ("a class definition", "define the class outside of the function"),
    "Starred": ("a starred expression", None),
    "TypeAlias": ("a type alias", "define the alias outside of the function"),
}


class NeverReturns(Exception):
    """Signal a recursive call for which no result is known yet."""


class TooLong(Exception):
    """Signal that calls lowered in place make a long text; `kept` has the functions whose calls are to be kept instead."""

    def __init__(self, kept: dict[Any, bool]):
        super().__init__()
        self.kept = kept


def refused(lo, reason: str, instead: str | None = None) -> UnsupportedSyntaxError:
    """Make the error for an unsupported use at the current statement."""
    return UnsupportedSyntaxError(reason, at=lo.here, instead=instead)

OF_OTHER_ARRAYS = {
    "at": "`ARRAY = ARRAY.copy()`, and then `ARRAY[...] = value`",
    "backward": "nothing: `sourcead.grad` of the function that returns this number computes the gradient",
    "grad": "nothing: the gradient is what a call of `sourcead.grad(f)` returns",
    "requires_grad": "`wrt=`, which names the parameters by which the gradient is taken",
    "requires_grad_": "`wrt=`, which names the parameters by which the gradient is taken",
    "detach": "`sourcead.stop_gradient(ARRAY)`",
    "numpy": "`ARRAY` itself, which is an array of NumPy",
    "cpu": "`ARRAY` itself, which is an array of NumPy",
    "clone": "`ARRAY.copy()`",
    "unsqueeze": "`np.expand_dims(ARRAY, axis)`",
    "permute": "`ARRAY.transpose(...)`",
    "view_as": "`ARRAY.reshape(...)`",
    "pow": "`ARRAY ** n`",
    "abs": "`np.abs(ARRAY)`",
    **{name: f"`np.{name}(ARRAY)`" for name in ("exp", "log", "sin", "cos", "tanh", "sqrt")},
}
"""What to write for attributes that the arrays of JAX and PyTorch have, by name."""
