"""Turns a loop over time with a loop over layers inside into a loop over layers with a loop over time inside.

    loop (hs = hs0) for t ...:                       loop (xs = xs0, states = list()) for j ...:
        x0 = xs0[t]                                      h = hs0[j]
        loop (x = x0, states = list()) for j ...:        loop (ys = ys0) for t ...:
            h = hs[j]                                        x = xs[t];  h1 = ys[t]
            y = f(layers[j], x, h)                           y = f(layers[j], x, h1)
            states1 = states ++ [y];  yield y, states1       ys1 = ys with [t + 1] = y;  yield ys1
        yield states                                     states1 = states ++ [ys[-1]];  yield ys[1:], states1

Layer j at time t needs layer j - 1 at time t and itself at time t - 1, so that both orders are legal if iteration j reads of the states
only that of layer j and sets only that, if the loops do nothing but compute, and run at least once, and if the states keep their shapes.
How the states are kept decides nothing: on a new list, as above, or in place in a list or an array, whose item j is set.  The second
order gains the product of all inputs with the weights of a layer (`hoisting.py`), without which nothing is done.  It takes the memory of
the outputs of a layer at all times, which the reverse sweep needs anyway.
"""

import operator
from collections import Counter
from dataclasses import dataclass, replace

from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import Counted, Counting, counts_up
from sourcead.analysis.sizes import Sizes, dims_in, empty_stack, fills, known_dtype, least
from sourcead.ir.nodes import (
    Append, Atom, Block, Build, Call, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.sizes import plus
from sourcead.ir.types import Array, ListT, rank
from sourcead.ir.walk import all_reads, bound_vars, definitions, has, map_blocks, map_op, with_body, with_stmts
from sourcead.passes.cleanup.common_subexpressions import is_pure
from sourcead.passes.loops.hoisting import PRODUCTS
from sourcead.primitives.table import record_of


def interchange_loops(function: Function, notes: list[str], build: Builder) -> Function:
    """Return the function with loops over time inside those over layers, and add a line to `notes` for each.

    `build` knows the function's variables and learns of the new ones.
    """
    if not has(function.body, Loop):
        return function
    return with_body(function, Interchange(function, notes, build).block(function.body, list(function.params)))


@dataclass(eq=False)
class State:
    """A list or array with a state for each layer, which is a variant of the outer loop and which the inner loop makes anew or sets.

    Attributes:
        outer: the number of the variant of the outer loop.
        inner: the number of the variant of the inner loop that becomes its next value.
        read: the statement that reads the state of a layer.
        write: the statement that appends its next value to the new list, or sets it in place.
    """

    outer: int
    inner: int
    read: Stmt
    write: Stmt

    @property
    def in_place(self) -> bool:
        """Return whether the next values are set in the list or array that holds those before."""
        return isinstance(self.write.op, Update)


@dataclass(eq=False)
class Nest:
    """A loop over time with a loop over layers inside.

    Attributes:
        stmt, inner: the two loops.
        times: how the outer one counts.
        count: the statements that find the number of layers.
        thread: the number of the variant of the inner loop that goes from layer to layer.
        inputs: the array of its values before the first layer, by time.
        last: the number of the variant of the outer loop that is the output of the last layer, or None if there is none.
    """

    stmt: Stmt
    inner: Stmt
    times: Counted
    count: list[Stmt]
    states: list[State]
    thread: int
    inputs: Var
    last: int | None


class Interchange:
    """Interchanges the loops of one function."""

    def __init__(self, function: Function, notes: list[str], builder: Builder):
        self.notes, self.builder = notes, builder
        self.uses = Counter(all_reads(function.body))
        self.counting = Counting(definitions(function.body))

    def block(self, block: Block, scope: list[Var]) -> Block:
        """Return the block with its loops interchanged; `scope` holds the variables that are visible before it."""
        stmts, before = [], list(scope)
        for stmt in block.stmts:
            nest = self.nest(stmt, set(before)) if isinstance(stmt.op, Loop) else None
            new = None if nest is None else self.interchanged(nest, before)
            if new is not None:
                self.notes.append("the loop over time was put inside the one over layers")
                stmts += new
            else:
                around = [*before, *bound_vars(stmt.op)]
                stmts.append(map_blocks(stmt, lambda b, around=around: self.block(b, around)))
            before += stmt.targets
        return with_stmts(block, stmts)

    # -- loops that may be interchanged ----------------------------------------------------------------------------------

    def nest(self, stmt: Stmt, outside: set[Var]) -> Nest | None:
        """Return the nest of a loop that has the form above, or None for other loops."""
        loop: Loop = stmt.op
        times = self.counting.of(loop)
        if times is None or times.first or least(times.rows) < 1 or not loop.body.stmts:
            return None
        *before, inner = loop.body.stmts
        if not isinstance(inner.op, Loop) or not counts_up(inner.op) or not counts_up(loop):
            return None
        found = {k: self.state(loop, inner, k) for k in range(len(loop.params))}
        states = [s for s in found.values() if s is not None]
        threads = set(range(len(inner.op.params))) - {s.inner for s in states}
        if not states or len(threads) != 1:
            return None
        (thread,) = threads
        output, others = inner.targets[thread], [k for k, s in found.items() if s is None]
        last = others[0] if others else None
        if len(others) > 1 or self.uses[output] != len(others):
            return None
        if last is not None and (loop.body.results[last] is not output or self.uses[loop.params[last]]):
            return None
        made = {t: s for s in before for t in s.targets}
        first = made.get(inner.op.inits[thread])
        match first.op if first is not None else None:
            case Index(Var() as inputs, key) if key is loop.index and inputs in outside and dims_in(inputs):
                pass
            case _:
                return None
        count = self.count(inner.op.domain.stop, made, loop, outside)
        if count is None or dims_in(inputs)[0] != times.rows:
            return None
        lists = [made.get(inner.op.inits[s.inner]) for s in states if not s.in_place]
        others = [s for s in before if s not in (*count, *lists, first)]
        pure = all(is_pure(s.op) for s in (*inner.op.body.stmts, first) if s not in [each.write for each in states])
        if others or not pure or not all(map(is_empty_list, lists)):
            return None
        read = {v for s in inner.op.body.stmts for v in s.op.reads}
        if read & {v for s in before for v in s.targets}:
            return None
        if any(self.uses[p] != self.known_uses(p, states, count, loop) for p in loop.params):
            return None
        return Nest(stmt, inner, times, count, states, thread, inputs, last)

    def state(self, loop: Loop, inner: Stmt, k: int) -> State | None:
        """Return the k-th variant of a loop as the states of the layers, or None if it is not that."""
        held, after = loop.params[k], loop.body.results[k]
        if not isinstance(held.type, (ListT, Array)) or after not in inner.targets or self.uses[after] != 1:
            return None
        j = inner.targets.index(after)
        param, result = inner.op.params[j], inner.op.body.results[j]
        write = next((s for s in inner.op.body.stmts if result in s.targets), None)
        read = [s for s in inner.op.body.stmts if isinstance(s.op, Index) and s.op.base in (held, param)]
        if write is None or self.uses[result] != 1 or len(read) != 1 or read[0].op.key is not inner.op.index:
            return None
        state = State(k, j, read[0], write)
        match write.op:
            case Append(base, Var(), (), None) if base is param and self.uses[param] == 1:
                return state
            case Update(base, (Sub(key),), Var() as value, "set") if base is param and key is inner.op.index:
                kept = isinstance(held.type, ListT) or fills(dims_in(value) or (), (dims_in(held) or ())[1:])
                same_items = isinstance(held.type, ListT) or known_dtype(value) == known_dtype(held) is not None
                if inner.op.inits[j] is held and self.uses[param] == 1 + (read[0].op.base is param) and kept and same_items:
                    return state
        return None

    def count(self, atom: Atom, made: dict[Var, Stmt], loop: Loop, outside: set[Var]) -> list[Stmt] | None:
        """Return the statements that find the number of layers, if that is the least of some lengths and the same at all times; else None.

        After the first time, the lists of states have one item for each layer.
        """
        if isinstance(atom, Const) or atom in outside:
            return []
        stmt = made.get(atom)
        match stmt.op if stmt is not None else None:
            case Call(fn, (Var() as items,), ()) if fn is len and (items in loop.params or items in outside):
                return [stmt]
            case Call(fn, args, ()) if fn is min and args:
                found = [self.count(a, made, loop, outside) for a in args]
                return None if None in found else list(dict.fromkeys([*(s for part in found for s in part), stmt]))
        return None

    def known_uses(self, param: Var, states: list[State], count: list[Stmt], loop: Loop) -> int:
        """Return how many reads of a list of states are in the statements that may read it."""
        known = [s.read for s in states if loop.params[s.outer] is param] + count
        begins = sum(s.in_place for s in states if loop.params[s.outer] is param)
        return begins + sum(v is param for s in known for v in s.op.reads)

    # -- the new loops -----------------------------------------------------------------------------------------------------

    def interchanged(self, nest: Nest, scope: list[Var]) -> list[Stmt] | None:
        """Return the statements in place of a nest, or None if the shape of what passes between layers is unknown or nothing is gained."""
        loop, inner = nest.stmt.op, nest.inner.op
        thread, output = inner.params[nest.thread], inner.body.results[nest.thread]
        changing = {thread, loop.index, *(s.read.targets[0] for s in nest.states)}
        done = {s.write for s in nest.states} | {s.read for s in nest.states}
        fixed, moving = [], []
        for s in inner.body.stmts:
            if s not in done:
                moves = any(v in changing for v in s.op.reads)
                (moving if moves else fixed).append(s)
                changing.update(s.targets if moves else ())
        known = [*scope, inner.index, *(t for s in fixed for t in s.targets)]
        sizes = Sizes(known)
        written = (output, *(s.write.op.value for s in nest.states))
        if not all(known_dtype(v) is not None and all(map(sizes.size, dims_in(v))) for v in written):
            return None
        if not all(self.keeps_shape(s, moving) for s in nest.states) or known_dtype(nest.inputs) != known_dtype(output):
            return None
        # the gain is the product of all inputs with what is the same at all times
        gains = (is_product(s) and thread in s.op.args and any(a in known for a in s.op.args) for s in moving)
        if rank(thread.type) != rank(output.type) or not any(gains):
            return None
        build = self.builder
        build.origin, build.within = nest.stmt.origin, nest.stmt.within
        with build.block() as stmts:
            swap = {p: loop.inits[k] for k, p in enumerate(loop.params)}
            for s in nest.count:
                build.add(replace(s, op=map_op(s.op, lambda a: swap.get(a, a))))
            targets = [nest.stmt.targets[s.outer] for s in nest.states]
            lists = [
                swap[loop.params[s.outer]] if s.in_place else build.emit(Build("list", ()), inner.params[s.inner].type, t.name, False)
                for s, t in zip(nest.states, targets)
            ]
            inputs = Var(f"{thread.name}s", Array(known_dtype(output), (nest.times.rows, *dims_in(thread))))
            body, results = self.layer(nest, inputs, fixed, moving, sizes, swap)
            params = (inputs, *(inner.params[s.inner] for s in nest.states))
            op = replace(inner, params=params, inits=(nest.inputs, *lists), body=Block(tuple(body), results))
            dims = dims_in(nest.inner.targets[nest.thread])  # layers may differ in size
            outputs = fresh(results[0], type=Array(known_dtype(output), (nest.times.rows, *dims)))
            build.add(replace(nest.inner, targets=(outputs, *targets), op=op))
            if nest.last is not None:
                build.add(replace(nest.stmt, targets=(nest.stmt.targets[nest.last],), op=Index(outputs, Const(-1))))
        return stmts

    def keeps_shape(self, state: State, moving: list[Stmt]) -> bool:
        """Return whether a state is known to have the same shape and dtype at all times.

        Its last axis keeps its length if each state is multiplied by the same matrix, or combined with the next one element by element.
        """
        before, after = state.read.targets[0], state.write.op.value
        a, b = dims_in(before), dims_in(after)
        if a is None or len(a) != len(b) or not a or known_dtype(before) != known_dtype(after) or a[:-1] != b[:-1]:
            return False
        if a[-1] == b[-1]:
            return True
        readers = [s for s in moving if before in s.op.reads and isinstance(s.op, Call)]
        joined = any(is_product(s) or record_of(s.op.fn).is_elementwise(len(s.op.args)) and dims_in(s.targets[0]) == b for s in readers)
        return joined and least(a[-1]) > 1 and least(b[-1]) > 1

    def layer(
        self, nest: Nest, inputs: Var, fixed: list[Stmt], moving: list[Stmt], sizes: Sizes, swap: dict[Var, Atom]
    ) -> tuple[list[Stmt], tuple[Var, ...]]:
        """Return the statements of one layer for all times, and the values that they yield."""
        loop, inner, build = nest.stmt.op, nest.inner.op, self.builder
        thread, output = inner.params[nest.thread], inner.body.results[nest.thread]
        values = [s.write.op.value for s in nest.states]
        with build.block() as stmts:
            for s in fixed:
                build.add(s)
            arrays = []
            for s in nest.states:
                array = self.empty(nest, s.write.op.value, sizes, one_more=True)
                first = build.index(swap[loop.params[s.outer]], s.read.op.key, name=s.read.targets[0].name)
                arrays.append(build.update(array, (Sub(Const(0)),), first))
            if output not in values:
                arrays.append(self.empty(nest, output, sizes))
            params = tuple(map(fresh, arrays))
            with build.block() as steps:
                build.add(Stmt((thread,), Index(inputs, loop.index), nest.stmt.origin))
                for s, param in zip(nest.states, params):
                    build.add(replace(s.read, op=Index(param, loop.index)))
                for s in moving:
                    build.add(s)
                yields = []
                for s, param in zip(nest.states, params):
                    following = build.call(operator.add, loop.index, Const(1))
                    yields.append(build.update(param, (Sub(following),), s.write.op.value))
                if output not in values:
                    yields.append(build.update(params[-1], (Sub(loop.index),), output))
            targets = tuple(fresh(p) for p in params)
            op = replace(loop, params=params, inits=tuple(arrays), body=Block(tuple(steps), tuple(yields)))
            build.add(replace(nest.stmt, targets=targets, op=op))
            lists = []
            for s, array in zip(nest.states, targets):
                new = fresh(s.write.targets[0])
                last = build.index(array, Const(-1), name=s.read.targets[0].name)
                held = inner.params[s.inner]
                op = Update(held, s.write.op.path, last, "set") if s.in_place else Append(held, last)
                build.add(replace(s.write, targets=(new,), op=op))
                lists.append(new)
            outputs = targets[-1]
            if output in values:
                part = Index(targets[values.index(output)], Slice(Const(1), None, None))
                outputs = build.emit(part, Array(known_dtype(output), (nest.times.rows, *dims_in(output))), inputs.name)
        return stmts, (outputs, *lists)

    def empty(self, nest: Nest, v: Var, sizes: Sizes, one_more: bool = False) -> Var:
        """Return a new array for the values of `v` at all times and, with `one_more`, for the value before the first time."""
        build, rows, dim = self.builder, nest.times.write_number(self.builder, self.counting), nest.times.rows
        if one_more:
            rows = build.call(operator.add, rows, Const(1))
            dim = plus(dim, 1)
        return empty_stack(build, v, map(sizes.size, dims_in(v)), (rows, dim))


def is_empty_list(stmt: Stmt | None) -> bool:
    return stmt is not None and isinstance(stmt.op, Build) and stmt.op.kind == "list" and not stmt.op.items


def is_product(stmt: Stmt) -> bool:
    return isinstance(stmt.op, Call) and stmt.op.fn in PRODUCTS and len(stmt.op.args) == 2
