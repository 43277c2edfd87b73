"""Making a failing program smaller while it fails in the same way."""

import ast
import copy
import tempfile

from tests.random_python.judge import judge
from tests.random_python.pool import results

TRIES = 600  # candidates for one program
NUMBER, VECTOR = ast.parse("0.5", mode="eval").body, ast.parse("np.ones(2)", mode="eval").body


def shrunk(source, fails, tries=TRIES):
    """Return a smaller program for which `fails(source)` holds: fewer statements, simpler expressions."""
    left = [tries]
    best, changed = ast.unparse(ast.parse(source)), True
    if not fails(best):
        return source
    while changed and left[0] > 0:
        changed = False
        for passes in (_without_statements, _flattened, _with_less):
            best, better = _greedy(best, passes, fails, left)
            changed = changed or better
    return best


def _greedy(best, candidates, fails, left):
    """Take each candidate that still fails; return the result and whether there was one."""
    better, at = False, 0
    while left[0] > 0:
        found = False
        for k, text in enumerate(candidates(best)):
            if k < at:
                continue
            left[0] -= 1
            if len(text) < len(best) and fails(text):
                best, better, found, at = text, True, True, k
                break
            if left[0] <= 0:
                break
        if not found:
            return best, better
    return best, better


def _bodies(tree):
    """Return each list of statements in a tree."""
    return [body for node in ast.walk(tree) for field in ("body", "orelse", "finalbody", "handlers", "cases")
            if isinstance(body := getattr(node, field, None), list)]


def _without_statements(text):
    """Yield the program without each run of statements, from the end, long runs first."""
    tree = ast.parse(text)
    for length in (6, 3, 1):
        for b, body in reversed(list(enumerate(_bodies(tree)))):
            for k in range(len(body) - length, -1, -1):
                smaller = copy.deepcopy(tree)
                inner = _bodies(smaller)[b]
                if any(isinstance(s, ast.FunctionDef) and s.name in ("f", "arguments") for s in inner[k:k + length]):
                    continue
                inner[k:k + length] = [] if len(inner) > length or not isinstance(inner[k], ast.stmt) else [ast.Pass()]
                yield from _text(smaller)


def _text(tree):
    """Yield the text of a tree if it is a program."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        ast.parse(text)
    except Exception:
        return
    yield text


def _flattened(text):
    """Yield the program with the bodies of each compound statement in its place."""
    tree = ast.parse(text)
    for b, body in enumerate(_bodies(tree)):
        for k, statement in enumerate(body):
            if not isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                continue
            for field in ("body", "orelse", "finalbody"):
                if getattr(statement, field, None):
                    smaller = copy.deepcopy(tree)
                    _bodies(smaller)[b][k:k + 1] = copy.deepcopy(getattr(statement, field))
                    yield from _text(smaller)


def _is_read(node):
    return isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def _expressions(tree):
    """Return the places of expressions: the node, the field and the position in a list."""
    places = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if _is_read(value):
                places.append((node, field, None))
            elif isinstance(value, list):
                places += [(node, field, k) for k, v in enumerate(value) if _is_read(v)]
    return places


def _replaced(tree, place, new):
    """Return a copy of the tree with a new expression at a place, or without it if it is None."""
    smaller = copy.deepcopy(tree)
    node, field, k = _expressions(smaller)[place]
    if k is None:
        setattr(node, field, copy.deepcopy(new))
    elif new is None:
        del getattr(node, field)[k]
    else:
        getattr(node, field)[k] = copy.deepcopy(new)
    return smaller


def _with_less(text):
    """Yield the program with each expression replaced by one of its parts or a constant, or left away from a list."""
    tree = ast.parse(text)
    for p, (node, field, k) in enumerate(_expressions(tree)):
        value = getattr(node, field) if k is None else getattr(node, field)[k]
        if isinstance(value, (ast.Constant, ast.Name)) and k is None:
            continue
        parts = [n for n in ast.iter_child_nodes(value) if isinstance(n, ast.expr)]
        options = ([None] if k is not None else []) + parts + [NUMBER, VECTOR]
        for new in options:
            if new is not value:
                yield from _text(_replaced(tree, p, new))


def failing_like(cause, seed):
    """Return a test whether a program still fails for a cause, a kind, a mode and a message."""
    kind, mode, message = cause
    modes = [m for m in ("value", "grad") if m != mode] if mode != "value" else []
    modes.append(mode)

    def alike(said):
        return said.split(":")[0] == message.split(":")[0]

    def fails(source):
        with tempfile.TemporaryDirectory(prefix="random_python_") as folder:
            verdict = judge(source, seed, modes, folder)
        said = [o.message for o in verdict.outcomes if (o.kind, o.mode) == (kind, mode)]
        return any(map(alike, said)) if kind == "internal" else bool(said)

    return fails


def shrink_all(found, jobs):
    """Yield each key of `found` and its program made smaller; `found` has a source, a cause and a seed by key."""
    def task(key, _folder):
        source, cause, seed = found[key]
        return shrunk(source, failing_like(cause, seed))

    for key, text in results(list(found), task, jobs, seconds=300):
        yield key, text or found[key][0]
