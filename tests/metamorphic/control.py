"""Rewritings of loops and of blocks of statements."""

import ast

from tests.metamorphic.calls import pick
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    LOOPS, assign, blocks, call, clone, constant, dotted, has, leaves_loop, name, places, returns, target
)


def runs(case, whole=False):
    """(block, first, last) of a random run of statements that neither `break` nor `continue` leaves; or None.

    With `whole` no `return` leaves it either: the compiler wants a `return` at the end of a function whose loops have some.
    """
    found = []
    for block in blocks(case.function):
        for i in range(len(block)):
            for j in range(i + 1, len(block) + 1):
                if whole and returns(block[i:j]):
                    break
                if not leaves_loop(block[i:j]) and not has(block[i:j], ast.Global, ast.Nonlocal):
                    found.append((block, i, j))
    return pick(case, found)


def wrap(case, make, whole=False):
    """Puts a statement that `make` makes of a run of statements in the place of the run."""
    chosen = runs(case, whole)
    if not chosen:
        return False
    block, i, j = chosen
    block[i:j] = [make(block[i:j])]
    return True


@rewriting
def block_in_for(case):
    """A block runs in `for _ in range(1)`."""
    return wrap(case, lambda body: ast.For(target(case.fresh("once")), call("range", constant(1)), body, [], None), whole=True)


@rewriting
def block_in_for_each(case):
    """A block runs in a loop over a list or tuple with one item."""
    kind = case.rng.choice([ast.List, ast.Tuple])
    return wrap(case, lambda body: ast.For(target(case.fresh("once")), kind([constant(None)], ast.Load()), body, [], None))


@rewriting
def block_in_if(case):
    """A block runs in `if True`, or in `if 1 > 0` with another branch that does nothing."""
    test = case.rng.choice([constant(True), ast.Compare(constant(1), [ast.Gt()], [constant(0)])])
    return wrap(case, lambda body: ast.If(test, body, case.rng.choice([[], [ast.Pass()]])))


@rewriting
def block_in_while(case):
    """A block runs in `while True` and leaves it with `break`."""
    return wrap(case, lambda body: ast.While(constant(True), body if isinstance(body[-1], ast.Return) else [*body, ast.Break()], []))


@rewriting
def block_in_counted_while(case):
    """A block runs in `while k < 1`, where `k` counts."""
    title = case.fresh("k")
    chosen = runs(case, whole=True)
    if not chosen:
        return False
    block, i, j = chosen
    test = ast.Compare(name(title), [ast.Lt()], [constant(1)])
    block[i:j] = [assign(title, constant(0)), ast.While(test, [*block[i:j], ast.AugAssign(target(title), ast.Add(), constant(1))], [])]
    return True


@rewriting
def block_in_try(case):
    """A block runs in `try` with `finally: pass`, or with `except` that raises again."""
    again = ast.ExceptHandler(dotted("ZeroDivisionError"), None, [ast.Raise(None, None)])
    kinds = [([], [ast.Pass()]), ([again], [])]
    handlers, final = case.rng.choice(kinds)
    return wrap(case, lambda body: ast.Try(body, handlers, [], final))


@rewriting
def block_in_with(case):
    """A block runs in `with contextlib.nullcontext()` or `with np.errstate(all="ignore")`."""
    title = case.fresh("contextlib")
    case.before.append(ast.Import([ast.alias("contextlib", None if title == "contextlib" else title)]))
    context = call(f"{title}.nullcontext")
    return wrap(case, lambda body: ast.With([ast.withitem(context, None)], body))


@rewriting
def block_in_loop_else(case):
    """A block runs in the `else` of a loop that does nothing."""
    return wrap(case, lambda body: ast.For(target(case.fresh("never")), ast.List([], ast.Load()), [ast.Pass()], body, None))


@rewriting
def block_in_match(case):
    """A block runs in the only case of a `match`."""
    return wrap(case, lambda body: ast.Match(constant(1), [ast.match_case(ast.MatchAs(None, None), None, body)]))


