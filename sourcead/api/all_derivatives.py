"""The public functions `jacobian` and `hessian`, for matrices of NumPy or sparse ones, and `sparse_pattern`."""

from collections.abc import Callable, Sequence

from sourcead.api.jacobians import Hessian, Jacobian
from sourcead.api.sparse import Pattern, SparseHessian, SparseJacobian
from sourcead.errors import UnsupportedArgumentError
from sourcead.language.tracebacks import folded
from sourcead.language.transformations import returns_derivative


@returns_derivative("jacobian")
def jacobian(
    f: Callable, wrt: int | str | Sequence[int | str] = 0, mode: str = "auto", *, sparse: bool = False, verify: str | bool | None = None
) -> Jacobian:
    """Return a function that computes the Jacobian of `f`: the derivatives of all elements of its result by all of an argument.

    Args:
        f: a function whose result is an array, a number, or a structure of them.
        wrt: as for `grad`; the arguments must be real.
        mode: "forward" takes one sweep for each element of the arguments in wrt, "reverse" one for each element of the
            result; "auto" chooses the fewer sweeps, after one sweep that finds the size of the result.
        sparse: whether the Jacobian is a `scipy.sparse.csr_array` of shape `(y.size, x.size)`.  The elements that may be other
            than zero are found at the first call, and those columns or rows that have none of them in common are computed
            together in one sweep, which "auto" may do for both.  `docs/sparse.md` says when this pays.
        verify: as for `grad`.

    Returns:
        A callable with f's parameters. It returns an array of shape `y.shape + x.shape`, or a tuple of these if wrt is a
        sequence. If the result or the argument is a structure, it returns the result's structure with the argument's inside.

    Raises:
        UnsupportedArgumentError: the mode is unknown; in a call, an argument in wrt is complex, or in reverse mode the result.
        ModuleNotFoundError: `sparse` is true, and SciPy is not installed.
        SourceADError: as for `grad`, without NonScalarError.

    Example:
        >>> import numpy as np
        >>> from sourcead import jacobian
        >>> jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(np.array([3.0, 2.0]))
        array([[2., 3.],
               [0., 4.]])
        >>> jacobian(lambda x: x ** 2, sparse=True)(np.arange(10_000.0)).nnz
        10000
    """
    return (SparseJacobian if is_switch(sparse) else Jacobian)(f, wrt, mode, verify)


@returns_derivative("hessian")
def hessian(
    f: Callable, wrt: int | str | Sequence[int | str] = 0, *, sparse: bool = False, verify: str | bool | None = None
) -> Hessian:
    """Return a function that computes the Hessian of `f`, whose result is one real number, by forward over reverse mode.

    Args:
        f, wrt, verify: as for `grad`.
        sparse: as for `jacobian`; the colours use that a Hessian is symmetric.

    Returns:
        A callable with f's parameters. It returns an array of shape `x.shape + x.shape`, or a tuple of tuples of these, of
        shapes `x_i.shape + x_j.shape`, if wrt is a sequence.

    Raises:
        SourceADError: as for `grad`.
        ModuleNotFoundError: `sparse` is true, and SciPy is not installed.

    Example:
        >>> import numpy as np
        >>> from sourcead import hessian
        >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 2.0]))
        array([[4., 6.],
               [6., 0.]])
    """
    return (SparseHessian if is_switch(sparse) else Hessian)(f, wrt, verify)


def is_switch(sparse: bool) -> bool:
    """Return the option `sparse`; refuse what is neither True nor False."""
    if sparse not in (True, False):
        raise UnsupportedArgumentError(f"sparse is {sparse!r}, which is neither True nor False", instead="sparse=True")
    return bool(sparse)


@folded
def sparse_pattern(f: Callable, wrt: int | str | Sequence[int | str] = 0, *, hessian: bool = False) -> Callable[..., Pattern]:
    """Return a function that finds which elements of the Jacobian of `f`, or of its Hessian, may be other than zero.

    Args:
        f: a function as for `jacobian`, or with `hessian` as for `hessian`.
        wrt: as for `grad`.
        hessian: whether the pattern is that of the Hessian.

    Returns:
        A callable with f's parameters.  It returns a `Pattern`, which prints as a picture and has the elements as a
        `scipy.sparse` array, the colours of the columns and rows, and `plot()`.

    Raises:
        SourceADError: as for `grad`, in a call.
        ModuleNotFoundError: SciPy is not installed.

    Example:
        >>> import numpy as np
        >>> from sourcead import sparse_pattern
        >>> def residuals(x):
        ...     return x[1:] ** 2 - x[:-1]
        >>> print(sparse_pattern(residuals)(np.ones(6)))
        5 by 6, 10 elements, 2 sweeps: 2 forward
        ██....
        .██...
        ..██..
        ...██.
        ....██
    """
    made = SparseHessian(f, wrt) if hessian else SparseJacobian(f, wrt)
    return made.pattern
