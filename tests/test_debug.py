"""`debug` names the statement, the iteration and the operands where a NaN or an infinity arose, and changes no result."""

import bdb
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from sourcead import debug, grad, hvp, jacobian, pushforward, value_and_grad
from sourcead.cli.commands import main
from sourcead.compile.structures import leaves
from sourcead.debugging.instrumented import instrumented
from sourcead.debugging.watch import fault_of
from sourcead.errors import ArgumentError
from tests.programs import all_programs, rng_for
from tests.semantics import exec_with_source


def root_of_sum(x):
    return np.sqrt(np.sum(x * x))


def logarithm_in_an_arm(x):
    y = np.where(x > 0, np.log(x), 0.0)
    return np.sum(y)


def quotient_in_a_loop(x):
    a = np.ones(5)
    for i in range(1, 5):
        a[i] = a[i - 1] / (x[i] - 2.0)
    return a[4]


def growing(x):
    total = 0.0
    for _ in range(6):
        x = np.exp(x)
        total += np.sum(x)
    return total


def shrinking(x):
    left = 3
    while left > 0:
        left -= 1
        x = x / left
    return np.sum(x)


def overflow_of_a_quotient(x):
    e = np.exp(x)
    p = e / np.sum(e)
    return -np.log(p[0])


def written_in_place(x):
    a = x * 1.0
    a[1:] /= a[:-1]
    np.multiply(a, a, out=a)
    return np.sum(a)


def of_a_list(x):
    parts = [np.log(v) for v in x]
    return sum(parts)


def helper(v):
    return 1.0 / v


def in_a_callee(x):
    return helper(x[0]) + helper(x[1])


def constant_that_is_infinite(x):
    best = np.full(3, np.inf)
    best = np.minimum(best, x)
    return np.sum(best)