def range_parts(loop):
    """(start, stop, step) of a loop over a range, as expressions and a number; or None."""
    node = loop.iter
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range") or node.keywords:
        return None
    if any(isinstance(a, ast.Starred) for a in node.args):
        return None
    args = node.args if len(node.args) > 1 else [constant(0), *node.args]
    try:
        step = ast.literal_eval(args[2]) if len(args) == 3 else 1
    except ValueError:
        return None
    return (args[0], args[1], step) if len(args) > 1 and isinstance(step, int) and step else None


def range_loops(case, ascending=False):
    """(block, position, loop, parts) of the loops over ranges with a name as their variable."""
    found = []
    for block, i, loop in places(case.function, ast.For):
        parts = range_parts(loop)
        if parts and isinstance(loop.target, ast.Name) and (parts[2] == 1 or not ascending):
            found.append((block, i, loop, parts))
    return found


def simple_body(loop):
    """Whether the body of a loop may stand outside of it."""
    return not leaves_loop(loop.body) and not loop.orelse


def compare(left, op, right):
    return ast.Compare(name(left) if isinstance(left, str) else left, [op], [name(right) if isinstance(right, str) else right])


def binary(left, op, right):
    return ast.BinOp(name(left) if isinstance(left, str) else left, op, right)


@rewriting
def for_to_while(case):
    """`for i in range(a, b)` becomes a `while` loop."""
    chosen = pick(case, range_loops(case))
    if not chosen:
        return False
    block, i, loop, (start, stop, step) = chosen
    k, end = case.fresh("k"), case.fresh("end")
    test = compare(k, ast.Lt() if step > 0 else ast.Gt(), end)
    count = ast.AugAssign(target(k), ast.Add(), constant(step))
    body = [assign(clone(loop.target), name(k)), count, *loop.body]
    if not leaves_loop(loop.body) and case.rng.random() < 0.5:
        body = [assign(clone(loop.target), name(k)), *loop.body, count]
    block[i : i + 1] = [assign(k, start), assign(end, stop), ast.While(test, body, loop.orelse)]
    return True


@rewriting
def for_to_endless_while(case):
    """`for i in range(a, b)` becomes `while True` with a `break`."""
    chosen = pick(case, [one for one in range_loops(case) if not one[2].orelse])
    if not chosen:
        return False
    block, i, loop, (start, stop, step) = chosen
    k, end = case.fresh("k"), case.fresh("end")
    test = compare(k, ast.GtE() if step > 0 else ast.LtE(), end)
    count = assign(k, binary(k, ast.Add(), constant(step)))
    body = [ast.If(test, [ast.Break()], []), assign(clone(loop.target), name(k)), count, *loop.body]
    block[i : i + 1] = [assign(k, start), assign(end, stop), ast.While(constant(True), body, [])]
    return True


