"""Find the syntax node of a code object, by compiling texts and comparing what comes out with the code.

The texts are the file as it is now, the file as `linecache` kept it, and in a notebook what magic commands ran.  One that holds the same
code is its source, wherever in it the function stands: a file may have been edited since it was imported, as long as this function is
as it was.
"""

import __future__

import ast
import collections
import functools
import io
import linecache
import os
import sys
import types
from collections.abc import Iterator

import gast

from sourcead.errors import NoSourceError
from sourcead.places.origin import shown_path

Placeless = tuple[types.CodeType, tuple]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
PLACES = 10**7  # a line that no file has
TEXTS = 1000  # texts that are kept parsed and compiled

_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


@functools.lru_cache(maxsize=10 * TEXTS)
def node_of(file: str, code: types.CodeType) -> tuple[gast.AST, list[str]]:
    """The syntax node of the code of a function of a file, and the lines of the text that it stands in.

    Raises:
        NoSourceError: no text holds that code.
    """
    texts, unreadable = [], None
    for text in _texts(file):
        try:
            node = _node_in(text, code)
        except SyntaxError as error:
            node, unreadable = None, error
        if node is not None:
            return gast.ast_to_gast(node), io.StringIO(text).readlines()
        texts.append(text)
    raise _no_text(file, code, texts, unreadable)


def _texts(file: str) -> Iterator[str]:
    """The texts that may hold what runs under the name of a file."""
    if file.startswith("<frozen "):  # Python keeps the code of some of its own modules, and their texts beside the others
        file = getattr(sys.modules.get(file[8:-1]), "__file__", None) or file
    cached = linecache.getlines(file)
    linecache.checkcache(file)
    for lines in (linecache.getlines(file), cached):  # what was edited may still be in the cache as it runs
        if lines:
            yield "".join(lines)
    if file == "<string>":  # what `python -c` was given, which Python keeps nowhere else before 3.13
        yield from sys.orig_argv
    if file.startswith("<") and "IPython" in sys.modules:
        for _, changed, lines, *_ in [entry for entry in reversed(list(linecache.cache.values())) if len(entry) > 2]:
            if changed is None:  # no file, but a cell
                yield from _run_by_magics("".join(lines))


@functools.lru_cache(maxsize=TEXTS)
def _run_by_magics(cell: str) -> list[str]:
    """The texts that the magic commands of a cell run; `%time`, `%timeit` and `%prun` keep none in `linecache`."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is None or "get_ipython().run_" not in cell or (tree := _parsed(cell)) is None:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("run_cell_magic", "run_line_magic"):
            _, line, *cell = *(a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)), "", ""
            # Options of the command come first in its line: what follows them is the first end of the line that is Python.
            ends = (line[i:] for i in range(len(line)) if not line[i].isspace() and not line[i - 1 : i].strip())
            for texts in (ends, cell):
                inner = next((text for text in map(shell.transform_cell, texts) if _parsed(text) is not None), None)
                found += [] if inner is None else [inner, *_run_by_magics(inner)]
    return found


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # IPython keeps a cell before it knows whether that is Python
        return None


def _node_in(text: str, code: types.CodeType) -> ast.AST | None:
    """The node of a text whose code this is; None if there is none."""
    begin = code.co_firstlineno, code.co_name
    if code.co_filename.startswith(_PACKAGE):  # nobody edits these files while they run: no need to compile and compare
        return next((node for node in _nodes(text).get(begin, ()) if _parameters(node) == code.co_varnames[: code.co_argcount]), None)
    if any(name.startswith("@py") for name in code.co_varnames + code.co_names):  # pytest rewrote its assertions
        (node, *others) = _nodes(text).get(begin, (None,))
        return None if others else node
    same = next(filter(None, (_functions(text, code.co_flags & _FUTURE, way).get(_without_places(code)) for way in WAYS)), [])

    def far(found):  # the same lambda may stand twice on a line
        return abs(_beginning(found[0])[0] - code.co_firstlineno), _columns(found[1]) != _columns(code)

    return min(same, key=far, default=(None,))[0]


@functools.lru_cache(maxsize=TEXTS)
def _nodes(text: str) -> dict[tuple[int, str], list[ast.AST]]:
    """The functions of a text by the line where their code begins and their name."""
    found, tree = collections.defaultdict(list), ast.parse(text)
    for node in _functions_in(tree):
        found[_beginning(node)].append(node)
    _mangled(tree)
    return found


def _head(node: ast.AST) -> ast.AST:
    """The node where the code of a function begins."""
    return next(iter(getattr(node, "decorator_list", ())), node)


def _beginning(node: ast.AST) -> tuple[int, str]:
    """The line where the code of a function begins, and its name."""
    return _head(node).lineno, getattr(node, "name", "<lambda>")


def _parameters(node: ast.FunctionDef | ast.Lambda) -> tuple[str, ...]:
    """The names of a function's positional parameters."""
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))


