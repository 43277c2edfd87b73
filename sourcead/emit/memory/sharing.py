"""Tells which memory the result of an op may share with its operands, and which variables may share memory at any time.

    fresh     nothing: the memory was made by the op (np.zeros, np.tanh, reductions, integer-array subscripts)
    shallow   a new container of the operands' elements (list(xs), xs + ys, np.split)
    shared    the result may be, contain or be part of any operand (views, elements)
    first     the same for the first operand only
    readonly  the same as shared, and the result may not be written (np.broadcast_to, np.diagonal)
    foreign   the same as shared, or memory from outside of the function (functions of which nothing is known)

The record of a function says which of these holds for its result (`Primitive.memory`).  `AliasGroups` is coarser than
`in_place_or_copy.py`, but enough to tell what a write changes.
"""

from sourcead.analysis.builder import operand_type
from sourcead.analysis.connected import UnionFind
from sourcead.ir.nodes import (
    Append, Atom, Attr, Block, Build, Call, Closure, Const, Index, Let, Loop, Op, Operand, Pop, Range, Slice, Update,
    Var, operand_atoms
)
from sourcead.ir.types import Array, FunctionT, ListT, NoneType, Scalar, Str, TupleT, Type, Undefined, rank
from sourcead.ir.walk import bound_vars, free_vars, handed_on, walk
from sourcead.primitives.table import record_of

_PLAIN_ATTRIBUTES = frozenset("shape ndim size dtype itemsize nbytes strides".split())


def has_memory(t: Type) -> bool:
    """Return whether a value of this type may be or hold memory that can be written."""
    match t:
        case Scalar() | Str() | NoneType() | FunctionT() | Undefined():
            return False
        case TupleT(items):
            return any(map(has_memory, items))
    return True


def is_plain(t: Type) -> bool:
    """Return whether a value of this type is known to be a number or an array of numbers."""
    return isinstance(t, Scalar) or (isinstance(t, Array) and (t.dtype is None or t.dtype.kind != "O"))


def call_sharing(op: Call) -> str:
    """Return how the result of a call shares memory with its arguments, as one of the words above."""
    if isinstance(op.fn, Var):
        return "foreign"
    fn = op.fn.value if isinstance(op.fn, Const) else op.fn
    options = {k for k, _ in op.kwargs}
    memory = record_of(fn).memory
    if not isinstance(memory, str):
        return memory(len(op.args), options)
    if memory == "operands":  # of lists, operators make a list of the same elements
        return "fresh" if all(is_plain(operand_type(a)) for a in op.args) else "shallow"
    return "shared" if options & {"out", "copy"} and memory != "foreign" else memory


def written_in_place(op: Op) -> Atom | None:
    """Return the value whose memory an op writes, or None if it writes none; for ops after `assign_memory`."""
    match op:
        case Update(base) | Append(base) | Pop(base):
            return base
        case Call(into=int(position)):
            return op.args[position]
    return None


class Writer:
    """A function of the text that writes some of its arguments.

    Attributes:
        writes: which, each with the place of the result that has the memory of this argument.
    """

    writes: tuple[tuple[int, int], ...]


def all_written(op: Op) -> list[tuple[Atom, int]]:
    """Return the values whose memory an op writes, each with the place of the result that has this memory then."""
    if isinstance(op, Call) and isinstance(op.fn, Writer):
        return [(op.args[argument], result) for argument, result in op.fn.writes]
    written = written_in_place(op)
    return [] if written is None else [(written, 0)]


def index_sharing(op: Index, result: Type) -> str:
    """Return how `base[key]` shares memory with `base`."""
    if not has_memory(result) or is_integer_index(op):
        return "fresh"
    if isinstance(operand_type(op.base), Array) and _key_kinds(op.key) & {"advanced", "mask"}:
        return "fresh"
    return "shallow" if isinstance(op.key, Slice) and isinstance(operand_type(op.base), ListT) else "shared"


def is_integer_index(op: Index) -> bool:
    """Return whether the subscript takes one element of an array, because it has an integer for each axis."""
    axes = rank(operand_type(op.base))
    keys = op.key if isinstance(op.key, tuple) else (op.key,)
    return axes is not None and len(keys) == axes and all(getattr(operand_type(k), "kind", None) == "int" for k in keys)


def key_kind(key: Operand) -> str:
    """Return 'basic' (a view), 'mask', 'advanced' (integer arrays, which copy and may repeat elements) or 'unknown'."""
    kinds = _key_kinds(key)
    return next(k for k in ("unknown", "advanced", "mask", "basic") if k in kinds or k == "basic")


def _key_kinds(key: Operand) -> set[str]:
    return {_item_kind(k) for k in (key if isinstance(key, tuple) else (key,))}


def _item_kind(key: Operand) -> str:
    if isinstance(key, Slice) or (isinstance(key, Const) and (key.value is None or key.value is ...)):
        return "basic"
    if isinstance(key, Const) and isinstance(key.value, slice):
        return "basic"
    match operand_type(key):
        case Scalar("int") | Str():
            return "basic"
        case Array(dtype) if dtype is not None and dtype.kind == "b":
            return "mask"
        case Array() | ListT():
            return "advanced"
        case TupleT(items):
            return "basic" if all(isinstance(t, Scalar) and t.kind == "int" for t in items) else "unknown"
    return "unknown"


def attr_sharing(op: Attr, result: Type) -> str:
    """Return how `base.name` shares memory with `base`."""
    return "fresh" if op.name in _PLAIN_ATTRIBUTES or not has_memory(result) else "shared"


def is_container(t: Type) -> bool:
    """Return whether writing an element may store the element itself rather than a copy of its numbers."""
    return not is_plain(t)


# ---- groups of variables ----


class AliasGroups(UnionFind):
    """The groups of variables that may share memory, found in one walk."""

    def __init__(self, block: Block):
        super().__init__()
        self.closures: set[Var] = set()
        self._walk(block)

    def has_memory(self, v: Var) -> bool:
        """Return whether a variable may be or reach memory that can be written."""
        return has_memory(v.type) or v in self.closures

    def _unite(self, *atoms) -> None:
        self.unite(*(a for a in atoms if isinstance(a, Var) and self.has_memory(a)))

    def _walk(self, block: Block) -> None:
        for stmt in walk(block):
            for group in handed_on(stmt):
                self._unite(*group)
            match stmt.op:
                case Call(into=int()) as op:
                    self._unite(stmt.targets[0], written_in_place(op))
                case Call() as op:
                    if call_sharing(op) != "fresh":
                        self._unite(*stmt.targets, *op.reads)
                case Let() | Build() as op:
                    self._unite(stmt.targets[0], *op.reads)
                case Index() | Attr() as op:
                    sharing = index_sharing if isinstance(op, Index) else attr_sharing
                    if sharing(op, stmt.targets[0].type) != "fresh":
                        self._unite(stmt.targets[0], op.base)
                case Update(base, _, value) | Append(base, value):
                    stored = operand_atoms(value) if is_container(operand_type(base)) else ()
                    self._unite(stmt.targets[0], base, *stored)
                case Pop(base):
                    self._unite(*stmt.targets, base)
                case Loop() as op:
                    if not isinstance(op.domain, (Range, Block)):
                        self._unite(op.domain, *(v for v in bound_vars(op) if v not in op.params))
                case Closure(_, body):  # calling it reads what it captures
                    self.closures.update(stmt.targets)
                    self._unite(*stmt.targets, *free_vars(body))
