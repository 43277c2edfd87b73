"""The public transformations `grad`, `value_and_grad`, `vjp`, `jvp`, `pushforward` and `hvp`."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sourcead.backends.options import Numba
from sourcead.compile.generated import Generated, documentation
from sourcead.compile.gradient import Gradient
from sourcead.compile.pickling import reduced_by_value
from sourcead.compile.pipeline import Options
from sourcead.compile.specialisation import Specialisation
from sourcead.compile.verification import level_of
from sourcead.compile.wrt import check_cotangent
from sourcead.errors import ArgumentError, WrtError
from sourcead.frontend.find_source import Opaque, unwrap
from sourcead.language.checkpoint_policies import policy_of
from sourcead.language.tracebacks import folded
from sourcead.language.transformations import Described, returns_derivative
from sourcead.places.spelling import counted


@returns_derivative("grad")
def grad(
    f: Callable | None = None,
    wrt: int | str | Sequence[int | str] = 0,
    *,
    has_aux: bool = False,
    checkpoint: Any = "auto",
    budget: int | str | None = None,
    backend: str | Numba | None = None,
    verify: str | bool | None = None,
    readable: bool = False,
) -> Any:
    """Return a function that computes the gradient of `f`, whose result is one real number.

    Used as `grad(f)`, as `@grad`, or as `@grad(wrt=...)`.

    Args:
        f: a function whose source is available.
        wrt: the parameters that the gradient is taken with respect to: an index, a name, or a sequence of these. A single
            one gives one gradient, a sequence gives a tuple. Indices count from the first parameter that is not bound yet
            (in a method, from the one after `self`).
        has_aux: if true, `f` returns `(number, aux)` with any object `aux`, and the gradient function `(gradient, aux)`.
        checkpoint: what loops save for the reverse sweep: "auto" decides by cost; "store", "states", "recompute",
            `Segments(every)` and `Revolve(snapshots)` trade memory for time (`sourcead.language.checkpoint_policies`). In `f`,
            `checkpoint(...)` around the iterable of a loop sets the policy of that loop alone.
        budget: the memory that "auto" may fill with the states of a loop, in bytes or as a string such as "200MB".
        backend: "numpy" runs the generated text as it is; "numba", or `Numba(...)` with options, compiles it first; "auto" times both
            in the first calls and keeps the faster one. None is "numpy", except for a function that is compiled by Numba already
            (`@njit`): its gradient is compiled if Numba can, else NumPy runs it after a warning.
        verify: how a new text is checked at its first call, for which `f` is called once more, on copies of the arguments. "value"
            compares the value of `f`, "gradient" also the derivative along one direction with a difference quotient, False nothing.
            None is what the environment variable `SOURCEAD_VERIFY` says, else "value". A function that draws random numbers or has
            effects, such as `print`, is not checked; the log says so.
        readable: if true, each value of the generated text has a name and memory of its own, which is easier to follow, in place of
            the memory of an array that nothing reads any more (`d_h *= 1 - h * h`), which saves memory.

    Returns:
        A callable with f's parameters. A gradient has the structure of its argument: a float for a float (and for a
        Python int), an array of the same shape and dtype for an array, and tuples, lists, dicts, named tuples and
        dataclasses of these. Arguments are never changed. The callable has the attributes `source`, `lower`, `primal` and
        `save`, and can be pickled if `f` can.

    Raises:
        WrtError: wrt names no parameter; in a call, an argument in wrt is an array of integers or not a number or array.
        NoSourceError: the source of `f` cannot be found.
        NonScalarError: in a call, the result is not one real number.
        BackendError: in a call, Numba is not installed or cannot compile the gradient; not raised with "auto".
        VerificationError: in a call, the generated code does not compute what `f` computes.
        SourceADError: in a call, `f` does something unsupported; the classes in `sourcead.errors` say what.

    Example:
        >>> import numpy as np
        >>> from sourcead import grad
        >>> def loss(w, x):
        ...     return np.sum((w * x) ** 2)
        >>> grad(loss)(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
        array([18.,  4.])
        >>> grad(loss, wrt=("w", "x"))(2.0, 3.0)
        (36.0, 24.0)
    """
    made = functools.partial(Gradient, wrt=wrt, options=Options(has_aux, policy_of(checkpoint, budget), backend, verify, readable))
    return made if f is None else made(f)


@returns_derivative("value_and_grad")
def value_and_grad(
    f: Callable | None = None,
    wrt: int | str | Sequence[int | str] = 0,
    *,
    has_aux: bool = False,
    checkpoint: Any = "auto",
    budget: int | str | None = None,
    backend: str | Numba | None = None,
    verify: str | bool | None = None,
    readable: bool = False,
) -> Any:
    """Return a function that computes the value of `f` and its gradient, at the cost of the gradient alone.

    Args:
        f, wrt, has_aux, checkpoint, budget, backend, verify, readable: as for `grad`.

    Returns:
        A callable like that of `grad`, whose result is `(value, gradient)`, or `((value, aux), gradient)` with
        `has_aux`.

    Raises:
        SourceADError: as `grad`.

    Example:
        >>> from sourcead import value_and_grad
        >>> @value_and_grad
        ... def cube(x):
        ...     return x ** 3
        >>> cube(2.0)
        (8.0, 12.0)
    """
    options = Options(has_aux, policy_of(checkpoint, budget), backend, verify, readable)
    made = functools.partial(Gradient, wrt=wrt, kind="value_and_grad", options=options)
    return made if f is None else made(f)


@returns_derivative("vjp call")
def vjp(
    f: Callable, *args: Any, wrt: int | str | Sequence[int | str] | None = None, verify: str | bool | None = None
) -> tuple[Any, Callable]:
    """Compute the value of a function and its pullback, which multiplies a cotangent by the function's Jacobian.

    Args:
        f: a function whose result may have any shape and structure.
        args: the arguments of `f`.
        wrt: as for `grad`; None is all of `args`.
        verify: as for `grad`.

    Returns:
        `(value, pullback)`. `pullback(cotangent)` takes a cotangent of the value's structure, shapes and dtypes and
        returns the cotangents of the arguments in wrt: a tuple if wrt is a sequence, or None with several arguments,
        else a single cotangent. It may be called more than once.

    Raises:
        SourceADError: as `grad`, without NonScalarError. The pullback raises WrtError for a cotangent of another structure or shape.

    Example:
        >>> import numpy as np
        >>> from sourcead import vjp
        >>> value, pullback = vjp(lambda x: x ** 2, np.array([1.0, 2.0]))
        >>> value
        array([1., 4.])
        >>> pullback(np.array([1.0, 10.0]))
        array([ 2., 40.])
    """
    function, bound_args, bound_kwargs = unwrap(f)
    if wrt is None:
        if not args:
            raise WrtError("vjp has no arguments to differentiate with respect to", instead="vjp(f, x)")
        if len(args) == 1 and isinstance(args[0], tuple) and not fits(f, args) and fits(f, args[0]):
            raise ArgumentError("vjp is given the arguments of the function as one tuple", instead="vjp(f, *args)")
        wrt = 0 if len(args) == 1 else tuple(range(len(args)))
    elif not isinstance(wrt, str | int):
        wrt = tuple(wrt)
    value, given = _derivative_of("vjp", function, wrt, len(bound_args), level_of(verify))(*bound_args, *args, **bound_kwargs)
    return value, Pullback(value, given)


def spoken_name(f: Callable) -> str:
    """Return the name of a function in what a message says to write."""
    name = getattr(f, "__name__", "f")
    return name if name.isidentifier() else "f"


def names_for(f: Callable, count: int) -> list[str]:
    """Return names for that many arguments of a function: those of its parameters, if it tells them."""
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        names = []
    return names[:count] if len(names) >= count else [f"x{k}" for k in range(count)]


def in_tuple(names: Sequence[str]) -> str:
    """Return names as the tuple of them is written."""
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def fits(f: Callable, args: tuple) -> bool:
    """Return whether a function can be called with these arguments."""
    try:
        inspect.signature(f).bind(*args)
    except (TypeError, ValueError):
        return False
    return True


@dataclass(frozen=True, eq=False)
class Pullback:
    """What `vjp` returns: it multiplies a cotangent by the Jacobian, at the arguments that `vjp` got."""

    _value: Any
    _given: Callable

    @folded
    def __call__(self, cotangent):
        check_cotangent(cotangent, self._value)
        return self._given(cotangent)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "<pullback: takes a cotangent with the structure of the value, returns the cotangents of the arguments>"

    def __reduce__(self):
        instead = "send the function and its arguments, and call `vjp` where the pullback is needed"
        return reduced_by_value(Pullback, (self._value, self._given), "a pullback, which holds what the call of `vjp` computed,", instead)


@functools.lru_cache(maxsize=512)
def _derivative_of(kind: str, function: Callable, wrt: Any, bound: int, verify: str | bool) -> Gradient:
    return Gradient(function, _shifted(wrt, bound), kind, Options(verify=verify))


def _shifted(wrt: Any, by: int) -> Any:
    """Return wrt with indices counted from the first parameter instead of from parameter number `by`."""
    if isinstance(wrt, int):
        return wrt + by if wrt >= 0 else wrt
    return wrt if isinstance(wrt, str) else tuple(_shifted(item, by) for item in wrt)


@returns_derivative("jvp")
def pushforward(
    f: Callable, wrt: int | str | Sequence[int | str] = 0, *, backend: str | Numba | None = None,
    verify: str | bool | None = None,
) -> Gradient:  # fmt: skip
    """Return a function that computes the product of the Jacobian of `f` and a tangent, in forward mode.

    Args:
        f: a function whose result may have any shape and structure.
        wrt, backend, verify: as for `grad`.

    Returns:
        A callable that takes f's arguments and for each parameter in wrt, such as `w`, the tangent `t_w`, by name (or
        after f's arguments, if none of f's parameters has a default). A tangent has the structure, shapes and dtypes of
        its argument. The callable returns `(value, tangent)`, where the tangent has the structure and shapes of the
        value, and has the attributes `source`, `lower`, `primal` and `save`.

    Raises:
        SourceADError: as `grad`, without NonScalarError.

    Example:
        >>> import numpy as np
        >>> from sourcead import pushforward
        >>> push = pushforward(lambda x: x ** 2)
        >>> push(np.array([1.0, 2.0]), t_x=np.array([1.0, 10.0]))
        (array([1., 4.]), array([ 2., 40.]))
    """
    return Gradient(f, wrt, kind="jvp", options=Options(backend=backend, verify=verify))


@returns_derivative("jvp call")
def jvp(
    f: Callable, args: Sequence[Any], tangents: Sequence[Any], *, verify: str | bool | None = None
) -> tuple[Any, Any]:
    """Compute the value of a function and the tangent of its result, together in forward mode.

    Args:
        f: a function whose result may have any shape and structure.
        args: the arguments of `f`.
        tangents: one tangent for each of `args`, with the argument's structure, shapes and dtypes, or None for an
            argument that is held fixed.
        verify: as for `grad`.

    Returns:
        `(value, tangent)`, where the tangent has the structure and shapes of the value. The generated text is that
        of `pushforward`.

    Raises:
        ArgumentError: `args` or `tangents` is not a tuple or list.
        WrtError: the tangents differ from the arguments in number, structure, shape or dtype, or all are None.
        SourceADError: as `grad`, without NonScalarError.

    Example:
        >>> import numpy as np
        >>> from sourcead import jvp
        >>> jvp(lambda x, y: x * y, (np.array([1.0, 2.0]), 3.0), (np.array([1.0, 0.0]), None))
        (array([3., 6.]), array([3., 0.]))
    """
    if not isinstance(args, tuple | list) or not isinstance(tangents, tuple | list):
        raise ArgumentError("jvp takes the arguments, and the tangents, as a tuple each", instead="jvp(f, (x,), (t_x,))")
    if len(args) != len(tangents):
        raise WrtError(
            f"jvp is given {counted(len(args), 'argument')} and {counted(len(tangents), 'tangent')}",
            instead="one tangent for each argument, None for those that are held fixed",
        )
    wrt = tuple([k for k, t in enumerate(tangents) if t is not None])
    if not wrt:
        names = names_for(f, len(args)) or ["x"]
        instead = f"jvp({spoken_name(f)}, {in_tuple(names)}, {in_tuple([f't_{names[0]}', *['None'] * (len(names) - 1)])})"
        raise WrtError("jvp is given no tangent: every argument is held fixed", instead=instead)
    function, bound_args, bound_kwargs = unwrap(f)
    push = _derivative_of("jvp", function, wrt, len(bound_args), level_of(verify))
    given = zip(push.directions, [tangents[k] for k in wrt])
    return push(*bound_args, *args, **bound_kwargs, **dict(given))


class HessianProduct(Generated, Opaque):
    """The callable that `hvp` returns, with the attributes `source`, `lower`, `save` and `primal`."""

    def __init__(
        self, f: Callable, wrt: int | str | Sequence[int | str] = 0, backend: str | Numba | None = None,
        verify: str | bool | None = None,
    ):  # fmt: skip
        self._gradient = Gradient(f, wrt, options=Options(backend=backend, verify=verify))
        self._product = Gradient(self._gradient, self._gradient.wrt, kind="tangent", options=Options(verify=verify))
        self._single = self._gradient._single
        functools.update_wrapper(self, self._gradient)
        self.primal, self.wrt, self._directions = f, self._gradient.wrt, self._product._directions
        self.__doc__ = documentation(self, "product of the Hessian with a vector", self._gradient._user_function, " and last the vector")

    @folded
    def __call__(self, *args, **kwargs):
        try:
            return self._product(*args[:-1], **kwargs, **self._named(*args[-1:]))
        except TypeError:
            self._check_arguments(args[:-1], kwargs)
            raise

    def _check_arguments(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Refuse arguments that are not those of the function, once the last one is taken as the vector."""
        try:
            self._gradient._bound(args, kwargs)
        except TypeError as error:
            why = f"an hvp takes the vector last, by position, and the arguments before it do not fit: {error}"
            own = [p for p in inspect.signature(self.primal).parameters.values() if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
            vector = "v" if self._single else in_tuple([f"v_{name}" for name in self.wrt])
            wrt = "" if self.wrt == (own[0].name,) and self._single else f", wrt={self.wrt[0] if self._single else self.wrt!r}"
            instead = f"hvp({spoken_name(self.primal)}{wrt})({', '.join([*[p.name for p in own], vector])})"
            raise ArgumentError(why, instead=instead) from None

    def _named(self, *vector: Any) -> dict[str, Any]:
        """Return the vector, if it is given, as the tangents of the parameters in wrt."""
        names = self._product.directions
        if self._single or not vector:
            return dict(zip(names, vector))
        (v,) = vector
        if not isinstance(v, tuple | list) or len(v) != len(names):
            vectors = ", ".join(f"v_{name}" for name in self.wrt)
            why = f"the vector of an hvp with respect to {', '.join(self.wrt)} is a tuple of {len(names)}"
            raise WrtError(why, instead=f"one tuple as the last argument: `({vectors}{',' if len(names) == 1 else ''})`")
        return dict(zip(names, v))

    def described(self, args: tuple) -> Described:
        return Described("hvp", self.primal, self.wrt[0] if self._single else self.wrt)

    def __repr__(self):
        return f"<product of the Hessian of {self.__name__} with respect to {', '.join(self.wrt)} and a vector>"

    def __reduce__(self):
        return HessianProduct, (self.primal, self._gradient._asked, self._gradient._backend, self._gradient._verify)

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        return self._product._bound(args[:-1], {**kwargs, **self._named(*args[-1:])})

    def _latest(self, *args, **kwargs) -> Specialisation:
        return self._product._latest(*args[:-1], **kwargs, **self._named(*args[-1:]))


@returns_derivative("hvp")
def hvp(
    f: Callable, wrt: int | str | Sequence[int | str] = 0, *, backend: str | Numba | None = None,
    verify: str | bool | None = None,
) -> HessianProduct:  # fmt: skip
    """Return a function that computes the product of the Hessian of `f` and a vector, at the cost of a few gradients.

    Args:
        f: a function whose result is one real number, as for `grad`.
        wrt, backend, verify: as for `grad`.

    Returns:
        A callable `product(*args, v)`, where `v` and the result have the structure, shapes and dtypes of the argument in
        wrt. If wrt is a sequence, `v` and the result are tuples.

    Raises:
        SourceADError: as `grad`.

    Example:
        >>> import numpy as np
        >>> from sourcead import hvp
        >>> hvp(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
        array([  6., 120.])
    """
    return HessianProduct(f, wrt, backend, verify)
