"""Where copies go: one where an update in place would be seen by others, none where it would not."""

import operator

import numpy as np
import pytest

from sourcead import runtime
from sourcead.emit import assign_memory, emit
from sourcead.ir.nodes import (
    UNDEFINED, Append, Block, Branch, Build, Call, Closure, Const, Function, Index, Loop, Pop, Range, Slice, Stmt, Sub,
    Update, Var, View
)
from sourcead.ir.types import BOOL, INT, UNKNOWN, Array, ListT, TupleT, many
from tests.work import calls_of

F8 = np.dtype(float)
VECTOR, MATRIX = Array(F8, (many(),)), Array(F8, (many(), many()))
ROWS = ListT(VECTOR)
ONE, FIRST = Const(1.0), (Sub(Const(0)),)
HEAD = Slice(None, Const(2), None)
COPIES = (np.copy, list.copy, dict.copy, runtime.copy)


def var(name="x", t=VECTOR):
    return Var(name, t)


def let(stmts, t, op):
    stmts.append(Stmt((target := var("v", t),), op))
    return target


def copies(stmts, depth=0):
    """The depth of loops at which each copy is made."""
    found = [depth for s in stmts if isinstance(s.op, Call) and s.op.fn in COPIES]
    for s in stmts:
        for block in s.op.blocks:
            found += copies(block.stmts, depth + isinstance(s.op, Loop))
    return sorted(found)


def copies_of(params, stmts, *results, own_results=True):
    function = Function("f", tuple(params), Block(tuple(stmts), results))
    return copies(assign_memory(function, own_results).body.stmts)


def times(stmts, body, params, inits, index=None, count=3):
    """A loop; its results."""
    targets = tuple(var("r", p.type) for p in params)
    stmts.append(
        Stmt(
            targets,
            Loop(Range(Const(0), Const(count), Const(1)), index or var("i", INT), tuple(params), tuple(inits), body),
        )
    )
    return targets


FRESH = {
    "ufunc": lambda a: Call(np.sin, (a,)),
    "operator": lambda a: Call(operator.mul, (a, a)),
    "maker": lambda a: Call(np.zeros_like, (a,)),
    "copy": lambda a: Call(np.copy, (a,)),
    "integer array": lambda a: Index(a, Const(np.array([0, 0]))),
    "mask": lambda a: Index(a, Const(np.array([True, False]))),
    "concatenation": lambda a: Call(np.concatenate, ((a, a),)),
}
SHARED = {
    "slice": lambda a: Index(a, HEAD),
    "reshape": lambda a: Call(np.reshape, (a, Const(-1))),
    "asarray": lambda a: Call(np.asarray, (a,)),
    "broadcast": lambda a: Call(np.broadcast_to, (a, Const((2, 2)))),
    "unknown function": lambda a: Call(lambda x: x, (a,)),
    "unknown numpy function": lambda a: Call(np.ravel, (a,)),
    "ufunc with out": lambda a: Call(np.sin, (a,), (("out", a),)),
}


@pytest.mark.parametrize("name", FRESH)
def test_memory_made_here_is_written_in_place(name):
    a, stmts = var(), []
    b = let(stmts, VECTOR, FRESH[name](a))
    assert copies_of([a], stmts, let(stmts, VECTOR, Update(b, FIRST, ONE))) == ([0] if name == "copy" else [])


@pytest.mark.parametrize("name", SHARED)
def test_memory_of_an_argument_is_copied_first(name):
    a, stmts = var(), []
    b = let(stmts, VECTOR, SHARED[name](a))
    assert copies_of([a], stmts, let(stmts, VECTOR, Update(b, FIRST, ONE))) == [0]


def test_argument_is_copied_once_however_often_it_is_written():
    a, stmts = var(), []
    b = let(stmts, VECTOR, Update(a, FIRST, ONE))
    assert copies_of([a], stmts, let(stmts, VECTOR, Update(b, FIRST, ONE))) == [0]


def test_old_version_that_is_read_later_costs_a_copy():
    a, stmts = var(), []
    b = let(stmts, VECTOR, Call(np.sin, (a,)))
    c = let(stmts, VECTOR, Update(b, FIRST, ONE))
    assert copies_of([a], stmts, let(stmts, VECTOR, Call(operator.add, (b, c)))) == [0]


