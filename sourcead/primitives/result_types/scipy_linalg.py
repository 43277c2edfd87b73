"""Types of the results of scipy.linalg's functions; imported when the first of them is looked up."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.operands import Arg, arrange, array_type, need_dims


def _dtype(*args: Arg):
    """Return the dtype of a result computed in double precision from these operands, or None if it may be another."""
    dtypes = [array_type(a.type).dtype for a in args]
    if any(t is None or t not in (np.dtype("f8"), np.dtype("c16")) for t in dtypes):
        return None
    return np.result_type(*dtypes)


@infers(linalg.expm, linalg.sinm, linalg.cosm, linalg.sinhm, linalg.coshm)
def _same(fn, args, kwargs) -> Type:
    return Array(_dtype(args[0]), need_dims(args[0]))


@infers(linalg.sqrtm, linalg.logm)
def _maybe_complex(fn, args, kwargs) -> Type:
    return Array(None, need_dims(args[0]))


@infers(linalg.solve_triangular)
def _solve_triangular(fn, args, kwargs) -> Type:
    given = arrange("a b trans lower unit_diagonal overwrite_b check_finite", args, kwargs)
    return Array(_dtype(given["a"], given["b"]), need_dims(given["b"]))


@infers(linalg.solve_banded)
def _solve_banded(fn, args, kwargs) -> Type:
    given = arrange("l_and_u ab b overwrite_ab overwrite_b check_finite", args, kwargs)
    return Array(_dtype(given["ab"], given["b"]), need_dims(given["b"]))


@infers(linalg.solve_sylvester)
def _solve_sylvester(fn, args, kwargs) -> Type:
    given = arrange("a b q", args, kwargs)
    return Array(_dtype(*given.values()), need_dims(given["q"]))
