"""Tools for the syntax tree of one function: its names, its blocks of statements, and the expressions that always run."""

import ast
import copy

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.While)


def name(text):
    """An expression that reads a name."""
    return ast.Name(text, ast.Load())


def target(text):
    """A name that is assigned to."""
    return ast.Name(text, ast.Store())


def constant(value):
    return ast.Constant(value)


def assign(left, right):
    """`left = right`, where `left` is a name or a target."""
    return ast.Assign([target(left) if isinstance(left, str) else left], right)


def call(function, *args, **keywords):
    """A call of a function that is given as an expression, a name, or a dotted name."""
    function = dotted(function) if isinstance(function, str) else function
    return ast.Call(function, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def dotted(text):
    """The expression of a dotted name."""
    first, *rest = text.split(".")
    made = name(first)
    for part in rest:
        made = ast.Attribute(made, part, ast.Load())
    return made


def as_dotted(node):
    """The dotted name that an expression is, or None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = as_dotted(node.value)
        return before and f"{before}.{node.attr}"
    return None


def pack(names):
    """A tuple of names that is read."""
    return ast.Tuple([name(n) for n in names], ast.Load())


def unpack(names):
    """A tuple of names that is assigned to."""
    return ast.Tuple([target(n) for n in names], ast.Store())


def parameters(names):
    """Positional parameters."""
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


def define(title, names, body):
    """A function definition with positional parameters."""
    return ast.FunctionDef(title, parameters(names), body or [ast.Pass()], [], None)


def parse(text):
    """The statements of a text."""
    return ast.parse(text).body


def parameter_names(function):
    """The names of all parameters of a function or lambda."""
    a = function.args
    several = [one for one in (a.vararg, a.kwarg) if one is not None]
    return [one.arg for one in (*a.posonlyargs, *a.args, *a.kwonlyargs, *several)]


def is_plain(function):
    """Whether a function has only positional parameters."""
    a = function.args
    return not (a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs)


def all_names(root):
    """Every identifier below a node that is a name of a variable, function, class, parameter or module."""
    found = set()
    for node in ast.walk(root):
        found |= set(binds(node))
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found |= set(node.names)
    return found


def binds(node):
    """The names that a node itself binds in the scope it stands in."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def same_scope(nodes):
    """All nodes below some nodes, without the insides of functions, lambdas, classes and comprehensions; these come themselves."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, SCOPES):
            args = getattr(node, "args", None)
            inner = [*args.defaults, *[d for d in args.kw_defaults if d]] if args else []
            stack += inner
        elif isinstance(node, COMPREHENSIONS):
            stack.append(node.generators[0].iter)
            stack += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def bound_in(nodes):
    """The names that statements bind in the scope they stand in, in order."""
    found = {}
    for node in same_scope(nodes):
        found.update(dict.fromkeys(binds(node)))
    return list(found)


def read_in(nodes):
    """The names that are read in statements, in order; those of inner functions are included."""
    found = {}
    for one in nodes:
        for node in ast.walk(one):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Load, ast.Del)):
                found[node.id] = None
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = None
    return list(found)


def declared(function):
    """The names that a function declares global or nonlocal."""
    return {n for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for n in node.names}


def locals_of(function):
    """The parameters and the variables of a function, in order."""
    own = {n for node in same_scope(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)) for n in node.names}
    return [n for n in dict.fromkeys([*parameter_names(function), *bound_in(function.body)]) if n not in own]


def bound_inside(function):
    """The names that inner functions, classes, lambdas and comprehensions of a function bind for themselves."""
    found = set()
    for node in ast.walk(function):
        if node is function:
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found |= set(parameter_names(node))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found |= set(bound_in(node.body))
        if isinstance(node, ast.comprehension):
            found |= set(bound_in([node.target]))
    return found


def has(nodes, *kinds):
    """Whether there is a node of these kinds below some nodes, also in inner functions."""
    return any(isinstance(node, kinds) for one in nodes for node in ast.walk(one))


def blocks(function):
    """Every list of statements of a function itself, without those of inner functions."""
    found, stack = [], [function.body]
    while stack:
        block = stack.pop()
        found.append(block)
        for statement in block:
            if not isinstance(statement, SCOPES):
                stack += inner_blocks(statement)
    return found


def inner_blocks(statement):
    """The lists of statements right inside a statement."""
    found = [getattr(statement, field, None) for field in ("body", "orelse", "finalbody")]
    found += [one.body for one in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))]
    return [block for block in found if isinstance(block, list) and block]


def places(function, *kinds):
    """(block, position, statement) for each statement of a function itself that is of these kinds."""
    return [(b, i, s) for b in blocks(function) for i, s in enumerate(b) if isinstance(s, kinds)]


def leaves_loop(statements):
    """Whether `break` or `continue` in the statements belongs to a loop around them."""
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if isinstance(statement, LOOPS):
            if leaves_loop(statement.orelse):
                return True
        elif not isinstance(statement, SCOPES) and any(map(leaves_loop, inner_blocks(statement))):
            return True
    return False


def returns(statements):
    """Whether a statement leaves the function or is a part of a generator."""
    return any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)) for n in same_scope(statements))


def always_run(statement):
    """(parent, field, position or None, expression) for each expression that runs exactly once where a statement begins to run."""
    roots = {
        ast.Assign: ("value",), ast.AugAssign: ("value",), ast.AnnAssign: ("value",), ast.Return: ("value",), ast.Expr: ("value",),
        ast.If: ("test",), ast.For: ("iter",), ast.Assert: ("test",),
    }  # fmt: skip
    found = []
    for field in roots.get(type(statement), ()):
        if getattr(statement, field) is not None and not has([getattr(statement, field)], ast.NamedExpr, ast.Yield, ast.Await):
            collect(statement, field, None, found)
    for one in getattr(statement, "targets", ()):
        if isinstance(one, ast.Subscript):
            below(one.slice, found)
    return found


def collect(parent, field, position, found):
    node = getattr(parent, field) if position is None else getattr(parent, field)[position]
    if isinstance(node, ast.expr) and not isinstance(node, (ast.Starred, ast.Slice)):
        found.append((parent, field, position, node))
    below(node, found)


def below(node, found):
    """Collects what always runs inside an expression."""
    if isinstance(node, COMPREHENSIONS):
        collect(node.generators[0], "iter", None, found)
    elif isinstance(node, (ast.Lambda, ast.JoinedStr, ast.Constant, ast.Name)):
        return
    elif isinstance(node, ast.IfExp):
        collect(node, "test", None, found)
    elif isinstance(node, ast.BoolOp):
        collect(node, "values", 0, found)
    elif isinstance(node, ast.Compare):
        collect(node, "left", None, found)
        collect(node, "comparators", 0, found)
    else:
        for field, value in ast.iter_fields(node):
            for k, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, (ast.expr, ast.keyword)):
                    collect(node, field, k, found)


def expressions(function, *kinds):
    """(parent, field, position or None, expression) for each expression that is read anywhere in a function, inner ones included."""
    found = []
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            if field in ("decorator_list", "annotation", "returns", "pattern", "defaults"):
                continue
            for k, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, kinds or ast.expr) and not isinstance(getattr(item, "ctx", None), (ast.Store, ast.Del)):
                    found.append((parent, field, k, item))
    return found


def put(place, node):
    """Puts an expression in the place of another."""
    parent, field, position = place[:3]
    if position is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[position] = node


def same(a, b):
    """Whether two trees are the same text."""
    return ast.unparse(a) == ast.unparse(b)


def clone(node):
    return copy.deepcopy(node)


def loaded(node):
    """A copy of a target as an expression that is read."""
    made = clone(node)
    for one in ast.walk(made):
        if isinstance(getattr(one, "ctx", None), ast.Store):
            one.ctx = ast.Load()
    return made
