"""What lasts shows a bar or a line, on terminals and in notebooks alone."""

import contextlib
import io
import sys
import time

import numpy as np
import pytest

from sourcead import check_grads, grad, jacobian
from sourcead.cli import check
from sourcead.language import progress
from sourcead.nn.training import Progress

pytest.importorskip("tqdm", reason="the extra `examples` brings tqdm")


class Terminal(io.StringIO):
    def isatty(self):
        return True


KINDS = pytest.mark.parametrize("kind", [Terminal, io.StringIO], ids=["terminal", "pipe"])


@contextlib.contextmanager
def errors_to(kind, text):
    """What is written to the standard error of a kind while the block runs has the text if and only if it is a terminal."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(kind()) as stream:
        patch.setattr(progress, "PATIENCE", 0.0)
        patch.delitem(sys.modules, "ipykernel", raising=False)
        yield stream
    assert text in stream.getvalue() if kind is Terminal else not stream.getvalue()


def product(x):
    return np.cumprod(x)


@KINDS
def test_columns_and_rows(kind):
    for mode, text in (("forward", "columns of the Jacobian"), ("reverse", "rows of the Jacobian")):
        with errors_to(kind, text):
            assert jacobian(product, mode=mode)(np.ones(3)).shape == (3, 3)


@KINDS
def test_elements_that_are_checked(kind):
    with errors_to(kind, "elements of w"):
        check_grads(lambda w: np.sum(w**2), (np.ones(4),))


@KINDS
def test_a_line_while_something_is_done(kind):
    with errors_to(kind, "Numba compiles f ...") as stream:
        with progress.waiting("Numba compiles f", 0.01):
            time.sleep(0.2)
    assert kind is not Terminal or stream.getvalue().endswith("\r")


def slow_sum(x):
    time.sleep(0.001)
    return np.sum(np.sin(x))


@KINDS
@pytest.mark.parametrize("what", ["differences along random directions of 500 numbers", "products of tangents", "times of the gradient"])
def test_what_is_checked_of_many_numbers(kind, what):
    with errors_to(kind, what):
        check.report(slow_sum, "x", (np.linspace(0, 1, 500),))


def test_no_line_if_it_does_not_last():
    with errors_to(Terminal, "") as stream, progress.waiting("nothing", 10.0):
        pass
    assert not stream.getvalue()


@KINDS
def test_an_epoch(kind, capsys):
    with errors_to(kind, "epoch 1/1"), Progress("epoch 1/1", 2) as shown:
        shown.advance("loss 1")
        shown.advance("loss 0.5")
    assert not capsys.readouterr().out


def test_compilation_is_silent_in_a_pipe():
    pytest.importorskip("numba")

    def f(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2
        return total

    with errors_to(io.StringIO, ""):
        grad(f, backend="numba")(np.ones(3))
