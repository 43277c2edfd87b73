"""Cells as users run them, in a real kernel of this Python: functions in cells, after magic commands, in modules that are edited."""

import os
import re
import textwrap
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the extra `test` brings nbclient and ipykernel, which are not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra `test` brings nbclient and ipykernel, which are not installed")
pytest.importorskip("ipykernel", reason="the extra `test` brings nbclient and ipykernel, which are not installed")

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]

BEGIN = """
import os, sys, pathlib, functools
import numpy as np
from sourcead import grad, value_and_grad
from sourcead.errors import NoSourceError

times = iter(range(2_000_000_000, 2_100_000_000, 1000))  # each edit is later than the one before

def write(name, text, **values):
    path = pathlib.Path(name + ".py")
    for key, value in values.items():
        text = text.replace(key, str(value))
    path.write_text(text)
    os.utime(path, (next(times),) * 2)

def refusal(f, *args):
    try:
        f(*args)
    except NoSourceError as error:
        return str(error)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Runs cells in one kernel, in an empty folder, and returns what they print; an exception in a cell fails the test."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setenv("IPYTHONDIR", str(folder / ".ipython"))
        client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}})

        def run(*texts):
            said = ""
            for text in texts:
                notebook.cells.append(nbformat.v4.new_code_cell(textwrap.dedent(text).lstrip("\n")))
                ran = client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
                said += "".join(output.get("text", "") + output.get("data", {}).get("text/html", "") for output in ran.outputs)
            return said

        with client.setup_kernel():
            run("import sys\nsys.path.insert(0, '')", BEGIN)
            yield run


def test_a_cell_that_imports_defines_and_differentiates(kernel):
    kernel("""
        import numpy as np
        from sourcead import grad

        @grad(wrt=("w", "u", "b"))
        def loss(w, u, b, xs, y):
            h = np.zeros(b.shape)
            for x in xs:
                h = np.tanh(w @ x + u @ h + b)
            return np.mean((h - y) ** 2)

        d_w, d_u, d_b = loss(np.ones((2, 3)), np.eye(2), np.zeros(2), np.ones((4, 3)), np.ones(2))
        assert d_w.shape == (2, 3) and d_u.shape == (2, 2) and d_b.shape == (2,)
    """)


GUARDED = {
    "try": "try:\n    import math\nexcept ImportError:\n    math = None",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    import math",
    "if": "if True:\n    import math",
    "future": "from __future__ import annotations\nimport math",
    "magic": "%precision 8\n!echo text\nimport math",
}


@pytest.mark.parametrize("form", GUARDED)
def test_a_cell_with_imports_of_another_form(kernel, form):
    kernel(GUARDED[form] + "\ndef sine(x):\n    return math.sin(x)\nassert grad(sine)(0.0) == 1.0")


def test_lambdas_and_functions_on_one_line(kernel):
    kernel("import math; f, g = (lambda x: math.sin(x) * 2), (lambda x: math.sin(x) * 3); assert (grad(f)(0.0), grad(g)(0.0)) == (2, 3)")


def test_a_cell_that_awaits(kernel):
    kernel("""
        async def slope():
            def inner(x):
                return x * x
            return grad(inner)(3.0)
        assert await slope() == 6.0
    """)


MAGICS = ("%%time", "%%timeit -n 2 -r1", "%%capture", "%%prun -q", "%%capture\n%%time", "%%time\n%%capture")


@pytest.mark.parametrize("magic", MAGICS)
def test_a_function_in_a_cell_with_a_magic_command(kernel, magic):
    kernel(magic + """
import math
rate = 3.0
def timed(x):
    try:
        return rate * math.sin(x)
    except ValueError:
        pass
    return x
@grad
def decorated(x):
    return timed(x) * 2
