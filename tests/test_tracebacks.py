"""Tracebacks of errors that leave public functions: the user's frames, one of sourcead, and the user's line above generated text."""

import gc
import linecache
import os
import subprocess
import sys
import textwrap
import traceback
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import sourcead
from sourcead import InternalError, check_grads, grad, hessian, hvp, jacobian, jvp, pushforward, value_and_grad, vjp
from sourcead.backends.load import load
from sourcead.errors import SourceADError
from sourcead.passes import plan
from sourcead.primitives.registry import forget_users

OURS = str(Path(sourcead.__file__).parent)
HERE = Path(__file__).name


def refused(x):
    return np.sum(np.i0(x))


def divided(x, n=0):
    if n > 5:
        raise ValueError(f"{n} is too large")
    y = 2 * x / n
    return y


def element(x, n=0):
    total = 0.0
    for i in range(n):
        total = total + x[i] ** 2
    return total


def product_of(x):
    return x @ np.ones((2, 2))


def calls_another(x):
    return np.sum(product_of(x) ** 2)


def entries(call):
    """The traceback of the error that a call raises, below this function: (file, function, line of source)."""
    try:
        call()
    except Exception as error:
        found = traceback.extract_tb(error.__traceback__)[1:]
        return error, [(Path(e.filename).name, e.name, e.line) for e in found], [e for e in found if e.filename.startswith(OURS)]
    raise AssertionError("no error was raised")


