"""Rewritings of branches, comparisons, returns, and of statements that do nothing or may change places."""

import ast

from tests.metamorphic.calls import pick
from tests.metamorphic.control import simple_body
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    SCOPES, as_dotted, assign, blocks, bound_in, call, clone, constant, define, expressions, has, locals_of, name,
    places, put, read_in, returns, same, target
)


def negated(test):
    return ast.UnaryOp(ast.Not(), test)


@rewriting
def swap_branches(case):
    """`if c: A else: B` becomes `if not c: B else: A`."""
    chosen = pick(case, places(case.function, ast.If))
    if not chosen:
        return False
    node = chosen[2]
    node.test, node.body, node.orelse = negated(node.test), node.orelse or [ast.Pass()], node.body
    return True


@rewriting
def swap_conditional(case):
    """`x if c else y` becomes `y if not c else x`."""
    chosen = pick(case, expressions(case.function, ast.IfExp))
    if not chosen:
        return False
    node = chosen[3]
    node.test, node.body, node.orelse = negated(node.test), node.orelse, node.body
    return True


@rewriting
def conditional_to_if(case):
    """`y = a if c else b` becomes an `if` statement."""
    found = [one for one in places(case.function, ast.Assign, ast.Return, ast.AugAssign) if isinstance(one[2].value, ast.IfExp)]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, statement = chosen
    node, other = statement.value, clone(statement)
    statement.value, other.value = node.body, clone(node.orelse)
    block[i] = ast.If(node.test, [statement], [other])
    return True


@rewriting
def if_to_conditional(case):
    """`if c: y = a` with `else: y = b` becomes `y = a if c else b`; without `else` it keeps `y`."""
    found = []
    for block, i, node in places(case.function, ast.If):
        kinds = [s[0] for s in (node.body, node.orelse) if len(s) == 1 and isinstance(s[0], (ast.Assign, ast.Return)) and s[0].value]
        if len(kinds) == 2 and type(kinds[0]) is type(kinds[1]) and same_targets(*kinds):
            found.append((block, i, node, kinds[1].value))
        elif len(kinds) == 1 and not node.orelse and isinstance(kinds[0], ast.Assign) and isinstance(kinds[0].targets[0], ast.Name):
            found.append((block, i, node, name(kinds[0].targets[0].id)))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node, other = chosen
    block[i] = node.body[0]
    block[i].value = ast.IfExp(node.test, block[i].value, other)
    return True


def same_targets(a, b):
    return isinstance(a, ast.Return) or (len(a.targets) == len(b.targets) == 1 and same(a.targets[0], b.targets[0]))


@rewriting
def condition_named(case):
    """`if c` becomes `if holds` after `holds = c`, or `if bool(c)`."""
    chosen = pick(case, places(case.function, ast.If))
    if not chosen:
        return False
    block, i, node = chosen
    if case.rng.random() < 0.3:
        node.test = call("bool", node.test)
        return "bool" not in case.scope
    title = case.fresh("holds")
    block.insert(i, assign(title, node.test))
    node.test = name(title)
    return True


@rewriting
def nested_conditions(case):
    """`if a and b: A` becomes `if a:` with `if b: A` inside, where there is no `else`."""
    found = [one for one in places(case.function, ast.If) if isinstance(one[2].test, ast.BoolOp) and not one[2].orelse]
    found = [one for one in found if isinstance(one[2].test.op, ast.And)]
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[2]
    first, *rest = node.test.values
    inner = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
    node.test, node.body = first, [ast.If(inner, node.body, [])]
    return True


@rewriting
def de_morgan(case):
    """`a and b` in a condition becomes `not (not a or not b)`."""
    found = [p for p in expressions(case.function, ast.BoolOp) if p[1] == "test"]
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[3]
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    put(chosen, negated(ast.BoolOp(other, [negated(v) for v in node.values])))
    return True


@rewriting
def chain_to_and(case):
    """`a < b < c` becomes `a < b and b < c`."""
    found = [p for p in expressions(case.function, ast.Compare) if len(p[3].ops) > 1]
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[3]
    values = [node.left, *node.comparators]
    parts = [ast.Compare(clone(a), [op], [clone(b)]) for a, op, b in zip(values, node.ops, values[1:])]
    put(chosen, ast.BoolOp(ast.And(), parts))
    return True


@rewriting
def and_to_chain(case):
    """`a < b and b < c` becomes `a < b < c`."""
    found = []
    for place in expressions(case.function, ast.BoolOp):
        values = place[3].values
        if isinstance(place[3].op, ast.And) and len(values) == 2 and all(isinstance(v, ast.Compare) for v in values):
            if same(values[0].comparators[-1], values[1].left):
                found.append(place)
    chosen = pick(case, found)
    if not chosen:
        return False
    a, b = chosen[3].values
    put(chosen, ast.Compare(a.left, [*a.ops, *b.ops], [*a.comparators, *b.comparators]))
    return True


@rewriting
def mirrored_comparison(case):
    """`a < b` becomes `b > a`."""
    mirrors = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}
    found = [p for p in expressions(case.function, ast.Compare) if len(p[3].ops) == 1 and type(p[3].ops[0]) in mirrors]
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[3]
    put(chosen, ast.Compare(node.comparators[0], [mirrors[type(node.ops[0])]()], [node.left]))
    return True


@rewriting
def result_variable(case):
    """Each `return e` of the branches becomes an assignment to one variable, which is returned at the end."""
    title = case.fresh("result")
    body = single_exit(case.function.body, title)
    if body is None:
        return False
    case.function.body = [*body, ast.Return(name(title))]
    return True