CASES = {  # function: arguments, what arose first, in which sweep, a part of the user's line, the iteration
    root_of_sum: (np.zeros(2), "infinity", "reverse", "np.sqrt(np.sum(x * x))", ()),
    logarithm_in_an_arm: (np.array([0.0, 1.0]), "NaN", "reverse", "np.log(x)", ()),
    quotient_in_a_loop: (np.array([1.0, 1, 1, 2, 1]), "infinity", "forward", "a[i - 1] / (x[i] - 2.0)", (("i", 3),)),
    growing: (np.array([0.1, 1.0]), "infinity", "forward", "x = np.exp(x)", (("iteration", 3),)),
    shrinking: (np.ones(2), "infinity", "forward", "x = x / left", (("left", 1),)),
    overflow_of_a_quotient: (np.array([1.0, 800.0]), "infinity", "forward", "e = np.exp(x)", ()),
    written_in_place: (np.array([1.0, 0.0, 2.0]), "infinity", "forward", "a[1:] /= a[:-1]", ()),
    of_a_list: ([np.float64(1.0), np.float64(0.0)], "infinity", "forward", "np.log(v)", None),
    in_a_callee: (np.array([1.0, 0.0]), "infinity", "forward", "1.0 / v", ()),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_where_it_arose(function):
    x, what, sweep, line, iteration = CASES[function]
    with np.errstate(all="ignore"):
        found = debug(value_and_grad(function))(x)
    first = found.first.first
    assert not found.finite and (first.what, first.sweep) == (what, sweep), found
    assert line in first.at.text, found
    assert iteration is None or first.iteration == iteration, found
    assert first.expression.replace(" ", "") in found.text.split("\n")[first.line - 1].replace(" ", ""), found
    assert first.expression in str(found) and f"line {first.line} of the generated text" in str(found)


def test_operands_are_told_at_the_element():
    found = debug(grad(logarithm_in_an_arm))(np.array([1.0, 0.0]))
    assert found.first.index == (1,)
    assert ("x", "0", "") in found.first.operands, found


def test_a_residual_is_told_with_the_line_that_saved_it():
    def f(x, n):
        for _ in range(n):
            x = np.sqrt(np.sin(x)) * x
        return np.sum(x)

    found = debug(grad(f))(np.array([1.0, np.pi / 2, 0.0]), 2)
    first = found.first.first
    assert first.sweep == "reverse" and any("saved in line" in told for *_, told in first.operands), found


def test_what_does_not_reach_the_result_is_told_as_such():
    def f(x):
        low = 1.0 / x  # infinite, and never read
        return np.sum(x * x) + 0.0 * np.size(low)

    def masked(x):
        return np.sum(np.where(x > 0, 3.0 * x, np.exp(800.0 + np.floor(x))))

    assert debug(grad(f))(np.array([0.0, 1.0])).finite
    found = debug(value_and_grad(masked))(np.array([1.0, 2.0]))
    assert found.finite and found.first is None and "did not reach" in str(found)
    assert found.found[0].what == "infinity" and "np.exp" in found.found[0].at.text


def test_constants_that_are_infinite_did_not_arise():
    found = debug(grad(constant_that_is_infinite))(np.arange(3.0))
    assert found.finite and not found.found and str(found).startswith("All is finite")


def test_an_argument_that_is_not_finite():
    found = debug(grad(lambda p: np.sum(p["w"] ** 2)))({"w": np.array([1.0, np.nan])})
    assert found.first.expression == "p['w']" and found.first.index == (1,) and found.first.at is None


@pytest.mark.parametrize("backend", ["numpy", "numba", "auto"])
def test_of_every_engine_the_text_for_numpy_runs(backend):
    assert debug(grad(root_of_sum, backend=backend))(np.zeros(2)).first.first.what == "infinity"


def test_in_forward_mode_and_to_second_order():
    assert debug(pushforward(root_of_sum))(np.zeros(2), np.ones(2)).first.sweep == "forward"
    assert not debug(hvp(root_of_sum))(np.zeros(2), np.ones(2)).finite


def test_what_is_no_derivative_is_refused():
    with pytest.raises(ArgumentError, match="given the function itself") as error:
        debug(root_of_sum)
    assert "debug(grad(root_of_sum))(...)" in str(error.value)


def test_a_method_and_a_recursion():
    class Model:
        w = np.array([0.0, 1.0])

        @grad
        def loss(self, x):
            return np.sum(x / self.w)

    assert debug(Model().loss)(np.ones(2)).first.first.index == (0,)

    def halved(x, n):
        return np.sum(x) if n == 0 else halved(x / (n - 2.0), n - 1)

    first = debug(grad(halved))(np.ones(2), 4).first.first
    assert first.expression != "pullback(1.0)" and "n - 2.0" in first.at.text


def test_a_jacobian_is_refused_as_what_it_is():
    with pytest.raises(ArgumentError, match="a Jacobian") as error:
        debug(jacobian(root_of_sum))
    assert "debug(grad(root_of_sum))(...)" in str(error.value)


def test_on_the_command_line(tmp_path, capsys):
    (tmp_path / "m.py").write_text("import numpy as np\ndef f(x):\n    return np.sum(np.sqrt(x))\n")
    assert main(["debug", f"{tmp_path}/m.py:f", "--args", "np.array([1.0, 0.0])"]) == 1
    assert "m.py:3" in capsys.readouterr().out
    assert main(["debug", f"{tmp_path}/m.py:f", "--args", "np.array([1.0, 2.0])"]) == 0


@pytest.mark.parametrize("every, begin", [(70, 0), *(pytest.param(8, k, marks=pytest.mark.long) for k in range(8))])
def test_results_stay_bit_for_bit_what_they_are(every, begin):
    compared = 0
    for p in [p for p in all_programs() if p.level == "basic"][begin::every]:
        gradient = grad(p.function, p.wrt)
        with np.errstate(all="ignore"):
            expected = leaves(gradient(*p.make_args(rng_for())))
            found = debug(gradient)(*p.make_args(rng_for()))
        assert len(expected) == len(leaves(found.result))
        for (where, one), (_, other) in zip(expected, leaves(found.result), strict=True):
            assert np.array_equal(one, other, equal_nan=True), f"{p.name}{where}"
        assert found.finite == all(fault_of(leaf) is None for _, leaf in expected), f"{p.name}: {found}"
        assert found.finite or found.first is not None
        compared += 1
    assert compared > 5


def test_the_page_shows_what_runs(capsys):
    page = (Path(__file__).parents[1] / "docs" / "debugging.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec_with_source(block, {})
        shown = re.sub(r"in the adjoint of .+", "in the adjoint of model.py:7", capsys.readouterr().out)
        for part in re.split(r"\n +\^+\n", shown):  # carets stand where a file of the source is there
            assert part.strip() in page


def test_lines_stay_where_they_are():
    text = "def f(a):\n    b = [v * 2 for v in a]\n    while b:\n        a += b.pop()\n    return a\n"
    code = instrumented(text, "<text>").code
    (inner,) = [c for c in code.co_consts if inspect.iscode(c)]
    assert {line for *_, line in inner.co_lines() if line} >= {2, 3, 4, 5}


def test_a_debugger_steps_through_the_generated_text():
    gradient = grad(quotient_in_a_loop)
    gradient(np.linspace(3, 4, 5))

    class Steps(bdb.Bdb):
        lines = ()

        def user_line(self, frame):
            import linecache

            if frame.f_code.co_filename.startswith("<sourcead quotient_in_a_loop"):
                self.lines += (linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip(),)
            self.set_step()

    steps = Steps()
    steps.runcall(gradient, np.linspace(3, 4, 5))
    assert {line.partition("#")[0].strip() for line in steps.lines} & {line.strip() for line in gradient.source.split("\n")}
    assert any(line.startswith("for i in range(") for line in steps.lines)
