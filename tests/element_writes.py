"""Counts the elements that a function writes while it runs: of arrays and lists that it makes, and of the parts that it sets.

Each function of the text is run with its expressions wrapped in a counter.  A new array or list counts once, with its size; a write in
place counts the part that is written; a number that is computed counts as one element.  Views count nothing.
"""

import ast
import inspect
import textwrap
import types

import numpy as np

WHOLE_WRITES = ("fill", "sort", "partition", "put", "setfield", "resize", "byteswap")


class Counter:
    """Counts elements; it keeps what it has seen, so that nothing is counted twice and no identity is used again."""

    def __init__(self):
        self.elements = 0
        self.seen: dict[int, object] = {}

    def made(self, value):
        """Count a value that an expression computed, if it is new."""
        todo = [value]
        while todo:
            v = todo.pop()
            if isinstance(v, (np.ndarray, list, tuple, dict)):
                if id(v) in self.seen:
                    continue
                self.seen[id(v)] = v
            if isinstance(v, np.ndarray):
                self.elements += v.size if v.base is None else 0
            elif isinstance(v, (list, tuple, dict)):
                self.elements += len(v)
                todo += v.values() if isinstance(v, dict) else v
            elif isinstance(v, (float, complex, np.inexact)):
                self.elements += 1
        return value

    def taken(self, value):
        """Count what a subscript gives, if that is a new array."""
        return self.made(value) if isinstance(value, np.ndarray) else value

    def known(self, value):
        """Take note of a value that is there already."""
        before = self.elements
        self.made(value)
        self.elements = before

    def written(self, part):
        """Count a part that was set."""
        self.elements += part.size if isinstance(part, np.ndarray) else 1

    def called(self, function, args, value, out):
        """Count what a call wrote in place, and its result."""
        owner = getattr(function, "__self__", None)
        if out is not None:
            self.written(out)
        elif getattr(function, "__name__", "") == "at" and isinstance(owner, np.ufunc):
            self.elements += np.size(args[-1])
        elif isinstance(owner, np.ndarray) and function.__name__ in WHOLE_WRITES:
            self.elements += owner.size
        return self.made(value)


class Counting(ast.NodeTransformer):
    """Wraps the expressions and writes of a function."""

    def visit_FunctionDef(self, node):
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs):
            argument.annotation = None
        node.body = [each for stmt in node.body for each in self.statements(stmt)]
        return node

    def statements(self, stmt):
        new = self.visit(stmt)
        return new if isinstance(new, list) else [new]

    def wrapped(self, node, counter="made"):
        self.generic_visit(node)
        return ast.Call(ast.Attribute(ast.Name("counter__", ast.Load()), counter, ast.Load()), [node], [])

    visit_BinOp = visit_UnaryOp = visit_ListComp = visit_List = wrapped

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals"):
            return node
        return ast.Call(ast.Name("called__", ast.Load()), [node.func, *node.args], node.keywords)

    def visit_Subscript(self, node):
        return self.wrapped(node, "taken") if isinstance(node.ctx, ast.Load) else self.generic_visit(node)

    def visit_Assign(self, node):
        targets = [t for target in node.targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
        written = [self.count(t) for t in targets if isinstance(t, ast.Subscript)]
        node.value = self.visit(node.value)
        return [node, *written]

    def visit_AugAssign(self, node):
        written = self.count(node.target)
        node.value = self.visit(node.value)
        return [node, written]

    def count(self, target):
        """The statement that counts what is now at a target."""
        read = ast.parse(ast.unparse(target), mode="eval").body
        call = ast.Call(ast.Attribute(ast.Name("counter__", ast.Load()), "written", ast.Load()), [read], [])
        return ast.Expr(call)

    def generic_visit(self, node):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, [each for stmt in getattr(node, field) for each in self.statements(stmt)])
        for field, old in ast.iter_fields(node):
            if field not in ("body", "orelse", "finalbody") or not isinstance(old, list):
                if isinstance(old, ast.AST):
                    setattr(node, field, self.visit(old))
                elif isinstance(old, list):
                    setattr(node, field, [self.visit(each) if isinstance(each, ast.AST) else each for each in old])
        return node


def elements_written(text: str, name: str, namespace: dict, args: tuple) -> int:
    """Return how many elements the functions of a text write when the one of this name is called.

    Example:
        >>> elements_written("def f(x):\\n    y = x * 2\\n    y[1:] += y[:-1]\\n    return np.sum(y)", "f", {"np": np}, (np.ones(5),))
        10
    """
    counter = Counter()

    def called(function, *args, **kwargs):
        return counter.called(function, args, function(*args, **kwargs), kwargs.get("out"))

    tree = ast.fix_missing_locations(Counting().visit(ast.parse(text)))
    own = {**namespace, "counter__": counter, "called__": called}
    exec(compile(tree, "<counted>", "exec"), own)
    counter.known(args)
    own[name](*args)
    return counter.elements


def source_of_module(function: types.FunctionType) -> str:
    """Return the source of a function and of all functions of its module."""
    module = inspect.getmodule(function)
    functions = [v for v in vars(module).values() if inspect.isfunction(v) and v.__module__ == module.__name__]
    found = {f.__name__: textwrap.dedent(inspect.getsource(f)) for f in functions if f.__closure__ is None and f.__name__ != "<lambda>"}
    return "\n".join(source for source in found.values() if source.startswith(("def", "@")))
