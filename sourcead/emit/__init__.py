"""Turns IR into text: decides which updates happen in place (`memory`), and writes Python source that reads as if a person wrote it."""

from sourcead.emit.memory.in_place_or_copy import assign_memory
from sourcead.emit.memory.reuse import reuse_memory
from sourcead.emit.text.function import Emitted, emit
from sourcead.passes.plan import Pass

MEMORY = Pass(assign_memory, "last: values are immutable up to here, and updates in place from here on")
REUSE = Pass(reuse_memory, "behind it: it takes the memory of arrays that are read for the last time")

__all__ = ["MEMORY", "REUSE", "Emitted", "assign_memory", "emit"]
