"""Derivatives follow the callable that they were made of: what it binds, and the code and defaults of the function behind it.

An edited module that is loaded again in place gives a function other code; the keywords of a `functools.partial` may be changed, and the
class of a callable object may be given another `__call__`.  A rule may be entered.  Each call looks, and forgets the texts made for what
was there before.
The first call shows whether a class has the derivative as a class method, which Python does not tell when the class is made.
"""

import types
from collections.abc import Callable
from typing import Any

from sourcead.compile.live_data import same_items
from sourcead.frontend.find_source import Opaque, find_source, is_compiled, unwrap
from sourcead.primitives.registry import CHANGES


class Renewed:
    """The part of a derivative that compares what it was made for with what is there now."""

    __slots__ = ()

    def _renew(self, args: tuple | None = None) -> None:
        """Forget all texts if the callable has another function behind it or binds others, the function was edited or a rule entered.

        `args` are the positional arguments of a call, None if there is no call.
        """
        if self._follows:
            self._rebind()
            if args is not None:
                self._count_after_class(args)
                self._follows = may_change(self.primal)
        user, named = self._plain, self._kwdefaults
        same = user.__kwdefaults__ is named or same_items(user.__kwdefaults__, named)  # None or a copy
        if user.__code__ is self._code and user.__defaults__ is self._defaults and same and self._rules == CHANGES[0]:
            return
        with self._lock:
            for level in reversed(self._levels):
                level._set_wrt(level._first)

    def _rebind(self) -> None:
        if isinstance(self._function, Renewed):
            self._function._renew()
        function, args, kwargs = behind(self.primal)
        bound = dict(enumerate(self._bound_args))
        if function is not self._function or not (same_items(dict(enumerate(args)), bound) and same_items(kwargs, self._bound_kwargs)):
            with self._lock:
                self._function, self._bound_args, self._bound_kwargs = function, args, kwargs
                self._set_wrt(len(args))


    def _count_after_class(self, args: tuple) -> None:
        """Count positions in wrt from the parameter after the class, if that is the first argument and has this as its class method."""
        with self._lock:
            if args and not self._first and isinstance(args[0], type) and is_class_method(self, args[0]):
                self._set_wrt(1)


def is_class_method(f: Callable, cls: type) -> bool:
    """Return whether a class, or one that it is derived from, has `f` as a class method."""
    members = (member for base in cls.__mro__ for member in vars(base).values())
    return any(isinstance(member, classmethod) and member.__func__ is f for member in members)


def may_change(f: Callable) -> bool:
    """Return whether a callable may have another function behind it at its next call, or bind other arguments."""
    return not isinstance(f, types.FunctionType | types.MethodType) and not is_compiled(f)


def behind(f: Callable) -> tuple[Callable, tuple, dict[str, Any]]:
    """Return the function or derivative behind a callable, and the arguments that the callable adds in front and by name.

    Raises:
        NoSourceError: there is no function with a source.
    """
    function, args, kwargs = unwrap(f)
    if isinstance(function, Renewed):
        return function, (*function._bound_args, *args), {**function._bound_kwargs, **kwargs}
    if isinstance(function, Opaque) and (plain := function.as_function()) is not None:
        return plain, args, kwargs
    if not isinstance(function, types.FunctionType):
        find_source(function)  # raises
    return function, args, kwargs
