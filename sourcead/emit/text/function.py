"""A function of the IR as text: idioms, nested values, names and statements are decided in this order."""

import ast
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sourcead.analysis.conditions import raises
from sourcead.analysis.unassigned import moved_unassigned, with_nothing
from sourcead.emit.text.expressions import Expressions
from sourcead.emit.text.globals import Globals
from sourcead.emit.text.idioms import with_idioms
from sourcead.emit.text.joined_stacks import join_stacks
from sourcead.emit.text.let_go import let_go
from sourcead.emit.text.naming import assign_names
from sourcead.emit.text.nesting import nested_values
from sourcead.emit.text.printing import Comments, Span, in_contexts, mark, statements_by_span, to_text
from sourcead.emit.text.statements import Statements, function_def
from sourcead.ir.nodes import Const, Function, Op, Origin, Stmt, Var
from sourcead.ir.walk import bound_vars, count_reads, definitions, map_atoms, walk
from sourcead.passes.residuals.check_assigned import check_assigned

MOST_WAITING = 1.4  # how much more memory may be held because results are computed in the last line, where their operands are needed


@dataclass(frozen=True)
class Emitted:
    """The source of a function.

    Attributes:
        namespace: the globals that it reads.
        node: the function that it was printed from.
        nested: the values that are printed inside the expressions that read them.
        names: what its global names stand for, those of built-in functions too.
    """

    text: str
    namespace: dict[str, Any]
    node: ast.FunctionDef | None = None
    nested: dict[Var, Op] = field(default_factory=dict, repr=False)
    names: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def statements(self) -> dict[Span, Stmt]:
        """The statement that each line and each expression comes from."""
        return {} if self.node is None else statements_by_span(self.node, self.text)

    @property
    def origins(self) -> dict[Span, Origin]:
        """The user's statement that each line and each expression comes from, for errors."""
        return {span: stmt.place for span, stmt in self.statements.items()}


def emit(function: Function, at: dict[str, Callable] | None = None, elsewhere: Mapping[str, Any] = MappingProxyType({})) -> Emitted:
    """Return the function as Python source; run `assign_memory` first, because updates print as writes in place.

    `at` holds the functions that are called in place of `np.add.at` and `np.subtract.at`, under "add" and "sub", for engines without them;
    `elsewhere`, what names stand for in other functions of the same text.

    Example:
        >>> import operator
        >>> from sourcead.ir.nodes import Block, Call, Const, Function, Stmt, Var
        >>> x, y = Var("x"), Var("y", temp=True)
        >>> double = Function("double", (x,), Block((Stmt((y,), Call(operator.mul, (x, Const(2)))),), (y,)))
        >>> print(emit(double).text)
        def double(x):
            return x * 2
        <BLANKLINE>
    """
    function = with_idioms(function if at else join_stacks(function))
    printed, held = _printed(function, at, nested_values(function, over_lines=True), elsewhere)
    nested = nested_values(function) if function.lets_go and held else printed.nested
    if nested.keys() != printed.nested.keys():  # some results wait for the last line
        at_once, less = _printed(function, at, nested, elsewhere)
        printed = printed if held <= MOST_WAITING * less else at_once
    return printed


def _printed(function: Function, at: dict[str, Callable] | None, nested: dict[Var, Op], elsewhere: Mapping) -> tuple[Emitted, float]:
    """Return a function as source with some values `nested`, and the estimated size of what its names hold at most.

    The size is 0 if the function does not let go of arrays, or is not looked at for that.
    """
    live: set[str] = set()
    map_atoms(function.body, lambda a: a if not (isinstance(a, Const) and a.live) else live.add(a.text) or a)
    globals_ = Globals({function.name, *(p.name for p in function.params)}, live, elsewhere)
    read = count_reads(function.body)
    names = assign_names(function, nested, _globals_used(function, nested, globals_, at, read))
    origins = {s.adjoint_of is not None for s in function.body.stmts}
    comments = Comments(sections=origins == {True, False})
    defined, expressions = definitions(function.body), Expressions(names, nested, globals_)
    expressions.made = {v: defined[v] for v in nested}
    statements = Statements(expressions, comments, read, at)
    used = {names.get(v) for v in read} | globals_.reserved
    statements.missing = moved_unassigned(function.body, lambda v, a: names.get(v) not in (None, names.get(a)))
    if statements.missing and at is None:  # what is moved is None until it is assigned, so that no read of it raises an error by itself
        explicit = replace(function, body=with_nothing(function.body)[0])
        if (checked := check_assigned(explicit, lists=True)) is not explicit:
            return emit(checked, elsewhere=elsewhere), 0.0
    statements.unread = next(name for n in itertools.count(1) if (name := "_" * n) not in used)
    body: list[ast.stmt] = [ast.Expr(ast.Constant(function.doc))] if function.doc else []
    statements.lets_go = expressions.lets_go = function.lets_go
    groups = statements.groups(function.body)
    first = next((found for r in function.body.results if isinstance(r, Var) and (found := defined.get(r)) is not None), None)
    returned = [] if at is None and raises(function.body) else statements.returned(function.body.results)
    returned = returned if first is None else mark(returned, first)
    held = 0.0
    if function.lets_go:
        groups, held = let_go(function, names, nested, groups, returned)
    body += comments.annotated(in_contexts(statements, groups), at_top=True) + returned
    node = function_def(function.name, [ast.arg(p.name) for p in function.params], body, function.defaults)
    text = to_text(node, comments.lines)
    return Emitted(text, dict(globals_.namespace), node, nested, globals_.values), held


def _globals_used(function: Function, nested: dict[Var, Op], globals_: Globals, at, read: dict[Var, int]) -> set[str]:
    """Return the global names that the text uses, found by printing it once, because they do not depend on the names of variables."""
    bound = (v for s in walk(function.body) for v in (*s.targets, *bound_vars(s.op)))
    statements = Statements(Expressions(dict.fromkeys((*function.params, *bound), "_"), nested, globals_), Comments(False), read, at)
    statements.block(function.body)
    statements.returned(function.body.results)
    return set(globals_.reserved)
