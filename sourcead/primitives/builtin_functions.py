"""Facts about the memory and cost of Python's built-in functions; the rules of those with a derivative are in the other families."""

from sourcead.primitives.registry import enter

enter(
    abs, bool, complex, divmod, float, hash, id, int, isinstance, issubclass, len, pow, range, repr, round, str, type,
    memory="fresh",
)  # fmt: skip
enter(dict, enumerate, frozenset, list, reversed, set, sorted, sum, tuple, zip, memory="shallow")
enter(abs, bool, complex, divmod, float, int, len, max, min, pow, round, sum, pure=True)
enter(abs, len, min, max, float, int, cheap=True)
enter(abs, pow, elementwise=True)
enter(len, metadata=True)
enter(
    len, range, float, int, bool, abs, min, max, isinstance, print, tuple, enumerate, zip, reversed, list, complex, round, slice,
    numba="native",
)  # fmt: skip
enter(
    abs, bool, complex, divmod, float, int, len, max, min, pow, round, sum, sorted, any, all, tuple, list, repr, str,
    examples=True,
)  # fmt: skip
