"""In which order Python evaluates: keys before values, `*items` before what follows, the object of `+=` before its right side."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.37, -0.81, 1.13])
W = np.array([0.5, -1.2, 0.3])


def keys_before_values(x):
    count = [1.0]

    def key(name):
        count[0] *= 2
        return name

    table = {key("a"): count[0] * x[0], key("b"): count[0] * x[1]}
    return table["a"] * table["b"]


def keys_before_values_that_are_written(x):
    state = x * 1.0

    def key(name):
        state[0] = state[0] * 3 + 1.0
        return name

    return sum({key("p"): state[0], **{key("q"): state[0] * x[1]}}.values())


def key_of_a_nonlocal_name(x):
    scale = 1.0

    def index(k):
        nonlocal scale
        scale = scale + x[2]
        return k

    return {index(0): scale * x[0], index(1): scale}[1] ** 2


def items_of_a_list_that_grows(x):
    items = [x[0]]

    def grown():
        items.append(7.0)
        return x[1]

    together = [*items, grown()]
    return sum(together) * len(together) + items[-1]


def items_of_a_list_that_is_written(x):
    items = [x[0]]

    def written():
        items[0] = 7.0 * x[2]
        return x[1]

    together = [*items, written(), items[0]]
    return together[0] * 2 + together[1] + together[2] * 3


def items_in_a_tuple(x):
    items = [x[0], x[1]]

    def taken():
        return items.pop() * 2

    together = (*items, taken(), *items)
    return sum(a * (k + 1) for k, a in enumerate(together))


def items_before_a_lambda_that_writes(x):
    items = [x[0]]
    write = lambda: items.insert(0, x[2])  # noqa: E731
    together = [0.5, *items, write() or x[1]]
    return sum(a * (k + 1) for k, a in enumerate(together)) + items[0]


def array_in_a_dict_that_is_bound_anew(x):
    held = {"k": x * 1.0}

    def anew():
        held["k"] = held["k"] * 3
        return x[1]

    before = held["k"]
    held["k"] += anew()
    return held["k"] @ W + before @ W[::-1]


def array_in_a_list_that_is_bound_anew(x):
    held = [x * 1.0, x * 2.0]

    def anew():
        held[-1] = held[0] * 3
        return x[1]

    held[1] *= anew()
    return held[1] @ W


def name_that_is_bound_anew(x):
    v = x * 1.0

    def anew():
        nonlocal v
        v = v * 5
        return x[::-1]

    v += anew()
    return v @ W


def name_that_is_bound_anew_on_one_path(x):
    v = x * 1.0

    def anew():
        nonlocal v
        if x[0] > 0.1:
            v = np.sin(v)
        return 0.5

    v -= anew()
    return v @ W


def attribute_that_is_bound_anew(x):
    class Holder:
        pass

    holder = Holder()
    holder.v = x * 1.0

    def anew():
        holder.v = holder.v * 3
        return x[1]

    holder.v += anew()
    return holder.v @ W


def list_that_is_bound_anew(x):
    held = {"k": [x[0]]}

    def anew():
        held["k"] = [9.0]
        return [x[1]]

    held["k"] += anew()
    return sum(held["k"])


PROGRAMS = [
    keys_before_values, keys_before_values_that_are_written, key_of_a_nonlocal_name, items_of_a_list_that_grows,
    items_of_a_list_that_is_written, items_in_a_tuple, items_before_a_lambda_that_writes, array_in_a_dict_that_is_bound_anew,
    array_in_a_list_that_is_bound_anew, name_that_is_bound_anew, name_that_is_bound_anew_on_one_path, attribute_that_is_bound_anew,
    list_that_is_bound_anew,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_order_of_evaluation(f):
    assert judged_in_all_modes(f, X) == "right"


def array_in_a_list_of_unknown_length(x):
    held = []
    for a in x:
        if a > 0.0:
            held.append(x * a)

    def anew():
        held[0] = held[0] * 3
        return x[1]

    held[0] += anew()
    return held[0] @ W


def test_an_item_of_a_list_of_unknown_length_that_is_bound_anew():
    judged_in_all_modes(array_in_a_list_of_unknown_length, X)  # right or refused
