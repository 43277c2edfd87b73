"""The helpers that generated text calls (`sourcead.runtime`), so that it can be differentiated again.

Those that move elements are linear in the cotangent `d` that they move, and each is the transpose of the function whose
cotangents it gives:

    d_x = repeat_cotangent(d, x, n)     t_d_x = repeat_cotangent(t_d, x, n)     d_d = np.repeat(d_d_x, n)

Those of products are products themselves.  Helpers without a rule are differentiated as if their bodies stood in the text.
"""

import numpy as np

from sourcead import runtime
from sourcead.primitives.registry import adjoint, linear, tangent
from sourcead.runtime import (
    convolve_cotangents, divide_or_zero, dot_cotangents, einsum_cotangents, equal_shares, fit_axis, kron_cotangents,
    like_arrays, quantile_cotangent, running_winner_cotangent, tangents as runtime_tangents, tensordot_cotangents,
    unbroadcast, unbroadcast_each
)
from sourcead.runtime.tangents import einsum_tangents, quantile_tangent, running_winner_tangent, share_of_winners
from sourcead.runtime.unknown import with_added

# ---- cotangents: making, adding, shaping ----


@adjoint(runtime.unbroadcast)
def unbroadcast_adjoint(y, d, x, d_y):
    return unbroadcast(d_y, d), None


@adjoint(runtime.unbroadcast_each)
def unbroadcast_each_adjoint(y, ds, xs, d_y):
    return unbroadcast_each(d_y, ds), None


@adjoint(runtime.like_arrays)
def like_arrays_adjoint(y, ds, xs, d_y):
    return like_arrays(d_y, ds), None


@adjoint(runtime.like_sequence)
def like_sequence_adjoint(y, d, x, d_y):
    return unbroadcast(np.asarray(d_y), d), None


@adjoint(runtime.like_argument)
def like_argument_adjoint(y, d, x, d_y):
    return unbroadcast(d_y, d) if isinstance(d, (float, np.ndarray)) else d_y, None


@adjoint(runtime.add)
def add_adjoint(y, a, b, d_y):
    return d_y, d_y


@adjoint(runtime.copy)
def copy_adjoint(y, x, d_y):
    return d_y


@adjoint(runtime.scatter)
def scatter_adjoint(y, d, key, x, d_y):
    return d_y[key], None, None


@adjoint(runtime.assigned_cotangent)
def assigned_cotangent_adjoint(y, d, key, v, d_y):
    written = np.zeros_like(d)
    written[key] = d_y
    return written, None, None


@adjoint(runtime.replaced_cotangent)
def replaced_cotangent_adjoint(y, d, before, d_y):
    return unbroadcast(d_y, d), None


linear(
    runtime.replaced_cotangent, runtime.unbroadcast,
    runtime.unbroadcast_each, runtime.like_arrays, runtime.like_sequence, runtime.like_argument, runtime.add,
    runtime.copy, runtime.scatter, runtime.assigned_cotangent,
)  # fmt: skip


# ---- elementwise ----


@adjoint(runtime.divide_or_zero, broadcasts=True)
def divide_or_zero_adjoint(y, a, b, d_y):
    return divide_or_zero(d_y, b), -divide_or_zero(d_y * y, b)


@adjoint(runtime.log_or_zero, broadcasts=True)
def log_or_zero_adjoint(y, x, d_y):
    return divide_or_zero(d_y, x)


@adjoint(runtime.lower_exponent, broadcasts=True)
def lower_exponent_adjoint(y, b, a, d_y):
    return d_y * ((b != 0) | (a != 0)), None


# ---- choosing ----


@adjoint(runtime.equal_shares)
def equal_shares_adjoint(y, d, winner, xs, d_y):
    return share_of_winners(d_y, winner, xs), None, None


@adjoint(runtime_tangents.share_of_winners)
def share_of_winners_adjoint(y, ts, winner, xs, d_y):
    return equal_shares(d_y, winner, xs), None, None


@adjoint(runtime.running_winner_cotangent)
def running_winner_cotangent_adjoint(y, d, winners, x, axis, d_y):
    return running_winner_tangent(d_y, x, winners, axis), None, None, None


@adjoint(runtime_tangents.running_winner_tangent)
def running_winner_tangent_adjoint(y, t, x, winners, axis, d_y):
    return running_winner_cotangent(d_y, winners, x, axis), None, None, None


@adjoint(runtime.sort_cotangent)
def sort_cotangent_adjoint(y, d, x, axis=-1, d_y=None):
    if axis is None:
        return np.reshape(np.ravel(d_y)[np.argsort(np.ravel(x), kind="stable")], d.shape), None, None
    return np.take_along_axis(d_y, np.argsort(x, axis=axis, kind="stable"), axis), None, None


@adjoint(runtime.choose_cotangent)
def choose_cotangent_adjoint(y, d, which, choices, d_y):
    return np.broadcast_to(np.choose(which, d_y), np.shape(d)), None, None


