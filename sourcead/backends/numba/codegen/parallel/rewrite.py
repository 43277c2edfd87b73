"""Parallel loops as functions of their own.

    for i in range(n):                         y, d_w, s = loop(0, n, 1, x, y, d_w, s)
        y[i] = f(x[i])
        d_w[k[i]] += x[i]                      def loop(start, stop, step, x, y, d_w, s):
        s += x[i]                                  chunks = ...                          the number of threads, or 1 for little work
                                                   if chunks < 2: return loop_part(start, stop, step, x, y, d_w, s)
                                                   d_w_parts, s_parts = np.zeros((chunks, *d_w.shape)), np.zeros(chunks)
                                                   for c in prange(chunks):
                                                       loop_part(first of c, first of c + 1, step, x, y, d_w_parts[c], s_parts[c])
                                                   d_w += d_w_parts[0]; d_w += d_w_parts[1]; ...

`loop_part` is the loop itself, for some of its iterations.  The iterations are divided by their number alone, and the sums are added in
order, so that equal numbers of threads give equal bits.  A part that raises an error (a subscript out of bounds) tells so, since an error
must not leave a thread; it runs again on the caller's thread, which raises the error of the first such part.
"""

from dataclasses import replace

from sourcead.analysis.affine import Subscripts
from sourcead.backends.numba.codegen.outlining import AT
from sourcead.backends.numba.codegen.parallel import work as costs
from sourcead.backends.numba.codegen.parallel.independence import Independent, Serial, independent
from sourcead.backends.numba.codegen.parallel.sums import Advance
from sourcead.backends.numba.codegen.recursion import ParallelLoop
from sourcead.emit import emit
from sourcead.ir.names import as_name, numbered
from sourcead.ir.nodes import Block, Call, Function, Let, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, Array, Scalar, kind_of
from sourcead.ir.walk import free_vars, map_blocks, substitute

KINDS = {"float": "float64", "int": "int64", "complex": "complex128"}


def parallel_loops(function: Function, notes: list[str]) -> Function:
    """Return the function with outermost independent loops as functions; notes which they are and why others are not."""
    work = _Loops(function)
    made = replace(function, body=work.block(function.body))
    notes += work.notes()
    return made


class _Loops:
    """Replaces the loops of a function."""

    def __init__(self, function: Function):
        self.subscripts = Subscripts(function.body)
        self.taken = {function.name}
        self.parallel: list[tuple[str, str]] = []
        self.serial: list[tuple[str, str]] = []

    def block(self, block: Block) -> Block:
        return Block(tuple(new for stmt in block.stmts for new in self.statement(stmt)), block.results)

    def statement(self, stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt.op, Loop) and calculates(stmt.op):
            try:
                costs.refuse_little(stmt.op)
                return self.in_parallel(stmt, independent(stmt.op, self.subscripts))
            except costs.Little:
                return [stmt]
            except Serial as why:
                self.serial.append((place_of(stmt), str(why)))
        return [map_blocks(stmt, self.block)]

    def in_parallel(self, stmt: Stmt, found: Independent) -> list[Stmt]:
        """Return the call of a loop's function."""
        name = next(n for n in numbered(f"loop_of_line_{stmt.place.line}" if stmt.place else "loop") if n not in self.taken)
        self.taken.add(name)
        loop: Loop = stmt.op
        kept = [k for k, (p, r) in enumerate(zip(loop.params, loop.body.results)) if p is not r]
        params = [loop.params[k] for k in kept]
        fixed = {p: init for p, init, r in zip(loop.params, loop.inits, loop.body.results) if p is r}
        one = substitute(replace(loop.body, results=tuple(loop.body.results[k] for k in kept)), fixed)
        start, stop, step = (Var(n, INT, True) for n in ("start", "stop", "step"))
        part = Loop(Range(start, stop, step), loop.index, tuple(params), tuple(params), one)
        free = [v for v in free_vars(Block((Stmt((), part),))) if v not in (start, stop, step) and v not in params]
        names = unique((*free, *params), {"start", "stop", "step"})
        own = {v: fresh(v, name=name) for v, name in names.items()}
        results = tuple(fresh(stmt.targets[k]) for k in kept)
        part = replace(part, inits=tuple(own[p] for p in params), body=substitute(one, {v: own[v] for v in free}))
        body = Block((replace(stmt, op=part, targets=results),), results)
        emitted = emit(Function(name, (start, stop, step, *own.values()), body), AT)
        driver, functions = text_of(name, loop, names, found)
        self.taken.update(functions)
        writes = tuple((3 + len(free) + k, k) for k, p in enumerate(params) if isinstance(p.type, Array))
        helper = ParallelLoop(name, emitted.text, emitted.namespace, driver=driver, names=functions, writes=writes)
        args = (loop.domain.start, loop.domain.stop, loop.domain.step, *free, *(loop.inits[k] for k in kept))
        summed = [p.name for p in found.sums if isinstance(p.type, Array)]
        self.parallel.append((place_of(stmt), f" (one {' and one '.join(f'`{n}`' for n in summed)} for each thread)" if summed else ""))
        unchanged = [replace(stmt, targets=(t,), op=Let(i)) for k, (t, i) in enumerate(zip(stmt.targets, loop.inits)) if k not in kept]
        return [*unchanged, replace(stmt, targets=tuple(stmt.targets[k] for k in kept), op=Call(helper, args), saves=False)]

    def notes(self) -> list[str]:
        """Return one line on the loops that may run in parallel, and one on the others."""
        told = []
        if self.parallel:
            told.append("in parallel, if there is enough work: " + "; ".join(dict.fromkeys(f"{p}{more}" for p, more in self.parallel)))
        if self.serial:
            told.append("on one thread: " + "; ".join(dict.fromkeys(f"{place}: {why}" for place, why in self.serial)))
        return told


