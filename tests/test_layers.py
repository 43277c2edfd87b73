"""The order of the folders of `sourcead/`: a file imports only from its own folder and from folders before it, and never in a circle."""

import ast
import itertools
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = (
    "places", "errors", "files", "runtime", "language", "ir", "primitives", "sparsity", "analysis", "passes", "frontend", "ad",
    "emit", "backends", "page", "debugging", "compile", "api", "distributed", "nn", "cli", "__main__",
)  # fmt: skip
LINES = 400
PARAMETERS = 6
OPTIONAL = {"numba", "llvmlite", "scipy", "sklearn", "matplotlib", "tqdm", "threadpoolctl", "pygments", "distributed"}
READ_WITH_OPTIONAL = ("sourcead.backends.numba.", "sourcead.primitives.scipy_")
"""The files that import Numba or SciPy."""
PUBLIC = ("sourcead.api.", "sourcead.language.", "sourcead.nn.", "sourcead.runtime.", "sourcead.backends.options")


@cache
def trees():
    """{module: its syntax tree} of the package."""
    found = {}
    for path in sorted((ROOT / "sourcead").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def lines_of():
    return {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted((ROOT / "sourcead").rglob("*.py"))
    }


def nodes_with_depth(tree):
    """Each node of a tree, and whether it lies inside a function."""
    stack = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        yield node, inside
        deeper = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        stack += [(child, deeper) for child in ast.iter_child_nodes(node)]


def docstrings(tree):
    """The string nodes that are docstrings or other bare expressions."""
    return {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}


def modules_named(text, modules):
    """The modules that a string names: one by its full name, all of a package by its name and a dot."""
    if text in modules and text != "sourcead":  # which is also the name of a library in tables
        return {text}
    return {m for m in modules if m.startswith(text)} if text.startswith("sourcead.") and text.endswith(".") else set()


@cache
def imports():
    """{module: {(imported module, inside a function)}}: every import of the package's own files, module names in strings included."""
    modules = trees()
    found = {}
    for name, tree in modules.items():
        edges, bare = set(), docstrings(tree)
        for node, inside in nodes_with_depth(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: a relative import"
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    edges.add((full if full in modules else node.module, inside))
            elif isinstance(node, ast.Import):
                edges |= {(alias.name, inside) for alias in node.names}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
                edges |= {(m, False) for m in modules_named(node.value, modules)}
        found[name] = {(m, inside) for m, inside in edges if m != name}
    return found


@cache
def own_edges():
    return {name: {m for m, _ in edges if m in trees()} for name, edges in imports().items()}


def folder(module):
    return module.split(".")[1] if "." in module else "sourcead"


def circles(graph):
    """The sets of files that import each other in a circle (Tarjan's strongly connected components)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    counter = itertools.count()

    def visit(v):
        index[v] = low[v] = next(counter)
        stack.append(v)
        on_stack.add(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on_stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            found.append(set())
            while v not in found[-1]:
                on_stack.discard(stack[-1])
                found[-1].add(stack.pop())

    for v in graph:
        if v not in index:
            visit(v)
    return [c for c in found if len(c) > 1]


def upward():
    return {
        f"upward: {a} -> {b}"
        for a, edges in own_edges().items()
        for b in edges
        if "sourcead" not in (a, b) and ORDER.index(folder(a)) < ORDER.index(folder(b))
    }


def in_circles():
    return {f"circle: {module}" for circle in circles(own_edges()) for module in circle}


def too_long():
    return {f"long: {file}" for file, lines in lines_of().items() if lines > LINES}


def lazy():
    return {
        f"lazy: {name} -> {m}"
        for name, edges in imports().items()
        for m, inside in edges
        if inside and m.partition(".")[0] not in OPTIONAL and not m.startswith(READ_WITH_OPTIONAL)
    }


def many_parameters():
    found = set()
    for name, tree in trees().items():
        if name.startswith(PUBLIC) or name in ("sourcead.errors",):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if name.startswith("sourcead.primitives.") and node.decorator_list:
                    continue  # a rule has the parameters of the function that it is a rule of
                a = node.args
                names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
                if len([n for n in names if n not in ("self", "cls")]) > PARAMETERS:
                    found.add(f"parameters: {name}.{node.name}")
    return found


@pytest.mark.parametrize("check", [upward, in_circles, too_long, lazy, many_parameters], ids=lambda f: f.__name__)
def test_the_house_is_in_order(check):
    assert not check()


def test_the_top_folder_holds_errors_and_folders_only():
    files = {path.name for path in (ROOT / "sourcead").glob("*.py")}
    assert files <= {"__init__.py", "__main__.py", "errors.py"}


def test_every_folder_is_a_package():
    folders = {path.parent for path in (ROOT / "sourcead").rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]
