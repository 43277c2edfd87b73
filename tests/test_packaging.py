"""The wheel and the source distribution hold what they should, and work without the repository."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import sourcead

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
MODEL = """
import numpy as np

def f(x):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] *= x[i - 1]
    return np.sum(x)
"""
USE = """
import sys
import numpy as np
import sourcead
from sourcead import grad, debug

from model import f

assert sourcead.__file__.startswith(sys.argv[1]), sourcead.__file__
gradient = grad(f)
print(gradient(np.array([2.0, 3.0, 4.0])), "for i in range(" in gradient.source)
gradient.view(np.array([2.0, 3.0, 4.0])).save(sys.argv[1] + "/page.html")
"""


def run(*command, **options):
    made = subprocess.run(command, capture_output=True, text=True, **options)
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the files that are tracked or new, since setuptools writes beside them."""
    folder = tmp_path_factory.mktemp("tree")
    try:
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    except (OSError, AssertionError):  # a copy without git
        listed = "\0".join(str(p.relative_to(ROOT)) for part in ("sourcead", "docs", "tests") for p in (ROOT / part).rglob("*.*"))
        listed += "\0pyproject.toml\0README.md\0LICENSE"
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and "__pycache__" not in name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    pytest.importorskip("setuptools")
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-c", BUILD, "build_wheel", str(out), cwd=tree)
    return next(out.glob("*.whl"))


@pytest.mark.long
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
        (commands,) = [archive.read(name).decode() for name in names if name.endswith(".dist-info/entry_points.txt")]
    tracked = {str(p.relative_to(ROOT)).replace(os.sep, "/") for p in (ROOT / "sourcead").rglob("*") if p.is_file()}
    wanted = {name for name in tracked if "__pycache__" not in name and not name.endswith(".pyc")}
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert {"sourcead/py.typed", "sourcead/__init__.pyi", "sourcead/page/page.css"} <= names
    assert any(name.endswith("LICENSE") for name in names)
    assert f"\nVersion: {sourcead.__version__}\n" in metadata
    core = [line for line in metadata.split("\n") if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert sorted(re.findall(r"Requires-Dist: (\w+)", "\n".join(core))) == ["astor", "gast", "numpy"]
    assert "sourcead = sourcead.cli.commands:main" in commands


@pytest.mark.long
def test_the_wheel_works_without_the_repository(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "model.py").write_text(MODEL)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "SOURCEAD_CACHE_DIR": str(tmp_path / "cache")}
    said = run(sys.executable, str(tmp_path / "use.py"), str(tmp_path / "site"), cwd=tmp_path, env=env)
    assert said.split() == ["[16.", "10.", "6.]", "True"]
    shown = run(sys.executable, "-m", "sourcead", "show", "model.py:f", "--args", "float64[3]", cwd=tmp_path, env=env)
    assert "def f_grad(x):" in shown
    assert "<html" in (tmp_path / "site" / "page.html").read_text(encoding="utf-8")[:500]


@pytest.mark.long
def test_the_source_distribution_builds_the_same_wheel(tree, wheel, tmp_path):
    run(sys.executable, "-c", BUILD, "build_sdist", str(tmp_path), cwd=tree)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data") if hasattr(tarfile, "data_filter") else opened.extractall(tmp_path)
    (folder,) = [p for p in tmp_path.iterdir() if p.is_dir()]
    assert {"README.md", "LICENSE", "pyproject.toml"} <= {p.name for p in folder.iterdir()}
    out = tmp_path / "out"
    run(sys.executable, "-c", BUILD, "build_wheel", str(out), cwd=folder)
    with zipfile.ZipFile(next(out.glob("*.whl"))) as again, zipfile.ZipFile(wheel) as first:
        assert {n for n in again.namelist() if "RECORD" not in n} == {n for n in first.namelist() if "RECORD" not in n}


def test_the_version_stands_in_one_place():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in project and sourcead.__version__ not in project
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(sourcead.__version__)}\]", changes, re.M)
