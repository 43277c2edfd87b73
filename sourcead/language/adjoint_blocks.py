"""`adjoint_of`: statements that run in the reverse sweep."""

import sys


class NoCotangent(BaseException):
    """Ends an `adjoint_of` block where there is no reverse sweep; no program sees it."""


class Cotangent:
    """The value that an `adjoint_of` block is given where there is no reverse sweep: any use of it ends the block."""

    __slots__ = ()
    __hash__ = None


def _end(*_, **__):
    raise NoCotangent


for _name in (
    "getattribute setattr delattr repr str format bool int float complex index len iter next contains getitem setitem delitem call "
    "array array_ufunc array_function eq ne lt le gt ge neg pos abs invert round add radd iadd sub rsub isub mul rmul imul "
    "truediv rtruediv itruediv floordiv rfloordiv ifloordiv mod rmod imod pow rpow ipow matmul rmatmul imatmul and rand or ror "
    "xor rxor lshift rshift divmod rdivmod enter exit"
).split():
    setattr(Cotangent, f"__{_name}__", _end)


class adjoint_of:
    """Runs a block in the reverse sweep, where the cotangent of a variable is known: to print, check or replace it.

    `with adjoint_of(x) as d_x:` stands for `x = x`, with another derivative: the cotangent that flows to `x` from all that is
    computed from it later, `d_x`, is handed to the block, and what the block leaves in `d_x` flows on.  The block may read
    every value in scope; it may not change them.  It runs once in the reverse sweep for each time that control passed it
    in the forward sweep, with zeros if nothing flows to `x`.

    A call of the function itself skips the block, and so does forward mode.

    Args:
        x: a variable: a float, an array of floats, or a structure of them; also an item or attribute, `h[0]`, `p.w`.

    Returns:
        As the target of `with`: the cotangent, with the structure, shape and dtype of `x`.

    Example:
        >>> import numpy as np
        >>> from sourcead import adjoint_of, grad
        >>> @grad
        ... def f(x):
        ...     y = x ** 2
        ...     with adjoint_of(y) as d_y:
        ...         d_y = np.clip(d_y, -1, 1)
        ...     return 10 * y
        >>> float(f(3.0))
        6.0
    """

    def __init__(self, x):
        del x

    def __enter__(self):
        """End the block before its first statement; if a debugger or profiler is tracing, end it where it first uses the cotangent."""
        self.traced = None
        if sys.gettrace() is None:
            self.traced = frame = sys._getframe(1)
            self.before = frame.f_trace, frame.f_trace_opcodes
            frame.f_trace, frame.f_trace_opcodes = _end, True
            sys.settrace(_trace_nothing)
        return Cotangent()

    def __exit__(self, kind, value, traceback):
        if self.traced is not None:
            sys.settrace(None)
            self.traced.f_trace, self.traced.f_trace_opcodes = self.before
            self.traced = None
        return kind is NoCotangent


def _trace_nothing(frame, event, arg):
    return None
