"""`backend="auto"`: which engine runs which call, by a clock of the test's own."""

import linecache
import random
import threading

import numpy as np
import pytest

pytest.importorskip("numba")

from sourcead import grad
from sourcead.backends.numba import compile as compiling
from sourcead.compile import choice
from sourcead.compile.choice import NUMBA, NUMPY, Choice, magnitude, reason_against
from sourcead.errors import BackendError
from tests.shuffled_loops import shuffled


class Engines:
    """Two engines whose calls take the times given, and the clock that shows it; `ran` are the names of those called."""

    def __init__(self, numpy, numba):
        self.takes, self.now, self.ran = {NUMPY: numpy, NUMBA: numba}, 0.0, []
        self.calls = {name: lambda name=name: self.call(name) for name in self.takes}

    def call(self, name):
        self.ran.append(name)
        times = self.takes[name]
        self.now += times[min(self.ran.count(name), len(times)) - 1] if isinstance(times, list) else times
        return name

    def chosen_after(self, calls):
        found = Choice(lambda: self.now)
        for _ in range(calls):
            found.run(self.calls, (), {})
        return found


def test_each_engine_is_timed_in_turn_and_the_faster_one_stays():
    engines = Engines(1.0, 0.9)
    found = engines.chosen_after(12)
    assert engines.ran == [NUMPY, NUMBA] * 5 + [NUMBA] * 2
    assert found.why == "Numba runs it, which takes 900 ms per call, NumPy 1 s"


@pytest.mark.parametrize(("numpy", "numba", "winner"), [(1.0, 1.2, NUMPY), (1.2, 1.0, NUMBA), (1.0, 1.0, NUMPY)])
def test_after_ten_calls_it_is_decided(numpy, numba, winner):
    assert Engines(numpy, numba).chosen_after(10).decided == winner


def test_the_first_calls_which_compile_are_not_timed():
    assert Engines([50.0, 1.0], [70.0, 0.5]).chosen_after(10).decided == NUMBA
    assert Engines([50.0, 1.0], [0.1, 1.5]).chosen_after(10).decided == NUMPY


def test_one_slow_call_decides_nothing():
    assert Engines([9.0, 0.1, 0.1, 0.1, 0.1], [9.0, 0.8, 0.08, 0.09, 0.08]).chosen_after(10).decided == NUMBA


def test_a_clear_difference_decides_early():
    engines = Engines(0.1, 0.01)
    assert engines.chosen_after(8).decided == NUMBA
    assert engines.ran == [NUMPY, NUMBA] * 3 + [NUMBA] * 2
    long = Engines(10.0, 0.01)
    assert long.chosen_after(5).decided == NUMBA
    assert long.ran == [NUMPY, NUMBA] * 2 + [NUMBA]


def test_a_call_that_raises_an_error_is_not_timed():
    found = Choice(lambda: 0.0)

    def fails():
        raise ValueError

    for _ in range(4):
        with pytest.raises(ValueError):
            found.run({NUMPY: fails, NUMBA: fails}, (), {})
    assert found.decided is None and not any(found.times.values())


