"""Writes a program that fails as a module of its own, and makes it smaller as long as it fails in the same way.

    python -m tests.metamorphic.shrink FILE            of what `--write` wrote: one small program for each kind of failure
    python -m tests.metamorphic.shrink FILE --status "refused more"
"""

import argparse
import ast
import inspect
import json
import sys
import textwrap
import time
import types
from pathlib import Path

import numpy as np

from tests.fuzz.check import expression_edits, load, statement_edits, unload
from tests.harness import quietly, time_limit
from tests.metamorphic.judge import described, off_from_differences, python_value, run, template, value_fits
from tests.metamorphic.trees import all_names, parameter_names
from tests.metamorphic.work import find
from tests.programs import rng_for


def literal(value):
    """The text of an argument, or an exception if it has none."""
    if isinstance(value, np.ndarray):
        kind = "" if value.dtype in (np.float64, np.int64, bool) else f", dtype=np.{value.dtype}"
        return f"np.array({np.round(value, 3).tolist()!r}{kind})"
    if isinstance(value, np.generic):
        return f"np.{value.dtype}({value.item()!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if type(value) in (list, tuple):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if value else "()"
    if isinstance(value, (int, float, str, bool, type(None))):
        return repr(value)
    raise ValueError(f"{value!r} has no text")


def of_drawn(title, value, program):
    """The text that defines a name of a random program's module."""
    try:
        if isinstance(value, (type, types.FunctionType)):
            return textwrap.dedent(inspect.getsource(value))
        return f"{title} = {literal(value)}"
    except (OSError, ValueError):
        return f"from tests.metamorphic.work import find\n{title} = find({program!r}).function.__globals__[{title!r}]"


def imports(names, p):
    """The statements that give a module the names that it reads of another."""
    made, scope = ["import numpy as np"], p.function.__globals__
    for one in sorted(names & set(scope) - {"np"}):
        found = scope[one]
        if isinstance(found, types.ModuleType):
            made.append(f"import {found.__name__} as {one}")
        elif getattr(found, "__module__", "").startswith(("sourcead", "functools", "types", "typing", "dataclasses", "collections")):
            made.append(f"from {found.__module__} import {found.__name__} as {one}")
        elif p.theme:
            made.append(f"from tests.programs.{p.theme} import {one}")
        else:
            made.append(of_drawn(one, found, p.name))
    return made


def standalone(pair):
    """The text of a module with the rewritten program of a pair, in the form that `tests.fuzz` reads."""
    p = find(pair["program"])
    tree, title = ast.parse(pair["text"]), p.function.__name__
    hidden = {n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and title in parameter_names(f) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == title:
            node.name = "program"
        elif isinstance(node, ast.Name) and node.id == title and node not in hidden:
            node.id = "program"
    defined = {getattr(s, "name", None) for s in tree.body}
    lines = imports(all_names(tree) - defined - {title}, p)
    args = p.make_args(rng_for())
    try:
        made = literal(tuple(args))
    except ValueError:
        lines += ["from tests.metamorphic.work import find", "from tests.programs import rng_for"]
        made = f"find({p.name!r}).make_args(rng_for())"
    return "\n".join([*lines, f"WRT = {p.wrt!r}", f"def make_args():\n    return {made}", ast.unparse(tree)])


def failure(text):
    """How a module's program fails: a status and a template; None if it does not or is no program."""
    try:
        with time_limit(30), quietly():
            p = load(text)
            args = p.make_args(None)
            expected = python_value(p.function, args)
            if isinstance(expected, Exception) or not np.isfinite(expected) or np.shape(expected):
                return None
            made = run(p.function, p.wrt, args)
            if made.status != "ran":
                return made.status, template(described(made.error)), described(made.error)
            if not value_fits(made.value, expected):
                return "wrong", "value", f"the value is {made.value!r}, under Python {expected!r}"
            off = off_from_differences(p, p.function, args, made.gradients)
            return ("wrong", "gradient", off) if off else None
    except Exception:
        return None


def smaller(text, seconds):
    """The smallest text found that fails in the same way."""
    found = failure(text)
    wanted, until = found and found[:2], time.monotonic() + seconds
    best, before = ast.unparse(ast.parse(text)), None
    while wanted and best != before and time.monotonic() < until:
        before = best
        for edits_of in (statement_edits, expression_edits):
            at = 0
            while at < len(edits := edits_of(ast.parse(best))) and time.monotonic() < until:
                tree = edits[at]()
                candidate = ast.unparse(tree) if tree is not None else best
                if len(candidate) < len(best) and (failure(candidate) or ("",))[:2] == wanted:
                    best = candidate
                else:
                    at += 1
        unload()
    return best, found


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.metamorphic.shrink", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--status", default="wrong,internal,slow")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--each", type=int, default=1, help="how many programs for each kind of failure")
    options = parser.parse_args(argv)
    seen = {}
    for line in options.file.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        key = pair["status"], template(pair["detail"])
        if pair["status"] not in options.status.split(",") or not pair["text"] or seen.get(key, 0) >= options.each:
            continue
        seen[key] = seen.get(key, 0) + 1
        text, found = smaller(standalone(pair), options.seconds)
        print(f"\n# ==== {pair['program']} {'+'.join(pair['rewrites'])}: {pair['status']}: {pair['detail']}")
        print(f"# {found and found[2]}".replace("\n", "\n# ") + f"\n{text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
