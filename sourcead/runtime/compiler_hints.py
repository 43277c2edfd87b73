"""Functions that pass a hint to the compiler and compute nothing."""

import numpy as np


def stop_gradient(x):
    """Return the argument itself, which differentiation treats as a constant.

    Args:
        x: a number, an array, or a structure of them.

    Returns:
        `x`, the same object. A function that is differentiated must not write to it under one name and read it under the
        other (AliasError): write to a copy.

    Example:
        >>> from sourcead import grad, stop_gradient
        >>> grad(lambda x: x * stop_gradient(x))(3.0)
        3.0
    """
    return x


def undefined(what):
    """Mark the cotangent of a parameter as unknown in a rule: an error if it is needed, NaN if the rule runs as Python."""
    return np.nan


def is_literal(x):
    """Return whether `x` is a literal in the program, in a rule that is compiled; False if the rule runs as Python."""
    return False


def has_more(x, axis, number):
    """Return whether `x` surely has more elements than a number along an axis, in a rule that is compiled; False if it runs as Python."""
    return False
