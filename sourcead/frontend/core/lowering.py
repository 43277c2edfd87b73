"""Hold the state of one lowering: the statements so far, the scopes, the calls, and the facts learned about globals."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from sourcead.frontend.core.aliases import Writing
from sourcead.frontend.core.cells import Cell, Value
from sourcead.frontend.core.journal import Attempt, Slots, Snapshot
from sourcead.ir.nodes import Origin, Stmt
from sourcead.ir.number_classes import NumberClasses


@dataclass(eq=False)
class Scope:
    """Hold the variables of one function being lowered.

    Attributes:
        source: the function.
        names: its variables.
        parent: the scope that it was defined in.
        homes: maps each `nonlocal` name to the variables of the function that defines it.
        loops: the number of loops of this function around the current statement.
        leaves: the flags that end these loops, where they have one.
        exits: how control leaves the loops of this function (`control/exits.py`).
        ended: names that blocks of the reverse sweep gave values to (`syntax/adjoint_blocks.py`).
        consume: for a generator, the function that takes each value that it yields.
    """

    source: Any
    names: Slots = field(default_factory=Slots)
    parent: Scope | None = None
    homes: dict = field(default_factory=dict)
    loops: int = 0
    leaves: list = field(default_factory=list)
    exits: dict = field(default_factory=dict)
    ended: set = field(default_factory=set)
    consume: Any = None

    def home(self, name: str) -> Slots:
        """Return the variables that an assignment to a name goes to: of this function, or of an enclosing one (`nonlocal`)."""
        return self.homes.get(name, self.names)

    @functools.cached_property
    def local(self) -> frozenset[str]:
        """Find the names that belong to the function: it binds them, and does not declare them as `nonlocal` or `global`."""
        return bound_names(self.source.node)

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The names of variables and attributes that the function uses."""
        return words(self.source.node)

    @functools.cached_property
    def reads(self) -> tuple[Counter, frozenset[gast.AST]]:
        """Count how often the function reads each name, and find its loops."""
        return name_reads(self.source.node), loops(self.source.node)


def once_for_each_node(function: Callable[[gast.AST], Any]) -> Callable[[gast.AST], Any]:
    """Let a function of a syntax node compute its result once for each node.

    Nobody must change the node afterwards, nor the result, which must not contain the node: then neither would ever be freed.
    """
    known = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def found(node: gast.AST) -> Any:
        try:
            return known[node]
        except KeyError:
            pass
        known[node] = result = function(node)
        return result

    return found


