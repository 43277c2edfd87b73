"""Unexpected exceptions of the compiler become `InternalError`; those of the user's code, and refusals, stay what they are."""

import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import sourcead
from sourcead import InternalError, grad, jvp, value_and_grad, vjp
from sourcead.compile import pipeline
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.ir.nodes import Block, Branch
from sourcead.passes import plan


def summed(x):
    s = 0.0
    for k in range(3):
        s += np.sin(x) * k
    return s


FAULT = AssertionError("no such thing")
STAGES = [(core, "iterate"), (plan, "run")]


@pytest.mark.parametrize("entry", [grad, value_and_grad, lambda f: lambda x: vjp(f, x), lambda f: lambda x: jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize("module, name", STAGES)
def test_a_fault_of_the_compiler_is_an_internal_error_that_says_where(entry, module, name):
    with mock.patch.object(module, name, side_effect=FAULT), pytest.raises(InternalError) as raised:
        entry(summed)(0.5)
    assert raised.value.__cause__ is FAULT
    assert "test_internal_errors.py:" in str(raised.value) and "AssertionError: no such thing" in str(raised.value)


def test_the_message_shows_the_line_that_is_lowered():
    with mock.patch.object(core, "iterate", side_effect=KeyError("k")), pytest.raises(InternalError) as raised:
        grad(summed)(0.5)
    assert "for k in range(3):" in str(raised.value)


def test_lowering_shows_the_text_or_an_internal_error():
    with mock.patch.object(plan, "run", side_effect=IndexError("too far")), pytest.raises(InternalError, match="too far"):
        grad(summed).lower(0.5)


def test_refusals_and_warnings_that_are_errors_stay_what_they_are():
    def refused(x):
        yield x

    with pytest.raises(UnsupportedSyntaxError):
        grad(refused)(0.5)

    def not_associative(xs):
        return sourcead.reduce(lambda a, b: a - b * b, xs, 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sourcead.NotAssociativeWarning):
            grad(not_associative)(np.ones(3))


def reads_the_result_of_a_branch_inside(function):
    """Return the function with a result that is only defined in an arm of its first branch: what a wrong pass would do."""
    for stmt in function.body.stmts:
        if isinstance(stmt.op, Branch) and stmt.op.then.stmts:
            return replace(function, body=Block(function.body.stmts, (*function.body.results[:-1], stmt.op.then.stmts[0].targets[0])))
    return function


def chosen(x):
    y = x * 2.0
    if x > 0.0:
        y = np.sin(x) * np.cos(x)
    return y


@pytest.mark.parametrize("stage", ["lowering", "passes"])
def test_ir_that_is_not_well_formed_is_never_run(monkeypatch, stage):
    grad(chosen)(0.5)
    lower = pipeline.lower_function
    if stage == "lowering":

        def broken(*args, **ways):
            lowered = lower(*args, **ways)
            return replace(lowered, function=reads_the_result_of_a_branch_inside(lowered.function))

        monkeypatch.setattr(pipeline, "lower_function", broken)
    else:
        broken_pass = plan.Pass(reads_the_result_of_a_branch_inside, "wrong on purpose")
        monkeypatch.setattr(plan, "AFTER", (*plan.AFTER, broken_pass))
    with pytest.raises(InternalError, match="is read out of its scope"):
        grad(chosen, verify=False)(0.25)
