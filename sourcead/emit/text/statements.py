"""Prints blocks of IR as Python statements."""

import ast
import keyword
from collections import Counter
from collections.abc import Callable

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder, operand_type
from sourcead.emit.memory.sharing import is_plain, key_kind
from sourcead.emit.text.calls_in_place import augments, fills_rows, is_large, writer
from sourcead.emit.text.contracted import contracted
from sourcead.emit.text.early_exits import either, iteration
from sourcead.emit.text.expressions import BINARY, Expressions, is_expression, negated, operator_name
from sourcead.emit.text.idioms import Each
from sourcead.emit.text.live_ranges import stand_ins
from sourcead.emit.text.printing import Comments, Group, in_contexts, mark, names_in
from sourcead.ir.names import as_name, numbered
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Call, Closure, Const, Effect, Index, Let, Loop, Pop, Range, Stmt, Sub,
    Update, Var
)
from sourcead.ir.records import is_frozen
from sourcead.ir.types import Array, ListT, Scalar, StructT, TupleT, Type, is_known_container, rank
from sourcead.ir.walk import is_cotangent
from sourcead.passes.equality import same
from sourcead.primitives.result_types.infer import infer_index

_SIGNS = {"add": ast.Add, "sub": ast.Sub}


class Statements:
    """Makes statements.

    Attributes:
        expressions: makes expressions; knows the names of variables and which are nested.
        read: how often each variable is read.
        at: the functions that are called in place of `np.add.at` and `np.subtract.at`, under "add" and "sub".
        within: the context managers that are open.
        in_loop: whether the statements are inside of a loop.
        lets_go: whether large arrays are kept as few as possible.
        missing: the variables that are None where they have no value, because they are moved there.
        unread: the name of what is not read: `_`, or more underscores if something that is read has that name.
    """

    def __init__(self, expressions: Expressions, comments: Comments, read: dict[Var, int], at: dict[str, Callable] | None = None):
        self.expressions, self.comments, self.read, self.at = expressions, comments, read, at
        self.nested = expressions.nested
        self.within: tuple[Call, ...] = ()
        self.in_loop = self.lets_go = False
        self.unread = "_"
        self.missing: set[Var] = set()

    def block(self, block: Block, printed: dict[Stmt, list[ast.stmt]] | None = None) -> list[ast.stmt]:
        """Return the statements of a block, without those that use its results; some may have been `printed` already."""
        return self.comments.annotated(in_contexts(self, self.groups(block, printed)), False)

    def groups(self, block: Block, printed: dict[Stmt, list[ast.stmt]] | None = None) -> list[Group]:
        """Return the statements of a block, each with what is printed for it."""
        groups = []
        for stmt in block.stmts:
            if stmt.targets and all(t in self.nested for t in stmt.targets):
                continue
            outer, self.within = self.within, stmt.within or self.within
            groups.append((stmt, mark(printed[stmt] if printed and stmt in printed else self.statement(stmt), stmt)))
            self.within = outer
        return contracted(groups, self.read, self.nested, self.expressions.names, self.at is None)

    def statement(self, stmt: Stmt) -> list[ast.stmt]:
        op = stmt.op
        match op:
            case Update():
                return self.update(stmt)
            case Append(base, value, path, at):
                place = [] if at is None else [self.expressions.operand(at)]
                call = self.method(base, "insert" if place else "append", [*place, self.expressions.operand(value)], path)
                return [ast.Expr(call), *self.renamed(base, stmt.targets[0])]
            case Pop(base, path, at):
                rest, *popped = stmt.targets
                before = self.renamed(base, rest)  # first: the popped value may take the base's name
                call = self.method(rest if before else base, "pop", [] if at is None else [self.expressions.operand(at)], path)
                if not any(v in self.read for v in popped):
                    return [*before, ast.Expr(call)]
                target = self.target(*popped) if len(popped) == 1 else ast.Tuple(list(map(self.taken, popped)), ast.Store())
                return [*before, ast.Assign([target], call)]
            case Let(value) if isinstance(value, Var):
                return self.moves([(stmt.targets[0], value)])
            case Branch():
                if is_expression(op, self.nested):
                    return [ast.Assign([self.target(stmt.targets[0])], self.expressions.op(op))]
                return self.branch(stmt)
            case Loop():
                return self.loop(stmt)
            case Closure():
                return [self.closure(stmt)]
            case Effect():
                return self.effect(stmt)
            case Call(fn=fn, args=(owner, key, new)) if place := self.expressions.place(fn, owner, key):
                return [ast.Assign([place], self.expressions.operand(new))]
        return self.binding(stmt)

    # ---- bindings ----

    def target(self, v: Var) -> ast.expr:
        return ast.Name(self.expressions.names[v], ast.Store())

    def taken(self, v: Var) -> ast.expr:
        """Return the target of one element, which has the name `unread` if nothing reads it."""
        return self.target(v) if v in self.read else ast.Name(self.unread, ast.Store())

    def name(self, atom: Atom) -> str | None:
        """Return the name that an atom is printed as, or None if it is printed as another expression."""
        return self.expressions.names.get(atom) if isinstance(atom, Var) and atom not in self.nested else None

    def renamed(self, base: Atom, result: Var) -> list[ast.stmt]:
        """Return `result = base` if the two do not share a name, else no statement."""
        return self.moves([(result, base)]) if result in self.read else []

    def method(self, base: Atom, name: str, args: list[ast.expr], path: tuple[Sub, ...] = ()) -> ast.expr:
        owner = self.expressions.part(self.expressions.operand(base), path)
        return ast.Call(ast.Attribute(owner, name, ast.Load()), args, [])

    def binding(self, stmt: Stmt) -> list[ast.stmt]:
        """Return `targets = op` for an op that is an expression."""
        if isinstance(stmt.op, Call) and stmt.op.into is not None:
            return [self.in_place(stmt)]
        value = self.expressions.op(stmt.op)
        if not any(t in self.read for t in stmt.targets) and isinstance(stmt.op, Call):
            return [ast.Expr(value)] if stmt.op.effect or not stmt.targets else []
        if len(stmt.targets) > 1:
            return [ast.Assign([ast.Tuple([self.taken(t) for t in stmt.targets], ast.Store())], value)]
        return [self.augmented(stmt, value) or ast.Assign([self.target(stmt.targets[0])], value)]

    def in_place(self, stmt: Stmt) -> ast.stmt:
        """Return a call whose result takes the memory of an operand `x` as `x *= y`, `np.exp(x, out=x)` or `y = np.exp(x, out=x)`.

        If two names are needed and little memory is saved, the result has its own: in a loop, the next iteration frees the operand's, and
        NumPy writes the result of an expression into the memory of an expression inside it.
        """
        op, target = stmt.op, stmt.targets[0]
        old, expressions = op.args[op.into], self.expressions
        same = self.name(old) == self.name(target)
        if same and augments(op):
            return ast.AugAssign(self.target(target), BINARY[operator_name(op.fn)](), expressions.operand(op.args[1 - op.into]))
        if not is_large(target.type) or not same and (self.in_loop or any(self.gives_memory(a, target) for a in op.args)):
            return ast.Assign([self.target(target)], expressions.op(op))
        args = [expressions.operand(a) for a in op.args]
        call = ast.Call(expressions.function(writer(op) or op.fn), args, [ast.keyword("out", expressions.operand(old))])
        return ast.Expr(call) if same else ast.Assign([self.target(target)], call)

    def gives_memory(self, atom: Atom, target: Var) -> bool:
        """Return whether an operand is an expression inside another of its shape."""
        return isinstance(atom, Var) and isinstance(self.nested.get(atom), Call) and atom.type == target.type

    def augmented(self, stmt: Stmt, value: ast.expr) -> ast.stmt | None:
        """Return `s += v` for `s = s + v` if `s` is a number and the user did not write `s = s + v`, else None."""
        op, target = stmt.op, stmt.targets[0]
        if not (isinstance(value, ast.BinOp) and isinstance(op, Call) and isinstance(target.type, Scalar)):
            return None
        first = op.args[0]
        if not (isinstance(first, Var) and self.name(first) == self.name(target) and isinstance(first.type, Scalar)):
            return None
        if stmt.origin is not None and stmt.adjoint_of is None and "=" in stmt.origin.text:
            left = stmt.origin.text.split("=")[0].rstrip()  # of a loop's head, where it belongs to an argument, it begins with a keyword
            if not left.endswith(tuple("+-*/%@&|^<>")) and not keyword.iskeyword(left.partition(" ")[0]):
                return None
        return ast.AugAssign(self.target(target), value.op, value.right)

    def moves(self, pairs: list[tuple[Var, Atom]]) -> list[ast.stmt]:
        """Return statements that bind variables to values at once, one by one if some order allows it, else as `a, b = b, a`."""
        todo = []
        for target, atom in pairs:
            if atom is UNDEFINED and target in self.missing:
                atom = Const(None)
            if atom is UNDEFINED or self.name(target) is None or self.name(atom) == self.name(target):
                continue
            value = self.expressions.operand(atom)
            todo.append((self.name(target), value, names_in(value)))
        out: list[ast.stmt] = []
        readers = Counter(name for _, _, reads in todo for name in reads)
        while todo:
            free = next((k for k, (name, _, reads) in enumerate(todo) if readers[name] == (name in reads)), None)
            if free is None:
                targets = ast.Tuple([ast.Name(name, ast.Store()) for name, *_ in todo], ast.Store())
                return [*out, ast.Assign([targets], ast.Tuple([v for _, v, _ in todo], ast.Load()))]
            name, value, reads = todo.pop(free)
            readers.subtract(reads)
            out.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return out

    # ---- writes ----

    def update(self, stmt: Stmt) -> list[ast.stmt]:
        op, target = stmt.op, stmt.targets[0]
        if not op.path and isinstance(operand_type(op.base), Scalar):
            base, value = self.expressions.operand(op.base), self.expressions.operand(op.value)
            if op.mode == "set" or self.name(op.base) != self.name(target):
                return [ast.Assign([self.target(target)], value if op.mode == "set" else ast.BinOp(base, _SIGNS[op.mode](), value))]
        if (added := added_to_field(op, self.expressions)) is not None:
            return [*added, *self.renamed(op.base, target)]
        *steps, last = op.path or (Sub(Const(...)),)
        part = self.expressions.part(self.expressions.operand(op.base), tuple(steps))
        key = Const(...)
        if isinstance(last, Sub):
            key = last.key
        else:
            part = self.expressions.part(part, (last,))
        written, moved = self.write(op, part, key), self.renamed(op.base, target)
        name, names = self.name(target), self.expressions.names
        if moved and is_cotangent(target) and names.get(op.base) and name not in names_in(written):  # a primal is the first contribution
            before, names[op.base] = names[op.base], name
            written = self.update(stmt)
            names[op.base] = before
            return [*moved, *written]
        return [written, *moved]

    def write(self, op: Update, part: ast.expr, key) -> ast.stmt:
        """Return `part[key] = value`, the form with `+=` or `-=`, or a call of `np.add.at` if indices may repeat.

        An update without a path is `part[...] = value` or `part += value`.
        """
        value = self.expressions.operand(op.value)
        in_container = len(op.path) == 1 and is_known_container(operand_type(op.base))
        if op.mode != "set" and (
            not op.distinct and key_kind(key) in ("advanced", "unknown") and not in_container or self.of_many_axes(op)
        ):
            return ast.Expr(ast.Call(self.adding(op.mode), [part, self.expressions.operand(key), value], []))
        place = ast.Subscript(part, self.expressions.key(key), ast.Store())
        added_to = place if op.path else part
        if op.mode != "set":
            return ast.AugAssign(added_to, _SIGNS[op.mode](), value)
        combined = self.read_and_written(op)
        if combined is not None:
            operator, other = combined
            return ast.AugAssign(added_to, operator, self.expressions.operand(other))
        if self.lets_go and not self.in_loop and fills_rows(op, made := self.nested.get(op.value)):
            args = [self.expressions.operand(a) for a in made.args]
            return ast.Expr(ast.Call(self.expressions.function(np.matmul), args, [ast.keyword("out", place)]))
        return ast.Assign([place], value)

    def of_many_axes(self, op: Update) -> bool:
        """Return whether an update of an array of many axes is a call, because the engine compiles the statement to slow code."""
        value = operand_type(op.value)
        return self.at is not None and rank(operand_type(op.base)) in (3, 4, 5, 6) and isinstance(value, Array) and value.dims != ()

    def adding(self, mode: str) -> ast.expr:
        """Return the function that adds or subtracts where indices may repeat."""
        if self.at is not None:
            return self.expressions.globals.value(self.at[mode])
        ufunc = self.expressions.globals.value(np.add if mode == "add" else np.subtract)
        return ast.Attribute(ufunc, "at", ast.Load())

    def read_and_written(self, op: Update):
        """Return the operator and the operand if an update has the form `base[path] = base[path] ∘ operand`, else None."""
        value = self.nested.get(op.value) if isinstance(op.value, Var) else None
        if not isinstance(value, Call) or len(value.args) != 2 or value.kwargs:
            return None
        operator = BINARY.get(operator_name(value.fn))
        if operator in (None, ast.MatMult) or not self.reads_path(value.args[0], op.base, op.path):
            return None
        other = value.args[1]
        if self.at is not None and not isinstance(operand_type(other), Scalar):
            return None  # an engine that has no `np.add.at` does not look for shared memory either
        if not isinstance(operand_type(other), Scalar) and isinstance(other, Var) and isinstance(self.nested.get(other), Index):
            return None  # may overlap with what is written
        if not is_plain(operand_type(op.base)):
            return None
        return operator(), other

    def reads_path(self, atom, base: Atom, path) -> bool:
        for step in reversed(path):
            read = self.nested.get(atom) if isinstance(atom, Var) else None
            if not (isinstance(read, Index) and isinstance(step, Sub) and same(read.key, step.key)):
                return False
            atom = read.base
        return atom is base

    # ---- control flow ----

    def branch(self, stmt: Stmt) -> list[ast.stmt]:
        op = stmt.op
        test = self.expressions.operand(op.cond)
        arms = []
        for arm in (op.then, op.orelse):
            pairs = [(t, r) for t, r in zip(stmt.targets, arm.results) if t in self.read]
            arms.append(self.block(arm) + self.moves(pairs))
        return either(test, *arms)

    def loop(self, stmt: Stmt) -> list[ast.stmt]:
        op = stmt.op
        carried = zip(op.params, op.inits, op.body.results, stmt.targets)
        used = [(p, i, r) for p, i, r, t in carried if p in self.read or t in self.read]
        before = self.moves([(p, i) for p, i, _ in used])
        outer, self.in_loop = self.in_loop, True
        body = iteration(self, stmt, self.moves([(p, r) for p, _, r in used]))
        self.in_loop = outer
        after = self.moves([(t, p) for t, p in zip(stmt.targets, op.params) if t in self.read])
        if isinstance(op.domain, Block):
            head = self.block(op.domain)
            test = self.expressions.operand(op.domain.results[0])
            if head:
                leave = ast.If(negated(test), [ast.Break()], [])
                return [*before, ast.While(self.checked(ast.Constant(True)), [*head, leave, *body], []), *after]
            return [*before, ast.While(self.checked(test), body or [ast.Pass()], []), *after]
        if isinstance(op, Each):
            target = ast.Tuple([self.taken(t) for t in op.targets], ast.Store())
        else:
            target = self.taken(op.index)
        return [*before, ast.For(target, self.domain(op), body or [ast.Pass()], []), *after]

    def checked(self, test: ast.expr) -> ast.expr:
        """Return the condition of a `while`, for Numba one that it evaluates: without an exit at the head of the loop, Numba 0.68 frees an
        array that is assigned before a `break` and again after it, while the variable is read."""
        constant = self.at is not None and isinstance(test, ast.Constant)
        return ast.Compare(ast.Constant(1), [ast.Gt()], [ast.Constant(0)]) if constant else test

    def domain(self, loop: Loop) -> ast.expr:
        domain, expressions = loop.domain, self.expressions
        names = dict(expressions.names)
        names.update((init, names[param]) for init, param in stand_ins(loop, self.read).items() if param in names)
        expressions = Expressions(names, expressions.nested, expressions.globals)
        if not isinstance(domain, Range):
            return expressions.operand(domain)
        args = [domain.start, domain.stop, domain.step]
        if number(domain.step) == 1:
            args.pop()
            if number(domain.start) == 0:
                args.pop(0)
        call = Call(range, tuple(args))
        return expressions.op(call)

    def closure(self, stmt: Stmt) -> ast.stmt:
        op = stmt.op
        body = self.block(op.body)
        body += self.returned(op.body.results)
        names = [ast.arg(self.expressions.names[p]) for p in op.params]
        return function_def(self.expressions.names[stmt.targets[0]], names, body)

    def returned(self, results: tuple[Atom, ...]) -> list[ast.stmt]:
        if not results:
            return []
        values = [self.expressions.operand(r) for r in results]
        return [ast.Return(values[0] if len(values) == 1 else ast.Tuple(values, ast.Load()))]

    def effect(self, stmt: Stmt) -> list[ast.stmt]:
        op = stmt.op
        args = [self.expressions.operand(a) for a in op.args]
        if op.kind == "assert":
            return [ast.Assert(args[0], args[1] if len(args) > 1 else None)]
        return [ast.Raise(args[0], None)]


