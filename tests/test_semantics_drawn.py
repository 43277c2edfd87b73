"""What random programs have found: names before loops that do not run, lists and arrays together, shared memory, empty arrays."""

import functools

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import AliasError
from tests.semantics import judged_in_all_modes, program_of

pytestmark = pytest.mark.sampled(3)

X = np.array([0.4, 0.7])
NOT_RUN = "1 if len(x) > 9 else 0"  # how often a loop runs, which the compiler does not know

BEFORE = {
    "number": ("d = 2.0", "d = x"),
    "number and an object in the loop": ("d = 2.0", "e = x; d = e"),
    "None": ("d = None", "d = x"),
    "attribute": ("a = Box(); a.d = 2.0", "a.d = x", "a.d"),
    "item of a dict": ("a = {'d': 2.0}", "a['d'] = x", "a['d']"),
    "item of a list": ("a = [2.0]", "a[0] = x", "a[0]"),
    "two names": ("c = 1.0; d = 2.0", "c = d = x * 2", "(c + 3 * d)"),
    "items of a tuple": ("a = (1.0, 2.0)", "a = (x, x)", "(a[0] + 3 * a[1])"),
    "walrus": ("d = 2.0", "q = [0 for i in x if (d := x) is not None]"),
}
LOOPS = {
    "for": "for k in range({}):\n  {}",
    "while": "k = 0\n while k < ({}):\n  k += 1; {}",
    "inner": "for d in range(2):\n  for k in x[2:]:\n   {1}",
}


class Box:
    pass


class Twice:
    def __init__(self, v):
        self.v = v

    def __call__(self, q):
        return 2 * self.v * q


made = functools.partial(program_of, Box=Box, Twice=Twice)


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_does_not_run_leaves_what_was_before(before, loop):
    start, body, *read = BEFORE[before]
    read = read[0] if read else "d"
    for times in (NOT_RUN, "1 if x[0] > 9 else 0", "1"):
        value = f"x[1] * np.sum({read})" if before != "None" or loop == "inner" else f"x[1] if {read} is None else np.sum({read})"
        judged_in_all_modes(made([start, LOOPS[loop].format(times, body), f"return {value}"]), X)


LISTS_AND_ARRAYS = [
    "h = [x[0], 0.5]; g = h; h += x; return sum(g) + 2 * sum(h)",
    "h = [[x[0], 0.5]]; g = h[0]; h[0] += x; return sum(g) + 2 * sum(h[0])",
    "h = [[x[0], 0.5]]; h[0] *= x; return sum(h[0])",
    "h = {'a': [x[0]]}; h['a'] += x; return sum(h['a']) * len(h['a'])",
    "h = [x[0]]\n for k in range(3):\n  h += x * k\n return sum(h)",
    "h = [[x[0]]]\n for q in h:\n  q += x\n return sum(h[0])",
    "h = [1.0, x[0]]; h += (x[0], x[1]); return sum(h)",
    "h = [1.0, x[0]]; h += x if x[0] > 0 else [1.0]; return sum(h) * len(h)",
    "h = [1.0, x[0]]; h -= x; return h[0] * h[1]",
    "h = [1.0, 2.0]; h.extend(x); return h[2] * h[3]",
]


@pytest.mark.parametrize("lines", LISTS_AND_ARRAYS)
def test_a_list_and_an_array_make_a_new_array(lines):
    judged_in_all_modes(made([lines]), X)


