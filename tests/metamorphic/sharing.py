"""Rewritings after which a variable has several names, or is read and written by inner functions."""

import ast

from tests.metamorphic.calls import pick
from tests.metamorphic.data import plain, storable
from tests.metamorphic.functions import item
from tests.metamorphic.names import movable
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    SCOPES, assign, blocks, bound_in, bound_inside, call, clone, constant, declared, define, expressions, has,
    locals_of, name, parameter_names, parse, put, target, unpack
)


def free_names(case):
    """The variables that no inner function has for itself and that are not declared."""
    hidden = bound_inside(case.function) | declared(case.function)
    return [n for n in locals_of(case.function) if n not in hidden]


def reads(nodes, title):
    """The places below statements where a variable is read, but not those of a loop's or comprehension's own."""
    return [p for s in nodes for p in expressions(s, ast.Name) if p[3].id == title]


@rewriting
def second_name(case):
    """After `a = e` a second name `b = a` is used in some places of the block behind it; nothing assigns `a` there."""
    found = []
    for block in blocks(case.function):
        for i, statement in enumerate(block[:-1]):
            if plain(statement) and statement.targets[0].id in free_names(case):
                title = statement.targets[0].id
                if title not in bound_in(block[i + 1 :]) and reads(block[i + 1 :], title):
                    found.append((block, i, title))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, title = chosen
    other = case.fresh("alias")
    for place in reads(block[i + 1 :], title):
        if case.rng.random() < 0.5:
            put(place, name(other))
    if case.rng.random() < 0.3:
        block[i].targets.append(target(other))
    else:
        block.insert(i + 1, assign(other, name(title)))
    return True


@rewriting
def second_name_of_parameter(case):
    """A parameter that is not assigned gets a second name, which is used in some places."""
    bound = bound_in(case.function.body)
    titles = [n for n in parameter_names(case.function) if n in free_names(case) and n not in bound]
    chosen = pick(case, titles)
    if not chosen:
        return False
    other = case.fresh("alias")
    for place in reads(case.function.body, chosen):
        if case.rng.random() < 0.5:
            put(place, name(other))
    case.function.body.insert(0, assign(other, name(chosen)))
    return True


@rewriting
def read_by_lambda(case):
    """A variable is read by calls of a lambda that was made at the beginning: `get()`."""
    titles = [n for n in free_names(case) if reads(case.function.body, n)]
    chosen = pick(case, titles)
    if not chosen or has(case.function.body, ast.ClassDef):
        return False
    get = case.fresh("get")
    for place in reads(case.function.body, chosen):
        if case.rng.random() < 0.6:
            put(place, call(get))
    getter = ast.Lambda(define("f", [], []).args, name(chosen))
    made = assign(get, getter) if case.rng.random() < 0.5 else define(get, [], [ast.Return(name(chosen))])
    case.function.body.insert(0, made)
    return True


@rewriting
def written_by_closure(case):
    """Some assignments of a variable become calls of a local function that assigns it by `nonlocal`."""
    found = [(b, i) for b in blocks(case.function) for i, s in enumerate(b) if plain(s) and s.targets[0].id in free_names(case)]
    chosen = pick(case, found)
    if not chosen or has(case.function.body, ast.ClassDef):
        return False
    block, i = chosen
    title, set_it, value = block[i].targets[0].id, case.fresh("set_it"), case.fresh("value")
    block[i] = ast.Expr(call(set_it, block[i].value))
    body = case.function.body
    body.insert(0, define(set_it, [value], [ast.Nonlocal([title]), assign(title, name(value))]))
    if title not in bound_in(body) and title not in parameter_names(case.function):
        body.insert(0, assign(title, constant(None)))
    return True


@rewriting
def captured_by_default(case):
    """A variable is read as the default of a lambda's parameter: `(lambda v=a: v)()`."""
    found = [p for n in free_names(case) for p in reads(case.function.body, n)]
    chosen = pick(case, found)
    if not chosen or has([case.function], ast.ClassDef):
        return False
    args = define("f", ["v"], []).args
    args.defaults = [chosen[3]]
    put(chosen, ast.Call(ast.Lambda(args, name("v")), [], []))
    return True


RECORDS = """
import dataclasses
import typing
@dataclasses.dataclass
class {record}:
    value: typing.Any
    def get(self):
        return self.value
    def set(self, value):
        self.value = value
    @property
    def held(self):
        return self.value
"""


