"""Types of subscripts."""


from sourcead.ir.records import type_of
from sourcead.ir.slice_sizes import sliced
from sourcead.ir.types import (
    ANY_DTYPE, KINDS, UNKNOWN, Array, ArrayLike, DictT, ListT, MapT, NoneType, Scalar, Str, StructT, Sym, TupleT, Type,
    Undefined, anydim, join, map_type
)
from sourcead.primitives.result_types.dims import broadcast_dims
from sourcead.primitives.result_types.operands import Arg, Impossible, SliceArg, array_type


def infer_index(base: Type, key) -> Type:
    """Return the type of `base[key]`.

    Args:
        base: the type of what is subscripted.
        key: an `Arg`, a `SliceArg`, or a tuple of such for a subscript with commas.

    Returns:
        The element's type; `UNKNOWN` where it is not sure.
    """
    try:
        match base:
            case Array():
                return _array(base, key)
            case TupleT(items):
                return _sequence(items, key, TupleT)
            case ListT(item, None):
                if isinstance(key, SliceArg):
                    return ListT(item)
                return some_element(item) if _is_number(key) else UNKNOWN
            case ListT(item, items):
                return _sequence(items, key, lambda part: ListT(item, part))
            case MapT(_, item):
                return some_element(item)
            case DictT(items) if isinstance(key, Arg) and key.known:
                return dict(items)[key.value]
            case StructT(_, fields) if isinstance(key, Arg) and key.known:
                return dict(fields)[key.value] if isinstance(key.value, str) else fields[key.value][1]
            case Str():
                return Str()
            case Scalar(_, dtype) if dtype is not None and key == ():  # a number of NumPy, as what `x.squeeze()` gives
                return base
            case Scalar(_, dtype) if dtype is not None and dtype != ANY_DTYPE and _only_new_axes(key):  # of NumPy too
                return _array(Array(dtype, ()), key)
            case ArrayLike() if isinstance(key, SliceArg):
                return ArrayLike()
    except (Impossible, IndexError, KeyError, TypeError):
        pass
    return UNKNOWN


def _sequence(items: tuple, key, make) -> Type:
    if isinstance(key, SliceArg):
        parts = [None if p is None else p.value for p in (key.lower, key.upper, key.step)]
        if all(p is None or p.known for p in (key.lower, key.upper, key.step)):
            return make(items[slice(*parts)])
        return UNKNOWN if make is TupleT else ListT(_join(items))
    if not _is_number(key):
        return UNKNOWN
    return items[key.value] if key.known else some_element(_join(items))


def some_element(t: Type) -> Type:
    """Return the type of one element of a list, with new dims in place of unknown ones, in which elements need not agree."""
    if not isinstance(t, Array) or t.dims is None:
        return map_type(t, some_element)
    differ = (isinstance(d, Sym) and d.differs for d in t.dims)
    return Array(t.dtype, tuple(Sym(d.least, varies=d.varies) if new else d for d, new in zip(t.dims, differ)))


def _join(items) -> Type:
    if not items:
        raise Impossible
    result: Type = Undefined()
    for t in items:
        result = join(result, t)
    return result


def _is_number(key) -> bool:
    """Tell whether a key is a number: of what Python takes as a position, also where the number is only known to be an int or a float."""
    return isinstance(key, Arg) and isinstance(key.type, Scalar)


def _only_new_axes(key) -> bool:
    """Tell whether a key is None, or a tuple of Nones, by which a number of NumPy becomes an array."""
    keys = key if isinstance(key, tuple) else key.type.items if isinstance(key, Arg) and isinstance(key.type, TupleT) else (key,)
    return bool(keys) and all(getattr(k, "type", k) == NoneType() for k in keys)


