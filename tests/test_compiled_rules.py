"""Each derivative rule, inlined by the compiler into a gradient, against central differences: float64, and float32 in kind."""

import builtins
import linecache
import math
import operator

import numpy as np
import pytest

from sourcead import grad
from tests import test_rules as rules

SYMBOLS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.pow: "**", operator.matmul: "@",
    operator.mod: "%", operator.neg: "-", operator.pos: "+",
}  # fmt: skip
MODULES = (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("math", math), ("", builtins))
REFUSED = {tuple, np.bincount}  # a tuple of unknown length; a constant integer array as a subscript


def spelled(fn, args):
    """The call as a user writes it."""
    if fn in SYMBOLS:
        return f" {SYMBOLS[fn]} ".join(args) if len(args) == 2 else SYMBOLS[fn] + args[0]
    if getattr(fn, "__objclass__", None) is np.ndarray:
        return f"{args[0]}.{fn.__name__}({', '.join(args[1:])})"
    for name, module in MODULES:
        if getattr(module, fn.__name__, None) is fn:
            return f"{name + '.' if name else ''}{fn.__name__}({', '.join(args)})"
    for ufunc in ("add", "multiply", "maximum", "minimum"):
        if getattr(getattr(np, ufunc), fn.__name__, None) == fn:
            return f"np.{ufunc}.{fn.__name__}({', '.join(args)})"
    raise LookupError(fn)


def argument(i, value, wrt, namespace):
    if i in wrt:
        return f"x{i}"
    if isinstance(value, float) and math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    if isinstance(value, type):
        return f"np.{value.__name__}"
    if rules.leaves(value)[0].size > 1 or isinstance(value, np.ndarray):
        if not isinstance(value, tuple):
            namespace[f"k{i}"] = value
            return f"k{i}"
    return repr(value)


def parts(y, path="y"):
    if isinstance(y, (list, tuple)):
        return [part for i, v in enumerate(y) for part in parts(v, f"{path}[{i}]")]
    return [(path, np.shape(y))]


def loss(fn, args, options, wrt):
    """A scalar function of some arguments, with its source where `inspect` finds it."""
    namespace = {"np": np, "math": math}
    spelled_args = [argument(i, a, wrt, namespace) for i, a in enumerate(args)]
    named = [f"{k}={v!r}" for k, v in options.items()]
    terms = []
    for k, (path, shape) in enumerate(parts(fn(*args, **options))):
        weights = np.random.default_rng(k).normal(size=shape)
        namespace[f"c{k}"] = weights if shape else float(weights)
        terms.append(f"np.sum({path} * c{k})" if shape else f"{path} * c{k}")
    names = ", ".join(f"x{i}" for i in wrt)
    source = f"def f({names}):\n    y = {spelled(fn, spelled_args + named)}\n    return {' + '.join(terms)}\n"
    file = f"<loss {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def check(fn, args, options, wrt):
    f = loss(fn, args, options, wrt)
    xs = [args[i] for i in wrt]
    gradients = grad(f, wrt=tuple(range(len(wrt))))(*xs)
    for i, (x, d_x) in enumerate(zip(xs, gradients)):
        assert [leaf.shape for leaf in rules.leaves(d_x)] == [leaf.shape for leaf in rules.leaves(x)]
        direction = rules.random_like(x, np.random.default_rng(7))
        ahead, back = (f(*xs[:i], rules.perturbed(x, direction, s), *xs[i + 1 :]) for s in (1e-6, -1e-6))
        assert rules.inner(d_x, direction) == pytest.approx((ahead - back) / 2e-6, rel=1e-5, abs=1e-6)


def single(x):
    if isinstance(x, (list, tuple)):
        return type(x)(single(v) for v in x)
    return x.astype("f4") if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x


def check_single(fn, args, options, wrt):
    args = tuple(map(single, args))
    xs = [args[i] for i in wrt]
    gradients = grad(loss(fn, args, options, wrt), wrt=tuple(range(len(wrt))))(*xs)
    for x, d_x in zip(xs, gradients):
        for leaf, d_leaf in zip(rules.leaves(x), rules.leaves(d_x)):
            assert d_leaf.dtype == leaf.dtype or leaf.dtype == float


def cases():
    for fn, args, *wrt in rules.CASES:
        every = range(len(args)) if all(map(rules._floats, args)) else (0,)
        yield fn, args, {}, (wrt and wrt[0]) or every
    for fn, args, options in rules.OPTIONS:
        wrt = [i for i, a in enumerate(args) if rules._floats(a)]
        yield fn, args, options, wrt[:1] if fn in (np.gradient, np.quantile) else wrt
    for fn, (low, high) in rules.UNARY.items():
        for x in (np.linspace(low, high, 6).reshape(2, 3), 0.5 * (low + high)):
            yield fn, (x,), {}, [0]
    for fn in [*rules.BROADCAST_BINARY, operator.pow, np.power]:
        for shapes in rules.SHAPES[:6]:
            a, b = (rules.rng.uniform(0.6, 1.4, s) + 1.7 * i for i, s in enumerate(shapes))
            yield fn, tuple(x if np.ndim(x) else float(x) for x in (a, b)), {}, [0, 1]
    for fn in rules.REDUCTIONS:
        for axis in rules.AXES:
            for keepdims in (False, True):
                yield fn, (rules.a34,), {"axis": axis, "keepdims": keepdims}, [0]
    for shapes in rules.MATMULS:
        a, b = (rules.rng.normal(size=s) for s in shapes)
        yield operator.matmul, (a, b), {}, [0, 1]
        if len(shapes[0]) < 3 and len(shapes[1]) < 4:
            yield np.dot, (a, b), {}, [0, 1]
    for subscripts, *shapes in rules.EINSUMS:
        yield np.einsum, (subscripts, *(rules.rng.normal(size=s) for s in shapes)), {}, range(1, len(shapes) + 1)


def by_function():
    table = {}
    for case in cases():
        if case[0] not in REFUSED:
            table.setdefault(case[0], []).append(case)
    return table.values()


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", by_function(), ids=lambda t: getattr(t[0][0], "__qualname__", str(t[0][0])))
def test_compiled_rules(table):
    for case in table:
        check(*case)
        check_single(*case)