def function_def(name: str, args: list[ast.arg], body: list[ast.stmt], defaults: tuple = ()) -> ast.FunctionDef:
    """Return a function definition with positional parameters, the last of which have the literals `defaults`."""
    values = [ast.Constant(d) for d in defaults]
    arguments = ast.arguments(posonlyargs=[], args=args, vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=values)
    node = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None)
    node.type_params = []
    return node


def added_to_field(op: Update, expressions: Expressions) -> list[ast.stmt] | None:
    """Return the statements of an update that adds to an array in a field of a record or in a tuple, or None for other updates.

        d_layers[i].w += v          where the field can be assigned to, as `+=` does
        d_w = d_layers[i].w         where it cannot: in tuples, named tuples and frozen dataclasses
        d_w += v
    """
    holders = containers(op)
    if op.mode != "add" or not holders or not isinstance(holders[-1], (StructT, TupleT)):
        return None
    part = expressions.operand(op.base)
    for step, holder in zip(op.path, holders):
        field = step.key.value if isinstance(holder, StructT) else None
        part = ast.Subscript(part, expressions.key(step.key), ast.Load()) if field is None else expressions.attribute(part, field)
    value, holder = expressions.operand(op.value), holders[-1]
    if isinstance(part, ast.Attribute) and not issubclass(holder.cls, tuple) and not is_frozen(holder.cls):
        return [ast.AugAssign(part, ast.Add(), value)]
    name = unused(as_name(f"d_{step.key.value}", "d_item") if isinstance(holder, StructT) else "d_item", expressions)
    return [ast.Assign([ast.Name(name, ast.Store())], part), ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), value)]


def containers(op: Update) -> list[Type]:
    """Return the types of the containers that the steps of a path take a part of, or none if one of them is unknown."""
    found, t = [], operand_type(op.base)
    for step in op.path:
        if not isinstance(step, Sub) or not isinstance(t, (ListT, TupleT, StructT)):
            return []
        found.append(t)
        t = infer_index(t, Builder().arg(step.key))
    return found


def unused(name: str, expressions: Expressions) -> str:
    """Return the name, with a number added if the name is taken in the function."""
    taken = {*expressions.names.values(), *expressions.globals.reserved}
    return next(candidate for candidate in numbered(name) if candidate not in taken)
