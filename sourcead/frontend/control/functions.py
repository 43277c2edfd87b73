"""Lower a Python function, for given types of its arguments, to an IR function."""

import collections
import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.overwrites import parts_stay
from sourcead.errors import AliasError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import generators, long_texts, outliving, pointers
from sourcead.frontend.control.exits import Return
from sourcead.frontend.control.lost_changes import lost_changes
from sourcead.frontend.core import Cell, Frame, Lowering, Scope, TupleVal, Value, changed_by_opaque, leaves
from sourcead.frontend.core.lowering import Kept
from sourcead.frontend.core.special_effects import check
from sourcead.frontend.find_source import Source, body_of
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Origin, Stmt, Var
from sourcead.ir.records import made_by_its_class
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import Array, Type, rank

MOST_RESTARTS = 4  # with more calls that are kept: each takes longer, and where no text gets short they would not end soon
MOST_REFUSED_ARMS = 6


@dataclass
class Tried:
    """One way in which a function was lowered and refused.

    Attributes:
        last: the lowering that was refused last, with the error; None if it is not tried yet with the arms in `refused`.
        refused: the arms that are refused in the run (`branches.py`) -> the errors for what is in them.
    """

    last: tuple[Lowering, SourceADError] | None
    refused: dict[tuple, SourceADError]

    def refuse_arm(self) -> bool:
        """Refuse the innermost arm around what was refused last in the run; return whether there is one."""
        error = self.last[1] if self.last is not None else None
        arm = getattr(error, "arm", None)
        if arm is None or arm in self.refused or len(self.refused) == MOST_REFUSED_ARMS:
            return False
        self.last, self.refused = None, {**self.refused, arm: error}
        return True


@dataclass(eq=False)
class Lowered:
    """A lowered function.

    Attributes:
        function: the IR function, whose parameters are those in `types`, in order.
        params: the variable of each parameter.
        written: parameter whose memory the function writes -> place in the source where it does.
        live: name in the text -> (holder, key) of a global or closure variable that is read.
        guards: (holder, key, object) of the objects that were resolved while lowering.
        returned: the place in the source where the result is returned.
        build: the builder, with the facts that it has collected about the variables.
        pairs: the generated pairs of the recursive functions that it calls.
        derived: whether some of its statements belong to a derivative.
        compared: parameters that the function compares by `is`.
        lost: what it changes in its arguments, other than arrays, and where.
        handles: whether it handles exceptions.
        arrays: whether it is differentiated for NumPy, to which few operations on whole arrays are worth more than loops.
        data: what is there while lowering, by the names in `live`.
        multiplies: whether sums of exponentials may become products, which raise FloatingPointError for numbers that lie far apart.
        member_notes: a line for each loop over the members of what `vmap` returned.
    """

    function: Function
    params: dict[str, Var]
    written: dict[str, Any]
    live: dict[str, tuple[Any, str]]
    guards: tuple
    returned: Origin
    build: Builder
    pairs: tuple[Pair, ...] = ()
    derived: bool = False
    compared: frozenset[str] = frozenset()
    lost: dict[str, Origin] = field(default_factory=dict)
    handles: bool = False
    data: dict[str, Any] = field(default_factory=dict)
    arrays: bool = False
    multiplies: bool = False
    member_notes: tuple[str, ...] = ()


def lower_function(source: Source, types: dict[str, Type], statics: dict[str, Any], **ways: Any) -> Lowered:
    """Lower a function to the IR.

    Args:
        source: the function.
        types: the type of each parameter whose value is not known.
        statics: the value of each parameter that is known while compiling.
        ways: how it is lowered: `keeps`, whether calls may be kept that would make it long.
    """
    restarts, first, tried = 0, None, ways.setdefault("tried", {})
    while True:
        try:
            return lowered_in_some_way(source, types, statics, **ways)
        except core.TooLong as error:
            restarts += 1
            ways |= {"kept": error.kept} if restarts <= MOST_RESTARTS else {"kept": Kept(), "keeps": False}
        except SourceADError as error:
            if ways.pop("kept", None):
                ways["keeps"] = False  # a call that is kept may be in the way
                continue
            first = first or error
            if not ways.get("leaves_calls") and getattr(error, "can_be_left", bool)():
                ways["leaves_calls"] = True
            elif not sum(attempt.refuse_arm() for attempt in tried.values()):
                raise first from first.__cause__


