"""What NumPy makes of its arguments: the array itself, an array of an object; arrays of unknown dtype; names that change kind."""

import itertools
import math
import operator

import numpy as np
import pytest

from sourcead import hvp, value_and_grad
from tests.semantics import judged, judged_in_all_modes, program_of

pytestmark = pytest.mark.sampled(3)

X = np.array([0.4, 0.7])
NUMBER_TYPES = {
    "written through the result": "a = x * 2; b = np.float64(a); b[0] = 5 * x[1]; return np.sum(a * x)",
    "a view of it": "a = x * 2; b = np.float64(a[::-1]); b[0] = 5 * x[0]; return np.sum(a * x)",
    "an item of a list": "a = [x * 2, x]; np.float64(a[0])[0] += x[1]; return np.sum(a[0] * x)",
    "in a loop": "a = x * 2\n for i in range(2): b = np.float64(a); b[0] += x[1]\n return np.sum(a * x)",
    "in a branch": "a = x * 2; b = np.double(a) if x[0] > 0 else a; b[0] = x[1]; return np.sum(a * x)",
    "of another type": "a = x * 2; b = np.float32(a); b[0] = 5; return np.sum(a * x)",
    "of whole numbers": "k = np.arange(2); j = np.int64(k); j[0] = 1; return x[k[0]] * x[0]",
    "of a list": "a = x * 2; b = np.float64([a, a]); b[0] = 0; return np.sum(a * x) + np.sum(b)",
    "of an array without axes": "a = np.array(x[0] * 2); b = np.float64(a); a[()] = 4 * x[1]; return b + a",
}


def variance_of_an_array_then_a_number(x):
    s, y = 0.0, x
    for _ in range(len(x)):
        s += np.var(y)
        y = 0.5
    return s


def test_variance_of_what_becomes_a_number():
    assert judged(variance_of_an_array_then_a_number, np.array([1.0, 2.0, 4.0] * 3)) == "right"


@pytest.mark.parametrize("lines", NUMBER_TYPES.values(), ids=NUMBER_TYPES)
def test_a_type_of_numbers_returns_an_array_of_this_type_itself(lines):
    assert judged_in_all_modes(program_of([lines]), X) == "right"


class Pair:
    def __init__(self, v):
        self.v = v

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return self.v[k]

    def __iter__(self):
        return iter(self.v)


class Plain:
    def __init__(self, v):
        self.v = v


OBJECTS = {
    "ufunc": "np.sum(np.sin(Pair(x)))",
    "reduction": "np.sum(Pair(x * x)) + np.linalg.norm(Pair(x))",
    "product": "np.dot(Pair(x * x), x)",
    "in a list": "np.sum(np.stack([Pair(x), x]) ** 2)",
    "np.array": "np.sum(x - np.array(Pair(x * x)))",
}


@pytest.mark.parametrize("value", OBJECTS.values(), ids=OBJECTS)
def test_numpy_makes_an_array_of_an_object_with_a_length_and_items(value):
    assert judged_in_all_modes(program_of([f"return {value}"], Pair=Pair), X) in ("right", "refused")


@pytest.mark.parametrize("line", ["y += Pair(x * 2)", "y[:] = Pair(x * 2)", "y += [x[0], x[1] ** 2]"])
def test_an_object_is_written_into_an_array_item_by_item(line):
    assert judged_in_all_modes(program_of(["y = x * 1.0", line, "return np.sum(y * x)"], Pair=Pair), X) == "right"


def test_an_object_that_is_no_sequence_is_refused():
    lines = ["try: return np.sum(np.sin(Plain(x)))", "except TypeError: return x[0]"]
    assert judged_in_all_modes(program_of(lines, Plain=Plain), X) == "refused"


@pytest.mark.parametrize("call", ["getattr(x)", "hasattr(x)", "setattr(x, 'a')", "getattr(x, 'a', 1, 2)"])
def test_too_few_arguments_raise_what_can_be_handled_or_are_refused(call):
    assert judged_in_all_modes(program_of([f"try: y = {call}", "except TypeError: y = x[0]", "return y"]), X) in ("right", "refused")


def test_the_gradient_has_the_dtype_of_the_argument_where_a_name_becomes_an_array_of_whole_numbers():
    lines = "y = x\n i = 0\n while True:\n  i += 1\n  if i > 2: break\n  y = np.argsort(y)\n return y.sum() + 0 * np.sum(x)"
    assert value_and_grad(program_of([lines]), verify=False)(X)[1].dtype == X.dtype


TAKEN = ["np.take(x[0], [0, 0], axis=0)", "np.take(x[0] * 2, range(1), axis=-1)", "np.take(x[1], [0, 3], axis=0, mode='wrap')"]


