"""The command line: each command as a user gives it, what it prints, and its mistakes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sourcead.cli import doctor, show
from sourcead.cli.commands import main

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
OWN = """
from sourcead import grad

@grad(wrt="x")
def decorated(w, x):
    return np.sum(w * x)

class Scale:
    def __init__(self, by):
        self.by = by

    def of(self, x):
        return np.sum(self.by * x)

def two(x):
    return x * np.array([1.0, 2.0])

def only_by_name(x, *, k):
    return np.sum(x ** k)

def divided(x, n):
    return x / n

def printing(x):
    yield x

def wrong(x):
    return rounded(x)

def rounded(x):
    return np.sum(x ** 2)

from sourcead import adjoint

@adjoint(rounded)
def _(y, x, d_y):
    return 3 * x * d_y

def counted(w, n):
    total = 0.0
    for k in range(n):
        total = total + np.sum(w) ** k
    return total

def halved(x):
    return tanh_of(x) / 2

def tanh_of(x):
    return np.tanh(x)

@adjoint(tanh_of)
def _(y, x, d_y):
    return (1 - y * y) * d_y

number = 3
if __name__ == "__main__":
    raise SystemExit("it was run")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the file of the page and some functions more; the modules are forgotten afterwards."""
    page = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]
    (tmp_path / "model.py").write_text(page + OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before, path = set(sys.modules), list(sys.path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def run(folder, capsys):
    """Returns a function that runs a command: its exit status, and what it printed."""

    def ran(*arguments):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    return ran


ARGS = "float64[20, 20], float64[20], n=5"


def test_show_prints_the_text_that_a_call_has(run):
    status, out, err = run("show", "model.py:loss", "--args", ARGS, "--wrt", "w,x")
    import model

    from sourcead import grad

    assert (status, err) == (0, "")
    text = grad(model.loss, wrt=("w", "x")).lower(np.ones((20, 20)), np.ones(20), 5).text
    assert out.strip() == text.strip()


@pytest.mark.parametrize("command", [("show",), ("emit", "-o", "unwritten.py")])
def test_arguments_that_the_function_does_not_take_are_told(run, folder, command):
    name, *output = command
    status, out, err = run(name, "model.py:loss", "--args", "float64[20, 20], float64[21], n=5", *output)
    assert (status, out) == (1, "") and "The function raises an error for these arguments" in err and "(20,) (21,)" in err
    assert not (folder / "unwritten.py").exists()


def test_show_of_a_name_of_a_module(run):
    assert run("show", "model:loss")[1] == run("show", "model.py:loss")[1]


def test_lines_stand_beside_the_lines_they_come_from(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    status, out, _ = run("show", "model.py:loss", "--args", ARGS, "--diff")
    assert status == 0
    beside = [line.partition(show.GAP) for line in out.splitlines()]
    assert any("h = np.tanh(w @ h + x)" in mine and "np.tanh(" in ours for mine, _, ours in beside)
    assert any("return np.sum(h ** 2)" in mine and "d_h" in ours for mine, _, ours in beside)


@pytest.mark.parametrize("columns", [40, 79, 100])
def test_nothing_is_cut_off_beside_each_other(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    _, plain, _ = run("show", "model.py:loss", "--args", ARGS)
    _, out, _ = run("show", "model.py:loss", "--args", ARGS, "--diff")
    halves = [line.partition(show.GAP)[2] or line for line in out.splitlines()]
    together = "".join("".join(halves).split())
    for line in plain.splitlines():
        assert "".join(line.split()) in together
    if show.GAP in out:
        assert max(map(len, out.splitlines())) <= columns


def test_notes_say_what_loops_save(run):
    _, out, _ = run("show", "model.py:loss", "--args", ARGS, "--notes")
    assert "saves in each iteration h (float64 (20,), 160 B)" in out


def test_options_of_the_derivative(run):
    assert "Value and tangent" in run("show", "model.py:loss", "--args", ARGS, "--mode", "jvp")[1]
    assert "Tangent of loss_grad" in run("show", "model.py:loss", "--args", ARGS, "--mode", "hvp")[1]
    assert "Value and pullback" in run("show", "model.py:two", "--args", "float64[2]", "--mode", "vjp")[1]
    assert "return value" in (text := run("show", "model.py:loss", "--args", ARGS, "--mode", "value_and_grad")[1]) or "np.sum" in text
    saved, states = (run("show", "model.py:loss", "--args", ARGS, "--checkpoint", policy)[1] for policy in ("store", "segments:2"))
    assert saved != states
    assert run("show", "model.py:loss", "--args", ARGS, "--checkpoint", "segments")[0] == 2
    assert run("show", "model.py:loss", "--args", ARGS, "--budget", "1MB")[0] == 0


def test_decorators_say_which_derivative(run):
    assert "with respect to x" in run("show", "model.py:decorated")[1]
    assert "with respect to w" in run("show", "model.py:decorated", "--wrt", "w")[1]


def test_methods(run):
    for wrt in ([], ["--wrt", "x"]):  # the object of a method is no parameter to differentiate by
        assert "with respect to x" in run("show", "model.py:Scale.of", "--args", "Scale(2.0), float64[3]", *wrt)[1]
    assert run("check", "model.py:Scale.of", "--args", "Scale(2.0), float64[3]")[0] == 0
    status, _, err = run("show", "model.py:Scale.of")
    assert status == 2 and "a method needs an object" in err and 'Scale(...), float64[3]' in err


def test_colours(run, monkeypatch):
    plain = run("show", "model.py:loss")[1]
    coloured = run("show", "model.py:loss", "--color", "always")[1]
    assert "\x1b[" in coloured and "\x1b[" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    monkeypatch.setitem(sys.modules, "pygments", None)
    assert run("show", "model.py:loss", "--color", "always")[1] == plain


def test_emitted_module_needs_numpy_alone(run, folder):
    status, out, _ = run("emit", "model.py:loss", "--args", ARGS, "-o", "loss_gradient.py")
    assert (status, out) == (0, "loss_gradient.py has the function loss_grad\n")
    code = "import sys; sys.modules['sourcead'] = None; import numpy as np; from loss_gradient import loss_grad\n"
    code += "print(loss_grad(np.eye(30) / 2, np.ones(30), 5).shape)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert ran.stdout == "(30, 30)\n", ran.stderr


def test_emitting_needs_arguments_and_a_place(run):
    assert run("emit", "model.py:loss", "-o", "x.py")[0] == 2
    status, _, err = run("emit", "model.py:loss", "--args", ARGS, "-o", "no/folder/x.py")
    assert status == 1 and "FileError" in err


def test_check_as_on_the_page(run):
    status, out, _ = run("check", "model.py:loss", "--args", "float64[4, 4], float64[4], 5")
    page = re.search(r"\$ sourcead check.*?\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]
    assert status == 0
    for line, pattern in zip(out.splitlines(), page.splitlines(), strict=True):
        assert re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), line)


def test_check_of_large_arguments_and_of_several_results(run):
    status, out, _ = run("check", "model.py:loss", "--args", "float64[20, 20] / 20, float64[20], 5", "--wrt", "w,x")
    assert status == 0 and "random directions  420 elements" in " ".join(out.split(" "))
    assert run("check", "model.py:two", "--args", "float32[2]")[0] == 0


def test_a_wrong_derivative_is_told(run):
    status, out, _ = run("check", "model.py:wrong", "--args", "float64[3]")
    assert status == 1
    assert re.match(r"WRONG +central differences, reverse mode +the derivative with respect to `x\[", out)
    status, out, _ = run("check", "model.py:wrong", "--args", "float64[300]")
    assert status == 1 and out.startswith("WRONG")


def test_a_derivative_by_what_counts_is_refused_with_the_reason(run):
    status, out, err = run("check", "model.py:counted", "--args", "float64[4], 5", "--wrt", "n")
    assert (status, out) == (1, "") and "an integer argument in wrt counts as a float" in err


def test_what_is_not_compared_is_not_called_right(run):
    status, out, _ = run("check", "model.py:halved", "--args", "0.5")
    words = [line.split("  ")[0] for line in out.splitlines()]
    assert status == 0 and words == ["ok", "left out", "left out", "ok", "ok"]
    assert "the one element agrees" in out and "no tangent rule for `tanh_of`" in out


def test_arrays_of_a_file(run, folder):
    np.savez("named.npz", x=np.ones(4), w=np.eye(4), n=3)
    np.savez("in_order.npz", np.eye(4), np.ones(4), 3)
    assert run("show", "model.py:loss", "--args", "named.npz") == run("show", "model.py:loss", "--args", "in_order.npz")
    np.savez("others.npz", q=np.ones(4))
    assert "no parameter q" in run("show", "model.py:loss", "--args", "others.npz")[2]
    np.savez("objects.npz", x=np.array([{}], dtype=object))
    Path("damaged.npz").write_bytes(Path("named.npz").read_bytes()[:100])
    Path("text.npz").write_text("x = 1", encoding="utf-8")
    for name in ("objects.npz", "damaged.npz", "missing.npz", "text.npz"):
        status, _, err = run("show", "model.py:loss", "--args", name)
        assert status == 2 and err.startswith(f"sourcead: --args {name}: it cannot be read")
    assert "pickle" not in err and "it is something else, cut off or damaged" in err


def test_an_error_of_the_function_is_told_without_frames_of_ours(run):
    status, _, err = run("check", "model.py:divided", "--args", "1.0, 0")
    assert status == 1 and err.startswith("The function raises an error for these arguments:\n") and "return x / n" in err
    assert err.endswith("ZeroDivisionError: float division by zero\n") and "sourcead/" not in err and "Traceback" not in err


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["show", "model.py"], "names no function"),
        (["show", "nowhere.py:loss"], "there is no file nowhere.py"),
        (["show", "no_such_module:loss"], "cannot be imported: ModuleNotFoundError"),
        (["show", "model.py:los"], "it has loss"),
        (["show", "model.py:number"], "is no function"),
        (["show", "model.py:Scale.off"], "Scale has no 'off'"),
        (["show", "model.py:loss", "--args", "float64[3"], "is not what stands between"),
        (["show", "model.py:loss", "--args", "1), (2"], "is more than what stands between"),
        (["show", "model.py:loss", "--args", "nothing"], "cannot be evaluated: NameError"),
        (["show", "model.py:loss", "--args", "float46[4]"], "did you mean float64?"),
        (["show", "model.py:loss", "--args", "1.0"], "does not fit the parameters (w, x, n)"),
        (["check", "model.py:loss"], "give them with --args"),
        (["check", "model.py:only_by_name", "--args", "float64[3], k=2"], "can be given by name alone"),
        (["explain", "AliasEror"], "did you mean AliasError?"),
    ],
)
def test_commands_that_are_not_written_as_they_should_be(run, arguments, part):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("sourcead: ") and part in err and "Traceback" not in err


def test_an_error_while_a_file_is_imported_is_told_with_its_line(run, folder):
    (folder / "broken.py").write_text("def f(x):\n    return x\n\n1 / 0\n")
    status, _, err = run("show", "broken.py:f")
    assert status == 2 and "ZeroDivisionError: division by zero (broken.py:4)" in err


def test_refusals_are_errors_of_ours(run):
    status, out, err = run("show", "model.py:printing", "--args", "1.0")
    assert (status, out) == (1, "") and "model.py" in err and "Traceback" not in err
    status, out, err = run("show", "model.py:loss", "--wrt", "v")
    assert status == 1 and err.endswith("`sourcead explain WrtError` says more.\n")


def test_explain(run):
    status, out, _ = run("explain", "aliaserror")
    assert status == 0 and out.startswith("AliasError: Whether two names share memory") and "b = a.copy()" in out
    assert "NonScalarError" in run("explain")[1]
    assert "CheckpointError: " in run("explain", "CheckpointError")[1] and "DataError" in run("explain")[1]


def test_doctor(run, monkeypatch):
    status, out, _ = run("doctor")
    assert status == 0
    for word in ("Versions", "numpy", "Engines", "Cache", "Threads", "SOURCEAD_VERIFY"):
        assert word in out
    monkeypatch.setattr(doctor, "version", lambda name: None if name == "numba" else "1.0")
    assert 'missing, for gradients as machine code, `backend="numba"`; the extra "numba" installs it' in run("doctor")[1]


def test_a_file_of_a_package_and_a_file_named_as_a_module_of_python(run, folder):
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("")
    (folder / "pack" / "other.py").write_text("scale = 2.0\n")
    (folder / "pack" / "inner.py").write_text("from .other import scale\n\ndef f(x):\n    return scale * x\n")
    (folder / "statistics.py").write_text("def f(x):\n    return 3.0 * x\n")
    assert "f_grad" in run("show", "pack/inner.py:f", "--args", "1.0")[1]
    import statistics  # noqa: F401

    assert "3.0" in run("show", "statistics.py:f", "--args", "1.0")[1]
    assert sys.modules["statistics"].__file__ != str(folder / "statistics.py")


def test_as_a_module_and_into_a_pipe_that_closes(folder):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-m", "sourcead"]
    ran = subprocess.run([*command, "--help"], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0 and "examples:" in ran.stdout and "sourcead check" in ran.stdout
    piped = f"'{sys.executable}' -m sourcead show model.py:loss | head -n 1"
    shell = subprocess.run(piped, shell=True, capture_output=True, text=True, env=environment, cwd=folder)
    assert shell.stdout == "def loss_grad(w, x, n):\n" and shell.stderr == ""
