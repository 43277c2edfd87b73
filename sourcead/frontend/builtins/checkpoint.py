"""Lower `checkpoint(iterable, policy)`, which sets the checkpointing policy of one loop."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sourcead.errors import UnsupportedArgumentError
from sourcead.frontend import core
from sourcead.frontend.builtins.arguments import AUTO, NONE, lowers
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.ir.nodes import Const, Policy
from sourcead.language.checkpoint_policies import Auto, Revolve, Segments, checkpoint, policy_of, refuse_policy_first

NAMES = {Segments: "segments", Revolve: "revolve", Auto: "budget"}  # of the policies that have a number


def policy_in_ir(policy: Any) -> Policy:
    """Convert a checkpointing policy to the form that a loop of the IR stores."""
    if isinstance(policy, str):
        return Policy(policy)
    (number,) = vars(policy).values()
    return Policy("auto") if number is None else Policy(NAMES[type(policy)], Const(number))


def lower_policy(cls: type, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `Segments(every)`, `Revolve(snapshots)` and `Auto(budget)`; all but a budget may be known only at run time."""
    given = [*args, *kwargs.values()]
    field = next(iter(cls.__dataclass_fields__))
    if len(given) > 1 or kwargs.keys() - {field} or not given and cls is not Auto:
        raise core.unsupported(lo, node, f"`{cls.__name__}` takes one argument, `{field}`")
    if not given:
        return Const(Auto())
    found, value = core.known(lo, given[0])
    if found:
        return Const(located(lo, node, cls, value))
    if cls is Auto:
        raise core.unsupported(lo, node, "a budget must be known while compiling", 'a constant, such as "200MB"')
    return Policy(NAMES[cls], lo.read(given[0]))


@lowers(checkpoint)
def lower_checkpoint(lo: Lowering, node, iterable: Value, policy: Value = AUTO, *, budget: Value = NONE) -> Value:
    """Lower `checkpoint(iterable, policy)` to the iterable, marked with the policy."""
    if isinstance(iterable, Policy | Const):
        located(lo, node, refuse_policy_first, Segments(10) if isinstance(iterable, Policy) else iterable.value)
    if not isinstance(policy, Policy):
        refusal = "a checkpoint policy must be known while compiling", "Revolve(8)"
        given = core.certain(lo, TupleVal((policy, budget)), node, *refusal)
        policy = policy_in_ir(located(lo, node, policy_of, *given))
    return replace(core.iterate(lo, iterable, node), policy=policy)


def located(lo: Lowering, node, make: Callable, *args: Any) -> Any:
    """Call `make`; if it raises an argument error, add the line of the user's program to it."""
    try:
        return make(*args)
    except UnsupportedArgumentError as error:
        raise UnsupportedArgumentError(error.reason, lo.origin(node), error.instead) from None


for _cls in NAMES:
    core.builtin(_cls)(functools.partial(lower_policy, _cls))