def lowered_in_some_way(source: Source, types: dict[str, Type], statics: dict[str, Any], **ways: Any) -> Lowered:
    """Lower a function in the first way that is not refused; the attributes of the lowering in `ways` begin with these values."""
    if source.elementwise and any(isinstance(t, Array) for t in types.values()):
        raise UnsupportedSyntaxError(
            f"`{source.name}`, which `@vectorize` applies to each element, is differentiated with an array",
            at=source.origin(source.node), instead=f"differentiate a function that calls it: `lambda x: {source.name}(x)`",
        )  # fmt: skip
    first = begun(source, **ways)
    try:
        found = tried_once(first, source, types, statics)
        again = functools.partial(tried_once, begun(source, **{**ways, "relies_on_numbers": True}), source, types, statics)
        return found if first.relies_on_numbers else without_idle_rows(first, found, again)
    except RecursionError:
        raise UnsupportedSyntaxError(
            "a list, dict or object is inside itself, or expressions, calls or data are nested too deeply",
            at=source.origin(source.node),
            instead="hold the position or key of the other object",
        ) from None
    except (AliasError, UnsupportedSyntaxError) as error:
        changed = getattr(error, "outliving", frozenset()) | core.containers_from_outside(first, error)
        if (found := changed | first.outliving) != first.outliving:
            error.outliving, error.arm = changed, None  # an arm is only refused for what remains refused then
            return lowered_in_some_way(source, types, statics, **{**ways, "outliving": found})
        if first.tables_read and first.whole_tables:
            return lowered_in_some_way(source, types, statics, **{**ways, "whole_tables": False})
        if core.surely_raised(error)[0] is not None and first.handles and not first.translating:
            with contextlib.suppress(SourceADError, RecursionError):  # what a handler raises in its place
                return lowered_in_some_way(source, types, statics, **{**ways, "translating": True})
        if first.kept:  # a call that is kept may be in the way, which all other ways would meet too
            raise
        apart = getattr(error, "objects_apart", False)
        others = [{"unrolling": True}]
        if apart or isinstance(error, AliasError):
            others = [{"apart": apart, "rows_stay": True}, *others, {"apart": apart, "unrolling": True}]
        if first.numbers_read:
            others += [{"relies_on_numbers": True}, {"relies_on_numbers": True, "unrolling": True}]
        for way in others:
            with contextlib.suppress(SourceADError, RecursionError):
                found = tried_once(begun(source, **{**ways, **way, "keeps": False}), source, types, statics)
                if "rows_stay" not in way or parts_stay(found.function):
                    return found
        first.keeps = False
        if (found := with_objects_known(first, source, types, statics)) is not None:
            return found
        may_be_one = first.differing or apart or isinstance(error, AliasError)
        for way in ({"apart": True}, {"apart": True, "unrolling": True}) if may_be_one else ():
            with contextlib.suppress(SourceADError, RecursionError):
                return tried_once(begun(source, **{**ways, **way, "pointing": True, "keeps": False}), source, types, statics)
        raise


def without_idle_rows(lo: Lowering, found: Lowered, again: Callable[[], Lowered]) -> Lowered:
    """Return a long text as it is if it relies on the integers of global tables, where that is at most two thirds as long.

    A table of coefficients says by zeros which terms a row has, for which the text branches otherwise.
    """
    tables = any(type(const.value) in (list, tuple, dict) for *_, const in lo.live_values.values())
    if tables and (size := long_texts.number_of_statements(found.function.body)) > 2 * long_texts.LONG:
        with contextlib.suppress(SourceADError, RecursionError):
            other = again()
            return other if 3 * long_texts.number_of_statements(other.function.body) <= 2 * size else found
    return found


