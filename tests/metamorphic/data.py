"""Rewritings of containers, subscripts, assignments and comprehensions, and of where variables are kept."""

import ast

from tests.metamorphic.calls import numpy_name, pick
from tests.metamorphic.functions import item
from tests.metamorphic.names import movable, rename, temporary_places
from tests.metamorphic.registry import rewriting
from tests.metamorphic.trees import (  # fmt: skip
    COMPREHENSIONS, SCOPES, always_run, assign, blocks, bound_in, bound_inside, call, clone, constant, declared,
    expressions, has, loaded, locals_of, name, parameter_names, places, put, read_in, returns, target, unpack
)


@rewriting
def list_to_tuple(case):
    """A list display becomes a tuple, where nothing changes the list."""
    chosen = pick(case, expressions(case.function, ast.List))
    if not chosen:
        return False
    put(chosen, ast.Tuple(chosen[3].elts, ast.Load()))
    return True


@rewriting
def tuple_to_list(case):
    """A tuple display that is no subscript becomes a list, or `tuple([...])`."""
    found = [p for p in expressions(case.function, ast.Tuple) if not (isinstance(p[0], ast.Subscript) and p[1] == "slice")]
    found = [p for p in found if p[3].elts and not has([p[3]], ast.Slice)]
    chosen = pick(case, found)
    if not chosen:
        return False
    made = ast.List(chosen[3].elts, ast.Load())
    put(chosen, made if case.rng.random() < 0.6 else call("tuple", made))
    return True


@rewriting
def unpack_in_steps(case):
    """`a, b = x, y` becomes `t = x`, `u = y`, `a = t`, `b = u`; other values are unpacked by subscripts."""
    found = [one for one in places(case.function, ast.Assign) if isinstance(one[2].targets[0], (ast.Tuple, ast.List))]
    found = [one for one in found if len(one[2].targets) == 1 and not has(one[2].targets, ast.Starred)]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, statement = chosen
    left, right = statement.targets[0].elts, statement.value
    if isinstance(right, ast.Tuple) and len(right.elts) == len(left) and not has([right], ast.Starred):
        names = [case.fresh("t") for _ in left]
        made = [assign(n, e) for n, e in zip(names, right.elts)] + [assign(one, name(n)) for one, n in zip(left, names)]
    else:
        title = case.fresh("t")
        made = [assign(title, right), *[assign(one, item(title, k)) for k, one in enumerate(left)]]
    block[i : i + 1] = made
    return True


@rewriting
def assign_together(case):
    """`a = x` and `b = y` become `a, b = x, y`, where `y` does not read `a`."""
    found = []
    for block in blocks(case.function):
        for i in range(len(block) - 1):
            a, b = block[i : i + 2]
            if plain(a) and plain(b) and not set(bound_in([a])) & set(read_in([b])):
                found.append((block, i))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i = chosen
    a, b = block[i : i + 2]
    block[i : i + 2] = [assign(unpack([a.targets[0].id, b.targets[0].id]), ast.Tuple([a.value, b.value], ast.Load()))]
    return True


def plain(statement):
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)


def steady(node):
    """Whether a target may be evaluated twice: a name, or an item at names and constants."""
    return not has([node], ast.Call, ast.NamedExpr, ast.Await)


@rewriting
def augmented_to_plain(case):
    """`a += b` becomes `a = a + b`, where this is the same."""
    chosen = pick(case, [one for one in places(case.function, ast.AugAssign) if steady(one[2].target)])
    if not chosen:
        return False
    block, i, statement = chosen
    block[i] = assign(statement.target, ast.BinOp(loaded(statement.target), statement.op, statement.value))
    return True


@rewriting
def plain_to_augmented(case):
    """`a = a + b` becomes `a += b`, where this is the same."""
    found = []
    for block, i, s in places(case.function, ast.Assign):
        if len(s.targets) == 1 and isinstance(s.value, ast.BinOp) and ast.unparse(s.value.left) == ast.unparse(s.targets[0]):
            found.append((block, i, s))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, s = chosen
    block[i] = ast.AugAssign(s.targets[0], s.value.op, s.value.right)
    return True


@rewriting
def comprehension_to_loop(case):
    """A list comprehension, or a generator in `sum`, becomes a loop that appends or adds."""
    found = []
    for block, i, place in temporary_places(case):
        node = place[3]
        summed = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sum" and len(node.args) == 1
        inner = node.args[0] if summed else node
        if isinstance(inner, (ast.ListComp, ast.GeneratorExp) if summed else ast.ListComp) and not has([inner], ast.NamedExpr, ast.Lambda):
            found.append((block, i, place, inner, summed))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, place, inner, summed = chosen
    title = case.fresh("total" if summed else "items")
    names = {n: case.fresh(n) for n in bound_in([g.target for g in inner.generators])}
    rename(ast.Module([inner], []), names)
    add = ast.AugAssign(target(title), ast.Add(), inner.elt) if summed else ast.Expr(call(f"{title}.append", inner.elt))
    body = [add]
    for one in reversed(inner.generators):
        for test in reversed(one.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(one.target, one.iter, body, [], None)]
    put(place, name(title))
    block[i:i] = [assign(title, constant(0) if summed else ast.List([], ast.Load())), *body]
    return True


