"""The derivative table: one file per family, read when a function of theirs is first asked for."""

from sourcead.primitives.registry import adjoint, adjoint_rule, no_derivative, tangent, tangent_rule
from sourcead.primitives.rule import Rule

__all__ = ["Rule", "adjoint", "adjoint_rule", "no_derivative", "tangent", "tangent_rule"]
