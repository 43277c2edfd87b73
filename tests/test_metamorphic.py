"""Rewritings of programs that cannot change their meaning: each keeps the value, and the compiler's value and gradient stay the same."""

import ast
import random

import numpy as np
import pytest

from tests.metamorphic import work
from tests.metamorphic.judge import Judge, template
from tests.metamorphic.rewrites import REWRITES, composed, rewritten
from tests.metamorphic.units import Unit, load, unload
from tests.programs import Program, all_programs

pytestmark = pytest.mark.sampled(3)

EVERYTHING = '''
def helper(a, b, scale=2.0):
    c = a * b
    return c * scale


def program(x, y, n):
    total = 0.0
    flags = [1.0, 2.0, 3.0]
    first, second = x[0], y[1]
    items = []
    for i in range(n):
        items.append(x[i] * flags[i])
    for v in y:
        total += helper(v, first)
    for v, w in zip(x, y):
        total = total + v * w
    for k in range(n):
        if x[k] > 0 and y[k] < 10:
            total += x[k] ** 2
        else:
            total -= second
    count = 0
    while count < n:
        total += 0.5 * total
        count += 1
    rows = np.zeros((2, 3))
    rows[1, 2] = np.add(total, first)
    np.multiply(rows, 2.0, out=rows)
    rows[1, 1] += 0.5
    for a in range(2):
        for b in range(3):
            rows[a, b] *= 1.5
    for m in range(len(x)):
        if m > 1:
            total += 1.0
            break
        total += x[m]
    part = np.sum(np.sin(x[1:]), axis=0)
    area = part * x.sum()
    squares = [v * v for v in x]
    bent = part if -5 < area < 5 else 0.0
    if n > 2:
        area = area + 1
    for j in range(n):
        if j > 5:
            return total
    if 100 < n and n < 200:
        return bent
    return total + rows[1][2] + area + bent + items[1] + sum(v for v in squares) + np.dot(x, y)
'''
SCOPE = {"np": np}


def arguments(_=None):
    return np.array([0.3, -0.2, 0.9]), np.array([0.5, 0.1, -0.4]), 3


def unit_of_text(text):
    return Unit(ast.parse(text).body, "program", dict(SCOPE))


def value(unit, args):
    function = load(unit)
    try:
        return function(*args)
    finally:
        unload(function)


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_a_rewriting_applies_and_keeps_the_value(name):
    unit = unit_of_text(EVERYTHING)
    expected, kept, made = value(unit, arguments()), 0, []
    for seed in range(25):
        if kept == 2:
            break
        other = rewritten(unit, name, random.Random(seed))
        if other is None:
            continue
        assert other.text != unit.text
        made.append(other.text)
        try:
            kept += bool(np.isclose(value(other, arguments()), expected, rtol=1e-12))
        except Exception:
            pass  # the rewriting tried what is not always sound
    assert kept >= min(2, 0.3 * len(made)) and made
    assert unit.text == unit_of_text(EVERYTHING).text


def test_a_rewriting_does_the_same_for_the_same_seed():
    unit = unit_of_text(EVERYTHING)
    for name in sorted(REWRITES)[::6]:
        made = [rewritten(unit, name, random.Random(3)) for _ in range(2)]
        assert (made[0] and made[0].text) == (made[1] and made[1].text)


def test_several_rewritings_one_after_the_other():
    unit, applied = composed(unit_of_text(EVERYTHING), ["rename_fresh", "for_to_while", "peel_while"], random.Random(1))
    assert applied == ["rename_fresh", "for_to_while", "peel_while"]
    assert np.isclose(value(unit, arguments()), value(unit_of_text(EVERYTHING), arguments()), rtol=1e-12)


def pair_status(original, other, args=arguments):
    """The status of the pair of two texts."""
    functions = [load(unit_of_text(text)) for text in (original, other)]
    judge = Judge(Program("program", functions[0], args))
    try:
        return judge.verdict(functions[1])
    finally:
        for one in functions:
            unload(one)


def one(expression):
    return f"def program(x):\n    return {expression}\n"


def test_the_judge_tells_what_became_of_a_pair():
    at = (np.array([0.3, -0.2]),)
    assert pair_status(one("np.sum(x * x)"), one("np.sum(x ** 2)"), at).status == "same"
    assert pair_status(one("np.sum(x * x)"), one("np.sum(x * x * x)"), at).status == "unlike"
    assert pair_status(one("np.sum(x * x)"), one("np.sum(eval('x') ** 2)"), at).status == "refused more"
    assert pair_status(one("np.sum(eval('x') ** 2)"), one("np.sum(x * x)"), at).status == "refused less"
    assert pair_status(one("np.sum(eval('x') ** 2)"), one("np.sum(eval('x * x'))"), at).status == "both refused"


def test_the_judge_flags_a_pair_whose_gradients_differ():
    stopped = "from sourcead import stop_gradient\n" + one("np.sum(stop_gradient(x) * x)")
    verdict = pair_status(one("np.sum(x * x)"), stopped, (np.array([0.3, -0.2]),))
    assert verdict.status == "wrong" and "the rewritten program" in verdict.detail


def test_the_judge_flags_an_exception_that_is_no_refusal():
    wrong = "from sourcead import adjoint\ndef f(x):\n    return np.sum(x * x)\n" + (
        "@adjoint(f)\ndef f_adjoint(y, x, d_y):\n    raise ZeroDivisionError\n" + one("f(x)")
    )
    verdict = pair_status(one("np.sum(x * x)"), wrong, (np.array([0.3, -0.2]),))
    assert verdict.status in ("internal", "refused more")


def test_templates_leave_out_names_and_numbers():
    assert template("AliasError: a.py:3: `x` is written 3 times | y = x") == "AliasError: `…` is written 0 times"


def sample(count, seed):
    """Some programs with some rewritings each, two at a time."""
    rng = random.Random(seed)
    names = sorted(REWRITES)
    programs = [p for p in all_programs() if p.level == "basic"]
    return [(p.name, [tuple(rng.sample(names, 2)) for _ in range(4)]) for p in rng.sample(programs, count)]


def failures(jobs, seed):
    pairs = [pair for name, choices in jobs for pair in work.pairs_of(work.find(name), choices, seed)]
    assert sum(pair is not None for pair in pairs) > len(jobs)
    return [pair for pair in pairs if pair is not None and pair.status in ("wrong", "internal", "unjudged")]


def test_a_sample_of_the_corpus_keeps_its_gradients():
    assert failures(sample(6, 0), 0) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_larger_sample_of_the_corpus_keeps_its_gradients(seed):
    assert failures(sample(40, seed), seed) == []