def _private(name: str | None, owner: ast.ClassDef) -> str | None:
    """What a name in a class is called."""
    private = name is not None and name.startswith("__") and not name.endswith("__")
    return f"_{owner.name.lstrip('_')}{name}" if private else name


def _mangled(tree: ast.Module) -> ast.Module:
    """The tree with the private names of classes, such as `self.__x`, as Python calls them, `self._Class__x`; it is changed in place."""
    for owner in reversed([node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]):  # a class before the class around it
        inside = [node for statement in owner.body for node in ast.walk(statement)] if owner.name.strip("_") else []
        for node in inside:
            if isinstance(node, ast.Global | ast.Nonlocal):
                node.names = [_private(name, owner) for name in node.names]
            elif not isinstance(node, ast.alias | ast.keyword):
                for field in {"id", "attr", "arg", "name"} & set(node._fields):
                    setattr(node, field, _private(getattr(node, field), owner))
    return tree


# ---- the code of a text ----


def _as_module(tree: ast.Module) -> tuple[ast.Module, list[ast.Module]]:
    return tree, [tree]


def _as_cell(tree: ast.Module) -> tuple[ast.Module, list[ast.Module]]:
    """Each statement by itself: in a module that imports `np`, Python compiles `np.sum(x)` to other instructions."""
    return tree, [ast.Module([statement], []) for statement in tree.body]


def _as_timed(tree: ast.Module) -> tuple[ast.Module, list[ast.Module]]:
    """Inside a function, as `%timeit` does: the names that the text assigns are local to it."""
    return tree, [_within("def inner():\n    pass", tree.body)]


def _as_reloaded(tree: ast.Module) -> tuple[ast.Module, list[ast.Module]]:
    """Each function by itself, on the lines that `ast.unparse` puts it on, as `%autoreload` does."""
    try:
        tree = ast.parse(ast.unparse(tree))
    except (RecursionError, SyntaxError, ValueError):  # what `ast.unparse` cannot write, IPython cannot reload
        return tree, []
    methods = [d for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for d in c.body if isinstance(d, FUNCTIONS)]
    alone = [ast.Module([d], []) for d in tree.body if isinstance(d, FUNCTIONS)]
    return tree, alone + [_within("class __autoreload_class__:\n    pass", [d]) for d in methods]


def _within(around: str, body: list[ast.stmt]) -> ast.Module:
    module = ast.parse(around)
    module.body[0].body = body
    return module


WAYS = (_as_module, _as_cell, _as_timed, _as_reloaded)  # in which Python and IPython compile a text


