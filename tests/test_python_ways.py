"""Dicts and lists whose keys and lengths are known only at run time, functions chosen at run time, generators."""

import functools
import heapq
import itertools
import math

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.errors import SourceADError, UnsupportedSyntaxError
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import Append, Block, Const, Function, Pop, Stmt, Sub, Var

X = np.array([0.7, -1.3, 2.1, 0.4, 1.9])


def grouped(x, labels):
    groups = {}
    for e, label in zip(x, labels):
        groups.setdefault(label, []).append(e * e)
    return sum(sum(v) ** 2 for v in groups.values())


def test_append_to_a_list_in_a_dict_stays_in_place_and_is_undone_by_pop():
    loss = grad(grouped)
    loss(X, [0, 1, 0, 2, 1])
    assert ".append(e * e)" in loss.source
    assert "].pop()" in loss.source
    assert "copy" not in loss.source.partition("# reverse")[0]


@pytest.mark.parametrize("labels", [[0, 1, 0, 2, 1], ["a"] * 5, [(0, 1), (0, 2), (0, 1), (1, 1), (0, 2)]])
def test_keys_may_be_numbers_strings_and_tuples(labels):
    x = X[: len(labels)]
    totals = {label: sum(e * e for e, other in zip(x, labels) if other == label) for label in labels}
    expected = [4 * totals[label] * e for e, label in zip(x, labels)]
    assert np.allclose(grad(grouped)(x, labels), expected)


def test_a_key_that_carries_a_derivative_is_refused():
    def f(x):
        d = {}
        for e in x:
            d[e] = 1.0
        return sum(k * v for k, v in d.items())

    with pytest.raises(UnsupportedSyntaxError, match="dict key"):
        grad(f)(X)


def test_a_missing_key_of_known_functions_raises_as_the_program_does():
    def f(x, name):
        return {"sin": np.sin, "cos": np.cos}[f"{name}"](x)

    with pytest.raises(KeyError):
        grad(f)(0.5, "tan")


def test_functions_chosen_by_an_index_take_negative_ones_and_refuse_others():
    def f(x, k):
        return [np.sin, np.cos, np.tanh][k](x)

    assert np.isclose(grad(f)(0.5, -1), 1 - np.tanh(0.5) ** 2)
    with pytest.raises(IndexError):
        grad(f)(0.5, 3)


def test_an_iterator_is_walked_through_once():
    def f(x):
        pairs = zip(x, x)
        return sum(a * b for a, b in pairs) + sum(a for a, b in pairs)

    np.testing.assert_allclose(grad(f)(X), 2 * X)


def test_too_few_values_to_unpack_raise_as_the_program_does():
    def f(x):
        kept = [e for e in x if e > 100]
        first, *others, last = kept
        return first * last + sum(others)

    with pytest.raises(ValueError, match="unpack"):
        grad(f)(X)


@pytest.mark.parametrize("place", [-7, -2, 0, 1, 3, 9])
def test_insert_at_any_place(place):
    def f(x, k):
        items = [e * e for e in x]
        items.insert(k, x[0] * x[1])
        return sum(v * (i + 1) for i, v in enumerate(items))

    check_grads(f, (X, place), modes=("reverse",))


@pytest.mark.parametrize("place", [-5, -1, 0, 4])
def test_pop_at_any_place(place):
    def f(x, k):
        items = [e * e for e in x]
        taken = items.pop(k)
        return taken * sum(v * (i + 1) for i, v in enumerate(items))

    check_grads(f, (X, place), modes=("reverse",))


def test_remove_an_item_whose_place_the_run_decides():
    def f(x):
        items = [x[0] * 2, x[1], x[2]]
        items.remove(x[1])
        return items[0] * items[1]

    check_grads(f, (np.array([1.0, 5.0, 3.0]),))


