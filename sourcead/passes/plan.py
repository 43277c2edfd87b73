"""The order of all passes, with the reason for each place.

    CLEANUP    repeated until nothing changes; `simplify` runs it wherever the other stages say so
    BEFORE     on the primal function, before it is differentiated
    SUMS       behind it, if the text may be generated anew when a call shows that it does not hold (`compile/again.py`)
    AFTER      on a differentiated function
    BATCHING   on the tangent of a function, before it is written for several directions at once
    MEMBERS    on a function of one member, before it is written for all members of a batch

    BY_PARTS   for Numba, on a differentiated function, before `AFTER` (`backends/numba/codegen/prepare.py`)
    MEMORY     behind `AFTER` and an engine's own last pass (`emit/`)
    FORMS      for Numba, behind `MEMORY`, on a function whose updates are in place (`backends/numba/codegen/prepare.py`)

A pass is a function from IR to IR that returns the very function it was given if there was nothing to do.  `run` is the only place
that calls passes in order: whoever hands it a stage, tests can look between its passes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sourcead.analysis.builder import Builder
from sourcead.analysis.unassigned import without_nothing
from sourcead.ir.nodes import Function
from sourcead.ir.verify import verify
from sourcead.passes.cleanup.algebra import simplify_arithmetic
from sourcead.passes.cleanup.arrays_of_parts import join_parts
from sourcead.passes.cleanup.broadcasts import add_to_sources, remove_broadcasts
from sourcead.passes.cleanup.choices import merge_choices, multiply_by_signs
from sourcead.passes.cleanup.common_divisors import divide_once
from sourcead.passes.cleanup.common_factors import take_common_factors
from sourcead.passes.cleanup.common_subexpressions import merge_common
from sourcead.passes.cleanup.copies import propagate_copies
from sourcead.passes.cleanup.dead_code import remove_dead
from sourcead.passes.cleanup.element_branches import add_in_arms, keep_elements
from sourcead.passes.cleanup.first_contributions import begin_cotangents
from sourcead.passes.cleanup.hints import remove_hints
from sourcead.passes.cleanup.known_conditions import drop_unread_arms, take_known_arms
from sourcead.passes.cleanup.known_sums import know_sums
from sourcead.passes.cleanup.linear_systems import share_factorisations
from sourcead.passes.cleanup.names_of_sizes import name_equal_sizes
from sourcead.passes.cleanup.quotients import reuse_quotients
from sourcead.passes.cleanup.shape_queries import query_current_versions, query_first_versions, share_shapes
from sourcead.passes.cleanup.sums_in_parts import add_to_parts
from sourcead.passes.cleanup.sums_of_products import factor_sums, multiply_einsums
from sourcead.passes.cleanup.sums_over_matrices import contract_sums
from sourcead.passes.cleanup.symmetric_cotangents import use_symmetry
from sourcead.passes.cleanup.writes_through_reshape import expand_writes_through_reshape
from sourcead.passes.loops.counted import count_while_loops
from sourcead.passes.loops.fission import sum_after_loops
from sourcead.passes.loops.fused_sweeps import fuse_sweeps
from sourcead.passes.loops.hoisting import expand_row_reshapes, hoist_products
from sourcead.passes.loops.independent import batch_independent
from sourcead.passes.loops.interchange import interchange_loops
from sourcead.passes.loops.invariants import evaluate_invariants_once
from sourcead.passes.loops.list_forms import simplify_lists
from sourcead.passes.loops.products_of_exponentials import multiply_exponentials
from sourcead.passes.loops.rows_before_loops import compute_rows_before
from sourcead.passes.loops.rows_of_cotangents import index_popped_rows, write_over_rows
from sourcead.passes.loops.scalar_replacement import accumulate_in_variables
from sourcead.passes.loops.states_in_one_array import keep_states_once
from sourcead.passes.loops.tables import make_tables_once
from sourcead.passes.loops.zero_cotangents import skip_zero_cotangents
from sourcead.passes.residuals.add_to_records import add_to_records
from sourcead.passes.residuals.check_assigned import check_assigned
from sourcead.passes.residuals.clears import sink_clears
from sourcead.passes.residuals.copy_live_versions import copy_live_versions
from sourcead.passes.residuals.dead_clears import remove_dead_clears
from sourcead.passes.residuals.equal_items import take_equal_items
from sourcead.passes.residuals.first_additions import set_first_additions
from sourcead.passes.residuals.flatten_stacks import flatten_stacks
from sourcead.passes.residuals.remove_overwritten_zeros import remove_overwritten_zeros

ROUNDS = 4  # how often the cleanup is repeated at most


@dataclass(eq=False)
class Context:
    """The information that passes take besides the function, and the information that they add.

    Attributes:
        notes: gets a line for each decision that is reported to users.
        build: knows the variables of a function that is to be differentiated, and learns of new ones.
        derived: whether the function is itself a derivative, which may read an old version of an array that it has written.
        splits: whether the products of all iterations of a loop may be put together, which takes memory.
        arrays: whether independent iterations may be computed at once too, and arrays be joined, because the text is for NumPy.
        lists: whether a list may hold None at positions that are filled later.
        settled: for each pass of `CLEANUP`, the function that it last left as it was, which it need not look at again.
    """

    notes: list[str] = field(default_factory=list)
    build: Builder | None = None
    derived: bool = False
    splits: bool = False
    arrays: bool = False
    lists: bool = True
    settled: dict[Callable, Function] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Pass:
    """One row of the table.

    Attributes:
        run: the pass.
        reason: why it stands in this place.
        when: the attribute of the context that must be true for the pass to run; None if it always runs.
        needs: the attributes of the context that it takes besides the function.
    """

    run: Callable[..., Function]
    reason: str
    when: str | None = None
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.run.__name__


def simplify(function: Function, settled: dict[Callable, Function] | None = None) -> Function:
    """Return the function after the passes of `CLEANUP`, repeated until nothing changes, at most `ROUNDS` times.

    `settled` has the function that each pass last left as it was, and is kept up.

    Example:
        >>> import operator
        >>> from sourcead.ir.nodes import Block, Call, Const, Function, Stmt, Var
        >>> from sourcead.ir.types import FLOAT
        >>> x, y = Var("x", FLOAT), Var("y", FLOAT, temp=True)
        >>> f = Function("f", (x,), Block((Stmt((y,), Call(operator.mul, (x, Const(1)))),), (y,)))
        >>> simplify(f).body.stmts
        ()
    """
    settled = {} if settled is None else settled
    for _ in range(ROUNDS):
        before = function
        for row in CLEANUP:
            if settled.get(row.run) is not function:
                given, function = function, run_pass(row, function)
                if function is given:
                    settled[row.run] = function
        if function is before:
            break
    return function


CLEANUP = (
    Pass(remove_dead, "first, so that the others look at less"),
    Pass(query_first_versions, "before copies are propagated: then what a loop asks of an array that it writes is invariant"),
    Pass(propagate_copies, "before the arithmetic, whose rules look at the operation that made an operand"),
    Pass(simplify_arithmetic, "before the broadcasts: factors of one would keep them apart from what they feed"),
    Pass(remove_broadcasts, "before shapes are shared: a broadcast that is gone asks for no shape"),
    Pass(share_shapes, "before equal operations are merged: the same question, put to one array, is merged"),
    Pass(merge_common, "when operands have their final form: operations are equal if their operands are"),
    Pass(remove_dead, "last, to remove what the others left unread"),
)

BEFORE = (
    Pass(add_to_parts, "first: the passes below know additions to parts"),
    Pass(copy_live_versions, "before all others: the plan of residuals, and the passes below, rely on separate versions", "derived"),
    Pass(count_while_loops, "before all that looks at loops, which knows more of those over ranges", None, ("build",)),
    Pass(make_tables_once, "before residuals are planned: what stands before a loop need not be saved in it, nor made again"),
    Pass(evaluate_invariants_once, "before residuals are planned, and loops looked at: it makes their bodies shorter", None, ("build",)),
    Pass(simplify_lists, "before loops are interchanged: states in lists have one form"),
    Pass(interchange_loops, "before products are hoisted, which it makes possible", "splits", ("notes", "build")),
    Pass(batch_independent, "before products are hoisted out of loops of which it leaves nothing", "arrays", ("notes", "build")),
    Pass(compute_rows_before, "after it, which leaves nothing of some loops", "arrays", ("notes", "build")),
    Pass(hoist_products, "after it: products in the inner loop are those of all times", "splits", ("notes", "build")),
    Pass(simplify, "to remove what the two passes above left, if they did anything", "notes", ("settled",)),
    Pass(accumulate_in_variables, "last but one: the passes above know elements of arrays, not the variables that it makes of them"),
    Pass(keep_elements, "last: loops that write elements in branches are not accumulated in variables"),
)

SUMS = (
    Pass(multiply_exponentials, "behind `BEFORE`, on what is differentiated alone: it may raise an error", None, ("build",)),
    Pass(simplify, "to remove the sums that have become products", "notes", ("settled",)),
)

AFTER = (
    Pass(remove_hints, "first: what hints name is looked at by all other passes"),
    Pass(name_equal_sizes, "before all that compares types"),
    Pass(expand_row_reshapes, "first: their adjoints are written, and the other passes know `np.reshape`"),
    Pass(simplify, "before sums are looked for: it brings the updates of cotangents to one form", "splits", ("settled",)),
    Pass(set_first_additions, "before zeros that are overwritten are removed: what is set overwrites them", "splits"),
    Pass(remove_overwritten_zeros, "before clears are sunk: it knows arrays of zeros by what made them", "splits", ("lists",)),
    Pass(sink_clears, "before sums are looked for, which clears among the updates would hide", "splits"),
    Pass(sum_after_loops, "before stacks are flattened: it turns lists of residuals of one loop into arrays", "splits", ("notes",)),
    Pass(keep_states_once, "after it: the arrays that it makes hold the states with which the iterations begin", "splits"),
    Pass(remove_dead, "before it is asked what loops of the forward sweep are for: not for a value that nothing reads"),
    Pass(fuse_sweeps, "after it: lists that are arrays now need no loop, and before stacks of nests of loops are joined", None, ("notes",)),
    Pass(flatten_stacks, "after it: the lists that are left become one stack for a nest of loops"),
    Pass(take_equal_items, "after stacks are flattened: a list that one loop alone pops, and before products with its items are seen"),
    Pass(index_popped_rows, "after it: an array of equal numbers is not read at all"),
    Pass(write_over_rows, "after it: rows are read by an index"),
    Pass(simplify, "before sums are factored: a product that is read once only must be seen to be", None, ("settled",)),
    Pass(know_sums, "before sums are factored, and after simplification, which brings the updates of cotangents to one form"),
    Pass(simplify, "to remove the broadcasts of sums that are known", None, ("settled",)),
    Pass(merge_choices, "after the updates of cotangents are in one form, in which it finds the shares of both arms"),
    Pass(multiply_by_signs, "after it: it makes choices between a value and its negative"),
    Pass(share_factorisations, "after simplification, which brings transposes of products to one form, and before sums of products"),
    Pass(factor_sums, "before products of matrices: it makes smaller `einsum`s of larger ones"),
    Pass(reuse_quotients, "after sums are factored, which takes divisors out of them"),
    Pass(remove_dead, "before sums are contracted: the products that `factor_sums` left would count as read"),
    Pass(contract_sums, "after the factors that do not vary are taken out"),
    Pass(multiply_einsums, "after the last pass that reads or makes an `einsum`"),
    Pass(divide_once, "before common factors are taken out: sums of quotients would hide that all multiples are divided"),
    Pass(take_common_factors, "after the passes that look for sums of products, and before the last simplification"),
    Pass(use_symmetry, "after common factors are taken out: a half of a symmetric matrix and its transpose are added then"),
    Pass(add_to_sources, "after equal operations are merged: what is added twice to a broadcast is added once, times two"),
    Pass(take_known_arms, "after the updates of cotangents are in one form: what reverses the arm that raised goes"),
    Pass(drop_unread_arms, "before the last simplification, which removes what the arms made"),
    Pass(join_parts, "after sums of parts are known, and before dead code goes: bounds of slices need not be saved", None, ("arrays",)),
    Pass(simplify, "to remove the factors that are no longer read, and transposes of transposes", None, ("settled",)),
    Pass(without_nothing, "after simplification: it asks who looks at a variable that may hold nothing"),
    Pass(check_assigned, "after it: of what is then still None or undefined, it checks the reads", None, ("lists",)),
    Pass(set_first_additions, "before zeros that are overwritten are removed, after all that looks for sums"),
    Pass(remove_overwritten_zeros, "after the last simplification, which knows zeros but not empty arrays", None, ("lists",)),
    Pass(remove_dead_clears, "before clears are sunk: it tells them by their place in the loop"),
    Pass(add_to_records, "before the current versions are queried: it makes new versions"),
    Pass(query_current_versions, "after all that simplifies: it undoes `query_first_versions`: no old version is kept alive"),
    Pass(sink_clears, "after the queries: a query of the version after a clear would hold that up"),
    Pass(add_in_arms, "after clears are sunk, which may stand between a branch and the additions behind it"),
    Pass(skip_zero_cotangents, "after it: additions stand in arms of branches", "arrays"),
    Pass(begin_cotangents, "when it is settled which values are left: a value that nothing else reads is where a cotangent begins"),
    Pass(expand_writes_through_reshape, "last: no other pass need know that a reshape may be a copy"),
)

BATCHING = (
    Pass(flatten_stacks, "lists of lists have no form for several directions"),
    Pass(simplify, "to batch no more than is needed"),
)

MEMBERS = (
    Pass(simplify, "to look at no more than is needed"),
    Pass(take_known_arms, "of what a derivative inside left"),
    Pass(drop_unread_arms, "after it, likewise"),
    Pass(simplify, "to remove what the arms made"),
    Pass(without_nothing, "after simplification: it asks who looks at a variable that may hold nothing"),
)

Observer = Callable[[Pass, Function, Function], Any]
_observers: list[Observer] = []


def run(stage: tuple[Pass, ...], function: Function, context: Context | None = None) -> Function:
    """Return the function after the passes of a stage, once it is found well formed."""
    context = context or Context()
    for row in stage:
        if row.when is None or getattr(context, row.when):
            function = run_pass(row, function, context)
    verify(function)
    return function


def run_pass(row: Pass, function: Function, context: Context | None = None) -> Function:
    """Return the function after one pass, and show it to the observers before and after."""
    after = row.run(function, **{name: getattr(context, name) for name in row.needs})
    for observer in _observers:
        observer(row, function, after)
    return after


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer(row, before, after)` for each pass that runs in the `with` block, so that tests can look between the passes."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)
