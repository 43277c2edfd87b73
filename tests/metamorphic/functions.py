"""Rewritings that make functions of parts of a program, or put functions in the place of their calls."""

import ast

from tests.metamorphic.calls import pick
from tests.metamorphic.control import clone_all, other_loops, range_loops, runs
from tests.metamorphic.names import rename
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (
    SCOPES, always_run, assign, blocks, bound_in, bound_inside, call, clone, constant, declared, define, has, is_plain, leaves_loop,
    locals_of, name, pack, places, put, read_in, returns, unpack,
)  # fmt: skip


def needed(run):
    """The names that a run of statements reads and may not have bound before."""
    known, found = set(), {}
    for statement in run:
        found.update(dict.fromkeys(n for n in read_in([statement]) if n not in known))
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.FunctionDef)):
            known |= set(bound_in([statement]))
    return found, known


def traffic(function, run):
    """(inputs, outputs) of a run of statements of a function: the variables it takes and those it leaves for others."""
    own = set(locals_of(function))
    inside = {id(n) for s in run for n in ast.walk(s)}
    outer = [n for n in ast.walk(function) if id(n) not in inside]
    elsewhere = {n.id for n in outer if isinstance(n, ast.Name)} | {n.arg for n in outer if isinstance(n, ast.arg)}
    read, known = needed(run)
    bound = [n for n in bound_in(run) if n in own]
    outputs = [n for n in bound if n in elsewhere or n in read]
    inputs = [n for n in read if n in own and (n not in bound or n in elsewhere)]
    inputs += [n for n in outputs if n not in known and n in elsewhere and n not in inputs and bound_outside(outer, n)]
    return inputs, outputs


def bound_outside(nodes, title):
    return any(
        (isinstance(n, ast.Name) and n.id == title and not isinstance(n.ctx, ast.Load)) or (isinstance(n, ast.arg) and n.arg == title)
        for n in nodes
    )


def handed_back(outputs, made):
    """The statement that assigns what a call hands back."""
    if not outputs:
        return ast.Expr(made)
    return assign(outputs[0] if len(outputs) == 1 else unpack(outputs), made)


def result_of(outputs):
    """The statement at the end of an extracted function."""
    return [ast.Return(name(outputs[0]) if len(outputs) == 1 else pack(outputs))] if outputs else []


def extractable(case):
    """(block, first, last) of a run of statements that may stand in a function of its own; or None."""
    chosen = runs(case)
    if not chosen:
        return None
    block, i, j = chosen
    if returns(block[i:j]) or has(block[i:j], *SCOPES, ast.Delete, ast.NamedExpr, ast.Import, ast.ImportFrom):
        return None
    return chosen


def extract(case, at_top):
    chosen = extractable(case)
    if not chosen:
        return False
    block, i, j = chosen
    inputs, outputs = traffic(case.function, block[i:j])
    title = case.fresh("part")
    made = define(title, inputs, [*block[i:j], *result_of(outputs)])
    block[i:j] = [handed_back(outputs, call(title, *map(name, inputs)))]
    if at_top:
        case.before.append(made)
    else:
        case.function.body.insert(0, made)
    return True


@rewriting
def extract_to_module(case):
    """A run of statements becomes a function of the module that returns the names it binds."""
    return case.at_top and extract(case, True)


@rewriting
def extract_to_local(case):
    """A run of statements becomes a local function with parameters."""
    return extract(case, False)


@rewriting
def extract_to_closure(case):
    """A run of statements becomes a local function that reads the variables around it where it does not bind them."""
    chosen = extractable(case)
    if not chosen:
        return False
    block, i, j = chosen
    inputs, outputs = traffic(case.function, block[i:j])
    bound = set(bound_in(block[i:j]))
    inputs = [n for n in inputs if n in bound]
    title = case.fresh("part")
    made = define(title, inputs, [*block[i:j], *result_of(outputs)])
    block[i:j] = [made, handed_back(outputs, call(title, *map(name, inputs)))]
    return True


@rewriting
def extract_with_nonlocal(case):
    """A run of statements becomes a local function that assigns the variables around it by `nonlocal`."""
    chosen = extractable(case)
    if not chosen:
        return False
    block, i, j = chosen
    _, outputs = traffic(case.function, block[i:j])
    title, run = case.fresh("part"), block[i:j]
    elsewhere = bound_in([s for s in ast.walk(case.function) if isinstance(s, ast.Name) and not any(s is n for r in run for n in ast.walk(r))])
    lost = [n for n in outputs if n not in elsewhere]
    if not outputs:
        return False
    block[i:j] = [define(title, [], [ast.Nonlocal(outputs), *run]), ast.Expr(call(title))]
    case.function.body[:0] = [assign(n, constant(None)) for n in lost]
    return True


@rewriting
def extract_writing_into_dict(case):
    """A run of statements becomes a function that reads its variables from a dict and writes them there."""
    chosen = extractable(case)
    if not chosen or not case.at_top:
        return False
    block, i, j = chosen
    inputs, outputs = traffic(case.function, block[i:j])
    title, state = case.fresh("part"), case.fresh("state")
    takes = [assign(n, item(state, n)) for n in inputs]
    gives = [assign(item(state, n, ast.Store()), name(n)) for n in outputs]
    case.before.append(define(title, [state], [*takes, *block[i:j], *gives]))
    packed = ast.Dict([constant(n) for n in inputs], [name(n) for n in inputs])
    block[i:j] = [assign(state, packed), ast.Expr(call(title, name(state))), *[assign(n, item(state, n)) for n in outputs]]
    return True


