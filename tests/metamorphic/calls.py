"""Rewritings of calls: their arguments, the functions of NumPy, operators and methods."""

import ast
import inspect
import types

import numpy as np

from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (
    always_run, as_dotted, assign, blocks, call, clone, constant, dotted, expressions, name, put
)

BINARY = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "remainder",
    ast.Pow: "power", ast.MatMult: "matmul",
}  # fmt: skip
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.MatMult: "matmul", ast.Eq: "eq", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.NotEq: "ne",
}  # fmt: skip
COMPARED = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
METHODS = ("sum", "mean", "max", "min", "prod", "dot", "reshape", "ravel", "copy", "cumsum", "std", "var", "clip", "transpose",
           "argmax", "argmin", "argsort", "trace", "diagonal", "repeat", "take", "squeeze", "any", "all", "swapaxes", "round")  # fmt: skip


def pick(case, found):
    """One of the places that were found, or None."""
    return case.rng.choice(found) if found else None


def numpy_name(case):
    """The name that NumPy has in the module, or None if the function hides it."""
    named = [k for k, v in case.scope.items() if v is np]
    return named[0] if named else None


def resolve(case, node):
    """What a dotted name stands for in the module, or None."""
    text = as_dotted(node)
    if not text:
        return None
    first, *rest = text.split(".")
    found = case.scope.get(first)
    for part in rest:
        found = getattr(found, part, None) if isinstance(found, types.ModuleType) else None
    return found


def numpy_calls(case, names):
    """(place, name) for the calls of these functions of NumPy."""
    found = []
    for place in expressions(case.function, ast.Call):
        one = resolve(case, place[3].func)
        title = getattr(place[3].func, "attr", None)
        if title in names and one is getattr(np, title, None):
            found.append((place, title))
    return found


@rewriting
def operator_to_numpy(case):
    """`a + b` becomes `np.add(a, b)`."""
    numpy, chosen = numpy_name(case), pick(case, expressions(case.function, ast.BinOp))
    if not numpy or not chosen or type(chosen[3].op) not in BINARY:
        return False
    put(chosen, call(f"{numpy}.{BINARY[type(chosen[3].op)]}", chosen[3].left, chosen[3].right))
    return True


@rewriting
def numpy_to_operator(case):
    """`np.add(a, b)` becomes `a + b`, `np.dot(a, b)` becomes `a @ b`."""
    kinds = {v: k for k, v in BINARY.items()} | {"dot": ast.MatMult, "mod": ast.Mod, "true_divide": ast.Div}
    found = [(p, t) for p, t in numpy_calls(case, kinds) if len(p[3].args) == 2 and not p[3].keywords]
    if not found:
        return False
    place, title = case.rng.choice(found)
    put(place, ast.BinOp(place[3].args[0], kinds[title](), place[3].args[1]))
    return True


@rewriting
def operator_module(case):
    """`a + b` becomes `operator.add(a, b)`."""
    found = [p for p in expressions(case.function, ast.BinOp) if type(p[3].op) in OPERATORS]
    chosen, title = pick(case, found), case.fresh("operator")
    if not chosen:
        return False
    case.before.append(ast.Import([ast.alias("operator", title if title != "operator" else None)]))
    put(chosen, call(f"{title}.{OPERATORS[type(chosen[3].op)]}", chosen[3].left, chosen[3].right))
    return True


@rewriting
def comparison_to_numpy(case):
    """`a < b` becomes `np.less(a, b)`."""
    found = [p for p in expressions(case.function, ast.Compare) if len(p[3].ops) == 1 and type(p[3].ops[0]) in COMPARED]
    numpy, chosen = numpy_name(case), pick(case, found)
    if not numpy or not chosen:
        return False
    put(chosen, call(f"{numpy}.{COMPARED[type(chosen[3].ops[0])]}", chosen[3].left, chosen[3].comparators[0]))
    return True


