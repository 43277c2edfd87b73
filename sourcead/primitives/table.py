"""Import all families of primitives, and look up the record of a function.

The families of SciPy are imported when the first function of SciPy is looked up.
"""

from dataclasses import replace

import numpy as np

from sourcead.errors import NoRuleError
from sourcead.places.origin import Origin
from sourcead.places.spelling import spelled
from sourcead.primitives import (  # noqa: F401  (importing them enters records)
    arithmetic, builtin_functions, constants, creation, decompositions, elementwise, fft, indexing, joining, linalg,
    lists, products, reductions, runtime_helpers, scalars, scans, shapes, signals, statistics
)
from sourcead.primitives.compositions import (  # noqa: F401
    OF_UFUNCS, Composition, arrays, emath, options, polynomials, statistics as composed_statistics, ufuncs, writes
)
from sourcead.primitives.function_kinds import home
from sourcead.primitives.refusals import draw_from_standard
from sourcead.primitives.registry import FACTS, Primitive, record

NOTHING = Primitive(None)
"""The record of an unhashable object, which has no facts."""


def record_of(function) -> Primitive:
    """Return the record of a function, after importing the families of SciPy if it is one of SciPy's."""
    try:
        known = function in FACTS
    except TypeError:  # not hashable
        return NOTHING
    if not known and (where := home(function)).startswith("scipy."):
        read_scipy(where)
    return record(function)


def takes_arrays(function) -> bool:
    """Return whether NumPy converts each list or tuple that this function, which is no elementwise ufunc, is given to one array."""
    known, module = record_of(function), getattr(function, "__module__", None) or ""
    of_ufunc = isinstance(getattr(function, "__self__", None), np.ufunc)
    of_numpy = function.signature is not None if isinstance(function, np.ufunc) else of_ufunc or module.startswith("numpy")
    return of_numpy and known.sequences != "kept" and known.adjoint_rule is not None


def missing_rule(function, at: Origin | None, mode: str = "adjoint") -> NoRuleError:
    """Return the error for a call of a function that has no rule for the mode "adjoint" or "tangent"."""
    known = record_of(function)
    if (other := draw_from_standard(function)) is not None:  # no rule for it makes sense
        return NoRuleError(f"no {mode.replace('adjoint', 'derivative')} rule for `{spelled(function)}`: {known.refused}", at, other)
    if mode == "adjoint":
        if known.tangent_rule:
            return NoRuleError.of(function, at, "adjoint", "it has a tangent rule only, which forward mode takes")
        return NoRuleError.of(function, at, why=known.refused)
    only = "it has an adjoint rule only, which reverse mode takes" if known.adjoint_rule else known.refused
    return NoRuleError.of(function, at, "tangent", only)


def compositions_of(function) -> list[Composition]:
    """Return the compositions that may replace calls of a function."""
    own = list(record_of(function).compositions)
    method = isinstance(getattr(function, "__self__", None), np.ufunc)
    if method or isinstance(function, np.ufunc):
        ufunc, name = (function.__self__, function.__name__) if method else (function, "__call__")
        return own + [replace(c, first=(ufunc,)) for c in OF_UFUNCS.get(name, ())]
    return own


def read_scipy(where: str) -> None:
    """Import the families that have functions of a module of SciPy."""
    if where.startswith("scipy.special"):
        from sourcead.primitives.scipy_special import (  # noqa: F401
            bessel, distributions, elementary, integrals, orthogonal, several_results
        )
    elif where.startswith(("scipy.stats", "scipy.spatial.distance")):
        from sourcead.primitives import scipy_distributions, scipy_samples, scipy_stats  # noqa: F401
    elif where.startswith("scipy.integrate"):
        from sourcead.primitives import scipy_integrate, scipy_ode  # noqa: F401
    elif where.startswith("scipy.optimize"):
        from sourcead.primitives import scipy_fits, scipy_linear_programs, scipy_roots, scipy_systems  # noqa: F401
    elif where.startswith("scipy.interpolate"):
        from sourcead.primitives import scipy_interpolation  # noqa: F401
    elif where.startswith(("scipy.ndimage", "scipy.signal")):
        from sourcead.primitives import scipy_filters, scipy_images, scipy_signals  # noqa: F401
    elif where.startswith("scipy.fft"):
        from sourcead.primitives import scipy_transforms  # noqa: F401
    elif where.startswith("scipy.sparse"):
        from sourcead.primitives import scipy_sparse, scipy_sparse_solvers  # noqa: F401
    elif where.startswith("scipy.linalg"):
        from sourcead.primitives import scipy_linalg  # noqa: F401
