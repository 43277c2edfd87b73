"""Lower `value.name` where it is not called, and is no attribute of arrays or of objects of the program.

    solution = solve_ivp(f, (0, 1), [1.0])
    solution.y                                 # an attribute of what a library returned: the text reads it
    x.sum                                      # a method that was not called: refused
"""

from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.core.cells import Cell, Value
from sourcead.frontend.core.journal import VALUE
from sourcead.ir.nodes import Call, Const, Var
from sourcead.ir.types import UNKNOWN, Unknown

DATA = (np.ndarray, float, complex, int, str, list, dict, tuple, set)


def uncalled(lo: Any, of: Value, name: str) -> Var:
    """Return an attribute of what a call returned whose result is an object that nothing is known of.

    Raises:
        UnsupportedSyntaxError: it is a method, or may be one.
    """
    atom = of.slots.get(VALUE) if isinstance(of, Cell) and of.kind == "array" else of
    made = lo.build.made_by.get(atom) if isinstance(atom, Var) else None
    if isinstance(made, Call) and type(atom_type(atom)) is Unknown and not any(hasattr(cls, name) for cls in DATA):
        return lo.build.emit(Call(getattr, (lo.read(of), Const(name)), effect=True), UNKNOWN, name)
    if isinstance(of, Cell) and of.kind == "dict" and not hasattr(dict, name):
        why = f"`.{name}` is no attribute of a dict, and what its class may add to a dict is not seen"
        raise UnsupportedSyntaxError(why, at=lo.here, instead=f"a subscript, `[{name!r}]`")
    instead = f"call it, as in `.{name}()`, or read the attribute outside of your function and pass it as an argument"
    raise UnsupportedSyntaxError(f"the method or attribute `{name}` is used as a value", at=lo.here, instead=instead)