def item(container, key, context=None):
    return ast.Subscript(name(container), constant(key), context or ast.Load())


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
    kinds = {
        "lambda": [ast.Return(call(ast.Lambda(define("f", [], []).args, call(title, *values))))],
        "args": [ast.Return(ast.Call(name(title), [packed], []))],
        "options": [assign(partial, table), ast.Return(ast.Call(name(title), [], [ast.keyword(None, name(partial))]))],
        "keywords": [ast.Return(call(title, **{n: name(n) for n in params}))],
        "partial": [assign(partial, call(f"{functools}.partial", name(title), *values[:1])), ast.Return(call(partial, *values[1:]))],
        "name": [assign(partial, name(title)), ast.Return(call(partial, *values))],
        "list": [ast.Return(call(ast.Subscript(ast.List([name(title)], ast.Load()), constant(0), ast.Load()), *values))],
        "map": [ast.Return(ast.Subscript(call("list", call("map", name(title), *[ast.List([v], ast.Load()) for v in values])), constant(0)))],
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
    made[0].body = made[0].body
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
    own = set(locals_of(function))
    shared = [n for n in read_in(function.body[k:]) if n in own]
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


def inlinable(helper):
    """Whether a function is a row of statements with one `return` at its end."""
    return (
        is_plain(helper) and isinstance(helper.body[-1], ast.Return) and helper.body[-1].value is not None
        and not returns(helper.body[:-1]) and not has(helper.body, *SCOPES, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    )  # fmt: skip


@rewriting
def inline(case):
    """The body of a function of the module takes the place of its call."""
    helpers = {s.name: s for s in case.body if isinstance(s, ast.FunctionDef) and s is not case.function and inlinable(s)}
    helpers = {k: s for k, s in helpers.items() if k not in locals_of(case.function) and k not in read_in(s.body)}
    found = []
    for block in blocks(case.function):
        for i, statement in enumerate(block):
            for place in always_run(statement):
                helper = helpers.get(getattr(getattr(place[3], "func", None), "id", None))
                if helper and len(place[3].args) == len(helper.args.args) and not place[3].keywords and not has(place[3].args, ast.Starred):
                    found.append((block, i, place, helper))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, place, helper = chosen
    made, own = clone(helper), set(locals_of(case.function)) | bound_inside(case.function)
    if any(n in own for n in case.scope if n in read_in(helper.body)):
        return False
    params = [a.arg for a in made.args.args]
    names = {n: case.fresh(n) for n in dict.fromkeys([*locals_of(made), *bound_inside(made)])}
    rename(made, names)
    binding = [assign(names[n], value) for n, value in zip(params, place[3].args)]
    put(place, made.body[-1].value)
    block[i:i] = [*binding, *made.body[:-1]]
    return True


@rewriting
def loop_to_recursion(case):
    """A loop over a range becomes a function that calls itself."""
    chosen = pick(case, [one for one in range_loops(case, True) if loop_fits(one[2])])
    if not chosen or not case.at_top:
        return False
    block, i, loop, (start, stop, _) = chosen
    inputs, outputs = traffic(case.function, [loop])
    variable, end, title = loop.target.id, case.fresh("end"), case.fresh("loop")
    carried = list(dict.fromkeys([n for n in [*inputs, *outputs] if n != variable]))
    outputs = [n for n in outputs if n != variable]
    if variable in read_in([s for b in blocks(case.function) for s in b if s is not loop and not contains(s, loop)]) or not outputs:
        return False
    done = ast.If(ast.Compare(name(variable), [ast.GtE()], [name(end)]), result_of(outputs), [])
    again = call(title, ast.BinOp(name(variable), ast.Add(), constant(1)), name(end), *map(name, carried))
    case.before.append(define(title, [variable, end, *carried], [done, *loop.body, ast.Return(again)]))
    block[i] = handed_back(outputs, call(title, start, stop, *map(name, carried)))
    return True


def contains(statement, node):
    return any(n is node for n in ast.walk(statement))


def loop_fits(loop):
    return not loop.orelse and not leaves_loop(loop.body) and not returns(loop.body) and not has(loop.body, *SCOPES, ast.NamedExpr)


@rewriting
def loop_to_reduce(case):
    """A loop becomes `functools.reduce` over its items, with its variables as the state."""
    loops = [(b, i, s) for b, i, s in other_loops(case) + [one[:3] for one in range_loops(case)] if loop_fits(s)]
    chosen = pick(case, loops)
    if not chosen:
        return False
    block, i, loop = chosen
    inputs, outputs = traffic(case.function, [loop])
    variables = bound_in([loop.target])
    outputs = [n for n in outputs if n not in variables]
    if not outputs or any(n not in inputs for n in outputs):
        return False
    step, state, one, functools = (case.fresh(n) for n in ("step", "state", "one", "functools"))
    body = [assign(unpack(outputs), name(state)), assign(loop.target, name(one)), *loop.body, ast.Return(pack(outputs))]
    case.before.append(ast.Import([ast.alias("functools", None if functools == "functools" else functools)]))
    made = call(f"{functools}.reduce", name(step), loop.iter, pack(outputs))
    block[i : i + 1] = [define(step, [state, one], body), assign(unpack(outputs), made)]
    return True


@rewriting
def body_of_loop_to_function(case):
    """The body of a loop becomes a local function of the loop's variable and of what the body reads."""
    found = [one for one in places(case.function, ast.For, ast.While) if loop_fits(one[2])]
    chosen = pick(case, found)
    if not chosen:
        return False
    loop, title = chosen[2], case.fresh("body")
    inputs, outputs = traffic(case.function, loop.body)
    made = define(title, inputs, [*loop.body, *result_of(outputs)])
    loop.body = [handed_back(outputs, call(title, *map(name, inputs)))]
    case.function.body.insert(0, made)
    return True


__all__ = ["clone_all"]
