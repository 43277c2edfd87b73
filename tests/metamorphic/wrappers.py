"""Rewritings that put a function into another one, into a class, or into two functions that share its variables."""

import ast

from tests.metamorphic.calls import pick
from tests.metamorphic.functions import item
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    assign, bound_in, call, clone, constant, declared, define, has, is_plain, locals_of, name, parameter_names, read_in,
    returns, unpack
)


@rewriting
def body_in_closure(case):
    """The whole body becomes a local function that is called at once."""
    function = case.function
    if declared(function) or not is_plain(function):
        return False
    title = case.fresh("inner")
    params = [a.arg for a in function.args.args]
    bound = [n for n in params if n in bound_in(function.body)]
    function.body = [define(title, bound, function.body), ast.Return(call(title, *map(name, bound)))]
    return True


def moved_out(case, title):
    """Moves the function out under another name and leaves a definition without a body; its parameters, or None."""
    function = case.function
    if not is_plain(function) or not case.at_top:
        return None
    made = clone(function)
    made.name = title
    for node in ast.walk(made):
        if isinstance(node, ast.Name) and node.id == function.name:
            node.id = title
    case.before.append(made)
    function.body = []
    return [a.arg for a in function.args.args]


@rewriting
def call_through(case):
    """The function calls another one that has its body: by `partial`, by a lambda, with `*args`, with keywords, with a decorator."""
    title = case.fresh("inner")
    params = moved_out(case, title)
    if params is None:
        return False
    values = [name(n) for n in params]
    packed = ast.Starred(ast.Tuple(values, ast.Load()), ast.Load())
    table = ast.Dict([constant(n) for n in params], values)
    partial, functools = case.fresh("rest"), case.fresh("functools")
    mapped = call("map", name(title), *[ast.List([v], ast.Load()) for v in values])
    kinds = {
        "lambda": [ast.Return(call(ast.Lambda(define("f", [], []).args, call(title, *values))))],
        "args": [ast.Return(ast.Call(name(title), [packed], []))],
        "options": [assign(partial, table), ast.Return(ast.Call(name(title), [], [ast.keyword(None, name(partial))]))],
        "keywords": [ast.Return(call(title, **{n: name(n) for n in params}))],
        "partial": [assign(partial, call(f"{functools}.partial", name(title), *values[:1])), ast.Return(call(partial, *values[1:]))],
        "name": [assign(partial, name(title)), ast.Return(call(partial, *values))],
        "list": [ast.Return(call(ast.Subscript(ast.List([name(title)], ast.Load()), constant(0), ast.Load()), *values))],
        "map": [ast.Return(ast.Subscript(call("list", mapped), constant(0), ast.Load()))],
    }
    kind = case.rng.choice(list(kinds) if params else ["lambda", "name"])
    if kind == "partial":
        case.before.insert(0, ast.Import([ast.alias("functools", None if functools == "functools" else functools)]))
    case.function.body = kinds[kind]
    return True


DECORATOR = """
def {0}(function):
    def called(*args, **options):
        return function(*args, **options)
    return called
def {1}(scale):
    def made(function):
        @functools.wraps(function)
        def called(*args):
            return scale * function(*args)
        return called
    return made
"""


@rewriting
def decorated(case):
    """The function is called through one that a decorator with `*args` made."""
    title, plain, scaled = case.fresh("inner"), case.fresh("plain"), case.fresh("scaled")
    params = moved_out(case, title)
    if params is None:
        return False
    made = ast.parse(DECORATOR.format(plain, scaled)).body
    case.before[-1].decorator_list = [case.rng.choice([name(plain), call(scaled, constant(1.0))])]
    case.before[:0] = [ast.Import([ast.alias("functools", None)]), *made]
    case.function.body = [ast.Return(call(title, *map(name, params)))]
    return True


