"""What surprised those who used the package for the first time, each as they wrote it."""

import collections
import sys
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

from sourcead import SourceADError, check_grads, grad, value_and_grad, vjp
from sourcead.errors import ArgumentError, FileError, NoRuleError
from sourcead.nn import optimisers
from sourcead.nn.training import fit


def running_means(x, n):
    window, total = collections.deque(maxlen=n), 0.0
    for item in x:
        window.append(item)
        total += (sum(window) / len(window)) ** 2
    return total


def test_a_window_of_a_length_that_is_an_argument_is_differentiated():
    for n in (1, 3, 8):
        check_grads(running_means, (np.arange(5.0), n))


def with_slots(p):
    class Spring:
        __slots__ = ("k", "x")
        __match_args__ = ("k", "x")

        def __init__(self, k, x):
            self.k, self.x = k, x

    spring = Spring(p[0], p[1])
    spring.x *= 2
    match spring:
        case Spring(k, x):
            return k * x**2


def test_a_class_inside_a_function_may_have_slots():
    check_grads(with_slots, ([2.0, 3.0],))


def test_slots_that_are_a_list_are_refused_with_what_to_write():
    def f(x):
        class Holder:
            __slots__ = ["x"]

            def __init__(self, x):
                self.x = x

        return Holder(x).x

    with pytest.raises(SourceADError, match=r'a tuple of names, `__slots__ = \("a", "b"\)`'):
        grad(f)(2.0)


def test_a_loop_over_nditer_is_refused_with_a_reason_and_what_to_write():
    def f(x):
        total = 0.0
        for item in np.nditer(x):
            total += item**2
        return total

    with pytest.raises(SourceADError, match=r"gives views that .*\n.*nditer\(x\).*\n.*\nWrite instead: `for x in a.flat`"):
        grad(f)(np.ones(3))


def shown(f, x):
    with pytest.raises(SourceADError) as caught:
        grad(f)(x)
    _, line, carets, *_ = str(caught.value).splitlines()
    return line[carets.index("^") : carets.rindex("^") + 1]


def test_an_error_found_while_differentiating_marks_the_expression_and_not_the_statement():
    def f(x):
        y = 3.0 * np.sum(x) + np.sum(np.i0(x)) * 2.0
        return y

    def g(x):
        return np.sum(x) + np.sum(np.cov(x * 2.0, dtype=float))

    def h(x):
        return inner(x, np.sum(x) + np.i0(x))

    def inner(x, y):
        return np.sum(y) + x[0]

    assert shown(f, np.ones(3)) == "np.i0(x)"
    assert shown(g, np.ones(3)) == "np.cov(x * 2.0, dtype=float)"
    assert shown(h, np.ones(3)) == "np.i0(x)"


def test_the_innermost_expression_is_marked_inside_a_call():
    def f(x):
        return 2.0 * np.sum(x) + np.sum(x.summ)

    assert shown(f, np.ones(3)) == "x.summ"


def test_a_matrix_is_refused_with_what_to_use():
    with pytest.raises(NoRuleError, match="plain arrays: use np.array"):
        grad(lambda x: (np.matrix(x) * np.matrix(x).T)[0, 0])(np.ones(2))


X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.ones(20)


@value_and_grad
def line(p, x, y):
    return np.mean((x @ p["w"] + p["b"] - y) ** 2)


@pytest.mark.parametrize("update", [optimisers.sgd, optimisers.adam, optimisers.adamw, optimisers.rmsprop])
def test_a_parameter_without_axes_is_trained_like_one_with_one_axis(update):
    found = []
    for b in (np.array(0.0), np.zeros(1)):
        parameters = {"w": np.zeros(3), "b": b}
        fit(line, parameters, (X, Y), epochs=2, batch=5, rate=0.1, update=update, progress=False)
        assert parameters["b"] is b
        found.append(float(b.reshape(())))
    assert found[0] == pytest.approx(found[1]) and found[0] > 0.0


def test_a_parameter_that_is_a_number_is_refused_with_what_to_write():
    with pytest.raises(TypeError, match=r"\['b'\] is no array but 0.0, .*: write np.array\(0.0\)"):
        fit(line, {"w": np.zeros(3), "b": 0.0}, (X, Y), epochs=1, batch=5, progress=False)


def test_data_of_different_lengths_are_refused_before_the_first_epoch(capsys):
    with pytest.raises(ArgumentError, match="different lengths: 20, 3"):
        fit(line, {"w": np.zeros(3), "b": np.zeros(1)}, (X, Y[:3]), epochs=1, batch=5)
    assert capsys.readouterr().err == ""


def test_an_error_of_fit_shows_one_frame_of_the_package(tmp_path):
    with pytest.raises(FileError) as caught:
        fit(line, {"w": np.zeros(3), "b": np.zeros(1)}, (X, Y), epochs=1, batch=5, checkpoint=tmp_path / "no" / "run.npz")
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 2


def test_a_large_loss_is_shown_in_few_digits(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)  # as in a notebook, where somebody sees it
    huge = value_and_grad(lambda p, x, y: 1e50 * np.mean((x @ p["w"] - y) ** 2))
    fit(huge, {"w": np.zeros(3)}, (X, Y), epochs=1, batch=5, rate=1e-60)
    assert "loss 1e+50" in "".join(capsys.readouterr())


class Counted:
    calls = 0


def test_an_assignment_to_what_outlives_the_call_is_one_in_the_text():
    @grad
    def f(x):
        Counted.calls += 1
        return x**2

    assert f(3.0) == 6.0 and Counted.calls == 1
    assert "Counted.calls = calls" in f.source and "setattr" not in f.source


def totals(pairs):
    found = collections.defaultdict(float)
    for key, value in pairs:
        found[key] += value**2
    return found["a"] * found["b"]


PAIRS = [("a", 1.0), ("b", 2.0), ("a", 3.0)]


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=pytest.mark.compiled)])
def test_a_defaultdict_of_numbers_is_differentiated_and_compiled(backend):
    if backend == "numba":
        pytest.importorskip("numba")
    assert [d for _, d in grad(totals, backend=backend)(PAIRS)] == [8.0, 40.0, 24.0]


def test_a_text_that_is_asked_for_before_a_call_and_refused_says_that_no_call_was_made():
    gradient = grad(totals)
    with pytest.raises(SourceADError, match=r"before a call, the types of the arguments are not known\)") as caught:
        gradient.source  # noqa: B018 (a property that compiles)
    assert caught.value.instead.startswith("`.lower(pairs).text` with arguments, or call it first")
    assert "found[" in gradient.lower(PAIRS).text


def test_a_counter_of_what_a_generator_yields_is_lowered():
    def f(x):
        counts = collections.Counter(int(v) for v in x)
        return sum(counts[int(v)] * v for v in x)

    np.testing.assert_array_equal(grad(f)(np.array([1.2, 1.4, 2.6])), [2.0, 2.0, 1.0])


def test_a_pullback_says_what_it_takes():
    _, pullback = vjp(lambda x: x**2, 3.0)
    assert repr(pullback).startswith("<pullback: takes a cotangent with the structure of the value")


def test_the_text_for_a_cell_of_a_notebook_names_the_cell(monkeypatch):
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]") if file == __file__ else None))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    def f(x):
        return x**2

    assert f"Gradient of f (Cell In[3], line {f.__code__.co_firstlineno}) with respect" in grad(f).lower(2.0).text
