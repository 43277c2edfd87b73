"""Numba's compiler with additional passes: a check that implicit casts lose no digits, sums in any order, compact lowering."""

from __future__ import annotations

from numba import types
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from sourcead.backends.numba.internals.compact_lowering import CompactLowering
from sourcead.backends.numba.internals.sums import SumInAnyOrder
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
