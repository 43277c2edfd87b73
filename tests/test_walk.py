"""The maps over IR, types and values."""

import operator
from collections import namedtuple

from sourcead.ir.nodes import Block, Branch, Call, Const, Loop, Range, Stmt, Var
from sourcead.ir.records import map_value, parts_of
from sourcead.ir.types import (
    FLOAT, INT, UNKNOWN, DictT, ListT, MapT, SetT, StructT, TupleT, keyed_parts, map_type, parts
)
from sourcead.ir.walk import all_reads, count_reads, definitions, map_atoms, map_blocks, rewrite, walk

x, c, i, p, q, y, z = (Var(name) for name in "xcipqyz")
inner = Stmt((q,), Call(operator.mul, (p, x)))
arm = Stmt((z,), Call(operator.neg, (q,)))
branch = Stmt((y,), Branch(c, Block((arm,), (z,)), Block((), (q,))))
loop = Stmt((Var("out"),), Loop(Range(Const(0), Const(3), Const(1)), i, (p,), (x,), Block((inner, branch), (y,))))
block = Block((loop,), (loop.targets[0], x))


def test_walk_gives_a_statement_before_those_inside_it():
    assert list(walk(block)) == [loop, inner, branch, arm]


def test_a_read_is_an_operand_or_a_result_of_a_block():
    assert count_reads(block) == {x: 3, p: 1, c: 1, q: 2, z: 1, y: 1, loop.targets[0]: 1}
    assert sorted(v.name for v in all_reads(branch.op.then)) == ["q", "z"]


def test_definitions_are_those_of_inner_blocks_too():
    assert definitions(block) == {loop.targets[0]: loop, q: inner, y: branch, z: arm}


def test_rewrite_replaces_inner_statements_and_keeps_what_does_not_change():
    assert rewrite(block, lambda stmt: [stmt]) is block
    found = rewrite(block, lambda stmt: [stmt, stmt] if stmt is inner else [stmt])
    assert [s for s in walk(found) if s is inner] == [inner, inner] and definitions(found)[y] is branch
    assert not any(s is arm for s in walk(rewrite(block, lambda stmt: [] if stmt is arm else [stmt])))


def test_map_blocks_keeps_a_statement_whose_blocks_do_not_change():
    assert map_blocks(inner, lambda b: Block(())) is inner and map_blocks(loop, lambda b: b) is loop
    assert map_blocks(branch, lambda b: Block((), b.results)).op.then.stmts == ()


def test_map_atoms_reaches_operands_and_results_but_no_targets():
    found = map_atoms(block, lambda a: Const(1.0) if a is x else a)
    assert x not in count_reads(found) and found.stmts[0].targets == loop.targets and found.results[1].value == 1.0


def test_one_map_over_types():
    Pair = namedtuple("Pair", "a b")
    types = [TupleT((INT, FLOAT)), ListT(INT), ListT(INT, (INT,)), DictT((("k", INT),)), StructT(Pair, (("a", INT), ("b", INT)))]
    for t in types:
        assert set(parts(map_type(t, lambda _: UNKNOWN))) == {UNKNOWN}
    assert map_type(MapT(INT, INT), lambda _: FLOAT) == MapT(INT, FLOAT) and map_type(SetT(INT), lambda _: FLOAT) == SetT(INT)
    assert [keyed_parts(t) for t in types[:3]] == [((0, INT), (1, FLOAT)), None, ((0, INT),)]


def test_one_map_over_values_that_stops_at_circles():
    class Node:
        def __init__(self):
            self.value, self.next = [1.0, (2.0,)], self

    def leaves(value):
        return [value] if isinstance(value, float) else [leaf for _, part in parts_of(value) for leaf in leaves(part)]

    def doubled(value):
        return 2 * value if isinstance(value, float) else map_value(value, doubled)

    node = Node()
    assert leaves(node) == [1.0, 2.0] and [at for at, _ in parts_of({"k": 1, 2: 3})] == ["['k']", "[2]"]
    assert doubled(node).value == [2.0, (4.0,)] and doubled(node).next is node
