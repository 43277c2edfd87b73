"""The optimisation levels of LLVM.

Numba optimises each function once, and again when all functions are linked.  The first time, it suffices to move variables from the stack
to registers, which the removal of superfluous reference counts needs.

LLVM's highest level copies a loop for each loop-invariant condition in it, such as a bounds check: with the copies a gradient of 300 lines
compiled in 27 s, without them in 13 s, and one of 100 lines with 20 arrays in 15 s and 3 s.  Element loops run up to a third faster with
them.  So short texts are compiled at the highest level, and long ones one level below and without unrolled loops.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from llvmlite import binding
from numba.core import codegen, config
from numba.core.codegen import CPUCodegen
from numba.core.compiler_lock import global_compiler_lock

LONG = 150  # the most lines of code plus subscripts of a short text
HIGHEST = 3


@contextlib.contextmanager
def optimisation_for(text: str) -> Iterator[None]:
    """Compile at the optimisation level that suits a text, holding Numba's compiler lock."""
    with global_compiler_lock:
        level, whole = config.OPT, (CPUCodegen._function_pass_manager, CPUCodegen._pass_builder)
        if level == HIGHEST and not level.is_opt_max:  # the user has not chosen another
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
    """Return the passes that optimise one function before it is linked with others."""
    builder = self._pass_builder(opt=1, **options)
    passes = binding.create_new_function_pass_manager()
    passes.add_sroa_pass()
    if config.LLVM_REFPRUNE_PASS:
        passes.add_refprune_pass(codegen._parse_refprune_flags())
    return passes, builder


def without_unrolling(self: CPUCodegen, opt=None, loop_vectorize=None, slp_vectorize=None) -> binding.PassBuilder:
    """Return a builder of passes that do not unroll loops."""
    options = binding.create_pipeline_tuning_options()
    options.speed_level = config.OPT if opt is None else opt
    options.loop_vectorization = config.LOOP_VECTORIZE if loop_vectorize is None else loop_vectorize
    options.slp_vectorization = config.SLP_VECTORIZE if slp_vectorize is None else slp_vectorize
    options.loop_unrolling = False
    return binding.create_pass_builder(self._tm, options)


def is_long(text: str) -> bool:
    """Return whether a text is too long for the highest optimisation level.

    >>> is_long("def f(x):\\n    # nothing\\n    return x[0]\\n")
    False
    """
    code = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    return len(code) + sum(line.count("[") for line in code) > LONG
