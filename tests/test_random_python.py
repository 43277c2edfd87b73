"""Random Python programs: what is drawn, what the judge notices, what the shrinker leaves, and a sample."""

import ast
import os
import random
import time
from functools import cache

import numpy as np
import pytest

import sourcead
from tests.random_python import shrink
from tests.random_python.generate import draw
from tests.random_python.judge import judge
from tests.random_python.modes import ALWAYS, SHARE, chosen
from tests.random_python.pool import results
from tests.random_python.scope import Spoiled, World

NODES = """
AugAssign NamedExpr IfExp BoolOp Compare Lambda ListComp SetComp DictComp GeneratorExp Starred Delete For
While Try With Match FunctionDef ClassDef Return Break Continue Nonlocal Yield YieldFrom Assert Raise Slice
Set Dict Tuple JoinedStr
""".split()
TEXTS = """
collections.deque collections.defaultdict collections.OrderedDict Point( dataclasses.dataclass copy.copy(
copy.deepcopy( .setdefault( sorted( zip( enumerate( map( filter( reversed( iter( next( itertools. any( all(
np.add( out= np.add.reduce( np.add.at( .reshape( .ravel( .T .view( np.where( np.clip( np.einsum( np.pad(
np.roll( np.concatenate( np.stack( np.cumsum( np.sort( np.argsort( np.outer( np.dot( np.matmul( .astype( *(
**{ |= :: @property @doubled @classmethod @staticmethod super() functools.partial(
quicksort( fib( np.float64( np.split( .values() .items() nonlocal LIMIT RATES GRID
""".split()


@cache
def sources():
    """Return the first 500 programs."""
    return [draw(seed).source for seed in range(500)]


@cache
def nodes():
    """Return the nodes of the functions `f` of the first 500 programs."""
    functions = [f for text in sources() for f in ast.parse(text).body if getattr(f, "name", "") == "f"]
    return [node for f in functions for node in ast.walk(f)]


def test_a_seed_always_gives_the_same_program():
    assert [draw(seed).source for seed in range(10)] == sources()[:10]
    assert len(set(sources())) == 500
    assert chosen(random.Random(1)) == chosen(random.Random(1))


@pytest.mark.parametrize("name", NODES)
def test_programs_contain_each_kind_of_node(name):
    assert any(type(node).__name__ == name for node in nodes())


@pytest.mark.parametrize("text", TEXTS)
def test_programs_contain_each_text(text):
    assert any(text in source for source in sources())


def _has(test):
    return any(test(node) for node in nodes())


def _names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _rebinds(node):
    """Return whether a name becomes a list that contains its old value."""
    listed = isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    return listed and bool(_names(node.targets[0]) & _names(node.value))


def _inside(outer, inner):
    """Return whether a node of one kind stands inside one of the other."""
    return _has(lambda n: isinstance(n, outer) and any(isinstance(m, inner) and m is not n for m in ast.walk(n)))


def _element(node):
    """Return the subscript of an element or a part, or None."""
    return getattr(node, "slice", None)


FORMS = {
    "for with else": lambda: _has(lambda n: isinstance(n, ast.For) and n.orelse),
    "while with else": lambda: _has(lambda n: isinstance(n, ast.While) and n.orelse),
    "try with finally": lambda: _has(lambda n: isinstance(n, ast.Try) and n.finalbody),
    "try with else": lambda: _has(lambda n: isinstance(n, ast.Try) and n.orelse),
    "chained comparison": lambda: _has(lambda n: isinstance(n, ast.Compare) and len(n.ops) > 1),
    "is": lambda: _has(lambda n: isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.Is)),
    "in": lambda: _has(lambda n: isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In)),
    "star in a target": lambda: _has(lambda n: isinstance(n, ast.Starred) and isinstance(n.ctx, ast.Store)),
    "two targets": lambda: _has(lambda n: isinstance(n, ast.Assign) and len(n.targets) > 1),
    "element as a loop's target": lambda: _has(lambda n: isinstance(n, ast.For) and _element(n.target)),
    "attribute as a target": lambda: _has(lambda n: isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)),
    "attribute augmented": lambda: _has(lambda n: isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Attribute)),
    "mask augmented": lambda: _has(lambda n: isinstance(_element(getattr(n, "target", None)), ast.Compare)),
    "list multiplied": lambda: _has(lambda n: isinstance(n, ast.BinOp) and isinstance(n.left, ast.List)),
    "list multiplied in place": lambda: _has(lambda n: isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Mult)),
    "default argument": lambda: _has(lambda n: isinstance(n, ast.FunctionDef) and n.args.defaults),
    "lambda with defaults": lambda: _has(lambda n: isinstance(n, ast.Lambda) and n.args.defaults),
    "loop in loop": lambda: _inside((ast.For, ast.While), (ast.For, ast.While)),
    "loop in try": lambda: _inside(ast.Try, ast.For),
    "try in loop": lambda: _inside(ast.For, ast.Try),
    "function in loop": lambda: _inside(ast.For, ast.FunctionDef),
    "lambda in loop": lambda: _inside(ast.For, ast.Lambda),
    "loop in function": lambda: _inside(ast.FunctionDef, ast.For),
    "return in loop": lambda: _inside(ast.For, ast.Return),
    "with in branch": lambda: _inside(ast.If, ast.With),
    "branch in with": lambda: _inside(ast.With, ast.If),
    "match in loop": lambda: _inside(ast.For, ast.Match),
    "loop in match": lambda: _inside(ast.Match, ast.For),
    "comprehension in comprehension": lambda: _inside(ast.ListComp, ast.ListComp),
    "comprehension with a condition": lambda: _has(lambda n: isinstance(n, ast.comprehension) and n.ifs),
    "index that is computed": lambda: _has(lambda n: isinstance(n, ast.Subscript) and isinstance(n.slice, ast.BinOp)),
    "an old name in the list that it becomes": lambda: _has(_rebinds),
}


