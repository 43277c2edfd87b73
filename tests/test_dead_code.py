"""No definition of the package that nobody names, no parameter that nobody reads."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAIN_DECORATORS = ("dataclass", "cache", "lru_cache", "contextmanager", "singledispatch", "functools.", "contextlib.")
CALLED_BY_LIBRARIES = re.compile(r"visit_\w+|__\w+__|_fields_")  # what Python, ast, gast and ctypes look for by its name
FOR_USERS = "sourcead.nn."


@cache
def trees(folder):
    files = [p for p in sorted((ROOT / folder).rglob("*.py")) if not {"programs", "golden", "parity"} & set(p.parts)]
    return [(p, ast.parse(p.read_text(encoding="utf-8"))) for p in files]


@cache
def package():
    """{module: its syntax tree}."""
    return {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): t for p, t in trees("sourcead")}


@cache
def users():
    """The nodes of each file that may name something of the package."""
    return [list(ast.walk(t)) for folder in ("sourcead", "tests", "examples") for _, t in trees(folder)]


def words(nodes):
    """How often each name is read, or stands in a short string, in syntax nodes."""
    found = Counter()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found[node.id] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.MatchClass):
            found.update(node.kwd_attrs)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            found.update(re.findall(r"\w+", node.value))
    return found


def prefixes():
    """The beginnings of names that are put together: `f"lower_{name}"`."""
    texts = (n.values[0] for nodes in users() for n in nodes if isinstance(n, ast.JoinedStr) and n.values)
    starts = (t.value for t in texts if isinstance(t, ast.Constant))
    return tuple({s for s in starts if s.isidentifier() and s.endswith("_") and len(s) > 4})


@cache
def documented():
    files = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    return {w for f in files for w in re.findall(r"\w+", f.read_text(encoding="utf-8"))}


def is_registered(node):
    """Whether a decorator may hand a definition to somebody."""
    return any(not ast.unparse(d).startswith(PLAIN_DECORATORS) for d in getattr(node, "decorator_list", ()))


def names_of(node):
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [] if is_registered(node) or CALLED_BY_LIBRARIES.fullmatch(node.name) else [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return [name for name in names if not CALLED_BY_LIBRARIES.fullmatch(name)]


def named_elsewhere():
    """{(module, name)}: what other files import from modules, or read as their attributes."""
    modules = package()
    found = set()
    for nodes in users():
        imports = [(n.module, a) for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names]
        found |= {(module, a.name) for module, a in imports}
        aliases = {a.asname or a.name: f"{module}.{a.name}" for module, a in imports if f"{module}.{a.name}" in modules}
        for n in nodes:
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in aliases:
                found.add((aliases[n.value.id], n.attr))
    return found


def unnamed():
    """The functions, classes and constants of modules that nothing names: neither their module nor one that imports them."""
    elsewhere, starts = named_elsewhere(), prefixes()
    for module, tree in package().items():
        inside = words(ast.walk(tree))
        for node in tree.body:
            for name in names_of(node):
                if inside[name] > words(ast.walk(node))[name] or (module, name) in elsewhere or name in documented():
                    continue
                if not name.startswith(starts) and not module.startswith(FOR_USERS) and not CALLED_BY_LIBRARIES.fullmatch(name):
                    yield f"{module}.{name}"


def unnamed_members():
    """The methods and fields of classes that no attribute, pattern or string names."""
    named = words(n for nodes in users() for n in nodes)
    for module, tree in package().items():
        for cls in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
            for node in cls.body:
                if cls.bases and isinstance(node, ast.FunctionDef):
                    continue  # it may override
                for name in names_of(node):
                    if named[name] > words(ast.walk(node))[name] or name in documented():
                        continue
                    yield f"{module}.{cls.name}.{name}"


def unread_parameters():
    """The parameters that a function does not read although nothing but calls by its name decides what it takes."""
    called = {id(n.func) for nodes in users() for n in nodes if isinstance(n, ast.Call)}
    values = set()  # names that are read and not called: functions in tables or handed on
    for node in (n for nodes in users() for n in nodes):
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called:
            values.add(node.id if isinstance(node, ast.Name) else node.attr)
    functions = [(m, n) for m, t in package().items() for n in ast.walk(t) if isinstance(n, ast.FunctionDef)]
    count = Counter(n.name for _, n in functions)
    for module, node in functions:
        if node.decorator_list or node.name in values or count[node.name] > 1 or CALLED_BY_LIBRARIES.fullmatch(node.name):
            continue
        read = {n.id for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        for p in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if p.arg not in read | {"self", "cls"} and not p.arg.startswith("_") and node.name not in documented():
                yield f"{module}.{node.name}: {p.arg}"


@pytest.mark.long
def test_every_definition_is_named():
    assert not list(unnamed())


@pytest.mark.long
def test_every_method_and_field_is_named():
    assert not list(unnamed_members())


@pytest.mark.long
def test_every_parameter_is_read():
    assert not list(unread_parameters())
