"""Rules of the helpers for solutions that a solver has found (`runtime/solutions.py`).

The solution of a linear system with a matrix that is held is linear in the right side:

    x = solve_system(solve, b, False)           d_b = solve_system(solve, d_x, True)          t_x = solve_system(solve, t_b, False)

A root is right up to its second derivative, so the third of these is refused (`solve_system_again`).
"""

import types

import numpy as np

from sourcead import runtime
from sourcead.ir.types import Array, Opaque
from sourcead.primitives.registry import adjoints, enter, tangents

enter(runtime.system_solver, constant=True, result=lambda fn, args, kwargs: Opaque(types.FunctionType))
enter(runtime.check_root, checks=True, constant=True)
enter(
    runtime.solve_system, runtime.solve_system_again, memory="fresh",
    result=lambda fn, args, kwargs: Array(np.dtype(float), args[1].type.dims) if isinstance(args[1].type, Array) else args[1].type,
)  # fmt: skip
adjoints({
    runtime.moved_root: lambda y, x, step, d_y: (d_y, -d_y),
    runtime.solve_system: lambda y, solve, b, transposed, d_y: (None, runtime.solve_system_again(solve, d_y, not transposed), None),
    runtime.solve_system_again: lambda y, solve, b, transposed, d_y: (
        None, runtime.last_derivative(runtime.solve_system_again(solve, d_y, not transposed)), None
    ),
})
tangents({
    runtime.moved_root: lambda y, x, step, t_x, t_step: (t_x, -t_step),
    runtime.solve_system: lambda y, solve, b, transposed, t_b: runtime.solve_system_again(solve, t_b, transposed),
    runtime.solve_system_again: lambda y, solve, b, transposed, t_b: runtime.last_derivative(
        runtime.solve_system_again(solve, t_b, transposed)
    ),
})
enter(runtime.moved_root, result=lambda fn, args, kwargs: args[0].type, memory="shared")