def test_any_thread_may_call_while_it_is_undecided():
    engines = Engines(1.0, 0.5)
    found, results = Choice(lambda: engines.now), []
    threads = [threading.Thread(target=lambda: results.extend(found.run(engines.calls, (), {}) for _ in range(50))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == len(engines.ran) == 200 and found.decided in (NUMPY, NUMBA)


# ---- derivatives ----


def loops(x, n):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total * 0.5 + np.sin(x[i]) ** n
    return total


X = np.random.default_rng(0).normal(size=20)


@pytest.fixture
def faster_numba(monkeypatch):
    """What Numba compiles runs in the interpreter, and is said to be faster."""
    clock = {"now": 0.0}
    monkeypatch.setattr(Choice.__init__, "__defaults__", (lambda: clock["now"],))
    run = Choice.run

    def timed(self, calls, args, kwargs):
        def slowed(name, call):
            def called(*args, **kwargs):
                clock["now"] += 2.0 if name == NUMPY else 1.0
                return call(*args, **kwargs)

            return called

        return run(self, {name: slowed(name, call) for name, call in calls.items()}, args, kwargs)

    monkeypatch.setattr(Choice, "run", timed)
    with shuffled():
        yield


def test_the_notes_say_what_was_chosen_and_why(faster_numba):
    g, expected = grad(loops, backend="auto"), grad(loops)(X, 2)
    assert g.lower(X, 2).notes[-1] == 'backend="auto": no call yet'
    for _ in range(10):
        np.testing.assert_allclose(g(X, 2), expected, rtol=1e-13)
    assert g.lower(X, 2).notes[-1] == 'backend="auto": Numba runs it, which takes 1 s per call, NumPy 2 s' == g.lower().notes[-1]
    assert "for i in range" in g.lower(X, 2).compiled_text


def test_arguments_of_another_order_of_magnitude_are_measured_anew(faster_numba):
    g = grad(loops, backend="auto")
    for _ in range(10):
        g(X, 2)
    assert "Numba runs it" in g.lower(np.ones(21), 2).notes[-1]
    g(np.ones(300), 2)
    assert "both engines are timed" in g.lower(np.ones(300), 2).notes[-1]


def test_an_effect_happens_once_in_each_call(faster_numba, capsys):
    def speaks(x):
        print("once")
        total = 0.0
        for i in range(len(x)):
            total = total * x[i] + 1.0
        return total

    g = grad(speaks, backend="auto")
    for _ in range(9):
        g(X)
        assert capsys.readouterr().out == "once\n"


def test_a_function_that_is_defined_anew_or_reads_another_global_is_followed(faster_numba, monkeypatch):
    namespace = {"scale": 2.0}
    source = "def f(x):\n    t = 0.0\n    for i in range(len(x)):\n        t = scale * x[i] + 0.5 * t\n    return t\n"
    linecache.cache["<choice>"] = (len(source), None, source.splitlines(True), "<choice>")
    exec(compile(source, "<choice>", "exec"), namespace)
    g = grad(namespace["f"], backend="auto")
    for _ in range(10):
        assert g(X)[-1] == 2.0
    namespace["scale"] = 3.0
    assert g(X)[-1] == 3.0
    namespace["scale"] = np.float32(4.0)
    assert g(X)[-1] == 4.0


def test_what_numba_cannot_compile_stays_with_numpy(monkeypatch):
    def cannot(emitted, name, place, backend):
        def call(*args):
            raise BackendError("it is too hard")

        return call

    monkeypatch.setattr(compiling, "compiled", cannot)
    g, expected = grad(loops, backend="auto"), grad(loops)(X, 2)
    np.testing.assert_allclose(g(X, 2), expected)
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot: it is too hard"):
        np.testing.assert_allclose(g(X, 2), expected)
    np.testing.assert_allclose(g(X, 2), expected)
    assert g.lower(X, 2).notes[-1] == 'backend="auto": NumPy runs it: it is too hard'


def products(w, x):
    return np.sum(np.tanh(w @ x))


def draws(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * random.random() + np.random.normal()
    return total


@pytest.mark.parametrize(("f", "args", "why"), [
    (products, (np.ones((3, 3)), np.ones((3, 3))), "it has no loops"), (draws, (X,), "it draws random numbers"),
])  # fmt: skip
def test_numba_is_not_asked_where_it_gains_nothing_or_gives_other_numbers(f, args, why):
    g = grad(f, backend="auto")
    g(*args)
    assert why in g.lower(*args).notes[-1] and g.lower(*args).compiled_text is None


def test_loops_may_gain():
    assert reason_against(grad(loops).lower(X, 2).ir) is None
    assert magnitude((np.ones(9), 2)) == 1 and magnitude(([np.ones(900)] * 2, {"a": np.ones((3, 3))})) == 3
    assert choice.amount_of_time(2e-5) == "20 µs"


@pytest.mark.compiled
def test_the_engines_agree():
    g, expected = grad(loops, backend="auto"), grad(loops)(X, 2)
    for _ in range(10):
        np.testing.assert_allclose(g(X, 2), expected, rtol=1e-13)
    assert "runs it, which takes" in g.lower(X, 2).notes[-1]
