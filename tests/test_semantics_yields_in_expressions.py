"""A `yield` inside an expression: what Python evaluates before it is evaluated before it, also where the generator is left or closed."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


def into_a_sum(x):
    def gen(a):
        y = a
        while True:
            y = a * 0.5 + (yield y * 2.0)

    it = gen(x[0])
    next(it)
    r = it.send(x[1])
    r += it.send(x[2])
    return r


def in_place(x):
    def gen(a):
        a += yield a
        a *= (yield a) + (yield 3 * a)
        yield a

    it = gen(x[0])
    r = next(it)
    r += it.send(x[1])
    r *= it.send(x[2])
    r += it.send(x[3])
    return r


def with_a_closure(x):
    acc = x[0]

    def gen():
        z = acc + (yield x[1]) * acc
        yield z

    it = gen()
    r = next(it)
    acc = acc * 2
    return r * it.send(x[2])


def into_an_array(x):
    def gen(v):
        v[0] += yield v[0]
        v += yield v[1]
        yield v.sum()

    v = x * 2
    it = gen(v)
    r = next(it)
    v[0] = 5 * x[1]
    r += it.send(x[2])
    v *= 2
    return r * it.send(x[3]) + v[0]


def in_conditions(x):
    def gen(a):
        if (yield a) > 0:
            a = a * 2
        while (yield a) > -0.5:
            a = a * 0.5 + x[1]
        yield a**2

    it = gen(x[0])
    r = next(it)
    r += it.send(0.3)
    r += it.send(1.0)
    r += it.send(0.1)
    r += it.send(-1.0)
    return r


def into_a_call(x):
    def gen():
        s = 0.0
        while True:
            s = np.sin(s) + max((yield s), 0.1) * x[1]

    it = gen()
    next(it)
    r = 0.0
    for q in x:
        r += it.send(q)
        if r > 1:
            break
    return r


def in_a_choice(x):
    def gen(seq):
        k = 0.0
        for q in seq:
            k = k + (0.0 if (yield q * k) is None else 1.0) + q

    r = 0.0
    for q in gen(x):
        if q > 0.4:
            break
        r += q * q
    return r


def into_an_attribute(x):
    class P:
        def __init__(s):
            s.v = x[0]

    p = P()

    def gen():
        p.v += yield p.v
        yield p.v

    it = gen()
    r = next(it)
    p.v = x[3] * 2
    return r + 3 * it.send(x[1]) * p.v


def closed_after_a_loop(x):
    def gen():
        mean = 0.0
        while True:
            got = yield mean
            mean += got

    it = gen()
    next(it)
    r = 0.0
    for q in x:
        r = it.send(q * x[0])
        if r > 0.1:
            break
    it.close()
    return r


def closed_in_a_branch(x):
    def gen():
        for q in x:
            yield q * 1.0

    it = gen()
    if x[0] > 0:
        r = next(it)
        it.close()
    else:
        r = x[2]
    return r + sum(q * q for q in it)


def closed_before_it_begins(x):
    def gen():
        for q in x:
            yield q * 1.0

    it = gen()
    it.close()
    r = x[0]
    for q in it:
        r += q
    return r


def in_the_test_of_a_loop_with_else(x):
    def gen():
        k = 0
        for i in range(3):
            while (yield x[i]) > 0.5 and k < 2:
                k += 1
                yield x[0] * k
            else:
                break
        yield x[2] * 10

    it = gen()
    s = next(it)
    try:
        for v in (1.0, 0.0, 0.2, 0.9, 0.1):
            s = s * 1.5 + it.send(v)
    except StopIteration:
        s = s * 2
    return s


def in_the_test_of_a_loop_that_breaks(x):
    def gen():
        for n, q in enumerate(x):
            while (yield q) > 0.5:
                if (yield q * q) < 0:
                    break
            else:
                if n % 2:
                    continue
                yield q * 3
            yield q * 5

    it = gen()
    s = next(it)
    for v in (1.0, -1.0, 0.2, 0.3, 1.0, 1.0, 0.1):
        s = s * 1.5 + it.send(v)
    return s


def in_a_chain(x):
    def gen():
        yield x[0] if x[1] < (yield x[2]) < 2.0 else x[3]

    it = gen()
    return next(it) + it.send(x[0])


CASES = [
    in_the_test_of_a_loop_with_else,
    in_the_test_of_a_loop_that_breaks,
    into_a_sum,
    in_place,
    with_a_closure,
    into_an_array,
    in_conditions,
    into_a_call,
    in_a_choice,
    into_an_attribute,
    closed_after_a_loop,
    closed_in_a_branch,
    closed_before_it_begins,
]


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_operands_before_a_yield_are_evaluated_before_it(program):
    assert judged_in_all_modes(program, np.array([0.61, 0.33, -0.4, 0.83])) == "right"


def test_a_yield_inside_a_chain_of_comparisons_is_refused():
    assert judged_in_all_modes(in_a_chain, np.array([0.61, 0.33, -0.4, 0.83])) == "refused"