def test_argument_written_in_a_loop_is_copied_before_it():
    a, p, stmts, body = var(), var(), [], []
    q = let(body, VECTOR, Update(p, FIRST, ONE))
    assert copies_of([a], stmts, *times(stmts, Block(tuple(body), (q,)), [p], [a])) == [0]


def test_argument_written_in_a_nested_loop_is_copied_before_both():
    a, p, q, stmts, body, inner = var(), var(), var(), [], [], []
    r = let(inner, VECTOR, Update(q, FIRST, ONE))
    (s,) = times(body, Block(tuple(inner), (r,)), [q], [p])
    assert copies_of([a], stmts, *times(stmts, Block(tuple(body), (s,)), [p], [a])) == [0]


def test_two_buffers_that_are_swapped_are_never_copied():
    a, p, q, stmts, body = var(), var(), var(), [], []
    inits = [let(stmts, VECTOR, Call(np.sin, (a,))), let(stmts, VECTOR, Call(np.zeros_like, (a,)))]
    written = let(body, VECTOR, Update(q, (Sub(HEAD),), let(body, VECTOR, Index(p, HEAD))))
    results = times(stmts, Block(tuple(body), (written, p)), [p, q], inits)
    assert copies_of([a], stmts, results[0]) == []


def test_two_parameters_that_become_one_are_copied_in_the_loop():
    a, p, q, stmts, body = var(), var(), var(), [], []
    inits = [let(stmts, VECTOR, Call(np.sin, (a,))), let(stmts, VECTOR, Call(np.zeros_like, (a,)))]
    written = let(body, VECTOR, Update(p, FIRST, ONE))
    let(body, VECTOR, Call(np.sum, (q,)))
    results = times(stmts, Block(tuple(body), (written, written)), [p, q], inits)
    assert copies_of([a], stmts, results[0]) == [1]


def test_accumulators_of_a_reverse_sweep_are_never_copied():
    a, hs, d, h, stmts, body = var(), var("hs", ROWS), var(), var(), [], []
    saved = let(stmts, ROWS, Build("list", ()))
    inner, hs0, h0 = [], var("hs", ROWS), var()
    more = let(inner, ROWS, Append(hs0, h0))
    after = let(inner, VECTOR, Call(np.tanh, (h0,)))
    saved, last = times(stmts, Block(tuple(inner), (more, after)), [hs0, h0], [saved, a])
    rest, popped = var("hs", ROWS), var("h")
    body.append(Stmt((rest, popped), Pop(hs)))
    d1 = let(body, VECTOR, Update(d, (), popped, "add"))
    d2 = let(body, VECTOR, Update(d1, FIRST, ONE, "add"))
    zeros = let(stmts, VECTOR, Call(np.zeros_like, (a,)))
    results = times(stmts, Block(tuple(body), (rest, d2, popped)), [hs, d, h], [saved, zeros, last])
    assert copies_of([a], stmts, results[1]) == []


def test_array_restored_by_updates_is_not_copied():
    a, saved, p, hs, stmts, body = var(), var("hs", ROWS), var(), var("hs", ROWS), [], []
    start = let(stmts, VECTOR, Call(np.sin, (a,)))
    rest, old = var("hs", ROWS), var("old")
    body.append(Stmt((rest, old), Pop(hs)))
    back = let(body, VECTOR, Update(p, (Sub(HEAD),), old))
    first = let(stmts, ROWS, Call(list, (saved,)))
    results = times(stmts, Block(tuple(body), (back, rest)), [p, hs], [start, first])
    assert copies_of([a, saved], stmts, results[0]) == []


@pytest.mark.parametrize("moved", [True, False])
def test_list_taken_from_a_list_is_ours_if_it_was_moved_there(moved):
    a, inner_rest, x, outer_rest, inner = var(), var("xs", ROWS), var(), var("xss", ListT(ROWS)), var("xs", ROWS)
    stmts = []
    xs = let(stmts, ROWS, Append(let(stmts, ROWS, Build("list", ())), let(stmts, VECTOR, Call(np.sin, (a,)))))
    xss = let(stmts, ListT(ROWS), Append(let(stmts, ListT(ROWS), Build("list", ())), xs))
    stmts += [Stmt((outer_rest, inner), Pop(xss)), Stmt((inner_rest, x), Pop(inner))]
    if not moved:
        stmts.append(Stmt((var("n", INT),), Call(len, (xs,))))
    result = let(stmts, VECTOR, Update(x, FIRST, ONE))
    assert copies_of([a], stmts, result) == ([] if moved else [0])