def appended(statement, title):
    """What a statement appends to a list, or None."""
    value = getattr(statement, "value", None)
    fits = isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and ast.unparse(value.func) == f"{title}.append"
    return value.args[0] if fits and len(value.args) == 1 else None


@rewriting
def loop_to_comprehension(case):
    """A loop that only appends becomes a list comprehension, or `list(map(...))`."""
    found = []
    for block in blocks(case.function):
        for i in range(len(block) - 1):
            a, loop = block[i : i + 2]
            if plain(a) and isinstance(a.value, ast.List) and not a.value.elts and isinstance(loop, ast.For) and len(loop.body) == 1:
                element = appended(loop.body[0], a.targets[0].id)
                later = [n for s in block[i + 2 :] for n in ast.walk(s) if isinstance(n, ast.Name)]
                if element is not None and not loop.orelse and a.targets[0].id not in read_in([element]):
                    if not {n.id for n in later} & set(bound_in([loop.target])):
                        found.append((block, i, loop, element))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, loop, element = chosen
    block[i].value = ast.ListComp(element, [ast.comprehension(loop.target, loop.iter, [], 0)])
    del block[i + 1]
    return True


@rewriting
def comprehension_kind(case):
    """`[e for v in s]` becomes `list(e for v in s)`, `list(map(lambda v: e, s))` or `[*(e for v in s)]`."""
    chosen = pick(case, expressions(case.function, ast.ListComp))
    if not chosen:
        return False
    node = chosen[3]
    simple = len(node.generators) == 1 and not node.generators[0].ifs and isinstance(node.generators[0].target, ast.Name)
    generator = ast.GeneratorExp(node.elt, node.generators)
    kinds = [call("list", generator), ast.List([ast.Starred(generator, ast.Load())], ast.Load())]
    if simple and not has([node.elt], ast.NamedExpr):
        title = node.generators[0].target.id
        function = ast.Lambda(ast.arguments([], [ast.arg(title)], None, [], [], None, []), node.elt)
        kinds.append(call("list", call("map", function, node.generators[0].iter)))
    put(chosen, case.rng.choice(kinds))
    return True


@rewriting
def subscript_split(case):
    """`x[i, j]` becomes `x[i][j]`, and `x[i][j]` becomes `x[i, j]`; both also where they are assigned."""
    found = []
    for node in ast.walk(case.function):
        if isinstance(node, ast.Subscript):
            index = node.slice
            if isinstance(index, ast.Tuple) and len(index.elts) == 2 and not has([index.elts[0]], ast.Slice, ast.Starred):
                found.append((node, ast.Subscript(node.value, index.elts[0], ast.Load()), index.elts[1]))
            elif isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, (ast.Slice, ast.Tuple)):
                if not isinstance(index, ast.Tuple):
                    found.append((node, node.value.value, ast.Tuple([node.value.slice, index], ast.Load())))
    if not found:
        return False
    node, node.value, node.slice = case.rng.choice(found)
    return True


@rewriting
def subscript_form(case):
    """A slice is written in full or as `slice(...)`, and an index gets `...` or `:` behind it."""
    found = [n for n in ast.walk(case.function) if isinstance(n, ast.Subscript)]
    if not found:
        return False
    node = case.rng.choice(found)
    index = node.slice
    if isinstance(index, ast.Slice):
        parts = [index.lower or constant(None), index.upper or constant(None), index.step or constant(None)]
        full = ast.Slice(index.lower or constant(0), index.upper or call("len", clone(loaded(node.value))), index.step or constant(1))
        node.slice = case.rng.choice([call("slice", *parts), ast.Slice(*parts), ast.Tuple([index], ast.Load())])
        if not index.step and case.rng.random() < 0.5 and not has([node.value], ast.Call):
            node.slice = full
        return True
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(e, ast.Constant) and (e.value is Ellipsis or isinstance(e.value, str)) for e in indices):
        return False
    more = ast.Slice(None, None, None) if case.rng.random() < 0.5 else constant(...)
    node.slice = ast.Tuple([*indices, more], ast.Load())
    return True


@rewriting
def index_named(case):
    """`x[i, j]` becomes `x[at]` after `at = (i, j)`, also where it is assigned."""
    found = []
    for block, i, statement in places(case.function, ast.Assign, ast.AugAssign, ast.Return, ast.Expr):
        nodes = [p[3] for p in always_run(statement)]
        nodes += statement.targets[:1] if isinstance(statement, ast.Assign) else []
        nodes += [statement.target] if isinstance(statement, ast.AugAssign) else []
        found += [(block, i, n) for n in nodes if isinstance(n, ast.Subscript) and not isinstance(n.slice, (ast.Constant, ast.Name))]
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node = chosen
    title = case.fresh("at")
    block.insert(i, assign(title, without_slices(node.slice)))
    node.slice = name(title)
    return True


