"""Simplifications: what each removes, what it must leave, and that none changes what a program computes."""

import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import (
    UNDEFINED, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Origin,
    Pop, Range, Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.printer import show
from sourcead.ir.types import (
    ANY_DTYPE, BOOL, COMPLEX, FLOAT, INT, UNKNOWN, Array, ListT, NoneType, Scalar, TupleT, anydim, many
)
from sourcead.ir.verify import verify
from sourcead.passes.cleanup.algebra import simplify_arithmetic
from sourcead.passes.cleanup.broadcasts import remove_broadcasts
from sourcead.passes.cleanup.common_subexpressions import merge_common
from sourcead.passes.cleanup.copies import propagate_copies
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.cleanup.shape_queries import share_shapes
from sourcead.passes.equality import value_key
from sourcead.passes.plan import CLEANUP, observed, simplify
from tests.work import calls_of

add, sub, mul, div, power, neg = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg
USER = Origin("model.py", 1, 0, 1, 1, "v = ...")
F64, F32, I64 = np.dtype("float64"), np.dtype("float32"), np.dtype("int64")


def as_operand(value):
    if isinstance(value, (Var, Const, Slice)):
        return value
    return tuple(map(as_operand, value)) if isinstance(value, tuple) else Const(value)


class Writer:
    """Writes IR: `w(op or function, ...)` adds a statement and gives its target."""

    def __init__(self, origin=None):
        self.params, self.blocks, self.origin = [], [[]], origin

    def param(self, name, type):
        self.params.append(Var(name, type))
        return self.params[-1]

    def __call__(self, op, *args, type=UNKNOWN, name=None, effect=False, origin=None, **kwargs):
        if callable(op):
            op = Call(op, tuple(map(as_operand, args)), tuple((k, as_operand(v)) for k, v in kwargs.items()), effect)
        return self.stmt(op, [type], [name], origin)[0]

    def stmt(self, op, types, names=None, origin=None):
        names = names or [None] * len(types)
        targets = tuple(Var(n or "t", t, temp=n is None) for t, n in zip(types, names))
        self.blocks[-1].append(Stmt(targets, op, origin or self.origin))
        return targets

    def index(self, base, key, type=UNKNOWN, name=None):
        return self(Index(base, as_operand(key)), type=type, name=name)

    def block(self, write):
        """The block of what `write()` writes and gives."""
        self.blocks.append([])
        results = write()
        return Block(tuple(self.blocks.pop()), tuple(map(as_operand, results)))

    def branch(self, cond, then, orelse, types, kind="if"):
        return self.stmt(Branch(as_operand(cond), self.block(then), self.block(orelse), kind), types)

    def loop(self, n, inits, types, body):
        """`body(index, *params)` gives the values for the next iteration."""
        index, params = Var("i", INT), tuple(Var(f"p{k}", t) for k, t in enumerate(types))
        block = self.block(lambda: body(index, *params))
        return self.stmt(Loop(Range(Const(0), as_operand(n), Const(1)), index, params, tuple(map(as_operand, inits)), block), types)

    def function(self, *results):
        f = Function("f", tuple(self.params), Block(tuple(self.blocks[-1]), tuple(map(as_operand, results))))
        verify(f)
        return f


def ops(function):
    """The operations of a function, inner blocks in place, by name."""

    def visit(block):
        for stmt in block.stmts:
            yield getattr(stmt.op.fn, "__name__", "call") if isinstance(stmt.op, Call) else type(stmt.op).__name__
            for inner in stmt.op.blocks:
                yield from visit(inner)

    return " ".join(visit(function.body))


def cleaned(function, *passes):
    """The function after these passes and removal of dead code, verified after each."""
    for run in (*passes, remove_dead):
        function = run(function)
        verify(function)
    return function


def vector(dtype=F64, *dims):
    return Array(dtype, dims or (many(),))


# -- dead code --------------------------------------------------------------------------------------------------------


def test_what_is_settled_is_not_simplified_again():
    x, y, z = Var("x", FLOAT), Var("y", FLOAT, temp=True), Var("z", FLOAT)
    product, root = Stmt((y,), Call(operator.mul, (x, Const(1)))), Stmt((z,), Call(operator.neg, (y,)))
    settled, ran = {}, []
    with observed(lambda row, before, after: ran.append(row.name)):
        once = simplify(Function("f", (x,), Block((product, root), (z,))), settled)
        assert len(once.body.stmts) == 1 and ran
        ran.clear()
        assert simplify(once, settled) is once
    assert ran == []


def test_unread_statements_go_and_effects_stay_in_order():
    w = Writer()
    x = w.param("x", FLOAT)
    a = w(neg, x)
    w(mul, a, x)
    w(print, a, effect=True)
    w.stmt(Effect("assert", (x,)), [])
    w(print, "unread", effect=False)
    assert ops(cleaned(w.function(x))) == "neg print Effect"


def test_a_loop_variant_that_only_feeds_itself_goes():
    w = Writer()
    x = w.param("x", FLOAT)
    kept, unread = w.loop(3, [0.0, 1.0], [FLOAT, FLOAT], lambda i, p, q: (w(add, p, x), w(mul, q, w(add, p, q))))
    f = cleaned(w.function(kept))
    (stmt,) = f.body.stmts
    assert len(stmt.op.params) == len(stmt.op.inits) == len(stmt.targets) == 1 and ops(f) == "Loop add"


def test_a_loop_variant_read_by_a_live_one_stays():
    w = Writer()
    x = w.param("x", FLOAT)
    kept, other = w.loop(3, [0.0, 1.0], [FLOAT, FLOAT], lambda i, p, q: (w(add, p, q), w(mul, q, x)))
    assert len(cleaned(w.function(kept)).body.stmts[0].targets) == 2


def test_a_residual_list_that_is_never_read_goes():
    w = Writer()
    x = w.param("x", FLOAT)
    saved = w(Build("list", ()))
    y, saved = w.loop(3, [x, saved], [FLOAT, UNKNOWN], lambda i, p, s: (w(mul, p, x), w(Append(s, p))))
    w.loop(3, [saved], [UNKNOWN], lambda i, s: (w.stmt(Pop(s), [UNKNOWN, FLOAT])[0],))
    assert ops(cleaned(w.function(y))) == "Loop mul"


def test_dead_branch_results_go_and_conditions_of_dead_branches_with_them():
    w = Writer()
    x = w.param("x", FLOAT)
    c = w(operator.lt, x, 1)
    a, b = w.branch(c, lambda: (w(neg, x), w(abs, x)), lambda: (x, x), [FLOAT, FLOAT])
    w.branch(w(operator.gt, x, 1), lambda: (), lambda: (), [])
    f = cleaned(w.function(b))
    assert ops(f) == "lt Branch abs" and len(f.body.stmts[1].targets) == 1


def test_an_effect_inside_keeps_what_is_around_it():
    w = Writer()
    x = w.param("x", FLOAT)
    (y,) = w.branch(w(operator.lt, x, 1), lambda: (w(neg, x),), lambda: (w(print, x, effect=True),), [FLOAT], "and")
    f = cleaned(w.function(x))
    assert ops(f) == "lt Branch print" and f.body.stmts[1].op.kind == "if"


def test_an_unused_while_loop_goes():
    w = Writer()
    x = w.param("x", FLOAT)
    p = Var("p", FLOAT)
    condition, body = w.block(lambda: (w(operator.lt, p, 9),)), w.block(lambda: (w(add, p, 1),))
    w.stmt(Loop(condition, None, (p,), (x,), body), [FLOAT])
    assert ops(cleaned(w.function(x))) == ""


def test_a_condition_of_a_while_loop_keeps_what_it_reads():
    w = Writer()
    x = w.param("x", FLOAT)
    p, q = Var("p", FLOAT), Var("q", FLOAT)
    condition, body = w.block(lambda: (w(operator.lt, p, 9),)), w.block(lambda: (w(add, p, 1), w(mul, q, 2)))
    _, b = w.stmt(Loop(condition, None, (p, q), (x, x), body), [FLOAT, FLOAT])
    assert len(cleaned(w.function(b)).body.stmts[0].targets) == 2


@pytest.mark.parametrize("used, left", [(False, ""), (True, "Closure neg mul print")])
def test_an_unused_closure_goes_with_its_effects_and_a_used_one_keeps_them(used, left):
    w = Writer()
    x = w.param("x", FLOAT)
    p = Var("p", FLOAT)
    f = w(Closure((p,), w.block(lambda: (w(mul, p, w(neg, x)), w(print, p, effect=True))[:1])))
    assert ops(cleaned(w.function(f if used else x))) == left


# -- copies -----------------------------------------------------------------------------------------------------------


def test_invariant_loop_params_are_what_the_loop_began_with():
    w = Writer()
    x, y = w.param("x", FLOAT), w.param("y", FLOAT)

    def body(i, p, same, swapped, back, const):
        return w(add, w(mul, p, same), w(mul, swapped, const)), same, back, swapped, 2

    a, b, c, d, e = w.loop(3, [0.0, x, y, y, 2], [FLOAT] * 5, body)
    f = cleaned(w.function(a, b, c, d, e), propagate_copies)
    assert len(f.body.stmts[0].op.params) == 1
    assert f.body.results[1:4] == (x, y, y) and f.body.results[4].value == 2
    assert evaluate(f, 2.0, 3.0) == (42.0, 2.0, 3.0, 3.0, 2)


@pytest.mark.parametrize("init, yielded", [(1, 1.0), (1, True), (0.0, -0.0), (1, 2)])
def test_a_param_that_becomes_another_constant_is_not_invariant(init, yielded):
    w = Writer()
    (a,) = w.loop(3, [init], [UNKNOWN], lambda i, p: (yielded,))
    assert ops(cleaned(w.function(a), propagate_copies)) == "Loop"


def test_undefined_is_not_propagated_into_operations():
    w = Writer()
    (a,) = w.loop(0, [UNDEFINED], [FLOAT], lambda i, p: (p,))
    (b,) = w.branch(True, lambda: (UNDEFINED,), lambda: (1.0,), [FLOAT])
    (c,) = w.branch(a, lambda: (UNDEFINED,), lambda: (UNDEFINED,), [FLOAT])
    cleaned(w.function(w(neg, a), w(neg, b), w(neg, c)), propagate_copies)


def test_undefined_is_handed_on():
    w = Writer()
    x = w.param("x", FLOAT)
    (a,) = w.branch(False, lambda: (w(neg, x),), lambda: (UNDEFINED,), [FLOAT])
    (b,) = w.loop(3, [a], [FLOAT], lambda i, p: (w(mul, x, i),))
    f = cleaned(w.function(b), propagate_copies)
    assert ops(f) == "Loop mul" and f.body.stmts[0].op.inits == (UNDEFINED,)


@pytest.mark.parametrize("cond, left", [(True, "neg"), (False, "abs"), (0.0, "abs"), (None, "abs"), ((1,), "neg")])
def test_a_branch_on_a_constant_is_inlined(cond, left):
    w = Writer()
    x = w.param("x", FLOAT)
    (y,) = w.branch(Const(cond), lambda: (w(neg, x),), lambda: (w(abs, x),), [FLOAT])
    assert ops(cleaned(w.function(y), propagate_copies)) == left


def test_a_branch_on_a_live_constant_stays():
    w = Writer()
    x = w.param("x", FLOAT)
    (y,) = w.branch(Const(True, "FLAG", live=True), lambda: (w(neg, x),), lambda: (w(abs, x),), [FLOAT])
    assert ops(cleaned(w.function(y), propagate_copies)) == "Branch neg abs"


def test_a_branch_on_a_condition_already_taken_is_inlined():
    w = Writer()
    x, c = w.param("x", FLOAT), w.param("c", BOOL)

    def inner():
        return w.branch(c, lambda: (w(neg, x),), lambda: (w(abs, x),), [FLOAT])

    (y,) = w.branch(c, inner, inner, [FLOAT])
    (z,) = inner()
    assert ops(cleaned(w.function(y, z), propagate_copies)) == "Branch neg abs Branch neg abs"


def test_equal_branch_results_are_replaced():
    w = Writer()
    x, c = w.param("x", FLOAT), w.param("c", BOOL)
    a, b, d = w.branch(c, lambda: (x, 1, w(neg, x)), lambda: (x, 1, w(neg, x)), [FLOAT, INT, FLOAT])
    f = cleaned(w.function(a, b, d), propagate_copies)
    assert f.body.results[0] is x and f.body.results[1].value == 1 and len(f.body.stmts[0].targets) == 1


def test_items_of_displays_and_popped_values_are_what_was_put_in():
    w = Writer()
    x, y = w.param("x", FLOAT), w.param("y", FLOAT)
    pair, table = w(Build("tuple", (x, y))), w(Build("dict", (x, y), ("a", "b")))
    stack, last = w.stmt(Pop(w(Append(w(Build("list", (y,))), x))), [UNKNOWN, FLOAT])
    n = w(len, pair)
    f = w.function(w.index(pair, -1), w.index(table, "a"), last, w.index(stack, 0), w.index(Const((5, 6)), 1), n)
    f = cleaned(f, propagate_copies)
    assert not f.body.stmts and f.body.results[:4] == (y, x, x, y) and [r.value for r in f.body.results[4:]] == [6, 2]


@pytest.mark.parametrize("key", [2, 1.0, "a", None])
def test_items_that_are_not_there_are_left_to_fail(key):
    w = Writer()
    x = w.param("x", FLOAT)
    assert ops(cleaned(w.function(w.index(w(Build("tuple", (x, x))), key)), propagate_copies)) == "Build Index"


def test_ndim_is_what_the_type_says():
    w = Writer()
    xs = [w.param("x", t) for t in (Array(F64, (1, 1)), Scalar("float", F64), FLOAT, Array(F64, None), UNKNOWN)]
    f = cleaned(w.function(*[w(Attr(x, "ndim")) for x in xs]), propagate_copies)
    assert ops(f) == "Attr Attr Attr" and [r.value for r in f.body.results[:2]] == [2, 0]


def test_a_name_for_a_constant_stays_and_a_second_name_for_a_value_goes():
    w = Writer()
    x = w.param("x", FLOAT)
    dt = w(Let(Const(0.1)), name="dt")
    temp = w(Let(Const(2)))
    y = w(Let(w(mul, x, dt)), name="y")
    f = cleaned(w.function(w(mul, y, temp), y), propagate_copies)
    assert ops(f) == "Let mul mul" and f.body.stmts[1].targets[0].name == "y"


def test_a_called_variable_that_is_a_function_becomes_that_function():
    w = Writer()
    x = w.param("x", FLOAT)
    g = w.index(w(Build("tuple", (Const(np.sin), x))), 0)
    f = cleaned(w.function(w(Call(g, (x,)))), propagate_copies)
    assert f.body.stmts[0].op.fn is np.sin


# -- common subexpressions --------------------------------------------------------------------------------------------


def test_equal_pure_operations_are_done_once():
    w = Writer()
    x, y = w.param("x", vector()), w.param("y", vector())
    pairs = [(w(f, *a, **k), w(f, *a, **k)) for f, a, k in [
        (mul, (x, y), {}), (np.sum, (x,), {"axis": 0}), (np.add.reduce, (x,), {}), (np.linalg.norm, (x,), {}), (float, (1,), {}),
    ]]  # fmt: skip
    pairs.append((w.index(x, (Slice(None, Const(2), None), 1)), w.index(x, (Slice(None, Const(2), None), 1))))
    pairs.append((w(add, x, y), w(add, y, x)))
    f = cleaned(w.function(*sum(pairs, ())), merge_common)
    assert all(f.body.results[k] is f.body.results[k + 1] for k in range(0, 2 * len(pairs), 2))


def impure_calls():
    rng = np.random.default_rng(0)
    yield from [np.zeros, np.zeros_like, np.array, np.copy, np.full, np.random.normal, rng.normal, print, open, lambda x: x, np.load]
    yield from [np.frompyfunc(lambda x: x, 1, 1), np.fill_diagonal, operator.iadd, operator.setitem, np.add.at, sorted, next, iter]


@pytest.mark.parametrize("fn", list(impure_calls()), ids=lambda f: getattr(f, "__name__", "f"))
def test_calls_not_known_to_be_pure_are_not_merged(fn):
    w = Writer()
    x = w.param("x", UNKNOWN)
    f = w.function(w(fn, x), w(fn, x))
    assert merge_common(f) is f


def test_memory_that_is_written_and_unlike_operands_are_not_merged():
    w = Writer()
    x, y = w.param("x", UNKNOWN), w.param("y", UNKNOWN)
    w_list = [w(Build("list", (x,))), w(Build("list", (x,))), w(Append(x, y)), w(Append(x, y))]
    w_list += [w(Update(x, (), y)), w(Update(x, (), y)), w(np.exp, x, out=y), w(np.exp, x, out=y)]
    w_list += [w(add, x, c) for c in (1, 1.0, True, 0.0, -0.0, np.float64(1), np.float32(1))]
    w_list += [w.index(x, 0), w.index(x, 1), w.index(x, (0, 1)), w(Attr(x, "shape")), w(Attr(x, "dtype")), w(Attr(y, "dtype"))]
    w_list += [w(add, x, y), w(add, y, x), w(np.sum, x, axis=0), w(np.sum, x, axis=1), w(np.min, x, axis=0), w(sub, y, x)]
    f = w.function(*w_list)
    assert merge_common(f) is f


def test_values_in_sibling_blocks_are_not_merged_and_those_around_are():
    w = Writer()
    x, c = w.param("x", FLOAT), w.param("c", BOOL)
    a = w(mul, x, x)
    (b,) = w.branch(c, lambda: (w(add, w(mul, x, x), w(abs, x)),), lambda: (w(abs, x),), [FLOAT])
    (d,) = w.loop(3, [x], [FLOAT], lambda i, p: (w(add, w(mul, x, x), w(abs, x)),))
    f = cleaned(w.function(a, b, d, w(abs, x)), merge_common)
    assert ops(f) == "mul Branch abs add abs Loop abs add abs"


def test_the_users_name_survives_a_merge():
    w = Writer()
    x = w.param("x", FLOAT)
    t = w(mul, x, x)
    a = w(mul, x, x, name="a")
    f = cleaned(w.function(w(add, t, a)), merge_common)
    assert [s.targets[0].name for s in f.body.stmts] == ["a", "t"]


def test_what_an_object_says_of_itself_is_asked_again_but_known_to_be_equal():
    w = Writer()
    x = w.param("x", vector())
    shapes = [w(Attr(x, "shape")) for _ in range(2)]
    f = cleaned(w.function(*[w(np.reshape, x, s) for s in shapes], *shapes), merge_common)
    assert ops(f) == "Attr Attr reshape"


def test_nan_is_nan_and_zeros_differ_by_sign():
    assert value_key(float("nan")) == value_key(np.nan) and value_key(0.0) != value_key(-0.0)
    assert len({value_key(v) for v in (1, 1.0, True, 1 + 0j, np.float64(1), np.float32(1), (1,), (1.0,), "1")}) == 9
    assert value_key((1, slice(0, None))) == value_key((1, slice(0, None)))


# -- algebra ----------------------------------------------------------------------------------------------------------

V = vector()
V32 = vector(F32, *V.dims)
I = vector(I64, *V.dims)
COL = Array(F64, (1, *V.dims))
NP64 = Scalar("float", F64)
ANY = Scalar("float", ANY_DTYPE)

# (function, operands, result type, what is left for the user's statements, for generated ones)
LOCAL_RULES = [
    (mul, ("x", 1), (V,), V, "x", "x"),
    (mul, (1, "x"), (V,), V, "x", "x"),
    (mul, (1.0, "x"), (V32,), V32, "x", "x"),
    (mul, (1.0, "x"), (FLOAT,), FLOAT, "x", "x"),
    (mul, (1.0, "x"), (ANY,), ANY, "x", "x"),
    (mul, (np.float64(1), "x"), (V,), V, "mul", "mul"),
    (mul, (1.0, "x"), (I,), V, "mul", "mul"),
    (mul, (True, "x"), (V,), V, "mul", "mul"),
    (mul, (1, "x"), (UNKNOWN,), UNKNOWN, "mul", "mul"),
    (mul, (1, "x"), (BOOL,), INT, "mul", "mul"),
    (mul, (1, "x"), (COMPLEX,), COMPLEX, "mul", "x"),
    (mul, (1, "x"), (Array(F64, None),), Array(F64, None), "mul", "mul"),
    (mul, (1, "x"), (vector(F64, anydim()),), vector(F64, anydim()), "x", "x"),
    (mul, (-1, "x"), (V,), V, "neg", "neg"),
    (mul, ("x", -1.0), (V,), V, "neg", "neg"),
    (mul, ("x", -1), (I,), I, "mul", "mul"),
    (div, ("x", 1), (V,), V, "x", "x"),
    (div, ("x", 1), (I,), V, "truediv", "truediv"),
    (div, ("x", 1), (INT,), FLOAT, "truediv", "truediv"),
    (div, (1, "x"), (V,), V, "truediv", "truediv"),
    (add, ("x", 0), (V,), V, "add", "x"),
    (add, (0.0, "x"), (FLOAT,), FLOAT, "add", "x"),
    (add, (0, "x"), (INT,), INT, "x", "x"),
    (add, (0.0, "x"), (INT,), FLOAT, "add", "add"),
    (sub, ("x", 0), (V,), V, "x", "x"),
    (sub, ("x", 0.0), (I,), V, "sub", "sub"),
    (sub, (0, "x"), (V,), V, "sub", "neg"),
    (power, ("x", 1), (V,), V, "x", "x"),
    (power, ("x", 1.0), (I,), V, "pow", "pow"),
    (power, ("x", 2), (V,), V, "pow", "pow"),
    (operator.pos, ("x",), (V,), V, "x", "x"),
    (operator.pos, ("x",), (BOOL,), INT, "pos", "pos"),
]


@pytest.mark.parametrize("origin", [USER, None], ids=["user", "generated"])
@pytest.mark.parametrize("fn, args, types, result, user, generated", LOCAL_RULES)
def test_operations_that_change_nothing(fn, args, types, result, user, generated, origin):
    w = Writer(origin)
    x = w.param("x", types[0])
    f = cleaned(w.function(w(fn, *(x if a == "x" else a for a in args), type=result)), simplify_arithmetic)
    assert (ops(f) or f.body.results[0].name) == (user if origin else generated)


@pytest.mark.parametrize(
    "write, left",
    [
        (lambda w, x, y: w(neg, w(neg, x, type=V), type=V), ""),
        (lambda w, x, y: w(sub, x, w(neg, y, type=V), type=V), "add"),
        (lambda w, x, y: w(add, x, w(neg, y, type=V), type=V), "sub"),
        (lambda w, x, y: w(add, 1.0, w(neg, y, type=V), type=V), "sub"),
        (lambda w, x, y: w(mul, w(neg, x, type=V), w(neg, y, type=V), type=V), "mul"),
        (lambda w, x, y: w(sub, x, w(mul, w(neg, x, type=V), y, type=V), type=V), "mul add"),
        (lambda w, x, y: w(add, x, w(div, w(neg, x, type=V), y, type=V), type=V), "truediv sub"),
        (lambda w, x, y: w(neg, w(mul, x, w(neg, y, type=V), type=V), type=V), "mul"),
        (lambda w, x, y: w(add, x, w(div, w(mul, w(neg, x, type=V), x, type=V), y, type=V), type=V), "mul truediv sub"),
        (lambda w, x, y: w(add, x, w(neg, y, type=V, name="m"), type=V), "neg add"),
        (lambda w, x, y: w(Update(x, (), w(neg, y, type=V), "add"), type=V), "Update sub"),
        (lambda w, x, y: w(Update(x, (Sub(Slice(None, None, None)),), w(neg, y, type=V), "sub"), type=V), "Update add"),
        (lambda w, x, y: w(Update(x, (), w(mul, w(neg, y, type=V), y, type=V), "add"), type=V), "mul Update sub"),
        (lambda w, x, y: w(Update(x, (), w(neg, y, type=V)), type=V), "neg Update set"),
    ],
)
@pytest.mark.parametrize("origin", [USER, None], ids=["user", "generated"])
def test_signs_are_moved_to_where_they_cost_nothing(write, left, origin):
    w = Writer(origin)
    x, y = w.param("x", V), w.param("y", V)
    f = w.function(write(w, x, y))
    after = cleaned(f, simplify_arithmetic)
    modes = [s.op.mode for s in after.body.stmts if isinstance(s.op, Update)]
    assert " ".join([ops(after), *modes]).strip() == left
    same_results(evaluate(after, np.array([1.0, -2.0]), np.array([3.0, 0.5])), evaluate(f, np.array([1.0, -2.0]), np.array([3.0, 0.5])))


@pytest.mark.parametrize("t", [I, INT, BOOL, UNKNOWN, vector(np.dtype("uint8"))])
def test_signs_of_what_may_wrap_around_stay(t):
    w = Writer(USER)
    x, y = w.param("x", t), w.param("y", t)
    f = w.function(w(sub, x, w(neg, y, type=t), type=t), w(add, x, w(neg, y, type=t), type=t), w(neg, w(neg, x, type=t), type=t))
    assert simplify_arithmetic(f) is f


def test_generated_differences_turn_round():
    w = Writer()
    x, y = w.param("x", V), w.param("y", V)
    f = w.function(w(neg, w(sub, x, y, type=V), type=V), w(add, w(neg, x, type=V), y, type=V))
    assert ops(cleaned(f, simplify_arithmetic)) == "sub sub"


def test_constant_factors_are_multiplied_where_that_is_exact():
    w = Writer()
    x, n = w.param("x", V), w.param("n", INT)
    a, b = w(mul, 0.5, w(mul, 2, x, type=V), type=V), w(mul, w(mul, x, 3, type=V), 2.0, type=V)
    c = w(mul, 0.1, w(mul, 3, x, type=V), type=V)
    d = w(mul, 2, w(div, 1.0, n, type=FLOAT), type=FLOAT)
    f = cleaned(w.function(a, b, c, d), simplify_arithmetic)
    assert ops(f) == "mul mul mul truediv" and f.body.results[0] is x and f.body.stmts[0].op.args[0].value == 6.0


FOLDS = [
    (add, (2, 3), 5, 5),
    (sub, (2, 1), 1, 1),
    (mul, (2, 1.0), 2.0, 2.0),
    (mul, (-1.0, 2), -2.0, -2.0),
    (mul, (0.1, 0.1), None, None),
    (mul, (0.0, -1.0), None, None),
    (neg, (2.5,), -2.5, -2.5),
    (add, (0.5, 0.25), None, 0.75),
    (div, (1.0, 2), None, 0.5),
    (div, (1.0, 3), None, None),
    (div, (4, 2), None, 2.0),
    (div, (1, 0), None, None),
    (power, (2, 3), 8, 8),
    (power, (2, -1), None, None),
    (power, (2, 1000), None, None),
    (power, (2.0, 2.0), None, None),
    (operator.floordiv, (7, 2), 3, 3),
    (operator.mod, (7, 0), None, None),
    (operator.lt, (1, 2), True, True),
    (operator.eq, (1.0, 1), True, True),
    (operator.not_, (0,), True, True),
    (operator.is_, (None, None), True, True),
    (operator.is_not, (None, 3), True, True),
    (operator.is_, (3, 3), None, None),
    (mul, (1e308, 10), None, None),
    (add, (np.float64(1), 1), None, None),
    (mul, ("ab", 2), None, None),
]


@pytest.mark.parametrize("origin", [USER, None], ids=["user", "generated"])
@pytest.mark.parametrize("fn, args, user, generated", FOLDS)
def test_arithmetic_on_constants(fn, args, user, generated, origin):
    w = Writer(origin)
    f = cleaned(w.function(w(fn, *map(Const, args))), simplify_arithmetic)
    expected = user if origin else generated
    if expected is None:
        assert len(f.body.stmts) == 1
    else:
        assert not f.body.stmts and value_key(f.body.results[0].value) == value_key(expected)


def test_live_and_spelled_constants_are_not_folded():
    w = Writer()
    x = w.param("x", INT)
    f = w.function(
        w(mul, Const(2, "N", live=True), 3),
        w(mul, Const(np.pi, "np.pi"), 2),
        w(mul, Const(1, "ONE", live=True), x, type=INT),
    )
    assert simplify_arithmetic(f) is f


def test_a_constant_that_the_user_named_keeps_its_name():
    w = Writer(USER)
    x = w.param("x", INT)
    n = w(add, 1, 2, name="n", type=INT)
    f = cleaned(w.function(w(mul, x, n, type=INT)), simplify_arithmetic)
    assert ops(f) == "Let mul" and f.body.stmts[0].targets[0].name == "n"


@pytest.mark.parametrize("t, known", [(V, False), (FLOAT, False), (NoneType(), True), (UNKNOWN, None), (TupleT(()), None)])
def test_is_none_is_what_the_type_says(t, known):
    w = Writer()
    f = cleaned(w.function(w(operator.is_, w.param("x", t), Const(None))), simplify_arithmetic)
    assert (f.body.results[0].value if known is not None else ops(f)) == (known if known is not None else "is_")


def test_a_power_of_zero_is_one():
    w = Writer()
    x, y = w.param("x", V), w.param("y", V)
    f = w.function(w(mul, x, w(power, y, w(sub, 2, 2, type=INT), type=V), type=V), w(mul, w(power, y, 0, type=V), FLOAT_CONST, type=V))
    assert ops(cleaned(f, simplify_arithmetic, simplify_arithmetic)) == "pow mul"


FLOAT_CONST = Const(2.0)


@pytest.mark.parametrize("zeros", [np.zeros, np.zeros_like])
def test_zeros_that_are_only_added_to_go(zeros):
    w = Writer()
    x, y, other = w.param("x", V), w.param("y", V), w.param("z", COL)

    def z():
        return w(zeros, x, type=V)

    gone = [w(add, z(), y, type=V), w(Update(z(), (), y, "add"), type=V), w(Update(Const(0.0), (), y, "add"), type=V)]
    negated = [w(Update(z(), (), y, "sub"), type=V), w(sub, z(), y, type=V)]
    kept = [
        w(Update(z(), (Sub(Const(0)),), Const(1.0), "add"), type=V),
        w(add, z(), other, type=COL),
        w(Update(z(), (), Const(1.0), "add"), type=V),
        w(Update(w(zeros, x, type=V32), (), y, "add"), type=V32),
    ]
    f = cleaned(w.function(*gone, *negated, *kept), simplify_arithmetic)
    assert f.body.results[:3] == (y, y, y) and ops(f).count(zeros.__name__) == 3 and ops(f).split()[:2] == ["neg", "neg"]


def test_the_users_zeros_stay():
    w = Writer(USER)
    x = w.param("x", V)
    f = w.function(w(add, w(np.zeros_like, x, type=V), x, type=V))
    assert simplify_arithmetic(f) is f


@pytest.mark.parametrize(
    "outer, inner, goes",
    [((), (), True), (((1, 2, 0),), ((2, 0, 1),), True), (((1, 2, 0),), ((1, 2, 0),), False), (((2, 1, 0),), (), True),
     (((0, -1, 1),), ((0, 2, 1),), True), ((None,), (), True)],
)  # fmt: skip
def test_a_transpose_of_a_transpose(outer, inner, goes):
    w = Writer()
    x = w.param("x", Array(F64, (many(), many(), many())))
    t = Array(F64, (many(), many(), many()))
    y = w(np.transpose, w(np.transpose, x, *map(Const, inner), type=t), *map(Const, outer), type=t)
    f = cleaned(w.function(y), simplify_arithmetic)
    assert ops(f) == ("" if goes else "transpose")
    value = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(evaluate(f, value), np.transpose(np.transpose(value, *inner), *outer))


# -- broadcasts -------------------------------------------------------------------------------------------------------

N, M, U = many(), many(), anydim()
BROADCASTS = [  # type of s, of its broadcast, of the other operand, of the result; whether the broadcast goes
    (NP64, Array(F64, (N,)), Array(F64, (N,)), Array(F64, (N,)), True),
    (FLOAT, Array(F64, (N,)), Array(F64, (N,)), Array(F64, (N,)), True),
    (FLOAT, Array(F64, (N,)), Array(F32, (N,)), Array(F64, (N,)), False),
    (Scalar("float", F32), Array(F32, (N,)), Array(F32, (N,)), Array(F32, (N,)), True),
    (ANY, Array(F64, (N,)), Array(F64, (N,)), Array(F64, (N,)), True),
    (ANY, Array(F64, (N,)), Array(F32, (N,)), Array(F64, (N,)), False),
    (ANY, Array(F32, (N,)), Array(F32, (N,)), Array(F32, (N,)), False),
    (NP64, Array(F64, (N,)), Array(F64, (U,)), Array(F64, (N,)), False),
    (NP64, Array(F64, (U,)), Array(F64, (U,)), Array(F64, (U,)), True),
    (NP64, Array(F64, (N,)), Array(F64, (1,)), Array(F64, (N,)), False),
    (NP64, Array(F64, (N, M)), Array(F64, (M,)), Array(F64, (N, M)), False),
    (NP64, Array(F64, (N, M)), Array(F64, (N, M)), Array(F64, (N, M)), True),
    (Array(F64, (M,)), Array(F64, (N, M)), Array(F64, (N, M)), Array(F64, (N, M)), True),
    (Array(F64, (N, 1)), Array(F64, (N, M)), Array(F64, (1, M)), Array(F64, (N, M)), True),
    (Array(F64, (N, 1)), Array(F64, (N, M)), Array(F64, (M,)), Array(F64, (N, M)), True),
    (Array(F64, (U, 1)), Array(F64, (N, M)), Array(F64, (1, M)), Array(F64, (N, M)), False),
    (Array(F64, (U,)), Array(F64, (N,)), Array(F64, (N,)), Array(F64, (N,)), True),
    (NP64, Array(F64, (N,)), Array(F64, None), Array(F64, None), False),
    (NP64, Array(F64, (N,)), UNKNOWN, UNKNOWN, False),
    (NP64, Array(F64, ()), FLOAT, NP64, False),
]


@pytest.mark.parametrize("s, broadcast, other, result, goes", BROADCASTS)
@pytest.mark.parametrize("fn", [mul, sub, np.maximum, operator.lt])
def test_a_broadcast_that_the_operation_does_by_itself_goes(s, broadcast, other, result, goes, fn):
    for swapped in (False, True):
        w = Writer()
        x, y, shape = w.param("s", s), w.param("y", other), w.param("shape", UNKNOWN)
        args = (w(np.broadcast_to, x, shape, type=broadcast), y)
        f = cleaned(w.function(w(fn, *args[:: -1 if swapped else 1], type=result)), remove_broadcasts)
        assert ops(f) == ("" if goes else "broadcast_to ") + fn.__name__


@pytest.mark.parametrize("fn", [np.matmul, operator.matmul, np.dot, np.sum, np.outer])
def test_a_broadcast_stays_where_it_matters(fn):
    w = Writer()
    x, y, shape = w.param("s", NP64), w.param("y", Array(F64, (N,))), w.param("shape", UNKNOWN)
    b = w(np.broadcast_to, x, shape, type=Array(F64, (N,)))
    f = w.function(w(fn, b, y, type=Array(F64, (N,))), b)
    assert remove_broadcasts(f) is f


def test_a_broadcast_moves_past_scalar_factors_to_the_operation_that_does_it():
    w = Writer()
    s, y, shape = w.param("s", FLOAT), w.param("y", Array(F64, (N,))), w.param("shape", UNKNOWN)
    b = w(neg, w(mul, w(np.broadcast_to, s, shape, type=y.type), 2, type=y.type), type=y.type)
    f = cleaned(w.function(w(mul, b, y, type=y.type)), remove_broadcasts)
    assert ops(f) == "mul neg mul" and f.body.stmts[0].targets[0].type == FLOAT


def test_a_broadcast_does_not_move_past_an_operation_whose_result_is_given_out():
    w = Writer()
    s, shape = w.param("s", FLOAT), w.param("shape", UNKNOWN)
    f = w.function(w(mul, w(np.broadcast_to, s, shape, type=V), 2, type=V))
    assert remove_broadcasts(f) is f


def test_a_broadcast_to_the_same_shape_goes():
    w = Writer()
    x, y, shape = w.param("x", V), w.param("y", COL), w.param("shape", UNKNOWN)
    f = cleaned(w.function(w(np.broadcast_to, x, shape, type=V), w(np.broadcast_to, y, shape, type=V)), remove_broadcasts)
    assert ops(f) == "broadcast_to" and f.body.results[0] is x


@pytest.mark.parametrize(
    "base, path, mode, goes",
    [
        (V, (), "add", True),
        (V, (Sub(Const(0)),), "set", True),
        (V, (), "set", False),
        (V32, (), "add", False),
        (UNKNOWN, (), "add", False),
        (I, (), "add", False),
    ],
)
def test_an_update_broadcasts_its_value(base, path, mode, goes):
    w = Writer()
    x, s, shape = w.param("x", base), w.param("s", FLOAT), w.param("shape", UNKNOWN)
    f = w.function(w(Update(x, path, w(np.broadcast_to, s, shape, type=V), mode), type=base))
    assert ops(cleaned(f, remove_broadcasts)) == ("Update" if goes else "broadcast_to Update")


# -- shapes -----------------------------------------------------------------------------------------------------------


def test_a_value_that_is_only_asked_for_its_shape_goes():
    w = Writer()
    x, y = w.param("x", Array(F64, (N,))), w.param("y", Array(F64, (M,)))
    product = w(mul, y, x, type=y.type)
    f = w.function(w(Attr(product, "shape")), w(np.zeros_like, product, type=y.type), w(np.size, product), w(Attr(product, "ndim")))
    after = cleaned(f, share_shapes)
    assert ops(after) == "Attr zeros_like size Attr" and "mul" not in ops(after)
    same_results(evaluate(after, np.ones(3), np.ones(3)), evaluate(f, np.ones(3), np.ones(3)))


def test_a_value_is_asked_for_its_shape_if_it_is_computed_anyway_or_no_other_is_known_to_have_it():
    w = Writer()
    x, y = w.param("x", Array(F64, (N,))), w.param("y", Array(F64, (U,)))
    used, other = w(neg, x, type=x.type, name="used"), w(mul, x, y, type=Array(F64, (anydim(),)))
    single = w(mul, x, x, type=Array(F32, (N,)))
    f = w.function(w(Attr(used, "shape")), used, w(Attr(other, "size")), w(np.zeros_like, single, type=single.type))
    assert share_shapes(f) is f


@pytest.mark.parametrize(
    "write",
    [
        lambda w, x: w(Update(x, (), Const(1.0), "add"), type=x.type),
        lambda w, x: w.loop(3, [x], [x.type], lambda i, p: (w(Update(p, (), Const(1.0), "add"), type=x.type),))[0],
        lambda w, x: w(Update(x, (), w(Update(w(neg, x, type=x.type, name="a"), (), x, "add"), type=x.type)), type=x.type),
        lambda w, x: w.branch(w(operator.lt, 1, 2), lambda: (x,), lambda: (w(neg, x, type=x.type),), [x.type])[0],
    ],
)
def test_what_may_be_written_is_not_asked_for_its_shape(write):
    w = Writer()
    x = w.param("x", Array(F64, (N,)))
    product = w(mul, x, x, type=x.type)
    written = write(w, x)
    f = w.function(written, w(Attr(product, "shape")))
    assert share_shapes(f) is f


@pytest.mark.parametrize("inside", [False, True])
def test_dims_are_known_to_be_equal_only_where_the_operation_that_proves_it_has_run(inside):
    w = Writer()
    x, y, s = w.param("x", Array(F64, (N,))), w.param("y", Array(F64, (M,))), w.param("s", NP64)
    written = w(Update(y, (), Const(1.0), "add"), type=y.type)

    def multiply():
        return (w(np.sum, w(mul, x, y, type=x.type), type=NP64),)

    (total,) = w.branch(w(operator.lt, s, 1), multiply, lambda: (s,), [NP64]) if inside else multiply()
    f = w.function(written, total, w(Attr(w(neg, y, type=y.type), "shape")))
    assert ("neg" in ops(cleaned(f, share_shapes))) == inside


# -- all together -----------------------------------------------------------------------------------------------------


def test_origins_are_kept():
    w = Writer(USER)
    x = w.param("x", FLOAT)
    (y,) = w.loop(3, [x, x], [FLOAT, FLOAT], lambda i, p, q: (w(mul, w(mul, 1, p, type=FLOAT), q, type=FLOAT), q))[:1]
    f = simplify(w.function(y))
    assert f.body.stmts[0].origin is USER and f.body.stmts[0].op.body.stmts[0].origin is USER


def test_a_function_in_simplest_form_is_given_back():
    w = Writer()
    x = w.param("x", FLOAT)
    f = w.function(w(mul, x, x, type=FLOAT))
    assert simplify(f) is f


def large(statements):
    w = Writer()
    x = w.param("x", V)
    y, saved = x, w(Build("list", ()))
    for k in range(statements // 10):
        two = w(np.broadcast_to, 2.0, w(Attr(x, "shape")), type=V)
        y = w(mul, w(add, w(mul, y, 1.0, type=V), w(neg, x, type=V), type=V), two, type=V)
        saved = w(Append(saved, y))
        (y,) = w.branch(w(operator.lt, k, 3), lambda y=y: (w(neg, y, type=V),), lambda y=y: (y,), [V])
    for _ in range(statements // 10):
        saved, last = w.stmt(Pop(saved), [UNKNOWN, V])
        y = w(add, y, last, type=V)
    return w.function(y)


def nested(depth):
    w = Writer()
    x = w.param("x", FLOAT)

    def body(level, *params):
        if level == depth:
            return (w(mul, params[1], w(mul, x, 1, type=FLOAT), type=FLOAT), *params[2:])
        return w.loop(2, params[1:], [FLOAT] * 4, lambda *p: body(level + 1, *p))

    return w.function(*body(0, None, x, x, x, x))


@pytest.mark.parametrize(
    ("small", "big", "growth"), [(large(750), large(1500), 2.6), (nested(20), nested(40), 4.2)], ids=["long", "deep"]
)
def test_passes_are_linear_in_the_length_and_at_most_quadratic_in_the_depth(small, big, growth):
    for run in [*(row.run for row in CLEANUP), lambda f: verify(simplify(f))]:
        assert calls_of(lambda run=run: run(big)) < growth * calls_of(lambda run=run: run(small)), run


# -- random programs --------------------------------------------------------------------------------------------------

LOG = []


def record(x):
    LOG.append(np.array(x).tolist())
    return x


def wrap(x):
    """Keeps what loops multiply small, so that floating point is exact."""
    return np.fmod(x, 8)


SCALAR, VECTOR, LIST = NP64, Array(F64, (N,)), ListT(NP64)


class Random:
    """Writes a random program. Numbers stay small multiples of powers of two, so that any order of operations is exact."""

    def __init__(self, draw):
        self.draw = draw
        self.w = Writer()
        self.pools = {SCALAR: [], VECTOR: [], LIST: [], BOOL: []}
        self.small = {SCALAR: [], VECTOR: []}
        for t, name in ((SCALAR, "x"), (SCALAR, "y"), (VECTOR, "a"), (VECTOR, "b")):
            var = self.w.param(name, t)
            self.pools[t].append(var)
            self.small[t].append(var)
        self.shape = self.w(Attr(self.pools[VECTOR][0], "shape"))

    def choose(self, *options):
        return self.draw(st.sampled_from(options))

    def one(self, t, small=False):
        return self.choose(*(self.small if small else self.pools)[t][-6:])

    def emit(self, op, *args, type, **kwargs):
        name = self.choose(None, None, "v", "u")
        var = self.w(op, *args, type=type, name=name, origin=self.choose(USER, None), **kwargs)
        self.pools[type].append(var)
        return var

    def scoped(self, write):
        """What `write` gives, with what it added to the pools out of sight again."""
        saved = [{t: list(vs) for t, vs in pools.items()} for pools in (self.pools, self.small)]
        try:
            return write()
        finally:
            self.pools, self.small = saved

    def statements(self, depth):
        for _ in range(self.draw(st.integers(1, 4))):
            self.statement(depth)

    def statement(self, depth):
        t = self.choose(SCALAR, VECTOR)
        kinds = ["unary", "binary", "binary", "constant", "constant", "update", "broadcast", "zeros", "list", "effect", "item", "negated"]
        if depth < 2:
            kinds += ["branch", "branch", "loop", "loop", "while"]
        getattr(self, self.choose(*kinds))(t, depth)

    def unary(self, t, depth):
        self.emit(self.choose(neg, operator.pos, abs, wrap), self.one(t), type=t)

    def negated(self, t, depth):
        product = self.w(mul, self.w(neg, self.one(t), type=t), self.one(t, small=True), type=t)
        self.emit(self.choose(add, sub), self.one(t), product, type=t)

    def binary(self, t, depth):
        other = self.choose(t, SCALAR)
        fn = self.choose(add, sub, mul, np.maximum)
        args = (self.one(t), self.one(other, small=fn is mul))
        self.emit(fn, *args[:: self.choose(1, -1)], type=t)

    def constant(self, t, depth):
        fn, c, left = self.choose(
            (mul, 1, 1), (mul, -1, 1), (mul, 2.0, 1), (add, 0, 1), (add, 0.0, 1), (sub, 0, 0), (div, 1, 0), (power, 1, 0), (add, 1, 1),
            (div, -1, 0), (sub, 0, 1), (mul, 0.5, 1), (mul, 1.0, 1),
        )  # fmt: skip
        x = self.one(t)
        self.emit(fn, *((c, x) if left and self.choose(True, False) else (x, c)), type=t)

    def update(self, t, depth):
        base = self.choose(self.one(VECTOR), self.w(np.zeros_like, self.one(VECTOR), type=VECTOR))
        path = self.choose((), (Sub(Const(0)),), (Sub(Slice(Const(1), None, None)),))
        value = self.one(SCALAR if path and not isinstance(path[0].key, Slice) else self.choose(SCALAR, VECTOR) if not path else SCALAR)
        if self.choose(True, False):
            value = self.w(neg, value, type=value.type)
        self.emit(Update(base, path, value, self.choose("set", "add", "sub")), type=VECTOR)

    def broadcast(self, t, depth):
        shape = self.choose(self.shape, self.w(Attr(self.one(VECTOR), "shape")), self.w(np.shape, self.one(VECTOR)))
        self.emit(np.broadcast_to, self.one(self.choose(SCALAR, VECTOR)), shape, type=VECTOR)

    def zeros(self, t, depth):
        z = self.w(np.zeros_like, self.one(VECTOR), type=VECTOR)
        if self.choose(True, False):
            self.emit(add, z, self.one(VECTOR), type=VECTOR)
        else:
            self.emit(Update(z, (), self.one(VECTOR), "add"), type=VECTOR)

    def list(self, t, depth):
        kind = self.choose("build", "append", "pop") if self.pools[LIST] else "build"
        if kind == "build":
            self.emit(Build("list", (self.one(SCALAR), self.one(SCALAR))), type=LIST)
        elif kind == "append":
            self.emit(Append(self.one(LIST), self.one(SCALAR)), type=LIST)
        else:
            rest, last = self.w.stmt(Pop(self.w(Append(self.one(LIST), self.one(SCALAR)), type=LIST)), [LIST, SCALAR])
            self.pools[LIST].append(rest)
            self.pools[SCALAR].append(last)

    def effect(self, t, depth):
        self.w(record, self.one(t), type=t, effect=True, origin=USER)

    def item(self, t, depth):
        if self.choose(True, False):
            self.emit(Index(self.one(VECTOR), Const(self.choose(0, -1))), type=SCALAR)
        elif self.pools[LIST]:
            self.emit(Index(self.one(LIST), Const(self.choose(0, -1))), type=SCALAR)
        else:
            pair = self.w(Build("tuple", (self.one(SCALAR), self.one(SCALAR))))
            self.emit(Index(pair, Const(self.choose(0, 1))), type=SCALAR)

    def types(self):
        return [self.choose(SCALAR, SCALAR, VECTOR, *([LIST] if self.pools[LIST] else [])) for _ in range(self.draw(st.integers(1, 4)))]

    def condition(self):
        if self.choose(True, False, False):
            return Const(self.choose(True, False))
        if self.pools[BOOL] and self.choose(True, False):
            return self.one(BOOL)
        return self.emit(self.choose(operator.lt, operator.ge), self.one(SCALAR), self.one(SCALAR), type=BOOL)

    def branch(self, t, depth):
        types, cond, shared = self.types(), self.condition(), {}

        def arm():
            self.statements(depth + 1)
            return [self.choose(self.one(u), shared.setdefault(k, None) or self.one(u)) for k, u in enumerate(types)]

        shared.update({k: self.one(u) for k, u in enumerate(types)})
        blocks = [self.w.block(lambda: self.scoped(arm)) for _ in range(2)]
        self.bind(types, self.w.stmt(Branch(cond, *blocks), types, origin=self.choose(USER, None)))

    def bind(self, types, targets):
        for t, target in zip(types, targets):
            self.pools[t].append(target)

    def iteration(self, types, params, inits, depth):
        for t, p in zip(types, params):
            self.pools[t].append(p)
        self.statements(depth + 1)
        results = []
        for k, t in enumerate(types):
            kind = self.choose("same", "init", "new", "new", "other")
            other = [p for p, u in zip(params, types) if u is t]
            value = {"same": params[k], "init": inits[k], "other": self.choose(*other)}.get(kind)
            if value is None:
                value = self.w(wrap, self.one(t), type=t) if t is not LIST else self.w(Append(params[k], self.one(SCALAR)), type=LIST)
            results.append(value)
        return results

    def loop(self, t, depth):
        types = self.types()
        inits = [self.one(u) if u is LIST else self.one(u, small=True) for u in types]
        index, params = Var("i", INT), tuple(Var("p", u) for u in types)
        body = self.w.block(lambda: self.scoped(lambda: self.iteration(types, params, inits, depth)))
        domain = Range(Const(0), Const(self.choose(0, 1, 2, 3)), Const(1))
        self.bind(types, self.w.stmt(Loop(domain, index, params, tuple(inits), body), types, origin=self.choose(USER, None)))

    def while_loop(self, t, depth):
        types = self.types()
        inits = [self.one(u) if u is LIST else self.one(u, small=True) for u in types]
        count, params = Var("k", INT), tuple(Var("p", u) for u in types)
        condition = self.w.block(lambda: (self.w(operator.lt, count, self.choose(0, 2), type=BOOL),))

        def body():
            return [self.w(add, count, 1, type=INT), *self.iteration(types, params, inits, depth)]

        op = Loop(condition, None, (count, *params), (Const(0), *inits), self.w.block(lambda: self.scoped(body)))
        self.bind(types, self.w.stmt(op, [INT, *types], origin=self.choose(USER, None))[1:])

    def function(self):
        for _ in range(3):
            self.statements(0)
        return self.w.function(*self.pools[SCALAR][-4:], *self.pools[VECTOR][-4:], *self.pools[LIST][-1:])


setattr(Random, "while", Random.while_loop)


@st.composite
def programs(draw):
    return Random(draw).function()


def same_results(new, old):
    if isinstance(old, (tuple, list)):
        assert type(new) is type(old) and len(new) == len(old)
        for a, b in zip(new, old):
            same_results(a, b)
    else:
        assert np.shape(new) == np.shape(old) and np.asarray(new).dtype == np.asarray(old).dtype
        assert isinstance(new, np.ndarray) == isinstance(old, np.ndarray)
        np.testing.assert_allclose(new, old, rtol=1e-12, atol=1e-9)


def run(function):
    LOG.clear()
    args = np.float64(3), np.float64(-2), np.array([1.0, -2.0, 0.0]), np.array([0.5, 4.0, -1.0])
    return evaluate(function, *args), list(LOG)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_no_pass_changes_what_a_program_computes(program):
    same_before_and_after_each_pass(program)


@pytest.mark.long
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_no_pass_changes_what_one_of_many_programs_computes(program):
    same_before_and_after_each_pass(program)


def same_before_and_after_each_pass(program):
    with np.errstate(all="ignore"):
        expected, effects = run(program)
        function = program
        for step in (*(row.run for row in CLEANUP * 2), simplify):
            before, function = function, step(function)
            verify(function)
            results, log = run(function)
            try:
                same_results(results, expected)
                assert log == effects or np.allclose(np.hstack(log), np.hstack(effects))
            except AssertionError as error:
                raise AssertionError(f"{step.__name__}: {error}\n{show(before)}\n{show(function)}") from None