SHARED = """
np.require(w); np.require(w, float, ['A']); np.frombuffer(w); np.from_dlpack(w); np.ix_(w)[0]; np.ma.array(w, copy=False); np.asmatrix(w)
np.apply_along_axis(lambda q: q, 0, w); np.trim_zeros(w); np.diff(w, 0); np.meshgrid(w, copy=False)[0]; np.nan_to_num(w); np.unwrap(w)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("made_of_w", [call.strip() for call in SHARED if call.strip()])
def test_what_may_share_memory_is_not_read_after_a_write(made_of_w):
    for write in ("w[0] = x[1] ** 2", "p.fill(x[1] ** 2)"):
        result = "return np.sum(w * [1, 2]) + 3 * np.sum(np.asarray(p) * 2.0)"
        judged_in_all_modes(made(["w = x * 2", f"p = {made_of_w}", write, result]), X)


@pytest.mark.parametrize("name", "sum max min prod ptp nansum nanprod".split())
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_is_reduced_over_an_axis(name, axis):
    call = f"x = np.{name}(x, axis={axis})"
    for lines in ([call, call], [f"for k in range(2):\n  {call}"], ["x = x.sum()", call]):
        if name != "ptp" or len(lines) == 1:
            assert judged_in_all_modes(made([*lines, "return x * 1.0"]), X) == "right"


OF_ANY_SIZE = [
    "np.diff(x[0])", "np.diff(x[0], 2)", "np.ediff1d(x[0])", "np.diff(x[0], prepend=0.5)", "np.sum(x[0] * 0 + np.median(x[0]))",
]


@pytest.mark.parametrize("call", OF_ANY_SIZE)
@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.filterwarnings("ignore")
def test_the_gradient_of_a_short_array_has_its_length(call, size):
    _, (gradient,) = value_and_grad(made([f"return np.sum({call} ** 2)"]), verify=False)((np.arange(1.0, 1.0 + size),))
    assert np.shape(gradient) == (size,)


TUPLES = [
    "for k in range(2): s = s + np.sum(x[k]) * k",
    "if x[0][0] > 0:\n  for k in range(2): s = s + np.sum(x[k]) * k",
    "if x[0][0] > 0:\n  for k in range(2): s = s + np.sum(x[k]) * k\n else:\n  s = x[1][0]",
    "for j in range(3):\n  if s < 1:\n   for q in x: s = s + np.sum(q)\n  else:\n   s = s + x[1][0]",
]


@pytest.mark.parametrize("lines", TUPLES)
def test_the_gradient_of_a_tuple_is_a_tuple(lines):
    _, gradient = value_and_grad(made(["s = 0.0", lines, "return s"]), verify=False)((X, X * 2))
    assert type(gradient) is tuple


INSIDE_THEMSELVES = [
    "g = []\n for q in x:\n  g.append([q, 2 * q])\n g.extend(g[:1]); g[0], g[1] = g[1], g[0]; return g[0][1] * g[1][0] + g[-1][0]",
    "g = []\n for q in x:\n  g.append([q, 2 * q])\n g[0][0] = g[1][0]; g.insert(0, g[1]); return g[0][0] * g[1][0]",
    "g = [[q] for q in x]; g[-1][0] = g[-1]; return sum(g[0])",
    "g = [x[0]] * (2 if len(x) < 9 else 3); g.append(g); return g[2][2][0]",
    "g = []\n for q in x:\n  g.append(q)\n g.append(g); return g[2][0] * x[1]",
    "g = {}\n for k in range(2):\n  g[k] = x[k]\n g[2] = g; return g[2][1]",
    "b = Box(); b.all = []\n for k in range(2):\n  c = Box(); c.v = x * k; c.box = b; b.all.append(c)\n return b.all[0].box.all[1].v[0]",
]


@pytest.mark.parametrize("lines", INSIDE_THEMSELVES)
def test_a_container_in_itself_is_right_or_refused(lines):
    judged_in_all_modes(made([lines]), X)


@pytest.mark.parametrize("made_twice", [lambda: X.copy(), lambda: [0.5], lambda: {0: 0.5}])
def test_whether_two_arguments_are_one_object_is_checked_in_each_call(made_twice):
    program = made(["return x[0][0] * (2 if x[0] is x[1] else 1)"])
    derivative = value_and_grad(program, verify=False)
    one, other = made_twice(), made_twice()
    assert derivative([one, other])[0] == program([one, other])
    with pytest.raises(AliasError, match="are one object, and the function asks by `is`"):
        derivative([one, one])


CALLABLE = [
    "e = Twice(x[0])\n def h(n): return 0.5 if n < 0.1 else h(n * 0.5) + e.v\n return h(2.0 * x[1]) * x[0]",
    "e = Twice(x[0])\n def h(n): return 0.5 if n < 0.1 else h(n - 1) + e(n)\n return h(2.0 * x[1]) * x[0]",
    "s = 0.0\n for c in [Twice(x[0]), Twice(x[1])]:\n  s = s + c(3.0) * c.v\n return s",
]


@pytest.mark.parametrize("lines", CALLABLE)
def test_objects_that_can_be_called_are_data_too(lines):
    judged_in_all_modes(made([lines]), X)


@pytest.mark.parametrize("value", ["np.sum(np.resize(x[0], 3))", "sum(np.sum(q) for q in ([*x, np.ones(3)] if x[0] > 0 else [*x]))"])
def test_the_gradient_of_a_number_is_a_number(value):
    _, gradient = value_and_grad(made([f"return {value}"]), verify=False)([0.5, 0.25])
    assert all(isinstance(d, float) for d in gradient)