@rewriting
def numpy_to_method(case):
    """`np.sum(x, axis=0)` becomes `x.sum(axis=0)`."""
    found = [p for p, _ in numpy_calls(case, METHODS) if p[3].args and not isinstance(p[3].args[0], ast.Starred)]
    chosen = pick(case, found)
    if not chosen:
        return False
    first, *rest = chosen[3].args
    put(chosen, ast.Call(ast.Attribute(first, chosen[3].func.attr, ast.Load()), rest, chosen[3].keywords))
    return True


@rewriting
def method_to_numpy(case):
    """`x.sum(axis=0)` becomes `np.sum(x, axis=0)`, `x.T` becomes `np.transpose(x)`."""
    numpy = numpy_name(case)
    found = [
        p for p in expressions(case.function, ast.Call)
        if isinstance(p[3].func, ast.Attribute) and p[3].func.attr in METHODS and resolve(case, p[3].func) is None
    ]  # fmt: skip
    found += [p for p in expressions(case.function, ast.Attribute) if p[3].attr == "T" and p[1] != "func"]
    chosen = pick(case, found)
    if not numpy or not chosen:
        return False
    node = chosen[3]
    if isinstance(node, ast.Attribute):
        put(chosen, call(f"{numpy}.transpose", node.value))
    else:
        put(chosen, ast.Call(dotted(f"{numpy}.{node.func.attr}"), [node.func.value, *node.args], node.keywords))
    return True


@rewriting
def square_to_product(case):
    """`x ** 2` becomes `x * x` for a name, and `x * x` becomes `x ** 2`."""
    found = []
    for place in expressions(case.function, ast.BinOp):
        node = place[3]
        if not isinstance(node.left, ast.Name):
            continue
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2:
            found.append((place, ast.BinOp(node.left, ast.Mult(), clone(node.left))))
        elif isinstance(node.op, ast.Mult) and isinstance(node.right, ast.Name) and node.right.id == node.left.id:
            found.append((place, ast.BinOp(node.left, ast.Pow(), constant(2))))
    if not found:
        return False
    put(*case.rng.choice(found))
    return True


def signature_of(case, node):
    """The parameters of what a call calls, if these are known: of functions of the unit, of the module, and of NumPy."""
    if isinstance(node.func, ast.Name):
        own = [s for s in case.body if isinstance(s, ast.FunctionDef) and s.name == node.func.id]
        if own and not (own[0].args.vararg or own[0].args.kwarg):
            return [a.arg for a in own[0].args.args], own[0].args
    try:
        found = inspect.signature(resolve(case, node.func))
    except (TypeError, ValueError):
        return None, None
    kinds = list(found.parameters.values())
    if not all(p.kind is p.POSITIONAL_OR_KEYWORD for p in kinds):
        return None, None
    return [p.name for p in kinds], found


def known_calls(case):
    """(call, names of the parameters, their defaults) for the calls of functions whose parameters are known."""
    found = []
    for place in expressions(case.function, ast.Call):
        node = place[3]
        names, about = signature_of(case, node)
        plain = not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg for k in node.keywords)
        if names and plain and len(node.args) <= len(names):
            found.append((node, names, about))
    return found


@rewriting
def positional_to_keyword(case):
    """`f(a, b)` becomes `f(a, y=b)`, where the names of the parameters are known."""
    found = [one for one in known_calls(case) if one[0].args]
    if not found:
        return False
    node, names, _ = case.rng.choice(found)
    keep = case.rng.randrange(len(node.args))
    moved = [ast.keyword(names[i], node.args[i]) for i in range(keep, len(node.args))]
    if case.rng.random() < 0.3:
        moved.reverse()
    node.args, node.keywords = node.args[:keep], [*moved, *node.keywords]
    return True


