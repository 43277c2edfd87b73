"""The entry of the frontend: importing this file makes every implementation of the generic operations known."""

from sourcead.frontend.builtins import (  # noqa: F401
    cached_functions, calls, checkpoint, combinators, compositions, container_classes, copying, draws,
    frozen_distributions, functions, in_python, iterators, itertools_functions, masked_arrays, object_arrays,
    object_functions, opaque_functions, operator_functions, ordering, other_libraries, polynomials,
    statistics_functions, stdlib_classes, stop_gradient, strided_windows, vectorized_functions
)
from sourcead.frontend.control.functions import Lowered, lower_function  # noqa: F401
from sourcead.frontend.control.inlining import call_source, returned  # noqa: F401
from sourcead.frontend.core import BUILTINS, Lowering, NotStatic, Scope  # noqa: F401
from sourcead.frontend.syntax import (  # noqa: F401
    adjoint_blocks, assignment, classes, comprehensions, exceptions, expressions, loops, matching, statements
)
from sourcead.frontend.values import (  # noqa: F401
    attributes, dict_attributes, dicts, exception_objects, generated_inits, iterables, lists, objects, operators,
    random_generators, sets, subscripts
)