@rewriting
def peel_first(case):
    """The first iteration of a loop over a range runs before the loop, if there is one."""
    chosen = pick(case, [one for one in range_loops(case, True) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop, (start, stop, _) = chosen
    low, high = case.fresh("low"), case.fresh("high")
    first = ast.If(compare(low, ast.Lt(), high), [assign(clone(loop.target), name(low)), *clone_all(loop.body)], [])
    loop.iter = call("range", binary(low, ast.Add(), constant(1)), name(high))
    block[i:i] = [assign(low, start), assign(high, stop), first]
    return True


@rewriting
def peel_last(case):
    """The last iteration of a loop over a range runs after the loop, if there is one."""
    chosen = pick(case, [one for one in range_loops(case, True) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop, (start, stop, _) = chosen
    low, high = case.fresh("low"), case.fresh("high")
    last = binary(high, ast.Sub(), constant(1))
    after = ast.If(compare(low, ast.Lt(), high), [assign(clone(loop.target), last), *clone_all(loop.body)], [])
    loop.iter = call("range", name(low), clone(last))
    block[i : i + 1] = [assign(low, start), assign(high, stop), loop, after]
    return True


@rewriting
def unroll_by_two(case):
    """Two iterations of a loop over a range become one, and what is left runs after the loop."""
    chosen = pick(case, [one for one in range_loops(case, True) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop, (start, stop, _) = chosen
    low, high, k = case.fresh("low"), case.fresh("high"), case.fresh("k")
    variable = loop.target
    bodies = [assign(clone(variable), name(k)), *clone_all(loop.body)]
    bodies += [assign(clone(variable), binary(k, ast.Add(), constant(1))), *clone_all(loop.body)]
    pairs = ast.For(target(k), call("range", name(low), binary(high, ast.Sub(), constant(1)), constant(2)), bodies, [], None)
    size = binary(binary(high, ast.Sub(), name(low)), ast.Mod(), constant(2))
    odd = ast.BoolOp(ast.And(), [compare(high, ast.Gt(), low), compare(size, ast.Eq(), constant(1))])
    rest = ast.If(odd, [assign(clone(variable), binary(high, ast.Sub(), constant(1))), *loop.body], [])
    block[i : i + 1] = [assign(low, start), assign(high, stop), pairs, rest]
    return True


@rewriting
def split_range(case):
    """A loop over a range becomes two loops, one after the other."""
    chosen = pick(case, [one for one in range_loops(case, True) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop, (start, stop, _) = chosen
    low, high, middle = case.fresh("low"), case.fresh("high"), case.fresh("middle")
    half = binary(binary(low, ast.Add(), name(high)), ast.FloorDiv(), constant(2))
    second = clone(loop)
    loop.iter, second.iter = call("range", name(low), name(middle)), call("range", name(middle), name(high))
    block[i : i + 1] = [assign(low, start), assign(high, stop), assign(middle, half), loop, second]
    return True


@rewriting
def nested_range(case):
    """A loop over a range runs inside a loop over blocks of three."""
    chosen = pick(case, [one for one in range_loops(case, True) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop, (start, stop, _) = chosen
    low, high, k = case.fresh("low"), case.fresh("high"), case.fresh("k")
    loop.iter = call("range", name(k), call("min", binary(k, ast.Add(), constant(3)), name(high)))
    outer = ast.For(target(k), call("range", name(low), name(high), constant(3)), [loop], [], None)
    block[i : i + 1] = [assign(low, start), assign(high, stop), outer]
    return True


@rewriting
def counted_from_one(case):
    """`for i in range(n)` becomes `for k in range(1, n + 1)` with `i = k - 1`, or counts down with `i = n - 1 - k`."""
    chosen = pick(case, range_loops(case, True))
    if not chosen:
        return False
    _, _, loop, (start, stop, _) = chosen
    k = case.fresh("k")
    loop.iter = call("range", binary(start, ast.Add(), constant(1)), binary(stop, ast.Add(), constant(1)))
    loop.body.insert(0, assign(loop.target, binary(k, ast.Sub(), constant(1))))
    loop.target = target(k)
    return True


def other_loops(case):
    """The loops over something that may be a sequence."""
    return [one for one in places(case.function, ast.For) if not range_parts(one[2])]


@rewriting
def for_to_index(case):
    """`for v in s` becomes `for k in range(len(s))` with `v = s[k]`."""
    chosen = pick(case, other_loops(case))
    if not chosen:
        return False
    block, i, loop = chosen
    k, seq = case.fresh("k"), case.fresh("seq")
    block.insert(i, assign(seq, loop.iter))
    loop.body.insert(0, assign(loop.target, ast.Subscript(name(seq), name(k), ast.Load())))
    loop.target, loop.iter = target(k), call("range", call("len", name(seq)))
    return True


@rewriting
def for_to_iterator(case):
    """`for v in s` becomes a loop over `enumerate(s)`, `zip(s)`, `iter(s)`, `list(s)` or `reversed(s[::-1])`."""
    chosen = pick(case, places(case.function, ast.For))
    if not chosen:
        return False
    loop = chosen[2]
    kind = case.rng.choice(["enumerate", "zip", "iter", "list", "tuple", "reversed", "with range"])
    if kind == "enumerate":
        loop.iter, loop.target = call("enumerate", loop.iter), ast.Tuple([target(case.fresh("k")), loop.target], ast.Store())
    elif kind == "zip":
        loop.iter, loop.target = call("zip", loop.iter), ast.Tuple([loop.target], ast.Store())
    elif kind == "with range":
        numbers = call("range", call("len", clone(loop.iter)))
        loop.iter, loop.target = call("zip", loop.iter, numbers), ast.Tuple([loop.target, target(case.fresh("k"))], ast.Store())
    elif kind == "reversed":
        step = ast.Slice(None, None, ast.UnaryOp(ast.USub(), constant(1)))
        loop.iter = call("reversed", ast.Subscript(loop.iter, step, ast.Load()))
    else:
        loop.iter = call(kind, loop.iter)
    return True


@rewriting
def peel_first_item(case):
    """The first item of a sequence is worked on before the loop over the others."""
    chosen = pick(case, [one for one in other_loops(case) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop = chosen
    seq = case.fresh("seq")
    body = [assign(clone(loop.target), ast.Subscript(name(seq), constant(0), ast.Load())), *clone_all(loop.body)]
    first = ast.If(compare(call("len", name(seq)), ast.Gt(), constant(0)), body, [])
    block[i:i] = [assign(seq, loop.iter), first]
    loop.iter = ast.Subscript(name(seq), ast.Slice(constant(1), None, None), ast.Load())
    return True


@rewriting
def peel_while(case):
    """The first iteration of a `while` loop runs before it."""
    chosen = pick(case, [one for one in places(case.function, ast.While) if simple_body(one[2])])
    if not chosen:
        return False
    block, i, loop = chosen
    block.insert(i, ast.If(clone(loop.test), clone_all(loop.body), []))
    return True


@rewriting
def while_to_break(case):
    """`while c` becomes `while True` with `if not c: break`."""
    chosen = pick(case, [one for one in places(case.function, ast.While) if not one[2].orelse])
    if not chosen:
        return False
    loop = chosen[2]
    loop.body.insert(0, ast.If(ast.UnaryOp(ast.Not(), loop.test), [ast.Break()], []))
    loop.test = constant(True)
    return True


@rewriting
def target_unpacked_inside(case):
    """`for a, b in s` becomes `for pair in s` with `a, b = pair`."""
    chosen = pick(case, [one for one in places(case.function, ast.For) if not isinstance(one[2].target, ast.Name)])
    if not chosen:
        return False
    loop, pair = chosen[2], case.fresh("pair")
    loop.body.insert(0, assign(loop.target, name(pair)))
    loop.target = target(pair)
    return True


@rewriting
def variable_of_loop_renamed(case):
    """`for i in s` becomes `for k in s` with `i = k` at the beginning of its body."""
    chosen = pick(case, [one for one in places(case.function, ast.For) if isinstance(one[2].target, ast.Name)])
    if not chosen:
        return False
    loop, k = chosen[2], case.fresh("k")
    loop.body.insert(0, assign(loop.target, name(k)))
    loop.target = target(k)
    return True


@rewriting
def continue_at_the_end(case):
    """The body of a loop ends with `continue`, or the loop has an `else` that does nothing."""
    chosen = pick(case, places(case.function, *LOOPS))
    if not chosen:
        return False
    if case.rng.random() < 0.5 or chosen[2].orelse:
        chosen[2].body.append(ast.Continue())
    else:
        chosen[2].orelse = [ast.Pass()]
    return True


def clone_all(statements):
    return [clone(s) for s in statements]

