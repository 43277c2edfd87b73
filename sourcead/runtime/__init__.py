"""The small helpers that generated text may call: plain NumPy, each on its own, copied into saved modules as they are."""

import numpy as np

# ---- cotangents: making, adding, shaping ----


def unbroadcast(d, x):
    """The cotangent `d` of `x` broadcast to d's shape, summed to the shape of `x` and cast to its dtype."""
    if isinstance(x, (list, tuple)):
        return like_sequence(unbroadcast(d, np.asarray(x, dtype=float)), x)
    shape = np.shape(x)
    if np.shape(d) != shape:
        if np.ndim(d) < len(shape) or any(n != 1 and m == 1 for n, m in zip(shape[::-1], np.shape(d)[::-1])):
            d = np.broadcast_to(d, np.broadcast_shapes(np.shape(d), shape))
        lead = np.ndim(d) - len(shape)
        axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1)
        d = np.sum(d, axis=axes, keepdims=True).reshape(shape)
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = x.dtype if x.dtype.kind in "fcO" else np.dtype(float)
        if dtype.kind == "f" and np.iscomplexobj(d):
            d = np.real(d)
        d = np.asarray(d, dtype=dtype)
        return d if isinstance(x, np.ndarray) else d[()]
    return complex(d) if isinstance(x, complex) else float(np.real(d))


def unbroadcast_each(ds, xs):
    """The cotangents of `xs` in `ys = np.broadcast_arrays(*xs)`."""
    return tuple(unbroadcast(d, x) for d, x in zip(ds, xs))


def like_sequence(d, x):
    """An array's cotangent as a structure of lists and tuples like `x`, of which the array was made."""
    if isinstance(x, (list, tuple)):
        return type(x)([like_sequence(d[i], v) for i, v in enumerate(x)])
    return unbroadcast(d, x)


def make_record(cls, **fields):
    """The named tuple, dataclass instance or plain object with these fields."""
    if issubclass(cls, tuple):
        return cls(**fields)
    record = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(record, name, value)
    return record


def is_record(x):
    """Whether this is a dataclass instance or an object with attributes, but not a function, class or module."""
    return hasattr(x, "__dataclass_fields__") or hasattr(x, "__dict__") and not callable(x) and not hasattr(x, "__name__")


def fields_of(x):
    """The data of a dataclass instance or object by name."""
    found = {name: getattr(x, name) for name in getattr(x, "__dataclass_fields__", ()) if hasattr(x, name)}
    return {**found, **getattr(x, "__dict__", {})}


def copy(x):
    """A copy of a structure of arrays, lists, tuples, dicts and records that shares no memory with it."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, dict):
        return type(x)((k, copy(v)) for k, v in x.items())
    if isinstance(x, tuple):
        items = [copy(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [copy(v) for v in x]
    if is_record(x) and not isinstance(x, np.generic):
        return make_record(type(x), **{k: copy(v) for k, v in fields_of(x).items()})
    return x


def zeros_like(x):
    """The zero cotangent of a structure of numbers, arrays, lists, tuples and dicts; None where nothing can flow."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else np.zeros(x.shape)
    if isinstance(x, dict):
        return {k: zeros_like(v) for k, v in x.items()}
    if isinstance(x, tuple):
        items = [zeros_like(v) for v in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list):
        return [zeros_like(v) for v in x]
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    if isinstance(x, complex):
        return 0j
    if isinstance(x, (int, float, np.number, np.bool_)):
        return 0.0
    return make_record(type(x), **{k: zeros_like(v) for k, v in fields_of(x).items()}) if is_record(x) else None


def zeros_if_assigned(x):
    """The zero cotangent of a variable that may not have been assigned, and is None then."""
    return 0.0 if x is None else zeros_like(x)


def add(a, b):
    """The sum of two cotangents of the same structure; None is zero."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return {k: add(a.get(k), b.get(k)) for k in {**a, **b}}
    if isinstance(a, tuple):
        items = [add(v, w) for v, w in zip(a, b)]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [add(v, w) for v, w in zip(a, b)]
    if is_record(a) and not isinstance(a, (np.ndarray, np.generic)):
        theirs = fields_of(b)
        return make_record(type(a), **{k: add(v, theirs[k]) for k, v in fields_of(a).items()})
    return a + b


def index_add(d, key, v):
    """`d` with `v` added at `key`, in place: each repetition of an index counts."""
    if isinstance(d, list):
        d[key] = add(d[key], v)
    elif isinstance(d, dict):
        d[key] = add(d.get(key), v)
    elif isinstance(d, tuple):
        d = d[:key] + (add(d[key], v),) + d[key + 1 :]
    elif any(isinstance(k, (list, np.ndarray)) for k in (key if isinstance(key, tuple) else (key,))):
        np.add.at(d, key, v)
    else:
        d[key] += v
    return d


def cotangent_at(d, key, x):
    """The cotangent of `x` under a key of a dict's cotangent, where a missing key stands for zero."""
    found = d.get(key)
    return zeros_like(x) if found is None else found


