"""The gradient of a lowered function: its forward sweep, its reverse sweep, and what the generated function returns.

    def f(x): ...; return y

    grad            forward sweep; d_y = 1; reverse sweep; return d_x
    value_and_grad  forward sweep; d_y = 1; reverse sweep; return y, d_x
    vjp             forward sweep; def pullback(d_y): reverse sweep; return d_x
                    return y, pullback
"""

from dataclasses import dataclass, replace

from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.inline_helpers import simplified
from sourcead.ad.recursion import as_lowered, wrt_names
from sourcead.ad.residuals.make_available import AUTO, Sweeps, both_sweeps
from sourcead.ad.residuals.notes import Notes
from sourcead.ad.result_and_gradients import check_scalar, given_cotangent, parameter_gradient, raising_for_none, seed
from sourcead.ad.reverse.adjoint_block import without_adjoint_blocks
from sourcead.ad.reverse.rule_table import RULES
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.conditions import raises
from sourcead.analysis.unassigned import is_none, may_be_none, with_nothing
from sourcead.errors import NonScalarError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Atom, Block, Build, Closure, Const, Function, Loop, Policy, Stmt, Var, operand_atoms
from sourcead.ir.recursive_calls import Pair, with_pullbacks
from sourcead.ir.types import TupleT, Unknown, kind_of
from sourcead.ir.walk import walk
from sourcead.passes import plan


@dataclass(frozen=True)
class Form:
    """What a generated function returns.

    Attributes:
        kind: "grad", "value_and_grad" or "vjp".
        has_aux: whether the function returns an auxiliary result beside the value that is differentiated.
        single: whether the gradient is returned bare; otherwise as a tuple with one item for each parameter in wrt.
    """

    kind: str
    has_aux: bool = False
    single: bool = True


def differentiate(
    lowered: Lowered, wrt: tuple[str, ...], form: Form, policy: Policy = AUTO, closures: bool = True
) -> tuple[Function, Notes]:
    """Return the function that computes the gradient, not yet simplified, and what its loops save.

    Args:
        lowered: the function.
        wrt: the names of the parameters that it is differentiated by.
        form: what the result returns.
        policy: the checkpoint policy of the loops that have none of their own.
        closures: whether the result may contain closures, because it is not differentiated again.
    """
    splits = splits_loops(lowered, policy) and closures
    primal, hoisted = prepared(lowered, wrt, splits)
    if lowered.arrays and lowered.multiplies and splits and not lowered.derived and not lowered.pairs:
        primal = plan.run(plan.SUMS, primal, plan.Context(build=lowered.build))  # not in `lowered`, by which the value is verified
    block = primal.body
    build = Builder.knowing(lowered.build)
    value, aux, extra = split_result(lowered, form.has_aux)
    block = Block((*block.stmts, *extra), block.results)
    if form.kind != "vjp":
        check_scalar(value, lowered)
        block, number = raising_for_none(block, value, lowered.function, may_be_none(block, is_none))
        value, aux = number, number if aux is value else aux
    block, build.unassigned = with_nothing(block)
    block, build.pullbacks = with_pullbacks(block) if closures else (block, None)
    atoms = (atom for stmt in walk(block) for atom in (*stmt.targets, *operand_atoms(stmt.op)))
    build.complexes = any(kind_of(atom_type(atom)) == "complex" for atom in atoms)
    inputs = [lowered.params[name] for name in wrt if name in lowered.params]
    active = active_vars(block, inputs, [value] if isinstance(value, Var) else [])
    active.update(inputs)
    cots = Cotangents(build, active)
    with build.block():
        d_y, cotangent = given_cotangent(build, value, inputs) if form.kind == "vjp" else (None, None)
        if isinstance(value, Var) and value in active:
            build.origin, before = lowered.returned, build.origin  # which a refusal of the result names
            cots.add(value, seed(build, value) if cotangent is None else cotangent)
            build.origin = before

        def gradients() -> tuple[Atom, ...]:
            return tuple(parameter_gradient(build, cots, v, v.name in lowered.written) for v in inputs)

        sweep = Reverse(block, active, build, RULES, reverse_as_function).block(block, cots, gradients)
    block, sweep, (value, aux) = without_adjoint_blocks(block, sweep, (value, aux))
    sweeps = both_sweeps(block, sweep, build.maybe_number, policy, compiled=not lowered.arrays)
    notes = Notes(tuple(sweeps.notes), replace(primal, body=Block(tuple(sweeps.forward), ())), tuple(hoisted))
    stmts, out = returned(value, aux, sweeps, form, d_y)
    return Function(primal.name, primal.params, Block((*sweeps.forward, *stmts), out), origin=primal.origin), notes


