"""Operations that occur at many places of a function, each kind compiled once.

    a = x * y                       expression_1(x, y)
    b = x * z                       expression_1(x, z)
    c = a[1:n]                      view_1(a, slice(1, n))

Numba emits the loops of each array expression in place, with a case for each axis that may broadcast: a hundred instructions for LLVM's
optimiser for `x * y` of two matrices, and as many for a slice or an append to a list.  A gradient has dozens of them, most of a few kinds.
So each kind, an operation on arguments of certain types, becomes a function of the module, which is called where the operation occurs.
"""

from collections.abc import Callable, Hashable
from types import SimpleNamespace
from typing import Any

from llvmlite.ir import Function, IRBuilder, Value
from numba.core import cgutils, ir, types
from numba.core.lowering import Lower
from numba.np.ufunc.array_exprs import _lower_array_expr

LISTS = {"list.append", "list.pop"}


class Repeated:
    """The module's functions for the repeated operations of one function.

    Args:
        lower: the lowering of that function.
    """

    def __init__(self, lower: Lower):
        self.lower = lower
        self.known: dict[Hashable, Function] = {}

    def expression(self, expr: ir.Expr) -> Value:
        """Return the value of an array expression."""
        lower = self.lower
        names = list(dict.fromkeys(v.name for v in expr.list_vars()))
        kinds = [lower.typeof(name) for name in names]

        def body(builder: IRBuilder, values: list[Value]) -> Value:
            inside = SimpleNamespace(
                context=lower.context, builder=builder, typeof=lower.typeof, loadvar=dict(zip(names, values)).__getitem__
            )
            return _lower_array_expr(inside, expr)

        key = with_places(expr.expr, names), tuple(kinds), expr.ty
        return self.call(key, expr.ty, kinds, [lower.loadvar(name) for name in names], body, "noinline")

    def call(
        self, key: Hashable, result: types.Type, kinds: list[types.Type], values: list[Value], body: Callable, *attributes: str
    ) -> Value:
        """Return the result of a call of the function for a key, which gets the body when the key is first used.

        Args:
            key: equal for operations that share a function.
            result, kinds: the types of the result and of the values.
            values: the arguments.
            body: emits the code of the function, given a builder and the values of its parameters.
            attributes: the LLVM attributes of the function.
        """
        builder, convention = self.lower.builder, self.lower.context.call_conv
        if any(isinstance(t, types.Optional) for t in (result, *kinds)):
            return body(builder, values)
        if key not in self.known:
            self.known[key] = self.function(result, kinds, body, attributes)
        status, found = convention.call_function(builder, self.known[key], result, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return found

    def function(self, result: types.Type, kinds: list[types.Type], body: Callable, attributes: tuple[str, ...]) -> Function:
        """Add a function with a body to the module and return it."""
        context = self.lower.context
        name = f"{self.lower.fndesc.mangled_name}.part.{len(self.known)}"
        made = Function(self.lower.module, context.call_conv.get_function_type(result, kinds), name)
        made.linkage = "internal"
        for attribute in attributes:
            made.attributes.add(attribute)
        context.call_conv.decorate_function(made, [f"arg{k}" for k in range(len(kinds))], kinds)
        builder = IRBuilder(made.append_basic_block("entry"))
        value = body(builder, list(context.call_conv.decode_arguments(builder, kinds, made)))
        if value is None:
            value = context.get_dummy_value()
        context.call_conv.return_value(builder, context.get_return_value(builder, result, value))
        return made


def with_places(part: Any, names: list[str]) -> Hashable:
    """Return an expression in hashable form, with the positions of variables in place of their names."""
    if isinstance(part, tuple | list):
        return tuple(with_places(p, names) for p in part)
    if isinstance(part, ir.Var):
        return names.index(part.name)
    if isinstance(part, ir.Const):
        return type(part.value), repr(part.value)
    if isinstance(part, ir.Expr):
        return part.op, *(with_places(v, names) for _, v in sorted(part._kws.items()))
    return part if isinstance(part, Hashable) else repr(part)
