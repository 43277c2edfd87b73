"""Rules of functions that join and split arrays, all of which are linear.

    y = concatenate(xs)     d_xs[k] = the part of d_y that xs[k] became
    ys = split(x)           d_x = concatenate(d_ys)
"""

import functools

import numpy as np

from sourcead.ir.records import list_type
from sourcead.ir.sizes import plus, quotient
from sourcead.ir.slice_sizes import sliced
from sourcead.ir.types import INT, UNKNOWN, Array, Type, anydim
from sourcead.primitives.registry import enter, family, infers, linear
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.result_types.operands import NOT_CONST, Arg, Impossible, arrange, axes_of, const
from sourcead.primitives.together import behind, together
from sourcead.runtime import (
    are_cuts, like_arrays, meshgrid_cotangents, split_cotangent, split_like, unbroadcast_each, unstack
)

family(__name__, memory="fresh")

linear({
    np.concatenate: lambda y, arrays, d_y, axis=0: split_like(d_y, arrays, axis),
    np.stack: lambda y, arrays, d_y, axis=0: unstack(d_y, arrays, axis),
    np.vstack: lambda y, arrays, d_y: like_arrays(split_like(d_y, [np.atleast_2d(a) for a in arrays], 0), arrays),
    np.hstack: lambda y, arrays, d_y: (
        like_arrays(split_like(d_y, [np.atleast_1d(a) for a in arrays], 0 if d_y.ndim == 1 else 1), arrays)
    ),
    np.dstack: lambda y, arrays, d_y: like_arrays(split_like(d_y, [np.atleast_3d(a) for a in arrays], 2), arrays),
})


@linear(np.column_stack)
def column_stack_adjoint(y, arrays, d_y):
    columns = [a if np.ndim(a) >= 2 else np.reshape(a, (-1, 1)) for a in arrays]
    return like_arrays(split_like(d_y, columns, 1), arrays)


@linear(np.append)
def append_adjoint(y, arr, values, d_y, axis=None):
    if axis is None:
        d_arr, d_values = np.split(d_y, [np.size(arr)])
        return np.reshape(d_arr, np.shape(arr)), np.reshape(d_values, np.shape(values))
    d_arr, d_values = split_like(d_y, (arr, values), axis)
    return d_arr, d_values


# ---- taking apart ----


def of_split(d_y, x, places, axis):
    """Return the cotangent of `x` in `y = np.split(x, places, axis)`."""
    return np.concatenate(d_y, axis) if are_cuts(places) else split_cotangent(d_y, x, places, axis)


linear({
    (np.split, np.array_split): lambda y, x, places, d_y, axis=0: (of_split(d_y, x, places, axis), None),
    np.vsplit: lambda y, x, places, d_y: (of_split(d_y, x, places, 0), None),
    np.hsplit: lambda y, x, places, d_y: (of_split(d_y, x, places, 0 if x.ndim == 1 else 1), None),
    np.dsplit: lambda y, x, places, d_y: (of_split(d_y, x, places, 2), None),
    np.meshgrid: lambda y, *xs, d_y, indexing="xy", sparse=False: meshgrid_cotangents(d_y, xs, indexing),
    np.broadcast_arrays: lambda y, *xs, d_y: unbroadcast_each(d_y, xs),
})

if hasattr(np, "unstack"):  # NumPy 2.1
    linear({np.unstack: lambda y, x, d_y, axis=0: np.stack(d_y, axis)}, memory="shallow", view="maybe", result=sized)

# ---- memory, order and forms ----

enter(np.concatenate, np.stack, np.vstack, np.hstack, order="keeps")
enter(np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, batched="joined")
enter(
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.meshgrid, np.broadcast_arrays,
    sequences="kept",
)  # fmt: skip
enter(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, memory="shallow", view="maybe")
enter(np.broadcast_arrays, memory="readonly", view="maybe")
enter(np.meshgrid, memory="shared", view="maybe")
enter(
    np.stack, np.dstack, np.column_stack, np.meshgrid, np.append,
    result=sized,
)  # fmt: skip

# ---- types ----


@infers(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
def _split(fn, args, kwargs) -> Type:
    given = arrange("ary indices_or_sections axis", args, kwargs)
    t = given["ary"].type
    if not isinstance(t, Array) or t.dims is None:
        raise Impossible
    at = given["indices_or_sections"]
    places = getattr(at.type, "items", None)
    where = const(at) if places is None else places
    count = int(where) if isinstance(where, (int, np.integer)) else len(where) + 1
    axis = {np.hsplit: 0 if len(t.dims) == 1 else 1, np.vsplit: 0, np.dsplit: 2}.get(fn)
    (i,) = axes_of(given.get("axis") if axis is None else Arg(UNKNOWN, axis), len(t.dims), 0)
    if isinstance(where, (int, np.integer)):  # the first parts are longer by one, if the parts may differ
        sizes = [quotient(plus(t.dims[i], count - 1 - k if fn is np.array_split else 0), count) for k in range(count)]
    else:
        found = at.items if at.items is not None else [Arg(INT, n) for n in at.value] if at.known else [Arg(INT)] * (count - 1)
        ends = [None, *(n.integer for n in found), None]
        sizes = [anydim() if NOT_CONST in pair else sliced(t.dims[i], *pair) for pair in zip(ends, ends[1:])]
    parts = tuple(Array(t.dtype, (*t.dims[:i], size, *t.dims[i + 1 :])) for size in sizes)
    return list_type(parts)


@infers(np.concatenate, np.hstack, np.vstack)
def _joined(fn, args, kwargs) -> Type:
    """Return the type of arrays side by side, whose sizes along one axis add up."""
    t = sized(fn, args, kwargs)
    parts = getattr(args[0].type, "items", None) if args else None
    if not isinstance(t, Array) or not t.dims or not parts or not all(isinstance(p, Array) and p.dims is not None for p in parts):
        return t
    axis = Arg(INT, 0 if fn is np.vstack or len(t.dims) == 1 else 1)
    if fn is np.concatenate:
        axis = args[1] if len(args) > 1 else kwargs.get("axis", Arg(INT, 0))
    if not axis.known or axis.value is None or not all(len(p.dims) == len(t.dims) for p in parts):
        return t
    (axis,) = axes_of(axis, len(t.dims))
    whole = functools.reduce(plus, (p.dims[axis] for p in parts))
    return Array(t.dtype, (*t.dims[:axis], whole, *t.dims[axis + 1 :]))


# ---- for all members of a batch ----



@together(np.split, np.array_split)
def _(ary, indices_or_sections, axis=0):
    return np.array_split(ary, indices_or_sections, behind(axis, ary.ndim - 1))