@rewriting
def keyword_to_positional(case):
    """`f(a, y=b)` becomes `f(a, b)`; so does `np.exp(a, out=b)`."""
    found = [one for one in known_calls(case) if one[0].keywords and [one[0].keywords[0].arg] == one[1][len(one[0].args) :][:1]]
    outs = [
        p[3] for p in expressions(case.function, ast.Call)
        if p[3].keywords and p[3].keywords[0].arg == "out" and isinstance(resolve(case, p[3].func), np.ufunc)
        and len(p[3].args) == resolve(case, p[3].func).nin
    ]  # fmt: skip
    if not found and not outs:
        return False
    node = case.rng.choice([one[0] for one in found] + outs)
    node.args.append(node.keywords.pop(0).value)
    return True


@rewriting
def explicit_defaults(case):
    """`f(a)` becomes `f(a, y=1.0)`, where the parameter `y` has this default."""
    found = []
    for node, names, about in known_calls(case):
        given = set(names[: len(node.args)]) | {k.arg for k in node.keywords}
        if isinstance(about, ast.arguments):
            values = dict(zip(names[len(names) - len(about.defaults) :], about.defaults)) if about.defaults else {}
            values = {k: v.value for k, v in values.items() if isinstance(v, ast.Constant)}
        else:
            values = {k: p.default for k, p in about.parameters.items() if p.default is not p.empty}
        found += [
            (node, k, v) for k, v in values.items() if k not in given and (v is None or type(v) in (int, float, bool, str))
        ]
    if not found:
        return False
    node, key, value = case.rng.choice(found)
    node.keywords.append(ast.keyword(key, constant(value)))
    return True


@rewriting
def arguments_unpacked(case):
    """`f(a, b)` becomes `f(*(a, b))`, `f(a, *[b])`, or `f(a, **{"y": b})`."""
    found = [p[3] for p in expressions(case.function, ast.Call) if p[3].args and not isinstance(p[3].args[-1], ast.Starred)]
    node = pick(case, found)
    if not node:
        return False
    if node.keywords and all(k.arg for k in node.keywords) and case.rng.random() < 0.6:
        packed = ast.Dict([constant(k.arg) for k in node.keywords], [k.value for k in node.keywords])
        node.keywords = [ast.keyword(None, packed)]
        return True
    keep = case.rng.randrange(len(node.args))
    if any(isinstance(a, ast.Starred) for a in node.args[keep:]):
        return False
    kind = case.rng.choice([ast.Tuple, ast.List])
    node.args = [*node.args[:keep], ast.Starred(kind(node.args[keep:], ast.Load()), ast.Load())]
    return True


@rewriting
def arguments_in_a_name(case):
    """`y = f(a, b)` becomes `args = (a, b)` and `y = f(*args)`; keywords become a dict."""
    found = []
    for block in blocks(case.function):
        for i, statement in enumerate(block):
            found += [(block, i, p[3]) for p in always_run(statement) if isinstance(p[3], ast.Call) and p[3].args]
    if not found:
        return False
    block, i, node = case.rng.choice(found)
    args, options = case.fresh("args"), case.fresh("options")
    added = [assign(args, ast.Tuple(node.args, ast.Load()))]
    node.args = [ast.Starred(name(args), ast.Load())]
    if node.keywords and all(k.arg for k in node.keywords):
        packed = call("dict")
        packed.keywords, node.keywords = node.keywords, [ast.keyword(None, name(options))]
        added.append(assign(options, packed))
    block[i:i] = added
    return True


@rewriting
def function_by_another_name(case):
    """`np.sin(x)` becomes `sin(x)` after `sin = np.sin`, in the function or in the module."""
    found = [p[3] for p in expressions(case.function, ast.Call) if callable(resolve(case, p[3].func))]
    node = pick(case, found)
    if not node:
        return False
    title = case.fresh(as_dotted(node.func).rpartition(".")[2])
    made = assign(title, node.func)
    node.func = name(title)
    if case.rng.random() < 0.5:
        case.before.append(made)
    else:
        case.function.body.insert(0, made)
    return True