@functools.lru_cache(maxsize=TEXTS)
def _functions(text: str, flags: int, way) -> dict[Placeless, list[tuple[ast.AST, types.CodeType]]]:
    """The functions of a text that is compiled in one of the ways, each with its node and its code, by their code without places.

    Functions of one name that begin on one line are compiled on lines of their own, which tells them apart; the others stay where they
    are, because Python compiles a default on the line of its function to other instructions than one on another line.
    """
    tree, modules = way(ast.parse(text))
    nodes = _functions_in(tree)
    begin = collections.Counter(map(_beginning, nodes))
    heads = dict.fromkeys(_head(node) for node in nodes if begin[_beginning(node)] > 1)
    codes = _codes(modules, flags)
    for place, head in enumerate(heads, PLACES):
        line, moved = head.lineno, ast.walk(head) if isinstance(head, ast.Lambda) else [head]
        for node in moved:  # what stands on the line of its lambda stays on it: Python 3.12 compiles it to other instructions elsewhere
            if getattr(node, "lineno", None) == line:
                node.lineno, node.end_lineno = place, place + 1
    codes |= _codes(modules, flags, PLACES) if heads else {}
    names = list(map(_beginning, nodes))
    found = collections.defaultdict(list)
    for node, name in zip(_functions_in(_mangled(ast.parse(text))), names, strict=True):
        if name in codes:
            found[_without_places(codes[name])].append((node, codes[name]))
    return found


def _functions_in(tree: ast.Module) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]


def _codes(modules: list[ast.Module], flags: int, first: int = 0) -> dict[tuple[int, str], types.CodeType]:
    """Compile modules; return their functions from the line `first` on, by line and name."""
    todo = []
    for module in modules:
        try:
            todo.append(compile(module, "", "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))
        except (RecursionError, SyntaxError, ValueError):  # it is not compiled in this way
            pass
    found = {}
    while todo:
        inner = todo.pop()
        if inner.co_firstlineno >= first:
            found[inner.co_firstlineno, inner.co_name] = inner
        todo += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
    return found


def _without_places(code: types.CodeType) -> Placeless:
    """What a code object computes, without the places of its lines: two of these are equal if they do the same, wherever they stand.

    The codes inside it are beside it, and not among its constants: Python compares nested codes in a time that doubles with each level.
    """
    inside = tuple(_without_places(c) for c in code.co_consts if isinstance(c, types.CodeType))
    consts = tuple(None if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=consts, co_filename="", co_firstlineno=1, co_linetable=b""), inside


def _columns(code: types.CodeType) -> list[tuple]:
    """The columns of the instructions, which Python keeps from version 3.11 on."""
    return [place[2:] for place in code.co_positions()] if hasattr(code, "co_positions") else []


# ---- refusals ----


def _no_text(file: str, code: types.CodeType, texts: list[str], unreadable: SyntaxError | None) -> NoSourceError:
    """The error for code that no text holds."""
    name, shown = code.co_name, shown_path(file)
    if file.startswith("<"):
        made = {"<string>": "made by `exec`", "<stdin>": "typed at the plain prompt or piped to Python"}
        keeps = "; IPython and Python 3.13 keep what is typed" if file == "<stdin>" and sys.version_info < (3, 13) else ""
        return NoSourceError(
            f"the text of `{name}` was not kept: it was {made.get(file, 'typed at a prompt, made by `exec` or part of Python')} ({file})",
            instead=f"put the function into a file or a notebook cell, or make it with `sourcead.backends.load.load`{keeps}",
        )
    if unreadable is not None:
        return NoSourceError(
            f"line {unreadable.lineno} of {shown}, which `{name}` came from, does not parse as Python: {unreadable.msg}",
            instead="complete the edit or undo it, then import the module again (restart the session, or importlib.reload)",
        )
    if not texts:
        return NoSourceError(
            f"the file {shown} that `{name}` came from cannot be read",
            instead="install the package with its .py files; put what another process gets from a notebook into a module",
        )
    return NoSourceError(
        f"`{name}` as it runs is not in {shown}, where it was in line {code.co_firstlineno}: "
        "the file was edited after it was imported, or an import hook rewrites it",
        instead="import the module again (restart the session, or importlib.reload)",
    )
