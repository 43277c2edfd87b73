"""The judge of small programs: value and derivatives beside Python's own value and central differences.

A program that sourcead refuses is refused with an error of `sourcead.errors`; everything else it must do as Python does.
"""

import copy
import linecache
import textwrap

import numpy as np

from sourcead import jvp, value_and_grad, vjp
from sourcead.errors import SourceADError

STEP = 1e-5


def moved(args, position, index, by):
    """Copies of the arguments, one element of one of them moved."""
    args = copy.deepcopy(list(args))
    if isinstance(args[position], np.ndarray):
        args[position][index] += by
    else:
        args[position] += by
    return args


def differences(f, args, position=0):
    """The derivative of `f` by one argument, an array or a number, by central differences."""
    found = np.zeros(np.shape(args[position]))
    for index in np.ndindex(found.shape):
        ahead, behind = (float(f(*moved(args, position, index, by))) for by in (STEP, -STEP))
        found[index] = (ahead - behind) / (2 * STEP)
    return found


def judged(f, *args):
    """"right" or "refused"; fails with both results if the value or a derivative is wrong, or if an internal error comes out."""
    expected, slope = float(f(*copy.deepcopy(args))), differences(f, args)
    try:
        value, gradient = value_and_grad(f, verify=False)(*args)
    except SourceADError:
        return "refused"
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12, err_msg="value")
    np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6, err_msg="gradient")
    return "right"


def judged_in_all_modes(f, *args):
    """As `judged`, and jvp and vjp agree with it."""
    found = judged(f, *args)
    if found == "right":
        slope = differences(f, args)
        direction = np.cos(np.arange(slope.size, dtype=float)).reshape(slope.shape)[()]
        try:
            _, tangent = jvp(f, args, (direction, *[None] * (len(args) - 1)), verify=False)
            _, pullback = vjp(f, *args, wrt=0, verify=False)
        except SourceADError:
            return found
        np.testing.assert_allclose(tangent, np.sum(slope * direction), rtol=1e-5, atol=1e-6, err_msg="jvp")
        for _ in range(2):
            np.testing.assert_allclose(pullback(np.float64(2.0)), 2 * slope, rtol=1e-5, atol=1e-6, err_msg="vjp")
    return found


def program_of(lines, **names):
    """The program `f(x)` of these lines, with its source where the compiler finds it; `names` are its globals beside `np`."""
    text = "def f(x):\n " + "\n ".join(lines) + "\n"
    name = f"<program {abs(hash(text))}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    found = {"np": np, **names}
    exec(compile(text, name, "exec"), found)
    return found["f"]


def made(body, parameters="x", **names):
    """A function `f` with this body, indented in any way, with its source where the compiler finds it."""
    exec_with_source(f"def f({parameters}):\n{textwrap.indent(textwrap.dedent(body).strip(chr(10)), '    ')}\n", names)
    return names["f"]


def exec_with_source(text, names):
    """Run a text in these globals, with the text where the compiler finds it."""
    file = f"<made {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
