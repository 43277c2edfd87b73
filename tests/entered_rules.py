"""The adjoint rules that are entered: of all families, or with those of users."""

from __future__ import annotations

import importlib.util
from typing import Any

from sourcead.primitives.registry import FACTS, USERS, adjoint, record
from sourcead.primitives.rule import Rule
from sourcead.primitives.table import read_scipy


def own_rules() -> dict[Any, Rule]:
    """Return the adjoint rules of all families, without those of users and of the examples in docstrings."""
    return {f: rule for f, rule in registered().items() if f not in USERS and is_of_family(rule.function)}


def is_of_family(rule_function) -> bool:
    """Return whether a rule is defined in a module of the families, other than the registry."""
    module = rule_function.__module__
    return module.startswith("sourcead.primitives.") and module != adjoint.__module__


def registered() -> dict[Any, Rule]:
    """Return all adjoint rules, with those of SciPy's families if SciPy is installed."""
    if importlib.util.find_spec("scipy") is not None:
        read_scipy("scipy.special")
        read_scipy("scipy.linalg")
        read_scipy("scipy.sparse")
    found = {f: record(f).adjoint_rule for f in (*FACTS, *USERS)}
    return {f: rule for f, rule in found.items() if rule is not None}
