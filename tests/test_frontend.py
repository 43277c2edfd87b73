"""The frontend's core: implementations by kind, attempts that leave no trace, and files that can be imported in any order."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sourcead
import sourcead.frontend.lower
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control.functions import begun
from sourcead.frontend.core import VALUE, Lowering, SuperVal, TupleVal
from sourcead.frontend.core.journal import SYNTAX
from sourcead.frontend.core.lowering import Kept
from sourcead.frontend.core.operations import Generic
from sourcead.frontend.find_source import find_source
from sourcead.ir.nodes import Const, Var
from sourcead.ir.types import FLOAT, Array, Sym
from tests.programs import all_programs, rng_for
from tests.test_layers import own_edges

ROOT = Path(__file__).parents[1]
SAMPLE = all_programs("python")[::40]

# -- generic operations ----------------------------------------------------------------------------------------------------


def described():
    """An operation with implementations for a class, a kind of cell and a type."""

    @Generic
    def name(lo, subject):
        return "anything"

    name.register(TupleVal)(lambda lo, subject: "a tuple")
    name.register("list")(lambda lo, subject: "a list of known items")
    name.register(Array)(lambda lo, subject: "an array")
    return name


def test_the_implementation_is_that_of_the_kind_of_subject():
    lo, name = Lowering(), described()
    x = Var("x", Array(np.dtype(float), (Sym(),)))
    subjects = [TupleVal(()), lo.new_list([]), lo.wrap(x), x, lo.new_dict({}), Const(1)]
    assert [name(lo, s) for s in subjects] == ["a tuple", "a list of known items", "an array", "an array", "anything", "anything"]


def test_a_kind_has_one_implementation():
    with pytest.raises(ValueError, match="two implementations"):
        described().register(SuperVal, "list")(lambda lo, subject: "another")


def test_an_object_has_one_handler():
    with pytest.raises(ValueError, match="two handlers"):
        core.builtin(len)(lambda lo, args, kwargs, node: None)


# -- attempts --------------------------------------------------------------------------------------------------------------


def function(x, n):
    y = x * 2.0
    for _ in range(n):
        y = y + x
    return y


def state(lo):
    """Every attribute of a lowering, its builder, the scopes in sight and the cells given, containers with what they hold."""
    owners = [lo, lo.build, *lo.scopes(), *lo.params]
    return [(owner, {k: contents(v) for k, v in vars(owner).items() if k not in SYNTAX}) for owner in owners]


def contents(value):
    if isinstance(value, Kept):
        return id(value)
    if isinstance(value, dict):
        return id(value), [(k, id(v)) for k, v in value.items()]
    if isinstance(value, (list, set)):
        return id(value), sorted(map(id, value)) if isinstance(value, set) else list(map(id, value))
    if type(value).__name__ == "Journal":
        return len(value.entries), len(value.others)
    return id(value)


def lowering():
    """A lowering with a parameter `x`, an array, and what a first statement leaves."""
    lo = begun(find_source(function))
    x = Var("x", Array(np.dtype(float), (Sym(),)))
    lo.scope.names["x"] = cell = lo.wrap(x)
    lo.scope.names["n"] = Var("n", FLOAT)
    lo.params[cell] = "x"
    core.lower_statements(lo, find_source(function).node.body[:1])
    return lo


def change_everything(lo):
    """Lowering that changes each part of the state: slots, cells, names, statements, what the builder and the lowering know."""
    cell = next(iter(lo.params))
    y = lo.scope.names["y"]
    lo.write(cell, (), Const(1.0), "add")
    other = lo.new_cell(lo.build.call(np.copy, lo.read(cell)), shares=[cell], name="copy")
    items = lo.new_list([cell, other])
    lo.hold(other, cell)
    lo.materialise(items)
    lo.poison(y, cell)
    lo.rename(y.slots[VALUE], "renamed", True)
    lo.journal.assign(y.slots[VALUE], "name", "renamed")
    lo.set(lo.scope.names, "z", other)
    lo.build.known[Var("k", FLOAT)] = 1
    lo.build.maybe_number.add(y.slots[VALUE])
    lo.build.part_dims = {}
    lo.live["data"], lo.guards[1, "g"] = (globals(), "data"), (globals(), "g", None)
    lo.layouts.add(cell.slots[VALUE])
    lo.walked.append(cell)
    lo.walks = [cell]
    lo.pairs["f"] = None
    lo.params[other] = "other"
    lo.scope.loops, lo.depth, lo.derived, lo.copies = 3, 2, True, 7
    lo.scope.leaves.append(None)
    lo.scope.homes["y"] = lo.scope.names
    lo.scope.ended.add("d")
    lo.build.within, lo.build.adjoint_of = (None,), cell


def test_an_attempt_that_fails_leaves_the_lowering_as_it_was():
    lo = lowering()
    before, name = state(lo), lo.scope.names["y"].slots[VALUE].name
    with lo.attempt(AliasError) as attempt:
        change_everything(lo)
        assert state(lo) != before
        raise AliasError("a reason")
    assert attempt.failed and isinstance(attempt.error, AliasError)
    assert state(lo) == before
    assert lo.scope.names["y"].slots[VALUE].name == name


def test_an_attempt_in_an_attempt_that_fails_is_undone_with_it():
    lo = lowering()
    before = state(lo)
    with lo.attempt() as outer:
        change_everything(lo)
        between = state(lo)
        with lo.attempt() as inner:
            change_everything(lo)
            inner.fail()
        assert state(lo) == between
        with lo.attempt() as succeeds:
            change_everything(lo)
        assert inner.failed and not succeeds.failed and state(lo) != between
        outer.fail()
    assert state(lo) == before


def test_an_error_that_an_attempt_does_not_expect_passes():
    lo = lowering()
    before = state(lo)
    with lo.attempt(UnsupportedSyntaxError) as outer:
        with lo.attempt(AliasError):
            change_everything(lo)
            raise UnsupportedSyntaxError("a reason", at=None)
    assert outer.failed and state(lo) == before


# -- the order of imports --------------------------------------------------------------------------------------------------

SHUFFLED = """
import importlib, sys
for module in {modules!r}:
    importlib.import_module(module)