@pytest.mark.parametrize("taken", TAKEN)
def test_items_are_taken_of_a_number(taken):
    assert judged_in_all_modes(program_of([f"return np.sum({taken} ** 2)"]), X) == "right"


KINDS = {
    "a tuple before": "n = (x[0], x[1])\n for k in x[{}:]: n = (k,)\n return len(n) * x[0]",
    "a tuple becomes a list": "n = (x[0], x[1])\n for k in x[{}:]: n = [k]\n return len(n) * x[0]",
    "a dict": "n = {{'a': 1, 'b': 2}}\n for k in x[{}:]: n = {{'a': k}}\n return len(n) * x[0]",
    "indices": "n = [x, x]\n for n in np.ndindex(x[{}:].shape): pass\n return len(n) * x[0]",
    "two names": "g = w = x * 1.0\n for g in range(2 - {}): w = x\n return np.sum(w[g] * x)",
    "attributes": "a = Plain(x * 2); a.w = a.v\n for i in range(2 - {}): a.v = i; a.w = x\n return np.sum(a.w[a.v] * x)",
}


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("lines", KINDS.values(), ids=KINDS)
def test_a_name_of_another_kind_before_the_loop(lines, start):
    if start == 2 and "w[g]" in lines or start == 2 and "a.w[" in lines:
        lines = lines.replace("w[g]", "w").replace("a.w[a.v]", "a.w")
    judged_in_all_modes(program_of([lines.format(start)], Plain=Plain), X)


DICTS = {
    "a number becomes a truth value": "a = dict(zip('ab', x))\n for i in range(2): a.update(b=not a)\n"
    " return sum(q for q in a.values())",
    "a number becomes an array": "a = dict(zip('ab', x))\n for i in range(2): a['ab'[i]] = x * 2\n"
    " return sum(np.sum(q) for q in a.values())",
    "a number becomes a list": "a = dict(zip('ab', x))\n for i in range(2): a['ab'[i]] = [x[0]]\n"
    " return sum(np.sum(q) for q in a.values())",
    "a dict in itself": "w = {'a': x[0], 'b': x[1]}\n while True:\n  w |= {'a': w}\n  break\n return w['a']['a']['b']",
    "a name becomes a number": "w = {'a': x}; n = 0\n while True:\n  n += 1; k = 0\n  if n > 2: break\n  while True:\n   k += 1\n"
    "   if k > 2: break\n   w = x[0]\n return w * 2",
}


@pytest.mark.parametrize("lines", DICTS.values(), ids=DICTS)
def test_a_dict_whose_items_change_kind(lines):
    assert judged_in_all_modes(program_of([lines]), X) == "right"


