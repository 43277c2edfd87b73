"""A gradient writes as many elements as the function, in order: the ratio stays below a bound, and does not grow with the size."""

import copy
import inspect
import re

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.backends.numpy import NUMPY
from tests.benchmarks.by_hand import program as by_hand
from tests.benchmarks.loop_kernels import kernels
from tests.element_writes import elements_written, source_of_module
from tests.programs import all_programs, rng_for

MOST = 6.0
GROWTH = 1.3  # what a ratio may grow by from one size to the other: by what is not multiplied with the size


FEW = 120  # elements that a gradient may write besides: many programs of the corpus have arrays of three elements only


def writes(function, wrt, args):
    """The elements that the gradient, with the function in it, writes, and those that the function writes."""
    prepared = grad(function, wrt=wrt).lower(*copy.deepcopy(args)).ir
    made = NUMPY.emit(prepared)
    bound = inspect.signature(function).bind(*copy.deepcopy(args))
    bound.apply_defaults()
    given = bound.arguments
    ours = elements_written(made.text, prepared.name, made.namespace, tuple(given[p.name] for p in prepared.params))
    theirs = elements_written(source_of_module(function), function.__name__, vars(inspect.getmodule(function)), copy.deepcopy(args))
    return ours, theirs


def ratio(function, wrt, args):
    ours, theirs = writes(function, wrt, args)
    return ours / theirs


def cut(value, n):
    """The argument with its long axes, or its count of steps, cut to n."""
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value[tuple(slice(n) if size >= 40 else slice(None) for size in value.shape)])
    return n if isinstance(value, int) and value >= 40 else value


@pytest.mark.parametrize("name", kernels())
def test_kernels(name):
    function, wrt, args = kernels()[name]
    small, large = (ratio(function, wrt, tuple(cut(a, n) for a in args)) for n in (20, 40))
    assert large < MOST
    assert large <= GROWTH * small


@pytest.mark.parametrize("name", by_hand.program_names())
def test_programs_beside_gradients_by_hand(name):
    program = by_hand.named(name)
    small, large = (ratio(program.primal, program.wrt, program.inputs(size, np.float64)) for size in ("small", "full"))
    assert large < MOST
    assert large <= GROWTH * small


CORPUS = {p.name: p for p in all_programs("basic") if p.raises is None and inspect.isfunction(p.function)}


TOO_MANY = {
    "beam_search": "the cotangents of lists of candidates are made whole for the few that are kept of them",
}


def known(name):
    """The mark of a program that writes too many: the test fails as soon as it does not any more."""
    return pytest.mark.xfail(reason=TOO_MANY[name], strict=True) if name in TOO_MANY else ()


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", [pytest.param(n, marks=known(n)) for n in CORPUS])
def test_programs_of_the_corpus(name):
    program = CORPUS[name]
    ours, theirs = writes(program.function, program.wrt, program.make_args(rng_for()))
    assert ours < MOST * theirs + FEW


def joined(w, xs):
    states, h = [], xs[0]
    for x in xs:
        h = np.tanh(x @ w + h)
        states = states + [h]
    return np.sum(np.stack(states) ** 2)


def read_while_it_grows(w, xs):
    states, total = [], 0.0
    for x in xs:
        before = states
        states = states + [np.tanh(x @ w)]
        total = total + len(before) * np.sum(states[-1] ** 2)
    return total + len(before)


def copied(w, xs):
    states = [xs[0] for _ in range(len(xs))]
    for k in range(len(xs)):
        states_before = states
        states = list(states)
        states[k] = np.tanh(states_before[k - 1] @ w + xs[k])
    return np.sum(np.stack(states) ** 2) + np.sum(states_before[-1] * w[0])


def dicts(w, xs):
    layers = [{"w": w, "b": w[0]}, {"w": 2 * w, "b": w[1]}, {"w": w.T, "b": w[2]}]
    return of_dicts(layers, xs)


def of_dicts(layers, xs):
    for layer in layers:
        states, h = [], 0 * xs[0]
        for x in xs:
            h = np.tanh(x @ layer["w"] + h + layer["b"])
            states.append(h)
        xs = states
    return np.sum(h**2)


@pytest.mark.parametrize("count", [1, 2, 9])
@pytest.mark.parametrize("f", [joined, read_while_it_grows, copied, dicts])
def test_lists_that_grow_or_are_copied(f, count):
    rng = np.random.default_rng(0)
    check_grads(f, (rng.normal(size=(9, 9)) / 3, rng.normal(size=(count, 9, 9))), wrt=(0, 1))


def test_a_list_that_grows_by_joining_is_not_copied():
    text = re.sub("#.*", "", grad(joined).lower(np.ones((9, 9)), np.ones((9, 9, 9))).text)
    assert "states.append(" in text and " + [" not in text
    assert not re.search(r"^ {8}.*copy", text, re.M), text


@pytest.mark.parametrize("count", [1, 3, 5])
def test_cotangents_in_dicts_are_added_in_place(count):
    rng = np.random.default_rng(0)
    layers = [{"w": rng.normal(size=(9, 9)) / 3, "b": rng.normal(size=9)} for _ in range(count)]
    xs = list(rng.normal(size=(4, 9, 9)))
    check_grads(of_dicts, (layers, xs), modes=("reverse",))
    assert " add(" not in grad(of_dicts).lower(layers, xs).text
