"""`minimize`: SciPy's minimisers on structures of parameters, with the gradients and the products with Hessians that sourcead generates."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.api.transformations import hvp, value_and_grad
from sourcead.compile.gradient import Gradient
from sourcead.compile.structures import leaves, map_leaves
from sourcead.errors import ArgumentError, UnsupportedArgumentError
from sourcead.language.progress import PATIENCE, bar
from sourcead.language.tracebacks import folded
from sourcead.places.spelling import of_class

WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")  # methods that take products of the Hessian with vectors
WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITHOUT_BOUNDS = ("bfgs", "cg", "newton-cg", "dogleg", "trust-exact", "trust-ncg", "trust-krylov")


@folded
def minimize(
    f: Callable, x0: Any, *args: Any, method: str | None = None, bounds: tuple | None = None, progress: bool = True,
    backend: Any = None, verify: str | bool | None = None, **more: Any,
) -> Any:  # fmt: skip
    """Minimise a function with `scipy.optimize.minimize`, given its gradient, and products with its Hessian where the method takes them.

    Args:
        f: a function whose result is a real number, or what `grad` or `value_and_grad` made of one; it is minimised over its first
            parameter.
        x0: where to begin: a number, an array, or a structure of them (dicts, lists, tuples, named tuples, dataclasses, objects).
        args: the other arguments of `f`.
        method: a method of SciPy; None is BFGS, or L-BFGS-B with bounds. Newton-CG, trust-ncg, trust-krylov and trust-constr get products
            with the Hessian.
        bounds: (lowest, highest) values of the parameters; each is None, a number, or a structure like `x0` of numbers or arrays.
        progress: whether to show the iterations and the value if it lasts, on a terminal or in a notebook.
        backend, verify: as for `grad`.
        more: other arguments of `scipy.optimize.minimize`, such as `tol`, `options` and `callback`, which is called with a structure.

    Returns:
        SciPy's result, in which `x` and `jac` are structures like `x0`: arrays and numbers of the same dtypes and shapes.

    Raises:
        UnsupportedArgumentError: `x0` has no numbers, or complex ones.
        ArgumentError: the bounds do not fit `x0`, or the method takes none; an argument is what this function gives SciPy itself.
        SourceADError: as for `grad`.

    Example:
        >>> import numpy as np
        >>> from sourcead import minimize
        >>> def misfit(p, x, y):
        ...     return np.mean((p["slope"] * x + p["shift"] - y) ** 2)
        >>> x = np.linspace(0, 1, 20)
        >>> found = minimize(misfit, {"slope": 0.0, "shift": 0.0}, x, 3 * x + 1)
        >>> {name: round(value, 3) for name, value in found.x.items()}
        {'slope': 3.0, 'shift': 1.0}
    """
    from scipy.optimize import OptimizeResult, minimize as of_scipy

    for name in ("jac", "hess", "hessp", "fun", "args"):
        if name in more:
            raise ArgumentError(f"`minimize` gives SciPy `{name}` itself", instead="leave it out, or call `scipy.optimize.minimize`")
    primal = f.primal if isinstance(f, Gradient) else f
    form = Flat(x0)
    value_and_gradient = value_and_grad(primal, backend=backend, verify=verify)
    chosen = (method or "").lower() if isinstance(method, str | None) else ""
    given: dict[str, Any] = dict(more, method=method)
    if bounds is not None:
        if chosen in WITHOUT_BOUNDS:
            others = 'method="L-BFGS-B", "TNC", "SLSQP" or "trust-constr"'
            raise ArgumentError(f"the method {method} of SciPy takes no bounds", instead=others)
        given["bounds"] = form.bounds(bounds)
    if chosen in WITH_PRODUCTS:
        product = hvp(primal, backend=backend, verify=verify)
        given["hessp"] = lambda x, v: form.flat(product(form.structure(x), *args, form.structure(v)))
    elif chosen in ("dogleg", "trust-exact"):
        product = hvp(primal, backend=backend, verify=verify)
        given["hess"] = lambda x: np.stack([form.flat(product(form.structure(x), *args, form.structure(v))) for v in np.eye(len(x))])

    def both(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_and_gradient(form.structure(x), *args)
        shown.value = float(value)
        return shown.value, form.flat(gradient)

    with Shown(progress) as shown:
        callback = more.get("callback")

        def after(x: Any, *state: Any) -> Any:
            shown.advance()
            return None if callback is None else callback(form.structure(np.asarray(getattr(x, "x", x))), *state)

        function = (lambda x: both(x)[0]) if chosen in WITHOUT_GRADIENT else both
        takes = {} if chosen in WITHOUT_GRADIENT else {"jac": True}
        found = of_scipy(function, form.start, **{**given, **takes, "callback": after})
    result = OptimizeResult(found)
    result.x = form.structure(found.x)
    if isinstance(found.get("jac"), np.ndarray) and found.jac.shape == form.start.shape:
        result.jac = form.structure(found.jac)
    return result


class Flat:
    """A structure of parameters, and the vector of all numbers in it."""

    def __init__(self, x0: Any):
        self.x0 = x0
        self.parts = leaves(x0, "x0")
        if not self.parts or any(np.iscomplexobj(leaf) for _, leaf in self.parts):
            what = f"{of_class(x0)} without numbers" if not self.parts else "complex"
            why = f"`x0` is {what}, and SciPy minimises over real numbers"
            raise UnsupportedArgumentError(why, instead="real numbers or arrays in `x0`")
        self.start = self.flat(x0)

    def flat(self, x: Any) -> np.ndarray:
        """Return the vector of a structure like `x0`."""
        return np.concatenate([np.ravel(np.asarray(leaf, float)) for _, leaf in leaves(x)])

    def structure(self, vector: np.ndarray) -> Any:
        """Return the structure like `x0` of a vector."""
        rest = iter(np.split(vector, np.cumsum([np.size(leaf) for _, leaf in self.parts])[:-1]))

        def part(leaf: Any) -> Any:
            values = next(rest)
            if isinstance(leaf, np.ndarray):
                return values.reshape(leaf.shape).astype(leaf.dtype if leaf.dtype.kind == "f" else float)
            return leaf.dtype.type(values[0]) if isinstance(leaf, np.floating) else float(values[0])

        return map_leaves(part, self.x0)

    def bounds(self, given: Any) -> Any:
        """Return the bounds of the vector."""
        from scipy.optimize import Bounds

        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ArgumentError("the bounds are no pair of the lowest and the highest values", instead="bounds=(0.0, None)")
        return Bounds(self.limit(given[0], -np.inf), self.limit(given[1], np.inf))

    def limit(self, given: Any, missing: float) -> np.ndarray:
        """Return one of the bounds as a vector; what is None is `missing`."""
        if given is None or isinstance(given, float | int | np.number):
            return np.full(self.start.shape, missing if given is None else given)
        places = leaves(given, "x0")
        try:
            if [place for place, _ in places] != [place for place, _ in self.parts]:
                raise ValueError
            return np.concatenate([np.ravel(np.broadcast_to(one, np.shape(leaf))) for (_, one), (_, leaf) in zip(places, self.parts)])
        except ValueError:
            why = "the bounds have another structure than `x0`, or arrays of other shapes"
            raise ArgumentError(why, instead="None, a number, or a structure like `x0` for each of (lowest, highest)") from None


class Shown(contextlib.AbstractContextManager):
    """Shows the number of iterations and the last value, if it lasts and somebody sees it."""

    def __init__(self, asked: bool):
        self.value, self.bar = 0.0, None
        if asked:
            self.bar = bar("minimize", unit=" iterations", delay=PATIENCE, leave=False)

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()

    def advance(self) -> None:
        """Count one more iteration."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"f = {self.value:.6g}", refresh=False)
            self.bar.update(1)
