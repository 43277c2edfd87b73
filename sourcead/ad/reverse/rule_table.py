"""The rules of the reverse sweep, one for each kind of statement."""

from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.reverse.adjoint_block import reverse_adjoint_block
from sourcead.ad.reverse.branch import reverse_branch
from sourcead.ad.reverse.call import reverse_call
from sourcead.ad.reverse.container import reverse_append, reverse_build, reverse_index, reverse_pop
from sourcead.ad.reverse.loop import reverse_loop
from sourcead.ad.reverse.update import reverse_update
from sourcead.ad.reverse.walk import Reverse
from sourcead.ir.nodes import AdjointBlock, Append, Attr, Branch, Build, Call, Index, Let, Loop, Pop, Stmt, Update, Var


def reverse_let(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `x = a`: d_a += d_x."""
    if isinstance(stmt.op.value, Var):
        cots.add(stmt.op.value, cots.take(stmt.targets[0]))


def reverse_attr(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit nothing for `n = x.shape`: shapes and dtypes carry no derivative."""


RULES = {
    Call: reverse_call,
    Let: reverse_let,
    Attr: reverse_attr,
    Index: reverse_index,
    Update: reverse_update,
    Build: reverse_build,
    Append: reverse_append,
    Pop: reverse_pop,
    Branch: reverse_branch,
    Loop: reverse_loop,
    AdjointBlock: reverse_adjoint_block,
}
