"""`vmap`: a function for all members of a batch at once, as text."""

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sourcead.backends.options import Numba
from sourcead.compile.before_calls import calling
from sourcead.compile.generated import Generated
from sourcead.compile.gradient import Gradient
from sourcead.compile.member_loop import MemberLoop, is_axis
from sourcead.compile.pipeline import Options
from sourcead.compile.specialisation import Specialisation
from sourcead.compile.viewing import Page
from sourcead.errors import ArgumentError, SourceADError
from sourcead.frontend.find_source import Opaque, unwrap
from sourcead.ir.names import is_name
from sourcead.ir.records import is_record, parts_of
from sourcead.language.tracebacks import folded
from sourcead.language.transformations import Mapped, returns_derivative


class Vmapped(Generated, Opaque):
    """The callable that `vmap` returns; `primal` is the user's function.

    A text is made for each number of arguments and their names, and for each combination of their types.
    """

    _directions: dict[str, str] = {}

    def __init__(self, f: Callable, in_axes: Any = 0, out_axes: Any = 0, options: Options = Options()):  # noqa: B008 (immutable)
        if not callable(f):
            raise ArgumentError(f"`vmap` takes a function, and is given {f!r}", instead="vmap(f)(xs)")
        for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
            check_axes(axes, name)
        functools.update_wrapper(self, f)
        self.primal, self.in_axes, self.out_axes = f, in_axes, out_axes
        self.__name__ = getattr(f, "__name__", "f")
        self._options, self._own = options, 0
        self._forms: dict[Any, Gradient] = {}
        self._plain: types.FunctionType | None = None
        self._last: Gradient | None = None
        self._code = getattr(self._function(), "__code__", None)
        self.__doc__ = f"`{self.__name__}` for all members of a batch.\n\n`source`, `lower(*args)` and `save(path)` are as those of `grad`."

    def _follow(self) -> None:
        """Forget all texts if the function was edited, as a module that is loaded again in place is."""
        code = getattr(self._function(), "__code__", None)
        if code is not self._code:
            self._code, self._forms, self._plain, self._last = code, {}, None, None

    def _function(self) -> Any:
        """Return what is behind the function and all derivatives of it."""
        function, _, _ = unwrap(self.primal)
        while isinstance(function, Gradient | Vmapped):
            function, _, _ = unwrap(function.primal)
        return function

    @folded
    def __call__(self, *args, **kwargs):
        self._follow()
        form = self._form(args, kwargs)
        loop = form._function.member_loop
        if not loop.count(args, kwargs, form.signature.parameters):
            return self._of_none(loop, args, kwargs)
        self._last = form
        return form(*args, **kwargs)

    def _of_none(self, loop: MemberLoop, args: tuple, kwargs: dict[str, Any]):
        """Return the results of no members, of the shapes that the text gives them."""
        form = self._form(args, kwargs, verify=False)
        try:
            return form(*args, **kwargs)
        except (ValueError, IndexError, TypeError) as error:  # as NumPy raises them for a stack of nothing
            if isinstance(error, SourceADError):
                raise
            raise loop.without_members() from error

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __set_name__(self, owner, name):
        if not isinstance(self.primal, staticmethod):
            self._own, self._forms, self._plain = 1, {}, None

    def __repr__(self):
        return f"<{self.__name__} for all members, in_axes={self.in_axes!r}, out_axes={self.out_axes!r}>"

    def __reduce__(self):
        return Vmapped, (self.primal, self.in_axes, self.out_axes, self._options)

    def described(self, args: tuple) -> Mapped:
        return self._loop().described(args)

    def as_function(self) -> types.FunctionType:
        """Return a plain function that calls this, for derivatives of it: with the parameters that it must be given."""
        self._follow()
        if self._plain is None:
            parameters = [p for p in self._parameters() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            if isinstance(self.in_axes, tuple | list):
                parameters = parameters[: self._own + len(self.in_axes)]
                more = self._own + len(self.in_axes) - len(parameters)
                parameters += [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in range(more)]
            else:
                parameters = [p for p in parameters if p.default is p.empty]
            plain = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=p.empty, annotation=p.empty) for p in parameters]
            self._plain = self._calling(inspect.Signature(plain), self._loop())
        return self._plain

    @folded
    def view(self, *args, **kwargs) -> Page:
        """Return a page that shows the function beside the generated text, as `view` of what `grad` returns does."""
        form = self._form(args, kwargs) if args or kwargs else self._last
        if form is None:
            raise ArgumentError(f"`vmap({self.__name__})` was not called yet", instead="call it, or `view(...)` with arguments")
        return form.view(*args, **kwargs)

    def _loop(self, checked: bool = False) -> MemberLoop:
        return MemberLoop(self.primal, self.in_axes, self.out_axes, self._own, checked)

    def _parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of the user's function that are not bound yet."""
        try:
            return list(inspect.signature(self.primal).parameters.values())
        except (TypeError, ValueError):  # a built-in function
            return []

    def _calling(self, signature: inspect.Signature, loop: MemberLoop) -> types.FunctionType:
        made = calling(loop, signature, self.__name__ if is_name(self.__name__) else "f")
        made.member_loop = loop
        loop.positional = sum(p.kind is not p.KEYWORD_ONLY for p in signature.parameters.values())
        if isinstance(function := self._function(), types.FunctionType):
            made.stands_for = function
        return made

    def _form(self, args: tuple, kwargs: dict[str, Any], verify: bool = True) -> Gradient:
        """Return the function whose text is generated, for that number of arguments and these names."""
        key = len(args), tuple(kwargs), verify
        if key not in self._forms:
            own = [p.name for p in self._parameters() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            names = [n if n not in kwargs else f"{n}_" for n in own[: len(args)]]
            names += [f"x{k}" for k in range(len(names), len(args))]
            parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
            parameters += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in kwargs]
            function = self._calling(inspect.Signature(parameters), self._loop(checked=True))
            self._forms[key] = Gradient(function, (), "vmap", self._options if verify else replace(self._options, verify=False))
        return self._forms[key]

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        return self._form(args, kwargs)._bound(args, kwargs)

    def _latest(self, *args, **kwargs) -> Specialisation:
        self._follow()
        if args or kwargs:
            form = self._form(args, kwargs)
            form._function.member_loop.count(args, kwargs, form.signature.parameters)
            return form._latest(*args, **kwargs)
        if self._last is None:
            why = f"the text of `vmap({self.__name__})` depends on its arguments, and it was not called yet"
            raise ArgumentError(why, instead="call it, or `lower(...)` with arguments")
        return self._last._latest()


