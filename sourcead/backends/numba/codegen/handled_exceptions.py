"""The refusal of what Python alone can do: handle the exceptions of numbers, and be called from outside.

Under Numba, calculations with numbers raise no exceptions:

    try:
        y = math.sqrt(x)        # ValueError in Python, nan under Numba, which would go on with it
    except ValueError:
        y = 0.0
"""

from typing import Any

from sourcead import runtime
from sourcead.analysis.builder import operand_type
from sourcead.backends.options import WITHOUT_NUMBA
from sourcead.errors import BackendError
from sourcead.ir.nodes import Call, Closure, Const, Function, Stmt
from sourcead.ir.types import Scalar
from sourcead.ir.walk import walk
from sourcead.places.spelling import spelled


def refuse_handled(function: Function) -> None:
    """Refuse a function in which an exception of a calculation with numbers is handled.

    Raises:
        BackendError: there is one; the message names its line.
    """
    for stmt in walk(function.body):
        fn = handled(stmt)
        if fn is not None:
            why = f"the program handles what `{spelled(fn)}` raises here, and under Numba it raises nothing"
            raise BackendError(why, stmt.origin, WITHOUT_NUMBA)


def refuse_called_from_outside(function: Function) -> None:
    """Refuse a function of which a part is called by a solver that runs in the interpreter.

    Raises:
        BackendError: there is such a part; the message names its line.
    """
    for stmt in walk(function.body):
        if isinstance(stmt.op, Closure) and stmt.op.constant:
            why = f"`{stmt.targets[0].name}` is called by a solver of SciPy, which runs in the interpreter"
            raise BackendError(why, stmt.origin, WITHOUT_NUMBA)


def handled(stmt: Stmt) -> Any:
    """Return the function of numbers whose exception is refused or tried for by a statement, None if there is none."""
    match stmt.op:
        case Call(runtime.exception_of, (Const(runtime.as_python), Const(fn), *args)) | Call(runtime.exception_of, (Const(fn), *args)):
            pass
        case Call(fn, args, effect=False) if stmt.adjoint_of is None and any(context.fn is runtime.unhandled for context in stmt.within):
            pass
        case _:
            return None
    return fn if all(isinstance(operand_type(a), Scalar) for a in args) else None
