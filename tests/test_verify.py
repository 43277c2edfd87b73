"""The verifier takes what means something and refuses the rest, with the reason."""

import operator

import pytest

from sourcead.ir.nodes import (
    UNDEFINED, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Pop, Range,
    Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.verify import IRError, verify

ONE, TRUE = Const(1), Const(True)
EMPTY = Block(())
THREE = Range(Const(0), Const(3), ONE)


def var(name="v"):
    return Var(name)


def function(params, stmts, results=()):
    return Function("f", tuple(params), Block(tuple(stmts), tuple(results)))


def plus(target, a, b=ONE):
    return Stmt((target,), Call(operator.add, (a, b)))


def loop(targets=(), params=(), inits=(), body=EMPTY, domain=THREE, index=None):
    index = index or (None if isinstance(domain, Block) else var("i"))
    return Stmt(tuple(targets), Loop(domain, index, tuple(params), tuple(inits), body))


def good_programs():
    x, y, z, p, q, i, c, items, last, f, g = map(var, "x y z p q i c items last f g".split())
    yield "straight", function([x], [plus(y, x), plus(z, y, x)], [z, ONE])
    yield "branch", function([x], [Stmt((y,), Branch(x, Block((plus(z, x),), (z,)), Block((), (UNDEFINED,))))], [y])
    yield "loop", function([x], [loop([y, z], [p, q], [x, UNDEFINED], Block((plus(c, i, p),), (c, p)), index=i)], [y])
    again = Block((plus(z, p, x), Stmt((c,), Call(operator.lt, (z, ONE)))), (c,))
    yield "while", function([x], [loop([y], [p], [x], Block((plus(q, p),), (q,)), again)], [y])
    yield "sequence", function([x], [loop([y], [p], [x], Block((plus(q, p, i),), (q,)), x, i)], [y])
    yield "lists", function(
        [x], [Stmt((items,), Build("list", (x,))), Stmt((y,), Append(items, (x, ONE))), Stmt((z, last), Pop(y))], [last]
    )
    yield "closure", function([x], [plus(y, x), Stmt((f,), Closure((p,), Block((plus(z, y, p),), (z,)))), Stmt((g,), Call(f, (x,)))], [g])
    yield "subscripts", function(
        [x],
        [
            Stmt((y,), Index(x, (Slice(None, ONE, None), ONE))),
            Stmt((z,), Update(x, (Sub(Slice(ONE, None, y)),), y, "add")),
            Stmt((c,), Let(z)),
        ],
        [c],
    )
    yield "effects", function([x], [Stmt((), Call(print, (x,), effect=True)), Stmt((), Effect("assert", (x,)))])


def bad_programs():
    x, y, z, p, i, f = map(var, "x y z p i f".split())
    yield "defined twice", function([x], [plus(y, x), plus(y, x)], [y])
    yield "defined twice", function([x], [plus(x, ONE)], [x])
    yield "defined twice", function([x], [Stmt((), Branch(x, Block((plus(y, x),)), Block((plus(y, x),))))])
    yield "defined twice", function([x, x], [])
    yield "before its definition", function([x], [plus(z, y), plus(y, x)], [z])
    yield "before its definition", function([], [], [y])
    yield "before its definition", function([x], [plus(y, y)], [y])
    yield "out of its scope", function([x], [Stmt((), Branch(x, Block((plus(y, x),)), EMPTY))], [y])
    yield "out of its scope", function([x], [loop([y], [p], [x], Block((), (p,)))], [p])
    yield "out of its scope", function([x], [loop([], index=i)], [i])
    yield "out of its scope", function([x], [Stmt((f,), Closure((p,), Block((), (p,))))], [p])
    yield "out of its scope", function([x], [loop([], [], [], Block((plus(z, y),)), Block((plus(y, x),), (y,)))])
    yield "before its definition", function([x], [loop([], [], [], EMPTY, Range(i, ONE, ONE), i)])
    yield "the then arm yields 2", function([x], [Stmt((y,), Branch(x, Block((), (x, x)), Block((), (x,))))])
    yield "the else arm yields 0", function([x], [Stmt((y,), Branch(x, Block((), (x,)), EMPTY))])
    yield "1 params for 0 targets", function([x], [loop([], [p], [x], Block((), (p,)))])
    yield "0 inits", function([x], [loop([y], [p], [], Block((), (p,)))])
    yield "2 results", function([x], [loop([y], [p], [x], Block((), (p, x)))])
    yield "a condition of 0 results", function([x], [loop([], domain=EMPTY)])
    yield "while loop with an index", function([x], [loop([], domain=Block((), (x,)), index=i)])
    yield "1 targets for 2 results", function([x], [Stmt((y,), Pop(x))])
    yield "2 targets for 1 results", function([x], [Stmt((y, z), Attr(x, "shape"))])
    yield "0 targets for 1 results", function([x], [Stmt((), Call(operator.neg, (x,)))])
    yield "1 targets for 0 results", function([x], [Stmt((y,), Effect("assert", (x,)))])
    yield "an effect of kind 'with'", function([x], [Stmt((), Effect("with", (x,)))])
    yield "1 is not an operand", function([x], [plus(y, 1)])
    yield "not an operand", function([x], [Stmt((y,), Index((x, x), ONE))])
    yield "not an operand", function([x], [Stmt((y,), Build("tuple", ((x, x),)))])
    yield "not an operand", function([x], [], [(x, x)])
    yield "undefined value is read", function([x], [plus(y, UNDEFINED)])
    yield "undefined value is read", function([x], [Stmt((y,), Call(max, ((x, UNDEFINED),)))])
    yield "undefined value is read", function([x], [Stmt((), Branch(UNDEFINED, EMPTY, EMPTY))])
    yield "undefined value is read", function([x], [loop([], domain=Range(UNDEFINED, ONE, ONE))])
    yield "undefined value is read", function([x], [loop([y], [p], [UNDEFINED], Block((), (p,)), Range(UNDEFINED, ONE, ONE))])
    yield "keys and items differ", function([x], [Stmt((y,), Build("dict", (x,), ("a", "b")))])
    yield "keys None", function([x], [Stmt((y,), Build("dict", (x,)))])
    yield "mode 'mul'", function([x], [Stmt((y,), Update(x, (), x, "mul"))])
    yield "is called", function([x], [Stmt((y,), Call(Const(3), ()))])


@pytest.mark.parametrize("program", [pytest.param(p, id=name) for name, p in good_programs()])
def test_well_formed_programs_pass(program):
    verify(program)


@pytest.mark.parametrize("reason, program", list(bad_programs()))
def test_ill_formed_programs_are_refused_with_the_reason(reason, program):
    with pytest.raises(IRError, match=reason):
        verify(program)


def test_the_message_names_the_statement():
    x, y = var("x"), var("y")
    with pytest.raises(IRError, match=rf"in f, {y!r} = Call add: 'c' is not an operand"):
        verify(function([x], [plus(y, x, "c")]))