@rewriting
def method_of_object(case):
    """The function becomes a method: of an object with attributes, a static one, a class method, or `__call__`."""
    title = case.fresh("Model")
    function, params = case.function, [a.arg for a in case.function.args.args]
    recursive = any(isinstance(n, ast.Name) and n.id == function.name for s in function.body for n in ast.walk(s))
    if not is_plain(function) or not case.at_top or recursive or "self" in case.used():
        return False
    kind = case.rng.choice(["method", "static", "class", "call", "attributes"])
    made = define("__call__" if kind == "call" else "run", params, function.body)
    first = {"static": [], "class": ["cls"]}.get(kind, ["self"])
    made.args.args[:0] = [ast.arg(n) for n in first]
    made.decorator_list = [name({"static": "staticmethod", "class": "classmethod"}[kind])] if kind in ("static", "class") else []
    model, values = ast.ClassDef(title, [], [], [made], []), list(map(name, params))
    case.before.append(model)
    if kind == "attributes":
        attributes = [ast.Attribute(name("self"), n, ast.Load()) for n in params]
        made.body = [*[assign(n, a) for n, a in zip(params, attributes)], *made.body]
        del made.args.args[1:]
        stores = [assign(ast.Attribute(name("self"), n, ast.Store()), name(n)) for n in params]
        model.body.insert(0, define("__init__", ["self", *params], stores))
        function.body = [ast.Return(call(ast.Attribute(call(title, *values), "run", ast.Load())))]
    elif kind == "call":
        function.body = [ast.Return(call(call(title), *values))]
    else:
        owner = name(title) if kind != "method" and case.rng.random() < 0.5 else call(title)
        function.body = [ast.Return(call(ast.Attribute(owner, "run", ast.Load()), *values))]
    return True


def split_places(case):
    """The positions at which the body of a function may be split in two."""
    body = case.function.body
    found = [k for k in range(1, len(body)) if not returns(body[:k]) and not has(body[:k], ast.FunctionDef, ast.Lambda, ast.NamedExpr)]
    return [] if declared(case.function) or not case.at_top else found


@rewriting
def split_by_container(case):
    """The function becomes two, which share their variables by a dict, an object, a tuple or a list."""
    k = pick(case, split_places(case))
    if not k:
        return False
    function, kind = case.function, case.rng.choice(["dict", "namespace", "tuple", "list", "class"])
    own = set(parameter_names(function)) | set(bound_in(function.body[:k]))
    shared = [n for n in read_in(function.body[k:]) if n in own & set(locals_of(function))]
    first, second, s = case.fresh("first"), case.fresh("second"), case.fresh("shared")
    packed, parts = container(case, kind, shared, s)
    begin, end = clone(function), define(second, [s], [*parts, *function.body[k:]])
    begin.name, begin.body, begin.args.defaults = first, [*function.body[:k], ast.Return(packed)], []
    if not is_plain(function):
        return False
    case.before += [begin, end]
    function.body = [ast.Return(call(second, call(first, *[name(a.arg) for a in function.args.args])))]
    return True


def container(case, kind, names, title):
    """An expression that holds variables, and the statements that take them out again."""
    values = [name(n) for n in names]
    if kind == "dict":
        return ast.Dict([constant(n) for n in names], values), [assign(n, item(title, n)) for n in names]
    if kind in ("tuple", "list"):
        made = (ast.Tuple if kind == "tuple" else ast.List)(values, ast.Load())
        return made, [assign(unpack(names), name(title))] if names else []
    maker = case.fresh("SimpleNamespace" if kind == "namespace" else "Shared")
    if kind == "namespace":
        renamed = None if maker == "SimpleNamespace" else maker
        case.before.append(ast.ImportFrom("types", [ast.alias("SimpleNamespace", renamed)], 0))
    else:
        stores = [assign(ast.Attribute(name("self"), n, ast.Store()), name(n)) for n in names]
        case.before.append(ast.ClassDef(maker, [], [], [define("__init__", ["self", *names], stores)], []))
    made = call(maker, **dict(zip(names, values)))
    return made, [assign(n, ast.Attribute(name(title), n, ast.Load())) for n in names]
