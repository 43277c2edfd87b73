"""Rules of the helpers of `sourcead.runtime` that generated text calls, by which that text can be differentiated again.

A helper that moves elements is linear in the cotangent `d` that it moves, and is the transpose of the function whose
cotangents it computes:

    y = repeat(x, n)                    d_x = repeat_cotangent(d_y, x, n)
    y = repeat_cotangent(d, x, n)       d_d = repeat(d_y, n)                    t_y = repeat_cotangent(t_d, x, n)

The helpers for products are products themselves.  Calls of helpers without a rule are differentiated through their bodies.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sourcead import runtime
from sourcead.ir.types import (
    ANY_DTYPE, FLOAT, UNKNOWN, Array, DictT, ListT, Scalar, StructT, TupleT, Type, anydim, join, map_type
)
from sourcead.primitives.registry import adjoint, adjoints, elementwise, enter, infers, linear, tangent, tangents
from sourcead.primitives.result_types.by_example import by_example, sized
from sourcead.primitives.result_types.operands import Impossible, array_type
from sourcead.runtime import (
    change_of_cofactors, convolve_cotangents, determinants, divide_or_zero, einsum_cotangents, equal_shares, fit_axis,
    kron_cotangents, like_arrays, matrices as runtime_matrices, quantile_cotangent, running_winner_cotangent,
    tangents as runtime_tangents, tensordot_cotangents, triangular, unbroadcast, unbroadcast_each
)
from sourcead.runtime.subscripts import with_added
from sourcead.runtime.tangents import (
    einsum_tangents, part_of_convolution, quantile_tangent, running_winner_tangent, share_of_winners
)

# ---- cotangents: making, adding, shaping ----

linear({
    runtime.unbroadcast: lambda y, d, x, d_y: (unbroadcast(d_y, d), None),
    runtime.unbroadcast_each: lambda y, ds, xs, d_y: (unbroadcast_each(d_y, ds), None),
    runtime.like_arrays: lambda y, ds, xs, d_y: (like_arrays(d_y, ds), None),
    runtime.like_sequence: lambda y, d, x, d_y: (unbroadcast(np.asarray(d_y), d), None),
    runtime.like_argument: lambda y, d, x, d_y: (
        unbroadcast(d_y, d) if isinstance(d, (float, np.ndarray)) else d_y, None
    ),
    runtime.add: lambda y, a, b, d_y: (d_y, d_y),
    runtime.copy: lambda y, x, d_y: d_y,
    runtime.one_for_each: lambda y, ds, count, function, d_y: (d_y, None, None),
    runtime.scatter: lambda y, d, key, x, d_y: (d_y[key], None, None),
    runtime.replaced_cotangent: lambda y, d, before, d_y: (unbroadcast(d_y, d), None),
})


@linear(runtime.assigned_cotangent)
def assigned_cotangent_adjoint(y, d, key, v, d_y):
    written = np.zeros_like(d)
    written[key] = d_y
    return written, None, None


# ---- elementwise ----

elementwise({
    runtime.divide_or_zero: lambda y, a, b, d_y: (divide_or_zero(d_y, b), -divide_or_zero(d_y * y, b)),
    runtime.log_or_zero: lambda y, x, d_y: divide_or_zero(d_y, x),
    runtime.sigmoid: lambda y, x, d_y: d_y * y * (1 - y),
    runtime.lower_exponent: lambda y, b, a, d_y: (d_y * ((b != 0) | (a != 0)), None),
    runtime.root_of: lambda y, x, value, slope, d_y: (d_y, -d_y / slope, None),
    runtime.first_root_of: lambda y, x, value, slope, d_y: (None, runtime.last_derivative(-d_y / slope), None),
})




@infers(runtime.found_by_search)
def found_type(fn, args, kwargs) -> Type:
    like = args[-1]
    if len(args) == 2 and isinstance(like.value, int):
        return Array(np.dtype(float), tuple(anydim() for _ in range(like.value)))
    return like.type


enter(runtime.found_by_search, runtime.unseen, constant=True)
adjoints({
    runtime.with_derivative_of: lambda y, held, x, d_y: (None, d_y),
    runtime.root_of_system: lambda y, x, value, jacobian, d_y: (d_y, -np.linalg.solve(jacobian.T, d_y), None),
    runtime.first_root_of_system: lambda y, x, value, jacobian, d_y: (
        None, runtime.last_derivative(-np.linalg.solve(jacobian.T, d_y)), None
    ),
}, result=lambda fn, args, kwargs: args[0].type)
tangents({
    runtime.with_derivative_of: lambda y, held, x, t_held, t_x: (None, t_x),
    runtime.root_of_system: lambda y, x, value, jacobian, t_x, t_value, t_jacobian: (t_x, -np.linalg.solve(jacobian, t_value), None),
    runtime.first_root_of_system: lambda y, x, value, jacobian, t_x, t_value, t_jacobian: (
        None, runtime.last_derivative(-np.linalg.solve(jacobian, t_value)), None
    ),
})
enter(runtime.rows_of_vertex, constant=True, memory="fresh", result=lambda fn, args, kwargs: Array(np.dtype(int), (anydim(),)))
enter(runtime.exception_of, runtime.handler_of, constant=True, pure=True, memory="fresh")


@adjoint(runtime.last_derivative, broadcasts=True)
def last_derivative_adjoint(y, d, d_y):
    raise NotImplementedError("the third derivative of a root that SciPy finds")

# ---- choosing ----

linear({
    runtime.equal_shares: lambda y, d, winner, xs, d_y: (share_of_winners(d_y, winner, xs), None, None),
    runtime_tangents.share_of_winners: lambda y, ts, winner, xs, d_y: (equal_shares(d_y, winner, xs), None, None),
    runtime.running_winner_cotangent: lambda y, d, winners, x, axis, d_y: (
        running_winner_tangent(d_y, x, winners, axis), None, None, None
    ),
    runtime_tangents.running_winner_tangent: lambda y, t, x, winners, axis, d_y: (
        running_winner_cotangent(d_y, winners, x, axis), None, None, None
    ),
    runtime.sort_cotangent: lambda y, d, x, axis=-1, d_y=None: (
        np.reshape(np.ravel(d_y)[np.argsort(np.ravel(x), kind="stable")], d.shape) if axis is None
        else np.take_along_axis(d_y, np.argsort(x, axis=axis, kind="stable"), axis), None, None
    ),
    runtime.choose_cotangent: lambda y, d, which, choices, d_y: (
        np.broadcast_to(np.choose(which, d_y), np.shape(d)), None, None
    ),
    runtime.select_cotangents: lambda y, d, conditions, choices, default, d_y: (
        np.broadcast_to(np.select(conditions, d_y[0], d_y[1]), np.shape(d)), None, None, None
    ),
    runtime.quantile_cotangent: lambda y, d, x, q, axis=None, keepdims=False, d_y=None: (
        quantile_tangent(d_y, x, q, axis, keepdims), None, None, None, None
    ),
    runtime_tangents.quantile_tangent: lambda y, t, x, q, axis=None, keepdims=False, d_y=None: (
        quantile_cotangent(d_y, x, q, axis, keepdims), None, None, None, None
    ),
})

# ---- moving elements back ----

linear({
    runtime.diagonals: lambda y, x, subscripts, d_y: (einsum_cotangents(d_y, subscripts, (x,))[0], None),
}, memory="shared", view="always", result=sized)

linear({
    runtime.diff_cotangent: lambda y, d, size, n, axis, d_y: (np.diff(d_y, n, axis), None, None, None),
    runtime.gather_cotangent: lambda y, d, places, x, d_y: (np.ravel(d_y)[places], None, None),
    runtime.pad_cotangent: lambda y, d, x, pad_width, mode, reflect_type="even", d_y=None: (
        np.pad(d_y, pad_width) if mode in ("constant", "empty") else np.pad(d_y, pad_width, mode), None, None, None, None
    ),
    runtime.tile_cotangent: lambda y, d, x, reps, d_y: (np.tile(d_y, reps), None, None),
    runtime.diagonal_cotangent: lambda y, d, x, offset=0, axis1=0, axis2=1, d_y=None: (
        np.diagonal(d_y, offset, axis1, axis2), None, None, None, None
    ),
    runtime.windows_cotangent: lambda y, d, x, window_shape, axis=None, d_y=None: (
        sliding_window_view(d_y, window_shape, axis), None, None, None
    ),
    runtime.repeat_cotangent: lambda y, d, x, repeats, axis=None, d_y=None: (
        np.repeat(d_y, repeats, axis), None, None, None
    ),
    runtime.split_like: lambda y, d, arrays, axis=0, d_y=None: (np.concatenate(d_y, axis), None, None),
    runtime.split_cotangent: lambda y, d, x, places, axis=0, d_y=None: (np.split(d_y, places, axis), None, None, None),
    runtime.unstack: lambda y, d, arrays, axis=0, d_y=None: (np.stack(d_y, axis), None, None),
    runtime.take_cotangent: lambda y, d, x, indices, axis, mode="raise", d_y=None: (
        np.take(d_y, indices, axis, mode=mode), None, None, None, None
    ),
    runtime.take_along_cotangent: lambda y, d, x, indices, axis=-1, d_y=None: (
        np.take_along_axis(d_y, indices, axis), None, None, None
    ),
    runtime.fit_axis: lambda y, d, n, axis, d_y: (fit_axis(d_y, d.shape[axis], axis), None, None),
})


@linear(runtime.meshgrid_cotangents)
def meshgrid_cotangents_adjoint(y, ds, xs, indexing="xy", d_y=None):
    thin = np.meshgrid(*d_y, indexing=indexing, sparse=True)
    return tuple(np.broadcast_to(c, np.shape(d)) for c, d in zip(thin, ds)), None, None


linear({
    runtime.gradient_cotangent: lambda y, d, f, spacing, axis, edge_order, d_y: (
        np.gradient(d_y, *spacing, axis=axis, edge_order=edge_order), None, runtime.undefined("the spacing"), None, None
    ),
}, only=("d",))
adjoints({with_added: lambda y, d, key, v, d_y: (d_y, None, d_y[key])})
tangents({with_added: lambda y, d, key, v, t_d, t_v: (t_d, with_added(runtime.zeros_like(y), key, t_v))})

# ---- products: d_a = transpose(d, b), d_b = transpose(d, a) ----

adjoints({
    runtime.tensordot_cotangents: lambda y, d, a, b, axes=2, d_y=None: (
        np.tensordot(d_y[0], b, axes) + np.tensordot(a, d_y[1], axes),
        tensordot_cotangents(d, a, d_y[1], axes)[0],
        tensordot_cotangents(d, d_y[0], b, axes)[1],
        None,
    ),
    runtime.kron_cotangents: lambda y, d, a, b, d_y: (
        np.kron(d_y[0], b) + np.kron(a, d_y[1]), kron_cotangents(d, a, d_y[1])[0], kron_cotangents(d, d_y[0], b)[1]
    ),
    runtime.convolve_cotangents: lambda y, d, a, v, mode="full", swapped=False, d_y=None: (
        part_of_convolution(np.convolve(d_y[0], v) + np.convolve(a, d_y[1]), a, v, mode, swapped),
        convolve_cotangents(d, a, d_y[1], mode, swapped)[0],
        convolve_cotangents(d, d_y[0], v, mode, swapped)[1],
        None,
        None,
    ),
})

tangents({
    runtime.tensordot_cotangents: lambda y, d, a, b, axes=2, t_d=None, t_a=None, t_b=None: (
        tensordot_cotangents(t_d, a, b, axes),
        (np.zeros_like(y[0]), tensordot_cotangents(d, t_a, b, axes)[1]),
        (tensordot_cotangents(d, a, t_b, axes)[0], np.zeros_like(y[1])),
    ),
    runtime.kron_cotangents: lambda y, d, a, b, t_d, t_a, t_b: (
        kron_cotangents(t_d, a, b),
        (np.zeros_like(y[0]), kron_cotangents(d, t_a, b)[1]),
        (kron_cotangents(d, a, t_b)[0], np.zeros_like(y[1])),
    ),
    runtime.convolve_cotangents: lambda y, d, a, v, mode="full", swapped=False, t_d=None, t_a=None, t_v=None: (
        convolve_cotangents(t_d, a, v, mode, swapped),
        (np.zeros_like(y[0]), convolve_cotangents(d, t_a, v, mode, swapped)[1]),
        (convolve_cotangents(d, a, t_v, mode, swapped)[0], np.zeros_like(y[1])),
    ),
    runtime.einsum_cotangents: lambda y, d, subscripts, operands, t_d, t_operands: (
        einsum_cotangents(t_d, subscripts, operands), einsum_tangents(t_operands, d, subscripts, operands)
    ),
})


@adjoint(runtime.einsum_cotangents)
def einsum_cotangents_adjoint(y, d, subscripts, operands, d_y):
    n = len(operands)
    changed = [[d_y[k] if j == k else operands[j] for j in range(n)] for k in range(n)]
    d_d = sum(np.einsum(subscripts, *changed[k]) for k in range(n))
    d_operands = [sum(einsum_cotangents(d, subscripts, changed[k])[j] for k in range(n) if k != j) for j in range(n)]
    return d_d, None, d_operands


@linear(runtime_tangents.einsum_tangents, only=("ts",))
def einsum_tangents_adjoint(y, ts, d, subscripts, operands, d_y):  # a symmetric map of the tangents
    unknown = runtime.undefined("what is not a tangent")
    return einsum_tangents(d_y, d, subscripts, operands), unknown, None, unknown


# ---- linear algebra ----


def second_change_of_cofactors(a, change, other):
    """Return the change of `change_of_cofactors(a, change)` for another change of `a`; it is symmetric in both changes."""
    each = change_of_cofactors(determinants.minors(a), determinants.minors(change))
    return determinants.signs_of_cofactors(a) * np.sum(each * determinants.minors(other), axis=(-2, -1))


adjoints({
    runtime.cofactors: lambda y, a, d_y: change_of_cofactors(a, d_y),
    runtime.change_of_cofactors: lambda y, a, change, d_y: (
        second_change_of_cofactors(a, change, d_y), change_of_cofactors(a, d_y)
    ),
    triangular.inverse_lower: lambda y, a, d_y: -np.tril(np.swapaxes(y, -1, -2) @ d_y @ np.swapaxes(y, -1, -2)),
})
tangents({
    runtime.cofactors: lambda y, a, t_a: change_of_cofactors(a, t_a),
    runtime.change_of_cofactors: lambda y, a, change, t_a, t_change: (
        second_change_of_cofactors(a, change, t_a), change_of_cofactors(a, t_change)
    ),
    triangular.inverse_lower: lambda y, a, t_a: -(y @ np.tril(t_a) @ y),
})


@adjoint(triangular.solve_lower)
def solve_lower_adjoint(y, a, b, d_y, transposed=False):
    d_b = triangular.solve_lower(a, d_y, not transposed)
    left, right = (y, d_b) if transposed else (d_b, y)
    return -np.tril(np.outer(left, right) if y.ndim == 1 else left @ right.T), d_b


@tangent(triangular.solve_lower)
def solve_lower_tangent(y, a, b, t_a, t_b, transposed=False):
    moved = (np.tril(t_a).T if transposed else np.tril(t_a)) @ y
    return -triangular.solve_lower(a, moved, transposed), triangular.solve_lower(a, t_b, transposed)


linear({triangular.lower_half: lambda y, t, d_y: triangular.lower_half(d_y)})
enter(
    triangular.inverse_lower, triangular.solve_lower, triangular.lower_half,
    memory="fresh", pure=True, numba="interpreted",
)  # fmt: skip

# ---- memory, order and forms ----

enter(
    runtime.copy, runtime.zeros_like, runtime.zeros_if_assigned, runtime.scatter, runtime.split_cotangent, runtime.windows_cotangent,
    runtime.diagonal_cotangent,
    memory="fresh",
)  # fmt: skip
enter(runtime.unbroadcast, runtime.like_sequence, runtime.cotangent_at, memory="first")
enter(runtime.divide_or_zero, runtime.log_or_zero, runtime.lower_exponent, runtime.sigmoid, runtime.sinc_slope, elementwise=True)

# ---- types ----


def cotangent_type(t: Type) -> Type:
    """Return the type of the cotangent of a value of this type."""
    match t:
        case Scalar(kind, dtype):
            if kind in ("float", "complex"):
                return t
            if dtype is None:
                return FLOAT
            return Scalar("float", ANY_DTYPE if dtype == ANY_DTYPE else np.dtype(float))
        case Array(dtype, dims):
            return t if dtype is None or dtype.kind in "fc" else Array(np.dtype(float), dims)
        case TupleT() | ListT() | DictT() | StructT():
            return map_type(t, cotangent_type)
    return UNKNOWN


_COTANGENT_OF = (
    (runtime.zeros_like,),
    (runtime.unbroadcast, runtime.like_sequence, runtime.split_like, runtime.like_arrays, runtime.unstack),
    (runtime.scatter, runtime.assigned_cotangent),
)
"""The helpers whose result has the type of the cotangent of their argument at the row's position."""

