"""Application of a form for all members of a batch to a call (`primitives/together.py`)."""

from sourcead.ad.apply_rule import RuleCall, lowered
from sourcead.analysis.builder import Builder
from sourcead.errors import SourceADError
from sourcead.frontend.lower import NotStatic
from sourcead.ir.nodes import Atom, Operand, Var
from sourcead.passes.batching.calls import Unbatchable
from sourcead.primitives.together import Form


def applied(build: Builder, form: Form, target: Var, values: list[Operand], options: dict[str, Operand]) -> Atom:
    """Emit the statements of a form and return its result.

    Raises:
        Unbatchable: the types do not decide which branch the form takes, or it is not for these arguments.
    """
    try:
        lo, result = lowered(build, RuleCall(form.arguments, target, values, options), {})
        return lo.read(result)
    except (NotStatic, SourceADError):
        raise Unbatchable from None