def without_slices(index):
    """An index as an expression, with `slice(...)` for slices."""
    if isinstance(index, ast.Slice):
        return call("slice", *[part or constant(None) for part in (index.lower, index.upper, index.step)])
    if isinstance(index, ast.Tuple):
        return ast.Tuple([without_slices(e) for e in index.elts], ast.Load())
    return index


@rewriting
def view_named(case):
    """`x[i]` is read or written through a name of the array: `view = x` before, `view[i]` after."""
    found = []
    for block in blocks(case.function):
        for i, statement in enumerate(block):
            for node in [n for n in ast.walk(statement) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)]:
                if not has([statement], *SCOPES, *COMPREHENSIONS) and node.value.id not in bound_in([statement]):
                    if node.value.id in locals_of(case.function):
                        found.append((block, i, node))
    chosen = pick(case, found)
    if not chosen:
        return False
    block, i, node = chosen
    title = case.fresh("view")
    kinds = [name(node.value.id), ast.Subscript(name(node.value.id), ast.Slice(None, None, None), ast.Load())]
    block.insert(i, assign(title, case.rng.choice(kinds)))
    node.value = name(title)
    return True


def storable(case):
    """The variables that may be kept elsewhere than in names."""
    function = case.function
    if declared(function) or has(function.body, *SCOPES, ast.NamedExpr, ast.Match, ast.With, ast.Import, ast.ImportFrom, ast.Try):
        return []
    inner = bound_inside(function)
    loops = bound_in([s.target for s in ast.walk(function) if isinstance(s, ast.For)])
    found = [n for n in movable(case) + parameter_names(function) if n not in inner and n not in loops]
    return list(dict.fromkeys(found))


def store_variables(case, some, place):
    """Keeps variables at the place that `place(name, context)` makes; parameters are stored at the beginning."""
    for parent in list(ast.walk(case.function)):
        for field, value in ast.iter_fields(parent):
            for k, one in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(one, ast.Name) and one.id in some:
                    put((parent, field, k), place(one.id, one.ctx))
    params = [n for n in parameter_names(case.function) if n in some]
    return [assign(place(n, ast.Store()), name(n)) for n in params]


def some_of(case, names):
    if names and case.rng.random() < 0.5:
        return set(case.rng.sample(names, case.rng.randint(1, len(names))))
    return set(names)


@rewriting
def variables_in_dict(case):
    """Variables are kept in a dict: `v["a"]` in place of `a`."""
    some = some_of(case, storable(case))
    if not some:
        return False
    title = case.fresh("v")
    stores = store_variables(case, some, lambda n, context: item(title, n, context))
    empty = ast.Dict([], []) if case.rng.random() < 0.5 else call("dict")
    case.function.body[:0] = [assign(title, empty), *stores]
    return True


@rewriting
def variables_in_object(case):
    """Variables are kept in the attributes of an object: of a class of the module, or of a `SimpleNamespace`."""
    some = some_of(case, storable(case))
    if not some:
        return False
    title, kind = case.fresh("v"), case.fresh("Variables")
    stores = store_variables(case, some, lambda n, context: ast.Attribute(name(title), n, context))
    if case.rng.random() < 0.5:
        case.before.append(ast.ClassDef(kind, [], [], [ast.Pass()], []))
    else:
        case.before.append(ast.ImportFrom("types", [ast.alias("SimpleNamespace", kind)], 0))
    case.function.body[:0] = [assign(title, call(kind)), *stores]
    return True


@rewriting
def variables_in_list(case):
    """Variables are kept in a list of fixed length: `v[0]` in place of `a`."""
    some = sorted(some_of(case, storable(case)))
    if not some:
        return False
    title = case.fresh("v")
    stores = store_variables(case, some, lambda n, context: ast.Subscript(name(title), constant(some.index(n)), context))
    empty = ast.BinOp(ast.List([constant(None)], ast.Load()), ast.Mult(), constant(len(some)))
    if case.rng.random() < 0.5:
        empty = ast.List([constant(None) for _ in some], ast.Load())
    case.function.body[:0] = [assign(title, empty), *stores]
    return True


@rewriting
def array_copied(case):
    """An array that is read is copied first: `x.copy()` or `np.array(x)` in the place of a parameter."""
    numpy, params = numpy_name(case), [n for n in parameter_names(case.function) if n not in declared(case.function)]
    if not numpy or not params or returns([]):
        return False
    chosen = case.rng.choice(params)
    made = case.rng.choice([call(f"{chosen}.copy"), call(f"{numpy}.array", name(chosen)), call(f"{numpy}.copy", name(chosen))])
    case.function.body.insert(0, assign(chosen, made))
    return True
