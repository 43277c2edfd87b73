"""The type promised for a call, against what NumPy really returns."""

# ruff: noqa: E501  (tables of cases)

import itertools
import math
import operator

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from sourcead import runtime
from sourcead.ir.records import type_of
from sourcead.ir.sizes import with_terms
from sourcead.ir.types import (
    ANY_DTYPE, BOOL, FLOAT, INT, UNKNOWN, AnyTuple, Array, DictT, ListT, NoneType, Scalar, Str, StructT, Sym, TupleT,
    Unknown, anydim, join, many
)
from sourcead.primitives.result_types.infer import (
    NOT_CONST, Arg, SliceArg, infer_attr, infer_call, infer_index, static_value
)
from sourcead.primitives.table import record_of

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def check(t, value, sizes):
    """Whether a value keeps a type's promise; `sizes` collects what each Sym stands for."""
    match t:
        case Unknown():
            return True
        case Array(dtype, dims):
            if not isinstance(value, np.ndarray):
                return dims is None and isinstance(value, np.generic)
            if dtype is not None and value.dtype != dtype:
                return False
            if dims is None:
                return True
            if len(dims) != value.ndim:
                return False
            for d, n in zip(dims, value.shape):
                if isinstance(d, Sym):
                    if d.many and n == 1 or sizes.setdefault(d, n) != n or n < d.least:
                        return False
                    computed = with_terms(d, {s: m for s, m in sizes.items() if not s.parts})
                    if isinstance(computed, int) and computed != n:
                        return False
                elif d != n:
                    return False
            return True
        case Scalar(kind, None):
            names = {"bool": bool, "int": int, "float": float, "complex": complex}
            return type(value) is names[kind]
        case Scalar(_, dtype):
            return isinstance(value, np.generic) and value.dtype == dtype
        case TupleT(items):
            return (
                isinstance(value, tuple)
                and len(value) == len(items)
                and all(check(i, v, sizes) for i, v in zip(items, value))
            )
        case ListT(item, items):
            if not isinstance(value, list) or not all(check(item, v, dict(sizes)) for v in value):
                return False
            return items is None or len(items) == len(value) and all(check(i, v, sizes) for i, v in zip(items, value))
        case StructT(cls, fields):
            return type(value) is cls and all(check(f, getattr(value, name), sizes) for name, f in fields)
        case NoneType():
            return value is None
        case Str():
            return isinstance(value, str)
    raise AssertionError(t)


def arg_of(value, sizes, vague, constants=True):
    """What a compiler may know of a value: arrays by their dims (`vague`: with dims of which nothing is known)."""
    match value:
        case np.ndarray():
            dims = []
            for n in value.shape:
                if vague and rng.random() < 0.5:
                    d = anydim()
                elif n < 2:
                    d = n
                elif rng.random() < 0.3:
                    d = n
                else:
                    d = next((s for s, m in sizes.items() if m == n and s.many), None) or many()
                if isinstance(d, Sym):
                    sizes[d] = n
                dims.append(d)
            return Arg(Array(value.dtype, tuple(dims)))
        case tuple() | list() if any(isinstance(v, (np.ndarray, tuple, list, float)) for v in value):
            items = tuple(arg_of(v, sizes, vague, constants) for v in value)
            t = TupleT(tuple(i.type for i in items))
            return Arg(t if isinstance(value, tuple) else ListT(UNKNOWN, t.items), items=items)
        case float() | np.generic():
            return Arg(type_of(value))
    return Arg(type_of(value), value) if constants else Arg(type_of(value))


def promised(fn, args, kwargs, vague=False, constants=True):
    """Asserts that the promise holds; returns it."""
    sizes = {}
    known = [arg_of(a, sizes, vague, constants) for a in args]
    named = {k: arg_of(v, sizes, vague, constants) for k, v in kwargs.items()}
    t = infer_call(fn, known, named)
    with np.errstate(all="ignore"):
        value = fn(*args, **kwargs)
    assert check(t, value, sizes), f"{fn} {[k.type for k in known]} {kwargs}: promised {t}, got {type_of(value)}"
    return t