def calculates(loop: Loop) -> bool:
    """Return whether a loop calculates more than integers, such as the room on a stack."""
    changed = [p.type for p, r in zip(loop.params, loop.body.results) if p is not r]
    return any(isinstance(t, Array) or kind_of(t) in ("float", "complex") for t in changed)


def place_of(stmt: Stmt) -> str:
    """Return the line of the user's program that a loop belongs to, for notes."""
    if stmt.place is None:
        return "a loop"
    return f"{'the reverse of ' if stmt.adjoint_of is not None else ''}the loop in line {stmt.place.line}"


# ---- the text of the functions around a part ----


def unique(variables: tuple[Var, ...], taken: set[str]) -> dict[Var, str]:
    """Return different names for some variables."""
    names = {}
    for v in variables:
        names[v] = next(n for n in numbered(as_name(v.name, "v")) if n not in taken and n not in names.values())
    return names


def text_of(part: str, loop: Loop, given_names: dict[Var, str], found: Independent) -> tuple[str, tuple[str, str]]:
    """Return the function that divides a loop into parts and runs them, and one that tells whether a part raised an error, and their names.

    Args:
        part: the name of the function that runs a part.
        loop: the loop.
        given_names: the names of its parameters behind start, stop and step, some of which are variants of the loop.
        found: what the variants are.
    """
    taken = {"np", "prange", "threads", "chunks", "failed", "c", "n", "start", "stop", "step", "len", "range", "max", "min", part}

    def new(wish: str) -> str:
        name = next(n for n in numbered(as_name(wish, "v")) if n not in taken)
        taken.add(name)
        return name

    names = {v: new(name) for v, name in given_names.items()}
    params = [v for v in names if v in loop.params]
    free = [names[v] for v in names if v not in loop.params]
    divided, tried = new(f"{part}_in_chunks"), new(f"{part}_tried")
    sums = {p: new(f"{p.name}_parts") for p in found.sums if p in params}
    numbers = [p for p in sums if not isinstance(p.type, Array)]
    moves = {p: counted(found.counters[p], names, loop) for p in found.counters if p in params}
    given = ", ".join(names.values())
    passed = ", ".join([*free, *(names[p] for p in params if p not in sums), *sums.values()])
    begin = {**{p: f"{s}[c]" for p, s in sums.items()}, **{p: f"{names[p]} + (c * n // chunks) * {by}" for p, by in moves.items()}}
    ends = "start + step * (c * n // chunks), start + step * ((c + 1) * n // chunks), step"
    call = f"{part}({', '.join([ends, *free, *(begin.get(p, names[p]) for p in params)])})"
    kept = ", ".join(names[p] if p in numbers else "_" for p in params) + " = " if numbers else ""
    own = f"{costs.EACH} * ({' + '.join(f'{names[p]}.size' for p in sums if p not in numbers) or 0})"
    work = f"1.0 * n * ({costs.Work(loop, names).of(loop.body)})"
    lines = [
        f"def {tried}(c, n, chunks, start, stop, step, {passed}):",
        "    try:",
        f"        {kept}{call}",
        *(f"        {sums[p]}[c] = {names[p]}" for p in numbers),
        "    except Exception:",
        "        return True",
        "    return False",
        "",
        "",
        f"def {divided}(start, stop, step, {given}):",
        "    n = len(range(start, stop, step))",
        f"    chunks = threads(n, {work}, {own}, {costs.LEAST})",
        "    if chunks < 2:",
        f"        return {part}(start, stop, step, {given})",
        *(f"    {s} = np.zeros({shape_and_dtype(p, names[p])})" for p, s in sums.items()),
        "    failed = np.zeros(chunks, np.bool_)",
        "    for c in prange(chunks):",
        f"        failed[c] = {tried}(np.int64(c), n, chunks, start, stop, step, {passed})",
        "    for c in range(chunks):",
        "        if failed[c]:",
        f"            {call}",
        '            raise RuntimeError("a part of a loop raised an error in a thread, and none when it ran again")',
        *(f"        {names[p]} += {s}[c]" for p, s in sums.items()),
        *(f"    {names[p]} += n * {by}" for p, by in moves.items()),
        f"    return {', '.join(names[p] for p in params)}",
    ]
    return "\n".join(lines) + "\n", (divided, tried)


def shape_and_dtype(p: Var, name: str) -> str:
    """Return the arguments of `np.zeros` for the sums of all parts."""
    if isinstance(p.type, Scalar):
        dtype = p.type.dtype
        return f"chunks, np.{KINDS[p.type.kind] if dtype is None or dtype.kind == 'O' else dtype.name}"
    return f"(chunks,) + {name}.shape, {name}.dtype"


def counted(advance: Advance, names: dict[Var, str], loop: Loop) -> str:
    """Return by how much an iteration moves a counter, as text."""
    work, terms = costs.Work(loop, names), [str(advance.constant)] if advance.constant or not advance.trips else []
    for domain, factor in advance.trips:
        ends = ", ".join(map(str, (work.value(a) for a in (domain.start, domain.stop, domain.step))))
        terms.append(f"{factor} * len(range({ends}))")
    return f"({' + '.join(terms)})"
