"""Rewritings between ways of saying the same: arithmetic, lists, loops and branches."""

import ast

from tests.metamorphic.calls import numpy_name, pick
from tests.metamorphic.control import clone_all, range_loops, simple_body
from tests.metamorphic.names import temporary_places
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    SCOPES, assign, bound_in, call, clone, constant, define, expressions, has, leaves_loop, locals_of, name, places,
    put, read_in, returns, target
)


@rewriting
def commuted(case):
    """`a + b` becomes `b + a`, `a * b` becomes `b * a`, `a - b` becomes `a + -b` or `-(b - a)`."""
    found = [p for p in expressions(case.function, ast.BinOp) if isinstance(p[3].op, (ast.Add, ast.Mult, ast.Sub))]
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[3]
    if not isinstance(node.op, ast.Sub):
        node.left, node.right = node.right, node.left
    elif case.rng.random() < 0.5:
        node.op, node.right = ast.Add(), ast.UnaryOp(ast.USub(), node.right)
    else:
        put(chosen, ast.UnaryOp(ast.USub(), ast.BinOp(node.right, ast.Sub(), node.left)))
    return True


@rewriting
def neutral(case):
    """A part of an expression gets `+ 0.0`, `* 1.0`, `/ 1`, `** 1`, `- 0`, a plus sign or two minus signs."""
    chosen = pick(case, [one[2] for one in temporary_places(case)])
    if not chosen:
        return False
    node = chosen[3]
    pairs = [(ast.Add, 0.0), (ast.Mult, 1.0), (ast.Div, 1), (ast.Pow, 1), (ast.Sub, 0), (ast.Add, 0), (ast.Mult, 1)]
    made = [ast.BinOp(node, op(), constant(value)) for op, value in pairs]
    made += [ast.UnaryOp(ast.UAdd(), node), ast.UnaryOp(ast.USub(), ast.UnaryOp(ast.USub(), node))]
    put(chosen, case.rng.choice(made))
    return True


@rewriting
def through_numpy(case):
    """A part of an expression goes through `np.asarray`, `np.array`, `np.copy`, `np.where(True, e, 0)` or `float`."""
    numpy, chosen = numpy_name(case), pick(case, [one[2] for one in temporary_places(case)])
    if not numpy or not chosen:
        return False
    node = chosen[3]
    kinds = [call(f"{numpy}.{f}", node) for f in ("asarray", "array", "copy", "positive", "ascontiguousarray")]
    kinds += [call(f"{numpy}.where", constant(True), node, constant(0.0)), call("float", node)]
    put(chosen, case.rng.choice(kinds))
    return True


@rewriting
def element_access(case):
    """`x[i]` becomes `x.__getitem__(i)` or `operator.getitem(x, i)`; `x[i] = v` becomes `x.__setitem__(i, v)`."""
    found = [p for p in expressions(case.function, ast.Subscript) if not has([p[3].slice], ast.Slice)]
    stores = [
        (b, i, s) for b, i, s in places(case.function, ast.Assign)
        if isinstance(s.targets[0], ast.Subscript) and len(s.targets) == 1 and not has([s.targets[0].slice], ast.Slice)
    ]  # fmt: skip
    if stores and case.rng.random() < 0.5:
        block, i, s = case.rng.choice(stores)
        place = s.targets[0]
        block[i] = ast.Expr(ast.Call(ast.Attribute(place.value, "__setitem__", ast.Load()), [place.slice, s.value], []))
        return True
    chosen = pick(case, found)
    if not chosen:
        return False
    node = chosen[3]
    put(chosen, ast.Call(ast.Attribute(node.value, "__getitem__", ast.Load()), [node.slice], []))
    return True


def appends(case):
    """(block, position, list, value) of the statements that append to a list with a name."""
    found = []
    for block, i, s in places(case.function, ast.Expr):
        node = s.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1:
            if isinstance(node.func.value, ast.Name):
                found.append((block, i, node.func.value.id, node.args[0]))
    return found


@rewriting
def append_in_other_words(case):
    """`a.append(v)` becomes `a += [v]`, `a.extend([v])`, `a = a + [v]`, `a = [*a, v]`, `a.insert(len(a), v)` or `a[len(a):] = [v]`."""
    chosen = pick(case, appends(case))
    if not chosen:
        return False
    block, i, title, value = chosen
    one, size = ast.List([value], ast.Load()), call("len", name(title))
    kinds = [
        ast.AugAssign(target(title), ast.Add(), one),
        ast.Expr(call(f"{title}.extend", one)),
        assign(title, ast.BinOp(name(title), ast.Add(), one)),
        assign(title, ast.List([ast.Starred(name(title), ast.Load()), value], ast.Load())),
        ast.Expr(call(f"{title}.insert", size, value)),
        assign(ast.Subscript(name(title), ast.Slice(size, None, None), ast.Store()), one),
    ]
    if title in locals_of(case.function):
        block[i] = case.rng.choice(kinds)
    else:
        block[i] = kinds[1]
    return True


