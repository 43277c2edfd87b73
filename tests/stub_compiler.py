"""What stands for the pipeline in tests of what is around it."""

from sourcead.backends.base import Program
from sourcead.compile.pipeline import Built


def built(text, namespace, *, name="generated", ir=None, notes=(), written=frozenset(), live=(), guards=()):
    """What `build` returns for a text."""
    return Built(Program(name, text, namespace, ir), notes, written, frozenset(), live, guards)
