"""Runs one random program through sourcead and central differences, and makes a failing one smaller.

A program is judged only if central differences can judge it: it runs, its value is moderate and the same twice, and its
derivative is the same at two step sizes and from both sides. The rest is the corpus's own harness.
"""

import ast
import copy
import importlib.util
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from tests.fuzz.generate import generate
from tests.harness import Outcome, check_itself, check_program, last_frame, quietly, time_limit
from tests.programs import Program, rng_for

_folder = tempfile.TemporaryDirectory(prefix="sourcead-fuzz-")
_loaded = 0


def load(text, name="fuzzed"):
    """The `Program` of a module's text, imported from a file of its own so that its source can be read."""
    global _loaded
    _loaded += 1
    path = Path(_folder.name) / f"{name}_{_loaded}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return Program(
        name,
        module.program,
        lambda rng: module.make_args(),
        wrt=module.WRT,
        level="python",
        tolerance=1e-2 if "float32" in text else None,
        theme="fuzz",
    )


def unload():
    """Forget the loaded modules and their files."""
    for name in [n for n in sys.modules if n.startswith("fuzzed_")]:
        del sys.modules[name]
    for path in Path(_folder.name).glob("*.py"):
        path.unlink()


def unjudgeable(p, seconds=5):
    """Why central differences cannot judge this program, or None; one that runs longer is not judged."""
    try:
        with time_limit(seconds), quietly():
            value = p.function(*p.make_args(None))
            if not np.isfinite(value) or abs(value) > 1e6:
                return "large"
            faults, largest = check_itself(p, rng_for(), 0)
    except Exception as error:
        return f"raises {type(error).__name__}"
    if largest > 1e6:
        return "large"
    return faults[0].partition(": ")[2].partition(",")[0].partition(" of ")[0] if faults else None


def judge(text):
    """(Outcome or None, why there is none) of one program text."""
    p = load(text)
    reason = unjudgeable(p)
    return (None, reason) if reason else (check_program(p, rng_for(), seconds=20), None)


def signature(outcome):
    """What makes two failures the same to the shrinker and in the report."""
    if outcome.status == "internal":
        return ("internal", type(outcome.error).__name__, last_frame(outcome.error))
    if outcome.status == "refused":
        return ("refused", type(outcome.error).__name__)
    words = "".join(c if c.isalpha() else " " for c in outcome.detail).split()
    kind = (
        "value"
        if "value_and_grad" in outcome.detail
        else "number"
        if "differences" in outcome.detail
        else " ".join(words)
    )
    return (outcome.status, kind)


# ------------------------------------------------------------------------------------------------------------- smaller


def bodies(tree):
    """Every list of statements below the module's functions."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                yield node, field, block


def statement_edits(tree):
    """Edits that take one statement away, put its body in its place, or drop a helper; each returns a new tree."""
    places = [(i, j) for i, (_, _, block) in enumerate(bodies(tree)) for j in range(len(block))]

    def edit(i, j, keep):
        made = copy.deepcopy(tree)
        node, field, block = list(bodies(made))[i]
        inner = getattr(block[j], "body", None)
        if keep and (not isinstance(inner, list) or isinstance(block[j], ast.FunctionDef)):
            return None
        block[j : j + 1] = inner if keep else []
        if not block and field == "body":
            block.append(ast.Pass())
        return made

    def without_helper(j):
        made = copy.deepcopy(tree)
        del made.body[j]
        return made

    helpers = [
        j for j, node in enumerate(tree.body) if getattr(node, "name", None) not in (None, "program", "make_args")
    ]
    return [partial(without_helper, j) for j in helpers] + [
        partial(edit, i, j, keep) for i, j in reversed(places) for keep in (False, True)
    ]


def replaceable(root):
    """(parent, field, position in the field or None, expression) for each expression that a part of it could replace."""
    for parent in ast.walk(root):
        if isinstance(parent, ast.Subscript):
            continue
        for field, value in ast.iter_fields(parent):
            for k, item in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(item, (ast.BinOp, ast.Call, ast.IfExp, ast.UnaryOp, ast.BoolOp)) and field not in (
                    "func",
                    "targets",
                ):
                    yield parent, field, k if isinstance(value, list) else None, item


def parts(node):
    """The expressions right below an expression, without the name of the function that it calls."""
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr) and c is not getattr(node, "func", None)]


def expression_edits(tree):
    """Edits that put a part of an expression of the program in the expression's place; each returns a new tree."""
    at = next(i for i, n in enumerate(tree.body) if getattr(n, "name", "") == "program")

    def edit(number, part):
        made = copy.deepcopy(tree)
        parent, field, k, item = list(replaceable(made.body[at]))[number]
        if k is None:
            setattr(parent, field, parts(item)[part])
        else:
            getattr(parent, field)[k] = parts(item)[part]
        return made

    return [
        partial(edit, number, part)
        for number, (_, _, _, item) in enumerate(replaceable(tree.body[at]))
        for part in range(len(parts(item)))
    ]


def smaller(text, wanted, seconds=30):
    """The smallest text found that still fails in the way `wanted`, by taking away statements and parts of expressions."""
    until = time.monotonic() + seconds
    best = ast.unparse(ast.parse(text))
    before = None
    while best != before and time.monotonic() < until:
        before = best
        for edits_of in (statement_edits, expression_edits):
            at = 0
            while at < len(edits := edits_of(ast.parse(best))) and time.monotonic() < until:
                tree = edits[at]()
                candidate = ast.unparse(tree) if tree is not None else best
                if len(candidate) < len(best) and still_fails(candidate, wanted):
                    best = candidate
                else:
                    at += 1
    return best


ENDLESS = 0.3  # seconds; a loop without its counter is a frequent smaller text


def still_fails(text, wanted):
    """Whether a text is a program that fails as wanted; only a wrong number needs central differences to be sure."""
    try:
        p = load(text)
        if wanted[0] != "wrong":
            with time_limit(ENDLESS), quietly():
                float(p.function(*p.make_args(None)))
        elif unjudgeable(p, ENDLESS):
            return False
        return signature(check_program(p, rng_for(), seconds=10)) == wanted
    except Exception:  # the smaller text is no program at all
        return False


def run(seeds, on_failure=None, until=None):
    """Judge the programs of these seeds.

    Args:
        seeds: the programs' seeds.
        on_failure: called with (seed, text, outcome) for each program that is wrong or crashes the compiler.
        until: a `time.monotonic()` after which no program is begun.

    Returns:
        (counts by signature and by reason of discarding, failures as (seed, text, Outcome)).
    """
    counts, failures = {}, []
    for seed in seeds:
        if until is not None and time.monotonic() > until:
            break
        text = generate(seed)
        outcome, reason = judge(text)
        if outcome is None:
            key = ("unjudged", reason)
        elif outcome.status == "right":
            key = ("right",)
        else:
            key = signature(outcome)
        counts[key] = counts.get(key, 0) + 1
        if outcome is not None and outcome.status in ("wrong", "internal"):
            failures.append((seed, text, outcome))
            if on_failure:
                on_failure(seed, text, outcome)
        if _loaded % 200 == 0:
            unload()
    return counts, failures


__all__ = ["Outcome", "generate", "judge", "load", "run", "signature", "smaller", "unjudgeable"]