def test_a_loop_over_items_takes_the_values_that_are_there():
    def f(x):
        values = {"a": x[0], "b": x[1]}
        for key, value in values.items():
            values[key] = value * value
            values["b"] = values["b"] + value
        return values["a"] * values["b"]

    check_grads(f, (np.array([1.0, 5.0]),))


def test_equal_arrays_in_a_list_stay_apart_when_one_is_written():
    def f(x):
        rows = []
        rows.append(x * 2)
        rows.append(x * 2)
        for i in range(len(x)):
            rows[i % 2][i] = x[i] ** 2
        return rows[0] @ x + np.sum(rows[1] ** 2)

    check_grads(f, (X,), modes=("reverse",))


def test_combinations_of_any_array():
    def f(x):
        return sum(a * b * b for a, b in itertools.combinations(x, 2))

    for n in (0, 1, 2, 12):
        check_grads(f, (np.linspace(0.5, 2.0, n),), modes=("reverse",)) if n else grad(f)(np.zeros(0))


def test_evaluate_appends_and_pops_at_a_path_without_touching_the_base():
    d, longer, shorter, item = Var("d"), Var("d"), Var("d"), Var("item")
    path = (Sub(Const("k")),)
    body = Block(
        (Stmt((longer,), Append(d, Const(5), path, Const(0))), Stmt((shorter, item), Pop(longer, path, Const(1)))), (longer, shorter, item)
    )
    given = {"k": [1, 2]}
    assert evaluate(Function("f", (d,), body), given) == ({"k": [5, 1, 2]}, {"k": [5, 2]}, 1)
    assert given == {"k": [1, 2]}


def test_match_tells_tuples_dicts_and_numbers_apart():
    def f(x):
        total = 0.0
        for step in [("add", 0), ("mul", 1, 2), ("neg",), {"factor": 2.0}, 3, "none", None, x]:
            match step:
                case ("add", i):
                    total += x[i]
                case ("mul", i, j):
                    total += x[i] * x[j]
                case (_,):
                    total = -total
                case {"factor": k}:
                    total *= k
                case int(i):
                    total += x[i] ** 2
        return total

    check_grads(f, (X,))


def test_groupby_of_items_with_known_keys():
    def f(x):
        total = 0.0
        for key, group in itertools.groupby(["a", "a", "b", "a"]):
            total += len(list(group)) * x[0] * (key == "a")
        for pair, group in itertools.groupby([0, 1, 2, 3, 4], key=lambda k: k > 2):
            total += (1 + pair) * sum(x[k] for k in group) ** 2
        return total

    check_grads(f, (X,))


def test_groupby_of_keys_of_the_run():
    def f(x):
        total = 0.0
        for large, group in itertools.groupby(x, key=lambda v: v > 1.5):
            total += sum(group) ** 2 * (2 if large else 1)
        return total + sum(k * len(list(group)) for k, group in itertools.groupby(x))

    check_grads(f, (X,))


def test_a_group_is_empty_when_the_next_one_was_asked_for():
    def f(x):
        groups = [group for _, group in itertools.groupby([(1, x[0]), (1, x[1]), (2, x[2])], key=lambda pair: pair[0])]
        total = x[0] + sum(v for group in groups for _, v in group)
        for _, group in itertools.groupby([(1, x[0]), (1, x[1]), (2, x[2])], key=lambda pair: pair[0]):
            total += sum(v for _, v in group) ** 2 + len(list(group)) * x[0]  # noqa: B031
        return total

    check_grads(f, (X,))


def test_the_least_and_the_largest():
    def f(x):
        pairs = heapq.nlargest(2, [(3, x[0]), (1, x[1]), (2, x[2])]) + heapq.nsmallest(2, enumerate(x), key=lambda p: -p[1])
        return sum(k * v**2 for k, v in pairs) * sum(heapq.nsmallest(2, x))

    check_grads(f, (X,))


def groups_by_a_key_of_the_run(x):
    sums = {sign: sum(group) for sign, group in itertools.groupby(sorted(x), key=lambda q: "low" if q < 0.5 else "high")}
    return sums["low"] * 2 + sums["high"] + sum(k * len(list(group)) for k, group in itertools.groupby(x))