def test_list_made_in_one_arm_of_a_branch_is_ours():
    a, c, stmts, arm, rest, x = var(), var("c", BOOL), [], [], var("xs", ROWS), var()
    xs = let(arm, ROWS, Append(let(arm, ROWS, Build("list", ())), let(arm, VECTOR, Call(np.sin, (a,)))))
    stmts.append(Stmt((joined := var("xs", ROWS),), Branch(c, Block(tuple(arm), (xs,)), Block((), (UNDEFINED,)))))
    stmts.append(Stmt((rest, x), Pop(joined)))
    assert copies_of([a, c], stmts, x) == []


def test_list_that_is_popped_is_copied_alone():
    xs, rest, last = var("xs", ROWS), var("xs", ROWS), var()
    stmts = [Stmt((rest, last), Pop(xs))]
    copied = assign_memory(Function("f", (xs,), Block(tuple(stmts), (rest,))), own_results=False)
    assert [s.op.fn for s in copied.body.stmts if isinstance(s.op, Call)] == [list.copy]


def test_array_saved_on_a_list_and_then_written_is_copied_for_the_list():
    a, stmts = var(), []
    h = let(stmts, VECTOR, Call(np.sin, (a,)))
    hs = let(stmts, ROWS, Append(let(stmts, ROWS, Build("list", ())), h))
    h1 = let(stmts, VECTOR, Update(h, FIRST, ONE))
    text = emit(assign_memory(Function("f", (a,), Block(tuple(stmts), (h1, hs))))).text
    assert ".append(v.copy())" in text.replace("v_1", "v") and text.count("copy") == 1


def test_small_view_is_copied_rather_than_the_array():
    a, stmts = var(), []
    b = let(stmts, VECTOR, Call(np.sin, (a,)))
    head = let(stmts, VECTOR, Index(b, HEAD))
    c = let(stmts, VECTOR, Update(b, FIRST, ONE))
    both = let(stmts, VECTOR, Call(np.concatenate, ((head, c),)))
    result = assign_memory(Function("f", (a,), Block(tuple(stmts), (both,))))
    (copy,) = [s for s in result.body.stmts if isinstance(s.op, Call) and s.op.fn is np.copy]
    assert copy.targets == (head,)


def test_view_that_dies_at_the_write_costs_nothing():
    a, stmts = var(), []
    b = let(stmts, VECTOR, Call(np.sin, (a,)))
    tail = let(stmts, VECTOR, Index(b, HEAD))
    assert copies_of([a], stmts, let(stmts, VECTOR, Update(b, (Sub(HEAD),), tail))) == []


def test_sum_with_what_is_not_ours_is_a_plain_sum():
    a, stmts = var(), []
    result = let(stmts, VECTOR, Update(a, (), ONE, "add"))
    function = assign_memory(Function("f", (a,), Block(tuple(stmts), (result,))))
    assert [s.op.fn for s in function.body.stmts] == [operator.add]


def test_sum_that_would_widen_keeps_the_dtype_by_a_copy():
    narrow = Array(np.dtype("float32"), (many(),))
    a, b, stmts = var("a", narrow), var("b"), []
    result = let(stmts, narrow, Update(a, (), b, "add"))
    function = assign_memory(Function("f", (a, b), Block(tuple(stmts), (result,))))
    assert [type(s.op) for s in function.body.stmts] == [Call, Update]


@pytest.mark.parametrize("taken", [True, False])
def test_write_in_one_arm_of_a_branch(taken):
    a, c, stmts, arm = var(), var("c", BOOL), [], []
    b = let(stmts, VECTOR, Call(np.sin, (a,)) if taken else Call(np.ravel, (a,)))
    written = let(arm, VECTOR, Update(b, FIRST, ONE))
    stmts.append(Stmt((r := var(),), Branch(c, Block(tuple(arm), (written,)), Block((), (b,)))))
    assert copies_of([a, c], stmts, r, own_results=False) == ([] if taken else [0])