def without(d, key):
    """The dict without one of its keys."""
    rest = dict(d)
    del rest[key]
    return rest


def only_at(d_y, d, key):
    """The cotangent of the dict `d` where `d_y` is that of `d.get(key)`."""
    return {key: d_y} if key in d else {}


def scatter(d_y, key, x):
    """The cotangent of `x` where `d_y` is that of `x[key]`."""
    return index_add(zeros_like(x), key, d_y)


def assigned_cotangent(d_a, key, v):
    """The cotangent of `v` in `a[key] = v`: of elements written more than once only the last write counts."""
    d_v = d_a[key]
    if any(isinstance(k, (list, np.ndarray)) for k in (key if isinstance(key, tuple) else (key,))):
        writer = np.arange(d_v.size).reshape(d_v.shape)
        last = np.zeros(d_a.shape, dtype=int)
        last[key] = writer
        d_v = np.where(last[key] == writer, d_v, 0)
    return unbroadcast(d_v, v)


def like_argument(d, x):
    """The cotangent `d` of a list or dict that was changed, with zeros where it has no more than the number 0."""
    if isinstance(x, np.ndarray):
        return d if np.shape(d) == x.shape else np.broadcast_to(d, x.shape).astype(x.dtype)
    if isinstance(x, dict):
        return {k: like_argument(d[k], v) for k, v in x.items()} if isinstance(d, dict) else zeros_like(x)
    if isinstance(x, (list, tuple)):
        if not isinstance(d, (list, tuple)):
            return zeros_like(x)
        items = [like_argument(p, v) for p, v in zip(d, x)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return float(d) if type(x) is float and isinstance(d, (np.float16, np.float32)) else d


def refuse_now(reason):
    """Raises sourcead's error for an argument that it does not take; a ValueError in a module that runs without it."""
    try:
        from sourcead.errors import UnsupportedArgumentError as Error
    except ImportError:
        Error = ValueError
    raise Error(reason)


def check_layout(x, name):
    """Refuses an argument that is not in C order, where a view of it that `reshape` gave is written."""
    if not x.flags.c_contiguous:
        refuse_now(
            f"`{name}` is not in C order, and what is written through a reshape of it is seen in it only if it is: "
            f"pass np.ascontiguousarray({name})"
        )


def check_first_result(items):
    """Refuses what `np.vectorize` rounds: it takes the dtype of all results from the first one."""
    if items and isinstance(items[0], (int, np.integer)) and any(isinstance(x, (float, np.inexact, np.ndarray)) for x in items):
        refuse_now(
            "np.vectorize takes the dtype of its first result, here an integer, and rounds the others: "
            "return floats, or pass otypes=[float]"
        )


def sorted_order(keys, reverse=False):
    """Where `sorted` takes its items from, for items with these keys."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def shortest(rows):
    """The length of the shortest row, as `zip(*rows)` sees it."""
    return min(map(len, rows), default=0)


def best_place(keys, largest):
    """Where the first of the largest or smallest keys is."""
    return (max if largest else min)(range(len(keys)), key=keys.__getitem__)


def slice_bounds(n, lower, upper):
    """Where the part `[lower:upper]` of n items begins, and where what follows it does."""
    start, stop, _ = slice(lower, upper).indices(n)
    return start, max(start, stop)


def stop_gradient(x):
    """The argument itself, taken as a constant by differentiation.

    Args:
        x: a number, an array, or a structure of them.

    Returns:
        `x`, the same object. What is written to it under one name is not read under the other where it is differentiated
        (`AliasError`): write to a copy.

    Example:
        >>> from sourcead import grad, stop_gradient
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return x


def replaced_cotangent(d, before):
    """What an `adjoint_of` block leaves of the cotangent `before`, in its shape and dtype: an array like it, or one number."""
    if isinstance(before, (list, tuple)):
        if not isinstance(d, (list, tuple)) or len(d) != len(before):
            raise ValueError("a cotangent is replaced by something of another structure")
        return type(before)([replaced_cotangent(new, old) for new, old in zip(d, before)])
    if np.ndim(d) and np.shape(d) != np.shape(before):
        raise ValueError(f"a cotangent of shape {np.shape(before)} is replaced by an array of shape {np.shape(d)}")
    if np.iscomplexobj(d) and not np.iscomplexobj(before):
        raise TypeError("a real cotangent is replaced by a complex value")
    if not isinstance(before, (np.ndarray, np.generic)):
        return d
    d = np.asarray(d, dtype=before.dtype)
    return (d if d.shape == before.shape else np.full(before.shape, d))[() if isinstance(before, np.generic) else ...]


def seed(y):
    """The cotangent 1.0 of a result that must be one real number."""
    if np.ndim(y) != 0 or not np.issubdtype(np.asarray(y).dtype, np.number) or np.iscomplexobj(y):
        try:
            from sourcead.errors import NonScalarError as Error
        except ImportError:
            Error = ValueError
        raise Error(f"the function returns {type(y).__name__}, and a gradient is that of one real number: use `jacobian` or `vjp`")
    return 1.0


def undefined(what):
    """In a rule, the cotangent of a parameter whose derivative is not known: refused where it is needed, NaN where a rule runs."""
    return np.nan


# ---- elementwise ----


def is_literal(x):
    """In a rule that is compiled: whether `x` stands as a number in the program. In one that runs: no, it may be a value."""
    return False


def lower_exponent(b, a):
    """`b - 1`, the exponent in the derivative of `a ** b`; 1 where both are 0, so that `b * a ** (b - 1)` is 0 there."""
    if isinstance(b, (int, float, complex)) and not isinstance(b, np.generic):
        if b != 0 or not isinstance(a, (np.ndarray, np.generic)):
            return 1 if b == 0 and a == 0 else b - 1
        b = b * np.ones_like(a, dtype=np.result_type(a, np.float16))
    return np.where((b == 0) & (a == 0), 1, b - 1)[()]


def log_or_zero(x):
    """The logarithm of `x`, 0 where x is 0: a factor of something that is 0 there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.where(x == 0, 1, x))


def divide_or_zero(x, y):
    """`x / y`, 0 where y is 0."""
    return x / np.where(y == 0, 1, y) * (y != 0)


def sinc_slope(x, y):
    """The derivative of `y = np.sinc(x)`; near 0, where the difference would lose its digits, by its series."""
    u = np.pi * x
    near = np.abs(u) < 0.1
    series = np.pi * u * (u * u * (1 / 30 - u * u * (1 / 840 - u * u / 45360)) - 1 / 3)
    return np.where(near, series, (np.cos(u) - y) / np.where(near, 1, x))


def equal_shares(d_y, y, xs):
    """The cotangents of `xs`, of which y is the greatest (or least): those equal to y share `d_y`."""
    if len(xs) == 1:
        shares = equal_shares(d_y, y, tuple(xs[0]))
        return (np.array(shares) if isinstance(xs[0], np.ndarray) else type(xs[0])(shares),)
    share = d_y / sum(x == y for x in xs)
    return tuple(share * (x == y) for x in xs)


def digamma(x):
    """The derivative of the logarithm of the gamma function at a Python number (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18)."""
    below = 0.0
    if x <= 0:
        if x == np.floor(x):
            return np.nan
        below, x = below - np.pi / np.tan(np.pi * x), 1 - x
    while x < 10:
        below, x = below - 1 / x, x + 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return float(below + np.log(x) - 0.5 / x - series)


# ---- reductions and scans ----


def axis_size(x, axis):
    """How many elements of `x` go into each element of a reduction over `axis`."""
    if axis is None:
        return x.size
    size = 1
    for a in axis if isinstance(axis, tuple) else (axis,):
        size *= x.shape[a]
    return size


def split_axes(ndim, axis=None):
    """The axes that a reduction over `axis` keeps, and those that it sums over."""
    gone = {a % ndim for a in (range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else [axis])}
    return [i for i in range(ndim) if i not in gone], sorted(gone)


def product_of_others(x, axis=None):
    """At each element of `x`, the product of all others that `np.prod(x, axis)` multiplies it with."""
    kept, gone = split_axes(x.ndim, axis)
    rows = np.transpose(x, kept + gone)
    flat = rows.reshape([x.shape[i] for i in kept] + [int(np.prod([x.shape[i] for i in gone]))])
    before, after = np.ones_like(flat), np.ones_like(flat)
    before[..., 1:] = np.cumprod(flat[..., :-1], axis=-1)
    after[..., -2::-1] = np.cumprod(flat[..., :0:-1], axis=-1)
    return np.transpose((before * after).reshape(rows.shape), np.argsort(kept + gone))


def middle_shares(x, axis=None):
    """The derivative of `np.median(x, axis)` with respect to each element of `x`."""
    kept, gone = split_axes(x.ndim, axis)
    rows = np.transpose(x, kept + gone)
    flat = rows.reshape([x.shape[i] for i in kept] + [-1])
    n = flat.shape[-1]
    middle = np.sort(flat, axis=-1)[..., [(n - 1) // 2, n // 2]]
    low, high = ((flat == middle[..., i : i + 1]).astype(x.dtype) for i in (0, 1))
    shares = (low / np.sum(low, axis=-1, keepdims=True) + high / np.sum(high, axis=-1, keepdims=True)) / 2
    return np.transpose(shares.reshape(rows.shape), np.argsort(kept + gone))


def cumprod_cotangent(d_y, x, axis):
    """The cotangent of `x` in `y = np.cumprod(x, axis)`, without a division, so that zeros are no exception."""
    x, s = np.moveaxis(x, axis, 0), np.moveaxis(d_y, axis, 0).copy()
    for j in reversed(range(len(x) - 1)):
        s[j] += x[j + 1] * s[j + 1]
    s[1:] *= np.cumprod(x[:-1], axis=0)
    return np.moveaxis(s, 0, axis)


def running_winner_cotangent(d_y, y, x, axis):
    """The cotangent of `x` in `y = np.maximum.accumulate(x, axis)` (or minimum): equal values share, one by one."""
    x, y, d = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(d_y, axis, 0).copy()
    d_x = np.zeros_like(d)
    for j in reversed(range(1, len(x))):
        tie = d[j] / 2 * (x[j] == y[j - 1])
        d_x[j] = d[j] * ((x[j] == y[j]) & (x[j] != y[j - 1])) + tie
        d[j - 1] += d[j] * (x[j] != y[j]) + tie
    d_x[:1] = d[:1]
    return np.moveaxis(d_x, 0, axis)


def diff_cotangent(d_y, n, axis):
    """The cotangent of `x` in `y = np.diff(x, n, axis)`."""
    for _ in range(n):
        width = [(0, 0)] * d_y.ndim
        width[axis] = (1, 1)
        d_y = -np.diff(np.pad(d_y, width), axis=axis)
    return d_y


def gradient_cotangent(d_y, f, spacing, axis, edge_order):
    """The cotangent of `f` in `y = np.gradient(f, *spacing, axis=axis, edge_order=edge_order)`."""
    axes = range(f.ndim) if axis is None else [a % f.ndim for a in np.atleast_1d(axis)]
    parts = d_y if isinstance(d_y, (list, tuple)) else [d_y]
    steps = list(spacing) if len(spacing) == len(parts) else [spacing[0] if spacing else 1.0] * len(parts)
    d_f = np.zeros(f.shape, dtype=parts[0].dtype)
    for d, a, step in zip(parts, axes, steps):
        matrix = np.gradient(np.eye(f.shape[a]), step, axis=0, edge_order=edge_order)
        d_f += np.moveaxis(np.tensordot(matrix.astype(d.dtype), d, axes=(0, a)), 0, a)
    return d_f


# ---- moving elements back ----


def inverse_axes(axes):
    """The permutation of axes that undoes `np.transpose(x, axes)`."""
    inverse = [0] * len(axes)
    for i, axis in enumerate(axes):
        inverse[axis] = i
    return tuple(inverse)


def reversed_shift(shift):
    """The shift that undoes one of `np.roll`."""
    return tuple(-n for n in shift) if isinstance(shift, (tuple, list)) else -shift


def gather_cotangent(d_y, places, x):
    """The cotangent of `x` where `y = np.ravel(x)[places]`; places may repeat."""
    d_x = np.zeros(np.size(x), dtype=np.asarray(d_y).dtype)
    np.add.at(d_x, places, d_y)
    return d_x.reshape(np.shape(x))


def pad_cotangent(d_y, x, pad_width, mode, reflect_type="even"):
    """The cotangent of `x` in `y = np.pad(x, pad_width, mode)`."""
    width = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)) if not isinstance(pad_width, dict) else None
    if width is None:
        width = [
            np.broadcast_to(np.asarray(pad_width.get(i, pad_width.get(i - x.ndim, 0))), (2,)) for i in range(x.ndim)
        ]
    if mode in ("constant", "empty"):
        return d_y[tuple(slice(int(before), int(before) + n) for (before, _), n in zip(width, x.shape))]
    if mode not in ("edge", "wrap", "reflect", "symmetric") or reflect_type != "even":
        refuse_now(f"np.pad with mode={mode!r} and reflect_type={reflect_type!r}, which is known only while it runs, has no derivative")
    return gather_cotangent(d_y, np.pad(np.arange(x.size).reshape(x.shape), width, mode), x)


def tile_cotangent(d_y, x, reps):
    """The cotangent of `x` in `y = np.tile(x, reps)`: the tiles' sum."""
    return gather_cotangent(d_y, np.tile(np.arange(np.size(x)).reshape(np.shape(x)), reps), x)


def repeat_cotangent(d_y, x, repeats, axis=None):
    """The cotangent of `x` in `y = np.repeat(x, repeats, axis)`: the repetitions' sum."""
    if axis is None:
        return repeat_cotangent(d_y, np.ravel(x), repeats, 0).reshape(np.shape(x))
    if np.ndim(repeats) == 0 and repeats > 0:
        axis = axis % x.ndim
        return np.sum(d_y.reshape(x.shape[: axis + 1] + (repeats,) + x.shape[axis + 1 :]), axis=axis + 1)
    return gather_cotangent(d_y, np.repeat(np.arange(x.size).reshape(x.shape), repeats, axis), x)


def split_like(d_y, arrays, axis=0):
    """The cotangents of `arrays` in `y = np.concatenate(arrays, axis)`."""
    if axis is None:
        return like_arrays(split_like(d_y, [np.ravel(a) for a in arrays], 0), arrays)
    return like_arrays(np.split(d_y, np.cumsum([np.shape(a)[axis] for a in arrays])[:-1], axis), arrays)


def unstack(d_y, arrays, axis=0):
    """The cotangents of `arrays` in `y = np.stack(arrays, axis)`."""
    return like_arrays(np.moveaxis(d_y, axis, 0), arrays)


def like_arrays(parts, arrays):
    """Each part in the shape and dtype of its array, all in a list, tuple or array as the arrays are."""
    parts = [unbroadcast(np.reshape(d, np.shape(a)), a) for d, a in zip(parts, arrays)]
    return tuple(parts) if isinstance(arrays, tuple) else np.array(parts) if isinstance(arrays, np.ndarray) else parts


def meshgrid_cotangents(d_ys, xs, indexing="xy"):
    """The cotangents of `xs` in `ys = np.meshgrid(*xs, indexing=indexing)`."""
    result = []
    for i, (d, x) in enumerate(zip(d_ys, xs)):
        axis = 1 - i if indexing == "xy" and i < 2 and len(xs) > 1 else i
        result.append(np.sum(d, axis=tuple(j for j in range(np.ndim(d)) if j != axis)).reshape(np.shape(x)))
    return tuple(result)


def linspace_weights(y, endpoint=True):
    """The weight of `stop` in each element of `y = np.linspace(start, stop, len(y))`."""
    t = np.linspace(0, 1, len(y), endpoint=endpoint, dtype=y.dtype)
    return t.reshape((-1,) + (1,) * (y.ndim - 1))


def take_cotangent(d_y, x, indices, axis, mode="raise"):
    """The cotangent of `x` in `y = np.take(x, indices, axis)`."""
    axis = axis % x.ndim
    d_x = np.zeros(x.shape, dtype=d_y.dtype)
    if mode != "raise":
        indices = np.take(np.arange(x.shape[axis]), indices, mode=mode)
    np.add.at(d_x, (slice(None),) * axis + (indices,), d_y)
    return d_x


def take_along_cotangent(d_y, x, indices, axis=-1):
    """The cotangent of `x` in `y = np.take_along_axis(x, indices, axis)`."""
    if axis is None:
        return gather_cotangent(d_y, np.take_along_axis(np.arange(x.size), indices, 0), x)
    places = np.arange(x.size).reshape(x.shape)
    return gather_cotangent(d_y, np.take_along_axis(places, indices, axis), x)


def sort_cotangent(d_y, x, axis=-1):
    """The cotangent of `x` in `y = np.sort(x, axis)`."""
    if axis is None:
        return sort_cotangent(d_y, np.ravel(x), 0).reshape(x.shape)
    d_x = np.empty_like(d_y)
    np.put_along_axis(d_x, np.argsort(x, axis=axis, kind="stable"), d_y, axis)
    return d_x


def choose_cotangent(d_y, which, choices):
    """The cotangents of `choices` in `y = np.choose(which, choices)`."""
    return [unbroadcast(np.where(np.asarray(which) == i, d_y, 0), c) for i, c in enumerate(choices)]


def select_cotangents(d_y, conditions, choices, default):
    """The cotangents of `choices` and `default` in `y = np.select(conditions, choices, default)`."""
    left, d_choices = d_y, []
    for condition, choice in zip(conditions, choices):
        d_choices.append(unbroadcast(np.where(condition, left, 0), choice))
        left = np.where(condition, 0, left)
    return d_choices, unbroadcast(left, default)


# ---- products ----


def tensordot_cotangents(d_y, a, b, axes=2):
    """The cotangents of `a` and `b` in `y = np.tensordot(a, b, axes)`."""
    a, b = np.asarray(a), np.asarray(b)
    if np.ndim(axes) == 0:
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    left, right = ([n % x.ndim for n in np.atleast_1d(np.asarray(ns, dtype=int))] for ns, x in zip(axes, (a, b)))
    a_free = [i for i in range(a.ndim) if i not in left]
    b_free = [i for i in range(b.ndim) if i not in right]
    d_y = np.asarray(d_y)
    d_a = np.tensordot(d_y, b, axes=(range(len(a_free), d_y.ndim), b_free))
    d_b = np.tensordot(d_y, a, axes=(range(len(a_free)), a_free))
    a_order = a_free + [left[i] for i in np.argsort(right)]
    b_order = b_free + [right[i] for i in np.argsort(left)]
    return np.transpose(d_a, np.argsort(a_order)), np.transpose(d_b, np.argsort(b_order))


def dot_cotangents(d_y, a, b):
    """The cotangents of `a` and `b` in `y = np.dot(a, b)` of arrays with any number of axes."""
    return tensordot_cotangents(d_y, a, b, (-1, -2 if b.ndim > 1 else -1))


def kron_cotangents(d_y, a, b):
    """The cotangents of `a` and `b` in `y = np.kron(a, b)`."""
    n = max(np.ndim(a), np.ndim(b))
    a_shape = (1,) * (n - np.ndim(a)) + np.shape(a)
    b_shape = (1,) * (n - np.ndim(b)) + np.shape(b)
    d = np.reshape(d_y, [size for pair in zip(a_shape, b_shape) for size in pair])
    odd, even = tuple(range(1, 2 * n, 2)), tuple(range(0, 2 * n, 2))
    d_a = np.sum(d * np.expand_dims(np.reshape(b, b_shape), even), axis=odd)
    d_b = np.sum(d * np.expand_dims(np.reshape(a, a_shape), odd), axis=even)
    return d_a.reshape(np.shape(a)), d_b.reshape(np.shape(b))


def einsum_terms(subscripts, ranks=None):
    """The letters of each operand and of the result, an ellipsis replaced by letters of its own."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "").replace("...", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if "..." in inputs:
        unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
        counts = [rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(terms, ranks)]
        spare = "".join(unused[: max(counts)])
        terms = [term.replace("...", spare[len(spare) - n :]) for term, n in zip(terms, counts)]
        output = output.replace("...", spare)
    return terms, output


def einsum_is_plain(subscripts):
    """Whether each operand's cotangent is one einsum of the result's and the other operands."""
    if "." in subscripts:
        return False
    terms, output = einsum_terms(subscripts)
    return all(
        len(set(term)) == len(term) and set(term) <= set(output).union(*terms[:k], *terms[k + 1 :])
        for k, term in enumerate(terms)
    )


def einsum_back(subscripts, k):
    """The subscripts that give the cotangent of operand k from that of the result and the other operands."""
    terms, output = einsum_terms(subscripts)
    return ",".join([output, *terms[:k], *terms[k + 1 :]]) + "->" + terms[k]


def einsum_cotangents(d_y, subscripts, operands):
    """The cotangents of the operands in `y = np.einsum(subscripts, *operands)`."""
    terms, output = einsum_terms(subscripts, [np.ndim(x) for x in operands])
    sizes = {}
    for term, x in zip(terms, operands):
        for letter, n in zip(term, np.shape(x)):
            sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]
    cotangents = []
    for k, (term, x) in enumerate(zip(terms, operands)):
        others = terms[:k] + terms[k + 1 :]
        unique = "".join(dict.fromkeys(term))
        alone = [c for c in unique if c not in output and not any(c in t for t in others)]  # summed over, here only
        values = [
            d_y,
            *operands[:k],
            *operands[k + 1 :],
            *(np.ones(sizes[c], dtype=np.asarray(x).dtype) for c in alone),
        ]
        d = np.einsum(",".join([output, *others, *alone]) + "->" + unique, *values)
        if len(unique) < len(term):
            d_x = np.zeros([sizes[c] for c in term], dtype=d.dtype)
            np.einsum(term + "->" + unique, d_x)[...] = d
            d = d_x
        cotangents.append(unbroadcast(d, x))
    return tuple(cotangents)


# ---- linear algebra ----


def cofactors(a):
    """The derivative of `np.linalg.det(a)`; also where a is singular."""
    try:
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    except np.linalg.LinAlgError:
        u, s, vt = np.linalg.svd(a)
        sign = np.linalg.det(u) * np.linalg.det(vt)
        return sign[..., None, None] * np.conj((u * product_of_others(s, -1)[..., None, :]) @ vt)


def matrix_power_cotangent(d_y, a, n):
    """The cotangent of `a` in `y = np.linalg.matrix_power(a, n)`."""
    t = np.swapaxes(np.linalg.inv(a) if n < 0 else a, -1, -2)
    d, left = np.zeros_like(a), d_y
    for k in range(abs(n)):
        d = d + left @ np.linalg.matrix_power(t, abs(n) - 1 - k)
        left = t @ left
    return -(t @ d @ t) if n < 0 else d


def direction(x):
    """The derivative of `np.abs(x)`, 0 where x is 0."""
    return divide_or_zero(np.conj(x), np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def vector_norm_slope(x, ord=None, axis=None):
    """The derivative of `np.linalg.norm(x, ord, axis)` over one axis."""
    size = np.abs(x)
    sign = direction(x)
    if ord in (np.inf, -np.inf):
        end = np.max(size, axis=axis, keepdims=True) if ord > 0 else np.min(size, axis=axis, keepdims=True)
        hit = (size == end).astype(x.dtype)
        return sign * hit / np.sum(hit, axis=axis, keepdims=True)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return sign
    norm = np.linalg.norm(x, ord, axis, keepdims=True)
    return sign * np.where(norm == 0, 0, size / np.where(norm == 0, 1, norm)) ** (ord - 1)


def matrix_norm_slope(x, ord, axis=None):
    """The derivative of `np.linalg.norm(x, ord, axis)` of matrices."""
    rows, columns = (0, 1) if axis is None else (axis[0] % x.ndim, axis[1] % x.ndim)
    if ord in (1, -1, np.inf, -np.inf):
        along, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = np.sum(np.abs(x), axis=along, keepdims=True)
        end = np.max(sums, axis=across, keepdims=True) if ord > 0 else np.min(sums, axis=across, keepdims=True)
        hit = (sums == end).astype(x.dtype)
        return direction(x) * hit / np.sum(hit, axis=across, keepdims=True)
    u, s, vt = np.linalg.svd(np.moveaxis(x, (rows, columns), (-2, -1)), full_matrices=False)
    if ord == "nuc":
        slope = (u * (s > 0)[..., None, :]) @ vt
    else:
        hit = (s == (s[..., :1] if ord > 0 else s[..., -1:])).astype(x.dtype)
        slope = (u * (hit / np.sum(hit, axis=-1, keepdims=True))[..., None, :]) @ vt
    return np.conj(np.moveaxis(slope, (-2, -1), (rows, columns)))


# ---- signals ----


def fit_axis(d, n, axis):
    """An array cut, or padded with zeros, to `n` elements along an axis."""
    size = d.shape[axis]
    if size > n:
        return np.take(d, np.arange(n), axis)
    width = [(0, 0)] * d.ndim
    width[axis] = (0, n - size)
    return np.pad(d, width)


def irfft_weights(y, axis):
    """How often each element of the half spectrum counts in `y = np.fft.irfft(x, axis=axis)`."""
    n = y.shape[axis]
    weights = np.zeros(n, dtype=y.dtype)
    weights[: n // 2 + 1] = 2
    weights[0] = 1
    if n % 2 == 0:
        weights[n // 2] = 1
    shape = [1] * y.ndim
    shape[axis] = n
    return weights.reshape(shape)


def convolve_cotangents(d_y, a, v, mode="full", swapped=False):
    """The cotangents of `a` and `v` in `y = np.convolve(a, v, mode)`."""
    less, more = min(len(a), len(v)), max(len(a), len(v))
    d = np.zeros(less + more - 1, dtype=d_y.dtype)
    start = {"full": 0, "same": less // 2 if swapped else (less - 1) // 2, "valid": less - 1}[mode]
    d[start : start + len(d_y)] = d_y
    return np.convolve(d, v[::-1], "valid"), np.convolve(d, a[::-1], "valid")


def interp_cotangents(d_y, x, xp, fp, left=None, right=None):
    """The cotangents of `x`, `xp` and `fp` in `y = np.interp(x, xp, fp, left, right)`."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    below, above = x < xp[0], x > xp[-1]
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    width = xp[k + 1] - xp[k]
    t = np.where(below, 0, np.where(above, 1, (x - xp[k]) / width))
    inside = d_y * ~(below | above)
    d_f = d_y * ~((below & (left is not None)) | (above & (right is not None)))
    slope = (fp[k + 1] - fp[k]) / width
    d_fp, d_xp = (np.zeros(z.shape, dtype=np.result_type(z, np.float16)) for z in (fp, xp))
    np.add.at(d_fp, k, d_f * (1 - t))
    np.add.at(d_fp, k + 1, d_f * t)
    np.add.at(d_xp, k, -inside * slope * (1 - t))
    np.add.at(d_xp, k + 1, -inside * slope * t)
    return inside * slope, d_xp, d_fp


def quantile_cotangent(d_y, x, q, axis=None, keepdims=False):
    """The cotangent of `x` in `y = np.quantile(x, q, axis, keepdims=keepdims)`."""
    kept, gone = split_axes(x.ndim, axis)
    rows = np.transpose(x, kept + gone)
    flat = rows.reshape([x.shape[i] for i in kept] + [-1])
    order = np.argsort(flat, axis=-1, kind="stable")
    place = np.ravel(q) * (flat.shape[-1] - 1)
    low = np.clip(np.floor(place).astype(int), 0, flat.shape[-1] - 1)
    high = np.minimum(low + 1, flat.shape[-1] - 1)
    share = (place - low).astype(x.dtype)
    d = np.moveaxis(np.reshape(d_y, (len(low), *flat.shape[:-1])), 0, -1)
    d_sorted = np.zeros(flat.shape, dtype=x.dtype)
    np.add.at(d_sorted, (..., low), d * (1 - share))
    np.add.at(d_sorted, (..., high), d * share)
    d_flat = np.empty_like(d_sorted)
    np.put_along_axis(d_flat, order, d_sorted, -1)
    return np.transpose(d_flat.reshape(rows.shape), np.argsort(kept + gone))


def polyval_cotangents(d_y, p, x):
    """The cotangents of `p` and `x` in `y = np.polyval(p, x)`."""
    p, x = np.asarray(p), np.asarray(x)
    n = len(p)
    powers = x[..., None] ** np.arange(n - 1, -1, -1, dtype=x.dtype)
    d_p = np.tensordot(np.asarray(d_y), powers, np.ndim(d_y))
    return d_p, d_y * np.polyval(p[:-1] * np.arange(n - 1, 0, -1, dtype=p.dtype), x)


# ---- what an array holds ----


def distinct_places(x, axis=None, equal_nan=True):
    """Where the distinct values of `x` first stand, where each element is among them, and how often each stands in `x`."""
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)[1:]


def count_trimmed(x, trim="fb"):
    """From where to where `np.trim_zeros(x, trim)` keeps the elements of a row."""
    there = np.flatnonzero(np.asarray(x))
    if not there.size:
        return 0, 0
    return there[0] if "f" in trim.lower() else 0, there[-1] + 1 if "b" in trim.lower() else len(x)


def binary_exponent(x):
    """The exponent of `np.frexp(x)`."""
    return np.frexp(x)[1]


def root_slopes(y, p):
    """The derivatives of each root `y[i] = np.roots(p)[i]` with respect to each coefficient of `p`; infinite at double roots."""
    powers = np.vander(y, len(p))
    n = powers.shape[1]
    return -powers / (powers[:, 1:] @ (p[:-1] * np.arange(n - 1, 0, -1)))[:, None]
