"""Functions that are only parts of others get no machine code of their own.

Numba compiles each of its implementations, `np.zeros` or a loop of an array expression, as a library: it optimises it in full, makes
machine code of it, and wrappers to call it from C.  Then it links the library's LLVM code into the function that calls it, optimises
all of that in full, and makes machine code again.  Only the last is ever run; the rest took a third of a gradient's compilation.

So while a gradient is compiled, a library without a wrapper for Python gets no machine code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.cpu import CPUContext
from numba.core.lowering import BaseLower
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

WRAPPERS = ("_ZN7cpython", "cfunc.")


@contextlib.contextmanager
def inner_functions_linked() -> Iterator[None]:
    """Compile without machine code for libraries that are only linked; the caller must hold Numba's compiler lock."""
    rtsys.initialize(cpu_target.target_context)  # its functions are called by their addresses
    kept = [(c, name, c.__dict__.get(name)) for c, name in PLACES]
    executable, pointer, finalize, optimize, wrapper = (getattr(c, name) for c, name in PLACES)

    def get_executable(self, library, fndesc, env):
        if not is_inner(library) or reads_environment(library, self.get_env_name(fndesc)):
            library._is_called = True
            return executable(self, library, fndesc, env)
        library._ensure_finalized()
        name = fndesc.qualname.split(".")[-1]
        return _dynfunc.make_function(fndesc.lookup_module(), name, f"compiled part {name!r}", 0, env, (library,))

    def get_pointer_to_function(self, name):
        if not self._finalized:
            self._is_called = True
        return pointer(self, name)

    def finalize_final_module(self):
        if not is_inner(self):
            return finalize(self)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
        self.get_pointer_to_function = partial(in_machine_code, self)
        return None

    def optimize_final_module(self):
        if not is_inner(self):
            return optimize(self)
        codegen = self._codegen
        passes, builder = codegen._module_pass_manager(
            loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
        )
        passes.run(self._final_module, builder)
        return None

    def create_cfunc_wrapper(self):
        if self.flags is None or self.flags.no_compile or not self.flags.no_cpython_wrapper:
            wrapper(self)

    made = (get_executable, get_pointer_to_function, finalize_final_module, optimize_final_module, create_cfunc_wrapper)
    for (c, name), f in zip(PLACES, made):
        setattr(c, name, f)
    try:
        yield
    finally:
        for c, name, f in kept:
            if f is None:
                delattr(c, name)
            else:
                setattr(c, name, f)


PLACES = (
    (CPUContext, "get_executable"),
    (JITCodeLibrary, "get_pointer_to_function"),
    (JITCodeLibrary, "_finalize_final_module"),
    (JITCodeLibrary, "_optimize_final_module"),
    (BaseLower, "create_cfunc_wrapper"),
)


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