def prepared(lowered: Lowered, wrt: tuple[str, ...], splits: bool) -> tuple[Function, list[str]]:
    """Return the function in the form that is differentiated, and notes on the products that were taken out of its loops.

    `splits`: whether products may be taken out of loops.
    """
    arrays = splits and lowered.arrays and not lowered.derived
    context = plan.Context(build=lowered.build, derived=bool(lowered.derived), splits=splits, arrays=arrays)
    lowered.function = plan.run(plan.BEFORE, simplified(lowered, wrt), context)
    return lowered.function, context.notes


def splits_loops(lowered: Lowered, policy: Policy) -> bool:
    """Return whether products of all iterations may be computed together, which takes memory: only if the user named no policy."""
    named = any(isinstance(s.op, Loop) and s.op.policy is not None for s in walk(lowered.function.body))
    return policy.name == "auto" and not named


def split_result(lowered: Lowered, has_aux: bool) -> tuple[Atom, Atom | None, list[Stmt]]:
    """Return the value that is differentiated, the auxiliary result, and the statements that unpack them."""
    result = lowered.function.body.results[0]
    if raises(lowered.function.body):
        return Const(0.0), Const(None) if has_aux else None, []  # which is not reached
    if not has_aux:
        return result, None, []
    t = atom_type(result)
    if not isinstance(t, TupleT) or len(t.items) != 2:
        raise NonScalarError(
            f"with has_aux=True, `{lowered.function.name}` must return a pair (value, auxiliary result)",
            at=lowered.returned, instead="return the number and what else is to be kept, as `(number, kept)`, or leave has_aux away",
        )  # fmt: skip
    pairs = [s.op.items for s in lowered.function.body.stmts if result in s.targets and isinstance(s.op, Build)]
    if pairs:
        return *pairs[0], []
    build = Builder()
    build.origin = lowered.returned
    value, aux = build.index(result, Const(0), name="value"), build.index(result, Const(1), name="aux")
    return value, aux, build.stmts


def returned(value: Atom, aux: Atom | None, sweeps: Sweeps, form: Form, d_y: Var | None) -> tuple[list[Stmt], tuple[Atom, ...]]:
    """Return the statements after the forward sweep, which are the reverse sweep or define a pullback of it, and what is returned."""
    stmts, grads = list(sweeps.reverse), sweeps.results
    if not form.single and (form.kind != "grad" or aux is not None or len(grads) == 1):
        whole = Var("gradients", TupleT(tuple(map(atom_type, grads))), True)
        stmts.append(Stmt((whole,), Build("tuple", grads)))
        grads = (whole,)
    if form.kind == "vjp":
        pullback = Var("pullback", Unknown())
        stmts, grads = [Stmt((pullback,), Closure((d_y,), Block(tuple(stmts), grads)))], (value, pullback)
    elif form.kind == "value_and_grad" and aux is not None:
        pair = Var("result", Unknown(), True)
        return [*stmts, Stmt((pair,), Build("tuple", (value, aux)))], (pair, *grads)
    elif form.kind == "value_and_grad":
        grads = (value, *grads)
    return stmts, grads if aux is None else (*grads, aux)


def reverse_as_function(pair: Pair) -> Lowered:
    """Return the forward and the reverse sweep of a recursive function as one function, which can be differentiated again."""
    function, _ = differentiate(pair.lowered, wrt_names(pair), Form("vjp", single=False), closures=False)
    *stmts, last = function.body.stmts
    closure: Closure = last.op
    body = Block((*stmts, *closure.body.stmts), closure.body.results)
    return as_lowered(pair, function, {"d_y": closure.params[0]}, body)
