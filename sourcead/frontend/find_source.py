"""Find the source of a function: its syntax node, and what its names mean.

A file is parsed and compiled once.  In it the function is found by the line where its code begins and its name, and what is found is
compared with the code that runs: a file that was edited after it was imported is refused, and of several lambdas on a line the
right one is taken.
"""

import __future__

import ast
import collections
import functools
import inspect
import io
import linecache
import os
import sys
import tokenize
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.errors import NoSourceError, UnsupportedValueError, spelled
from sourcead.ir.nodes import Origin
from sourcead.ir.records import find
from sourcead.language.transformations import Described


class Opaque:
    """Base of callables whose meaning is not that of the function they wrap (what `grad` returns)."""

    def described(self) -> Described | None:
        """What the lowering must know of it; None if a differentiated function cannot call it."""
        return None


@dataclass(frozen=True, eq=False)
class Source:
    """A function as text.

    Attributes:
        function: the plain function.
        node: its syntax, shared between calls: read it, never change it.
        name: its name, '<lambda>' for a lambda.
        file: its file, whose positions those of `node` are.
        globals: the dict that its global names are read from.
        closure: the cells that its closure variables are read from.
        signature: its parameters and defaults, as its own code takes them.
        lines: the lines of the file.
    """

    function: types.FunctionType
    node: gast.FunctionDef | gast.Lambda
    name: str
    file: str
    globals: dict[str, Any]
    closure: dict[str, types.CellType]
    signature: inspect.Signature
    lines: list[str]

    @property
    def elementwise(self) -> bool:
        """Whether Numba's `@vectorize` applies it to each element of an array."""
        return self.function in _elementwise

    @property
    def defaults(self) -> dict[str, Any]:
        """The default value of each parameter that has one."""
        return {p.name: p.default for p in self.signature.parameters.values() if p.default is not p.empty}

    def origin(self, node: gast.AST) -> Origin:
        """Where a node of this function stands; of a compound statement, its first line up to the body."""
        if not hasattr(node, "lineno"):
            node = self.node
        line, col, end_line, end_col = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        text = _segment(self.lines, line, col, end_line, end_col)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            start = (body[0].lineno, body[0].col_offset)
            text = _without_comments(_segment(self.lines, line, col, *start))
            end_line = line + text.count("\n")
            end_col = (col if end_line == line else 0) + len(text.rpartition("\n")[2].encode())
        return Origin(self.file, line, col, end_line, end_col, _dedented(text, col))


def find_source(f: Callable) -> Source:
    """The source of a function.

    Args:
        f: a function, lambda, method, partial, or whatever else `unwrap` sees through.

    Returns:
        The `Source` of the plain function behind it.

    Raises:
        NoSourceError: there is none, or it is not the text of what runs.
    """
    function, _, _ = unwrap(f)
    if not isinstance(function, types.FunctionType):
        raise _no_source_at_all(function)
    code = function.__code__
    node, lines = _node_of(code, function.__globals__)
    return Source(
        function=function,
        node=node,
        name=code.co_name,
        file=code.co_filename,
        globals=function.__globals__,
        closure=dict(zip(code.co_freevars, function.__closure__ or ())),
        signature=own_signature(function),
        lines=lines,
    )


def unwrap(f: Callable, caches: bool = True) -> tuple[Callable, tuple, dict[str, Any]]:
    """The plain function behind a callable, and the arguments that the callable adds in front and by name.

    Sees through bound methods, `functools.partial`, static methods, Numba's dispatchers, objects with a `__call__`, and with
    `caches` through `functools.lru_cache`.  It does not follow the `__wrapped__` of a plain function: what a decorator's
    wrapper does around the call is part of what is differentiated.
    """
    args: tuple = ()
    kwargs: dict[str, Any] = {}
    while True:
        if isinstance(f, types.FunctionType | types.BuiltinFunctionType | type | Opaque):
            return f, args, kwargs
        if isinstance(f, functools.partial):
            f, args, kwargs = f.func, f.args + args, {**f.keywords, **kwargs}
        elif isinstance(f, types.MethodType):
            f, args = f.__func__, (f.__self__, *args)
        elif isinstance(f, staticmethod):
            f = f.__func__
        elif isinstance(f, functools._lru_cache_wrapper) and caches:
            f = f.__wrapped__
        elif _is_numba_dispatcher(f):
            f = f.py_func
        elif is_numba_ufunc(f):
            f = f._dispatcher.py_func
            _elementwise.add(f)
        elif isinstance(called := find(type(f), "__call__")[1], types.FunctionType) and type(f).__module__.partition(".")[0] != "numpy":
            f, args = called, (f, *args)
        else:
            return f, args, kwargs