def with_objects_known(first: Lowering, source: Source, types: dict[str, Type], statics: dict[str, Any]) -> Lowered | None:
    """Lower a function again, with what follows a branch in both its arms if they leave different objects; return None if that fails.

    `first` is the lowering that failed, which knows such branches; each attempt may find more.
    """
    translating, tried = (first.translating, first.probing, first.whole_tables), first.tried
    for unrolling in (False, True):
        places: frozenset = frozenset()
        while not first.differing.keys() <= places:
            places |= first.differing.keys()
            first = begun(source, outliving=first.outliving, keeps=first.keeps, kept=first.kept, after_each=places, unrolling=unrolling)
            first.translating, first.probing, first.whole_tables = translating
            first.tried = tried
            with contextlib.suppress(SourceADError, RecursionError):
                return tried_once(first, source, types, statics)
    return None


def tried_once(lo: Lowering, source: Source, types: dict[str, Type], statics: dict[str, Any]) -> Lowered:
    """Lower a function in one way, which is refused again without another attempt unless other arms are refused in the run this time."""
    flags = lo.keeps, lo.pointing, lo.apart, lo.rows_stay, lo.unrolling, lo.relies_on_numbers, lo.translating, lo.probing, lo.whole_tables
    flags += (lo.leaves_calls,)
    way = (*flags, lo.outliving, frozenset(lo.after_each))
    earlier = lo.tried.get(way)
    if earlier is not None and earlier.last is not None:
        before, error = earlier.last
        for name in ("differing", "numbers_read", "tables_read", "handles"):
            setattr(lo, name, getattr(before, name))
        raise error
    lo.refused_arms = earlier.refused if earlier is not None else {}
    try:
        return lower_from(lo, source, types, statics)
    except SourceADError as error:
        lo.tried[way] = Tried((lo, error), lo.refused_arms)
        raise


def as_returned(lo: Lowering, value: Value) -> Value:
    """Return a result as the caller gets it: dicts and deques of the classes that Python makes, in tuples too, and plain numbers.

    A number is what an object of a class derived from `np.ndarray` is if it has no axes.
    """
    array = core.array_of(value)
    if array is not None:
        return array if rank(core.data_type(lo, array)) == 0 else value
    if isinstance(factory := core.factory_of(lo, value), Const) and factory.value is not made_by_its_class:
        return remade(lo, collections.defaultdict, value, factory, lo.read(value))
    match value:
        case TupleVal(items, cls=None):
            made = tuple(as_returned(lo, item) for item in items)
            return value if made == items else TupleVal(made)
        case Cell(kind="object", cls=collections.Counter):
            return remade(lo, collections.Counter, value, lo.read(value.items[core.ITEMS]))
        case Cell(kind="dict", cls=collections.OrderedDict):
            return remade(lo, collections.OrderedDict, value, lo.read(value))
        case Cell(kind="object", items={"held": held, "maxlen": maxlen}) if core.REAL_CLASSES.get(value.cls) is collections.deque:
            return lo.build.call(collections.deque, lo.read(held), lo.read(maxlen))
    return value


def remade(lo: Lowering, cls: type, value: Cell, *args: Atom) -> Value:
    """Emit a dict as one of a class."""
    return lo.wrap(lo.build.call(cls, *args, type=atom_type(args[-1]), name=value.name))


def begun(source: Source, **ways: Any) -> Lowering:
    """Return the state of the lowering at the beginning of a function, which is lowered in some ways: `apart`, `unrolling` or others."""
    lo = Lowering()
    lo.scope = Scope(source)
    parameters = source.signature.parameters
    lo.own_names = frozenset((*parameters, *(f"t_{name}" for name in parameters), *(f"{source.name}_{kind}" for kind in DERIVATIVES)))
    vars(lo).update(ways)
    return lo


