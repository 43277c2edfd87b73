"""Generated text with calls that show each value it computes to a `Watch`; every line stays where it is.

    y = np.sqrt(s) / n    becomes    y = watch.value(1, watch.value(0, np.sqrt(s)) / n)

An expression that is not a name is a *site*.  A site knows the expressions that it is computed of, its operands: other sites, whose values
the watch has, or text that can be read again without effect, such as `x` and `a[i, 2]`.  A statement that writes an array or adds to a name
is a site as well, whose target is shown to the watch before and after.
"""

import ast
import copy
import types
from dataclasses import dataclass, field

WATCH = "__watch"  # no name of generated text begins so
READABLE = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Tuple, ast.Slice, ast.BinOp, ast.UnaryOp, ast.expr_context, ast.operator,
    ast.unaryop,
)  # fmt: skip


Loop = tuple[int, tuple[str, ...]]


@dataclass(frozen=True)
class Operand:
    """An operand of a site: its text, and the number of the site that it is, or else the code that reads it again."""

    text: str
    site: int | None
    code: types.CodeType | None


@dataclass
class Site:
    """A place of the text where a value is computed.

    Attributes:
        text: its text.
        span: its first and last line, and its first and last column.
        loops: of each loop around it, outermost first, its line, and the names of its target.
        operands: what it is computed of.
        names: the names in those operands that are expressions.
        writes: whether it is a statement that changes what is there.
        of_strings: whether all its operands are strings, as in `float("inf")`.
    """

    text: str
    span: tuple[int, int, int, int]
    loops: tuple[Loop, ...]
    operands: list[Operand] = field(default_factory=list)
    names: list[Operand] = field(default_factory=list)
    writes: bool = False
    of_strings: bool = False


@dataclass
class Instrumented:
    """The code of a text that shows its values, and the sites, by number."""

    code: types.CodeType
    sites: list[Site]


def instrumented(text: str, file: str) -> Instrumented:
    """Return the code of a text with calls of `WATCH.value` and kin, under the name of a file.

    Args:
        text: Python source.
        file: the name that frames of the code have.
    """
    rewriting = _Rewriting()
    tree = ast.fix_missing_locations(rewriting.visit(ast.parse(text)))
    return Instrumented(compile(tree, file, "exec", dont_inherit=True), rewriting.sites)


def is_readable(node: ast.AST) -> bool:
    """Return whether an expression can be evaluated again without an effect: it has names, items, slices and arithmetic alone."""
    return all(isinstance(n, READABLE) for n in ast.walk(node))