def is_cached(f: Any) -> bool:
    """Whether a callable is a function with a cache, or such a function with some arguments."""
    return isinstance(unwrap(f, caches=False)[0], functools._lru_cache_wrapper)


def is_compiled(f: Callable) -> bool:
    """Whether Numba compiles a function, by `@njit` or another of its decorators."""
    while isinstance(f, functools.partial | types.MethodType):
        f = f.func if isinstance(f, functools.partial) else f.__func__
    return _is_numba_dispatcher(f)


def own_signature(function: types.FunctionType) -> inspect.Signature:
    """The signature of a function's own code, whatever it claims to wrap."""
    plain = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    plain.__kwdefaults__ = function.__kwdefaults__
    plain.__annotations__ = function.__annotations__
    return inspect.signature(plain)


def plain_names(signature: inspect.Signature) -> list[str]:
    """The parameters that take one argument each."""
    return [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


# ---- finding the node ----


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
PLACES = 10**7  # a line that no file has

_Functions = dict[tuple[int, str], list[tuple[ast.AST, types.CodeType | None]]]

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_elementwise: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_files: dict[str, tuple[list[str], _Functions]] = {}
_found: dict[tuple[str, types.CodeType], tuple[gast.AST, list[str]]] = {}


def _node_of(code: types.CodeType, module: dict) -> tuple[gast.AST, list[str]]:
    """The syntax node of a code object, and the lines of its file; cached lines come first, as they run if the file has changed since."""
    key = code.co_filename, code
    if key in _found:
        return _found[key]
    for outdated in (False, True):
        if outdated:
            linecache.checkcache(code.co_filename)
        lines, functions = _parse(code, module)
        if (node := _choose(functions.get((code.co_firstlineno, code.co_name), []), code)) is not None:
            _found[key] = gast.ast_to_gast(node), lines
            return _found[key]
    if code.co_filename == "<string>":  # `python -c` keeps its own text under that name, from 3.13 on
        raise _no_text(code)
    raise NoSourceError(
        f"line {code.co_firstlineno} of {code.co_filename} is not the source of `{code.co_name}` as it runs: "
        "the file was edited after it was imported, or an import hook rewrites it",
        instead="import the module again (restart the session, or importlib.reload)",
    )


def _parse(code: types.CodeType, module: dict) -> tuple[list[str], _Functions]:
    """The lines of a file, and the functions that it defines with their code, by the line where the code begins and the name."""
    file = code.co_filename
    lines = linecache.getlines(file, module)
    if not lines:
        raise _no_text(code)
    if file in _files and _files[file][0] == lines:
        return _files[file]
    try:
        tree = ast.parse("".join(lines), file)
    except SyntaxError as error:
        raise NoSourceError(
            f"{file} does not parse as Python: {error}", instead="undo the edit, or import the file again"
        ) from error
    nodes = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    functions: _Functions = {}
    for node, compiled in zip(nodes, _compiled(tree, nodes, code)):
        functions.setdefault(_beginning(node), []).append((node, compiled))
    _files[file] = lines, functions
    return _files[file]


def _head(node: ast.AST) -> ast.AST:
    """The node where the code of a function begins."""
    return next(iter(getattr(node, "decorator_list", ())), node)


def _beginning(node: ast.AST) -> tuple[int, str]:
    """The line where the code of a function begins, and its name."""
    return _head(node).lineno, getattr(node, "name", "<lambda>")


_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


def _compiled(tree: ast.Module, nodes: list[ast.AST], code: types.CodeType) -> list[types.CodeType | None]:
    """The code of each function in a file.

    Functions of one name that begin on one line are compiled on lines of their own, which tells them apart; the others stay where they
    are, because Python compiles a default on the line of its function to other instructions than one on another line.
    """
    if code.co_filename.startswith(_PACKAGE):  # nobody edits these files while they run: no need to compile and compare
        return [None] * len(nodes)
    begin = collections.Counter(map(_beginning, nodes))
    before = {head: (head.lineno, head.end_lineno) for head in (_head(node) for node in nodes if begin[_beginning(node)] > 1)}
    found = _codes(tree, code)
    for place, head in enumerate(before, PLACES):
        head.lineno, head.end_lineno = place, place + 1
    found |= _codes(tree, code, PLACES) if before else {}
    names = list(map(_beginning, nodes))
    for head, place in before.items():
        head.lineno, head.end_lineno = place
    return list(map(found.get, names))


def _codes(tree: ast.Module, code: types.CodeType, first: int = 0) -> dict[tuple[int, str], types.CodeType]:
    """Compile a file with the options of `code`; return its functions from the line `first` on, by line and name."""
    flags = code.co_flags & _FUTURE | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        todo = [compile(tree, code.co_filename, "exec", flags, dont_inherit=True)]
    except (SyntaxError, ValueError):
        todo = []
    found = {}
    while todo:
        inner = todo.pop()
        if inner.co_firstlineno >= first:
            found[inner.co_firstlineno, inner.co_name] = inner
        todo += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
    return found


def _choose(candidates: list[tuple[ast.AST, types.CodeType | None]], code: types.CodeType) -> ast.AST | None:
    """The node whose code this is; None if there is none."""
    if code.co_filename.startswith(_PACKAGE):
        return next((node for node, _ in candidates if _parameters(node) == code.co_varnames[: code.co_argcount]), None)
    if any(name.startswith("@py") for name in code.co_varnames + code.co_names):  # pytest rewrote its assertions
        return candidates[0][0] if len(candidates) == 1 else None
    same = [(node, found) for node, found in candidates if found is not None and _without_places(found) == _without_places(code)]
    if len(same) > 1 and hasattr(code, "co_positions"):  # the same lambda twice on a line
        same = [s for s in same if _columns(s[1]) == _columns(code)] or same
    return same[0][0] if same else None


def _parameters(node: ast.FunctionDef | ast.Lambda) -> tuple[str, ...]:
    """The names of a function's positional parameters."""
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))


