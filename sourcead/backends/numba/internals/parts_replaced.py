"""Parts of Numba that are replaced by others while a gradient is compiled: its error messages, optimisation and machine code.

Each of the three context managers below replaces some attributes of Numba's modules and classes.
"""

import contextlib
from functools import partial
from typing import Any

from llvmlite import binding
from numba import _dynfunc
from numba.core import codegen, config
from numba.core.codegen import CPUCodegen, JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.lowering import BaseLower
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import register_jitable
from numba.np import arrayobj


@contextlib.contextmanager
def replaced(*parts: tuple[Any, str, Any]):
    """Give attributes other values, each as (object, attribute, value), and restore them; holds Numba's compiler lock."""
    with global_compiler_lock, contextlib.ExitStack() as undo:
        for owner, name, value in parts:
            if name in vars(owner):
                undo.callback(setattr, owner, name, vars(owner)[name])
            else:  # inherited
                undo.callback(delattr, owner, name)
            setattr(owner, name, value)
        yield


# ---- the error for arrays whose shapes do not match, with a fixed message ----
#
# Numba writes both shapes into the message; compiling that takes two seconds in each process, longer than most gradients.

STUB = "raise_with_shape_context"  # Numba's function that raises the error


@register_jitable
def raise_mismatch(src_shapes, index_shape):
    raise ValueError("an array is assigned to a part of an array that has another shape")


def short_shape_errors():
    """Compile with the fixed message."""
    return replaced(*[(arrayobj, STUB, raise_mismatch)] * hasattr(arrayobj, STUB))  # another version of Numba may lack it


# ---- the optimisation levels of LLVM ----
#
# Numba optimises each function once, and again when all functions are linked.  The first time, it suffices to move variables from the
# stack to registers, which the removal of superfluous reference counts needs.
#
# LLVM's highest level copies a loop for each loop-invariant condition in it, such as a bounds check: with the copies a gradient of 300
# lines compiled in 27 s, without them in 13 s, and one of 100 lines with 20 arrays in 15 s and 3 s.  Element loops run up to a third faster
# with them.  So short texts are compiled at the highest level, and long ones one level below and without unrolled loops.

LONG = 250  # the most lines of code plus subscripts of a short text
HIGHEST = 3


def optimisation_for(text: str):
    """Compile at the optimisation level that suits a text."""
    if config.OPT != HIGHEST or config.OPT.is_opt_max:  # the user has chosen another
        return replaced()
    parts = [(CPUCodegen, "_function_pass_manager", in_registers)]
    if is_long(text):
        parts += [(config, "OPT", type(config.OPT)("2")), (CPUCodegen, "_pass_builder", without_unrolling)]
    return replaced(*parts)


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


# ---- functions that are only parts of others get no machine code of their own ----
#
# Numba compiles each of its implementations, `np.zeros` or a loop of an array expression, as a library: it optimises it in full, makes
# machine code of it, and wrappers to call it from C.  Then it links the library's LLVM code into the function that calls it, optimises
# all of that in full, and makes machine code again.  Only the last is ever run; the rest took a third of a gradient's compilation.
#
# So while a gradient is compiled, a library without a wrapper for Python gets no machine code.

WRAPPERS = ("_ZN7cpython", "cfunc.")
EXECUTABLE, WRAPPER = CPUContext.get_executable, BaseLower.create_cfunc_wrapper
POINTER, FINALIZE, OPTIMIZE = (
    getattr(JITCodeLibrary, name) for name in ("get_pointer_to_function", "_finalize_final_module", "_optimize_final_module")
)


def inner_functions_linked():
    """Compile without machine code for libraries that are only linked."""
    rtsys.initialize(cpu_target.target_context)  # its functions are called by their addresses
    return replaced(
        (CPUContext, "get_executable", get_executable),
        (JITCodeLibrary, "get_pointer_to_function", get_pointer_to_function),
        (JITCodeLibrary, "_finalize_final_module", finalize_final_module),
        (JITCodeLibrary, "_optimize_final_module", optimize_final_module),
        (BaseLower, "create_cfunc_wrapper", create_cfunc_wrapper),
    )


def get_executable(self, library, fndesc, env):
    if not is_inner(library) or reads_environment(library, self.get_env_name(fndesc)):
        library._is_called = True
        return EXECUTABLE(self, library, fndesc, env)
    library._ensure_finalized()
    name = fndesc.qualname.split(".")[-1]
    return _dynfunc.make_function(fndesc.lookup_module(), name, f"compiled part {name!r}", 0, env, (library,))


def get_pointer_to_function(self, name):
    if not self._finalized:
        self._is_called = True
    return POINTER(self, name)


def finalize_final_module(self):
    if not is_inner(self):
        return FINALIZE(self)
    self._finalize_dynamic_globals()
    self._verify_declare_only_symbols()
    self._finalized = True
    self.get_pointer_to_function = partial(in_machine_code, self)
    return None


def optimize_final_module(self):
    if not is_inner(self):
        return OPTIMIZE(self)
    codegen = self._codegen
    passes, builder = codegen._module_pass_manager(
        loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
    )
    passes.run(self._final_module, builder)
    return None


def create_cfunc_wrapper(self):
    if self.flags is None or self.flags.no_compile or not self.flags.no_cpython_wrapper:
        WRAPPER(self)


def is_inner(library: JITCodeLibrary) -> bool:
    """Return whether a library's functions are called only by functions that it is linked into; False for one read from disk."""
    module = library._final_module
    functions = [f.name for f in module.functions if not f.is_declaration]
    return (
        not getattr(library, "_is_called", False)
        and bool(functions)
        and not any(name.startswith(WRAPPERS) for name in functions)
        and not any(v.name.startswith(RuntimeLinker.PREFIX) for v in module.global_variables)
    )


def in_machine_code(library: JITCodeLibrary, name: str) -> int:
    """Make machine code of a library that was only to be linked, and return the address of one of its functions."""
    del library.get_pointer_to_function
    library._codegen._add_module(library._final_module)
    library._finalize_specific()
    return library.get_pointer_to_function(name)


def reads_environment(library: JITCodeLibrary, name: str) -> bool:
    """Return whether a function reads its environment, which holds its Python constants; such a function needs machine code."""
    return str(library._final_module).count(name) > 1
