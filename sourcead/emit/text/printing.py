"""Prints a tree as text, arranged as a reader expects: with comments, and with one `with` around the statements inside a context manager.

A comment says which of the user's statements a part of the reverse sweep is the adjoint of.  The tree holds a marker statement for
each comment, and `to_text` turns markers into comment lines.  `statements_by_span` finds the statement of the IR that each line and each
expression comes from, which knows the user's statement.
"""

import ast
import functools
import itertools
import re
import warnings
from collections.abc import Iterator

from sourcead.ir.names import is_name
from sourcead.ir.nodes import Call, Origin, Stmt

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # astor mentions node classes that Python has deprecated
    import astor


def to_text(statement: ast.stmt, comments: dict[str, str]) -> str:
    """Return the source of a function or another statement, with comments in place of the statements that are names of markers.

    Whatever stands in the place of a name is a name: attributes and keys of data come from outside, and must not become code.
    """
    for node in ast.walk(statement):
        for name in (getattr(node, field, None) for field in fields_of_names(type(node))):
            if isinstance(name, str) and not is_name(name):
                raise ValueError(f"{name!r} is not a name")
    module = ast.fix_missing_locations(ast.Module([statement], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        source = astor.to_source(module, pretty_string=_quoted, pretty_source="".join)
    shown = "", ""  # the last marker, and its indentation

    def comment(m: re.Match) -> str:
        nonlocal shown
        indent, marker = m.groups()
        if not comments[marker]:
            return "\n"
        if marker == shown[0] and len(indent) > len(shown[1]):  # a block inside of what the comment stands above
            return ""
        shown = marker, indent
        return f"{indent}# {comments[marker]}\n"

    source = re.sub(r"^( *)(__comment_\d+__)\n", comment, source.strip("\n") + "\n", flags=re.MULTILINE)
    return re.sub(f"^( *)([^ #].{{{_LONGEST_LINE - 40},}})$", lambda m: _over_lines(m[1], m[2]), source, flags=re.MULTILINE)


_LONGEST_LINE = 100
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)


def _over_lines(indent: str, line: str) -> str:
    """Return a statement, over several lines if it is long: one for each item of the container that it returns or hands to a call."""
    if len(indent + line) <= _LONGEST_LINE:
        return indent + line
    try:
        statement = ast.parse(line).body[0]
    except SyntaxError:  # the head of a compound statement
        return indent + line
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    elif not isinstance(statement, ast.Return):
        return indent + line
    if not isinstance(value, _DISPLAYS):
        return indent + line
    encoded = line.encode()
    before, after = (part.decode() for part in (encoded[: value.col_offset], encoded[value.end_col_offset :]))
    return f"{indent}{before}{_display(encoded, value, indent, True)}{after}"


def _display(line: bytes, value: ast.expr, indent: str, whole: bool = False) -> str:
    """Return the text of an expression in a line, over several lines if it is a tuple, list or dict that is long."""
    text = _segment(line, value)
    inner = f"{indent}    "
    if not isinstance(value, _DISPLAYS) or isinstance(value, ast.Dict) and None in value.keys:
        return text
    if not whole and len(inner + text) < _LONGEST_LINE:
        return text
    heads = [f"{_segment(line, key)}: " for key in value.keys] if isinstance(value, ast.Dict) else itertools.repeat("")
    items = value.values if isinstance(value, ast.Dict) else value.elts
    lines = "".join(f"{inner}{head}{_display(line, item, inner)},\n" for head, item in zip(heads, items))
    opening, closing = {ast.Tuple: "()", ast.List: "[]", ast.Dict: "{}"}[type(value)]
    return f"{opening}\n{lines}{indent}{closing}"


def _segment(line: bytes, node: ast.expr) -> str:
    """Return the text of an expression in a line; `ast.get_source_segment` splits the whole source into lines each time."""
    return line[node.col_offset : node.end_col_offset].decode()


@functools.cache
def fields_of_names(cls: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that hold names."""
    return tuple({"id", "attr", "arg", "name"} & set(cls._fields))


def keywords(values: dict[str, ast.expr]) -> list[ast.keyword]:
    """Return the arguments of a call that are given by name; names can be any strings, as in `f(a=x, **{"learning rate": y})`."""
    other = {name: value for name, value in values.items() if not is_name(name)}
    more = [ast.keyword(None, ast.Dict([ast.Constant(name) for name in other], [*other.values()]))] if other else []
    return [ast.keyword(name, value) for name, value in values.items() if name not in other] + more


def _quoted(string: str, _embedded, line: str, *_, **__) -> str:
    """Return a string in double quotes, or as a docstring if it is a statement: there, too, what is not printable is escaped."""
    if not line.strip():  # in single quotes, so that `'` is escaped, and `"` is not
        lines = (str.__repr__(f'{part}"')[1:-2].replace("\\'", "'").replace('"', '\\"') for part in string.split("\n"))
        return '"""' + f"\n{line}".join(lines).replace(f"\n{line}\n", "\n\n") + '"""'
    text = str.__repr__(string)
    if text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


Span = int | tuple[int, ...]  # a line; or the first and last line of an expression, and the columns where it begins and ends


def mark(nodes: list[ast.stmt], stmt: Stmt) -> list[ast.stmt]:
    """Return the printed nodes of a statement, marked with it."""
    for node in nodes:
        if not hasattr(node, "made"):
            node.made = stmt
    return nodes


def statements_by_span(function: ast.FunctionDef, text: str) -> dict[Span, Stmt]:
    """Return the statement that each line and expression of the text of a function comes from, as far as it is known.

    What a loop or branch prints for its variants comes from it.  The text is parsed again: its statements are those of the tree that it was
    printed from, without comments.
    """
    printed, read = list(_statements(function)), list(_statements(ast.parse(text).body[-1]))
    if len(printed) != len(read):
        return {}
    found = {}
    for (p, made), (r, _) in zip(printed, read):
        if made is not None:
            found.update(dict.fromkeys(range(r.lineno, (r.lineno if hasattr(r, "body") else r.end_lineno) + 1), made))
        _note_expressions(p, r, None, found)
    return found


def _note_expressions(printed: ast.AST, read: ast.AST, around: Stmt | None, found: dict[Span, Stmt]) -> None:
    """Note the statements of the expressions inside a node that come from another statement than the node."""
    mine, theirs = (
        [child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.expr, ast.keyword, ast.comprehension))]
        for node in (printed, read)
    )
    for p, r in zip(mine, theirs) if len(mine) == len(theirs) else ():
        if type(p) is type(r):
            made = _made(p, around)
            if made is not None and isinstance(r, ast.expr):
                found[r.lineno, r.end_lineno, r.col_offset, r.end_col_offset] = made
            _note_expressions(p, r, made, found)


def lower(span: Span, lines: int) -> Span:
    """Return a span of a text that stands some lines lower in another."""
    return span + lines if isinstance(span, int) else (span[0] + lines, span[1] + lines, *span[2:])


def _made(node: ast.AST, around: Stmt | None) -> Stmt | None:
    """Return the statement that a node is marked with, if its place is known, else that of the node around it."""
    own = getattr(node, "made", None)
    return around if own is None or own.place is None else own


def _statements(node: ast.AST, around: Stmt | None = None) -> Iterator[tuple[ast.stmt, Stmt | None]]:
    """Yield the statements inside a statement, in order, with what they come from."""
    for name in ("body", "orelse"):
        for child in getattr(node, name, ()):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Name)):  # a comment
                made = _made(child, around)
                yield child, made
                yield from _statements(child, made)


# ---- comments and contexts ----


Group = tuple[Stmt, list[ast.stmt]]

_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef)
_LONGEST = 88
_LONG_RUN = 3  # how many statements a run at the top level must have to get a comment


class Comments:
    """Makes markers, one name for each statement of the user's; `lines` maps a marker's name to its comment."""

    def __init__(self, sections: bool):
        self.lines: dict[str, str] = {}
        self.names: dict[tuple, str] = {}
        self.sections = sections  # whether the function has a forward and a reverse part

    def marker(self, comment: str, at: Origin | None = None) -> ast.stmt:
        name = self.names.setdefault((comment, at and at.file, at and at.line), f"__comment_{len(self.names)}__")
        self.lines[name] = comment
        return ast.Expr(ast.Name(name, ast.Load()))

    def annotated(self, groups: list[Group], at_top: bool) -> list[ast.stmt]:
        """Return the statements in order, with a comment above each run that is the adjoint of one statement, which shows its text."""
        out: list[ast.stmt] = []
        groups = [g for g in groups if g[1]]
        in_reverse = False
        previous = None
        for k, (stmt, nodes) in enumerate(groups):
            if at_top and self.sections:
                if k == 0 and stmt.adjoint_of is None:
                    out.append(self.marker("forward"))
                if stmt.adjoint_of is not None and not in_reverse:
                    out.append(self.marker("reverse"))
                    in_reverse = True
            if stmt.adjoint_of is not None and not _same(stmt.adjoint_of, previous):
                own = stmt.adjoint_of.text.lstrip().startswith("with ")  # the user's adjoint block (`adjoint_of`)
                long = not isinstance(nodes[-1], _COMPOUND) and (not at_top or _run(groups, k) >= _LONG_RUN)
                shown = _first_line(stmt.adjoint_of.text)  # empty for what stands in no line of the user's
                if shown and (long or own and not isinstance(nodes[-1], ast.With)):
                    out.append(self.marker(shown, stmt.adjoint_of))
            previous = stmt.adjoint_of
            out += nodes
            if isinstance(nodes[-1], ast.FunctionDef):
                out.append(self.marker(""))  # a blank line
        return out


def _same(a, b) -> bool:
    return a is b or (a is not None and b is not None and (a.file, a.line, a.text) == (b.file, b.line, b.text))


def _run(groups, start: int) -> int:
    """Return how many printed statements from `start` on are the adjoint of one statement, or 0 if a loop is among them."""
    origin = groups[start][0].adjoint_of
    count = 0
    for stmt, nodes in groups[start:]:
        if not _same(stmt.adjoint_of, origin):
            break
        if isinstance(nodes[-1], _COMPOUND):
            return 0
        count += sum(not isinstance(node, ast.Delete) for node in nodes)
    return count


def _first_line(text: str) -> str:
    line = text.strip().split("\n")[0].rstrip()
    line = "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3].rstrip() + "..."


def in_contexts(printer, groups: list[Group]) -> list[Group]:
    """Return the printed statements of a block, with those that run inside a context (`Stmt.within`) under one `with`.

    Statements between two of them go inside as well, which is legal because the contexts do not change values.
    """
    groups = [g for g in groups if g[1]]
    depth = len(printer.within)
    out: list[Group] = []
    while groups:
        context = _context(groups[0][0], depth)
        if context is None:
            out.append(groups.pop(0))
            continue
        in_forward = groups[0][0].adjoint_of is None
        end = 1 + max(k for k, g in enumerate(groups) if _context(g[0], depth) is context and (g[0].adjoint_of is None) == in_forward)
        inside, groups = groups[:end], groups[end:]
        outer, printer.within = printer.within, (*printer.within, context)
        body = printer.comments.annotated(in_contexts(printer, inside), at_top=False)
        printer.within = outer
        item = ast.withitem(printer.expressions.op(context), None)
        out.append((inside[0][0], [ast.With([item], body)]))
    return out


def _context(stmt: Stmt, depth: int) -> Call | None:
    """Return the outermost context of a statement that is not open yet."""
    return stmt.within[depth] if len(stmt.within) > depth else None


def names_in(node: ast.AST) -> set[str]:
    """Return the names in printed text."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
