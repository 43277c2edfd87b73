"""The derivative table: one file per family, read when a function of theirs is first asked for."""

from sourcead.rules.registry import Rule, adjoint, adjoint_rule, no_derivative

__all__ = ["Rule", "adjoint", "adjoint_rule", "no_derivative"]
