"""The checkpoint policies that save states, which are those other than "auto" and "store".

    states                          segments                             revolve
    for t in range(n):              for t in range(n):                   for t in range(n):
        hs.append(h)                    if t % k == 0: hs.append(h)          if t == due: save (t, h); due = the next place
        h = f(h)                        h = f(h)                             h = f(h)
    reverse                         reverse                              reverse
    for t in reversed(range(n)):    for s in reversed(range(0, n, k)):   for t in reversed(range(n)):
        h = hs.pop()                    h = hs.pop()                         (s, h) = the last that was saved
        the adjoint of f at h           the loop over this segment,          the loop from s up to t, which saves in the same way
                                        and its reverse                      the adjoint of f at h

"recompute" saves only the state on entry, which needs no list.  "budget" is revolve with as many states as fit into the budget.
"""

from sourcead.ad.policies.fixed_states import FromStart, Segmented, States
from sourcead.ad.policies.reruns import Rerun
from sourcead.ad.policies.revolve import Revolved
from sourcead.ad.residuals.code_regions import LoopPair
from sourcead.ad.residuals.loop_pair import LoopTask
from sourcead.analysis.affine import number
from sourcead.ir.nodes import Policy


def checkpointed_loop(task: LoopTask, policy: Policy) -> LoopPair:
    """Return a loop that saves states, and its reverse, which runs again from them."""
    if policy.name == "states" or policy.name == "segments" and number(policy.number) == 1:
        return States(task).written()
    if policy.name == "segments":
        return Segmented(task, policy.number).written()
    if policy.name == "recompute":
        rerun = Rerun(task, task.op.body, task.raw.op.sweep)
        if rerun.state and not rerun.written & set(rerun.state):
            return FromStart(rerun).written()
    loop = Revolved(task, policy)
    return (loop if loop.rerun.state else States(task)).written()
