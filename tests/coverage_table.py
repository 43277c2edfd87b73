"""docs/coverage.md: every public callable of NumPy, math and SciPy's special functions and dense linear algebra, in one of three classes.

    python -m tests.coverage_table          writes the document for the installed versions
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Hashable
from pathlib import Path

import numpy as np

from sourcead.frontend.lower import BUILTINS  # importing it makes every handler known
from sourcead.primitives.methods import ATTRIBUTES, INPLACE, METHODS, NORMALISERS
from sourcead.primitives.refusals import REFUSALS
from sourcead.primitives.table import compositions_of, record_of

DOCUMENT = Path(__file__).parent.parent / "docs" / "coverage.md"
NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "math", "scipy.special", "scipy.linalg")
CLASSES = ("differentiable", "carries no derivative", "refused")
UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
SHAPE_ATTRIBUTES = {"shape", "size", "ndim", "dtype", "itemsize", "nbytes"}
WRITTEN = {"fill", "sort", "put", "partition"}  # methods that write, as assignments
WALKED = {"flat", "item", "compress", "choose"}


def public(namespace: str) -> dict[str, object]:
    """The public callables of a module by name; those that only sound like it (modules, numbers) left out."""
    module = importlib.import_module(namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated names
        found = {name: getattr(module, name, None) for name in dir(module) if not name.startswith("_")}
    return {name: value for name, value in found.items() if callable(value)}


def class_of(namespace: str, name: str, function) -> str | None:
    """The class of a function by its record: one of CLASSES, None if nothing is known of it."""
    if not isinstance(function, Hashable):
        return None
    known = record_of(function)
    if (namespace, name) in REFUSALS or known.refused:
        return "refused"
    if record_of(function).no_derivative or name == "test":
        return "carries no derivative"
    written_out = any(not c.given for c in compositions_of(function))
    return "differentiable" if known.adjoint or written_out or known.writes or function in BUILTINS else None


def class_of_member(name: str) -> str | None:
    """The class of a method or attribute of ndarray."""
    if ("ndarray", name) in REFUSALS:
        return "refused"
    if name in SHAPE_ATTRIBUTES:
        return "carries no derivative"
    if name in METHODS and record_of(METHODS[name]).no_derivative:
        return "carries no derivative"
    if name in METHODS or name in NORMALISERS or name in ATTRIBUTES or name in WRITTEN or name in WALKED:
        return "differentiable"
    return "refused" if name in INPLACE else None


def table() -> dict[str, dict[str, str | None]]:
    """The class of every name, by namespace."""
    result = {}
    for namespace in NAMESPACES:
        if not namespace.startswith("scipy") or importlib.util.find_spec("scipy") is not None:
            result[namespace] = {name: class_of(namespace, name, f) for name, f in public(namespace).items()}
    result["ndarray"] = {name: class_of_member(name) for name in dir(np.ndarray) if not name.startswith("_")}
    return result


def versions() -> str:
    found = [f"NumPy {np.__version__}", f"Python {sys.version_info[0]}.{sys.version_info[1]}"]
    if importlib.util.find_spec("scipy") is not None:
        found.insert(1, f"SciPy {importlib.import_module('scipy').__version__}")
    return ", ".join(found)


HEAD = """# What can be differentiated

Written by `python -m tests.coverage_table` from the table of rules, for {versions}. Every public callable is in one of three classes:
**differentiable** (in reverse and forward mode), **carries no derivative** (integers, booleans, steps, fresh constants, random draws:
its result is taken for a constant), or **refused**: a call that a derivative would have to pass through is an error that says why.

Where a function is differentiable and one of its arguments is not, that argument is refused if a derivative would pass through it
(the order of a Bessel function, the degrees of freedom of a distribution).

## Limits

* `np.linalg.eig`, `eigvals`: the eigenvalues must differ. NumPy leaves the phase of each eigenvector to LAPACK: the derivative is that of
  a function which does not depend on it.
* `eig`, `eigh`, `svd`: where eigenvalues or singular values coincide, the derivative by their vectors is nan, also of functions that do not
  depend on the choice of the vectors. `eigh` and `cholesky` read one triangle, and so do their cotangents.
* `np.linalg.qr`: the first columns must be independent. `np.linalg.pinv`, `lstsq`: the rank must not change.
* `np.roots`: infinite at double roots. `np.unique` and `np.union1d`: of equal elements the first one carries the derivative.
* Systems, minima, least squares, linear programs, differential equations and sparse matrices: see [solvers](solvers.md).
* `scipy.optimize.brentq`, `bisect`, `newton`, `root_scalar`: the derivative is that of the root, and so is the second one; the third
  is refused. The function that they are given may change nothing outside of it.
* `scipy.integrate.quad`: the derivative is that of a sum over intervals. What jumps or is infinite between the limits raises ValueError,
  and the error that SciPy estimates is nan.
* `np.ma.asarray`, `asanyarray`, `atleast_1d`, `atleast_2d`, of plain arrays: what may mask something, such as a quotient, is refused.
* `scipy.ndimage.map_coordinates`, `affine_transform`, `shift`, `spline_filter`: of images of floating point, with `constant`, `nearest`,
  `mirror`, `reflect` or `grid-wrap`, in the image and in the places; splines of order 1 have a slope on each side of an element.
* `np.histogram`: the counts carry no derivative in the data, the edges do, and so do weights.
* A ufunc with `where=` and no `out=`: elsewhere the result is whatever the memory holds, through which no derivative passes.

## ufunc methods

`reduce`, `accumulate`, `reduceat`, `outer` and `at` of every ufunc of one or two arguments are differentiable: those of `add`,
`multiply`, `maximum` and `minimum` by rules of their own, the others as the loops that they are.
"""


def document() -> str:
    parts = [HEAD.format(versions=versions())]
    for namespace, names in table().items():
        parts.append(f"\n## {namespace}\n")
        for kind in CLASSES:
            members = sorted(name for name, found in names.items() if found == kind)
            if not members:
                continue
            if kind != "refused":
                parts.append(f"\n**{kind}** ({len(members)}): " + ", ".join(f"`{m}`" for m in members) + "\n")
                continue
            reasons: dict[str, list[str]] = {}
            for m in members:
                reasons.setdefault(REFUSALS.get((namespace, m), "it changes the array in place"), []).append(m)
            parts.append(f"\n**refused** ({len(members)}):\n\n")
            parts += [f"* {reason}: " + ", ".join(f"`{m}`" for m in of) + "\n" for reason, of in reasons.items()]
    return "".join(parts)


def modes_of(function) -> tuple[bool, bool]:
    """Whether a function with a rule is differentiable in reverse mode, and in forward mode."""
    return record_of(function).adjoint_rule is not None, record_of(function).tangent_rule is not None


if __name__ == "__main__":
    DOCUMENT.write_text(document())
    unknown = [f"{namespace}.{name}" for namespace, names in table().items() for name, kind in names.items() if kind is None]
    print(f"{DOCUMENT}: {sum(map(len, table().values()))} names", *(["in no class:", *unknown] if unknown else []))