def groups_that_are_kept_are_empty(x):
    pairs = list(itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=lambda p: p[0]))
    return sum(len(list(group)) for _, group in pairs) * x[0] + x[1]


def groups_walked_twice(x):
    total = 0.0
    for _, group in itertools.groupby(x, key=lambda q: q < 0.5):
        again = group
        total += sum(group) + 2 * sum(again)  # noqa: B031
    return total


def groups_taken_by_next(x):
    groups = itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=lambda p: p[0])
    _, first = next(groups)
    item = next(first)
    _, second = next(groups)
    return item[1] + sum(q for _, q in first) * 5 + sum(q for _, q in second) * 7


@pytest.mark.parametrize(
    "f", [groups_by_a_key_of_the_run, groups_that_are_kept_are_empty, groups_walked_twice, groups_taken_by_next]
)
def test_groupby_gives_iterators(f):
    check_grads(f, (X,))


def test_groupby_asks_for_keys_when_python_does():
    def f(x):
        total, limit = 0.0, [0.4]
        for _, group in itertools.groupby(x, key=lambda q: q < limit[0]):
            limit[0] = 0.2
            total = total * 2 + sum(group)
        return total

    check_grads(f, (X,))


SCALE = 3


def test_a_global_that_is_only_read_may_be_declared():
    def f(x):
        global SCALE
        return np.sum(x**2) * SCALE

    assert np.allclose(grad(f)(X), 6 * X)


def test_results_of_decompositions_have_names():
    def f(a):
        s, e = np.linalg.svd(a, full_matrices=False), np.linalg.eigh(a @ a.T)
        parts = np.sum(s.S**2) + np.sum(s.U[:, 0] ** 4) + np.sum(np.sin(e.eigenvalues)) + np.sum(np.linalg.qr(a).R ** 2)
        return parts + np.linalg.slogdet(a).logabsdet

    check_grads(f, (np.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.3, 0.1, 0.9]]),))


def test_distances_of_rows():
    def f(x):
        rows = x.reshape(-1, 2)
        return sum(math.dist(p, q) for p, q in zip(rows, np.roll(rows, -1, axis=0)))

    check_grads(f, (np.arange(24.0) ** 1.3,))


def test_a_generator_inside_an_itertools_function_calls_the_same_function():
    def squares(x):
        yield from itertools.chain((v * v for v in x), [x[0]])

    check_grads(lambda x: sum(itertools.chain(squares(x), squares(x))), (X,))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(a * b for a, b in itertools.accumulate(list(zip(x, x)), lambda p, q: (p[0] * q[0], p[1] + q[1]))),
        lambda x: sum(itertools.accumulate(x, lambda p, q: p * q, initial=2.0)) + sum(itertools.accumulate([])),
        lambda x: functools.reduce(lambda p, q: p * q, [], x[1]) * functools.reduce(lambda p, q: p + q * q, x),
    ],
)
def test_running_and_whole_reductions(f):
    check_grads(f, (X,))


@pytest.mark.parametrize(
    "f", [lambda x: sum((e * e for e in x), start=3.0 * x[0]), lambda x: sum([e * e for e in x if e > 1.0], start=x[1] ** 2)]
)
def test_a_sum_of_a_generator_starts_where_it_is_told(f):
    check_grads(f, (X,))


def test_a_sum_of_what_map_gives_makes_no_list():
    loss = grad(lambda x: sum(map(lambda e: e * e, x)))  # noqa: C417
    assert np.allclose(loss(X), 2 * X) and "append" not in loss.source


@pytest.mark.parametrize("f", [lambda x: sum(list(x, 3)), lambda x: sum(itertools.repeat()), lambda x: sum(x, begin=1.0)])
def test_arguments_that_a_built_in_function_does_not_take_are_refused(f):
    with pytest.raises(SourceADError, match="with these arguments"):
        grad(f)(X)
