"""Note where an expression is one of several values of different structure; what follows it is lowered for each (`syntax/choices.py`)."""

from dataclasses import dataclass
from typing import Any

import gast

from sourcead.frontend.core.cells import Value
from sourcead.frontend.core.generic import Generic
from sourcead.frontend.core.lowering import Lowering


@dataclass(frozen=True, eq=False)
class OneOf:
    """Represent what an assignment takes whose rest is lowered for each of several values: `options[which]`, else what raises an error.

    Attributes:
        which: a value that is equal to one of the keys of `options`.
        options: the values.
        missing: the class of the exception that is raised if it is equal to none of them, None if it surely is.
    """

    which: Value
    options: dict[Any, Any]
    missing: type | None = None


def choice_differs(lo: Lowering) -> None:
    """Note that an expression at this place is one of several values of different structure."""
    if lo.here is not None:
        lo.arms_differ()
        lo.differing[lo.here.file, lo.here.line, lo.here.col, "expression"] = True


def chooses_here(lo: Lowering) -> bool:
    """Return whether what follows the expressions of the statement at this place is lowered for each of the values that they may have."""
    at = lo.here
    return bool(lo.after_each) and at is not None and (at.file, at.line, at.col, "expression") in lo.after_each


@Generic
def with_choices_apart(lo: Lowering, node: gast.AST) -> list[gast.AST] | None:
    """Return the statements for one in which each expression that may be one of several values has an assignment; None if none has."""
    return None