@rewriting
def augmented_by_numpy(case):
    """`x[i] += v` becomes `np.add.at(x, i, v)`, or is done through a view."""
    numpy = numpy_name(case)
    found = [
        (b, i, s) for b, i, s in places(case.function, ast.AugAssign)
        if isinstance(s.target, ast.Subscript) and isinstance(s.op, ast.Add) and not has([s.target.slice], ast.Slice)
    ]  # fmt: skip
    chosen = pick(case, found)
    if not chosen or not numpy:
        return False
    block, i, s = chosen
    block[i] = ast.Expr(call(f"{numpy}.add.at", s.target.value, s.target.slice, s.value))
    return True


@rewriting
def range_in_other_words(case):
    """`range(...)` of a loop becomes `np.arange`, `sorted(range)`, `map(int, range)`, a list comprehension, or a generator."""
    numpy, chosen = numpy_name(case), pick(case, range_loops(case))
    if not chosen or not numpy:
        return False
    loop, k = chosen[2], case.fresh("k")
    args = loop.iter.args
    inner = [ast.comprehension(target(k), loop.iter, [], 0)]
    kinds = [
        ast.Call(ast.parse(f"{numpy}.arange", mode="eval").body, args, []),
        call("sorted", loop.iter),
        call("map", name("int"), loop.iter),
        ast.ListComp(name(k), inner),
        ast.GeneratorExp(name(k), inner),
        call("filter", constant(None), loop.iter) if isinstance(args[0], ast.Constant) and args[0].value == 1 else loop.iter,
    ]
    loop.iter = case.rng.choice(kinds[: 6 if chosen[3][2] > 0 else 1])
    return True


@rewriting
def for_from_stack(case):
    """`for v in s` becomes `while stack`, which pops the items of a reversed list."""
    chosen = pick(case, [one for one in places(case.function, ast.For) if not one[2].orelse])
    if not chosen:
        return False
    block, i, loop = chosen
    stack = case.fresh("stack")
    step = ast.Slice(None, None, ast.UnaryOp(ast.USub(), constant(1)))
    made = ast.Subscript(call("list", loop.iter), step, ast.Load())
    body = [assign(loop.target, call(f"{stack}.pop")), *loop.body]
    block[i : i + 1] = [assign(stack, made), ast.While(name(stack), body, [])]
    return True


@rewriting
def for_from_generator(case):
    """`for v in s` becomes a loop over a local generator, which yields what `s` has."""
    chosen = pick(case, places(case.function, ast.For))
    if not chosen:
        return False
    block, i, loop = chosen
    title, seq, one = case.fresh("generate"), case.fresh("seq"), case.fresh("one")
    body = [ast.Expr(ast.YieldFrom(name(seq)))]
    if case.rng.random() < 0.5:
        body = [ast.For(target(one), name(seq), [ast.Expr(ast.Yield(name(one)))], [], None)]
    made = define(title, [seq], body)
    loop.iter = call(title, loop.iter)
    if case.rng.random() < 0.5 and case.at_top:
        case.before.append(made)
    else:
        block.insert(i, made)
    return True


@rewriting
def nested_loops_to_product(case):
    """Two nested loops become one over `itertools.product`."""
    found = []
    for block, i, loop in places(case.function, ast.For):
        inner = loop.body[0]
        if len(loop.body) == 1 and isinstance(inner, ast.For) and not loop.orelse and simple_body(inner):
            if not set(bound_in([loop.target])) & set(read_in([inner.iter])):
                found.append((block, i, loop, inner))
    chosen = pick(case, found)
    if not chosen:
        return False
    _, _, loop, inner = chosen
    title = case.fresh("product")
    case.before.append(ast.ImportFrom("itertools", [ast.alias("product", None if title == "product" else title)], 0))
    loop.target = ast.Tuple([loop.target, inner.target], ast.Store())
    loop.iter, loop.body = call(title, loop.iter, inner.iter), inner.body
    return True


