"""Numba's compiler with additional passes: a check that implicit casts lose no digits, sums in any order, compact lowering."""

import operator

from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin

from sourcead.backends.numba.internals.compact_lowering import CompactLowering
from sourcead.backends.numba.public_toolchain import width


@register_pass(mutates_CFG=False, analysis_only=True)
class CheckCasts(AnalysisPass):
    """Refuses a write that would lose digits: Numba truncates a float in a list of integers, and Python's lists hold both."""

    _name = "check_casts"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        for block in state.func_ir.blocks.values():
            for write in block.body:
                if not isinstance(write, ir.SetItem | ir.StaticSetItem):
                    continue
                into, value = state.typemap[write.target.name], state.typemap[write.value.name]
                if isinstance(into, types.List) and width(value) > width(into.dtype):
                    raise NumbaError(f"a value of type {value} is written into a list of {into.dtype}", loc=write.loc)
        return False


# ---- sums of cotangents in any order: `d_alpha += ...` in a loop, eight at a time by vector instructions ----
#
# LLVM keeps the order of floating-point additions, each of which waits for the one before, unless they have the flag `reassoc`
# (https://llvm.org/docs/LangRef.html, fast-math flags).  The flags that assume that there is no NaN or infinity are not set.  Sums of the
# user's program keep their order: only in-place additions to variables of the reverse sweep have the flag.

FLOATS = (types.float32, types.float64)


def added(a, b):
    """Return `a + b`, as part of a sum whose order does not matter."""
    return a + b


def subtracted(a, b):
    """Return `a - b`, as part of a sum whose order does not matter."""
    return a - b


@infer_global(added)
@infer_global(subtracted)
class _OfTwo(ConcreteTemplate):
    cases = [signature(t, t, t) for t in FLOATS]


for _t in FLOATS:
    lower_builtin(added, _t, _t)(lambda context, builder, sig, args: builder.fadd(*args, flags=("reassoc",)))
    lower_builtin(subtracted, _t, _t)(lambda context, builder, sig, args: builder.fsub(*args, flags=("reassoc",)))

IN_ANY_ORDER = {operator.iadd: added, operator.isub: subtracted}


@register_pass(mutates_CFG=False, analysis_only=False)
class SumInAnyOrder(AnalysisPass):
    """Lets LLVM reorder sums of cotangents."""

    _name = "sum_in_any_order"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        for block in state.func_ir.blocks.values():
            for expr in block.find_exprs("inplace_binop"):
                fn = IN_ANY_ORDER.get(expr.fn)
                if fn is None or not expr.lhs.name.startswith("d_") or state.typemap[expr.lhs.name] not in FLOATS:
                    continue
                found = state.calltypes[expr]
                if found.args[0] == found.args[1] == found.return_type == state.typemap[expr.lhs.name] and expr.static_rhs is ir.UNDEFINED:
                    expr.immutable_fn = fn
        return True


# ---- the compilers ----


class FoundType(Exception):
    """Raised to end a compilation whose only purpose is the type of a function's result."""

    def __init__(self, type: types.Type):
        super().__init__(type)
        self.type = type


@register_pass(mutates_CFG=False, analysis_only=True)
class Stop(AnalysisPass):
    """Ends the compilation once the types are known."""

    _name = "stop_at_types"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        raise FoundType(state.return_type)


class TypeInferenceOnly(CompilerBase):
    """Numba's compiler up to type inference."""

    def define_pipelines(self):
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(Stop, NopythonTypeInference)
        passes.finalize()
        return [passes]


class GradientCompiler(CompilerBase):
    """Numba's compiler with the passes `CheckCasts`, `SumInAnyOrder` and `CompactLowering`."""

    def define_pipelines(self):
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(SumInAnyOrder, NopythonTypeInference)
        passes.add_pass_after(CheckCasts, NopythonTypeInference)
        passes.passes = [(CompactLowering if p is NativeLowering else p, told) for p, told in passes.passes]
        passes.finalize()
        return [passes]
