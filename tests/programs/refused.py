"""Programs whose gradient must be refused with a `SourceADError`, or, where marked, may be right instead."""

import asyncio
import math

import numpy as np

from tests.programs import program, register


def vector(rng):
    return (rng.normal(size=3),)


REFUSE = dict(args=vector, level="refuse")
UNSURE = dict(args=vector, level="refuse", or_right=True)


# ------------------------------------------------------------------------------------------ results without a gradient


@program(**REFUSE)
def returns_an_array(x):
    return x * x


@program(**REFUSE)
def returns_an_array_of_one(x):
    return np.array([np.sum(x)])


@program(**REFUSE)
def returns_a_tuple(x):
    return np.sum(x), np.sum(x * x)


@program(**REFUSE)
def returns_a_list(x):
    return [np.sum(x)]


@program(**REFUSE)
def returns_a_dict(x):
    return {"loss": np.sum(x)}


@program(**REFUSE)
def returns_nothing(x):
    np.sum(x)


@program(**REFUSE)
def returns_a_string(x):
    return f"{x[0]}"


@program(**REFUSE)
def returns_a_complex_number(x):
    return np.sum(x) * (1 + 2j)


# --------------------------------------------------------------------------------------------- wrt that cannot be meant


@program(args=lambda rng: (np.arange(3), rng.normal(size=3)), level="refuse")
def integer_array_in_wrt(k, x):
    return np.sum(k * x)


@program(args=lambda rng: (np.array([True, False]), 2.0), level="refuse")
def boolean_array_in_wrt(mask, x):
    return np.sum(mask * x)


@program(args=lambda rng: ("name", 2.0), level="refuse")
def string_in_wrt(name, x):
    return x * len(name)


@program(args=lambda rng: (None, 2.0), level="refuse")
def none_in_wrt(nothing, x):
    return x * x


@program(args=lambda rng: (2.0, 3.0), wrt="z", level="refuse")
def unknown_name_in_wrt(x, y):
    return x * y


@program(args=lambda rng: (2.0, 3.0), wrt=2, level="refuse")
def index_out_of_range_in_wrt(x, y):
    return x * y


@program(args=lambda rng: (2.0, 3.0), wrt=("x", 5), level="refuse")
def one_of_wrt_is_unknown(x, y):
    return x * y


# --------------------------------------------------------------------------------------------------- no source to read

_namespace = {}
exec("def without_source(x):\n    return x * x\n", _namespace)
_namespace["without_source"].__module__ = __name__
register("without_source", _namespace["without_source"], args=(2.0,), level="refuse")
register("builtin_function", math.sin, args=(2.0,), level="refuse")
register("numpy_ufunc", np.sin, args=(2.0,), level="refuse", or_right=True)
register("no_function_at_all", 3.0, args=(2.0,), level="refuse")
register("a_class", complex, args=(2.0,), level="refuse")


# ----------------------------------------------------------------------------------------- constructs that stay outside


@program(**REFUSE)
def generator_function(x):
    for e in x:
        yield e * e


@program(**REFUSE)
async def coroutine(x):
    await asyncio.sleep(0)
    return np.sum(x)


@program(**UNSURE)
def uses_exec(x):
    scope = {"x": x}
    exec("y = x * x", scope)
    return np.sum(scope["y"])


@program(**UNSURE)
def uses_eval(x):
    return eval("np.sum(x ** 3)")


@program(**UNSURE)
def uses_locals(x):
    y = x * 2
    return np.sum(locals()["y"] ** 2)


@program(**UNSURE)
def inner_generator(x):
    def pairs():
        for i in range(2):
            yield x[i], x[i + 1]

    return sum(a * b for a, b in pairs())


@program(**UNSURE)
def explicit_iterator(x):
    it = iter(x)
    first = next(it)
    return first * next(it) + sum(e * e for e in it)


total = 0.0


@program(**UNSURE)
def writes_a_global(x):
    global total
    total = np.sum(x * x)
    return total * 2


@program(**UNSURE)
def writes_a_nonlocal(x):
    s = 0.0

    def add(value):
        nonlocal s
        s = s + value * value

    for e in x:
        add(e)
    return s * x[0]


REGISTER = []


@program(**UNSURE)
def appends_to_a_global_list(x):
    REGISTER.clear()
    REGISTER.append(np.sum(x * x))
    return REGISTER[0] * x[0]


@program(args=lambda rng: (rng.normal(size=3),), level="refuse", or_right=True)
def mutable_default(x, cache=[]):
    cache.clear()
    cache.append(x * x)
    return np.sum(cache[-1] * x)


@program(**UNSURE)
def exception_carries_data(x):
    class Found(Exception):
        pass

    try:
        for e in x:
            if e * e >= 0:
                raise Found(e * e)
    except Found as found:
        return found.args[0] * 2
    return 0.0


@program(**UNSURE)
def attribute_by_name(x):
    return np.sum(getattr(np, "tan" + "h")(x)) * getattr(x, "size")


class Watched:
    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        return self.value * len(name)

    def __mul__(self, other):
        return Watched(self.value * other)


@program(**UNSURE)
def operator_overloading(x):
    w = Watched(x[0] * x[1]) * 3.0
    return w.value + w.anything


@program(**UNSURE)
def array_of_objects(x):
    a = np.array([x[0], x[1]], dtype=object)
    return a[0] * a[1] + a.sum()


