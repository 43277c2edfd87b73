"""Classes and functions that were compiled from Python, in the standard library or by mypyc, are differentiated by their source."""

import copy
import statistics
import sys
import types
import uuid

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.errors import SourceADError

SOURCE = """
import copy
import math

class Score:
    def __init__(self, mean, width=2.0):
        self.mean, self.width = mean, width

    def against(self, other):
        if not isinstance(other, Score):
            return 0.0
        return math.tanh((self.mean - other.mean) / math.hypot(self.width, other.width))

class Model:
    width = 3.0

    def score(self, mean):
        return Score(mean, self.width)

    @staticmethod
    def spread(scores):
        return sum(copy.copy(s).width ** 2 for s in scores)
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A module as mypyc leaves it: a compiled file with its source beside it, and classes whose methods have no text."""
    (tmp_path / "scores.py").write_text(SOURCE)
    (tmp_path / "scores.so").write_bytes(b"...__mypyc...")
    module = types.ModuleType("scores_of_mypyc")
    module.__file__ = str(tmp_path / "scores.so")
    exec(compile(SOURCE, "<compiled>", "exec"), vars(module))
    for cls in (module.Score, module.Model):
        cls.__mypyc_attrs__ = ()
    monkeypatch.setitem(sys.modules, "scores_of_mypyc", module)
    return module


def test_class_that_mypyc_compiled(compiled):
    Model, classes = compiled.Model, {"score": (int, compiled.Score)}

    def f(x):
        model = Model()
        a, b = model.score(x[0]), compiled.Model().score(x[1])
        return a.against(b) * Model.spread([a, b]) + x[0] * isinstance(b, compiled.Score) + x[1] * isinstance(b, classes["score"])

    check_grads(f, (np.array([0.4, 1.1]),))


def test_class_imported_where_it_is_used(compiled):
    def f(x):
        from scores_of_mypyc import Model, Score

        one = Model().score(x)
        return one.against(Score(2.0)) if type(one) is Score else 0.0 * x

    check_grads(f, (0.7,))


def test_compiled_class_without_source_is_refused(compiled, tmp_path):
    (tmp_path / "scores.py").unlink()
    with pytest.raises(SourceADError):
        grad(lambda x: compiled.Model().score(x).mean)(1.0)


NORMAL, OTHER = statistics.NormalDist(), statistics.NormalDist(0.3, 1.7)
PROGRAMS = {
    "probability": lambda x: NORMAL.cdf(x[0]) * OTHER.cdf(x[1]),
    "density": lambda x: NORMAL.pdf(x[0] - x[1]) + OTHER.pdf(x[1] ** 2),
    "quantile": lambda x: NORMAL.inv_cdf(0.5 + 0.2 * x[0]) + OTHER.inv_cdf(0.03 * x[1]),
    "made in the function": lambda x: statistics.NormalDist(x[0], x[1]).cdf(1.2) + statistics.NormalDist(mu=x[1]).inv_cdf(0.3),
    "scaled": lambda x: (statistics.NormalDist(x[0], 0.7) * x[1] + 2.0).zscore(0.5),
    "its numbers": lambda x: OTHER.mean * x[0] + statistics.NormalDist(x[0], x[1]).variance,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_normal_distribution(name):
    check_grads(PROGRAMS[name], (np.array([0.4, 1.1]),))


class Player:
    """An object with a name of its own, which says itself how it is copied."""

    def __init__(self, level, history=()):
        self.id = uuid.uuid4().hex.lower()
        self.level, self.history = level, list(history)

    def __deepcopy__(self, memo):
        made = Player(self.level * 1.0, self.history)
        made.id = self.id
        return made


def test_unique_names_carry_no_derivative():
    value, gradient = value_and_grad(lambda x: Player(x * 2).level ** 2)(1.5)
    assert (value, gradient) == (9.0, 12.0)


def test_object_that_says_itself_how_it_is_copied():
    def f(x):
        team = [Player(x[0], [x[1]]), Player(x[1])]
        other = copy.deepcopy(team)
        for player in other:
            player.level = player.level**2
        other[0].history.append(3.0)
        return sum(a.level * b.level for a, b in zip(team, other)) + len(team[0].history)

    check_grads(f, (np.array([0.4, 1.1]),))


def test_object_that_is_copied_deeply_is_copied_once():
    def f(x):
        player = Player(x)
        one, other = copy.deepcopy([player, player])
        one.level = one.level * 3.0
        return other.level + player.level

    check_grads(f, (0.7,))
    assert grad(f)(0.7) == 4.0


class Remembering:
    def __init__(self, parts):
        self.parts = parts

    def __deepcopy__(self, memo):
        return Remembering(copy.deepcopy(self.parts, memo))


def test_copy_that_asks_what_was_copied_before_is_refused():
    def f(x):
        shared = [x]
        one, other = copy.deepcopy([Remembering(shared), shared])
        one.parts[0] = one.parts[0] * 2.0
        return other[0]

    with pytest.raises(SourceADError):
        grad(f)(0.7)
