"""Find the source of a function: its syntax node (`source_texts.py`), and what its names mean."""

import contextlib
import functools
import inspect
import io
import linecache
import sys
import tokenize
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from sourcead.errors import NoSourceError, UnsupportedValueError
from sourcead.frontend.source_texts import PLACES, node_of
from sourcead.ir.nodes import Origin
from sourcead.ir.records import find
from sourcead.language.opaque import opaque
from sourcead.language.transformations import Described
from sourcead.places.spelling import spelled


class Opaque:
    """Base of callables whose meaning is not that of the function they wrap (what `grad` returns)."""

    def described(self, args: tuple) -> Described | None:
        """What the lowering must know of it, where a call gives it `args`; None if a differentiated function cannot call it."""
        return None

    def as_function(self) -> types.FunctionType | None:
        """A plain function that only calls it, whose derivatives are those of it; None if there is none."""
        return None


_origins: weakref.WeakKeyDictionary[gast.AST, dict[str, Origin]] = weakref.WeakKeyDictionary()  # by file: equal texts share nodes
_returns: weakref.WeakKeyDictionary[gast.Lambda, list[gast.Return]] = weakref.WeakKeyDictionary()
_elementwise: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_compiled: weakref.WeakKeyDictionary[types.FunctionType, weakref.ref] = weakref.WeakKeyDictionary()  # what `@njit` made of each


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

    @property
    def text(self) -> str:
        """The text of the function, dedented, without its decorators."""
        node = self.node
        return _dedented(_segment(self.lines, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset), node.col_offset)

    def origin(self, node: gast.AST) -> Origin:
        """Where a node of this function stands; of a compound statement, its first line up to the body."""
        if isinstance(written := getattr(self.function, "stands_for", None), types.FunctionType):
            code = written.__code__
            return Origin(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, PLACES, "")
        if not hasattr(node, "lineno"):
            node = self.node
        known = _origins.setdefault(node, {})
        if self.file not in known:
            known[self.file] = self._origin(node)
        return known[self.file]

    def _origin(self, node: gast.AST) -> Origin:
        line, col, end_line, end_col = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        text = _segment(self.lines, line, col, end_line, end_col)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            start = (body[0].lineno, body[0].col_offset)
            text = _without_comments(_segment(self.lines, line, col, *start))
            end_line = line + text.count("\n")
            end_col = (col if end_line == line else 0) + len(text.rpartition("\n")[2].encode())
        return Origin(self.file, line, col, end_line, end_col, _dedented(text, col))


def body_of(node: gast.FunctionDef | gast.Lambda) -> list[gast.AST]:
    """The statements of a function, which a lambda has as well: one `return`, the same each time."""
    if isinstance(node, gast.FunctionDef):
        return node.body
    if node not in _returns:
        _returns[node] = [made := gast.Return(node.body)]
        made.stands_for = getattr(node.body, "stands_for", node.body)
    return _returns[node]


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
    if isinstance(function, opaque):
        name = spelled(function.function)
        why = f"`{name}` is called as it is (`opaque`, `implicit`)"
        raise NoSourceError(why, instead=f"differentiate a function that calls it: `lambda x: {name}(x)`")
    if not isinstance(function, types.FunctionType):
        raise _no_source_at_all(function)
    provide_text(function)
    code, file = function.__code__, file_of(function)
    linecache.lazycache(file, function.__globals__)  # a module in a zip file, which its loader reads
    node, lines = node_of(file, code)
    return Source(
        function=function,
        node=node,
        name=code.co_name,
        file=file,
        globals=function.__globals__,
        closure=dict(zip(code.co_freevars, function.__closure__ or ())),
        signature=own_signature(function),
        lines=lines,
    )


PICKLED = "<dynamic-code>"  # what cloudpickle puts in place of the name of a file
FILES: dict[str, None] = {}  # the files of functions that were pickled, perhaps in other processes


def file_of(function: types.FunctionType) -> str:
    """The name of the file, or cell, that a function comes from; cloudpickle leaves it out, so its text is looked for."""
    code = function.__code__
    if code.co_filename != PICKLED:
        return code.co_filename
    module = getattr(sys.modules.get(function.__module__), "__file__", None)
    cells = [name for name, entry in linecache.cache.items() if len(entry) > 2 and entry[1] is None]
    for file in dict.fromkeys((module, *FILES, *reversed(cells))):
        if file is not None:
            with contextlib.suppress(NoSourceError):
                node_of(file, code)
                return file
    return code.co_filename