for _position, _functions in enumerate(_COTANGENT_OF):
    enter(*_functions, result=lambda fn, args, kwargs, position=_position: cotangent_type(args[position].type))
enter(runtime.join_rows, result=sized)
enter(runtime.copy, runtime.index_add, result=lambda fn, args, kwargs: args[0].type)


@infers(runtime.split_rows)
def _split_rows(fn, args, kwargs) -> Type:
    rows, x = args[0].type, args[1].type
    known = isinstance(rows, Array) and isinstance(x, Array) and rows.dims and x.dims
    return Array(rows.dtype, (*x.dims[:-1], rows.dims[-1])) if known else UNKNOWN


@infers(runtime.add)
def _add(fn, args, kwargs) -> Type:
    a, b = args[0].type, args[1].type
    return a if a == b else join(a, b)


# the number of the argument whose shape the result has, or those of the arguments whose shapes its parts have
_SHAPED_LIKE = {
    runtime.gather_cotangent: 2, runtime.pad_cotangent: 1, runtime.tile_cotangent: 1, runtime.repeat_cotangent: 1,
    runtime.split_cotangent: 1, runtime.windows_cotangent: 1, runtime.diagonal_cotangent: 1,
    runtime.take_cotangent: 1, runtime.take_along_cotangent: 1, runtime.sort_cotangent: 1, runtime.cumprod_cotangent: 1,
    runtime.gradient_cotangent: 1, runtime.running_winner_cotangent: 2, runtime_matrices.svd_cotangent: 2, runtime_matrices.qr_cotangent: 2,
    runtime_matrices.eigh_cotangent: 3, runtime_matrices.eig_cotangent: 4, runtime_matrices.pinv_cotangent: 2,
    runtime_matrices.cholesky_cotangent: 1, triangular.inverse_lower: 0, triangular.lower_half: 0, triangular.solve_lower: 1,
    runtime.matrix_power_cotangent: 1, runtime.cofactors: 0, runtime.change_of_cofactors: 0,
    runtime.vector_norm_slope: 0, runtime.matrix_norm_slope: 0, runtime.product_of_others: 0, runtime.middle_shares: 0,
    runtime.tensordot_cotangents: (1, 2), runtime.kron_cotangents: (1, 2), runtime.convolve_cotangents: (1, 2),
    runtime_matrices.planar_cross_cotangents: (1, 2),
    runtime_matrices.banded_cotangents: (4, 1),
}  # fmt: skip


