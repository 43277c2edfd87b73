"""IR to text: where updates may happen in place (`memory`), and Python source that reads as if a person wrote it (`emit`)."""

from sourcead.emit.memory.assign import assign_memory
from sourcead.emit.text.function import Emitted, emit

__all__ = ["Emitted", "assign_memory", "emit"]