def test_value_of_unknown_type_is_copied_by_a_helper():
    a, stmts = var("a", UNKNOWN), []
    result = let(stmts, UNKNOWN, Update(a, FIRST, ONE))
    function = assign_memory(Function("f", (a,), Block(tuple(stmts), (result,))))
    assert function.body.stmts[0].op.fn is runtime.copy


def test_write_inside_a_list_copies_its_elements_too():
    xs, stmts = var("xs", ROWS), []
    result = let(stmts, ROWS, Update(xs, (Sub(Const(0)), Sub(Const(0))), ONE))
    function = assign_memory(Function("f", (xs,), Block(tuple(stmts), (result,))))
    assert function.body.stmts[0].op.fn is runtime.copy


def test_what_a_closure_reads_is_not_written_while_it_lives():
    a, d, stmts = var(), var(), []
    b = let(stmts, VECTOR, Call(np.sin, (a,)))
    product = var()
    body = Block((Stmt((product,), Call(operator.mul, (b, d))),), (product,))
    closure = let(stmts, UNKNOWN, Closure((d,), body))
    c = let(stmts, VECTOR, Update(b, FIRST, ONE))
    assert copies_of([a], stmts, c, closure) == [0]


def test_closure_may_be_called_again():
    a, d, stmts, body = var(), var(), [], []
    zeros = let(stmts, VECTOR, Call(np.zeros_like, (a,)))
    total = let(body, VECTOR, Update(zeros, FIRST, ONE, "add"))
    closure = let(stmts, UNKNOWN, Closure((d,), Block(tuple(body), (total,))))
    assert copies_of([a], stmts, closure) == [0]


RESULTS = {
    "an argument": (lambda a, s: (a,), 1),
    "a view of an argument": (lambda a, s: (let(s, VECTOR, Index(a, HEAD)),), 1),
    "fresh memory": (lambda a, s: (let(s, VECTOR, Call(np.sin, (a,))),), 0),
    "one array twice": (lambda a, s: (let(s, VECTOR, Call(np.sin, (a,))),) * 2, 1),
    "a view of something fresh": (lambda a, s: (let(s, VECTOR, Index(let(s, MATRIX, Call(np.outer, (a, a))), HEAD)),), 0),
    "an array twice in a tuple": (lambda a, s: (let(s, UNKNOWN, Build("tuple", (let(s, VECTOR, Call(np.sin, (a,))),) * 2)),), 1),
    "an argument in a tuple": (lambda a, s: (let(s, TupleT((VECTOR, INT)), Build("tuple", (a, Const(1)))),), 1),
    "a broadcast": (lambda a, s: (let(s, MATRIX, Call(np.broadcast_to, (let(s, VECTOR, Call(np.sin, (a,))), Const((2, 2))))),), 1),
    "a global": (lambda a, s: (Const(np.zeros(3), text="table", live=True),), 1),
    "numbers": (lambda a, s: (Const(1.0), let(s, INT, Call(len, (a,)))), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_owned(name):
    make, expected = RESULTS[name]
    a, stmts = var(), []
    assert len(copies_of([a], stmts, *make(a, stmts))) == expected


def test_path_of_views_writes_the_base():
    a, stmts = var("a", MATRIX), []
    result = let(stmts, MATRIX, Update(a, (View(np.transpose), Sub(Const(0))), ONE))
    assert copies_of([a], stmts, result) == [0]


def test_the_work_is_linear_in_the_statements():
    def work(rounds):
        a, stmts = var(), []
        acc, hs, x = let(stmts, VECTOR, Call(np.zeros_like, (a,))), let(stmts, ROWS, Build("list", ())), a
        for _ in range(rounds):
            x = let(stmts, VECTOR, Call(np.tanh, (x,)))
            y = let(stmts, VECTOR, Call(operator.mul, (x, x)))
            acc = let(stmts, VECTOR, Update(acc, (Sub(HEAD),), y, "add"))
            hs = let(stmts, ROWS, Append(hs, x))
        return calls_of(lambda: copies_of([a], stmts, acc, hs))

    assert work(500) < 2.3 * work(250)
