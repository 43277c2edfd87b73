"""Functions and objects made on one side of a branch: what they captured there, or take by default, keeps its value and derivative."""

from functools import partial

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.6, -1.2, 2.0])


def line(n):
    k = n * n
    def h(v):
        return v * n + k
    return h


def object_with(n):
    k = n * n
    class A:
        def m(self, v):
            return v * n + k
    return A()


def counter(t):
    def add(v):
        nonlocal t
        t = t * 1.5 + v
        return t
    return add


def lambdas_in_a_list_of_one_arm(x):
    found = [lambda: v for v in x]  # noqa: B023
    if x[2] < 9:
        m = [lambda v=v: v for v in x]
        v = 100.0  # noqa: F841
    return sum(q() for q in found) + m[0]()


def object_of_a_class_made_in_one_arm(x):
    def line(n):
        class A:
            def m(self, v):
                return v * n
        return A()
    a, b = (line(x[0]), line(x[1]) if x[0] > 0 else b)  # noqa: F821
    return a.m(2.0) + b.m(x[2])


def default_in_one_arm(x):
    if x[2] < 9:
        m = lambda v=x[0]: v
    return m()


def default_in_a_list_in_one_arm(x):
    if x[2] < 9:
        m = [lambda v=x[0]: v]
    return m[0]()


def closure_of_a_call_in_one_arm(x):
    if x[0] > 0:
        f = line(x[1])
    return f(x[2])


def closures_of_calls_in_both_arms(x):
    if x[0] > 0:
        f = line(x[1])
    else:
        f = line(x[2] * 3)
    return f(x[2])


def object_of_a_class_of_a_call(x):
    if x[0] > 0:
        f = object_with(x[1])
    return f.m(x[2])


def closure_of_nested_branches(x):
    if x[0] > 0:
        if x[1] < 9:
            f = line(x[1])
        g = f
    return g(x[2])


def defaults_in_both_arms(x):
    if x[0] > 0:
        f = lambda v=x[1] * 2: v * v
    else:
        f = lambda v=x[2] * 2: v * v * v
    return f()


def closure_over_a_list_of_before(x):
    def outer(found):
        def add(v):
            found.append(v)
            return sum(found)
        return add
    found = [x[0]]
    if x[0] > 0:
        f = outer(found)
        f(x[1])
    found.append(x[2])
    return f(x[1] * 2) + found[-1]


def closure_over_a_view_that_it_writes(x):
    a = x.copy()
    def outer(found):
        found = found[:2]
        def put(v):
            found[0] = v
            return np.sum(found)
        return put
    if x[0] > 0:
        f = outer(a)
    r = f(x[2] * x[1])
    return r + a @ a


def method_with_a_computed_default(x):
    class B:
        def __init__(self, v):
            self.v = v
    if x[0] > 0:
        k = x[1] * x[2]
        class A(B):
            def m(self, w=k):
                return self.v * w
        o = A(x[0])
    return o.m()


def partial_in_one_arm(x):
    if x[0] > 0:
        o = partial(lambda a, b: a * b, x[1] * 2)
    return o(x[2])


def partials_in_both_arms(x):
    if x[0] > 0:
        o = partial(lambda a, b: a * b, x[1] * 2)
    else:
        o = partial(lambda a, b: a - b, x[1] * 3)
    return o(x[2])


def counter_of_one_arm(x):
    def acc():
        t = 0.0
        def add(v):
            nonlocal t
            t = t + v
            return t
        return add
    if x[0] > 0:
        f = acc()
        f(x[1])
    f(x[2])
    return f(x[0] * x[0])


def closures_in_a_loop_and_branch(x):
    s = 0.0
    for v in x:
        if v > 0.3:
            f = line(v)
            s += f(2.0)
        else:
            f = line(v * 2)
        s += f(v)
    return s


def lists_of_closures(x):
    fs = [line(x[0]), line(x[2])] if x[0] > 0 else [line(x[1]), line(x[0])]
    return fs[0](x[1]) * fs[1](2.0)


def dicts_of_closures(x):
    d = {}
    if x[0] > 0:
        d["f"] = line(x[0])
    else:
        d["f"] = line(x[1])
    return d["f"](x[2])


def counters_of_nested_branches(x):
    if x[0] > 0:
        if x[1] > 0:
            f = counter(x[0])
            f(x[1])
        else:
            f = counter(x[2])
        f(2.0)
    else:
        f = counter(0.0)
    return f(x[2]) + f(x[0])


