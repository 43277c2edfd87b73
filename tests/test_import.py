"""What `import sourcead` reads: each name of the public interface reads its module when it is first used."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import sourcead

ROOT = Path(__file__).parents[1]


def shown(tmp_path, code):
    """The lines that a program prints in a process of its own."""
    (tmp_path / "first.py").write_text(code)
    return subprocess.run([sys.executable, tmp_path / "first.py"], capture_output=True, text=True, check=True).stdout.splitlines()


def test_importing_reads_neither_the_package_nor_numpy(tmp_path):
    code = "import sys, sourcead\nprint([m for m in sys.modules if m.startswith(('sourcead.', 'numpy', 'scipy', 'numba'))])"
    assert shown(tmp_path, code) == ["[]"]


def test_a_gradient_under_numpy_reads_no_optional_library_and_no_engine_for_one(tmp_path):
    code = """
import sys
from sourcead import grad
print(grad(lambda x: x ** 2)(3.0))
print([m for m in sys.modules if m.startswith(("scipy", "numba", "torch", "matplotlib", "sourcead.backends.numba", "sourcead.nn"))])
"""
    assert shown(tmp_path, code) == ["6.0", "[]"]


@pytest.mark.parametrize("code", ["from sourcead import lines", "import sourcead\nprint(sourcead.lines)"])
def test_there_are_no_other_names(tmp_path, code):
    with pytest.raises(subprocess.CalledProcessError):
        shown(tmp_path, code)


def test_all_names_are_there_in_a_new_process(tmp_path):
    code = "from sourcead import *\nimport sourcead\nprint(sorted(sourcead.__all__) == sorted(set(dir()) & set(sourcead.__all__)))"
    assert shown(tmp_path, code) == ["True"]


@pytest.mark.parametrize("part", ["errors", "nn.layers", "language.checkpoint_policies", "backends.load"])
def test_parts_of_the_package_are_attributes_once_imported(tmp_path, part):
    assert shown(tmp_path, f"import sourcead.{part}\nprint(sourcead.{part}.__name__)") == [f"sourcead.{part}"]


@pytest.mark.parametrize("part", ["errors", "nn", "language"])
def test_parts_of_the_package_are_attributes_of_it(tmp_path, part):
    assert shown(tmp_path, f"import sourcead\nprint(sourcead.{part}.__name__)") == [f"sourcead.{part}"]


def test_importing_all_names_leaves_those_of_python(tmp_path):
    code = "import builtins\nfrom sourcead import *\nprint([n for n in dir(builtins) if n in globals() and not n.startswith('__')])"
    assert shown(tmp_path, code + "\nprint(list(map(len, ['a'])))") == ["[]", "[1]"]


def test_the_lists_of_names_agree():
    homes = sourcead._MODULE_OF  # `tests/test_types.py` compares those of the stub
    assert sorted(homes) == sorted([*sourcead.__all__, "map"])
    assert {name for name in dir(sourcead) if not name.startswith("__")} == {*homes, "nn"}


def test_help_names_the_functions(tmp_path):
    text = "\n".join(shown(tmp_path, "import sourcead\nhelp(sourcead)"))
    assert "value_and_grad(" in text and "class Revolve" in text


def test_functions_of_the_interface_pickle():
    assert pickle.loads(pickle.dumps(sourcead.grad)) is sourcead.grad