DERIVATIVES = ("grad", "value_and_grad", "vjp", "jvp", "tangent", "vmap", "columns")  # `compile.pipeline.KINDS`


def lower_from(lo: Lowering, source: Source, types: dict[str, Type], statics: dict[str, Any], also: tuple[str, ...] = ()) -> Lowered:
    """Lower a function from the initial state `lo`; if arguments are named in `also`, it returns a tuple with what it leaves in them."""
    generators.refuse_generators(source)
    params: dict[str, Var] = {}
    left_in: dict[str, Value] = {}
    lo.build.origin, lo.build.check = source.origin(source.node), functools.partial(check, lo)
    if lo.pointing:
        lo.follow = functools.partial(pointers.follow, lo)
    for name, t in types.items():
        params[name] = Var(name, t)
    for name, var in params.items():
        value = lo.unpack(var)
        for leaf in leaves(value):
            if isinstance(leaf, Cell):
                lo.params[leaf] = name
        lo.scope.names[name] = left_in[name] = value
    unpacked, lo.entered = len(lo.build.stmts), (lo.journal.mark(), core.next_birth(), left_in)
    for name, value in statics.items():
        lo.scope.names[name] = Const(value, text=name)
    lo.calls.append(Frame(source.node, arguments(lo, source)))
    lo.build.origin = None
    left = core.lower_statements(lo, body_of(source.node))
    value = left.value if isinstance(left, Return) else Const(None)
    returned = source.node.body if isinstance(source.node, gast.Lambda) else last_return(source.node)
    with lo.at(returned):
        value = as_returned(lo, value)
        atom = lo.read(TupleVal((value, *(left_in[name] for name in also))) if also else value)
    outliving.leave_in_names(lo, at_end=True)
    changed_by_opaque.refuse_reads(lo)
    stmts = lo.build.stmts
    checks = [*core.checks_of_second_names(lo, params.values()), *layout_checks(lo, sorted(lo.layouts, key=lambda v: v.id), None)]
    body = Block((*lo.prelude, *stmts[:unpacked], *checks, *stmts[unpacked:]), (atom,))
    if not lo.in_pairs:
        long_texts.check_length(lo, body)
    function = Function(source.name, tuple(params.values()), body, origin=source.origin(source.node))
    guards = [*lo.guards.values()]
    if found := [cls for cls, before in lo.classes.items() if before and core.may_change(cls)]:
        guards.append((snapshot := core.Snapshot(found), "state", snapshot.state))
    return Lowered(
        function, params, lo.written, lo.live, tuple(guards), source.origin(returned),
        lo.build, tuple(lo.pairs.values()), lo.derived, frozenset(lo.compared), lost_changes(lo, source), lo.handles,
        {text: core.at_place(*at, ()) for text, at in lo.live.items()}, member_notes=tuple(lo.member_notes),
    )  # fmt: skip


def layout_checks(lo: Lowering, arguments: list[Var], at: Origin | None) -> list[Stmt]:
    """Return the statements that check the memory layout of a function's arguments (`values/memory_layouts.py`)."""
    checked = [v for v in arguments if v in lo.layouts]
    lo.layouts.difference_update(checked)
    return [Stmt((Var("checked"),), Call(runtime.check_layout, (v, Const(v.name)), effect=True), at) for v in checked]


def arguments(lo: Lowering, source: Source) -> dict[str, Value]:
    """Return the values of a function's parameters, in order."""
    a = source.node.args
    names = [p.id for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if p is not None]
    return {name: lo.scope.names[name] for name in names if name in lo.scope.names}


def last_return(node):
    """Return the last `return` statement of a function, or the function itself, as the place for messages about its result."""
    found = [n for n in core.own_nodes(node) if isinstance(n, gast.Return)]
    return max(found, key=lambda n: getattr(n, "lineno", 0), default=node)
