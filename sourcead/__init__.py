"""sourcead turns a Python function on NumPy arrays into the Python function that computes its gradient."""

from sourcead.api.check import GradientMismatch, check_grads
from sourcead.api.jacobians import hessian, jacobian
from sourcead.api.transformations import grad, hvp, jvp, pushforward, value_and_grad, vjp
from sourcead.backends.options import Numba
from sourcead.compile.gradient import Gradient, Lowered
from sourcead.errors import (
    AliasError, ArgumentError, BackendError, NonScalarError, NoRuleError, NoSourceError, RuleError, SourceADError,
    UnsupportedArgumentError, UnsupportedSyntaxError, UnsupportedValueError, WrtError
)
from sourcead.language.adjoint_blocks import adjoint_of
from sourcead.language.checkpoints import Auto, Revolve, Segments, checkpoint
from sourcead.language.combinators import NotAssociativeWarning, map, reduce, scan
from sourcead.primitives.registry import adjoint, tangent
from sourcead.runtime import stop_gradient

__version__ = "0.1.0"

__all__ = [
    "AliasError",
    "ArgumentError",
    "Auto",
    "BackendError",
    "Gradient",
    "GradientMismatch",
    "Lowered",
    "NoRuleError",
    "NoSourceError",
    "NonScalarError",
    "NotAssociativeWarning",
    "Numba",
    "Revolve",
    "RuleError",
    "Segments",
    "SourceADError",
    "UnsupportedArgumentError",
    "UnsupportedSyntaxError",
    "UnsupportedValueError",
    "WrtError",
    "adjoint",
    "adjoint_of",
    "check_grads",
    "checkpoint",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "map",
    "pushforward",
    "reduce",
    "scan",
    "stop_gradient",
    "tangent",
    "value_and_grad",
    "vjp",
]