assert (grad(timed)(0.0), decorated(0.0)) == (3.0, 6.0)
""")  # fmt: skip


def test_a_function_timed_is_found_in_later_cells(kernel):
    kernel("%%time\ndef late(x):\n    return np.sum(x) * 4", "assert grad(late)(0.0) == 4.0")


def test_cells_that_are_no_python_do_no_harm(kernel):
    for text in ("%pwd\nthis is no Python", "%%time\nno Python", "%%timeit -n1\nno Python", "%timeit -n1 no Python"):
        with pytest.raises(nbclient.exceptions.CellExecutionError, match="SyntaxError"):
            kernel(text)
    kernel("line = '1'\nget_ipython().run_line_magic(magic_name='time', line=line)\nget_ipython().run_line_magic('time', line.strip())")
    kernel("%%time\nfirst = lambda x: np.sum(x) * 5", "assert grad(first)(0.0) == 5.0")


@pytest.mark.parametrize("magic", ["%time", "%timeit -n1 -r 1", "%prun -q", "found = %timeit -o -q -n 1 -r 1"])
def test_a_lambda_in_a_line_with_a_magic_command(kernel, magic):
    said = kernel(f"{magic} print('slope', grad(lambda x: x ** 3)(2.0))")
    assert "slope 12.0" in said


def test_a_file_run_by_a_magic_command(kernel):
    text = "import numpy as np\nfrom sourcead import grad\ndef ran(x):\n    return np.sum(x)\nprint('slope', grad(ran)(2.0))"
    assert kernel("%%writefile ran.py\n" + text, "%run ran.py", "%run -i ran.py").count("slope 1.0") == 2
    kernel("assert grad(ran)(2.0) == 1.0")


def test_a_function_that_is_defined_again_is_followed_by_its_callers(kernel):
    kernel(
        "def inner(x):\n    return x * 2\n@grad\ndef outer(x):\n    return inner(x) * 3\nassert outer(1.0) == 6.0",
        "def inner(x):\n    return x * 5\nassert outer(1.0) == 15.0",
        "%%time\ndef inner(x):\n    return x * 7",
        "assert outer(1.0) == 21.0",
    )


def test_derivatives_of_functions_in_cells_run_in_other_processes(kernel):
    pytest.importorskip("cloudpickle")
    kernel(
        "def inner(x):\n    return np.sum(x * x)",
        """
            import pickle, subprocess, cloudpickle
            def outer(x):
                return inner(x) * 3

            def slope_elsewhere(derivative):
                load = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(2.0))"
                ran = subprocess.run([sys.executable, "-c", load], input=cloudpickle.dumps(derivative), capture_output=True)
                assert ran.returncode == 0, ran.stderr.decode()
                return float(ran.stdout)
        """,
        "assert slope_elsewhere(grad(outer)) == 12.0",
        "assert slope_elsewhere(grad(lambda x: outer(x) * 2)) == 24.0",
        "assert slope_elsewhere(grad(grad(lambda x: outer(x) * 2))) == 12.0",
    )


def test_a_function_made_by_exec_is_refused(kernel):
    kernel("""
        exec("def made(x): return x * x")
        message = refusal(grad(made), 2.0)
        assert "made by `exec`" in message and "put the function into a file or a notebook cell" in message, message
        message = refusal(grad(lambda x: made(x) * 2), 2.0)
        assert "made by `exec`" in message and "@adjoint(made)" in message, message
    """)


def test_an_edited_file(kernel):
    kernel(
        "write('edited', 'def same(x):\\n    return x * 2\\ndef other(x):\\n    return x * 3\\n')\nimport edited",
        "write('edited', '# new\\n\\ndef other(x):\\n    return x * 4\\ndef same(x):\\n    return x * 2\\n')",
        "assert grad(edited.same)(1.0) == 2.0",
        "message = refusal(grad(edited.other), 1.0)",
        "assert 'edited after it was imported' in message and 'importlib.reload' in message, message",
        "import importlib\nimportlib.reload(edited)\nassert grad(edited.other)(1.0) == 4.0",
    )


RELOADED = '''
import functools
import numpy as np
from sourcead import grad

def doubled(f):
    @functools.wraps(f)
    def wrapper(x):
        return 2 * f(x)
    return wrapper

def square(x):
    # the factor changes
    if x > 1000: pass
    try:
        y = np.sum(RATE *
                   x * x)

    except ValueError:
        pass
    return y

def line(x, by=RATE, *, more=RATE):
    return by * more * x

@doubled
def decorated(x):
    return square(x)

def calls(x):
    return square(x) + line(x)

class Model:
    def __init__(self):
        self.w = 3.0

    def loss(self, x):
        return RATE * self.w * x

    def __call__(self, x):
        return self.loss(x)

    @staticmethod
    def fixed(x):
        return RATE * x

    @classmethod
    def shared(cls, x):
        return cls.fixed(x)

scaled = lambda x: RATE * x
'''
DECORATED = '''
@grad
def slope(x):
    return RATE * x * x

class Sloped:
    @grad
    def slope(self, x):
        return RATE * x
'''
CHECK = """
def slopes_follow():
    for name, f in functions.items():
        difference = (f(1.0 + 1e-6) - f(1.0 - 1e-6)) / 2e-6
        assert abs(derivatives[name](1.0) - difference) < 1e-6 * abs(difference), (name, derivatives[name](1.0), difference)