from tests.test_frontend import SAMPLE, texts
sys.stdout.write(texts())
"""


def texts():
    """The gradients of some programs."""
    found = []
    for program in SAMPLE:
        gradient = sourcead.grad(program.function, wrt=program.wrt)
        try:
            gradient(*program.make_args(rng_for()))
            found.append(gradient.source)
        except sourcead.errors.SourceADError as error:
            found.append(f"{type(error).__name__}: {error}")
    return "\n".join(found)


def modules():
    files = [*(ROOT / "sourcead" / "frontend").rglob("*.py"), *(ROOT / "sourcead" / "compile").glob("nested*.py")]
    return sorted(".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files if f.name != "__init__.py")


FOLDERS = ("core", "control", "values", "builtins", "syntax")


def test_imports_between_the_folders_run_one_way():
    for module, edges in own_edges().items():
        _, _, folder, *rest = (*module.split("."), "", "")
        if not module.startswith("sourcead.frontend.") or folder not in FOLDERS or not rest[0]:
            continue
        for other in edges:
            found = other.removeprefix("sourcead.frontend.").partition(".")[0]
            if other.startswith("sourcead.frontend.") and found in FOLDERS:
                assert FOLDERS.index(found) <= FOLDERS.index(folder), f"{module} imports {other}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_files_are_imported_decides_nothing(seed):
    order = modules()
    random.Random(seed).shuffle(order)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        [sys.executable, "-c", SHUFFLED.format(modules=order)], capture_output=True, text=True, check=True, env=env, cwd=ROOT
    )
    assert shown.stdout == texts()
