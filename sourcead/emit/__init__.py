"""IR to text: where updates may happen in place (`memory`), and Python source that reads as if a person wrote it (`emit`)."""

from sourcead.emit.function import Emitted, emit
from sourcead.emit.memory import assign_memory

__all__ = ["Emitted", "assign_memory", "emit"]