@infers(*_SHAPED_LIKE)
def _shaped_like(fn, args, kwargs) -> Type:
    """Return the type with the dims of arguments, and the dtypes that examples show or, if there are none, that all arrays have."""
    places = _SHAPED_LIKE[fn]
    shapes = [array_type(args[k].type).dims for k in (places if isinstance(places, tuple) else (places,))]
    try:
        found = by_example(fn, args, kwargs)
    except Impossible:
        found = UNKNOWN
    if not all(shapes):
        return found if isinstance(places, tuple) else UNKNOWN
    dtypes = {a.type.dtype for a in args if isinstance(a.type, Array)}
    common = dtypes.pop() if len(dtypes) == 1 else None
    parts = found.items if isinstance(found, TupleT) else (found,) * len(shapes)
    arrays = tuple(Array(t.dtype if isinstance(t, Array) else common, dims) for t, dims in zip(parts, shapes))
    return TupleT(arrays) if isinstance(places, tuple) else arrays[0]


@infers(runtime.einsum_cotangents, runtime_tangents.einsum_tangents, runtime.unbroadcast_each)
def _each_like_its_operand(fn, args, kwargs) -> Type:
    t = cotangent_type(args[{runtime.einsum_cotangents: 2, runtime_tangents.einsum_tangents: 3}.get(fn, 1)].type)
    return TupleT(t.items) if isinstance(t, (TupleT, ListT)) and t.items is not None else UNKNOWN


@infers(runtime.meshgrid_cotangents)
def _each_of_a_grid(fn, args, kwargs) -> Type:
    ds, xs = args[0].type, args[1].type
    if not isinstance(xs, TupleT) or not all(isinstance(x, Array) for x in xs.items):
        return UNKNOWN
    found = getattr(ds, "items", None) or [UNKNOWN] * len(xs.items)
    return TupleT(tuple(Array(getattr(d, "dtype", None), x.dims) for d, x in zip(found, xs.items)))


@infers(runtime.diff_cotangent)
def _undoes_diff(fn, args, kwargs) -> Type:
    t, size, axis = args[0].type, args[1], args[3].value
    if not isinstance(t, Array) or not t.dims or not isinstance(axis, int):
        return by_example(fn, args, kwargs)
    dims = list(t.dims)
    dims[axis] = anydim() if size.dim is None else size.dim
    return Array(t.dtype, tuple(dims))


@infers(runtime_matrices.frechet, runtime_matrices.inverse_frechet)
def _like_matrix(fn, args, kwargs) -> Type:
    return args[1].type if array_type(args[1].type) == array_type(args[2].type) else UNKNOWN
