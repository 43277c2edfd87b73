"""The types of the public interface (`sourcead/__init__.pyi`): a derivative has the parameters of its function."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sourcead

ROOT = Path(__file__).parents[1]
STUB = ast.parse((ROOT / "sourcead" / "__init__.pyi").read_text(encoding="utf-8"))

RIGHT = '''
import numpy as np
import numpy.typing as npt

from sourcead import Gradient, Revolve, SourceADError, adjoint, adjoint_of, checkpoint, grad, hvp, jacobian, jvp, value_and_grad, vjp

Array = npt.NDArray[np.float64]


def loss(w: Array, x: Array, steps: int = 3) -> float:
    h = w
    for _ in checkpoint(range(steps), Revolve(2)):
        with adjoint_of(h) as d_h:
            d_h = d_h * 2
        h = np.tanh(h * x)
    return float(np.sum(h))


d_loss = grad(loss, wrt=("w", "x"))
d_w, d_x = d_loss(np.ones(3), np.ones(3), steps=2)
text: str = d_loss.source
print(d_loss.lower(np.ones(3), np.ones(3)).notes, d_loss.wrt)


@grad
def square(x: float) -> float:
    return x * x


@grad(wrt="b")
def product(a: float, b: float) -> float:
    return a * b


@value_and_grad
def cube(x: float) -> float:
    return x**3


value, gradient = cube(2.0)
more: float = value + 1.0
square(2.0)
product(1.0, b=2.0)


class Model:
    rate: float = 0.1

    @grad
    def penalty(self, w: Array) -> float:
        return self.rate * float(np.sum(w * w))


Model().penalty(np.ones(3))
second = grad(square)(2.0)
y, pullback = vjp(loss, np.ones(3), np.ones(3))
t = jvp(loss, (np.ones(3), np.ones(3)), (np.ones(3), None))
jacobian(loss)(np.ones(3), np.ones(3))
hvp(loss)(np.ones(3), np.ones(3), np.ones(3))


def scale(z: float) -> float:
    return z * 2


@adjoint(scale)
def _(y: float, z: float, d_y: float) -> float:
    return d_y * 2


def used(g: "Gradient[[float], float]") -> float:
    try:
        return g(1.0)
    except SourceADError as error:
        raise ValueError(str(error)) from error
'''

WRONG = {  # a line of a user's, and a word of what is wrong with it
    'grad(f)("a", 2)': "float",
    "grad(f)(1.0)": "n",
    "grad(f)(1.0, m=2)": "m",
    'grad(wrt="x")(f)(1.0, "b")': "int",
    "value_and_grad(f)(1.0, 2)[0].upper()": "upper",
    "grad(f, argnums=1)": "grad",
    'Method().p("a")': "float",
}
BEFORE = """
from sourcead import grad, value_and_grad

def f(x: float, n: int) -> float:
    return x * n

class Method:
    @grad
    def p(self, w: float) -> float:
        return w

"""


def test_the_types_are_of_the_names_that_there_are():
    imported = {alias.asname for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    defined = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert {name for name in imported | defined if name and not name.startswith("_")} == {*sourcead.__all__, "map", "nn"}


@pytest.mark.parametrize("node", [n for n in STUB.body if isinstance(n, ast.FunctionDef)], ids=lambda n: f"{n.name}:{n.lineno}")
def test_functions_have_the_parameters_that_they_are_said_to_have(node):
    made = getattr(sourcead, node.name)
    own = inspect.signature(made.__init__ if isinstance(made, type) else made).parameters
    said = [*node.args.posonlyargs, *node.args.args, node.args.vararg, *node.args.kwonlyargs, node.args.kwarg]
    assert [a.arg for a in said if a] == [name for name in own if name != "self"]


def checked(tmp_path, checker, text):
    """What a checker finds wrong with a program, by line."""
    (tmp_path / "user.py").write_text(text)
    command = [sys.executable, "-m", checker]
    if checker == "mypy":
        command += ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path.parent / "mypy"), "user.py"]
    else:
        (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT}"], "typeCheckingMode": "strict"}}')
        command += ["-p", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True)
    if checker == "pyright" and not re.search(r"\d+ errors?,", done.stdout):
        pytest.skip("pyright could not be fetched")
    assert done.returncode in (0, 1), done.stderr
    return {int(line): what for line, what in re.findall(r"user\.py:(\d+):.*?error: (.*)", done.stdout)}


@pytest.mark.long
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_accept_a_program_and_find_what_is_wrong(tmp_path, checker):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    assert checked(tmp_path, checker, RIGHT) == {}
    first = BEFORE.count("\n") + 1
    found = checked(tmp_path, checker, BEFORE + "\n".join(WRONG))
    for line, word in enumerate(WRONG.values(), first):
        assert word in found[line]


def test_annotations_may_name_the_parameters_of_a_gradient():
    assert sourcead.Gradient[[float], float].__args__ == ([float], float)