EMPTY = {
    "mean": "m = np.mean(x[x > 5])\n if np.isnan(m): m = 0.0\n return m * x[0] + np.sum(x)",
    "variance": "m = np.var(x[x > 0.5], ddof=1)\n if np.isnan(m): m = 0.0\n return m * x[0] + np.sum(x)",
    "a masked axis": "m = np.mean(np.outer(x, x)[:, x > 5], axis=1)\n m = np.where(np.isnan(m), 0.0, m)\n return np.sum(m * x + x)",
    "accumulate": "y = list(itertools.accumulate(q for q in x if q > 5))\n return len(y) * x[0] + sum(y)",
    "accumulate by a function": "y = list(itertools.accumulate(x[2:], operator.mul))\n return len(y) * x[0] + sum(y)",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lines", EMPTY.values(), ids=EMPTY)
def test_nothing_is_left(lines):
    assert judged_in_all_modes(program_of([lines], itertools=itertools, operator=operator), X) == "right"


TRUTHS = ["abs(bool(x.shape) or x[0])", "np.abs(x[0] > 0 or x[0])", "np.fabs(len(x) > 5 or x[0])", "math.fabs(x.size > 1 or x[1])"]


@pytest.mark.parametrize("value", TRUTHS)
def test_the_absolute_value_of_a_truth_value(value):
    assert judged_in_all_modes(program_of([f"return {value} * x[0]"], math=math), X) == "right"


@pytest.mark.parametrize("rest", ["h = w", "h = w * x[0]", "h = w if n == 1 else h + w"])
def test_an_array_of_another_shape_after_each_iteration(rest):
    loop = f"while True:\n  n += 1\n  if n > 2: break\n  w = w.sum(0, keepdims=True) * 2; {rest}"
    lines = f"w = x; n = 0\n {loop}\n return np.sum(h) + w[0]"
    assert judged_in_all_modes(program_of([lines]), X) == "right"


MISSING = {
    "a key": "y = {'b': x}; c = x[0]; n = 2\n while n > 0:\n  n -= 1\n  c = y.get('p', x[1]) * c\n return c",
    "an index": "y = [x[0], x[1]]; s = 0.0\n for i in range(len(x)):\n  if len(y) > 5: s = s + y[5]\n  s = s + y[i]\n return s",
}


@pytest.mark.parametrize("lines", MISSING.values(), ids=MISSING)
def test_forward_mode_of_an_item_that_is_not_there(lines):
    assert judged_in_all_modes(program_of([lines]), X) == "right"


@pytest.mark.parametrize("factor", ["sum(filter(lambda q: q > 5, x))", "sum([])", "sum(q for q in x if q > 5)", "len(x) - 2"])
def test_the_gradient_of_a_float_is_a_float(factor):
    program = program_of([f"return ({factor}) * x[1]"])
    assert all(isinstance(d, float) for d in value_and_grad(program, verify=False)([0.4, 0.7])[1])


SQUEEZED = {
    "no axis to remove": "c = np.squeeze(x)\n return np.sum(c * x) * (2 if c is x else 1)",
    "no axis of one": "c = np.squeeze(x, axis=())\n return np.sum(c * x) * (2 if c is x else 1)",
    "written": "y = x * 2; c = y.squeeze(); c[0] = 5.0\n return np.sum(c * y) * (2 if c is y else 1)",
    "an axis": "y = x[None] * 2; c = y.squeeze(); c[0] = 5.0\n return np.sum(c * y) * (2 if c is y else 1)",
    "a mask": "w = x * 1.0; c = np.squeeze(w); w[c is w] *= 0.5\n return np.sum(c * x)",
}


@pytest.mark.parametrize("lines", SQUEEZED.values(), ids=SQUEEZED)
def test_squeeze_returns_the_array_itself_if_no_axis_is_removed(lines):
    assert judged_in_all_modes(program_of([lines]), X) == "right"


@pytest.mark.parametrize("value", ["np.convolve(x[0], 2)", "np.convolve(x, x[0]) * x", "np.convolve(2.0, x) ** 2"])
def test_numbers_are_convolved_as_arrays_of_one(value):
    assert judged_in_all_modes(program_of([f"return np.sum({value}) * x[1]"]), X) == "right"


def test_the_hessian_where_an_item_of_a_dict_has_no_cotangent_yet():
    lines = "x = {k: q for k, q in enumerate(x)}\n x = {k: q for k, q in enumerate(x[2])}\n return dict(b=x[0])['b'] ** 2"
    product = hvp(program_of([lines]), verify=False)([X, X, X], [X, X, 2 * X])
    np.testing.assert_allclose(product, [[0.0, 0.0], [0.0, 0.0], [4 * X[0], 0.0]])


@pytest.mark.parametrize("before", ["[]", "[q for q in x if q > 9]", "x[x > 9]", "None", "'a'"])
@pytest.mark.parametrize("times", [0, 1])
def test_a_name_that_becomes_an_object_in_a_loop_is_not_taken_for_a_list(before, times):
    lines = f"y = {before}; i = 0\n while i < {times}:\n  i += 1\n  y = Pair(x)\n return sum([np.sum(q) for q in y]) * x[0] if y else x[1]"
    if times or before == "[]":
        judged_in_all_modes(program_of([lines], Pair=Pair), X)


def test_the_hessian_where_a_name_has_no_value_before_it_is_assigned_again():
    lines = "for c in x:\n  if c < 0.1: b = c\n for i in range(2): b = x * 2\n return sum([q * q for q in b])"
    np.testing.assert_allclose(hvp(program_of([lines]), verify=False)(X, X), 8 * X)


PUT = ["w[1:] = [w]\n return len(w[1][1]) * x[0]", "w[1:] = w\n return len(w) * x[0]", "w[1:] = (w[:1], x)\n return x[0] * len(w)"]


@pytest.mark.parametrize("lines", PUT)
def test_a_list_is_put_into_a_part_of_itself(lines):
    judged_in_all_modes(program_of([f"w = x.tolist()\n {lines}"]), X)


MASKS = [
    "return np.sum(sum([x > 0.2, x > 0.1]) * x)",
    "return np.sum(sum([x > 0.5, True]) * x) + x[1] * sum((x > 0.2, x[0] > 0.1, 1))[0]",
    "return sum([x[0] > 0, x[1] > 0]) * x[0] + sum([x > 0])[0] * x[1]",
    "return np.sum(sum(map(lambda v: x >= v, x)) * x) + np.sum(sum(x >= v for v in x) * x)",
    "m = [x > 0.1 * k for k in range(3)]\n return np.sum(sum(m) * x)",
]


@pytest.mark.parametrize("lines", MASKS)
def test_a_sum_of_masks_counts(lines):
    assert judged_in_all_modes(program_of([lines]), X) == "right"
