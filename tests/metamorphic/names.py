"""Rewritings of names: other names for variables, names for parts of expressions, and expressions in place of names."""

import ast
import builtins

from tests.metamorphic.calls import pick
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    SCOPES, all_names, always_run, assign, binds, blocks, bound_in, bound_inside, call, constant, declared, define,
    expressions, has, locals_of, name, parameter_names, places, put, read_in, target
)

BUILTIN = ("list", "sum", "len", "max", "min", "range", "zip", "abs", "float", "dict", "tuple", "iter", "map", "id", "type", "reversed")
GENERATED = (
    "d_x", "d_y", "d_h", "np", "out", "i", "t", "acc", "x", "x_items", "hist_items", "transpose", "total", "diff", "zeros_like", "copy",
    "add", "d_total", "d_out", "hs", "h_items", "i_1", "diff_1", "value", "grad", "result", "saved", "stack", "tape", "state", "items",
    "steps", "k", "n", "math", "range", "len", "runtime", "sourcead", "zeros", "total_1", "x_1", "d_x_1", "sum_x", "loss_grad", "item",
)  # fmt: skip


def movable(case):
    """The variables of a function that may have other names: not parameters, not declared, not bound for the outside."""
    function = case.function
    own = [n for n in locals_of(function) if n not in parameter_names(function)]
    hard = declared(function) | {k.arg for node in ast.walk(function) if isinstance(node, ast.Call) for k in node.keywords}
    imported = {n for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom)) for n in binds(node)}
    return [n for n in own if n not in hard | imported]


def rename(function, names):
    """Gives the variables of a function other names, also in its inner functions."""
    for node in ast.walk(function):
        if node is function:
            continue
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            node.name = names.get(node.name, node.name)


def renamed(case, names):
    rename(case.function, names)
    return bool(names)


def allowed(case, wishes):
    """The names among those wished for that the function does not use; inner functions do not use them either."""
    return [w for w in wishes if w not in case.used() and w != case.function.name]


@rewriting
def rename_fresh(case):
    """Every variable gets a name of its own that nobody used."""
    return renamed(case, {n: case.fresh(f"v{k}") for k, n in enumerate(movable(case))})


@rewriting
def rename_underscore(case):
    """One variable is called `_` or `__`."""
    found, wishes = movable(case), allowed(case, ("_", "__"))
    return bool(found and wishes) and renamed(case, {case.rng.choice(found): wishes[0]})


@rewriting
def rename_builtin(case):
    """Variables get the names of builtin functions that the program does not use."""
    found, wishes = movable(case), allowed(case, [w for w in BUILTIN if w not in case.scope])
    case.rng.shuffle(wishes)
    return renamed(case, dict(zip(found, wishes)))


@rewriting
def rename_generated(case):
    """Variables get names that generated gradients use themselves."""
    found, wishes = movable(case), allowed(case, GENERATED)
    case.rng.shuffle(wishes)
    return renamed(case, dict(zip(found, wishes)))


@rewriting
def rename_global(case):
    """Variables get the names of functions and modules of the module that the program does not use."""
    found, wishes = movable(case), allowed(case, [w for w in case.scope if not hasattr(builtins, w)])
    case.rng.shuffle(wishes)
    return renamed(case, dict(zip(found, wishes)))


@rewriting
def rename_cotangent(case):
    """Each variable is called like the cotangent of another one, `d_x`, or like its saved values, `xs`."""
    names, others = {}, locals_of(case.function)
    case.rng.shuffle(others)
    for old, other in zip(movable(case), others):
        wish = case.rng.choice([f"d_{other}", f"{other}s", f"{other}_items", f"{other}_1", f"{other}_item"])
        if wish not in case.taken and wish not in names.values() and wish not in case.used():
            names[old] = wish
    return renamed(case, names)


@rewriting
def rename_exchanged(case):
    """The variables exchange their names in a circle."""
    found = [n for n in movable(case) if n != "_"]
    return len(found) > 1 and renamed(case, dict(zip(found, [*found[1:], found[0]])))


@rewriting
def rename_like_inner(case):
    """A variable of an inner function or comprehension gets the name of a variable around it that it does not use."""
    found = []
    for node in ast.walk(case.function):
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            inner = bound_in([g.target for g in node.generators])
            free = [n for n in locals_of(case.function) if n not in all_names(node) and n != "_"]
            if inner and free and not has([node], ast.Lambda, ast.NamedExpr):
                found.append((node, inner, free))
    if not found:
        return False
    node, inner, free = case.rng.choice(found)
    names = {case.rng.choice(inner): case.rng.choice(free)}
    rename(ast.Module([node], []), names)
    return True


def temporary_places(case, size=1):
    """(block, position, place) of expressions that always run and that are more than a name or constant."""
    found = []
    for block in blocks(case.function):
        for i, statement in enumerate(block):
            for place in always_run(statement):
                if not isinstance(place[3], (ast.Name, ast.Constant)) and sum(1 for _ in ast.walk(place[3])) >= size:
                    found.append((block, i, place))
    return found


@rewriting
def name_a_part(case):
    """A part of an expression gets a name in a statement before: `t = e`."""
    chosen = pick(case, temporary_places(case))
    if not chosen:
        return False
    block, i, place = chosen
    title = case.fresh(case.rng.choice(["t", "part", "value", "d_x", "out"]))
    block.insert(i, assign(title, place[3]))
    put(place, name(title))
    return True


@rewriting
def name_every_part(case):
    """Every operation of one statement gets a name, innermost first."""
    found = [(b, i, s) for b, i, s in places(case.function, ast.Assign, ast.Return, ast.AugAssign) if len(always_run(s)) > 3]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, statement = chosen
    added = []
    for place in reversed(always_run(statement)):
        if isinstance(place[3], (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript)):
            title = case.fresh("t")
            added.append(assign(title, place[3]))
            put(place, name(title))
    block[i:i] = added
    return bool(added)


