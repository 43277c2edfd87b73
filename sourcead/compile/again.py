"""Generated functions that compile again when a call shows that what they rely on does not hold.

They rely on the types of global data, on the functions that were inlined, and on numbers that do not lie too far apart
(`passes/loops/products_of_exponentials.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sourcead.compile.arguments import Arguments
from sourcead.compile.keys import coarse_key, exact_key
from sourcead.compile.live_data import MISSING, reader
from sourcead.compile.specialisation import Specialisation


class CompilesAgain:
    """The part of a derivative that replaces an entry of its table by one that holds."""

    __slots__ = ()
    _lock: Any
    _table: dict
    _texts: dict
    _far_apart: bool
    _compiled_for: Any
    _compiled: Callable
    _verified: Callable
    _last: Callable

    def _in_any_range(self, call: Callable, arguments: Arguments, key: tuple) -> Callable:
        """Return a function that calls `call`, and compiles again, without products of exponentials, if they are out of range."""

        def in_any_range(*args, **kwargs):
            try:
                return call(*args, **kwargs)
            except (FloatingPointError, RuntimeWarning):  # of `product_in_range`, or because the user asked NumPy to raise them
                pass
            return again()(*args, **kwargs)  # whose errors do not follow from this one

        def again():
            with self._lock:
                if not self._far_apart:
                    self._far_apart = True
                    self._texts.clear()
                    self._table.clear()
                compiled = self._compiled(arguments)
                self._table[key] = self._verified(compiled, arguments, key)
                self._compiled_for[self._last() or in_any_range] = compiled  # so that `source` shows the text that ran
                return self._table[key]

        return in_any_range

    def _refreshing(self, call: Callable, compiled: Specialisation, arguments: Arguments, key: tuple) -> Callable:
        """Return a function that reads global data before each call, and compiles again if its type or an inlined function changed."""
        guards = [(reader(holder), name, value) for holder, name, value in compiled.guards]
        live, namespace = [(reader(holder), name, inside) for holder, name, inside in compiled.live], compiled.namespace
        seen = [exact_key(look(name, MISSING)) for look, name, _ in live]

        def refreshed(*args, **kwargs):
            for look, name, value in guards:
                if look(name, MISSING) is not value:
                    return stale()(*args, **kwargs)
            for i, (look, name, inside) in enumerate(live):
                value = look(name, MISSING)
                if value is not namespace.get(inside, MISSING) or type(value) is not float:
                    found = exact_key(value)
                    if found != seen[i]:
                        if coarse_key(value) != compiled.live_keys[i]:
                            return stale()(*args, **kwargs)
                        seen[i] = found
                    if inside is not None:
                        namespace[inside] = value
            return call(*args, **kwargs)

        def stale():
            with self._lock:
                self._table.pop(key, None)
                again = self._compiled(arguments)
                renewed = self._verified(again, arguments, key)
                self._table[key] = renewed
                self._compiled_for[refreshed] = again  # `refreshed` is the last call, and `source` shows the text that ran
                return renewed

        return refreshed