V = np.ones(3)
REFUSED = {
    "grad": lambda: grad(refused)(V),
    "value_and_grad": lambda: value_and_grad(refused)(V),
    "a decorator": lambda: grad(wrt="z")(refused),
    "vjp": lambda: vjp(refused, V),
    "a pullback": lambda: vjp(calls_another, np.ones((3, 2)))[1](V),
    "jvp": lambda: jvp(refused, (V,), (V,)),
    "a tangent": lambda: jvp(element, (V,), (np.ones(2),)),
    "pushforward": lambda: pushforward(refused)(V, t_x=V),
    "hvp": lambda: hvp(refused)(V, V),
    "jacobian": lambda: jacobian(refused)(V),
    "hessian": lambda: hessian(refused)(V),
    "lower": lambda: grad(refused).lower(V),
    "source": lambda: grad(refused).source,
    "save": lambda: grad(refused).save("never_written.py", V),
    "check_grads": lambda: check_grads(refused, (V,)),
    "wrt": lambda: grad(refused, wrt="w"),
    "an argument": lambda: grad(refused)("text"),
    "nested": lambda: grad(lambda x: np.sum(grad(refused)(x)))(V),
    "numba": lambda: grad(element, backend="numba")(V.astype("f2"), 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_the_frames_of_the_user_and_one_of_ours(name):
    if name == "numba":
        pytest.importorskip("numba")
    error, frames, ours = entries(REFUSED[name])
    assert isinstance(error, SourceADError)
    assert frames[0][0] == HERE and len(ours) == 1 and frames[1:] == [(Path(ours[0].filename).name, ours[0].name, ours[0].line)]
    shown = "".join(traceback.format_exception(error))
    assert "direct cause" not in shown and "During handling" not in shown
    assert "SOURCEAD_TRACEBACK=full" in shown


INSIDE = ("calls_another", "return np.sum(product_of(x) ** 2)"), ("product_of", "return x @ np.ones((2, 2))")
RAISED = {
    "a division": (lambda: grad(divided)(3.0), ("divided", "y = 2 * x / n")),
    "a raise": (lambda: grad(divided)(3.0, 7), ("divided", 'raise ValueError(f"{n} is too large")')),
    "a subscript": (lambda: value_and_grad(element)(V, 5), ("element", "total = total + x[i] ** 2")),
    "in a function that is called": (lambda: grad(calls_another)(np.ones((2, 3))), *INSIDE),
    "twice differentiated": (lambda: hvp(element)(V, 5, V), ("element", "total = total + x[i] ** 2")),
    "forward": (lambda: jvp(divided, (1.0, 0), (1.0, None)), ("divided", "y = 2 * x / n")),
    "a jacobian": (lambda: jacobian(product_of)(np.ones((2, 3))), ("product_of", "return x @ np.ones((2, 2))")),
}


@pytest.mark.parametrize("name", RAISED)
def test_an_error_of_the_users_code_shows_the_users_line_and_the_generated_one(name):
    call, *lines = RAISED[name]
    error, frames, ours = entries(call)
    assert not isinstance(error, SourceADError) and len(ours) == 1
    assert [frame[1:] for frame in frames if frame[0] == HERE][1:] == lines
    assert frames[-1][0].startswith("<sourcead ") and frames[-1][2]


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["a raise", "a subscript"])
def test_compiled_code_shows_both_lines_too(name):
    pytest.importorskip("numba")
    f, args, line = {
        "a raise": (divided, (3.0, 7), 'raise ValueError(f"{n} is too large")'),
        "a subscript": (element, (V, 5), "total = total + x[i] ** 2"),
    }[name]
    error, frames, ours = entries(lambda: grad(f, backend="numba")(*args))
    assert type(error) in (ValueError, IndexError) and len(ours) == 1
    assert (HERE, f.__name__, line) in frames


def test_all_frames_are_shown_on_demand(monkeypatch):
    monkeypatch.setenv("SOURCEAD_TRACEBACK", "full")
    error, frames, ours = entries(lambda: grad(refused)(V))
    assert len(ours) > 5 and frames[-1][1] == "rule_of"
    error, frames, ours = entries(lambda: grad(divided)(3.0))
    assert frames[-1][2] and len(ours) > 1


def test_an_internal_error_keeps_all_frames_and_says_how_to_report_it():
    with mock.patch.object(plan, "run", side_effect=KeyError("x")):
        error, frames, ours = entries(lambda: grad(divided)(3.0, 1))
    assert isinstance(error, InternalError) and len(ours) > 3
    assert isinstance(error.__cause__, KeyError) and "report it" in str(error)


def test_the_error_of_a_rule_keeps_the_frame_of_the_rule():
    def cube(x):
        return x**3

    @sourcead.adjoint(cube)
    def rule(y, x, d_y):
        return d_y * [][3]

    error, frames, _ = entries(lambda: grad(lambda x: cube(x), verify=False)(2.0))
    assert isinstance(error, IndexError) and any("[][3]" in str(frame[2]) for frame in frames)


def test_frames_of_ours_are_hidden_from_pytest_and_notebooks():
    with pytest.raises(SourceADError) as raised:
        grad(refused)(V)
    assert [entry.frame.code.name for entry in raised.traceback.filter(raised)] == [sys._getframe().f_code.co_name]


@pytest.mark.long
def test_notebooks_show_the_users_cell_and_the_line_that_failed(tmp_path):
    pytest.importorskip("IPython")
    path = tmp_path / "session.py"
    path.write_text(textwrap.dedent("""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_line_magic("colors", "nocolor")
        shell.run_cell("from sourcead import grad\\n\\ndef halved(x, n):\\n    return x / n\\n", store_history=True)
        shell.run_cell("grad(halved)(1.0, 0)", store_history=True)
    """))
    environment = {**os.environ, "PYTHONPATH": str(Path(OURS).parent), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    shown = done.stdout.splitlines()
    arrows = [line.split(maxsplit=2)[2] for line in shown if line.startswith("--") and "> " in line]
    assert arrows == ["grad(halved)(1.0, 0)", "return x / n", "return 1.0 / n"], done.stdout + done.stderr
    assert OURS not in done.stdout and "hidden 1 frame" in done.stdout


def test_errors_in_a_loop_do_not_print_the_program_each_time():
    g = grad(element)
    with pytest.raises(IndexError):
        g(V, 9)
    with mock.patch("sourcead.backends.numpy.emit", side_effect=AssertionError("printed again")), pytest.raises(IndexError):
        g(V, 9)


def test_the_warning_of_a_fallback_names_the_users_line():
    pytest.importorskip("numba")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        grad(element, backend="auto")(V.astype("f2"), 1)
    assert [Path(w.filename).name for w in told] == [HERE]


def test_what_lower_returns_shows_its_text():
    lowered = grad(divided).lower(3.0, 1)
    assert repr(lowered) == lowered.text


def test_at_the_prompt_the_users_line_is_the_first_and_the_reason_the_last(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent("""
        from sourcead import grad

        def halved(x, n):
            return x / n

        def main():
            grad(halved)(1.0, 0)

        main()
    """))
    environment = {**os.environ, "PYTHONPATH": str(Path(OURS).parent)}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    lines = [line.strip() for line in done.stderr.splitlines()]
    assert lines.index("grad(halved)(1.0, 0)") < lines.index("return x / n")
    assert lines[-1] == "ZeroDivisionError: float division by zero"
    assert sum(OURS in line for line in lines) == 1


def test_a_text_is_removed_when_another_is_made_not_while_others_walk_over_the_cache():
    function = load("def square(x):\n    return x * x\n", "square", {})
    file = function.__code__.co_filename
    del function
    gc.collect()
    assert file in linecache.cache  # `linecache.checkcache()` may be at it
    load("def cube(x):\n    return x * x * x\n", "cube", {})
    assert file not in linecache.cache




def squared(x):
    return x * x


def reads_too_far(y, x, d_y):
    return np.zeros(3)[5] * d_y


@pytest.mark.parametrize("call", [
    lambda: sourcead.Segments(0), lambda: sourcead.checkpoint(range(3), "sometimes"), lambda: sourcead.adjoint(squared)(squared),
    lambda: sourcead.adjoint(3),
])  # fmt: skip
def test_what_is_not_a_derivative_shows_one_frame_of_ours_too(call):
    _, _, ours = entries(call)
    assert len(ours) == 1


def test_what_a_rule_raises_is_shown_without_frames_of_ours():
    sourcead.adjoint(squared)(reads_too_far)
    try:
        error, _, ours = entries(lambda: grad(lambda x: np.sum(squared(x)))(np.ones(3)))
    finally:
        forget_users(squared)
    cause = [entry.filename for entry in traceback.extract_tb(error.__cause__.__traceback__)]
    assert isinstance(error.__cause__, IndexError) and len(ours) == 1
    assert HERE in cause[0] and not any(file.startswith(OURS) for file in cause)
