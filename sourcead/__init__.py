"""sourcead turns a Python function on NumPy arrays into the Python function that computes its gradient."""

import importlib.util

__version__ = "0.1.0"

# Modules are read when one of their names is first used, so that `import sourcead` takes next to no time. `__init__.pyi` has their types.
_HOMES = {
    "sourcead.api.check": ("GradientMismatch", "check_grads"),
    "sourcead.api.debug": ("debug",),
    "sourcead.api.all_derivatives": ("hessian", "jacobian", "sparse_pattern"),
    "sourcead.api.minimize": ("minimize",),
    "sourcead.api.transformations": ("grad", "hvp", "jvp", "pushforward", "value_and_grad", "vjp"),
    "sourcead.api.vmap": ("vmap",),
    "sourcead.backends.options": ("Numba",),
    "sourcead.compile.generated": ("Lowered",),
    "sourcead.compile.gradient": ("Gradient",),
    "sourcead.debugging.report": ("Arisen", "DebugReport"),
    "sourcead.errors": (
        "AliasError", "ArgumentError", "BackendError", "FileError", "InternalError", "NonScalarError", "NoRuleError", "NoSourceError",
        "ProgramError", "RuleError", "SourceADError", "UnsupportedArgumentError", "UnsupportedSyntaxError", "UnsupportedValueError",
        "VerificationError", "WrtError", "ZeroGradientWarning",
    ),
    "sourcead.language.adjoint_blocks": ("adjoint_of",),
    "sourcead.language.checkpoint_policies": ("Auto", "Revolve", "Segments", "checkpoint"),
    "sourcead.language.combinators": ("NotAssociativeWarning", "map", "reduce", "scan"),
    "sourcead.language.opaque": ("implicit", "opaque"),
    "sourcead.primitives.registry": ("adjoint", "tangent"),
    "sourcead.runtime": ("stop_gradient",),
    "sourcead.sparsity.pattern": ("Pattern",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

# What `from sourcead import *` takes: all but `map`, which would replace Python's own in the lines below.
__all__ = [
    "AliasError",
    "ArgumentError",
    "Arisen",
    "Auto",
    "BackendError",
    "DebugReport",
    "FileError",
    "Gradient",
    "InternalError",
    "GradientMismatch",
    "Lowered",
    "NoRuleError",
    "NoSourceError",
    "NonScalarError",
    "NotAssociativeWarning",
    "Numba",
    "Pattern",
    "ProgramError",
    "Revolve",
    "RuleError",
    "Segments",
    "SourceADError",
    "UnsupportedArgumentError",
    "UnsupportedSyntaxError",
    "UnsupportedValueError",
    "VerificationError",
    "WrtError",
    "ZeroGradientWarning",
    "adjoint",
    "adjoint_of",
    "check_grads",
    "checkpoint",
    "debug",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "jacobian",
    "jvp",
    "minimize",
    "opaque",
    "pushforward",
    "reduce",
    "scan",
    "sparse_pattern",
    "stop_gradient",
    "tangent",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> object:
    """Return a name of the public interface, or a part of the package; read now (PEP 562)."""
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names: what this module imports for itself is none."""
    return sorted({*_MODULE_OF, "nn", *(name for name in globals() if name.startswith("__"))})
