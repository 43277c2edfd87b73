"""The generated texts of chosen programs, kept beside their sources so that a change of the compiler can be read.

    python -m tests.golden           writes them all anew; read the difference before it is committed
    python -m tests.golden elman     writes those of the programs named
"""

import inspect
import re
import textwrap
from pathlib import Path

from sourcead import grad
from tests.benchmarks.numba_cases import cases
from tests.harness import quietly
from tests.programs import all_programs, rng_for

FOLDER = Path(__file__).parent

PROGRAMS = (
    "rosenbrock", "column_with_row", "three_ways", "huber", "early_returns", "a_dict_of_parameters", "lists_grow_in_a_loop",
    "dataclass_argument", "inner_functions", "assertions_and_messages", "two_variants_cross", "while_with_a_counter",
    "breaks", "return_from_inside_loops", "gradient_descent", "lorenz", "rk4", "jacobi_2d", "stencil_three_points",
    "read_modify_write", "row_view_written", "ludcmp", "cholesky_by_hand", "conjugate_gradient", "iir_filter", "hmm_forward",
    "kalman_filter", "mean_variance_deviation", "layer_norm", "attention", "lstm",
    "recurrence_with_clipped_cotangents",
)  # fmt: skip
NAMES = (*PROGRAMS, "elman")  # the last is the loss of the design page


def golden_texts(names=NAMES):
    """What each file holds: the program as it is written, and the gradient that is generated for it."""
    programs = {p.name: p for p in all_programs()}
    for name in names:
        if name == "elman":
            gradient, args = cases()["Elman"]
        else:
            p = programs[name]
            gradient, args = grad(p.function, wrt=p.wrt), p.make_args(rng_for())
        with quietly():
            text = gradient.lower(*args).text
        yield name, f"{source_of(gradient.primal)}\n\n# gradient\n\n{without_lines(text).strip()}\n"


def source_of(function):
    """The source of a function without its decorators."""
    source = textwrap.dedent(inspect.getsource(function))
    return source[re.search(r"^def ", source, re.M).start() :].strip()


def without_lines(text):
    """The text without the number of the line that the program begins at."""
    return re.sub(r"\((\w+\.py):\d+\)", r"(\1)", text)


def path_of(name):
    return FOLDER / f"{name}.txt"
