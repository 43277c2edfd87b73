"""Array expressions, each kind compiled once.

    a = x * y                       expression_1(x, y)
    b = x * z                       expression_1(x, z)

Numba puts the loops of each array expression where it stands, with a case for each axis that may broadcast: a hundred instructions to
LLVM's optimiser for `x * y` of two matrices.  A gradient has dozens of them, most of a few kinds.  So each kind, the operations on
arguments of certain types, becomes a function of the module, called where it stands.
"""

from __future__ import annotations

from collections.abc import Hashable
from types import SimpleNamespace
from typing import Any

from llvmlite.ir import Function, IRBuilder, Value
from numba.core import cgutils, ir
from numba.core.lowering import Lower
from numba.np.ufunc.array_exprs import _lower_array_expr


class Expressions:
    """The array expressions of one function.

    Args:
        lower: what translates the function.
    """

    def __init__(self, lower: Lower):
        self.lower = lower
        self.known: dict[Hashable, Function] = {}

    def value(self, expr: ir.Expr) -> Value:
        """The value of an expression, from a call."""
        lower, convention = self.lower, self.lower.context.call_conv
        names = list(dict.fromkeys(v.name for v in expr.list_vars()))
        types = [lower.typeof(name) for name in names]
        key = (shape_of(expr.expr, names), tuple(types), expr.ty)
        if key not in self.known:
            self.known[key] = self.function(expr, names, types)
        given = [lower.loadvar(name) for name in names]
        status, result = convention.call_function(lower.builder, self.known[key], expr.ty, types, given)
        with cgutils.if_unlikely(lower.builder, status.is_error):
            convention.return_status_propagate(lower.builder, status)
        return result

    def function(self, expr: ir.Expr, names: list[str], types: list) -> Function:
        """A function with the loops of an expression."""
        lower, context = self.lower, self.lower.context
        made = Function(
            lower.module, context.call_conv.get_function_type(expr.ty, types), f"{lower.fndesc.mangled_name}.expression.{len(self.known)}"
        )
        made.linkage = "internal"
        made.attributes.add("noinline")
        context.call_conv.decorate_function(made, names, types)
        builder = IRBuilder(made.append_basic_block("entry"))
        values = dict(zip(names, context.call_conv.decode_arguments(builder, types, made)))
        inside = SimpleNamespace(context=context, builder=builder, typeof=lower.typeof, loadvar=values.__getitem__)
        result = _lower_array_expr(inside, expr)
        context.call_conv.return_value(builder, context.get_return_value(builder, expr.ty, result))
        return made


def shape_of(part: Any, names: list[str]) -> Hashable:
    """An expression with places in place of names."""
    if isinstance(part, tuple | list):
        return tuple(shape_of(p, names) for p in part)
    if isinstance(part, ir.Var):
        return names.index(part.name)
    if isinstance(part, ir.Const):
        return type(part.value), repr(part.value)
    if isinstance(part, ir.Expr):
        return part.op, *(shape_of(v, names) for _, v in sorted(part._kws.items()))
    return part if isinstance(part, Hashable) else repr(part)
