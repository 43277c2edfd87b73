"""Puts queries of shapes to other values of the same shape: other versions of an array, or values that are needed anyway.

`share_shapes` reads a shape from a value that is needed anyway, so that no value is computed for its shape alone.

    p = mul(x, y);  s = p.shape            s = x.shape
    p = mul(x, y);  z = zeros_like(p)      z = zeros_like(x)
    p = sum(x, axis=1);  n = p.size        n = x.shape[0]
    p = mul(x, y);  n = diag(p).size       n = diag(x).size
    n = diag(x).size;  m = diag(x.T).size  m = n                    where both are the lesser of two sizes

This is legal if the shapes are known to be equal, and the dtypes where they matter.  The other value is a parameter or one that the user
named, whose memory is not written and handed on nowhere: otherwise the query could keep an old version of it alive, which costs a copy.

`query_first_versions` and `query_current_versions` move queries of a shape or dtype from one version of an array to another.

    query_first_versions:      a1 = a0 with [i] = v;  s = a1.shape        s = a0.shape
    query_current_versions:    a1 = a0 with [i] = v;  s = a0.shape        s = a1.shape

This is legal because a write changes neither shape nor dtype.  With the first, what a loop reads of the shape of an array that it writes
does not depend on the iteration.  The second comes before the text is written, so that no query keeps an old version of an array alive.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from sourcead.analysis.array_versions import Chains, queried, query_of
from sourcead.ir.nodes import (
    Atom, Attr, Block, Branch, Build, Call, Const, Function, Index, Loop, Op, Operand, Stmt, Update, Var
)
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.types import INT, Array, Scalar, TupleT, same_dtype
from sourcead.ir.walk import bound_vars, has, map_blocks, map_op, rewrite, walk, with_body, with_stmts
from sourcead.passes.equality import KnownDims
from sourcead.passes.peephole import Facts, peephole
from sourcead.primitives.table import record_of
from sourcead.runtime import diagonal_cotangent

ATTRIBUTES = ("shape", "size", "ndim")
QUERIES = (np.shape, np.size, np.ndim)
VIEWS = (np.diag, np.diagonal)
LIKE = (np.zeros_like, np.ones_like, np.empty_like)


def query_first_versions(function: Function) -> Function:
    """Return the function with each query of a shape or dtype moved to the first version of the array."""
    if not has(function.body, Update):
        return function
    chains = Chains(function.body)
    before: dict[Var, Atom] = {}  # the version that a version was made from
    for stmt in walk(function.body):
        match stmt.op:
            case Update(base) if isinstance(stmt.targets[0].type, Array):
                before[stmt.targets[0]] = base
            case Loop(_, _, params, inits):
                for k in chains.carried_by(stmt).values():
                    if isinstance(params[k].type, Array):
                        before[params[k]] = before[stmt.targets[k]] = inits[k]

    def first(var: Atom) -> Atom:
        while var in before:
            var = before[var]
        return var

    return with_body(function, rewrite(function.body, lambda stmt: [put_to(stmt, first)]))


def query_current_versions(function: Function) -> Function:
    """Return the function with each query of a shape or dtype moved to the version of the array that is current there."""
    if not has(function.body, Update):
        return function
    chains = Chains(function.body)

    def by_chain(variables) -> dict[Var, Var]:
        return {chains.find(v): v for v in variables if chains.find(v) is not None}

    def visit(block: Block, current: dict[Var, Var]) -> Block:
        stmts = []
        for old in block.stmts:
            stmt = put_to(old, lambda var: current.get(chains.find(var), var))
            inside = {**current, **by_chain(bound_vars(stmt.op))}
            stmts.append(map_blocks(stmt, lambda b, inside=inside: visit(b, dict(inside))))
            current.update(by_chain(stmt.targets))
        return with_stmts(block, stmts)

    return with_body(function, visit(function.body, by_chain(function.params)))


def put_to(stmt: Stmt, version: Callable[[Atom], Atom]) -> Stmt:
    """Return the statement with its query put to `version(array)` if that is known to be an array, else the statement unchanged."""
    array = queried(stmt.op)
    other = None if array is None else version(array)
    is_array = isinstance(other, Var) and isinstance(other.type, Array) and other is not array
    return replace(stmt, op=query_of(stmt.op, other)) if is_array else stmt


def share_shapes(function: Function) -> Function:
    """Return the function without values that are computed for their shape alone."""
    if not any(_queried(s.op) for s in walk(function.body)):
        return function
    dims, moving = KnownDims(), _moving(function)
    targets = {s.op: s.targets[0] for s in walk(function.body) if isinstance(s.op, Call) and len(s.targets) == 1}

    def read_for_shape(op: Op | None, facts: Facts) -> Var | None:
        match op:
            case Call(fn, (_, Var(type=Array()) as like, *rest)) if fn is diagonal_cotangent and op.args[0] is not like:
                return like
            case Call(fn, (Var(type=Array()) as base, *rest)) if fn in VIEWS and op in targets and base not in rest:
                return base if all(map(_queried, facts.readers.get(targets[op], (None,)))) else None
        return _queried(op)

    params = [p for p in function.params if p not in moving]
    known: dict[Hashable, tuple[Var, int]] = {}
    sizes: dict[Dim, tuple[Var, int, int]] = {}
    counts: dict[Dim, tuple[Var, int]] = {}

    def known_count(stmt: Stmt, facts: Facts) -> Var | None:
        """Return the number that a query of the size of a vector asks for, if it is computed of other sizes and was asked for before."""
        match stmt.op:
            case Attr(Var(type=Array(dims=(Sym(made=(_, *_)) as size,))), "size"):
                found, scope = counts.get(size, (None, None))
                if scope in facts.open:
                    return found
                counts[size] = stmt.targets[0], facts.scope
        return None

    def offer(var: Var, scope: int, facts: Facts) -> None:
        shape = dims.shape(var.type, facts)
        if shape is None or var in moving or var.temp:
            return
        for k, size in enumerate(shape):
            if sizes.get(size, (None, None, None))[2] not in facts.open:
                sizes[size] = var, k, scope
        other, where = known.get(shape, (None, None))
        if other is None or where not in facts.open:
            known[shape] = var, scope

    def is_offered(stmt: Stmt, facts: Facts) -> bool:
        t = stmt.targets[0].type
        needed = any(_queried(op) is None for op in facts.readers.get(stmt.targets[0], ()))
        of_numbers = isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "fc"
        return record_of(stmt.op.fn).is_elementwise(len(stmt.op.args)) or needed and of_numbers

    def rule(stmt: Stmt, facts: Facts):
        dims.learn(stmt, facts)
        if (count := known_count(stmt, facts)) is not None:
            return count
        array = read_for_shape(stmt.op, facts)
        answer = None
        only_queried = array is not None and all(read_for_shape(op, facts) is array for op in facts.readers.get(array, ()))
        if only_queried or array is not None and array.temp:  # a temporary whose shape is not read can be nested
            same = _combined_with_itself(facts.op(array)) if only_queried else None
            if isinstance(stmt.op, Attr) and same is not None and same not in moving:
                return replace(stmt.op, base=same)
            named, scope = known.get(dims.shape(array.type, facts), (None, None))
            answer = _query_of_another(stmt.op, array, [*params, named] if scope in facts.open else params, dims, facts)
            if answer is None and only_queried and array not in function.params:
                of_params = {size: (p, k) for p in params[::-1] for k, size in reversed([*enumerate(dims.shape(p.type, facts) or ())])}
                here = {size: (v, k) for size, (v, k, scope) in sizes.items() if scope in facts.open}
                answer = _query_by_sizes(stmt, array, here | of_params, dims, facts)
        if isinstance(stmt.op, Call) and len(stmt.targets) == 1 and is_offered(stmt, facts):
            offer(stmt.targets[0], facts.scope, facts)
        return answer

    return peephole(function, rule)


def _combined_with_itself(op: Op | None) -> Var | None:
    """Return `x` if the op is elementwise and reads `x` and numbers alone, as `x * x` and `x ** 2` do, else None."""
    if not (isinstance(op, Call) and record_of(op.fn).is_elementwise(len(op.args)) and not op.kwargs):
        return None
    variables = {a for a in op.args if isinstance(a, Var) and not isinstance(a.type, Scalar)}
    numbers = all(isinstance(a, Var) or isinstance(a, Const) and np.ndim(a.value) == 0 for a in op.args)
    if len(variables) != 1 or not numbers:
        return None
    (x,) = variables
    return x if isinstance(x.type, Array) else None


def _queried(op: Op | None) -> Var | None:
    """Return the array whose shape is all that an op reads, or None for other ops."""
    match op:
        case Attr(Var() as base, name) if name in ATTRIBUTES:
            return base
        case Call(fn, (Var() as base,), ()) if fn in QUERIES or fn in LIKE:
            return base
    return None


def _query_of_another(op: Op, array: Var, candidates: list[Var], dims: KnownDims, facts: Facts) -> Op | None:
    """Return the same query of a candidate that has the same shape, or None if there is none."""
    shape = dims.shape(array.type, facts)
    if shape is None or array in candidates:
        return None
    like = isinstance(op, Call) and op.fn in LIKE
    for var in candidates:
        if dims.shape(var.type, facts) == shape and (not like or _same_dtype(var, array)):
            return map_op(op, lambda atom, var=var: var if atom is array else atom)
    return None


def _query_by_sizes(stmt: Stmt, array: Var, sizes: dict[Dim, tuple[Var, int]], dims: KnownDims, facts: Facts) -> list[Stmt] | None:
    """Return the shape of an array, or its size if that is the length of one axis, from the sizes of others; None if they have not all."""
    shape = dims.shape(array.type, facts)
    name = stmt.op.name if isinstance(stmt.op, Attr) else None
    if not shape or name != "shape" and not (name == "size" and sum(size != 1 for size in shape) == 1):
        return None
    out, found = [], []
    for size in shape:
        if size == 1:
            found.append(Const(1))
            continue
        if isinstance(size, int) or size.varies or size not in sizes or sizes[size][0] is array:
            return None
        other, k = sizes[size]
        whole, part = Var("shape", TupleT((INT,) * len(other.type.dims)), temp=True), Var("n", INT, temp=True)
        out += [replace(stmt, targets=(whole,), op=Attr(other, "shape")), replace(stmt, targets=(part,), op=Index(whole, Const(k)))]
        found.append(part)
    if name == "size":
        return [*out[:-1], replace(out[-1], targets=stmt.targets)]
    return [*out, replace(stmt, op=Build("tuple", tuple(found)))]


def _same_dtype(a: Var, b: Var) -> bool:
    return isinstance(a.type, Array) and isinstance(b.type, Array) and a.type.dtype is not None and same_dtype(a.type.dtype, b.type.dtype)


def _moving(function: Function) -> set[Operand]:
    """Return the values whose memory may be written or handed on: bases of updates, initial values of loops, and results of blocks."""
    moving: set[Operand] = set()
    for stmt in walk(function.body):
        match stmt.op:
            case Update(base):
                moving.add(base)
            case Loop(_, _, _, inits, body):
                moving.update((*inits, *body.results))
            case Branch(_, then, orelse):
                moving.update((*then.results, *orelse.results))
    return moving