def check_axes(axes: Any, name: str) -> None:
    """Refuse what are no axes."""
    if axes is None or is_axis(axes):
        return
    if isinstance(axes, tuple | list | dict):
        for part in axes.values() if isinstance(axes, dict) else axes:
            check_axes(part, name)
    elif is_record(axes):
        for _, part in parts_of(axes):
            check_axes(part, name)
    else:
        raise ArgumentError(f"{name} is {axes!r}", instead=f"{name}=0, None, or a tuple of these")


@returns_derivative("vmap")
def vmap(
    f: Callable | None = None, in_axes: Any = 0, out_axes: Any = 0, *, backend: str | Numba | None = None,
    verify: str | bool | None = None,
) -> Any:  # fmt: skip
    """Return a function that computes `f` for all members of a batch at once, and equals a loop over them up to rounding.

    Used as `vmap(f)`, as `@vmap`, or as `@vmap(in_axes=...)`.

    Args:
        f: a function of one member, whose source is available; also what `grad`, `jacobian` or `vmap` returned.
        in_axes: the axis of each argument along which its members are: an integer or None for all of them, None for those that are
            the same for all members; or a tuple with one item for each argument by position, which may be a structure like the
            argument with integers and None in it. An integer for a structure is for all arrays in it. Arguments that are given by
            name have axis 0.
        out_axes: likewise the axis of the members in the result.
        backend: "numpy", or "numba", which compiles a loop over the members; "auto", as for `grad`.
        verify: as for `grad`: a new text is compared with a loop over a few of the members.

    Returns:
        A callable with f's parameters, with the attributes `source`, `lower` and `save` as those of `grad`. `lower(*args).notes` says
        what had no form for all members at once, and became a loop. `grad`, `jvp`, `jacobian` and `vmap` take it like any function.

    Raises:
        ArgumentError: in a call, an argument has no such axis, the numbers of members differ, or there is none and the shapes of the
            results are not known without one.
        SourceADError: as `grad`.

    Example:
        >>> import numpy as np
        >>> from sourcead import grad, vmap
        >>> def loss(w, x):
        ...     return np.sum((w * x) ** 2) if x[0] > 0 else np.sum(w)
        >>> w, xs = np.array([1.0, 2.0]), np.array([[3.0, 1.0], [-1.0, 1.0]])
        >>> vmap(loss, in_axes=(None, 0))(w, xs)
        array([13.,  3.])
        >>> vmap(grad(loss), in_axes=(None, 0))(w, xs)
        array([[18.,  4.],
               [ 1.,  1.]])
    """
    made = functools.partial(Vmapped, in_axes=in_axes, out_axes=out_axes, options=Options(backend=backend, verify=verify))
    return made if f is None else made(f)