@program(**UNSURE)
def set_of_numbers(x):
    s = {float(e) for e in x}
    return sum(s) + x[0] ** 2


@program(**UNSURE)
def custom_ufunc(x):
    f = np.frompyfunc(lambda e: e * e, 1, 1)
    return np.sum(f(x))


@program(**UNSURE)
def vectorized_function(x):
    return np.sum(np.vectorize(lambda e: e * e if e > 0 else e)(x))


@program(**UNSURE)
def apply_along_axis(x):
    return np.sum(np.apply_along_axis(lambda v: v * v.sum(), 0, x))


@program(**UNSURE)
def nditer_writes(x):
    y = x * 1.0
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for e in it:
            e[...] = e * e
    return np.sum(y)


@program(**UNSURE)
def memory_view(x):
    y = x * 1.0
    m = memoryview(y)
    m[0] = 5.0
    return np.sum(y * y)


@program(**UNSURE)
def buffer_shared_by_numpy(x):
    y = x * 1.0
    z = np.frombuffer(y.data)
    y[0] = x[1] ** 2
    return np.sum(z * z)


@program(**UNSURE)
def strided_tricks(x):
    y = x * 1.0
    windows = np.lib.stride_tricks.sliding_window_view(y, 2)
    y[1] = x[0] ** 2
    return np.sum(windows**2)


@program(**UNSURE)
def function_without_a_rule(x):
    return np.sum(np.i0(x)) + np.sum(np.unwrap(x * 3))


@program(**UNSURE)
def eigenvalues(x):
    m = np.outer(x, x) + np.diag(x)
    return np.sum(np.linalg.eigvals(m).real ** 2)


@program(**UNSURE)
def through_a_string(x):
    return float(f"{x[0] * 2:.17g}") + x[1] ** 2


@program(**UNSURE)
def through_bytes(x):
    return np.sum(np.frombuffer((x * 2).tobytes()) ** 2)


# ---------------------------------------------------------------------------------------- sharing that is not decidable


@program(args=lambda rng: (rng.normal(size=(3, 2)), 1), **{k: v for k, v in UNSURE.items() if k != "args"})
def index_into_a_list_of_arrays(x, k):
    rows = [x[0] * 2, x[1] * 3, x[2] * 4]
    chosen = rows[k]
    chosen[0] = x[0, 0] ** 2
    return np.sum(rows[0] * rows[1]) + np.sum(rows[2])


@program(args=lambda rng: (rng.normal(size=4),), level="refuse", or_right=True)
def alias_chosen_by_the_data(x):
    a, b = x * 2, x * 3
    c = a
    if np.sum(x) > 0:
        c = b
    c[0] = x[1] ** 2
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=4),), level="refuse", or_right=True)
def alias_changes_in_a_loop(x):
    a, b = x * 2, x * 3
    c = a
    for i in range(4):
        c[i] = x[i] ** 2
        if x[i] > 0:
            c = b
        elif x[i] < -0.5:
            c = a[::-1]
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=4),), level="refuse", or_right=True)
def list_of_aliases_grows(x):
    a = x * 1.0
    parts = []
    for i in range(3):
        parts.append(a if x[i] > 0 else a.copy())
        a[i] = a[i + 1] ** 2
    return sum(np.sum(p * x) for p in parts)


def _same_array_twice(rng):
    x = rng.normal(size=3)
    return x, x


def _overlapping_arguments(rng):
    x = rng.normal(size=4)
    return x[:3], x[1:]


@program(args=_same_array_twice, level="refuse")
def same_array_passed_twice_and_written(a, b):
    a[0] = 2 * a[1]
    return np.sum(a * b)


@program(args=_overlapping_arguments, level="refuse")
def overlapping_arguments_written(a, b):
    a[1] = 2 * a[0]
    b[1] *= 3.0
    return np.sum(a * b)


def _list_with_one_array_twice(rng):
    w = rng.normal(size=3)
    return ([w, w],)


@program(args=_list_with_one_array_twice, level="refuse")
def one_array_twice_in_a_list_written(ws):
    ws[0][0] = ws[1][1] ** 2
    return np.sum(ws[0] * ws[1])


# three layouts of one signature: whether v shares x's memory differs from call to call
@program(
    args=lambda rng: (rng.normal(size=(2, 3)), 0),
    also=(lambda rng: (np.asfortranarray(rng.normal(size=(2, 3))), 0), lambda rng: (rng.normal(size=(4, 3))[::2], 0)),
    level="refuse",
    or_right=True,
)
def ravel_of_an_argument_written(x, k):
    v = np.ravel(x)
    v[k] = x[1, 2] ** 2
    return np.sum(x * x) + v[1]


@program(args=lambda rng: (rng.normal(size=3),), level="refuse", or_right=True, also=(lambda rng: ([1.0, 2.0, 3.0],),))
def asarray_shares_or_converts(x):
    y = np.asarray(x, dtype=np.float64)
    y[0] = 2 * x[1]
    return np.sum(y * y) + x[0]


@program(args=lambda rng: (rng.normal(size=3) > 5, rng.normal(size=3)), wrt=1, level="refuse", or_right=True)
def condition_on_an_array_of_one(mask, x):
    if (x[:1] > -100) and not mask.any():
        return np.sum(x * x)
    return np.sum(x)


register("unhashable_closure", (lambda box: lambda x: np.sum(x * box["w"]) * len(box))({"w": np.ones(3)}), **UNSURE)