@once_for_each_node
def own_nodes(node: gast.AST) -> tuple[gast.AST, ...]:
    """Return the syntax nodes of a function, without those inside nested functions and classes."""
    found, todo = [], list(gast.iter_child_nodes(node))
    while todo:
        found.append(todo.pop())
        if not isinstance(found[-1], (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            todo.extend(gast.iter_child_nodes(found[-1]))
    return tuple(found)


@once_for_each_node
def bound_names(node: gast.AST) -> frozenset[str]:
    """Find the names that a function binds as its own, wherever in its body."""
    found, others, todo = set(), set(), [node.body] if isinstance(node, gast.Lambda) else [*node.body]
    while todo:
        n = todo.pop()
        match n:
            case gast.FunctionDef(name=name) | gast.ClassDef(name=name):
                found.add(name)
                continue
            case gast.Lambda():
                continue
            case gast.Nonlocal(names=names) | gast.Global(names=names):
                others.update(names)
            case gast.Name(id=name, ctx=gast.Store() | gast.Del()):
                found.add(name)
            case gast.ExceptHandler(name=str(name)):
                found.add(name)
            case gast.alias(name=name, asname=new):
                found.add(new or name.partition(".")[0])
            case gast.MatchAs(name=str(name)) | gast.MatchStar(name=str(name)) | gast.MatchMapping(rest=str(name)):
                found.add(name)
            case gast.comprehension():  # its target is another scope's
                todo += [n.iter, *n.ifs]
                continue
        todo.extend(gast.iter_child_nodes(n))
    return frozenset(found - others)


@once_for_each_node
def words(node: gast.AST) -> frozenset[str]:
    """Find the names of variables and attributes that a function uses."""
    return frozenset(getattr(n, "id", None) or n.attr for n in gast.walk(node) if isinstance(n, (gast.Name, gast.Attribute)))


@once_for_each_node
def loops(node: gast.AST) -> frozenset[gast.AST]:
    """Find the loops inside a function."""
    return frozenset(n for n in gast.walk(node) if isinstance(n, (gast.For, gast.While)) and n is not node)


@once_for_each_node
def name_reads(node: gast.AST) -> Counter:
    """Count how often each name is read."""
    return Counter(n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))


@contextmanager
def temporarily(owner: Any, **fields: Any) -> Iterator[None]:
    """Set some attributes of an object to other values while the body runs."""
    before = {name: getattr(owner, name) for name in fields}
    vars(owner).update(fields)
    try:
        yield
    finally:
        vars(owner).update(before)


@dataclass(frozen=True, eq=False)
class Frame:
    """Describe a call that is being inlined: the syntax of the function, and its arguments."""

    key: Any
    bound: dict[str, Value]


class Kept(dict):
    """What was there before the function is called: no attempt that fails undoes that it was read."""


class Lowering(Writing):
    """Hold the state that lowering one function and its callees shares; the base classes hold the memory of the program.

    Attributes:
        scope: the variables of the function being lowered.
        live: name in the generated code -> where a global or closure variable with data is read; own_names: of its own, not for these.
        live_values: (name in the generated code, where it is read) -> its value, the statements at the top that read it, the data.
        holders: by the identity of an object that is bound in the program, such as a default, the place where the text reads it.
        modules: by the identity of its globals, the variables of a module that functions declare as `global`.
        changed_globals: those of them that were assigned, with the error unless they end as they began.
        global_objects: what stands for each object that a global name or other live data is, in the text.
        outliving: the identities of those that the function assigns attributes of, and of lists and dicts (`control/outliving.py`).
        containers: what stands for each list and dict among these.
        filled: the items of those dicts that get keys which are not known.
        changed_elsewhere: what functions that are called as they are change, with the error if it is read (`changed_by_opaque.py`).
        left: the values that the text has assigned to global variables so far.
        guards: globals that were inlined or resolved: (where, key, the object found).
        walked: lists of known length that loops take by index, as one value each.
        walks: lists and dicts whose items the head of a loop takes one by one (`values/walks.py`).
        reads: the variables, and the objects in them, that are read while a generator is drained (`values/iterables.py`).
        resized: the lists that may have grown or shrunk, once for each time, with the flags of the loops that ended right after it.
        arm: the number of these at the beginning of the arm of a branch that is being lowered.
        listing: whether loops take the items of such lists one by one.
        unrolling: whether loops of a known number of iterations are lowered iteration by iteration.
        stack: the scopes that are being lowered, outermost first; one that gets the items of a generator is in it again.
        loops: the loops that are being lowered, outermost first: each is a number, `nth_loop` when it began, and a place.
        loops_found: such loops -> what is known about the variants of the last (`control/loops_inside.py`).
        names_for_items: the number of names to which the items of the next loop go, which is lowered one by one if it has as many.
        unrolled, unrolled_in_all: the numbers of these iterations, without those of attempts that failed and with them.
        static_only: whether to raise `NotStatic` at a condition that is not known (while inlining rules).
        rows_stay: rows of arrays in lists are assumed to stay unchanged, which `analysis/overwrites.py` checks afterwards.
        cached: the name of the function with a cache whose body is lowered, which must not read what may change.
        tables_behind_caches: whether it may read globals that are what their module made of them (`core/set_at_import.py`).
        caches: for each function with a cache that is called, a cell that stands for what is in its cache.
        called_from: the call that is replaced by a composition (`builtins/compositions.py`).
        steering: in an `adjoint_of` block, the site of each of its items (`syntax/adjoint_blocks.py`).
        derived: whether some of the statements are those of a derivative (`compile/nested_derivatives.py`).
        calls: calls being inlined, outermost first.
        caller: the place of the innermost of them.
        pairs: the functions whose calls stay calls (`control/pairs.py`).
        kept: the functions, by their syntax, whose calls do although they are not recursive (`control/long_texts.py`).
        keeps: whether lowering begins again with such calls if the text becomes long.
        sizes: how often each function was lowered in place for arguments of the same kinds, and how many statements that made.
        entered: the mark and the birth at which the function began, and its parameters.
        in_place: the recursive functions that are lowered in place (`control/recursion.py`).
        in_pairs: the pairs that are being lowered, outermost first, with the syntax of their functions.
        catching: the exception classes that the `try` blocks around the current statement catch.
        escaping: lowers the body of the function that is called next, of whose exceptions the caller handles some (`syntax/exceptions.py`).
        handles: whether a `try` with handlers was lowered.
        translating: whether handlers that only raise another exception are lowered, too.
        probing: whether calls of libraries that may raise what is handled are tried first (`syntax/probes.py`).
        probed: the results of those that are.
        raising: whether the gradient raises an exception that a `try` handles, if a call in it raises that in some runs only.
        copies: the number of times that the statements after an `if` were lowered in both its arms.
        differing: the places of branches whose arms leave different objects in one name.
        after_each: the places of those that are lowered with the statements after them in both arms, where each knows its objects.
        chooses: the expression of an assignment whose rest is lowered for each of the values that it may have (`syntax/choices.py`).
        numbers_read: the names of the global numbers that are read in each call.
        number_classes: the classes, derived from those of Python, of numbers that are read (`ir/number_classes.py`).
        relies_on_numbers: whether the text relies on the values of global numbers, such as sizes, not on their types alone.
        leaves_calls: whether a refused call that is given and changes no data stays as it is (`builtins/calls_as_they_are.py`).
        tables_read: the names of the large global tables of numbers that are read as one value; whole_tables: whether they are.
        tried: the ways in which the function was lowered and refused (`control/functions.py`).
        refused_arms: the arms of branches that are not differentiated -> the error that a run which comes there raises.
        made_functions: the scope in which each function inside a function was made, in order.
        in_loops: whether what `vmap` returned becomes loops over the members, for engines that compile loops; member_notes: on such loops.
    """

    def __init__(self):
        super().__init__()
        self.scope: Scope | None = None
        self.live, self.own_names = Kept(), frozenset()
        self.live_values: Kept = Kept()
        self.holders: Kept = Kept()
        self.modules: Kept = Kept()
        self.changed_globals: dict[tuple[Slots, str], Exception] = {}
        self.global_objects: Kept = Kept()
        self.outliving: frozenset[int] = frozenset()
        self.containers: Kept = Kept()
        self.filled: set[Slots] = set()
        self.changed_elsewhere: dict[tuple, Exception] = {}
        self.left: dict[tuple[Slots, str], Value] = {}
        self.guards: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.walked: list[Cell] = []
        self.walks: list[Any] = []
        self.reads: set[Any] | None = None
        self.resized: list[tuple[Cell, frozenset]] = []
        self.arm = 0
        self.listing = False
        self.deques = False  # whether a list may be one that stands for a deque
        self.unrolling = False
        self.stack: tuple[Scope, ...] = ()
        self.loops: tuple[tuple[int, Origin | None], ...] = ()
        self.nth_loop = 0
        self.loops_found: Kept = Kept()
        self.names_for_items = 0
        self.unrolled = 0
        self.unrolled_in_all = itertools.count(1)
        self.static_only = False
        self.rows_stay = False
        self.cached: str | None = None
        self.caches: Kept = Kept()
        self.tables_behind_caches = False
        self.called_from: Origin | None = None
        self.steering: dict[Any, Any] | None = None
        self.derived = False
        self.calls: list[Frame] = []
        self.caller: Origin | None = None
        self.pairs: Kept = Kept()
        self.kept: Kept = Kept()
        self.keeps = False
        self.sizes: Kept = Kept()
        self.entered: tuple[Any, int, dict[str, Value]] | None = None
        self.in_place: dict[Any, Any] = {}
        self.in_pairs: dict[Any, Any] = {}
        self.catching: tuple[type, ...] = ()
        self.escaping: Callable | None = None
        self.number_classes = NumberClasses()
        self.handles = self.translating = self.probing = self.raising = False
        self.probed: set[Any] = set()
        self.copies = 0
        self.differing: Kept = Kept()
        self.after_each: frozenset = frozenset()
        self.chooses: gast.AST | None = None
        self.numbers_read: Kept = Kept()
        self.relies_on_numbers = self.leaves_calls = False
        self.tables_read: Kept = Kept()
        self.whole_tables = True
        self.tried: dict[tuple, Any] = {}
        self.refused_arms: dict[tuple, Exception] = {}
        self.made_functions: list[Scope] = []
        self.in_loops, self.member_notes = False, Kept()

    def rely_on_items(self, items: dict[str, Any] | None) -> None:
        """Note that the items of a dict are part of the program: the defaults of a function, or the arguments of a partial."""
        self.guards.update({(id(items), name): (items, name, value) for name, value in (items or {}).items()})

    def origin(self, node: gast.AST) -> Origin:
        """Return the source location of a syntax node, or of the call that a composition replaces."""
        at, caller = self.called_from or self.scope.source.origin(getattr(node, "stands_for", node)), self.caller
        if at is None or caller is None:
            return at
        return caller if at == caller else replace(at, caller=caller)

    @contextmanager
    def at(self, node: gast.AST) -> Iterator[None]:
        """Attribute the statements emitted inside to this syntax node."""
        before, self.build.origin = self.build.origin, self.origin(node)
        try:
            yield
        except Exception as error:
            if not hasattr(error, "at"):
                error.at = self.build.origin  # the innermost place, for the message of an unexpected exception
            raise
        finally:
            self.build.origin = before

    @contextmanager
    def in_call(self, node: gast.AST) -> Iterator[None]:
        """Attribute the statements emitted inside to this call within the statement that is being lowered."""
        build, before = self.build, self.build.origin
        build.origin = before and replace(before, part=self.origin(node))
        try:
            yield
        finally:
            build.origin = before

    def arms_differ(self) -> None:
        """Note that the arms of the branch at this place leave different objects in one name."""
        if self.here is not None:
            self.differing[self.here.file, self.here.line, self.here.col] = True

    def splits_here(self) -> bool:
        """Return whether the statements after the branch at this place are lowered in both its arms."""
        return self.here is not None and (self.here.file, self.here.line, self.here.col) in self.after_each

    @property
    def prelude(self) -> list[Stmt]:
        """The statements at the top of the function, which take global data apart."""
        return [stmt for _, taken, _ in self.live_values.values() for stmt in taken]

    def using(self, **fields: Any) -> AbstractContextManager[None]:
        """Set some attributes of the lowering to other values while the body runs."""
        return temporarily(self, **fields)

    @contextmanager
    def in_scope(self, scope: Scope, frame: Frame | None = None) -> Iterator[None]:
        """Lower the body in the scope of another function, called with the arguments of `frame` if that is given."""
        called = {"calls": [*self.calls, frame], "caller": self.here} if frame else {}
        with temporarily(self, scope=scope, stack=(*self.stack, scope), **called), temporarily(self.build, origin=self.build.origin):
            yield

    @contextmanager
    def attempt(self, *errors: type[Exception], when: Callable[[Any], bool] = lambda error: True) -> Iterator[Attempt]:
        """Undo everything that was lowered inside if it fails: if `fail()` is called, or one of `errors` is raised.

            with lo.attempt(AliasError) as attempt:
                ...
            if attempt.failed: ...

        Args:
            errors: the exceptions that are kept as `attempt.error`; others propagate to an enclosing attempt that expects them.
            when: which of these exceptions are expected; it is called before anything is undone.
        """
        before, attempt = Snapshot(self), Attempt()
        try:
            yield attempt
        except errors as error:
            if not when(error):
                raise
            attempt.failed, attempt.error = True, error
        if attempt.failed:
            before.restore()

    def scopes(self) -> Iterator[Scope]:
        """Iterate over the scope of the function being lowered and the scopes around it."""
        scope = self.scope
        while scope is not None:
            yield scope
            scope = scope.parent

    def captured(self, first: int = 0) -> Iterator[Slots]:
        """Iterate over the variables that functions made inside of functions may read; the `first` functions are left out."""
        for scope in self.made_functions[first:]:
            while scope is not None:
                yield scope.names
                scope = scope.parent

    def visible(self) -> Iterator[Value]:
        """Iterate over the values of the names that can be read or rebound here."""
        for scope in self.scopes():
            yield from scope.names.values()
