"""Functions and methods that write into an argument, by whatever name they are called, do what the statements do."""

import functools
import operator

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage

from sourcead import grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X, C = np.array([0.5, -1.2, 2.0]), np.array([1.0, 4.0, 9.0])


def set_item(x):
    y = x * 1
    operator.setitem(y, 0, 1.5)
    return np.sum(y * x)


def added_in_place(x):
    y = x * 1
    operator.iadd(y, x)
    return np.sum(y * x)


def product_in_place(x):
    y = x * 1
    z = operator.imul(y, x)
    return np.sum(y * z)


def list_changed(x):
    L = [x[0]]
    operator.iadd(L, [x[1]])
    operator.setitem(L, 0, x[2])
    operator.delitem(L, 1)
    return L[0] * len(L)


def dict_changed(x):
    d = {"a": x[0]}
    operator.setitem(d, "b", x[1] * x[0])
    operator.delitem(d, "a")
    return sum(d.values())


def items_read(x):
    y = x * 1
    return np.sum(y) + operator.getitem(y, 1) ** 2 + operator.itemgetter(1)(y) + operator.itemgetter(0, 2)(y)[1]


def by_another_name(x):
    f = operator.iadd
    y = x * 1
    f(y, 2)
    return np.sum(y ** 2)


def special_methods(x):
    y = x * 1
    y.__setitem__(0, x[1])
    y.__iadd__(x)
    return np.sum(y ** 2) + y.__getitem__(1)


def of_an_attribute(x):
    class Holder:
        pass

    o = Holder()
    o.w = x
    operator.iadd(o.w, 1.0)
    return operator.attrgetter("w")(o)[0] * np.sum(x)


def reduced_in_place(x):
    y = x * 1
    functools.reduce(operator.iadd, [x, x], y)
    return np.sum(y * y)


def number_in_place(x):
    s = x[0]
    t = operator.iadd(s, x[1])
    return s * t


def slice_of_a_list(x):
    L = [x[0], x[1]]
    operator.setitem(L, slice(0, 1), [x[2], x[2]])
    return operator.concat(L, [x[0]])[2] * operator.countOf([1, 2, 1], 1) * L[0]


def methods_of_the_class(x):
    list.append([], 3)
    L = []
    list.append(L, x[0])
    list.extend(L, [x[1]])
    return L[0] * L[1]


def methods_of_dict(x):
    d = {}
    dict.update(d, a=x[0])
    dict.__setitem__(d, "b", x[1])
    return d["a"] * d["b"]


def methods_of_ndarray(x):
    y = x * 1
    np.ndarray.fill(y, x[1])
    np.ndarray.sort(y)
    return np.sum(y * y)


def special_method_of_the_class(x):
    y = x * 1
    np.ndarray.__setitem__(y, 0, x[1])
    return np.sum(y * y)


def other_operators(x):
    y = x * 1
    operator.ipow(y, 2)
    operator.itruediv(y, 3.0)
    operator.isub(y, 1)
    operator.imatmul(np.eye(3), np.eye(3))
    return np.sum(y * y)


def in_lambdas_and_maps(x):
    f = lambda a, i, v: a.__setitem__(i, v)
    y = x * 1
    f(y, 1, 3.0)
    [operator.setitem(y, i, v) for i, v in enumerate([x[2], x[0]])]
    list(map(operator.setitem, [y], [2], [x[1] ** 2]))
    return np.sum(y * y)


def reduction_of_one_row(x):
    y = np.logaddexp.reduce(x[None])
    y[1] -= 1.5
    return np.sum(x * x) + np.sum(y)


def output_by_position(x):
    y = np.zeros(3)
    scipy.ndimage.convolve(C, np.ones(3), y)
    return np.sum(x * y)


def output_by_keyword(x):
    y = C * 1
    scipy.ndimage.gaussian_filter(C, 1.0, output=y)
    return np.sum(x * y * C)


def output_as_dtype(x):
    y = scipy.ndimage.convolve(C, np.ones(3), np.float32)
    z = scipy.ndimage.convolve(C, np.ones(3), mode="wrap", output=float)
    return np.sum(x * y * z)


def overwrite_not_wanted(x):
    y = scipy.linalg.solve(np.diag(x), x * x, overwrite_b=False)
    return np.sum(x * y)


@pytest.mark.parametrize(
    "f",
    [
        set_item, added_in_place, product_in_place, list_changed, dict_changed, items_read, by_another_name,
        special_methods, of_an_attribute, reduced_in_place, number_in_place, slice_of_a_list, methods_of_the_class,
        methods_of_dict, methods_of_ndarray, special_method_of_the_class, other_operators, in_lambdas_and_maps,
        reduction_of_one_row, output_by_position, output_by_keyword, output_as_dtype, overwrite_not_wanted,
    ],
)
def test_what_is_written_is_seen(f):
    assert judged_in_all_modes(f, X) == "right"


def overwritten(x):
    y = x * 1
    scipy.linalg.solve(np.eye(3), y, overwrite_b=True)
    return np.sum(y)


def overwritten_by_position(x):
    return np.sum(scipy.linalg.inv(np.diag(x), True))


def nothing_taken(x):
    y = x * 1
    scipy.ndimage.median_filter(y, 3)
    return np.sum(y)


def placed_from_itself(x):
    y = x * 1
    np.place(y, y > 0.2, y)
    return np.sum(y)


@pytest.mark.parametrize(
    "f, why",
    [
        (overwritten, "destroys its argument"), (overwritten_by_position, "destroys its argument"), (nothing_taken, "nothing takes"),
        (placed_from_itself, "while it writes"),
    ],
)  # fmt: skip
def test_call_that_may_write_is_refused(f, why):
    with pytest.raises(UnsupportedSyntaxError, match=why):
        grad(f)(X)