def one_function_by_two_names(x):
    if x[0] > 0:
        f = counter(x[0])
        g = f
    else:
        f = counter(x[1])
        g = counter(x[2])
    f(x[1] * 3)
    return g(x[2])


def function_of_before_or_of_the_arm(x):
    f = counter(x[0])
    if x[1] > -90:
        g = f
    else:
        g = counter(x[2])
    g(x[1])
    return f(x[2])


def array_of_a_call_that_is_written(x):
    def outer():
        m = np.zeros(3)
        def put(i, v):
            m[i] += v
            return np.sum(m ** 2)
        return put
    if x[0] > 0:
        p = outer()
        p(0, x[0])
    else:
        p = outer()
    p(1, x[1])
    return p(0, x[2])


def views_of_one_array_that_are_written(x):
    def outer(m):
        def put(i, v):
            m[i] += v
            return np.sum(m ** 2)
        return put
    a = x.copy()
    if x[0] > 0:
        p = outer(a)
        p(0, x[0])
    else:
        p = outer(a[:2])
    p(1, x[1])
    a[1] *= 2
    return p(0, x[2]) + a @ a


def closures_in_attributes(x):
    class A:
        def __init__(self, f):
            self.f = f
    if x[0] > 0:
        o = A(line(x[0]))
    else:
        o = A(line(x[1]))
    return o.f(x[2])


def closures_and_finally(x):
    try:
        f = line(x[0])
        if x[1] > 0:
            g = counter(x[1])
            g(1.0)
            f = g
    finally:
        y = f(x[2])
    return y * f(x[0])


def closure_around_the_one_before(x):
    f = lambda: x[0]
    if x[1] > -5:
        h = f
        f = lambda: h() * x[1]
    return f()


def closures_of_a_recursion(x):
    def rec(n):
        if n == 0:
            return lambda: x[0]
        f = rec(n - 1)
        return lambda: f() * x[1]
    if x[1] > -5:
        f = rec(2)
    return f()


def closure_of_a_loop_variable(x):
    i = 0
    f = line(x[0])
    while i < 4:
        if i % 2 == 0:
            f = line(x[i // 2])
        i += 1
    return f(2.0)


def closures_over_lists_of_both_arms(x):
    if x[0] > 0:
        found = []
        def add(v):
            found.append(v)
            return sum(found)
    else:
        found = [x[1]]
        def add(v):
            found.append(2 * v)
            return sum(found)
    add(x[1])
    return add(x[2])


def lists_of_calls_in_both_arms(x):
    def outer():
        found = []
        def add(v):
            found.append(v)
            return sum(found)
        return add
    if x[0] > 0:
        add = outer()
        add(x[0])
    else:
        add = outer()
    add(x[1])
    return add(x[2])


def iterators_of_both_arms(x):
    def outer():
        it = iter(x)
        return lambda: next(it)
    if x[0] > 0:
        n = outer()
    else:
        n = outer()
    return n() * 3 + n()


def view_of_an_array_written_afterwards(x):
    def outer(a):
        b = a[1:]
        def read():
            return np.sum(b ** 2)
        return read
    a = x.copy()
    if x[0] > 0:
        r = outer(a)
    a[1] = x[0]
    return r()



REFUSED = (method_with_a_computed_default,)
RIGHT = (
    lambdas_in_a_list_of_one_arm, object_of_a_class_made_in_one_arm, default_in_one_arm,
    default_in_a_list_in_one_arm, closure_of_a_call_in_one_arm, closures_of_calls_in_both_arms,
    object_of_a_class_of_a_call, closure_of_nested_branches, defaults_in_both_arms,
    closure_over_a_list_of_before, closure_over_a_view_that_it_writes, partial_in_one_arm,
    partials_in_both_arms, counter_of_one_arm, closures_in_a_loop_and_branch, lists_of_closures,
    dicts_of_closures, counters_of_nested_branches, one_function_by_two_names, function_of_before_or_of_the_arm,
    array_of_a_call_that_is_written, views_of_one_array_that_are_written, closures_in_attributes,
    closures_and_finally, closure_around_the_one_before, closures_of_a_recursion, closure_of_a_loop_variable,
    closures_over_lists_of_both_arms, lists_of_calls_in_both_arms, view_of_an_array_written_afterwards, iterators_of_both_arms,
)  # fmt: skip


@pytest.mark.parametrize("f", [*RIGHT, *REFUSED], ids=lambda f: f.__name__)
def test_functions_made_on_one_side_of_a_branch(f):
    assert judged_in_all_modes(f, X) == ("right" if f in RIGHT else "refused")