@adjoint(runtime.select_cotangents)
def select_cotangents_adjoint(y, d, conditions, choices, default, d_y):
    return np.broadcast_to(np.select(conditions, d_y[0], d_y[1]), np.shape(d)), None, None, None


@adjoint(runtime.quantile_cotangent)
def quantile_cotangent_adjoint(y, d, x, q, axis=None, keepdims=False, d_y=None):
    return quantile_tangent(d_y, x, q, axis, keepdims), None, None, None, None


@adjoint(runtime_tangents.quantile_tangent)
def quantile_tangent_adjoint(y, t, x, q, axis=None, keepdims=False, d_y=None):
    return quantile_cotangent(d_y, x, q, axis, keepdims), None, None, None, None


linear(
    runtime.equal_shares, runtime_tangents.share_of_winners, runtime.running_winner_cotangent,
    runtime_tangents.running_winner_tangent, runtime.sort_cotangent, runtime.choose_cotangent, runtime.select_cotangents,
    runtime.quantile_cotangent, runtime_tangents.quantile_tangent,
)  # fmt: skip


# ---- moving elements back ----


@adjoint(runtime.diff_cotangent)
def diff_cotangent_adjoint(y, d, n, axis, d_y):
    return np.diff(d_y, n, axis), None, None


@adjoint(runtime.gradient_cotangent)
def gradient_cotangent_adjoint(y, d, f, spacing, axis, edge_order, d_y):
    return np.gradient(d_y, *spacing, axis=axis, edge_order=edge_order), None, runtime.undefined("the spacing"), None, None


@adjoint(runtime.gather_cotangent)
def gather_cotangent_adjoint(y, d, places, x, d_y):
    return np.ravel(d_y)[places], None, None


@adjoint(runtime.pad_cotangent)
def pad_cotangent_adjoint(y, d, x, pad_width, mode, reflect_type="even", d_y=None):
    if mode in ("constant", "empty"):
        return np.pad(d_y, pad_width), None, None, None, None
    return np.pad(d_y, pad_width, mode), None, None, None, None


@adjoint(runtime.tile_cotangent)
def tile_cotangent_adjoint(y, d, x, reps, d_y):
    return np.tile(d_y, reps), None, None


@adjoint(runtime.repeat_cotangent)
def repeat_cotangent_adjoint(y, d, x, repeats, axis=None, d_y=None):
    return np.repeat(d_y, repeats, axis), None, None, None


@adjoint(runtime.split_like)
def split_like_adjoint(y, d, arrays, axis=0, d_y=None):
    return np.concatenate(d_y, axis), None, None


@adjoint(runtime.unstack)
def unstack_adjoint(y, d, arrays, axis=0, d_y=None):
    return np.stack(d_y, axis), None, None


@adjoint(runtime.meshgrid_cotangents)
def meshgrid_cotangents_adjoint(y, ds, xs, indexing="xy", d_y=None):
    thin = np.meshgrid(*d_y, indexing=indexing, sparse=True)
    return tuple(np.broadcast_to(c, np.shape(d)) for c, d in zip(thin, ds)), None, None


@adjoint(runtime.take_cotangent)
def take_cotangent_adjoint(y, d, x, indices, axis, mode="raise", d_y=None):
    return np.take(d_y, indices, axis, mode=mode), None, None, None, None


@adjoint(runtime.take_along_cotangent)
def take_along_cotangent_adjoint(y, d, x, indices, axis=-1, d_y=None):
    return np.take_along_axis(d_y, indices, axis), None, None, None


@adjoint(runtime.fit_axis)
def fit_axis_adjoint(y, d, n, axis, d_y):
    return fit_axis(d_y, d.shape[axis], axis), None, None


linear(
    runtime.diff_cotangent, runtime.gather_cotangent, runtime.pad_cotangent, runtime.tile_cotangent, runtime.repeat_cotangent,
    runtime.split_like, runtime.unstack, runtime.meshgrid_cotangents, runtime.take_cotangent, runtime.take_along_cotangent,
    runtime.fit_axis,
)  # fmt: skip
linear(runtime.gradient_cotangent, only=("d",))


@adjoint(with_added)
def with_added_adjoint(y, d, key, v, d_y):
    return d_y, None, d_y[key]


@tangent(with_added)
def with_added_tangent(y, d, key, v, t_d, t_v):
    return t_d, with_added(runtime.zeros_like(y), key, t_v)


# ---- products: d_a = transpose(d, b), d_b = transpose(d, a) ----


@adjoint(runtime.tensordot_cotangents)
def tensordot_cotangents_adjoint(y, d, a, b, axes=2, d_y=None):
    d_d = np.tensordot(d_y[0], b, axes) + np.tensordot(a, d_y[1], axes)
    return d_d, tensordot_cotangents(d, a, d_y[1], axes)[0], tensordot_cotangents(d, d_y[0], b, axes)[1], None


