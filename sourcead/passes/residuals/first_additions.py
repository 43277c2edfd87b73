"""Sets a part of an array of zeros where it would be the first that is added to it.

    d0 = zeros_like(x)                                    d0 = zeros_like(x)
    loop (d = d0) for i in range(n - 1, 0, -1):           loop (d = d0) for i in range(n - 1, 0, -1):
        d1 = d with [i] += v;  yield d1                       d1 = d with [i] = v;  yield d1
    d2 = d1 with [0] += w                                 d2 = d1 with [0] = w

Each version of the array has the boxes (`analysis/boxes.py`) outside of which it is still zero: none when it is made, and one more behind
each write.  When an iteration begins, those of the iterations before it are added, in which the index of the loop has passed other
values.  An addition to a box that is apart from all of them is the first one there, and so is one to a box that was set to zero and
not written since.  It does not matter who reads the array.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.boxes import WHOLE, Box, Boxes, is_exact
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.loop_indices import names_elements_once
from sourcead.analysis.sizes import fills
from sourcead.ir.nodes import Block, Branch, Call, Const, Function, Let, Loop, Operand, Range, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, ListT, Scalar, Type, kind_of, same_dtype
from sourcead.ir.walk import definitions, map_blocks, walk, with_body, with_stmts

ZEROS = (np.zeros, np.zeros_like, runtime.zeros_like)
MOST = 16  # boxes of one array; with more, nothing is known of it


def set_first_additions(function: Function) -> Function:
    """Return the function with `=` for `+=` where a part of an array of zeros, or of a list of them, is added to for the first time."""
    if not any(isinstance(s.op, Update) and s.op.mode != "set" for s in walk(function.body)):
        return function
    return with_body(function, _Places(Boxes(function)).visit(function.body))


def first_writes(function: Function) -> set[Stmt]:
    """Return the statements that set a part of an array of zeros which is still zero."""
    places = _Places(Boxes(function))
    places.visit(function.body)
    return places.first


class _Places:
    """Walks through a function; `touched` has the boxes outside of which a version of an array is zero.

    `cleared` has boxes that were set to zero, and are zero still.

    `first` gets the statements that set a part which is still zero; those in a loop count in the last visit of its body only.
    """

    def __init__(self, boxes: Boxes):
        self.boxes = boxes
        self.touched: dict[Operand, tuple[Box, ...]] = {}
        self.cleared: dict[Operand, tuple[Box, ...]] = {}
        self.first: set[Stmt] = set()

    def visit(self, block: Block) -> Block:
        return with_stmts(block, [new for stmt in block.stmts for new in self.statement(stmt)])

    def statement(self, stmt: Stmt) -> list[Stmt]:
        match stmt.op:
            case Call(fn) if fn in ZEROS and isinstance(stmt.targets[0].type, (Array, ListT)):
                self.touched[stmt.targets[0]] = ()
            case Let(Var() as same) if same in self.touched:
                self.touched[stmt.targets[0]] = self.touched[same]
            case Update(base, (Sub(key),)) if base in self.touched or isinstance(base, Var) and isinstance(base.type, Array):
                return self.update(stmt, key)
            case Branch(_, then, orelse):
                stmt = map_blocks(stmt, self.visit)
                for target, a, b in zip(stmt.targets, then.results, orelse.results):
                    if a in self.touched and b in self.touched:
                        self.note(target, (*self.touched[a], *self.touched[b]))
            case Loop(domain=Range(), policy=None):
                stmt = self.loop(stmt)
            case op if op.blocks:
                stmt = map_blocks(stmt, self.visit)
        return [stmt]

    def update(self, stmt: Stmt, key: Operand) -> list[Stmt]:
        """Return the statements for an update of a part, and note which part is touched."""
        op, before = stmt.op, self.touched.get(stmt.op.base, (WHOLE,))
        told = names_elements_once(key)
        box = self.boxes.of(op.base, key) if told else WHOLE
        cleared = op.mode == "set" and isinstance(op.value, Const) and type(op.value.value) is float and op.value.value == 0
        self.note(stmt.targets[0], before if cleared else (*before, box))
        zero = self.cleared.get(op.base, ())
        exact = told and is_exact(key) and box.axes and None not in box.axes
        self.cleared[stmt.targets[0]] = (*(other for other in zero if box.apart(other)), *((box,) if cleared and exact else ()))
        if not told or isinstance(op.value, tuple):
            return [stmt]
        if not all(box.apart(other) for other in before) and (op.mode == "set" or box not in zero):
            return [stmt]
        if op.mode == "set":
            self.first.add(stmt)
            return [stmt]
        if not is_summand(atom_type(op.value), op.base.type):
            return [stmt]
        if op.mode == "add":
            return [replace(stmt, op=replace(op, mode="set"))]
        build = Builder().at(stmt)
        value = build.call(operator.neg, op.value, type=atom_type(op.value), name=f"{op.base.name}_part")
        return [*build.stmts, replace(stmt, op=replace(op, value=value, mode="set"))]

    def loop(self, stmt: Stmt) -> Stmt:
        """Return a loop, in whose iterations are touched what was before it, and what the iterations before touched."""
        loop: Loop = stmt.op
        carried = [k for k, init in enumerate(loop.inits) if init in self.touched]
        written = self.written(loop, carried) if carried else {}
        for k, found in written.items():
            init = self.touched[loop.inits[k]]
            self.note(loop.params[k], (*init, *(self.boxes.elsewhere(loop, box, later=False) for box in found)))
        stmt = map_blocks(stmt, self.visit)
        for k, found in written.items():
            self.note(stmt.targets[k], (*self.touched[loop.inits[k]], *(self.boxes.over(loop, box) for box in found)))
        return stmt

    def written(self, loop: Loop, carried: list[int]) -> dict[int, list[Box]]:
        """Return the boxes that an iteration touches of each of some variants, without those of which it touches what is not told."""
        touched, first = dict(self.touched), set(self.first)
        for k in carried:
            self.touched[loop.params[k]] = self.touched[loop.inits[k]]
        self.visit(loop.body)
        made = definitions(loop.body)
        ends = {k: self.touched[r] for k in carried if (r := loop.body.results[k]) in self.touched and is_version(r, loop.params[k], made)}
        self.touched, self.first = touched, first  # what is known of versions in this visit does not hold in the next one
        return {k: [box for box in end if box not in touched[loop.inits[k]]] for k, end in ends.items()}

    def note(self, array: Var, boxes: tuple[Box, ...]) -> None:
        boxes = tuple(dict.fromkeys(boxes))
        self.touched[array] = boxes if len(boxes) <= MOST else (WHOLE,)


def is_version(v: Operand, param: Var, made: dict[Var, Stmt]) -> bool:
    """Return whether a value is a version of the array that a loop variant is, or of new zeros, whichever arms of branches are taken."""
    while v is not param:
        stmt = made.get(v) if isinstance(v, Var) else None
        match stmt.op if stmt is not None else None:
            case Update(base):
                v = base
            case Let(same):
                v = same
            case Branch(_, then, orelse):
                k = stmt.targets.index(v)
                return all(is_version(arm.results[k], param, made) for arm in (then, orelse))
            case Loop(inits=inits):
                v = inits[stmt.targets.index(v)]
            case Call(fn) if fn in ZEROS:
                return True
            case _:
                return False
    return True


def is_summand(value: Type | None, base: Type) -> bool:
    """Return whether a real number or array is added, to an array; in a list, whether it has the shape and dtype of the items."""
    if isinstance(base, Array):
        known = isinstance(value, (Array, Scalar)) and base.dtype is not None and bool(base.dims)
        return known and kind_of(value) in ("float", "int", "bool") or known and kind_of(base) == kind_of(value) == "complex"
    return isinstance(base, ListT) and same_arrays(value, base.item)


def same_arrays(value: Type | None, item: Type | None) -> bool:
    """Return whether a value is known to have the dtype and shape of the items, so that it is not broadcast when it is added to one."""
    if isinstance(value, Scalar) and isinstance(item, Scalar):
        return item.kind == "float" and value == item
    if isinstance(item, Array) and item.dims == () and isinstance(value, Scalar):
        return value.dtype is None or same_dtype(value.dtype, item.dtype)
    if not isinstance(value, Array) or not isinstance(item, Array) or not value.dims or not item.dims or value.dtype is None:
        return False
    return same_dtype(value.dtype, item.dtype) and fills(value.dims, item.dims)