@rewriting
def variable_in_record(case):
    """A variable is kept in a dataclass, which is read by an attribute, a method or a property and written by a method."""
    chosen = pick(case, storable(case))
    if not chosen:
        return False
    cell, record = case.fresh("cell"), case.fresh("Cell")
    for place in reads(case.function.body, chosen):
        kinds = [ast.Attribute(name(cell), "value", ast.Load()), call(f"{cell}.get"), ast.Attribute(name(cell), "held", ast.Load())]
        put(place, case.rng.choice(kinds))
    for block in blocks(case.function):
        for i, statement in enumerate(block):
            if plain(statement) and statement.targets[0].id == chosen:
                block[i] = ast.Expr(call(f"{cell}.set", statement.value))
    for node in ast.walk(case.function):
        for field, value in ast.iter_fields(node):
            for k, one in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(one, ast.Name) and one.id == chosen:
                    put((node, field, k), ast.Attribute(name(cell), "value", one.ctx))
    case.before += parse(RECORDS.format(record=record))
    first = name(chosen) if chosen in parameter_names(case.function) else constant(None)
    case.function.body.insert(0, assign(cell, call(record, first)))
    return True


@rewriting
def variables_in_namedtuple(case):
    """Variables are kept in a named tuple, and each assignment makes a new one with `_replace`."""
    titles = [n for n in movable(case) if n in storable(case)]
    used = [n for n in titles if simple_targets(case, n)]
    if not used:
        return False
    title, kind = case.fresh("state"), case.fresh("State")
    for n in used:
        for place in reads(case.function.body, n):
            put(place, ast.Attribute(name(title), n, ast.Load()))
    for block in blocks(case.function):
        for i, s in enumerate(block):
            if plain(s) and s.targets[0].id in used:
                block[i] = assign(title, call(f"{title}._replace", **{s.targets[0].id: s.value}))
            elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and s.target.id in used:
                value = ast.BinOp(ast.Attribute(name(title), s.target.id, ast.Load()), s.op, s.value)
                block[i] = assign(title, call(f"{title}._replace", **{s.target.id: value}))
    case.before += parse(f"import collections\n{kind} = collections.namedtuple({kind!r}, {used!r})")
    case.function.body.insert(0, assign(title, call(kind, *[constant(None) for _ in used])))
    return True


def simple_targets(case, title):
    """Whether a variable is bound by simple assignments alone."""
    own = {id(s.targets[0]) for b in blocks(case.function) for s in b if plain(s)}
    own |= {id(s.target) for b in blocks(case.function) for s in b if isinstance(s, ast.AugAssign)}
    stores = [n for n in ast.walk(case.function) if isinstance(n, ast.Name) and n.id == title and not isinstance(n.ctx, ast.Load)]
    return not title.startswith("_") and all(id(n) in own for n in stores)


@rewriting
def unpack_with_star(case):
    """`a, b = e` becomes `a, *rest = e` and `b, = rest`, or `[a, b] = e`."""
    found = []
    for block in blocks(case.function):
        for i, s in enumerate(block):
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple) and len(s.targets) == 1:
                if len(s.targets[0].elts) > 1 and not has(s.targets, ast.Starred):
                    found.append((block, i, s))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, s = chosen
    first, *others = s.targets[0].elts
    if case.rng.random() < 0.3:
        s.targets[0] = ast.List(s.targets[0].elts, ast.Store())
        return True
    rest = case.fresh("rest")
    s.targets[0] = ast.Tuple([first, ast.Starred(target(rest), ast.Store())], ast.Store())
    block.insert(i + 1, assign(ast.Tuple(others, ast.Store()), name(rest)))
    return True


@rewriting
def dispatched_by_dict(case):
    """A call `f(x)` becomes `table["f"](x)`, with a dict of functions in the function or in the module."""
    found = [p[3] for p in expressions(case.function, ast.Call) if isinstance(p[3].func, (ast.Name, ast.Attribute))]
    found = [n for n in found if case.scope.get(getattr(n.func, "id", getattr(getattr(n.func, "value", None), "id", None)))]
    node = pick(case, found)
    if not node:
        return False
    table = case.fresh("table")
    made = assign(table, ast.Dict([constant("f"), constant("g")], [node.func, clone(node.func)]))
    node.func = item(table, "f")
    (case.before if case.rng.random() < 0.5 and isinstance(made.value.values[0], ast.Attribute) else case.function.body).insert(0, made)
    return True


@rewriting
def assigned_twice(case):
    """`a = e` becomes `a = None` and then `a = e`, `b = a = e`, or `(a,) = (e,)`."""
    found = [(b, i, s) for b in blocks(case.function) for i, s in enumerate(b) if plain(s) and not has([s.value], *SCOPES)]
    found = [one for one in found if one[2].targets[0].id not in {n.id for n in ast.walk(one[2].value) if isinstance(n, ast.Name)}]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, s = chosen
    kind = case.rng.randrange(3)
    if kind == 0:
        block.insert(i, assign(s.targets[0].id, constant(None)))
    elif kind == 1:
        s.targets.insert(0, target(case.fresh("also")))
    else:
        block[i] = assign(unpack([s.targets[0].id]), ast.Tuple([s.value], ast.Load()))
    return True