@tangent(runtime.tensordot_cotangents)
def tensordot_cotangents_tangent(y, d, a, b, axes=2, t_d=None, t_a=None, t_b=None):
    return (
        tensordot_cotangents(t_d, a, b, axes),
        (np.zeros_like(y[0]), tensordot_cotangents(d, t_a, b, axes)[1]),
        (tensordot_cotangents(d, a, t_b, axes)[0], np.zeros_like(y[1])),
    )


@adjoint(runtime.dot_cotangents)
def dot_cotangents_adjoint(y, d, a, b, d_y):
    d_d = np.dot(d_y[0], b) + np.dot(a, d_y[1])
    return d_d, dot_cotangents(d, a, d_y[1])[0], dot_cotangents(d, d_y[0], b)[1]


@tangent(runtime.dot_cotangents)
def dot_cotangents_tangent(y, d, a, b, t_d, t_a, t_b):
    return (
        dot_cotangents(t_d, a, b),
        (np.zeros_like(y[0]), dot_cotangents(d, t_a, b)[1]),
        (dot_cotangents(d, a, t_b)[0], np.zeros_like(y[1])),
    )


@adjoint(runtime.kron_cotangents)
def kron_cotangents_adjoint(y, d, a, b, d_y):
    d_d = np.kron(d_y[0], b) + np.kron(a, d_y[1])
    return d_d, kron_cotangents(d, a, d_y[1])[0], kron_cotangents(d, d_y[0], b)[1]


@tangent(runtime.kron_cotangents)
def kron_cotangents_tangent(y, d, a, b, t_d, t_a, t_b):
    return (
        kron_cotangents(t_d, a, b),
        (np.zeros_like(y[0]), kron_cotangents(d, t_a, b)[1]),
        (kron_cotangents(d, a, t_b)[0], np.zeros_like(y[1])),
    )


@tangent(runtime.convolve_cotangents)
def convolve_cotangents_tangent(y, d, a, v, mode="full", swapped=False, t_d=None, t_a=None, t_v=None):
    return (
        convolve_cotangents(t_d, a, v, mode, swapped),
        (np.zeros_like(y[0]), convolve_cotangents(d, t_a, v, mode, swapped)[1]),
        (convolve_cotangents(d, a, t_v, mode, swapped)[0], np.zeros_like(y[1])),
    )


@adjoint(runtime.convolve_cotangents)
def convolve_cotangents_adjoint(y, d, a, v, mode="full", swapped=False, d_y=None):
    d_d = runtime_tangents.part_of_convolution(np.convolve(d_y[0], v) + np.convolve(a, d_y[1]), a, v, mode, swapped)
    d_a = convolve_cotangents(d, a, d_y[1], mode, swapped)[0]
    return d_d, d_a, convolve_cotangents(d, d_y[0], v, mode, swapped)[1], None, None


@adjoint(runtime.einsum_cotangents)
def einsum_cotangents_adjoint(y, d, subscripts, operands, d_y):
    n = len(operands)
    changed = [[d_y[k] if j == k else operands[j] for j in range(n)] for k in range(n)]
    d_d = sum(np.einsum(subscripts, *changed[k]) for k in range(n))
    d_operands = [sum(einsum_cotangents(d, subscripts, changed[k])[j] for k in range(n) if k != j) for j in range(n)]
    return d_d, None, d_operands


@tangent(runtime.einsum_cotangents)
def einsum_cotangents_tangent(y, d, subscripts, operands, t_d, t_operands):
    return einsum_cotangents(t_d, subscripts, operands), einsum_tangents(t_operands, d, subscripts, operands)


@adjoint(runtime_tangents.einsum_tangents)
def einsum_tangents_adjoint(y, ts, d, subscripts, operands, d_y):  # which is symmetric in the tangents
    unknown = runtime.undefined("what is not a tangent")
    return einsum_tangents(d_y, d, subscripts, operands), unknown, None, unknown


linear(runtime_tangents.einsum_tangents, only=("ts",))


# ---- linear algebra ----


@adjoint(runtime.cofactors)
def cofactors_adjoint(y, a, d_y):
    if a.ndim == 2:
        return (np.sum(y * d_y) * y - y @ d_y.T @ y) / np.linalg.det(a)
    total = np.sum(y * d_y, axis=(-2, -1), keepdims=True)
    return (total * y - y @ np.swapaxes(d_y, -1, -2) @ y) / np.expand_dims(np.linalg.det(a), (-2, -1))


@tangent(runtime.cofactors)
def cofactors_tangent(y, a, t_a):
    if a.ndim == 2:
        return (np.sum(y * t_a) * y - y @ t_a.T @ y) / np.linalg.det(a)
    total = np.sum(y * t_a, axis=(-2, -1), keepdims=True)
    return (total * y - y @ np.swapaxes(t_a, -1, -2) @ y) / np.expand_dims(np.linalg.det(a), (-2, -1))