def _without_places(code: types.CodeType) -> types.CodeType:
    """A code object without the places of its lines: two of these are equal if they compute the same, wherever they stand."""
    consts = tuple(_without_places(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=consts, co_filename="", co_firstlineno=1, co_linetable=b"")


def _columns(code: types.CodeType) -> list[tuple]:
    """The columns of the instructions."""
    return [place[2:] for place in code.co_positions()]


# ---- refusals ----


def _no_source_at_all(f: Any) -> Exception:
    name = spelled(f)
    if isinstance(f, Opaque):
        return NoSourceError(
            f"{f!r} is a function that sourcead made, with a text for each signature",
            instead="differentiate it with `grad`, or take its `primal`",
        )
    if isinstance(f, type):
        return NoSourceError(f"`{name}` is a class, not a function", instead="write a function that calls it")
    if not callable(f):
        instead = "the function itself, and then the arguments, as in `grad(f)(x)`"
        return UnsupportedValueError(f"{f!r} of type {type(f).__name__} is not a function", instead=instead)
    return NoSourceError(
        f"`{name}` is built in or written in C: it has no Python source",
        instead=f"write a function that calls it, or register its derivative with `@adjoint({name})`",
    )


def _no_text(code: types.CodeType) -> NoSourceError:
    if code.co_filename.startswith("<"):
        return NoSourceError(
            f"the text of `{code.co_name}` was not kept: it was typed at the plain prompt or made by `exec` ({code.co_filename})",
            instead="put the function into a file or a notebook cell, or make it with `sourcead.backends.load.load`",
        )
    return NoSourceError(
        f"the file {code.co_filename} that `{code.co_name}` came from cannot be read",
        instead="install the package with its .py files",
    )


def _is_numba_dispatcher(f: Any) -> bool:
    module = sys.modules.get("numba.core.dispatcher")
    return module is not None and isinstance(f, module.Dispatcher)


def is_numba_ufunc(f: Any) -> bool:
    """Whether a callable was made by Numba's `@vectorize`, and so applies its function to each element."""
    module = sys.modules.get("numba.np.ufunc.dufunc")
    return module is not None and isinstance(f, module.DUFunc)


# ---- the text of a node, for messages and comments ----


def _segment(lines: list[str], line: int, col: int, end_line: int, end_col: int) -> str:
    """The text between two positions, columns counted in UTF-8 bytes as the parser does."""
    if end_line == line:
        return lines[line - 1].encode()[col:end_col].decode()
    first = lines[line - 1].encode()[col:].decode()
    last = lines[end_line - 1].encode()[:end_col].decode()
    return "".join([first, *lines[line : end_line - 1], last])


def _dedented(text: str, col: int) -> str:
    """The text with up to `col` blanks taken off each line but the first."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(line[min(col, len(line) - len(line.lstrip())) :] for line in rest)])


def _without_comments(header: str) -> str:
    """The text up to its last token that is not a comment."""
    end = 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(header).readline):
            if token.string.strip() and token.type != tokenize.COMMENT:
                end = token.end
    except (tokenize.TokenError, IndentationError, SyntaxError):  # the body is missing
        pass
    lines = header.splitlines(True)[: end[0]]
    return "".join([*lines[:-1], lines[-1][: end[1]]]) if lines else header.rstrip()