def single_exit(body, title):
    """Statements that assign what a body returns; None where a `return` stands in a loop or elsewhere."""
    made = []
    for k, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return [*made, assign(title, statement.value or constant(None))]
        if isinstance(statement, ast.If) and returns([statement]):
            branches = [single_exit([*clone_of(b), *clone_of(body[k + 1 :])], title) for b in (statement.body, statement.orelse)]
            return None if None in branches else [*made, ast.If(statement.test, *branches)]
        if returns([statement]):
            return None
        made.append(statement)
    return [*made, assign(title, constant(None))]


def clone_of(statements):
    return [clone(s) for s in statements]


@rewriting
def else_to_early_return(case):
    """`if c: ... return` with `else: B` becomes `if c: ... return` and then `B`; or the other way round."""
    found = []
    for block, i, node in places(case.function, ast.If):
        if isinstance(node.body[-1], ast.Return):
            found.append((block, i, node))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node = chosen
    if node.orelse:
        block[i + 1 : i + 1], node.orelse = node.orelse, []
    else:
        node.orelse = block[i + 1 :] or [ast.Pass()]
        del block[i + 1 :]
    return True


@rewriting
def return_named(case):
    """`return e` becomes `result = e` and `return result`, also `try: return e` with `finally: pass`."""
    chosen = pick(case, [one for one in places(case.function, ast.Return) if one[2].value])
    if not chosen:
        return False
    block, i, node = chosen
    title = case.fresh(case.rng.choice(["result", "out", "value"]))
    if case.rng.random() < 0.5:
        block[i : i + 1] = [assign(title, node.value), ast.Return(name(title))]
    elif case.rng.random() < 0.5:
        block[i] = ast.Try([node], [], [], [ast.Pass()])
    else:
        block[i] = ast.If(constant(True), [node], [])
    return True


@rewriting
def return_by_flag(case):
    """A `return` in a loop becomes an assignment, a flag and a `break`."""
    found = []
    for block, i, loop in places(case.function, ast.For, ast.While):
        nested = [s for s in ast.walk(loop) if isinstance(s, (ast.For, ast.While)) and s is not loop]
        if returns(loop.body) and not nested and not loop.orelse and not has([loop], ast.Yield, ast.YieldFrom, *SCOPES):
            found.append((block, i, loop))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, loop = chosen
    result, done = case.fresh("result"), case.fresh("done")
    replace_returns(loop, result, done)
    after = ast.If(name(done), [ast.Return(name(result))], [])
    block[i : i + 1] = [assign(done, constant(False)), loop, after]
    return True


def replace_returns(node, result, done):
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        for k in reversed(range(len(block) if isinstance(block, list) else 0)):
            if isinstance(block[k], ast.Return):
                block[k : k + 1] = [assign(result, block[k].value or constant(None)), assign(done, constant(True)), ast.Break()]
            else:
                replace_returns(block[k], result, done)


@rewriting
def dead_code(case):
    """A statement that does nothing is added: an unused assignment or function, `if False`, an empty loop, `assert True`."""
    block = case.rng.choice(blocks(case.function))
    before = [s for s in block if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    at, title = case.rng.randrange(len(block) + 1), case.fresh("unused")
    variable = case.rng.choice(bound_in(case.function.body) or locals_of(case.function) or [title])
    zero = assign(variable, constant(0.0))
    kinds = [
        [ast.If(constant(False), [zero], [])],
        [ast.While(constant(False), [zero], [])],
        [ast.For(target(title), call("range", constant(0)), [zero], [], None)],
        [ast.For(target(title), ast.List([], ast.Load()), [zero], [], None)],
        [ast.Assert(constant(True), None)],
        [ast.Pass()],
        [ast.Expr(constant("A sentence."))],
        [define(title, [variable], [ast.Return(name(variable))])],
        [assign(title, ast.Lambda(define("f", [variable], []).args, ast.BinOp(name(variable), ast.Mult(), constant(2.0))))],
        [assign(title, ast.List([], ast.Load())), ast.Expr(call(f"{title}.append", constant(1.0)))],
    ]
    if before:
        copied = clone(case.rng.choice(before))
        copied.targets = [target(title)]
        kinds += [[copied]] * 4
        at = max(at, block.index(before[0]) + 1)
    block[at:at] = case.rng.choice(kinds)
    return True


@rewriting
def dead_copy_of_loop(case):
    """A loop is copied into `if False`, or into a function that nobody calls."""
    found = [one for one in places(case.function, ast.For, ast.While, ast.If) if simple_or_branch(one[2])]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node = chosen
    if case.rng.random() < 0.5 or has([node], ast.Nonlocal, ast.Global):
        block.insert(i, ast.If(constant(False), [clone(node)], []))
    else:
        block.insert(i, define(case.fresh("unused"), [], [clone(node)]))
    return True


def simple_or_branch(node):
    return not returns([node]) and (isinstance(node, ast.If) or simple_body(node)) and not has([node], ast.Break, ast.Continue)


@rewriting
def reorder(case):
    """Two adjacent assignments that do not depend on each other change places."""
    found = []
    for block in blocks(case.function):
        for i in range(len(block) - 1):
            a, b = block[i : i + 2]
            if movable(a) and movable(b) and not set(bound_in([a])) & set(read_in([b]) + bound_in([b])):
                if not set(bound_in([b])) & set(read_in([a])):
                    found.append((block, i))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i = chosen
    block[i], block[i + 1] = block[i + 1], block[i]
    return True


def movable(statement):
    """Whether a statement is an assignment to a name which changes nothing else and reads no memory that might change."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name) or len(statement.targets) > 1:
        return False
    for node in ast.walk(statement.value):
        if isinstance(node, ast.Call) and not (as_dotted(node.func) or "").startswith(("np.", "math.")):
            return False
    return not has([statement.value], ast.NamedExpr, *SCOPES)