"""


@pytest.mark.parametrize("name, text", [("undecorated", RELOADED), ("decorated", RELOADED + DECORATED)])
def test_derivatives_follow_a_module_that_is_reloaded(kernel, name, text):
    kernel(
        f"text = {text!r}\nname = {name!r}\nwrite(name, text, RATE=1)",
        "%load_ext autoreload\n%autoreload 2",
        f"""
            import {name} as module
            from {name} import *
            model = Model()
            def own(x):
                return square(x) + decorated(x) + module.calls(x) + model.loss(x) + scaled(x)
            functions = dict(
                square=square, line=line, decorated=decorated, calls=calls, loss=model.loss, model=model, fixed=Model.fixed,
                shared=Model.shared, scaled=scaled, own=own,
            )
            derivatives = {{key: grad(f) for key, f in functions.items()}}
        """,
        CHECK + "slopes_follow()",
    )
    for rate in (2, 3):
        kernel(f"write(name, {'# a line' + chr(10)!r} * {rate} + text, RATE={rate})", "slopes_follow()")
        if name == "decorated":
            kernel(f"assert (slope(1.0), module.slope(1.0), Sloped().slope(1.0)) == ({2 * rate}, {2 * rate}, {rate})")
    kernel("%autoreload 0")


@pytest.mark.parametrize("body, call, error", [
    ("x * 2", "refused(np.ones(2))", "NonScalarError"), ("x * unknown", "refused(2.0)", "NameError"), ("x * 2", "refused()", "TypeError"),
])  # fmt: skip
def test_a_refusal_shows_frames_of_cells_alone(kernel, body, call, error):
    with pytest.raises(nbclient.exceptions.CellExecutionError) as caught:
        kernel(f"@grad\ndef refused(x):\n    return {body}\n{call}")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", str(caught.value))
    assert error in shown and f"----> 4 {call}" in shown
    assert "gradient.py" not in shown and "short(error)" not in shown
    again = kernel("%tb")  # when the exception is not being handled any more
    assert "Unexpected exception" not in again


def test_a_gradient_shows_as_coloured_text_with_notes_and_as_a_page(kernel):
    kernel("""
        def folded(w, x):
            h = w
            for _ in range(3):
                h = np.tanh(h * x)
            return np.sum(h)

        d_folded = grad(folded)
        d_folded(np.ones(2), np.ones(2));
    """)
    shown = kernel("d_folded")
    assert '<span class="key">for</span>' in shown and "<li>line 3, <code>for _ in range(3):</code>: saves in each iteration" in shown
    page = kernel("d_folded.view(np.ones(2), np.ones(2))")
    assert page.startswith("<iframe srcdoc=") and "h = np.tanh(h * x)" in page and "Memory over the run" in page
    kernel("""
        def folded(w, x):
            return np.sum(w * x)
    """)
    assert "tanh" in kernel("d_folded") and "tanh" not in kernel("grad(folded).view(np.ones(2), np.ones(2))")
    assert "cell" in kernel("from IPython.display import HTML; HTML(d_folded.view().html)").lower()


@pytest.mark.long
def test_the_tour_runs_and_shows_what_it_says():
    tour = nbformat.read(ROOT / "examples" / "tour.ipynb", 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        nbclient.NotebookClient(tour, timeout=300, kernel_name="python3").execute()
    shown = {cell.source: [o for o in cell.outputs if o.output_type == "execute_result"] for cell in tour.cells if cell.cell_type == "code"}
    assert not any(o.output_type == "error" for cell in tour.cells for o in cell.get("outputs", ()))
    text, page = ("".join(o.data.get("text/html", "") for o in shown[source]) for source in ("loss", "loss.view(w, u, b, xs, y)"))
    assert "# reverse" in re.sub("<[^>]*>", "", text) and "<iframe" in page
    (report,) = [outputs[0].data["text/plain"] for source, outputs in shown.items() if "debug(" in source]
    assert report.startswith("The result is not finite.")
    (curves,) = [outputs[0].data for source, outputs in shown.items() if "history.plot()" in source]
    assert "image/png" in curves