def provide_text(function: types.FunctionType) -> None:
    """Let `linecache` know the text of a function that was made by `exec` and keeps its text in `_code`, as those of networkx do.

    The decorators of networkx compile a function when it is called for the first time; that is done here.
    """
    decorator = type(getattr(function, "__argmap__", None))
    if hasattr(decorator, "_lazy_compile") and function.__code__ in decorator.__call__.__code__.co_consts:
        decorator._lazy_compile(function)
    text, file = getattr(function, "_code", None), function.__code__.co_filename
    if isinstance(text, str) and file not in linecache.cache:
        linecache.cache[file] = len(text), None, text.splitlines(True), file


def unwrap(f: Callable, caches: bool = True) -> tuple[Callable, tuple, dict[str, Any]]:
    """The plain function behind a callable, and the arguments that the callable adds in front and by name.

    Sees through bound methods, `functools.partial`, static and class methods, Numba's dispatchers, objects with a `__call__`, and with
    `caches` through those of functools and joblib.  It does not follow the `__wrapped__` of a plain function: what a decorator's
    wrapper does around the call is part of what is differentiated.
    """
    args: tuple = ()
    kwargs: dict[str, Any] = {}
    while True:
        if isinstance(f, types.FunctionType | types.BuiltinFunctionType | type | Opaque | opaque):
            return f, args, kwargs
        if isinstance(f, functools.partial):
            f, args, kwargs = f.func, f.args + args, {**f.keywords, **kwargs}
        elif isinstance(f, types.MethodType):
            f, args = f.__func__, (f.__self__, *args)
        elif isinstance(f, staticmethod | classmethod):  # that of a decorator inside the class, which binds the class itself
            f = f.__func__
        elif (kept := behind_cache(f)) is not None:
            if not caches:
                return f, args, kwargs
            f = kept
        elif _is_numba_dispatcher(f):
            _compiled[f.py_func] = weakref.ref(f)
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
    return behind_cache(unwrap(f, caches=False)[0]) is not None


def behind_cache(f: Any) -> Callable | None:
    """The function whose results `functools.lru_cache` or joblib's `Memory` keeps; None for a callable without such a cache."""
    if is_by_hash(f):
        return f.__wrapped__
    module = sys.modules.get("joblib.memory")
    return f.func if module is not None and isinstance(f, (module.MemorizedFunc, module.NotMemorizedFunc)) else None


def is_by_hash(f: Any) -> bool:
    """Whether a callable is a function with a cache that takes only what can be hashed, unlike joblib's, which takes arrays."""
    return isinstance(f, functools._lru_cache_wrapper)


def is_compiled(f: Callable) -> bool:
    """Whether Numba compiles a function, by `@njit` or another of its decorators."""
    while isinstance(f, functools.partial | types.MethodType):
        f = f.func if isinstance(f, functools.partial) else f.__func__
    return _is_numba_dispatcher(f)


def constants_of_numba(function: types.FunctionType, name: str) -> list[Any] | None:
    """The values of a global or closure variable that Numba's machine code of a function has as constants, one for each signature so far.

    None if Numba does not compile the function.
    """
    dispatcher = _compiled.get(function, lambda: None)()
    if dispatcher is None:
        return None
    found = []
    for compiled in dispatcher.overloads.values():
        blocks = getattr(compiled.type_annotation, "blocks", {}).values()  # machine code from a file does not tell
        values = (getattr(statement, "value", None) for block in blocks for statement in block.body)
        found += [v.value for v in values if type(v).__name__ in ("Global", "FreeVar") and v.name == name]
    return found


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
    if not hasattr(f, "__qualname__") and not isinstance(f, np.ufunc):  # an object: `np.vectorize(f)`, `operator.methodcaller("sum")`
        return NoSourceError(f"an object of class `{spelled(type(f))}` has no source of its own", instead="write a function that calls it")
    return NoSourceError(
        f"`{name}` is built in or written in C: it has no Python source",
        instead=f"write a function that calls it, as `lambda x: {name}(x)`; if it has no rule, register one with `@adjoint({name})`",
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