@pytest.mark.parametrize("form", FORMS)
def test_programs_contain_each_form(form):
    assert FORMS[form]()


GOOD = """
import numpy as np

def f(x):
    y = x * 2
    y[0] = 0.5
    return np.sum(np.sin(y))

def arguments():
    return np.array([0.1, 0.4]),
"""


def test_the_judge_passes_what_is_right(tmp_path):
    modes = [*ALWAYS, *SHARE]
    verdict = judge(GOOD, 0, modes, tmp_path)
    assert [o.kind for o in verdict.outcomes] == ["ok"] * len(modes) and not verdict.failures()


def test_the_judge_notices_a_wrong_gradient_and_a_wrong_value(tmp_path, monkeypatch):
    def instead(value, gradient):
        monkeypatch.setattr(sourcead, "value_and_grad", lambda f, wrt, verify: lambda x: (value(f(x.copy())), gradient))

    instead(lambda v: v, (np.array([0.0, 2.0]),))
    assert [(o.kind, o.mode) for o in judge(GOOD, 0, ["value", "grad"], tmp_path).failures()] == [("wrong", "grad")]
    instead(lambda v: v + 1e-6, (np.array([0.0, 2 * np.cos(0.8)]),))
    assert [(o.kind, o.mode) for o in judge(GOOD, 0, ["value", "grad"], tmp_path).failures()] == [("wrong", "value")]
    instead(lambda v: v, (np.array([0.0, 2 * np.cos(0.8)]),))
    assert not judge(GOOD, 0, ["value", "grad"], tmp_path).failures()


def test_the_judge_notices_an_internal_error(tmp_path, monkeypatch):
    def broken(f, wrt, verify):
        raise KeyError("lost")

    monkeypatch.setattr(sourcead, "value_and_grad", broken)
    (outcome,) = judge(GOOD, 0, ["value", "grad"], tmp_path).outcomes
    assert outcome.kind == "internal" and "KeyError" in outcome.message


UNFIT = {"1 / 0": "Python", "abs(x[0] - 0.1)": "not smooth", "x": "not a number", "np.inf": "not finite"}


@pytest.mark.parametrize("body, why", UNFIT.items())
def test_the_judge_discards_what_cannot_be_judged(tmp_path, body, why):
    source = GOOD.replace("np.sum(np.sin(y))", body)
    assert judge(source, 0, ["value"], tmp_path).discarded.startswith(why)


LONG = """
import numpy as np

def unused(q):
    return q

def f(x):
    s = 0.0
    for k in range(3):
        s = s + np.sum(x) * k
        if s > 100:
            s = unused(s)
    y = x * 2 + np.sin(x)
    np.multiply(y, 3.0, out=y[::-1])
    return s + np.sum(y)

def arguments():
    return np.array([0.1, 0.4]),
"""


def test_the_shrinker_keeps_what_fails():
    small = shrink.shrunk(LONG, lambda text: "out=" in text)
    assert "out=" in small and "for" not in small and "unused" not in small and len(small) < 160


def test_a_sample_is_right(tmp_path):
    _sample(range(120, 135), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_a_larger_sample_is_right(tmp_path, part):
    _sample(range(2000 + 25 * part, 2025 + 25 * part), tmp_path)


def _sample(seeds, folder):
    """Judge the programs of these seeds; a refusal is right too."""
    wrong = {}
    for seed in seeds:
        failures = judge(draw(seed).source, seed, chosen(random.Random(f"modes:{seed}")), folder).failures()
        if failures:
            wrong[seed] = failures
    assert not wrong


def _task(seed, _folder):
    """Hang for the seed 1, end the process for the seed 2, and give others back."""
    if seed == 1:
        time.sleep(60)
    if seed == 2:
        os._exit(3)
    return seed


def test_a_task_that_hangs_or_ends_its_process_costs_only_itself():
    assert dict(results(range(6), _task, 2, seconds=2)) == {0: 0, 1: None, 2: None, 3: 3, 4: 4, 5: 5}


def test_a_statement_that_makes_a_sample_too_long_spoils_the_samples():
    world = World(random.Random(0), [], {"x": [1.0]}, ["x"])
    with pytest.raises(Spoiled):
        world.trial(["for _ in range(18):", "    x *= 2"])
    assert len(world.refs) < 20