def _array(base: Array, key) -> Type:
    if isinstance(key, Arg) and key.items is not None and isinstance(key.type, TupleT):
        key = key.items
    if isinstance(key, Arg) and isinstance(key.type, TupleT):
        if key.known:
            key = tuple(Arg(type_of(v), v) for v in key.value)
        else:
            key = tuple(Arg(t) for t in key.type.items)
    keys = key if isinstance(key, tuple) else (key,)
    kinds = [_kind(k) for k in keys]
    if base.dims is None:
        return _unknown_rank(base, keys, kinds)
    taken = sum(_axes(kind) for kind in kinds)
    if taken > len(base.dims) or kinds.count("...") > 1:
        return UNKNOWN
    if "..." not in kinds:
        keys, kinds = (*keys, None), [*kinds, "..."]
    axes = iter(base.dims)
    parts: list = []  # ("keep", dims) for slices and new axes, ("pick", dims) for advanced and integer subscripts
    advanced = any(isinstance(kind, tuple) for kind in kinds)
    for k, kind in zip(keys, kinds):
        match kind:
            case "None":
                parts.append(("keep", (1,)))
            case "...":
                parts.append(("keep", tuple(next(axes) for _ in range(len(base.dims) - taken))))
            case "slice":
                parts.append(("keep", (_slice_dim(next(axes), k),)))
            case "int":
                next(axes)
                parts.append(("pick", ()) if advanced else ("keep", ()))
            case ("ints", dims):
                next(axes)
                parts.append(("pick", dims))
            case ("mask", rank):
                for _ in range(rank):
                    next(axes)
                parts.append(("pick", (anydim(),)))
    dims = _assemble(parts) if advanced else tuple(d for _, kept in parts for d in kept)
    if dims or "..." in [_kind(k) for k in keys if k is not None]:
        return Array(base.dtype, dims)
    known = base.dtype is not None and base.dtype.kind in KINDS
    return Scalar(KINDS[base.dtype.kind], base.dtype) if known else UNKNOWN


def _assemble(parts) -> tuple:
    """Return the dims of a result of integer-array subscripts: theirs replace those of adjacent axes in place, else come first."""
    picks = [i for i, (what, _) in enumerate(parts) if what == "pick"]
    picked = broadcast_dims(*(parts[i][1] for i in picks))
    # an ellipsis of no axes and a None still stand between
    together = picks == list(range(picks[0], picks[-1] + 1))
    before = [d for what, dims in (parts[: picks[0]] if together else []) if what == "keep" for d in dims]
    after = [d for what, dims in (parts[picks[0] :] if together else parts) if what == "keep" for d in dims]
    return (*before, *picked, *after)


def _unknown_rank(base, keys, kinds) -> Type:
    if kinds and all(kind in ("slice", "None", "...") for kind in kinds):
        return Array(base.dtype, None)
    picks = len(keys) == 1 and isinstance(kinds[0], tuple) and kinds[0][0] == "ints"
    return Array(base.dtype, None) if picks else UNKNOWN


def _axes(kind) -> int:
    match kind:
        case "slice" | "int" | ("ints", _):
            return 1
        case ("mask", rank):
            return rank
    return 0


def _kind(key):
    """Return the kind of a part of a subscript: 'slice', 'int', 'None', '...', ('ints', dims), ('mask', rank)."""
    if isinstance(key, SliceArg):
        return "slice"
    if key is None:
        return "..."
    if key.known and key.value is Ellipsis:
        return "..."
    match key.type:
        case NoneType():
            return "None"
        case Scalar("int"):
            return "int"
        case Scalar("bool"):
            return ("mask", 0)
        case Array(dtype, dims) if dtype is not None and dims is not None:
            if dtype.kind == "b":
                return ("mask", len(dims))
            if dtype.kind in "iu":
                return ("ints", dims)
        case ListT() | TupleT():
            t = array_type(key.type)
            if t.dtype.kind == "b":
                return ("mask", len(t.dims))
            if t.dtype.kind in "iu":
                return ("ints", t.dims)
    raise Impossible


def _slice_dim(dim, key: SliceArg):
    """Return the dim of a slice of an axis."""
    if key.full:
        return dim
    parts = (key.lower, key.upper, key.step)
    lower, upper, step = (None if p is None else p.integer for p in parts)
    if not all(p is None or isinstance(p, (int, Sym)) for p in (lower, upper, step)):
        if all(p is None or p.known for p in parts):
            raise Impossible
        return anydim()
    if all(p is None or isinstance(p, int) for p in (dim, lower, upper, step)):
        return len(range(dim)[lower:upper:step])
    if step is None or isinstance(step, int) and step > 0:
        return sliced(dim, lower, upper, step or 1)
    if step == -1 and lower is None and upper is None:
        return dim
    return anydim()
