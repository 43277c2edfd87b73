"""What comes from outside is varied by hypothesis: names, keys, texts, numbers and places of source that an attacker might choose.

Each case (`tests/hostile_cases.py`) has a function whose gradient is known by a formula.  Either it is differentiated, and value and
gradient are right, or there is an error of ours, or the one that Python itself raises for the function.  Whatever happens, nothing from
outside is executed: the hostile texts call a canary, and an audit hook sees processes that start and files that are written.
"""

import ast
import builtins
import contextlib
import inspect
import io
import os
import runpy
import sys
import types
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from sourcead import value_and_grad
from sourcead.errors import SourceADError, VerificationError
from tests.hostile_cases import (
    KINDS, SELDOM, Case, attributes, constants, keys, layers, names_in_code, names_of_functions, names_of_locals
)

# ---- the watch ----

PROCESSES = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen", "socket.connect"}
WRITES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.truncate", "shutil.rmtree"}
seen: list | None = None  # what the watched code did, while it is watched
allowed = ""  # the folder in which it may write


def canary(*_, **__):
    seen.append("canary")
    return 0.0


def hook(event, args):
    if seen is None:
        return
    writes = event in WRITES or event == "open" and (
        set(args[1]) & set("wax+") if isinstance(args[1], str) else args[2] & (os.O_WRONLY | os.O_RDWR)
    )  # fmt: skip
    elsewhere = writes and not isinstance(args[0], int) and not os.fsdecode(args[0]).startswith(allowed)
    if elsewhere or event in PROCESSES or event == "import" and "canary" in str(args[0]):
        seen.append((event, args))


@contextlib.contextmanager
def watched(folder):
    """Hold that the block executes nothing that came from outside, and writes in a folder alone."""
    global seen, allowed
    if not getattr(hook, "added", False):  # a hook stays until the process ends
        sys.addaudithook(hook)
        hook.added = True
    builtins.canary, seen, allowed = canary, [], str(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            yield
        assert not seen and not printed.getvalue()
    finally:
        seen = None
        del builtins.canary


def without_foreign_calls(text: str) -> None:
    """The hostile texts stand in a text as constants or in comments only."""
    for node in ast.walk(ast.parse(text)):
        assert not (isinstance(node, ast.Name) and node.id == "canary"), text


def check(case: Case, folder, saved: bool) -> bool:
    """Return whether the function of a case was differentiated."""
    derivative = value_and_grad(case.f, **case.options)
    with watched(folder):
        case.also()
        try:
            value, gradient = derivative(*case.args)
        except SourceADError as error:
            assert str(error) and not isinstance(error, VerificationError)
            return False
        except Exception as error:
            with pytest.raises(type(error)):
                case.f(*case.args)
            return False
        without_foreign_calls(derivative.source)
        same(value, case.value)
        same(gradient, case.gradient)
        if saved and case.saved:
            with contextlib.suppress(SourceADError):
                derivative.save(folder / "saved.py")
                without_foreign_calls((folder / "saved.py").read_text("utf-8"))
                module = runpy.run_path(str(folder / "saved.py"))
                (generated,) = (f for name, f in module.items() if name.endswith("_value_and_grad"))
                taken = dict(zip(inspect.signature(case.f).parameters, case.args))  # options that are texts are not taken
                value, gradient = generated(*(taken[name] for name in inspect.signature(generated).parameters if name in taken))
                same(value, case.value)
                same(gradient, case.gradient)
    return True


def same(a, b) -> None:
    """Holds that two structures have the same keys and attributes, and almost the same numbers."""
    if isinstance(b, dict):
        assert list(a) == list(b)
        for key in b:
            same(a[key], b[key])
    elif isinstance(b, types.SimpleNamespace):
        assert set(vars(a)) == set(vars(b))
        for name in vars(b):
            same(vars(a)[name], vars(b)[name])
    elif isinstance(b, tuple | list):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            same(one, other)
    elif b is not None:
        np.testing.assert_allclose(a, b, rtol=1e-9)


def judged(kind: Callable, count: int, folder, **options) -> int:
    """How many cases of a kind were differentiated, of `count` or a few more."""
    found = {True: 0, False: 0}

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate], report_multiple_bugs=False,
    )  # fmt: skip
    @given(st.data())
    def run(data):
        case = kind(data)
        if case is not None:
            case = case._replace(options=case.options | options, saved=case.saved and not options)
            found[check(case, folder, saved=sum(found.values()) % 4 == 0)] += 1

    run()
    assert found[True] > 0.6 * found[False] or kind in SELDOM, found
    return sum(found.values())


def name_of(kind):
    return kind.__name__


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_what_comes_from_outside_is_data(kind, tmp_path):
    judged(kind, 5, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_what_comes_from_outside_is_data_in_many_cases(kind, tmp_path, record_property):
    count = judged(kind, 700, tmp_path)
    record_property("cases", count)
    print(f"{kind.__name__}: {count} cases")
    assert count > 525  # 10,000 in all


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [keys, attributes, layers, names_in_code, names_of_locals, names_of_functions, constants], ids=name_of)
def test_what_comes_from_outside_is_data_in_machine_code(kind, tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path / "caches" / "sourcead"))  # so that the folder around it lies inside too
    judged(kind, 8, tmp_path, backend="numba")


def test_the_watch_sees_what_is_executed(tmp_path):
    for act in (canary, lambda: exec("canary()"), lambda: open(tmp_path.parent / "elsewhere", "w"), lambda: print(1)):
        with pytest.raises(AssertionError), watched(tmp_path):
            act()
    (tmp_path.parent / "elsewhere").unlink()
