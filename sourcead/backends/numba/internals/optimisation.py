"""How hard LLVM tries.

Numba optimises each function once before all are put together and optimised again.  For the first of that it is enough that numbers
stand in registers, not on the stack, which is what the removal of superfluous counts of references needs.

LLVM's highest level copies a loop for each condition in it that does not change, such as whether a row is within its array or an axis
broadcasts: a gradient of 300 lines took 27 s to compile so, 13 s without, and one of 100 lines with functions of 20 arrays 15 and 3.
Loops over elements gain from it, up to a third of their time.  So long texts are compiled at the level below, and their loops are not
unrolled, short ones at the highest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from llvmlite import binding
from numba.core import codegen, config
from numba.core.codegen import CPUCodegen
from numba.core.compiler_lock import global_compiler_lock

LONG = 150  # lines of code and subscripts in them
HIGHEST = 3


@contextlib.contextmanager
def optimisation_for(text: str) -> Iterator[None]:
    """Compiles with the effort that is right for a text, and alone."""
    with global_compiler_lock:
        level, whole = config.OPT, (CPUCodegen._function_pass_manager, CPUCodegen._pass_builder)
        if level == HIGHEST and not level.is_opt_max:  # people have not chosen another
            CPUCodegen._function_pass_manager = in_registers
            if is_long(text):
                config.OPT = type(level)("2")
                CPUCodegen._pass_builder = without_unrolling
        try:
            yield
        finally:
            config.OPT = level
            CPUCodegen._function_pass_manager, CPUCodegen._pass_builder = whole


def in_registers(self: CPUCodegen, **options) -> tuple:
    """The passes over one function, before it is put together with others."""
    builder = self._pass_builder(opt=1, **options)
    passes = binding.create_new_function_pass_manager()
    passes.add_sroa_pass()
    if config.LLVM_REFPRUNE_PASS:
        passes.add_refprune_pass(codegen._parse_refprune_flags())
    return passes, builder


def without_unrolling(self: CPUCodegen, opt=None, loop_vectorize=None, slp_vectorize=None) -> binding.PassBuilder:
    """What builds passes that leave loops as long as they are."""
    options = binding.create_pipeline_tuning_options()
    options.speed_level = config.OPT if opt is None else opt
    options.loop_vectorization = config.LOOP_VECTORIZE if loop_vectorize is None else loop_vectorize
    options.slp_vectorization = config.SLP_VECTORIZE if slp_vectorize is None else slp_vectorize
    options.loop_unrolling = False
    return binding.create_pass_builder(self._tm, options)


def is_long(text: str) -> bool:
    """Whether a text has much to optimise.

    >>> is_long("def f(x):\\n    # nothing\\n    return x[0]\\n")
    False
    """
    code = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    return len(code) + sum(line.count("[") for line in code) > LONG