ARRAYS = [rng.uniform(0.1, 0.9, s) for s in [(3,), (1,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (4, 1, 1), (0, 3), ()]]
ARRAYS += [a.astype("f4") for a in ARRAYS[:4]] + [
    np.arange(3),
    np.arange(6).reshape(2, 3),
    np.array([True, False, True]),
]
NUMBERS = [0.5, 2, True, np.float32(0.5), np.float64(0.5), np.int64(2), 0.5j]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv, np.add, np.divide,
          np.power, np.maximum, np.arctan2, np.hypot, operator.lt, operator.eq, np.less, np.logaddexp, np.where, np.copysign]  # fmt: skip


@pytest.mark.parametrize("fn", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("vague", [False, True])
def test_binary_promises(fn, vague):
    for a, b in itertools.product(ARRAYS + NUMBERS, repeat=2):
        args = (a, b) if fn is not np.where else (np.asarray(a) > 0.4, a, b)
        try:
            with np.errstate(all="ignore"):
                value = fn(*args)
        except Exception:
            continue
        if isinstance(value, complex) and isinstance(a, float):
            continue
        t = promised(fn, args, {}, vague)
        if fn not in (operator.pow,) and not isinstance(value, str):
            assert t != UNKNOWN, (fn, a, b)


UNARY = [np.exp, np.tanh, np.abs, abs, operator.neg, np.sqrt, np.floor, np.isnan, np.sign, np.negative, np.square, np.sinc, np.real,
         np.round, np.nan_to_num, np.logical_not, np.conj, operator.pos, np.imag, np.angle, np.float32, float, int, bool]  # fmt: skip


@pytest.mark.parametrize("fn", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("vague", [False, True])
def test_unary_promises(fn, vague):
    for a in ARRAYS + NUMBERS:
        try:
            fn(a)
        except Exception:
            continue
        promised(fn, (a,), {}, vague)


@pytest.mark.parametrize(
    "fn", [math.exp, math.sin, math.sqrt, math.floor, math.erf, math.gamma], ids=lambda f: f.__name__
)
def test_math_functions_return_python_numbers(fn):
    assert promised(fn, (0.5,), {}) in (FLOAT, INT)
    assert promised(fn, (np.float32(0.5),), {}) in (FLOAT, INT)


REDUCTIONS = [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.any, np.argmax, np.median, np.ptp, np.all, np.nansum,
              np.count_nonzero, np.linalg.norm, np.average, np.add.reduce, np.maximum.reduce]  # fmt: skip


@pytest.mark.parametrize("fn", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("vague", [False, True])
def test_reduction_promises(fn, vague):
    sure = 0
    for a in ARRAYS:
        for axis in (None, 0, -1, (0, 1), (0,)):
            for kwargs in ({"axis": axis}, {"axis": axis, "keepdims": True}, {}):
                try:
                    with np.errstate(all="ignore"):
                        fn(a, **kwargs)
                except Exception:
                    continue
                sure += promised(fn, (a,), kwargs, vague) != UNKNOWN
    assert sure > 20


SHAPED = [
    (np.reshape, ((6,), (2, 3))), (np.reshape, (-1,)), (np.reshape, ((-1, 1),)), (np.reshape, ((3, -1),)), (np.reshape, ((1, -1),)),
    (np.ravel, ()), (np.transpose, ()), (np.transpose, ((1, 0),)), (np.transpose, ((2, 0, 1),)), (np.swapaxes, (0, 1)),
    (np.swapaxes, (0, -1)), (np.moveaxis, (0, -1)), (np.squeeze, ()), (np.squeeze, (0,)), (np.expand_dims, (0,)),
    (np.expand_dims, (-1,)), (np.expand_dims, ((0, 2),)), (np.broadcast_to, ((4, 2, 3),)), (np.broadcast_to, ((2, 3),)),
    (np.atleast_1d, ()), (np.atleast_2d, ()), (np.atleast_3d, ()), (np.cumsum, ()), (np.cumsum, (0,)), (np.cumprod, (-1,)),
    (np.sort, ()), (np.sort, (None,)), (np.argsort, ()), (np.flip, ()), (np.roll, (1,)), (np.triu, ()), (np.diag, ()),
    (np.diagonal, ()), (np.trace, ()), (np.zeros_like, ()), (np.ones_like, ()), (np.empty_like, ()), (np.full_like, (2.0,)),
    (np.zeros_like, (np.float32,)), (np.ndarray.astype, (np.float32,)), (np.ndarray.astype, (int,)), (np.copy, ()), (np.tile, (2,)),
    (np.repeat, (2,)), (np.repeat, (2, 0)), (np.diff, ()), (np.array, ()), (np.asarray, ()), (np.take, (0,)), (np.take, ([0, 0],)),
    (np.take, ([[0]], 0)), (np.split, (1,)), (np.array_split, (2,)), (np.vsplit, (1,)), (np.hsplit, ([1],)), (np.unique, ()),
    (np.nonzero, ()), (np.shape, ()), (np.ndim, ()), (np.size, ()), (np.ndarray.flatten, ()), (np.pad, (1,)), (np.clip, (0.2, 0.5)),
    (np.clip, (None, 0.5)), (len, ()), (list, ()), (sum, ()), (max, ()), (np.gradient, ()), (np.rot90, ()), (np.histogram, ()),
    (np.linalg.svd, ()), (np.linalg.qr, ()), (np.linalg.pinv, ()), (np.meshgrid, ()), (np.fft.fft, ()), (np.convolve, ([1.0, 2.0],)),
    (np.percentile, (50,)), (np.quantile, (0.5, 0)), (np.interp, ([0.0, 1.0], [2.0, 3.0])), (np.ndarray.item, ()),
    (np.ndarray.tolist, ()), (np.fft.rfft, ()), (np.isclose, (0.5,)), (np.allclose, (0.5,)), (np.outer, ([1.0, 2.0],)), (np.append, (1.0,)),
    (sliding_window_view, (1,)), (sliding_window_view, (2, 0)), (sliding_window_view, ((2, 1), (-1, 0))), (sliding_window_view, ((1, 2),)),
    (np.resize, ((2, 2),)), (np.ediff1d, ()), (np.linalg.eigvals, ()), (np.corrcoef, ()), (np.cov, ()), (np.broadcast_arrays, ()),
]  # fmt: skip


@pytest.mark.parametrize("case", SHAPED, ids=lambda c: f"{c[0].__name__}{c[1]}")
@pytest.mark.parametrize("vague", [False, True])
def test_shape_promises(case, vague):
    fn, rest = case
    for a in ARRAYS:
        try:
            with np.errstate(all="ignore"):
                fn(a, *rest)
        except Exception:
            continue
        promised(fn, (a, *rest), {}, vague)


PRODUCTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 1), (1, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
            ((5, 2, 3), (3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 1)), ((0, 3), (3, 2)), ((1,), (1,)), ((), (3,)), ((2, 3), ()),
            ((2, 2), (2, 2)), ((5, 2, 2), (2, 3)), ((2, 2), (2,))]  # fmt: skip


@pytest.mark.parametrize("vague", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", int])
def test_product_promises(vague, dtype):
    sure = 0
    for shapes in PRODUCTS:
        a, b = (np.asarray(rng.normal(size=s)).astype(dtype) + 0 for s in shapes)
        calls = [
            (f, (a, b))
            for f in (operator.matmul, np.matmul, np.dot, np.inner, np.outer, np.vdot, np.linalg.solve, np.kron)
        ]
        calls += [(np.tensordot, (a, b, n)) for n in (0, 1, ((-1,), (0,)))] + [
            (np.einsum, ("ij,jk->ik", a, b)),
            (np.einsum, ("...i,...i", a, b)),
        ]
        for fn, args in calls:
            try:
                fn(*args)
            except Exception:
                continue
            sure += promised(fn, args, {}, vague) != UNKNOWN
    assert sure > 40


@pytest.mark.parametrize("vague", [False, True])
def test_joining_promises(vague):
    f4 = np.ones((2, 3), "f4")
    sets = [(ARRAYS[2], ARRAYS[2]), (ARRAYS[2], ARRAYS[3]), (ARRAYS[0], ARRAYS[1]), (f4, f4), (f4, ARRAYS[2]), (ARRAYS[7], ARRAYS[2]),
            (ARRAYS[0],), (ARRAYS[7], ARRAYS[4])]  # fmt: skip
    for arrays in sets:
        for fn in (np.concatenate, np.stack):
            for axis in (0, 1, -1, None):
                try:
                    fn(arrays, axis=axis)
                except Exception:
                    continue
                promised(fn, (arrays,), {"axis": axis}, vague)
        for fn in (np.vstack, np.hstack, np.dstack, np.column_stack):
            try:
                fn(arrays)
            except Exception:
                continue
            assert promised(fn, (arrays,), {}, vague) != UNKNOWN
            promised(fn, (list(arrays),), {}, vague)


def test_windows_keep_the_other_axes_and_have_sizes_of_their_own():
    n, m = anydim(), anydim()
    window, axes = Arg(TupleT((INT, INT)), (3, 2)), Arg(TupleT((INT, INT)), (1, -1))
    t = infer_call(sliding_window_view, [Arg(Array(np.dtype("f4"), (n, m, 7))), window], {"axis": axes})
    assert t.dtype == np.float32 and t.dims[0] is n and t.dims[1] is not m and t.dims[2:] == (6, 3, 2)


def test_fresh_arrays_take_the_shape_they_are_given():
    n = many()
    b = Array(np.dtype("f4"), (n, 1))
    assert infer_call(np.zeros, [Arg(TupleT((INT, INT)), dims=b.dims)]) == Array(np.dtype(float), (n, 1))
    t = infer_call(np.zeros, [Arg(TupleT((INT, INT)), items=(Arg(INT, dim=n), Arg(INT, 3)))])
    assert t.dims == (n, 3)
    t = infer_call(np.ones, [Arg(INT)], {"dtype": Arg(UNKNOWN, np.float32)})
    assert t.dtype == np.float32 and not t.dims[0].many
    assert infer_call(np.full, [Arg(INT, 4), Arg(FLOAT)]) == Array(np.dtype(float), (4,))
    assert infer_call(np.zeros, [Arg(INT, 4)], {"dtype": Arg(UNKNOWN)}) == Array(None, (4,))
    for fn, args in [(np.zeros, ((2, 1),)), (np.full, (3, 1)), (np.full, ((2,), 1.0)), (np.eye, (3,)), (np.arange, (4,)), (np.arange, (1.0, 3.0)),
                     (np.linspace, (0.0, 1.0)), (np.linspace, (0.0, 1.0, 7)), (np.arange, (0, 9, 2)), (np.eye, (2, 3)), (np.full, (3, True)),
                     (np.array, ([1, 2],)), (np.array, ([[1.0, 2.0], [3.0, 4.0]],)), (np.array, ((1.0, 2),)), (np.identity, (3,))]:  # fmt: skip
        assert promised(fn, args, {}) != UNKNOWN
        promised(fn, args, {}, constants=False)


def test_what_depends_on_values_is_not_promised():
    assert infer_call(operator.pow, [Arg(INT), Arg(INT)]) == UNKNOWN
    assert infer_call(operator.pow, [Arg(INT), Arg(INT, number=anydim())]) == INT  # which is not negative
    assert infer_call(max, [Arg(INT), Arg(FLOAT)]) == join(INT, FLOAT)  # a number, an int or a float
    assert infer_call(np.tensordot, [Arg(type_of(np.ones((2, 2)))), Arg(type_of(np.ones((2, 2)))), Arg(INT)]).dims is None
    assert infer_call(np.linalg.eigvals, [Arg(type_of(np.eye(3)))]).dtype is None
    assert infer_call(np.emath.sqrt, [Arg(type_of(np.eye(3)))]) == UNKNOWN
    squeezed = infer_call(np.squeeze, [Arg(Array(np.dtype(float), (anydim(), 1)))])
    assert squeezed == UNKNOWN or squeezed.dims is None


@pytest.mark.parametrize(
    "fn, options, shapes, expected",
    [
        (np.matmul, {}, ("nm", "kp"), "np"),
        (np.matmul, {}, ("anm", "akp"), "anp"),
        (np.tensordot, {"axes": 2}, ("nmk", "abp"), "np"),
        (np.vstack, {}, (("nm", "kp"),), "?m"),
        (np.stack, {"axis": 1}, (("nm", "kp"),), "n2m"),
        (np.concatenate, {"axis": -1}, (("nmk", "abp", "cde"),), "nm?"),
        (np.linalg.solve, {}, ("nm", "k"), "n"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)  # fmt: skip
def test_dims_that_must_be_equal_are_found(fn, options, shapes, expected):
    dims = {letter: many() for letter in "nmkpabcde"} | {"2": 2}

    def typed(shape):
        if isinstance(shape, tuple):
            return TupleT(tuple(map(typed, shape)))
        return Array(np.dtype(float), tuple(dims[letter] for letter in shape))

    found = infer_call(fn, [Arg(typed(s)) for s in shapes], {k: Arg(UNKNOWN, v) for k, v in options.items()})
    assert len(found.dims) == len(expected)
    for dim, letter in zip(found.dims, expected):
        assert dim not in dims.values() if letter == "?" else dim is dims[letter]


def test_dims_that_may_broadcast_are_not_taken_for_equal():
    n, m, k = anydim(), anydim(), many()
    found = infer_call(np.matmul, [Arg(Array(np.dtype(float), (n, 3, 4))), Arg(Array(np.dtype(float), (m, 4, 3)))])
    assert found.dims[0] not in (n, m) and found.dims[1:] == (3, 3)
    found = infer_call(np.matmul, [Arg(Array(np.dtype(float), (n, 3, 4))), Arg(Array(np.dtype(float), (k, 4, 3)))])
    assert found.dims == (k, 3, 3)


def test_nothing_of_the_users_is_called():
    def shout(x):
        raise AssertionError("called while compiling")

    assert infer_call(shout, [Arg(FLOAT)]) == UNKNOWN
    state = np.random.get_state()[1].copy()
    assert infer_call(np.random.normal, [Arg(FLOAT)]) == UNKNOWN
    assert (np.random.get_state()[1] == state).all()


def test_broadcasting_keeps_what_is_known_of_dims():
    n, m, q = many(), many(), anydim()
    f8 = np.dtype(float)
    assert infer_call(operator.add, [Arg(Array(f8, (n, 1))), Arg(Array(f8, (m,)))]).dims == (n, m)
    assert infer_call(operator.add, [Arg(Array(f8, (q,))), Arg(Array(f8, (1,)))]).dims == (q,)
    assert infer_call(operator.add, [Arg(Array(f8, (q,))), Arg(Array(f8, (n,)))]).dims == (n,)
    assert infer_call(operator.add, [Arg(Array(f8, (n,))), Arg(Array(f8, (5,)))]).dims == (5,)
    (both,) = infer_call(operator.add, [Arg(Array(f8, (q,))), Arg(Array(f8, (anydim(),)))]).dims
    assert both is not q and not both.many


INDEX_BASES = [rng.normal(size=s) for s in [(5,), (4, 3), (1, 3), (2, 3, 4), (0, 2), (2, 1, 3, 4)]]
KEYS = [0, -1, slice(None), slice(None, None, -1), slice(1, None), slice(0, 2), slice(None, None, 2), None, Ellipsis, np.array([0, 0]),
        [0, 1, 0], np.array([[0], [1]]), np.array([0]), True, np.int64(0), np.array(0)]  # fmt: skip


@pytest.mark.parametrize("vague", [False, True])
def test_subscript_promises(vague):
    sure = tried = 0
    for base in INDEX_BASES:
        masks = [
            base > 0,
            base[..., 0] > 0 if base.ndim > 1 else base > 1,
            base[:, 0] > 0 if base.ndim == 2 else base > 9,
        ]
        keys = [(k,) for k in KEYS + masks] + list(itertools.product(KEYS, repeat=2)) + [
            tuple(rng.permutation(len(KEYS))[:3]) for _ in range(150)
        ]  # fmt: skip
        for key in keys:
            key = tuple(KEYS[k] if isinstance(k, np.integer) and len(key) == 3 else k for k in key)
            try:
                value = base[key]
            except Exception:
                continue
            sizes = {}
            t = infer_index(arg_of(base, sizes, vague).type, tuple(key_arg(k, sizes, vague) for k in key))
            assert check(t, value, sizes), (base.shape, key, t, type_of(value))
            tried += 1
            sure += t != UNKNOWN
    assert tried > 500 and sure > 0.9 * tried


def key_arg(k, sizes, vague):
    if isinstance(k, slice):
        return SliceArg(
            *(None if p is None else Arg(INT, p) if rng.random() < 0.5 else Arg(INT) for p in (k.start, k.stop, k.step))
        )
    if isinstance(k, np.ndarray):
        return arg_of(k, sizes, vague)
    return Arg(type_of(k), k) if k is None or k is Ellipsis or rng.random() < 0.5 else Arg(type_of(k))


def test_subscripts_of_sequences():
    t = TupleT((FLOAT, INT, Str()))
    assert infer_index(t, Arg(INT, 1)) == INT
    assert infer_index(t, Arg(INT)) == UNKNOWN
    assert infer_index(t, SliceArg(Arg(INT, 1), None, None)) == TupleT((INT, Str()))
    assert infer_index(ListT(FLOAT), Arg(INT)) == FLOAT
    assert infer_index(ListT(FLOAT), SliceArg(None, Arg(INT))) == ListT(FLOAT)
    assert infer_index(DictT((("w", FLOAT),)), Arg(Str(), "w")) == FLOAT
    assert infer_index(DictT((("w", FLOAT),)), Arg(Str(), "u")) == UNKNOWN


def test_attributes():
    n = many()
    t = Array(np.dtype("c8"), (n, 1))
    assert infer_attr(t, "shape") == TupleT((INT, INT))
    assert infer_attr(t, "T").dims == (1, n)
    assert infer_attr(t, "real") == Array(np.dtype("f4"), (n, 1))
    assert infer_attr(t, "size") == INT
    assert infer_attr(Array(None, None), "shape") == AnyTuple(INT)
    assert infer_attr(FLOAT, "real") == FLOAT
    assert infer_attr(t, "nonsense") == UNKNOWN


def test_unknown_rank_stays_unknown():
    t = Array(np.dtype("f4"), None)
    assert infer_call(operator.mul, [Arg(t), Arg(FLOAT)]) == t
    assert infer_call(np.sum, [Arg(t)]) == Scalar("float", np.dtype("f4"))
    assert infer_call(np.sum, [Arg(t)], {"axis": Arg(INT, 0)}) == UNKNOWN
    assert infer_call(operator.lt, [Arg(Array(None, (4,))), Arg(FLOAT)]) == Array(np.dtype(bool), (4,))


def test_sequence_operators():
    assert infer_call(operator.add, [Arg(TupleT((INT,))), Arg(TupleT((FLOAT,)))]) == TupleT((INT, FLOAT))
    assert infer_call(operator.add, [Arg(ListT(FLOAT)), Arg(ListT(FLOAT))]) == ListT(FLOAT)
    assert infer_call(operator.eq, [Arg(Str()), Arg(Str())]) == BOOL


@pytest.mark.parametrize("vague", [False, True])
def test_special_functions(vague):
    special = pytest.importorskip("scipy.special")
    for a in ARRAYS[:5] + [0.5]:
        for fn in (special.expit, special.gammaln):
            assert promised(fn, (a,), {}, vague) != UNKNOWN
        for axis in (None, 0, -1):
            if np.ndim(a) == 0 and axis is not None:
                continue
            assert promised(special.softmax, (a,), {"axis": axis}, vague) != UNKNOWN
            if np.ndim(a):
                assert promised(special.logsumexp, (a,), {"axis": axis, "keepdims": True}, vague) != UNKNOWN
            assert promised(special.logsumexp, (a,), {"axis": axis}, vague) != UNKNOWN


def public_functions():
    """The functions of NumPy that may be called while compiling."""
    for module in (np, np.linalg, np.fft):
        for name in sorted(vars(module)):
            fn = getattr(module, name)
            if callable(fn) and not name.startswith("_") and record_of(fn).examples:
                yield fn


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("vague", [False, True])
def test_promises_of_every_function_of_numpys(vague):
    kept = 0
    for fn in public_functions():
        calls = [(a,) for a in ARRAYS + [0.5, 3]]
        calls += list(itertools.product([ARRAYS[0], ARRAYS[2], ARRAYS[3], ARRAYS[9], ARRAYS[13], 0.5, 2], repeat=2))
        for args in calls:
            try:
                with np.errstate(all="ignore"):
                    fn(*args)
            except Exception:
                continue
            constants = bool(rng.random() < 0.7)
            try:
                kept += promised(fn, args, {}, vague, constants) != UNKNOWN
            except AssertionError as error:
                raise AssertionError(f"{fn.__name__}: {error}") from None
    assert kept > 2000


def test_numbers_that_may_be_pythons_or_numpys():
    number = Arg(Scalar("float", ANY_DTYPE))
    f4, f8 = np.dtype("f4"), np.dtype("f8")
    n = many()
    assert infer_call(operator.mul, [Arg(Array(f4, (n,))), number]) == Array(None, (n,))
    assert infer_call(operator.mul, [Arg(Array(f8, (n,))), number]) == Array(f8, (n,))
    assert infer_call(operator.mul, [number, Arg(FLOAT)]) == Scalar("float", ANY_DTYPE)
    assert infer_call(np.zeros, [Arg(Scalar("int", ANY_DTYPE))]).dtype == f8


def test_two_elements_of_a_list_need_not_broadcast_alike():
    t = ListT(Array(np.dtype(float), (anydim(),)))
    a, b = infer_index(t, Arg(INT)), infer_index(t, Arg(INT))
    assert a.dims[0] is not b.dims[0]


def test_slices_of_the_same_length_have_the_same_dim():
    n = many()
    t = Array(np.dtype(float), (n,))

    def dim(t, lower, upper):
        return infer_index(t, SliceArg(*(None if p is None else Arg(INT, p) for p in (lower, upper)))).dims[0]

    assert dim(t, 2, None) is dim(t, 1, -1) is dim(t, None, -2)
    assert dim(t, 2, None) is not dim(t, 1, None)
    inner = infer_index(t, SliceArg(Arg(INT, 1), None))
    assert dim(inner, 1, None) is dim(t, 2, None)
    assert dim(t, None, 3) is dim(t, None, 3)
    assert dim(t, None, 3) is not dim(t, 3, None)
    for size in range(6):
        x = np.zeros(size)
        assert len(x[2:]) == len(x[1:-1]) == len(x[:-2]) == len(x[1:][1:])


def test_what_rules_ask_is_decided_by_types():
    t = Arg(Array(np.dtype("f4"), (many(), 1)))
    assert static_value(np.ndim, [t]) == 2
    assert static_value(np.ndim, [Arg(FLOAT)]) == 0
    assert static_value(np.ndim, [Arg(UNKNOWN)]) is NOT_CONST
    assert static_value(np.iscomplexobj, [t]) is False
    assert static_value(np.iscomplexobj, [Arg(Array(None, (3,)))]) is NOT_CONST
    assert static_value(runtime.lower_exponent, [Arg(INT, 2), t]) == 1
    assert static_value(runtime.lower_exponent, [Arg(INT, 0), t]) is NOT_CONST
    assert static_value(runtime.lower_exponent, [Arg(INT), t]) is NOT_CONST
    assert static_value(runtime.einsum_back, [Arg(Str(), "ij,jk->ik"), Arg(INT, 0)]) == "ik,jk->ij"


def test_helpers_of_the_generated_text():
    n, m = many(), many()
    x, v = Array(np.dtype("f4"), (n, m)), Array(np.dtype("f4"), (m,))
    assert infer_call(runtime.log_or_zero, [Arg(x)]) == x
    assert infer_call(runtime.divide_or_zero, [Arg(v), Arg(x)]) == x
    assert infer_call(runtime.unbroadcast, [Arg(x), Arg(v)]) == v
    assert infer_call(runtime.split_like, [Arg(x), Arg(TupleT((x, x))), Arg(INT, 0)]) == TupleT((x, x))
    assert infer_call(runtime.unstack, [Arg(Array(np.dtype("f4"), (2, m))), Arg(TupleT((v, v)))]) == TupleT((v, v))
    assert infer_call(runtime.gather_cotangent, [Arg(v), Arg(Array(np.dtype(int), (m,))), Arg(x)]) == x
    assert infer_call(runtime.like_sequence, [Arg(Array(np.dtype("f4"), (2, m))), Arg(TupleT((v, v)))]) == TupleT(
        (v, v)
    )
    assert infer_call(runtime.product_of_others, [Arg(x), Arg(INT, 1)]) == x