@rewriting
def guard_by_continue(case):
    """`if c: A` at the end of a loop's body becomes `if not c: continue` and then `A`; or the other way round."""
    found = [loop for _, _, loop in places(case.function, ast.For, ast.While) if isinstance(loop.body[-1], ast.If)]
    found = [loop for loop in found if not loop.body[-1].orelse]
    chosen = pick(case, found)
    if not chosen:
        return False
    last = chosen.body.pop()
    chosen.body += [ast.If(ast.UnaryOp(ast.Not(), last.test), [ast.Continue()], []), *last.body]
    return True


@rewriting
def break_by_flag(case):
    """`if c: break` at the beginning of a loop's body becomes a flag that skips what follows and the iterations behind."""
    found = []
    for block, i, loop in places(case.function, ast.For):
        breaks = [k for k, s in enumerate(loop.body) if isinstance(s, ast.If) and isinstance(s.body[-1], ast.Break) and not s.orelse]
        others = [s for k, s in enumerate(loop.body) if k not in breaks]
        if len(breaks) == 1 and not leaves_loop(others) and not loop.orelse and not leaves_loop(loop.body[breaks[0]].body[:-1]):
            found.append((block, i, loop, breaks[0]))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, loop, k = chosen
    go, test = case.fresh("go"), loop.body[k]
    test.body[-1], test.orelse = assign(go, constant(False)), loop.body[k + 1 :]
    loop.body = [ast.If(name(go), [*loop.body[:k], test], [])]
    block.insert(i, assign(go, constant(True)))
    return True


@rewriting
def if_to_match(case):
    """`if c: A else: B` becomes `match bool(c)` with two cases."""
    chosen = pick(case, places(case.function, ast.If))
    if not chosen:
        return False
    block, i, node = chosen
    first = ast.match_case(ast.MatchSingleton(True), None, node.body)
    block[i] = ast.Match(call("bool", node.test), [first, ast.match_case(ast.MatchAs(None, None), None, node.orelse or [ast.Pass()])])
    return "bool" not in case.scope


@rewriting
def conditional_in_other_words(case):
    """`a if c else b` becomes `np.where(c, a, b)`, `(b, a)[bool(c)]`, a dict's item, or a call of one of two lambdas."""
    numpy, chosen = numpy_name(case), pick(case, expressions(case.function, ast.IfExp))
    if not chosen or not numpy:
        return False
    node = chosen[3]
    holds = call("bool", node.test)
    empty = define("f", [], []).args
    lambdas = ast.Tuple([ast.Lambda(empty, node.orelse), ast.Lambda(clone(empty), node.body)], ast.Load())
    kinds = [
        call(f"{numpy}.where", node.test, node.body, node.orelse),
        ast.Subscript(ast.Tuple([node.orelse, node.body], ast.Load()), holds, ast.Load()),
        ast.Subscript(ast.Dict([constant(True), constant(False)], [node.body, node.orelse]), holds, ast.Load()),
        call(ast.Subscript(lambdas, holds, ast.Load())),
    ]
    put(chosen, case.rng.choice(kinds))
    return True


@rewriting
def loop_body_in_both_branches(case):
    """`A; if c: B else: C; D` becomes `if c` with all that follows in both branches: `if c: B; D else: C; D`."""
    found = []
    for block, i, node in places(case.function, ast.If):
        if block[i + 1 :] and len(block) - i < 6 and not has([node], *SCOPES) and not returns([node]) and not leaves_loop([node]):
            found.append((block, i, node))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node = chosen
    rest = block[i + 1 :]
    node.body, node.orelse = [*node.body, *clone_all(rest)], [*node.orelse, *rest]
    del block[i + 1 :]
    return True


@rewriting
def size_in_other_words(case):
    """`len(x)` becomes `x.shape[0]` or `np.shape(x)[0]`; `x.shape[0]` becomes `len(x)`."""
    numpy = numpy_name(case)
    found = [p for p in expressions(case.function, ast.Call) if getattr(p[3].func, "id", "") == "len" and len(p[3].args) == 1]
    found += [p for p in expressions(case.function, ast.Subscript) if ast.unparse(p[3]).endswith(".shape[0]")]
    chosen = pick(case, found)
    if not chosen or not numpy:
        return False
    node = chosen[3]
    if isinstance(node, ast.Subscript):
        put(chosen, call("len", node.value.value))
    else:
        shapes = [ast.Attribute(node.args[0], "shape", ast.Load()), call(f"{numpy}.shape", node.args[0])]
        put(chosen, ast.Subscript(case.rng.choice(shapes), constant(0), ast.Load()))
    return True