@rewriting
def name_by_walrus(case):
    """`f(e)` becomes `f((t := e))`, and the variable is not used otherwise."""
    chosen = pick(case, temporary_places(case))
    if not chosen or isinstance(chosen[2][0], ast.keyword):
        return False
    put(chosen[2], ast.NamedExpr(target(case.fresh("t")), chosen[2][3]))
    return True


@rewriting
def expression_for_name(case):
    """`a = e` and a statement that reads `a` once become one statement."""
    found = []
    inner = bound_inside(case.function)
    for block in blocks(case.function):
        for i in range(len(block) - 1):
            first, second = block[i], block[i + 1]
            if isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name):
                title = first.targets[0].id
                uses = [n for n in ast.walk(case.function) if isinstance(n, ast.Name) and n.id == title]
                here = [p for p in always_run(second) if isinstance(p[3], ast.Name) and p[3].id == title]
                if len(uses) == 2 and len(here) == 1 and title not in inner | declared(case.function):
                    found.append((block, i, here[0]))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, place = chosen
    put(place, block.pop(i).value)
    return True


@rewriting
def constant_to_global(case):
    """A number becomes a constant of the module, a default of a new variable, or an entry of a global dict."""
    found = [p for p in expressions(case.function, ast.Constant) if type(p[3].value) in (int, float)]
    found = [p for p in found if not isinstance(p[0], (ast.MatchValue, ast.JoinedStr, ast.FormattedValue))]
    chosen = pick(case, found)
    if not chosen:
        return False
    title = case.fresh("CONSTANT")
    if case.rng.random() < 0.5:
        case.before.append(assign(title, chosen[3]))
        put(chosen, name(title))
    else:
        case.before.append(assign(title, ast.Dict([constant("c")], [chosen[3]])))
        put(chosen, ast.Subscript(name(title), constant("c"), ast.Load()))
    return True


@rewriting
def constant_to_local(case):
    """A number becomes a variable that is assigned at the beginning of the function."""
    found = [p for p in expressions(case.function, ast.Constant) if type(p[3].value) in (int, float)]
    found = [p for p in found if not isinstance(p[0], (ast.MatchValue, ast.JoinedStr, ast.FormattedValue))]
    chosen = pick(case, found)
    if not chosen:
        return False
    title = case.fresh("number")
    case.function.body.insert(0, assign(title, chosen[3]))
    put(chosen, name(title))
    return True


@rewriting
def part_to_lambda(case):
    """A part of an expression becomes a call of a lambda or a local function, with its variables as parameters or as closure."""
    found = [one for one in temporary_places(case, 4) if not has([one[2][3]], *SCOPES, ast.NamedExpr, ast.Starred)]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, place = chosen
    names = [n for n in read_in([place[3]]) if n in locals_of(case.function)]
    kind = case.rng.choice(["lambda", "closure", "def"])
    if kind == "lambda":
        made = ast.Lambda(define("f", names, []).args, place[3])
        put(place, call(made, *[name(n) for n in names]))
    elif kind == "closure":
        put(place, call(ast.Lambda(define("f", [], []).args, place[3])))
    else:
        title = case.fresh("part")
        block.insert(i, define(title, names, [ast.Return(place[3])]))
        put(place, call(title, *[name(n) for n in names]))
    return True


@rewriting
def part_in_a_container(case):
    """A part of an expression goes through a tuple, list, dict or conditional expression that has nothing else."""
    chosen = pick(case, temporary_places(case))
    if not chosen:
        return False
    place, kind = chosen[2], case.rng.randrange(5)
    node = place[3]
    made = [
        ast.Subscript(ast.Tuple([node, constant(0)], ast.Load()), constant(0), ast.Load()),
        ast.Subscript(ast.List([node], ast.Load()), ast.UnaryOp(ast.USub(), constant(1)), ast.Load()),
        ast.Subscript(ast.Dict([constant("k")], [node]), constant("k"), ast.Load()),
        ast.IfExp(constant(True), node, constant(None)),
        ast.Call(ast.Attribute(ast.Dict([constant("k")], [node]), "get", ast.Load()), [constant("k")], []),
    ][kind]
    put(place, made)
    return True


@rewriting
def delete_after_use(case):
    """A variable that is not read any more is deleted with `del`, or is given another value."""
    body = case.function.body
    names = [n for n in movable(case) if n not in bound_inside(case.function)]
    found = []
    for i in range(1, len(body)):
        here = set(bound_in(body[:i])) & set(names)
        later = {n.id for s in body[i:] for n in ast.walk(s) if isinstance(n, ast.Name)}
        found += [(i, n) for n in sorted(here - later)]
    if not found or has(body, ast.Lambda, ast.FunctionDef):
        return False
    i, title = case.rng.choice(found)
    gone = ast.Delete([ast.Name(title, ast.Del())])
    body.insert(i, case.rng.choice([gone, assign(title, constant(None)), assign(title, constant(0.0))]))
    return True


@rewriting
def parameters_to_variables(case):
    """Each parameter is copied to a variable at the beginning, and the body reads the variable."""
    if has([case.function], *SCOPES[2:]) or declared(case.function):
        return False
    old = [n for n in parameter_names(case.function) if n not in bound_inside(case.function)]
    names = {n: case.fresh(n) for n in old}
    if not old:
        return False
    for node in [n for s in case.function.body for n in ast.walk(s) if isinstance(n, ast.Name)]:
        node.id = names.get(node.id, node.id)
    case.function.body[:0] = [assign(names[n], name(n)) for n in old]
    return True