class _Rewriting(ast.NodeTransformer):
    def __init__(self):
        self.sites: list[Site] = []
        self.loops: tuple[Loop, ...] = ()

    # -- expressions ------------------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._site(node, [node.left, node.right])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._site(node, [node.operand]) if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = [a.value if isinstance(a, ast.Starred) else a for a in node.args] + [k.value for k in node.keywords if k.arg != "out"]
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return self._site(node, owner + given)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._site(node, [node.value]) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test, node.body, node.orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = node.guard and self.visit(node.guard)
        node.body = self._statements(node.body)
        return node

    def _comprehension(self, node: ast.AST) -> ast.expr:
        around, self.loops = self.loops, (*self.loops, *((node.lineno, _names(g.target)) for g in node.generators))
        node = self.generic_visit(node)
        self.loops = around
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _site(self, node: ast.expr, operands: list[ast.expr]) -> ast.expr:
        """Return the expression, of which the operands are shown as well, as one that is shown."""
        number = self._new(node)
        site = self.sites[number]
        texts = {id(operand): _text(operand) for operand in operands}
        codes = {id(operand): _code(operand) for operand in operands}
        site.of_strings = bool(operands) and all(isinstance(o, ast.Constant) and isinstance(o.value, str) for o in operands)
        inside = {n.id for o in operands for n in ast.walk(o) if isinstance(n, ast.Name) and not isinstance(o, ast.Name)}
        site.names = [Operand(name, None, _code(ast.Name(name, ast.Load()))) for name in sorted(inside - set(texts.values()))]
        numbers = {}
        for name, value in ast.iter_fields(node):
            if name == "func":  # a method's object is an operand, the method none
                if isinstance(value, ast.Attribute):
                    numbers[id(value.value)], value.value = self._shown(value.value)
            elif isinstance(value, ast.expr) and name != "slice":
                numbers[id(value)], shown = self._shown(value)
                setattr(node, name, shown)
            elif isinstance(value, list):
                for k, part in enumerate(value):
                    if isinstance(part, ast.keyword) and part.arg == "out":
                        part.value = self._call("out", number, part.value)
                    elif isinstance(part, ast.keyword | ast.Starred):
                        numbers[id(part.value)], part.value = self._shown(part.value)
                    elif isinstance(part, ast.expr):
                        numbers[id(part)], value[k] = self._shown(part)
        site.operands = [Operand(texts[id(o)], numbers.get(id(o)), codes[id(o)]) for o in operands]
        return self._call("value", number, node)

    def _shown(self, node: ast.expr) -> tuple[int | None, ast.expr]:
        """Return the number of the site that an expression is, and the expression in which values are shown."""
        before = len(self.sites)
        shown = self.visit(node)
        return (before if shown is not node and len(self.sites) > before else None), shown

    def _new(self, node: ast.AST) -> int:
        span = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
        self.sites.append(Site(_text(node), span, self.loops))
        return len(self.sites) - 1

    # -- statements -------------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        number, node.value = self._shown(node.value)
        stores = [t for t in node.targets if isinstance(t, ast.Subscript) and is_readable(t.value)]
        if stores and number is None:
            number = self._new(node.value)
            self.sites[number].operands = [Operand(_text(node.value), None, _code(node.value))]
            node.value = self._call("value", number, node.value)
        after = [self._statement(node, "stored", number, _load(store.value)) for store in stores]
        names = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        return [node, *after, *self._named(node, names)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        node_text, number = _text(node), self._new(node)
        site = self.sites[number]
        target = _load(node.target) if is_readable(node.target) else None
        text, code = _text(node.value), _code(node.value)
        inner, node.value = self._shown(node.value)
        if target is None:
            return [node]
        site.text, site.writes, site.operands = node_text, True, [Operand(text, inner, code)]
        names = [node.target.id] if isinstance(node.target, ast.Name) else []
        both = ("before", "after")
        before, after = (self._statement(node, what, number, ast.Tuple([copy.deepcopy(target)], ast.Load())) for what in both)
        stored = [self._statement(node, "stored", number, _load(node.target.value))] if isinstance(node.target, ast.Subscript) else []
        return [before, node, after, *stored, *self._named(node, names)]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        written = [copy.deepcopy(a) for a in call.args if is_readable(a) and not isinstance(a, ast.Constant)]
        number = self._new(node)
        self.sites[number].writes = True
        node = self.generic_visit(node)
        if not written:
            return node
        both = ("before", "after")
        before, after = (self._statement(node, what, number, ast.Tuple(copy.deepcopy(written), ast.Load())) for what in both)
        return [before, node, after]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        node.iter = self.visit(node.iter)
        return self._loop(node, self._named(node, list(_names(node.target))), _names(node.target))

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        node.test = self.visit(node.test)
        return self._loop(node, [], ())

    def _loop(self, node: ast.For | ast.While, first: list[ast.stmt], names: tuple[str, ...]) -> list[ast.stmt]:
        """Return a loop whose iterations are counted."""
        around, self.loops = self.loops, (*self.loops, (node.lineno, names))
        node.body = [self._statement(node, "turn", node.lineno), *first, *self._statements(node.body)]
        self.loops = around
        node.orelse = self._statements(node.orelse)
        return [self._statement(node, "begin", node.lineno), node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        around, self.loops = self.loops, ()
        node.body = self._statements(node.body)
        self.loops = around
        return node

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made = [self.visit(stmt) for stmt in body]
        return [stmt for found in made for stmt in (found if isinstance(found, list) else [found])]

    def _named(self, at: ast.stmt, names: list[str]) -> list[ast.stmt]:
        """Return the statement that notes in which line names were assigned."""
        if not names:
            return []
        given = [ast.Constant(at.lineno), ast.Tuple([ast.Constant(name) for name in names], ast.Load())]
        return [ast.copy_location(ast.Expr(_call("named", *given)), at)]

    @staticmethod
    def _statement(at: ast.stmt, what: str, number: int, *more: ast.expr) -> ast.stmt:
        return ast.copy_location(ast.Expr(_call(what, ast.Constant(number), *more)), at)

    @staticmethod
    def _call(what: str, number: int, value: ast.expr) -> ast.expr:
        return ast.copy_location(_call(what, ast.Constant(number), value), value)


def _call(what: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(WATCH, ast.Load()), what, ast.Load()), list(args), [])


def _names(target: ast.expr) -> tuple[str, ...]:
    return tuple(n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _code(node: ast.expr) -> types.CodeType | None:
    """Return the code that evaluates an expression again, None if that may have an effect."""
    return compile(ast.fix_missing_locations(ast.Expression(_load(node))), "<operand>", "eval") if is_readable(node) else None


def _load(node: ast.expr) -> ast.expr:
    """Return a copy of an expression that reads."""
    made = copy.deepcopy(node)
    for n in ast.walk(made):
        if hasattr(n, "ctx"):
            n.ctx = ast.Load()
    return made
