"""Rewritings that make functions of parts of a program, or put functions in the place of their calls."""

import ast
import copy

from tests.metamorphic.calls import pick
from tests.metamorphic.control import clone_all, other_loops, range_loops, runs
from tests.metamorphic.names import rename
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    SCOPES, always_run, assign, binds, blocks, bound_in, bound_inside, call, clone, constant, define, has, inner_blocks,
    is_plain, leaves_loop, locals_of, name, pack, parameter_names, places, put, read_in, returns, same_scope, unpack
)


def needed(run, known=()):
    """The names that a run of statements may read before it binds them, and those that it surely binds."""
    known, found = set(known), {}
    for statement in run:
        inner = [needed(block, known | head_binds(statement)) for block in inner_blocks(statement)]
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.With)):
            reads = [*read_in([head_of(statement)]), *[n for names, _ in inner for n in names]]
        else:
            reads, inner = read_in([statement]), []
        found.update(dict.fromkeys(n for n in reads if n not in known))
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.FunctionDef)):
            known |= set(bound_in([statement]))
        elif isinstance(statement, ast.If) and len(inner) == 2:
            known |= inner[0][1] & inner[1][1]
    return found, known


def head_binds(statement):
    return set(bound_in([statement.target])) if isinstance(statement, ast.For) else set()


def head_of(statement):
    """A statement without the statements inside it."""
    made = copy.copy(statement)
    made.body, made.orelse = [], []
    return made


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
    inside = {id(n) for s in run for n in ast.walk(s)}
    elsewhere = {n for node in same_scope(case.function.body) if id(node) not in inside for n in binds(node)}
    lost = [n for n in outputs if n not in elsewhere | set(parameter_names(case.function))]
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


def inlinable(helper):
    """Whether a function is a row of statements with one `return` at its end."""
    return (
        is_plain(helper) and isinstance(helper.body[-1], ast.Return) and helper.body[-1].value is not None
        and not returns(helper.body[:-1]) and not has(helper.body, *SCOPES, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    )  # fmt: skip


def bindings(helper, node):
    """The parameters of a function and their values in a call, or None where these are not all plain."""
    params, missing = [a.arg for a in helper.args.args], len(helper.args.args) - len(node.args)
    if node.keywords or has(node.args, ast.Starred) or not 0 <= missing <= len(helper.args.defaults):
        return None
    return list(zip(params, [*node.args, *clone_all(helper.args.defaults[len(helper.args.defaults) - missing :])]))


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
                if helper and bindings(helper, place[3]):
                    found.append((block, i, place, helper))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, place, helper = chosen
    made, own = clone(helper), set(locals_of(case.function)) | bound_inside(case.function)
    if any(n in own for n in case.scope if n in read_in(helper.body)):
        return False
    names = {n: case.fresh(n) for n in dict.fromkeys([*locals_of(made), *bound_inside(made)])}
    rename(made, names)
    binding = [assign(names[n], value) for n, value in bindings(helper, place[3])]
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
    inside = {id(n) for n in ast.walk(loop)}
    read = {n.id for n in ast.walk(case.function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in inside}
    if variable in read or not outputs:
        return False
    done = ast.If(ast.Compare(name(variable), [ast.GtE()], [name(end)]), result_of(outputs), [])
    again = call(title, ast.BinOp(name(variable), ast.Add(), constant(1)), name(end), *map(name, carried))
    case.before.append(define(title, [variable, end, *carried], [done, *loop.body, ast.Return(again)]))
    block[i] = handed_back(outputs, call(title, start, stop, *map(name, carried)))
    return True


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

