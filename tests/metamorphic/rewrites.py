"""All rewritings: the modules that record them, and the table."""

from tests.metamorphic import branches, calls, control, data, functions, idioms, names, sharing, wrappers
from tests.metamorphic.registry import REWRITES, composed, rewritten

MODULES = (branches, calls, control, data, functions, idioms, names, sharing, wrappers)

__all__ = ["REWRITES", "composed", "rewritten"]
